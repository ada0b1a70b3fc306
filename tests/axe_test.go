package tests

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/tests/outside"
)

// axeRun asks axe-core for what breaks WCAG 2.2 AA or its best practices, with
// every menu and tip as a reader finds them. Which levels an author's headings
// have and what stands in the head of a table are the author's own; frames of
// other sites are not ours either.
const axeRun = `axe.run(document, {
	runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
	rules: {"target-size": {enabled: true}, "heading-order": {enabled: false}, "empty-table-header": {enabled: false}}, iframes: false,
}).then(r => r.violations.map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.target.join(" ") + " (" + n.failureSummary.split("\n").slice(1, 2).join().trim() + ")").join(", ")).join("\n"))`

// maxShift is half of what browsers call a good page.
const maxShift = 0.05

// layoutShift is how far things moved while the page loaded, by the browser's
// own measure; fonts that arrive late must not move a line.
const layoutShift = `new Promise(done => {
	let sum = 0;
	new PerformanceObserver(l => { for (const e of l.getEntries()) sum += e.value; }).observe({type: "layout-shift", buffered: true});
	document.fonts.ready.then(() => setTimeout(() => done(sum), 50));
})`

// tabWalk presses nothing: it focuses each thing that Tab would reach, in order,
// and names those that a reader would not see then (WCAG 2.2, 2.4.7 and 2.4.11).
const tabWalk = `(() => {
	const faults = [], bar = document.querySelector("header.top");
	for (const e of document.querySelectorAll("a[href], button, summary, input, select, textarea, [tabindex]")) {
		if (e.tabIndex < 0 || !e.checkVisibility({visibilityProperty: true})) continue;
		e.focus();
		if (document.activeElement != e) continue;
		e.scrollIntoView({block: "nearest"});
		const r = e.getBoundingClientRect(), b = bar ? bar.getBoundingClientRect() : r;
		if (r.width < 1 || r.height < 1) faults.push("no size: " + e.outerHTML.slice(0, 80));
		else if (bar && !e.closest("header.top, .skip") && r.bottom <= b.bottom && r.top >= b.top) faults.push("behind the header: " + e.outerHTML.slice(0, 80));
	}
	document.activeElement.blur();
	scrollTo(0, 0);
	return faults.join("; ");
})()`

// moving names what still moves although the reader asked for less motion.
const moving = `[...document.querySelectorAll("*")].filter(e => { const s = getComputedStyle(e); return s.transitionDuration.split(", ").some(d => d != "0s") || s.animationName != "none"; }).map(e => e.outerHTML.slice(0, 60)).slice(0, 3).join("; ")`

// living waits until the components of a page live, as readers meet them; a page
// that has none waits for nothing. What doesn't come to live is the fault of a
// test of components, and axe-core looks at it as it is.
const living = `new Promise(done => {
	const look = n => n == 0 || !document.querySelector("bindery-island:not([data-live])") ? done("") : setTimeout(look, 20, n - 1);
	look(250);
})`

// axeLook is a way in which axe-core sees a page.
type axeLook struct {
	name          string
	width, height int64
	dark, forced  bool // forced: the system's few colours alone
}

var axeLooks = [...]axeLook{
	{"light", 1440, 1000, false, false},
	{"dark", 1440, 1000, true, false},
	{"phone", 390, 844, false, false},
	{"dark phone", 390, 844, true, false},
}

// set makes the browser show pages in this look, to readers who want little motion.
func (l *axeLook) set(ctx context.Context) error {
	scheme, forced := "light", "none"
	if l.dark {
		scheme = "dark"
	}
	if l.forced {
		forced = "active"
	}
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}, {Name: "forced-colors", Value: forced},
	}})
	if err == nil {
		_, err = chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	}
	if err == nil {
		err = chromedp.Do(ctx, chromedp.EmulateViewport(l.width, l.height))
	}
	return err
}

// bigSection writes a site whose one section has more pages than a sidebar
// shows at once.
func bigSection(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	groups := make([]any, 5)
	for g := range groups {
		pages := make([]any, 80)
		for p := range pages {
			name := fmt.Sprintf("g%d/p%d", g, p)
			text := fmt.Sprintf("---\ntitle: Page %d of %d\ndescription: One of many.\n---\n\n## A heading\n\nText.\n", p, g)
			if err := os.MkdirAll(filepath.Join(dir, path.Dir(name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name+".mdx"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			pages[p] = name
		}
		groups[g] = map[string]any{"group": fmt.Sprintf("Group %d", g), "pages": pages}
	}
	config, err := json.Marshal(map[string]any{"name": "Big", "theme": "mint", "colors": map[string]string{"primary": "#c2410c"}, "navigation": map[string]any{"groups": groups}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "docs.json"), config, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// axeSource is the text of axe-core, ready for axeRun behind it.
func axeSource(t *testing.T) string {
	t.Helper()
	axe, err := os.ReadFile(outside.Tool(t, "axe-core", "npm", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(axe) + ";"
}

// TestAxeFindsNothing opens pages of every kind in light and dark, on a desk and
// on a phone, and lets axe-core look at each: all of Bindery's own documentation,
// the sites "hard" and "atlas" (modes, languages, a script that is written from
// right to left, hidden and hostile pages), the site "islands" (components that
// live, and those that fail), and some of a large section.
func TestAxeFindsNothing(t *testing.T) {
	chromium, axe := browser(t), axeSource(t)
	for name, source := range map[string]string{
		"docs":    filepath.Join(outside.Checkout(t), "infra", "docs"),
		"hard":    filepath.Join(outside.Checkout(t), "tests", "testdata", "hard"),
		"atlas":   filepath.Join(outside.Checkout(t), "tests", "testdata", "atlas"),
		"islands": filepath.Join(outside.Checkout(t), "tests", "testdata", "islands"),
		"big":     bigSection(t),
	} {
		t.Run(name, func(t *testing.T) {
			dir := unpack(t, source)
			var pages []string
			err := fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
				if err == nil && path.Ext(p) == ".html" {
					b, readErr := os.ReadFile(filepath.Join(dir, p))
					// A page that leads on at once can't be looked at; of a
					// large section some pages are enough.
					if readErr == nil && !strings.Contains(string(b), `http-equiv="refresh"`) &&
						(name != "big" || strings.HasPrefix(p, "bindery/") || !strings.HasPrefix(path.Base(p), "p") || p == "g1/p40.html") {
						pages = append(pages, p)
					}
				}
				return err
			})
			if err != nil || len(pages) < 2 {
				t.Fatalf("%d pages (%v)", len(pages), err)
			}
			ctx, stop := newBrowser(t, chromium, 10*time.Minute)
			defer stop()
			looks := axeLooks[:]
			if name == "docs" { // many pages: each colour and each width once
				looks = []axeLook{axeLooks[0], axeLooks[3]}
			}
			for _, look := range looks {
				if err := look.set(ctx); err != nil {
					t.Fatal(err)
				}
				for _, page := range pages {
					if err := chromedp.Do(ctx, chromedp.Navigate("file://"+filepath.Join(dir, page))); err != nil {
						t.Fatalf("%s (%s): %v", page, look.name, err)
					}
					shift, err := chromedp.Run(ctx, chromedp.Evaluate[float64](layoutShift, chromedp.EvalAwaitPromise))
					if err != nil || shift > maxShift {
						t.Errorf("%s (%s): the page jumps by %.3f (%v)", page, look.name, shift, err)
					}
					if _, err := chromedp.Run(ctx, chromedp.Evaluate[string](living, chromedp.EvalAwaitPromise)); err != nil {
						t.Fatalf("%s (%s): %v", page, look.name, err)
					}
					faults, err := chromedp.Run(ctx, chromedp.Evaluate[string](axe+axeRun, chromedp.EvalAwaitPromise))
					if err != nil || faults != "" {
						t.Errorf("%s (%s): %s (%v)", page, look.name, faults, err)
					}
					if faults, err = chromedp.Run(ctx, chromedp.Evaluate[string](tabWalk)); err != nil || faults != "" {
						t.Errorf("%s (%s): keyboard: %s (%v)", page, look.name, faults, err)
					}
					if faults, err = chromedp.Run(ctx, chromedp.Evaluate[string](moving)); err != nil || faults != "" {
						t.Errorf("%s (%s): moves: %s (%v)", page, look.name, faults, err)
					}
				}
			}
			t.Logf("%d pages, each in %d looks", len(pages), len(looks))
		})
	}
}
