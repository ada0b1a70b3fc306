package preview

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	dev "github.com/bindery-docs/bindery/shared/service/preview"

	"github.com/bindery-docs/bindery/tests/harness/browse"
)

const devConfig = `{"name": "Old name", "colors": {"primary": "#0055aa"}, "navigation": {"pages": ["index", "other"]}}` + "\n"

// longPage is a page with a place to scroll to.
func longPage(top, mark string) string {
	return "---\ntitle: Home\n---\n\nimport Part from '/snippets/part.mdx'\n\n" + top + `
<Tabs sync={false}>
  <Tab title="One">First.</Tab>
  <Tab title="Two">Second.</Tab>
</Tabs>

<Accordion title="More">Inside.</Accordion>

` + strings.Repeat("A paragraph that takes room.\n\n", 60) + "## Place\n\n" + mark + "\n\n<Part/>\n\n" + strings.Repeat("And another one below.\n\n", 60)
}

// devPage is a page of bindery dev in a browser.
type devPage struct {
	*testing.T
	ctx context.Context
	dir string
}

// until waits for an expression to be true. A page that is loaded again meanwhile
// has no answer.
func (p devPage) until(what, expression string) {
	p.Helper()
	var last error
	for begun := time.Now(); time.Since(begun) < 3*time.Minute; time.Sleep(5 * time.Millisecond) {
		ok, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](`!!(`+expression+`)`))
		if ok && err == nil {
			return
		}
		last = err
	}
	text, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](`"scrolled to " + scrollY + ", tabs " + [...document.querySelectorAll("[role=tab]")].map(t => t.getAttribute("aria-selected")) + "\n" + location.href + "\n" + document.body.innerText.slice(0, 400) + "\n" + (document.getElementById("bindery-dev") || {shadowRoot: {textContent: ""}}).shadowRoot.textContent`))
	p.Fatalf("%s: did not come (%v); the page:\n%s", what, last, text)
}

func (p devPage) run(expression string) {
	p.Helper()
	if _, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](`(() => { `+expression+`; return true })()`)); err != nil {
		p.Fatal(err)
	}
}

func (p devPage) save(name, text string) { write(p.T, filepath.Join(p.dir, name), text) }

// inPanel is an expression for the first element in the preview's own part of a page.
func inPanel(selector string) string {
	return fmt.Sprintf(`document.getElementById("bindery-dev").shadowRoot.querySelector(%q)`, selector)
}

// TestDevInABrowser edits a site whose page is open in a browser.
func TestDevInABrowser(t *testing.T) {
	chromium := browse.Chromium(t)
	dir := devSite(t, map[string]string{
		"docs.json": devConfig, "index.mdx": longPage("Top.", "Written first."), "other.mdx": "---\ntitle: Other\n---\n\nText.\n",
		"snippets/part.mdx": "Part as it was.\n",
	})
	type place struct {
		file         string
		line, column int
	}
	opened := make(chan place, 10)
	web, reports := previewed(t, dir, func(o *dev.Options) {
		o.Open = func(file string, line, column int) (string, error) {
			opened <- place{file, line, column}
			return "", nil
		}
	})
	<-reports
	ctx, stop := browse.Open(t, chromium)
	defer stop()
	p := devPage{t, ctx, dir}
	complaints := browse.Listen(ctx, web.URL)
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1200, 800), browse.Navigate(web.URL+"/")); err != nil {
		t.Fatal(err)
	}
	// Fonts and scripts that come late move what is on the page.
	p.until("the page", `document.body.innerText.includes("Written first.") && document.getElementById("bindery-dev") && document.readyState === "complete" && document.fonts.status === "loaded"`)
	p.run(`localStorage.setItem("bindery:docs.example.com:appearance", "dark")`)
	p.run(`document.querySelectorAll("[role=tab]")[1].click(); document.querySelector("#bindery-content details").open = true; scrollTo(0, 1500)`)
	p.until("the place", `scrollY === 1500`)
	stayed := `scrollY === 1500 && document.querySelectorAll("[role=tab]")[1].getAttribute("aria-selected") === "true" && document.querySelector("#bindery-content details").open`
	kept := stayed + ` && document.documentElement.classList.contains("dark")` // which the page reads as it loads

	// An edit of text leaves the page where it is; one that scripts have a part in
	// loads it.
	p.run(`window.stayed = true`)
	begun := time.Now()
	p.save("index.mdx", longPage("Top.", "Written second."))
	p.until("the edit", `document.body.innerText.includes("Written second.") && !document.body.innerText.includes("Written first.")`)
	t.Logf("the page changed %s after it was saved", time.Since(begun).Round(time.Millisecond))
	p.until("what the reader chose", `window.stayed && `+stayed)
	p.save("index.mdx", longPage("Top.", "Written *second*, with [a link](/other).\n\n- And\n- a list."))
	p.until("the edit of more", `document.querySelector("#content em").textContent === "second" && document.querySelector("#content li a, #content p a").pathname.endsWith("/other.html") && document.querySelectorAll("#content p ~ ul li").length === 2 && window.stayed && `+stayed)
	p.save("index.mdx", strings.Replace(longPage("Top.", "Written *second*."), "Second.", "Second, in a tab.", 1))
	p.until("the edit in a tab", `document.body.textContent.includes("Second, in a tab.") && !document.body.innerText.includes("a list.") && `+stayed)
	p.run(`window.stayed = true`)
	p.save("index.mdx", strings.Replace(longPage("Top.", "Written *second*."), "## Place", "## Place of it", 1))
	p.until("the edit of a heading", `document.getElementById("place-of-it") && document.querySelector("#bindery-contents a[href$='#place-of-it']") && !window.stayed`)
	p.save("index.mdx", longPage("Top.", "Written second."))
	p.until("the heading as it was", `document.getElementById("place") && `+kept)
	p.save("snippets/part.mdx", "Part as it is.\n")
	p.until("the snippet", `document.body.innerText.includes("Part as it is.") && `+kept)
	p.save("docs.json", strings.Replace(devConfig, "Old name", "New name", 1))
	p.until("the configuration", `document.title.includes("New name") && `+kept)

	// What is put above the place that is read moves it, not the reader.
	p.run(`document.getElementById("place").scrollIntoView()`)
	p.until("the heading", `Math.abs(document.getElementById("place").getBoundingClientRect().top) < 200`)
	p.save("index.mdx", longPage(strings.Repeat("Put above.\n\n", 20), "Written third."))
	p.until("the heading after the edit", `document.body.innerText.includes("Put above.") && Math.abs(document.getElementById("place").getBoundingClientRect().top) < 200`)

	// What can't be read is shown over the last page.
	p.save("index.mdx", longPage("Top.", "Written <b>fourth."))
	p.until("the fault", inPanel(".alert")+`.checkVisibility() && `+inPanel(".alert")+`.textContent.includes("index.mdx:") && document.body.innerText.includes("Written third.")`)
	p.until("the line of the fault", inPanel(".alert pre")+`.textContent.includes("Written <b>fourth.")`)
	p.save("index.mdx", longPage("Top.", "Written fifth, with [a link](/nowhere)."))
	p.until("the mend", `document.body.innerText.includes("Written fifth") && !`+inPanel(".alert")+`.checkVisibility()`)
	p.save("docs.json", `{"name": "Old name",`)
	p.until("the fault of docs.json", inPanel(".alert")+`.checkVisibility() && `+inPanel(".alert")+`.textContent.includes("docs.json:1:") && document.body.innerText.includes("Written fifth")`)
	p.save("docs.json", devConfig)
	p.until("the mend of docs.json", `document.title.includes("Old name") && !`+inPanel(".alert")+`.checkVisibility()`)

	// The panel, by keyboard and pointer.
	p.until("the finding", inPanel(".toggle")+`.textContent === "1 finding" && !`+inPanel("#findings")+`.checkVisibility()`)
	p.run(inPanel(".toggle") + `.click()`)
	p.until("the panel", inPanel("#findings")+`.textContent.includes("link-missing") && `+inPanel(".toggle")+`.getAttribute("aria-expanded") === "true"`)
	p.run(inPanel("#findings .place") + `.click()`)
	select {
	case at := <-opened:
		want := strings.Index(longPage("Top.", "Written fifth"), "Written fifth")
		line := strings.Count(longPage("Top.", "")[:want], "\n") + 1
		real, err := filepath.EvalSymlinks(filepath.Join(dir, "index.mdx"))
		if err != nil || at.file != real || at.line != line || at.column < 2 {
			t.Errorf("the editor opened %+v, want line %d of %s", at, line, real)
		}
	case <-time.After(3 * time.Minute):
		t.Error("the editor did not open")
	}
	p.run(inPanel("#findings") + `.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true}))`)
	p.until("the closed panel", `!`+inPanel("#findings")+`.checkVisibility()`)

	// A page that comes and goes.
	if err := chromedp.Do(ctx, browse.Navigate(web.URL+"/new/page")); err != nil {
		t.Fatal(err)
	}
	p.until("no page", `document.getElementById("bindery-dev") && !document.body.innerText.includes("Just made.")`)
	p.save("new/page.mdx", "---\ntitle: New\n---\n\nJust made.\n")
	p.until("the new page", `document.body.innerText.includes("Just made.")`)
	if err := os.RemoveAll(filepath.Join(dir, "new")); err != nil {
		t.Fatal(err)
	}
	p.until("no page any longer", `!document.body.innerText.includes("Just made.")`)
	stop()
	for _, complaint := range complaints() {
		// Connections of pages that were left, and the page that was not there.
		if !strings.Contains(complaint, "ERR_ABORTED") && !strings.Contains(complaint, "/new/page") {
			t.Error(complaint)
		}
	}
}

// TestDevFindsWhatWasWritten searches for words that a page has since it was saved.
func TestDevFindsWhatWasWritten(t *testing.T) {
	dir := devSite(t, map[string]string{"docs.json": devConfig, "index.mdx": longPage("Top.", "Text."), "other.mdx": "---\ntitle: Other\n---\n\nText.\n", "snippets/part.mdx": "Part.\n"})
	web, reports := previewed(t, dir)
	<-reports
	index := func() (all string) {
		for _, name := range []string{"bindery/search/site.js", "bindery/search/site/t0.js"} {
			if status, text := get(t, web, name); status == http.StatusOK {
				all += text
			}
		}
		return all
	}
	if all := index(); all == "" || strings.Contains(all, "Zyzzyva") {
		t.Fatalf("the index before: %.200s", all)
	}
	write(t, filepath.Join(dir, "other.mdx"), "---\ntitle: Zyzzyva\n---\n\nText.\n")
	for begun := time.Now(); !strings.Contains(index(), "Zyzzyva"); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > 3*time.Minute {
			t.Fatal("the index does not have the new title")
		}
	}
}
