package page_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/page"
)

// A style attribute, as text or as an object, becomes a class whose rule is in
// Result.Styles; what could reach out of the rule is left out.
func TestStyles(t *testing.T) {
	for _, test := range []struct{ name, source, rule string }{
		{"text", `<p style="Color: red; margin : 0 auto">x</p>`, "color:red;margin:0 auto"},
		{"object", `<p style={{textAlign: "center", fontSize: 14, lineHeight: 2, WebkitLineClamp: 3}}>x</p>`, "text-align:center;font-size:14px;line-height:2;-webkit-line-clamp:3px"},
		{"variable", `<p style={{"--x": 3, color: "var(--x)"}}>x</p>`, "--x:3;color:var(--x)"},
		{"comment", `<p style="/* a; */color:red">x</p>`, "color:red"},
		{"file", `<p style="background: url('/a b.png') no-repeat">x</p>`, `background:url("../a%20b.png") no-repeat`},
		{"outside", `<p style="background:url(https://example.com/a.png)">x</p>`, `background:url("https://example.com/a.png")`},
		{"in svg", `<svg><path style="fill: url(#g)" /></svg>`, `fill:url("#g")`},
		{"semicolon in an address", `<p style="background:url(data:image/png;base64,AA==)">x</p>`, `background:url("data:image/png;base64,AA==")`},
		{"out of the rule", `<p style="color: red} body {display:none">x</p>`, ""},
		{"escape", `<p style="color: \72 ed">x</p>`, ""},
		{"script in an address", `<p style="background: url(javascript:alert(1))">x</p>`, ""},
		{"old script", `<p style="width: expression(alert(1))">x</p>`, ""},
		{"import", `<p style="@import 'x'">x</p>`, ""},
		{"end tag", `<p style="font-family: '</style><script>'">x</p>`, ""},
		{"open string", `<p style="font-family: 'a">x</p>`, ""},
		{"open parenthesis", `<p style="color: rgb(1">x</p>`, ""},
		{"unknown property", `<p style="behavior: url(x.htc)">x</p>`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := renderFiles(t, fstest.MapFS{"page.mdx": {Data: []byte(test.source)}, "a b.png": {Data: []byte("x")}}, "page.mdx")
			for _, fault := range checkHTML(r) {
				t.Error(fault)
			}
			if strings.Contains(string(r.HTML), " style=") {
				t.Errorf("a style attribute is left: %s", r.HTML)
			}
			var got []string
			for class, rule := range r.Styles {
				got = append(got, rule)
				if !strings.Contains(string(r.HTML), `class="`+class+`"`) {
					t.Errorf("no element has %s: %s", class, r.HTML)
				}
			}
			if diff := cmp.Diff(test.rule, strings.Join(got, "|")); diff != "" {
				t.Errorf("rule differs (-want +got):\n%s", diff)
			}
			if reported := strings.Contains(diagnostics(r), "style-dropped"); reported != (test.rule == "") {
				t.Errorf("diagnostics: %s", diagnostics(r))
			}
		})
	}
}

// namedIcon draws one icon.
type namedIcon struct{}

func (namedIcon) Icon(name, _, style string) (string, bool) {
	return `<svg class="icon bdy-icon" viewBox="0 0 1 1"><path d="` + style + `"/></svg>`, name == "bolt"
}

// The picture of a mask from the hosts of the source language's icons is an icon in
// the address. An element without its mask is not shown.
func TestMasks(t *testing.T) {
	const drawn = `url("data:image/svg+xml,%3Csvg%20xmlns=%22http:%2F%2Fwww.w3.org%2F2000%2Fsvg%22%20class=%22icon%20bdy-icon%22%20viewBox=%220%200%201%201%22%3E%3Cpath%20d=%22solid%22%2F%3E%3C%2Fsvg%3E")`
	for style, want := range map[string]string{
		`mask-image: url(https://mintlify.b-cdn.net/v6.6.0/solid/bolt.svg)`:                                             "mask-image:" + drawn,
		`-webkit-mask: url("https://d3gk2c5xim1je2.cloudfront.net/fontawesome/v7.1.0/solid/bolt.svg") no-repeat center`: "-webkit-mask:" + drawn + " no-repeat center",
		`mask-repeat: no-repeat`: "mask-repeat:no-repeat",
		`mask-image: url(https://mintlify.b-cdn.net/v6.6.0/solid/unknown.svg)`:                                          "visibility:hidden",
		`mask-image: linear-gradient(black, transparent)`:                                                               "mask-image:linear-gradient(black, transparent)",
		`-webkit-mask-position: center; mask-size: contain`:                                                             "-webkit-mask-position:center;mask-size:contain",
		`mask: linear-gradient(#000 0 0) content-box, linear-gradient(#000 0 0)`:                                        "mask:linear-gradient(#000 0 0) content-box, linear-gradient(#000 0 0)",
		`mask: url(data:image/png;base64,AA==) center / contain no-repeat`:                                              `mask:url("data:image/png;base64,AA==") center / contain no-repeat`,
		`mask-image: url("data:image/svg+xml;utf8,<svg><path/></svg>")`:                                                 `mask-image:url("data:image/svg+xml;utf8,%3Csvg%3E%3Cpath/%3E%3C/svg%3E")`,
		`mask-image: url(https://cdn.example/bolt.svg)`:                                                                 `mask-image:url("https://cdn.example/bolt.svg")`,
		`mask-image: radial-gradient(circle, #000, transparent), url(https://mintlify.b-cdn.net/v6.6.0/solid/bolt.svg)`: "mask-image:radial-gradient(circle, #000, transparent), " + drawn,
	} {
		fsys := fstest.MapFS{"docs.json": {Data: []byte(`{"name": "x", "navigation": {"pages": ["page"]}}`)}, "page.mdx": {Data: []byte("<div style='" + style + "'></div>\n")}}
		_, s := open(t, fsys)
		r, err := page.New(page.Options{Site: s, FS: fsys, Icons: namedIcon{}}).Render(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(slices.Collect(maps.Values(r.Styles)), "|"); got != want {
			t.Errorf("%s is %s, want %s", style, got, want)
		}
	}
}

// A class of the author's and the one of a style stand together, and the same
// style has the same class everywhere.
func TestStyleBesideClass(t *testing.T) {
	r := renderSource(t, "<p className=\"a\" style=\"color:red\">x</p>\n\n<div style={{color: 'red'}}>y</div>\n")
	if len(r.Styles) != 1 || strings.Count(string(r.HTML), "bdy-st-") != 2 || !strings.Contains(string(r.HTML), `class="a bdy-st-`) {
		t.Errorf("%v\n%s", r.Styles, r.HTML)
	}
	if diff := cmp.Diff([]string{"a"}, r.Classes); diff != "" {
		t.Error(diff)
	}
}

// A site may ask for dark code on light pages too: each block then has the
// colours of dark pages, in a group as well.
func TestDarkCode(t *testing.T) {
	const source = "```js\na()\n```\n\n<CodeGroup>\n```js one\nb()\n```\n</CodeGroup>\n"
	for config, want := range map[string]int{`"dark"`: 2, `"system"`: 0, `{"theme": "dark"}`: 2, `"nord"`: 0} {
		result := renderFiles(t, fstest.MapFS{
			"docs.json": {Data: []byte(`{"name": "Test", "navigation": {"pages": ["page"]}, "styling": {"codeblocks": ` + config + `}}`)},
			"page.mdx":  {Data: []byte(source)},
		}, "page.mdx")
		if got := strings.Count(string(result.HTML), `class="code-block bdy-code-block dark"`); got != want {
			t.Errorf("%s: %d blocks are dark, want %d:\n%s", config, got, want, result.HTML)
		}
	}
}
