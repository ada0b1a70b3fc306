package agent_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"

	"github.com/bindery-docs/bindery/tests/outside"
)

// Scripts of rounds.
var (
	// adds a page with a link that leads nowhere; finish is held up once by that.
	addsBroken = steps(modeltest.Calls(call("write", args{"path": "guides/new.mdx", "content": "---\ntitle: New\ndescription: A page\n---\n\n[gone](/nowhere)\n"}),
		call("navigation", args{"action": "add", "entry": "guides/new", "after": "guides/start"})),
		done("Add a page"), done("Add a page"))
	mendsLink   = steps(modeltest.Calls(call("edit", args{"path": "guides/new.mdx", "old": "/nowhere", "new": "/guides/start"})), done("Repair the link"))
	asksBack    = steps(mends, modeltest.Calls(call("finish", args{"title": "Spell it right", "summary": "One letter.", "question": "In other languages, too?"})))
	answersOnly = steps(lists, done("Nothing more"))
)

// What a pull request says after two rounds is true of both together, whatever people
// have done to it in between.
func TestThePullRequestIsTrue(t *testing.T) {
	outside.NoRace(t, "it takes three times as long; similar tests run under the detector")
	for _, c := range []struct {
		name          string
		first, second script
		people        func(w *world, j admin.AgentJob)
		draft         bool // asked for
		drafts        [2]bool
		title         string   // in the end
		says          []string // in the end, in this order
		not           []string
		changes       admin.AgentChanges
		pages         []admin.AgentPage
		findings      int // of the job, in the end
	}{
		{
			name: "files of both rounds", first: steps(mends, finishes), second: rename, title: "docs: widget is spelled right",
			says: []string{
				"> Mend the spelling of widget", "> And more",
				"**Round 1: docs: widget is spelled right**", "The start page said widgit.", "**Round 2: docs: gadgets**",
				"- `guides/start.mdx` (+1 −1)\n- `index.mdx` (+1 −1)\n", "finds nothing that was not there before", ": 2 rounds, 4 turns, ",
			},
			changes: admin.AgentChanges{Files: 2, Added: 2, Removed: 2},
			pages:   []admin.AgentPage{{Path: "guides/start.mdx", Change: "changed"}, {Path: "index.mdx", Change: "changed"}},
		},
		{
			name: "a page that the first round adds is new", first: addsBroken, second: mendsLink, drafts: [2]bool{true, false}, title: "Add a page",
			says: []string{"- `guides/new.mdx` (new, 6 lines)", "finds nothing that was not there before"}, not: []string{"/nowhere"},
			changes: admin.AgentChanges{Files: 2, Added: 7, Removed: 1},
			pages:   []admin.AgentPage{{Path: "guides/new.mdx", Change: "added"}},
		},
		{
			name: "a finding that stays", first: addsBroken, second: rename, drafts: [2]bool{true, true}, title: "Add a page",
			says: []string{"finds what was not there before", "guides/new.mdx:6"}, changes: admin.AgentChanges{Files: 3, Added: 8, Removed: 2}, findings: 1,
			pages: []admin.AgentPage{{Path: "guides/new.mdx", Change: "added"}, {Path: "index.mdx", Change: "changed"}},
		},
		{
			name: "an open question, answered without a change", first: asksBack, second: answersOnly, drafts: [2]bool{true, false}, title: "Spell it right",
			says: []string{"**Round 1: Spell it right**", "**Round 2: Nothing more**", "- `guides/start.mdx` (+1 −1)"}, not: []string{"A question"},
			changes: admin.AgentChanges{Files: 1, Added: 1, Removed: 1}, pages: []admin.AgentPage{{Path: "guides/start.mdx", Change: "changed"}},
		},
		{
			name: "asked for as a draft", draft: true, first: steps(mends, finishes), second: answersOnly, drafts: [2]bool{true, true}, title: "docs: widget is spelled right",
			changes: admin.AgentChanges{Files: 1, Added: 1, Removed: 1}, pages: []admin.AgentPage{{Path: "guides/start.mdx", Change: "changed"}},
		},
		{
			name: "a page that moves", first: steps(modeltest.Calls(call("move", args{"from": "guides/start.mdx", "to": "guides/begin.mdx"})), done("Move Start")), second: answersOnly, title: "Move Start",
			says: []string{
				"- new redirect `/guides/start → /guides/begin`", "- `docs.json` (+", "- `guides/start.mdx` → `guides/begin.mdx` (moved, +0 −0)\n\n## Check",
			},
			not: []string{"Look at this first", "- `index.mdx`"}, changes: admin.AgentChanges{Files: 3, Added: 9, Removed: 3},
			pages: []admin.AgentPage{{Path: "guides/begin.mdx", Change: "moved", From: "guides/start.mdx"}, {Path: "index.mdx", Change: "changed"}},
		},
		{
			name: "people's title and text", first: steps(mends, finishes), second: rename, title: "docs: DOC-123 wording",
			people: func(w *world, j admin.AgentJob) {
				w.forge.Edit(j.PRNumber, func(p *forgetest.Pull) {
					p.Title, p.Body = "docs: DOC-123 wording", "Tracker: DOC-123\r\n"+p.Body+"\r\ncc Ann"
				})
			},
			says:    []string{"Tracker: DOC-123\r\n<!-- bindery ", "**Round 2: docs: gadgets**", " -->\r\ncc Ann"},
			changes: admin.AgentChanges{Files: 2, Added: 2, Removed: 2},
			pages:   []admin.AgentPage{{Path: "guides/start.mdx", Change: "changed"}, {Path: "index.mdx", Change: "changed"}},
		},
		{
			name: "people removed the marks", first: steps(mends, finishes), second: rename, title: "docs: widget is spelled right",
			people: func(w *world, j admin.AgentJob) {
				w.forge.Edit(j.PRNumber, func(p *forgetest.Pull) { p.Body = "See the ticket.\n" })
			},
			says:    []string{"See the ticket.\n\n<!-- bindery ", "**Round 2: docs: gadgets**"},
			changes: admin.AgentChanges{Files: 2, Added: 2, Removed: 2},
			pages:   []admin.AgentPage{{Path: "guides/start.mdx", Change: "changed"}, {Path: "index.mdx", Change: "changed"}},
		},
		{
			name: "people made it ready although a finding is left", first: addsBroken, second: rename, drafts: [2]bool{true, false}, title: "Add a page",
			people: func(w *world, j admin.AgentJob) {
				w.forge.Edit(j.PRNumber, func(p *forgetest.Pull) { p.Draft, p.Title = false, strings.TrimPrefix(p.Title, "WIP: ") })
			},
			changes: admin.AgentChanges{Files: 3, Added: 8, Removed: 2}, findings: 1,
			pages: []admin.AgentPage{{Path: "guides/new.mdx", Change: "added"}, {Path: "index.mdx", Change: "changed"}},
		},
		{
			name: "people made it a draft", first: steps(mends, finishes), second: rename, drafts: [2]bool{false, true}, title: "docs: widget is spelled right",
			people: func(w *world, j admin.AgentJob) {
				w.forge.Edit(j.PRNumber, func(p *forgetest.Pull) {
					if p.Draft = true; w.forge.Kind == forge.Gitea {
						p.Title = "WIP: " + p.Title
					}
				})
			},
			changes: admin.AgentChanges{Files: 2, Added: 2, Removed: 2},
			pages:   []admin.AgentPage{{Path: "guides/start.mdx", Change: "changed"}, {Path: "index.mdx", Change: "changed"}},
		},
		{
			name: "people added a page to the branch", first: steps(mends, finishes), second: rename, title: "docs: widget is spelled right",
			people: func(w *world, j admin.AgentJob) {
				w.forge.Write(j.Branch, map[string]string{"guides/theirs.mdx": "---\ntitle: T\n---\n\nx\n", "new.png": "\x89PNG\x00"})
			},
			says:    []string{"`guides/theirs.mdx` (new, 5 lines)", "`new.png` (new, 0 lines)"},
			changes: admin.AgentChanges{Files: 4, Added: 7, Removed: 2},
			pages:   []admin.AgentPage{{Path: "guides/start.mdx", Change: "changed"}, {Path: "guides/theirs.mdx", Change: "added"}, {Path: "index.mdx", Change: "changed"}},
		},
		{
			name: "the base went on and was merged into the branch", first: steps(mends, finishes), second: rename, title: "docs: widget is spelled right",
			people: func(w *world, j admin.AgentJob) {
				mended := strings.Replace(site()["guides/start.mdx"], "widgit", "widget", 1)
				other := map[string]string{"guides/base.mdx": "---\ntitle: B\n---\n\nx\n"}
				w.forge.Write("main", other)
				w.forge.Write(j.Branch, other)
				w.forge.Write(j.Branch, map[string]string{"guides/start.mdx": mended})
				w.forge.MergeBranch(j.Branch, w.forge.Branch("main"))
			},
			not:     []string{"base.mdx"},
			changes: admin.AgentChanges{Files: 2, Added: 2, Removed: 2},
			pages:   []admin.AgentPage{{Path: "guides/start.mdx", Change: "changed"}, {Path: "index.mdx", Change: "changed"}},
		},
	} {
		kinds := []forge.Kind{forge.Gitea}
		if c.drafts != [2]bool{} { // which GitHub has otherwise
			kinds = append(kinds, forge.GitHub)
		}
		for _, kind := range kinds {
			t.Run(c.name+" on "+string(kind), func(t *testing.T) {
				w := newWorldOn(t, forgetest.New(t, forgetest.Dialect(kind)))
				w.model.Add(c.first...)
				one := w.run(w.start(admin.StartAgentJob{Prompt: "Mend the spelling of widget", Draft: c.draft}))
				if one.Status != admin.AgentCompleted {
					t.Fatalf("%+v (%+v)", one, one.Failure)
				}
				if p := w.forge.Pulls()[0]; p.Draft != c.drafts[0] {
					t.Errorf("after the first round it is %+v", p)
				}
				if c.people != nil {
					c.people(w, one)
				}
				w.model.Add(c.second...)
				two := w.run(w.message(one, "And more"))
				if two.Status != admin.AgentCompleted {
					t.Fatalf("%+v (%+v)", two, two.Failure)
				}
				p := w.forge.Pulls()[0]
				title := c.title
				if c.drafts[1] && kind == forge.Gitea {
					title = "WIP: " + title
				}
				if p.Draft != c.drafts[1] || p.Title != title {
					t.Errorf("in the end its title is %q, a draft: %t; want %q, %t", p.Title, p.Draft, title, c.drafts[1])
				}
				rest := p.Body
				for _, part := range c.says {
					_, after, ok := strings.Cut(rest, part)
					if !ok {
						t.Errorf("it lacks %q after what comes before:\n%s", part, p.Body)
					}
					rest = after
				}
				for _, part := range c.not {
					if strings.Contains(p.Body, part) {
						t.Errorf("it has %q:\n%s", part, p.Body)
					}
				}
				if n := len(regexp.MustCompile(`<!-- /?bindery agj_`).FindAllString(p.Body, -1)); n != 2 {
					t.Errorf("it has %d marks:\n%s", n, p.Body)
				}
				if two.Changes != c.changes || len(two.Review.Findings) != c.findings {
					t.Errorf("the job has %+v and %+v", two.Changes, two.Review)
				}
				if d := cmp.Diff(c.pages, two.Pages); d != "" {
					t.Errorf("pages of the job:\n%s", d)
				}
			})
		}
	}
}
