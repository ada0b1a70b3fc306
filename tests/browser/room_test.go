package browser

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
	"github.com/bindery-docs/bindery/tests/outside"
)

// covered names the text that the page's contents lie over. A bar that hangs below
// the header and is as wide as the article ends the page as the header does; what
// covers a part of a line, or the sidebar, is a fault.
const covered = `(() => {
	const faults = [], head = document.querySelector("header.bdy-top").getBoundingClientRect().bottom, main = document.querySelector("main").getBoundingClientRect();
	const over = [...document.querySelectorAll(".bdy-contents, .bdy-contents-button")].filter(e => e.getClientRects().length && e.checkVisibility({visibilityProperty: true}));
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n; n = texts.nextNode();) {
		const e = n.parentElement;
		if (!n.data.trim() || !e.closest("main, .bdy-sidebar") || e.closest(".bdy-contents-button, .bdy-contents")) continue;
		const range = document.createRange();
		range.selectNodeContents(n);
		for (const r of range.getClientRects()) for (const o of over) {
			const b = o.getBoundingClientRect();
			if (b.left <= main.left + 1 && b.right >= main.right - 1 && b.top <= head + 1 && e.closest("main")) continue;
			const left = Math.max(r.left, b.left), right = Math.min(r.right, b.right), top = Math.max(r.top, b.top), bottom = Math.min(r.bottom, b.bottom);
			if (right - left < 1 || bottom - top < 1) continue;
			const there = document.elementsFromPoint((left + right) / 2, (top + bottom) / 2);
			if (there.includes(e) && there.some(x => o.contains(x))) faults.push(o.className + " over " + n.data.trim().slice(0, 40));
		}
	}
	return faults.slice(0, 3).join("; ");
})()`

// TestContentsCoverNoText: whatever the window's width and wherever the reader is,
// the list of what is on the page lies over no word; on real pages where there are
// some. make test-all tries more pages and widths.
func TestContentsCoverNoText(t *testing.T) {
	chromium := browse.Chromium(t)
	sites := map[string][]string{
		filepath.Join(outside.Checkout(t), "infra", "docs"): {"api/start-export.html", "authoring/settings.html"},
	}
	if corpora, ok := outside.Maybe(t, "corpora"); ok {
		sites[filepath.Join(corpora, "mcp")] = []string{"specification/2025-11-25/schema.html", "specification/2025-06-18/basic.html"}
		sites[filepath.Join(corpora, "trigger")] = []string{"management/runs/list.html", "tasks/overview.html"}
		sites[filepath.Join(corpora, "novu")] = []string{"platform/quickstart/react.html"}
	}
	widths := []int64{390, 760, 900, 1024, 1080, 1200, 1279, 1280, 1440, 1680, 1920}
	if !outside.Full() {
		widths = []int64{390, 900, 1080, 1279, 1440}
	}
	for source, pages := range sites {
		if !outside.Full() {
			pages = pages[:1]
		}
		t.Run(filepath.Base(source), func(t *testing.T) {
			dir := harness.Unpack(t, source)
			ctx, stop := browse.Open(t, chromium)
			defer stop()
			for _, page := range pages {
				if _, err := os.Stat(filepath.Join(dir, page)); err != nil {
					t.Fatal(err)
				}
				if err := chromedp.Do(ctx, chromedp.EmulateViewport(900, 900), chromedp.Navigate("file://"+filepath.Join(dir, page))); err != nil {
					t.Fatal(err)
				}
				for _, width := range widths {
					for _, place := range []string{"700", "document.documentElement.scrollHeight / 2", "document.documentElement.scrollHeight"} {
						var faults string
						err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900))
						if err == nil {
							faults, err = chromedp.Run(ctx, chromedp.Evaluate[string](`new Promise(done => {
								scrollTo({top: `+place+`, behavior: "instant"});
								requestAnimationFrame(() => requestAnimationFrame(() => done(`+covered+`)));
							})`, chromedp.EvalAwaitPromise))
						}
						if err != nil || faults != "" {
							t.Errorf("%s at %d pixels, scrolled to %s: %s (%v)", page, width, place, faults, err)
						}
					}
					if width == 390 || width == 1080 || width == 1920 {
						until(t, ctx, `scrollTo({top: 700, behavior: "instant"}), true`)
						browse.KeepPicture(t, ctx, "room-"+page, strconv.FormatInt(width, 10))
					}
				}
			}
		})
	}
}

// TestSamplesUseTheRoom: examples of a call stand beside its fields in a wide
// window, stay in sight, and are wider where the window is.
func TestSamplesUseTheRoom(t *testing.T) {
	chromium := browse.Chromium(t)
	dir := harness.Unpack(t, filepath.Join(outside.Checkout(t), "infra", "docs"))
	ctx, stop := browse.Open(t, chromium)
	defer stop()
	if err := chromedp.Do(ctx, chromedp.Navigate("file://"+filepath.Join(dir, "api", "start-export.html"))); err != nil {
		t.Fatal(err)
	}
	const box = `document.querySelector(".bdy-beside-box").getBoundingClientRect()`
	for _, window := range []struct {
		width int64
		least string // pixels of the samples
	}{{1280, "400"}, {1440, "400"}, {1680, "440"}, {1920, "540"}, {2560, "640"}} {
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(window.width, 900)); err != nil {
			t.Fatal(err)
		}
		until(t, ctx, `scrollTo({top: 600, behavior: "instant"}), (b => b.width >= `+window.least+` && b.left > document.querySelector(".bdy-field").getBoundingClientRect().right && b.right <= innerWidth && b.top > 0 && b.top < 120)(`+box+`)`)
		until(t, ctx, `document.documentElement.scrollWidth <= document.documentElement.clientWidth`)
		until(t, ctx, `window.was = `+box+`.top, scrollTo({top: 900, behavior: "instant"}), Math.abs(`+box+`.top - was) < 1`)
	}
}

// TestScrollStops: what scrolls is a stop for the keyboard, and nothing else is, also
// once a tab shows it or its box shrinks.
func TestScrollStops(t *testing.T) {
	chromium := browse.Chromium(t)
	site := t.TempDir()
	page := "---\ntitle: Stops\n---\n\n```ts\nshort\n```\n\n<Tabs>\n<Tab title=\"One\">\nText.\n</Tab>\n<Tab title=\"Two\">\n```ts\nshort too\n```\n</Tab>\n</Tabs>\n"
	for name, text := range map[string]string{
		"docs.json": `{"name": "Acme", "theme": "mint", "colors": {"primary": "#112233"}, "navigation": {"pages": ["index"]}}`, "index.mdx": page,
	} {
		if err := os.WriteFile(filepath.Join(site, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dir := harness.Unpack(t, site)
	ctx, stop := browse.Open(t, chromium)
	defer stop()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(900, 900), chromedp.Navigate("file://"+filepath.Join(dir, "index.html"))); err != nil {
		t.Fatal(err)
	}
	const stops = `[...document.querySelectorAll(".bdy-code-block pre")].map(e => e.tabIndex).join()`
	until(t, ctx, `[...document.querySelectorAll("[role=tab]")].find(e => e.textContent.trim() == "Two").click(), true`)
	until(t, ctx, stops+` == "-1,-1"`)
	until(t, ctx, `document.querySelector(".bdy-code-block pre").style.width = "30px", true`)
	until(t, ctx, stops+` == "0,-1"`)
}
