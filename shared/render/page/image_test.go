package page_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/page"
)

func picture(t testing.TB, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Pictures of the site carry their size, so that nothing moves when they come;
// what their author said wins and keeps the proportions.
func TestImages(t *testing.T) {
	for _, test := range []struct{ name, source, want, rule string }{
		{"markdown", `![A](/a.png "T")`, `<p><img src="a.png" alt="A" title="T" width="400" height="300" decoding="async"></p>`, ""},
		{"element", `<img src="a.png" alt="A" />`, `<img src="a.png" alt="A" width="400" height="300" decoding="async">`, ""},
		{"drawing", `<img src="/b.svg" className="w-full" />`, `<img src="b.svg" class="w-full" width="1600" height="800" alt="" decoding="async">`, ""},
		{"own width", `<img src="a.png" width="200" />`, `<img src="a.png" width="200" height="150" alt="" decoding="async">`, ""},
		{"own width in pixels", `<img src="a.png" width="200px" />`, `<img src="a.png" width="200" height="150" alt="" decoding="async">`, ""},
		{"own width as a number", `<img src="a.png" width={100} />`, `<img src="a.png" width="100" height="75" alt="" decoding="async">`, ""},
		{"own height", `<img src="a.png" height="30" />`, `<img src="a.png" width="40" height="30" alt="" decoding="async">`, ""},
		{"both", `<img src="a.png" width="10" height="20" />`, `<img src="a.png" width="10" height="20" alt="" decoding="async">`, ""},
		{"a share", `<img src="a.png" width="50%" />`, `<img src="a.png" width="400" height="300" class="*" alt="" decoding="async">`, "width:50%"},
		{"a height in a class", `<img src="a.png" className="md:h-10" />`, `<img src="a.png" class="md:h-10 *" width="400" height="300" alt="" decoding="async">`, "width:auto"},
		{"a height in a style", `<img src="a.png" style={{height: "1.3em", display: "inline"}} />`, `<img src="a.png" width="400" height="300" class="*" alt="" decoding="async">`, "width:auto;height:1.3em;display:inline"},
		{"width and height in classes", `<img src="a.png" className="w-4 h-4" />`, `<img src="a.png" class="w-4 h-4" width="400" height="300" alt="" decoding="async">`, ""},
		{"of elsewhere", `<img src="https://example.com/a.png" width="9" />`, `<img src="https://example.com/a.png" width="9" alt="" decoding="async">`, ""},
		{"of no size", `![x](c.png)`, `<p><img src="c.png" alt="x" decoding="async"></p>`, ""},
		{"no zoom", `<img src="a.png" noZoom loading="eager" />`, `<img src="a.png" loading="eager" data-bindery-zoom="off" width="400" height="300" alt="" decoding="async">`, ""},
		{"for dark", `![x](a.png#gh-dark-mode-only)`, `<p><img src="a.png" alt="x" class="only-dark" width="400" height="300" decoding="async"></p>`, ""},
		{"for light", `<img className="k" src="a.png#only-light" />`, `<img class="k only-light" src="a.png" width="400" height="300" alt="" decoding="async">`, ""},
		{
			"a pair", `<img className="block dark:hidden" src="a.png" />` + "\n" + `<img className="hidden dark:block" src="a.png" />`,
			`<img class="block dark:hidden" src="a.png" width="400" height="300" alt="" decoding="async">` + "\n" +
				`<img class="hidden dark:block" src="a.png" width="400" height="300" alt="" loading="lazy" decoding="async">`, "",
		},
		{
			"sources", `<picture><source srcSet="/a.png 2x, b.svg" type="image/png" /><img src="c.png" alt="p" /></picture>`,
			`<picture><source srcset="a.png 2x, b.svg" type="image/png"><img src="c.png" alt="p" decoding="async"></picture>`, "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := renderFiles(t, fstest.MapFS{
				"page.mdx": {Data: []byte(test.source)},
				"a.png":    {Data: picture(t, 400, 300)},
				"b.svg":    {Data: []byte(`<svg viewBox="0 0 20 10"></svg>`)},
				"c.png":    {Data: []byte("no picture")},
			}, "page.mdx")
			for _, fault := range checkHTML(r) {
				t.Error(fault)
			}
			got, rule := strings.TrimSpace(string(r.HTML)), ""
			for class, css := range r.Styles {
				rule = css
				got = strings.ReplaceAll(got, class, "*")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("HTML differs (-want +got):\n%s", diff)
			}
			if rule != test.rule {
				t.Errorf("the rule is %q, want %q", rule, test.rule)
			}
		})
	}
}

// A picture that is not there is reported with its place; one that can't be
// read ends the rendering, because the page would come out otherwise the next
// time.
func TestImagesThatFail(t *testing.T) {
	r := renderFiles(t, fstest.MapFS{"page.mdx": {Data: []byte("x\n\n<video poster=\"no.png\"><source src=\"no.mp4\" /><track src=\"no.vtt\" /></video> ![x](none.png)\n")}}, "page.mdx")
	want := `page.mdx:3:8: warning: there is no file no.png (no.png) (file-missing)
page.mdx:3:32: warning: there is no file no.mp4 (no.mp4) (file-missing)
page.mdx:3:54: warning: there is no file no.vtt (no.vtt) (file-missing)
page.mdx:3:78: warning: there is no file none.png (none.png) (file-missing)
`
	if diff := cmp.Diff(want, diagnostics(r)); diff != "" {
		t.Errorf("diagnostics differ (-want +got):\n%s", diff)
	}
	broken := errors.New("the disk is gone")
	fsys := fstest.MapFS{
		"docs.json": {Data: []byte(`{"name": "Test", "navigation": {"pages": ["page"]}}`)},
		"page.mdx":  {Data: []byte("![x](/a.png)\n")}, "a.png": {Data: []byte("x")},
	}
	_, s := open(t, fsys)
	if _, err := page.New(page.Options{Site: s, FS: unopened{fsys, broken}}).Render(t.Context(), 0); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// unopened reads files and opens none.
type unopened struct {
	fs.FS
	err error
}

func (u unopened) ReadFile(name string) ([]byte, error) { return fs.ReadFile(u.FS, name) }

func (u unopened) Open(string) (fs.File, error) { return nil, u.err }

// What is embedded has a name and loads when it is needed; in a bundle for
// readers without a network, a link stands in the place of another host's.
func TestEmbeds(t *testing.T) {
	for _, test := range []struct{ name, source, want, airGapped string }{
		{
			"frame", `<iframe src="https://player.example.com/1" frameBorder="0" allowFullScreen webkitallowfullscreen />`,
			`<iframe src="https://player.example.com/1" allowfullscreen loading="lazy" title="player.example.com"></iframe>`,
			`<span class="bdy-embed-notice" role="note">Not part of this offline copy: <a href="https://player.example.com/1">player.example.com</a></span>`,
		},
		{
			"own frame", `<iframe src="/demo.html" title="Demo" loading="eager"></iframe>`,
			`<iframe src="demo.html" title="Demo" loading="eager"></iframe>`, "",
		},
		{"video", `<video src="/v.mp4" />`, `<video src="v.mp4" controls preload="metadata"></video>`, ""},
		{"video that plays", `<video src="/v.mp4" autoPlay muted loop />`, `<video src="v.mp4" autoplay muted loop playsinline></video>`, ""},
		{
			"sources", "<video controls><source src=\"https://example.com/v.mp4\" type=\"video/mp4\" />Text</video>",
			`<video controls preload="metadata"><source src="https://example.com/v.mp4" type="video/mp4">Text</video>`,
			`<span class="bdy-embed-notice" role="note">Not part of this offline copy: <a href="https://example.com/v.mp4">example.com</a></span>`,
		},
		{
			"object", `<object data="https://example.com/<x>.pdf" type="application/pdf" title="A &amp; B" />`,
			`<object data="https://example.com/&lt;x&gt;.pdf" type="application/pdf" title="A &amp; B"></object>`,
			`<span class="bdy-embed-notice" role="note">Not part of this offline copy: <a href="https://example.com/&lt;x&gt;.pdf">A &amp; B</a></span>`,
		},
		{"embed", `<embed src="/demo.html" />`, `<embed src="demo.html" title="Embedded page">`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			fsys := fstest.MapFS{
				"docs.json": {Data: []byte(`{"name": "Test", "navigation": {"pages": ["page"]}}`)},
				"page.mdx":  {Data: []byte(test.source)}, "demo.html": {Data: []byte("x")}, "v.mp4": {Data: []byte("x")},
			}
			_, s := open(t, fsys)
			for _, airGapped := range []bool{false, true} {
				want := test.want
				if airGapped && test.airGapped != "" {
					want = test.airGapped
				}
				r, err := page.New(page.Options{Site: s, FS: fsys, AirGapped: airGapped}).Render(t.Context(), 0)
				if err != nil {
					t.Fatal(err)
				}
				for _, fault := range checkHTML(r) {
					t.Error(fault)
				}
				if diff := cmp.Diff(want, strings.TrimSpace(string(r.HTML))); diff != "" {
					t.Errorf("air-gapped %v: HTML differs (-want +got):\n%s", airGapped, diff)
				}
			}
		})
	}
}

// A picture of another host stays where it is, and its author is told where the first
// of each host is.
func TestPicturesElsewhere(t *testing.T) {
	fsys := fstest.MapFS{
		"docs.json": {Data: []byte(`{"name": "Test", "navigation": {"pages": ["page"]}}`)},
		"page.mdx":  {Data: []byte("![a](https://example.com/a.png)\n\n<img src=\"https://example.com/b.png\" alt=\"b\" />\n\n[c](https://example.com/c.png)\n\n![d](https://other.example/d.png)\n")},
	}
	_, s := open(t, fsys)
	for airGapped, want := range map[bool][]int{false: {1, 7}, true: {1, 7}} {
		r, err := page.New(page.Options{Site: s, FS: fsys, AirGapped: airGapped}).Render(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		var lines []int
		for _, d := range r.Diagnostics {
			if d.Code == "asset-outside" {
				lines = append(lines, d.Line)
				if many := strings.Contains(d.Message, "/a.png, and 1 more from there"); many != (d.Line == 1) {
					t.Errorf("it says %q", d.Message)
				}
			}
		}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("air-gapped %v: lines differ (-want +got):\n%s", airGapped, diff)
		}
		if html := string(r.HTML); strings.Count(html, `src="https://example.com/`) != 2 {
			t.Errorf("air-gapped %v: the pictures are gone: %s", airGapped, html)
		}
	}
}

// A page's own pictures for links are told of where its head names them, if they are
// not there, or not in the bundle; the page loads none of them.
func TestPicturesForLinks(t *testing.T) {
	fsys := fstest.MapFS{
		"docs.json": {Data: []byte(`{"name": "Test", "navigation": {"pages": ["in/page"]}}`)},
		"in/page.mdx": {Data: []byte("---\ntitle: T\nog:image: https://example.com/a.png\n\"twitter:image\": /gone.png\n" +
			"'og:image:url': ../a.png\ntwitter:title: /b.png\nog:image:secure_url: data:image/png;base64,AA\n---\n\nText\n")},
		"a.png": {Data: picture(t, 4, 3)},
	}
	_, s := open(t, fsys)
	r, err := page.New(page.Options{Site: s, FS: fsys}).Render(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range r.Diagnostics {
		got = append(got, fmt.Sprintf("%s:%d %s %s", d.File, d.Line, d.Code, d.Severity))
	}
	want := []string{"in/page.mdx:3 asset-outside notice", "in/page.mdx:4 file-missing warning", "in/page.mdx:7 file-missing warning"}
	if diff := cmp.Diff(want, got); diff != "" || len(r.Sources) > 0 {
		t.Errorf("(-want +got):\n%s\nthe policy allows %v", diff, r.Sources)
	}
}

// The first picture is loaded at once where it stands on the first screen.
func TestPicturesBelowTheFirstScreen(t *testing.T) {
	for _, tt := range []struct {
		before string
		lazy   bool
	}{{"", false}, {strings.Repeat("Some words. ", 40), false}, {strings.Repeat("Some words. ", 400), true}} {
		r := renderFiles(t, fstest.MapFS{"page.mdx": {Data: []byte(tt.before + "\n\n![A](/a.png)\n")}, "a.png": {Data: picture(t, 4, 3)}}, "page.mdx")
		if lazy := strings.Contains(string(r.HTML), `loading="lazy"`); lazy != tt.lazy {
			t.Errorf("after %d bytes: lazy is %v", len(tt.before), lazy)
		}
	}
}
