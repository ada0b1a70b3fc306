package browser

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
	"github.com/bindery-docs/bindery/tests/outside"
)

// What meets readers on every site: a small one is exported, served under the
// policy, and used as they would.

// readersSite is such a site, as files by name.
var readersSite = map[string]string{
	"docs.json":         `{"name":"Readers","theme":"mint","colors":{"primary":"#0055aa"},"navigation":{"groups":[{"group":"Guides","pages":["guides/first","guides/second"]}]},"redirects":[{"source":"/old/place","destination":"/guides/second"}]}`,
	"guides/first.mdx":  "---\ntitle: First\n---\n\nThe [second](/guides/second) page, and [its file](/guides/data.zip).\n",
	"guides/second.mdx": "---\ntitle: Second\n---\n\nWords.\n",
	"guides/data.zip":   "PK",
}

// writeSite writes a site into a folder of its own.
func writeSite(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// until waits until a script is true on the page.
func until(t *testing.T, ctx context.Context, script string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	if err := browse.Until(ctx, script); err != nil {
		t.Error(err)
	}
}

// TestPagesAreFetchedAhead: a page whose link the pointer rests on is asked for,
// once, and no file is; nobody who saves data pays for that.
func TestPagesAreFetchedAhead(t *testing.T) {
	chromium := browse.Chromium(t)
	dir := harness.Unpack(t, writeSite(t, readersSite))
	var mu sync.Mutex
	var asked []string
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Sec-Purpose"), "prefetch") {
			mu.Lock()
			asked = append(asked, r.URL.Path)
			mu.Unlock()
		}
		w.Header().Set("Content-Security-Policy", strictPolicy)
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	rest := func(link string) string {
		return `document.querySelector('main a[href*="` + link + `"]').dispatchEvent(new PointerEvent("pointerover", {bubbles: true})), true`
	}
	for _, saves := range []bool{true, false} {
		ctx, stop := browse.Open(t, chromium)
		complaints := browse.Listen(ctx, server.URL)
		if err := chromedp.Do(ctx, browse.Navigate(server.URL+"/guides/first.html")); err != nil {
			t.Fatal(err)
		}
		if saves {
			until(t, ctx, `Object.defineProperty(navigator.connection, "saveData", {value: true}), navigator.connection.saveData`)
		}
		for _, link := range []string{"data.zip", "second", "data.zip", "second"} {
			until(t, ctx, rest(link))
			time.Sleep(200 * time.Millisecond) // as long as a pointer rests
		}
		stop()
		for _, c := range complaints() {
			t.Error(c)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 1 || asked[0] != "/guides/second.html" {
		t.Errorf("asked for %q ahead", asked)
	}
}

// TestFormulas: roots have a bar over all that they hold and brackets grow, on a
// machine without any font for that, from a server and from a folder.
func TestFormulas(t *testing.T) {
	chromium := browse.Chromium(t)
	dir := harness.Unpack(t, writeSite(t, map[string]string{
		"docs.json": `{"name":"Formulas","theme":"mint","colors":{"primary":"#0055aa"},"navigation":{"pages":["formulas","plain"]}}`,
		"formulas.mdx": "---\ntitle: Formulas\n---\n\nA half: $$\\frac{\\sqrt{\\pi}}{2}$$ of it.\n\n" +
			"$$\n\\begin{pmatrix} a & b \\\\ c & d \\\\ e & f \\end{pmatrix}\n$$\n\n" +
			"$$\n\\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2}\n$$\n\n" +
			"$$\n\\left( \\sum_{i=0}^{n} \\frac{\\sqrt{x_i^2 + 1}}{\\sqrt[3]{y}} \\right)^{2} \\le \\overline{AB} \\cdot \\underbrace{x + y}_{z} \\in \\mathbb{R}^n\n$$\n",
		"plain.mdx": "---\ntitle: Plain\n---\n\nWords.\n",
	}))
	server := browse.Policed(t, dir, strictPolicy)
	ctx, stop := browse.Open(t, chromium, chromedp.Env("FONTCONFIG_FILE="+systemFonts[4].configuration(t)))
	defer stop()
	for _, base := range []string{server.URL, "file://" + dir} {
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(1000, 700), browse.Navigate(base+"/formulas.html")); err != nil {
			t.Fatal(err)
		}
		until(t, ctx, `document.fonts.status === "loaded" && [...document.fonts].some(f => f.family.includes("Math") && f.status === "loaded")`)
		for _, formula := range []string{"math msqrt mi", "math mtable mi"} {
			if font := fontOf(t, ctx, formula); font != "Bindery Math" {
				t.Errorf("%s: set in %q", formula, font)
			}
		}
		// The bracket is as high as its three rows.
		until(t, ctx, `(m => m.querySelector("mo").getBoundingClientRect().height >= 0.9 * m.querySelector("mtable").getBoundingClientRect().height)(document.querySelector("math:has(mtable)"))`)
		browse.KeepPicture(t, ctx, "formulas", base[:4])
	}
	if strings.Contains(harness.ReadFile(t, dir, "plain.html"), "math") {
		t.Error("a page without formulas loads their font")
	}
	if plain, err := filepath.Glob(filepath.Join(harness.Unpack(t, writeSite(t, readersSite)), "bindery", "fonts", "math*")); err != nil || len(plain) > 0 {
		t.Errorf("a bundle without formulas has %q (%v)", plain, err)
	}
}

// TestRootIsTheFirstPage: who opens a site's root reads its first page, whose
// links work there and whose address is its own.
func TestRootIsTheFirstPage(t *testing.T) {
	outside.Long(t, "exports sites")
	dir := harness.Unpack(t, writeSite(t, readersSite))
	root, first := harness.ReadFile(t, dir, "index.html"), harness.ReadFile(t, dir, "guides/first.html")
	canonical := regexp.MustCompile(`<link rel="canonical"[^>]*>`)
	if got, want := canonical.FindString(root), canonical.FindString(first); got != want || want == "" {
		t.Errorf("the root's canonical address is %s, want %s", got, want)
	}
	for _, want := range []string{`>First</h1>`, `href="guides/second.html"`, `href="guides/data.zip"`, `aria-current="page"`, `data-bindery-copy-page="guides/first.md"`} {
		if !strings.Contains(root, want) {
			t.Errorf("the root has no %s", want)
		}
	}
	if strings.Contains(root, `http-equiv="refresh"`) || strings.Contains(root, `"../`) {
		t.Error("the root leads elsewhere")
	}
	if sitemap := harness.ReadFile(t, dir, "sitemap.xml"); strings.Count(sitemap, "<loc>") != 2 {
		t.Errorf("the map of the site has other pages than the two: %s", sitemap)
	}
}

// TestSidebarStays: the row that a reader clicks stays in its place, and so does
// what was opened; nothing that can be clicked lies in a summary.
func TestSidebarStays(t *testing.T) {
	chromium := browse.Chromium(t)
	files := map[string]string{"group/root.mdx": "---\ntitle: Root\n---\n\nWords.\n"}
	pages := ""
	for n := range 60 {
		name := "p/page-" + strconv.Itoa(n)
		files[name+".mdx"] = "---\ntitle: Page " + strconv.Itoa(n) + "\n---\n\nWords.\n"
		pages += `,"` + name + `"`
	}
	files["p/in.mdx"], files["p/folded.mdx"] = files["p/page-1.mdx"], files["p/page-2.mdx"]
	files["docs.json"] = `{"name":"Long","theme":"mint","colors":{"primary":"#0055aa"},"navigation":{"groups":[{"group":"All","pages":[` +
		`{"group":"Folded","pages":["p/folded"]},{"group":"Paired","root":"group/root","pages":["p/in"]}` + pages + `]}]}}`
	dir := harness.Unpack(t, writeSite(t, files))
	ctx, stop := browse.Open(t, chromium)
	defer stop()
	for _, base := range []string{browse.Policed(t, dir, strictPolicy).URL, "file://" + dir} {
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(1440, 700), browse.Navigate(base+"/p/page-0.html")); err != nil {
			t.Fatal(err)
		}
		until(t, ctx, `document.querySelectorAll("summary a, summary button").length === 0 && document.querySelector(".bdy-nav-pair > a + details > summary").getAttribute("aria-label") === "Paired"`)
		until(t, ctx, `document.querySelector(".bdy-sidebar li:not(.bdy-nav-pair) > details > summary").click(), document.querySelector(".bdy-sidebar details").open`)
		until(t, ctx, `(bar => (bar.scrollTop = 900, bar.scrollTop === 900))(document.getElementById("bindery-sidebar"))`)
		before, err := chromedp.Run(ctx, chromedp.Evaluate[float64](`(a => { const y = a.getBoundingClientRect().top; a.click(); return y; })(document.querySelector('.bdy-sidebar a[href$="page-40.html"]'))`))
		if err != nil {
			t.Fatal(err)
		}
		until(t, ctx, `document.readyState === "complete" && location.pathname.endsWith("page-40.html")`)
		until(t, ctx, `document.querySelector(".bdy-sidebar details").open`)
		after, err := chromedp.Run(ctx, chromedp.Evaluate[float64](`document.querySelector('.bdy-sidebar a[aria-current=page]').getBoundingClientRect().top`))
		if err != nil || after-before > 1 || before-after > 1 {
			t.Errorf("%s: the row was at %.0f and is at %.0f (%v)", base, before, after, err)
		}
		browse.KeepPicture(t, ctx, "sidebar", base[:4])
	}
	if err := chromedp.Do(ctx, chromedp.Navigate("file://"+dir+"/group/root.html")); err != nil {
		t.Fatal(err)
	}
	until(t, ctx, `document.querySelector(".bdy-nav-pair > a").ariaCurrent === "page" && document.querySelector(".bdy-nav-pair > a").getBoundingClientRect().top > 60 && document.querySelector(".bdy-nav-pair > details").open`)
	browse.KeepPicture(t, ctx, "sidebar", "pair")
}

// TestLostReaders: an old address keeps its query and its fragment, and one that
// never was has home, sections, and a search for its words.
func TestLostReaders(t *testing.T) {
	chromium := browse.Chromium(t)
	dir := harness.Unpack(t, writeSite(t, readersSite))
	files, policy := http.FileServer(http.Dir(dir)), browse.StatedPolicy(t, dir)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		if _, err := os.Stat(filepath.Join(dir, r.URL.Path)); err != nil {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(harness.ReadFile(t, dir, "404.html")))
			return
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	ctx, stop := browse.Open(t, chromium)
	complaints := browse.Listen(ctx, "")
	for _, base := range []string{server.URL, "file://" + dir} {
		for _, more := range []string{"?v=2#part", "#part", ""} {
			if err := chromedp.Do(ctx, browse.Navigate(base+"/guides/first.html")); err != nil {
				t.Fatal(err)
			}
			until(t, ctx, `location.assign("../old/place.html`+more+`"), true`) // its load never ends
			until(t, ctx, `location.href.endsWith("/guides/second.html`+more+`")`)
		}
		if err := chromedp.Do(ctx, browse.Navigate(base+"/index.html?q=second+page")); err != nil {
			t.Fatal(err)
		}
		until(t, ctx, `document.querySelector(".bdy-search-dialog[open] input").value === "second page" && document.querySelectorAll(".bdy-search-dialog [role=option]").length > 0`)
	}
	stop()
	for _, c := range complaints() {
		if !strings.Contains(c, "ERR_ABORTED") { // of the page that was left
			t.Error(c)
		}
	}
	ctx, stop = browse.Open(t, chromium)
	defer stop()
	if err := chromedp.Do(ctx, browse.Navigate(server.URL+"/guides/the-third_one.html")); err != nil {
		t.Fatal(err)
	}
	until(t, ctx, `document.querySelector("input[name=q]").value === "guides the third one"`)
	until(t, ctx, `[...document.querySelectorAll("a")].map(a => a.textContent + " " + a.pathname).join() === "Readers /,Back to the start /,Guides /guides/first.html"`)
	browse.KeepPicture(t, ctx, "lost", "light")
}

// TestHeaderWhileReading: it has one row then, at most 15% of the window, and
// nothing moves for that; text of wide pages has lines that can be read, and
// custom pages have no rules for text.
func TestHeaderWhileReading(t *testing.T) {
	chromium := browse.Chromium(t)
	words := strings.Repeat("Some words that fill a few lines of the page. ", 12) + "\n\n"
	dir := harness.Unpack(t, writeSite(t, map[string]string{
		"docs.json": `{"name":"Tabs","theme":"mint","colors":{"primary":"#0055aa"},"navigation":{"tabs":[{"tab":"One","pages":["long","wide","own"]},{"tab":"Two","pages":["other"]}]}}`,
		"long.mdx":  "---\ntitle: Long\n---\n\n" + strings.Repeat("## Part\n\n"+words, 12),
		"wide.mdx":  "---\ntitle: Wide\nmode: wide\n---\n\n" + words,
		"own.mdx":   "---\ntitle: Own\nmode: custom\n---\n\n" + words,
		"other.mdx": "---\ntitle: Other\n---\n\n" + words,
	}))
	ctx, stop := browse.Open(t, chromium)
	defer stop()
	for _, height := range []int64{700, 380} {
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(1440, height), chromedp.Navigate("file://"+dir+"/long.html")); err != nil {
			t.Fatal(err)
		}
		browse.KeepPicture(t, ctx, "header", "top"+strconv.FormatInt(height, 10))
		until(t, ctx, `window.was = document.querySelector("h2").getBoundingClientRect().top + scrollY, scrollTo({top: 900, behavior: "instant"}), scrollY === 900`)
		until(t, ctx, `(y => document.elementsFromPoint(700, y).every(e => !e.closest(".bdy-top")))(0.15 * innerHeight)`)
		until(t, ctx, `Math.abs(document.querySelector("h2").getBoundingClientRect().top + scrollY - was) < 1`)
		browse.KeepPicture(t, ctx, "header", strconv.FormatInt(height, 10))
	}
	if err := chromedp.Do(ctx, chromedp.Navigate("file://"+dir+"/wide.html")); err != nil {
		t.Fatal(err)
	}
	until(t, ctx, `(p => { const r = document.createRange(); r.selectNodeContents(p); const lines = r.getClientRects().length, n = p.textContent.length / lines; return n > 60 && n < 86; })(document.querySelector(".prose > p"))`)
	if own := harness.ReadFile(t, dir, "own.html"); strings.Contains(own, `"prose"`) {
		t.Error("a custom page has our rules for text")
	}
}

// TestManyTabs: more tabs than fit don't make the page wider than the window, and
// their menus can be seen and reached.
func TestManyTabs(t *testing.T) {
	chromium := browse.Chromium(t)
	files := map[string]string{}
	var tabs []string
	for i := range 14 {
		name := "page" + strconv.Itoa(i)
		files[name+".mdx"] = "---\ntitle: " + name + "\n---\n\nText\n"
		tabs = append(tabs, `{"tab":"Some long words `+strconv.Itoa(i)+`","menu":[{"item":"First","description":"What it has","pages":["`+name+`"]}]}`)
	}
	files["docs.json"] = `{"name":"Tabs","theme":"mint","colors":{"primary":"#0055aa"},"navigation":{"tabs":[` + strings.Join(tabs, ",") + `]}}`
	dir := harness.Unpack(t, writeSite(t, files))
	ctx, stop := browse.Open(t, chromium)
	defer stop()
	for _, width := range []int64{1280, 900, 390} {
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 800), chromedp.Navigate("file://"+dir+"/page0.html")); err != nil {
			t.Fatal(err)
		}
		until(t, ctx, `document.documentElement.scrollWidth <= innerWidth`)
		until(t, ctx, `(m => { m.open = true; const l = m.querySelector("a").getBoundingClientRect();
			return document.elementFromPoint(l.left + 20, l.top + 10)?.closest(".bdy-menu") === m && l.top < 200; })(document.querySelector(".bdy-tabs-row .bdy-menu"))`)
		browse.KeepPicture(t, ctx, "tabs", strconv.FormatInt(width, 10))
	}
}

// TestCopyFromAFolder: without a server, too, the button copies Markdown, and
// none of the words of the interface.
func TestCopyFromAFolder(t *testing.T) {
	chromium := browse.Chromium(t)
	dir := harness.Unpack(t, writeSite(t, map[string]string{
		"docs.json": `{"name":"Copy","theme":"mint","colors":{"primary":"#0055aa"},"navigation":{"pages":["page"]}}`,
		"page.mdx": "---\ntitle: Page\n---\n\n## Part\n\nA **bold** [link](https://example.com) and `code`.\n\n- one\n- two\n\n```sh\nrun it\n```\n\n" +
			"| A | B |\n| - | - |\n| 1 | 2 |\n\n<Note>Mind this.</Note>\n",
	}))
	ctx, stop := browse.Open(t, chromium)
	defer stop()
	if err := chromedp.Do(ctx, chromedp.Navigate("file://"+dir+"/page.html")); err != nil {
		t.Fatal(err)
	}
	until(t, ctx, `navigator.clipboard.write = items => items[0].getType("text/plain").then(b => b.text()).then(s => { window.copied = s; }), document.querySelector("[data-bindery-copy-page]").click(), true`)
	until(t, ctx, `!!window.copied`)
	copied, err := chromedp.Run(ctx, chromedp.Evaluate[string](`copied`))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Page\n", "\n## Part\n", "A **bold** [link](https://example.com) and `code`.", "\n- one\n- two\n", "```\nrun it\n```", "| A | B |\n| --- | --- |\n| 1 | 2 |", "Mind this."} {
		if !strings.Contains(copied, want) {
			t.Errorf("no %q in:\n%s", want, copied)
		}
	}
	if strings.Contains(copied, "Copy") || strings.Contains(copied, "#Part") {
		t.Errorf("words of the interface in:\n%s", copied)
	}
}
