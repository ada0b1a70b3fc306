package cloud

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/cloud/s3store"
	"github.com/bindery-docs/bindery/shared/service/cloud/sfnrun"
	"github.com/bindery-docs/bindery/shared/service/cloud/stack"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// deployment is the stack on a local cloud, with permissions enforced, and a
// proxy through which its functions call AWS.
type deployment struct {
	harness.Up        // url and key, for the helpers that call an API
	dir        string // what deploy.sh keeps
	programs   string // the folder of linked functions
	endpoint   string
	aws        aws.Config
	stack      stack.Stack
	proxy      *awsProxy
	admin      *admin.Service
	runner     *sfnrun.Runner
	org        admin.Organisation
	orphaned   string // the job that the reconciler has to start
	agents     agentWorld
	people     harness.IDProvider // who vouches for people of the dashboard
	client     *http.Client
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
	t.Run("what is stored is not rendered again", d.reused)
	t.Run("what did not change comes from the cache", d.cached)
	t.Run("tenants", d.tenants)
	t.Run("what an organisation has", d.own)
	t.Run("webhooks", d.webhooks)
	t.Run("operators", d.operators)
	t.Run("a restore drill", d.restoreDrill)
	t.Run("memory of functions", d.memory)
	t.Run("a site that can't be exported", d.badSite)
	t.Run("a passing fault heals", d.passingFault)
	t.Run("whatever happens to steps, the bundle is the same", d.faultyExports)
	// Both take minutes, in which agents work.
	lastingFault, stoppedWithoutRule := d.lastingFault(t), d.stoppedWithoutRule(t)
	t.Run("agent jobs", d.agentJobs)
	t.Run("a lasting fault fails the job", lastingFault)
	t.Run("without the event rule the reconciler fails it", stoppedWithoutRule)
	t.Run("the dashboard", d.dashboard)
	t.Run("a late shard changes nothing", d.lateShard)
	t.Run("a stopped execution fails its job", d.stopped)
	t.Run("a cancelled export stops", d.cancelled)
	t.Run("the reconciler starts what was never started", func(t *testing.T) {
		if job := d.wait(t, orphan, 4*time.Minute); job["status"] != "completed" {
			t.Errorf("the job is %v", job)
		}
	})
	t.Run("files of other hosts", d.otherHosts)
	t.Run("half of an upload is taken back", d.uploadsTakenBack)
	t.Run("a failed request frees its key", d.keysFreed)
	t.Run("what is gone is said so", d.gone)
	t.Run("versions go live", d.live)
	t.Run("a finished shard is not rendered again", d.finishedShard)
	t.Run("an execution that takes too long is stopped", d.tooLong)
	sweep := d.beforeSweep(t)
	t.Run("an update in the middle of an export", d.update)
	t.Run("a sweep removes what nothing refers to", sweep)
	t.Run("whatever happens to functions, all is done once", d.faultyFunctions)
	t.Run("granted is what was called", d.grantedIsCalled)
	t.Run("an update from the release before", d.updateFromBefore)
	t.Run("destroyed, nothing stays", d.destroy)
	t.Run("production, destroyed, keeps its data", d.destroyProduction)
}

func deploy(t *testing.T) *deployment {
	t.Helper()
	outside.WatchSources(t)
	outside.Watch(t, "infra", "functions", "events")
	outside.Tool(t, "MiniStack", "ministack", "bin", "python")
	outside.Program(t, "node")
	// Marks of version control are part of a bundle, and tests have none.
	flags, err := exec.Command("go", "env", "GOFLAGS").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOFLAGS", strings.TrimSpace(string(flags)+" -buildvcs=false"))
	dir := t.TempDir()
	cert, key := certificate(t, dir)
	// MiniStack ends a connection of HTTP/2 after a thousand requests.
	t.Setenv("GODEBUG", "http2client=0")
	for _, name := range []string{"SSL_CERT_FILE", "AWS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"} {
		t.Setenv(name, cert)
	}
	port := outside.Port(t)
	d := &deployment{dir: dir, endpoint: "https://127.0.0.1:" + port}
	d.proxy = newAWSProxy(t, d.endpoint, cert, key)
	var parameters string
	d.agents, parameters = newAgentWorld(t, cert, key)
	d.people = harness.NewIDProvider(t)
	parameters += " OidcIssuer=" + d.people.Issuer + " OidcClientId=bindery"
	d.programs = filepath.Join(dir, "functions") // where deploy.sh links them
	if linked := outside.Programs(t, "functions-"+runtime.GOARCH); linked != "" {
		d.programs = linked
		t.Setenv("LOCAL_FUNCTIONS", linked)
	}
	for name, value := range map[string]string{
		"LOCAL_PARAMETERS": parameters,
		"LOCAL_DIR":        dir, "LOCAL_PORT": port, "LOCAL_AUTH": "true", "LOCAL_CALLS": d.proxy.url,
	} {
		t.Setenv(name, value)
	}
	t.Cleanup(func() {
		if err := d.script(t, "stop.sh"); err != nil {
			t.Error(err)
		}
	})
	began := time.Now()
	if err := d.script(t, "deploy.sh"); err != nil {
		t.Fatal(err)
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
	d.URL = os.Getenv("BINDERY_URL")
	ctx := t.Context()
	if d.aws, err = stack.Config(ctx); err != nil {
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
		// Most projects have no forge; tests make agent jobs of theirs by the rules.
		AgentReady: func(context.Context, admin.Project, string) (string, error) { return "any", nil },
	})
	d.org = d.organisation(t, admin.PlanEnterprise, cloudDomain, "broken.example.com", "large.example.com", "faults.example.com", "orphan.example.com", "update.example.com", "reused.example.com", "cached.example.com", "lasting.example.com", "unheard.example.com")
	d.Key = d.newKey(t, d.org.ID)
	return d
}

// script runs one of infra/local, with more in its environment.
func (d *deployment) script(t *testing.T, name string, env ...string) error {
	cmd := exec.Command(filepath.Join(outside.Checkout(t), "infra", "local", name))
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
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
	git := outside.Program(t, "git")
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
	if _, err := d.Command(t, "publish", dir, "--domain", domain); err != nil {
		t.Fatal(err)
	}
}

// startJob starts an export that is rendered, whatever is stored, and returns
// its job's id.
func (d *deployment) startJob(t *testing.T, domain string) string {
	t.Helper()
	status, job, header := d.Call(t, "POST", "/v1/static-export/jobs", fmt.Sprintf(`{"domain":%q,"fresh":true}`, domain))
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
		status, job, _ := d.Call(t, "GET", "/v1/static-export/jobs/"+id, "")
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
	if err := d.sign(r, service, []byte(body)); err != nil {
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

// sign signs a call of AWS.
func (d *deployment) sign(r *http.Request, service string, body []byte) error {
	credentials, err := d.aws.Credentials.Retrieve(r.Context())
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	return v4.NewSigner().SignHTTP(r.Context(), credentials, r, hex.EncodeToString(sum[:]), service, d.aws.Region, time.Now())
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
	mains, err := filepath.Glob(filepath.Join(outside.Checkout(t), "functions", "*", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]deployedFunction{}
	for _, main := range mains {
		name := filepath.Base(filepath.Dir(main))
		for _, f := range list.Functions {
			if !strings.Contains(f.FunctionName, "-"+name) {
				continue
			}
			var versions struct{ Versions []deployedFunction }
			if err := json.Unmarshal(d.request(t, "lambda", "GET", "/2015-03-31/functions/"+f.FunctionName+"/versions", "", nil), &versions); err != nil {
				t.Fatal(err)
			}
			all[name] = append(append(all[name], f), versions.Versions...)
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
