package export

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestCost holds the cost page's table of what an export asks of AWS against
// exports that count it: once for the export, and once more for each shard.
func TestCost(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
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

// TestCostOfUsualPages: units of pages of usual size are smaller, which must not cost
// a request each. What is kept of the pages takes few more.
func TestCostOfUsualPages(t *testing.T) {
	outside.Long(t, "exports three hundred pages twice")
	for _, shards := range []int{1, 3} {
		w := newWorld(t)
		site, size := sampleSite(300), 0
		for name, f := range site {
			if strings.HasSuffix(name, ".mdx") {
				f.Data = append(f.Data, strings.Repeat("\nSome more words here.\n", 360)...)
			}
			size += len(f.Data)
		}
		w.publish(t, site)
		m := &storetest.Meter{}
		w.store, w.objects = m.Store(w.store), m.Objects(w.objects)
		w.admin = w.service(w.store, w.objects, w.runner)
		got, _ := w.counted(t, m, w.startOf(t, admin.StartExport{}), shards, 0)
		if most := job.AsksOf(shards).ObjectReads + size>>20; got[3] > most {
			t.Errorf("%d pages in %d shards ask for %d reads of S3, more than %d", len(site), shards, got[3], most)
		}
	}
}

// TestCostOfLargeBundles holds what a bundle in parts asks for beyond a small one
// against the calculator. What a note takes depends on names that are made anew
// each time: some may be a unit larger.
func TestCostOfLargeBundles(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	small := costOf(t, 1)
	for _, part := range []int64{20_000, 4_000} {
		large, size := costInParts(t, 1, part)
		more := job.BundleAsks(size, part)
		want := [len(costRows)]int{more.WriteUnits, more.ReadUnits, more.ObjectWrites, 0, 0, 0}
		var got [len(costRows)]int
		for i := range got {
			if got[i] = large[i] - small[i]; i == 0 && max(got[0]-want[0], want[0]-got[0]) <= want[0]/50 {
				got[0] = want[0]
			}
		}
		if got != want {
			t.Errorf("%d bytes in parts of %d ask for %v more (%v); the calculator says %v", size, part, got, costRows, want)
		}
	}
}

// tagged returns parts with tags as long as those of S3, which are most of a note.
type tagged struct{ store.Objects }

func (o tagged) UploadPart(ctx context.Context, key, upload string, n int, data []byte) (store.Part, error) {
	p, err := o.Objects.UploadPart(ctx, key, upload, n, data)
	p.Tag = `"` + strings.Repeat("0", 32) + `"`
	return p, err
}

// costRows are the table's rows.
var costRows = [...]string{
	"DynamoDB write units", "DynamoDB read units", "S3 writes", "S3 reads", "Step Functions transitions", "Lambda calls",
}

// costOf counts one export with so many shards, from the call that starts it
// to its end, without the callers' polls.
func costOf(t *testing.T, shards int) [len(costRows)]int {
	counts, _ := costInParts(t, shards, 0)
	return counts
}

// costInParts is costOf with a bundle in parts of so many bytes. It returns the
// bundle's size too.
func costInParts(t *testing.T, shards int, part int64) ([len(costRows)]int, int64) {
	w := newWorld(t)
	w.publish(t, sampleSite(200))
	m := &storetest.Meter{}
	w.store, w.objects = m.Store(w.store), m.Objects(tagged{w.objects})
	w.admin = w.service(w.store, w.objects, w.runner)
	counts, done := w.counted(t, m, w.startOf(t, admin.StartExport{}), shards, part)
	if done.Plan.Shards != shards {
		t.Fatalf("the export is %+v", done)
	}
	return counts, done.Bundle.Size
}

// TestCostOfReuse is TestCost for an export that renders nothing.
func TestCostOfReuse(t *testing.T) {
	w := newWorld(t)
	w.publish(t, sampleSite(200))
	w.exported(t, func(o *Options) { o.KeepInObjects, o.Shards = true, 1 })
	w.now = w.now.Add(time.Minute)
	m := &storetest.Meter{}
	w.store, w.objects = m.Store(w.store), m.Objects(w.objects)
	w.admin = w.service(w.store, w.objects, w.runner)
	got, done := w.counted(t, m, w.startOf(t, admin.StartExport{}), 0, 0)
	if done.Reused == "" {
		t.Fatalf("the export is %+v", done)
	}
	a := job.ReusedAsks()
	if want := [len(costRows)]int{a.WriteUnits, a.ReadUnits, a.ObjectWrites, a.ObjectReads, a.Transitions, a.Calls}; got != want {
		t.Errorf("an export that renders nothing asks for %v (%v); the calculator says %v", got, costRows, want)
	}
	page, err := os.ReadFile("../../../infra/docs/operate/cost.mdx")
	if err != nil {
		t.Fatal(err)
	}
	says := fmt.Sprintf("it asks for %d write and %d read units of DynamoDB, %d writes and %d reads of S3, %d transitions and %d calls", got[0], got[1], got[2], got[3], got[4], got[5])
	if !strings.Contains(strings.Join(strings.Fields(string(page)), " "), says) {
		t.Errorf("the cost page should say: %s", says)
	}
}

// TestCostOfGoingLive holds what the cost page says of live versions against what is
// counted: what an export that goes live asks more, and a change of what is live. It is
// the thirteenth version, which takes the pin of the third.
func TestCostOfGoingLive(t *testing.T) {
	w := newWorld(t)
	w.publish(t, sampleSite(20))
	w.exported(t, func(o *Options) { o.KeepInObjects, o.Shards = true, 1 })
	operator := w.admin.Operator(w.caller.OrganisationID)
	m := &storetest.Meter{}
	w.store, w.objects = m.Store(w.store), m.Objects(w.objects)
	w.admin = w.service(w.store, w.objects, w.runner)
	exports := func(live bool) [len(costRows)]int {
		t.Helper()
		w.now = w.now.Add(time.Minute)
		m.WriteUnits, m.ReadUnits, m.ObjectWrites, m.ObjectReads = 0, 0, 0, 0
		j, err := w.admin.StartExport(t.Context(), operator, admin.StartExport{Domain: domain, GoLive: live})
		if err != nil {
			t.Fatal(err)
		}
		counts, done := w.counted(t, m, j, 0, 0)
		if done.Reused == "" {
			t.Fatalf("the export is %+v", done)
		}
		return counts
	}
	for range 12 {
		exports(true)
	}
	plain, more := exports(false), exports(true)
	for i := range more {
		more[i] -= plain[i]
	}
	a := job.LiveAsks()
	if want := [len(costRows)]int{a.WriteUnits, a.ReadUnits}; more != want {
		t.Errorf("an export that goes live asks for %v more (%v); the calculator says %v", more, costRows, want)
	}
	rows := fmt.Sprintf("| An export that goes live, more than one that does not | %d | %d | %d |\n", more[0], more[1], more[3])
	live := func() string {
		l, err := w.admin.Live(t.Context(), operator, domain)
		if err != nil {
			t.Fatal(err)
		}
		return l.Move.Job
	}
	was := live()
	for _, c := range []struct {
		row string
		do  func() error
	}{
		{"A roll back or a promote", func() error {
			_, err := w.admin.SetLive(t.Context(), operator, admin.SetLive{Domain: domain, Action: admin.ActRollback, From: was, IdempotencyKey: "back"})
			return err
		}},
		{"A hold or a release", func() error {
			_, err := w.admin.SetLive(t.Context(), operator, admin.SetLive{Domain: domain, Action: admin.ActRelease, IdempotencyKey: "release"})
			return err
		}},
		{"Reading what is live", func() error {
			_, err := w.admin.Live(t.Context(), operator, domain)
			return err
		}},
	} {
		m.WriteUnits, m.ReadUnits, m.ObjectWrites, m.ObjectReads = 0, 0, 0, 0
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		rows += fmt.Sprintf("| %s | %d | %d | %d |\n", c.row, m.WriteUnits, m.ReadUnits, m.ObjectReads)
	}
	if live() == was {
		t.Error("nothing was rolled back")
	}
	page, err := os.ReadFile("../../../infra/docs/operate/cost.mdx")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), rows) {
		t.Errorf("the cost page should have the rows\n%s", rows)
	}
}

// TestCostOfTheNext holds what exports ask beyond a first one, because they are
// compared with one before and use what was kept, against the calculator. Bundles of
// few pages are read in fewer pieces.
func TestCostOfTheNext(t *testing.T) {
	outside.Long(t, "exports one site many times")
	for _, shards := range []int{1, 3} {
		w := newWorld(t)
		m := &storetest.Meter{}
		w.store, w.objects = m.Store(w.store), m.Objects(w.objects)
		w.admin = w.service(w.store, w.objects, w.runner)
		counted := func() ([len(costRows)]int, admin.ExportJob) {
			w.now = w.now.Add(time.Minute)
			m.WriteUnits, m.ReadUnits, m.ObjectWrites, m.ObjectReads = 0, 0, 0, 0
			return w.counted(t, m, w.startOf(t, admin.StartExport{}), shards, 0)
		}
		w.publish(t, changedSite(200, nil))
		alone, _ := counted()
		w.publish(t, changedSite(200, someChanges()))
		more, done := counted()
		if !done.Bundle.Changes.Listed {
			t.Fatalf("the export was not compared: %+v", done.Bundle)
		}
		for i := range more {
			more[i] -= alone[i]
		}
		a := job.AfterAsks(shards)
		most := [len(costRows)]int{a.WriteUnits, a.ReadUnits, a.ObjectWrites, a.ObjectReads}
		for i, row := range costRows {
			if more[i] > most[i] || most[i] > 0 && more[i] == 0 {
				t.Errorf("with %d shards the next export asks for %d more %s; the calculator says at most %d", shards, more[i], row, most[i])
			}
		}
	}
	page, err := os.ReadFile("../../../infra/docs/operate/cost.mdx")
	if err != nil {
		t.Fatal(err)
	}
	once, each := job.AfterAsks(0), job.AfterAsks(1)
	says := fmt.Sprintf("ask for %d read and %d write units of DynamoDB, %d writes and at most %d reads of S3 more, and %d reads for each shard",
		once.ReadUnits, once.WriteUnits, once.ObjectWrites, once.ObjectReads, each.ObjectReads-once.ObjectReads)
	if !strings.Contains(strings.Join(strings.Fields(string(page)), " "), says) {
		t.Errorf("the cost page should say: %s", says)
	}
}

// counted runs a job's workflow and returns what it asked since the start of the
// metering, and the completed job.
func (w *world) counted(t *testing.T, m *storetest.Meter, exp admin.ExportJob, shards int, part int64) ([len(costRows)]int, admin.ExportJob) {
	t.Helper()
	// One after the other: two that read at the same time may read a piece twice.
	one := func(o *Options) { o.Shards, o.Concurrency, o.PartBytes, o.KeepInObjects = shards, 1, part, true }
	if err := workflowAcross(context.Background(), w.steps(one), w.steps(one), exp.ID, 1); err != nil {
		t.Fatal(err)
	}
	done, err := w.admin.FindExport(context.Background(), exp.ID)
	if err != nil || done.Status != admin.ExportCompleted {
		t.Fatalf("the export is %+v, %v", done, err)
	}
	// A step of a workflow is a transition, and so is its start.
	way, child := statesOnTheWay(t)
	transitions := way + 1 + shards*(child+1)
	calls := 3 + shards // the call that starts it, plan, assemble, and a shard each
	return [len(costRows)]int{m.WriteUnits, m.ReadUnits, m.ObjectWrites, m.ObjectReads, transitions, calls}, done
}

// statesOnTheWay counts the states that an export passes which succeeds: of
// the workflow, and of one child.
func statesOnTheWay(t *testing.T) (way, child int) {
	type machine struct {
		StartAt string
		States  map[string]struct {
			Next, Default string
			End           bool
			ItemProcessor json.RawMessage
		}
	}
	var count func(m machine) int
	count = func(m machine) (n int) {
		for at := m.StartAt; at != ""; at = cmp.Or(m.States[at].Next, m.States[at].Default) {
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
