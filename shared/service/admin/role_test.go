package admin_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// TestWhoMayDoWhat pins every cell of the table of rights.
func TestWhoMayDoWhat(t *testing.T) {
	const yes, no = true, false
	cells := []struct {
		action                       admin.Action
		owner, admin, member, viewer bool
		read, write, manage, deploy  bool // keys of that scope alone; bundle is for no action
	}{
		{admin.ActionRead, yes, yes, yes, yes, yes, no, no, no},
		{admin.ActionExport, yes, yes, yes, no, no, yes, no, no},
		{admin.ActionDeploy, yes, yes, yes, no, no, no, no, yes},
		{admin.ActionAgent, yes, yes, yes, no, no, yes, no, no},
		{admin.ActionProjects, yes, yes, no, no, no, no, no, no},
		{admin.ActionKeys, yes, yes, no, no, no, no, no, no},
		{admin.ActionWebhooks, yes, yes, no, no, no, no, yes, no},
		{admin.ActionAudit, yes, yes, no, no, no, no, no, no},
		{admin.ActionMembers, yes, no, no, no, no, no, no, no},
	}
	if len(cells) != len(admin.Actions()) {
		t.Fatalf("%d actions are tested, of %d", len(cells), len(admin.Actions()))
	}
	for _, c := range cells {
		if !slices.Contains(admin.Actions(), c.action) {
			t.Errorf("%s is not an action", c.action)
		}
		for role, may := range map[admin.Role]bool{
			admin.RoleOwner: c.owner, admin.RoleAdmin: c.admin, admin.RoleMember: c.member, admin.RoleViewer: c.viewer, "": no, "root": no,
		} {
			// The scopes of a key give a person nothing.
			err := admin.Caller{Person: "psn_1", Role: role, Scopes: admin.Scopes()}.May(c.action)
			if want := map[bool]string{yes: "", no: admin.CodeRole}[may]; admin.CodeOf(err) != want {
				t.Errorf("%s as %q: %v, want %q", c.action, role, err, want)
			}
		}
		for scope, may := range map[admin.Scope]bool{admin.ScopeRead: c.read, admin.ScopeWrite: c.write, admin.ScopeManage: c.manage, admin.ScopeDeploy: c.deploy, admin.ScopeBundle: no} {
			// Nor a role to a key.
			err := admin.Caller{KeyID: "key_1", Role: admin.RoleOwner, Scopes: []admin.Scope{scope}}.May(c.action)
			if want := map[bool]string{yes: "", no: admin.CodeScope}[may]; admin.CodeOf(err) != want {
				t.Errorf("%s with the scope %q: %v, want %q", c.action, scope, err, want)
			}
		}
		if err := (admin.Caller{}).May(c.action); err == nil {
			t.Errorf("nobody may %s", c.action)
		}
		if err := (admin.Caller{Operator: "ops"}).May(c.action); err != nil {
			t.Errorf("an operator may not %s: %v", c.action, err)
		}
	}
}

// TestKeysAnHour: people make ten at most, also all at once; operators are not
// counted.
func TestKeysAnHour(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	_, c := w.member(x.ID, "ann", admin.RoleAdmin)
	make := func() error {
		_, _, err := w.As(c).CreateKey(w.ctx, admin.KeyRequest{Name: "k"})
		return err
	}
	for range 2 {
		var wg sync.WaitGroup
		var made atomic.Int32
		for range 14 {
			wg.Go(func() {
				switch err := make(); admin.CodeOf(err) {
				case "":
					made.Add(1)
				case admin.CodeTooManyKeys:
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if made.Load() != 10 {
			t.Errorf("%d keys were made", made.Load())
		}
		if _, _, err := w.CreateKey(w.ctx, admin.KeyRequest{Organisation: x.ID, Name: "k"}); err != nil {
			t.Error(err)
		}
		w.Advance(time.Hour)
	}
}
