package dashboard

import (
	"net/http"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// lineEnds are the web's, which forms send, as ours.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

type memberView struct {
	admin.Membership
	Name string
	You  bool
}

type membersView struct {
	Members     []memberView
	Invitations []admin.Invitation
	Next        string
	Roles       []choice
}

var roleMeaning = map[admin.Role]string{
	admin.RoleOwner: "Owner: everything, members too", admin.RoleAdmin: "Admin: keys, projects, webhooks",
	admin.RoleMember: "Member: exports and agent jobs", admin.RoleViewer: "Viewer: reading",
}

func roles(chosen admin.Role) []choice {
	var all []choice
	for _, r := range admin.Roles() {
		all = append(all, choice{string(r), roleMeaning[r], r == chosen})
	}
	return all
}

func (q *request) members(code int, p *problem) error {
	v := membersView{Roles: roles(admin.RoleMember)}
	if sent := q.r.PostFormValue("role"); sent != "" {
		v.Roles = roles(admin.Role(sent))
	}
	members, next, err := q.admin().Members(q.ctx(), q.caller, q.r.URL.Query().Get("cursor"), pageLimit)
	if err != nil {
		return err
	}
	v.Next = next
	for _, m := range members {
		p, err := q.admin().GetPerson(q.ctx(), m.Person)
		if err != nil {
			return err
		}
		v.Members = append(v.Members, memberView{m, nameOf(p), m.Person == q.person.ID})
	}
	if v.Invitations, _, err = q.admin().Invitations(q.ctx(), q.caller, "", pageLimit); err != nil {
		return err
	}
	return q.show(code, "members", "Members", v, p)
}

func membersPage(q *request) error { return q.members(http.StatusOK, nil) }

func inviteMember(q *request) error {
	role := admin.Role(q.value("role"))
	if role == admin.RoleOwner && !q.admin().Recent(q.session) {
		return errRecent
	}
	if _, err := q.admin().Invite(q.ctx(), q.caller, q.value("address"), role); err != nil {
		return q.again(err, q.members)
	}
	return q.leave(q.path("members"), "invited")
}

func withdrawInvitation(q *request) error {
	if err := q.admin().Withdraw(q.ctx(), q.caller, q.value("address")); err != nil {
		return err
	}
	return q.leave(q.path("members"), "withdrawn")
}

func setRole(q *request) error {
	role := admin.Role(q.value("role"))
	if role == admin.RoleOwner && !q.admin().Recent(q.session) {
		return errRecent
	}
	if _, err := q.admin().SetRole(q.ctx(), q.caller, q.r.PathValue("person"), role); err != nil {
		return q.again(err, q.members)
	}
	return q.leave(q.path("members"), "role")
}

func removeMemberPage(q *request) error {
	id := q.r.PathValue("person")
	ask := question{
		Text:   "The person loses access at once. Keys that the person has made keep working.",
		Action: q.path("members", id, "remove"), Yes: "Remove the member", No: q.path("members"), Danger: true,
	}
	title := "Remove this member?"
	if id == q.person.ID {
		title, ask.Text, ask.Yes = "Leave this organisation?", "You lose access at once. Keys that you have made keep working.", "Leave"
	} else if err := q.caller.May(admin.ActionMembers); err != nil {
		return err
	}
	return q.page("ask", title, ask)
}

func removeMember(q *request) error {
	if err := q.admin().RemoveMember(q.ctx(), q.caller, q.r.PathValue("person")); err != nil {
		return err
	}
	return q.leave(q.path("members"), "removed")
}

// file says that the answer is a file to keep.
func (q *request) file(name, kind string) {
	q.w.Header().Set("Content-Type", kind)
	q.w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
}

type auditView struct {
	Entries               []auditEntry
	Next                  string
	Action, Actor, Target string
	Since, Until          string
}

// auditEntry is an entry with the name of who made it.
type auditEntry struct {
	admin.AuditEntry
	Name string
}

// Query is the address of a file of what is listed, or of the next page.
func (v auditView) Query(to, cursor string) string {
	return query(to, "action", v.Action, "actor", v.Actor, "target", v.Target, "since", v.Since, "until", v.Until, "cursor", cursor)
}

// auditList reads what the log is filtered by.
func (q *request) auditList(v *auditView) (admin.AuditList, error) {
	v.Action, v.Actor, v.Target, v.Since, v.Until = q.value("action"), q.value("actor"), q.value("target"), q.value("since"), q.value("until")
	in := admin.AuditList{Action: v.Action, Actor: v.Actor, Target: v.Target, Cursor: q.value("cursor"), Limit: 50}
	for name, day := range map[string]*time.Time{"since": &in.Since, "until": &in.Until} {
		text := q.value(name)
		if text == "" {
			continue
		}
		at, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return in, admin.FieldErrorf(name, "must be a date such as 2026-03-31")
		}
		if *day = at; name == "until" {
			*day = at.AddDate(0, 0, 1) // that day is the last
		}
	}
	return in, nil
}

func auditPage(q *request) error {
	var v auditView
	show := func(code int, p *problem) error { return q.show(code, "audit", "Audit log", v, p) }
	in, err := q.auditList(&v)
	var entries []admin.AuditEntry
	if err == nil {
		entries, v.Next, err = q.admin().Audit(q.ctx(), q.caller, in)
	}
	if err != nil {
		return q.again(err, show)
	}
	names := q.names()
	for _, e := range entries {
		row := auditEntry{e, ""}
		if e.ActorKind == admin.ActorPerson {
			if row.Name, err = names(e.Actor); err != nil {
				return err
			}
		}
		v.Entries = append(v.Entries, row)
	}
	return show(http.StatusOK, nil)
}

func auditFile(q *request) error {
	var v auditView
	in, err := q.auditList(&v)
	if err != nil {
		return err
	}
	in.Cursor = ""
	asCSV := strings.HasSuffix(q.r.URL.Path, ".csv")
	if asCSV {
		q.file("audit.csv", "text/csv; charset=utf-8")
	} else {
		q.file("audit.jsonl", "application/jsonl")
	}
	if err := q.admin().WriteAudit(q.ctx(), q.caller, in, asCSV, q.w); err != nil {
		// The status is sent: a file that is cut short must not look whole.
		q.d.opt.Log.ErrorContext(q.ctx(), "the audit log was not written in full", "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}
