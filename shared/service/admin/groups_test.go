package admin_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// arrive signs somebody in whose groups at the provider have roles.
func (w *world) arrive(name string, roles map[string]admin.Role) admin.Person {
	w.t.Helper()
	p, err := w.SignIn(w.ctx, admin.Identity{
		Issuer: "https://login.example.com", Subject: name, Address: name + "@example.com", Verified: true, Name: name, Roles: roles,
	}, netip.MustParseAddr("192.0.2.7"))
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// TestMembershipsByGroup: what groups say at a sign-in is what a person is, until
// the next one; what an invitation made stays.
func TestMembershipsByGroup(t *testing.T) {
	w := newWorld(t)
	org, other := w.tenant("docs.example.com").ID, w.tenant("other.example.com").ID
	w.member(org, "root", admin.RoleOwner)
	w.member(org, "ada", admin.RoleViewer)
	for i, c := range []struct {
		who   string
		roles map[string]admin.Role
		want  [2]admin.Role // in org and in other
	}{
		{"bob", nil, [2]admin.Role{}},
		{"bob", map[string]admin.Role{org: admin.RoleMember, "org_gone": admin.RoleOwner}, [2]admin.Role{admin.RoleMember}},
		{"bob", map[string]admin.Role{org: admin.RoleMember, other: admin.RoleViewer}, [2]admin.Role{admin.RoleMember, admin.RoleViewer}},
		{"bob", map[string]admin.Role{org: admin.RoleOwner}, [2]admin.Role{admin.RoleOwner}},
		{"bob", map[string]admin.Role{org: admin.RoleViewer}, [2]admin.Role{admin.RoleViewer}},
		{"bob", nil, [2]admin.Role{}},
		{"ada", map[string]admin.Role{org: admin.RoleOwner}, [2]admin.Role{admin.RoleViewer}},
		{"ada", nil, [2]admin.Role{admin.RoleViewer}},
	} {
		p := w.arrive(c.who, c.roles)
		if got := [2]admin.Role{w.roleIn(p, org), w.roleIn(p, other)}; got != c.want {
			t.Errorf("%d: %s is %q, want %q", i, c.who, got, c.want)
		}
	}
	entries, _, err := w.Audit(w.ctx, operatorOf(org), admin.AuditList{Actor: w.arrive("bob", nil).ID})
	if err != nil {
		t.Fatal(err)
	}
	var actions []string
	for _, e := range entries {
		actions = append(actions, e.Action)
		if e.Address != "192.0.2.7" || !slices.Contains(e.Changes, admin.AuditChange{Field: "by", After: "groups"}) {
			t.Errorf("the entry is %+v", e)
		}
	}
	slices.Sort(actions) // all of one moment
	if want := []string{"member.joined", "member.removed", "member.role", "member.role"}; !slices.Equal(actions, want) {
		t.Errorf("the audit log has %v, want %v", actions, want)
	}
}

// TestTheLastOwnerByGroupStays until there is another one.
func TestTheLastOwnerByGroupStays(t *testing.T) {
	w := newWorld(t)
	org := w.tenant("docs.example.com").ID
	bob := w.arrive("bob", map[string]admin.Role{org: admin.RoleOwner})
	if w.arrive("bob", nil); w.roleIn(bob, org) != admin.RoleOwner {
		t.Error("the organisation has no owner")
	}
	w.arrive("eve", map[string]admin.Role{org: admin.RoleOwner})
	if w.arrive("bob", nil); w.roleIn(bob, org) != "" {
		t.Error("bob is a member without a group")
	}
}

// TestJoiningSaysFromWhere: the audit log has the address of who claims an
// invitation.
func TestJoiningSaysFromWhere(t *testing.T) {
	w := newWorld(t)
	org := w.tenant("docs.example.com").ID
	if _, err := w.Invite(w.ctx, operatorOf(org), "ada@example.com", admin.RoleMember); err != nil {
		t.Fatal(err)
	}
	w.arrive("ada", nil)
	entries, _, err := w.Audit(w.ctx, operatorOf(org), admin.AuditList{Action: "member.joined"})
	if err != nil || len(entries) != 1 || entries[0].Address != "192.0.2.7" {
		t.Errorf("the log has %+v, %v", entries, err)
	}
}
