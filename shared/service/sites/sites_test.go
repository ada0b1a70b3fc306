package sites

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// objects has one archive, or fails.
type objects struct {
	store.Objects
	data []byte
	err  error
	gets atomic.Int64
}

func (o *objects) Get(_ context.Context, _ string, offset, length int64) (io.ReadCloser, error) {
	o.gets.Add(1)
	if o.err != nil {
		return nil, o.err
	}
	return io.NopCloser(io.LimitReader(bytes.NewReader(o.data[min(offset, int64(len(o.data))):]), length)), nil
}

// empty is an archive without files.
func empty(t *testing.T) (*objects, admin.Served) {
	t.Helper()
	var w bundle.Writers
	var x bundle.IndexWriter
	var out bytes.Buffer
	_, root, err := x.Write(&w, &out, 0, bundle.Info{})
	if err != nil {
		t.Fatal(err)
	}
	return &objects{data: out.Bytes()}, admin.Served{Bundle: admin.Bundle{Key: "a", Index: root.String()}}
}

// TestVersions: an archive is opened once for all readers, and again after a failure or
// after many others.
func TestVersions(t *testing.T) {
	o, archive := empty(t)
	var asked atomic.Int64
	serve := func(context.Context) (admin.Served, error) { asked.Add(1); return archive, nil }
	v := newVersions(o, site.NewCache(1<<20, 1<<16))
	wrong := errors.New("no record")
	if _, err := v.open(t.Context(), "job", func(context.Context) (admin.Served, error) { return archive, wrong }); !errors.Is(err, wrong) {
		t.Error(err)
	}
	var readers sync.WaitGroup
	for range 20 {
		readers.Go(func() {
			if _, err := v.open(t.Context(), "job", serve); err != nil {
				t.Error(err)
			}
		})
	}
	readers.Wait()
	if asked.Load() != 1 || o.gets.Load() != 1 {
		t.Errorf("20 readers of an archive asked %d times for its record and read %d times", asked.Load(), o.gets.Load())
	}
	for n := range maxVersions {
		if _, err := v.open(t.Context(), fmt.Sprint(n), serve); err != nil {
			t.Fatal(err)
		}
	}
	if len(v.opened) != maxVersions || len(v.used) != maxVersions || v.opened["job"] != nil {
		t.Errorf("%d archives are open, in a list of %d", len(v.opened), len(v.used))
	}
	asked.Store(0)
	if _, err := v.open(t.Context(), "job", serve); err != nil || asked.Load() != 1 {
		t.Errorf("an archive that was closed: asked %d times, %v", asked.Load(), err)
	}
}

// TestPanicsOpenNothing: a panic while an archive is opened ends its readers' waiting.
func TestPanicsOpenNothing(t *testing.T) {
	o, archive := empty(t)
	v := newVersions(o, site.NewCache(1<<20, 1<<16))
	func() {
		defer func() { _ = recover() }()
		_, _ = v.open(t.Context(), "job", func(context.Context) (admin.Served, error) { panic("no") })
	}()
	if _, err := v.open(t.Context(), "job", func(context.Context) (admin.Served, error) { return archive, nil }); err != nil {
		t.Error(err)
	}
}

// TestReadErrors: what may be there soon is told apart from what is damaged.
func TestReadErrors(t *testing.T) {
	o, archive := empty(t)
	whole := o.data
	for _, tt := range []struct {
		name    string
		err     error
		data    []byte
		damaged bool
	}{
		{"outage", errors.New("no answer"), whole, false},
		{"gone", store.ErrNotFound, whole, true},
		{"shorter", store.ErrRange, nil, true},
		{"nothing", nil, nil, true},
		{"changed", nil, bytes.Repeat([]byte{0}, len(whole)), true},
	} {
		v := newVersions(&objects{data: tt.data, err: tt.err}, site.NewCache(1<<20, 1<<16))
		_, err := v.open(t.Context(), "job", func(context.Context) (admin.Served, error) { return archive, nil })
		_, temporary := errors.AsType[*site.Temporary](err)
		if errors.Is(err, site.ErrDamaged) != tt.damaged || temporary == tt.damaged {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	v := newVersions(o, site.NewCache(1<<20, 1<<16))
	if _, err := v.open(t.Context(), "job", func(context.Context) (admin.Served, error) {
		return admin.Served{Bundle: admin.Bundle{Index: "no place"}}, nil
	}); err == nil || !strings.Contains(err.Error(), "job") {
		t.Errorf("a record without a place: %v", err)
	}
}

// records is a store that can't be reached.
type records struct{ store.Store }

func (records) Get(context.Context, store.Key) (store.Record, error) {
	return store.Record{}, errors.New("no answer of 192.0.2.1")
}

// TestOutage: a reader is asked to come again, and learns nothing of what is behind.
func TestOutage(t *testing.T) {
	h := New(Options{Admin: admin.New(admin.Options{Store: records{}, Sites: admin.Sites{URL: "http://localhost", Key: []byte("key")}})})
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		w := httptest.NewRecorder()
		h.Serve(w, httptest.NewRequest(method, "/", nil), "docs-example-com-1")
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || strings.Contains(w.Body.String(), "192.0.2.1") || (w.Body.Len() == 0) != (method == http.MethodHead) {
			t.Errorf("%s: %d %v %s", method, w.Code, w.Header(), w.Body)
		}
	}
}

// TestSecureCookie: over https the cookie of an export is for its host alone, and for https.
func TestSecureCookie(t *testing.T) {
	rules := admin.New(admin.Options{Sites: admin.Sites{URL: "https://sites.example.com", Key: []byte("key")}})
	h := New(Options{Admin: rules, Secure: true})
	w := httptest.NewRecorder()
	h.Serve(w, httptest.NewRequest(http.MethodPost, admin.PreviewPath, nil), "exp-1")
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
	if name := h.cookie(); !strings.HasPrefix(name, "__Host-") {
		t.Errorf("the cookie is called %s", name)
	}
}

// TestPageEscapes: a page shows its texts and links, whatever is in them.
func TestPageEscapes(t *testing.T) {
	w := httptest.NewRecorder()
	page(w, httptest.NewRequest(http.MethodGet, "/", nil), http.StatusNotFound, "<a> & $TEXT", "x < y", `https://example.com/"`)
	body := w.Body.String()
	for _, want := range []string{"<title>&lt;a&gt; &amp; $TEXT</title>", "<p>x &lt; y</p>", `href="https://example.com/&quot;"`} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in\n%s", want, body)
		}
	}
}
