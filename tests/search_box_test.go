package tests

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

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
	const d = document.querySelector(".search-dialog"), all = (s, f) => [...(d ? d.querySelectorAll(s) : [])].map(f), text = e => e.innerText.trim().replace(/\s+/g, " ");
	const i = d && d.querySelector("input"), a = i && i.getAttribute("aria-activedescendant"), at = document.activeElement, r = d && d.getBoundingClientRect();
	return {
		Open: !!d && d.open, Focus: at ? at.getAttribute("role") || at.className : "", Expanded: i ? i.getAttribute("aria-expanded") : "",
		Groups: all(".search-title", text), Options: all("[role=option]", text), Active: a ? text(document.getElementById(a)) : "",
		Selected: all("[role=option][aria-selected=true]", text), Marked: all("mark", text), Status: d ? text(d.querySelector("[role=status]")) : "",
		Inside: !!r && r.left >= 0 && r.top >= 0 && r.right <= innerWidth && r.bottom <= innerHeight,
	};
})()`

// TestSearchBox opens the search of a bundle by its keys, from a folder and under
// a sub-path of a file server with the policy that the bundle states, on a desk
// and on a phone, and goes to what it finds.
func TestSearchBox(t *testing.T) {
	chromium := outside.Program(t, "chromium", "chromium-browser", "google-chrome")
	dir := filepath.Dir(unpack(t, filepath.Join(outside.Checkout(t), "tests", "testdata", searchSite)))
	policy := statedPolicy(t, filepath.Join(dir, "docs"))
	server := policed(t, dir, policy)
	for where, base := range map[string]string{"folder": "file://" + dir, "server": server.URL} {
		t.Run(where, func(t *testing.T) {
			ctx, stop := browse(t, chromium)
			complaints := listen(ctx, base+"/docs/")
			press := func(keys string, mods ...chromedp.Modifier) {
				t.Helper()
				if err := chromedp.Do(ctx, chromedp.KeyEvent(keys, chromedp.KeyModifiers(mods...))); err != nil {
					t.Fatal(err)
				}
			}
			look := func() (s boxState) {
				t.Helper()
				s, err := chromedp.Run(ctx, chromedp.Evaluate[boxState](boxLook))
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			until := func(what string, ok func(boxState) bool) boxState {
				t.Helper()
				var s boxState
				for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
					if s = look(); ok(s) {
						return s
					}
				}
				t.Fatalf("%s: %+v", what, s)
				return s
			}
			visit := func(page string, width, height int64, scheme string) {
				t.Helper()
				if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
					t.Fatal(err)
				}
				if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, height), chromedp.Navigate(base+"/docs/"+page)); err != nil {
					t.Fatal(err)
				}
			}
			pure := func(what string) {
				t.Helper()
				if where != "folder" { // a script of the test's own is against the policy
					return
				}
				axe, err := os.ReadFile(outside.Tool(t, "axe-core", "npm", "node_modules", "axe-core", "axe.min.js"))
				if err != nil {
					t.Fatal(err)
				}
				quiet := strings.Replace(axeRun, "runOnly:", "preload: false, runOnly:", 1) // it would ask for files that a folder doesn't give
				faults, err := chromedp.Run(ctx, chromedp.Evaluate[string](string(axe)+";"+quiet, chromedp.EvalAwaitPromise))
				if err != nil || faults != "" {
					t.Errorf("%s: %s (%v)", what, faults, err)
				}
			}
			// found waits for the page and for what else must be so: what was
			// found for the first letters may stand there for a moment.
			found := func(title string, and func(boxState) bool) func(boxState) bool {
				return func(s boxState) bool { return len(s.Groups) > 0 && s.Groups[0] == title && and(s) }
			}

			visit("v2/deploy.html", 1440, 1000, "light")
			keepPicture(t, ctx, "search-field", "light")
			press("/")
			s := until("the key / opens the dialog", func(s boxState) bool { return s.Open })
			if s.Focus != "combobox" || s.Expanded != "false" || !s.Inside {
				t.Errorf("an open dialog: %+v", s)
			}
			press("signature")
			s = until("a question is answered", found("Webhooks", func(s boxState) bool {
				return len(s.Marked) > 0 && strings.HasPrefix(strings.ToLower(s.Marked[0]), "signature")
			}))
			if s.Expanded != "true" || len(s.Selected) != 1 || s.Active != s.Selected[0] || s.Active != s.Options[0] || !s.Inside {
				t.Errorf("an answer: %+v", s)
			}
			pure("the dialog")
			keepPicture(t, ctx, "search-dialog", "light")
			press(kb.ArrowUp)
			if s = look(); s.Active != s.Options[len(s.Options)-1] || len(s.Selected) != 1 {
				t.Errorf("up from the first option: %+v", s)
			}
			press(kb.ArrowDown)
			if s = look(); s.Active != s.Options[0] {
				t.Errorf("down from the last option: %+v", s)
			}
			press(kb.Escape)
			until("Escape closes the dialog, and the focus goes back", func(s boxState) bool { return !s.Open && s.Focus == "search-open" })
			press("k", chromedp.ModifierCtrl)
			until("Ctrl+K opens the dialog", func(s boxState) bool { return s.Open })
			press("k", chromedp.ModifierCtrl)
			until("Ctrl+K closes the dialog, and the focus goes back", func(s boxState) bool { return !s.Open && s.Focus == "search-open" })
			const link = `document.querySelector("a[href*=webhooks]")`
			if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](link+`.focus(), true`)); err != nil {
				t.Fatal(err)
			}
			press("/")
			until("the key / opens the dialog from a link", func(s boxState) bool { return s.Open })
			press(kb.Escape)
			until("Escape closes the dialog, and the focus goes back to the link", func(s boxState) bool {
				back, err := chromedp.Run(ctx, chromedp.Evaluate[bool](link+` === document.activeElement`))
				if err != nil {
					t.Fatal(err)
				}
				return !s.Open && back
			})
			press("k", chromedp.ModifierCtrl)
			until("Ctrl+K opens the dialog again", func(s boxState) bool { return s.Open })
			press("verify signatures")
			until("another question is answered", found("Webhooks", func(boxState) bool { return true }))
			// Enter right behind what was typed waits for its answer.
			press("z" + kb.Backspace + kb.Enter)
			at := ""
			for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && !strings.HasSuffix(at, "/docs/v2/webhooks.html#verify-signatures complete"); time.Sleep(20 * time.Millisecond) {
				at, _ = chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + " " + document.readyState`)) // fails between two pages
			}
			if !strings.HasSuffix(at, "/docs/v2/webhooks.html#verify-signatures complete") {
				t.Fatalf("Enter leads to %s", at)
			}

			press("/")
			until("the key / opens the dialog", func(s boxState) bool { return s.Open })
			press("zzzzzzzz")
			s = until("nothing is found", func(s boxState) bool { return strings.Contains(s.Status, "zzzzzzzz") })
			if len(s.Options) != 0 || s.Expanded != "false" {
				t.Errorf("nothing found: %+v", s)
			}
			pure("the dialog without results")
			press(strings.Repeat(kb.Backspace, 7))
			until("one letter is the beginning of a word", func(s boxState) bool { return s.Status == "" })

			// What authors write is text.
			visit("v2/index.html", 390, 844, "dark")
			if err := chromedp.Do(ctx, chromedp.Click("#bindery-search button")); err != nil {
				t.Fatal(err)
			}
			until("a click opens the dialog", func(s boxState) bool { return s.Open })
			press("delete forget")
			until("a heading is found", found("Users", func(s boxState) bool { return strings.Contains(s.Options[0], "Delete & forget <3") && s.Inside }))
			pure("the dialog on a phone")
			keepPicture(t, ctx, "search-dialog", "dark-phone")

			// Each version and language finds its own.
			for page, titles := range map[string]string{"v1/index.html": "Webhooks of version one", "fr/index.html": "Crochets web"} {
				visit(page, 1024, 768, "dark")
				press("/")
				until("the key / opens the dialog", func(s boxState) bool { return s.Open })
				press("webhook")
				until(page+" finds "+titles+" alone", func(s boxState) bool { return strings.Join(s.Groups, ",") == titles })
			}
			visit("ar/index.html", 1024, 768, "light")
			press("/")
			until("the key / opens the dialog", func(s boxState) bool { return s.Open })
			press("المستخدم")
			until("the page is found", found("مقدمة", func(s boxState) bool { return s.Inside && len(s.Marked) == 1 }))
			pure("the dialog from right to left")
			keepPicture(t, ctx, "search-dialog", "rtl")

			stop()
			for _, complaint := range complaints() {
				t.Error(complaint)
			}
		})
	}
}

// TestSearchWithoutItsScripts: without JavaScript nothing of search is shown, and
// where a file of the index is missing, the dialog says so.
func TestSearchWithoutItsScripts(t *testing.T) {
	chromium := outside.Program(t, "chromium", "chromium-browser", "google-chrome")
	dir := unpack(t, filepath.Join(outside.Checkout(t), "tests", "testdata", searchSite))
	address := "file://" + filepath.Join(dir, "v2", "deploy.html")
	const shown = `(() => { const r = document.getElementById("bindery-search").getBoundingClientRect(); return r.width * r.height; })()`

	ctx, stop := browse(t, chromium)
	defer stop()
	if _, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
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
	if err := chromedp.Do(ctx, chromedp.Navigate(address), chromedp.KeyEvent("/")); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`!!document.querySelector(".search-dialog[open]")`)); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.KeyEvent("webhook")); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`document.querySelector(".search-dialog [role=status]").innerText.startsWith("Search is not available")`)); err != nil {
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
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`document.querySelector(".search-dialog .search-title")?.innerText === "Webhooks"`)); err != nil {
		t.Errorf("what is there again is not asked: %v", err)
	}
}

// TestSearchFilesAreListed: the files of a bundle's search are in its list of
// files, as all others.
func TestSearchFilesAreListed(t *testing.T) {
	dir := unpack(t, filepath.Join(outside.Checkout(t), "tests", "testdata", searchSite))
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
