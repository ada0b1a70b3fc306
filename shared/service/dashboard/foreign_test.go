package dashboard_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/dashboard"
	"github.com/bindery-docs/bindery/tests/outside"
)

// What another organisation has is not there under one's own, however it is asked
// for: every page and form with an id, by an owner.
func TestForeignIDsUnderOnesOwnOrganisation(t *testing.T) {
	outside.NoRace(t, "it asks for one page after another")
	w := newWorld(t)
	x, _, fill := full(w)
	other := w.tenant("Other", "docs.example.net")
	eve := w.as(other, "eve", admin.RoleOwner)
	before := w.changes(x) + w.changes(other)
	for _, r := range dashboard.Routes(t) {
		own := strings.Replace(r.Path, "{org}", other.ID, 1)
		path := fill.Replace(own)
		if r.Action == "" || path == own || strings.HasSuffix(own, "{$}") {
			continue
		}
		var got answer
		if r.Method == http.MethodPost {
			got = eve.post(path, "role", "viewer", "kind", "cloud", "prompt", "x", "base", "snp_1")
		} else {
			got = eve.get(path)
		}
		want := []int{http.StatusNotFound}
		if own == "/org/"+other.ID+"/members/{person}/remove" && r.Method == http.MethodGet {
			want = []int{http.StatusOK} // it asks before it looks
		}
		if !slices.Contains(want, got.status) {
			t.Errorf("%s %s: status %d, want %v: %s", r.Method, r.Path, got.status, want, got.text())
		}
		if strings.Contains(got.body, x.project.Domain) {
			t.Errorf("%s %s shows what is another organisation's", r.Method, r.Path)
		}
	}
	if after := w.changes(x) + w.changes(other); after != before {
		t.Errorf("%d changes", after-before)
	}
}

// No address and no field writes a line of its own into the log.
func TestNoForgedLinesInTheLog(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleOwner)
	base := "/org/" + x.ID
	const evil = "%0Atime=2026-01-01T00:00:00Z%20level=ERROR%20msg=forged"
	for _, path := range []string{"/org/" + evil + "/exports", base + "/exports/x" + evil, base + "/webhooks/" + evil, base + "/audit?actor=" + evil, "/sign-in?next=" + evil, "/" + evil} {
		b.get(path)
	}
	b.post(base+"/keys", "name", "x\r\ntime=2026 level=ERROR msg=forged", "scopes", "read", "expiry", "7")
	b.do(http.MethodGet, base+"/exports", nil, "User-Agent", "x\ttime=2026 level=ERROR msg=forged")
	for line := range strings.Lines(w.log.String()) {
		if !strings.HasPrefix(line, "time=") || strings.HasPrefix(line, "time=2026-01-01") || strings.Contains(line, " level=ERROR ") {
			t.Errorf("a line of the log: %s", line)
		}
	}
}
