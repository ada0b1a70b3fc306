package cloud

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/cloud/dynamo"
	"github.com/bindery-docs/bindery/shared/service/cloud/kmsstore"
	"github.com/bindery-docs/bindery/shared/service/cloud/sfnrun"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// agentWorld is what agents of the stack work with outside of it: two forges and a
// model of this process.
type agentWorld struct {
	forge *forgetest.Fake
	url   string // of the forge, with TLS
	model *modeltest.Server

	// github has the operator's GitHub App.
	github    *forgetest.Fake
	githubURL string
}

const agentModelKey = "model-key-s3cr3t"

// newAgentWorld starts a forge and a model and returns what the stack has to be
// told of them: its parameters, none of which has a space.
func newAgentWorld(t *testing.T, cert, key string) (agentWorld, string) {
	t.Helper()
	w := agentWorld{forge: forgetest.New(t), model: modeltest.New(t), github: forgetest.New(t, forgetest.WithApp())}
	w.model.Key = agentModelKey
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	for f, to := range map[*forgetest.Fake]*string{w.forge: &w.url, w.github: &w.githubURL} {
		f.Write("main", map[string]string{
			"docs.json": `{"name":"Acme","theme":"mint","colors":{"primary":"#112233"},"navigation":{"pages":["index"]}}` + "\n",
			"index.mdx": "---\ntitle: Welcome\ndescription: What Acme is\n---\n\nA widgit, and a gadgit.\n",
		})
		behind, err := url.Parse(f.URL)
		if err != nil {
			t.Fatal(err)
		}
		front := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(behind))
		front.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
		front.StartTLS()
		t.Cleanup(front.Close)
		*to, f.URL = front.URL, front.URL // as its links say
	}
	models := fmt.Sprintf(`{"default":"best","servers":{"scripted":{"base":%q,"allowHTTP":true,"auth":"x-api-key"}},`+
		`"models":{"best":{"server":"scripted","model":"scripted-1","context":200000,"output":8000,"price":{"input":3,"cacheWrite":3.75,"cacheRead":0.3,"output":15}}}}`, w.model.URL)
	host, github := strings.TrimPrefix(w.url, "https://"), strings.TrimPrefix(w.githubURL, "https://")
	return w, "Models=" + models + " ForgePrivateHosts=" + host + "," + github + " GitHubApp=" + w.github.AppKey().ID + " GitHubAppHost=" + github
}

// edits and ends are what the model says: one edit, and the end of a round.
func edits(from, to string) modeltest.Step {
	return modeltest.Calls(modeltest.Call{Name: "edit", Input: map[string]any{"path": "index.mdx", "old": from, "new": to}})
}

func ends(title string) modeltest.Step {
	return modeltest.Calls(modeltest.Call{Name: "finish", Input: map[string]any{"title": title, "summary": "As it was asked."}})
}

// agentJobs runs agent jobs through the deployed functions.
func (d *deployment) agentJobs(t *testing.T) {
	project, err := d.admin.CreateProject(t.Context(), admin.Project{
		Organisation: d.org.ID, Domain: "agent.example.com", Repository: d.agents.url + "/acme/docs", Agent: admin.AgentSettings{Forge: string(d.agents.forge.Kind)},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := "/v2/agent/" + project.ID + "/job"
	header := map[string]string{"Authorization": "Bearer " + d.Key, "Content-Type": "application/json"}
	if status, code := d.ask(t, "POST", path, `{"prompt":"any"}`, header); status != http.StatusConflict || code != admin.CodeForgeMissing {
		t.Errorf("without a credential: %d %s", status, code)
	}
	d.putSecret(t, "ModelSecretArn", `{"scripted":"`+agentModelKey+`"}`)
	records := dynamo.New(d.aws, dynamo.Options{Table: d.stack.Table})
	keeper := admin.New(admin.Options{Store: records, Secrets: kmsstore.New(d.aws, kmsstore.Options{Key: d.stack.Outputs["CredentialKeyArn"], Records: records})})
	if _, err := keeper.SetForgeCredential(t.Context(), project.ID, admin.ForgeCredential{Username: d.agents.forge.User, Token: d.agents.forge.Token}); err != nil {
		t.Fatal(err)
	}
	if status, code := d.ask(t, "POST", path, `{"prompt":"any","model":"other"}`, header); status != http.StatusConflict || code != admin.CodeModelMissing {
		t.Errorf("with a model that is not there: %d %s", status, code)
	}

	t.Run("a pull request, and a second round of it", func(t *testing.T) { d.agentPull(t, project) })
	t.Run("the operator's GitHub App", d.agentApp)
	t.Run("whatever step is killed, there is one pull request", func(t *testing.T) { d.agentKilled(t, project) })
	t.Run("the reconciler starts what was never started", func(t *testing.T) { d.agentOrphan(t, project) })
	t.Run("a stopped execution fails its round", func(t *testing.T) { d.agentStopped(t, project) })
	t.Run("an execution that takes too long is stopped", func(t *testing.T) { d.agentTooLong(t, project) })
	t.Run("a cancel ends a round that waits for its model", func(t *testing.T) { d.agentCancelled(t, project) })
	t.Run("a failure says why", func(t *testing.T) { d.agentFailures(t, project) })
	t.Run("a job is archived after its pull request", func(t *testing.T) { d.agentArchived(t, project) })
	t.Run("whatever happens to steps, there is one pull request", func(t *testing.T) { d.faultyAgents(t, project) })
	if n := d.agents.model.Left(); n > 0 {
		t.Errorf("%d steps of the script are left", n)
	}
	d.agentSecretsStay(t)
}

// putSecret sets the text of the secret that an output of the stack names.
func (d *deployment) putSecret(t *testing.T, output, text string) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"SecretId": d.stack.Outputs[output], "SecretString": text})
	if err != nil {
		t.Fatal(err)
	}
	d.aws4(t, "secretsmanager", "secretsmanager.PutSecretValue", string(body))
}

// startAgent starts a job and returns its id.
func (d *deployment) startAgent(t *testing.T, project admin.Project) string {
	t.Helper()
	status, job, _ := d.Call(t, "POST", "/v2/agent/"+project.ID+"/job", `{"prompt":"Mend the spelling"}`)
	if status != http.StatusCreated {
		t.Fatalf("start: %d %v", status, job)
	}
	return job["id"].(string)
}

// waitAgent polls a job until it is final.
func (d *deployment) waitAgent(t *testing.T, project admin.Project, id string, most time.Duration) map[string]any {
	t.Helper()
	for deadline := time.Now().Add(most); ; time.Sleep(300 * time.Millisecond) {
		status, job, _ := d.Call(t, "GET", "/v2/agent/"+project.ID+"/job/"+id, "")
		if status != http.StatusOK {
			t.Fatalf("poll: %d %v", status, job)
		}
		if job["status"] != string(admin.AgentActive) {
			return job
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v the job is still %v", most, job)
		}
	}
}

func (d *deployment) agentPull(t *testing.T, project admin.Project) {
	before := len(d.agents.forge.Pulls())
	d.agents.model.Add(edits("widgit", "widget"), ends("docs: widget"))
	id := d.startAgent(t, project)
	job := d.waitAgent(t, project, id, 3*time.Minute)
	pulls, branch := d.agents.forge.Pulls(), "bindery/"+id
	if job["status"] != string(admin.AgentCompleted) || len(pulls) != before+1 || job["prLink"] != pulls[before].URL {
		t.Fatalf("the job is %v, the pull requests are %+v", job, pulls)
	}
	if text := d.agents.forge.Files(branch)["index.mdx"]; !strings.Contains(text, "A widget, and a gadgit.") {
		t.Errorf("the page is %q", text)
	}

	d.agents.model.Add(edits("gadgit", "gadget"), ends("docs: gadget"))
	if status, code := d.ask(t, "POST", "/v2/agent/"+project.ID+"/job/"+id+"/message", `{"prompt":"And the other one"}`,
		map[string]string{"Authorization": "Bearer " + d.Key, "Content-Type": "application/json"}); status != http.StatusOK {
		t.Fatalf("a message: %d %s", status, code)
	}
	if job = d.waitAgent(t, project, id, 3*time.Minute); job["status"] != string(admin.AgentCompleted) || len(d.agents.forge.Pulls()) != before+1 {
		t.Errorf("after a message the job is %v, the pull requests are %+v", job, d.agents.forge.Pulls())
	}
	if text := d.agents.forge.Files(branch)["index.mdx"]; !strings.Contains(text, "A widget, and a gadget.") {
		t.Errorf("the page is %q", text)
	}
	if n := len(d.agents.forge.Commits(branch)); n != 3 {
		t.Errorf("the branch has %d commits, want that of main and one a round", n)
	}
}

// agentApp has a project without a credential of its own, on the host of the
// operator's App: a job says that the key is missing until it is there, which a
// process that has found none sees.
func (d *deployment) agentApp(t *testing.T) {
	project, err := d.admin.CreateProject(t.Context(), admin.Project{
		Organisation: d.org.ID, Domain: "app.example.com", Repository: d.agents.githubURL + "/acme/docs", Agent: admin.AgentSettings{Forge: string(forge.GitHub)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if m := d.agentFailed(t, project, d.startAgent(t, project), time.Minute, forge.CodeCredential); m != "the private key of the GitHub App is not set up" {
		t.Errorf("the failure says %q", m)
	}
	key := string(d.agents.github.AppKey().PEM)
	d.putSecret(t, "GitHubAppSecretArn", key)
	d.agents.model.Add(edits("widgit", "widget"), ends("docs: widget"))
	job := d.waitAgent(t, project, d.startAgent(t, project), 3*time.Minute)
	if pulls := d.agents.github.Pulls(); len(pulls) != 1 || job["status"] != string(admin.AgentCompleted) || job["prLink"] != pulls[0].URL {
		t.Errorf("the job is %v, the pull requests are %+v", job, pulls)
	}
	// A token for each of the two steps that ask the forge, as processes share none.
	if n := d.agents.github.Count(forgetest.AppToken); n < 2 {
		t.Errorf("%d tokens were asked for", n)
	}
}

// agentKilled ends the process of each step once, after a call that changes
// something or opens a secret.
func (d *deployment) agentKilled(t *testing.T, project admin.Project) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("not run: which process makes a call is read from /proc")
	}
	at := map[string]func(awsCall) bool{
		"agentprepare": func(c awsCall) bool { return c.does("s3:PutObject") },
		"agentwork":    func(c awsCall) bool { return c.operation == "TransactWriteItems" },
		"agentreview":  func(c awsCall) bool { return c.does("s3:PutObject") },
		"agentpublish": func(c awsCall) bool { return c.does("kms:Decrypt") },
	}
	var met counter
	d.proxy.setMeddle(func(c awsCall, w http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
		for name, is := range at {
			if !is(c) {
				continue
			}
			s := d.processOf(r.RemoteAddr)
			if s == nil || !strings.Contains(s.function, "-"+name) || !met.once(name) {
				continue
			}
			forward(httptest.NewRecorder(), r)
			s.kill()
			met.add()
			panic(http.ErrAbortHandler)
		}
		forward(w, r)
	})
	defer d.proxy.setMeddle(nil)
	before := len(d.agents.forge.Pulls())
	d.agents.model.Add(edits("widgit", "widget"), ends("docs: widget"))
	id := d.startAgent(t, project)
	job := d.waitAgent(t, project, id, 4*time.Minute)
	if n := met.value(); n != len(at) {
		t.Errorf("%d steps were killed, want %d", n, len(at))
	}
	if job["status"] != string(admin.AgentCompleted) || len(d.agents.forge.Pulls()) != before+1 || len(d.agents.forge.Commits("bindery/"+id)) != 2 {
		t.Errorf("the job is %v, the pull requests are %+v", job, d.agents.forge.Pulls())
	}
	if kept, err := d.admin.FindAgentJob(t.Context(), project.ID, id); err != nil || kept.Turns != 2 {
		t.Errorf("the job has %d turns, want 2 (%v)", kept.Turns, err)
	}
}

// agentOrphan makes a job whose execution is never started.
func (d *deployment) agentOrphan(t *testing.T, project admin.Project) {
	deaf := admin.New(admin.Options{
		Store: dynamo.New(d.aws, dynamo.Options{Table: d.stack.Table}), Runner: deafRunner{},
		AgentReady: func(context.Context, admin.Project, string) (string, error) { return "best", nil },
	})
	d.agents.model.Add(ends("nothing to do"))
	j, err := deaf.StartAgentJob(t.Context(), admin.Caller{OrganisationID: d.org.ID, Plan: admin.PlanEnterprise}, admin.StartAgentJob{Project: project.ID, Prompt: "Is all well?"})
	if err != nil {
		t.Fatal(err)
	}
	if job := d.waitAgent(t, project, j.ID, 4*time.Minute); job["status"] != string(admin.AgentCompleted) || job["prLink"] != nil {
		t.Errorf("the job is %v", job)
	}
}

// thinking starts a job whose model says nothing until the test lets it.
func (d *deployment) thinking(t *testing.T, project admin.Project) (job admin.AgentJob, wake func()) {
	t.Helper()
	asked, release := make(chan struct{}), make(chan struct{})
	first, wake := closeOnce(asked), closeOnce(release)
	d.agents.model.Add(modeltest.Func(func(model.Request) modeltest.Step {
		first()
		<-release
		return ends("too late")
	}).Times(1))
	id := d.startAgent(t, project)
	select {
	case <-asked:
	case <-time.After(5 * time.Minute):
		wake()
		t.Fatal("the model was not asked")
	}
	job, err := d.admin.FindAgentJob(t.Context(), project.ID, id)
	if err != nil {
		wake()
		t.Fatal(err)
	}
	return job, wake
}

// agentFailed waits for the failure of a job and returns its message.
func (d *deployment) agentFailed(t *testing.T, project admin.Project, id string, most time.Duration, code string) string {
	t.Helper()
	job := d.waitAgent(t, project, id, most)
	failure, _ := job["failure"].(map[string]any)
	message, _ := failure["message"].(string)
	if job["status"] != string(admin.AgentFailed) || failure["code"] != code || message == "" || job["prLink"] != nil {
		t.Errorf("the job is %v, want it failed: %s", job, code)
	}
	return message
}

func (d *deployment) agentStopped(t *testing.T, project admin.Project) {
	j, wake := d.thinking(t, project)
	defer wake()
	runner := sfnrun.New(d.aws, sfnrun.Options{AgentMachine: d.stack.Outputs["AgentStateMachineArn"]})
	if err := runner.Stop(t.Context(), store.WorkflowAgent, j.Current().Execution(), "the test stops it"); err != nil {
		t.Fatal(err)
	}
	// Less than the reconciler waits: it is the event that does it.
	if m := d.agentFailed(t, project, j.ID, time.Minute, admin.CodeInternal); m != "the workflow of the agent was stopped" {
		t.Errorf("the failure says %q", m)
	}
}

// agentTooLong has the reconciler believe that a running execution began long ago.
func (d *deployment) agentTooLong(t *testing.T, project admin.Project) {
	j, wake := d.thinking(t, project)
	defer wake()
	began := regexp.MustCompile(`"startDate":\s*[0-9.eE+]+`)
	d.proxy.setEdit(func(c awsCall, body []byte) []byte {
		if c.operation != "DescribeExecution" || !strings.HasSuffix(c.rights[0].resource, ":"+j.Current().Execution()) {
			return body
		}
		return began.ReplaceAll(body, fmt.Appendf(nil, `"startDate":%d`, time.Now().Add(-8*time.Hour).Unix()))
	})
	defer d.proxy.setEdit(nil)
	before, _ := d.proxy.all()
	d.invoke(t, "reconcile", "{}")
	if m := d.agentFailed(t, project, j.ID, time.Minute, admin.CodeInternal); m != "the agent took too long" {
		t.Errorf("the failure says %q", m)
	}
	calls, _ := d.proxy.all()
	if !slices.ContainsFunc(calls[len(before):], func(c awsCall) bool {
		return c.does("states:StopExecution") && strings.HasSuffix(c.rights[0].resource, ":"+j.Current().Execution())
	}) {
		t.Error("the execution was not stopped")
	}
}

// agentCancelled asks for the end of a round while its model thinks.
func (d *deployment) agentCancelled(t *testing.T, project admin.Project) {
	j, wake := d.thinking(t, project)
	defer wake()
	if status, job, _ := d.Call(t, "POST", "/v2/agent/"+project.ID+"/job/"+j.ID+"/cancel", ""); status != http.StatusOK {
		t.Fatalf("cancel: %d %v", status, job)
	}
	d.agentFailed(t, project, j.ID, time.Minute, admin.CodeCancelled)
}

// agentFailures has a model and a forge refuse, each of which ends its round at
// once and with what the service said left out.
func (d *deployment) agentFailures(t *testing.T, project admin.Project) {
	before := len(d.agents.forge.Pulls())
	d.agents.model.Add(modeltest.Refusal("not this"))
	d.agentFailed(t, project, d.startAgent(t, project), time.Minute, model.CodeRefused)

	d.agents.model.Add(edits("widgit", "widget"), ends("docs: widget"))
	d.agents.forge.FailAlways(forgetest.Push, forgetest.Status(http.StatusForbidden, "no"))
	defer d.agents.forge.Heal()
	d.agentFailed(t, project, d.startAgent(t, project), time.Minute, forge.CodeDenied)
	if n := len(d.agents.forge.Pulls()); n != before {
		t.Errorf("%d pull requests were opened", n-before)
	}
}

// agentArchived has a job of 40 days ago, whose pull request was closed a day later.
func (d *deployment) agentArchived(t *testing.T, project admin.Project) {
	ctx, then := t.Context(), time.Now().Add(-40*24*time.Hour)
	past := admin.New(admin.Options{
		Store: dynamo.New(d.aws, dynamo.Options{Table: d.stack.Table}), Runner: deafRunner{}, Now: func() time.Time { return then },
		AgentReady: func(context.Context, admin.Project, string) (string, error) { return "best", nil },
	})
	j, err := past.StartAgentJob(ctx, admin.Caller{OrganisationID: d.org.ID, Plan: admin.PlanEnterprise}, admin.StartAgentJob{Project: project.ID, Prompt: "Mend it"})
	if err != nil {
		t.Fatal(err)
	}
	pull := d.agents.forge.Pulls()[0]
	d.agents.forge.ClosedAt = then.Add(24 * time.Hour)
	d.agents.forge.Close(pull.Number)
	_, err = past.AgentRound(ctx, j.Current())
	if err == nil {
		_, err = past.BeginAgentRound(ctx, j.Current(), admin.AgentBase{Commit: "c1", Ref: "main"})
	}
	if err == nil {
		_, err = past.BeginAgentPublish(ctx, j.Current(), 1)
	}
	if err == nil {
		_, _, err = past.CompleteAgent(ctx, j.Current(), admin.AgentResult{Seen: 1, PRLink: pull.URL, PRNumber: pull.Number, Branch: "bindery/" + j.ID})
	}
	if err != nil {
		t.Fatal(err)
	}
	asked := d.agents.forge.Count(forgetest.GetPull)
	d.invoke(t, "reconcile", "{}")
	for deadline := time.Now().Add(5 * time.Minute); j.Status != admin.AgentArchived; time.Sleep(200 * time.Millisecond) {
		if j, err = d.admin.FindAgentJob(ctx, project.ID, j.ID); err != nil || time.Now().After(deadline) {
			t.Fatalf("the job is %+v, %v", j, err)
		}
	}
	if n := d.agents.forge.Count(forgetest.GetPull) - asked; n != 1 {
		t.Errorf("the forge was asked %d times", n)
	}
}

var isAgentStep = regexp.MustCompile("agentprepare|agentwork|agentreview|agentpublish")

// faultyAgents runs one job after the other, and each time something happens to
// its steps: a process is killed, calls are throttled or lose their answer, an
// invocation is doubled. Each job ends with one pull request of one commit, and has
// taken each turn once. BINDERY_FAULTS is how many jobs, BINDERY_FAULTS_SEED which.
func (d *deployment) faultyAgents(t *testing.T, project admin.Project) {
	seed, jobs := faultsWanted(t, 4, 50)
	// A doubled step may ask twice: what is answered follows from what is asked.
	d.agents.model.Add(modeltest.Func(func(r model.Request) modeltest.Step {
		if len(r.Messages) == 1 {
			return edits("widgit", "widget")
		}
		return ends("docs: widget")
	}))
	m := &meddler{d: d, of: isAgentStep, steps: make(map[string]*step)}
	d.proxy.setMeddle(m.meddle)
	defer d.proxy.setMeddle(nil)
	run := func(plan map[int]string) (calls int, hit []string) {
		before := len(d.agents.forge.Pulls())
		m.mu.Lock()
		m.plan, m.calls, m.hit, m.exhaust = nil, 0, nil, ""
		m.mu.Unlock()
		j, err := d.admin.FindAgentJob(t.Context(), project.ID, d.startAgent(t, project))
		if err != nil {
			t.Fatal(err)
		}
		event, err := json.Marshal(j.Current())
		if err != nil {
			t.Fatal(err)
		}
		m.mu.Lock()
		m.again = func(function string) { d.invokeAgain(function, event) }
		m.plan = plan
		m.mu.Unlock()
		job := d.waitAgent(t, project, j.ID, 4*time.Minute)
		m.doubles.Wait()
		m.mu.Lock()
		calls, hit = m.calls, m.hit
		m.mu.Unlock()
		if job["status"] != string(admin.AgentCompleted) || len(d.agents.forge.Pulls()) != before+1 || len(d.agents.forge.Commits("bindery/"+j.ID)) != 2 {
			t.Errorf("after %q the job is %v, the pull requests are %+v", hit, job, d.agents.forge.Pulls())
		}
		if kept, err := d.admin.FindAgentJob(t.Context(), project.ID, j.ID); err != nil || kept.Turns != 2 {
			t.Errorf("after %q the job has %d turns, want 2 (%v)", hit, kept.Turns, err)
		}
		return calls, hit
	}
	calls, _ := run(nil)
	if calls < 20 {
		t.Fatalf("the steps of an agent make only %d calls", calls)
	}
	hits := make(map[string]int)
	for i := range jobs {
		random := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
		// One death, which the workflow heals for any task, and one of the others each.
		plan := map[int]string{1 + random.IntN(calls): []string{killedBefore, killedAfter}[i%2]}
		for _, fault := range []string{throttled, []string{exhausted, answerLost}[i/2%2], doubled} {
			plan[1+random.IntN(calls)] = fault
		}
		_, hit := run(plan)
		for _, what := range hit {
			hits[what]++
		}
	}
	t.Logf("%d calls of steps; %d jobs, BINDERY_FAULTS_SEED=%d", calls, jobs, seed)
	for _, hit := range slices.Sorted(maps.Keys(hits)) {
		t.Logf("%3d %s", hits[hit], hit)
	}
	if len(hits) == 0 {
		t.Error("no fault was met")
	}
}

// agentSecretsStay: no secret is in what rounds have kept or the model was
// asked.
func (d *deployment) agentSecretsStay(t *testing.T) {
	objects := d.objects()
	all, err := objects.List(t.Context(), "agents/", "", 0)
	if err != nil || len(all) == 0 {
		t.Fatalf("%d objects of rounds, %v", len(all), err)
	}
	texts := map[string][]byte{}
	for _, o := range all {
		r, err := objects.Get(t.Context(), o.Key, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		texts[o.Key], err = io.ReadAll(r)
		_ = r.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, r := range d.agents.model.Requests() {
		texts[fmt.Sprint("request ", i)] = r.Raw
	}
	key := strings.Split(string(d.agents.github.AppKey().PEM), "\n")[1] // a line of it
	for name, text := range texts {
		for _, secret := range []string{agentModelKey, d.agents.forge.Token, key} {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s has a secret", name)
			}
		}
	}
}
