package browser

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
	"github.com/bindery-docs/bindery/tests/outside"
)

// maxShift is half of what browsers call a good page.
const maxShift = 0.05

// layoutShift is how far things moved while the page loaded, by the browser's
// own measure; fonts that arrive late must not move a line.
const layoutShift = `new Promise(done => {
	let sum = 0;
	new PerformanceObserver(l => { for (const e of l.getEntries()) sum += e.value; }).observe({type: "layout-shift", buffered: true});
	document.fonts.ready.then(() => setTimeout(() => done(sum), 50));
})`

// moving names what still moves although the reader asked for less motion.
const moving = `[...document.querySelectorAll("*")].filter(e => { const s = getComputedStyle(e); return s.transitionDuration.split(", ").some(d => d != "0s") || s.animationName != "none"; }).map(e => e.outerHTML.slice(0, 60)).slice(0, 3).join("; ")`

// living waits until the components of a page live, as readers meet them; a page
// that has none waits for nothing. What doesn't come to live is the fault of a
// test of components, and axe-core looks at it as it is.
const living = `new Promise(done => {
	const look = n => n == 0 || !document.querySelector("bindery-island:not([data-live])") ? done("") : setTimeout(look, 20, n - 1);
	document.fonts.ready.then(() => look(250));
})`

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

// TestAxeFindsNothing opens pages of every kind in light and dark, on a desk and
// on a phone, and lets axe-core look at each: all of Bindery's own documentation,
// the sites "hard" and "atlas" (modes, languages, a script that is written from
// right to left, hidden and hostile pages), the site "islands" (components that
// live, and those that fail), and some of a large section. make test-all has each
// page in every look. Other runs have each in one look, and of the documentation and
// of "atlas" the twelve pages that differ most.
func TestAxeFindsNothing(t *testing.T) {
	chromium, axe := browse.Chromium(t), browse.AxeSource(t)
	for name, source := range map[string]string{
		"docs":    filepath.Join(outside.Checkout(t), "infra", "docs"),
		"hard":    filepath.Join(outside.Checkout(t), "tests", "browser", "testdata", "hard"),
		"atlas":   filepath.Join(outside.Checkout(t), "tests", "browser", "testdata", "atlas"),
		"islands": filepath.Join(outside.Checkout(t), "tests", "browser", "testdata", "islands"),
		"big":     bigSection(t),
	} {
		t.Run(name, func(t *testing.T) {
			dir := harness.Unpack(t, source)
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
			ctx, stop := browse.Open(t, chromium)
			defer stop()
			looks := browse.AxeLooks[:]
			if name == "docs" { // many pages: each colour and each width once
				looks = []browse.AxeLook{browse.AxeLooks[0], browse.AxeLooks[3]}
			}
			if !outside.Full() && (name == "docs" || name == "atlas") {
				pages = variedPages(t, dir, 12)
			}
			for n, look := range looks {
				if err := look.Set(ctx); err != nil {
					t.Fatal(err)
				}
				for i, page := range pages {
					if !outside.Full() && i%len(looks) != n {
						continue
					}
					if err := chromedp.Do(ctx, chromedp.Navigate("file://"+filepath.Join(dir, page))); err != nil {
						t.Fatalf("%s (%s): %v", page, look.Name, err)
					}
					shift, err := chromedp.Run(ctx, chromedp.Evaluate[float64](layoutShift, chromedp.EvalAwaitPromise))
					if err != nil || shift > maxShift {
						t.Errorf("%s (%s): the page jumps by %.3f (%v)", page, look.Name, shift, err)
					}
					if _, err := chromedp.Run(ctx, chromedp.Evaluate[string](living, chromedp.EvalAwaitPromise)); err != nil {
						t.Fatalf("%s (%s): %v", page, look.Name, err)
					}
					faults, err := chromedp.Run(ctx, chromedp.Evaluate[string](axe+browse.AxeRun, chromedp.EvalAwaitPromise))
					if err != nil || faults != "" {
						t.Errorf("%s (%s): %s (%v)", page, look.Name, faults, err)
					}
					if faults, err = chromedp.Run(ctx, chromedp.Evaluate[string](browse.TabWalk)); err != nil || faults != "" {
						t.Errorf("%s (%s): keyboard: %s (%v)", page, look.Name, faults, err)
					}
					if faults, err = chromedp.Run(ctx, chromedp.Evaluate[string](moving)); err != nil || faults != "" {
						t.Errorf("%s (%s): moves: %s (%v)", page, look.Name, faults, err)
					}
				}
			}
			t.Logf("%d pages, %d looks", len(pages), len(looks))
		})
	}
}
