package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/service/api"
)

// partSuffix is added to the name of a file whose download has not ended.
const partSuffix = ".part"

// DownloadOptions say where a bundle goes.
type DownloadOptions struct {
	// Path is the file to write. Until it is whole and checked, its bytes are
	// in Path + partSuffix; a download that finds such a file resumes it.
	Path string
	// File, if not nil, opens the bundle, for callers that have it on their own disk.
	// It is copied as their systems copy files, and its digest is not computed again.
	// Otherwise the bundle comes by the link.
	File func(ctx context.Context) (*os.File, error)
	// Progress, if not nil, is called with the bytes that are downloaded and the
	// bytes of the whole file.
	Progress func(done, total int64)
	// Check, if not nil, looks at the file before it gets its name. What it
	// refuses is removed: the bytes are those that the API promises, so more
	// of them would not help.
	Check func(file string, link api.BundleLink) error
}

// digestError says that a download is not what the service promised, even
// after it was made anew.
type digestError struct{ Want, Got string }

func (e *digestError) Error() string {
	return fmt.Sprintf("the download has SHA-256 %s, the API says %s", e.Got, e.Want)
}

// Download generates the bundle of a completed job and downloads it. It
// resumes after faults of the network, takes a fresh link when one has
// expired, checks size and SHA-256 (of a file of this machine the size alone), has it
// checked by o.Check, and only then renames the file. It returns an error for other bytes than the API promises,
// an *Error if the API refuses, and o.Check's error.
func (c *Client) Download(ctx context.Context, jobID string, o DownloadOptions) (api.BundleLink, error) {
	link, err := c.GenerateBundle(ctx, jobID)
	if err != nil {
		return link, err
	}
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o755); err != nil {
		return link, err
	}
	part, err := openPart(o.Path + partSuffix)
	if err != nil {
		return link, err
	}
	defer part.Close()
	d := &download{c: c, part: part, link: link, progress: o.Progress}
	resumed := false
	if o.File != nil {
		err = d.copy(ctx, o.File)
	} else if err = d.resume(); err == nil {
		resumed = d.have > 0
		err = d.fetch(ctx, jobID)
	}
	if wrong := (*digestError)(nil); errors.As(err, &wrong) && resumed {
		// The rest of an earlier download was of another bundle.
		c.log.Info("the partial file belongs to another bundle; downloading all of it")
		if err = d.restart(); err == nil {
			err = d.fetch(ctx, jobID)
		}
	}
	if err != nil {
		return link, err
	}
	if err := part.Sync(); err != nil {
		return link, err
	}
	if o.Check != nil {
		if err := o.Check(o.Path+partSuffix, d.link); err != nil {
			if ctx.Err() == nil {
				_ = os.Remove(o.Path + partSuffix)
			}
			return d.link, err
		}
	}
	return d.link, renamePart(part, o.Path)
}

// errTaken says that another download writes to the file.
var errTaken = errors.New("another download is writing this file")

// openPart opens the file of a download, for this one alone.
func openPart(path string) (*os.File, error) {
	for {
		part, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return nil, err
		}
		err = lockPart(part)
		if err != nil {
			_ = part.Close()
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		// Another download may have given the file its name meanwhile: what is
		// open here is then the finished bundle.
		mine, err := part.Stat()
		now, gone := os.Stat(path)
		if err == nil && gone == nil && os.SameFile(mine, now) {
			return part, nil
		}
		_ = part.Close()
		if err != nil {
			return nil, err
		}
	}
}

// download is a file that is coming in.
type download struct {
	c        *Client
	part     *os.File
	link     api.BundleLink
	tag      string    // the ETag of what storage has, if it is a strong one
	have     int64     // bytes that are in the file
	sum      hash.Hash // over those
	progress func(done, total int64)
}

// resume reads what an earlier download left.
func (d *download) resume() error {
	info, err := d.part.Stat()
	if err != nil {
		return err
	}
	if info.Size() > d.link.SizeBytes {
		return d.restart()
	}
	d.sum = sha256.New()
	d.have, err = io.Copy(d.sum, d.part)
	return err
}

func (d *download) restart() error {
	d.have, d.sum = 0, sha256.New()
	if err := d.part.Truncate(0); err != nil {
		return err
	}
	_, err := d.part.Seek(0, io.SeekStart)
	return err
}

// copyBytes is how much of a file is copied between two looks at the context.
const copyBytes = 64 << 20

// copy brings in a file of this machine.
func (d *download) copy(ctx context.Context, open func(context.Context) (*os.File, error)) error {
	if err := d.restart(); err != nil {
		return err
	}
	from, err := open(ctx)
	if err != nil {
		return err
	}
	defer from.Close()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.CopyN(d.part, from, copyBytes)
		d.have += n
		if d.progress != nil {
			d.progress(d.have, d.link.SizeBytes)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if d.have != d.link.SizeBytes {
		return fmt.Errorf("the bundle has %d bytes, the API says %d", d.have, d.link.SizeBytes)
	}
	return nil
}

// fetch brings in the rest and checks the whole. Attempts are counted anew
// once they have brought enough: a byte for each is not progress.
func (d *download) fetch(ctx context.Context, jobID string) error {
	most := d.have
	for d.have < d.link.SizeBytes {
		err := d.c.retry(ctx, "download", func() error { return d.request(ctx) })
		switch {
		case err == nil:
		case errors.Is(err, errLinkExpired):
			d.c.log.Debug("the link has expired, taking a fresh one")
			fresh, err := d.c.GenerateBundle(ctx, jobID)
			if err != nil {
				return err
			}
			if fresh.SHA256 != d.link.SHA256 || fresh.SizeBytes != d.link.SizeBytes {
				return errors.New("the bundle changed during the download")
			}
			if fresh.BundleURL == d.link.BundleURL {
				return errors.New("storage refuses a fresh link")
			}
			d.link = fresh
		case d.have >= most+remote.Stride && ctx.Err() == nil:
			most = d.have
		default:
			return fmt.Errorf("download: %w", err)
		}
	}
	if got := hex.EncodeToString(d.sum.Sum(nil)); got != d.link.SHA256 {
		return &digestError{Want: d.link.SHA256, Got: got}
	}
	return nil
}

// errLinkExpired says that storage no longer takes a link.
var errLinkExpired = errors.New("the link is refused")

// request asks for what is missing and appends what comes.
func (d *download) request(ctx context.Context) error {
	watch, ctx := remote.NewWatch(ctx, d.c.patience)
	defer watch.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.link.BundleURL, nil)
	if err != nil {
		return errors.New("the API returned a link that is not a URL")
	}
	request.Header.Set("User-Agent", d.c.agent)
	// A transparently decompressed body would not have the promised digest.
	request.Header.Set("Accept-Encoding", "identity")
	if d.have > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.have))
		if d.tag != "" {
			request.Header.Set("If-Range", d.tag)
		}
	}
	response, err := d.c.http.Do(request)
	if err != nil {
		return &networkError{watch.Cause(err)}
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusPartialContent:
		if start, ok := rangeStart(response.Header.Get("Content-Range")); !ok || start != d.have {
			return errors.New("storage returned a range other than the requested one")
		}
	case http.StatusOK:
		if err := d.restart(); err != nil {
			return err
		}
	case http.StatusForbidden, http.StatusUnauthorized, http.StatusGone:
		return errLinkExpired
	default:
		return d.c.storageFailure(response, "storage did not return the bundle")
	}
	if tag := response.Header.Get("ETag"); !strings.HasPrefix(tag, "W/") {
		d.tag = tag
	}
	_, err = io.Copy(&partWriter{d}, io.LimitReader(watch.Reader(response.Body), d.link.SizeBytes-d.have))
	if failed := (*writeError)(nil); errors.As(err, &failed) {
		return failed.err
	}
	if err == nil && d.have < d.link.SizeBytes {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return &networkError{err}
	}
	return nil
}

// rangeStart reads the first number of a Content-Range.
func rangeStart(header string) (int64, bool) {
	span, ok := strings.CutPrefix(header, "bytes ")
	if !ok {
		return 0, false
	}
	first, _, _ := strings.Cut(span, "-")
	n, err := strconv.ParseInt(first, 10, 64)
	return n, err == nil
}

// partWriter writes to the file, the digest and the progress.
type partWriter struct{ d *download }

// writeError is a fault of the disk, which no second request heals.
type writeError struct{ err error }

func (e *writeError) Error() string { return e.err.Error() }

func (w *partWriter) Write(p []byte) (int, error) {
	n, err := w.d.part.Write(p)
	w.d.have += int64(n)
	w.d.sum.Write(p[:n])
	if w.d.progress != nil {
		w.d.progress(w.d.have, w.d.link.SizeBytes)
	}
	if err != nil {
		return n, &writeError{err}
	}
	return n, nil
}

// expired reports whether a link has expired.
func (c *Client) expired(end time.Time) bool { return !end.IsZero() && !c.clock.Now().Before(end) }
