package sites

import (
	"bytes"
	"context"
	"encoding/json"
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
	var at bundle.Place
	if err := at.UnmarshalText([]byte(archive.Bundle.Index)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		err     error
		data    []byte
		damaged bool
	}{
		{"outage", errors.New("no answer"), whole, false},
		{"gone", store.ErrNotFound, whole, true},
		{"cut off by the network", &store.Outage{Err: io.ErrUnexpectedEOF}, whole, false},
		{"shorter", store.ErrRange, nil, true},
		{"cut off", nil, whole[:at.Offset+at.Length-1], true},
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
	}); !errors.Is(err, site.ErrDamaged) || !strings.Contains(err.Error(), "job") {
		t.Errorf("a record without a place: %v", err)
	}
}

// records is a store of records as JSON, by their partitions.
type records struct {
	store.Store
	all map[string]string
	err error
}

func (r records) Get(_ context.Context, key store.Key) (store.Record, error) {
	text, ok := r.all[key.PK]
	if r.err == nil && !ok {
		return store.Record{}, store.ErrNotFound
	}
	return store.Record{Key: key, Value: []byte(text), Revision: 1}, r.err
}

// Stat describes the archive.
func (o *objects) Stat(context.Context, string) (store.ObjectInfo, error) {
	return store.ObjectInfo{Size: int64(len(o.data))}, o.err
}

// TestOutage: a reader is asked to come again, and learns nothing of what is behind.
func TestOutage(t *testing.T) {
	rules := admin.New(admin.Options{Store: records{err: errors.New("no answer of 192.0.2.1")}, Sites: admin.Sites{URL: "http://localhost", Key: []byte("key")}})
	h := New(Options{Admin: rules})
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		w := httptest.NewRecorder()
		h.Serve(w, httptest.NewRequest(method, "/", nil), "docs-example-com-1")
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || strings.Contains(w.Body.String(), "192.0.2.1") || (w.Body.Len() == 0) != (method == http.MethodHead) {
			t.Errorf("%s: %d %v %s", method, w.Code, w.Header(), w.Body)
		}
	}
}

// TestSecureCookie: a link makes a cookie for its host alone; over https, for that alone. An
// outage, HEAD and a redirect are as private as a page.
func TestSecureCookie(t *testing.T) {
	o, served := empty(t)
	job, err := json.Marshal(map[string]any{
		"id": "exp_1", "organisation": "org_1", "project": "prj_1", "domain": "a.example", "status": "completed",
		"bundle": admin.Bundle{Key: "a", Index: served.Bundle.Index, Size: int64(len(o.data))},
	})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"export#exp_1": string(job), "project#prj_1": `{"id":"prj_1","organisation":"org_1","domain":"a.example"}`}
	for _, secure := range []bool{true, false} {
		rules := admin.New(admin.Options{Store: records{all: all}, Objects: o, Sites: admin.Sites{URL: "https://sites.example.com", Key: []byte("key")}})
		h := New(Options{Admin: rules, Objects: o, Secure: secure})
		ask := func(method, target, cookie string) *http.Response {
			t.Helper()
			r := httptest.NewRequest(method, target, nil)
			if cookie != "" {
				r.Header.Set("Cookie", cookie)
			}
			w := httptest.NewRecorder()
			h.Serve(w, r, "exp-1")
			header := w.Header()
			if header.Get("Cache-Control") != "private, no-store" || header.Get("Referrer-Policy") != "no-referrer" || header.Get("X-Robots-Tag") != "noindex" {
				t.Errorf("%s %s: %d %v", method, target, w.Code, header)
			}
			return w.Result()
		}
		link, err := rules.PreviewLink(t.Context(), admin.Caller{OrganisationID: "org_1"}, "exp_1")
		if err != nil {
			t.Fatal(err)
		}
		target := strings.TrimPrefix(link, "https://exp-1.sites.example.com")
		if r := ask(http.MethodPost, target, ""); r.StatusCode != http.StatusMethodNotAllowed || len(r.Cookies()) > 0 {
			t.Errorf("POST: %d %v", r.StatusCode, r.Cookies())
		}
		cookies := ask(http.MethodGet, target, "").Cookies()
		if len(cookies) != 1 {
			t.Fatal(cookies)
		}
		c := cookies[0]
		if c.Secure != secure || strings.HasPrefix(c.Name, "__Host-") != secure || c.Path != "/" || c.Domain != "" || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode {
			t.Errorf("the cookie is %s", c)
		}
		mine := c.Name + "=" + c.Value
		for method, want := range map[string]int{http.MethodGet: http.StatusNotFound, http.MethodHead: http.StatusNotFound, http.MethodPut: http.StatusMethodNotAllowed} {
			if r := ask(method, "/page", mine); r.StatusCode != want {
				t.Errorf("%s: %d, want %d", method, r.StatusCode, want)
			}
		}
		o.err = errors.New("no answer")
		if r := ask(http.MethodGet, "/page", mine); r.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("an outage: %d", r.StatusCode)
		}
		o.err = nil
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
