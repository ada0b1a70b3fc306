package search

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
	"github.com/bindery-docs/bindery/tests/outside"
)

// searchSite is the site whose search the tests below ask.
const searchSite = "search"

// boxState is what a reader meets in the dialog.
type boxState struct {
	Open     bool     // the dialog is there
	Focus    string   // id or class of what has the focus
	Expanded string   // aria-expanded of the field
	Groups   []string // titles of pages
	Options  []string // what each option says
	Active   string   // the option that the field names as the active one
	Selected []string // options that say they are selected
	Marked   []string // words that are marked
	Status   string
	Inside   bool // the dialog lies within the window
}

const boxLook = `(() => {
	const d = document.querySelector(".bdy-search-dialog"), all = (s, f) => [...(d ? d.querySelectorAll(s) : [])].map(f), text = e => e.innerText.trim().replace(/\s+/g, " ");
	const i = d && d.querySelector("input"), a = i && i.getAttribute("aria-activedescendant"), at = document.activeElement, r = d && d.getBoundingClientRect();
	return {
		Open: !!d && d.open, Focus: at ? at.getAttribute("role") || at.className : "", Expanded: i ? i.getAttribute("aria-expanded") : "",
		Groups: all(".bdy-search-title", text), Options: all("[role=option]", text), Active: a ? text(document.getElementById(a)) : "",
		Selected: all("[role=option][aria-selected=true]", text), Marked: all("mark", text), Status: d ? text(d.querySelector("[role=status]")) : "",
		Inside: !!r && r.left >= 0 && r.top >= 0 && r.right <= innerWidth && r.bottom <= innerHeight,
	};
})()`

// searchBox is a page of the bundle in a browser, whose search a test uses.
type searchBox struct {
	ctx  context.Context
	base string // address of the bundle, with a slash at its end
}

func (b searchBox) do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

func (b searchBox) press(t *testing.T, keys string, mods ...chromedp.Modifier) {
	t.Helper()
	b.do(t, chromedp.KeyEvent(keys, chromedp.KeyModifiers(mods...)))
}

func (b searchBox) ask(t *testing.T, script string) bool {
	t.Helper()
	answer, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](script))
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func (b searchBox) look(t *testing.T) boxState {
	t.Helper()
	s, err := chromedp.Run(b.ctx, chromedp.Evaluate[boxState](boxLook))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// until waits for a state of the dialog.
func (b searchBox) until(t *testing.T, what string, ok func(boxState) bool) boxState {
	t.Helper()
	var s boxState
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if s = b.look(t); ok(s) {
			return s
		}
	}
	t.Fatalf("%s: %+v", what, s)
	return s
}

func (b searchBox) visit(t *testing.T, page string, width, height int64, scheme string) {
	t.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	// By way of an empty page: a visit to the page that is there, whose dialog may
	// be open, is a page of its own.
	b.do(t, chromedp.EmulateViewport(width, height), chromedp.Navigate("about:blank"), browse.Navigate(b.base+page))
}

// open opens the dialog with the key /.
func (b searchBox) open(t *testing.T) boxState {
	t.Helper()
	if s := b.look(t); s.Open {
		t.Fatalf("the dialog is open before the key /: %+v", s)
	}
	b.press(t, "/")
	return b.until(t, "the key / opens the dialog", func(s boxState) bool { return s.Open })
}

// accessible checks the page with axe-core. It does so in folders alone: a
// script of the test's own is against the policy that servers state.
func (b searchBox) accessible(t *testing.T, what string) {
	t.Helper()
	if !strings.HasPrefix(b.base, "file:") {
		return
	}
	axe, err := os.ReadFile(outside.Tool(t, "axe-core", "npm", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	quiet := strings.Replace(browse.AxeRun, "runOnly:", "preload: false, runOnly:", 1) // it would ask for files that a folder doesn't give
	faults, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](string(axe)+";"+quiet, chromedp.EvalAwaitPromise))
	if err != nil || faults != "" {
		t.Errorf("%s: %s (%v)", what, faults, err)
	}
}

// found waits for the page and for what else must be so: what was found for the
// first letters may stand there for a moment.
func found(title string, and func(boxState) bool) func(boxState) bool {
	return func(s boxState) bool { return len(s.Groups) > 0 && s.Groups[0] == title && and(s) }
}

// TestSearchDialog opens the search of a bundle by its keys, from a folder and
// under a sub-path of a file server with the policy that the bundle states, on a
// desk and on a phone, and goes to what it finds.
func TestSearchDialog(t *testing.T) {
	chromium := browse.Chromium(t)
	dir := filepath.Dir(harness.Unpack(t, filepath.Join(outside.Checkout(t), "tests", "search", "testdata", searchSite)))
	policy := browse.StatedPolicy(t, filepath.Join(dir, "docs"))
	server := browse.Policed(t, dir, policy)
	for where, base := range map[string]string{"folder": "file://" + dir, "server": server.URL} {
		t.Run(where, func(t *testing.T) {
			ctx, stop := browse.OpenFocused(t, chromium)
			b := searchBox{ctx, base + "/docs/"}
			complaints := browse.Listen(ctx, b.base)
			for _, step := range []struct {
				name string
				run  func(*testing.T, searchBox)
			}{
				{"answers a question", searchAnswers},
				{"opens and closes by keys", searchKeys},
				{"Enter goes to the first option", searchEnter},
				{"says that nothing is found", searchFindsNothing},
				{"the key that opens it, held", searchKeyHeld},
				{"shows authors' text as text on a phone", searchOnAPhone},
				{"finds pages of one version and language alone", searchByVersion},
				{"reads from right to left", searchFromRightToLeft},
			} {
				t.Run(step.name, func(t *testing.T) { step.run(t, b) })
			}
			stop()
			for _, complaint := range complaints() {
				t.Error(complaint)
			}
		})
	}
}

func searchAnswers(t *testing.T, b searchBox) {
	b.visit(t, "v2/deploy.html", 1440, 1000, "light")
	browse.KeepPicture(t, b.ctx, "search-field", "light")
	if s := b.open(t); s.Focus != "combobox" || s.Expanded != "false" || !s.Inside {
		t.Errorf("an open dialog: %+v", s)
	}
	b.press(t, "signature")
	s := b.until(t, "a question is answered", found("Webhooks", func(s boxState) bool {
		return len(s.Marked) > 0 && strings.HasPrefix(strings.ToLower(s.Marked[0]), "signature")
	}))
	if s.Expanded != "true" || len(s.Selected) != 1 || s.Active != s.Selected[0] || s.Active != s.Options[0] || !s.Inside {
		t.Errorf("an answer: %+v", s)
	}
	b.accessible(t, "the dialog")
	browse.KeepPicture(t, b.ctx, "search-dialog", "light")
	b.press(t, kb.ArrowUp)
	if s = b.look(t); s.Active != s.Options[len(s.Options)-1] || len(s.Selected) != 1 {
		t.Errorf("up from the first option: %+v", s)
	}
	b.press(t, kb.ArrowDown)
	if s = b.look(t); s.Active != s.Options[0] {
		t.Errorf("down from the last option: %+v", s)
	}
	b.press(t, kb.Escape)
	b.until(t, "Escape closes the dialog, and the focus goes back", closedByItsButton)
}

// closedByItsButton reports whether the dialog is closed and the focus is back
// on the button that opens it.
func closedByItsButton(s boxState) bool { return !s.Open && s.Focus == "bdy-search-open" }

func searchKeys(t *testing.T, b searchBox) {
	b.visit(t, "v2/deploy.html", 1440, 1000, "light")
	b.open(t)
	b.press(t, kb.Escape)
	b.until(t, "Escape closes the dialog, and the focus goes back", closedByItsButton)
	b.press(t, "k", chromedp.ModifierCtrl)
	b.until(t, "Ctrl+K opens the dialog", func(s boxState) bool { return s.Open })
	b.press(t, "k", chromedp.ModifierCtrl)
	b.until(t, "Ctrl+K closes the dialog, and the focus goes back", closedByItsButton)

	const link = `document.querySelector("a[href*=webhooks]")`
	b.ask(t, link+`.focus(), true`)
	b.open(t)
	b.press(t, kb.Escape)
	b.until(t, "Escape closes the dialog, and the focus goes back to the link", func(s boxState) bool {
		return !s.Open && b.ask(t, link+` === document.activeElement`)
	})
}

func searchEnter(t *testing.T, b searchBox) {
	b.visit(t, "v2/deploy.html", 1440, 1000, "light")
	b.press(t, "k", chromedp.ModifierCtrl)
	b.until(t, "Ctrl+K opens the dialog", func(s boxState) bool { return s.Open })
	b.press(t, "verify signatures")
	b.until(t, "a question is answered", found("Webhooks", func(boxState) bool { return true }))
	// Enter right after what was typed waits for its answer.
	b.press(t, "z"+kb.Backspace+kb.Enter)
	const want = "/docs/v2/webhooks.html#verify-signatures complete"
	at := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && !strings.HasSuffix(at, want); time.Sleep(20 * time.Millisecond) {
		at, _ = chromedp.Run(b.ctx, chromedp.Evaluate[string](`location.href + " " + document.readyState`)) // fails between two pages
	}
	if !strings.HasSuffix(at, want) {
		t.Fatalf("Enter leads to %s", at)
	}
	b.open(t) // on the page that it leads to
}

// searchKeyHeld holds the key that opens the box: it is not typed into it, and
// the next time that it is pressed it is.
func searchKeyHeld(t *testing.T, b searchBox) {
	b.visit(t, "v2/webhooks.html", 1440, 1000, "light")
	b.open(t)
	b.press(t, kb.Escape)
	b.until(t, "Escape closes the dialog", func(s boxState) bool { return !s.Open })
	key := func(kind input.DispatchKeyEventType, again bool) {
		t.Helper()
		event := input.DispatchKeyEventParams{Type: kind, Key: "/", Code: "Slash", WindowsVirtualKeyCode: 191, AutoRepeat: &again}
		if kind == input.DispatchKeyEventTypeKeyDown {
			event.Text = "/"
		}
		if _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, event); err != nil {
			t.Fatal(err)
		}
	}
	key(input.DispatchKeyEventTypeKeyDown, false)
	b.until(t, "the key opens the dialog", func(s boxState) bool { return s.Open })
	for range 3 {
		key(input.DispatchKeyEventTypeKeyDown, true)
	}
	key(input.DispatchKeyEventTypeKeyUp, false)
	const typed = `document.querySelector("dialog.bdy-search-dialog input").value`
	if !b.ask(t, typed+` === ""`) {
		t.Error("the key that opens the box is typed into it while it is held")
	}
	b.press(t, "/")
	if !b.ask(t, typed+` === "/"`) {
		t.Error("the key is not typed once it was let go")
	}
}

func searchFindsNothing(t *testing.T, b searchBox) {
	b.visit(t, "v2/webhooks.html", 1440, 1000, "light")
	b.open(t)
	b.press(t, "zzzzzzzz")
	s := b.until(t, "nothing is found", func(s boxState) bool { return strings.Contains(s.Status, "zzzzzzzz") })
	if len(s.Options) != 0 || s.Expanded != "false" {
		t.Errorf("nothing found: %+v", s)
	}
	b.accessible(t, "the dialog without results")
	b.press(t, strings.Repeat(kb.Backspace, 7))
	b.until(t, "one letter is the beginning of a word", func(s boxState) bool { return s.Status == "" })
	b.press(t, kb.Backspace+"qqqwebhooksqqq")
	s = b.until(t, "the nearest title is offered", func(s boxState) bool { return strings.Contains(s.Status, "qqqwebhooksqqq") })
	if len(s.Groups) == 0 || s.Groups[0] != "Webhooks" || s.Expanded != "true" {
		t.Errorf("nothing found but a title near: %+v", s)
	}
	b.accessible(t, "the dialog with the nearest titles")
}

func searchOnAPhone(t *testing.T, b searchBox) {
	b.visit(t, "v2.html", 390, 844, "dark")
	b.do(t, chromedp.Click("#bindery-search button"))
	b.until(t, "a click opens the dialog", func(s boxState) bool { return s.Open })
	b.press(t, "delete forget")
	b.until(t, "a heading is found", found("Users", func(s boxState) bool {
		return strings.Contains(s.Options[0], "Delete & forget <3") && s.Inside
	}))
	b.accessible(t, "the dialog on a phone")
	browse.KeepPicture(t, b.ctx, "search-dialog", "dark-phone")
}

func searchByVersion(t *testing.T, b searchBox) {
	for page, titles := range map[string]string{"v1.html": "Webhooks of version one", "fr.html": "Crochets web"} {
		b.visit(t, page, 1024, 768, "dark")
		b.open(t)
		b.press(t, "webhook")
		b.until(t, page+" finds "+titles+" alone", func(s boxState) bool { return strings.Join(s.Groups, ",") == titles })
	}
}

func searchFromRightToLeft(t *testing.T, b searchBox) {
	b.visit(t, "ar.html", 1024, 768, "light")
	b.open(t)
	b.press(t, "المستخدم")
	b.until(t, "the page is found", found("مقدمة", func(s boxState) bool { return s.Inside && len(s.Marked) == 1 }))
	b.accessible(t, "the dialog from right to left")
	browse.KeepPicture(t, b.ctx, "search-dialog", "rtl")
}

// TestSearchWithoutItsScripts: without JavaScript nothing of search is shown, and
// where a file of the index is missing, the dialog says so.
func TestSearchWithoutItsScripts(t *testing.T) {
	chromium := browse.Chromium(t)
	dir := harness.Unpack(t, filepath.Join(outside.Checkout(t), "tests", "search", "testdata", searchSite))
	address := "file://" + filepath.Join(dir, "v2", "deploy.html")
	const shown = `(() => { const r = document.getElementById("bindery-search").getBoundingClientRect(); return r.width * r.height; })()`

	ctx, stop := browse.OpenFocused(t, chromium)
	defer stop()
	if _, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, browse.Navigate(address)); err != nil {
		t.Fatal(err)
	}
	if area, err := chromedp.Run(ctx, chromedp.Evaluate[float64](shown)); err != nil || area != 0 {
		t.Errorf("without JavaScript the field takes %v (%v)", area, err)
	}
	if _, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{}); err != nil {
		t.Fatal(err)
	}
	lost := map[string][]byte{}
	for _, f := range indexFiles(t, dir) {
		if strings.HasPrefix(filepath.Base(f), "t") {
			data, err := os.ReadFile(f)
			if err == nil {
				err = os.Remove(f)
			}
			if err != nil {
				t.Fatal(err)
			}
			lost[f] = data
		}
	}
	if err := chromedp.Do(ctx, browse.Navigate(address), chromedp.KeyEvent("/")); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`!!document.querySelector(".bdy-search-dialog[open]")`)); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.KeyEvent("webhook")); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`document.querySelector(".bdy-search-dialog [role=status]").innerText.startsWith("Search is not available")`)); err != nil {
		t.Errorf("a lost file goes untold: %v", err)
	}
	// When the files are there again, they are found without a new page.
	for f, data := range lost {
		if err := os.WriteFile(f, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := chromedp.Do(ctx, chromedp.KeyEvent("s")); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`document.querySelector(".bdy-search-dialog .bdy-search-title")?.innerText === "Webhooks"`)); err != nil {
		t.Errorf("what is there again is not asked: %v", err)
	}
}

// TestSearchFilesAreListed: the files of a bundle's search are in its list of
// files, as all others.
func TestSearchFilesAreListed(t *testing.T) {
	dir := harness.Unpack(t, filepath.Join(outside.Checkout(t), "tests", "search", "testdata", searchSite))
	list, err := os.ReadFile(filepath.Join(dir, "bindery", "files.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	dec := json.NewDecoder(strings.NewReader(string(list)))
	for dec.More() {
		var f struct{ Path string }
		if err := dec.Decode(&f); err != nil {
			t.Fatal(err)
		}
		listed[f.Path] = true
	}
	for _, f := range indexFiles(t, dir) {
		if name, _ := filepath.Rel(dir, f); !listed[filepath.ToSlash(name)] {
			t.Errorf("%s is in no list", name)
		}
	}
}

// indexFiles are the files of a bundle's search.
func indexFiles(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(filepath.Join(dir, "bindery", "search"), func(file string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, file)
		}
		return err
	})
	if err != nil || len(out) == 0 {
		t.Fatalf("%d files of search (%v)", len(out), err)
	}
	return out
}
