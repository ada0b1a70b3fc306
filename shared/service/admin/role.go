package admin

import "slices"

// Role is what a person is in an organisation.
type Role string

// The roles, each of which may do what those after it may.
const (
	RoleOwner  Role = "owner"  // everything, members too
	RoleAdmin  Role = "admin"  // keys, projects, webhooks
	RoleMember Role = "member" // exports, live versions and agent jobs
	RoleViewer Role = "viewer" // reading
)

// Roles lists the roles, the greatest first.
func Roles() []Role { return []Role{RoleOwner, RoleAdmin, RoleMember, RoleViewer} }

// Action is a kind of thing that may be done in an organisation.
type Action string

// The actions.
const (
	ActionRead     Action = "read"     // sites, exports, agent jobs, usage, who is a member
	ActionExport   Action = "export"   // start and cancel exports, publish and restore snapshots
	ActionDeploy   Action = "deploy"   // decide what is live
	ActionAgent    Action = "agent"    // start, message, cancel and archive agent jobs
	ActionProjects Action = "projects" // make, configure and end projects
	ActionKeys     Action = "keys"     // list, make and revoke admin keys
	ActionWebhooks Action = "webhooks" // list, make and remove webhooks
	ActionAudit    Action = "audit"    // read the audit log
	ActionMembers  Action = "members"  // invite and remove people, change their roles
)

// Actions lists the actions.
func Actions() []Action {
	return []Action{ActionRead, ActionExport, ActionDeploy, ActionAgent, ActionProjects, ActionKeys, ActionWebhooks, ActionAudit, ActionMembers}
}

// rights is the table of who may do what: the roles of people, and the scope of
// keys, which is empty where no key may.
var rights = map[Action]struct {
	roles []Role
	scope Scope
}{
	ActionRead:     {[]Role{RoleOwner, RoleAdmin, RoleMember, RoleViewer}, ScopeRead},
	ActionExport:   {[]Role{RoleOwner, RoleAdmin, RoleMember}, ScopeWrite},
	ActionDeploy:   {[]Role{RoleOwner, RoleAdmin, RoleMember}, ScopeDeploy},
	ActionAgent:    {[]Role{RoleOwner, RoleAdmin, RoleMember}, ScopeWrite},
	ActionProjects: {[]Role{RoleOwner, RoleAdmin}, ""},
	ActionKeys:     {[]Role{RoleOwner, RoleAdmin}, ""},
	ActionWebhooks: {[]Role{RoleOwner, RoleAdmin}, ScopeManage},
	ActionAudit:    {[]Role{RoleOwner, RoleAdmin}, ""},
	ActionMembers:  {[]Role{RoleOwner}, ""},
}

// May returns nil if a caller may do an action in its organisation: a person by
// the role, a key by its scope, an operator always. Else it returns CodeRole or
// CodeScope.
func (c Caller) May(a Action) error {
	r := rights[a]
	switch {
	case c.Operator != "":
		return nil
	case c.Person != "" && slices.Contains(r.roles, c.Role):
		return nil
	case c.Person != "":
		return Errorf(CodeRole, "your role in this organisation does not allow this")
	case r.scope != "" && slices.Contains(c.Scopes, r.scope):
		return nil
	case r.scope == "":
		return Errorf(CodeScope, "no admin key may do this; it is for people")
	}
	return lacks(r.scope)
}

// person is May for people alone. It is for what keys do through the API, where
// Authenticate has looked at their scopes.
func (c Caller) person(a Action) error {
	if c.Person == "" {
		return nil
	}
	return c.May(a)
}
