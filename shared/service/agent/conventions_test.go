package agent_test

import (
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// Branches, commits and pull requests fit the conventions of the repository.
func TestConventions(t *testing.T) {
	const template = "Ticket: \n\n- [ ] I have read the guide\n"
	for _, c := range []struct {
		name    string
		set     admin.AgentSettings
		finish  string // title
		branch  string // prefix
		title   string
		trailer string // that the commit's message ends with, JOB for the id
		body    string // beginning
	}{
		{name: "none", finish: "Spell it right", branch: "bindery/", title: "Spell it right", trailer: "\n\nBindery-Job: JOB\n", body: "<!-- bindery JOB -->\n"},
		{name: "a branch", set: admin.AgentSettings{BranchPrefix: "docs/ai-"}, finish: "Spell it right", branch: "docs/ai-", title: "Spell it right", trailer: "\n\nBindery-Job: JOB\n", body: "<!-- bindery JOB -->\n"},
		{name: "a prefix", set: admin.AgentSettings{TitlePrefix: "docs(agent): "}, finish: "Spell it right", branch: "bindery/", title: "docs(agent): Spell it right", trailer: "\n\nBindery-Job: JOB\n", body: "<!-- bindery JOB -->\n"},
		{name: "a title that has a type", set: admin.AgentSettings{TitlePrefix: "docs: "}, finish: "fix(start)!: spell it right", branch: "bindery/", title: "fix(start)!: spell it right", trailer: "\n\nBindery-Job: JOB\n", body: "<!-- bindery JOB -->\n"},
		{name: "a prefix of another kind, which the title has", set: admin.AgentSettings{TitlePrefix: "[docs] "}, finish: "[docs] Spell it right", branch: "bindery/", title: "[docs] Spell it right", trailer: "\n\nBindery-Job: JOB\n", body: "<!-- bindery JOB -->\n"},
		{name: "signed off", set: admin.AgentSettings{SignOff: true}, finish: "Spell it right", branch: "bindery/", title: "Spell it right", trailer: "\n\nBindery-Job: JOB\nSigned-off-by: Bindery agent <agent@bindery.invalid>\n", body: "<!-- bindery JOB -->\n"},
		{name: "a template", set: admin.AgentSettings{Template: true}, finish: "Spell it right", branch: "bindery/", title: "Spell it right", trailer: "\n\nBindery-Job: JOB\n", body: strings.TrimRight(template, "\n") + "\n\n<!-- bindery JOB -->\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, steps(mends, done(c.finish))...)
			w.forge.Write("main", map[string]string{".github/PULL_REQUEST_TEMPLATE.md": template})
			w.configure(c.set)
			j := w.run(w.ask("Mend the spelling of widget"))
			if j.Status != admin.AgentCompleted || j.Branch != c.branch+j.ID {
				t.Fatalf("%+v (%+v)", j, j.Failure)
			}
			p, of := w.forge.Pulls()[0], strings.NewReplacer("JOB", j.ID)
			if p.Title != c.title || !strings.HasPrefix(p.Body, of.Replace(c.body)) {
				t.Errorf("the pull request is %q:\n%s", p.Title, p.Body)
			}
			if message := w.forge.Commits(j.Branch)[0].Message; strings.TrimSpace(message) != strings.TrimSpace(c.title+of.Replace(c.trailer)) {
				t.Errorf("the commit says %q", message)
			}
		})
	}
}
