package preview

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/delivery/address"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/service/admin"
	dev "github.com/bindery-docs/bindery/shared/service/preview"
	"github.com/bindery-docs/bindery/shared/service/server"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// previewed shows a folder as bindery dev does, until the test ends. The second
// result receives what is found.
func previewed(t *testing.T, dir string, more ...func(*dev.Options)) (*httptest.Server, <-chan dev.Report) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	scripts := island.New(island.Options{Program: program})
	reports := make(chan dev.Report, 100)
	opt := dev.Options{
		Dir: dir, Domain: server.SeedDomain, Kind: admin.KindCloud, Islands: scripts,
		Report: func(r dev.Report) { reports <- r },
	}
	for _, change := range more {
		change(&opt)
	}
	s, err := dev.New(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	watched := make(chan error, 1)
	go func() { watched <- s.Watch(t.Context()) }()
	web := httptest.NewUnstartedServer(s.Handler())
	web.Config.BaseContext = func(net.Listener) context.Context { return t.Context() }
	web.Start()
	t.Cleanup(func() { // after t.Context ended
		web.Listener.Close()
		web.CloseClientConnections()
		web.Close()
		if err := <-watched; err != nil {
			t.Error(err)
		}
		_ = s.Close()
		scripts.Close()
	})
	return web, reports
}

// get asks a server for a path below its root.
func get(t *testing.T, web *httptest.Server, name string) (int, string) {
	t.Helper()
	c := *web.Client()
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := c.Get(web.URL + (&url.URL{Path: "/" + name}).EscapedPath())
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

// devScript is all that a page has under bindery dev and not in a bundle.
var devScript = regexp.MustCompile(`<script src="/bindery-dev/client\.js" data-base="/" data-version="[0-9a-f]{16}-[0-9]+" defer></script>`)

// TestDevIsTheBundle holds every file that bindery dev shows of a site against the
// bundle of it.
func TestDevIsTheBundle(t *testing.T) {
	sites := map[string]string{"docs": filepath.Join(outside.Checkout(t), "infra", "docs")}
	if !outside.Short(t) {
		if corpora, ok := outside.Maybe(t, "corpora"); ok {
			for _, site := range []string{"mcp", "trigger", "novu"} {
				sites[site] = filepath.Join(corpora, site)
			}
		}
	}
	for name, source := range sites {
		t.Run(name, func(t *testing.T) {
			dir := harness.Unpack(t, source)
			web, reports := previewed(t, source)
			// Search and class names are those of all pages, times come from Git.
			sameFindings(t, harness.ReadFile(t, dir, bundle.DiagnosticsPath), (<-reports).Findings)
			for wait := time.Now(); time.Since(wait) < 3*time.Minute; time.Sleep(50 * time.Millisecond) {
				if _, now := get(t, web, "sitemap.xml"); now == harness.ReadFile(t, dir, "sitemap.xml") {
					break
				}
			}
			pages, others := 0, 0
			err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				rel, _ := filepath.Rel(dir, file)
				name := filepath.ToSlash(rel)
				if name == bundle.InfoPath || name == bundle.FilesPath || name == bundle.DiagnosticsPath || name == bundle.IndexPath {
					return nil
				}
				status, got := get(t, web, name)
				want := harness.ReadFile(t, dir, name)
				if status == http.StatusTemporaryRedirect && address.IsStub([]byte(want)) {
					return nil // as bindery serve answers
				}
				if strings.HasSuffix(name, ".html") {
					pages++
					if n := len(devScript.FindAllString(got, -1)); n != 1 {
						t.Errorf("%s has the script %d times", name, n)
					}
					got = devScript.ReplaceAllString(got, "")
				} else {
					others++
				}
				if status != http.StatusOK || got != want {
					t.Errorf("%s (status %d) is not as in the bundle: %s", name, status, firstDifference(want, got))
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if pages < 20 || others < 20 {
				t.Errorf("%d pages and %d other files were held against each other", pages, others)
			}
			t.Logf("%d pages and %d other files", pages, others)
		})
	}
}

// sameFindings holds what bindery dev finds against the list of a bundle.
func sameFindings(t *testing.T, list string, found []check.Finding) {
	t.Helper()
	text := func(f check.Finding) string {
		return fmt.Sprintf("%s %s:%d:%d %s: %s", f.Level, f.File, f.Line, f.Column, f.Code, f.Message)
	}
	var want, got []string
	for line := range strings.Lines(list) {
		var f check.Finding
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		want = append(want, text(f))
	}
	for _, f := range found {
		got = append(got, text(f))
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the findings are not those of the bundle (-bundle +dev):\n%s", diff)
	}
}

// firstDifference shows where two texts begin to differ.
func firstDifference(a, b string) string {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	cut := func(s string) string { return s[max(0, min(at, len(s))-40):min(len(s), at+80)] }
	return "\nbundle: " + cut(a) + "\n   dev: " + cut(b)
}

// devSite writes files into a folder of its own.
func devSite(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	return dir
}

// write saves a file as many editors do: another one takes its place.
func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	next := filepath.Join(filepath.Dir(file), "."+path.Base(filepath.ToSlash(file))+".new")
	if err := os.WriteFile(next, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, file); err != nil {
		t.Fatal(err)
	}
}
