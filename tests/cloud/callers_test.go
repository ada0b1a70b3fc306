package cloud

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/tests/harness"
)

const calledDomain = "called.example.com"

// callers call the functions that are not steps of an export, each as it is
// called in the cloud: again, with the same Idempotency-Key, until it has done
// what it is for.
type callers struct {
	*meddler
	records store.Store
	caller  admin.Caller
	project string
	done    string // a job that is completed
	started int64  // jobs besides it that were started
	cases   int
	made    int // calls of AWS for one answer
}

// faultyFunctions has one thing happen to a function at each call that it makes
// of AWS, and holds what is left when its caller has its answer: one snapshot,
// one job, one usage; a job that fails does so once, and its place is free.
// BINDERY_FAULTS is how many cases there are of each function, BINDERY_FAULTS_SEED
// which.
func (d *deployment) faultyFunctions(t *testing.T) {
	faults := []string{killedBefore, killedAfter, throttled, answerLost, doubled, late, exhausted}
	seed, cases := faultsWanted(t, 3, math.MaxInt)
	org := d.organisation(t, admin.PlanEnterprise, calledDomain)
	defer func(key string) { d.Key = key }(d.Key)
	d.Key = d.newKey(t, org.ID)
	d.publish(t, harness.MadeSite(t, 1), calledDomain)
	c := &callers{
		meddler: &meddler{d: d, org: org.ID, steps: make(map[string]*step)},
		records: dynamo.New(d.aws, dynamo.Options{Table: d.stack.Table}),
		caller:  admin.Caller{OrganisationID: org.ID, Plan: admin.PlanEnterprise},
		done:    d.startJob(t, calledDomain),
	}
	if final := d.wait(t, c.done, 2*time.Minute); final["status"] != "completed" {
		t.Fatalf("the job is %v", final)
	}
	c.project = c.latest(t).Project
	before, met := c.usage(t), 0
	defer d.proxy.setMeddle(nil)
	for n, f := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"latestsnapshot", c.readLatest}, {"createsnapshot", c.create}, {"publishsnapshot", c.publish},
		{"startexport", c.start}, {"getexport", c.read}, {"generatebundle", c.link},
		{"failexport", c.fail}, {"reconcile", c.reconcile},
	} {
		t.Run(f.name, func(t *testing.T) {
			c.meddler = &meddler{d: d, org: org.ID, of: regexp.MustCompile(f.name), steps: make(map[string]*step)}
			d.proxy.setMeddle(c.meddle)
			c.begin(nil)
			f.run(t) // its process may be new, and makes more calls than the next
			c.begin(nil)
			f.run(t)
			calls, hits := c.made, make(map[string]int)
			if calls == 0 {
				t.Fatal("it makes no calls")
			}
			for i := range min(cases, calls*len(faults)) {
				// The faults take turns, each with an order of calls of its own.
				fault := (seed + 3*n + i) % len(faults)
				at := 1 + rand.New(rand.NewPCG(uint64(seed), uint64(100*n+fault))).Perm(calls)[i/len(faults)]
				c.begin(map[int]string{at: faults[fault]})
				f.run(t)
				if t.Failed() {
					t.Fatalf("%s at call %d of %d, after %q", faults[fault], at, calls, c.hit)
				}
				for _, hit := range c.hit {
					hits[hit]++
				}
			}
			for _, hit := range slices.Sorted(maps.Keys(hits)) {
				t.Logf("%3d %s", hits[hit], hit)
			}
			met += len(hits)
			t.Logf("%d calls, BINDERY_FAULTS_SEED=%d", calls, seed)
		})
	}
	d.proxy.setMeddle(nil)
	if met == 0 {
		t.Error("no fault was met")
	}
	c.settled(t)
	if after := c.usage(t); after.Exports-before.Exports != c.started || after.Pages-before.Pages != c.started {
		t.Errorf("%d exports of a page are counted as %d, with %d pages", c.started, after.Exports-before.Exports, after.Pages-before.Pages)
	}
}

// begin plans what happens next, and to which call.
func (c *callers) begin(plan map[int]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cases++
	c.plan, c.calls, c.hit, c.exhaust = plan, 0, nil, ""
}

// reply is what a caller is told.
type reply struct {
	// answer is what each invocation that does its work must say; empty where
	// it did not.
	answer  string
	running bool   // another one has the Idempotency-Key
	refused string // for good, which none may be
}

// until calls a function until it has done its work, and once more, which changes
// nothing. The key is that of its Idempotency-Key's record, if it has one.
func (c *callers) until(t *testing.T, key store.Key, invoke func() reply) string {
	t.Helper()
	check := func(r reply, want string) {
		if r.refused != "" || r.answer != "" && want != "" && r.answer != want {
			t.Errorf("after %q it is told %+v, want %q", c.hit, r, want)
		}
	}
	first, second, held := make(chan reply, 1), make(chan reply, 1), make(chan struct{})
	release := make(chan struct{})
	open := closeOnce(release)
	defer open()
	c.mu.Lock()
	c.again = func(string) { second <- invoke() }
	c.held, c.release = closeOnce(held), release
	c.mu.Unlock()
	go func() { first <- invoke() }()
	var r reply
	waits := false
	select {
	case r = <-first:
	case <-held:
		waits = true
	}
	for deadline := time.Now().Add(time.Minute); r.answer == ""; {
		check(r, "")
		if time.Now().After(deadline) || t.Failed() {
			t.Fatalf("after %q it does not get through: %+v", c.hit, r)
		}
		c.relent()
		if r.running {
			c.lapse(t, key)
		}
		if r = invoke(); r.answer == "" && !r.running {
			time.Sleep(100 * time.Millisecond)
		}
	}
	open()
	if waits {
		check(<-first, r.answer)
	}
	c.doubles.Wait()
	if len(second) > 0 {
		check(<-second, r.answer)
	}
	c.mu.Lock()
	c.plan, c.made = nil, c.calls
	c.mu.Unlock()
	check(invoke(), r.answer)
	return r.answer
}

// lapse has the time pass after which the request of an Idempotency-Key counts
// as dead.
func (c *callers) lapse(t *testing.T, key store.Key) {
	t.Helper()
	rec, err := c.records.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	var row map[string]any
	if err := json.Unmarshal(rec.Value, &row); err != nil {
		t.Fatal(err)
	}
	if row["done"] == true {
		return // meanwhile
	}
	row["startedAt"] = time.Now().Add(-3 * time.Minute).UTC()
	if rec.Value, err = json.Marshal(row); err != nil {
		t.Fatal(err)
	}
	// Another may write it now, and then it is not as it was.
	_ = c.records.Write(t.Context(), []store.Record{rec}, nil)
}

// request makes a request of the API until it is answered with a status, and
// returns a field of its answer.
func (c *callers) request(t *testing.T, operation, method, path, body string, status int, field string) string {
	t.Helper()
	name := fmt.Sprintf("case-%d", c.cases)
	sum := sha256.Sum256([]byte(name))
	row := store.Key{PK: "request#" + c.org + "#" + operation + "#" + hex.EncodeToString(sum[:]), SK: "request"}
	return c.until(t, row, func() reply {
		r, err := http.NewRequestWithContext(t.Context(), method, c.d.URL+path, strings.NewReader(body))
		if err != nil {
			return reply{refused: err.Error()}
		}
		r.Header.Set("Authorization", "Bearer "+c.d.Key)
		if method == http.MethodPost {
			r.Header.Set("Idempotency-Key", name)
		}
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		res, err := c.d.client.Do(r)
		if err != nil {
			return reply{refused: err.Error()}
		}
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		code := res.Header.Get("Bindery-Error-Code")
		switch {
		case err != nil:
			return reply{refused: err.Error()}
		case res.StatusCode == http.StatusConflict && code == admin.CodeKeyRunning:
			return reply{running: true}
		case res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= 500:
			return reply{}
		}
		var answer map[string]any
		if err := json.Unmarshal(raw, &answer); err != nil || res.StatusCode != status || answer[field] == nil {
			return reply{refused: fmt.Sprintf("%s %s: %d %s", method, path, res.StatusCode, raw)}
		}
		return reply{answer: fmt.Sprint(answer[field])}
	})
}

func (c *callers) latest(t *testing.T) admin.Snapshot {
	t.Helper()
	s, err := c.d.admin.LatestSnapshot(t.Context(), c.caller, calledDomain)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// snapshots counts those of the site, published or not.
func (c *callers) snapshots(t *testing.T) int {
	t.Helper()
	n := 0
	if err := c.d.admin.KeptSnapshots(t.Context(), c.org, func(admin.Snapshot) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

func (c *callers) readLatest(t *testing.T) {
	want := c.latest(t).ID
	if got := c.request(t, "", "GET", "/v1/sites/"+calledDomain+"/snapshots/latest", "", http.StatusOK, "snapshotId"); got != want {
		t.Errorf("the latest snapshot is %s, want %s", got, want)
	}
}

// next is the request for a snapshot of the latest one's files, one of which a later
// commit has touched: without that, it would not make a new one.
func (c *callers) next(t *testing.T) admin.CreateSnapshot {
	t.Helper()
	s, objects := c.latest(t), c.d.objects()
	body, err := objects.Get(t.Context(), s.ManifestKey(), 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	m, err := snapshot.Decode(body)
	if err != nil {
		t.Fatal(err)
	}
	m.Entries[0].Modified = time.Unix(max(m.Entries[0].Modified.Unix(), 0)+1, 0).UTC()
	encoded, err := snapshot.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	manifest := admin.Blob{SHA256: harness.Digest(encoded), Size: int64(len(encoded))}
	if _, err := objects.Put(t.Context(), admin.ManifestKey(c.org, manifest.SHA256), bytes.NewReader(encoded), store.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	return admin.CreateSnapshot{Domain: calledDomain, Base: s.ID, Manifest: manifest, Packs: s.Packs}
}

func (c *callers) create(t *testing.T) {
	in, before := c.next(t), c.snapshots(t)
	blob := func(b admin.Blob) string { return fmt.Sprintf(`{"sha256":%q,"sizeBytes":%d}`, b.SHA256, b.Size) }
	var packs []string
	for _, p := range in.Packs {
		packs = append(packs, blob(p))
	}
	body := fmt.Sprintf(`{"base":%q,"manifest":%s,"packs":[%s]}`, in.Base, blob(in.Manifest), strings.Join(packs, ","))
	c.request(t, "create-snapshot", "POST", "/v1/sites/"+calledDomain+"/snapshots", body, http.StatusCreated, "snapshotId")
	if n := c.snapshots(t) - before; n != 1 {
		t.Errorf("after %q there are %d more snapshots", c.hit, n)
	}
}

func (c *callers) publish(t *testing.T) {
	before := c.snapshots(t)
	pending, err := c.d.admin.CreateSnapshot(t.Context(), c.caller, c.next(t))
	if err != nil {
		t.Fatal(err)
	}
	c.request(t, "publish-snapshot", "POST", fmt.Sprintf("/v1/sites/%s/snapshots/%s/publish", calledDomain, pending.ID), "", http.StatusOK, "snapshotId")
	s := c.latest(t)
	if n := c.snapshots(t) - before; n != 1 || s.ID != pending.ID || s.Status != admin.SnapshotPublished || s.Files != 2 {
		t.Errorf("after %q the latest of %d more snapshots is %+v", c.hit, n, s)
	}
}

// start starts an export; settled looks at what has become of it.
func (c *callers) start(t *testing.T) {
	c.started++
	c.request(t, "start-export", "POST", "/v1/static-export/jobs", fmt.Sprintf(`{"domain":%q,"fresh":true}`, calledDomain), http.StatusAccepted, "jobId")
}

// settled waits for the end of all jobs.
func (c *callers) settled(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		active := c.active(t)
		if len(active) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("jobs are still active: %v", active)
		}
	}
	rec, err := c.records.Get(t.Context(), store.Key{PK: "org#" + c.org, SK: "running"})
	if err != nil || !strings.Contains(string(rec.Value), `"running":0`) {
		t.Errorf("after %q the organisation's count of exports is %s, %v", c.hit, rec.Value, err)
	}
}

// active lists the organisation's jobs that are not over.
func (c *callers) active(t *testing.T) (list []string) {
	t.Helper()
	if err := c.d.admin.ActiveExports(t.Context(), func(j admin.ExportJob) error {
		if j.Organisation == c.org {
			list = append(list, j.ID)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

func (c *callers) read(t *testing.T) {
	if got := c.request(t, "", "GET", "/v1/static-export/jobs/"+c.done, "", http.StatusOK, "status"); got != "completed" {
		t.Errorf("the job is %s", got)
	}
}

func (c *callers) link(t *testing.T) {
	c.request(t, "generate-bundle", "POST", "/v1/static-export/jobs/"+c.done+"/bundle", "", http.StatusOK, "sha256")
}

// abandoned makes a job that is running and has no execution.
func (c *callers) abandoned(t *testing.T) string {
	t.Helper()
	c.settled(t)
	deaf := admin.New(admin.Options{Store: c.records, Runner: deafRunner{}})
	for range 10 {
		j, err := deaf.StartExport(t.Context(), c.caller, admin.StartExport{Domain: calledDomain, Fresh: true})
		if err != nil {
			t.Fatal(err)
		}
		// Queued, it would be started by the reconciler, which a schedule calls too.
		err = deaf.BeginExport(t.Context(), j.ID, admin.ExportPlan{Renderer: "none", Shards: 1, Pages: 1})
		if err == nil {
			return j.ID
		}
		// If the answer to that write is lost, the SDK writes again seconds later: the
		// reconciler may have failed the job by then, as it should.
		if admin.CodeOf(err) != admin.CodeJobNotActive {
			t.Fatal(err)
		}
		c.settled(t)
	}
	t.Fatal("the reconciler was always first")
	return ""
}

// ends invokes a function that has to fail a job.
func (c *callers) ends(t *testing.T, function, id, payload string) {
	t.Helper()
	name := c.d.functions(t)[function][0].FunctionName
	c.until(t, store.Key{}, func() reply {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.d.endpoint+"/2015-03-31/functions/"+name+"/invocations", strings.NewReader(payload))
		if err != nil {
			return reply{refused: err.Error()}
		}
		if err := c.d.sign(r, "lambda", []byte(payload)); err != nil {
			return reply{refused: err.Error()}
		}
		res, err := c.d.client.Do(r)
		if err != nil {
			return reply{refused: err.Error()}
		}
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		done := err == nil && res.StatusCode == http.StatusOK && res.Header.Get("X-Amz-Function-Error") == "" && !strings.Contains(string(raw), "errorType")
		j, err := c.d.admin.FindExport(context.WithoutCancel(t.Context()), id)
		switch {
		case err != nil || done && j.Status != admin.ExportFailed:
			return reply{refused: fmt.Sprintf("%s says it is done, and the job is %s, %v", function, j.Status, err)}
		case !done && (function != "reconcile" || j.Status != admin.ExportFailed):
			return reply{} // what the reconciler fails at may be another job
		}
		return reply{answer: fmt.Sprintf("%s at %v: %+v", j.Status, j.UpdatedAt, cmp.Or(j.Failure, &admin.Failure{}))}
	})
	c.settled(t)
}

func (c *callers) fail(t *testing.T) {
	id := c.abandoned(t)
	input, err := json.Marshal(job.FailInput{JobID: id, Error: job.ErrorNames{Error: "States.Timeout"}})
	if err != nil {
		t.Fatal(err)
	}
	c.ends(t, "failexport", id, string(input))
}

func (c *callers) reconcile(t *testing.T) { c.ends(t, "reconcile", c.abandoned(t), "{}") }
