package export

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/tests/outside"
)

// Style sheets and scripts of other hosts that docs.json names are loaded from the
// bundle, in their order. Without a copy in it pages do without them, and the
// report says where they are named and why.
func TestStylesAndScriptsOfOtherHosts(t *testing.T) {
	site := fstest.MapFS{
		"docs.json": {Data: []byte(`{"name":"Remote","navigation":{"pages":["index"]},
"styles":["/b.css","https://example.com/css?family=Own&key=secret","https://example.com/gone.css","https://example.com/widget.js"],
"scripts":["//example.com/widget.js","http://example.com/widget.js","https://other.example/x.js","a.js"]}`)},
		"index.mdx": {Data: []byte("---\ntitle: Start\n---\n\nText.\n")},
		"a.css":     {Data: []byte("a {}")}, "b.css": {Data: []byte("b {}")}, "a.js": {Data: []byte("a()")},
	}
	const (
		gone = "docs.json:2:68 https://example.com/gone.css answers with the status 404: pages do without it"
		not  = "is on a host that the project does not allow: pages do without it"
	)
	tests := []struct {
		name, allow string
		loads       []string // what the page loads of all this, by content
		told        []string
	}{
		{"allowed", "example.com", []string{"b {}", "own {}", "a {}", "widget()", "a()"}, []string{
			gone,
			"docs.json:2:99 https://example.com/widget.js is not a style sheet: pages do without it",
			"docs.json:3:38 http://example.com/widget.js does not begin with https://: pages do without it",
			"docs.json:3:69 https://other.example/x.js " + not,
		}},
		{"not allowed", "", []string{"b {}", "a {}", "a()"}, []string{
			"docs.json:2:20 https://example.com/css?… " + not,
			"docs.json:2:68 https://example.com/gone.css " + not,
			"docs.json:2:99 https://example.com/widget.js " + not,
			"docs.json:3:38 http://example.com/widget.js does not begin with https://: pages do without it",
			"docs.json:3:69 https://other.example/x.js " + not,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHosts(t, map[string]string{
				"https://example.com/css?family=Own&key=secret": "text/css; charset=utf-8|own {}",
				"https://example.com/widget.js":                 "text/javascript|widget()",
			})
			w := openWorldOf(t, t.TempDir(), admin.KindCloud, admin.Settings{AllowHosts: tt.allow})
			w.publish(t, site)
			files := unpacked(t, w.exported(t, func(o *Options) { o.Fetcher = h.fetcher() }))
			if tt.allow == "" && h.most() > 0 {
				t.Errorf("%v is asked for", h.asked)
			}
			var loads []string
			for _, tag := range strings.Split(files["index.html"], "<")[1:] {
				for name, text := range files {
					if (strings.Contains(tag, `href="`+name+`"`) || strings.Contains(tag, `src="`+name+`"`)) &&
						!strings.HasPrefix(name, "bindery/theme.") && !strings.HasPrefix(name, "bindery/boot.") && strings.ContainsAny(name, ".") &&
						(strings.HasSuffix(name, ".css") || strings.HasSuffix(name, ".js")) {
						loads = append(loads, text)
					}
				}
			}
			if !slices.Equal(loads, tt.loads) {
				t.Errorf("the page loads %q, want %q", loads, tt.loads)
			}
			if strings.Contains(files["index.html"], "example.com/") {
				t.Error("the page loads something from another host")
			}
			var told []string
			for line := range strings.Lines(files[bundle.DiagnosticsPath]) {
				var d mdx.Diagnostic
				if err := json.Unmarshal([]byte(line), &d); err != nil {
					t.Fatal(err)
				}
				if d.Code == "file-outside" || d.Code == "remote-missing" {
					told = append(told, fmt.Sprintf("%s:%d:%d %s", d.File, d.Line, d.Column, d.Message))
				}
			}
			slices.Sort(told)
			if !slices.Equal(told, tt.told) {
				t.Errorf("it says\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(tt.told, "\n"))
			}
		})
	}
}

// The policy of a bundle names the hosts that the site's own scripts and style
// sheets load from, where the project allows them; of others its authors are told.
func TestPolicyOfScriptsAndStyles(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	site := fstest.MapFS{
		"docs.json": {Data: []byte(`{"name":"Remote","navigation":{"pages":["index"]}}`)},
		"index.mdx": {Data: []byte("---\ntitle: Start\n---\n\nText.\n")},
		"a.js":      {Data: []byte("const s = document.createElement('script')\ns.src = 'https://example.com/widget?id=1'")},
		"a.css":     {Data: []byte(`@import "https://example.com/gone.css"; @import "https://example.com/there.css";`)},
	}
	for _, tt := range []struct {
		name     string
		kind     admin.Kind
		allow    string
		has, not []string
		told     []string
	}{
		{"allowed", admin.KindCloud, "example.com", []string{"script-src 'self' https://example.com", " https://example.com;"}, nil, []string{"remote-missing a.css", "style-outside a.css"}},
		{"not allowed", admin.KindCloud, "", nil, []string{"https://example.com"}, []string{"script-outside a.js", "style-outside a.css"}},
		{"no network", admin.KindAirGapped, "example.com", nil, []string{"https://example.com"}, []string{"remote-missing a.css", "script-outside a.js", "style-outside a.css", "style-outside a.css"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHosts(t, map[string]string{"https://example.com/there.css": "text/css|@import url(//fonts.example/x.css); b {}"})
			w := openWorldOf(t, t.TempDir(), tt.kind, admin.Settings{AllowHosts: tt.allow})
			w.publish(t, site)
			files := unpacked(t, w.exported(t, func(o *Options) { o.Fetcher = h.fetcher() }))
			var info bundle.Info
			if err := json.Unmarshal([]byte(files[bundle.InfoPath]), &info); err != nil {
				t.Fatal(err)
			}
			policy := ""
			for _, directive := range []string{"script-src", "style-src"} {
				policy += directive + " 'self' " + strings.Join(slices.DeleteFunc(info.Sources[directive], func(s string) bool { return strings.HasPrefix(s, "'sha") }), " ") + "; "
			}
			for _, part := range tt.has {
				if !strings.Contains(policy, part) {
					t.Errorf("the policy %s lacks %s", policy, part)
				}
			}
			for _, part := range tt.not {
				if strings.Contains(policy, part) {
					t.Errorf("the policy %s has %s", policy, part)
				}
			}
			var told []string
			for line := range strings.Lines(files[bundle.DiagnosticsPath]) {
				var d mdx.Diagnostic
				if err := json.Unmarshal([]byte(line), &d); err != nil {
					t.Fatal(err)
				}
				if strings.HasSuffix(d.Code, "-outside") || d.Code == "remote-missing" {
					told = append(told, d.Code+" "+d.File)
				}
			}
			slices.Sort(told)
			if !slices.Equal(told, tt.told) {
				t.Errorf("it tells of %q:\n%s", told, files[bundle.DiagnosticsPath])
			}
		})
	}
}
