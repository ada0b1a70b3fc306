package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
)

// islandPages are the pages of the site "islands". The first needs no engine.
var islandPages = []string{"index", "state", "builtins", "expressions", "deep/nested", "faults", "limits/endless", "limits/huge", "limits/at-once"}

// TestIslands holds what pages with components show at export, as HTML and as
// Markdown, and what their authors are told, against golden files.
func TestIslands(t *testing.T) {
	dir := harness.Unpack(t, filepath.Join("testdata", "islands"))
	var told strings.Builder
	for line := range strings.Lines(harness.ReadFile(t, dir, "bindery/diagnostics.jsonl")) {
		var d struct {
			Severity, Code, File, Message string
			Line                          int
		}
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(d.Code, "feature-") { // what the site has besides
			continue
		}
		fmt.Fprintf(&told, "%s:%d: %s: %s: %s\n", d.File, d.Line, d.Severity, d.Code, d.Message)
	}
	shows(t, "diagnostics.txt", told.String())
	for _, name := range islandPages {
		page := harness.ReadFile(t, dir, name+".html")
		_, prose, ok := strings.Cut(page, `class="prose mdx-content">`)
		prose, _, ended := strings.Cut(prose, "</article>")
		if !ok || !ended {
			t.Fatalf("%s has no text", name)
		}
		flat := strings.ReplaceAll(name, "/", "_")
		shows(t, flat+".html", strings.ReplaceAll(prose, "><", ">\n<")+"\n")
		shows(t, flat+".md", harness.ReadFile(t, dir, name+".md"))
		if lives, loads := strings.Contains(prose, "<bindery-island"), strings.Contains(page, "bindery/islands"); lives != loads {
			t.Errorf("%s has components that live: %v; it loads their scripts: %v", name, lives, loads)
		}
	}
}

// shows compares with a golden file of the site "islands".
func shows(t *testing.T, name, got string) {
	t.Helper()
	golden.Same(t, filepath.Join("testdata", "islands.golden", name), []byte(got))
}

// TestIslandsInABrowser uses components as readers do, by mouse and by keyboard:
// from a folder, and under a sub-path of a server with the policy that the
// bundle states. Nothing may be written to the console, and no request may fail
// or leave the bundle.
func TestIslandsInABrowser(t *testing.T) {
	chromium := browse.Chromium(t)
	dir := filepath.Dir(harness.Unpack(t, filepath.Join("testdata", "islands")))
	policy := browse.StatedPolicy(t, filepath.Join(dir, "docs"))
	if strings.Contains(policy, "unsafe") {
		t.Errorf("the bundle states the policy %q", policy)
	}
	server := browse.Policed(t, dir, policy)
	for where, base := range map[string]string{"folder": "file://" + dir, "server": server.URL} {
		t.Run(where, func(t *testing.T) {
			ctx, stop := browse.OpenFocused(t, chromium)
			problems := browse.Listen(ctx, base)
			ask := func(script string) (string, error) {
				return chromedp.Run(ctx, chromedp.Evaluate[string]("String("+script+")"))
			}
			evaluate := func(script string) string {
				t.Helper()
				v, err := ask(script)
				if err != nil {
					t.Fatalf("%s: %v", script, err)
				}
				return v
			}
			is := func(what, script, want string) {
				t.Helper()
				var got string
				var err error // between two pages there is nothing to ask
				for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
					if got, err = ask(script); err == nil && got == want {
						return
					}
				}
				t.Errorf("%s: %s is %q, want %q (%v)", what, script, got, want, err)
			}
			visit := func(page string) {
				t.Helper()
				if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 1400), browse.Navigate(base+"/docs/"+page+".html")); err != nil {
					t.Fatal(err)
				}
				is("all components live", `document.querySelectorAll("bindery-island").length - document.querySelectorAll("bindery-island[data-live]").length`, "0")
			}
			click := func(selector string) {
				t.Helper()
				if err := chromedp.Do(ctx, chromedp.Click(selector)); err != nil {
					t.Fatalf("%s: %v", selector, err)
				}
			}
			press := func(selector, keys string) {
				t.Helper()
				evaluate(fmt.Sprintf("document.querySelector(%q).focus()", selector))
				if err := chromedp.Do(ctx, chromedp.KeyEvent(keys)); err != nil {
					t.Fatal(err)
				}
			}
			text := func(selector string) string {
				return fmt.Sprintf("document.querySelector(%q)?.innerText.trim()", selector)
			}

			visit("state")
			is("the effect ran", `document.querySelector(".counter").className`, "counter ready bg-[#fffbe6] dark:bg-[#332b00]")
			is("what appears has its rules", `getComputedStyle(document.querySelector(".counter")).backgroundColor`, "rgb(255, 251, 230)")
			click(".counter button")
			is("a click counts", text(".counter button"), "Count: 3")
			press(".counter button", kb.Enter)
			is("so does a key", text(".counter button"), "Count: 4")
			is("its square", text(".counter output"), "square 16 of one")
			is("its colour", `getComputedStyle(document.querySelector(".counter output")).color`, "rgb(160, 1, 1)")
			is("the page's content stays", text(".counter p"), "Content of the page with a link.")
			is("its link leads right", `document.querySelector(".counter a").getAttribute("href")`, "deep/nested.html")
			press(".field input", kb.End+" word"+kb.Enter)
			is("a word was added", text(".field li"), "first word")
			is("the field keeps the focus", `document.activeElement === document.querySelector(".field input")`, "true")
			press(".switch", " ")
			is("a class has state", text(".switch")+` + document.querySelector(".switch").getAttribute("aria-pressed")`, "Light: ontrue")
			click(".local input")
			is("a component of the page", text(".local"), "Chosen")
			if where == "folder" {
				bothAxe(t, ctx)
			}

			visit("builtins")
			look := `(s => s.borderTopColor + s.padding + s.display)(getComputedStyle(document.querySelector(".bdy-card")))`
			before := evaluate(look)
			is("the note is there", text(".bdy-callout-body"), "A note with a link and 0")
			click(".toggle")
			is("the card is drawn anew", text(".bdy-card bindery-hole"), "Toggled 1 times")
			is("with its title", text(".bdy-card-title"), "Boxes")
			is("and its look", look, before)
			is("and its icon", `document.querySelectorAll(".bdy-card svg").length`, "1")
			is("the card's link", `document.querySelector(".bdy-card a").getAttribute("href")`, "state.html")
			is("the note is gone", `document.querySelectorAll(".bdy-callout, bindery-island[data-island='0'] .bdy-code-block").length`, "0")
			press(".toggle", kb.Enter)
			is("the note is back", text(".bdy-callout-note .bdy-callout-body"), "A note with a link and 2")
			is("its link", `document.querySelector(".bdy-callout a").getAttribute("href")`, "deep/nested.html")
			is("the page's content is back", text("bindery-island[data-island='0'] .bdy-code-block code"), "const held = true;")
			is("links of components", `[...document.querySelectorAll("bindery-island[data-island='0'] ul a")].map(a => a.getAttribute("href"))`, "state.html,deep/nested.html#below")
			click(".more")
			is("beside frames", text(".more"), "More: 2")
			is("tabs in components", text("bindery-island[data-island='1'] [role=tab][aria-selected=true]"), "First")
			click("bindery-island[data-island='1'] [role=tab]:nth-of-type(2)")
			is("react", text("bindery-island[data-island='1'] [role=tab][aria-selected=true]"), "Second")
			is("what is kept is hidden", text(".reveal"), "Answer")
			click(".reveal button")
			is("until it is shown", text(".reveal p"), "Hidden answer, with a link.")
			is("with rules of its own", `getComputedStyle(document.querySelector(".reveal > div")).borderTopLeftRadius`, "11px")
			click(".reveal .counter button")
			is("a component within another", text(".reveal .counter button"), "Count: 8")
			click(".reveal > button")
			click(".reveal > button")
			is("keeps its state", text(".reveal .counter button"), "Count: 8")
			is("each has its own", text(".bdy-tabs .counter button"), "Count: 4")
			if where == "folder" {
				bothAxe(t, ctx)
			}

			visit("expressions")
			click(".plain")
			is("a plain button", text(".plain"), "Pressed")
			click(".buy")
			is("a snippet's properties", text("#bought"), "tea 2")

			visit("deep/nested")
			click(".toggle")
			is("links of a page in a folder", `[...document.querySelectorAll("bindery-island[data-island='1'] a")].map(a => a.getAttribute("href"))`, "../state.html,../state.html,#below")
			click("bindery-island[data-island='1'] ul a")
			is("and they open", "document.title.split(' ')[0]", "State")

			visit("faults")
			is("what works on a page with faults", text(".counter button"), "Count: 1")
			click(".counter button")
			is("still works", text(".counter button"), "Count: 2")
			stop()
			for _, p := range problems() {
				t.Error(p)
			}
		})
	}
}

// bothAxe lets axe-core look at a page as it is, in light and in dark.
func bothAxe(t *testing.T, ctx context.Context) {
	t.Helper()
	for _, scheme := range []string{"dark", "light"} {
		if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		}); err != nil {
			t.Fatal(err)
		}
		pureAxe(t, ctx)
	}
}

// TestIslandsWithoutJavaScript reads what components show, and what they would
// show later, where scripts don't run.
func TestIslandsWithoutJavaScript(t *testing.T) {
	chromium := browse.Chromium(t)
	dir := harness.Unpack(t, filepath.Join("testdata", "islands"))
	ctx, stop := browse.OpenFocused(t, chromium)
	defer stop()
	if _, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	for page, words := range map[string][]string{
		"state":          {"Count: 2", "square 4 of one", "Content of the page with a link.", "The shade is dark.", "Light: off", "row 2", "Not chosen"},
		"builtins":       {"Toggled 0 times", "A note with a link and 0", "const held = true;", "Two", "Done", "Hidden answer, with a link.", "Count: 7"},
		"expressions":    {"The longest name is Alan", "Ada (1815)", "Somebody is young.", "In green", "Price of tea: 4.00", "Buy tea"},
		"limits/endless": {"Held by the loop.", "The rest of the page."},
		"limits/huge":    {"Held by the huge one.", "The rest of the page."},
		"faults":         {"Held by the list.", "Held by the wide one.", "Count: 1"},
	} {
		if err := chromedp.Do(ctx, chromedp.Navigate("file://"+filepath.Join(dir, page+".html"))); err != nil {
			t.Fatal(err)
		}
		got, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector("article").innerText`))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			if !strings.Contains(got, w) {
				t.Errorf("%s doesn't show %q without scripts", page, w)
			}
		}
	}
}
