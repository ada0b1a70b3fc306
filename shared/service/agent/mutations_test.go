package agent_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestAnswersCutAtEachEvent: wherever the stream of an answer breaks off, the job ends
// with the same pull request, and at most one answer is asked for twice. It cuts some of
// the streams, or all with make agent-mutations.
func TestAnswersCutAtEachEvent(t *testing.T) {
	outside.NoRace(t, "it runs dozens of jobs")
	long := strings.Repeat("A sentence of the new page. ", 40)
	for name, dialogue := range map[string][]script{
		"one change": {steps(mends, finishes)},
		"a new page, thought about": {steps(
			modeltest.Calls(call("read", args{"path": "guides/start.mdx"}), call("search", args{"pattern": "widget"})).Thinking("Where is it?", "signed"),
			modeltest.Calls(call("write", args{"path": "guides/new.mdx", "content": "---\ntitle: New\ndescription: A new page.\n---\n\n" + long})).Saying("I write it."),
			modeltest.Calls(call("navigation", args{"action": "add", "entry": "guides/new", "after": "guides/start"})), finishes)},
		"two rounds": {steps(mends, finishes), steps(rename[0], done("Call them gadgets"))},
	} {
		t.Run(name, func(t *testing.T) {
			m := &mortal{world: newWorld(t)}
			var answers []modeltest.Step
			for _, round := range dialogue {
				answers = append(answers, round...)
			}
			// at is the next answer. The one numbered cut breaks off after some events, once.
			at, cut, events := 0, -1, 0
			m.model.Add(modeltest.Func(func(model.Request) modeltest.Step {
				m.asked.Add(1)
				step := answers[at]
				if at == cut {
					cut = -1
					return step.CutAfter(events)
				}
				at++
				return step
			}))
			type end struct {
				Files map[string]string
				Body  string
			}
			run := func() end {
				t.Helper()
				at = 0
				m.Advance(time.Hour) // a project starts so many an hour
				m.ran++
				j := m.rounds(dialogue)
				if j.Status != admin.AgentCompleted || j.Turns != len(answers) || j.Round != len(dialogue) {
					t.Fatalf("the job is %s after %d turns in %d rounds: %+v", j.Status, j.Turns, j.Round, j.Failure)
				}
				pulls := m.forge.Pulls()
				if len(pulls) != m.ran || pulls[m.ran-1].URL != j.PRLink {
					t.Fatalf("%d pull requests after %d jobs", len(pulls), m.ran)
				}
				if commits := m.forge.Commits(j.Branch); len(commits) != 1+len(dialogue) {
					t.Errorf("%d commits", len(commits))
				}
				body, _, _ := strings.Cut(pulls[m.ran-1].Body, "\n---\n") // after it come tokens, which count twice
				return end{m.forge.Files(j.Branch), strings.ReplaceAll(body, j.ID, "JOB")}
			}
			sound := run()
			asked, n := m.asked.Load(), 0
			for i, answer := range answers {
				for e := range answer.Events() {
					if n++; !outside.Full() && n%7 > 0 {
						continue
					}
					m.asked.Store(0)
					cut, events = i, e
					if d := cmp.Diff(sound, run()); d != "" {
						t.Fatalf("answer %d, cut after %d events:\n%s", i, e, d)
					}
					if got := m.asked.Load(); got > asked+1 || cut >= 0 {
						t.Errorf("answer %d, cut after %d events: %d requests", i, e, got)
					}
				}
			}
			if n < 20 {
				t.Errorf("the answers have %d events", n)
			}
		})
	}
}

// rounds runs a job with a round for each part of a dialogue.
func (m *mortal) rounds(dialogue []script) admin.AgentJob {
	m.t.Helper()
	j := m.world.run(m.ask("Mend the spelling of widget"))
	for range dialogue[1:] {
		j = m.world.run(m.message(j, "Call them gadgets"))
	}
	return j
}
