package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
)

// drawingsSite has a drawing that is wider than any column, one that fits, one
// that its author wants still, one that is a little wider than the column, and one
// that Mermaid draws.
func drawingsSite() map[string]string {
	chain := func(nodes int) string {
		text := "graph LR\n"
		for n := range nodes {
			text += "N" + strings.Repeat("x", n) + "[A step of it] --> N" + strings.Repeat("x", n+1) + "[The step after]\n"
		}
		return text + "click N \"https://example.com\"\n"
	}
	return map[string]string{
		"docs.json": `{"name":"Drawings","theme":"mint","colors":{"primary":"#0055aa"},"navigation":{"pages":["wide","small","near","live"]}}`,
		"wide.mdx":  "---\ntitle: Wide\n---\n\n```mermaid A long way\n" + chain(8) + "```\n\n" + strings.Repeat("Words.\n\n", 30) + "```mermaid actions={false}\n" + chain(7) + "```\n",
		"small.mdx": "---\ntitle: Small\n---\n\n```mermaid\ngraph TD\nA --> B\n```\n",
		"near.mdx":  "---\ntitle: Near\n---\n\n```mermaid\n" + chain(4) + "```\n",
		"live.mdx":  "---\ntitle: Live\n---\n\n```mermaid\n" + chain(6) + "I@{ icon: \"fa:bell\", label: \"A bell\" } --> N\n```\n",
	}
}

// textSize is how large the smallest main words of a drawing are shown, in pixels.
const textSize = `(svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width * parseFloat(getComputedStyle(svg.querySelector("text, foreignObject span, foreignObject div")).fontSize))(document.querySelector(".bdy-diagram-view svg"))`

// TestLargeDrawings: readers zoom and move drawings that are larger than their
// column, by buttons, keys, wheel and dragging; words are never small, and without
// the script such a drawing scrolls.
func TestLargeDrawings(t *testing.T) {
	chromium := browse.Chromium(t)
	dir := harness.Unpack(t, writeSite(t, drawingsSite()))
	base := browse.Policed(t, dir, strings.Replace(strictPolicy, "style-src 'self'", "style-src 'self' 'unsafe-inline'", 1)).URL
	strict := browse.Policed(t, dir, strictPolicy).URL
	if small := harness.ReadFile(t, dir, "small.html"); strings.Contains(small, "bindery/drawings.") || strings.Contains(small, "data-bindery-tools") {
		t.Error("a page without large drawings loads their script")
	}
	const (
		view  = `document.querySelector(".bdy-diagram-view")`
		width = view + `.querySelector("svg").getBoundingClientRect().width`
		tools = `document.querySelector(".bdy-diagram-tools")`
	)
	ctx, stop := browse.Open(t, chromium)
	complaints := browse.Listen(ctx, strict)
	for _, look := range []struct {
		name          string
		width, height int64
	}{{"light", 1440, 1000}, {"phone", 390, 844}} {
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(look.width, look.height), browse.Navigate(strict+"/wide.html")); err != nil {
			t.Fatal(err)
		}
		until(t, ctx, `document.querySelectorAll(".bdy-diagram-tools").length === 1 && !`+tools+`.hidden`)
		browse.KeepPicture(t, ctx, "drawing", look.name)
		// Buttons: of 24 pixels at least, with names; the page stays as it is.
		until(t, ctx, `[...`+tools+`.children].every(b => b.ariaLabel && b.offsetWidth >= 24 && b.offsetHeight >= 24 && b.tabIndex === 0) && `+tools+`.children.length === 7`)
		until(t, ctx, `window.was = `+width+`, window.place = `+tools+`.getBoundingClientRect().top, true`)
		until(t, ctx, tools+`.children[5].click(), Math.abs(`+width+` / was - 1.25) < .01`)
		until(t, ctx, `Math.abs(`+tools+`.getBoundingClientRect().top - place) < 1`)
		until(t, ctx, tools+`.children[4].click(), `+tools+`.children[4].click(), `+tools+`.children[4].click(), `+width+` < was * .7`)
		browse.KeepPicture(t, ctx, "drawing-small", look.name)
		until(t, ctx, tools+`.children[6].click(), Math.abs(`+width+` - was) < 1 && `+tools+`.children[6].ariaDisabled === "true"`)
		until(t, ctx, view+`.scrollLeft = 0, `+tools+`.children[3].click(), true`)
		until(t, ctx, view+`.scrollLeft > 50`)
		// Keys.
		press := func(key string) {
			t.Helper()
			if err := chromedp.Do(ctx, chromedp.KeyEvent(key)); err != nil {
				t.Fatal(err)
			}
		}
		until(t, ctx, view+`.focus({preventScroll: true}), `+view+`.scrollLeft = 0, document.activeElement === `+view)
		press("\u0303") // ArrowRight
		until(t, ctx, view+`.scrollLeft > 0`)
		press("+")
		until(t, ctx, width+` > was * 1.2`)
		press("-")
		press("-")
		until(t, ctx, width+` < was * .9`)
		press("0")
		until(t, ctx, `Math.abs(`+width+` - was) < 1`)
		// Ctrl and the wheel: what the pointer is on stays.
		at, err := chromedp.Run(ctx, chromedp.Evaluate[[]float64](view+`.scrollIntoView({block: "center", behavior: "instant"}), (r => [r.left + 100, r.top + 40, r.top])(`+view+`.getBoundingClientRect())`))
		if err != nil {
			t.Fatal(err)
		}
		mouse := func(p input.DispatchMouseEventParams) {
			t.Helper()
			p.Y = at[1]
			if _, err := chromedp.Call(ctx, input.DispatchMouseEvent, p); err != nil {
				t.Fatal(err)
			}
		}
		mouse(input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel, X: at[0], DeltaX: 0.01, DeltaY: -200, Modifiers: 2})
		until(t, ctx, width+` > was * 1.3`)
		// Dragging, once what the keys and the wheel began has ended.
		if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`new Promise(done => {
			let last = "", same = 0;
			const look = () => {
				const now = `+view+`.scrollLeft + " " + `+width+`;
				same = now === last ? same + 1 : 0;
				last = now;
				if (same < 30) requestAnimationFrame(look);
				else done(true);
			};
			look();
		})`, chromedp.EvalAwaitPromise)); err != nil {
			t.Fatal(err)
		}
		until(t, ctx, `window.left = `+view+`.scrollLeft, true`)
		for step, kind := range []input.DispatchMouseEventType{"mousePressed", "mouseMoved", "mouseMoved", "mouseMoved", "mouseMoved", "mouseReleased"} {
			mouse(input.DispatchMouseEventParams{Type: kind, X: at[0] - 20*float64(min(step, 4)), Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1})
		}
		until(t, ctx, `Math.abs(`+view+`.scrollLeft - left - 80) < 3 && location.pathname === "/wide.html"`)
		browse.KeepPicture(t, ctx, "drawing-dragged", look.name)
		if err := chromedp.Do(ctx, browse.Navigate(strict+"/near.html")); err != nil {
			t.Fatal(err)
		}
		until(t, ctx, textSize+` > 11`)
		browse.KeepPicture(t, ctx, "drawing-near", look.name)
	}
	stop()
	for _, c := range complaints() {
		t.Error(c)
	}
	ctx, stop = browse.Open(t, chromium)
	defer stop()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(700, 900), browse.Navigate(base+"/live.html")); err != nil {
		t.Fatal(err)
	}
	until(t, ctx, `!!document.querySelector(".bdy-diagram-view svg") && `+textSize+` > 11 && !!`+tools+` && !`+tools+`.hidden`)
	until(t, ctx, `window.was = `+width+`, `+tools+`.children[5].click(), `+width+` > was * 1.2`)
	browse.KeepPicture(t, ctx, "drawing-live", "light")
	// Without scripts the drawing is there and scrolls.
	if err := chromedp.Do(ctx, browse.Navigate(browse.Policed(t, dir, strings.Replace(strictPolicy, "script-src 'self'", "script-src 'none'", 1)).URL+"/wide.html")); err != nil {
		t.Fatal(err)
	}
	until(t, ctx, `!`+tools+` && `+view+`.scrollWidth > `+view+`.clientWidth && `+textSize+` > 11`)
}

// TestBrokenDrawings: what Mermaid can't read either stays a block of code, and
// nothing else of it is on the page. Diagrams after it are drawn, under their titles.
func TestBrokenDrawings(t *testing.T) {
	chromium := browse.Chromium(t)
	dir := harness.Unpack(t, writeSite(t, map[string]string{
		"docs.json": `{"name":"Broken","theme":"mint","colors":{"primary":"#0055aa"},"navigation":{"pages":["index"]}}`,
		"index.mdx": "---\ntitle: Broken\n---\n\n```mermaid\ngraph TD\n  A -->\n```\n\n```mermaid\n---\nconfig: {suppressErrorRendering: false}\n---\ngantt\n  A: b, c, d, e, f\n```\n\n" +
			"```mermaid\nno-kind-of-diagram\n```\n\n```mermaid The journey\njourney\n  section S\n    Walk: 5: Me\n```\n",
	}))
	ctx, stop := browse.Open(t, chromium)
	defer stop()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1000, 900), browse.Navigate(browse.Policed(t, dir, strings.Replace(strictPolicy, "style-src 'self'", "style-src 'self' 'unsafe-inline'", 1)).URL+"/index.html")); err != nil {
		t.Fatal(err)
	}
	until(t, ctx, `document.querySelectorAll(".bdy-diagram-view > svg").length === 1`)
	until(t, ctx, `document.querySelector("figure.bdy-diagram > figcaption:first-child").textContent === "The journey"`)
	until(t, ctx, `[...document.querySelectorAll(".bdy-code-block")].filter(e => e.checkVisibility()).length === 3`)
	until(t, ctx, `![...document.body.children].some(e => e.id.startsWith("dmermaid") || e.matches("svg")) && !/Syntax error|mermaid version/.test(document.body.textContent)`)
	browse.KeepPicture(t, ctx, "drawings-broken", "light")
}
