package browser

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
	"github.com/bindery-docs/bindery/tests/outside"
)

// realPages maps real sites to the number of pages that axe-core checks, forty in
// total. Without BINDERY_FULL it checks four pages of each site, each in another look,
// and none larger than largePage: a page of 1 MB takes axe-core 15 seconds.
var realPages = map[string]int{"mcp": 13, "novu": 13, "trigger": 14}

// largePage is the size in bytes from which a page is left out of the sample.
const largePage = 256 << 10

// axeReal is axeRun without what authors did to colours by class names of their own,
// which no theme may change.
var axeReal = strings.Replace(browse.AxeRun, "r.violations", `r.violations.map(v => ({...v, nodes: v.nodes.filter(n => {
	for (let e = v.id == "color-contrast" && document.querySelector(n.target[0]); e; e = e.parentElement)
		if (/(^|[ :])text-[a-z]+-\d/.test(e.className)) return false;
	return true;
})})).filter(v => v.nodes.length)`, 1)

// TestAxeOnRealPages lets axe-core look at forty pages of real sites: in light, dark,
// on a phone, and in the few colours that a system forces on pages. Where all that
// pages are made of has been seen, it begins anew.
func TestAxeOnRealPages(t *testing.T) {
	chromium := browse.Chromium(t)
	corpora := outside.Folder(t, "corpora")
	axe := browse.AxeSource(t)
	looks := [...]browse.AxeLook{
		browse.AxeLooks[0], browse.AxeLooks[1], browse.AxeLooks[2],
		{Name: "forced colours", Width: 1440, Height: 1000, Forced: true},
	}
	for name, count := range realPages {
		t.Run(name, func(t *testing.T) {
			dir := harness.Unpack(t, filepath.Join(corpora, name))
			t.Parallel()
			if !outside.Full() {
				count = 4
			}
			pages := variedPages(t, dir, count)
			ctx, stop := browse.Open(t, chromium)
			defer stop()
			for n, look := range looks {
				run := axeReal
				if look.Forced { // axe-core sees the page's colours then, readers the system's
					run = strings.Replace(run, "rules: {", `rules: {"color-contrast": {enabled: false}, `, 1)
				}
				if err := look.Set(ctx); err != nil {
					t.Fatal(err)
				}
				for i, page := range pages {
					if !outside.Full() && i%len(looks) != n {
						continue
					}
					err := chromedp.Do(ctx, chromedp.Navigate("file://"+filepath.Join(dir, page)))
					if err == nil {
						_, err = chromedp.Run(ctx, chromedp.Evaluate[string](living, chromedp.EvalAwaitPromise))
					}
					if err != nil {
						t.Fatalf("%s (%s): %v", page, look.Name, err)
					}
					if faults, err := chromedp.Run(ctx, chromedp.Evaluate[string](axe+run, chromedp.EvalAwaitPromise)); err != nil || faults != "" {
						t.Errorf("%s (%s): %s (%v)", page, look.Name, faults, err)
					}
				}
			}
		})
	}
}

var (
	articlePart  = regexp.MustCompile(`(?s)<main.*</main>`)
	elementClass = regexp.MustCompile(`<[a-z0-9]+(?: class="[^ "]*)?`)
)

// variedPages chooses pages of a bundle, one after the other: always that with the
// most kinds of elements that none before it has.
func variedPages(t *testing.T, dir string, count int) []string {
	t.Helper()
	kinds := map[string][]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || path.Ext(p) != ".html" {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, p))
		if !strings.Contains(string(b), `http-equiv="refresh"`) && (outside.Full() || len(b) < largePage) {
			found := elementClass.FindAllString(string(articlePart.Find(b)), -1)
			slices.Sort(found)
			kinds[p] = slices.Compact(found)
		}
		return err
	})
	if err != nil || len(kinds) < count {
		t.Fatalf("%d pages (%v)", len(kinds), err)
	}
	var chosen []string
	seen := map[string]bool{}
	for len(chosen) < count {
		best, most := "", 0
		for _, p := range slices.Sorted(maps.Keys(kinds)) {
			fresh := 0
			for _, kind := range kinds[p] {
				if !seen[kind] {
					fresh++
				}
			}
			if fresh > most {
				best, most = p, fresh
			}
		}
		if most == 0 {
			clear(seen)
			continue
		}
		chosen = append(chosen, best)
		for _, kind := range kinds[best] {
			seen[kind] = true
		}
		delete(kinds, best)
	}
	return chosen
}
