package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/delivery/diff"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/export"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// sameBytes exports sites through the stack and in this process: the bundles
// have the same bytes.
func (d *deployment) sameBytes(t *testing.T) {
	sites := map[string]string{"infra-docs": filepath.Join(outside.Checkout(t), "infra", "docs")}
	for _, name := range []string{"mcp", "trigger", "novu"} {
		if dir, ok := outside.Maybe(t, "corpora", name); ok {
			sites[name] = dir
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sites)) {
		t.Run(name, func(t *testing.T) {
			dir := committed(t, sites[name])
			began := time.Now()
			d.publish(t, dir, cloudDomain)
			published := time.Since(began)
			began = time.Now()
			got := harness.Download(t, &d.Up, cloudDomain, "--export-version", name)
			exported := time.Since(began)
			snapshot, err := d.admin.LatestSnapshot(t.Context(), admin.Caller{OrganisationID: d.org.ID}, cloudDomain)
			if err != nil {
				t.Fatal(err)
			}
			here := twin(t, snapshot)
			if _, err := here.Command(t, "publish", dir, "--domain", cloudDomain); err != nil {
				t.Fatal(err)
			}
			if want := harness.Download(t, here, cloudDomain, "--export-version", name); got != want {
				t.Errorf("the deployed stack's bundle has the digest %s, this machine's %s", got, want)
			}
			t.Logf("published in %v, exported and downloaded in %v", published.Round(100*time.Millisecond), exported.Round(100*time.Millisecond))
		})
	}
}

// twin is a Bindery in this process whose first snapshot gets the name of one
// that is there elsewhere: names of snapshots are part of a bundle, and made
// of the time and of chance.
func twin(t *testing.T, of admin.Snapshot) *harness.Up {
	t.Helper()
	ctx := t.Context()
	l, err := local.Open(ctx, local.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	random := admin.New(admin.Options{Store: l.Store()})
	org, err := random.CreateOrganisation(ctx, admin.Organisation{Name: "Twin", Plan: admin.PlanEnterprise})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := random.CreateProject(ctx, admin.Project{Organisation: org.ID, Domain: of.Domain, Repository: "https://github.com/example/docs"}); err != nil {
		t.Fatal(err)
	}
	_, key, err := random.CreateKey(ctx, admin.KeyRequest{Organisation: org.ID, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}

	jobs := 0
	service := admin.New(admin.Options{
		Store: l.Store(), Objects: l.Objects(), Runner: l.Runner(), PollAfter: time.Second,
		Now: func() time.Time { return of.CreatedAt },
		NewID: func(prefix string) string {
			if prefix != "snp" {
				jobs++
				return fmt.Sprintf("%s_%026d", prefix, jobs)
			}
			// What stands behind the time in the other's name.
			return prefix + "_" + of.ID[len(of.ID)-26:]
		},
	})
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	islands := island.New(island.Options{Program: program})
	t.Cleanup(islands.Close)
	tasks := export.New(export.Options{Admin: service, Objects: l.Objects(), Islands: islands}).Tasks()
	return harness.InProcess(t, l, service, tasks, key)
}

// reused exports one site three times: the second job renders nothing and has a
// bundle of its own, the third leaves the first's where it is.
func (d *deployment) reused(t *testing.T) {
	const domain = "reused.example.com"
	d.publish(t, harness.MadeSite(t, 3), domain)
	first := d.startJob(t, domain)
	sum := d.bundleOf(t, first)
	_, made, _ := d.Call(t, "GET", "/v1/static-export/jobs/"+first, "")
	for name, body := range map[string]string{"a copy": `{"domain":%q}`, "no copy": `{"domain":%q,"have":"` + sum + `"}`} {
		status, job, _ := d.Call(t, "POST", "/v1/static-export/jobs", fmt.Sprintf(body, domain))
		if status != http.StatusAccepted {
			t.Fatalf("start: %d %v", status, job)
		}
		id := job["jobId"].(string)
		if got := d.bundleOf(t, id); got != sum {
			t.Errorf("%s has the digest %s, the first %s", name, got, sum)
		}
		_, job, _ = d.Call(t, "GET", "/v1/static-export/jobs/"+id, "")
		if job["reused"] == nil || job["pageCount"] != made["pageCount"] {
			t.Errorf("%s: the job is %v", name, job)
		}
		stored, err := d.objects().Stat(t.Context(), "exports/"+id+"/bundle.tar.gz")
		if unchanged := job["unchanged"] == true; unchanged != (name == "no copy") || unchanged != errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: the job is %v, its object %+v, %v", name, job, stored, err)
		}
	}
	d.changed(t, domain)
}

// changed exports another version of a site: its job says what came, and the link
// beside the bundle's has the list.
func (d *deployment) changed(t *testing.T, domain string) {
	t.Helper()
	d.publish(t, harness.MadeSite(t, 4), domain)
	id := d.startJob(t, domain)
	d.bundleOf(t, id)
	_, job, _ := d.Call(t, "GET", "/v1/static-export/jobs/"+id, "")
	changes, _ := job["changes"].(map[string]any)
	if changes == nil || changes["pagesAdded"] != 1.0 || changes["pagesRemoved"] != 0.0 {
		t.Fatalf("the job is %v", job)
	}
	_, link, _ := d.Call(t, "POST", "/v1/static-export/jobs/"+id+"/bundle", "")
	address, _ := link["changesUrl"].(string)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var list diff.Result
	if err := json.NewDecoder(response.Body).Decode(&list); err != nil || len(list.Pages.Added) != 1 {
		t.Errorf("the list: %d, %+v, %v", response.StatusCode, list.Pages, err)
	}
}

// cached exports a site of three units again with one sentence more: Assemble writes the
// two units that stayed the same from the cache.
func (d *deployment) cached(t *testing.T) {
	const domain = "cached.example.com"
	site := harness.MadeSite(t, 130)
	d.publish(t, site, domain)
	d.bundleOf(t, d.startJob(t, domain))
	file := filepath.Join(site, "part-00", "page-0005.mdx")
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, append(text, "\nOne sentence more.\n"...), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	d.publish(t, site, domain)
	status, job, _ := d.Call(t, "POST", "/v1/static-export/jobs", fmt.Sprintf(`{"domain":%q}`, domain)) // not fresh
	if status != http.StatusAccepted {
		t.Fatalf("start: %d %v", status, job)
	}
	id := job["jobId"].(string)
	d.bundleOf(t, id)
	_, job, _ = d.Call(t, "GET", "/v1/static-export/jobs/"+id, "")
	if changes, _ := job["changes"].(map[string]any); changes == nil || changes["pagesChanged"] != 1.0 || changes["pagesAdded"] != 0.0 || job["pageCount"] != 130.0 {
		t.Errorf("the job is %v", job)
	}
}

// failed waits for a failure and gives its code.
func (d *deployment) failed(t *testing.T, id string, most time.Duration) string {
	t.Helper()
	job := d.wait(t, id, most)
	failure, _ := job["failure"].(map[string]any)
	if job["status"] != "failed" || failure == nil || failure["message"] == "" {
		t.Fatalf("the job is %v, want it failed with its reason", job)
	}
	code, _ := failure["code"].(string)
	return code
}

func (d *deployment) badSite(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "docs.json"), []byte("{\n  \"name\": oops\n}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d.publish(t, dir, "broken.example.com")
	id := d.startJob(t, "broken.example.com")
	if code := d.failed(t, id, time.Minute); code != admin.CodeInvalidSite {
		t.Errorf("failed with %s, want %s", code, admin.CodeInvalidSite)
	}
	if status, code := d.ask(t, "POST", "/v1/static-export/jobs/"+id+"/bundle", "", map[string]string{"Authorization": "Bearer " + d.Key}); status != 409 || code != admin.CodeJobFailed {
		t.Errorf("its bundle: %d %s, want 409 %s", status, code, admin.CodeJobFailed)
	}
}

// rendered tells whether a call writes a part that was rendered, of another job
// than the one that the reconciler starts at a time of its own.
func (d *deployment) rendered(c awsCall) bool {
	return c.does("s3:PutObject") && strings.Contains(c.object, "/units/") && !strings.Contains(c.object, d.orphaned)
}

// passingFault has the storage refuse the first uploads of rendered parts for
// longer than one invocation tries.
func (d *deployment) passingFault(t *testing.T) {
	d.publish(t, harness.MadeSite(t, 130), "faults.example.com")
	var faults counter
	d.proxy.setFault(func(c awsCall) int {
		if d.rendered(c) && faults.add() <= 2*uploadTries {
			return http.StatusServiceUnavailable
		}
		return 0
	})
	defer d.proxy.setFault(nil)
	id := d.startJob(t, "faults.example.com")
	if job := d.wait(t, id, 3*time.Minute); job["status"] != "completed" || job["pageCount"] != 130.0 {
		t.Errorf("the job is %v", job)
	}
	if n := faults.value(); n <= 2*uploadTries {
		t.Errorf("only %d uploads were tried: the fault was not met", n)
	}
}

// uploadTries is how often one call of the SDK is tried.
const uploadTries = 6

// lastingFault starts an export for which the storage refuses all uploads of rendered
// parts. Its job fails minutes later, after the step's tries, which the returned test
// waits for.
func (d *deployment) lastingFault(t *testing.T) func(*testing.T) {
	t.Helper()
	const domain = "lasting.example.com"
	d.publish(t, harness.MadeSite(t, 130), domain)
	d.slow() // until the fault is there
	defer d.proxy.setFault(nil)
	id := d.startJob(t, domain)
	var faults counter
	remove := d.proxy.addFault(func(c awsCall) int {
		if d.rendered(c) && strings.Contains(c.object, id) {
			faults.add()
			return http.StatusServiceUnavailable
		}
		return 0
	})
	return func(t *testing.T) {
		defer remove()
		if code := d.failed(t, id, 8*time.Minute); code != admin.CodeTemporary && code != admin.CodeInternal {
			t.Errorf("failed with %s, want that storage was the reason", code)
		}
		// Each of the step's tries is an invocation with tries of its own.
		if n := faults.value(); n < 3*uploadTries {
			t.Errorf("%d uploads were tried: the step was not tried three times", n)
		}
	}
}

// lateShard calls the render step for a job that has failed.
func (d *deployment) lateShard(t *testing.T) {
	d.publish(t, harness.MadeSite(t, 130), "faults.example.com")
	id := d.startJob(t, "faults.example.com")
	if err := d.admin.FailExport(t.Context(), id, admin.CodeInternal, "the test failed it"); err != nil {
		t.Fatal(err)
	}
	before := d.wait(t, id, time.Minute)
	answer := d.invoke(t, "rendershard", fmt.Sprintf(`{"jobId":%q,"renderer":"x","shard":1}`, id))
	if !bytes.Contains(answer, []byte("errorType")) {
		t.Errorf("the late shard was told %s, want an error", answer)
	}
	_, after, _ := d.Call(t, "GET", "/v1/static-export/jobs/"+id, "")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("a late shard changed the job:\n%s", diff)
	}
}

// slow makes every look of a step at its input take a while, so that an
// execution can be met while it runs.
func (d *deployment) slow() {
	d.proxy.setFault(func(c awsCall) int {
		if strings.Contains(c.object, "/manifests/") {
			time.Sleep(3 * time.Second)
		}
		return 0
	})
}

func (d *deployment) stopped(t *testing.T) {
	d.publish(t, harness.MadeSite(t, 600), "large.example.com")
	d.slow()
	defer d.proxy.setFault(nil)
	id := d.startJob(t, "large.example.com")
	if err := d.runner.Stop(t.Context(), store.WorkflowExport, id, "the test stops it"); err != nil {
		t.Fatal(err)
	}
	// Less than the reconciler waits: it is the event that does it.
	if code := d.failed(t, id, time.Minute); code != admin.CodeInternal {
		t.Errorf("failed with %s, want %s", code, admin.CodeInternal)
	}
}

// cancelled ends an export while it runs: its execution is stopped, its parts go,
// and what was found stays.
func (d *deployment) cancelled(t *testing.T) {
	d.publish(t, harness.MadeSite(t, 600), "large.example.com")
	gate := d.hold("/shards/")
	defer gate.open()
	id := d.startJob(t, "large.example.com")
	gate.met(t)
	for range 2 {
		status, job, _ := d.Call(t, "POST", "/v1/static-export/jobs/"+id+"/cancel", "")
		if status != http.StatusOK || job["status"] != "failed" || !strings.Contains(fmt.Sprint(job["failure"]), admin.CodeCancelled) {
			t.Fatalf("cancelled: %d %v", status, job)
		}
	}
	gate.open()
	e, err := d.runner.Status(t.Context(), store.WorkflowExport, id)
	if err != nil || e.State == store.Running {
		t.Errorf("the execution is %s: %v", e.State, err)
	}
	until := time.Now().Add(2 * time.Minute)
	for {
		list, err := d.objects().List(t.Context(), "exports/"+id+"/", "", 0)
		if err == nil && len(list) == 1 && list[0].Key == admin.FindingsKey(id) {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("it leaves %v: %v", list, err)
		}
		time.Sleep(time.Second)
	}
	if status, found, _ := d.Call(t, "GET", "/v1/static-export/jobs/"+id+"/findings", ""); status != http.StatusOK {
		t.Errorf("its findings: %d %v", status, found)
	}
}

// stoppedWithoutRule stops an execution while no rule tells of its end. Its job fails
// minutes later, once the reconciler has seen it, which the returned test waits for.
func (d *deployment) stoppedWithoutRule(t *testing.T) func(*testing.T) {
	t.Helper()
	const domain = "unheard.example.com"
	d.publish(t, harness.MadeSite(t, 130), domain)
	rule := d.stack.Outputs["EventRule"]
	d.aws4(t, "events", "AWSEvents.DisableRule", fmt.Sprintf(`{"Name":%q}`, rule))
	d.slow()
	id := d.startJob(t, domain)
	if err := d.runner.Stop(t.Context(), store.WorkflowExport, id, "the test stops it"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second) // events come within a second
	d.proxy.setFault(nil)
	d.aws4(t, "events", "AWSEvents.EnableRule", fmt.Sprintf(`{"Name":%q}`, rule))
	if _, job, _ := d.Call(t, "GET", "/v1/static-export/jobs/"+id, ""); job["status"] == "failed" {
		t.Fatalf("the event was heard: %v", job)
	}
	return func(t *testing.T) {
		if code := d.failed(t, id, 6*time.Minute); code != admin.CodeInternal {
			t.Errorf("failed with %s, want %s", code, admin.CodeInternal)
		}
	}
}

// deafRunner starts nothing.
type deafRunner struct{ store.Runner }

func (deafRunner) Start(context.Context, string, string, []byte) error {
	return fmt.Errorf("not started: the test is deaf")
}

// orphan makes a job whose execution is never started.
func (d *deployment) orphan(t *testing.T) string {
	t.Helper()
	d.publish(t, harness.MadeSite(t, 3), "orphan.example.com")
	d.orphaned = d.unstarted(t, "orphan.example.com")
	return d.orphaned
}

// unstarted makes a job that waits for the reconciler.
func (d *deployment) unstarted(t *testing.T, domain string) string {
	t.Helper()
	deaf := admin.New(admin.Options{Store: dynamo.New(d.aws, dynamo.Options{Table: d.stack.Table}), Runner: deafRunner{}})
	job, err := deaf.StartExport(t.Context(), admin.Caller{OrganisationID: d.org.ID}, admin.StartExport{Domain: domain, Fresh: true})
	if err != nil {
		t.Fatal(err)
	}
	return job.ID
}
