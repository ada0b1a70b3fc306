package tests

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/admin"
	"github.com/bindery-docs/bindery/shared/api"
	"github.com/bindery-docs/bindery/shared/asl"
	"github.com/bindery-docs/bindery/shared/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/cloud/s3store"
	"github.com/bindery-docs/bindery/shared/cloud/sfnrun"
	"github.com/bindery-docs/bindery/shared/cloud/stack"
	"github.com/bindery-docs/bindery/shared/export"
	"github.com/bindery-docs/bindery/shared/local"
	"github.com/bindery-docs/bindery/shared/store"
)

// deployment is the stack on a local cloud, with permissions enforced, and a
// proxy through which its functions call AWS.
type deployment struct {
	up       // url and key, for the helpers that call an API
	endpoint string
	aws      aws.Config
	stack    stack.Stack
	proxy    *awsProxy
	admin    *admin.Service
	runner   *sfnrun.Runner
	org      admin.Organisation
	client   *http.Client
}

const cloudDomain = "docs.example.com"

// TestCloud deploys the synthesized stack to MiniStack and holds it to what the
// local Bindery does. make test-cloud runs it: it takes minutes.
func TestCloud(t *testing.T) {
	if os.Getenv("BINDERY_CLOUD") != "1" {
		t.Skip("not run: make test-cloud does")
	}
	d := deploy(t)

	// What the reconciler finds takes it minutes: it begins first and is
	// looked at last.
	orphan := d.orphan(t)

	t.Run("refusals", d.refusals)
	t.Run("same bytes as on this machine", d.sameBytes)
	t.Run("tenants", d.tenants)
	t.Run("operators", d.operators)
	t.Run("a site that can't be exported", d.badSite)
	t.Run("a passing fault heals", d.passingFault)
	t.Run("a lasting fault fails the job", d.lastingFault)
	t.Run("a late shard changes nothing", d.lateShard)
	t.Run("a stopped execution fails its job", d.stopped)
	t.Run("without the event rule the reconciler fails it", d.stoppedWithoutRule)
	t.Run("the reconciler starts what was never started", func(t *testing.T) {
		if job := d.wait(t, orphan, 4*time.Minute); job["status"] != "completed" {
			t.Errorf("the job is %v", job)
		}
	})
	t.Run("granted is what was called", d.grantedIsCalled)
}

func deploy(t *testing.T) *deployment {
	t.Helper()
	if _, err := os.Stat(filepath.Join(repository(t), ".cache", "ministack", "bin", "python")); err != nil {
		lacking(t, "MiniStack (make tools)")
	}
	program(t, "node")
	bindery(t) // now, so that functions and program are of one commit: it is part of a bundle
	dir := t.TempDir()
	cert, key := certificate(t, dir)
	// MiniStack ends a connection of HTTP/2 after a thousand requests.
	t.Setenv("GODEBUG", "http2client=0")
	for _, name := range []string{"SSL_CERT_FILE", "AWS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"} {
		t.Setenv(name, cert)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()

	d := &deployment{endpoint: fmt.Sprintf("https://127.0.0.1:%d", port)}
	d.proxy = newAWSProxy(t, d.endpoint, cert, key)
	script := func(name string) ([]byte, error) {
		cmd := exec.Command(filepath.Join(repository(t), "infra", "local", name))
		cmd.Env = append(os.Environ(), "LOCAL_DIR="+dir, fmt.Sprintf("LOCAL_PORT=%d", port), "LOCAL_AUTH=true", "LOCAL_CALLS="+d.proxy.url)
		return cmd.CombinedOutput()
	}
	t.Cleanup(func() {
		if out, err := script("stop.sh"); err != nil {
			t.Errorf("stop.sh: %v\n%s", err, out)
		}
	})
	began := time.Now()
	if out, err := script("deploy.sh"); err != nil {
		t.Fatalf("deploy.sh: %v\n%s", err, out)
	}
	t.Logf("deployed in %v", time.Since(began).Round(time.Second))

	raw, err := os.ReadFile(filepath.Join(dir, "env"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		t.Setenv(name, value)
	}
	d.url = os.Getenv("BINDERY_URL")
	ctx := t.Context()
	if d.aws, err = stack.Config(ctx, ""); err != nil {
		t.Fatal(err)
	}
	if d.stack, err = stack.Read(ctx, d.aws, os.Getenv("BINDERY_STACK")); err != nil {
		t.Fatal(err)
	}
	d.client = &http.Client{Timeout: time.Minute}
	d.runner = sfnrun.New(d.aws, sfnrun.Options{StateMachine: d.stack.StateMachine})
	d.admin = admin.New(admin.Options{
		Store:   dynamo.New(d.aws, dynamo.Options{Table: d.stack.Table}),
		Objects: s3store.New(d.aws, s3store.Options{Sources: d.stack.SourcesBucket, Exports: d.stack.ExportsBucket}),
		Runner:  d.runner,
	})
	d.org = d.organisation(t, admin.PlanEnterprise, cloudDomain, "broken.example.com", "large.example.com", "faults.example.com", "orphan.example.com")
	d.key = d.newKey(t, d.org.ID)
	return d
}

func (d *deployment) organisation(t *testing.T, plan admin.Plan, domains ...string) admin.Organisation {
	t.Helper()
	org, err := d.admin.CreateOrganisation(t.Context(), admin.Organisation{Name: "Example", Plan: plan})
	if err != nil {
		t.Fatal(err)
	}
	for _, domain := range domains {
		if _, err := d.admin.CreateProject(t.Context(), admin.Project{Organisation: org.ID, Domain: domain, Repository: "https://github.com/example/docs"}); err != nil {
			t.Fatal(err)
		}
	}
	return org
}

func (d *deployment) newKey(t *testing.T, org string, scopes ...admin.Scope) string {
	t.Helper()
	_, secret, err := d.admin.CreateKey(t.Context(), admin.KeyRequest{Organisation: org, Name: "test", Scopes: scopes})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// committed copies a folder into a repository of its own with one commit of a
// fixed date: times of commits are part of a bundle.
func committed(t *testing.T, dir string) string {
	t.Helper()
	git := program(t, "git")
	out := t.TempDir()
	if err := os.CopyFS(out, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "all"}} {
		cmd := exec.Command(git, args...)
		cmd.Dir = out
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z", "GIT_CONFIG_GLOBAL="+os.DevNull)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, text)
		}
	}
	return out
}

func (d *deployment) publish(t *testing.T, dir, domain string) {
	t.Helper()
	if _, err := d.command(t, "publish", dir, "--domain", domain); err != nil {
		t.Fatal(err)
	}
}

// startJob starts an export and gives its job's id.
func (d *deployment) startJob(t *testing.T, domain string) string {
	t.Helper()
	status, job, header := d.call(t, "POST", "/v1/static-export/jobs", fmt.Sprintf(`{"domain":%q}`, domain))
	if status != http.StatusAccepted {
		t.Fatalf("start: %d %v", status, job)
	}
	id := job["jobId"].(string)
	if got := header.Get("Location"); got != "/v1/static-export/jobs/"+id {
		t.Errorf("Location is %q", got)
	}
	return id
}

// wait polls a job until it is final.
func (d *deployment) wait(t *testing.T, id string, most time.Duration) map[string]any {
	t.Helper()
	for deadline := time.Now().Add(most); ; time.Sleep(300 * time.Millisecond) {
		status, job, _ := d.call(t, "GET", "/v1/static-export/jobs/"+id, "")
		if status != http.StatusOK {
			t.Fatalf("poll: %d %v", status, job)
		}
		if job["status"] == "completed" || job["status"] == "failed" {
			return job
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v the job is still %v", most, job)
		}
	}
}

// ask makes a request as it is given and holds the answer to the form of all
// refusals.
func (d *deployment) ask(t *testing.T, method, path, body string, header map[string]string) (status int, code string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, d.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	res, err := d.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode < 400 || method == http.MethodHead {
		return res.StatusCode, res.Header.Get("Bindery-Error-Code")
	}
	var answer map[string]any
	if err := json.Unmarshal(raw, &answer); err != nil || len(answer) != 1 || answer["error"] == nil {
		t.Errorf(`%s %s: the body is %q, want {"error": …} and no more`, method, path, raw)
	}
	if got := res.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("%s %s: Content-Type %q", method, path, got)
	}
	if res.Header.Get("Request-Id") == "" {
		t.Errorf("%s %s: no Request-Id", method, path)
	}
	return res.StatusCode, res.Header.Get("Bindery-Error-Code")
}

func (d *deployment) refusals(t *testing.T) {
	free := d.newKey(t, d.organisation(t, admin.PlanFree, "free.example.com").ID)
	reader := d.newKey(t, d.org.ID, admin.ScopeRead)
	const jobs, nobody = "/v1/static-export/jobs", "/v1/static-export/jobs/exp_00000000000000000000000000"
	start := `{"domain":"docs.example.com"}`
	for _, c := range []struct {
		name, method, path, key, contentType, body string
		status                                     int
		code                                       string
	}{
		{"no path", "GET", "/", "", "", "", 404, "not_found"},
		{"unknown path", "GET", "/v3/nothing", "", "", "", 404, "not_found"},
		{"deep unknown path", "POST", "/v1/static-export/jobs/a/b/c/d", d.key, "application/json", "{}", 404, "not_found"},
		{"part of a path", "GET", "/v1/static-export", d.key, "", "", 404, "not_found"},
		{"unknown method", "PUT", jobs, d.key, "application/json", "{}", 404, "not_found"},
		{"unknown method of an item", "DELETE", nobody, d.key, "", "", 404, "not_found"},
		{"unknown method with a body of another type", "PATCH", jobs, d.key, "text/plain", "x", 404, "not_found"},
		{"OPTIONS", "OPTIONS", jobs, "", "", "", 404, "not_found"},
		{"no key", "POST", jobs, "", "application/json", start, 401, "unauthorized"},
		{"no key of ours", "POST", jobs, "nonsense", "application/json", start, 401, "unauthorized"},
		{"a key with a wrong letter", "GET", nobody, d.key[:len(d.key)-1] + "!", "", "", 401, "unauthorized"},
		{"a key that may only read", "POST", jobs, reader, "application/json", start, 403, "scope_missing"},
		{"a plan without export", "POST", jobs, free, "application/json", start, 403, "plan_required"},
		{"no JSON", "POST", jobs, d.key, "application/json", "{", 400, "invalid_request"},
		{"unknown field", "POST", jobs, d.key, "application/json", `{"domain":"docs.example.com","x":1}`, 400, "invalid_request"},
		{"no type", "POST", jobs, d.key, "text/plain", start, 415, "unsupported_media_type"},
		{"unknown domain", "POST", jobs, d.key, "application/json", `{"domain":"other.example.com"}`, 404, "domain_not_found"},
		{"nothing published", "POST", jobs, d.key, "application/json", `{"domain":"broken.example.com"}`, 409, "no_snapshot"},
		{"unknown job", "GET", nobody, d.key, "", "", 404, "not_found"},
		{"bundle of an unknown job", "POST", nobody + "/bundle", d.key, "", "", 404, "not_found"},
		{"unknown agent job", "GET", "/v2/agent/prj_0/job/agj_0", d.key, "", "", 404, "not_found"},
		{"no snapshot", "GET", "/v1/sites/broken.example.com/snapshots/latest", d.key, "", "", 404, "not_found"},
		{"unknown snapshot", "POST", "/v1/sites/docs.example.com/snapshots/snp_0/publish", d.key, "", "", 404, "not_found"},
		{"too large a body", "POST", jobs, d.key, "application/json", `{"domain":"` + strings.Repeat("a", 200<<10) + `"}`, 413, "too_large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := map[string]string{}
			if c.key != "" {
				header["Authorization"] = "Bearer " + c.key
			}
			if c.contentType != "" {
				header["Content-Type"] = c.contentType
			}
			if status, code := d.ask(t, c.method, c.path, c.body, header); status != c.status || code != c.code {
				t.Errorf("%d %s, want %d %s", status, code, c.status, c.code)
			}
		})
	}
	if status, _ := d.ask(t, "GET", "/openapi.json", "", nil); status != http.StatusOK {
		t.Errorf("/openapi.json: %d", status)
	}
}

// sameBytes exports sites through the stack and in this process: the bundles
// have the same bytes.
func (d *deployment) sameBytes(t *testing.T) {
	sites := map[string]string{"infra-docs": filepath.Join(repository(t), "infra", "docs")}
	outside := os.Getenv("BINDERY_SHARED")
	if outside == "" {
		outside = filepath.Join(repository(t), "..", "shared")
	}
	for _, name := range []string{"mcp", "trigger", "novu"} {
		if dir := filepath.Join(outside, "corpora", name); exists(filepath.Join(dir, "docs.json")) {
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
			got := download(t, &d.up, cloudDomain, "--export-version", name)
			exported := time.Since(began)
			snapshot, err := d.admin.LatestSnapshot(t.Context(), admin.Caller{OrganisationID: d.org.ID}, cloudDomain)
			if err != nil {
				t.Fatal(err)
			}
			here := twin(t, snapshot)
			if _, err := here.command(t, "publish", dir, "--domain", cloudDomain); err != nil {
				t.Fatal(err)
			}
			if want := download(t, here, cloudDomain, "--export-version", name); got != want {
				t.Errorf("the deployed stack's bundle has the digest %s, this machine's %s", got, want)
			}
			t.Logf("published in %v, exported and downloaded in %v", published.Round(100*time.Millisecond), exported.Round(100*time.Millisecond))
		})
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// twin is a Bindery in this process whose first snapshot gets the name of one
// that is there elsewhere: names of snapshots are part of a bundle, and made
// of the time and of chance.
func twin(t *testing.T, of admin.Snapshot) *up {
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
			if prefix != admin.PrefixSnapshot {
				jobs++
				return fmt.Sprintf("%s_%026d", prefix, jobs)
			}
			// What stands behind the time in the other's name.
			return prefix + "_" + of.ID[len(of.ID)-26:]
		},
	})
	steps := export.New(export.Options{Admin: service, Objects: l.Objects(), Runner: l.Runner()})
	tasks := make(map[string]asl.Task)
	for name, task := range steps.Tasks() {
		tasks[name] = task
	}
	if err := l.Runner().Resume(context.WithoutCancel(ctx), tasks, local.RunnerOptions{}); err != nil {
		t.Fatal(err)
	}
	calls, links := api.Handler(api.Options{Admin: service, Objects: l.Objects()}), l.Objects().Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, local.LinkPath) {
			links.ServeHTTP(w, r)
			return
		}
		calls.ServeHTTP(w, r)
	}))
	l.SetBaseURL(server.URL)
	t.Cleanup(func() {
		server.Close()
		ended, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := l.Runner().Close(ended); err != nil {
			t.Error(err)
		}
		if err := l.Close(ended); err != nil {
			t.Error(err)
		}
	})
	return &up{url: server.URL, key: key}
}

// tenants asks for one organisation's things with another one's key.
func (d *deployment) tenants(t *testing.T) {
	project := d.projectOf(t, cloudDomain)
	agent, err := d.admin.CreateAgentJob(t.Context(), admin.AgentJobRequest{Project: project.ID, Model: "any"})
	if err != nil {
		t.Fatal(err)
	}
	job := d.startJob(t, cloudDomain)
	if final := d.wait(t, job, 2*time.Minute); final["status"] != "completed" {
		t.Fatalf("the job: %v", final)
	}
	status, latest, _ := d.call(t, "GET", "/v1/sites/"+cloudDomain+"/snapshots/latest", "")
	if status != http.StatusOK {
		t.Fatalf("latest: %d %v", status, latest)
	}
	other := d.newKey(t, d.organisation(t, admin.PlanEnterprise, "other.example.org").ID)
	for _, c := range []struct {
		method, path, body string
		own                int
	}{
		{"GET", "/v2/agent/" + project.ID + "/job/" + agent.ID, "", 200},
		{"GET", "/v1/static-export/jobs/" + job, "", 200},
		{"POST", "/v1/static-export/jobs/" + job + "/bundle", "", 200},
		{"GET", "/v1/sites/" + cloudDomain + "/snapshots/latest", "", 200},
		{"POST", fmt.Sprintf("/v1/sites/%s/snapshots/%s/publish", cloudDomain, latest["snapshotId"]), "", 200},
		{"POST", "/v1/static-export/jobs", fmt.Sprintf(`{"domain":%q}`, cloudDomain), 202},
	} {
		header := map[string]string{"Authorization": "Bearer " + d.key, "Content-Type": "application/json"}
		if c.body == "" {
			delete(header, "Content-Type")
		}
		if got, code := d.ask(t, c.method, c.path, c.body, header); got != c.own {
			t.Errorf("%s %s: the owner gets %d %s, want %d", c.method, c.path, got, code, c.own)
		}
		header["Authorization"] = "Bearer " + other
		if got, code := d.ask(t, c.method, c.path, c.body, header); got != http.StatusNotFound {
			t.Errorf("%s %s: another organisation gets %d %s, want 404", c.method, c.path, got, code)
		}
	}
}

// operators work on the stack by its name.
func (d *deployment) operators(t *testing.T) {
	out, err := d.command(t, "project", "list", "--org", d.org.ID, "--stack", d.stack.Name, "--json")
	if err != nil {
		t.Fatal(err)
	}
	var projects []struct{ Domain string }
	if err := json.Unmarshal(out, &projects); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if !slices.ContainsFunc(projects, func(p struct{ Domain string }) bool { return p.Domain == cloudDomain }) {
		t.Errorf("the projects are %v", projects)
	}
	if _, err := d.command(t, "project", "list", "--stack", "Nothing"); err == nil {
		t.Error("a stack that is not there has projects")
	}
}

func (d *deployment) projectOf(t *testing.T, domain string) admin.Project {
	t.Helper()
	all, err := d.admin.ListProjects(t.Context(), d.org.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if p.Domain == domain {
			return p
		}
	}
	t.Fatalf("no project of %s", domain)
	return admin.Project{}
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
	if status, code := d.ask(t, "POST", "/v1/static-export/jobs/"+id+"/bundle", "", map[string]string{"Authorization": "Bearer " + d.key}); status != 409 || code != admin.CodeJobFailed {
		t.Errorf("its bundle: %d %s, want 409 %s", status, code, admin.CodeJobFailed)
	}
}

// passingFault has the storage refuse the first uploads of rendered parts for
// longer than one invocation tries.
func (d *deployment) passingFault(t *testing.T) {
	d.publish(t, madeSite(t, 130), "faults.example.com")
	var faults counter
	d.proxy.setFault(func(c awsCall) int {
		if c.service == "s3" && slices.Contains(c.actions, "PutObject") && strings.Contains(c.resource, "/units/") && faults.add() <= 2*uploadTries {
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

// lastingFault has the storage refuse all uploads of rendered parts.
func (d *deployment) lastingFault(t *testing.T) {
	var faults counter
	d.proxy.setFault(func(c awsCall) int {
		if c.service == "s3" && slices.Contains(c.actions, "PutObject") && strings.Contains(c.resource, "/units/") {
			faults.add()
			return http.StatusServiceUnavailable
		}
		return 0
	})
	defer d.proxy.setFault(nil)
	id := d.startJob(t, "faults.example.com")
	if code := d.failed(t, id, 8*time.Minute); code != admin.CodeTemporary && code != admin.CodeInternal {
		t.Errorf("failed with %s, want that storage was the reason", code)
	}
	// Each of the step's tries is an invocation with tries of its own.
	if n := faults.value(); n < 3*uploadTries {
		t.Errorf("%d uploads were tried: the step was not tried three times", n)
	}
}

// lateShard calls the render step for a job that has failed.
func (d *deployment) lateShard(t *testing.T) {
	d.publish(t, madeSite(t, 130), "faults.example.com")
	id := d.startJob(t, "faults.example.com")
	if err := d.admin.FailExport(t.Context(), id, admin.CodeInternal, "the test failed it"); err != nil {
		t.Fatal(err)
	}
	before := d.wait(t, id, time.Minute)
	answer := d.invoke(t, "rendershard", fmt.Sprintf(`{"jobId":%q,"renderer":"x","shard":1}`, id))
	if !bytes.Contains(answer, []byte("errorType")) {
		t.Errorf("the late shard was told %s, want an error", answer)
	}
	_, after, _ := d.call(t, "GET", "/v1/static-export/jobs/"+id, "")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("a late shard changed the job:\n%s", diff)
	}
}

// slow makes every look of a step at its input take a while, so that an
// execution can be met while it runs.
func (d *deployment) slow() {
	d.proxy.setFault(func(c awsCall) int {
		if c.service == "s3" && strings.Contains(c.resource, "/manifests/") {
			time.Sleep(3 * time.Second)
		}
		return 0
	})
}

func (d *deployment) stopped(t *testing.T) {
	d.publish(t, madeSite(t, 600), "large.example.com")
	d.slow()
	defer d.proxy.setFault(nil)
	id := d.startJob(t, "large.example.com")
	if err := d.runner.Stop(t.Context(), id, "the test stops it"); err != nil {
		t.Fatal(err)
	}
	// Less than the reconciler waits: it is the event that does it.
	if code := d.failed(t, id, time.Minute); code != admin.CodeInternal {
		t.Errorf("failed with %s, want %s", code, admin.CodeInternal)
	}
}

func (d *deployment) stoppedWithoutRule(t *testing.T) {
	rule := d.stack.Outputs["EventRule"]
	d.aws4(t, "events", "AWSEvents.DisableRule", fmt.Sprintf(`{"Name":%q}`, rule))
	defer d.aws4(t, "events", "AWSEvents.EnableRule", fmt.Sprintf(`{"Name":%q}`, rule))
	d.slow()
	defer d.proxy.setFault(nil)
	id := d.startJob(t, "large.example.com")
	if err := d.runner.Stop(t.Context(), id, "the test stops it"); err != nil {
		t.Fatal(err)
	}
	if code := d.failed(t, id, 6*time.Minute); code != admin.CodeInternal {
		t.Errorf("failed with %s, want %s", code, admin.CodeInternal)
	}
}

// deafRunner starts nothing.
type deafRunner struct{ store.Runner }

func (deafRunner) Start(context.Context, string, []byte) error {
	return fmt.Errorf("not started: the test is deaf")
}

// orphan makes a job whose execution is never started.
func (d *deployment) orphan(t *testing.T) string {
	t.Helper()
	d.publish(t, madeSite(t, 3), "orphan.example.com")
	deaf := admin.New(admin.Options{Store: dynamo.New(d.aws, dynamo.Options{Table: d.stack.Table}), Runner: deafRunner{}})
	job, err := deaf.StartExport(t.Context(), admin.Caller{OrganisationID: d.org.ID}, admin.StartExport{Domain: "orphan.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	return job.ID
}

// request makes a signed call of AWS.
func (d *deployment) request(t *testing.T, service, method, path, body string, header map[string]string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, d.endpoint+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	credentials, err := d.aws.Credentials.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(body))
	if err := v4.NewSigner().SignHTTP(t.Context(), credentials, r, hex.EncodeToString(sum[:]), service, d.aws.Region, time.Now()); err != nil {
		t.Fatal(err)
	}
	res, err := d.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode >= 300 {
		t.Fatalf("%s %s %v: %d %s", service, path, header, res.StatusCode, answer)
	}
	return answer
}

// aws4 calls a service that speaks JSON.
func (d *deployment) aws4(t *testing.T, service, target, body string) {
	t.Helper()
	d.request(t, service, "POST", "/", body, map[string]string{"X-Amz-Target": target, "Content-Type": "application/x-amz-json-1.1"})
}

// deployedFunction is a function of the stack as Lambda lists it.
type deployedFunction struct{ FunctionName, FunctionArn, Role string }

// functions gives the deployed functions, with all their versions, by the name of their folder.
func (d *deployment) functions(t *testing.T) map[string][]deployedFunction {
	t.Helper()
	var list struct{ Functions []deployedFunction }
	if err := json.Unmarshal(d.request(t, "lambda", "GET", "/2015-03-31/functions", "", nil), &list); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(repository(t), "functions"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]deployedFunction{}
	for _, e := range entries {
		for _, f := range list.Functions {
			if !strings.Contains(f.FunctionName, "-"+e.Name()) {
				continue
			}
			var versions struct{ Versions []deployedFunction }
			if err := json.Unmarshal(d.request(t, "lambda", "GET", "/2015-03-31/functions/"+f.FunctionName+"/versions", "", nil), &versions); err != nil {
				t.Fatal(err)
			}
			all[e.Name()] = append(append(all[e.Name()], f), versions.Versions...)
		}
	}
	return all
}

// invoke calls a function and gives its answer.
func (d *deployment) invoke(t *testing.T, name, payload string) []byte {
	t.Helper()
	all := d.functions(t)[name]
	if len(all) == 0 {
		t.Fatalf("no function %s is deployed", name)
	}
	return d.request(t, "lambda", "POST", "/2015-03-31/functions/"+all[0].FunctionName+"/invocations", payload, nil)
}
