package dashboard

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
)

// TestFromUpToAVisitedSite goes from the sign-in link of bindery up to a site on a host of its
// own with three clicks, and never to a terminal. The page "Your first site" of the
// documentation shows the same steps.
func TestFromUpToAVisitedSite(t *testing.T) {
	chromium := browse.Chromium(t)
	site := filepath.Join(t.TempDir(), "handbook")
	written(t, site, "docs.json", []byte(`{"name": "Handbook", "colors": {"primary": "#0f766e"}, "navigation": {"groups": [{"group": "Start", "pages": ["index", "install"]}]}}`))
	written(t, site, "index.mdx", []byte("---\ntitle: Welcome\ndescription: What this handbook is about.\n---\n\nThe first words of the handbook.\n\n<Card title=\"Install\" icon=\"download\" href=\"/install\">\n  Takes a minute.\n</Card>\n"))
	written(t, site, "install.mdx", []byte("---\ntitle: Install\n---\n\nRun the installer.\n"))
	u := harness.Start(t, t.TempDir())
	link, err := u.Command(t, "sign-in", "--data", u.Data)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := browse.Open(t, chromium)
	defer stop()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1100, 720)); err != nil {
		t.Fatal(err)
	}
	w := walker{t, ctx}
	w.goTo(strings.TrimSpace(string(link)))
	w.at("Exports")
	browse.KeepPicture(t, ctx, "first-site", "steps")

	w.click(`main .steps a[href$="/publish"]`) // the first click
	w.at("Publish a folder")
	browse.KeepPicture(t, ctx, "first-site", "publish")
	// The second one opens the browser's own dialogue.
	if err := chromedp.Do(ctx, chromedp.SetUploadFiles("#folder", []string{site})); err != nil {
		t.Fatal(err)
	}
	w.until("the export ends", `location.pathname.includes("/exports/exp_") && (document.querySelector("main .status")||{}).innerText == "completed" && !document.querySelector("[data-live]")`)
	browse.KeepPicture(t, ctx, "first-site", "export")
	w.click(`main .head a[href$="/visit"]`) // the third
	w.until("the site", `document.readyState == "complete" && location.hostname.endsWith(".localhost") && document.body.innerText.includes("The first words of the handbook.")`)
	browse.KeepPicture(t, ctx, "first-site", "site")
	if at := w.eval("location.pathname + location.search"); at != "/" {
		t.Errorf("the address of the site still has %s", at)
	}
	w.click(`main a[href*="install"]`)
	w.until("the next page", `document.body.innerText.includes("Run the installer.")`)

	// It is live, too.
	w.goTo(u.URL + "/")
	project := strings.TrimSuffix(w.eval("location.href"), "/exports") + "/projects/" + u.Project
	w.goTo(project)
	browse.KeepPicture(t, ctx, "first-site", "project")
	// A page that was shown while an export ran is loaded again after its end, and rests then.
	w.eval(`(() => {
		window.old = true;
		document.getElementById("live").dataset.live = "50";
		const follow = document.createElement("script");
		follow.src = document.querySelector('script[src*="/dashboard."]').src;
		document.head.append(follow);
		return "";
	})()`)
	w.until("the page is loaded again", `!window.old && document.readyState == "complete" && document.getElementById("live") && !document.querySelector("[data-live]")`)
	w.click(`main .live a.button`)
	w.until("the live site", `location.hostname.startsWith("docs-example-com-") && document.body.innerText.includes("The first words of the handbook.")`)
}
