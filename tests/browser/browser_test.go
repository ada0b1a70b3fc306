package browser

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestPagesOpenInABrowser opens pages of a bundle straight from the folder and
// under a sub-path of a plain file server. Nothing may be written to the
// console, no request may fail, and none may leave the bundle; the server sends a
// strict content security policy. The site "hard"
// holds what breaks layouts: tips at the edge, wide tables, long words. With
// BINDERY_SCREENSHOTS=DIR it keeps a picture of each page: light, dark, phone.
// make test-all opens each page in each look, both ways. Other runs open the folder's
// in light and on a phone, the server's in dark, and fewer of real sites.
func TestPagesOpenInABrowser(t *testing.T) {
	chromium := browse.Chromium(t)
	sites := map[string]string{
		"docs": filepath.Join(outside.Checkout(t), "infra", "docs"),
		"hard": filepath.Join(outside.Checkout(t), "tests", "browser", "testdata", "hard"),
	}
	pages := map[string][]string{
		"docs": {"index.html", "components/tabs.html", "404.html"},
		"hard": {"index.html", "nested.html", "ar.html"},
	}
	if !outside.Short(t) {
		if corpora, ok := outside.Maybe(t, "corpora"); ok {
			for _, site := range []string{"mcp", "trigger", "novu"} {
				sites[site] = filepath.Join(corpora, site)
			}
			pages["mcp"] = []string{"docs/2025-06-18/getting-started/intro.html", "specification/2025-06-18/basic.html", "specification/2025-11-25/schema.html"}
			pages["trigger"] = []string{"introduction.html", "tasks/overview.html"}
			pages["novu"] = []string{"platform.html", "platform/quickstart/react.html"}
			if !outside.Full() {
				pages["mcp"], pages["trigger"], pages["novu"] = pages["mcp"][1:2], pages["trigger"][1:], pages["novu"][1:]
			}
		}
	}
	for name, source := range sites {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Dir(harness.Unpack(t, source))
			files, policy := http.FileServer(http.Dir(dir)), browse.StatedPolicy(t, filepath.Join(dir, "docs"))
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if name == "docs" || name == "hard" { // others show what lies on other sites
					w.Header().Set("Content-Security-Policy", policy)
				}
				files.ServeHTTP(w, r)
			}))
			defer server.Close()
			for _, page := range pages[name] {
				if _, err := os.Stat(filepath.Join(dir, "docs", page)); err != nil {
					t.Errorf("no page %s in the bundle", page)
					continue
				}
				fromFolder, fromServer := looks, looks
				if !outside.Full() {
					fromFolder, fromServer = []screen{looks[0], looks[2]}, looks[1:2]
				}
				open(t, chromium, "file://"+filepath.Join(dir, "docs", page), name+"-"+page, alwaysDark[name], fromFolder)
				open(t, chromium, server.URL+"/docs/"+page, "", alwaysDark[name], fromServer)
			}
		})
	}
}

// alwaysDark are the sites whose docs.json asks for dark pages, whatever the
// system says (appearance.strict).
var alwaysDark = map[string]bool{"trigger": true}

// screen is a window and a colour scheme.
type screen struct {
	name          string
	width, height int64
	dark, mobile  bool
}

// looks has a wide window in light and in dark, and a phone's.
var looks = []screen{
	{"light", 1440, 1000, false, false},
	{"dark", 1440, 1000, true, false},
	{"phone", 390, 844, false, true},
}

// open loads one page in each look and reports what goes wrong while it loads.
func open(t *testing.T, chromium, address, picture string, alwaysDark bool, looks []screen) {
	t.Helper()
	within, _, _ := strings.Cut(address, "/docs/")
	for _, look := range looks {
		ctx, stop := browse.Open(t, chromium)
		complaints := browse.Listen(ctx, within)
		scheme := "light"
		if look.dark {
			scheme = "dark"
		}
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		if err == nil { // without the focus a page hears nothing of the keyboard
			_, err = chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
		}
		if err == nil {
			err = chromedp.Do(ctx, chromedp.EmulateViewport(look.width, look.height), browse.Navigate(address))
		}
		if err != nil {
			t.Errorf("%s (%s): %v", address, look.name, err)
		} else {
			checkLoaded(t, ctx, address, look.name, look.dark || alwaysDark)
			checkTips(t, ctx, address, look.name)
			browse.KeepPicture(t, ctx, picture, look.name)
		}
		stop()
		for _, complaint := range complaints() {
			t.Errorf("%s (%s): %s", address, look.name, complaint)
		}
	}
}

// checkTips asserts that every tooltip comes with the keyboard, lies within the
// window, and goes with Escape while the focus stays (WCAG 2.2, 1.4.13).
func checkTips(t *testing.T, ctx context.Context, address, look string) {
	t.Helper()
	faults, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(() => {
		const faults = [], shown = e => getComputedStyle(e).display != "none";
		for (const t of document.querySelectorAll(".bdy-tooltip")) {
			if (!t.offsetParent) continue;
			const tip = t.querySelector(".bdy-tooltip-tip"), name = t.firstChild.textContent;
			if (shown(tip)) faults.push(name + " is there before it is asked for");
			t.focus();
			if (!shown(tip)) { faults.push(name + " does not come with the focus"); continue; }
			const r = tip.getBoundingClientRect();
			if (r.left < 0 || r.right > document.documentElement.clientWidth) faults.push(name + " leaves the window");
			t.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
			if (shown(tip)) faults.push(name + " stays after Escape");
			if (document.activeElement != t) faults.push(name + " loses the focus");
			t.blur();
		}
		scrollTo(0, 0);
		return faults.join("; ");
	})()`))
	if err != nil || faults != "" {
		t.Errorf("%s (%s): tooltips: %s (%v)", address, look, faults, err)
	}
}

// checkLoaded asserts what a reader sees: a heading, no sideways scrolling,
// and the colour scheme that the system asks for.
func checkLoaded(t *testing.T, ctx context.Context, address, look string, dark bool) {
	t.Helper()
	heading, err := chromedp.Run(ctx, chromedp.Evaluate[string](`(document.querySelector("h1")||{innerText:""}).innerText`))
	if err != nil || strings.TrimSpace(heading) == "" {
		t.Errorf("%s (%s): no heading is shown (%v)", address, look, err)
	}
	over, err := chromedp.Run(ctx, chromedp.Evaluate[int](`document.documentElement.scrollWidth - document.documentElement.clientWidth`))
	if err != nil || over > 1 {
		t.Errorf("%s (%s): the page is %d pixels too wide (%v)", address, look, over, err)
	}
	light, err := chromedp.Run(ctx, chromedp.Evaluate[float64](`(() => {
		const rgba = e => getComputedStyle(e).backgroundColor.match(/[\d.]+/g).map(Number);
		let [r, g, b, a = 1] = rgba(document.body);
		if (a == 0) [r, g, b, a = 1] = rgba(document.documentElement);
		return a == 0 ? 1 : (r + g + b) / 765;
	})()`))
	if err != nil || (light > 0.5) == dark {
		t.Errorf("%s (%s): the background's lightness is %.2f (%v)", address, look, light, err)
	}
}
