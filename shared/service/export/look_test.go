package export

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/diagram"
	"github.com/bindery-docs/bindery/shared/render/frame"
	"github.com/bindery-docs/bindery/shared/render/highlight"
	"github.com/bindery-docs/bindery/shared/render/script"
	"github.com/bindery-docs/bindery/shared/render/theme"
	"github.com/bindery-docs/bindery/tests/outside"
)

// lookSite has class names, styles and diagrams on some of its pages.
func lookSite() fstest.MapFS {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	site := sampleSite(130)
	site["style.css"] = file(".own-class, .own\\:class { color: red } /* .odd-name */ .odd-names { background: url(x.odd-name) }\n")
	site["a-plain.mdx"] = file("---\ntitle: Plain\n---\n\nText.\n")
	site["b-classes.mdx"] = file("---\ntitle: Classes\n---\n\n<div className=\"dark:hidden w-[800px] own-class own:class odd-name group\" style={{marginTop: '7px'}}>x</div>\n")
	site["c-drawn.mdx"] = file("---\ntitle: Drawn\n---\n\n```mermaid\ngraph TD\nA[One] --> B[Two]\n```\n\n```mermaid\nsequenceDiagram\nA->>B: Hello\n```\n")
	site["deep/d-live.mdx"] = file("---\ntitle: Live\n---\n\n```mermaid\njourney\nsection A\na: 3: Me\n```\n")
	site["e-broken.mdx"] = file("---\ntitle: Broken\n---\n\n```mermaid\ngraph TD\n" + strings.Repeat("A --> B\n", 700) + "```\n")
	return site
}

// TestPolicy: bindery.json names what the pages of all shards load from
// elsewhere, once and in order. One page too many hosts, and it names none.
func TestPolicy(t *testing.T) {
	w := newWorld(t)
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	site := sampleSite(130)
	site["a.mdx"] = file("![x](https://two.example/a.png)\n\n<iframe src=\"https://frames.example/1\" />\n")
	site["z.mdx"] = file("![x](https://one.example/a.png) ![x](https://two.example/b.png)\n\n<style>{`.a{color:red}`}</style>\n")
	var many strings.Builder
	for i := range maxPolicySources + 1 {
		fmt.Fprintf(&many, "<video src=\"https://h%d.example/v.mp4\" />\n\n", i)
	}
	site["many.mdx"] = file(many.String())
	w.publish(t, site)
	var info bundle.Info
	if err := json.Unmarshal([]byte(unpacked(t, w.exported(t, func(o *Options) { o.Shards = 5 }))["bindery.json"]), &info); err != nil {
		t.Fatal(err)
	}
	for directive, want := range map[string][]string{
		"img-src":   {"data:", "https://one.example", "https://two.example"},
		"frame-src": {"https://frames.example"},
		"media-src": {"https:"},
	} {
		if diff := cmp.Diff(want, info.Sources[directive]); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", directive, diff)
		}
	}
	if n := len(info.Sources["style-src"]); n != 2 {
		t.Errorf("style-src has %d hashes instead of the theme's and the page's: %q", n, info.Sources["style-src"])
	}
}

// TestLook: pages load the styles and scripts that they need, and only those;
// the bundle holds them; shards change nothing.
func TestLook(t *testing.T) {
	outside.Long(t, "exports one site for each setting")
	w := newWorld(t)
	w.publish(t, lookSite())
	one := w.exported(t, func(o *Options) { o.Shards = 1 })
	files := unpacked(t, one)
	if !slices.Equal(one, w.exported(t, func(o *Options) { o.Shards = 5 })) {
		t.Error("another number of shards gives another bundle")
	}

	sheet := files[frame.UtilitiesPath]
	for _, rule := range []string{`.dark\:hidden:where(.dark`, `.w-\[800px\]{width:800px}`, `{margin-top:7px}`} {
		if !strings.Contains(sheet, rule) {
			t.Errorf("the style sheet has no %s:\n%s", rule, sheet)
		}
	}
	// Layers: theme, utilities, and then what stands in none.
	if at := strings.Index(sheet, "@layer properties,bindery,utilities;"); at < 0 {
		t.Errorf("the style sheet does not say the order of layers:\n%s", sheet)
	}

	var runtime, start string
	for name := range files {
		if strings.HasPrefix(name, "bindery/mermaid.") {
			runtime = name
		}
		if strings.HasPrefix(name, "bindery/diagrams.") {
			start = name
		}
	}
	if runtime == "" || start == "" {
		t.Fatal("the bundle has no runtime for the diagram that is not drawn")
	}
	loads := func(page string) (utilities, live bool) {
		html, ok := files[page]
		if !ok {
			t.Fatalf("the bundle has no %s", page)
		}
		up := strings.Repeat("../", strings.Count(page, "/"))
		live = strings.Contains(html, `src="`+up+runtime+`"`)
		if live != strings.Contains(html, `src="`+up+start+`"`) {
			t.Errorf("%s loads one of the two scripts", page)
		}
		theme, own := strings.Index(html, `href="`+up+`bindery/theme.`), strings.Index(html, `href="`+up+`style.css"`)
		at := strings.Index(html, `href="`+up+frame.UtilitiesPath+`"`)
		if at >= 0 && (at < theme || at > own) {
			t.Errorf("%s loads the utilities at %d, the theme at %d, the site's styles at %d", page, at, theme, own)
		}
		return at >= 0, live
	}
	for _, tt := range []struct {
		page            string
		utilities, live bool
		has, hasNot     string
	}{
		{"a-plain.html", false, false, "Text.", "<figure"},
		{"b-classes.html", true, false, "w-[800px]", " style="},
		{"c-drawn.html", false, false, `role="img"`, "data-bindery-mermaid"},
		{"deep/d-live.html", false, true, `data-bindery-mermaid`, `class="bdy-diagram mermaid"`},
		{"e-broken.html", false, false, "A --&gt; B", "data-bindery-mermaid"},
	} {
		utilities, live := loads(tt.page)
		if utilities != tt.utilities || live != tt.live {
			t.Errorf("%s: loads utilities %v, runtime %v; want %v, %v", tt.page, utilities, live, tt.utilities, tt.live)
		}
		if !strings.Contains(files[tt.page], tt.has) || strings.Contains(files[tt.page], tt.hasNot) {
			t.Errorf("%s: has %q %v, has %q %v; want true, false", tt.page, tt.has, strings.Contains(files[tt.page], tt.has), tt.hasNot, strings.Contains(files[tt.page], tt.hasNot))
		}
	}
	if html := files["c-drawn.html"]; strings.Count(html, `class="bdy-d-tip"`) != 1 || strings.Count(html, "<li>One → Two") != 1 {
		t.Error("the drawing's arrow or its words are not there once")
	}

	var info bundle.Info
	if err := json.Unmarshal([]byte(files[bundle.InfoPath]), &info); err != nil {
		t.Fatal(err)
	}
	if n := len(info.Sources["script-src"]); n != 1 {
		t.Errorf("script-src has %d hashes instead of that of the page for addresses that don't exist", n)
	}
	delete(info.Sources, "script-src")
	if diff := cmp.Diff(map[string][]string{"style-src": {"'unsafe-inline'"}, "img-src": {"data:"}}, info.Sources); diff != "" {
		t.Errorf("what a policy must allow (-want +got):\n%s", diff)
	}
	diagnostics := files[bundle.DiagnosticsPath]
	if !strings.Contains(diagnostics, "1 of the class names on pages: odd-name") {
		t.Errorf("the unknown name is not told, or others are:\n%s", diagnostics)
	}
	if n := strings.Count(diagnostics, `"severity":"warning","code":"diagram-not-drawn"`); n != 1 {
		t.Errorf("%d diagrams are told to be not drawn, want 1:\n%s", n, diagnostics)
	}
}

// TestLookOfPlainSite: a site without class names and components of its own has none
// of these files and starts no engine, also where it shows each kind of diagram.
func TestLookOfPlainSite(t *testing.T) {
	kinds, err := os.ReadFile("../../../infra/docs/authoring/diagram-kinds.mdx")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	site := sampleSite(5)
	site["kinds.mdx"] = &fstest.MapFile{Data: kinds}
	w.publish(t, site)
	job := w.start(t)
	steps := w.steps(nil)
	if err := workflow(t.Context(), steps, job.ID); err != nil {
		t.Fatal(err)
	}
	files := unpacked(t, w.bundle(t, job.ID))
	if n, want := strings.Count(files["kinds.html"], `<figure class="bdy-diagram mermaid"`), strings.Count(string(kinds), "\n## "); n != want {
		t.Errorf("%d diagrams are drawn, want %d", n, want)
	}
	if path, data := diagram.Script(); files[path] != string(data) || !strings.Contains(files["kinds.html"], path) {
		t.Errorf("the bundle, or its page, has no %s", path)
	}
	for name := range files {
		if name == frame.UtilitiesPath || strings.HasPrefix(name, "bindery/mermaid.") {
			t.Errorf("the bundle has %s", name)
		}
	}
	if n := steps.scripts.Starts(); n != 0 {
		t.Errorf("%d engines were started", n)
	}
}

// TestNamesOfTheTheme: a class name that an author takes from Tailwind changes
// nothing of the theme and the components, which know none of these names in
// another sense.
func TestNamesOfTheTheme(t *testing.T) {
	same := []string{
		"contents", // the style sheet leaves the theme's alone
		"hidden", "sr-only",
		"not-prose", // without the rules for text, as for Tailwind
	}
	look, err := theme.New(theme.Config{CSS: []string{component.CSS(), highlight.CSS(), diagram.CSS(), script.CSS()}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, a := range look.Assets() {
		if strings.HasSuffix(a.Path, ".css") {
			for _, m := range regexp.MustCompile(`\.([A-Za-z][\w-]*)`).FindAllSubmatch(a.Data, -1) {
				names = append(names, string(m[1]))
			}
		}
	}
	_, unknown, err := script.New().Utilities(t.Context(), names)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if !slices.Contains(unknown, n) && !slices.Contains(same, n) {
			t.Errorf("the theme's class %q is a utility too", n)
		}
	}
}
