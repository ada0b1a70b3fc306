package admin

import (
	"context"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Assembly is how far the bundle of a job is that is written in parts: what a call
// of Assemble goes on from where another one ended.
type Assembly struct {
	// Upload is its name, as of store.Objects; empty where there is none.
	Upload    string       `json:"upload,omitempty"`
	PartBytes int64        `json:"partBytes,omitempty"`
	Parts     []store.Part `json:"parts,omitempty"`
	// Units is the size of what the shards made, in bytes: another one means
	// another bundle.
	Units int64 `json:"units,omitempty"`
	// Digest is the state of the bundle's SHA-256 after the last of Parts.
	Digest []byte `json:"digest,omitempty"`
}

// Bytes is how many bytes of the bundle are in parts.
func (a *Assembly) Bytes() (n int64) {
	for _, p := range a.Parts {
		n += p.Size
	}
	return n
}

// assemblyLife is how long the record stays: longer than any workflow runs.
const assemblyLife = 7 * 24 * time.Hour

// Assembly reads how far the bundle of a job is, with the record's revision; a
// bundle of which nothing is noted is the zero value. It returns the store's
// errors.
func (s *Service) Assembly(ctx context.Context, jobID string) (Assembly, int64, error) {
	return readOr[Assembly](ctx, s, assemblyKey(jobID))
}

// NoteAssembly notes how far the bundle of a running job is, and returns the new
// revision. revision is the one that was read: where another process has noted
// something meanwhile the error is CodeTemporary. A job that does not run refuses
// it with CodeJobNotActive, but for the zero value.
func (s *Service) NoteAssembly(ctx context.Context, jobID string, a Assembly, revision int64) (int64, error) {
	if a.Upload != "" {
		if j, _, err := s.activeJob(ctx, jobID); err != nil || j.Status != ExportRunning {
			if err == nil {
				err = notActive(j)
			}
			return 0, err
		}
	}
	var b batch
	b.put(assemblyKey(jobID), revision, a).ExpiresAt = s.now().Add(assemblyLife)
	err := s.write(ctx, &b)
	if isConflict(err) {
		return 0, Errorf(CodeTemporary, "another process writes the same bundle; try again").Wrap(err)
	}
	return revision + 1, err
}
