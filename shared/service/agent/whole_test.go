package agent_test

import (
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
)

// stopped is an answer that stops at the model's limit of output.
func stopped(s modeltest.Step) modeltest.Step {
	s.Stop = model.StopMaxTokens
	return s
}

// An answer that stops at the model's limit never completes a round: it is continued
// once, and a second one in a row fails it.
func TestAnswersThatStopAtALimit(t *testing.T) {
	half := stopped(modeltest.Text("Now I will write the long page with all of the follo"))
	cutCall := modeltest.CutCall("write", args{"path": "long.mdx", "content": strings.Repeat("word ", 100)}, 60)
	finished := stopped(modeltest.Calls(finish("Widget is spelled right")))
	const said = "stopped at its limit of tokens"
	for _, c := range []struct {
		name   string
		set    admin.AgentSettings
		script script
		want   expected
	}{
		{name: "two texts", script: steps(mends, half, told(said, half)), want: expected{code: admin.CodeModelOutput, turns: 3}},
		{name: "a text, then a call", script: steps(mends, half, told(said, cutCall)), want: expected{code: admin.CodeModelOutput, turns: 3}},
		{name: "a text, then a whole one", script: steps(mends, half, told(said, modeltest.Text("It is done."))), want: expected{pulls: 1, turns: 3}},
		{name: "one after another, not in a row", script: steps(half, mends, half, finishes), want: expected{pulls: 1, turns: 4}},
		{name: "a whole call of finish in it", script: steps(mends, finished, told("Call finish alone", finishes)), want: expected{pulls: 1, turns: 3}},
		{name: "twice a whole call of finish", script: steps(mends, finished, finished), want: expected{code: admin.CodeModelOutput, turns: 3}},
		{name: "in the last turn", set: admin.AgentSettings{MaxTurns: 2}, script: steps(mends, half), want: expected{code: admin.CodeBudget, turns: 2}},
		{name: "a page in two parts", script: steps(
			modeltest.Calls(call("write", args{"path": "long.mdx", "content": "---\ntitle: Long\ndescription: In parts\n---\n\nOne."})),
			modeltest.Calls(call("write", args{"path": "long.mdx", "append": true, "content": "Two.\n"}), call("navigation", args{"action": "add", "entry": "long"})),
			done("A long page")), want: expected{pulls: 1, turns: 3, body: []string{"`long.mdx` (new, 7 lines)"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.script...)
			w.configure(c.set)
			w.end(w.run(w.ask("Mend the spelling of widget")), c.want)
			if n := w.model.Left(); n > 0 {
				t.Errorf("%d steps of the script are left", n)
			}
		})
	}
}

// A Work that begins anew with each turn knows what the model has read: it refuses to
// replace the page that was not, and replaces the one that was.
func TestWholeFilesOverRestarts(t *testing.T) {
	const page = "---\ntitle: Welcome\ndescription: What Acme is\n---\n\nAcme makes gadgets.\n"
	w := newWorld(t)
	answers := steps(
		modeltest.Calls(call("read", args{"path": "guides/start.mdx"}), call("read", args{"path": "index.mdx", "lines": 5})),
		modeltest.Calls(call("write", args{"path": "index.mdx", "content": page})),
		told("read the whole file first", modeltest.Calls(call("write", args{"path": "guides/start.mdx", "content": page}))),
		told("replaced", finishes))
	w.model.Add(modeltest.Func(func(r model.Request) modeltest.Step {
		w.Advance(agent.Segment)
		return answers[len(r.Messages)/2]
	}))
	w.end(w.run(w.ask("Write about gadgets")), expected{pulls: 1, turns: 4, body: []string{"`guides/start.mdx`"}})
}
