package site

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"path"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/base/redirect"
)

// testSite has the pages and files that the tables below link to.
func testSite() *Site {
	s := &Site{Domain: "docs.example"}
	for _, a := range []string{"api/index", "api/users", "both", "both/index", "guides/deep/page", "guides/start", "index", "out/side", "with space/größe"} {
		s.Pages = append(s.Pages, Page{Source: a + ".mdx", Address: a, Output: a + ".html", Title: a, Excluded: strings.HasPrefix(a, "out/")})
	}
	s.Files = []string{"files/a.pdf", "images/b c.png", "guides/data.json", "openapi.json"}
	s.Redirects = []Redirect{
		{Source: "/old", Destination: "/guides/start"},
		{Source: "/chain", Destination: "/old#there"},
		{Source: "/loop", Destination: "/pool"},
		{Source: "/pool", Destination: "/loop"},
		{Source: "/away", Destination: "https://other.example/x"},
		{Source: "/own", Destination: "https://docs.example/api/users?a=b"},
		{Source: "/guides/start", Destination: "/api"},
		{Source: "/v1/:slug*", Destination: "/:slug*"},
		{Source: "/by/:id/at/:place", Destination: "/guides/:place"},
		{Source: "/wild/*", Destination: "/guides/*"},
		{Source: "/part-*", Destination: "/api/users"},
		{Source: "/bad", Destination: "javascript:alert(1)"},
	}
	return s
}

func TestResolve(t *testing.T) {
	s := testSite()
	kinds := map[TargetKind]string{Missing: "missing", ToPage: "page", ToFile: "file", ToAnchor: "anchor", External: "external", Other: "other", Unsafe: "unsafe"}
	for _, c := range []struct{ from, href, kind, want string }{
		// Pages: by address, however it is written.
		{"guides/start", "/api/users", "page", "../api/users.html"},
		{"guides/start", "/api/users/", "page", "../api/users.html"},
		{"guides/start", "/api/users.mdx", "page", "../api/users.html"},
		{"guides/start", "/api/users.md", "page", "../api/users.html"},
		{"guides/start", "/api/users.html", "page", "../api/users.html"},
		{"guides/start", "/api/users#a-b", "page", "../api/users.html#a-b"},
		{"guides/start", "/api/users?x=1&y#z", "page", "../api/users.html?x=1&y#z"},
		{"guides/start", "/api", "page", "../api/index.html"},
		{"guides/start", "/api/index", "page", "../api/index.html"},
		{"guides/start", "/", "page", "../index.html"},
		{"index", "guides/start", "page", "guides/start.html"},
		{"guides/start", "/with space/größe", "page", "../with%20space/gr%C3%B6%C3%9Fe.html"},
		{"guides/start", "/with%20space/gr%C3%B6%C3%9Fe", "page", "../with%20space/gr%C3%B6%C3%9Fe.html"},
		{"guides/start", "/both", "page", "../both.html"},
		{"guides/start", "/both/index", "page", "../both/index.html"},
		{"guides/start", " /api/users\n", "page", "../api/users.html"},

		// Relative links: beside the file, beside the address, at the root.
		{"guides/start", "deep/page", "page", "deep/page.html"},
		{"guides/start", "./deep/page", "page", "deep/page.html"},
		{"guides/deep/page", "../start", "page", "../start.html"},
		{"guides/deep/page", "../../../../api", "page", "../../api/index.html"},
		{"api/index", "users", "page", "users.html"},
		{"api/index", "guides/start", "page", "../guides/start.html"},
		{"guides/start", "api/users", "page", "../api/users.html"},

		// The page itself.
		{"guides/start", "#here", "anchor", "#here"},
		{"guides/start", "#h%C3%A9re", "anchor", "#hére"},
		{"guides/start", "#日本語", "anchor", "#日本語"},
		{"guides/start", "/api/users#%E6%97%A5本語", "page", "../api/users.html#日本語"},
		{"guides/start", "#a b\"<%22`", "anchor", "#a%20b%22%3C%22%60"},
		{"guides/start", "#50%25", "anchor", "#50%25"},
		{"guides/start", "#50%", "anchor", "#50%"},
		{"guides/start", "#a\u202eb\u2028c", "anchor", "#a%E2%80%AEb%E2%80%A8c"},
		{"guides/start", "#\xff%ff", "anchor", "#%FF%ff"},
		{"guides/start", "#👩‍💻-(x)?y", "anchor", "#👩‍💻-(x)?y"},
		{"guides/start", "", "anchor", "#"},
		{"guides/start", "/guides/start#here", "anchor", "#here"},
		{"guides/start", "/guides/start", "page", "start.html"},
		{"guides/start", "?tab=1", "page", "start.html?tab=1"},

		// Files, and what every bundle has.
		{"guides/start", "/files/a.pdf", "file", "../files/a.pdf"},
		{"guides/start", "data.json", "file", "data.json"},
		{"guides/start", "/images/b%20c.png", "file", "../images/b%20c.png"},
		{"guides/start", "/sitemap.xml", "file", "../sitemap.xml"},
		{"guides/start", "/llms.txt", "file", "../llms.txt"},

		// Redirects; a page wins over one from its own address.
		{"api/users", "/guides/start", "page", "../guides/start.html"},
		{"api/users", "/old", "page", "../guides/start.html"},
		{"api/users", "/chain", "page", "../guides/start.html#there"},
		{"api/users", "/chain#mine", "page", "../guides/start.html#mine"},
		{"api/users", "/away", "external", "https://other.example/x"},
		{"api/index", "/own", "page", "users.html?a=b"},
		{"index", "/v1/guides/start", "page", "guides/start.html"},
		{"index", "/v1/old", "page", "guides/start.html"},
		{"index", "/by/7/at/start", "page", "guides/start.html"},
		{"index", "/by/7/at", "missing", "by/7/at"},
		{"index", "/wild/deep/page", "page", "guides/deep/page.html"},
		{"index", "/part-one", "page", "api/users.html"},
		{"index", "/loop", "missing", "loop"},
		{"index", "/bad", "missing", "bad"},

		// Elsewhere.
		{"index", "https://other.example/a b", "external", "https://other.example/a b"},
		{"index", "//cdn.example/x.js", "external", "https://cdn.example/x.js"},
		{"guides/start", "https://docs.example/api/users#x", "page", "../api/users.html#x"},
		{"guides/start", "HTTPS://DOCS.example/api", "page", "../api/index.html"},
		{"guides/start", "https://docs.example", "page", "../index.html"},
		{"index", "/out/side#x", "external", "https://docs.example/out/side#x"},
		{"index", "mailto:a@b.example", "other", "mailto:a@b.example"},
		{"index", "tel:+1", "other", "tel:+1"},
		{"index", "data:image/png;base64,AA", "other", "data:image/png;base64,AA"},

		// Nothing that runs code.
		{"index", "javascript:alert(1)", "unsafe", ""},
		{"index", " JaVa\tScript:alert(1)", "unsafe", ""},
		{"index", "java\x00script:alert(1)", "unsafe", ""},
		{"index", "vbscript:x", "unsafe", ""},
		{"index", "file:///etc/passwd", "unsafe", ""},
		{"index", "data:text/html,<script>", "unsafe", ""},

		// What is missing never leaves the bundle.
		{"guides/start", "/nowhere", "missing", "../nowhere"},
		{"guides/start", "../../../nowhere", "missing", "../nowhere"},
		{"guides/start", `/\other.example`, "missing", `../%5Cother.example`},
		{"guides/start", "/guides", "missing", "../guides"},
		{"guides/start", "%zz", "missing", "%25zz"},
	} {
		from, ok := s.Lookup(c.from)
		if !ok {
			t.Fatalf("no page %q", c.from)
		}
		got := s.Resolve(from, c.href)
		if kinds[got.Kind] != c.kind || got.Href != c.want {
			t.Errorf("%q on %s: %s %q, want %s %q", c.href, c.from, kinds[got.Kind], got.Href, c.kind, c.want)
		}
	}
}

// patternOf is the redirect from a source, which may have no wildcard.
func patternOf(source, destination string) pattern {
	p, _ := redirect.Compile(strings.Trim(source, "/"))
	return pattern{Pattern: p, destination: destination}
}

// The index of patterns finds what trying one after another would, and tries
// few of them.
func TestPatternIndex(t *testing.T) {
	rnd := rand.New(rand.NewSource(7))
	pick := func(list ...string) string { return list[rnd.Intn(len(list))] }
	for range 300 {
		var x patternIndex
		var all []pattern
		for i := range 1 + rnd.Intn(12) {
			source := ""
			for range 1 + rnd.Intn(4) {
				source += "/" + pick("a", "b", "ab", ":x", ":y", "*", "a*", ":rest*", "c-*")
			}
			p := patternOf(source, fmt.Sprintf("/to/%d/:x/:rest*/*", i))
			all = append(all, p)
			x.add(p)
		}
		for range 40 {
			var parts []string
			for range rnd.Intn(5) {
				parts = append(parts, pick("a", "b", "ab", "abc", "c-d", "e"))
			}
			at := strings.Join(parts, "/")
			want, wantOK := "", false
			for i := 0; i < len(all) && !wantOK; i++ {
				want, wantOK = all[i].match(at)
			}
			if got, _, ok := x.match(at, condition{}); got != want || ok != wantOK {
				t.Fatalf("%q: %q %v, want %q %v; patterns %+v", at, got, ok, want, wantOK, all)
			}
		}
	}
}

func TestPatternIndexTriesFew(t *testing.T) {
	var x patternIndex
	for i := range 5000 {
		for _, source := range []string{"/docs/%d/*", "/docs/old-%d-*", "/:lang/page-%d/:rest*", "/:rest*/end-%d", "/a/*/b/c-%d", "/v/:x/p-%d"} {
			x.add(patternOf(fmt.Sprintf(source, i), "/to"))
		}
	}
	for _, at := range []string{"docs/7/x", "docs/none", "docs/old-41-x", "de/page-3/x/y", "q/r/s/end-99", "a/1/2/b/c-4", "v/q/p-9", "nothing/like/it"} {
		if found := x.root.collect(nil, at, at[strings.LastIndexByte(at, '/')+1:]); len(found) > 10 {
			t.Errorf("%s: %d patterns are tried", at, len(found))
		}
	}
}

// A site without a page at its root still has a way to go there.
func TestResolveRoot(t *testing.T) {
	s := testSite()
	s.Pages = s.Pages[:4]
	if got := s.Resolve(2, "/"); got.Kind != ToFile || got.Href != "index.html" {
		t.Errorf("%+v", got)
	}
	s = testSite()
	s.Pages = s.Pages[:4]
	s.Redirects = append(s.Redirects, Redirect{Source: "/", Destination: "/api/users"})
	if got := s.Resolve(2, "/"); got.Kind != ToPage || got.Href != "api/users.html" {
		t.Errorf("%+v", got)
	}
	if h := s.Home(); h < 0 || s.Pages[h].Address != "api/users" {
		t.Errorf("home is %d", h)
	}
}

func TestRel(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"a.html", "a.html", "a.html"},
		{"a.html", "b/c.html", "b/c.html"},
		{"b/c.html", "a.html", "../a.html"},
		{"b/c.html", "b/d.html", "d.html"},
		{"b/c/d.html", "b/e/f.html", "../e/f.html"},
		{"ab/c.html", "abc/d.html", "../abc/d.html"},
		{"a.html", "x:y.html", "./x:y.html"},
		{"b/a.html", "x:y.html", "../x:y.html"},
		{"a.html", "50%.html", "50%25.html"},
		{"a.html", `q"<?#.html`, "q%22%3C%3F%23.html"},
	} {
		if got := Rel(c.from, c.to); got != c.want {
			t.Errorf("from %s to %s: %s, want %s", c.from, c.to, got, c.want)
		}
	}
}

// Whatever an author writes, a link within the site is relative and stays in
// the bundle, and none runs code.
func FuzzResolve(f *testing.F) {
	for _, s := range []string{"/a", "../../x", "//h/p", "\\\\h", "java\nscript:x", "%2e%2e/%2e%2e/x", "/v1/%2F/x", "?", "#%", "/by//at/x", "/./..", "a:b", "%2e%2e0"} {
		f.Add(s)
	}
	s := testSite()
	f.Fuzz(func(t *testing.T, href string) {
		for from := -1; from < len(s.Pages); from += 3 {
			got := s.Resolve(from, href)
			switch got.Kind {
			case ToPage, ToFile, Missing:
				if strings.HasPrefix(got.Href, "/") || schemeOf(got.Href) != "" {
					t.Errorf("%q: %q is not relative", href, got.Href)
				}
				output := "index.html"
				if from >= 0 {
					output = s.Pages[from].Output
				}
				ref, _, _ := strings.Cut(got.Href, "#")
				ref, _, _ = strings.Cut(ref, "?")
				if at := path.Join(path.Dir(output), ref); at == ".." || strings.HasPrefix(at, "../") {
					t.Errorf("%q: %q leaves the bundle", href, got.Href)
				}
			case External, Other, Unsafe:
				switch scheme := schemeOf(got.Href); scheme {
				case "javascript", "vbscript", "file", "blob":
					t.Errorf("%q: %q runs code", href, got.Href)
				}
			}
		}
	})
}

// Links are resolved a hundred at a time on each of thousands of pages.
func BenchmarkResolve(b *testing.B) {
	s := &Site{Domain: "docs.example"}
	for i := range 20_000 {
		a := fmt.Sprintf("part-%d/page-%d", i%50, i)
		s.Pages = append(s.Pages, Page{Source: a + ".mdx", Address: a, Output: a + ".html"})
	}
	s.tables()
	b.ReportAllocs()
	for b.Loop() {
		s.Resolve(7, "/part-3/page-3#there")
	}
}

// A site that was read back answers as the one that was written.
func TestReadBack(t *testing.T) {
	s := testSite()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back Site
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	for _, href := range []string{"/api", "/chain", "/wild/start", "/nowhere", "/files/a.pdf"} {
		if a, b := s.Resolve(0, href), back.Resolve(0, href); a != b {
			t.Errorf("%s: %+v, %+v", href, a, b)
		}
	}
}

// A site that is served below a path: its addresses have it, and of its domain only
// what lies below is the site.
func TestBasePath(t *testing.T) {
	s := mustLoad(t, files("docs.json", `{"name": "x", "navigation": {"pages": ["a", "b"]}}`, "a.mdx", "", "b.mdx", ""), Options{Domain: "docs.example", Base: "/handbook/"})
	if got := s.URL(&s.Pages[1], false); got != "https://docs.example/handbook/b" {
		t.Errorf("b is at %s", got)
	}
	for href, want := range map[string]string{
		"/b": "b.html", "https://docs.example/handbook/b": "b.html", "https://docs.example/handbook/b#x": "b.html#x",
		"https://docs.example/handbook": "index.html", "https://docs.example/b": "https://docs.example/b", "https://docs.example/handbooks/b": "https://docs.example/handbooks/b",
	} {
		if got := s.Resolve(0, href).Href; got != want {
			t.Errorf("%s leads to %s, want %s", href, got, want)
		}
	}
}
