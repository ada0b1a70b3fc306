package dashboard_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/dashboard"
)

var leads = regexp.MustCompile(` (?:href|src|action)="(/[^"]*)"`)

// TestBelowAPath: a dashboard at an address with a path, which what serves it takes
// away, leads nowhere but below that path, and needs nothing but text.
func TestBelowAPath(t *testing.T) {
	w := newWorld(t, func(o *dashboard.Options) { o.URL, o.TextOnly = o.URL+"/prod", true })
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleOwner)
	org := "/org/" + x.ID
	loaded := map[string]bool{}
	for _, path := range []string{"/me", org + "/exports", org + "/exports/new", org + "/projects", org + "/projects/" + x.project.ID, org + "/keys",
		org + "/keys/new", org + "/agents", org + "/usage", org + "/members", org + "/audit", "/nowhere"} {
		page := b.get(path)
		if page.status >= 500 {
			t.Errorf("%s: %d", path, page.status)
		}
		found := leads.FindAllStringSubmatch(page.body, -1)
		if len(found) < 5 {
			t.Errorf("%s leads only to %v", path, found)
		}
		for _, m := range found {
			if !strings.HasPrefix(m[1], "/prod/") {
				t.Errorf("%s leads to %s", path, m[1])
			}
			if asset := strings.TrimPrefix(m[1], "/prod"); strings.HasPrefix(asset, "/assets/") {
				loaded[asset] = true
			}
		}
	}
	if to := b.get("/").header.Get("Location"); to != "/prod"+org+"/exports" {
		t.Errorf("home leads to %s", to)
	}
	if to := w.browser().get(org + "/keys").header.Get("Location"); to != "/prod/sign-in?next=%2Forg%2F"+x.ID+"%2Fkeys" {
		t.Errorf("who is not signed in is led to %s", to)
	}
	if len(loaded) < 3 {
		t.Errorf("only %v are loaded", loaded)
	}
	for asset := range loaded {
		a := b.do(http.MethodGet, asset, nil, "Accept-Encoding", "gzip").says(t, asset, 200)
		if a.header.Get("Content-Encoding") != "" {
			t.Errorf("%s is compressed", asset)
		}
		if strings.HasSuffix(asset, ".css") && (!strings.Contains(a.body, "url(data:font/woff2;base64,") || strings.Contains(a.body, "url(/") || strings.Contains(a.body, "url(..")) {
			t.Errorf("%s loads something that is not text", asset)
		}
		if !strings.Contains(a.header.Get("Content-Security-Policy"), "font-src data:;") {
			t.Errorf("the policy is %s", a.header.Get("Content-Security-Policy"))
		}
	}
}

// TestTheFontIsLoaded: it stands beside the style sheet.
func TestTheFontIsLoaded(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	sheet := regexp.MustCompile(`/assets/[^"]*\.css`).FindString(b.get("/sign-in").body)
	font := regexp.MustCompile(`url\(\.\.(/[^)]*\.woff2)\)`).FindStringSubmatch(b.get(sheet).body)
	if font == nil {
		t.Fatal("the style sheet has no font")
	}
	if a := b.get("/assets"+font[1]).says(t, "the font", 200); a.header.Get("Content-Type") != "font/woff2" {
		t.Errorf("the font is %s", a.header.Get("Content-Type"))
	}
}
