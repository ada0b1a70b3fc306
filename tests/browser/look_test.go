package browser

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
	"github.com/bindery-docs/bindery/tests/outside"
)

// strictPolicy is the content security policy that every page holds; a page
// with a diagram for Mermaid's own runtime needs inline styles besides, as
// bindery.json says.
const strictPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'"

// TestLookInABrowser: utility classes do what they say, drawings are shown in
// light and dark, and Mermaid draws what is left to it, all under the policy.
func TestLookInABrowser(t *testing.T) {
	chromium := browse.Chromium(t)
	source := t.TempDir()
	for name, text := range map[string]string{
		"docs.json": `{"name":"Look","theme":"mint","colors":{"primary":"#0055aa"},"navigation":{"pages":["classes","drawn","live"]}}`,
		"classes.mdx": "---\ntitle: Classes\n---\n\n<div id=\"night\" className=\"dark:hidden\">by day</div>\n\n" +
			"<div id=\"wide\" className=\"w-[800px]\">wide</div>\n\n<div id=\"own\" className=\"mine w-[300px]\">own</div>\n",
		"mine.css":  ".mine { width: 123px }\n",
		"drawn.mdx": "---\ntitle: Drawn\n---\n\n```mermaid\ngraph TD\nA[One] --> B[Two]\n```\n\n```mermaid\nsequenceDiagram\nA->>B: Hello\n```\n",
		"live.mdx":  "---\ntitle: Live\n---\n\n```mermaid\njourney\nsection A\nleft: 3: Me\nright: 5: Me\n```\n",
	} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Dir(harness.Unpack(t, source))
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		policy := strictPolicy
		if strings.HasSuffix(r.URL.Path, "/live.html") {
			policy = strings.Replace(policy, "style-src 'self'", "style-src 'self' 'unsafe-inline'", 1)
		}
		w.Header().Set("Content-Security-Policy", policy)
		files.ServeHTTP(w, r)
	}))
	defer server.Close()

	const (
		width  = `document.getElementById("%").getBoundingClientRect().width`
		shown  = `document.getElementById("night").offsetHeight > 0`
		stroke = `getComputedStyle(document.querySelector(".bdy-diagram .bdy-d-link")).stroke`
	)
	tests := []struct {
		page, look, scheme string
		// script must become true.
		script string
	}{
		{"classes.html", "light", "light", shown},
		{"classes.html", "dark", "dark", "!(" + shown + ")"},
		{"classes.html", "dark controls", "dark", `getComputedStyle(document.documentElement).colorScheme === "dark"`},
		{"classes.html", "widths", "light", strings.ReplaceAll(width, "%", "wide") + " === 800"},
		{"classes.html", "own styles win", "light", strings.ReplaceAll(width, "%", "own") + " === 123"},
		{"drawn.html", "light", "light", stroke + ` !== "none" && document.querySelectorAll(".bdy-diagram svg[role=img]").length === 2`},
		{"drawn.html", "dark", "dark", `(getComputedStyle(document.querySelector(".bdy-diagram text")).fill.match(/[0-9.]+/g)[0] > 128)`},
		{"live.html", "light", "light", `document.querySelectorAll(".bdy-diagram svg rect.task").length === 2`},
		{"live.html", "dark", "dark", `getComputedStyle(document.querySelector(".bdy-diagram svg text.legend")).fill.match(/[0-9.]+/g)[0] > 128`},
	}
	for _, tt := range tests {
		t.Run(tt.page+" "+tt.look, func(t *testing.T) {
			ctx, stop := browse.Open(t, chromium)
			defer stop()
			complaints := browse.Listen(ctx, server.URL)
			_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: tt.scheme}},
			})
			if err == nil {
				err = chromedp.Do(ctx, chromedp.EmulateViewport(1440, 1000), browse.Navigate(server.URL+"/docs/"+tt.page))
			}
			if err != nil {
				t.Fatal(err)
			}
			until(t, ctx, tt.script)
			browse.KeepPicture(t, ctx, "look-"+tt.page, tt.look)
			stop()
			for _, c := range complaints() {
				t.Error(c)
			}
		})
	}
}

// unreadable names what a reader of the article can't get at: words that are not
// shown although everything that opens is open.
const unreadable = `(() => {
	const hidden = [], walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
	for (const d of document.querySelectorAll("main details")) d.open = true;
	for (let n; n = walk.nextNode();) {
		const e = n.parentElement;
		if (!n.data.trim() || e.closest("script, style, template, .bdy-needs-js, .only-dark, .bdy-tooltip-tip, .bdy-contents-place, math, svg, video, audio, iframe")) continue;
		if (!e.checkVisibility({visibilityProperty: true, opacityProperty: true})) hidden.push(n.data.trim().slice(0, 40) + " in " + e.outerHTML.slice(0, 60));
	}
	return hidden.slice(0, 4).join("; ");
})()`

// unreachable names the divisions of the site and the pages of the sidebar that
// no click leads to: on narrow screens the sidebar opens by its button.
const unreachable = `(() => {
	const lost = [], box = document.getElementById("bindery-sidebar"), button = document.querySelector(".bdy-menu-button");
	if (box && !box.checkVisibility()) button.click();
	for (const d of document.querySelectorAll("nav details, header details")) d.open = true;
	for (const a of document.querySelectorAll("header.bdy-top a, nav.bdy-sidebar a, nav.bdy-pager a")) {
		if (!a.closest("#bindery-links") && (!a.checkVisibility() || !a.getAttribute("href"))) lost.push(a.outerHTML.slice(0, 80));
	}
	return lost.slice(0, 4).join("; ");
})()`

// printed names what should not be on paper and is, or the other way round.
const printed = `(() => {
	const wrong = [], shown = e => e.checkVisibility({visibilityProperty: true});
	for (const e of document.querySelectorAll("header.bdy-top, nav.bdy-sidebar, nav.bdy-contents, nav.bdy-pager, .bdy-actions, .bdy-contents-place, .bdy-copy, .bdy-playground")) if (shown(e)) wrong.push("on paper: " + e.outerHTML.slice(0, 60));
	for (const e of document.querySelectorAll("main .bdy-tab, .prose details > :not(summary), main .bdy-step-body, main pre")) if (!shown(e) && !e.closest(".bdy-playground")) wrong.push("not on paper: " + e.outerHTML.slice(0, 60));
	if (document.documentElement.scrollWidth > innerWidth + 1) wrong.push("wider than the paper");
	const root = document.documentElement, word = document.querySelector("main pre span[class]") || root;
	const look = dark => (root.classList.toggle("dark", dark), getComputedStyle(word).color + " of " + getComputedStyle(root).colorScheme);
	if (look(false) !== look(true)) wrong.push("paper of a dark screen has " + look(true));
	return wrong.slice(0, 4).join("; ");
})()`

// TestLinksOnPaper: paper has the address of each link to another site once, and tips.
func TestLinksOnPaper(t *testing.T) {
	outside.Long(t, "looks at a page in a browser")
	source := t.TempDir()
	for name, text := range map[string]string{
		"docs.json": `{"name":"Paper","theme":"mint","colors":{"primary":"#0055aa"},"navigation":{"pages":["index"]}}`,
		"index.mdx": "---\ntitle: Paper\n---\n\n[Site](https://example.com/a), https://example.com/b, [example.com](https://example.com/), " +
			"<a href=\"https://example.com/c\">https://example.com/c</a>, [here](/index), a <Tooltip tip=\"What it means\">word</Tooltip>.\n",
	} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dir := harness.Unpack(t, source)
	ctx, stop := browse.Open(t, browse.Chromium(t))
	defer stop()
	if err := chromedp.Do(ctx, chromedp.Navigate("file://"+filepath.Join(dir, "index.html"))); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ media, want string }{
		{"screen", "Site: none, https://example.com/b: none, example.com: none, https://example.com/c: none, here: none; false"},
		{"print", `Site: " (https://example.com/a)", https://example.com/b: none, example.com: none, https://example.com/c: none, here: none; true`},
	} {
		if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: tt.media}); err != nil {
			t.Fatal(err)
		}
		got, err := chromedp.Run(ctx, chromedp.Evaluate[string](`[...document.querySelectorAll(".prose a:not(.bdy-anchor)")].map(a => a.textContent + ": " + getComputedStyle(a, "::after").content).join(", ") +
			"; " + document.querySelector(".bdy-tooltip-tip").checkVisibility()`))
		if err != nil || got != tt.want {
			t.Errorf("on %s: %s, want %s (%v)", tt.media, got, tt.want, err)
		}
	}
}

// TestPagesWithoutTheirHelp: pages are whole where no script runs, on paper, and
// while their fonts are still on the way. Fonts are late on three of the pages, on all
// with make test-all.
func TestPagesWithoutTheirHelp(t *testing.T) {
	chromium := browse.Chromium(t)
	dir := harness.Unpack(t, filepath.Join(outside.Checkout(t), "infra", "docs"))
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".woff2") {
			time.Sleep(400 * time.Millisecond) // words are shown long before
		}
		w.Header().Set("Cache-Control", "no-store")
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	ctx, stop := browse.Open(t, chromium)
	defer stop()
	pages := []string{"index.html", "start/quickstart.html", "components/tabs.html", "components/accordions.html", "components/code.html", "api/start-export.html"}
	for _, tt := range []struct {
		name          string
		width, height int64
		media         string
		scriptless    bool
		question      string
	}{
		{"no script, read", 1440, 1000, "screen", true, unreadable},
		{"no script, go on", 1440, 1000, "screen", true, unreachable},
		{"no script, go on by phone", 390, 844, "screen", true, unreachable},
		{"paper", 700, 1000, "print", false, printed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: tt.media}); err != nil {
				t.Fatal(err)
			}
			if _, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: tt.scriptless}); err != nil {
				t.Fatal(err)
			}
			for _, page := range pages {
				if err := chromedp.Do(ctx, chromedp.EmulateViewport(tt.width, tt.height), chromedp.Navigate("file://"+filepath.Join(dir, page))); err != nil {
					t.Fatalf("%s: %v", page, err)
				}
				scripted, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.documentElement.classList.contains("bdy-js")`))
				if err != nil || scripted == tt.scriptless {
					t.Fatalf("%s: scripts run: %v (%v)", page, scripted, err)
				}
				if faults, err := chromedp.Run(ctx, chromedp.Evaluate[string](tt.question)); err != nil || faults != "" {
					t.Errorf("%s: %s (%v)", page, faults, err)
				}
			}
		})
	}
	for i, set := range systemFonts {
		pages := pages
		if !outside.Full() {
			pages = pages[i : i+1] // for each machine another page
		}
		t.Run("late fonts/"+set.name, func(t *testing.T) { lateFonts(t, chromium, server.URL, dir, pages, set) })
	}
}

// fontSet is what a reader's machine has of fonts: a folder of testdata/fonts,
// and what the names of no font in particular mean there.
type fontSet struct {
	name, sans, serif string
	standIns          bool // it has the fonts that stand-ins are made of
}

var systemFonts = []fontSet{
	{"arial", "Arimo", "Tinos", true},
	{"dejavu", "DejaVu Sans", "DejaVu Serif", false},
	{"noto", "Noto Sans", "Noto Serif", false},
	{"roboto", "Roboto", "Roboto", false},
	{"none", "Comic Neue", "Comic Neue", false}, // none that a stand-in could be measured for
}

// configuration writes what fontconfig reads of such a machine, and returns the
// file's name.
func (s fontSet) configuration(t *testing.T) string {
	t.Helper()
	fonts, err := filepath.Abs(filepath.Join("testdata", "fonts", s.name))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := "<?xml version=\"1.0\"?>\n<fontconfig><dir>" + fonts + "</dir><cachedir>" + dir + "</cachedir>"
	for _, generic := range [...][2]string{{"sans-serif", s.sans}, {"system-ui", s.sans}, {"monospace", s.sans}, {"serif", s.serif}} {
		text += "<alias><family>" + generic[0] + "</family><prefer><family>" + generic[1] + "</family></prefer></alias>"
	}
	name := filepath.Join(dir, "fonts.conf")
	if err := os.WriteFile(name, []byte(text+"</fontconfig>\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// clock is that of pages: each look at it is so many milliseconds after the one
// before as their address says.
const clock = `const step = +new URLSearchParams(location.search).get("step"); let time = 0; performance.now = () => time += step;`

// lateFonts reads pages whose fonts come after the first paint, on a machine
// with such fonts, and pages of a folder, which wait for theirs. A reader's first
// page shows fonts that come soon, unless its stand-ins are not there, and is
// left as it is by those that come late; the next page asks for them early.
func lateFonts(t *testing.T, chromium, address, dir string, pages []string, set fontSet) {
	ctx, stop := browse.Open(t, chromium, chromedp.Env("FONTCONFIG_FILE="+set.configuration(t)))
	defer stop()
	if _, err := chromedp.Call(ctx, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: clock}); err != nil {
		t.Fatal(err)
	}
	open := func(width int64, page, visit string, step int) {
		t.Helper()
		if visit == "first" {
			stored := storage.ClearDataForOriginParams{Origin: address, StorageTypes: "local_storage"}
			if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
				t.Fatal(err)
			}
			if _, err := chromedp.Call(ctx, storage.ClearDataForOrigin, stored); err != nil {
				t.Fatal(err)
			}
		}
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 1000), browse.Navigate(address+"/"+page+"?step="+strconv.Itoa(step))); err != nil {
			t.Fatalf("%s: %v", page, err)
		}
	}
	read := func(width int64, page, visit string, step int, wantShown bool) {
		t.Helper()
		open(width, page, visit, step)
		for n := 1; n < 5; n++ {
			until(t, ctx, fontsFailed+" || "+fontsCame)
			failed, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fontsFailed))
			if err == nil && !failed {
				break
			}
			// The browser drops the requests of a page when an interface of the machine's
			// network comes or goes, and a page asks for its fonts once.
			t.Logf("%s: the fonts did not come: again (%v)", page, err)
			open(width, page, visit, step)
		}
		until(t, ctx, fontsCame)
		shift, err := chromedp.Run(ctx, chromedp.Evaluate[float64](layoutShift, chromedp.EvalAwaitPromise))
		if err != nil || shift > maxShift {
			t.Errorf("%s, %s visit, %d pixels wide: the page jumps by %.3f (%v)", page, visit, width, shift, err)
		}
		shown, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.documentElement.className.includes("fonts")`))
		if err != nil || shown != wantShown {
			t.Errorf("%s, %s visit, fonts after %d ms: they are shown: %v (%v)", page, visit, step, shown, err)
		}
	}
	for _, width := range []int64{1440, 390} {
		for _, page := range pages {
			read(width, page, "first", 0, set.standIns)
		}
		read(width, pages[0], "first", 1000, false)
		read(width, pages[0], "next", 1000, true)
		early, err := chromedp.Run(ctx, chromedp.Evaluate[int](`document.querySelectorAll("link[rel=preload][as=font]").length`))
		if err != nil || early != 2 {
			t.Errorf("the second page asks for %d fonts early (%v)", early, err)
		}
		browse.KeepPicture(t, ctx, "fonts", set.name+strconv.FormatInt(width, 10))
	}
	for _, page := range pages[:min(3, len(pages))] {
		if err := chromedp.Do(ctx, chromedp.Navigate("file://"+filepath.Join(dir, page))); err != nil {
			t.Fatalf("%s: %v", page, err)
		}
		if font := fontOf(t, ctx, "h1"); font != "Bindery Serif" {
			t.Errorf("%s: from a folder the title is set in %s", page, font)
		}
	}
}

// Whether the fonts of a page came, and were noted for the next one, or failed.
const (
	fontsFailed = `[...document.fonts].some(f => f.status == "error" && !f.family.includes("Fallback"))`
	fontsCame   = `Object.keys(localStorage).some(k => k.endsWith(":fonts")) && [...document.fonts].filter(f => f.status == "loaded" && !f.family.includes("Fallback")).length >= 2`
)

// fontOf returns the font that the first element of a selector is shown in.
func fontOf(t *testing.T, ctx context.Context, selector string) string {
	t.Helper()
	fail := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := chromedp.Call(ctx, dom.Enable, dom.EnableParams{})
	fail(err)
	_, err = chromedp.Call(ctx, css.Enable, cdp.Empty{})
	fail(err)
	document, err := chromedp.Call(ctx, dom.GetDocument, dom.GetDocumentParams{})
	fail(err)
	node, err := chromedp.Call(ctx, dom.QuerySelector, dom.QuerySelectorParams{NodeID: document.Root.NodeID, Selector: selector})
	fail(err)
	used, err := chromedp.Call(ctx, css.GetPlatformFontsForNode, css.GetPlatformFontsForNodeParams{NodeID: node.NodeID})
	fail(err)
	if len(used.Fonts) == 0 {
		return ""
	}
	return used.Fonts[0].FamilyName
}
