package preview

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// opened is a server of a small site, and what its editor was asked for.
func opened(t *testing.T, change func(*Options)) (*Server, string, *[]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"docs.json": `{"name": "Site", "navigation": {"pages": ["index"]}}`, "index.mdx": "# Hello\n\nText of the page.\n", ".secret/key.mdx": "hidden",
		"pic.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var asked []string
	opt := Options{Dir: dir, Domain: "docs.example.com", Kind: admin.KindCloud, Names: []string{"my-laptop.local"}, Open: func(file string, line, column int) (string, error) {
		asked = append(asked, file)
		return "", nil
	}}
	if change != nil {
		change(&opt)
	}
	s, err := New(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, dir, &asked
}

func ask(s *Server, method, target, body string, header map[string]string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host, r.RemoteAddr = "127.0.0.1:4000", "127.0.0.1:50000"
	for name, value := range header {
		switch name {
		case "Host":
			r.Host = value
		case "From":
			r.RemoteAddr = value
		default:
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

func TestNamesOfOthersAreRefused(t *testing.T) {
	s, _, _ := opened(t, nil)
	for host, want := range map[string]int{
		"127.0.0.1:4000": 200, "localhost:4000": 200, "[::1]:4000": 200, "docs.localhost:4000": 200, "192.168.1.7:4000": 200, "my-laptop.local:4000": 200, "LOCALHOST": 200,
		"evil.example:4000": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example": 403, "": 403,
	} {
		for _, path := range []string{"/", "/" + eventsPath, "/" + clientPath} {
			ctx, cancel := context.WithCancel(t.Context())
			cancel() // connections for events would stay
			r := httptest.NewRequest("GET", path, nil).WithContext(ctx)
			r.Host = host
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			if refused := w.Code == http.StatusForbidden; refused != (want == 403) {
				t.Errorf("%s of %q: %d, want %d", path, host, w.Code, want)
			}
		}
	}
}

func TestEditorOpensOnlyForItsPages(t *testing.T) {
	s, dir, asked := opened(t, nil)
	outside := filepath.Join(t.TempDir(), "outside.mdx")
	if err := os.WriteFile(outside, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	const origin = "http://127.0.0.1:4000"
	for _, c := range []struct {
		name, method, file string
		header             map[string]string
		want               int
	}{
		{"its page", "POST", "index.mdx", map[string]string{"Origin": origin}, 200},
		{"its configuration", "POST", "docs.json", map[string]string{"Origin": origin}, 200},
		{"another origin", "POST", "index.mdx", map[string]string{"Origin": "https://evil.example"}, 403},
		{"another port", "POST", "index.mdx", map[string]string{"Origin": "http://127.0.0.1:5000"}, 403},
		{"no origin", "POST", "index.mdx", nil, 403},
		{"the origin null", "POST", "index.mdx", map[string]string{"Origin": "null"}, 403},
		{"another name", "POST", "index.mdx", map[string]string{"Host": "evil.example", "Origin": "http://evil.example"}, 403},
		{"another machine", "POST", "index.mdx", map[string]string{"Origin": origin, "From": "192.168.1.9:5000"}, 403},
		{"through another server", "POST", "index.mdx", map[string]string{"Origin": origin, "X-Forwarded-For": "192.168.1.9"}, 403},
		{"no POST", "GET", "index.mdx", map[string]string{"Origin": origin}, 405},
		{"a way out", "POST", "../outside.mdx", map[string]string{"Origin": origin}, 404},
		{"a whole path", "POST", outside, map[string]string{"Origin": origin}, 404},
		{"a hidden file", "POST", ".secret/key.mdx", map[string]string{"Origin": origin}, 404},
		{"no such file", "POST", "other.mdx", map[string]string{"Origin": origin}, 404},
	} {
		*asked = nil
		w := ask(s, c.method, "/"+openPath, `{"file": "`+filepath.ToSlash(c.file)+`", "line": 3, "column": 1}`, c.header)
		if w.Code != c.want || (len(*asked) == 1) != (c.want == 200) {
			t.Errorf("%s: %d and %v, want %d", c.name, w.Code, *asked, c.want)
		}
	}
	// A file that became a link to elsewhere since the site was read.
	if err := os.Remove(filepath.Join(dir, "index.mdx")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "index.mdx")); err != nil {
		t.Skip(err)
	}
	*asked = nil
	if w := ask(s, "POST", "/"+openPath, `{"file": "index.mdx"}`, map[string]string{"Origin": origin}); w.Code != 404 || len(*asked) > 0 {
		t.Errorf("a link out: %d and %v", w.Code, *asked)
	}
}

func TestOnlyTheSiteIsServed(t *testing.T) {
	s, _, _ := opened(t, nil)
	for target, want := range map[string]int{
		"/": 200, "/index.html": 200, "/index.md": 200, "/pic.svg": 200, "/robots.txt": 200,
		"/docs.json": 404, "/index.mdx": 404, "/.secret/key.mdx": 404, "/../docs.json": 404, "/%2e%2e/%2e%2e/etc/passwd": 404, "/bindery.json": 404,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host, r.URL.Path = "localhost", strings.ReplaceAll(target, "%2e", ".")
		w := httptest.NewRecorder()
		s.serve(w, r)
		if w.Code != want {
			t.Errorf("%s: %d, want %d", target, w.Code, want)
		}
	}
	if w := ask(s, "GET", "/", "", nil); !strings.Contains(w.Body.String(), "Text of the page.") || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'self'") {
		t.Errorf("the page: %v %.300s", w.Header(), w.Body)
	}
}

func TestBasePath(t *testing.T) {
	s, _, _ := opened(t, func(o *Options) { o.Settings.BasePath = "handbook/v2" })
	if w := ask(s, "GET", "/", "", nil); w.Header().Get("Location") != "/handbook/v2/" {
		t.Errorf("the root leads to %q", w.Header().Get("Location"))
	}
	w := ask(s, "GET", "/handbook/v2/", "", nil)
	if w.Code != 200 || !strings.Contains(w.Body.String(), `<script src="/handbook/v2/bindery-dev/client.js"`) {
		t.Errorf("the page: %d %s", w.Code, w.Body)
	}
	if w := ask(s, "GET", "/handbook/v2/index/", "", nil); w.Header().Get("Location") != "/handbook/v2/index" {
		t.Errorf("a folder's address leads to %q", w.Header().Get("Location"))
	}
}

func TestEditors(t *testing.T) {
	dir := t.TempDir()
	note := filepath.Join(dir, "called")
	program := filepath.Join(dir, "code")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nprintf %s \"$*\" > "+note+".new && mv "+note+".new "+note+"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	if address, err := Editor(program+" --wait -n")("/site/a b.mdx", 3, 0); address != "" || err != nil {
		t.Fatal(address, err)
	}
	var called []byte
	for begun := time.Now(); time.Since(begun) < 5*time.Minute && called == nil; time.Sleep(5 * time.Millisecond) {
		called, _ = os.ReadFile(note)
	}
	if got := strings.TrimSpace(string(called)); got != "-n --goto /site/a b.mdx:3:1" {
		t.Errorf("the editor was called with %q", got)
	}
	for _, command := range []string{"", "vim", "nano -w", "/usr/bin/unknown"} {
		if address, err := Editor(command)("/site/a b.mdx", 3, 7); address != "vscode://file/site/a%20b.mdx:3:7" || err != nil {
			t.Errorf("%q: %q, %v", command, address, err)
		}
	}
}

// A change that the watcher reports is whole, whichever way it was written.
func TestWatcherJoinsWrites(t *testing.T) {
	_, dir, _ := opened(t, nil)
	w, err := newWatcher(dir, Options{}.Log)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	changes := make(chan []string)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go w.run(ctx, changes)
	known := map[string]bool{} // what was reported before may come once more: each write is several events
	next := func(what string, want ...string) {
		t.Helper()
		all := map[string]bool{}
		for !slices.Equal(slices.Sorted(maps.Keys(all)), want) {
			select {
			case names, ok := <-changes:
				if !ok {
					t.Fatal(what, w.err)
				}
				if names == nil {
					names = []string{"(any)"}
				}
				for _, name := range names {
					if slices.Contains(want, name) || !known[name] {
						all[name] = true
					}
				}
			case <-time.After(5 * time.Minute):
				t.Fatalf("%s: %v, want %v", what, all, want)
			}
		}
		maps.Copy(known, all)
	}
	save := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	save("index.mdx", "new")
	next("a file that is written", "index.mdx")
	save(".index.mdx.swp", "new")
	if err := os.Rename(filepath.Join(dir, ".index.mdx.swp"), filepath.Join(dir, "index.mdx")); err != nil {
		t.Fatal(err)
	}
	next("a file in place of another", "index.mdx")
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	next("a folder", "(any)")
	save("sub/page.mdx", "new")
	next("a file in a new folder", "sub/page.mdx")
	save("node_modules/x.mdx", "no")
	save(".git/x.mdx", "no")
	save("docs.json", "{}")
	next("what is not part of the site", "docs.json")
}
