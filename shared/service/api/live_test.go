package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
)

// TestLiveFromExportToRelease: what callers see of a site that goes live, is rolled
// back and is released.
func TestLiveFromExportToRelease(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	const path = "/v1/sites/docs.example.com/live"
	deploys := func(r *admin.KeyRequest) {
		r.Scopes = []admin.Scope{admin.ScopeRead, admin.ScopeWrite, admin.ScopeDeploy}
	}
	key, secret, err := w.CreateKey(w.ctx, func() admin.KeyRequest {
		r := admin.KeyRequest{Organisation: x.ID, Name: "deploys"}
		deploys(&r)
		return r
	}())
	must(w, 0, err)
	by := api.Actor{Kind: "key", ID: key.ID}

	expect := func(res response, want api.Live) {
		t.Helper()
		var got api.Live
		res.want(200, "").into(&got)
		want.Domain, want.Deploy = "docs.example.com", admin.DeployAuto
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
	read := func() response { return w.do(x.get(path)) }
	set := func(body string) response { return w.do(request("PUT", path, secret, body)) }
	expect(read(), api.Live{})

	const start = `{"domain":"docs.example.com","goLive":true}`
	w.do(x.post("/v1/static-export/jobs", start)).want(403, admin.CodeScope)
	deploy := func() string {
		var j api.ExportJob
		w.Advance(time.Second)
		w.do(request("POST", "/v1/static-export/jobs", secret, start)).want(202, "").into(&j)
		if !j.GoLive {
			t.Errorf("the job is %+v", j)
		}
		must(w, 0, w.BeginExport(w.ctx, j.JobID, admin.ExportPlan{Renderer: "r"}))
		w.complete(j.JobID)
		return j.JobID
	}
	first := deploy()
	one := api.LiveMove{Number: 1, Domain: "docs.example.com", JobID: first, SnapshotID: x.published, Version: x.published, Cause: "automatic", At: w.Time(), By: by}
	expect(read(), api.Live{Live: &one})
	second := deploy()
	two := one
	two.Number, two.JobID, two.FromJobID, two.At = 2, second, &first, w.Time()
	expect(read(), api.Live{Live: &two})

	w.Advance(time.Second)
	now := w.Time()
	three := one
	three.Number, three.FromJobID, three.Cause, three.At = 3, &second, "rollback", now
	held := api.Live{Live: &three, Held: true, HeldAt: &now, HeldBy: &by}
	back := `{"action":"rollback","from":"` + second + `"}`
	expect(set(back), held)
	expect(set(back), held)
	set(`{"action":"rollback","from":"`+x.done+`"}`).want(409, admin.CodeLiveMoved)
	set(`{"action":"rollback","from":"`+first+`"}`).want(409, admin.CodeNotLive)
	deploy()
	expect(read(), held)
	expect(set(`{"action":"release"}`), api.Live{Live: &three})

	var history api.LiveMoves
	w.do(x.get(path+"/history?limit=2")).want(200, "").into(&history)
	if d := cmp.Diff([]api.LiveMove{three, two}, history.Moves); d != "" || history.NextCursor == nil {
		t.Error(d, history.NextCursor)
	}
	w.do(x.get(path+"/history?cursor="+*history.NextCursor)).want(200, "").into(&history)
	if d := cmp.Diff(api.LiveMoves{Moves: []api.LiveMove{one}}, history); d != "" {
		t.Error(d)
	}

	for body, says := range map[string]string{
		`{"action":"promote"}`:                          "jobId: is required for promote",
		`{"action":"rollback"}`:                         "from: is required for rollback",
		`{"action":"hold","jobId":"x"}`:                 "jobId: is not for hold",
		`{"action":"open"}`:                             "action: must be promote, rollback, hold or release",
		`{}`:                                            "action: is required",
		`{"action":"hold","until":"tomorrow"}`:          "until: is not a field of this request",
		`{"action":["hold"]}`:                           "action: must be",
		`{"action":"promote","jobId":"` + x.done + `"}`: "jobId: the export was not made to go live",
	} {
		set(body).want(400, admin.CodeInvalid).says(says)
	}
	w.do(x.get("/v1/static-export/jobs/"+x.done)).want(200, "")
}

// TestTheAddressOfALiveSite: a service that serves sites returns their addresses.
func TestTheAddressOfALiveSite(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	const path = "/v1/sites/docs.example.com/live"
	key := w.key(x.ID, func(r *admin.KeyRequest) { r.Scopes = []admin.Scope{admin.ScopeRead, admin.ScopeDeploy} })
	without := w.do(x.get(path)).want(200, "").body
	if strings.Contains(without, "url") {
		t.Errorf("a service without sites says %s", without)
	}
	w.options.Admin = admin.New(admin.Options{Store: w.store, Objects: w.objects, Now: w.Time, Sites: admin.Sites{URL: "https://sites.example.com"}})
	w.handler = api.Handler(w.options)
	want := "https://" + x.project.Slug() + ".sites.example.com/"
	for name, r := range map[string]*http.Request{"get": x.get(path), "put": request("PUT", path, key, `{"action":"hold"}`)} {
		var got api.Live
		w.do(r).want(200, "").into(&got)
		if got.URL != want {
			t.Errorf("%s: the site is at %q, want %q", name, got.URL, want)
		}
	}
}
