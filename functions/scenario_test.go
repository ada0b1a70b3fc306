package functions_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// names are the functions, in the order in which the story calls them.
var names = []string{
	"openapi", "getagentjob", "startagentjob", "messageagentjob", "getagentmodels", "listagentjobs", "listagentevents", "cancelagentjob", "archiveagentjob",
	"agentprepare", "agentwork", "agentreview", "agentpublish", "agentfail", "createsnapshot", "publishsnapshot", "latestsnapshot", "startexport", "planexport",
	"rendershard", "assemblebundle", "getexport", "generatebundle", "failexport", "reconcile",
	"listexports", "cancelexport", "listfindings", "listsnapshots", "restoresnapshot", "getlive", "setlive", "listlive", "getorganisation", "listprojects", "getusage",
	"createwebhook", "getwebhooks", "rotatewebhooksecret", "deliverwebhooks", "listdeliveries", "redeliver", "deletewebhook", "dashboard",
}

// operations are the functions of the API, by the operation that each answers.
var operations = map[string]string{
	"startagentjob": "startAgentJob", "messageagentjob": "messageAgentJob", "listagentjobs": "listAgentJobs", "listagentevents": "listAgentEvents",
	"getagentmodels": "getAgentModels", "cancelagentjob": "cancelAgentJob", "archiveagentjob": "archiveAgentJob",
	"getwebhooks": "getWebhooks", "createwebhook": "createWebhook", "deletewebhook": "deleteWebhook", "rotatewebhooksecret": "rotateWebhookSecret",
	"listdeliveries": "listDeliveries", "redeliver": "redeliver",
	"getagentjob": "getAgentJob", "startexport": "startExport", "getexport": "getExport", "generatebundle": "generateBundle",
	"latestsnapshot": "getLatestSnapshot", "createsnapshot": "createSnapshot", "publishsnapshot": "publishSnapshot",
	"listexports": "listExports", "cancelexport": "cancelExport", "listfindings": "listFindings", "listsnapshots": "listSnapshots",
	"restoresnapshot": "restoreSnapshot", "getlive": "getLive", "setlive": "setLive", "listlive": "listLive", "getorganisation": "getOrganisation", "listprojects": "listProjects", "getusage": "getUsage",
}

// sample reads the sample invocation of a function.
func sample(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "events", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fault is an error as Lambda tells it.
type fault struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
}

// caller invokes a function by its name.
type caller func(name string, event []byte) (answer []byte, failed *fault)

// answer is that of a function of the API.
type answer struct {
	StatusCode        int                 `json:"statusCode"`
	MultiValueHeaders map[string][]string `json:"multiValueHeaders"`
	Body              string              `json:"body"`
}

// story calls every function with its sample, in which the names that stand
// for what is made on the way (prj_sample…) are replaced.
type story struct {
	t    *testing.T
	call caller
	made map[string]string
}

// invoke calls a function with its sample.
func (s *story) invoke(name string) ([]byte, *fault) {
	s.t.Helper()
	event := string(sample(s.t, name))
	for sample, real := range s.made {
		event = strings.ReplaceAll(event, sample, real)
	}
	return s.call(name, []byte(event))
}

// ask calls a function of the API.
func (s *story) ask(name string, status int, into any) {
	s.t.Helper()
	b, failed := s.invoke(name)
	if failed != nil {
		s.t.Fatalf("%s failed: %+v", name, *failed)
	}
	var a answer
	if err := json.Unmarshal(b, &a); err != nil {
		s.t.Fatalf("%s: %v in %s", name, err, b)
	}
	if a.StatusCode != status {
		s.t.Fatalf("%s answered %d, want %d: %s", name, a.StatusCode, status, a.Body)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(a.Body), into); err != nil {
			s.t.Fatalf("%s: %v in %s", name, err, a.Body)
		}
	}
}

// step calls a step of the workflow.
func (s *story) step(name string, into any) {
	s.t.Helper()
	b, failed := s.invoke(name)
	if failed != nil {
		s.t.Fatalf("%s failed: %+v", name, *failed)
	}
	if into != nil {
		if err := json.Unmarshal(b, into); err != nil {
			s.t.Fatalf("%s: %v in %s", name, err, b)
		}
	}
}

// tell plays the story on an empty storage, through call.
func tell(t *testing.T, db store.Store, runner store.Runner, call caller) {
	ctx := t.Context()
	ready := func(context.Context, admin.Project, string) (string, error) { return "large-1", nil }
	service := admin.New(admin.Options{Store: db, Runner: runner, AgentReady: ready})
	s := &story{t: t, call: call, made: map[string]string{}}

	org, err := service.CreateOrganisation(ctx, admin.Organisation{Name: "Sample", Plan: admin.PlanEnterprise})
	check(t, err)
	project, err := service.CreateProject(ctx, admin.Project{Organisation: org.ID, Domain: "docs.example.com", Repository: "https://git.example.com/docs"})
	check(t, err)
	_, secret, err := service.CreateKey(ctx, admin.KeyRequest{Organisation: org.ID, Name: "sample"})
	check(t, err)
	owner := admin.Caller{OrganisationID: org.ID, Plan: org.Plan}
	agent, err := service.StartAgentJob(ctx, owner, admin.StartAgentJob{Project: project.ID, Prompt: "mend the links"})
	check(t, err)

	var document struct{ OpenAPI string }
	s.ask("openapi", http.StatusOK, &document)
	if !strings.HasPrefix(document.OpenAPI, "3.") {
		t.Errorf("the document is of OpenAPI %q", document.OpenAPI)
	}
	// The samples' own key is nobody's.
	for name := range operations {
		s.ask(name, http.StatusUnauthorized, nil)
	}

	s.made["bnd_sample"], s.made["prj_sample"], s.made["agj_sample"] = secret, project.ID, agent.ID
	var job api.AgentJob
	s.ask("getagentjob", http.StatusOK, &job)
	if job.ID != agent.ID || job.Status != admin.AgentActive {
		t.Errorf("the agent job is %+v", job)
	}

	// Functions without a forge start nothing; what is there they all answer for.
	s.ask("startagentjob", http.StatusConflict, nil)
	s.ask("messageagentjob", http.StatusOK, &job)
	var jobs api.AgentJobs
	s.ask("listagentjobs", http.StatusOK, &jobs)
	var events api.AgentEvents
	s.ask("listagentevents", http.StatusOK, &events)
	if job.MessageCount != 2 || len(jobs.Jobs) != 1 || len(events.Events) != 2 || events.Events[0].N != 2 {
		t.Errorf("the agent job is %+v, the list %+v, its events %+v", job, jobs, events)
	}
	s.ask("cancelagentjob", http.StatusOK, &job)
	check(t, service.FailAgent(ctx, agent.Current(), admin.CodeTemporary, ""))
	s.ask("archiveagentjob", http.StatusOK, &job)
	if job.Status != admin.AgentArchived || job.Failure == nil || job.Failure.Code != admin.CodeCancelled {
		t.Errorf("the agent job is %+v", job)
	}

	s.agentSteps(service, owner, project)

	blobs := sampleSite(t)
	var created api.CreateSnapshotResponse
	s.ask("createsnapshot", http.StatusCreated, &created)
	if len(created.Uploads) != len(blobs) {
		t.Fatalf("%d uploads are asked for, want %d", len(created.Uploads), len(blobs))
	}
	for _, u := range created.Uploads {
		upload(ctx, t, u, blobs[u.SHA256])
	}
	s.made["snp_sample"] = created.SnapshotID
	var published api.Snapshot
	s.ask("publishsnapshot", http.StatusOK, &published)
	s.ask("latestsnapshot", http.StatusOK, &published)
	if published.SnapshotID != created.SnapshotID || published.FileCount != 2 {
		t.Errorf("the newest snapshot is %+v", published)
	}
	if got := digest(download(ctx, t, published.Manifest.URL)); got != published.Manifest.SHA256 {
		t.Errorf("the manifest has the digest %s, want %s", got, published.Manifest.SHA256)
	}

	// It is the newest already.
	s.ask("restoresnapshot", http.StatusOK, &published)
	var snapshots api.Snapshots
	s.ask("listsnapshots", http.StatusOK, &snapshots)
	if len(snapshots.Snapshots) != 1 || !snapshots.Snapshots[0].Newest || published.SnapshotID != created.SnapshotID {
		t.Errorf("the snapshots are %+v, restored is %+v", snapshots, published)
	}

	s.ask("setlive", http.StatusForbidden, nil) // the key may not deploy
	_, deploys, err := service.CreateKey(ctx, admin.KeyRequest{Organisation: org.ID, Name: "deploys", Scopes: []admin.Scope{admin.ScopeRead, admin.ScopeDeploy}})
	check(t, err)
	s.made["bnd_sample"] = deploys
	var live api.Live
	s.ask("setlive", http.StatusOK, &live)
	s.made["bnd_sample"] = secret
	s.ask("getlive", http.StatusOK, &live)
	var moves api.LiveMoves
	s.ask("listlive", http.StatusOK, &moves)
	if !live.Held || live.Live != nil || len(moves.Moves) != 0 {
		t.Errorf("live is %+v, the history %+v", live, moves)
	}

	var export api.ExportJob
	s.ask("startexport", http.StatusAccepted, &export)
	s.made["exp_sample"] = export.JobID
	var plan struct {
		Renderer string
		Shards   []int
	}
	s.step("planexport", &plan)
	if plan.Renderer == "" || !slices.Equal(plan.Shards, []int{1}) {
		t.Fatalf("the plan is %+v", plan)
	}
	if _, failed := s.invoke("rendershard"); failed == nil || failed.Type != admin.CodeRendererChanged {
		t.Errorf("the sample's renderer is another, yet: %+v", failed)
	}
	export = s.another(service, "startexport", "v2")
	s.step("planexport", &plan)
	s.made["renderer_sample"] = plan.Renderer
	s.step("rendershard", nil)
	s.step("assemblebundle", nil)
	s.ask("getexport", http.StatusOK, &export)
	if export.Status != admin.ExportCompleted || export.Progress != 100 || export.PageCount != 1 {
		t.Fatalf("the export is %+v", export)
	}
	var findings api.Findings
	s.ask("listfindings", http.StatusOK, &findings)
	s.ask("cancelexport", http.StatusConflict, nil)
	var exports api.ExportJobs
	s.ask("listexports", http.StatusOK, &exports)
	if len(exports.Jobs) != 1 || exports.Jobs[0].JobID != export.JobID {
		t.Errorf("the completed exports are %+v", exports)
	}
	var usage api.Usage
	s.ask("getusage", http.StatusOK, &usage)
	var organisation api.Organisation
	s.ask("getorganisation", http.StatusOK, &organisation)
	var projects api.Projects
	s.ask("listprojects", http.StatusOK, &projects)
	if usage.Exports != 1 || organisation.Name != "Sample" || len(projects.Projects) != 1 || projects.Projects[0].ProjectID != project.ID {
		t.Errorf("usage %+v, organisation %+v, projects %+v", usage, organisation, projects)
	}
	var link api.BundleLink
	s.ask("generatebundle", http.StatusOK, &link)
	if left := time.Until(link.ExpiresAt); left <= 0 || left > time.Hour {
		t.Errorf("the link lives for another %v", left)
	}
	archive := download(ctx, t, link.BundleURL)
	if got := digest(archive); got != link.SHA256 {
		t.Errorf("the bundle has the digest %s, want %s", got, link.SHA256)
	}
	if _, err := bundle.Read(ctx, strings.NewReader(string(archive)), bundle.Limits{}, nil); err != nil {
		t.Errorf("the bundle: %v", err)
	}

	// An execution that ended without a word fails its job.
	export = s.another(service, "startexport", "v3")
	s.step("failexport", nil)
	s.ask("getexport", http.StatusOK, &export)
	if export.Status != admin.ExportFailed || export.Failure == nil || export.Failure.Message != "the export took too long" {
		t.Errorf("the export is %+v, failure %+v", export, export.Failure)
	}
	s.step("reconcile", nil)
	s.webhooks(service, org.ID)
	s.dashboard(service, project)
}

// dashboard is a member's way through the pages: from signing in, to what is seen,
// to an export that is started.
func (s *story) dashboard(service *admin.Service, project admin.Project) {
	s.t.Helper()
	ctx := s.t.Context()
	_, err := service.Invite(ctx, service.Operator(project.Organisation), "ada@example.com", admin.RoleMember)
	check(s.t, err)
	p, err := service.SignIn(ctx, admin.Identity{Issuer: "https://id.example.com", Subject: "ada", Address: "ada@example.com", Verified: true}, netip.Addr{})
	check(s.t, err)
	token, _, err := service.BeginSession(ctx, admin.NewSession{Person: p.ID})
	check(s.t, err)
	page := func(method, path, form string) answer {
		s.t.Helper()
		var event map[string]any
		check(s.t, json.Unmarshal(sample(s.t, "dashboard"), &event))
		if path != "/sign-in" {
			event["resource"], event["path"] = "/org/{proxy+}", path
			event["multiValueHeaders"] = map[string][]string{
				"Cookie": {"__Host-bindery=" + token}, "Host": {"api.example.com"}, "Content-Type": {"application/x-www-form-urlencoded"},
				"Origin": {"https://api.example.com"},
			}
		}
		event["httpMethod"], event["body"] = method, form
		b, err := json.Marshal(event)
		check(s.t, err)
		b, failed := s.call("dashboard", b)
		if failed != nil {
			s.t.Fatalf("the page %s failed: %+v", path, *failed)
		}
		var a answer
		check(s.t, json.Unmarshal(b, &a))
		return a
	}
	if a := page("GET", "/sign-in", ""); a.StatusCode != http.StatusOK || !strings.Contains(a.Body, `href="/prod/sign-in/start`) {
		s.t.Errorf("signing in: %d %s", a.StatusCode, a.Body)
	}
	org := "/org/" + project.Organisation
	if a := page("GET", org+"/projects", ""); a.StatusCode != http.StatusOK || !strings.Contains(a.Body, project.ID) || !strings.Contains(a.Body, "/prod"+org+"/projects/") {
		s.t.Errorf("the projects: %d %s", a.StatusCode, a.Body)
	}
	a := page("POST", org+"/exports", url.Values{"domain": {project.Domain}, "version": {"v9"}}.Encode())
	to := strings.Join(a.MultiValueHeaders["Location"], "")
	if a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to, "/prod"+org+"/exports/exp_") {
		s.t.Fatalf("an export: %d to %q: %s", a.StatusCode, to, a.Body)
	}
	if a := page("GET", org+"/keys", ""); a.StatusCode != http.StatusForbidden {
		s.t.Errorf("a member sees keys: %d", a.StatusCode)
	}
}

// webhooks is the story of an endpoint whose host nobody has: what happens is
// written down for it, and can't be delivered.
func (s *story) webhooks(service *admin.Service, org string) {
	s.t.Helper()
	s.ask("getwebhooks", http.StatusForbidden, nil) // the key may not manage
	_, secret, err := service.CreateKey(s.t.Context(), admin.KeyRequest{Organisation: org, Name: "manager", Scopes: []admin.Scope{admin.ScopeManage}})
	check(s.t, err)
	s.made["bnd_sample"] = secret
	var made, changed api.NewWebhook
	s.ask("createwebhook", http.StatusCreated, &made)
	s.made["whk_sample"] = made.ID
	var all api.Webhooks
	s.ask("getwebhooks", http.StatusOK, &all)
	s.ask("rotatewebhooksecret", http.StatusOK, &changed)
	if len(all.Webhooks) != 1 || all.Webhooks[0].ID != made.ID || changed.Secret == made.Secret {
		s.t.Errorf("the webhook is %+v, then %+v, the list %+v", made, changed, all)
	}
	_, _, err = service.CreateKey(s.t.Context(), admin.KeyRequest{Organisation: org, Name: "event"})
	check(s.t, err)
	s.step("deliverwebhooks", nil)
	var list api.Deliveries
	s.ask("listdeliveries", http.StatusOK, &list)
	if len(list.Deliveries) != 1 || list.Deliveries[0].AttemptCount == 0 || list.Deliveries[0].LastAttempt.Error == nil {
		s.t.Fatalf("the deliveries are %+v", list)
	}
	s.made["evt_sample"] = list.Deliveries[0].ID
	s.ask("redeliver", http.StatusConflict, nil)
	s.ask("deletewebhook", http.StatusNoContent, nil)
	s.ask("deletewebhook", http.StatusNotFound, nil)
	s.step("deliverwebhooks", nil)
}

// agentSteps calls the steps of the agent's workflow for a repository of no known
// forge: Prepare fails its job, the other steps find that out, and the end of an
// execution fails the next job.
func (s *story) agentSteps(service *admin.Service, owner admin.Caller, project admin.Project) {
	s.t.Helper()
	begin := func() admin.AgentJob {
		j, err := service.StartAgentJob(s.t.Context(), owner, admin.StartAgentJob{Project: project.ID, Prompt: "mend the links"})
		check(s.t, err)
		s.made["agj_sample"] = j.ID
		return j
	}
	ended := func(j admin.AgentJob) admin.Failure {
		j, err := service.FindAgentJob(s.t.Context(), project.ID, j.ID)
		check(s.t, err)
		if j.Status != admin.AgentFailed || j.Failure == nil {
			s.t.Fatalf("the agent job is %+v", j)
		}
		return *j.Failure
	}
	first := begin()
	if _, failed := s.invoke("agentprepare"); failed == nil || failed.Type != forge.CodeInvalid || ended(first).Code != forge.CodeInvalid {
		s.t.Errorf("a repository of no known forge: %+v, the job %+v", failed, ended(first))
	}
	if b, failed := s.call("agentprepare", fmt.Appendf(nil, `{"projectId": %q, "jobId": %q, "round": 1, "pull": true}`, project.ID, first.ID)); failed != nil || string(b) != "{}" {
		s.t.Errorf("asked for the pull request of a job without one, it says %s, %+v", b, failed)
	}
	for _, name := range []string{"agentwork", "agentreview", "agentpublish"} {
		if _, failed := s.invoke(name); failed == nil || failed.Type != admin.CodeJobNotActive {
			s.t.Errorf("%s of a failed job: %+v", name, failed)
		}
	}
	second := begin()
	s.step("agentfail", nil)
	if f := ended(second); f.Message != "the agent took too long" {
		s.t.Errorf("the job failed with %+v", f)
	}
}

// another starts an export of another version of the same snapshot.
func (s *story) another(service *admin.Service, name, version string) api.ExportJob {
	s.t.Helper()
	delete(s.made, "exp_sample")
	event := string(sample(s.t, name))
	for old, with := range map[string]string{"startexport-sample": "startexport-" + version, `\"v1\"`: `\"` + version + `\"`, "bnd_sample": s.made["bnd_sample"]} {
		if !strings.Contains(event, old) {
			s.t.Fatalf("the sample of %s does not hold %s", name, old)
		}
		event = strings.ReplaceAll(event, old, with)
	}
	b, failed := s.call(name, []byte(event))
	if failed != nil {
		s.t.Fatalf("%s failed: %+v", name, *failed)
	}
	var a answer
	var job api.ExportJob
	check(s.t, json.Unmarshal(b, &a))
	check(s.t, json.Unmarshal([]byte(a.Body), &job))
	if a.StatusCode != http.StatusAccepted {
		s.t.Fatalf("%s answered %d: %s", name, a.StatusCode, a.Body)
	}
	s.made["exp_sample"] = job.JobID
	return job
}

// sampleSite is the site whose pack and manifest the sample of createsnapshot
// names: both, by their digests.
func sampleSite(t *testing.T) map[string][]byte {
	t.Helper()
	files := []struct{ path, text string }{
		{"docs.json", `{"name": "Sample", "navigation": {"pages": ["index"]}}` + "\n"},
		{"index.mdx", "---\ntitle: Hello\n---\n\nOne page.\n"},
	}
	m := &snapshot.Manifest{Format: snapshot.Format}
	var pack []byte
	for _, f := range files {
		m.Entries = append(m.Entries, snapshot.Entry{
			Path: f.path, SHA256: digest([]byte(f.text)), Size: int64(len(f.text)), Offset: int64(len(pack)),
			Modified: time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC),
		})
		pack = append(pack, f.text...)
	}
	for i := range m.Entries {
		m.Entries[i].Pack = digest(pack)
	}
	m.Packs = []snapshot.PackRef{{SHA256: digest(pack), Size: int64(len(pack))}}
	encoded, err := snapshot.Encode(m)
	check(t, err)
	event := string(sample(t, "createsnapshot"))
	for what, data := range map[string][]byte{"manifest": encoded, "pack": pack} {
		want := fmt.Sprintf(`{\"sha256\":\"%s\",\"sizeBytes\":%d}`, digest(data), len(data))
		if !strings.Contains(event, want) {
			t.Fatalf("the sample of createsnapshot does not name the site's %s: %s", what, want)
		}
	}
	return map[string][]byte{digest(encoded): encoded, digest(pack): pack}
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// upload sends what an upload asks for, as it asks.
func upload(ctx context.Context, t *testing.T, u api.Upload, data []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, u.Method, u.URL, strings.NewReader(string(data)))
	check(t, err)
	for name, v := range u.Headers {
		r.Header.Set(name, v)
	}
	fetch(t, r)
}

func download(ctx context.Context, t *testing.T, url string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	check(t, err)
	return fetch(t, r)
}

func fetch(t *testing.T, r *http.Request) []byte {
	t.Helper()
	res, err := http.DefaultClient.Do(r)
	check(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	check(t, err)
	if res.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s: %s", r.Method, r.URL.Path, res.Status, b)
	}
	return b
}
