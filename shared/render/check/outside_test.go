package check_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// What a site's own scripts and style sheets load from other hosts is in the policy
// where the project allows the host, and a finding with its place where not.
func TestOutside(t *testing.T) {
	tests := []struct{ name, file, text, directive, line string }{
		{"an element's src", "a.js", "var s = document.createElement('script');\ns.async = true;\ns.src = 'https://cdn.example/widget?id=1';", "script-src", "3"},
		{"put together", "a.js", "(function(d, s, id) { var js = d.createElement(s);\njs.src = `https://cdn.example/w/${id}/x`; })(document, 'script', 'i')", "script-src", "2"},
		{"an attribute", "a.js", `const s = document.createElement("script"); s.setAttribute("src", "https://cdn.example/w")`, "script-src", "1"},
		{"a property", "a.js", `Object.assign(document.createElement("script"), {async: true, src: "https://cdn.example/w"})`, "script-src", "1"},
		{"a list", "a.js", `["https://cdn.example/one.js"].forEach(load)`, "script-src", "1"},
		{"no scheme", "a.js", `load("//cdn.example/one.js?v=2")`, "script-src", "1"},
		{"import()", "a.js", `import("https://cdn.example/preact").then(go)`, "script-src", "1"},
		{"fetch", "a.js", `fetch("https://cdn.example/data.json")`, "connect-src", "1"},
		{"a request", "a.js", `x.open('POST', 'https://cdn.example/data')`, "connect-src", "1"},
		{"a sheet", "a.js", `link.href = "https://cdn.example/w.css"`, "style-src", "1"},
		{"a frame", "a.js", `const f = document.createElement("iframe"); f.src = "https://cdn.example/w"`, "frame-src", "1"},
		{"a picture", "a.js", `new Image().src = "https://cdn.example/p.gif?x"`, "img-src", "1"},
		{"after an expression", "a.js", "x.replace(/[\"'/]/g, '');\nload('https://cdn.example/one.js')", "script-src", "2"},
		{"@import", "a.css", "/* x */\n@import url(https://cdn.example/css2?family=Own);", "style-src", "2"},
		{"@import of a string", "a.css", `@import "//cdn.example/x";`, "style-src", "1"},
		{"a font", "a.css", "@font-face { font-family: F;\n src: url('https://cdn.example/f.woff2') }", "font-src", "2"},
		{"url()", "a.css", "a { background: url(https://cdn.example/p) }", "img-src", "1"},

		{"a link", "a.js", `a.href = "https://cdn.example/manual"`, "", ""},
		{"a comment", "a.js", "// s.src = 'https://cdn.example/one.js'\n/* 'https://cdn.example/one.js' */", "", ""},
		{"its own", "a.js", `load("/one.js"); import("./two.js")`, "", ""},
		{"any host", "a.js", "load(`https://${host}/one.js`)", "", ""},
		{"a namespace", "a.css", `@namespace url(https://cdn.example/ns);`, "", ""},
		{"not loaded", "b.txt", `load("https://cdn.example/one.js")`, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fsys := fstest.MapFS{
				"docs.json": {Data: []byte(`{"name": "S", "navigation": {"pages": ["a"]}}`)}, "a.mdx": {Data: []byte("---\ntitle: A\n---\n")},
				tt.file: {Data: []byte(tt.text)},
			}
			s, _, err := site.Load(t.Context(), fsys, slices.Sorted(maps.Keys(fsys)), site.Options{Domain: "docs.example"})
			if err != nil {
				t.Fatal(err)
			}
			allowed := remote.NewHosts([]string{"cdn.example"})
			for _, c := range []struct {
				hosts     remote.Hosts
				airGapped bool
			}{{allowed, false}, {remote.Hosts{}, false}, {allowed, true}} {
				outside, err := check.FindOutside(s, fsys, c.hosts, c.airGapped)
				if err != nil {
					t.Fatal(err)
				}
				reached := !c.hosts.Empty() && !c.airGapped
				var want map[string][]string
				if tt.directive != "" && reached {
					want = map[string][]string{tt.directive: {"https://cdn.example"}}
				}
				if d := cmp.Diff(want, outside.Sources()); d != "" {
					t.Errorf("the policy (-want +got):\n%s", d)
				}
				var told []string
				for _, d := range outside.Findings() {
					told = append(told, fmt.Sprintf("%s:%d", d.File, d.Line))
					if strings.Contains(d.Message, "id=1") || d.Code != "script-outside" && d.Code != "style-outside" {
						t.Errorf("it says %v", d)
					}
				}
				if place := []string{tt.file + ":" + tt.line}; tt.directive != "" && !reached && !slices.Equal(told, place) || (tt.directive == "" || reached) && told != nil {
					t.Errorf("it is told of at %q", told)
				}
			}
		})
	}
}

// One finding stands for all that a file loads from a host.
func TestOutsideOncePerHost(t *testing.T) {
	fsys := fstest.MapFS{
		"docs.json": {Data: []byte(`{"name": "S", "navigation": {"pages": ["a"]}}`)}, "a.mdx": {Data: []byte("---\ntitle: A\n---\n")},
		"a.js": {Data: []byte("load('https://a.example/1.js')\nload('https://a.example/2.js')\nload('https://A.example/3.js')\nload('https://b.example/1.js')")},
		"b.js": {Data: []byte("load('https://a.example/1.js')")},
	}
	report, err := check.Site(t.Context(), fsys, check.Options{Domain: "docs.example"})
	if err != nil {
		t.Fatal(err)
	}
	const not = "it is on a host that the project does not allow, and the bundle's content security policy stops it"
	want := "a.js:1:1: warning: the script loads https://a.example/1.js, and 2 more from there: " + not + " (script-outside)\n" +
		"a.js:4:1: warning: the script loads https://b.example/1.js: " + not + " (script-outside)\n" +
		"b.js:1:1: warning: the script loads https://a.example/1.js: " + not + " (script-outside)\n"
	if d := cmp.Diff(want, text(report.Findings)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Pictures and fonts of the configuration that lie elsewhere are told of where they
// are named, unless the bundle has a copy.
func TestOutsideSettings(t *testing.T) {
	fsys := fstest.MapFS{
		"docs.json": {Data: []byte(`{"name": "S", "navigation": {"pages": ["a"]},
"logo": {"light": "https://a.example/l.svg", "dark": "/d.svg"},
"favicon": "https://a.example/f.svg?key=1",
"background": {"image": "https://a.example/b.png"},
"fonts": {"family": "Own", "source": "https://a.example/o.woff2", "format": "woff2"},
"seo": {"metatags": {"og:image": "https://a.example/o.png"}}}`)},
		"a.mdx": {Data: []byte("---\ntitle: A\n---\n")}, "d.svg": {Data: []byte("<svg/>")},
	}
	s, _, err := site.Load(t.Context(), fsys, slices.Sorted(maps.Keys(fsys)), site.Options{Domain: "docs.example"})
	if err != nil {
		t.Fatal(err)
	}
	for _, copied := range []bool{false, true} {
		want := []string{"2 l.svg", "3 f.svg", "4 b.png", "5 o.woff2", "6 o.png"}
		if copied {
			s.Remote = map[string]string{"https://a.example/b.png": "x.png", "https://a.example/o.woff2": "x.woff2"}
			want = slices.Delete(want, 2, 4)
		}
		outside, err := check.FindOutside(s, fsys, remote.Hosts{}, false)
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, d := range outside.Findings() {
			_, rest, _ := strings.Cut(d.Message, "https://a.example/")
			name, _, _ := strings.Cut(rest, " ")
			told = append(told, fmt.Sprintf("%d %s", d.Line, strings.TrimSuffix(name, "?…")))
			if d.Code != "asset-outside" || d.File != "docs.json" || strings.Contains(d.Message, "key=1") {
				t.Errorf("it says %v", d)
			}
		}
		if !slices.Equal(told, want) {
			t.Errorf("with copies %v it tells of %q, want %q", copied, told, want)
		}
	}
}
