package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
)

// uploadParallel is how many uploads are under way at once.
const uploadParallel = 4

// publishPhase is what a publish is at.
type publishPhase string

// The phases, in order. Only reading and uploading have a measure.
const (
	phaseReading    publishPhase = "reading"    // looking through the folder
	phasePacking    publishPhase = "packing"    // comparing with what is published
	phaseUploading  publishPhase = "uploading"  // sending packs and manifest
	phasePublishing publishPhase = "publishing" // making it the newest
)

// PublishProgress is where a publish stands.
type PublishProgress struct {
	phase publishPhase
	// Done and Total are bytes; Total is 0 where it is not known.
	Done, Total int64
}

// PublishOptions say what is published, and to which domain.
type PublishOptions struct {
	// Dir is the folder, with a docs.json.
	Dir string
	// Domain is the site's.
	Domain string
	// Rebase tries once more, on the newest snapshot, when another one was
	// published meanwhile. This one then wins over it: without it, that is an
	// error, and whoever publishes decides.
	Rebase bool
	// Kept is an existing folder of this machine in which digests and packs are left
	// for the next publish of the same folder. Empty keeps nothing.
	Kept string
	// Leave has paths in the folder that are left out: files that the caller writes
	// there itself.
	Leave []string
	// Take, if not nil, makes a file of this machine what an upload asks for, and reports
	// whether it did. The file has the bytes, and must never change afterwards. It is
	// for callers whose service is on this machine too.
	Take func(ctx context.Context, u api.Upload, file string) (bool, error)
	// Named, if not nil, is called before a snapshot is made, with the digest of what
	// the files are: their paths, bytes and times.
	Named func(contents string)
	// Progress, if not nil, is called with the state so far, from several
	// goroutines.
	Progress func(PublishProgress)
}

// Published is the result of a publish.
type Published struct {
	Domain     string `json:"domain"`
	SnapshotID string `json:"snapshotId"`
	// UpToDate reports that the newest snapshot had the same files already: none was
	// made.
	UpToDate bool `json:"upToDate"`
	// Files is the number of files of the whole site, SizeBytes their size
	// together.
	Files     int   `json:"files"`
	SizeBytes int64 `json:"sizeBytes"`
	// Added, Changed, Removed and Unchanged are numbers of files, compared
	// with the previous snapshot.
	Added     int `json:"added"`
	Changed   int `json:"changed"`
	Removed   int `json:"removed"`
	Unchanged int `json:"unchanged"`
	// Packs is the number of new packs and PackBytes their size together;
	// Uploads and UploadedBytes are the number and size of the objects that
	// were sent, including the manifest: less than what is new where an
	// earlier attempt had uploaded some of it.
	Packs         int   `json:"packs"`
	PackBytes     int64 `json:"packBytes"`
	Uploads       int   `json:"uploads"`
	UploadedBytes int64 `json:"uploadedBytes"`
	// Refused are files that are left out because they can't be read.
	Refused []Refused `json:"refused,omitempty"`
}

// Publish makes a folder the newest snapshot of a domain. It sends only what is
// new, in packs; what an attempt before this one sent counts. Faults of the
// folder come all at once, each with its place. A refusal of the API is an *Error,
// with the code snapshot_overtaken if another snapshot was published meanwhile.
func (c *Client) Publish(ctx context.Context, o PublishOptions) (Published, error) {
	if o.Progress == nil {
		o.Progress = func(PublishProgress) {}
	}
	old := recallSources(o.Kept)
	defer old.close()
	return c.publish(ctx, o, old)
}

func (c *Client) publish(ctx context.Context, o PublishOptions, old *sources) (result Published, err error) {
	if old != nil {
		old.eager = o.Take != nil && len(old.packs) == 0 // a new service on this machine
	}
	var read atomic.Int64
	o.Progress(PublishProgress{phase: phaseReading})
	folder, err := openFolder(ctx, o.Dir, o.Leave, old, func(n int64) {
		o.Progress(PublishProgress{phase: phaseReading, Done: read.Add(n)})
	})
	if err != nil {
		return Published{}, err
	}
	defer folder.Close()
	p := &publish{c: c, o: o, folder: folder, sources: old}
	defer func() { result.Refused = folder.Refused }()
	result, err = p.once(ctx)
	old.forget(err)
	if o.Rebase && hasCode(err, codeOvertaken) {
		c.log.Info("another snapshot was published meanwhile; trying once more on top of it")
		result, err = p.once(ctx)
	}
	if hasCode(err, codeOvertaken) {
		err = fmt.Errorf("another snapshot of this domain was published meanwhile; look at it, then publish again: %w", err)
	}
	return result, err
}

// publish is one publish of a folder.
type publish struct {
	c      *Client
	o      PublishOptions
	folder *folder

	sources *sources // nil where nothing is kept
}

// uploadRounds is how often the service is asked what is missing: a link may
// expire during a long upload, and a pack vanish between two looks.
const uploadRounds = 5

// once publishes on top of the snapshot that is the newest now.
func (p *publish) once(ctx context.Context) (Published, error) {
	p.o.Progress(PublishProgress{phase: phasePacking})
	base, baseID, baseDigest, err := p.newest(ctx)
	if err != nil {
		return Published{}, err
	}
	bodies := map[string]func(context.Context) io.ReadCloser{}
	first := base == nil
	if first {
		if base = p.sources.base(); base != nil {
			for _, pack := range base.Packs {
				bodies[pack.SHA256] = p.sources.body(pack)
			}
		}
	}
	plan, err := snapshot.NewPlan(p.folder.Files, base)
	if err != nil {
		return Published{}, err
	}
	packs := first && p.sources != nil && p.folder.Bytes <= maxSources
	if packs {
		plan.Copy = p.sources.copyPack
	}
	manifest, err := plan.Seal(ctx, p.folder.Open)
	if err != nil {
		return Published{}, err
	}
	encoded, err := snapshot.Encode(manifest)
	if err != nil {
		return Published{}, err
	}
	sum := sha256.Sum256(encoded)
	digest := hex.EncodeToString(sum[:])
	result := Published{
		Domain: p.o.Domain, SnapshotID: baseID,
		Files: len(manifest.Entries), SizeBytes: manifest.Bytes(),
		Added: plan.Added, Changed: plan.Changed, Removed: plan.Removed, Unchanged: plan.Unchanged,
		Packs: len(plan.New),
	}
	for _, pack := range plan.New {
		result.PackBytes += pack.Size
	}
	if first { // to the service all is new, whatever was kept here
		result.Added, result.Changed, result.Removed, result.Unchanged = len(manifest.Entries), 0, 0, 0
		result.Packs, result.PackBytes = len(manifest.Packs), 0
		for _, pack := range manifest.Packs {
			result.PackBytes += pack.Size
		}
	}
	if digest == baseDigest {
		result.UpToDate = true
		p.sources.keep(p.folder, manifest, false)
		return result, nil
	}

	if p.o.Named != nil {
		p.o.Named(manifest.Contents())
	}
	request := api.CreateSnapshotRequest{Base: baseID, Manifest: api.Blob{SHA256: digest, SizeBytes: int64(len(encoded))}, Packs: []api.Blob{}}
	for _, pack := range manifest.Packs {
		request.Packs = append(request.Packs, api.Blob{SHA256: pack.SHA256, SizeBytes: pack.Size})
	}
	bodies[digest] = func(context.Context) io.ReadCloser { return io.NopCloser(bytes.NewReader(encoded)) }
	for _, pack := range plan.New {
		if packs = packs && p.sources.add(pack); packs {
			bodies[pack.SHA256] = p.sources.body(snapshot.PackRef{SHA256: pack.SHA256, Size: pack.Size})
			continue
		}
		bodies[pack.SHA256] = func(ctx context.Context) io.ReadCloser { return pack.Reader(ctx, p.folder.Open) }
	}
	for round := 1; ; round++ {
		created, err := p.c.createSnapshot(ctx, p.o.Domain, request)
		if err != nil {
			return result, err
		}
		err = p.upload(ctx, created.Uploads, bodies, &result)
		if err == nil {
			p.o.Progress(PublishProgress{phase: phasePublishing})
			var published api.Snapshot
			published, err = p.c.publishSnapshot(ctx, p.o.Domain, created.SnapshotID)
			result.SnapshotID = published.SnapshotID
			result.UpToDate = err == nil && published.SnapshotID != created.SnapshotID // another publish was first
			if err == nil {
				p.sources.keep(p.folder, manifest, packs)
				return result, nil
			}
		}
		if round == uploadRounds || !errors.Is(err, errLinkExpired) && !hasCode(err, codeIncomplete) {
			return result, err
		}
		p.c.log.Debug("asking again what is missing", "error", err)
	}
}

// newest reads the newest snapshot's manifest: nil where there is none yet.
func (p *publish) newest(ctx context.Context) (m *snapshot.Manifest, id, digest string, err error) {
	latest, err := p.c.LatestSnapshot(ctx, p.o.Domain)
	if hasCode(err, codeNotFound, codeNoSnapshot) {
		return nil, "", "", nil
	}
	if err != nil {
		return nil, "", "", err
	}
	err = p.c.readLink(ctx, latest.Manifest.URL, "the newest manifest", func(r io.Reader) error {
		sum := sha256.New()
		if m, err = snapshot.Decode(io.TeeReader(r, sum)); err != nil {
			if format := (*snapshot.FormatError)(nil); !errors.As(err, &format) {
				err = &networkError{err}
			}
			return err
		}
		if hex.EncodeToString(sum.Sum(nil)) != latest.Manifest.SHA256 {
			return errors.New("the newest manifest is not the one that the API names")
		}
		return snapshot.CheckEntries(m)
	})
	if err != nil {
		return nil, "", "", fmt.Errorf("read the newest snapshot: %w", err)
	}
	return m, latest.SnapshotID, latest.Manifest.SHA256, nil
}

// readLink reads an object by its link, and calls read again after faults that a
// second try may not meet.
func (c *Client) readLink(ctx context.Context, link, what string, read func(io.Reader) error) error {
	return c.retry(ctx, "read "+what, func() error {
		watch, ctx := remote.NewWatch(ctx, c.patience)
		defer watch.Stop()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, link, nil)
		if err != nil {
			return errors.New("the API returned a link that is not a URL")
		}
		request.Header.Set("User-Agent", c.agent)
		response, err := c.http.Do(request)
		if err != nil {
			return &networkError{watch.Cause(err)}
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return c.storageFailure(response, "storage did not return "+what)
		}
		return read(watch.Reader(response.Body))
	})
}

// upload sends what is missing, several objects at once, the manifest among
// them.
func (p *publish) upload(ctx context.Context, uploads []api.Upload, bodies map[string]func(context.Context) io.ReadCloser, result *Published) error {
	var total int64
	for _, u := range uploads {
		if bodies[u.SHA256] == nil {
			// A pack of the base that is gone: the service has lost it.
			return fmt.Errorf("the service asks for pack %s, which is of an earlier snapshot", u.SHA256)
		}
		total += u.SizeBytes
	}
	var sent, objects, bytesSent atomic.Int64
	p.o.Progress(PublishProgress{phase: phaseUploading, Total: total})
	// An upload that fails does not break off the others that are under way:
	// what they get across, the next attempt has. But no more are begun.
	var group errgroup.Group
	var failed atomic.Bool
	group.SetLimit(uploadParallel)
	for _, u := range uploads {
		if failed.Load() {
			break
		}
		group.Go(func() error {
			took, err := p.take(ctx, u)
			if err != nil {
				failed.Store(true)
				return err
			}
			if took {
				p.o.Progress(PublishProgress{phase: phaseUploading, Done: sent.Add(u.SizeBytes), Total: total})
				objects.Add(1)
				bytesSent.Add(u.SizeBytes)
				return nil
			}
			err = p.c.retry(ctx, "upload", func() error {
				body := &countingBody{src: bodies[u.SHA256](ctx), progress: func(n int64) {
					p.o.Progress(PublishProgress{phase: phaseUploading, Done: sent.Add(n), Total: total})
				}}
				err := p.put(ctx, u, body)
				if err != nil {
					sent.Add(-body.detach())
				}
				return err
			})
			if err != nil {
				failed.Store(true)
				return err
			}
			objects.Add(1)
			bytesSent.Add(u.SizeBytes)
			return nil
		})
	}
	err := group.Wait()
	result.Uploads += int(objects.Load())
	result.UploadedBytes += bytesSent.Load()
	return err
}

// take has the service take a pack that is in a file of this machine, and reports
// whether it did.
func (p *publish) take(ctx context.Context, u api.Upload) (bool, error) {
	if p.o.Take == nil || p.sources == nil || p.sources.open[u.SHA256] == nil {
		return false, nil
	}
	return p.o.Take(ctx, u, p.sources.pack(u.SHA256))
}

// put sends one object by its link. One that is there already is success:
// links are bound to a digest, so it has the same bytes.
func (p *publish) put(ctx context.Context, u api.Upload, body *countingBody) error {
	if p.c.expired(u.ExpiresAt) {
		return errLinkExpired
	}
	watch, ctx := remote.NewWatch(ctx, p.c.patience)
	defer watch.Stop()
	body.watch = watch
	request, err := http.NewRequestWithContext(ctx, u.Method, u.URL, body)
	if err != nil {
		_ = body.Close()
		return errors.New("the API returned a link that is not a URL")
	}
	request.ContentLength = u.SizeBytes
	request.Header.Set("User-Agent", p.c.agent)
	for name, value := range u.Headers {
		request.Header.Set(name, value)
	}
	response, err := p.c.http.Do(request)
	if err != nil {
		if fault := body.fault(); fault != nil {
			return fault // the folder's, not the network's
		}
		return &networkError{watch.Cause(err)}
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10)) // keeps the connection
	switch response.StatusCode {
	case http.StatusOK, http.StatusCreated, http.StatusNoContent, http.StatusPreconditionFailed:
		return nil
	case http.StatusForbidden:
		return errLinkExpired
	}
	if fault := body.fault(); fault != nil {
		return fault
	}
	return p.c.storageFailure(response, "storage did not accept the upload")
}

// storageFailure is an answer of storage other than success. Its body is not
// shown: it may repeat the link, which is a secret for its lifetime.
func (c *Client) storageFailure(response *http.Response, message string) error {
	wait, _ := retryAfter(response.Header, c.clock.Now())
	return &Error{Status: response.StatusCode, Message: message, RetryAfter: wait}
}

// countingBody is the body of an upload: it reports progress, and keeps an error
// of its source apart from those of the connection. The transport may read it
// for a moment after the request is over.
type countingBody struct {
	src      io.ReadCloser
	progress func(int64)
	watch    *remote.Watch // of the connection that takes the bytes

	mu       sync.Mutex
	read     int64
	detached bool
	err      error
}

func (b *countingBody) Read(p []byte) (int, error) {
	n, err := b.src.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.watch.Moved(n); err == io.EOF {
		b.watch.Sent() // storage may take its time with the whole
	}
	if err != nil && err != io.EOF && !errors.Is(err, io.ErrClosedPipe) {
		b.err = err
	}
	if n > 0 && !b.detached {
		b.read += int64(n)
		b.progress(int64(n))
	}
	return n, err
}

func (b *countingBody) Close() error { return b.src.Close() }

// fault is the error of the source, if it had one.
func (b *countingBody) fault() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// detach ends the reports of progress and returns the last one.
func (b *countingBody) detach() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.detached = true
	return b.read
}
