package agent_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/storetest"
)

// TestCost holds the calculator of what an agent job asks of AWS against jobs of one
// and two rounds that are counted, and the cost page against the calculator.
func TestCost(t *testing.T) {
	look := modeltest.Calls(call("read", args{"path": "guides/start.mdx"}))
	for _, turns := range []int{2, 5} {
		script := []modeltest.Step{mends}
		for range turns - 2 {
			script = append(script, look)
		}
		script = append(script, finishes)
		w := newWorld(t, append(script, script...)...)
		m := &storetest.Meter{}
		w.store, w.objects = m.Store(w.store), m.Objects(w.objects)
		w.admin = w.service(w.store, w.objects)
		w.steps = w.stepsOn(w.admin, w.objects)
		// With a prompt of some lines, the job's record has between one and two KB.
		j := w.ask("Mend the spelling of widget" + strings.Repeat(", which is a device", 30))
		for round := 1; round <= 2; round++ {
			if j = w.run(j); j.Status != admin.AgentCompleted || j.Turns != round*turns {
				t.Fatalf("the job is %+v", j)
			}
			asks := job.AgentAsksOf(round, j.Turns, 0)
			got, want := [...]int{m.WriteUnits, m.ReadUnits, m.ObjectWrites, m.ObjectReads}, [...]int{asks.WriteUnits, asks.ReadUnits, asks.ObjectWrites, asks.ObjectReads}
			// After each round, this test reads the job. The second one changes nothing, so
			// Publish reads no file.
			got[1] -= round
			got[3] += round - 1
			if got != want {
				t.Errorf("%d rounds of %d turns ask for %v, the calculator says %v", round, turns, got, want)
			}
			if round == 1 {
				j = w.message(j, "And once more")
			}
		}
	}
	page, err := os.ReadFile("../../../infra/docs/operate/cost.mdx")
	if err != nil {
		t.Fatal(err)
	}
	once, round, turn := job.AgentAsksOf(0, 0, 0), job.AgentAsksOf(1, 0, 0), job.AgentAsksOf(0, 1, 0)
	for _, row := range []struct {
		name string
		of   func(job.Asks) int
	}{
		{"DynamoDB write units", func(a job.Asks) int { return a.WriteUnits }},
		{"DynamoDB read units", func(a job.Asks) int { return a.ReadUnits }},
		{"S3 writes", func(a job.Asks) int { return a.ObjectWrites }},
		{"S3 reads", func(a job.Asks) int { return a.ObjectReads }},
		{"Step Functions transitions", func(a job.Asks) int { return a.Transitions }},
		{"Lambda calls", func(a job.Asks) int { return a.Calls }},
	} {
		base := row.of(once)
		want := fmt.Sprintf("| %s | %d | %d | %d |", row.name, base, row.of(round)-base, row.of(turn)-base)
		if !strings.Contains(string(page), want) {
			t.Errorf("the cost page should have the row\n%s", want)
		}
	}
}
