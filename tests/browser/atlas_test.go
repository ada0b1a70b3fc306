package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
)

// atlas is the folder of a site of our own that has all that a site may have:
// products, versions, four languages and two directions, every component in odd
// places, formulas, and pages whose author means harm. Its longest page is made
// here, once for all tests.
func atlas(t *testing.T) string {
	t.Helper()
	dir, err := atlasOnce()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var atlasOnce = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(harness.Scratch(), "atlas")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "atlas"))); err != nil {
		return "", err
	}
	var table bytes.Buffer
	table.WriteString("---\ntitle: Ten thousand rows\n---\n\n| Number | Square | Link |\n|---:|---:|---|\n")
	for i := range 10_000 {
		fmt.Fprintf(&table, "| %d | **%d** | [home](/en/v2/index) |\n", i, i*i)
	}
	return dir, os.WriteFile(filepath.Join(dir, "hostile", "rows.mdx"), table.Bytes(), 0o600)
})

// TestAtlas holds the bundle of that site against golden files: its files,
// what its authors are told, the Markdown copies and the articles of the pages
// where most can go wrong, and one whole document.
func TestAtlas(t *testing.T) {
	dir := harness.Unpack(t, atlas(t))
	same := func(name, got string) {
		t.Helper()
		golden.Same(t, filepath.Join("testdata", "atlas.golden", name), []byte(got))
	}
	var files []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, hashed.ReplaceAllString(name, ".*."))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	same("files.txt", strings.Join(slices.Compact(files), "\n")+"\n")

	var told strings.Builder
	for line := range strings.Lines(harness.ReadFile(t, dir, "bindery/diagnostics.jsonl")) {
		var d struct {
			Severity, Code, File, Message string
			Line, Column                  int
		}
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&told, "%s:%d:%d: %s: %s: %s\n", d.File, d.Line, d.Column, d.Severity, d.Code, d.Message)
	}
	same("diagnostics.txt", told.String())

	for _, name := range []string{
		"en/v2/guides/odd", "en/v2/guides/code", "en/v2/guides/media", "en/v2/guides/switches", "en/v2/guides/math",
		"hostile/script", "hostile/broken", "news", "ar/v2/install", "zh/v2", "tools",
	} {
		flat := strings.ReplaceAll(name, "/", "_")
		same(flat+".md", harness.ReadFile(t, dir, name+".md"))
		same(flat+".html", article(t, harness.ReadFile(t, dir, name+".html")))
	}
	same("whole.html", lined(hashed.ReplaceAllString(harness.ReadFile(t, dir, "news.html"), ".*.")))
}

// article cuts out of a document what is the page's own: the way to it, its
// title, its lead, its prose and its contents, with a line for each element, so
// that golden files can be read and compared. What the theme puts on every page
// alike is held by the golden file of one whole page, so that a change to it
// changes that file alone.
func article(t *testing.T, document string) string {
	t.Helper()
	_, rest, ok := strings.Cut(document, "<article")
	body, after, ended := strings.Cut(rest, "</article>")
	if !ok || !ended {
		t.Fatal("a page without an article")
	}
	body = "<article" + body + "</article>"
	for _, chrome := range []*regexp.Regexp{pageActions, contentsPlace} {
		body = chrome.ReplaceAllString(body, "")
	}
	if contents := pageContents.FindString(after); contents != "" {
		body += contents
	}
	return lined(body)
}

// What stands in or beside every article alike.
var (
	pageActions   = regexp.MustCompile(`(?s)<div class="bdy-actions" id="bindery-actions">.*?</div>`)
	contentsPlace = regexp.MustCompile(`(?s)<div class="bdy-contents-place">.*?</div>`)
	pageContents  = regexp.MustCompile(`(?s)<nav class="bdy-contents".*?</nav>`)
	// hashed finds the part of a file's name that is made of its bytes.
	hashed = regexp.MustCompile(`\.[0-9a-f]{12}\.`)
)

// lined gives each element a line.
func lined(html string) string { return strings.ReplaceAll(html, "><", ">\n<") + "\n" }

// tab is one tab of a browser for many pages.
type tab struct {
	ctx      context.Context
	problems func() []string
	stop     func()
}

func newTab(t *testing.T, chromium, within string) *tab {
	t.Helper()
	ctx, stop := browse.Open(t, chromium)
	b := &tab{ctx: ctx, stop: stop}
	b.problems = browse.Listen(ctx, within)
	if _, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		t.Fatal(err)
	}
	// Scrolling is at its end at once.
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 900)); err != nil {
		t.Fatal(err)
	}
	return b
}

func evaluate[T any](t *testing.T, b *tab, script string, options ...chromedp.EvaluateOption) T {
	t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script, options...))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (b *tab) navigate(t *testing.T, address string) {
	t.Helper()
	if err := chromedp.Do(b.ctx, browse.Navigate(address)); err != nil {
		t.Fatalf("%s: %v", address, err)
	}
}

// atlasPages are the documents of the atlas that are pages to read.
func atlasPages(t *testing.T, dir string) []string {
	t.Helper()
	var pages []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".html") && name != "404.html" && name != "index.html" && !redirects(harness.ReadFile(t, dir, name)) {
			pages = append(pages, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// redirects tells pages that only lead to another.
func redirects(document string) bool { return strings.Contains(document, `http-equiv="refresh"`) }

// TestAtlasInABrowser opens every page from the folder. Nothing of what a
// hostile page tries may run, nothing may move after it was painted (half of what
// web.dev calls good, 0.1: scripts pick among views), no id may
// stand twice, and no page may be wider than the window.
func TestAtlasInABrowser(t *testing.T) {
	chromium := browse.Chromium(t)
	dir := harness.Unpack(t, atlas(t))
	b := newTab(t, chromium, "file://"+dir)
	_, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		window.shift = 0;
		window.shifted = [];
		new PerformanceObserver(l => { for (const e of l.getEntries()) if (!e.hadRecentInput) {
			window.shift += e.value;
			const at = r => [r.x, r.y, r.width, r.height].map(Math.round).join(" ");
			for (const s of e.sources) window.shifted.push((s.node ? (s.node.outerHTML || s.node.data || "").slice(0, 60) : "?") + " from " + at(s.previousRect) + " to " + at(s.currentRect));
		} })
			.observe({ type: "layout-shift", buffered: true });`})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range atlasPages(t, dir) {
		b.navigate(t, "file://"+filepath.Join(dir, name))
		faults := evaluate[[]string](t, b, `new Promise(done => setTimeout(() => {
			const faults = [];
			if (window.hostile !== undefined) faults.push("the author's script " + window.hostile + " ran");
			if (window.shift > 0.05) faults.push("the layout moved by " + window.shift + ": " + window.shifted.join(" | "));
			if (!document.querySelector(".prose > .bdy-beside") != !document.querySelector(".bdy-has-beside")) faults.push("the layout does not know what stands beside the text");
			const over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
			if (over > 1) faults.push("it is " + over + " pixels too wide");
			const ids = new Set();
			for (const e of document.querySelectorAll("[id]")) { if (ids.has(e.id)) faults.push("the id " + e.id + " stands twice"); ids.add(e.id); }
			for (const e of document.querySelectorAll("*:not(svg[aria-roledescription], svg[aria-roledescription] *, bindery-live *)")) for (const a of e.attributes) { // not what Mermaid's own runtime or an author's component draws
				if (a.name.startsWith("on")) faults.push(e.localName + " has the handler " + a.name);
				if (a.name == "style") faults.push(e.localName + " has a style of its own: " + a.value);
				if (/^\s*javascript:/i.test(a.value)) faults.push(e.localName + " leads to " + a.value);
			}
			for (const s of document.scripts) if (!s.src && s.type != "application/ld+json") faults.push("a script stands in the page: " + s.text.slice(0, 80));
			done(faults);
		}, 250))`, chromedp.EvalAwaitPromise)
		for _, f := range faults {
			t.Errorf("%s: %s", name, f)
		}
	}
	b.stop()
	for _, p := range b.problems() {
		// What the pages ask for that is not there, and is reported, or is elsewhere.
		if strings.Contains(p, "ERR_FILE_NOT_FOUND") || strings.Contains(p, "player.example") || strings.Contains(p, "atlas.example") ||
			strings.Contains(p, "ERR_NAME_NOT_RESOLVED") || strings.Contains(p, "ERR_INTERNET_DISCONNECTED") {
			continue
		}
		t.Error(p)
	}
}

// TestAtlasWithoutJavaScript asserts that every word of every page can be seen
// or unfolded where scripts do not run.
func TestAtlasWithoutJavaScript(t *testing.T) {
	chromium := browse.Chromium(t)
	dir := harness.Unpack(t, atlas(t))
	b := newTab(t, chromium, "file://"+dir)
	defer b.stop()
	if _, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	for _, name := range atlasPages(t, dir) {
		b.navigate(t, "file://"+filepath.Join(dir, name))
		hidden := evaluate[[]string](t, b, `(() => {
			const hidden = [];
			const article = document.querySelector("article, main");
			if (!article) return ["there is no article"];
			for (const d of article.querySelectorAll("details")) d.open = true;
			const walk = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
			for (let n; n = walk.nextNode();) {
				let e = n.parentElement;
				while (getComputedStyle(e).display === "contents") e = e.parentElement; // it has no box of its own
				if (!n.data.trim() || e.closest("script, style, template, title, desc, annotation, .bdy-tooltip-tip, .sr-only, .only-dark, .only-light, .visually-hidden, [hidden], svg, button")) continue;
				if (!e.checkVisibility({ visibilityProperty: true, opacityProperty: true })) hidden.push(n.data.trim().slice(0, 60) + " in " + e.outerHTML.slice(0, 120));
			}
			return hidden.slice(0, 10);
		})()`)
		for _, h := range hidden {
			t.Errorf("%s: not to be seen without scripts: %s", name, h)
		}
	}
}

// TestAtlasByKeyboard walks through pages with the Tab key: what has the focus
// can be seen, in the window, with a mark around it.
func TestAtlasByKeyboard(t *testing.T) {
	chromium := browse.Chromium(t)
	dir := harness.Unpack(t, atlas(t))
	b := newTab(t, chromium, "file://"+dir)
	defer b.stop()
	for _, name := range []string{"en/v2/guides/odd.html", "ar/v2/install.html", "en/v2/guides/code.html", "modes/custom.html"} {
		b.navigate(t, "file://"+filepath.Join(dir, name))
		seen := map[string]bool{}
		for range 150 {
			if err := chromedp.Do(b.ctx, chromedp.KeyEvent("\t")); err != nil {
				t.Fatal(err)
			}
			at := evaluate[struct{ What, Fault string }](t, b, `(() => {
				const e = document.activeElement;
				if (!e || e == document.body) return { What: "", Fault: "" };
				const r = e.getBoundingClientRect(), what = e.outerHTML.slice(0, 100) + Math.round(r.x + scrollX) + "," + Math.round(r.y + scrollY);
				let fault = "";
				if (!e.checkVisibility({ visibilityProperty: true })) fault = "it can't be seen";
				else if (r.bottom < 1 || r.top > innerHeight - 1 || r.right < 1 || r.left > innerWidth - 1) fault = "it is outside the window";
				else {
					// A link that spans its card marks the card.
					let marked = false;
					for (let p = e, i = 0; p && i < 4; p = p.parentElement, i++) {
						const s = getComputedStyle(p);
						if (s.outlineStyle != "none" && parseFloat(s.outlineWidth) > 0) marked = true;
					}
					if (!marked) fault = "nothing marks the focus";
				}
				return { What: what, Fault: fault };
			})()`)
			if at.What == "" || seen[at.What] {
				break
			}
			seen[at.What] = true
			if at.Fault != "" {
				t.Errorf("%s: the focus is on %s: %s", name, at.What, at.Fault)
			}
		}
		if len(seen) < 10 {
			t.Errorf("%s: the Tab key reaches %d places only", name, len(seen))
		}
	}
}
