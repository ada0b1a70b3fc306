package agent_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/job"
)

// TestHistory: the longest round that the plans allow, each of whose calls fails
// as often as the workflow tries it, stays below the number of events after which
// Step Functions ends an execution.
func TestHistory(t *testing.T) {
	const quota, perCall, perRetry, perWait = 25_000, 5 + 2, 3, 2 // of a Task and its Choice; scheduled, started, failed; entered, exited
	type retrier struct {
		ErrorEquals                                                []string
		IntervalSeconds, MaxAttempts, BackoffRate, MaxDelaySeconds float64
	}
	var workflow struct {
		TimeoutSeconds int
		States         map[string]struct{ Retry []retrier }
	}
	definition, err := job.AgentDefinition(job.ByName)
	if err == nil {
		err = json.Unmarshal(definition, &workflow)
	}
	if err != nil {
		t.Fatal(err)
	}
	messages := 0
	for _, p := range []admin.Plan{admin.PlanFree, admin.PlanPro, admin.PlanEnterprise} {
		if plan, ok := admin.AgentPlanOf(p); ok {
			messages = max(messages, plan.Messages)
		}
	}
	limit := time.Duration(workflow.TimeoutSeconds) * time.Second
	// Prepare and Fail; Work for each whole segment and each wait; Work and Review for
	// each message and each return; Publish for the round and each return; Review and
	// Publish again for each merge; Work and Prepare for each fetch.
	returns := admin.AgentRefused.Most() + admin.AgentConflicted.Most()
	calls := 2 + int(limit/agent.Segment) + agent.MaxWaits + 2*(messages+returns) + 1 + returns + 2*admin.MaxAgentMerges + 2*admin.MaxAgentFetches
	events := 10 + calls*perCall + agent.MaxWaits*perWait
	left := limit.Seconds()
	for _, r := range workflow.States["Work"].Retry {
		if !slices.Contains(r.ErrorEquals, "Lambda.TooManyRequestsException") {
			events += calls * perRetry * int(r.MaxAttempts)
			continue
		}
		// Calls that are throttled are tried too often for that sum: the time of
		// the execution bounds them. A wait is half as long as it may be, on average.
		wait := r.IntervalSeconds
		for range int(r.MaxAttempts) {
			for range calls {
				if left -= min(wait, r.MaxDelaySeconds) / 2; left > 0 {
					events += perRetry
				}
			}
			wait *= r.BackoffRate
		}
	}
	t.Logf("%d calls, %d events", calls, events)
	if limit != job.AgentRound || messages == 0 || calls > 320 || events > 22_000 || events > quota*9/10 {
		t.Errorf("%d calls may make %d events of at most %d; the comment of Segment knows less", calls, events, quota)
	}
}
