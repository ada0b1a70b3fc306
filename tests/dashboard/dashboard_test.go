package dashboard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
	"github.com/bindery-docs/bindery/tests/outside"
)

// transferred is how many bytes a page and what it loads have on the wire, as a
// first visitor gets them.
const transferred = `[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].reduce((n, e) => n + e.encodedBodySize, 0)`

// maxTransferred is the budget of a page without what the records say.
const maxTransferred = 60_000

// sideways reports whether the page scrolls sideways, or on a phone a list in it.
const sideways = `document.documentElement.scrollWidth > innerWidth || innerWidth < 640 && [...document.querySelectorAll(".scroll")].some(e => e.scrollWidth > e.clientWidth + 1)`

// TestTheDashboardInABrowser opens every page of the dashboard of a Bindery with a
// published and exported site, signed in by the link of another process: axe-core
// finds nothing, nothing is blocked by the policy, nothing scrolls sideways, the
// keyboard reaches everything, and each page is within its budget. make test-all opens
// each page in every look, other runs in one.
func TestTheDashboardInABrowser(t *testing.T) {
	chromium, axe := browse.Chromium(t), browse.AxeSource(t)
	site := t.TempDir()
	for name, text := range map[string]string{
		"docs.json": `{"name": "Sample", "navigation": {"pages": ["index"]}}`,
		"index.mdx": "---\ntitle: Hello\n---\n\nSome words, and [a link](/nowhere).\n",
	} {
		if err := os.WriteFile(filepath.Join(site, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	u := harness.Start(t, t.TempDir())
	for _, args := range [][]string{
		{"publish", site, "--domain", "docs.example.com"},
		{"export", "--domain", "docs.example.com", "--out", filepath.Join(t.TempDir(), "bundle.tar.gz")},
	} {
		if out, err := u.Command(t, args...); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	link, err := u.Command(t, "sign-in", "--data", u.Data)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := browse.Open(t, chromium)
	complaints := browse.Listen(ctx, u.URL)
	if err := chromedp.Do(ctx, browse.Navigate(strings.TrimSpace(string(link)))); err != nil {
		t.Fatal(err)
	}
	at := func(expression string) string {
		t.Helper()
		text, err := chromedp.Run(ctx, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	base := strings.TrimSuffix(at("location.href"), "/exports")
	export := at(`document.querySelector("tbody th a").href`)
	project := base + "/projects/" + u.Project
	// What the pages of webhooks and of snapshots show.
	send := func(path string, form string) {
		t.Helper()
		if status := at(`fetch("` + base + path + `", {method: "POST", body: new URLSearchParams("` + form + `")}).then(r => String(r.status))`); status != "200" {
			t.Fatalf("%s: %s", path, status)
		}
	}
	send("/webhooks", "url=https://hooks.example.com/docs&events=key.created&events=export.completed")
	send("/keys", "name=pipeline&scopes=read&scopes=write&expiry=30")
	// Two versions that went live: what rolls back has something to go back to.
	var versions []string
	for _, version := range []string{"one", "two"} {
		send("/exports", "domain=docs.example.com&version="+version)
		versions = append(versions, at(`(async () => {
			for (let page = ""; ; await new Promise(next => setTimeout(next, 200))) {
				page = await fetch("`+project+`").then(r => r.text());
				const now = new DOMParser().parseFromString(page, "text/html");
				const version = now.querySelector("#now").closest("section").querySelector("dd a");
				if (version && version.innerText == "`+version+`") return new URL(version.getAttribute("href"), location).href;
			}
		})()`))
	}
	linkOf := func(page, selector string) string {
		t.Helper()
		return at(`fetch("` + page + `").then(r => r.text()).then(t => new URL(new DOMParser().parseFromString(t, "text/html").querySelector("` + selector + `").getAttribute("href"), location).href)`)
	}
	webhook, snapshot := linkOf(base+"/webhooks", "tbody th a"), linkOf(project+"/snapshots", "tbody th a")
	pages := []string{
		base + "/webhooks", base + "/webhooks/new", webhook, webhook + "/rotate", webhook + "/remove", snapshot,
		u.URL + "/me", base + "/exports", base + "/exports/new", export, export + "/findings", export + "/cancel", base + "/projects", base + "/projects/new",
		project, project + "/publish", project + "/settings", project + "/snapshots", project + "/end", base + "/keys", base + "/keys/new", base + "/agents",
		project + "/deployments", project + "/live", project + "/rollback", versions[0] + "/promote", versions[1],
		base + "/agents/new", base + "/usage", base + "/members", base + "/audit",
	}
	for n, look := range browse.AxeLooks {
		if look.Width < 400 {
			look.Width = 375
		}
		if err := look.Set(ctx); err != nil {
			t.Fatal(err)
		}
		for i, page := range pages {
			if !outside.Full() && i%len(browse.AxeLooks) != n {
				continue
			}
			if err := chromedp.Do(ctx, browse.Navigate(page)); err != nil {
				t.Fatalf("%s (%s): %v", page, look.Name, err)
			}
			faults, err := chromedp.Run(ctx, chromedp.Evaluate[string](axe+browse.AxeRun, chromedp.EvalAwaitPromise))
			if err != nil || faults != "" {
				t.Errorf("%s (%s): %s (%v)", page, look.Name, faults, err)
			}
			if faults, err = chromedp.Run(ctx, chromedp.Evaluate[string](browse.TabWalk)); err != nil || faults != "" {
				t.Errorf("%s (%s): keyboard: %s (%v)", page, look.Name, faults, err)
			}
			if wide, err := chromedp.Run(ctx, chromedp.Evaluate[bool](sideways)); err != nil || wide {
				t.Errorf("%s (%s): scrolls sideways (%v)", page, look.Name, err)
			}
			if size, err := chromedp.Run(ctx, chromedp.Evaluate[float64](transferred)); err != nil || size == 0 || size > maxTransferred {
				t.Errorf("%s (%s): %.0f bytes (%v)", page, look.Name, size, err)
			}
			browse.KeepPicture(t, ctx, "dashboard"+strings.TrimPrefix(strings.TrimPrefix(page, base), u.URL), look.Name)
		}
	}
	// What the script does: a button that copies comes only with it.
	if hidden, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`fetch("`+project+`").then(r => r.text()).then(t => t.includes("data-copy hidden"))`, chromedp.EvalAwaitPromise)); err != nil || !hidden {
		t.Errorf("without JavaScript there are buttons that copy (%v)", err)
	}
	stop()
	for _, complaint := range complaints() {
		t.Error(complaint)
	}
	filesAreChosen(t, chromium, axe, u, base)
}

// filesAreChosen is the part of a form with files: the browser sends it in parts, and its
// refusal says which files to choose again.
func filesAreChosen(t *testing.T, chromium, axe string, u *harness.Up, base string) {
	t.Helper()
	link, err := u.Command(t, "sign-in", "--data", u.Data)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := browse.Open(t, chromium)
	defer stop()
	w := walker{t, ctx}
	w.goTo(strings.TrimSpace(string(link)))
	w.goTo(base + "/agents/new")
	w.fill("#prompt", "Describe the dialogue")
	w.choose("#attachments", map[string]string{"large.md": strings.Repeat("x", admin.MaxAttached+1)})
	if valid := w.eval(`String(document.querySelector("main form").checkValidity())`); valid != "false" {
		t.Error("a file that is too large may be sent")
	}
	w.choose("#attachments", map[string]string{"notes.md": "# Notes", "screen.png": "\x89PNG\r\n\x1a\n\x00\x00"})
	w.click("main form button")
	w.until("there is no forge, and the form says so", `!!document.querySelector("#attachments-again")`)
	if kept := w.eval(`document.querySelector("#prompt").value + "|" + document.querySelector("#attachments-again").innerText`); kept != "Describe the dialogue|Nothing was sent, so choose your files again: notes.md, screen.png." {
		t.Errorf("the form that was refused has %q", kept)
	}
	if faults := w.eval(axe + browse.AxeRun); faults != "" {
		t.Errorf("a refused form: %s", faults)
	}
	browse.KeepPicture(t, ctx, "dashboard-refused", "last")
}
