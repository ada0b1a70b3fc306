package admin_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

func TestCodesAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range admin.Codes() {
		if c == "" || seen[c] {
			t.Errorf("code %q is empty or there twice", c)
		}
		seen[c] = true
	}
}

// TestAuthenticate: who is let in, and as what the others are turned away.
func TestAuthenticate(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	key := func(change func(*admin.KeyRequest)) string {
		r := admin.KeyRequest{Organisation: x.ID, Name: "k"}
		change(&r)
		_, secret, err := w.CreateKey(w.ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		return "Bearer " + secret
	}
	good := "Bearer " + x.secret
	short := key(func(r *admin.KeyRequest) { r.ExpiresAt = begin.Add(time.Hour) })
	reader := key(func(r *admin.KeyRequest) { r.Scopes = []admin.Scope{admin.ScopeRead} })
	manager := key(func(r *admin.KeyRequest) { r.Scopes = []admin.Scope{admin.ScopeManage} })
	writer := key(func(r *admin.KeyRequest) { r.Scopes = []admin.Scope{admin.ScopeWrite} })
	office := key(func(r *admin.KeyRequest) {
		r.AllowedAddresses = []netip.Prefix{netip.MustParsePrefix("198.51.100.7/24"), netip.MustParsePrefix("2001:db8::/32")}
		r.Scopes = []admin.Scope{admin.ScopeRead}
	})
	other := newWorld(t).tenant("docs.example.com")
	w.Advance(59 * time.Minute)

	for _, c := range []struct {
		name, header, addr string
		scope              admin.Scope
		code               string
	}{
		{"a key", good, "192.0.2.1", admin.ScopeWrite, ""},
		{"the scheme in any case", strings.Replace(good, "Bearer", "bEARER", 1), "192.0.2.1", admin.ScopeRead, ""},
		{"nothing", "", "192.0.2.1", admin.ScopeRead, admin.CodeUnauthorized},
		{"no scheme", x.secret, "192.0.2.1", admin.ScopeRead, admin.CodeUnauthorized},
		{"another scheme", "Basic " + x.secret, "192.0.2.1", admin.ScopeRead, admin.CodeUnauthorized},
		{"a scheme alone", "Bearer ", "192.0.2.1", admin.ScopeRead, admin.CodeUnauthorized},
		{"two keys", good + " " + x.secret, "192.0.2.1", admin.ScopeRead, admin.CodeUnauthorized},
		{"a well-formed key of another service", "Bearer " + other.secret, "192.0.2.1", admin.ScopeRead, admin.CodeUnauthorized},
		{"not yet expired", short, "192.0.2.1", admin.ScopeRead, ""},
		{"read with read", reader, "192.0.2.1", admin.ScopeRead, ""},
		{"write with read", reader, "192.0.2.1", admin.ScopeWrite, admin.CodeScope},
		{"read with write", writer, "192.0.2.1", admin.ScopeRead, admin.CodeScope},
		{"manage with manage", manager, "192.0.2.1", admin.ScopeManage, ""},
		{"manage with read and write", good, "192.0.2.1", admin.ScopeManage, admin.CodeScope},
		{"read with manage", manager, "192.0.2.1", admin.ScopeRead, admin.CodeScope},
		{"from inside", office, "198.51.100.200", admin.ScopeRead, ""},
		{"from inside, as IPv4 in IPv6", office, "::ffff:198.51.100.200", admin.ScopeRead, ""},
		{"from inside, IPv6 with zone", office, "2001:db8::1%eth0", admin.ScopeRead, ""},
		{"from outside", office, "198.51.101.1", admin.ScopeRead, admin.CodeAddress},
		{"from outside, address before scope", office, "198.51.101.1", admin.ScopeWrite, admin.CodeAddress},
		{"from nowhere", office, "", admin.ScopeRead, admin.CodeAddress},
	} {
		t.Run(c.name, func(t *testing.T) {
			addr, _ := netip.ParseAddr(c.addr)
			caller, err := w.Authenticate(w.ctx, c.header, addr, c.scope)
			want(t, err, c.code)
			if err == nil && caller.OrganisationID != x.ID {
				t.Errorf("caller is of %s, want %s", caller.OrganisationID, x.ID)
			}
		})
	}

	w.Advance(time.Minute)
	_, err := w.Authenticate(w.ctx, short, netip.Addr{}, admin.ScopeRead)
	want(t, err, admin.CodeKeyExpired)

	for range 2 { // again is success
		if _, err := w.RevokeKey(w.ctx, x.ID, x.key.ID); err != nil {
			t.Fatal(err)
		}
	}
	_, err = w.Authenticate(w.ctx, good, netip.Addr{}, admin.ScopeRead)
	want(t, err, admin.CodeUnauthorized)
	_, err = w.RevokeKey(w.ctx, "org_other", x.key.ID)
	want(t, err, admin.CodeNotFound)
}

// TestATypoIsRefusedWithoutARead changes, drops and doubles every letter of a
// key: its checksum gives all of them away, so the store is never asked.
func TestATypoIsRefusedWithoutARead(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	blind := admin.New(admin.Options{}) // a read would be a nil dereference
	for i := range x.secret {
		for _, typo := range []string{
			x.secret[:i] + "x" + x.secret[i+1:], x.secret[:i] + "0" + x.secret[i+1:],
			x.secret[:i] + x.secret[i+1:], x.secret[:i] + x.secret[i:i+1] + x.secret[i:],
		} {
			if typo == x.secret {
				continue
			}
			_, err := blind.Authenticate(w.ctx, "Bearer "+typo, netip.Addr{}, admin.ScopeRead)
			want(t, err, admin.CodeUnauthorized)
		}
	}
}

func TestASecretIsNowhereInTheStore(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	keys, err := w.ListKeys(w.ctx, x.ID)
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	secret := x.secret[strings.Index(x.secret, "_")+1:]
	if text, err := json.Marshal(keys); err != nil || strings.Contains(string(text), secret) {
		t.Error("the secret part of a key is listed")
	}
	files, digests := 0, 0
	err = filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("the secret part of a key is in %s", d.Name())
		}
		if bytes.Contains(data, []byte(keys[0].Digest)) {
			digests++
		}
		files++
		return err
	})
	if err != nil || digests == 0 {
		t.Errorf("the key's digest is in none of %d files (%v)", files, err)
	}
	if !strings.HasPrefix(x.secret, "bnd_") {
		t.Errorf("key does not begin with its prefix")
	}
}

func TestKeyRequestsAreChecked(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	for field, r := range map[string]admin.KeyRequest{
		"name":                {Organisation: x.ID},
		"scopes[1]":           {Organisation: x.ID, Name: "k", Scopes: []admin.Scope{"read", "admin"}},
		"expiresAt":           {Organisation: x.ID, Name: "k", ExpiresAt: begin},
		"expiresAt ":          {Organisation: x.ID, Name: "k", ExpiresAt: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"allowedAddresses[0]": {Organisation: x.ID, Name: "k", AllowedAddresses: make([]netip.Prefix, 1)},
	} {
		_, _, err := w.CreateKey(w.ctx, r)
		wantField(t, err, strings.TrimSpace(field))
	}
	_, _, err := w.CreateKey(w.ctx, admin.KeyRequest{Organisation: "org_none", Name: "k"})
	want(t, err, admin.CodeNotFound)
}

// An organisation that is ended has no key that works and no domain; what was
// of others stays.
func TestAnOrganisationEnds(t *testing.T) {
	w := newWorld(t)
	x, y := w.tenant("docs.example.com"), w.tenant("docs.example.org")
	for range 2 { // again is success, and keeps the time
		o, err := w.RevokeOrganisation(w.ctx, x.ID)
		if err != nil || !o.RevokedAt.Equal(begin) {
			t.Fatal(o, err)
		}
		w.Advance(time.Hour)
	}
	for _, c := range []struct{ secret, code string }{{x.secret, admin.CodeUnauthorized}, {y.secret, ""}} {
		_, err := w.Authenticate(w.ctx, "Bearer "+c.secret, netip.Addr{}, admin.ScopeRead)
		want(t, err, c.code)
	}
	_, _, err := w.CreateKey(w.ctx, admin.KeyRequest{Organisation: x.ID, Name: "k"})
	want(t, err, admin.CodeNotFound)
	project := admin.Project{Organisation: x.ID, Domain: "docs.example.com", Repository: "https://git.example.com/docs"}
	_, err = w.CreateProject(w.ctx, project)
	want(t, err, admin.CodeNotFound)
	project.Organisation = y.ID
	_, err = w.CreateProject(w.ctx, project)
	want(t, err, "")
	_, err = w.RevokeOrganisation(w.ctx, "org_none")
	want(t, err, admin.CodeNotFound)
	all, err := w.ListOrganisations(w.ctx)
	if err != nil || len(all) != 2 {
		t.Errorf("%d organisations are listed (%v)", len(all), err)
	}
}

func TestPlanGate(t *testing.T) {
	for _, p := range []admin.Plan{admin.PlanFree, admin.PlanPro, admin.PlanEnterprise} {
		code := admin.CodePlan
		if p == admin.PlanEnterprise {
			code = ""
		}
		want(t, admin.RequirePlan(admin.Caller{Plan: p}, admin.PlanEnterprise), code)
	}
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	if _, err := w.SetPlan(w.ctx, x.ID, admin.PlanPro); err != nil {
		t.Fatal(err)
	}
	c, err := w.Authenticate(w.ctx, "Bearer "+x.secret, netip.Addr{}, admin.ScopeRead)
	if err != nil || c.Plan != admin.PlanPro {
		t.Errorf("a changed plan is not seen at once: %v %v", c.Plan, err)
	}
	_, err = w.SetPlan(w.ctx, x.ID, "gold")
	wantField(t, err, "plan")
}
