package api_test

import (
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
)

func TestCancelledExport(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	const jobs = "/v1/static-export/jobs/"
	var j api.ExportJob
	for range 2 { // the second time it has happened already
		w.do(x.post(jobs+x.running+"/cancel", "")).want(200, "").into(&j)
		if j.Status != "failed" || j.Failure == nil || j.Failure.Code != "cancelled" || j.Error != j.Failure.Message || j.Error == "" || j.PageCount != 3 {
			t.Fatalf("the job is %+v", j)
		}
	}
	w.do(x.post(jobs+x.done+"/cancel", "")).want(409, admin.CodeJobNotActive)
	failed := must2(w, x, "failed").ID
	must(w, 0, w.FailExport(w.ctx, failed, admin.CodeInvalidSite, "no"))
	w.do(x.post(jobs+failed+"/cancel", "")).want(409, admin.CodeJobNotActive)
	w.do(x.post(jobs+x.running+"/bundle", "")).want(409, admin.CodeJobFailed)

	// A late shard and a late end change nothing.
	if err := w.MarkShard(w.ctx, x.running, 2, 5, 0); admin.CodeOf(err) != admin.CodeJobNotActive {
		t.Errorf("a late shard: %v", err)
	}
	if err := w.CompleteExport(w.ctx, x.running, admin.Bundle{}); admin.CodeOf(err) != admin.CodeJobNotActive {
		t.Errorf("a late end: %v", err)
	}
	// What was rendered is metered once: eight pages of the completed export, three
	// of the cancelled one.
	var u api.Usage
	w.do(x.get("/v1/usage")).want(200, "").into(&u)
	if u.Month != "2026-03" || u.Exports != 1 || u.Pages != 8+3 || u.BundleBytes != 6 {
		t.Errorf("usage is %+v", u)
	}
	var o api.Organisation
	w.do(x.get("/v1/organisation")).want(200, "").into(&o)
	if o.OrganisationID != x.ID || o.Plan != "enterprise" || o.Limits != (api.OrganisationLimits{MaxRunningExports: 4, ActiveAgentJobs: 1, MaxActiveAgentJobs: 25}) {
		t.Errorf("the organisation is %+v", o)
	}
	// A cause that a step had recorded does not hide who ended the job.
	queued := must2(w, x, "queued").ID
	must(w, 0, w.RecordFailure(w.ctx, queued, admin.CodeInvalidSite, "a step said so"))
	w.do(with(x.post(jobs+queued+"/cancel", ""), api.HeaderIdempotencyKey, "k")).want(200, "").into(&j)
	if j.Failure.Code != "cancelled" {
		t.Errorf("the failure is %+v", j.Failure)
	}
	w.do(with(x.post(jobs+queued+"/cancel", ""), api.HeaderIdempotencyKey, "k")).want(200, "").into(&j)
	if j.Failure.Code != "cancelled" {
		t.Errorf("repeated, the failure is %+v", j.Failure)
	}
}

// pages reads a list to its end and returns what each returns for a page.
func pages[T any](w *world, x tenant, path string, limit int, each func(body response) ([]T, *string)) (all []T, n int) {
	w.t.Helper()
	cursor := ""
	for n = 1; n < 50; n++ {
		res := w.do(x.get(path+"&limit="+itoa(limit)+cursor)).want(200, "")
		items, next := each(res)
		all = append(all, items...)
		if next == nil {
			return all, n
		}
		cursor = "&cursor=" + url.QueryEscape(*next)
	}
	w.t.Fatal("the list has no end")
	return nil, 0
}

func TestListOfExports(t *testing.T) {
	w := newWorld(t)
	x := w.bare("docs.example.com")
	other := w.project(x, "other.example.com")
	x.published = w.snapshot(x, "", map[string]string{"docs.json": "{}"})
	w.do(x.post("/v1/sites/docs.example.com/snapshots/"+x.published+"/publish", "")).want(200, "")
	var want []string
	for i := range 5 {
		w.Advance(time.Second)
		j := must2(w, x, "")
		if i%2 == 0 {
			must(w, 0, w.FailExport(w.ctx, j.ID, admin.CodeInvalidSite, "no"))
		} else {
			must(w, 0, w.BeginExport(w.ctx, j.ID, admin.ExportPlan{Renderer: "r", Shards: 2, Pages: 8}))
			must(w, 0, w.MarkShard(w.ctx, j.ID, 1, 3, 0))
		}
		want = append(want, j.ID)
	}
	slices.Reverse(want)
	list := func(path string, limit int) []string {
		jobs, _ := pages(w, x, path, limit, func(res response) ([]api.ExportJob, *string) {
			var page api.ExportJobs
			res.into(&page)
			return page.Jobs, page.NextCursor
		})
		var ids []string
		for _, j := range jobs {
			ids = append(ids, j.JobID)
			if j.Status == "running" && (j.PageCount != 3 || j.Progress == 0) {
				t.Errorf("the progress of a running job is %+v", j)
			}
		}
		return ids
	}
	for _, limit := range []int{1, 2, 5, 50} {
		for path, want := range map[string][]string{
			"?domain=docs.example.com": want, "?": want, "?status=failed": {want[0], want[2], want[4]},
			"?status=running&domain=docs.example.com": {want[1], want[3]}, "?domain=" + other.Domain: nil, "?status=completed": nil,
		} {
			if got := list("/v1/static-export/jobs"+path, limit); !slices.Equal(got, want) {
				t.Errorf("%s, %d a page: %v, want %v", path, limit, got, want)
			}
		}
	}
	// A domain that went to another organisation takes its exports not along.
	_, err := w.RevokeProject(w.ctx, x.project.ID)
	must(w, 0, err)
	y := w.bare("docs.example.com")
	if got := list("/v1/static-export/jobs?domain=docs.example.com", 50); !slices.Equal(got, want) {
		t.Errorf("after the end of the project: %v", got)
	}
	x = y
	if got := list("/v1/static-export/jobs?domain=docs.example.com", 50); got != nil {
		t.Errorf("the next owner sees %v", got)
	}
}

func TestFindings(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	path := "/v1/static-export/jobs/" + x.done + "/findings"
	for query, want := range map[string][]string{
		"?": {"one", "two", "three"}, "?severity=warning": {"two", "three"}, "?code=mdx-syntax": {"one"}, "?file=docs.json": {"three"},
		"?severity=notice": nil, "?severity=info": nil, "?severity=warning&file=a.mdx": {"two"},
	} {
		for _, limit := range []int{1, 2, 50} {
			found, _ := pages(w, x, path+query, limit, func(res response) ([]api.Finding, *string) {
				var page api.Findings
				res.into(&page)
				return page.Findings, page.NextCursor
			})
			var got []string
			for _, f := range found {
				got = append(got, f.Message)
				if (f.Line == nil) != (f.Message == "three") || (f.Column == nil) != (f.Message != "one") {
					t.Errorf("the place of %+v", f)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d a page: %v, want %v", query, limit, got, want)
			}
		}
	}
	w.do(x.get(path+"?cursor=7")).want(400, admin.CodeInvalid) // inside a line
	var page api.Findings
	w.do(x.get(path+"?cursor=99999999")).want(200, "").into(&page)
	if len(page.Findings) != 0 || page.NextCursor != nil {
		t.Errorf("after the end: %+v", page)
	}
	// Of a job that has just failed they are being gathered.
	must(w, 0, w.FailExport(w.ctx, x.running, admin.CodeInvalidSite, "no"))
	w.do(x.get("/v1/static-export/jobs/"+x.running+"/findings")).want(409, admin.CodeJobRunning)
	w.Advance(5 * time.Minute)
	w.do(x.get("/v1/static-export/jobs/"+x.running+"/findings")).want(410, admin.CodeFindingsGone)
}

func TestRestoredSnapshot(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	const site = "/v1/sites/docs.example.com/snapshots"
	restore := func(id, base string) response {
		return w.do(x.post(site+"/"+id+"/restore", `{"base":"`+base+`"}`))
	}
	list := func() (ids []string, newest string) {
		all, _ := pages(w, x, site+"?", 1, func(res response) ([]api.SnapshotSummary, *string) {
			var page api.Snapshots
			res.into(&page)
			return page.Snapshots, page.NextCursor
		})
		for _, p := range all {
			ids = append(ids, p.SnapshotID)
			if p.Newest {
				newest += p.SnapshotID
			}
		}
		return ids, newest
	}
	first, second := x.published, x.pending
	if ids, newest := list(); !slices.Equal(ids, []string{first}) || newest != first {
		t.Errorf("pending ones are in the list: %v, newest %s", ids, newest)
	}
	restore(second, first).want(409, admin.CodeIncomplete)
	w.do(x.post(site+"/"+second+"/publish", "")).want(200, "")
	if ids, newest := list(); !slices.Equal(ids, []string{second, first}) || newest != second {
		t.Errorf("the list is %v, newest %s", ids, newest)
	}
	late := w.snapshot(x, second, map[string]string{"docs.json": "{}  "})

	restore(first, first).want(409, admin.CodeOvertaken)
	restore("snp_0", second).want(404, admin.CodeNotFound)
	var p api.Snapshot
	if restore(first, second).want(200, "").into(&p); p.SnapshotID != first {
		t.Errorf("restored is %+v", p)
	}
	restore(first, second).want(200, "") // it has happened already
	if ids, newest := list(); !slices.Equal(ids, []string{second, first}) || newest != first {
		t.Errorf("the list is %v, newest %s", ids, newest)
	}
	if w.do(x.get(site+"/latest")).want(200, "").into(&p); p.SnapshotID != first {
		t.Errorf("the latest is %+v", p)
	}
	if j := must2(w, x, ""); j.Snapshot != first {
		t.Errorf("the next export is of %s", j.Snapshot)
	}
	// Publishing what was published changes nothing, and what was based on the
	// other is overtaken.
	w.do(x.post(site+"/"+second+"/publish", "")).want(200, "")
	w.do(x.post(site+"/"+late+"/publish", "")).want(409, admin.CodeOvertaken)
	if _, newest := list(); newest != first {
		t.Errorf("the newest is %s", newest)
	}
}
