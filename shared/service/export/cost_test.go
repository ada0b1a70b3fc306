package export

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/storetest"
)

// TestCost holds the cost page's table of what an export asks of AWS against
// exports that count it: once for the export, and once more for each shard.
func TestCost(t *testing.T) {
	one, three := costOf(t, 1), costOf(t, 3)
	page, err := os.ReadFile("../../../infra/docs/operate/cost.mdx")
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range costRows {
		perShard := (three[i] - one[i] + 1) / 2
		want := fmt.Sprintf("| %s | %d | %d |", row, one[i]-perShard, perShard)
		if !strings.Contains(string(page), want) {
			t.Errorf("the cost page should have the row\n%s", want)
		}
	}
	for _, c := range []struct {
		shards int
		counts [len(costRows)]int
	}{{1, one}, {3, three}} {
		a := job.AsksOf(c.shards)
		got := [len(costRows)]int{a.WriteUnits, a.ReadUnits, a.ObjectWrites, a.ObjectReads, a.Transitions, a.Calls}
		if got != c.counts {
			t.Errorf("%d shards ask for %v (%v); the calculator says %v", c.shards, c.counts, costRows, got)
		}
	}
}

// costRows are the table's rows.
var costRows = [...]string{
	"DynamoDB write units", "DynamoDB read units", "S3 writes", "S3 reads", "Step Functions transitions", "Lambda calls",
}

// costOf counts one export with so many shards, from the call that starts it
// to its end, without the callers' polls.
func costOf(t *testing.T, shards int) [len(costRows)]int {
	w := newWorld(t)
	w.publish(t, sampleSite(200))
	m := &storetest.Meter{}
	w.store, w.objects = m.Store(w.store), m.Objects(w.objects)
	w.admin = w.service(w.store, w.objects, w.runner)
	job := w.start(t)
	// One after the other: two that read at the same time may read a piece twice.
	one := func(o *Options) { o.Shards, o.Concurrency = shards, 1 }
	if err := workflowOf(context.Background(), w.steps(one), job.ID, 1); err != nil {
		t.Fatal(err)
	}
	done, err := w.admin.FindExport(context.Background(), job.ID)
	if err != nil || done.Status != admin.ExportCompleted || done.Plan.Shards != shards {
		t.Fatalf("the export is %+v, %v", done, err)
	}
	// A step of a workflow is a transition, and so is its start.
	way, child := statesOnTheWay(t)
	transitions := way + 1 + shards*(child+1)
	calls := 3 + shards - 1 // plan, assemble, and a shard each
	calls++                 // the call that starts it
	return [len(costRows)]int{m.WriteUnits, m.ReadUnits, m.ObjectWrites, m.ObjectReads, transitions, calls}
}

// statesOnTheWay counts the states that an export passes which succeeds: of
// the workflow, and of one child.
func statesOnTheWay(t *testing.T) (way, child int) {
	type machine struct {
		StartAt string
		States  map[string]struct {
			Next          string
			End           bool
			ItemProcessor json.RawMessage
		}
	}
	var count func(m machine) int
	count = func(m machine) (n int) {
		for at := m.StartAt; at != ""; at = m.States[at].Next {
			n++
			if p := m.States[at].ItemProcessor; p != nil {
				var inner machine
				if err := json.Unmarshal(p, &inner); err != nil {
					t.Fatal(err)
				}
				child = count(inner)
			}
		}
		return n
	}
	definition, err := job.Definition(job.ByName, 4)
	if err != nil {
		t.Fatal(err)
	}
	var m machine
	if err := json.Unmarshal(definition, &m); err != nil {
		t.Fatal(err)
	}
	way = count(m)
	return way, child
}
