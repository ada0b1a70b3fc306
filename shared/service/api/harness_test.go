package api_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"
)

// world is an API over storage of its own, with a clock that only tests move.
type world struct {
	*admin.Service
	t       testing.TB
	ctx     context.Context
	store   store.Store
	objects store.Objects
	handler http.Handler
	options api.Options
	log     *bytes.Buffer

	*storetest.Clock
}

var begin = time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)

type idleRunner struct{}

func (idleRunner) Start(context.Context, string, string, []byte) error { return nil }
func (idleRunner) Status(context.Context, string, string) (store.Execution, error) {
	return store.Execution{}, store.ErrNotFound
}
func (idleRunner) Stop(context.Context, string, string, string) error { return nil }

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, ctx: t.Context(), Clock: storetest.NewClock(begin), log: &bytes.Buffer{}}
	l, err := local.Open(w.ctx, local.Options{Dir: t.TempDir(), BaseURL: "http://127.0.0.1:1", Now: w.Time})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	w.store, w.objects = l.Store(), l.Objects()
	w.Service = admin.New(admin.Options{
		Store: w.store, Objects: w.objects, Runner: idleRunner{}, Now: w.Time, MaxRunning: 4, PollAfter: 1500 * time.Millisecond,
		AgentReady: func(_ context.Context, _ admin.Project, model string) (string, error) {
			if model == "unknown" {
				return "", admin.Errorf(admin.CodeModelMissing, "there is no model %q", model)
			}
			return cmp.Or(model, "large-1"), nil
		},
		AgentModels: func() []admin.AgentModel {
			return []admin.AgentModel{
				{Name: "best", Model: "large-1", Default: true, Context: 200_000, Output: 8000, Price: admin.AgentPrice{Input: 2_000_000, CacheWrite: 2_500_000, CacheRead: 200_000, Output: 10_000_000}},
				{Name: "local", Model: "small-1", Context: 65_536, Output: 4096},
			}
		},
	})
	w.options = api.Options{Admin: w.Service, Objects: w.objects, Log: slog.New(slog.NewJSONHandler(w.log, nil)), MeterTime: 5 * time.Minute}
	w.handler = api.Handler(w.options)
	return w
}

// must returns a value that can't fail in a test of something else.
func must[T any](w *world, v T, err error) T {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

// tenant is an organisation with one of everything.
type tenant struct {
	admin.Organisation
	project admin.Project
	secret  string
	caller  admin.Caller

	published, pending string         // snapshots
	done, running      string         // export jobs
	agent              string         // agent job, which is active
	doneAgent          admin.AgentJob // one that is completed, of another project
	idle               admin.Project  // a project without any
}

func (w *world) key(org string, change func(*admin.KeyRequest)) string {
	w.t.Helper()
	r := admin.KeyRequest{Organisation: org, Name: "k"}
	if change != nil {
		change(&r)
	}
	_, secret, err := w.CreateKey(w.ctx, r)
	return must(w, secret, err)
}

// bare makes an organisation with a site to which nothing was published.
func (w *world) bare(domain string) tenant {
	w.t.Helper()
	var x tenant
	var err error
	x.Organisation, err = w.CreateOrganisation(w.ctx, admin.Organisation{Name: domain, Plan: admin.PlanEnterprise})
	must(w, 0, err)
	x.project, err = w.CreateProject(w.ctx, admin.Project{Organisation: x.ID, Domain: domain, Repository: "https://git.example.com/docs"})
	must(w, 0, err)
	x.secret = w.key(x.ID, nil)
	x.caller, err = w.Authenticate(w.ctx, "Bearer "+x.secret, netip.Addr{}, admin.ScopeRead)
	must(w, 0, err)
	return x
}

func (w *world) tenant(domain string) tenant {
	w.t.Helper()
	x := w.bare(domain)
	x.published = w.snapshot(x, "", map[string]string{"docs.json": "{}"})
	w.do(x.post("/v1/sites/"+domain+"/snapshots/"+x.published+"/publish", "")).want(200, "")
	w.Advance(time.Second)
	x.pending = w.snapshot(x, x.published, map[string]string{"docs.json": "{} "})
	x.done = must2(w, x, "v1").ID
	x.running = must2(w, x, "v1").ID
	plan := admin.ExportPlan{Renderer: "r", Shards: 2, Pages: 8}
	for _, id := range []string{x.done, x.running} {
		must(w, 0, w.BeginExport(w.ctx, id, plan))
		must(w, 0, w.MarkShard(w.ctx, id, 1, 3, 0))
	}
	w.complete(x.done)
	x.agent = w.agent(x).ID
	x.doneAgent = w.agentIn(x, "done."+domain)
	w.publishAgent(x.doneAgent)
	x.idle = w.project(x, "idle."+domain)
	return x
}

func (w *world) project(x tenant, domain string) admin.Project {
	w.t.Helper()
	p, err := w.CreateProject(w.ctx, admin.Project{Organisation: x.ID, Domain: domain, Repository: "https://git.example.com/docs"})
	return must(w, p, err)
}

// agentIn starts an agent job in a project of its own.
func (w *world) agentIn(x tenant, domain string) admin.AgentJob {
	w.t.Helper()
	return must3(w, x, w.project(x, domain).ID)
}

func must3(w *world, x tenant, project string) admin.AgentJob {
	w.t.Helper()
	j, err := w.StartAgentJob(w.ctx, x.caller, admin.StartAgentJob{Project: project, Prompt: "mend the links"})
	return must(w, j, err)
}

// agent starts an agent job.
func (w *world) agent(x tenant) admin.AgentJob {
	w.t.Helper()
	j, err := w.StartAgentJob(w.ctx, x.caller, admin.StartAgentJob{Project: x.project.ID, Prompt: "mend the links"})
	return must(w, j, err)
}

// publishAgent completes an agent job with a pull request.
func (w *world) publishAgent(j admin.AgentJob) {
	w.t.Helper()
	_, err := w.BeginAgentRound(w.ctx, j.Current(), admin.AgentBase{Commit: "c1"})
	must(w, 0, err)
	_, err = w.BeginAgentPublish(w.ctx, j.Current(), 1)
	must(w, 0, err)
	_, _, err = w.CompleteAgent(w.ctx, j.Current(), admin.AgentResult{
		PRLink: "https://git.example.com/docs/pull/1", PRNumber: 1, Branch: "bindery/" + j.ID, Seen: 1,
		Changes: admin.AgentChanges{Files: 2, Added: 10, Removed: 3},
		Title:   "Mend the links", Summary: "Two were broken.", Question: "And the third?", Unfinished: true,
		Review: admin.AgentReview{Findings: []string{"a.mdx:3: warning: /gone leads nowhere"}, NewHosts: []string{"h"}},
		Pages:  []admin.AgentPage{{Path: "a.mdx", Change: admin.AgentPageChanged}, {Path: "c.mdx", Change: admin.AgentPageMoved, From: "b.mdx"}},
	})
	must(w, 0, err)
}

func must2(w *world, x tenant, version string) admin.ExportJob {
	w.t.Helper()
	j, err := w.StartExport(w.ctx, x.caller, admin.StartExport{Domain: x.project.Domain, Version: version})
	return must(w, j, err)
}

// findings are those of every job that is completed.
const findings = `{"severity":"error","code":"mdx-syntax","file":"a.mdx","line":3,"column":7,"message":"one"}
{"severity":"warning","code":"link-missing","file":"a.mdx","line":9,"message":"two"}
{"severity":"warning","code":"link-missing","file":"docs.json","message":"three"}
`

func (w *world) complete(job string) {
	w.t.Helper()
	key := "exports/" + job + "/bundle.tar.gz"
	_, err := w.objects.Put(w.ctx, key, strings.NewReader("bundle"), store.PutOptions{})
	must(w, 0, err)
	_, err = w.objects.Put(w.ctx, admin.FindingsKey(job), strings.NewReader(findings), store.PutOptions{})
	must(w, 0, err)
	must(w, 0, w.CompleteExport(w.ctx, job, admin.Bundle{Key: key, Size: 6, SHA256: digest("bundle"), Pages: 8}))
}

// webhook makes an endpoint, with a delivery that was made and one that waits.
func (w *world) webhook(x tenant) (id, made, waits string) {
	w.t.Helper()
	hook, err := w.CreateWebhook(w.ctx, x.caller, admin.CreateWebhook{URL: "https://hooks.example.com/", Events: []string{admin.EventKeyCreated}})
	id = must(w, hook, err).ID
	w.key(x.ID, nil)
	for shard := range admin.DueShards() {
		queues, _, err := w.DueQueues(w.ctx, shard, "")
		must(w, 0, err)
		for _, q := range queues {
			if q.Webhook != id {
				continue
			}
			l, _, err := w.LeaseDelivery(w.ctx, q)
			must(w, 0, err)
			_, err = w.SettleDelivery(w.ctx, l, admin.DeliveryAttempt{At: w.Time(), Took: time.Millisecond, Status: 200})
			must(w, 0, err)
			made = l.ID
		}
	}
	w.Advance(time.Millisecond)
	w.key(x.ID, nil)
	list, _, err := w.Deliveries(w.ctx, x.caller, admin.DeliveryList{Webhook: id})
	return id, made, must(w, list, err)[0].ID
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// manifest makes a manifest of a site, all files in one pack.
func manifest(w *world, files map[string]string) (m *snapshot.Manifest, encoded, pack string) {
	w.t.Helper()
	m = &snapshot.Manifest{Format: snapshot.Format}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		text := files[path]
		m.Entries = append(m.Entries, snapshot.Entry{
			Path: path, SHA256: digest(text), Size: int64(len(text)), Offset: int64(len(pack)), Modified: begin,
		})
		pack += text
	}
	for i := range m.Entries {
		m.Entries[i].Pack = digest(pack)
	}
	m.Packs = []snapshot.PackRef{{SHA256: digest(pack), Size: int64(len(pack))}}
	b, err := snapshot.Encode(m)
	return m, string(must(w, b, err)), pack
}

// snapshot begins a snapshot through the API and uploads all that is asked for.
func (w *world) snapshot(x tenant, base string, files map[string]string) string {
	w.t.Helper()
	_, encoded, pack := manifest(w, files)
	return w.upload(x, base, encoded, pack, true, true)
}

func (w *world) upload(x tenant, base, encoded, pack string, withManifest, withPack bool) string {
	w.t.Helper()
	req := api.CreateSnapshotRequest{Base: base, Manifest: blob(encoded), Packs: []api.Blob{blob(pack)}}
	body, err := json.Marshal(req)
	must(w, 0, err)
	var res api.CreateSnapshotResponse
	w.do(x.post("/v1/sites/"+x.project.Domain+"/snapshots", string(body))).want(201, "").into(&res)
	put := func(key, data string) {
		_, err := w.objects.Put(w.ctx, key, strings.NewReader(data), store.PutOptions{})
		must(w, 0, err)
	}
	if withManifest {
		put(admin.ManifestKey(x.ID, digest(encoded)), encoded)
	}
	if withPack {
		put(admin.PackKey(x.ID, digest(pack)), pack)
	}
	return res.SnapshotID
}

func blob(s string) api.Blob { return api.Blob{SHA256: digest(s), SizeBytes: int64(len(s))} }

func (x tenant) get(path string) *http.Request { return request("GET", path, x.secret, "") }

func (x tenant) post(path, body string) *http.Request { return request("POST", path, x.secret, body) }

func request(method, path, secret, body string) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// with adds a header to a request.
func with(r *http.Request, name, value string) *http.Request {
	r.Header.Set(name, value)
	return r
}

// response is an answer that has the form of all answers.
type response struct {
	t testing.TB
	*http.Response
	what string
	body string
}

// do makes a request and checks what holds for every answer.
func (w *world) do(r *http.Request) response {
	w.t.Helper()
	return doWith(w.t, w.handler, r)
}

func doWith(t testing.TB, h http.Handler, r *http.Request) response {
	t.Helper()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	res := rec.Result()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := response{t, res, r.Method + " " + r.URL.Path, string(b)}
	if got := res.Header.Get("Content-Type"); got != "application/json" && (res.StatusCode != http.StatusNoContent || got+out.body != "") {
		t.Errorf("%s: Content-Type %q", out.what, got)
	}
	if got := res.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("%s: Cache-Control %q", out.what, got)
	}
	if res.Header.Get(api.HeaderRequestID) == "" {
		t.Errorf("%s: no Request-Id", out.what)
	}
	code := res.Header.Get(api.HeaderErrorCode)
	if (res.StatusCode >= 400) != (code != "") {
		t.Errorf("%s: status %d with code %q", out.what, res.StatusCode, code)
	}
	if res.StatusCode >= 400 {
		var fields map[string]string
		if err := json.Unmarshal(b, &fields); err != nil || len(fields) != 1 || fields["error"] == "" {
			t.Errorf("%s: the body of a failure is %s", out.what, b)
		}
	}
	if (res.StatusCode == 401) != (res.Header.Get("WWW-Authenticate") != "") {
		t.Errorf("%s: status %d, WWW-Authenticate %q", out.what, res.StatusCode, res.Header.Get("WWW-Authenticate"))
	}
	return out
}

// want checks status and code; "" wants success.
func (r response) want(status int, code string) response {
	r.t.Helper()
	if got := r.Header.Get(api.HeaderErrorCode); r.StatusCode != status || got != code {
		r.t.Errorf("%s: %d %q, want %d %q: %s", r.what, r.StatusCode, got, status, code, r.body)
	}
	return r
}

// says checks that a failure's message begins with a field's name, or holds a text.
func (r response) says(text string) response {
	r.t.Helper()
	var e api.ErrorBody
	r.into(&e)
	if !strings.Contains(e.Error, text) {
		r.t.Errorf("%s: %q does not say %q", r.what, e.Error, text)
	}
	return r
}

func (r response) into(v any) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.body), v); err != nil {
		r.t.Fatal(r.what, err, r.body)
	}
}

// dump is all records of the store that are reachable by listing the
// partitions that belong to a tenant.
func (w *world) dump(x tenant) string {
	w.t.Helper()
	var out strings.Builder
	for _, pk := range []string{
		"orgs", "org#" + x.ID, "project#" + x.project.ID, "domain#" + x.project.Domain, "export#" + x.done, "export#" + x.running,
	} {
		q := store.Query{PK: pk}
		for {
			page, err := w.store.Query(w.ctx, q)
			must(w, 0, err)
			for _, rec := range page.Records {
				fmt.Fprintf(&out, "%s %s %d %s\n", rec.Key.PK, rec.Key.SK, rec.Revision, rec.Value)
			}
			if page.Cursor == "" {
				break
			}
			q.Cursor = page.Cursor
		}
	}
	objects, err := w.objects.List(w.ctx, "", "", 1000)
	must(w, 0, err)
	for _, o := range objects {
		fmt.Fprintf(&out, "%s %d\n", o.Key, o.Size)
	}
	return out.String()
}

func itoa(n int) string { return strconv.Itoa(n) }

// rawManifest writes a manifest by hand, also one that package snapshot would
// not write.
func rawManifest(files map[string]string) (encoded, pack string) {
	type entry struct {
		Path     string    `json:"path"`
		SHA256   string    `json:"sha256"`
		Size     int       `json:"size"`
		Pack     int       `json:"pack"`
		Offset   int       `json:"offset,omitempty"`
		Modified time.Time `json:"modified"`
	}
	paths := slices.Sorted(maps.Keys(files))
	var entries []entry
	for _, p := range paths {
		entries = append(entries, entry{Path: p, SHA256: digest(files[p]), Size: len(files[p]), Offset: len(pack), Modified: begin})
		pack += files[p]
	}
	b, _ := json.Marshal(map[string]any{
		"format": snapshot.Format, "packs": []snapshot.PackRef{{SHA256: digest(pack), Size: int64(len(pack))}}, "entries": entries,
	})
	return string(b), pack
}

func newRecorder(h http.Handler, method, path string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(method, path, nil))
	return rec
}
