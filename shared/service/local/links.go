package local

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// LinkPath is the path below which Objects.Handler expects its requests.
const LinkPath = "/_objects/"

// checksumHeader carries the digest of an upload, in base64, as S3 wants it.
const checksumHeader = "X-Amz-Checksum-Sha256"

// terms are what a link promises; all of them are signed.
type terms struct {
	method, key string
	expires     int64 // Unix second at which the link has ended
	size        int64 // of an upload
	sha256      string
	filename    string
}

func (o *Objects) setBase(base string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.base = base
}

// PresignGet implements store.Objects.
func (o *Objects) PresignGet(_ context.Context, key, filename string, life time.Duration) (store.Link, error) {
	return o.presign(terms{method: http.MethodGet, key: key, filename: filename}, life, http.Header{})
}

// PresignPut implements store.Objects. The upload must carry the digest as a
// header, and If-None-Match, which is what makes S3 refuse a second one.
func (o *Objects) PresignPut(_ context.Context, key string, size int64, digest string, life time.Duration) (store.Link, error) {
	sum, err := store.CheckUpload(size, digest)
	if err != nil {
		return store.Link{}, err
	}
	return o.presign(terms{method: http.MethodPut, key: key, size: size, sha256: strings.ToLower(digest)}, life, http.Header{
		checksumHeader:  {base64.StdEncoding.EncodeToString(sum)},
		"If-None-Match": {"*"},
	})
}

func (o *Objects) presign(t terms, life time.Duration, header http.Header) (store.Link, error) {
	if err := store.CheckObjectKey(t.key); err != nil {
		return store.Link{}, err
	}
	o.mu.RLock()
	base := o.base
	o.mu.RUnlock()
	if base == "" {
		return store.Link{}, errors.New("link: the address of this server is not set")
	}
	u, err := url.Parse(base)
	if err != nil {
		return store.Link{}, fmt.Errorf("link: %w", err)
	}
	// Rounded down: a link never lives longer than was asked for.
	end := time.Unix(o.l.now().Add(life).Unix(), 0).UTC()
	t.expires = end.Unix()
	q := url.Values{"method": {t.method}, "expires": {strconv.FormatInt(t.expires, 10)}, "signature": {o.sign(t)}}
	if t.method == http.MethodPut {
		q.Set("size", strconv.FormatInt(t.size, 10))
		q.Set("sha256", t.sha256)
	}
	if t.filename != "" {
		q.Set("filename", t.filename)
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + LinkPath + t.key
	u.RawPath = ""
	u.RawQuery = q.Encode()
	return store.Link{URL: u.String(), Header: header, ExpiresAt: end}, nil
}

// Key returns a secret of this data folder for a purpose. It is the same after a restart.
func (l *Local) Key(purpose string) []byte {
	mac := hmac.New(sha256.New, l.objects.secret)
	mac.Write([]byte("bindery key 1 " + purpose))
	return mac.Sum(nil)
}

// sign is the HMAC over all terms, each preceded by its length so that no two
// different sets read the same.
func (o *Objects) sign(t terms) string {
	mac := hmac.New(sha256.New, o.secret)
	for _, s := range []string{
		"bindery link 1", t.method, t.key, strconv.FormatInt(t.expires, 10),
		strconv.FormatInt(t.size, 10), t.sha256, t.filename,
	} {
		_, _ = fmt.Fprintf(mac, "%d:%s", len(s), s) // a hash takes all
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// Handler serves the links, below LinkPath: GET with ranges, PUT of what was
// promised. 403 is for a link that has ended, was changed or is for another method, as
// HEAD of a link for GET is, 412 for
// an upload of what is there already, 400 for other bytes than promised; each
// with a body {"error": "…"}.
func (o *Objects) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t, refusal := o.verify(r)
		switch {
		case refusal != "":
			o.refuse(w, http.StatusForbidden, refusal)
		case t.method == http.MethodPut:
			o.serveUpload(w, r, t)
		default:
			o.serveDownload(w, r, t)
		}
	})
}

// verify reads the terms of a request, or says why it is refused.
func (o *Objects) verify(r *http.Request) (terms, string) {
	const changed = "this link was changed or is not complete"
	key, ok := strings.CutPrefix(r.URL.Path, LinkPath)
	if !ok || store.CheckObjectKey(key) != nil {
		return terms{}, changed
	}
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return terms{}, changed
	}
	t := terms{key: key, method: q.Get("method"), sha256: q.Get("sha256"), filename: q.Get("filename")}
	if t.expires, err = strconv.ParseInt(q.Get("expires"), 10, 64); err != nil {
		return terms{}, changed
	}
	if s := q.Get("size"); s != "" {
		if t.size, err = strconv.ParseInt(s, 10, 64); err != nil {
			return terms{}, changed
		}
	}
	if !hmac.Equal([]byte(q.Get("signature")), []byte(o.sign(t))) {
		return terms{}, changed
	}
	if o.l.now().Unix() >= t.expires {
		return terms{}, "this link has expired"
	}
	if r.Method != t.method { // HEAD too: S3 signs the method
		return terms{}, "this link is for " + t.method
	}
	return t, ""
}

func (o *Objects) serveDownload(w http.ResponseWriter, r *http.Request, t terms) {
	f, info, err := o.open(r.Context(), t.key)
	switch {
	case errors.Is(err, store.ErrNotFound):
		o.refuse(w, http.StatusNotFound, "there is no such object")
		return
	case err != nil:
		o.fail(w, r, err)
		return
	}
	defer func() { _ = f.Close() }()
	h := w.Header()
	h.Set("Content-Type", info.contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("ETag", `"`+cmp.Or(info.SHA256, path.Base(info.file))+`"`) // files have random names
	if t.filename != "" {
		h.Set("Content-Disposition", store.Attachment(t.filename))
	}
	// ServeContent keeps ranges and If-Range; times are to the second
	// there, so the ETag is what distinguishes two objects.
	http.ServeContent(w, r, "", info.Modified, f)
}

func (o *Objects) serveUpload(w http.ResponseWriter, r *http.Request, t terms) {
	sum, err := hex.DecodeString(t.sha256)
	if err != nil {
		o.refuse(w, http.StatusForbidden, "this link was changed or is not complete")
		return
	}
	switch {
	case r.Header.Get(checksumHeader) != base64.StdEncoding.EncodeToString(sum):
		o.refuse(w, http.StatusForbidden, "the header "+checksumHeader+" is not what the link was made for")
		return
	case r.Header.Get("If-None-Match") != "*":
		o.refuse(w, http.StatusForbidden, "the header If-None-Match is not what the link was made for")
		return
	case r.ContentLength != t.size:
		o.refuse(w, http.StatusForbidden, "the size is not what the link was made for")
		return
	}
	if _, err := o.find(r.Context(), t.key); err == nil {
		o.refuse(w, http.StatusPreconditionFailed, "the object is there already")
		return
	}
	info, err := o.put(r.Context(), t.key, r.Body, store.PutOptions{
		IfAbsent:    true,
		SHA256:      t.sha256,
		ContentType: r.Header.Get("Content-Type"),
	}, t.size)
	switch {
	case errors.Is(err, store.ErrExists):
		o.refuse(w, http.StatusPreconditionFailed, "the object is there already")
	case errors.Is(err, os.ErrDeadlineExceeded):
		o.refuse(w, http.StatusRequestTimeout, "the upload has stalled")
	case errors.Is(err, store.ErrDigest), errors.Is(err, io.ErrUnexpectedEOF):
		o.refuse(w, http.StatusBadRequest, "BadDigest: the bytes are not those that the link was made for")
	case err != nil:
		o.fail(w, r, err)
	default:
		w.Header().Set("ETag", `"`+info.SHA256+`"`)
		w.WriteHeader(http.StatusOK)
	}
}

// Take makes a file of this machine what the link of an upload is for, as another name
// of the file, and reports whether it did: it does not where the link is not one of
// its own, where objects are there to stay, or where the disk has no such names. The
// caller vouches for the bytes, which must not change afterwards.
func (o *Objects) Take(ctx context.Context, link, file string) (bool, error) {
	if !o.l.temporary {
		return false, nil
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, link, nil)
	if err != nil {
		return false, nil
	}
	t, refusal := o.verify(r)
	if info, err := os.Stat(file); refusal != "" || err != nil || info.Size() != t.size {
		return false, nil
	}
	// Right at its place: Windows renames no file that somebody has open, under
	// whatever name. The time is for Sweep, as in Copy.
	place := o.newPlace()
	at, now := filepath.Join(o.root, filepath.FromSlash(place)), time.Now()
	if os.MkdirAll(filepath.Dir(at), 0o700) != nil || os.Chtimes(file, now, now) != nil || os.Link(file, at) != nil {
		return false, nil
	}
	info := store.ObjectInfo{Key: t.key, Size: t.size, SHA256: t.sha256, Modified: o.l.now().UTC()}
	err = o.row(ctx, place, stored{ObjectInfo: info, contentType: defaultType}, true)
	if errors.Is(err, store.ErrExists) {
		err = nil
	}
	return err == nil, err
}

// File opens an object's file, for those who copy it on this machine. It returns
// ErrNotFound for an object that is not there.
func (o *Objects) File(ctx context.Context, key string) (*os.File, error) {
	f, _, err := o.open(ctx, key)
	return f, err
}

// fail answers a request that met an internal error.
func (o *Objects) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody is listening
	}
	err = portError(r.Context(), err)
	o.l.log.Error("could not serve a link", "method", r.Method, "error", err)
	if outage, ok := errors.AsType[*store.Outage](err); ok {
		o.refuse(w, http.StatusServiceUnavailable, outage.Message)
		return
	}
	o.refuse(w, http.StatusInternalServerError, "internal error")
}

func (o *Objects) refuse(w http.ResponseWriter, status int, message string) {
	body, err := json.Marshal(map[string]string{"error": message})
	if err != nil {
		o.l.log.Error("could not encode a refusal", "error", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone needs no answer
}
