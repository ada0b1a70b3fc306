package dashboard_test

import (
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/dashboard"
)

// Every page and form, asked for by everybody: what a role allows is answered, what
// it does not is refused without a change, and another organisation's is not there.
func TestEveryPageForEveryRole(t *testing.T) {
	w := newWorld(t)
	own, foreign := w.tenant("Own", "docs.example.com"), w.tenant("Foreign", "docs.example.net")
	people := map[string]*browser{"nobody": w.browser(), "stranger": w.as(foreign, "stranger", admin.RoleOwner)}
	for _, r := range admin.Roles() {
		people[string(r)] = w.as(own, string(r), r)
	}
	w.as(own, "second", admin.RoleOwner)
	before := w.changes(own)
	for _, r := range dashboard.Routes(t) {
		if r.Action == "" {
			continue
		}
		path := strings.NewReplacer("{org}", own.ID, "{project}", own.project.ID, "{key}", "key_none", "{job}", "exp_none",
			"{snapshot}", "snp_none", "{person}", "psn_none", "{webhook}", "whk_none", "{delivery}", "evt_none", "{$}", "").Replace(r.Path)
		for name, b := range people {
			what := name + " " + r.Method + " " + r.Path
			var got answer
			if r.Method == http.MethodPost {
				// Nothing that a form needs: even who may, changes nothing.
				got = b.post(path)
			} else {
				got = b.get(path)
			}
			checkShape(t, what, got)
			may := b.person.ID != "" && name != "stranger" && admin.Caller{Person: b.person.ID, Role: admin.Role(name)}.May(r.Action) == nil
			switch {
			case name == "nobody" && r.Method == http.MethodPost:
				got.says(t, what, http.StatusUnauthorized)
			case name == "nobody":
				if got.says(t, what, http.StatusSeeOther); !strings.HasPrefix(got.header.Get("Location"), "/sign-in?next=") {
					t.Errorf("%s leads to %s", what, got.header.Get("Location"))
				}
			case name == "stranger":
				got.says(t, what, http.StatusNotFound)
			case !may:
				got.says(t, what, http.StatusForbidden)
			case got.status == http.StatusForbidden && r.Path != "/org/{org}/members/{person}/remove" || got.status == http.StatusUnauthorized || got.status >= 500:
				t.Errorf("%s: status %d: %s", what, got.status, got.text())
			}
			if strings.Contains(got.body, "Foreign") && name != "stranger" || strings.Contains(got.body, own.project.Domain) && name == "stranger" {
				t.Errorf("%s shows another organisation", what)
			}
		}
	}
	if after := w.changes(own); after != before+1 { // the project that an owner or admin ended
		t.Errorf("%d changes, want 1", after-before)
	}
	if log := w.log.String(); strings.Contains(log, "level=ERROR") {
		t.Error(log)
	}
}

// checkShape asserts what holds for every answer: nothing inline, in no frame, kept
// nowhere.
func checkShape(t *testing.T, what string, got answer) {
	t.Helper()
	for _, inline := range []string{"<style", " style=", " onclick=", "<script>", "javascript:"} {
		if strings.Contains(got.body, inline) {
			t.Errorf("%s has %q", what, inline)
		}
	}
	policy := got.header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s lacks headers: %v", what, got.header)
	}
}

// changes counts the entries of an organisation's audit log.
func (w *world) changes(x tenant) int {
	w.t.Helper()
	entries, _, err := w.Audit(w.ctx, w.Operator(x.ID), admin.AuditList{Limit: admin.MaxPage})
	if err != nil {
		w.t.Fatal(err)
	}
	return len(entries)
}

func TestAKeyIsMadeShownOnceAndRevoked(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleAdmin)
	base := "/org/" + x.ID + "/keys"
	b.get(base).says(t, "keys", 200, x.project.ID, "There is no key yet")

	wrong := b.post(base, "name", "docs <b>pipeline</b>", "scopes", "read", "expiry", "30", "allowedAddresses", "192.0.2.0/24\r\nnonsense")
	wrong.says(t, "a wrong network", 400, `"nonsense" is not an address`)
	for _, kept := range []string{`value="docs &lt;b&gt;pipeline&lt;/b&gt;"`, "192.0.2.0/24", `value="30" selected`, `value="read" checked`, `aria-invalid="true"`} {
		if !strings.Contains(wrong.body, kept) {
			t.Errorf("the form lost %q", kept)
		}
	}
	if strings.Contains(wrong.body, `value="write" checked`) {
		t.Error("the form has a scope that was not chosen")
	}
	b.post(base, "name", " ", "scopes", "read", "expiry", "30").says(t, "no name", 400, "Is empty.")
	b.post(base, "name", "x", "expiry", "30").says(t, "no scope", 400, "Choose at least one.")
	b.post(base, "name", "x", "scopes", "read", "expiry", "date", "expiresAt", "2026-03-13").says(t, "yesterday", 400, "Must be in the future.")
	b.post(base, "name", "x", "scopes", "read", "expiry", "99999").says(t, "a made-up expiry", 400, "Choose one of the list.")

	b.post(base, "name", "x", "scopes", "read", "expiry", "7", "domain", "docs.example.net").says(t, "a foreign domain", 400, "No project of the organisation has it.")

	shown := b.post(base, "name", "docs pipeline", "domain", "docs.example.com", "scopes", "read", "scopes", "write", "expiry", "7", "allowedAddresses", "127.0.0.1").
		says(t, "a key", 303).header.Get("Location")
	made := b.get(shown).says(t, "the key", 200, "export BINDERY_ADMIN_KEY=bnd_", "export BINDERY_URL="+w.server.URL, "Copy the key now")
	secret := regexp.MustCompile(`bnd_\w{38}`).FindString(made.body)
	if _, err := w.Authenticate(w.ctx, "Bearer "+secret, b.addr(), admin.ScopeWrite); err != nil {
		t.Fatal(err)
	}
	if again := b.get(shown).says(t, "the key, reloaded", 200, "was shown once"); strings.Contains(again.body, secret) {
		t.Error("the key is shown twice")
	}
	list := b.get(base).says(t, "the list", 200, "docs pipeline", "…"+secret[len(secret)-4:], "read, write docs.example.com", "21 Mar 2026", "127.0.0.1/32", "you")
	if strings.Contains(list.body, secret) {
		t.Error("the list shows the key")
	}
	if n := strings.Count(list.body, `/revoke"`); n != 1 {
		t.Errorf("there are %d keys, want one", n)
	}
	revoke := regexp.MustCompile(`href="([^"]+/revoke)"`).FindStringSubmatch(list.body)[1]
	b.get(revoke).says(t, "the question", 200, "Revoke this key?", "docs pipeline")
	if _, err := w.Authenticate(w.ctx, "Bearer "+secret, b.addr(), admin.ScopeWrite); err != nil {
		t.Error("the question itself revoked the key")
	}
	b.post(revoke).says(t, "revoking", 303)
	if _, err := w.Authenticate(w.ctx, "Bearer "+secret, b.addr(), admin.ScopeWrite); admin.CodeOf(err) != admin.CodeUnauthorized {
		t.Errorf("after revoking: %v", err)
	}
	b.get(base+"?done=revoked").says(t, "the list", 200, "The key was revoked.", "revoked")
	if a := b.get(base + "?done=<script>alert(1)</script>"); strings.Contains(a.body, "alert(1)") {
		t.Error("a page repeats what its address says")
	}
	for range 9 {
		b.post(base, "name", "x", "scopes", "read", "expiry", "7").says(t, "another", 303)
	}
	full := b.post(base, "name", "x", "scopes", "read", "expiry", "7").says(t, "the eleventh", 429, "10 admin keys in an hour")
	if full.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

func TestKeysAndOwnersNeedARecentSignIn(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleOwner)
	other := w.as(x, "grace", admin.RoleMember)
	base := "/org/" + x.ID
	w.Advance(16 * time.Minute)
	before := w.changes(x)
	b.get(base+"/keys/new").says(t, "the form", 403, "Sign in again", "bindery sign-in")
	b.post(base+"/keys", "name", "x", "scopes", "read", "expiry", "7").says(t, "a key", 403, "Sign in again")
	b.post(base+"/members", "address", "x@example.com", "role", "owner").says(t, "an owner", 403, "Sign in again")
	b.post(base+"/members/"+other.person.ID+"/role", "role", "owner").says(t, "an owner by role", 403, "Sign in again")
	if w.changes(x) != before {
		t.Error("something changed")
	}
	b.post(base+"/members", "address", "x@example.com", "role", "viewer").says(t, "a viewer", 303)
	b.get(base+"/keys").says(t, "the keys", 200)
	b.signIn()
	b.get(base+"/keys/new").says(t, "the form", 200)
	b.post(base+"/members/"+other.person.ID+"/role", "role", "owner").says(t, "an owner by role", 303)
}

func TestFormsOfOtherSitesChangeNothing(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleOwner)
	before := w.changes(x)
	form := url.Values{"name": {"x"}, "scopes": {"read"}, "expiry": {"7"}}
	for _, r := range dashboard.Routes(t) {
		if r.Method != http.MethodPost {
			continue
		}
		path := strings.NewReplacer("{org}", x.ID, "{project}", x.project.ID, "{person}", b.person.ID).Replace(r.Path)
		for _, header := range [][]string{
			{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"},
			{"Sec-Fetch-Site", "same-site", "Origin", "http://evil.localhost"},
			{"Sec-Fetch-Site", "", "Origin", "https://evil.example"},
			{"Sec-Fetch-Site", "", "Origin", "null"},
		} {
			b.do(http.MethodPost, path, form, header...).says(t, r.Path+" "+strings.Join(header, " "), 403, "sent from another site")
		}
	}
	if w.changes(x) != before || b.get("/me").status != 200 {
		t.Error("something changed")
	}
}

func TestWhatIsTypedIsEscaped(t *testing.T) {
	w := newWorld(t)
	const evil = `"><script>alert(1)</script>`
	x := w.tenant(evil, "docs.example.com")
	b := w.as(x, "ada", admin.RoleOwner)
	if _, err := w.SignIn(w.ctx, admin.Identity{Issuer: "https://id.example.com", Subject: "ada", Address: "ada@example.com", Verified: true, Name: evil}, netip.Addr{}); err != nil {
		t.Fatal(err)
	}
	base := "/org/" + x.ID
	b.get(b.post(base+"/keys", "name", evil, "scopes", "read", "expiry", "7").says(t, "a key", 303).header.Get("Location")).says(t, "the key", 200)
	q := url.QueryEscape(evil)
	for _, path := range []string{
		"/me", base + "/keys", base + "/exports?domain=" + q, base + "/exports?status=" + q, base + "/exports/new?domain=" + q, base + "/audit?action=" + q,
		base + "/audit", base + "/members", base + "/agents?project=" + q, base + "/exports/" + url.PathEscape(evil), "/sign-in?next=" + q, "/" + q,
	} {
		if a := b.get(path); strings.Contains(a.body, "<script>alert") {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	a := b.get(base + "/keys?done=%0d%0aSet-Cookie:%20x=1&cursor=%0d%0aX:1")
	if a.header.Get("X") != "" || len(a.header["Set-Cookie"]) > 0 {
		t.Errorf("headers of the address: %v", a.header)
	}
}

func TestMembersComeAndGo(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleOwner)
	base := "/org/" + x.ID + "/members"
	b.post(base, "address", "not an address", "role", "viewer").says(t, "no address", 400, "Must be a mail address")
	b.post(base, "address", "new@example.com", "role", "viewer").says(t, "an invitation", 303)
	b.get(base).says(t, "members", 200, "new@example.com", "ada (you)")
	b.post(base+"/withdraw", "address", "new@example.com").says(t, "withdrawing", 303)
	b.post(base+"/"+b.person.ID+"/remove").says(t, "the last owner", 409, "An organisation needs an owner")
	grace := w.as(x, "grace", admin.RoleViewer)
	grace.get("/org/"+x.ID+"/exports").says(t, "the viewer", 200)
	b.get(base+"/"+grace.person.ID+"/remove").says(t, "the question", 200, "Remove this member?")
	b.post(base+"/"+grace.person.ID+"/remove").says(t, "removing", 303)
	gone := grace.get("/org/"+x.ID+"/exports").says(t, "the removed viewer", 303)
	if !strings.HasPrefix(gone.header.Get("Location"), "/sign-in") {
		t.Errorf("leads to %s", gone.header.Get("Location"))
	}
	grace.get("/me").says(t, "the removed viewer's session", 303)
}

func TestProjectsAreMadeAndConfigured(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleAdmin)
	base := "/org/" + x.ID + "/projects"
	b.post(base, "domain", "docs.example.com", "repository", "https://git.example.com/x", "kind", "air-gapped").
		says(t, "a domain that is taken", 409, "belongs to another project")
	b.post(base, "domain", "two.example.com", "repository", "git", "kind", "cloud").says(t, "no address", 400, "Must be an absolute URL")
	made := b.post(base, "domain", "two.example.com", "repository", "https://git.example.com/x", "kind", "air-gapped").says(t, "a project", 303)
	path := strings.Split(made.header.Get("Location"), "?")[0]
	b.get(path).says(t, "the project", 200, "two.example.com", "Search available configurable unavailable off", "bindery publish . --domain two.example.com")
	if form := b.get(path + "/settings"); !strings.Contains(form.body, `name="agent.readRepository" value="1" checked`) {
		t.Error("agents of a new project may not read its repository")
	}
	wrong := b.post(path+"/settings", "kind", "air-gapped", "settings.search", "http://clear.example.com", "settings.playground", "1").
		says(t, "http", 400, "Must be \"bundled\" or the https address")
	if !strings.Contains(wrong.body, `name="settings.playground" value="1" checked`) || strings.Contains(wrong.body, `name="settings.canonicalHtml" value="1" checked`) {
		t.Error("the form lost its checkboxes")
	}
	b.post(path+"/settings", "kind", "air-gapped", "settings.search", "bundled", "settings.allowHosts", "b.example.com\r\na.example.com", "agent.repositories", "cli=https://git.example.com/acme/cli\r\nsdk=https://git.example.com/acme/sdk", "retention.bundleDays", "30").says(t, "settings", 303)
	b.post(path+"/settings", "kind", "air-gapped", "agent.repositories", "repo=https://git.example.com/acme/cli").says(t, "a name that is taken", 400, "can't be a name")
	lists := b.get(path + "/settings")
	for _, lines := range []string{">a.example.com\nb.example.com<", ">cli=https://git.example.com/acme/cli\nsdk=https://git.example.com/acme/sdk<"} {
		if !strings.Contains(lists.body, lines) {
			t.Errorf("the settings lack the lines %q", lines)
		}
	}
	b.get(path).says(t, "the project", 200, "Search available configurable unavailable on by an index inside the bundle")
	if form := b.get(path + "/settings"); strings.Contains(form.body, `name="agent.readRepository" value="1" checked`) {
		t.Error("agents may still read the repository")
	}
	b.get(path+"/snapshots").says(t, "snapshots", 200, "Nothing was published yet")
	b.post(path+"/end").says(t, "the end", 303)
	b.get(path).says(t, "an ended project", 404)
}

func TestAgentJobsAreAskedAndFollowed(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleMember)
	base := "/org/" + x.ID + "/agents"
	b.get(base).says(t, "no jobs", 200, "No agent was asked yet")
	if form := b.get(base+"/new").says(t, "the form", 200, "best, large-1", "local, small-1"); !strings.Contains(form.body, `<option value="local">`) {
		t.Error("no model can be chosen")
	}
	kept := b.post(base, "project", x.project.ID, "prompt", "Mend the start page", "ref", "a b", "model", "local")
	kept.says(t, "a wrong branch", 400, "Must be the name of a branch or tag", "Mend the start page")
	if !strings.Contains(kept.body, `<option value="local" selected>`) {
		t.Error("the model that was chosen is forgotten")
	}
	once := strings.Repeat("A", 26)
	first := b.post(base, "project", x.project.ID, "prompt", "Mend the start page\r\nplease", "once", once).says(t, "a job", 303)
	again := b.post(base, "project", x.project.ID, "prompt", "Mend the start page\r\nplease", "once", once).says(t, "the same form", 303)
	if first.header.Get("Location") != again.header.Get("Location") {
		t.Error("sending a form twice asked twice")
	}
	path := strings.Split(first.header.Get("Location"), "?")[0]
	page := b.get(path).says(t, "the job", 200, "Mend the start page please", "Asked", "active")
	if !strings.Contains(page.body, `data-live="3000"`) {
		t.Error("the page does not follow the job")
	}
	b.post(path+"/message", "prompt", "And the title").says(t, "a message", 303)
	b.post(path+"/archive").says(t, "archiving an active job", 409)
	b.get(path+"/cancel").says(t, "the question", 200, "Cancel this agent job?")
	b.post(path+"/cancel").says(t, "cancelling", 303)
	b.get(base+"?status=active").says(t, "the list", 200, "best", "Mend the start page")
}
