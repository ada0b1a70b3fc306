package admin_test

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// member has a person join an organisation in a role.
func (w *world) member(org, name string, role admin.Role) (admin.Person, admin.Caller) {
	w.t.Helper()
	address := name + "@example.com"
	if _, err := w.Invite(w.ctx, operatorOf(org), address, role); err != nil {
		w.t.Fatal(err)
	}
	p := w.signIn(name, address, true)
	c, err := w.PersonCaller(w.ctx, p.ID, org)
	if err != nil || c.Role != role {
		w.t.Fatalf("%s is %+v: %v", name, c, err)
	}
	return p, c
}

func operatorOf(org string) admin.Caller {
	return admin.Caller{OrganisationID: org, Operator: "ops"}
}

func (w *world) signIn(subject, address string, verified bool) admin.Person {
	w.t.Helper()
	p, err := w.SignIn(w.ctx, admin.Identity{Issuer: "https://login.example.com", Subject: subject, Address: address, Verified: verified, Name: subject}, netip.Addr{})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// roleIn is the role of a person in an organisation, empty for none.
func (w *world) roleIn(p admin.Person, org string) admin.Role {
	w.t.Helper()
	c, err := w.PersonCaller(w.ctx, p.ID, org)
	if err != nil && admin.CodeOf(err) != admin.CodeNotFound {
		w.t.Error(err)
	}
	return c.Role
}

func TestInvitationsAreClaimedByTheirAddress(t *testing.T) {
	w := newWorld(t)
	org, other := w.tenant("docs.example.com").ID, w.tenant("other.example.com").ID
	in, err := w.Invite(w.ctx, operatorOf(org), "Ada@Example.com", admin.RoleAdmin)
	if err != nil || in.Address != "ada@example.com" {
		t.Fatalf("the invitation is %+v: %v", in, err)
	}
	// Somebody else, somebody who only says so, and then the one.
	if r := w.roleIn(w.signIn("bob", "bob@example.com", true), org); r != "" {
		t.Errorf("another address is %s", r)
	}
	if r := w.roleIn(w.signIn("eve", "ada@example.com", false), org); r != "" {
		t.Errorf("an address that is not verified is %s", r)
	}
	ada := w.signIn("ada", "ADA@example.com", true)
	if r := w.roleIn(ada, org); r != admin.RoleAdmin {
		t.Errorf("the one who was invited is %q", r)
	}
	if r := w.roleIn(ada, other); r != "" {
		t.Errorf("in another organisation %s", r)
	}
	if again := w.signIn("ada", "ada@example.net", true); again.ID != ada.ID || w.roleIn(again, org) != admin.RoleAdmin || again.Address != "ada@example.net" {
		t.Errorf("signed in again, it is %+v", again)
	}
	// An invitation is for one; the next to have the address is nobody.
	if r := w.roleIn(w.signIn("late", "ada@example.com", true), org); r != "" {
		t.Errorf("an invitation made two members, one of them %s", r)
	}
	if waiting, _, err := w.Invitations(w.ctx, operatorOf(org), "", 0); err != nil || len(waiting) != 0 {
		t.Errorf("%v wait: %v", waiting, err)
	}
	if members, _, err := w.Members(w.ctx, operatorOf(org), "", 0); err != nil || len(members) != 1 || members[0].Person != ada.ID {
		t.Errorf("members are %+v: %v", members, err)
	}
	if orgs, _, err := w.MembershipsOf(w.ctx, ada.ID, "", 0); err != nil || !slices.Equal(orgs, []string{org}) {
		t.Errorf("a member of %v: %v", orgs, err)
	}

}

// TestInvitationsThatMakeNoMember: of members, withdrawn, too old, and wrong ones.
func TestInvitationsThatMakeNoMember(t *testing.T) {
	w := newWorld(t)
	org := w.tenant("docs.example.com").ID
	ada, _ := w.member(org, "ada", admin.RoleAdmin)
	// A member keeps the role, whatever an invitation says.
	if _, err := w.Invite(w.ctx, operatorOf(org), "ada@example.com", admin.RoleViewer); err != nil {
		t.Fatal(err)
	}
	if r := w.roleIn(w.signIn("ada", "ada@example.com", true), org); r != admin.RoleAdmin {
		t.Errorf("a member was made %s", r)
	}
	// One that was withdrawn, and one that is too old.
	if _, err := w.Invite(w.ctx, operatorOf(org), "carl@example.com", admin.RoleMember); err != nil {
		t.Fatal(err)
	}
	if err := w.Withdraw(w.ctx, operatorOf(org), "carl@example.com"); err != nil {
		t.Fatal(err)
	}
	want(t, w.Withdraw(w.ctx, operatorOf(org), "carl@example.com"), admin.CodeNotFound)
	if _, err := w.Invite(w.ctx, operatorOf(org), "dora@example.com", admin.RoleMember); err != nil {
		t.Fatal(err)
	}
	if waiting, _, err := w.Invitations(w.ctx, operatorOf(org), "", 0); err != nil || len(waiting) != 1 {
		t.Errorf("%v wait: %v", waiting, err)
	}
	w.Advance(15 * 24 * time.Hour)
	for _, name := range []string{"carl", "dora"} {
		if r := w.roleIn(w.signIn(name, name+"@example.com", true), org); r != "" {
			t.Errorf("%s is %s", name, r)
		}
	}
	for _, address := range []string{"", "ada", "Ada <ada@example.com>", "a@b@c", "ada@example.com, bob@example.com", "ada@exämple.com"} {
		_, err := w.Invite(w.ctx, operatorOf(org), address, admin.RoleMember)
		wantField(t, err, "address")
	}
	_, err := w.Invite(w.ctx, operatorOf(org), "a@example.com", "root")
	wantField(t, err, "role")
	// After the organisation's end nobody is a member.
	if _, err := w.RevokeOrganisation(w.ctx, org); err != nil {
		t.Fatal(err)
	}
	if r := w.roleIn(ada, org); r != "" {
		t.Errorf("in an organisation that has ended %s", r)
	}
}

func TestTheLastOwnerStays(t *testing.T) {
	w := newWorld(t)
	org := w.tenant("docs.example.com").ID
	ann, annCaller := w.member(org, "ann", admin.RoleOwner)
	want(t, w.RemoveMember(w.ctx, annCaller, ann.ID), admin.CodeLastOwner)
	want(t, w.RemoveMember(w.ctx, operatorOf(org), ann.ID), admin.CodeLastOwner)
	_, err := w.SetRole(w.ctx, annCaller, ann.ID, admin.RoleAdmin)
	want(t, err, admin.CodeLastOwner)
	ben, benCaller := w.member(org, "ben", admin.RoleMember)
	if _, err := w.SetRole(w.ctx, annCaller, ben.ID, admin.RoleOwner); err != nil {
		t.Fatal(err)
	}
	// The one that was read before is not asked.
	want(t, w.RemoveMember(w.ctx, benCaller, ann.ID), admin.CodeRole)
	benCaller, err = w.PersonCaller(w.ctx, ben.ID, org)
	want(t, err, "")
	// Two owners who remove each other at once: one stays.
	var wg sync.WaitGroup
	errs := make([]error, 2)
	wg.Go(func() { errs[0] = w.RemoveMember(w.ctx, annCaller, ben.ID) })
	wg.Go(func() { errs[1] = w.RemoveMember(w.ctx, benCaller, ann.ID) })
	wg.Wait()
	codes := []string{admin.CodeOf(errs[0]), admin.CodeOf(errs[1])}
	slices.Sort(codes)
	if !slices.Equal(codes, []string{"", admin.CodeLastOwner}) {
		t.Errorf("removing each other: %v", errs)
	}
	if members, _, err := w.Members(w.ctx, operatorOf(org), "", 0); err != nil || len(members) != 1 || members[0].Role != admin.RoleOwner {
		t.Errorf("members are %+v: %v", members, err)
	}
	// Others leave as they like; nobody is removed by those who may not.
	_, cleo := w.member(org, "cleo", admin.RoleViewer)
	dan, danCaller := w.member(org, "dan", admin.RoleAdmin)
	want(t, w.RemoveMember(w.ctx, cleo, dan.ID), admin.CodeRole)
	want(t, w.RemoveMember(w.ctx, danCaller, cleo.Person), admin.CodeRole)
	want(t, w.RemoveMember(w.ctx, danCaller, dan.ID), "")
	_, err = w.PersonCaller(w.ctx, dan.ID, org)
	want(t, err, admin.CodeNotFound)
}

// TestPeopleActByTheirRole tries what changes something as every role, in the own
// and in another organisation.
func TestPeopleActByTheirRole(t *testing.T) {
	w := newWorld(t, func(o *admin.Options) { o.MaxRunning = 100 })
	x, other := w.tenant("docs.example.com"), w.tenant("other.example.com")
	first := w.publish(x).ID
	newest := w.publish(x).ID
	does := map[admin.Action]func(c admin.Caller) error{
		admin.ActionExport: func(c admin.Caller) error {
			j, err := w.StartExport(w.ctx, c, admin.StartExport{Domain: x.project.Domain})
			if err == nil {
				_, err = w.CancelExport(w.ctx, c, j.ID, "")
			}
			return err
		},
		"restore": func(c admin.Caller) error {
			_, err := w.RestoreSnapshot(w.ctx, c, admin.RestoreSnapshot{Domain: x.project.Domain, SnapshotID: first, Base: newest})
			if err == nil {
				_, err = w.RestoreSnapshot(w.ctx, c, admin.RestoreSnapshot{Domain: x.project.Domain, SnapshotID: newest, Base: first})
			}
			return err
		},
		admin.ActionAgent: func(c admin.Caller) error {
			j, err := w.StartAgentJob(w.ctx, c, admin.StartAgentJob{Project: x.project.ID, Prompt: "p"})
			if err == nil {
				_, err = w.CancelAgentJob(w.ctx, c, x.project.ID, j.ID, "")
				if e := w.FailAgent(w.ctx, j.Current(), admin.CodeCancelled, ""); e != nil {
					t.Error(e)
				}
			}
			return err
		},
		admin.ActionProjects: func(c admin.Caller) error {
			_, err := w.As(c).ConfigureProject(w.ctx, x.project.ID, admin.Configuration{Kind: admin.KindAirGapped})
			return err
		},
		admin.ActionKeys: func(c admin.Caller) error {
			k, _, err := w.As(c).CreateKey(w.ctx, admin.KeyRequest{Organisation: other.ID, Name: "k"})
			if err != nil {
				return err
			}
			if k.Organisation != c.OrganisationID || k.CreatedBy != c.Person {
				t.Errorf("the key is %+v", k)
			}
			_, err = w.As(c).RevokeKey(w.ctx, x.key.ID)
			return err
		},
		admin.ActionMembers: func(c admin.Caller) error {
			_, err := w.Invite(w.ctx, c, "new@example.com", admin.RoleMember)
			return err
		},
		admin.ActionAudit: func(c admin.Caller) error {
			_, _, err := w.Audit(w.ctx, c, admin.AuditList{})
			return err
		},
	}
	for i, role := range admin.Roles() {
		_, mine := w.member(x.ID, fmt.Sprint("mine", i), role)
		_, foreign := w.member(other.ID, fmt.Sprint("foreign", i), role)
		for action, do := range does {
			is := action
			if is == "restore" {
				is = admin.ActionExport
			}
			code := admin.CodeOf(mine.May(is))
			want(t, do(mine), code)
			if code != "" || is == admin.ActionMembers || is == admin.ActionAudit {
				continue // these name their organisation by the caller alone
			}
			if got := admin.CodeOf(do(foreign)); got != admin.CodeNotFound && got != admin.CodeDomainNotFound {
				t.Errorf("%s as %s of another organisation: %q", action, role, got)
			}
		}
	}
}
