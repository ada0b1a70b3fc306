package local_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
)

func readAll(t *testing.T, l *local.Local, key string) string {
	t.Helper()
	r, err := l.Objects().Get(t.Context(), key, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// files counts what lies in the folder of objects.
func files(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "objects"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNoFileIsLeftBehind(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	ctx := t.Context()
	for _, text := range []string{"one", "two", "three"} {
		if _, err := l.Objects().Put(ctx, "k", strings.NewReader(text), store.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = l.Objects().Put(ctx, "k", strings.NewReader("x"), store.PutOptions{IfAbsent: true})
	_, _ = l.Objects().Put(ctx, "k", strings.NewReader("x"), store.PutOptions{SHA256: strings.Repeat("0", 64)})
	if n := files(t, dir); n != 1 {
		t.Errorf("%d files for one object", n)
	}
	if err := l.Objects().Delete(ctx, "k"); err != nil {
		t.Fatal(err)
	}
	if n := files(t, dir); n != 0 {
		t.Errorf("%d files for no object", n)
	}
}

// A process that died leaves files without a row; the next server removes
// them, but not what may still be on its way.
func TestLockSweeps(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	if _, err := l.Objects().Put(t.Context(), "kept", strings.NewReader("kept"), store.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * time.Hour)
	if err := filepath.WalkDir(filepath.Join(dir, "objects"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(path, old, old)
	}); err != nil {
		t.Fatal(err)
	}
	for name, modified := range map[string]time.Time{"tmp/put-1": old, "tmp/put-2": time.Now(), "tmp/copy-1": time.Now(), "tmp/upload-1": time.Now(), "ab/abcd": old, "ab/abce": time.Now()} {
		path := filepath.Join(dir, "objects", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("left"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, modified, modified); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Lock(); err != nil {
		t.Fatal(err)
	}
	if n := files(t, dir); n != 3 {
		t.Errorf("%d files, want the object, a young one and an upload", n)
	}
	if got := readAll(t, l, "kept"); got != "kept" {
		t.Errorf("got %q", got)
	}
}

func TestLinksNeedAnAddress(t *testing.T) {
	l := open(t, t.TempDir())
	if _, err := l.Objects().PresignGet(t.Context(), "k", "", time.Minute); err == nil {
		t.Error("no address: no error")
	}
	l.SetBaseURL("http://127.0.0.1:8787/")
	link, err := l.Objects().PresignGet(t.Context(), "a b/c?", "", time.Minute)
	if err != nil || !strings.HasPrefix(link.URL, "http://127.0.0.1:8787/_objects/a%20b/c%3F?") {
		t.Errorf("got %q, %v", link.URL, err)
	}
}

// Links made before a restart work after it.
func TestLinksSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	l.SetBaseURL("http://x")
	if _, err := l.Objects().Put(t.Context(), "k", strings.NewReader("data"), store.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	link, err := l.Objects().PresignGet(t.Context(), "k", "", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	shut(t, l)
	res := request(t, open(t, dir), http.MethodGet, link.URL, nil, nil)
	if res.Code != http.StatusOK || res.Body.String() != "data" {
		t.Errorf("%d %q", res.Code, res.Body)
	}
	// Another folder has another secret.
	if res := request(t, open(t, t.TempDir()), http.MethodGet, link.URL, nil, nil); res.Code != http.StatusForbidden {
		t.Errorf("another folder: %d", res.Code)
	}
}

func request(t *testing.T, l *local.Local, method, target string, body []byte, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, bytes.NewReader(body))
	maps.Copy(r.Header, header)
	w := httptest.NewRecorder()
	l.Objects().Handler().ServeHTTP(w, r)
	return w
}

func TestHandlerRefusals(t *testing.T) {
	c := &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 999e6, time.UTC)}
	l, err := local.Open(t.Context(), local.Options{Dir: t.TempDir(), BaseURL: "http://x", Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, l)
	get, err := l.Objects().PresignGet(t.Context(), "k", "", 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2026, 1, 2, 3, 4, 15, 0, time.UTC); !get.ExpiresAt.Equal(want) {
		t.Errorf("ends at %v, want %v", get.ExpiresAt, want)
	}
	holds := func(what, method, target string, status int, message string) {
		t.Helper()
		res := request(t, l, method, target, nil, nil)
		var body map[string]string
		if err := json.Unmarshal(res.Body.Bytes(), &body); err != nil || res.Code != status ||
			len(body) != 1 || body["error"] != message || res.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s %s; want %d %q", what, res.Code, res.Header().Get("Content-Type"), res.Body, status, message)
		}
	}
	holds("nothing there", "GET", get.URL, 404, "there is no such object")
	holds("another method", "POST", get.URL, 403, "this link is for GET")
	holds("no link at all", "GET", "http://x/_objects/k", 403, "this link was changed or is not complete")
	holds("no key", "GET", "http://x/_objects/", 403, "this link was changed or is not complete")
	holds("a way out", "GET", "http://x/_objects/../bindery.db?method=GET&expires=9999999999", 403, "this link was changed or is not complete")
	c.Add(9 * time.Second)
	holds("almost ended", "GET", get.URL, 404, "there is no such object")
	c.Add(time.Millisecond)
	holds("ended", "GET", get.URL, 403, "this link has expired")
}

// What the disk lost shows: an object has the size of its file, and is not there without
// it.
func TestStatLooksAtTheFile(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	if _, err := l.Objects().Put(t.Context(), "k", strings.NewReader("0123456789"), store.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "objects", "*", "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%q, %v", found, err)
	}
	if err := os.Truncate(found[0], 5); err != nil {
		t.Fatal(err)
	}
	if info, err := l.Objects().Stat(t.Context(), "k"); err != nil || info.Size != 5 {
		t.Errorf("half of it: %+v, %v", info, err)
	}
	if err := os.Remove(found[0]); err != nil {
		t.Fatal(err)
	}
	if info, err := l.Objects().Stat(t.Context(), "k"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("without it: %+v, %v", info, err)
	}
}

func TestDownloadHeaders(t *testing.T) {
	l := open(t, t.TempDir())
	l.SetBaseURL("http://x")
	if _, err := l.Objects().Put(t.Context(), "k", strings.NewReader("0123456789"), store.PutOptions{ContentType: "text/html"}); err != nil {
		t.Fatal(err)
	}
	link, err := l.Objects().PresignGet(t.Context(), "k", "a.tar.gz", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	// S3 signs the method, so a link for GET is none for HEAD.
	if refused := request(t, l, http.MethodHead, link.URL, nil, nil); refused.Code != http.StatusForbidden {
		t.Errorf("HEAD: %d, want 403", refused.Code)
	}
	head := request(t, l, http.MethodGet, link.URL, nil, nil)
	if head.Code != 200 || head.Header().Get("Content-Length") != "10" || head.Header().Get("Accept-Ranges") != "bytes" {
		t.Errorf("GET: %d %v", head.Code, head.Header())
	}
	if got := head.Header().Get("X-Content-Type-Options"); got != "nosniff" {
		t.Errorf("a browser may guess: %q", got)
	}
	if got := head.Header().Get("Content-Disposition"); got != `attachment; filename=a.tar.gz` {
		t.Errorf("Content-Disposition %q", got)
	}
	etag := head.Header().Get("ETag")
	ranged := func(ifRange string) int {
		return request(t, l, http.MethodGet, link.URL, nil, http.Header{"Range": {"bytes=5-"}, "If-Range": {ifRange}}).Code
	}
	if got := ranged(etag); got != http.StatusPartialContent {
		t.Errorf("If-Range of the object: %d", got)
	}
	if got := ranged(`"other"`); got != http.StatusOK {
		t.Errorf("If-Range of another object: %d, want all of it", got)
	}
}

// FuzzHandler holds that a request which is not a link of ours is refused, and
// does nothing.
func FuzzHandler(f *testing.F) {
	l, err := local.Open(f.Context(), local.Options{Dir: f.TempDir(), BaseURL: "http://x"})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = l.Close(f.Context()) })
	link, err := l.Objects().PresignPut(f.Context(), "k", 1, strings.Repeat("0", 64), time.Hour)
	if err != nil {
		f.Fatal(err)
	}
	u, err := url.Parse(link.URL)
	if err != nil {
		f.Fatal(err)
	}
	f.Add("PUT", u.Path, strings.Replace(u.RawQuery, "size=1", "size=2", 1))
	f.Add("GET", u.Path, u.RawQuery)
	f.Add("GET", "/_objects/../../etc/passwd", "method=GET&expires=99999999999&signature=00")
	f.Add("GET", "/_objects/a", "expires=-1;%zz")
	f.Fuzz(func(t *testing.T, method, path, query string) {
		if query == u.RawQuery {
			return
		}
		r := &http.Request{Method: method, URL: &url.URL{Path: path, RawQuery: query}, Header: http.Header{}, Body: http.NoBody}
		w := httptest.NewRecorder()
		l.Objects().Handler().ServeHTTP(w, r.WithContext(t.Context()))
		if w.Code != http.StatusForbidden || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

// BenchmarkPut is a small object, synced, with its row.
func BenchmarkPut(b *testing.B) {
	l, err := local.Open(b.Context(), local.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close(b.Context()) }()
	for b.Loop() {
		if _, err := l.Objects().Put(b.Context(), "k", strings.NewReader("0123456789"), store.PutOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPutLarge is the throughput of an object of 32 MiB.
func BenchmarkPutLarge(b *testing.B) {
	l, err := local.Open(b.Context(), local.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close(b.Context()) }()
	data := bytes.Repeat([]byte("0123456789abcdef"), 2<<20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := l.Objects().Put(b.Context(), "k", bytes.NewReader(data), store.PutOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestFilesChangeHands: in a folder of a short life, a file becomes an object by the
// link of an upload, without a copy; elsewhere it does not.
func TestFilesChangeHands(t *testing.T) {
	for _, temporary := range []bool{true, false} {
		t.Run(fmt.Sprintf("temporary %v", temporary), func(t *testing.T) {
			ctx, dir := t.Context(), t.TempDir()
			c := &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
			l, err := local.Open(ctx, local.Options{Dir: filepath.Join(dir, "data"), Temporary: temporary, BaseURL: "http://x", Now: c.Now})
			if err != nil {
				t.Fatal(err)
			}
			defer shut(t, l)
			file := filepath.Join(dir, "pack")
			if err := os.WriteFile(file, []byte("bytes"), 0o600); err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256([]byte("bytes"))
			link := func(key string, size int64) string {
				t.Helper()
				put, err := l.Objects().PresignPut(ctx, key, size, hex.EncodeToString(sum[:]), time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				return put.URL
			}
			get, err := l.Objects().PresignGet(ctx, "k", "", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			ended := link("ended", 5)
			c.Add(2 * time.Minute)
			for what, refused := range map[string][2]string{
				"another size": {link("size", 6), file}, "no file": {link("none", 5), file + "s"}, "changed": {link("changed", 5) + "0", file},
				"ended": {ended, file}, "a link to read": {get.URL, file}, "no link": {"\x00", file},
			} {
				if took, err := l.Objects().Take(ctx, refused[0], refused[1]); took || err != nil {
					t.Errorf("%s: %v, %v", what, took, err)
				}
			}
			for range 2 { // and one that is there already
				if took, err := l.Objects().Take(ctx, link("k", 5), file); took != temporary || err != nil {
					t.Fatalf("%v, %v", took, err)
				}
			}
			if !temporary {
				return
			}
			f, err := l.Objects().File(ctx, "k")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if data, err := io.ReadAll(f); string(data) != "bytes" || err != nil {
				t.Errorf("the object has %q, %v", data, err)
			}
			if info, err := l.Objects().Stat(ctx, "k"); err != nil || info.Size != 5 || info.SHA256 != hex.EncodeToString(sum[:]) {
				t.Errorf("%+v, %v", info, err)
			}
			if _, err := l.Objects().File(ctx, "none"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("no object: %v", err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "data", "objects", "tmp", "*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}
