package address

import (
	"io/fs"
	"net/url"
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// sampleRedirects and sampleFiles are those of a small site.
var sampleRedirects = []bundle.Redirect{
	{From: "/guides/start", To: "/never", Permanent: true},
	{From: "/old", To: "/guides/start", Permanent: true},
	{From: "/stubs/a", To: "https://other.example/a?b=c#d"},
	{From: "/legacy/:slug*", To: "/guides/:slug*", Permanent: true},
	{From: "/v1/:page", To: "https://old.example/:page"},
	{From: "/v0", To: "/v1?page=0"},
	{From: "/blog*", To: "/*"},
	{From: "/a.b/:x/c", To: "/:x"},
	{From: "/asked?tab=2", To: "/second"},
	{From: "/asked", To: "/first"},
	{From: "/named.html", To: "/api"},
	{From: "/maybe/:x?", To: "/m/:x"},
	{From: "/folder/", To: "/api/"},
	{From: "/gr%C3%B6%C3%9Fe/alt", To: "/größe"},
	{From: "/chain/1", To: "/chain/2?a=b#c", Permanent: true},
	{From: "/chain/2", To: "/chain/3"},
	{From: "/chain/3", To: "/api", Permanent: true},
	{From: "/chain/4", To: "/chain/5?a=b"},
	{From: "/chain/5", To: "/x/y#z"},
	{From: "/circle/1", To: "/circle/2"},
	{From: "/circle/2", To: "/circle/1"},
	{From: "/grows/:x*", To: "/grows/more/:x*"},
	{From: "/plus/:x+/end", To: "/p/:x+"},
	{From: "/all/:x(.*)", To: "/every/:x"},
	{From: "/one/:id(\\d+)", To: "/id/:id"},
	{From: "/rest/:a*/:b*", To: "/:a*"},
	{From: "/ask/:id", To: "/find?id=:id#:id"},
	{From: "/moved*", To: "https://other.example*"},
	{From: "/host/:name", To: "https://:name/x"},
	{From: "/any*", To: "HTTPS://*"},
}

var sampleFiles = map[string]bool{ // true: only leads elsewhere
	"index.html": false, "404.html": false, "guides/start.html": false, "guides/start.md": false, "api/index.html": false,
	"both.html": false, "both/index.html": false, "beside.html": false, "beside/index.html": true, "style.css": false, "old.html": true, "stubs/a/index.html": true, "lonely.html": true,
	"größe.html": false, "a b.html": false, "LICENSE": false, "LICENSE.html": false, "x/y.html": false,
}

// sampleAddresses are those of that site.
func sampleAddresses(t testing.TB) Addresses {
	t.Helper()
	redirects, err := NewRedirects(sampleRedirects)
	if err != nil {
		t.Fatal(err)
	}
	return Addresses{
		Has:       func(name string) bool { _, ok := sampleFiles[name]; return ok },
		Stub:      func(name string) bool { return sampleFiles[name] },
		Redirects: redirects,
	}
}

type findCase struct {
	path, query string
	want        Answer
}

// findCases are addresses of the sample, and what answers them.
var findCases = func() []findCase {
	file := func(name string) Answer { return Answer{File: name} }
	moved := func(to string) Answer { return Answer{To: to, Permanent: true} }
	found := func(to string) Answer { return Answer{To: to} }
	return []findCase{
		{"/", "", file("index.html")},
		{"", "", file("index.html")},
		{"/index.html", "", file("index.html")},
		{"/index", "", file("index.html")},
		// Letters that are written as two.
		{"/gro\u0308ße", "", file("größe.html")},
		{"/gro\u0308ße/alt", "", found("/größe")},
		// Clean addresses, and those of the files.
		{"/guides/start", "", file("guides/start.html")},
		{"/guides/start.html", "", file("guides/start.html")},
		{"/guides/start.md", "", file("guides/start.md")},
		{"/style.css", "", file("style.css")},
		{"/größe", "", file("größe.html")},
		{"/LICENSE", "", file("LICENSE")},
		// Slashes: a page's links are relative to its file.
		{"/guides/start/", "", moved("/guides/start")},
		{"/api", "", moved("/api/")},
		{"/api/", "", file("api/index.html")},
		{"/both", "", file("both.html")},
		{"/both/", "", file("both/index.html")},
		// The index of a folder lies beside it, and its old file leads there.
		{"/beside", "", file("beside.html")},
		{"/beside/", "", moved("/beside")},
		{"/beside/index.html", "", moved("/beside")},
		{"/beside/index", "", moved("/beside")},
		{"/guides/start/index.html", "", moved("/guides/start")},
		{"/guides/start/index", "", moved("/guides/start")},
		{"/both/index.html", "", file("both/index.html")},
		{"/both/index", "", file("both/index.html")},
		{"/api/index.html", "", file("api/index.html")},
		{"/style.css/index.html", "", Answer{}},
		{"/old/index.html", "", moved("/guides/start")},
		{"/a b/", "", moved("/a%20b")},
		{"/style.css/", "", Answer{}},
		// What is not there.
		{"/missing", "", Answer{}},
		{"/guides", "", Answer{}},
		{"/guides/", "", Answer{}},
		{"/Guides/Start", "", Answer{}},
		// Nothing outside the site has a name.
		{"/../../etc/passwd", "", Answer{}},
		{"/guides/../x/y", "", file("x/y.html")},
		{"//other.example/", "", Answer{}},
		{"//guides//start", "", file("guides/start.html")},
		{"/\x00", "", Answer{}},
		{"/bindery.json", "", Answer{}},
		// Redirects: a page wins over one from its own address, but not a
		// page that only leads elsewhere.
		{"/old", "", moved("/guides/start")},
		{"/old/", "", moved("/guides/start")},
		{"/old.html", "", moved("/guides/start")},
		{"/stubs/a/index.html", "", found("https://other.example/a?b=c#d")},
		{"/lonely.html", "", file("lonely.html")},
		// A file's address has the redirects of what it is the file of.
		{"/asked.html", "tab=2", found("/second")},
		{"/asked/index.html", "", found("/first")},
		{"/named.html", "", found("/api/")},
		{"/named", "", Answer{}},
		{"/legacy/a.html", "", moved("/guides/a.html")},
		{"/stubs/a/index", "", found("https://other.example/a?b=c#d")},
		{"/stubs/a", "", found("https://other.example/a?b=c#d")},
		{"/stubs/a/", "", found("https://other.example/a?b=c#d")},
		{"/lonely", "", file("lonely.html")},
		{"/legacy/a/b", "", moved("/guides/a/b")},
		{"/legacy", "", moved("/guides")},
		{"/legacyx", "", Answer{}},
		{"/v1/x y", "", found("https://old.example/x%20y")},
		{"/v1/x/y", "", Answer{}},
		{"/v0", "", found("/v1?page=0")},
		{"/blog/other.example", "", found("/other.example")},
		{"/blog-2026/x", "", found("/-2026/x")},
		{"/a.b/x/c", "", found("/x")},
		{"/aXb/x/c", "", Answer{}},
		{"/asked", "", found("/first")},
		{"/asked", "tab=2", found("/second")},
		{"/asked", "tab=3", found("/first")},
		{"/plus/a/b/end", "", found("/p/a/b")},
		{"/plus/end", "", found("/p")},
		{"/all/a/b", "", found("/every/a/b")},
		{"/one/1", "", found("/id/1")},
		{"/one/1/2", "", Answer{}},
		{"/ask/7", "", found("/find?id=7#7")},
		{"/ask/a&admin=1 +#?", "", found("/find?id=a%26admin%3D1%20%2B%23%3F#a%26admin%3D1%20%2B%23%3F")},
		{"/rest/x/:b*", "", found("/x")},
		{"/rest/x/y", "", Answer{}},
		// The host is the site's word alone.
		{"/moved", "", found("https://other.example")},
		{"/moved/x", "", found("https://other.example/x")},
		{"/moved.evil.example/x", "", Answer{}},
		{"/moved@evil.example/x", "", Answer{}},
		{"/moved:80", "", Answer{}},
		{"/host/evil.example", "", Answer{}},
		{"/anyevil.example", "", Answer{}},
		{"/any", "", Answer{}},
		{"/maybe", "", found("/m")},
		{"/maybe/1", "", found("/m/1")},
		{"/folder", "", found("/api/")},
		{"/größe/alt", "", found("/größe")},
		// Chains: one answer; a circle leads nowhere.
		{"/chain/1", "", found("/api/?a=b#c")},
		{"/chain/3", "", moved("/api/")},
		{"/chain/4", "", found("/x/y?a=b#z")},
		{"/circle/1", "", Answer{}},
		{"/grows/x", "", Answer{}},
	}
}()

func TestFind(t *testing.T) {
	a := sampleAddresses(t)
	for _, c := range findCases {
		if diff := cmp.Diff(c.want, a.Find(c.path, c.query)); diff != "" {
			t.Errorf("%q ? %q: %s", c.path, c.query, diff)
		}
	}
}

// FuzzFind: whatever is asked for, the answer is a file of the site, an address
// that can't lead to another host unless the site says so, or nothing.
func FuzzFind(f *testing.F) {
	for _, s := range []string{"/", "//evil.example", "/\\evil.example", "/guides/start/", "/blog//evil.example", "/legacy/../../x", "/v1/%2e%2e", "/legacy/\\evil.example", "/maybe/\r\nX: y", "/\xff", "/moved.evil.example", "/moved@evil.example", "/host/evil.example", "/any//evil.example"} {
		f.Add(s, "tab=2")
	}
	a := sampleAddresses(f)
	a.Has = func(has func(string) bool) func(string) bool {
		return func(name string) bool {
			if !fs.ValidPath(name) && utf8.ValidString(name) {
				f.Errorf("%q is asked for as a file's name", name)
			}
			return has(name)
		}
	}(a.Has)
	f.Fuzz(func(t *testing.T, urlPath, query string) {
		got := a.Find(urlPath, query)
		if got.File != "" && (got.To != "" || !a.Has(got.File) || path.Clean(got.File) != got.File) {
			t.Fatalf("%q: %+v", urlPath, got)
		}
		if got.To == "" {
			return
		}
		safe := HeaderSafe(got.To)
		if strings.ContainsAny(safe, "\r\n\x00 \\") {
			t.Fatalf("%q leads to %q", urlPath, safe)
		}
		u, err := url.Parse(safe)
		if err != nil {
			t.Fatalf("%q leads to %q: %v", urlPath, safe, err)
		}
		if u.User != nil {
			t.Fatalf("%q leads to %q", urlPath, safe)
		}
		if u.Host != "" && u.Host != "other.example" && u.Host != "old.example" || u.Host == "" && !strings.HasPrefix(safe, "/") {
			t.Fatalf("%q leads to %q on %q", urlPath, safe, u.Host)
		}
	})
}

// FuzzRedirects: redirects come from a bundle, so from its authors; none may
// bring the server down or break a header.
func FuzzRedirects(f *testing.F) {
	f.Add("/a/:b*", "/c/:b*", "/a/x/y", "")
	f.Add("/:a/:a", "https://x.example/:a", "/1/2", "q")
	f.Add("/x?y=1#z", "javascript:alert(1)", "/x", "y=1")
	f.Add("*", "//evil.example/*", "/a", "")
	f.Fuzz(func(t *testing.T, from, to, asked, query string) {
		redirects, err := NewRedirects([]bundle.Redirect{{From: from, To: to}})
		if err != nil {
			return
		}
		got, _, ok := follow(redirects, strings.Trim(asked, "/"), query)
		if !ok {
			return
		}
		lower := strings.ToLower(got)
		if !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://") &&
			(!strings.HasPrefix(got, "/") || strings.HasPrefix(got, "//") || strings.HasPrefix(got, `/\`)) {
			t.Fatalf("%q → %q: %q leads to %q", from, to, asked, got)
		}
		if strings.ContainsAny(HeaderSafe(got), "\r\n\x00") {
			t.Fatalf("%q breaks a header", got)
		}
	})
}
