package browse

import (
	"context"
	"os"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/tests/outside"
)

// AxeRun runs axe-core on a page and returns what breaks WCAG 2.2 AA or axe-core's
// best practices. It leaves menus and tooltips closed, as a page loads. It skips
// rules about what authors write (levels of headings, empty table heads), and
// frames of other sites.
const AxeRun = `axe.run(document, {
	runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
	rules: {"target-size": {enabled: true}, "heading-order": {enabled: false}, "empty-table-header": {enabled: false}}, iframes: false,
}).then(r => r.violations.map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.target.join(" ") + " (" + n.failureSummary.split("\n").slice(1, 2).join().trim() + ")").join(", ")).join("\n"))`

// TabWalk focuses each element that Tab would reach, in order, and returns those with
// a hidden focus (WCAG 2.2, 2.4.7 and 2.4.11). It presses no key.
const TabWalk = `(() => {
	const faults = [], bar = document.querySelector("header.bdy-top");
	for (const e of document.querySelectorAll("a[href], button, summary, input, select, textarea, [tabindex]")) {
		if (e.tabIndex < 0 || !e.checkVisibility({visibilityProperty: true})) continue;
		e.focus();
		if (document.activeElement != e) continue;
		e.scrollIntoView({block: "nearest"});
		const r = e.getBoundingClientRect(), b = bar ? bar.getBoundingClientRect() : r;
		if (r.width < 1 || r.height < 1) faults.push("no size: " + e.outerHTML.slice(0, 80));
		else if (bar && !e.closest("header.bdy-top, .bdy-skip") && r.bottom <= b.bottom && r.top >= b.top) faults.push("behind the header: " + e.outerHTML.slice(0, 80));
	}
	document.activeElement.blur();
	scrollTo(0, 0);
	return faults.join("; ");
})()`

// AxeLook is a combination of window size and colour scheme for axe-core.
type AxeLook struct {
	Name          string
	Width, Height int64
	Dark, Forced  bool // Forced: forced colours, as in high contrast mode
}

// AxeLooks has a wide and a narrow window, in light and in dark.
var AxeLooks = [...]AxeLook{
	{"light", 1440, 1000, false, false},
	{"dark", 1440, 1000, true, false},
	{"phone", 390, 844, false, false},
	{"dark phone", 390, 844, true, false},
}

// Set makes the browser show pages in this look, with reduced motion.
func (l *AxeLook) Set(ctx context.Context) error {
	scheme, forced := "light", "none"
	if l.Dark {
		scheme = "dark"
	}
	if l.Forced {
		forced = "active"
	}
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}, {Name: "forced-colors", Value: forced},
	}})
	if err == nil {
		_, err = chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	}
	if err == nil {
		err = chromedp.Do(ctx, chromedp.EmulateViewport(l.Width, l.Height))
	}
	return err
}

// AxeSource returns the source of axe-core. AxeRun goes behind it.
func AxeSource(t *testing.T) string {
	t.Helper()
	axe, err := os.ReadFile(outside.Tool(t, "axe-core", "npm", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return string(axe) + ";"
}
