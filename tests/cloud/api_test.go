package cloud

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/stack"
)

// ask makes a request as it is given and holds the answer to the form of all
// refusals.
func (d *deployment) ask(t *testing.T, method, path, body string, header map[string]string) (status int, code string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, d.URL+path, strings.NewReader(body))
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
	if allow := res.Header.Get("Allow"); (allow != "") != (res.StatusCode == http.StatusMethodNotAllowed) || strings.HasSuffix(path, "/static-export/jobs") && allow != "" && allow != "GET, POST" {
		t.Errorf("%s %s: status %d with Allow %q", method, path, res.StatusCode, allow)
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
		{"one unknown part", "GET", "/nothing", "", "", "", 404, "not_found"},
		{"unknown path", "GET", "/v3/nothing", "", "", "", 404, "not_found"},
		{"deep unknown path", "POST", "/v1/static-export/jobs/a/b/c/d", d.Key, "application/json", "{}", 404, "not_found"},
		{"part of a path", "GET", "/v1/static-export", d.Key, "", "", 404, "not_found"},
		{"unknown method", "PUT", jobs, d.Key, "application/json", "{}", 405, "method_not_allowed"},
		{"unknown method of an item", "DELETE", nobody, d.Key, "", "", 405, "method_not_allowed"},
		{"unknown method with a body of another type", "PATCH", jobs, d.Key, "text/plain", "x", 405, "method_not_allowed"},
		{"unknown method of the document", "POST", "/openapi.json", "", "", "", 405, "method_not_allowed"},
		{"unknown method without a key", "PUT", jobs, "", "", "", 405, "method_not_allowed"},
		{"OPTIONS", "OPTIONS", jobs, "", "", "", 405, "method_not_allowed"},
		{"no key", "POST", jobs, "", "application/json", start, 401, "unauthorized"},
		{"no key of ours", "POST", jobs, "nonsense", "application/json", start, 401, "unauthorized"},
		{"a key with a wrong letter", "GET", nobody, d.Key[:len(d.Key)-1] + "!", "", "", 401, "unauthorized"},
		{"a key that may only read", "POST", jobs, reader, "application/json", start, 403, "scope_missing"},
		{"a plan without export", "POST", jobs, free, "application/json", start, 403, "plan_required"},
		{"no JSON", "POST", jobs, d.Key, "application/json", "{", 400, "invalid_request"},
		{"unknown field", "POST", jobs, d.Key, "application/json", `{"domain":"docs.example.com","x":1}`, 400, "invalid_request"},
		{"no type", "POST", jobs, d.Key, "text/plain", start, 415, "unsupported_media_type"},
		{"unknown domain", "POST", jobs, d.Key, "application/json", `{"domain":"other.example.com"}`, 404, "domain_not_found"},
		{"nothing published", "POST", jobs, d.Key, "application/json", `{"domain":"broken.example.com"}`, 409, "no_snapshot"},
		{"unknown job", "GET", nobody, d.Key, "", "", 404, "not_found"},
		{"bundle of an unknown job", "POST", nobody + "/bundle", d.Key, "", "", 404, "not_found"},
		{"unknown agent job", "GET", "/v2/agent/prj_0/job/agj_0", d.Key, "", "", 404, "not_found"},
		{"no snapshot", "GET", "/v1/sites/broken.example.com/snapshots/latest", d.Key, "", "", 404, "not_found"},
		{"unknown snapshot", "POST", "/v1/sites/docs.example.com/snapshots/snp_0/publish", d.Key, "", "", 404, "not_found"},
		{"too large a body", "POST", jobs, d.Key, "application/json", `{"domain":"` + strings.Repeat("a", 200<<10) + `"}`, 413, "too_large"},
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

// agentJob starts an agent job of a project, by the rules alone.
func (d *deployment) agentJob(t *testing.T, project admin.Project) admin.AgentJob {
	t.Helper()
	owner := admin.Caller{OrganisationID: project.Organisation, Plan: admin.PlanEnterprise}
	j, err := d.admin.StartAgentJob(t.Context(), owner, admin.StartAgentJob{Project: project.ID, Prompt: "any"})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// tenants asks for one organisation's things with another one's key.
func (d *deployment) tenants(t *testing.T) {
	project := d.projectOf(t, cloudDomain)
	agent := d.agentJob(t, project)
	if err := d.admin.FailAgent(t.Context(), agent.Current(), admin.CodeLoop, ""); err != nil {
		t.Fatal(err)
	}
	job := d.startJob(t, cloudDomain)
	if final := d.wait(t, job, 2*time.Minute); final["status"] != "completed" {
		t.Fatalf("the job: %v", final)
	}
	status, latest, _ := d.Call(t, "GET", "/v1/sites/"+cloudDomain+"/snapshots/latest", "")
	if status != http.StatusOK {
		t.Fatalf("latest: %d %v", status, latest)
	}
	other := d.newKey(t, d.organisation(t, admin.PlanEnterprise, "other.example.org").ID)
	for i, c := range []struct {
		method, path, body string
		own                int
	}{
		{"GET", "/v2/agent/" + project.ID + "/job/" + agent.ID, "", 200},
		{"GET", "/v2/agent/" + project.ID + "/jobs?limit=1", "", 200},
		{"GET", "/v2/agent/" + project.ID + "/models", "", 200},
		{"GET", "/v2/agent/" + project.ID + "/job/" + agent.ID + "/events?cursor=1", "", 200},
		// The project has no credential for its forge.
		{"POST", "/v2/agent/" + project.ID + "/job", `{"prompt":"any"}`, 409},
		{"POST", "/v2/agent/" + project.ID + "/job/" + agent.ID + "/message", `{"prompt":"any"}`, 409},
		{"POST", "/v2/agent/" + project.ID + "/job/" + agent.ID + "/cancel", "", 409},
		{"GET", "/v1/static-export/jobs/" + job, "", 200},
		{"POST", "/v1/static-export/jobs/" + job + "/bundle", "", 200},
		{"POST", "/v1/static-export/jobs/" + job + "/cancel", "", 409},
		{"GET", "/v1/static-export/jobs/" + job + "/findings?limit=1", "", 200},
		{"GET", "/v1/sites/" + cloudDomain + "/snapshots/latest", "", 200},
		{"GET", "/v1/sites/" + cloudDomain + "/snapshots?limit=1", "", 200},
		{"POST", fmt.Sprintf("/v1/sites/%s/snapshots/%s/restore", cloudDomain, latest["snapshotId"]), fmt.Sprintf(`{"base":%q}`, latest["snapshotId"]), 200},
		{"POST", fmt.Sprintf("/v1/sites/%s/snapshots/%s/publish", cloudDomain, latest["snapshotId"]), "", 200},
		{"POST", "/v1/static-export/jobs", fmt.Sprintf(`{"domain":%q}`, cloudDomain), 202},
	} {
		header := map[string]string{"Authorization": "Bearer " + d.Key, "Content-Type": "application/json"}
		if c.body == "" {
			delete(header, "Content-Type")
		}
		if c.own == http.StatusConflict {
			header["Idempotency-Key"] = fmt.Sprint("tenants-", i) // which is free again, or keeps the refusal
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

// own asks for what an organisation has: nothing of another's is in it.
func (d *deployment) own(t *testing.T) {
	mine := d.projectOf(t, cloudDomain).ID
	other := d.newKey(t, d.organisation(t, admin.PlanEnterprise, "own.example.org").ID)
	for path, want := range map[string]string{
		"/v1/static-export/jobs?domain=" + cloudDomain + "&status=completed&limit=1": `"exp_`,
		"/v1/organisation": d.org.ID, "/v1/projects?limit=200": mine, "/v1/usage": `"exports":`,
	} {
		for _, key := range []string{d.Key, other} {
			r, err := http.NewRequestWithContext(t.Context(), "GET", d.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+key)
			res, err := d.client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if err != nil || res.StatusCode != http.StatusOK {
				t.Errorf("%s: %d %v", path, res.StatusCode, err)
			}
			if has := strings.Contains(string(body), want); has != (key == d.Key || path == "/v1/usage") {
				t.Errorf("%s, asked by its owner %t: %s", path, key == d.Key, body)
			}
		}
	}
}

// operators work on the stack by its name: with every command that they have,
// and with nothing but the name.
func (d *deployment) operators(t *testing.T) {
	made := map[string]string{}
	// fill puts the ids of what was made before into a command.
	fill := func(command string) []string {
		args := strings.Fields(command)
		for i, arg := range args {
			if id, ok := made[arg]; ok {
				args[i] = id
			}
		}
		return append(args, "--stack", d.stack.Name, "--json")
	}
	for _, c := range []struct {
		command string
		// id keeps the id that it gives under a name; want is in its output.
		id, want string
	}{
		{"org create --name Operated --plan pro", "ORG", "Operated"},
		{"org list", "", "Operated"},
		{"org set-plan ORG enterprise", "", "enterprise"},
		{"project create --org ORG --domain operated.example.com --repository https://github.com/example/docs", "PROJECT", "operated.example.com"},
		{"project list --org ORG", "", "operated.example.com"},
		{"project configure PROJECT --bundle-days 9", "", `"bundleDays": 9`},
		{"key create --org ORG --name pipeline", "KEY", "pipeline"},
		{"key list --org ORG", "", "pipeline"},
		{"usage --org ORG", "", "exports"},
		{"backfill", "", "exports"},
		{"person invite ada@example.com --org ORG --role owner", "", "ada@example.com"},
		{"person list --org ORG", "", `"owner"`},
		{"person remove ada@example.com --org ORG", "", "ada@example.com"},
		{"key revoke KEY --org ORG", "", ""},
		{"project revoke PROJECT", "", ""},
		{"org revoke ORG", "", ""},
	} {
		out, err := d.Command(t, fill(c.command)...)
		if err != nil {
			t.Fatalf("%s: %v", c.command, err)
		}
		if !strings.Contains(string(out), c.want) {
			t.Errorf("%s: want %q in\n%s", c.command, c.want, out)
		}
		if c.id != "" {
			var answer struct{ ID string }
			if err := json.Unmarshal(out, &answer); err != nil || answer.ID == "" {
				t.Fatalf("%s: no id (%v) in\n%s", c.command, err, out)
			}
			made[c.id] = answer.ID
		}
	}
	if _, err := d.Command(t, "project", "list", "--stack", "Nothing"); err == nil {
		t.Error("a stack that is not there has projects")
	}
}

// restoreDrill restores the table beside itself and holds the records against
// the buckets, which have all that they need.
func (d *deployment) restoreDrill(t *testing.T) {
	out, err := d.Command(t, "restore-drill", "--stack", d.stack.Name, "--json")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var drill struct {
		Table                                         string
		Organisations, Snapshots, Exports, FaultCount int
	}
	if err := json.Unmarshal(out, &drill); err != nil {
		t.Fatal(err)
	}
	if drill.Organisations < 2 || drill.Snapshots == 0 || drill.Exports == 0 || drill.FaultCount != 0 {
		t.Errorf("the drill found %s", out)
	}
	if left := d.kept(t, stack.Stack{Table: drill.Table}); len(left) != 0 {
		t.Errorf("the drill has left %v", left)
	}
}

// memory reads what the local cloud logs of calls, in Lambda's form: durations
// and memory sizes are true, the peak is that of any process here.
func (d *deployment) memory(t *testing.T) {
	out, err := d.Command(t, "memory", "--stack", d.stack.Name, "--json")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var all []struct {
		Function         string
		Calls, MemoryMiB int
		P95Milliseconds  float64
		AdvisedMiB       int
	}
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int{}
	for _, u := range all {
		sizes[u.Function] = u.MemoryMiB
		if u.Calls == 0 || u.P95Milliseconds <= 0 || u.AdvisedMiB < 128 {
			t.Errorf("%+v", u)
		}
	}
	if sizes["rendershard"] != 1769 || sizes["getexport"] != 256 || sizes["openapi"] != 256 {
		t.Errorf("the functions' memory is %v", sizes)
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
