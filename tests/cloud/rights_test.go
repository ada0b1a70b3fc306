package cloud

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/cloud/s3store"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/tests/harness"
)

// The tests of this file bring functions to the calls that they make seldom,
// each of which is a right that the stack grants.

// otherHosts exports a site that names files of a host that the project allows,
// and that nobody can reach: what is known of them is kept with the job, and the
// export goes on without.
func (d *deployment) otherHosts(t *testing.T) {
	project := d.projectOf(t, "faults.example.com")
	if _, err := d.Command(t, "project", "configure", project.ID, "--stack", d.stack.Name, "--allow-host", "files.invalid"); err != nil {
		t.Fatal(err)
	}
	d.publishText(t, "faults.example.com", "![A picture](https://files.invalid/a.png)")
	if job := d.wait(t, d.startJob(t, "faults.example.com"), 4*time.Minute); job["status"] != "completed" {
		t.Fatalf("the job is %v", job)
	}
	// Back to what other tests expect.
	if _, err := d.admin.ConfigureProject(t.Context(), project.ID, admin.Configuration{
		Kind: project.Kind, Settings: project.Settings, Retention: project.Retention,
	}); err != nil {
		t.Fatal(err)
	}
}

// uploadsTakenBack refuses a part of an upload of each step: the step removes
// the parts that are there already, and its next try goes well.
func (d *deployment) uploadsTakenBack(t *testing.T) {
	d.publish(t, heavySite(t), "large.example.com")
	steps := []string{"/site.json", "/units/", "/bundle.tar.gz"}
	var refused counter
	d.proxy.setFault(func(c awsCall) int {
		for _, name := range steps {
			if c.part && strings.Contains(c.object, name) && refused.once(name) {
				return refuse
			}
		}
		return 0
	})
	defer d.proxy.setFault(nil)
	before, _ := d.proxy.all()
	id := d.startJob(t, "large.example.com")
	if job := d.wait(t, id, 4*time.Minute); job["status"] != "completed" {
		t.Fatalf("the job is %v", job)
	}
	calls, _ := d.proxy.all()
	for _, name := range steps {
		if !slices.ContainsFunc(calls[len(before):], func(c awsCall) bool {
			return c.does("s3:AbortMultipartUpload") && strings.Contains(c.object, id+name)
		}) {
			t.Errorf("no upload of …%s was taken back", name)
		}
	}
}

// heavySite is a site of one page whose plan, one of whose units and whose
// bundle are each too large for an upload in one part.
func heavySite(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("index.mdx", []byte("---\ntitle: Page\n---\n\nText.\n"))
	write("docs.json", fmt.Appendf(nil, `{"name":"Heavy","theme":"mint","colors":{"primary":"#0055aa"},"variables":{"long":%q},"navigation":{"pages":["index"]}}`,
		strings.Repeat("many words ", 1<<20)))
	noise := make([]byte, 20<<20) // that no packer makes smaller
	_, _ = rand.NewChaCha8([32]byte{1}).Read(noise)
	write("data.zip", noise)
	return dir
}

// keysFreed has requests with an Idempotency-Key fail half-way: the key is free
// again, and the repeated request goes well.
func (d *deployment) keysFreed(t *testing.T) {
	d.publish(t, harness.MadeSite(t, 2), "faults.example.com")
	_, older, _ := d.Call(t, "GET", "/v1/sites/faults.example.com/snapshots/latest", "")
	d.publish(t, harness.MadeSite(t, 3), "faults.example.com")
	done := d.startJob(t, "faults.example.com")
	if job := d.wait(t, done, 2*time.Minute); job["status"] != "completed" {
		t.Fatalf("the job is %v", job)
	}
	digest := strings.Repeat("1f", 32)
	status, latest, _ := d.Call(t, "GET", "/v1/sites/faults.example.com/snapshots/latest", "")
	if status != http.StatusOK {
		t.Fatalf("latest: %d %v", status, latest)
	}
	newSnapshot := fmt.Sprintf(`{"base":%q,"manifest":{"sha256":%q,"sizeBytes":100},"packs":[{"sha256":%q,"sizeBytes":100}]}`, latest["snapshotId"], digest, digest)
	status, pending, _ := d.Call(t, "POST", "/v1/sites/faults.example.com/snapshots", newSnapshot)
	if status != http.StatusCreated {
		t.Fatalf("create: %d %v", status, pending)
	}
	// The transaction in which the function of a call makes something, not the one
	// that frees the key. Other functions write at the same time.
	signers := d.signers(t)
	makes := func(function string) func(awsCall) bool {
		return func(c awsCall) bool {
			return signers[c.signer].folder == function && c.operation == "TransactWriteItems" && !c.does("dynamodb:DeleteItem")
		}
	}
	final, active := d.agentJob(t, d.projectOf(t, "broken.example.com")), d.agentJob(t, d.projectOf(t, "faults.example.com"))
	if err := d.admin.FailAgent(t.Context(), final.Current(), admin.CodeLoop, ""); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.admin.FailAgent(context.WithoutCancel(t.Context()), active.Current(), admin.CodeCancelled, ""); err != nil {
			t.Error(err)
		}
	}()
	agent := func(j admin.AgentJob) string { return "/v2/agent/" + j.Project + "/job/" + j.ID }
	for _, c := range []struct {
		name, path, body string
		fault            func(awsCall) bool
		then             int
	}{
		// First: the reconciler starts the job before long, which then fails for want
		// of a credential.
		{"cancel", agent(active) + "/cancel", "", makes("cancelagentjob"), 200},
		{"start", "/v1/static-export/jobs", `{"domain":"faults.example.com"}`, makes("startexport"), 202},
		{"bundle", "/v1/static-export/jobs/" + done + "/bundle", "", func(c awsCall) bool { return strings.HasSuffix(c.object, "/bundle.tar.gz") }, 200},
		{"snapshot", "/v1/sites/faults.example.com/snapshots", newSnapshot, makes("createsnapshot"), 201},
		{"cancel-export", "/v1/static-export/jobs/" + d.unstarted(t, "faults.example.com") + "/cancel", "", makes("cancelexport"), 200},
		{"archive", agent(final) + "/archive", "", makes("archiveagentjob"), 200},
		// Of this one nothing was uploaded, which is what the second answer says.
		{"publish", fmt.Sprintf("/v1/sites/faults.example.com/snapshots/%s/publish", pending["snapshotId"]), "",
			func(c awsCall) bool { return strings.Contains(c.object, "/manifests/"+digest) }, 409},
		{"restore", fmt.Sprintf("/v1/sites/faults.example.com/snapshots/%s/restore", older["snapshotId"]), fmt.Sprintf(`{"base":%q}`, latest["snapshotId"]), makes("restoresnapshot"), 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := map[string]string{"Authorization": "Bearer " + d.Key, "Idempotency-Key": "freed-" + c.name}
			if c.body != "" {
				header["Content-Type"] = "application/json"
			}
			var met counter
			d.proxy.setFault(func(call awsCall) int {
				if c.fault(call) && met.once("") {
					return refuse
				}
				return 0
			})
			defer d.proxy.setFault(nil)
			if status, code := d.ask(t, "POST", c.path, c.body, header); status < 500 {
				t.Errorf("the first request: %d %s, want a failure", status, code)
			}
			if status, code := d.ask(t, "POST", c.path, c.body, header); status != c.then {
				t.Errorf("the second request: %d %s, want %d", status, code, c.then)
			}
		})
	}
}

// gone removes a bundle behind the API's back, as a retention does.
func (d *deployment) gone(t *testing.T) {
	d.publish(t, harness.MadeSite(t, 3), "faults.example.com")
	id := d.startJob(t, "faults.example.com")
	if job := d.wait(t, id, 2*time.Minute); job["status"] != "completed" {
		t.Fatalf("the job is %v", job)
	}
	if err := d.objects().Delete(t.Context(), "exports/"+id+"/bundle.tar.gz"); err != nil {
		t.Fatal(err)
	}
	if status, code := d.ask(t, "POST", "/v1/static-export/jobs/"+id+"/bundle", "", map[string]string{"Authorization": "Bearer " + d.Key}); status != http.StatusGone || code != admin.CodeBundleGone {
		t.Errorf("its bundle: %d %s, want 410 %s", status, code, admin.CodeBundleGone)
	}
	if err := d.objects().Delete(t.Context(), admin.FindingsKey(id)); err != nil {
		t.Fatal(err)
	}
	if status, code := d.ask(t, "GET", "/v1/static-export/jobs/"+id+"/findings", "", map[string]string{"Authorization": "Bearer " + d.Key}); status != http.StatusGone || code != admin.CodeFindingsGone {
		t.Errorf("its findings: %d %s, want 410 %s", status, code, admin.CodeFindingsGone)
	}
}

func (d *deployment) objects() *s3store.Objects {
	return s3store.New(d.aws, s3store.Options{Sources: d.stack.SourcesBucket, Exports: d.stack.ExportsBucket})
}

// finishedShard calls the render step once more for a shard that is done, as a
// retry does whose first answer was lost: it looks for the shard's parts and
// writes none.
func (d *deployment) finishedShard(t *testing.T) {
	d.publish(t, harness.MadeSite(t, 3), "faults.example.com")
	gate := d.hold("/diagnostics.jsonl") // which Assemble reads
	defer gate.open()
	id := d.startJob(t, "faults.example.com")
	gate.met(t)
	job, err := d.admin.FindExport(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := d.proxy.all()
	if answer := d.invoke(t, "rendershard", fmt.Sprintf(`{"jobId":%q,"renderer":%q,"shard":1}`, id, job.Plan.Renderer)); strings.Contains(string(answer), "errorType") {
		t.Errorf("the finished shard was told %s", answer)
	}
	looked := 0
	calls, _ := d.proxy.all()
	for _, c := range calls[len(before):] {
		if strings.HasPrefix(c.object, "exports/"+id+"/") && c.does("s3:PutObject") {
			t.Errorf("%s was written again", c.object)
		}
		if strings.Contains(c.object, id+"/units/") && c.does("s3:GetObject") {
			looked++
		}
	}
	if looked == 0 {
		t.Error("nobody looked for the shard's parts")
	}
	gate.open()
	if job := d.wait(t, id, 2*time.Minute); job["status"] != "completed" {
		t.Errorf("the job is %v", job)
	}
}

// tooLong has the reconciler believe that a running execution began long ago.
func (d *deployment) tooLong(t *testing.T) {
	d.publish(t, harness.MadeSite(t, 130), "large.example.com")
	gate := d.hold("/shards/")
	defer gate.open()
	id := d.startJob(t, "large.example.com")
	gate.met(t)
	began := regexp.MustCompile(`"startDate":\s*[0-9.eE+]+`)
	d.proxy.setEdit(func(c awsCall, body []byte) []byte {
		if c.operation != "DescribeExecution" || !strings.HasSuffix(c.rights[0].resource, ":"+id) {
			return body
		}
		return began.ReplaceAll(body, fmt.Appendf(nil, `"startDate":%d`, time.Now().Add(-8*time.Hour).Unix()))
	})
	defer d.proxy.setEdit(nil)
	before, _ := d.proxy.all()
	d.invoke(t, "reconcile", "{}")
	if code := d.failed(t, id, time.Minute); code != admin.CodeInternal {
		t.Errorf("failed with %s, want %s", code, admin.CodeInternal)
	}
	calls, _ := d.proxy.all()
	if !slices.ContainsFunc(calls[len(before):], func(c awsCall) bool { return c.does("states:StopExecution") }) {
		t.Error("the execution was not stopped")
	}
}

// gate holds calls up until it opens.
type gate struct {
	came, opened chan struct{}
	first, last  func()
	proxy        *awsProxy
}

// hold holds up reads of objects of exports whose key has name in it.
func (d *deployment) hold(name string) *gate {
	g := &gate{came: make(chan struct{}), opened: make(chan struct{}), proxy: d.proxy}
	g.first, g.last = closeOnce(g.came), closeOnce(g.opened)
	d.proxy.setFault(func(c awsCall) int {
		if c.does("s3:GetObject") && strings.HasPrefix(c.object, "exports/") && strings.Contains(c.object, name) {
			g.first()
			<-g.opened
		}
		return 0
	})
	return g
}

// met waits until a call is held up.
func (g *gate) met(t *testing.T) {
	t.Helper()
	select {
	case <-g.came:
	case <-time.After(5 * time.Minute):
		t.Fatal("nothing came to the gate")
	}
}

func (g *gate) open() {
	g.proxy.setFault(nil)
	g.last()
}

// beforeSweep publishes a site twice, so that nothing of the first snapshot is
// in the second, lets the functions believe that the first, and all objects,
// are old, and gives the test of the sweep that follows. That one comes early:
// the note of the last one is taken away.
func (d *deployment) beforeSweep(t *testing.T) func(t *testing.T) {
	t.Helper()
	const domain = "old.example.com"
	org := d.organisation(t, admin.PlanEnterprise)
	project, err := d.admin.CreateProject(t.Context(), admin.Project{
		Organisation: org.ID, Domain: domain, Repository: "https://github.com/example/docs", Retention: admin.Retention{SnapshotDays: 30},
	})
	if err != nil {
		t.Fatal(err)
	}
	owner := deployment{Up: harness.Up{URL: d.URL, Key: d.newKey(t, org.ID)}, client: d.client}
	first := owner.publishText(t, domain, "The first text.")
	if packs, manifests := d.sources(t, org.ID); len(packs) != 1 || len(manifests) != 1 {
		t.Fatalf("after the first snapshot there are the packs %v and the manifests %v", packs, manifests)
	}
	second := owner.publishText(t, domain, "The second text.")
	// An earlier release's record does not say which packs are needed: the
	// sweep reads the manifest.
	records := dynamo.New(d.aws, dynamo.Options{Table: d.stack.Table})
	rec, err := records.Get(t.Context(), store.Key{PK: "project#" + project.ID, SK: "snapshot#" + second})
	if err != nil {
		t.Fatal(err)
	}
	if rec.Value = regexp.MustCompile(`"packs":\[[^]]*\],`).ReplaceAll(rec.Value, nil); strings.Contains(string(rec.Value), "packs") {
		t.Fatalf("the record still has its packs: %s", rec.Value)
	}
	if err := records.Write(t.Context(), []store.Record{rec}, nil); err != nil {
		t.Fatal(err)
	}
	packs, manifests := d.sources(t, org.ID)
	published, modified := regexp.MustCompile(`(publishedAt\\*":\\*")\d{4}`), regexp.MustCompile(`(<LastModified>)\d{4}`)
	d.proxy.setEdit(func(c awsCall, body []byte) []byte {
		switch c.operation {
		case "Query":
			return published.ReplaceAll(body, []byte("${1}2001"))
		case "ListBucket":
			return modified.ReplaceAll(body, []byte("${1}2001"))
		}
		return body
	})
	return func(t *testing.T) {
		defer d.proxy.setEdit(nil)
		last := store.Delete{Key: store.Key{PK: "sweeps", SK: "sweep"}}
		if err := records.Write(t.Context(), nil, []store.Delete{last}); err != nil {
			t.Fatal(err)
		}
		d.invoke(t, "reconcile", "{}")
		var kept []string
		leftPacks, leftManifests := d.sources(t, org.ID)
		// The schedule's own look may be the one that sweeps.
		for wait := time.Now().Add(time.Minute); len(leftPacks)+len(leftManifests) > 2 && time.Now().Before(wait); {
			time.Sleep(time.Second)
			leftPacks, leftManifests = d.sources(t, org.ID)
		}
		if err := d.admin.KeptSnapshots(t.Context(), org.ID, func(s admin.Snapshot) error {
			kept = append(kept, s.ID)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(kept, []string{second}) {
			t.Errorf("of %s and %s the sweep left %v", first, second, kept)
		}
		if len(packs) != 2 || len(manifests) != 2 || len(leftPacks) != 1 || len(leftManifests) != 1 {
			t.Errorf("of the packs %v and the manifests %v the sweep left %v and %v", packs, manifests, leftPacks, leftManifests)
		}
		// What is left is what is needed, here and elsewhere.
		if job := owner.wait(t, owner.startJob(t, domain), 2*time.Minute); job["status"] != "completed" {
			t.Errorf("of project %s the export is %v", project.ID, job)
		}
		if job := d.wait(t, d.startJob(t, "update.example.com"), 2*time.Minute); job["status"] != "completed" {
			t.Errorf("another site's export is %v", job)
		}
	}
}

// publishText publishes a site of one page and gives the snapshot's id.
func (d *deployment) publishText(t *testing.T, domain, text string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"docs.json": fmt.Sprintf(`{"name":%q,"theme":"mint","colors":{"primary":"#0055aa"},"navigation":{"pages":["index"]}}`, text),
		"index.mdx": "---\ntitle: Page\n---\n\n" + text + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	d.publish(t, dir, domain)
	status, latest, _ := d.Call(t, "GET", "/v1/sites/"+domain+"/snapshots/latest", "")
	if status != http.StatusOK {
		t.Fatalf("latest: %d %v", status, latest)
	}
	return latest["snapshotId"].(string)
}

// sources lists the packs and manifests of an organisation.
func (d *deployment) sources(t *testing.T, org string) (packs, manifests []string) {
	t.Helper()
	list := func(prefix string) (keys []string) {
		all, err := d.objects().List(context.WithoutCancel(t.Context()), prefix, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all {
			keys = append(keys, o.Key)
		}
		return keys
	}
	return list(admin.PackPrefix(org)), list(admin.ManifestPrefix(org))
}
