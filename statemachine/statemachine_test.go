package statemachine_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/statemachine"
)

func values() map[string]string {
	return map[string]string{
		statemachine.PlanFunction:      "arn:aws:lambda:eu-west-1:123456789012:function:plan:7",
		statemachine.RenderFunction:    "render",
		statemachine.AssembleFunction:  "assemble",
		statemachine.FailFunction:      "fail",
		statemachine.RenderConcurrency: "40",
	}
}

func TestExportNamesItsVariables(t *testing.T) {
	want := []string{"AssembleFunctionArn", "FailFunctionArn", "PlanFunctionArn", "RenderConcurrency", "RenderFunctionArn"}
	if diff := cmp.Diff(want, statemachine.Variables(statemachine.Export())); diff != "" {
		t.Error(diff)
	}
}

func TestFilledExport(t *testing.T) {
	b, err := statemachine.Fill(statemachine.Export(), values())
	if err != nil {
		t.Fatal(err)
	}
	type task struct {
		Resource string
		Retry    []struct {
			ErrorEquals                  []string
			MaxAttempts, MaxDelaySeconds int
		}
		Catch []struct{ ErrorEquals []string }
	}
	var m struct {
		TimeoutSeconds int
		States         map[string]struct {
			task
			Type           string
			MaxConcurrency int
			ItemProcessor  struct{ States map[string]task }
		}
	}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	if got := m.States["Plan"].Resource; got != "arn:aws:lambda:eu-west-1:123456789012:function:plan:7" {
		t.Errorf("Plan calls %q", got)
	}
	if got := m.States["Render"].MaxConcurrency; got != 40 {
		t.Errorf("Render runs %d at a time", got)
	}
	if m.TimeoutSeconds == 0 {
		t.Error("the execution has no time limit")
	}
	// Every call of a function retries what AWS asks to retry, and no error
	// of a step goes past Fail.
	tasks := map[string]task{"RenderShard": m.States["Render"].ItemProcessor.States["RenderShard"]}
	for name, s := range m.States {
		if s.Type == "Task" {
			tasks[name] = s.task
		}
		if s.Type == "Task" || s.Type == "Map" {
			if len(s.Catch) != 1 || !slices.Equal(s.Catch[0].ErrorEquals, []string{"States.ALL"}) {
				t.Errorf("%s catches %v", name, s.Catch)
			}
		}
	}
	if len(tasks) != 4 {
		t.Errorf("%d tasks, want 4", len(tasks))
	}
	for name, s := range tasks {
		var names []string
		for _, r := range s.Retry {
			names = append(names, r.ErrorEquals...)
			// What took too much memory takes it again.
			if slices.Contains(r.ErrorEquals, "Runtime.OutOfMemory") && (!slices.Contains(r.ErrorEquals, "Runtime.ExitError") || r.MaxAttempts != 1) && name != "Fail" {
				t.Errorf("%s repeats what ended its process %d times", name, r.MaxAttempts)
			}
			// Forty shards and ten functions at once: a shard waits for a few
			// others, each a minute or more.
			if slices.Contains(r.ErrorEquals, "Lambda.TooManyRequestsException") && (len(r.ErrorEquals) > 1 || r.MaxAttempts*r.MaxDelaySeconds < 3600) {
				t.Errorf("%s gives up soon when other functions are in the way: %+v", name, r)
			}
		}
		for _, want := range []string{
			"Lambda.ServiceException", "Lambda.AWSLambdaException", "Lambda.SdkClientException",
			"Lambda.ClientExecutionTimeoutException", "Lambda.TooManyRequestsException", "Lambda.Unknown",
			"Runtime.ExitError", "Runtime.OutOfMemory", "Sandbox.Timedout", "States.Timeout", "temporary", "internal",
		} {
			if !slices.Contains(names, want) {
				t.Errorf("%s does not retry %s", name, want)
			}
		}
	}
}

func TestFillRefuses(t *testing.T) {
	for name, change := range map[string]func(map[string]string){
		"a name without value":       func(v map[string]string) { delete(v, statemachine.FailFunction) },
		"a value without name":       func(v map[string]string) { v["Other"] = "x" },
		"a value that ends a string": func(v map[string]string) { v[statemachine.FailFunction] = `x", "End": true, "y": "` },
		"a value with an escape":     func(v map[string]string) { v[statemachine.FailFunction] = `\u0022` },
		"a word for a number":        func(v map[string]string) { v[statemachine.RenderConcurrency] = "many" },
		"nothing for a number":       func(v map[string]string) { v[statemachine.RenderConcurrency] = "" },
	} {
		t.Run(name, func(t *testing.T) {
			v := values()
			change(v)
			if b, err := statemachine.Fill(statemachine.Export(), v); err == nil {
				t.Errorf("filled:\n%s", b)
			}
		})
	}
}

// TestPublishComesAfterReview: nothing leads to Publish but the answer of Review, and each
// task of the agent catches all errors.
func TestPublishComesAfterReview(t *testing.T) {
	names := statemachine.Variables(statemachine.Agent())
	filled := map[string]string{}
	for _, name := range names {
		filled[name] = name
	}
	b, err := statemachine.Fill(statemachine.Agent(), filled)
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		StartAt string
		States  map[string]struct {
			Type, Next, Resource string
			Choices              []struct{ StringEquals, Next string }
			Catch                []struct{ ErrorEquals []string }
		}
	}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	leads := map[string][]string{}
	for name, s := range m.States {
		leads[s.Next] = append(leads[s.Next], name)
		for _, c := range s.Choices {
			leads[c.Next] = append(leads[c.Next], name+" "+c.StringEquals)
		}
		if s.Type == "Task" && (len(s.Catch) != 1 || !slices.Equal(s.Catch[0].ErrorEquals, []string{"States.ALL"})) {
			t.Errorf("%s catches %v", name, s.Catch)
		}
	}
	for state, want := range map[string][]string{
		"Publish": {"Reviewed publish"}, "Reviewed": {"Review"}, "Review": {"Published review", "Worked publish"},
		"Work": {"Prepare", "Published work", "Reviewed work", "Waiting", "Worked work"}, "Done": {"Published done"},
	} {
		slices.Sort(leads[state])
		if diff := cmp.Diff(want, leads[state]); diff != "" {
			t.Errorf("what leads to %s:\n%s", state, diff)
		}
	}
	if m.StartAt != "Prepare" || m.States["Publish"].Resource != statemachine.AgentPublishFunction || m.States["Review"].Resource != statemachine.AgentReviewFunction {
		t.Errorf("%+v", m)
	}
}
