package dashboard_test

import (
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

func TestFindingsHaveTheirLines(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleViewer)
	long := strings.Repeat("<b>ä", 400)
	w.publish(x, map[string]string{
		"index.mdx": "# Hello\r\n\n   [Away](/<nowhere>)  \r\n" + long + "\n\xff\xfe", "large.mdx": strings.Repeat("large\n", 200_000),
	})
	found := func(file string, line int) admin.Finding {
		return admin.Finding{Severity: "warning", Code: "link-missing", File: file, Line: line, Column: 4, Message: "leads nowhere"}
	}
	j := w.export(x, "one", found("gone.mdx", 1), found("index.mdx", 3), found("index.mdx", 4), found("index.mdx", 5), found("index.mdx", 99),
		found("large.mdx", 1), found("large.mdx", 0))
	path := "/org/" + x.ID + "/exports/" + j.ID + "/findings"
	page := b.get(path).says(t, "findings", 200, "gone.mdx", "index.mdx", "[Away](/<nowhere>)", "3:4", "…", "large.mdx")
	for _, want := range []string{"<code>[Away](/&lt;nowhere&gt;)</code>", strings.Repeat("&lt;b&gt;ä", 50) + "…</code>"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(page.body, "<pre class=\"line\""); n != 3 {
		t.Errorf("%d lines, want 3: those of large files and of none are left out", n)
	}
	b.get(path+"?severity=notice").says(t, "a filter", 200, "Nothing on this page is like that")
	b.get(path+"?code=no%20code").says(t, "a wrong filter", 400, "Must be a code")

	// Without the files, the findings are as they were.
	newest, err := w.LatestSnapshot(w.ctx, w.Operator(x.ID), x.project.Domain)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range newest.Packs {
		if err := w.objects.Delete(w.ctx, newest.PackKey(p.SHA256)); err != nil {
			t.Fatal(err)
		}
	}
	page = b.get(path).says(t, "without packs", 200, "leads nowhere", "3:4")
	if strings.Contains(page.body, "Away") {
		t.Error("there is a line of a file that is gone")
	}
	if err := w.objects.Delete(w.ctx, newest.ManifestKey()); err != nil {
		t.Fatal(err)
	}
	b.get(path).says(t, "without a manifest", 200, "leads nowhere")
	b.get("/org/"+x.ID+"/projects/"+x.project.ID+"/snapshots/"+newest.ID).says(t, "the snapshot", 200, "It is the first of the domain.")
}

// What is for information is one line that opens, unless it was asked for.
func TestFindingsForInformationAreOneLine(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleViewer)
	w.publish(x, map[string]string{"index.mdx": "# Hello"})
	info := func(file string) admin.Finding {
		return admin.Finding{Severity: "info", Code: "page-unlisted", File: file, Line: 1, Message: "is not listed"}
	}
	j := w.export(x, "one", info("a.mdx"), admin.Finding{Severity: "notice", Code: "alt-missing", File: "b.mdx", Message: "no text"}, info("b.mdx"), info("c.mdx"))
	path := "/org/" + x.ID + "/exports/" + j.ID + "/findings"
	page := b.get(path).says(t, "findings", 200, "3 findings for information", "no text", "is not listed")
	listed, folded, ok := strings.Cut(page.body, "<details class=\"infos\">")
	if !ok || strings.Contains(listed, "is not listed") || strings.Count(folded, "is not listed") != 3 || strings.Contains(folded, "no text") {
		t.Errorf("the page does not fold findings for information:\n%s", page.body)
	}
	for _, filter := range []string{"?severity=info", "?code=page-unlisted"} {
		page = b.get(path+filter).says(t, filter, 200, "is not listed")
		if strings.Contains(page.body, "<details") || strings.Count(page.body, "is not listed") != 3 || strings.Contains(page.body, "no text") {
			t.Errorf("%s does not list what it asks for:\n%s", filter, page.body)
		}
	}
}

func TestSnapshotsAreCompared(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleMember)
	w.publish(x, map[string]string{"docs.json": "{}", "a.mdx": "one", "b.mdx": "gone"})
	second := w.publish(x, map[string]string{"docs.json": "{}", "a.mdx": "other", "c.mdx": "new", "d.mdx": ""})
	base := "/org/" + x.ID + "/projects/" + x.project.ID + "/snapshots"
	b.get(base).says(t, "the list", 200, "+1 file , +1 B", "the first", "newest")
	b.get(base+"/"+second.ID).says(t, "the snapshot", 200, "2 files added, 1 changed, 1 removed", "a.mdx changed +2 B", "b.mdx removed −4 B", "c.mdx added +3 B", "d.mdx added ±0")
	b.get(base+"/snp_none").says(t, "no snapshot", 404)
	other := w.as(w.tenant("Foreign", "docs.example.net"), "eve", admin.RoleOwner)
	other.get(base+"/"+second.ID).says(t, "a foreign snapshot", 404)
}

func TestUsageByMonthProjectAndKind(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleMember)
	base := "/org/" + x.ID + "/usage"
	b.get(base).says(t, "no usage", 200, "Nothing was used this month", "Exports at once 0 of 10")
	w.publish(x, map[string]string{"docs.json": "{}"})
	w.export(x, "one")
	w.export(x, "two")
	b.get(base).says(t, "pages", 200, "March 2026: 20 pages", "February 2026: 0 pages", "docs.example.com cloud 2 20 10.0 MiB")
	b.get(base+"?kind=bundleBytes&project="+x.project.ID).says(t, "bundles of a project", 200, "March 2026: 10.0 MiB")
	b.get(base+"?kind=calls").says(t, "calls", 200, "March 2026: 0 calls")
	w.endedRound(b, x, 1_250_000)
	b.get(base).says(t, "agents", 200, "2026-03 2 20 10.0 MiB 1 $1.25 0", "docs.example.com cloud 2 20 10.0 MiB 1 $1.25")
	b.get(base+"?kind=agentCost&project="+x.project.ID).says(t, "cost of a project's agents", 200, "March 2026: $1.25")
	b.get(base+"?kind=agentRounds").says(t, "rounds of agents", 200, "March 2026: 1 round")
	b.get(base+"?project=prj_none").says(t, "no such project", 404)
	rows := b.get(base+".csv").says(t, "CSV", 200, "month,project,domain,deployment,kind,amount", "2026-03,,,,pages,20").body
	if !strings.Contains(rows, "\n2026-03,"+x.project.ID+",docs.example.com,cloud,exports,2\n") {
		t.Error(rows)
	}
}

// endedRound starts an agent job as b and ends its first round, which cost so many
// millionths of a US dollar.
func (w *world) endedRound(b *browser, x tenant, micros int64) {
	w.t.Helper()
	c, err := w.PersonCaller(w.ctx, b.person.ID, x.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	j, err := w.StartAgentJob(w.ctx, c, admin.StartAgentJob{Project: x.project.ID, Prompt: "p"})
	if err != nil {
		w.t.Fatal(err)
	}
	ref := j.Current()
	if _, err := w.BeginAgentRound(w.ctx, ref, admin.AgentBase{Commit: "c1", Ref: "main"}); err != nil {
		w.t.Fatal(err)
	}
	lease, err := w.LeaseAgentWork(w.ctx, ref)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.PutAgentTurn(w.ctx, &lease, admin.AgentTurn{N: 1, Object: "o", Seen: 1, Usage: admin.AgentUsage{Cost: micros}}); err != nil {
		w.t.Fatal(err)
	}
	if err := w.FailAgent(w.ctx, ref, admin.CodeLoop, "in a loop"); err != nil {
		w.t.Fatal(err)
	}
}

func TestDiffsOfAgentsAreShownByFile(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("Own", "docs.example.com")
	b := w.as(x, "ada", admin.RoleMember)
	c, err := w.PersonCaller(w.ctx, b.person.ID, x.ID)
	if err != nil {
		t.Fatal(err)
	}
	j, err := w.StartAgentJob(w.ctx, c, admin.StartAgentJob{Project: x.project.ID, Prompt: "Mend <the> start\n\nplease"})
	if err != nil {
		t.Fatal(err)
	}
	files := []admin.AgentFile{{Path: "a.mdx", Added: 1, Removed: 1, Diff: "--- a/a.mdx\n+++ b/a.mdx\n@@ -1 +1 @@\n-<old>\n+++new\n same\n"}}
	for range 4 {
		files = append(files, admin.AgentFile{Path: "long.mdx", Added: 9000, Diff: "@@\n" + strings.Repeat("+line\n", 9000)})
	}
	if err := w.AgentNote(w.ctx, j.Current(), admin.AgentEvent{Kind: admin.AgentEventCheck, Text: "the changes bring nothing new", Files: files}); err != nil {
		t.Fatal(err)
	}
	page := b.get("/org/"+x.ID+"/agents/"+x.project.ID+"/"+j.ID).says(t, "the job", 200, "The changes", "a.mdx +1 −1", "see the pull request")
	for _, want := range []string{"<h1>Mend &lt;the&gt; start</h1>", `<span class="removed">-&lt;old&gt;</span>`, `<span class="added">&#43;&#43;&#43;new</span>`, `<span class="same"> same</span>`} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page.body, "b/a.mdx") || len(page.body) > 400_000 {
		t.Errorf("the diff is not bounded, or names its file: %d bytes", len(page.body))
	}
}
