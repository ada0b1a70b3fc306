package agent_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
)

// A new pull request has the project's labels and reviewers. Later rounds leave them to
// people. A refused label or reviewer is a note of the job; the pull request stays open.
func TestLabelsAndReviewers(t *testing.T) {
	for _, c := range []struct {
		name       string
		kind       forge.Kind
		labels     string
		reviewers  string
		fail       *forgetest.Failure
		want, asks []string
		told       []string
	}{
		{name: "GitHub", kind: forge.GitHub, labels: "docs, agent", reviewers: "ada,acme/writers", want: []string{"docs", "agent"}, asks: []string{"ada", "acme/writers"}},
		{name: "GitLab", kind: forge.GitLab, labels: "docs", reviewers: "ada", want: []string{"docs"}, asks: []string{"ada"}},
		{name: "unknown names", kind: forge.Gitea, labels: "nothing,docs", reviewers: "bob,ada", want: []string{"docs"}, asks: []string{"ada"}, told: []string{
			`the forge refused the label "nothing": the repository has no such label`,
			`the forge refused the reviewer "bob": The target couldn't be found.`,
		}},
		{name: "a forge that is away", kind: forge.Gitea, labels: "docs", fail: new(forgetest.Status(500, `{"message": "out of order"}`)), told: []string{
			"the pull request lacks labels or reviewers: the forge answered with the status 500",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := forgetest.New(t, forgetest.Dialect(c.kind))
			w := newWorldOn(t, f, append(steps(mends, finishes), steps(reads(1)[0], finishes)...)...)
			w.configure(admin.AgentSettings{Forge: string(c.kind), Labels: c.labels, Reviewers: c.reviewers})
			if c.fail != nil {
				f.FailAlways(forgetest.Assign, *c.fail)
			}
			j := w.run(w.ask("Mend the spelling of widget"))
			p := f.Pulls()
			if j.Status != admin.AgentCompleted || len(p) != 1 || j.PRNumber != 1 {
				t.Fatalf("%+v, %+v", j, p)
			}
			if !slices.Equal(p[0].Labels, c.want) || !slices.Equal(p[0].Reviewers, c.asks) {
				t.Errorf("labels %q, reviewers %q", p[0].Labels, p[0].Reviewers)
			}
			told := slices.DeleteFunc(w.notes(j, "the "), func(n string) bool { return !strings.HasPrefix(n, "the ") })
			if d := cmp.Diff(c.told, told, cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
			calls := f.Count(forgetest.Assign)
			if j = w.run(w.message(j, "Look once more")); j.Status != admin.AgentCompleted || f.Count(forgetest.Assign) != calls {
				t.Errorf("the next round: %s, %d calls after %d", j.Status, f.Count(forgetest.Assign), calls)
			}
		})
	}
}

// The commit of a round names the people who asked for it, if the project wants that.
func TestCoAuthors(t *testing.T) {
	w := newWorld(t, append(steps(mends, finishes), steps(modeltest.Calls(call("write", args{"path": "more.mdx", "content": "---\ntitle: More\n---\n"})), finishes)...)...)
	as := func(name, address string) admin.Caller {
		t.Helper()
		if _, err := w.admin.Invite(w.ctx, admin.Caller{OrganisationID: w.caller.OrganisationID, Operator: "ops"}, address, admin.RoleMember); err != nil {
			t.Fatal(err)
		}
		p, err := w.admin.SignIn(w.ctx, admin.Identity{Issuer: "https://login.example.com", Subject: address, Address: address, Verified: true, Name: name}, netip.Addr{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := w.admin.PersonCaller(w.ctx, p.ID, w.caller.OrganisationID)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	key, ada, grace := w.caller, as("Ada\nLovelace <x>", "ada@example.com"), as("", "grace@example.com")
	say := func(c admin.Caller, j admin.AgentJob, prompt string) admin.AgentJob {
		t.Helper()
		w.caller = c
		defer func() { w.caller = key }()
		if j.ID == "" {
			return w.ask(prompt)
		}
		return w.message(j, prompt)
	}
	w.configure(admin.AgentSettings{CoAuthors: true})
	j := say(ada, admin.AgentJob{}, "Mend the spelling of widget")
	for _, c := range []admin.Caller{grace, ada, key} {
		say(c, j, "and more")
	}
	j = w.run(j)
	want := "Co-authored-by: Ada Lovelace x <ada@example.com>\nCo-authored-by: grace <grace@example.com>"
	if m := w.forge.Commits(j.Branch)[0].Message; !strings.HasSuffix(m, "\n\nBindery-Job: "+j.ID+"\n"+want) {
		t.Errorf("the commit says %q", m)
	}
	w.configure(admin.AgentSettings{})
	j = w.run(say(grace, j, "Add a page"))
	if m := w.forge.Commits(j.Branch)[0].Message; strings.Contains(m, "Co-authored-by") || !strings.Contains(m, "Bindery-Job: "+j.ID) {
		t.Errorf("the next commit says %q", m)
	}
}

// The pull request has the sources that each round named.
func TestSourcesOfAllRounds(t *testing.T) {
	from := func(title string, sources ...args) modeltest.Step {
		return modeltest.Calls(call("finish", args{"title": title, "summary": "So it is.", "sources": sources}))
	}
	w := newWorld(t, append(
		steps(mends, from("Spell it right", args{"statement": "It is a widget", "path": "guides/start.mdx", "line": 1}, args{"statement": "You said so", "message": 1})),
		steps(modeltest.Calls(call("write", args{"path": "more.mdx", "content": "---\ntitle: More\n---\n"})), from("Add a page", args{"statement": "There is more", "message": 2}, args{"statement": "And nobody said this", "message": 3}))...,
	)...)
	j := w.run(w.ask("Mend the spelling of widget"))
	j = w.run(w.message(j, "Add a page"))
	head := w.forge.Commits(j.Branch)[0].ID
	want := "## Sources\n\n- It is a widget ([`guides/start.mdx:1`](" + w.forge.Repository().FileURL(head, "guides/start.mdx") + "#L1))\n- You said so (message 1)\n- There is more (message 2)\n\n"
	if body := w.forge.Pulls()[0].Body; j.Round != 2 || j.Status != admin.AgentCompleted || !strings.Contains(body, want) {
		t.Errorf("round %d, %s: it lacks %q:\n%s", j.Round, j.Status, want, body)
	}
}
