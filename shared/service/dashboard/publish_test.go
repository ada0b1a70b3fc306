package dashboard_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/dashboard"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/publish"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/shared/service/storetest"
)

// dropper is a browser in which somebody drops folders.
type dropper struct {
	*browser
	at string
}

func (w *world) dropper(x tenant, name string, role admin.Role) dropper {
	w.t.Helper()
	return dropper{w.as(x, name, role), "/org/" + x.ID + "/projects/" + x.project.ID + "/publish"}
}

// call sends JSON and returns what came back.
func (d dropper) call(name string, in any) answer {
	d.w.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		d.w.t.Fatal(err)
	}
	return d.send(d.at+"/"+name, bytes.NewReader(body), "Content-Type", "application/json")
}

// into reads an answer that is good.
func (a answer) into(t *testing.T, what string, out any) {
	t.Helper()
	if a.status != http.StatusOK {
		t.Fatalf("%s: %d %s", what, a.status, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), out); err != nil {
		t.Fatalf("%s: %v in %s", what, err, a.body)
	}
}

type (
	droppedFile struct {
		Path   string `json:"path"`
		Size   int64  `json:"size"`
		SHA256 string `json:"sha256"`
	}
	folderPlan struct {
		Base, Snapshot, Once string
		Packs                [][]int
		LeftOut              []string
		Files                int
	}
	folderUploads struct {
		Snapshot string
		Uploads  []struct {
			Pack        int
			Method, URL string
			Headers     map[string]string
		}
	}
)

func digestOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// listOf is a folder's list, in order of path.
func listOf(site map[string]string) []droppedFile {
	var list []droppedFile
	for _, name := range slices.Sorted(maps.Keys(site)) {
		list = append(list, droppedFile{name, int64(len(site[name])), digestOf(site[name])})
	}
	return list
}

// pack is the bytes of a pack of a plan.
func pack(site map[string]string, list []droppedFile, places []int) string {
	var b strings.Builder
	for _, n := range places {
		b.WriteString(site[list[n].Path])
	}
	return b.String()
}

// begin plans and begins a publish.
func (d dropper) begin(site map[string]string) (folderPlan, folderUploads) {
	d.w.t.Helper()
	list := listOf(site)
	var plan folderPlan
	d.call("plan", map[string]any{"files": list}).into(d.w.t, "the plan", &plan)
	digests := []string{}
	for _, places := range plan.Packs {
		digests = append(digests, digestOf(pack(site, list, places)))
	}
	var begun folderUploads
	d.call("begin", map[string]any{"base": plan.Base, "files": list, "packs": digests}).into(d.w.t, "the links", &begun)
	return plan, begun
}

// put sends one pack, as the link says.
func (d dropper) put(begun folderUploads, n int, body string) int {
	d.w.t.Helper()
	u := begun.Uploads[n]
	r := httptest.NewRequest(u.Method, u.URL, strings.NewReader(body))
	for name, value := range u.Headers {
		r.Header.Set(name, value)
	}
	answer := httptest.NewRecorder()
	d.w.objects.(*local.Objects).Handler().ServeHTTP(answer, r)
	return answer.Code
}

// publish publishes a folder, and returns how many packs were sent and the last answer.
func (d dropper) publish(site map[string]string) (sent int, last answer) {
	d.w.t.Helper()
	plan, begun := d.begin(site)
	for n, u := range begun.Uploads {
		if status := d.put(begun, n, pack(site, listOf(site), plan.Packs[u.Pack])); status != http.StatusOK && status != http.StatusCreated {
			d.w.t.Fatalf("upload %d: %d", n, status)
		}
	}
	return len(begun.Uploads), d.call("finish", map[string]any{"snapshot": begun.Snapshot, "once": plan.Once})
}

// page returns the address of the page that a finished publish leads to.
func (a answer) page(t *testing.T) string {
	t.Helper()
	var out struct{ Page string }
	a.into(t, "the end", &out)
	return out.Page
}

func TestAFolderIsPublishedAndExported(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.dropper(x, "ada", admin.RoleMember)
	b.get(b.at).says(t, "the page", 200, "Publish a folder", "goes live", "bindery publish . --domain docs.example.com")
	b.get(strings.TrimSuffix(b.at, "/publish")).says(t, "the project", 200, "Publish a folder")
	site := map[string]string{
		"docs.json": "{}", "index.mdx": "# Hello", "guides/a.mdx": "# A", "guides/copy.mdx": "# A", "empty.css": "",
		"large.bin": strings.Repeat("x", snapshot.LargeFile),
	}
	sent, last := b.publish(site)
	if sent != 2 {
		t.Errorf("%d packs were sent, want the large file and the others", sent)
	}
	page := last.page(t)
	b.get(page).says(t, "the export", 200, "The folder was published, and the export was started", "queued")
	job, err := w.GetExport(w.ctx, w.Operator(x.ID), strings.TrimSuffix(page[strings.LastIndex(page, "/")+1:], "?done=exporting"))
	if err != nil || job.GoLive == nil {
		t.Errorf("the export is %+v, %v", job, err)
	}
	newest, err := w.LatestSnapshot(w.ctx, w.Operator(x.ID), "docs.example.com")
	if err != nil || newest.ID != job.Snapshot || newest.PublishedBy != b.person.ID || newest.Files != len(site) {
		t.Fatalf("the newest is %+v, %v", newest, err)
	}
	m, err := publish.Manifest(w.ctx, w.objects, newest)
	if err != nil {
		t.Fatal(err)
	}
	fsys := snapshot.OpenFS(w.ctx, w.objects, newest.PackKey, m, snapshot.FSOptions{})
	for name, want := range site {
		f, err := fsys.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(f); string(got) != want || err != nil {
			t.Errorf("%s has %d bytes, %v", name, len(got), err)
		}
		f.Close()
	}

	t.Run("the same folder again sends nothing", func(t *testing.T) {
		w.Advance(time.Second)
		var plan folderPlan
		b.call("plan", map[string]any{"files": listOf(site)}).into(t, "the plan", &plan)
		if plan.Snapshot != newest.ID || len(plan.Packs) != 0 {
			t.Errorf("the plan is %+v", plan)
		}
		end := map[string]any{"snapshot": plan.Snapshot, "once": plan.Once}
		first := b.call("finish", end).page(t)
		if again := b.call("finish", end).page(t); again != first || first == page {
			t.Errorf("ended twice, it leads to %s and %s; before to %s", first, again, page)
		}
	})
	t.Run("a change sends what is new", func(t *testing.T) {
		w.Advance(time.Second)
		changed := maps.Clone(site)
		changed["index.mdx"] = "# Hello again"
		delete(changed, "guides/copy.mdx")
		if sent, last := b.publish(changed); sent != 1 || last.status != 200 {
			t.Errorf("%d packs were sent: %d %s", sent, last.status, last.body)
		}
	})
	t.Run("a file less sends nothing", func(t *testing.T) {
		w.Advance(time.Second)
		if sent, last := b.publish(map[string]string{"docs.json": "{}", "guides/a.mdx": "# A"}); sent != 0 || last.status != 200 {
			t.Errorf("%d packs were sent: %d %s", sent, last.status, last.body)
		}
	})
}

// Who begins again finds what was sent: only the rest is missing, and nothing was
// published meanwhile.
func TestAnInterruptedPublishGoesOn(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.dropper(x, "ada", admin.RoleMember)
	site := map[string]string{"docs.json": "{}", "a.bin": strings.Repeat("a", snapshot.LargeFile), "b.bin": strings.Repeat("b", snapshot.LargeFile)}
	plan, begun := b.begin(site)
	if len(begun.Uploads) != 3 {
		t.Fatalf("%d packs are missing", len(begun.Uploads))
	}
	body := pack(site, listOf(site), plan.Packs[begun.Uploads[0].Pack])
	if status := b.put(begun, 0, strings.Repeat("z", len(body))); status != http.StatusBadRequest {
		t.Errorf("other bytes than announced get %d", status)
	}
	if status := b.put(begun, 0, body); status >= 300 {
		t.Errorf("the upload gets %d", status)
	}
	b.call("finish", map[string]any{"snapshot": begun.Snapshot, "once": plan.Once}).says(t, "half a publish", 409, "snapshot_incomplete")
	if _, err := w.LatestSnapshot(w.ctx, w.Operator(x.ID), "docs.example.com"); admin.CodeOf(err) != admin.CodeNotFound {
		t.Errorf("half a folder is published: %v", err)
	}
	w.Advance(time.Minute)
	if sent, last := b.publish(site); sent != 2 || last.status != 200 {
		t.Errorf("%d packs were sent: %d %s", sent, last.status, last.body)
	}
}

func TestLookFollowsTheRulesOfTheCommandLine(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.dropper(x, "ada", admin.RoleMember)
	root := map[string]any{
		"root": true, "ignores": "drafts/\n", "rules": "publish: [.env.example]",
		"folders": []string{".git", "node_modules", "drafts", "guides", ".well-known", "up"},
		"files":   []string{".env", ".env.example", ".mintignore", "README.md", "docs.json", "index.mdx"},
	}
	var got struct{ Folders, Files []int }
	b.call("look", root).into(t, "a look", &got)
	if diff := cmp.Diff(struct{ Folders, Files []int }{[]int{3, 4, 5}, []int{1, 4, 5}}, got); diff != "" {
		t.Error(diff)
	}
	for name, c := range map[string]struct {
		change map[string]any
		want   string
	}{
		"no site":            {map[string]any{"files": []string{"index.mdx"}}, "docs.json: the folder has no docs.json and no mint.json"},
		"a way out":          {map[string]any{"files": []string{"docs.json", "../a.mdx"}}, `../a.mdx: the path has the element \"..\"`},
		"an absolute path":   {map[string]any{"files": []string{"docs.json", "/etc/passwd"}}, "/etc/passwd: the path is absolute"},
		"a folder's way out": {map[string]any{"folders": []string{"a/../.."}}, `a/../..: the path has the element \"..\"`},
		"an unknown field":   {map[string]any{"more": 1}, "more: is not a known field"},
	} {
		in := maps.Clone(root)
		maps.Copy(in, c.change)
		if a := b.call("look", in); a.status != http.StatusBadRequest || !strings.Contains(a.body, c.want) {
			t.Errorf("%s: %d %s, want %s", name, a.status, a.body, c.want)
		}
	}
}

func TestAPlanRefuses(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.dropper(x, "ada", admin.RoleMember)
	docs := droppedFile{"docs.json", 2, digestOf("{}")}
	for name, c := range map[string]struct {
		files  []droppedFile
		status int
		want   string
	}{
		"no site":           {[]droppedFile{{"index.mdx", 2, digestOf("{}")}}, 400, "the folder has no docs.json and no mint.json"},
		"nothing":           {nil, 400, "the folder has no docs.json and no mint.json"},
		"a way out":         {[]droppedFile{docs, {"a/../../b", 2, digestOf("{}")}}, 400, "the path has the element"},
		"a file and folder": {[]droppedFile{docs, {"docs.json/a", 2, digestOf("{}")}}, 400, "needs a folder of that name"},
		"no digest":         {[]droppedFile{docs, {"a.mdx", 2, "abc"}}, 400, "a.mdx: the digest is not a SHA-256"},
		"a negative size":   {[]droppedFile{docs, {"a.mdx", -1, digestOf("{}")}}, 400, "a.mdx: the file has -1 bytes"},
		"a huge file":       {[]droppedFile{docs, {"a.bin", snapshot.MaxFileBytes + 1, digestOf("a")}}, 400, "a.bin: the file has"},
		"too much together": {[]droppedFile{docs, {"a", 5 << 30, digestOf("a")}, {"b", 5 << 30, digestOf("b")}, {"c", 5 << 30, digestOf("c")}, {"d", 5 << 30, digestOf("d")}}, 413, "bytes together"},
	} {
		if a := b.call("plan", map[string]any{"files": c.files}); a.status != c.status || !strings.Contains(a.body, c.want) {
			t.Errorf("%s: %d %s, want %d with %s", name, a.status, a.body, c.status, c.want)
		}
	}
	var plan folderPlan
	b.call("plan", map[string]any{"files": []droppedFile{docs, {"cafe\u0301.mdx", 1, digestOf("a")}, {"caf\u00e9.mdx", 1, digestOf("b")}}}).into(t, "one name twice", &plan)
	if diff := cmp.Diff([]string{"café.mdx: another file has the same name in Unicode normal form C"}, plan.LeftOut); diff != "" || plan.Files != 2 {
		t.Errorf("%d files: %s", plan.Files, diff)
	}
	b.send(b.at+"/plan", strings.NewReader(`{"files":[`+strings.Repeat(" ", 4<<20)+`]}`), "Content-Type", "application/json").says(t, "a list that is too long", 413, "too many files for a browser")
	large, err := w.CreateSnapshot(w.ctx, w.Operator(x.ID), admin.CreateSnapshot{Domain: "docs.example.com", Manifest: admin.Blob{SHA256: digestOf("large"), Size: 17 << 20}})
	if err == nil {
		_, err = w.Publish(w.ctx, w.Operator(x.ID), admin.Publish{Domain: "docs.example.com", SnapshotID: large.ID, Check: func(context.Context, admin.Snapshot) (admin.Contents, error) {
			return admin.Contents{Files: 1}, nil
		}})
	}
	if err != nil {
		t.Fatal(err)
	}
	b.call("plan", map[string]any{"files": []droppedFile{docs}}).says(t, "a newest snapshot that is too large", 413, "too many files for a browser")
	b.send(b.at+"/plan", strings.NewReader("files=1")).says(t, "no JSON", 400, "can't be read")
}

func TestBeginRefuses(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.dropper(x, "ada", admin.RoleMember)
	site := map[string]string{"docs.json": "{}", "index.mdx": "# Hello"}
	good := func() map[string]any {
		return map[string]any{"base": "", "files": listOf(site), "packs": []string{digestOf("{}# Hello")}}
	}
	for name, c := range map[string]struct {
		change map[string]any
		status int
		want   string
	}{
		"no packs":         {map[string]any{"packs": []string{}}, 400, "not those of the plan"},
		"too many packs":   {map[string]any{"packs": []string{digestOf("a"), digestOf("b")}}, 400, "not those of the plan"},
		"an empty digest":  {map[string]any{"packs": []string{""}}, 400, "not those of the plan"},
		"no digest":        {map[string]any{"packs": []string{"../../other"}}, 400, "SHA-256"},
		"another snapshot": {map[string]any{"base": "snp_other"}, 409, "Another snapshot of this domain was published meanwhile"},
	} {
		in := good()
		maps.Copy(in, c.change)
		if a := b.call("begin", in); a.status != c.status || !strings.Contains(a.body, c.want) {
			t.Errorf("%s: %d %s, want %d with %s", name, a.status, a.body, c.status, c.want)
		}
	}
	_, begun := b.begin(site)
	w.publish(x, map[string]string{"docs.json": "{}"}) // somebody else was first
	for n := range begun.Uploads {
		b.put(begun, n, "{}# Hello")
	}
	b.call("finish", map[string]any{"snapshot": begun.Snapshot, "once": ""}).says(t, "a publish that was overtaken", 409, "published meanwhile", "snapshot_overtaken")
	b.call("finish", map[string]any{"snapshot": "snp_none", "once": ""}).says(t, "no snapshot", 404, "not_found")
}

// Somebody else may publish between the two steps of the end: their snapshot is not taken
// for one's own.
func TestAnExportIsOfOnesOwnSnapshot(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.dropper(x, "ada", admin.RoleMember)
	site := map[string]string{"docs.json": "{}", "index.mdx": "# Hello"}
	plan, begun := b.begin(site)
	b.put(begun, 0, "{}# Hello")
	if _, err := w.Publish(w.ctx, w.Operator(x.ID), admin.Publish{Domain: "docs.example.com", SnapshotID: begun.Snapshot, Check: publish.Check(w.objects)}); err != nil {
		t.Fatal(err)
	}
	w.publish(x, map[string]string{"docs.json": "{}"})
	end := map[string]any{"snapshot": begun.Snapshot, "once": plan.Once}
	for range 2 {
		b.call("finish", end).says(t, "the end", 409, "Another snapshot of this domain was published meanwhile", "snapshot_overtaken")
	}
	if jobs, _, err := w.ListExports(w.ctx, w.Operator(x.ID), admin.ExportList{Limit: 1}); err != nil || len(jobs) > 0 {
		t.Errorf("exports: %v, %v", jobs, err)
	}
}

// A browser repeats a call if the connection is lost. The first may still run: it may
// have started an export.
func TestTheEndOfAPublishTwiceAtOnce(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.dropper(x, "ada", admin.RoleMember)
	plan, begun := b.begin(map[string]string{"docs.json": "{}"})
	b.put(begun, 0, "{}")
	end := map[string]any{"snapshot": begun.Snapshot, "once": plan.Once}
	var second answer
	var once sync.Once
	w.calls.Store = storetest.AroundStore(w.calls.Store, func(ctx context.Context, call *storetest.Call, do func(context.Context) error) error {
		if strings.HasPrefix(call.Name, "Store.Get") && strings.Contains(call.Name, "version#") { // the first holds its key
			once.Do(func() { second = b.call("finish", end) })
		}
		return do(ctx)
	})
	page := b.call("finish", end).page(t)
	second.says(t, "the second", 409, `"code":"idempotency_running"`)
	if second.header.Get("Retry-After") == "" || strings.Contains(second.body, "no export was started") {
		t.Errorf("the second gets %v %s", second.header, second.body)
	}
	if again := b.call("finish", end).page(t); again != page {
		t.Errorf("later it leads to %s, want %s", again, page)
	}
}

// A folder in a browser has no commits: files that are as they were are of when they were.
func TestAFolderKeepsTheDatesOfFilesThatAreAsTheyWere(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.dropper(x, "ada", admin.RoleMember)
	committed := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	site := map[string]string{"docs.json": "{}", "a.mdx": "# A"}
	base := w.publish(x, site, func(f *snapshot.File) { f.Modified = committed })
	var plan folderPlan
	b.call("plan", map[string]any{"files": listOf(site)}).into(t, "the plan", &plan)
	if plan.Snapshot != base.ID {
		t.Errorf("the same files are not the same snapshot: %+v", plan)
	}
	site["a.mdx"] = "# Another"
	b.publish(site)
	newest, err := w.LatestSnapshot(w.ctx, w.Operator(x.ID), "docs.example.com")
	if err != nil {
		t.Fatal(err)
	}
	m, err := publish.Manifest(w.ctx, w.objects, newest)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]time.Time{}
	for _, e := range m.Entries {
		got[e.Path] = e.Modified
	}
	if diff := cmp.Diff(map[string]time.Time{"docs.json": committed, "a.mdx": {}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhoMayNotPublishAFolder(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	foreign := w.tenant("Foreign", "foreign.example.com")
	site := map[string]string{"docs.json": "{}"}
	before := w.changes(x)

	viewer := w.dropper(x, "vic", admin.RoleViewer)
	before++ // the viewer came in
	viewer.get(viewer.at).says(t, "a viewer's page", 403)
	if page := viewer.get(strings.TrimSuffix(viewer.at, "/publish")).says(t, "a viewer's project", 200); strings.Contains(page.body, "Publish a folder") {
		t.Error("a viewer is offered to publish")
	}
	stranger := w.dropper(foreign, "eve", admin.RoleOwner)
	stranger.at = viewer.at
	own := w.dropper(foreign, "eva", admin.RoleOwner)
	own.at = "/org/" + foreign.ID + "/projects/" + x.project.ID + "/publish" // another's project below one's own organisation
	nobody := dropper{w.browser(), viewer.at}
	for name, d := range map[string]struct {
		dropper
		status int
	}{"a viewer": {viewer, 403}, "a stranger": {stranger, 404}, "an owner elsewhere": {own, 404}, "nobody": {nobody, 401}} {
		for call, in := range map[string]any{
			"look": map[string]any{"root": true, "files": []string{"docs.json"}}, "plan": map[string]any{"files": listOf(site)},
			"begin": map[string]any{"base": "", "files": listOf(site), "packs": []string{digestOf("{}")}}, "finish": map[string]any{"snapshot": "snp_1", "once": ""},
		} {
			a := d.call(call, in)
			if a.status != d.status || !strings.HasPrefix(a.body, `{"code":"`) {
				t.Errorf("%s at %s: %d %s, want %d", name, call, a.status, a.body, d.status)
			}
		}
	}
	if after := w.changes(x); after > before+1 {
		t.Errorf("the audit log has %d entries, had %d", after, before)
	}
}

// Without the plan that exports need, the folder is published and no export is started.
func TestAFolderOfAProPlanIsOnlyPublished(t *testing.T) {
	w := newWorld(t)
	o, err := w.CreateOrganisation(w.ctx, admin.Organisation{Name: "Own", Plan: admin.PlanPro})
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.CreateProject(w.ctx, admin.Project{Organisation: o.ID, Domain: "docs.example.com", Repository: "https://git.example.com/docs"})
	if err != nil {
		t.Fatal(err)
	}
	x := tenant{o, p}
	b := w.dropper(x, "ada", admin.RoleMember)
	b.get(b.at).says(t, "the page", 200, "Exports need the Enterprise plan, so none is started")
	_, last := b.publish(map[string]string{"docs.json": "{}"})
	b.get(last.page(t)).says(t, "the snapshots", 200, "The folder was published: it is the newest snapshot")
	if jobs, _, err := w.ListExports(w.ctx, w.Operator(x.ID), admin.ExportList{Limit: 1}); err != nil || len(jobs) > 0 {
		t.Errorf("exports: %v, %v", jobs, err)
	}
}

// The page's policy lets scripts reach storage if that is another server, and no other
// page's does.
func TestThePolicyNamesWhereUploadsGo(t *testing.T) {
	for name, c := range map[string]struct {
		url, cookie, source, link string
	}{
		"storage elsewhere":                  {"https://docs.example.com", "__Host-bindery", "connect-src 'self' http://127.0.0.1:1;", "http://127.0.0.1:1/_objects/"},
		"storage of the same server":         {"http://127.0.0.1:1", "bindery-1", "connect-src 'self';", "/_objects/"},
		"storage at another port":            {"http://127.0.0.1", "bindery-80", "connect-src 'self' http://127.0.0.1:1;", "http://127.0.0.1:1/_objects/"},
		"storage with a name like one's own": {"http://127.0.0.1:12", "bindery-12", "connect-src 'self' http://127.0.0.1:1;", "http://127.0.0.1:1/_objects/"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(o *dashboard.Options) { o.URL = c.url })
			x := w.tenant("Own", "docs.example.com")
			b := w.dropper(x, "ada", admin.RoleMember)
			b.Jar.SetCookies(b.site(), []*http.Cookie{{Name: c.cookie, Value: b.token(), Path: "/"}})
			if policy := b.get(b.at).says(t, "the page", 200).header.Get("Content-Security-Policy"); !strings.Contains(policy, c.source) {
				t.Errorf("the policy is %s", policy)
			}
			if policy := b.get(strings.TrimSuffix(b.at, "/publish")).header.Get("Content-Security-Policy"); !strings.Contains(policy, "connect-src 'self';") {
				t.Errorf("the policy of the project's page is %s", policy)
			}
			if _, begun := b.begin(map[string]string{"docs.json": "{}"}); len(begun.Uploads) != 1 || !strings.HasPrefix(begun.Uploads[0].URL, c.link) {
				t.Errorf("the links are %+v", begun)
			}
		})
	}
}
