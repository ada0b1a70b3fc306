package export

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Files of other hosts belong to a job once they are fetched: Plan asks for each
// address once, and keeps what came, or why nothing did, beside the job's other
// objects. A Plan that runs again, and the steps after it, read that.
//
// Each address has a note, which is written only where there is none: of two
// runs of Plan at the same time, both work with what the first one got. What a
// file has lies under its digest.

// Limits of what a job fetches. One file's are those of package remote.
const (
	// MaxRemoteBytes is what all files of a job may have together.
	MaxRemoteBytes = 200 << 20
	// MaxRemoteFiles is how many addresses a job asks for.
	MaxRemoteFiles = 2000
	// maxRemoteTime is how long a job asks other hosts, all together, beyond the
	// files that are under way then, each of which takes remote.MaxTime at most:
	// Plan has 15 minutes for all that it does.
	maxRemoteTime = 5 * time.Minute
	// remoteParallel is how many are asked for at the same time.
	remoteParallel = 8
	// maxUnreached is how many addresses of one host, and maxUnreachedAll how
	// many of all, may fail for the network's sake before no more are asked for:
	// each takes as long as a host may.
	maxUnreached, maxUnreachedAll = 4, 40
)

// Fetcher fetches files of other hosts; remote.Fetcher is one.
type Fetcher interface {
	Get(ctx context.Context, address string, hosts remote.Hosts, kind remote.Kind) (remote.File, error)
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// remoteFile is what is known of an address.
type remoteFile struct {
	Address string `json:"address"`
	// SHA256 and Size are those of what was fetched.
	SHA256 string `json:"sha256,omitempty"`
	Size   int64  `json:"size,omitempty"`
	// Extension is by the content type, with its dot.
	Extension string `json:"extension,omitempty"`
	// Path is the file of the bundle that has it, empty for specifications, and
	// Stored the digest of the object with that file's bytes: of a style sheet
	// they name other files of the bundle.
	Path   string `json:"path,omitempty"`
	Stored string `json:"stored,omitempty"`
	// Problem says why there is none, as the end of a sentence; Unreached that
	// it is the network's, or the host's.
	Problem   string `json:"problem,omitempty"`
	Unreached bool   `json:"unreached,omitempty"`
}

// remotes are the files of other hosts of one job. It is used by Plan alone, by
// one goroutine.
type remotes struct {
	ctx   context.Context
	steps *Steps
	job   string
	hosts remote.Hosts
	files map[string]*remoteFile // by address and kind, see keyOf
	bytes int64
	// unreached counts addresses that were not reached, by host; "" is all.
	unreached map[string]int
	begun     time.Time // when a host was asked first
	// beyond is, by the address of a style sheet, what it loads from a host that
	// is not allowed, and why not.
	beyond map[string]string
	// err is what ended the fetching: no fault of a file's, but of the step.
	err error
}

// remotesOf readies the fetching of a job, nil where its project allows no host.
func (s *Steps) remotesOf(ctx context.Context, job admin.ExportJob) *remotes {
	hosts := remote.NewHosts(job.Settings.Hosts())
	if s.opt.Fetcher == nil || hosts.Empty() {
		return nil
	}
	return &remotes{ctx: ctx, steps: s, job: job.ID, hosts: hosts, files: map[string]*remoteFile{}, unreached: map[string]int{}, beyond: map[string]string{}}
}

// keyOf distinguishes an address that is asked for as a specification from the
// same one as a picture: another kind may be refused.
func keyOf(kind remote.Kind, address string) string {
	if kind == remote.Specification {
		return "specification " + address
	}
	return "asset " + address
}

// fetch sees to it that all addresses are known. They are asked for side by side
// and counted in their order, so that the limits cut the same ones every time.
func (r *remotes) fetch(kind remote.Kind, addresses []string) {
	var wanted []string
	listed := map[string]bool{}
	for _, a := range addresses {
		if r.files[keyOf(kind, a)] == nil && !listed[a] {
			listed[a] = true
			wanted = append(wanted, a)
		}
	}
	for wave := range slices.Chunk(wanted, remoteParallel) {
		if r.err != nil {
			return
		}
		if r.begun.IsZero() {
			r.begun = r.steps.opt.Now()
		}
		late := r.steps.opt.Now().Sub(r.begun) > maxRemoteTime
		found := make([]*remoteFile, len(wave))
		group, ctx := errgroup.WithContext(r.ctx)
		for i, address := range wave {
			if problem := cmp.Or(r.full(i), r.away(address)); problem != "" {
				found[i] = &remoteFile{Address: address, Problem: problem}
				continue
			}
			group.Go(func() (err error) {
				found[i], err = r.one(ctx, kind, address, late)
				return err
			})
		}
		if r.err = group.Wait(); r.err != nil {
			return
		}
		for _, f := range found {
			if f.Problem == "" && r.bytes+f.Size > MaxRemoteBytes {
				f = &remoteFile{Address: f.Address, Problem: tooMuch()}
			}
			r.bytes += f.Size
			if f.Unreached {
				r.unreached[""]++
				r.unreached[hostOf(f.Address)]++
			}
			r.files[keyOf(kind, f.Address)] = f
		}
	}
}

// full says why no more is asked for when more files are asked for already.
func (r *remotes) full(more int) string {
	switch {
	case len(r.files)+more >= MaxRemoteFiles:
		return fmt.Sprintf("is not asked for: an export fetches at most %d files", MaxRemoteFiles)
	case r.bytes >= MaxRemoteBytes:
		return tooMuch()
	}
	return ""
}

// away says why no more is asked of a host. It follows from what is noted alone,
// so that a Plan that runs again leaves out the same.
func (r *remotes) away(address string) string {
	switch {
	case r.unreached[hostOf(address)] >= maxUnreached:
		return fmt.Sprintf("is not asked for: %d others of its host could not be fetched", maxUnreached)
	case r.unreached[""] >= maxUnreachedAll:
		return fmt.Sprintf("is not asked for: %d others could not be fetched", maxUnreachedAll)
	}
	return ""
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return strings.ToLower(u.Host)
}

func tooMuch() string {
	return fmt.Sprintf("is left out: the files that an export fetches may have %d MiB together", MaxRemoteBytes>>20)
}

// one returns what is known of an address, and asks where nothing is, unless it is
// late. That is noted, too: a step that runs again has more time, and must not
// get other files.
func (r *remotes) one(ctx context.Context, kind remote.Kind, address string, late bool) (*remoteFile, error) {
	if _, problem := r.hosts.Parse(address); problem != "" {
		return &remoteFile{Address: address, Problem: problem}, nil
	}
	note := job.RemoteNoteKey(r.job, sumOf([]byte(keyOf(kind, address))))
	if f, err := r.note(ctx, note); !errors.Is(err, store.ErrNotFound) {
		return f, err
	}
	f := &remoteFile{Address: address}
	var got remote.File
	var err error
	if late {
		err = &remote.Problem{Reason: fmt.Sprintf("is not asked for: the export has waited %d minutes for other hosts", int(maxRemoteTime/time.Minute))}
	} else {
		got, err = r.steps.opt.Fetcher.Get(ctx, address, r.hosts, kind)
	}
	if problem, ok := errors.AsType[*remote.Problem](err); ok {
		f.Problem, f.Unreached = problem.Reason, errors.Unwrap(problem) != nil
	} else if err != nil {
		return nil, err
	} else {
		f.SHA256, f.Size, f.Extension = sumOf(got.Data), int64(len(got.Data)), got.Extension
		if err := r.steps.put(ctx, job.RemoteKey(r.job, f.SHA256), got.Data); err != nil {
			return nil, err
		}
	}
	data, err := json.Marshal(f)
	if err != nil {
		return nil, internal("a remote file could not be noted", err)
	}
	_, err = r.steps.opt.Objects.Put(ctx, note, bytes.NewReader(data), store.PutOptions{IfAbsent: true})
	if errors.Is(err, store.ErrExists) { // another run was first: what it got counts
		return r.note(ctx, note)
	}
	if err != nil {
		return nil, err
	}
	r.steps.opt.Log.LogAttrs(ctx, slog.LevelInfo, "a remote file was asked for",
		slog.String("job", r.job), slog.String("address", remote.Shown(address)), slog.Int64("bytes", f.Size), slog.String("problem", f.Problem))
	return f, nil
}

// maxNoteBytes bounds a note: an address and some words.
const maxNoteBytes = 64 << 10

func (r *remotes) note(ctx context.Context, key string) (*remoteFile, error) {
	data, err := r.steps.read(ctx, key, maxNoteBytes)
	if err != nil {
		return nil, err
	}
	f := new(remoteFile)
	if err := json.Unmarshal(data, f); err != nil {
		return nil, internal("what is known of a remote file can't be read", err)
	}
	return f, nil
}

// data reads what was fetched.
func (r *remotes) data(f *remoteFile) ([]byte, error) {
	return r.steps.read(r.ctx, job.RemoteKey(r.job, f.SHA256), remote.MaxFileBytes)
}

// Announce is that of reference.Remotes.
func (r *remotes) Announce(addresses []string) {
	var all []string
	for _, a := range addresses {
		if u, problem := r.hosts.Parse(a); problem == "" {
			all = append(all, u.String())
		}
	}
	slices.Sort(all)
	r.fetch(remote.Specification, all)
}

// Read is that of reference.Remotes.
func (r *remotes) Read(address string) ([]byte, string) {
	const failed = "can't be read"
	u, problem := r.hosts.Parse(address)
	if problem != "" {
		return nil, problem
	}
	address = u.String()
	r.fetch(remote.Specification, []string{address})
	f := r.files[keyOf(remote.Specification, address)]
	if f == nil { // the step is about to end
		return nil, failed
	}
	if f.Problem != "" {
		return nil, f.Problem
	}
	data, err := r.data(f)
	if err != nil {
		r.err = cmp.Or(r.err, err)
		return nil, failed
	}
	return data, ""
}

// remoteIndex is all that a job fetched, by address.
type remoteIndex struct {
	Files []remoteFile `json:"files"`
}

// writeIndex writes what was fetched for the steps after Plan, and returns its
// digest: an input of the bundle like the snapshot's. It is empty where nothing
// was asked for.
func (r *remotes) writeIndex() (string, error) {
	if r.err != nil || len(r.files) == 0 {
		return "", r.err
	}
	var index remoteIndex
	missing := 0
	for _, key := range slices.Sorted(maps.Keys(r.files)) {
		index.Files = append(index.Files, *r.files[key])
		if r.files[key].Problem != "" {
			missing++
		}
	}
	r.steps.opt.Log.LogAttrs(r.ctx, slog.LevelInfo, "all remote files were asked for", slog.String("job", r.job), slog.Int("files", len(index.Files)),
		slog.Int("missing", missing), slog.Int64("bytes", r.bytes), slog.Duration("took", r.steps.opt.Now().Sub(r.begun)))
	data, err := json.Marshal(index)
	if err != nil {
		return "", internal("the list of remote files could not be written", err)
	}
	return sumOf(data), r.steps.put(r.ctx, job.RemoteIndexKey(r.job), data)
}

// maxRemoteIndex bounds the index: two addresses' length for each file.
const maxRemoteIndex = MaxRemoteFiles * 8 << 10

// remoteFiles reads what a job fetched; nil for none.
func (s *Steps) remoteFiles(ctx context.Context, e admin.ExportJob) ([]remoteFile, error) {
	if e.Plan.Remote == "" {
		return nil, nil
	}
	data, err := s.read(ctx, job.RemoteIndexKey(e.ID), maxRemoteIndex)
	if err != nil {
		return nil, err
	}
	var index remoteIndex
	if sumOf(data) != e.Plan.Remote {
		return nil, internal("the list of remote files is damaged", fmt.Errorf("its digest is %s, not %s", sumOf(data), e.Plan.Remote))
	}
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, internal("the list of remote files can't be read", err)
	}
	return index.Files, nil
}

// writeRemote adds the fetched files to a bundle, and the list of them. Readers
// can see the list, so that it has no queries: those that fetched a file may be
// secret.
func (s *Steps) writeRemote(ctx context.Context, id string, files []remoteFile, add func(name string, data []byte) error) error {
	if len(files) == 0 {
		return nil
	}
	var list bytes.Buffer
	lines := json.NewEncoder(&list)
	lines.SetEscapeHTML(false)
	written := map[string]bool{}
	for _, f := range files {
		if f.Problem != "" {
			continue
		}
		line := struct {
			Address string `json:"address"`
			SHA256  string `json:"sha256"`
			Size    int64  `json:"size"`
			Path    string `json:"path,omitempty"`
		}{remote.Shown(f.Address), f.SHA256, f.Size, f.Path}
		if err := lines.Encode(line); err != nil {
			return internal("the list of remote files could not be written", err)
		}
		if f.Path == "" || written[f.Path] {
			continue
		}
		written[f.Path] = true
		data, err := s.read(ctx, job.RemoteKey(id, f.Stored), 2*remote.MaxFileBytes)
		if err == nil && sumOf(data) != f.Stored {
			err = internal("a remote file is damaged", io.ErrUnexpectedEOF)
		}
		if err != nil {
			return err
		}
		if err := add(f.Path, data); err != nil {
			return err
		}
	}
	return add(remoteListPath, list.Bytes())
}

// remoteListPath is the bundle's list of what was fetched.
const remoteListPath = "bindery/remote.jsonl"
