package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
	"github.com/bindery-docs/bindery/tests/outside"
)

// authorStyles are rules that sites wrote for the ids and classes of the source
// language.
const authorStyles = `#banner > * { position: relative; z-index: 1 }
#banner::before { content: ""; position: absolute; inset: 0; z-index: 0; background: #123456 }
:where(.banner, [data-banner]) { color: rgb(1, 2, 3) !important }
[data-banner] { background: rgb(9, 8, 7) !important }
html[data-current-path^="/wide"] #content-container {
  width: min(848px, calc(100vw - 304px - 128px)) !important; margin-left: 304px !important; margin-right: auto !important; padding-inline: 64px !important;
}
html[data-current-path="/margins"] #content-container { margin: 0 5rem 0 10rem }
@media (max-width: 600px) {
  html[data-current-path^="/wide"] #content-container { width: 100vw !important; margin-left: 0 !important; padding-inline: 16px !important }
  html[data-current-path="/margins"] #content-container { margin: 0 1rem }
}
#sidebar { background: rgb(250, 250, 240); top: 4rem }
#topbar-cta-button a { color: rgb(4, 5, 6) }
#content-area { max-width: 44rem !important }
.card { outline: 1px solid }
`

// accidents are rules that must change nothing of the theme's: a reset in the layers
// of Tailwind 4, and classes under names that a theme may have too. Lists in
// components on a page of mode custom have the browser's own style, so that the
// reset is not for those.
const accidents = `@layer theme, base, components, utilities;
@layer base {
  html:not([data-current-path="/grids"]) {
    &, *, ::after, ::before, ::backdrop { box-sizing: border-box; border: 0 solid; margin: 0; padding: 0; }
    h1, h2, h3, button { font: inherit; font-size: inherit; font-weight: inherit; }
    ol, ul, menu { list-style: none; }
    a { color: inherit; text-decoration: inherit; }
    img, svg, video, canvas, iframe { display: block; max-width: 100%; height: auto; }
  }
}
.menu, .footer, .top, .banner, .search, .sidebar, .logo, .actions, .action, .contents, .page, .layout, .room, .side, .button, .tag, .lead,
.pager, .prev, .next, .listing, .rating, .switches, .anchor, .line, .copy, .choice, .para, .skip, .sr, .js, .open, .on, .title, .modified, .d-node,
.search-open, .search-place, .search-dialog, .icon-button, .card-body, .card-title, .callout-body, .step-body, .tab-title, .tablist, .field-head, .long, .short {
  display: block !important; position: relative !important; float: left !important; margin: 3rem !important; padding: 3rem !important; width: 20rem !important;
  height: 9rem !important; font-size: 3rem !important; border: 9px solid !important; transform: scale(2) !important;
}
`

// TestAuthorStylesInABrowser: rules for the ids and classes of the source language do
// what they did there, and none of the theme's rules meets what authors wrote.
func TestAuthorStylesInABrowser(t *testing.T) {
	outside.Long(t, "looks at pages in a browser")
	chromium := browse.Chromium(t)
	source := t.TempDir()
	page := "---\ntitle: A page with a title\n---\n\nWords of a page, some of them longer than others, so that lines wrap.\n\n## Part\n\nMore.\n\n" +
		"<Note>A note</Note>\n\n<Steps><Step title=\"One\">First</Step></Steps>\n\n<Tabs><Tab title=\"A\">a</Tab><Tab title=\"B\">b</Tab></Tabs>\n\n```js\nlet a = 1\n```\n\n" +
		"<ParamField path=\"p\" type=\"string\">A field</ParamField>\n\n```mermaid\nflowchart LR\n  a --> b\n```\n\n| A | B |\n|---|---|\n| a | b |\n"
	// Each is wider than a phone.
	wide := "\n```js a title\n" + strings.Repeat("word ", 60) + "\n```\n\n<CodeGroup>\n```js one\n" + strings.Repeat("word ", 60) + "\n```\n```js two\nx\n```\n</CodeGroup>\n\n" +
		"| " + strings.Repeat("A heading | ", 9) + "\n|" + strings.Repeat("---|", 9) + "\n| " + strings.Repeat("`"+strings.Repeat("w", 20)+"` | ", 9) + "\n\n<Tabs>" +
		strings.Repeat("<Tab title=\"A title of a tab\">x</Tab>", 9) + "</Tabs>\n\n<Steps><Step title=\"One\">\n```sh\n" + strings.Repeat("word ", 60) + "\n```\n</Step></Steps>\n\n" +
		"<Prompt description=\"Do\">\n" + strings.Repeat("word", 60) + "\n</Prompt>\n\n```mermaid\nflowchart LR\n  " + strings.Repeat("a --> b --> c --> d --> e --> f --> g\n  ", 3) + "\n```\n\n"
	for name, text := range map[string]string{
		"docs.json": `{"name":"Styles","theme":"mint","colors":{"primary":"#0055aa"},"navigation":{"pages":["index","wide","margins","home","grids"]},
			"banner":{"content":"A new release","color":{"light":"#aa3300","dark":"#331100"},"dismissible":true},"navbar":{"primary":{"type":"button","label":"Go","href":"https://go.example"}}}`,
		"a.css": authorStyles, "index.mdx": page, "wide.mdx": page, "margins.mdx": page,
		"grids.mdx": "---\ntitle: Grids\nmode: custom\n---\n\n<div className=\"grid gap-4 lg:grid-cols-2\">\n<div>\n" + wide + "</div>\n</div>\n\n" +
			"<div className=\"flex flex-wrap\">\n<div>\n" + wide + "</div>\n</div>\n\n<div className=\"flex\">\n<div id=\"shrunk\">\n\n```js\nlet a = 1\n```\n\n</div>\n</div>\n",
		"home.mdx": "---\ntitle: Home\nmode: custom\n---\n\n<div className=\"hero\">\n  <h1>Hello</h1>\n  <h2>Start</h2>\n  <p>Text</p>\n  <a id=\"link\" href=\"/index\">Go</a>\n" +
			"  <a id=\"own\" href=\"/index\" className=\"card block\"><h3>Mine</h3></a>\n  <button id=\"press\">Press</button>\n  <ul><li>One</li></ul>\n" +
			"  <svg id=\"mask\" className=\"h-6 w-6 bg-primary\" style={{maskImage: 'url(\"https://mintlify.b-cdn.net/v6.6.0/regular/bolt.svg\")', maskRepeat: 'no-repeat'}}></svg>\n" +
			"  <svg id=\"lost\" className=\"h-6 w-6 bg-primary\" style={{WebkitMaskImage: 'url(\"https://mintlify.b-cdn.net/v6.6.0/regular/no-such-thing-xyz.svg\")'}}></svg>\n</div>\n\n" +
			"<Card title=\"Ours\">Text</Card>\n",
	} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dir := harness.Unpack(t, source)
	// The same site, with what must change nothing.
	if err := os.WriteFile(filepath.Join(source, "b.css"), []byte(accidents), 0o644); err != nil {
		t.Fatal(err)
	}
	besides := harness.Unpack(t, source)
	ctx, stop := browse.Open(t, chromium)
	defer stop()
	const (
		css  = `const $ = s => document.querySelector(s), css = (s, p) => getComputedStyle($(s)).getPropertyValue(p); `
		edge = `(() => { const r = $("#content").getBoundingClientRect(); return r.left >= 0 && r.right <= innerWidth && r.width > 200 && document.documentElement.scrollWidth <= innerWidth ? "" : JSON.stringify(r) + document.documentElement.scrollWidth })()`
	)
	checks := []struct{ page, what, script string }{
		{"index", "the banner is low", `const h = $("#banner").parentElement.getBoundingClientRect().height; return h > 20 && h < 100 ? "" : String(h)`},
		{"index", "the banner alone has the colour", `return css("#banner", "background-color") + css("html", "background-color").includes("9, 8, 7") + css("body", "background-color").includes("9, 8, 7")`},
		{"index", "the text is in the window", "return " + edge},
		{"index", "a box around the button", `return css("#topbar-cta-button > a", "color")`},
		{"index", "the words of the button are readable", `return css("#topbar-cta-button > a > span", "color")`},
		{"wide", "the text is in the window", "return " + edge},
		{"margins", "the text is in the window", "return " + edge},
		{"grids", "grids of authors stay in the window", `return String(document.documentElement.scrollWidth <= innerWidth) + (document.querySelector("#shrunk").getBoundingClientRect().width > 60)`},
		{"grids", "wide tables, code and drawings scroll", `return [...document.querySelectorAll(".code-block pre, .bdy-table-wrap, .bdy-tablist, .bdy-diagram-view")].filter(e => e.clientWidth > 0 && e.clientWidth < 100).map(e => e.className + e.clientWidth).join()`},
		{"home", "nothing is around headings and text", `return ["h1", "h2", ".hero p", ".hero ul"].map(s => css(s, "margin-top") + css(s, "margin-bottom")).join() + css(".hero ul", "list-style-type") + css("h2", "font-weight")`},
		{"home", "links look like text", `return css("#link", "text-decoration-line") + (css("#link", "color") === css(".hero", "color"))`},
		{"home", "an author's card is the author's", `return css("#own", "padding-top") + css("#own", "margin-top") + css("#own", "border-top-width") + css("#own", "display") + css("#own", "outline-style")`},
		{"home", "a button is bare", `return css("#press", "padding-left") + css("#press", "border-left-width")`},
		{"home", "a mask is an icon", `return String(css("#mask", "mask-image").startsWith('url("data:image/svg+xml,')) + css("#mask", "visibility")`},
		{"home", "a mask without a picture shows nothing", `return css("#lost", "visibility")`},
		{"home", "our card is ours", `return String(parseFloat(css(".bdy-card:not(#own)", "padding-top")) > 10)`},
	}
	wants := map[string]string{
		"the words of the button are readable": "rgb(255, 255, 255)",
		"grids of authors stay in the window":  "truetrue",
		"the banner alone has the colour":      "rgb(9, 8, 7)falsefalse", "a box around the button": "rgb(4, 5, 6)",
		"nothing is around headings and text": "0px0px,0px0px,0px0px,0px0pxnone400", "links look like text": "nonetrue",
		"an author's card is the author's": "0px0px0pxblocksolid", "a button is bare": "0px0px", "a mask is an icon": "truevisible",
		"a mask without a picture shows nothing": "hidden", "our card is ours": "true",
	}
	for _, page := range []string{"index", "wide", "margins", "home", "grids"} {
		for _, width := range []int64{1280, 390} {
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+filepath.Join(dir, page+".html"))); err != nil {
				t.Fatal(err)
			}
			places := func(dir string) string {
				if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+filepath.Join(dir, page+".html"))); err != nil {
					t.Fatal(err)
				}
				got, err := chromedp.Run(ctx, chromedp.Evaluate[string](`[...document.querySelectorAll("body *")].map(e => { const r = e.getBoundingClientRect(); return [e.localName, e.className.baseVal ?? e.className, r.x, r.y, r.width, r.height].join(" ") }).join("\n")`))
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			if diff := cmp.Diff(strings.Split(places(dir), "\n"), strings.Split(places(besides), "\n")); diff != "" {
				t.Errorf("%s at %d: an author's rules for classes of their own move the theme (-want +got):\n%s", page, width, diff)
			}
			if err := chromedp.Do(ctx, chromedp.Navigate("file://"+filepath.Join(dir, page+".html"))); err != nil {
				t.Fatal(err)
			}
			for _, c := range checks {
				if c.page != page {
					continue
				}
				got, err := chromedp.Run(ctx, chromedp.Evaluate[string]("(() => { "+css+c.script+" })()"))
				if err != nil {
					t.Fatal(err)
				}
				if want := wants[c.what]; got != want {
					t.Errorf("%s at %d: %s: it is %q, want %q", page, width, c.what, got, want)
				}
			}
		}
	}
}
