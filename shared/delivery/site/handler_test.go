package site_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/address"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
	"github.com/bindery-docs/bindery/shared/delivery/site/sitetest"
)

// files are those of a small site.
func files() map[string]string {
	return map[string]string{"index.html": "<p>home</p>", "page.html": strings.Repeat("<p>page</p>", 100), "404.html": "<p>nothing</p>", "large.bin": strings.Repeat("x", 3<<20)}
}

// ask has a handler answer from a version.
func ask(ctx context.Context, h *site.Handler, v site.Version, method, path string, headers ...string) (*httptest.ResponseRecorder, site.Reply) {
	r := httptest.NewRequest(method, path, nil).WithContext(ctx)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	return w, h.Answer(w, r, v)
}

// broken is a version with other ways to fail.
type broken struct {
	site.Version
	find, notFound error
	file           func(site.File) site.File
}

func (b *broken) Find(ctx context.Context, path, query string) (address.Found[site.File], error) {
	if b.find != nil {
		return address.Found[site.File]{}, b.find
	}
	found, err := b.Version.Find(ctx, path, query)
	if found.File != nil && b.file != nil {
		found.File = b.file(found.File)
	}
	return found, err
}

func (b *broken) NotFound(ctx context.Context) (site.File, error) {
	if b.notFound != nil {
		return nil, b.notFound
	}
	return b.Version.NotFound(ctx)
}

// TestErrors: what a failure is answered with, by its kind.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		status int
		after  string
	}{
		{"what may be there soon", &site.Temporary{Err: errors.New("no answer")}, 503, "5"},
		{"what is there in a while", fmt.Errorf("read: %w", &site.Temporary{Err: errors.New("slow down"), After: 90*time.Second + 1}), 503, "91"},
		{"what is there at once", &site.Temporary{Err: errors.New("a short break"), After: time.Millisecond}, 503, "1"},
		{"what takes too long", fmt.Errorf("read: %w", context.DeadlineExceeded), 503, "5"},
		{"what is damaged", fmt.Errorf("a block: %w", site.ErrDamaged), 500, ""},
		{"what is gone", fs.ErrNotExist, 500, ""},
	} {
		m := sitetest.NewMemory(t, files(), &bundle.Info{})
		var told []error
		h := &site.Handler{Cache: site.NewCache(1<<20, 1<<20), Failed: func(_ context.Context, _ site.Version, f site.File, err error) {
			if f != nil {
				t.Errorf("%s: a failed look-up is reported of %s", c.name, f.Facts().Name)
			}
			told = append(told, err)
		}}
		for _, v := range []site.Version{&broken{Version: m, find: c.err}, &broken{Version: m, notFound: c.err}} {
			w, reply := ask(t.Context(), h, v, "GET", "/missing")
			if w.Code != c.status || reply.Status != c.status || w.Header().Get("Retry-After") != c.after || w.Header().Get("Cache-Control") != "no-store" || strings.Contains(w.Body.String(), c.err.Error()) {
				t.Errorf("%s: status %d (%d) after %q: %s", c.name, w.Code, reply.Status, w.Header().Get("Retry-After"), w.Body)
			}
		}
		if len(told) != 2 || !errors.Is(told[0], c.err) {
			t.Errorf("%s: reported are %v", c.name, told)
		}
	}
}

// TestReaderIsGone: what a storage gives up since the reader is gone is no failure of
// it.
func TestReaderIsGone(t *testing.T) {
	h := &site.Handler{Cache: site.NewCache(1<<20, 1<<20), Failed: func(_ context.Context, _ site.Version, _ site.File, err error) {
		t.Errorf("%v is reported", err)
	}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	v := &broken{Version: sitetest.NewMemory(t, files(), &bundle.Info{}), find: ctx.Err()}
	if w, _ := ask(ctx, h, v, "GET", "/"); w.Code != 503 {
		t.Errorf("status %d", w.Code)
	}
}

// short is a file of which a storage returns less than it says, and open parts that are
// elsewhere.
type short struct{ site.File }

func (s short) Read(ctx context.Context, e site.Encoding) ([]byte, error) {
	body, err := s.File.Read(ctx, e)
	return bytes.TrimSuffix(body, []byte(">")), err
}

func (s short) Open(ctx context.Context, e site.Encoding) (site.Form, error) {
	form, err := s.File.Open(ctx, e)
	return elsewhere{form}, err
}

type elsewhere struct{ site.Form }

func (f elsewhere) Part(ctx context.Context, offset int64) ([]byte, int64, error) {
	part, begin, err := f.Form.Part(ctx, offset)
	return part, begin + 1, err
}

// TestStorageThatLies: an answer never has another length than its head says.
func TestStorageThatLies(t *testing.T) {
	v := &broken{Version: sitetest.NewMemory(t, files(), &bundle.Info{}), file: func(f site.File) site.File { return short{f} }}
	h := &site.Handler{Cache: site.NewCache(1<<20, 1<<20)}
	for _, path := range []string{"/page", "/large.bin"} {
		for _, part := range []string{"", "bytes=0-9"} {
			w, reply := ask(t.Context(), h, v, "GET", path, "Range", part)
			if w.Code != 500 || reply.Err != nil || strings.ContainsAny(w.Body.String(), "<x") {
				t.Errorf("%s, %q: status %d with %d bytes, %v", path, part, w.Code, w.Body.Len(), reply.Err)
			}
		}
	}
}

// TestColdPageIsReadOnce: a hundred readers of a page that is not in memory cause one
// read, in whatever way they ask for it.
func TestColdPageIsReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := sitetest.NewMemory(t, files(), &bundle.Info{})
		h := &site.Handler{Cache: site.NewCache(1<<20, 1<<20)}
		let := m.Hold()
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				method, part := [...]string{"GET", "HEAD", "GET", "GET"}[i%4], [...]string{"", "", "bytes=0-9", ""}[i%4]
				if w, _ := ask(t.Context(), h, m, method, "/page", "Range", part); w.Code != http.StatusOK && w.Code != http.StatusPartialContent {
					t.Errorf("status %d", w.Code)
				}
			})
		}
		synctest.Wait()
		let()
		all.Wait()
		if n := m.Reads("page.html"); n != 1 {
			t.Errorf("%d reads", n)
		}
		// What the reader has need not be read.
		if w, _ := ask(t.Context(), h, m, "GET", "/", "If-None-Match", "*"); w.Code != http.StatusNotModified || m.Reads("index.html") != 0 {
			t.Errorf("status %d after %d reads", w.Code, m.Reads("index.html"))
		}
	})
}

// TestSharedCache: versions that have a file in common read it once, under one policy.
func TestSharedCache(t *testing.T) {
	h := &site.Handler{Cache: site.NewCache(1<<20, 1<<20)}
	one, two := sitetest.NewMemory(t, files(), &bundle.Info{}), sitetest.NewMemory(t, files(), &bundle.Info{})
	for _, v := range []site.Version{one, two, one} {
		if w, _ := ask(t.Context(), h, v, "GET", "/page"); w.Code != http.StatusOK || w.Body.String() != files()["page.html"] {
			t.Errorf("status %d", w.Code)
		}
	}
	if n := one.Reads("page.html") + two.Reads("page.html"); n != 1 {
		t.Errorf("%d reads", n)
	}
}

// TestOlder: a hashed file of an older version is there for ever, and a name that has no
// digest is not looked for.
func TestOlder(t *testing.T) {
	const old = "bindery/theme.00112233aabb.css"
	before := sitetest.NewMemory(t, map[string]string{old: "/* old */"}, &bundle.Info{})
	h := &site.Handler{Cache: site.NewCache(1<<20, 1<<20), Older: func(ctx context.Context, name string) (site.Form, error) {
		if !site.IsHashed(name) {
			t.Errorf("%s is looked for", name)
		}
		found, err := before.Find(ctx, "/"+name, "")
		if err != nil {
			return nil, err
		}
		if found.File == nil {
			return nil, fs.ErrNotExist
		}
		return found.File.Open(ctx, site.Identity)
	}}
	v := sitetest.NewMemory(t, files(), &bundle.Info{})
	for _, c := range []struct {
		path, part string
		status     int
		body       string
	}{
		{"/" + old, "", 200, "/* old */"},
		{"/" + old, "bytes=3-5", 206, "old"},
		{"/bindery/theme.ffffffffffff.css", "", 404, "<p>nothing</p>"},
		{"/missing.css", "", 404, "<p>nothing</p>"},
	} {
		w, _ := ask(t.Context(), h, v, "GET", c.path, "Range", c.part)
		if w.Code != c.status || w.Body.String() != c.body || (w.Header().Get("Cache-Control") == "public, max-age=31536000, immutable") != (c.status < 300) {
			t.Errorf("%s, %q: status %d with %q, %v", c.path, c.part, w.Code, w.Body, w.Header())
		}
	}
	before.Fail(&site.Temporary{Err: errors.New("no answer")})
	if w, _ := ask(t.Context(), h, v, "GET", "/"+old); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("while the storage does not answer: status %d", w.Code)
	}
}
