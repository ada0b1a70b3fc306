package browser

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/shared/delivery/address"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestPhonesNeverScrollSideways: no page of the real sites, of the small sites that once
// showed a bug, and of the documentation is wider than a phone's window. make test-all
// looks at every page, other runs at a few of each site.
func TestPhonesNeverScrollSideways(t *testing.T) {
	outside.Long(t, "looks at pages in a browser")
	chromium := browse.Chromium(t)
	sites := []string{filepath.Join(outside.Checkout(t), "infra", "docs")}
	if corpora, ok := outside.Maybe(t, "corpora"); ok {
		for _, site := range []string{"mcp", "trigger", "novu"} {
			sites = append(sites, filepath.Join(corpora, site))
		}
	}
	if cases, ok := outside.Maybe(t, "cases", "sites"); ok && outside.Full() {
		folders, err := filepath.Glob(filepath.Join(cases, "*", "docs.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range folders {
			sites = append(sites, filepath.Dir(file))
		}
	}
	ctx, stop := browse.Open(t, chromium)
	defer stop()
	for _, source := range sites {
		name, dir := filepath.Base(source), harness.Unpack(t, source)
		pages := htmlFiles(t, dir)
		step := 1
		if !outside.Full() {
			step = max(1, len(pages)/6)
		}
		for i := 0; i < len(pages); i += step {
			for _, width := range []int64{390, 360} {
				if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 800)); err != nil {
					t.Fatal(err)
				}
				if width == 390 {
					if err := chromedp.Do(ctx, chromedp.Navigate("file://"+filepath.Join(dir, pages[i]))); err != nil {
						t.Fatalf("%s: %v", pages[i], err)
					}
				}
				got, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(() => {
					if (document.documentElement.scrollWidth <= innerWidth) return "";
					const wide = [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1);
					return document.documentElement.scrollWidth + ": " + wide.slice(-3).map(e => e.localName + "." + (e.className.baseVal ?? e.className)).join(" < ");
				})()`))
				if err != nil {
					t.Fatalf("%s: %v", pages[i], err)
				}
				if got != "" {
					t.Errorf("%s/%s at %d: %s", name, pages[i], width, got)
				}
			}
		}
	}
}

// htmlFiles lists the pages of an unpacked bundle without those that lead elsewhere.
func htmlFiles(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".html") || strings.HasPrefix(name, "bindery/") {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil && !address.IsStub(data) {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}
