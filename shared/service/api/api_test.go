package api_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// TestAnExport goes the way of a client: start, poll, bundle.
func TestAnExport(t *testing.T) {
	w := newWorld(t)
	x := w.bare("docs.example.com")
	start := func() response {
		return w.do(x.post("/v1/static-export/jobs", `{"domain": "docs.example.com", "version": "v1", "paths": ["/guides"]}`))
	}
	start().want(409, admin.CodeNoSnapshot)
	id := w.snapshot(x, "", map[string]string{"docs.json": "{}"})
	w.do(x.post("/v1/sites/docs.example.com/snapshots/"+id+"/publish", "")).want(200, "")

	res := start().want(202, "")
	var j api.ExportJob
	res.into(&j)
	path := "/v1/static-export/jobs/" + j.JobID
	if res.Header.Get("Location") != path || res.Header.Get("Retry-After") != "2" {
		t.Errorf("headers are %v", res.Header)
	}
	at := begin.Format(time.RFC3339Nano)
	if d := cmp.Diff(api.ExportJob{JobID: j.JobID, Status: "queued", Domain: "docs.example.com", Version: "v1", CreatedAt: begin, UpdatedAt: begin}, j); d != "" {
		t.Error(d)
	}
	if !strings.Contains(res.body, `"createdAt":"`+at+`"`) {
		t.Errorf("times are not RFC 3339 in UTC: %s", res.body)
	}
	w.do(x.post(path+"/bundle", "")).want(409, admin.CodeJobRunning)

	must(w, 0, w.BeginExport(w.ctx, j.JobID, admin.ExportPlan{Renderer: "r", Shards: 2, Pages: 8}))
	w.Advance(time.Second)
	must(w, 0, w.MarkShard(w.ctx, j.JobID, 1, 4, 0))
	res = w.do(x.get(path)).want(200, "")
	res.into(&j)
	if j.Status != "running" || j.Progress != 49 || j.PageCount != 4 || !j.UpdatedAt.Equal(begin.Add(time.Second)) || res.Header.Get("Retry-After") != "2" {
		t.Errorf("while it runs: %+v, %v", j, res.Header)
	}
	w.complete(j.JobID)
	res = w.do(x.get(path)).want(200, "")
	res.into(&j)
	if j.Status != "completed" || j.Progress != 100 || j.PageCount != 8 || res.Header.Get("Retry-After") != "" || j.Failure != nil {
		t.Errorf("when it is done: %+v, %v", j, res.Header)
	}
	var l api.BundleLink
	w.do(x.post(path+"/bundle", " \r\n")).want(200, "").into(&l)
	if d := cmp.Diff(api.BundleLink{
		JobID: j.JobID, Version: "v1", BundleURL: l.BundleURL, ExpiresAt: begin.Add(time.Second + time.Hour), SizeBytes: 6, SHA256: digest("bundle"),
	}, l); d != "" {
		t.Error(d)
	}
	w.Advance(2 * time.Hour)
	var fresh api.BundleLink
	w.do(x.post(path+"/bundle", "")).want(200, "").into(&fresh)
	if !fresh.ExpiresAt.After(w.Time()) || fresh.BundleURL == l.BundleURL {
		t.Errorf("the link is not fresh: %+v", fresh)
	}
	must(w, 0, w.objects.Delete(w.ctx, "exports/"+j.JobID+"/bundle.tar.gz"))
	w.do(x.post(path+"/bundle", "")).want(410, admin.CodeBundleGone)

	start().want(202, "").into(&j)
	must(w, 0, w.FailExport(w.ctx, j.JobID, admin.CodeInvalidSite, "docs.json:1:1: no"))
	res = w.do(x.get("/v1/static-export/jobs/"+j.JobID)).want(200, "")
	res.into(&j)
	if j.Status != "failed" || j.Failure == nil || *j.Failure != (api.Failure{Code: "invalid_site", Message: "docs.json:1:1: no"}) {
		t.Errorf("when it failed: %+v", j)
	}
	w.do(x.post("/v1/static-export/jobs/"+j.JobID+"/bundle", "")).want(409, admin.CodeJobFailed)
}

// TestAgentJob: every field is there in every state.
// A service on the caller's own machine lets callers wait for a young job at
// any pace: whole seconds are long beside a small export.
func TestAYoungJobMayBeReadAtOnce(t *testing.T) {
	w := newWorld(t)
	w.Service = admin.New(admin.Options{
		Store: w.store, Objects: w.objects, Runner: idleRunner{}, Now: w.Time, PollAfter: time.Second, PollFreely: 5 * time.Second,
	})
	w.options.Admin = w.Service
	w.handler = api.Handler(w.options)
	x := w.bare("docs.example.com")
	id := w.snapshot(x, "", map[string]string{"docs.json": "{}"})
	w.do(x.post("/v1/sites/docs.example.com/snapshots/"+id+"/publish", "")).want(200, "")
	res := w.do(x.post("/v1/static-export/jobs", `{"domain": "docs.example.com"}`)).want(202, "")
	for _, step := range []struct {
		wait time.Duration
		want string
	}{{0, "0"}, {4999 * time.Millisecond, "0"}, {time.Millisecond, "1"}} {
		w.Advance(step.wait)
		if got := w.do(x.get(res.Header.Get("Location"))).want(200, "").Header.Get("Retry-After"); got != step.want {
			t.Errorf("Retry-After is %q at %s, want %q", got, w.Time(), step.want)
		}
	}
	if got := res.Header.Get("Retry-After"); got != "0" {
		t.Errorf("Retry-After of the start is %q", got)
	}
}

// TestAgentJobThatWaits: callers read what a job waits for, a place or its model.
func TestAgentJobThatWaits(t *testing.T) {
	w := newWorld(t)
	x := w.bare("docs.example.com")
	read := func(j admin.AgentJob) (got api.AgentJob) {
		w.do(x.get("/v2/agent/"+x.project.ID+"/job/"+j.ID)).want(200, "").into(&got)
		return got
	}
	first := w.agent(x)
	for range 4 {
		if j := read(w.agent(x)); j.Queued || j.Position != nil {
			t.Errorf("with a place: %+v", j)
		}
	}
	sixth, seventh := read(w.agent(x)), read(w.agent(x))
	if !sixth.Queued || *sixth.Position != 1 || *seventh.Position != 2 || *seventh.Phase != "queued" || seventh.Status != admin.AgentActive {
		t.Errorf("%+v, %+v", sixth, seventh)
	}
	_, err := w.AgentRound(w.ctx, first.Current())
	must(w, 0, err)
	_, err = w.BeginAgentRound(w.ctx, first.Current(), admin.AgentBase{Commit: "c1"})
	must(w, 0, err)
	lease, err := w.LeaseAgentWork(w.ctx, first.Current())
	must(w, 0, err)
	at := w.Time().Add(time.Minute)
	must(w, 0, w.AgentWait(w.ctx, lease, 1, at, "the model's server is overloaded"))
	if j := read(first); !j.Waiting || !j.RetryAt.Equal(at) || *j.Phase != "working" {
		t.Errorf("%+v", j)
	}
	w.do(x.post("/v2/agent/"+x.project.ID+"/job/"+first.ID+"/cancel", "")).want(200, "")
	if j := read(first); j.Waiting || j.RetryAt != nil || j.Status != admin.AgentFailed {
		t.Errorf("%+v", j)
	}
	w.do(x.post("/v2/agent/"+x.project.ID+"/job/"+seventh.ID+"/cancel", "")).want(200, "")
	var after api.AgentJob
	w.do(x.get("/v2/agent/"+x.project.ID+"/job/"+seventh.ID)).want(200, "").into(&after)
	if after.Queued || after.Position != nil || after.Status != admin.AgentFailed {
		t.Errorf("%+v", after)
	}
}

func TestAgentJob(t *testing.T) {
	w := newWorld(t)
	x := w.bare("docs.example.com")
	read := func(project, id string) map[string]any {
		var got map[string]any
		w.do(x.get("/v2/agent/"+project+"/job/"+id)).want(200, "").into(&got)
		return got
	}
	j := w.agent(x)
	wantJob := map[string]any{
		"id": j.ID, "status": "active", "source": map[string]any{"repository": "https://git.example.com/docs", "ref": nil},
		"model": "large-1", "asDraft": false, "round": 1.0, "phase": "queued", "messageCount": 1.0, "turnCount": 0.0,
		"queued": false, "position": nil, "waiting": false, "retryAt": nil,
		"usage": map[string]any{"inputTokens": 0.0, "cachedTokens": 0.0, "outputTokens": 0.0, "costMicros": 0.0}, "roundCostMicros": 0.0,
		"changes": map[string]any{"files": 0.0, "added": 0.0, "removed": 0.0},
		"prompt":  "mend the links", "title": nil, "summary": nil, "question": nil, "unfinished": false, "findings": []any{}, "pages": []any{},
		"prLink": nil, "branch": nil, "failure": nil, "createdAt": "2026-03-14T09:00:00Z", "updatedAt": "2026-03-14T09:00:00Z",
		"cancelledAt": nil, "finishedAt": nil, "archivedAt": nil,
	}
	if d := cmp.Diff(wantJob, read(x.project.ID, j.ID)); d != "" {
		t.Errorf("active:\n%s", d)
	}
	w.publishAgent(j)
	wantJob["status"], wantJob["prLink"], wantJob["phase"] = "completed", "https://git.example.com/docs/pull/1", nil
	wantJob["branch"], wantJob["finishedAt"] = "bindery/"+j.ID, "2026-03-14T09:00:00Z"
	wantJob["changes"] = map[string]any{"files": 2.0, "added": 10.0, "removed": 3.0}
	wantJob["title"], wantJob["summary"], wantJob["question"] = "Mend the links", "Two were broken.", "And the third?"
	wantJob["unfinished"], wantJob["findings"] = true, []any{"a.mdx:3: warning: /gone leads nowhere"}
	wantJob["pages"] = []any{map[string]any{"path": "a.mdx", "change": "changed", "from": nil}, map[string]any{"path": "c.mdx", "change": "moved", "from": "b.mdx"}}
	if d := cmp.Diff(wantJob, read(x.project.ID, j.ID)); d != "" {
		t.Errorf("completed:\n%s", d)
	}
	w.Advance(time.Minute)
	_, err := w.ArchiveAgentJob(w.ctx, x.caller, x.project.ID, j.ID, "")
	must(w, 0, err)
	wantJob["status"], wantJob["archivedAt"], wantJob["updatedAt"] = "archived", "2026-03-14T09:01:00Z", "2026-03-14T09:01:00Z"
	if d := cmp.Diff(wantJob, read(x.project.ID, j.ID)); d != "" {
		t.Errorf("archived:\n%s", d)
	}
	second, err := w.CreateProject(w.ctx, admin.Project{Organisation: x.ID, Domain: "two.example.com", Repository: "https://git.example.com/two"})
	must(w, 0, err)
	w.do(x.get("/v2/agent/"+second.ID+"/job/"+j.ID)).want(404, admin.CodeNotFound) // a job of another project
}

// A project's callers read which models there are, those of another organisation don't.
func TestAgentModels(t *testing.T) {
	w := newWorld(t)
	x, other := w.bare("docs.example.com"), w.bare("docs.example.org")
	var got map[string]any
	w.do(x.get("/v2/agent/"+x.project.ID+"/models")).want(200, "").into(&got)
	want := map[string]any{"default": "best", "models": []any{
		map[string]any{
			"name": "best", "model": "large-1", "contextTokens": 200000.0, "outputTokens": 8000.0,
			"price": map[string]any{"inputMicros": 2e6, "cacheWriteMicros": 2.5e6, "cacheReadMicros": 2e5, "outputMicros": 1e7},
		},
		map[string]any{"name": "local", "model": "small-1", "contextTokens": 65536.0, "outputTokens": 4096.0, "price": nil},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	w.do(other.get("/v2/agent/"+x.project.ID+"/models")).want(404, admin.CodeNotFound)
}

// TestAgentJobFromItsCallers goes the way of a client: start, follow, message,
// cancel, list.
func TestAgentJobFromItsCallers(t *testing.T) {
	w := newWorld(t)
	x := w.bare("docs.example.com")
	path := "/v2/agent/" + x.project.ID + "/job"
	var job api.AgentJob
	res := w.do(x.post(path, `{"prompt":"mend","ref":"main","asDraft":true}`)).want(201, "")
	res.into(&job)
	if job.Status != admin.AgentActive || !job.AsDraft || *job.Source.Ref != "main" || res.Header.Get("Location") != path+"/"+job.ID || res.Header.Get("Retry-After") != "2" {
		t.Errorf("%+v, %v", job, res.Header)
	}
	path += "/" + job.ID
	w.do(x.post(path+"/message", `{"prompt":"and this"}`)).want(200, "").into(&job)
	if job.MessageCount != 2 {
		t.Errorf("%+v", job)
	}
	var events api.AgentEvents
	w.do(x.get(path+"/events?limit=2")).want(200, "").into(&events)
	if len(events.Events) != 2 || events.Events[0].Text != "mend" || events.NextCursor != "2" {
		t.Errorf("%+v", events)
	}
	w.do(x.get(path+"/events?cursor="+events.NextCursor)).want(200, "").into(&events)
	if len(events.Events) != 1 || events.Events[0].Text != "and this" || events.Events[0].Attachments != nil || events.NextCursor != "3" {
		t.Errorf("%+v", events)
	}
	w.do(x.post(path+"/message", `{"prompt":"see","attachments":[{"name":"a.md","data":"IyBBCg=="},{"name":"a.png","data":"iVBORw0KGgoAAA=="}]}`)).want(200, "")
	w.do(x.get(path+"/events?cursor="+events.NextCursor)).want(200, "").into(&events)
	if want := []api.AgentAttachment{{Name: "a.md", SizeBytes: 4}, {Name: "a.png", SizeBytes: 10, Picture: true}}; len(events.Events) != 1 || !slices.Equal(events.Events[0].Attachments, want) {
		t.Errorf("%+v", events)
	}
	for _, query := range []string{"cursor=x", "cursor=", "limit=0", "limit=201", "limit=1&limit=2", "page=1", "limit=%zz", "status=active"} {
		w.do(x.get(path+"/events?"+query)).want(400, admin.CodeInvalid)
	}
	w.do(x.post(path+"/archive", "")).want(409, admin.CodeJobRunning)
	res = w.do(x.post(path+"/cancel", "")).want(200, "")
	if res.into(&job); job.CancelledAt == nil || job.Status != admin.AgentActive {
		t.Errorf("%+v", job)
	}
	must(w, 0, w.FailAgent(w.ctx, admin.AgentRef{Project: x.project.ID, Job: job.ID, Round: 1}, admin.CodeTemporary, ""))
	w.do(x.get(path)).want(200, "").into(&job)
	if job.Failure == nil || job.Failure.Code != admin.CodeCancelled || job.Phase != nil {
		t.Errorf("%+v", job)
	}
	var list api.AgentJobs
	w.do(x.get("/v2/agent/"+x.project.ID+"/jobs?status=failed")).want(200, "").into(&list)
	if len(list.Jobs) != 1 || list.Jobs[0].ID != job.ID || list.NextCursor != nil {
		t.Errorf("%+v", list)
	}
	// A plan without agents may read and end what it has.
	_, err := w.SetPlan(w.ctx, x.ID, admin.PlanFree)
	must(w, 0, err)
	w.do(x.get(path)).want(200, "")
	w.do(x.post(path+"/message", `{}`)).want(403, admin.CodePlan)
	w.do(x.post("/v2/agent/none/job", `{}`)).want(403, admin.CodePlan)
	w.do(x.post(path+"/archive", "")).want(200, "")
	_, err = w.SetPlan(w.ctx, x.ID, admin.PlanPro)
	must(w, 0, err)
	w.do(x.post(path+"/message", `{"prompt":"p"}`)).want(409, admin.CodeArchived)
}

// TestPublishing goes the way of a client, and every wrong way.
func TestPublishing(t *testing.T) {
	w := newWorld(t)
	x := w.bare("docs.example.com")
	const sites = "/v1/sites/docs.example.com/snapshots"
	publish := func(id string) response { return w.do(x.post(sites+"/"+id+"/publish", "")) }
	w.do(x.get(sites+"/latest")).want(404, admin.CodeNotFound)

	site := map[string]string{"docs.json": "{}", "guides/start.mdx": "# Start"}
	m, encoded, pack := manifest(w, site)
	publish(w.upload(x, "", encoded, pack, false, true)).want(409, admin.CodeIncomplete).says("manifest")
	_, other, _ := manifest(w, map[string]string{"docs.json": "{}", "guides/start.mdx": "# Other"})
	publish(w.upload(x, "", other, pack, true, true)).want(409, admin.CodeIncomplete).says("pack")

	id := w.upload(x, "", encoded, pack, true, true)
	for range 2 {
		var got, latest api.Snapshot
		publish(id).want(200, "").into(&got)
		w.do(x.get(sites+"/latest")).want(200, "").into(&latest)
		if d := cmp.Diff(got, latest); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(api.Snapshot{
			SnapshotID: id, Domain: "docs.example.com", Status: "published", FileCount: 2, SizeBytes: m.Bytes(), CreatedAt: begin, PublishedAt: begin,
			Manifest: api.ManifestLink{Blob: blob(encoded), URL: got.Manifest.URL, ExpiresAt: begin.Add(time.Hour)},
		}, got); d != "" {
			t.Error(d)
		}
	}
	_, next, nextPack := manifest(w, map[string]string{"docs.json": "{}", "guides/start.mdx": "# Next"})
	publish(w.upload(x, "", next, nextPack, true, true)).want(409, admin.CodeOvertaken)
	var same api.Snapshot
	if publish(w.upload(x, "", encoded, pack, true, true)).want(200, "").into(&same); same.SnapshotID != id {
		t.Errorf("the same files are a new snapshot, %+v", same)
	}

	// A pack that another organisation has stored is none of the caller's.
	y := w.bare("docs.example.org")
	theirs := w.upload(y, "", encoded, pack, true, false)
	w.do(y.post("/v1/sites/docs.example.org/snapshots/"+theirs+"/publish", "")).want(409, admin.CodeIncomplete).says("pack")

	bad := func(name string, files map[string]string, says string) {
		t.Helper()
		if _, err := json.Marshal(files); err != nil {
			t.Fatal(err)
		}
		raw, pack := rawManifest(files)
		publish(w.upload(x, id, raw, pack, true, true)).want(400, admin.CodeInvalid).says(says)
	}
	bad("no docs.json", map[string]string{"guides/start.mdx": "# Start"}, "docs.json: the folder has no docs.json and no mint.json")
	bad("a name that can't stand in an archive", map[string]string{"docs.json": "{}", "a/../b.mdx": "x"}, "a/../b.mdx")
	bad("a file where another needs a folder", map[string]string{"docs.json": "{}", "a": "x", "a/b.mdx": "y"}, "a/b.mdx")
	publish(w.upload(x, id, "no manifest", pack, true, true)).want(400, admin.CodeInvalid).says("manifest")

	// Bytes that are not what was announced, as a store would have that does
	// not check what is uploaded.
	short := w.upload(x, id, encoded+" ", pack, false, true)
	key := admin.ManifestKey(x.ID, digest(encoded+" "))
	for _, wrong := range []string{encoded, encoded + "\n"} {
		_, err := w.objects.Put(w.ctx, key, strings.NewReader(wrong), store.PutOptions{})
		must(w, 0, err)
		publish(short).want(409, admin.CodeInconsistent).says("manifest")
	}
	_, err := w.objects.Put(w.ctx, admin.PackKey(x.ID, digest(pack)), strings.NewReader(pack[1:]), store.PutOptions{})
	must(w, 0, err)
	w.do(x.post(sites, `{"manifest":{"sha256":"`+digest("m")+`","sizeBytes":1},"packs":[{"sha256":"`+digest(pack)+`","sizeBytes":`+itoa(len(pack))+`}]}`)).
		want(409, admin.CodeInconsistent)
}

// TestChecksComeInOrder sends requests that are wrong in several ways and
// takes one fault after another away.
func TestChecksComeInOrder(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	poor := w.bare("poor.example.com")
	_, err := w.SetPlan(w.ctx, poor.ID, admin.PlanPro)
	must(w, 0, err)
	far := w.key(x.ID, func(r *admin.KeyRequest) {
		r.AllowedAddresses = []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}
		r.Scopes = []admin.Scope{admin.ScopeRead}
	})
	reader := w.key(poor.ID, func(r *admin.KeyRequest) { r.Scopes = []admin.Scope{admin.ScopeRead} })
	const jobs = "/v1/static-export/jobs"
	call := func(secret, contentType, key, body string) response {
		r := request("POST", jobs, secret, body)
		r.Header.Set("Content-Type", contentType)
		if key != "" {
			r.Header.Set(api.HeaderIdempotencyKey, key)
		}
		return w.do(r)
	}
	call("", "text/plain", "a b", "{").want(401, admin.CodeUnauthorized)
	call("bnd_no", "text/plain", "a b", "{").want(401, admin.CodeUnauthorized)
	call(far, "text/plain", "a b", "{").want(403, admin.CodeAddress)
	call(reader, "text/plain", "a b", "{").want(403, admin.CodeScope)
	call(poor.secret, "text/plain", "a b", "{").want(403, admin.CodePlan)
	call(x.secret, "text/plain", "a b", "{").want(400, admin.CodeInvalid).says("Idempotency-Key")
	call(x.secret, "text/plain", "k", "{").want(415, admin.CodeUnsupported)
	call(x.secret, "", "k", "{").want(415, admin.CodeUnsupported)
	call(x.secret, "application/json; charset=latin1", "k", "{").want(415, admin.CodeUnsupported)
	call(x.secret, "application/json", "k", strings.Repeat(" ", 64<<10+1)).want(413, admin.CodeTooLarge)
	call(x.secret, "application/json", "k", "{").want(400, admin.CodeInvalid)
	call(x.secret, "application/json; charset=UTF-8", "k", `{"domain":"none.example.com"}`).want(404, admin.CodeDomainNotFound)
	call(x.secret, "application/json", "k", `{"domain":"docs.example.com"}`).want(422, admin.CodeKeyReused)
	call(x.secret, "application/json", "k2", `{"domain":"docs.example.com","version":"v1","paths":["a"]}`).want(409, admin.CodeVersionTaken)
	for range 3 {
		call(x.secret, "application/json", "", `{"domain":"docs.example.com"}`).want(202, "")
	}
	call(x.secret, "application/json", "", `{"domain":"docs.example.com","version":"v1","paths":["a"]}`).want(409, admin.CodeVersionTaken)
	busy := call(x.secret, "application/json", "k3", `{"domain":"docs.example.com"}`).want(429, admin.CodeTooManyExports)
	if busy.Header.Get("Retry-After") != "3" {
		t.Errorf("Retry-After is %q", busy.Header.Get("Retry-After"))
	}
	// The plan matters only for exports.
	w.do(poor.get("/v1/sites/poor.example.com/snapshots/latest")).want(404, admin.CodeNotFound)
	w.do(poor.get(jobs+"/x")).want(403, admin.CodePlan)
	w.do(with(x.post(jobs+"/"+x.done+"/bundle", "{}"), "Content-Type", "")).want(400, admin.CodeInvalid).says("body: ")
}

// TestAKeyForBundles: it makes links to bundles of its domain. Every other operation
// is 403, whatever it names, and every other job 404.
func TestAKeyForBundles(t *testing.T) {
	w := newWorld(t)
	x, other := w.tenant("docs.example.com"), w.tenant("other.example.com")
	two, err := w.CreateProject(w.ctx, admin.Project{Organisation: x.ID, Domain: "two.example.com", Repository: "https://git.example.com/two"})
	must(w, 0, err)
	bundles := func(domain string) string {
		return w.key(x.ID, func(r *admin.KeyRequest) { r.Domain, r.Scopes = domain, []admin.Scope{admin.ScopeBundle} })
	}
	own, foreign := bundles(x.project.Domain), bundles(two.Domain)
	for _, route := range api.Routes(w.options) {
		path := strings.NewReplacer("{jobId}", x.done, "{projectId}", x.project.ID, "{id}", x.agent, "{domain}", x.project.Domain,
			"{snapshotId}", x.published, "{deliveryId}", "evt_1").Replace(route.Path)
		r := request(route.Method, path, own, "")
		if route.Operation != "generateBundle" {
			doWith(t, route.Handler, r).want(403, admin.CodeScope)
			continue
		}
		if link := doWith(t, route.Handler, r).want(200, ""); !strings.Contains(link.body, `"bundleUrl"`) {
			t.Errorf("no link: %s", link.body)
		}
		// A repeated request of another key of the organisation tells nothing either.
		doWith(t, route.Handler, with(request(route.Method, path, x.secret, ""), api.HeaderIdempotencyKey, "k")).want(200, "")
		doWith(t, route.Handler, with(request(route.Method, path, foreign, ""), api.HeaderIdempotencyKey, "k")).want(404, admin.CodeNotFound)
		for secret, jobs := range map[string][]string{own: {other.done, "exp_none"}, foreign: {x.done, other.done}} {
			for _, job := range jobs {
				doWith(t, route.Handler, request(route.Method, strings.Replace(route.Path, "{jobId}", job, 1), secret, "")).want(404, admin.CodeNotFound)
			}
		}
		reader := w.key(x.ID, func(r *admin.KeyRequest) { r.Scopes = []admin.Scope{admin.ScopeRead} })
		doWith(t, route.Handler, request(route.Method, path, reader, "")).want(403, admin.CodeScope).says(`lacks the scope "write" or "bundle"`)
	}
}

// TestTenantsDoNotSeeEachOther tries every route with every id of another
// tenant, alone and mixed with the caller's own: 404, and nothing changes.
func TestTenantsDoNotSeeEachOther(t *testing.T) {
	w := newWorld(t)
	a, b := w.tenant("a.example.com"), w.tenant("b.example.com")
	myHook, myEvent, _ := w.webhook(b)
	theirHook, theirEvent, _ := w.webhook(a)
	manager := w.key(b.ID, func(r *admin.KeyRequest) { r.Scopes = []admin.Scope{admin.ScopeManage} })
	deployer := w.key(b.ID, func(r *admin.KeyRequest) { r.Scopes = []admin.Scope{admin.ScopeDeploy} })
	before := w.dump(a) + w.dump(b)
	ids := map[string][2][]string{ // mine, and theirs
		"{jobId}":      {{b.done}, {a.done, a.running}},
		"{projectId}":  {{b.project.ID}, {a.project.ID}},
		"{id}":         {{b.agent}, {a.agent}},
		"{domain}":     {{b.project.Domain}, {a.project.Domain}},
		"{snapshotId}": {{b.pending}, {a.published, a.pending}},
		"{deliveryId}": {{myEvent}, {theirEvent}},
	}
	agents, hooks := ids["{id}"], [2][]string{{myHook}, {theirHook}}
	tried := 0
	for _, route := range api.Routes(w.options) {
		secret := b.secret
		if ids["{id}"] = agents; slices.Contains(route.Scopes, admin.ScopeManage) {
			ids["{id}"], secret = hooks, manager
		}
		if route.Path == "/v1/webhooks" {
			continue // it names nothing
		}
		if slices.Contains(route.Scopes, admin.ScopeDeploy) {
			secret = deployer
		}
		var params []string
		for name := range ids {
			if strings.Contains(route.Path, name) {
				params = append(params, name)
			}
		}
		bodies := []string{""}
		switch route.Operation {
		case "startExport":
			bodies = []string{`{"domain":"a.example.com"}`, `{"domain":"a.example.com","version":"v1"}`}
		case "setLive":
			bodies = []string{`{"action":"hold"}`, `{"action":"promote","jobId":"` + a.done + `"}`}
		case "restoreSnapshot":
			bodies = []string{`{"base":"` + a.published + `"}`, `{"base":"` + b.published + `"}`}
		case "startAgentJob", "messageAgentJob":
			bodies = []string{`{"prompt":"p"}`}
		case "createSnapshot":
			bodies = []string{`{"manifest":{"sha256":"` + digest("m") + `","sizeBytes":1},"packs":[]}`}
		}
		// Every way to take at least one id of the other tenant's.
		paths := map[string]bool{route.Path: false}
		switch route.Operation { // what has no id has a query
		case "listExports":
			_, cursor, err := w.ListExports(w.ctx, a.caller, admin.ExportList{Limit: 1})
			must(w, 0, err)
			paths["/v1/static-export/jobs?domain=a.example.com"], paths["/v1/static-export/jobs?cursor="+cursor] = false, false
		case "listProjects":
			paths["/v1/projects?cursor="+a.project.ID] = false
		}
		for _, p := range params {
			next := map[string]bool{}
			for path, foreign := range paths {
				for _, mine := range ids[p][0] {
					next[strings.Replace(path, p, mine, 1)] = foreign
				}
				for _, theirs := range ids[p][1] {
					next[strings.Replace(path, p, theirs, 1)] = true
				}
			}
			paths = next
		}
		for path, foreign := range paths {
			if !foreign && len(params) > 0 {
				continue
			}
			for _, body := range bodies {
				for _, key := range []string{"", "k-" + itoa(tried)} {
					r := request(route.Method, path, secret, body)
					if key != "" {
						r.Header.Set(api.HeaderIdempotencyKey, key)
					}
					res := doWith(t, route.Handler, r)
					if want := map[bool]int{true: 404, false: 200}[foreign || len(bodies[0]) > 0 || len(params) > 0]; res.StatusCode != want {
						t.Errorf("%s with %s: %d %s", res.what, body, res.StatusCode, res.body)
					}
					for _, secret := range []string{a.ID, a.project.ID, a.agent, a.done, a.running, "\"a.example.com"} {
						if !strings.Contains(path, secret) && strings.Contains(res.body, secret) {
							t.Errorf("%s tells %s", res.what, secret)
						}
					}
					tried++
				}
			}
		}
	}
	if tried < 30 {
		t.Errorf("only %d requests were tried", tried)
	}
	if d := cmp.Diff(before, w.dump(a)+w.dump(b)); d != "" {
		t.Errorf("something changed:\n%s", d)
	}
}

// TestWhatNothingAnswersIs404 in the form of every failure, without a key.
func TestWhatNothingAnswersIs404(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	job := "/v1/static-export/jobs/" + x.done
	for _, c := range [][2]string{
		{"GET", "/"}, {"GET", "/nothing"}, {"GET", "/v1/static-export"}, {"GET", job + "/"}, {"GET", "/" + job}, {"GET", "/v1//static-export/jobs/x"},
		{"GET", "/v1/./static-export/jobs/x"}, {"GET", "/v1/x/../static-export/jobs/x"}, {"GET", "/V1/static-export/jobs/x"},
		{"GET", "/v1/static-export/jobs%2Fx"}, {"GET", "/v1/static-export/jobs/"}, {"GET", "/openapi.json/"},
		{"GET", "/v1/sites/docs.example.com/snapshots/"}, {"PRI", "*"},
	} {
		r := x.get("/")
		r.Method = c[0]
		if c[1] != "*" {
			r = x.get(c[1])
			r.Method = c[0]
		}
		w.do(r).want(404, admin.CodeNotFound)
	}
	// A path that is there names its methods.
	for path, allow := range map[string]string{
		job: "GET", job + "/bundle": "POST", "/v1/static-export/jobs": "GET, POST", "/v1/webhooks/x": "DELETE", "/openapi.json": "GET",
		"/v1/sites/docs.example.com/snapshots": "GET, POST", "/v1/sites/docs.example.com/snapshots/latest": "GET",
	} {
		for _, method := range []string{"HEAD", "OPTIONS", "TRACE", "PUT", "PATCH", "CONNECT", "get"} {
			r := x.get(path)
			r.Method = method
			res := w.do(r)
			res.want(405, admin.CodeMethod)
			if got := res.Header.Get("Allow"); got != allow {
				t.Errorf("%s %s: Allow %q, want %q", method, path, got, allow)
			}
			r = x.get(path)
			r.Method = method
			r.Header.Del("Authorization") // it is no secret which paths there are
			w.do(r).want(405, admin.CodeMethod)
		}
	}
	// What has a route's form but no possible id is not found either.
	for _, id := range []string{"a%2Fb", "%00", "..", ".", "%2e%2e", "ü", "%FF", strings.Repeat("x", 5000), "a b"} {
		w.do(x.get("/v1/static-export/jobs/"+strings.ReplaceAll(id, " ", "%20"))).want(404, admin.CodeNotFound)
		w.do(x.post("/v1/static-export/jobs/"+strings.ReplaceAll(id, " ", "%20")+"/bundle", "")).want(404, admin.CodeNotFound)
		w.do(x.post("/v1/sites/docs.example.com/snapshots/"+strings.ReplaceAll(id, " ", "%20")+"/publish", "")).want(404, admin.CodeNotFound)
	}
	w.do(x.get("/v1/sites/Docs.example.com/snapshots/latest")).want(400, admin.CodeInvalid).says("domain: ")
	w.do(x.get(job+"?unknown=1")).want(200, "")
}

// brokenStore fails, or panics, as storage may.
type brokenStore struct {
	store.Store
	get func() error
}

func (b brokenStore) Get(context.Context, store.Key) (store.Record, error) {
	return store.Record{}, b.get()
}

// TestFaultsOfOursSayNothing of what is inside; the log does.
func TestFaultsOfOursSayNothing(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	for name, c := range map[string]struct {
		get    func() error
		status int
		code   string
		logged string
	}{
		"a fault":    {func() error { return errTable }, 500, admin.CodeInternal, "table bindery-7"},
		"a panic":    {func() error { panic("nil table") }, 500, admin.CodeInternal, "nil table"},
		"a time-out": {func() error { return context.DeadlineExceeded }, 503, admin.CodeTemporary, "deadline"},
	} {
		t.Run(name, func(t *testing.T) {
			w.log.Reset()
			o := w.options
			o.Admin = admin.New(admin.Options{Store: brokenStore{w.store, c.get}, Objects: w.objects})
			res := doWith(t, api.Handler(o), x.get("/v1/static-export/jobs/"+x.done)).want(c.status, c.code)
			if strings.Contains(res.body, "table") || strings.Contains(res.body, "panic") {
				t.Errorf("the answer tells: %s", res.body)
			}
			if !strings.Contains(w.log.String(), c.logged) || !strings.Contains(w.log.String(), res.Header.Get(api.HeaderRequestID)) {
				t.Errorf("the log lacks it: %s", w.log)
			}
		})
	}
}

type tableError struct{}

func (tableError) Error() string { return "table bindery-7 is throttled" }

var errTable = tableError{}

// TestTheLog has a line for each request, and no secret in it.
func TestTheLog(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	w.log.Reset()
	res := w.do(with(x.get("/v1/static-export/jobs/"+x.done), api.HeaderRequestID, "mine"))
	id := res.Header.Get(api.HeaderRequestID)
	if id == "mine" {
		t.Error("a caller's request id is taken over")
	}
	var line map[string]any
	if err := json.Unmarshal(w.log.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]any{
		"request": id, "operation": "getExport", "status": 200.0, "method": "GET", "organisation": x.ID, "key": x.caller.KeyID, "level": "INFO",
	} {
		if line[name] != value {
			t.Errorf("%s is %v, want %v", name, line[name], value)
		}
	}
	w.do(x.post("/v1/static-export/jobs/"+x.done+"/bundle", "")).want(200, "")
	w.do(request("GET", "/v1/static-export/jobs/x", x.secret+"x", "")).want(401, admin.CodeUnauthorized)
	if log := w.log.String(); strings.Contains(log, x.secret[:20]) || strings.Contains(log, "signature") {
		t.Errorf("the log tells a secret: %s", log)
	}
}

// TestTheLogNamesJobs: a request about a job can be found by the job's id, in
// its own line and in whatever else is logged of it.
func TestTheLogNamesJobs(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	facts := map[string]string{}
	w.options.Annotate = func(_ context.Context, all ...slog.Attr) {
		for _, f := range all {
			facts[f.Key] = f.Value.String()
		}
	}
	handler := api.Handler(w.options)
	for _, c := range []struct {
		name string
		r    *http.Request
		job  func(response) string
	}{
		{"started", x.post("/v1/static-export/jobs", `{"domain":"docs.example.com"}`), func(r response) string {
			var j api.ExportJob
			r.into(&j)
			return j.JobID
		}},
		{"asked for", x.get("/v1/static-export/jobs/" + x.done), func(response) string { return x.done }},
		{"its bundle", x.post("/v1/static-export/jobs/"+x.done+"/bundle", ""), func(response) string { return x.done }},
		{"its bundle, too early", x.post("/v1/static-export/jobs/"+x.running+"/bundle", ""), func(response) string { return x.running }},
		{"not there", x.get("/v1/static-export/jobs/exp_x"), func(response) string { return "exp_x" }},
		{"no id at all", x.get("/v1/static-export/jobs/" + strings.Repeat("x", admin.MaxID+1)), func(response) string { return "" }},
		{"not allowed", request("GET", "/v1/static-export/jobs/"+x.done, x.secret+"x", ""), func(response) string { return "" }},
		{"no job's", x.get("/v1/sites/docs.example.com/snapshots/latest"), func(response) string { return "" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.log.Reset()
			clear(facts)
			res := doWith(t, handler, c.r)
			var line struct{ Request, Organisation, Job string }
			if err := json.Unmarshal(w.log.Bytes(), &line); err != nil {
				t.Fatal(err)
			}
			want := c.job(res)
			if line.Job != want || facts["job"] != want {
				t.Errorf("the line names the job %q, the facts %q, want %q", line.Job, facts["job"], want)
			}
			if id := res.Header.Get(api.HeaderRequestID); line.Request != id || facts["request"] != id {
				t.Errorf("the line names the request %q, the facts %q, want %q", line.Request, facts["request"], id)
			}
			if facts["organisation"] != line.Organisation || (line.Organisation == "") != (res.StatusCode == http.StatusUnauthorized) {
				t.Errorf("the line names the organisation %q, the facts %q", line.Organisation, facts["organisation"])
			}
		})
	}
}

// TestEveryRouteWorksAlone: a handler needs no router, and answers only its own.
func TestEveryRouteWorksAlone(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	for _, route := range api.Routes(w.options) {
		res := doWith(t, route.Handler, x.get("/v1/static-export/jobs/"+x.done))
		if ok := res.StatusCode == http.StatusOK; ok != (route.Operation == "getExport") {
			t.Errorf("%s answers another's path with %d", route.Operation, res.StatusCode)
		}
	}
}

func TestRepeatedRequests(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	again := func(path, body string, status int) (first, second response) {
		t.Helper()
		first = w.do(with(x.post(path, body), api.HeaderIdempotencyKey, "k")).want(status, "")
		w.Advance(time.Minute)
		return first, w.do(with(x.post(path, body), api.HeaderIdempotencyKey, "k")).want(status, "")
	}
	a, b := again("/v1/static-export/jobs", `{"domain":"docs.example.com"}`, 202)
	if a.body != b.body || a.Header.Get("Location") != b.Header.Get("Location") {
		t.Errorf("a repeated start answers %s, then %s", a.body, b.body)
	}
	a, b = again("/v1/static-export/jobs/"+x.done+"/bundle", "", 200)
	var first, second api.BundleLink
	a.into(&first)
	b.into(&second)
	if first.BundleURL == second.BundleURL || !second.ExpiresAt.Equal(first.ExpiresAt.Add(time.Minute)) {
		t.Error("the link of a repeated answer is not signed anew")
	}
	w.do(with(x.post("/v1/static-export/jobs/"+x.running+"/bundle", ""), api.HeaderIdempotencyKey, "k")).want(422, admin.CodeKeyReused)
	a, b = again("/v1/sites/docs.example.com/snapshots/"+x.pending+"/publish", "", 200)
	var p, q api.Snapshot
	a.into(&p)
	b.into(&q)
	if p.PublishedAt != q.PublishedAt || p.SnapshotID != q.SnapshotID {
		t.Errorf("a repeated publish answers %+v, then %+v", p, q)
	}
}
