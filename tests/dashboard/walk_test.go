package dashboard

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
	"github.com/bindery-docs/bindery/tests/outside"
)

// walker is a person at a browser.
type walker struct {
	t   *testing.T
	ctx context.Context
}

func (w walker) goTo(address string) {
	w.t.Helper()
	if err := chromedp.Do(w.ctx, browse.Navigate(address)); err != nil {
		w.t.Fatalf("%s: %v", address, err)
	}
}

// eval returns what an expression of the page is, or a promise becomes.
func (w walker) eval(expression string) string {
	w.t.Helper()
	text, err := chromedp.Run(w.ctx, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		w.t.Fatalf("%s: %v", expression, err)
	}
	return text
}

// until waits for an expression to be true, across pages.
func (w walker) until(what, expression string) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		// Between two pages there is nothing to ask.
		if ok, err := chromedp.Run(w.ctx, chromedp.Evaluate[bool](expression)); err == nil && ok {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("never: %s, at %s:\n%s", what, w.eval("location.href"), w.eval("document.body.innerText"))
		}
	}
}

// at waits for a page by its heading.
func (w walker) at(heading string) {
	w.t.Helper()
	w.until("the page "+heading, `document.readyState == "complete" && (document.querySelector("h1")||{}).innerText == `+strconv.Quote(heading))
}

func (w walker) click(selector string) {
	w.t.Helper()
	w.until("a place for "+selector, `!!document.querySelector(`+strconv.Quote(selector)+`)`)
	if err := chromedp.Do(w.ctx, chromedp.Click(selector)); err != nil {
		w.t.Fatalf("%s: %v", selector, err)
	}
}

func (w walker) fill(selector, value string) {
	w.t.Helper()
	w.until("a place for "+selector, `!!document.querySelector(`+strconv.Quote(selector)+`)`)
	w.eval(`(e => { e.focus(); e.value = ` + strconv.Quote(value) + `; return ""; })(document.querySelector(` + strconv.Quote(selector) + `))`)
}

// choose has files chosen in a field.
func (w walker) choose(selector string, files map[string]string) {
	w.t.Helper()
	dir := w.t.TempDir()
	var paths []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		paths = append(paths, filepath.Join(dir, name))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(files[name]), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := chromedp.Do(w.ctx, chromedp.SetUploadFiles(selector, paths)); err != nil {
		w.t.Fatalf("%s: %v", selector, err)
	}
}

// signIn signs a person in at the provider, from the page that asks for it.
func (w walker) signIn(address, name string) {
	w.t.Helper()
	w.goTo(address)
	w.at("Sign in")
	w.provider(name)
}

// signInAgain makes the fresh sign-in that the page asks for.
func (w walker) signInAgain(name string) {
	w.t.Helper()
	w.at("Sign in again")
	w.provider(name)
}

// provider follows the button of a page to the provider and signs in there.
func (w walker) provider(name string) {
	w.t.Helper()
	w.click("main a.button")
	w.fill("input[name=login]", name)
	w.fill("input[name=password]", "any")
	w.click("button[type=submit]")
	w.until("consent", `document.body.innerText.includes("Authorize") || document.querySelector(".brand") != null`)
	if w.eval(`String(document.querySelector(".brand") == null)`) == "true" {
		w.click("button[type=submit]")
	}
	w.until("signed in", `document.body.innerText.includes("Sign out")`)
}

// TestAPersonWalksThroughTheDashboard signs in through a real OpenID provider, makes
// a key and copies it, publishes with it, starts an export on its page and watches it
// end, reads its findings, visits it live and holds it, downloads the bundle, and revokes the key, which the API
// refuses from then on. A viewer finds nothing to change there, and changes nothing
// by requests of another origin or made by hand.
func TestAPersonWalksThroughTheDashboard(t *testing.T) {
	chromium := browse.Chromium(t)
	addr := "127.0.0.1:" + outside.Port(t)
	id := harness.NewIDProvider(t)
	id.Serve(t, "http://"+addr+"/sign-in/callback")
	t.Setenv("BINDERY_OIDC_CLIENT_SECRET", id.Secret)
	u := harness.StartAt(t, t.TempDir(), addr, "--oidc-issuer", id.Issuer)
	domain := harness.SeededDomain(t, u)
	var orgs []struct{ ID string }
	out, err := u.Command(t, "org", "list", "--data", u.Data, "--json")
	if err == nil {
		err = json.Unmarshal(out, &orgs)
	}
	if err != nil || len(orgs) != 1 {
		t.Fatalf("%v in %s", err, out)
	}
	base := u.URL + "/org/" + orgs[0].ID
	for name, role := range map[string]string{"ada": "owner", "vic": "viewer"} {
		if _, err := u.Command(t, "person", "invite", name+"@example.com", "--data", u.Data, "--org", orgs[0].ID, "--role", role); err != nil {
			t.Fatal(err)
		}
	}
	site := t.TempDir()
	for name, text := range map[string]string{
		"docs.json": `{"name": "Sample", "navigation": {"pages": ["index"]}}`, "index.mdx": "---\ntitle: Hello\n---\n\nSome words, and [a link](/nowhere).\n",
	} {
		if err := os.WriteFile(filepath.Join(site, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := browse.Open(t, chromium)
	defer stop()
	ada := walker{t, ctx}
	ada.signIn(base+"/keys", "ada")
	ada.at("API keys") // the page that was asked for

	ada.click("main .head a.button")
	ada.signInAgain("ada")
	ada.at("New API key")
	ada.fill("#name", "pipeline of the walk")
	ada.click("main form button")
	ada.at("Your new key")
	mine := *u
	mine.Key = ada.eval(`document.querySelector("main pre code").innerText`)
	if !regexp.MustCompile(`^bnd_\w{38}$`).MatchString(mine.Key) {
		t.Fatalf("the key is %q", mine.Key)
	}
	ada.click("main [data-copy]")
	ada.until("the key is copied, or marked to be", `document.querySelector("main [data-copy]").innerText != "Copy"`)
	if said := ada.eval(`document.querySelector("main [data-copy]").innerText + getSelection()`); said != "Copied" && !strings.HasSuffix(said, mine.Key) {
		t.Errorf("copying says %q", said)
	}
	if _, err := mine.Command(t, "publish", site, "--domain", domain); err != nil {
		t.Fatal(err)
	}

	ada.goTo(base + "/exports/new?domain=" + domain)
	ada.fill("#version", "walked")
	ada.click("main form button")
	ada.at(domain)
	ada.until("the page follows the export to its end", `document.querySelector(".status").innerText == "completed" && !document.querySelector("[data-live]")`)
	export := strings.Split(ada.eval("location.href"), "?")[0]
	ada.goTo(export + "/findings?severity=warning")
	ada.until("its findings with their line", `document.querySelector(".findings").innerText.includes("link-missing") && document.querySelector("pre.line").innerText == "Some words, and [a link](/nowhere)."`)
	ada.goTo(base + "/projects/" + u.Project)
	ada.until("the export is live", `document.querySelector("#now").innerText == "Live" && document.querySelector("section.live").innerText.includes("walked")`)
	for _, visit := range []string{"section.live a.button", `tbody a[href$="/visit"]`} {
		ada.goTo(base + "/projects/" + u.Project)
		ada.click(visit)
		ada.at("Hello")
		if at := ada.eval("location.href"); strings.HasPrefix(at, u.URL) || strings.Contains(at, "token") {
			t.Errorf("%s leads to %s", visit, at)
		}
	}
	ada.goTo(base + "/projects/" + u.Project)
	ada.click(`form[action$="/live"] button`)
	ada.until("the site is held", `!!document.querySelector(".said") && document.querySelector("section.live").innerText.includes("by you")`)
	ada.goTo(base + "/projects/" + u.Project + "/live")
	ada.until("the history", `document.querySelector("tbody").innerText.includes("walked")`)
	ada.goTo(export)
	ada.click(`form[action*="/bundle"] button`)
	ada.until("a link", `!!document.querySelector("main a[download]")`)
	response, err := http.Get(ada.eval(`document.querySelector("main a[download]").href`))
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil || response.StatusCode != http.StatusOK || !strings.HasPrefix(string(bundle), "\x1f\x8b") {
		t.Errorf("the bundle: %s, %d bytes, %v", response.Status, len(bundle), err)
	}

	if status, _, _ := mine.Call(t, http.MethodGet, "/v1/projects", ""); status != http.StatusOK {
		t.Errorf("before it is revoked, the key gets %d", status)
	}
	ada.goTo(base + "/keys")
	ada.eval(`[...document.querySelectorAll("tbody tr")].find(r => r.innerText.includes("pipeline of the walk")).querySelector("a.button").click() || ""`)
	ada.at("Revoke this key?")
	ada.click("main form button")
	ada.at("API keys")
	if status, _, _ := mine.Call(t, http.MethodGet, "/v1/projects", ""); status != http.StatusUnauthorized {
		t.Errorf("after it was revoked, the key gets %d", status)
	}

	viewerChangesNothing(t, chromium, u, base, export, id.Issuer)
	ada.eval(`document.querySelector("form[action='/sign-out'] button").click() || ""`)
	ada.until("signed out", `!document.body.innerText.includes("Sign out")`)
	ada.goTo(base + "/keys")
	ada.at("Sign in")
}

// viewerChangesNothing is the part of a viewer.
func viewerChangesNothing(t *testing.T, chromium string, u *harness.Up, base, export, issuer string) {
	t.Helper()
	ctx, stop := browse.Open(t, chromium)
	defer stop()
	vic := walker{t, ctx}
	vic.signIn(base+"/exports", "vic")
	vic.at("Exports")
	count := func() string {
		t.Helper()
		out, err := u.Command(t, "audit", "--data", u.Data, "--org", strings.TrimPrefix(base, u.URL+"/org/"))
		if err != nil {
			t.Fatal(err)
		}
		return strconv.Itoa(strings.Count(string(out), "\n"))
	}
	before := count()
	project := base + "/projects/" + u.Project
	for _, page := range []string{base + "/exports", export, export + "/findings", base + "/projects", project, project + "/snapshots", base + "/agents", base + "/usage", base + "/members"} {
		vic.goTo(page)
		// Signing out and a link to the bundle change nothing.
		if forms := vic.eval(`[...document.querySelectorAll("form[method=post]:not([action='/sign-out'], [action*='/bundle'])")].map(f => f.action).join()`); forms != "" {
			t.Errorf("%s offers a viewer %s", page, forms)
		}
	}
	for _, form := range []string{"/exports", "/keys", "/projects", "/members", "/webhooks", "/agents", strings.TrimPrefix(export, base) + "/cancel", strings.TrimPrefix(project, base) + "/end"} {
		status := vic.eval(`fetch(` + strconv.Quote(base+form) + `, {method: "POST", body: new URLSearchParams({name: "x", scopes: "read", expiry: "7", domain: "docs.example.com", role: "owner", address: "vic@example.com"})}).then(r => String(r.status))`)
		if status != "403" {
			t.Errorf("a viewer's own request to %s gets %s", form, status)
		}
	}
	for _, page := range []string{"/keys", "/webhooks", "/audit", "/exports/new", "/projects/new", "/projects/" + u.Project + "/publish"} {
		if status := vic.eval(`fetch(` + strconv.Quote(base+page) + `).then(r => String(r.status))`); status != "403" {
			t.Errorf("a viewer gets %s for %s", status, page)
		}
	}
	// From another origin of the same host, where the browser sends the cookie.
	vic.goTo(issuer + "/.well-known/openid-configuration")
	vic.eval(`fetch(` + strconv.Quote(u.URL+"/sign-out") + `, {method: "POST", mode: "no-cors", credentials: "include", body: new URLSearchParams({a: "b"})}).then(() => "", () => "")`) // its answer is not for that origin
	vic.goTo(base + "/exports")
	vic.at("Exports") // still signed in
	if after := count(); after != before {
		t.Errorf("the audit log went from %s to %s entries", before, after)
	}
}
