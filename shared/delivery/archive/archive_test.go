package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/address"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
	"github.com/bindery-docs/bindery/shared/delivery/site/sitetest"
)

// memory is an archive in memory that counts its reads.
type memory struct {
	mu      sync.Mutex
	data    []byte
	failing atomic.Bool
	reads   atomic.Int64
	bytes   atomic.Int64
}

func (m *memory) ReadRange(_ context.Context, offset, length int64) ([]byte, error) {
	if m.failing.Load() {
		return nil, &site.Temporary{Err: errors.New("no answer"), After: 1500 * time.Millisecond}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if offset < 0 || length < 0 || offset > int64(len(m.data))-length {
		return nil, fmt.Errorf("no bytes %d to %d", offset, offset+length)
	}
	m.reads.Add(1)
	m.bytes.Add(length)
	return bytes.Clone(m.data[offset : offset+length]), nil
}

// written is an archive of files, each in a unit with a small file before it if shared
// is set, so that it begins no member unless it is large.
func written(t testing.TB, files map[string]string, info *bundle.Info, shared bool) (data []byte, root bundle.Place, rows map[string]bundle.Row) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var w bundle.Writers
	var out bytes.Buffer
	var x bundle.IndexWriter
	rows = map[string]bundle.Row{}
	for i, name := range slices.Sorted(maps.Keys(files)) {
		offset := int64(out.Len())
		u, err := w.Unit(&out, bundle.Text)
		must(err)
		if shared {
			_, err := u.Add(fmt.Sprintf("bindery/filler-%d.txt", i), time.Time{}, bytes.Repeat([]byte("filler "), 100))
			must(err)
		}
		role := bundle.Plain
		if strings.HasSuffix(name, ".html") && address.IsStub([]byte(files[name])) {
			role = bundle.Stub
		}
		must(u.Put(bundle.FileOf(name, []byte(files[name])), time.Time{}, []byte(files[name]), role))
		must(u.Close())
		must(x.Add(u.Rows(), offset))
		for r, err := range bundle.ReadRows(u.Rows()) {
			must(err)
			r.Offset += offset
			rows[r.Path] = r
		}
	}
	x.AddRedirects(info.Redirects)
	_, root, err := x.Write(&w, &out, int64(out.Len()), *info)
	must(err)
	return bundle.AppendFooter(out.Bytes(), bundle.Footer{Root: root, Lists: int64(out.Len())}), root, rows
}

// damage changes a byte of a file, at an offset near the given one of its forms.
func (m *memory) damage(t testing.TB, row bundle.Row, offset int64) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if row.Chunks != nil {
		sent := row.Sent()
		at := min(offset, sent-1)
		if offset < 0 {
			at = max(sent+offset, 0)
		}
		m.data[row.Offset+at] ^= 0x20
		return
	}
	for at := row.Length - 9; at > 0; at-- { // what is before the file in its member doesn't matter to it
		m.data[row.Offset+at] ^= 0x20
		if _, err := row.InflateInside(nil, m.data[row.Offset:row.Offset+row.Length]); err != nil {
			return
		}
		m.data[row.Offset+at] ^= 0x20
	}
	t.Fatalf("no byte of the member matters to %s", row.Path)
}

// TestContract: the rules, on archives with files that begin their members and with
// files that share them.
func TestContract(t *testing.T) {
	for name, shared := range map[string]bool{"leading": false, "sharing": true} {
		t.Run(name, func(t *testing.T) {
			open := func(t testing.TB, files map[string]string, info *bundle.Info) sitetest.Storage {
				data, root, rows := written(t, files, info, shared)
				m := &memory{data: data}
				v, err := Open(t.Context(), m, root, site.NewCache(1<<20, 256<<10))
				if err != nil {
					t.Fatal(err)
				}
				return sitetest.Storage{Version: v, Fail: m.failing.Store, Damage: func(t testing.TB, name string, offset int64) {
					m.damage(t, rows[name], offset)
				}}
			}
			sitetest.Run(t, open)
			t.Run("failure", func(t *testing.T) { sitetest.RunFailing(t, open) })
		})
	}
}

// An answer takes two reads at most, and a second one of the same block takes one. An
// address that leads nowhere takes one.
func TestReads(t *testing.T) {
	files := map[string]string{"404.html": "none"}
	for i := range 3000 {
		files[fmt.Sprintf("guides/page-%04d.html", i)] = strings.Repeat(fmt.Sprintf("<p>page %d</p>", i), 2000)
	}
	files["section/index.html"] = "<p>section</p>"
	data, root, _ := written(t, files, &bundle.Info{Redirects: []bundle.Redirect{{From: "/old", To: "https://other.example/"}}}, false)
	m := &memory{data: data}
	cache := site.NewCache(64<<20, 1<<20)
	v, err := Open(t.Context(), m, root, cache)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path  string
		reads int64 // of a cold cache
		found bool
	}{
		{"/guides/page-0007", 2, true},
		{"/guides/page-0008", 1, true}, // of the same block
		{"/guides/page-2900.html", 2, true},
		{"/section/", 2, true},
		{"/section", 0, false}, // leads to /section/
		{"/old", 1, false},
		{"/guides/nothing", 1, false},
		{"/guides/page-0007", 1, true}, // the handler has the file in its own cache
	} {
		before := m.reads.Load()
		found, err := v.Find(t.Context(), c.path, "")
		if err != nil {
			t.Fatal(err)
		}
		if (found.File != nil) != c.found {
			t.Errorf("%s: %+v", c.path, found)
		}
		if found.File != nil {
			if _, err := found.File.Read(t.Context(), site.Gzip); err != nil {
				t.Error(err)
			}
		}
		if got := m.reads.Load() - before; got > c.reads {
			t.Errorf("%s takes %d reads, want %d at most", c.path, got, c.reads)
		}
	}
}

// An archive answers every address as a folder with the same files and redirects does:
// random sites, and addresses that are near those of their files.
func TestAsAFolder(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 14))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	name := func() string {
		parts := make([]string, 1+r.IntN(3))
		for i := range parts {
			parts[i] = pick("a", "b", "index", "c.d", "größe", "old")
		}
		return strings.Join(parts, "/") + pick(".html", ".html", ".html", "/index.html", ".md", "")
	}
	for range 300 {
		files := map[string]string{}
		folders := map[string]bool{}
		for range 1 + r.IntN(9) {
			n := name()
			free := !folders[n]
			for dir := path.Dir(n); dir != "."; dir = path.Dir(dir) {
				_, file := files[dir]
				free = free && !file
			}
			if !free {
				continue
			}
			for dir := path.Dir(n); dir != "."; dir = path.Dir(dir) {
				folders[dir] = true
			}
			files[n] = pick("<p>page</p>", "<p>page</p>", `<html><head><meta http-equiv="refresh" content="0; url=x"></head></html>`)
		}
		var redirects []bundle.Redirect
		for range r.IntN(5) {
			redirects = append(redirects, bundle.Redirect{
				From: "/" + pick("a", "b", "old", "a/b", "a.html", "index", "a/index.html", "old/:x", "a/:x?", "b*", "a?tab=1", "gr%C3%B6%C3%9Fe"),
				To:   "/" + pick("a", "b", "c.d", "old", ":x", "a/b#part", "b?q=1"), Permanent: r.IntN(2) == 0,
			})
		}
		info := &bundle.Info{Redirects: redirects}
		exact, err := address.NewRedirects(redirects)
		if err != nil {
			t.Fatal(err)
		}
		folder := address.Addresses{
			Has:       func(name string) bool { _, ok := files[name]; return ok },
			Stub:      func(name string) bool { return strings.HasSuffix(name, ".html") && address.IsStub([]byte(files[name])) },
			Redirects: exact,
		}
		data, root, _ := written(t, files, info, false)
		v, err := Open(t.Context(), &memory{data: data}, root, site.NewCache(1<<20, 1<<20))
		if err != nil {
			t.Fatal(err)
		}
		for range 60 {
			asked := "/" + name()
			if r.IntN(2) == 0 {
				asked = "/" + strings.TrimSuffix(strings.TrimSuffix(asked[1:], ".html"), "/index") + pick("", "/", "/index", "/index/", "/index.html", ".html/")
			}
			if strings.Contains(asked, "/index/index") {
				continue // an archive has no row for the redirect page of a section, from which a folder goes on
			}
			query := pick("", "", "tab=1")
			want := folder.Find(asked, query)
			found, err := v.Find(t.Context(), asked, query)
			if err != nil {
				t.Fatal(err)
			}
			got := address.Answer{To: found.To, Permanent: found.Permanent}
			if found.File != nil {
				got.File = found.File.Facts().Name
			}
			if got != want {
				t.Fatalf("%s?%s: %+v from the archive, %+v from a folder\nfiles: %v\nredirects: %+v", asked, query, got, want, slices.Sorted(maps.Keys(files)), redirects)
			}
		}
	}
}

// Names that end in ".html" can be folders, and have pages.
func TestAddressesThatEndInHTML(t *testing.T) {
	data, root, _ := written(t, map[string]string{"odd.html.html": "odd", "folder.html/index.html": "folder", "404.html": "none"}, &bundle.Info{}, false)
	v, err := Open(t.Context(), &memory{data: data}, root, site.NewCache(1<<20, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	for asked, want := range map[string]string{"/odd.html": "odd.html.html", "/folder.html": "to /folder.html/", "/folder.html/": "folder.html/index.html"} {
		found, err := v.Find(t.Context(), asked, "")
		if err != nil {
			t.Fatal(err)
		}
		got := "to " + found.To
		if found.File != nil {
			got = found.File.Facts().Name
		}
		if got != want {
			t.Errorf("%s: %s, want %s", asked, got, want)
		}
	}
}

// The rows of addresses that were found stay in memory, for a bounded number of them.
func TestPlacesAreBounded(t *testing.T) {
	files := map[string]string{}
	for i := range maxPlaces + 10 {
		files[fmt.Sprintf("p/%d.html", i)] = "page"
	}
	data, root, _ := written(t, files, &bundle.Info{}, false)
	m := &memory{data: data}
	v, err := Open(t.Context(), m, root, site.NewCache(1, 1)) // no block stays in the cache
	if err != nil {
		t.Fatal(err)
	}
	find := func(asked string) int64 {
		before := m.reads.Load()
		if _, err := v.Find(t.Context(), asked, ""); err != nil {
			t.Fatal(err)
		}
		return m.reads.Load() - before
	}
	if first, again := find("/p/1"), find("/p/1"); first != 1 || again != 0 {
		t.Errorf("an address takes %d reads, then %d", first, again)
	}
	for i := range maxPlaces + 10 {
		find(fmt.Sprintf("/p/%d", i))
		find(fmt.Sprintf("/nothing/%d", i%9))
	}
	if n := len(v.places); n == 0 || n > maxPlaces {
		t.Errorf("%d addresses are in memory", n)
	}
}

// A file that gzip makes no smaller is sent as it is.
func TestNoGzipOfNoise(t *testing.T) {
	noise := make([]byte, 40_000)
	_, _ = rand.NewChaCha8([32]byte{2}).Read(noise) // never fails
	data, root, _ := written(t, map[string]string{"noise.txt": string(noise), "text.txt": strings.Repeat("text ", 8000)}, &bundle.Info{}, false)
	v, err := Open(t.Context(), &memory{data: data}, root, site.NewCache(1<<20, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"/noise.txt": false, "/text.txt": true} {
		found, err := v.Find(t.Context(), name, "")
		if err != nil || found.File == nil {
			t.Fatalf("%s: %+v, %v", name, found, err)
		}
		if got := found.File.Facts().Lengths[site.Gzip] != 0; got != want {
			t.Errorf("%s has a gzip form: %t", name, got)
		}
	}
}

// An archive in a file says itself where its index is.
func TestArchiveInAFile(t *testing.T) {
	data, root, _ := written(t, map[string]string{"a.html": "<p>a</p>"}, &bundle.Info{Domain: "docs.example"}, false)
	for name, c := range map[string]struct {
		data []byte
		err  error
	}{"whole": {data, nil}, "cut": {data[:len(data)-1], bundle.ErrNoIndex}, "short": {data[:20], bundle.ErrNoIndex}} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.tar.gz")
			if err := os.WriteFile(file, c.data, 0o644); err != nil {
				t.Fatal(err)
			}
			src, err := OpenFile(file)
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			footer, err := Footer(t.Context(), src, src.Size())
			if !errors.Is(err, c.err) || err == nil && footer.Root != root {
				t.Fatalf("footer: %+v, %v", footer, err)
			}
			if err != nil {
				return
			}
			v, err := Open(t.Context(), src, footer.Root, site.NewCache(1<<20, 1<<20))
			if err != nil || v.Info().Domain != "docs.example" {
				t.Fatalf("open: %v", err)
			}
			if _, err := src.ReadRange(t.Context(), src.Size()-1, 2); err == nil {
				t.Error("more was read than there is")
			}
		})
	}
	if _, err := OpenFile(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there opens")
	}
}

// A root that differs, or of another format, is refused.
func TestDamagedRoot(t *testing.T) {
	data, root, _ := written(t, map[string]string{"a.html": "<p>a</p>"}, &bundle.Info{}, false)
	data[root.Offset+20] ^= 1
	if _, err := Open(t.Context(), &memory{data: data}, root, site.NewCache(1<<20, 1<<20)); !errors.Is(err, site.ErrDamaged) {
		t.Errorf("a root that differs: %v", err)
	}
}
