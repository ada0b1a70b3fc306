package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/client"
)

// unchangedError ends a command that was to do something only if the bundle
// changed, with an exit code of the caller's choice, which may be 0.
type unchangedError struct{ code int }

func (e *unchangedError) Error() string { return "nothing has changed" }

// unchangedReport is what a script learns then.
type unchangedReport struct {
	JobID     string `json:"jobId"`
	Domain    string `json:"domain"`
	Version   string `json:"version"`
	Unchanged bool   `json:"unchanged"` // true
	// GoLive is set for an export with --go-live.
	GoLive *liveReport `json:"goLive,omitempty"`
}

// before returns the digest of the bundle that a new one is compared with, empty
// where there is none: the one that --have names, else with --if-changed that of
// the file of --out, else of the site's last export.
func (a *app) before(ctx context.Context, c *client.Client, f exportFlags) (string, error) {
	if f.have != "" || !f.ifChanged {
		return f.have, nil
	}
	if f.out != "" {
		digest, err := digestOfFile(f.out)
		if !errors.Is(err, fs.ErrNotExist) {
			return digest, err
		}
	}
	list, err := c.Exports(ctx, f.domain, string(admin.ExportCompleted), "", 0)
	for err == nil && len(list.Jobs) == 0 && list.NextCursor != nil {
		list, err = c.Exports(ctx, f.domain, string(admin.ExportCompleted), *list.NextCursor, 0)
	}
	if err != nil || len(list.Jobs) == 0 {
		return "", err
	}
	link, err := c.GenerateBundle(ctx, list.Jobs[0].JobID)
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Code == admin.CodeBundleGone {
		return "", nil
	}
	return link.SHA256, err
}

func digestOfFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// changed returns an *unchangedError where a finished job has the bundle that was
// there before and the caller wants no other, and says so.
func (a *app) changed(f exportFlags, job api.ExportJob, live *liveReport) error {
	if !f.ifChanged || !job.Unchanged {
		return nil
	}
	if f.handover.github {
		if err := f.handover.output("changed=false\n"); err != nil {
			return fmt.Errorf("writing the step's outputs: %w", err)
		}
	}
	report := unchangedReport{JobID: job.JobID, Domain: job.Domain, Version: job.Version, Unchanged: true, GoLive: live}
	err := a.print(report, func(w io.Writer) {
		fmt.Fprintf(w, "%s nothing has changed: version %s of %s is the bundle that was there\n", a.paint(w, green, "✓"), job.Version, job.Domain)
		a.showWentLive(w, live)
	})
	if err != nil {
		return err
	}
	return &unchangedError{f.unchanged}
}
