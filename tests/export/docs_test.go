package export

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/base/filename"
	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/render/highlight"
	"github.com/bindery-docs/bindery/shared/render/theme/icons"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/export"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/shared/service/webhook"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestLimitsPage holds the page of limits against the constants.
func TestLimitsPage(t *testing.T) {
	page := readDoc(t, "export/limits.mdx")
	bytes := func(n int64) string {
		for _, unit := range []struct {
			name string
			n    int64
		}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
			if n >= unit.n && n%unit.n == 0 {
				return fmt.Sprintf("%s %s", number(n/unit.n), unit.name)
			}
		}
		return number(n) + " bytes"
	}
	for row, value := range map[string]string{
		"Pages":                              number(export.MaxPages),
		"Files":                              number(snapshot.MaxEntries),
		"Bytes of all files":                 bytes(snapshot.MaxBytes),
		"One file":                           bytes(snapshot.MaxFileBytes),
		"Source of a page":                   bytes(export.MaxPageBytes),
		"Path of a file":                     number(filename.MaxPathBytes) + " bytes",
		"Part of a path":                     bytes(filename.MaxElementBytes),
		"Code that is coloured":              bytes(highlight.MaxBytes) + " a block",
		"Bundle":                             bytes(export.MaxBundleBytes),
		"Path prefixes (`paths`)":            number(admin.MaxPaths),
		"Length of a prefix":                 bytes(admin.MaxPath),
		"Groups of readers (`groups`)":       number(admin.MaxGroups),
		"Length of a group's name":           bytes(admin.MaxGroup),
		"Length of a label (`version`)":      bytes(admin.MaxVersion),
		"One [fetched file](/export/remote)": bytes(remote.MaxFileBytes),
		"Fetched files":                      number(export.MaxRemoteFiles),
		"Bytes of fetched files":             bytes(export.MaxRemoteBytes),
		"Diagnostics in the bundle's list":   number(export.MaxDiagnostics),
		"Pack of several files":              bytes(snapshot.MaxPackBytes),
		"Packs":                              number(snapshot.MaxPacks),
		"Manifest":                           bytes(snapshot.MaxManifestBytes),
		"`Idempotency-Key`":                  bytes(admin.MaxIdempotencyKey) + ", kept for 24 hours",
	} {
		if want := "| " + row + " | " + value + " |"; !strings.Contains(page, want) {
			t.Errorf("the page of limits should have the row %q", want)
		}
	}
}

// TestPagesHaveIcons asserts that every page of the sidebar has an icon that
// there is, so that no list has icons for some of its pages.
func TestPagesHaveIcons(t *testing.T) {
	set := icons.New()
	root := filepath.Join(outside.Checkout(t), "infra", "docs")
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "snippets" {
			return cmp.Or(err, filepath.SkipDir)
		}
		if filepath.Ext(name) != ".mdx" {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		front, _, _ := strings.Cut(strings.TrimPrefix(string(data), "---\n"), "\n---\n")
		icon := ""
		for line := range strings.Lines(front) {
			if value, ok := strings.CutPrefix(line, "icon:"); ok {
				icon = strings.TrimSpace(value)
			}
		}
		if _, ok := set.SVG(icon, "lucide", ""); !ok {
			t.Errorf("%s: there is no icon %q", name, icon)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// number writes a number as the docs do: 200,000.
func number[N int | int64](n N) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func readDoc(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(outside.Checkout(t), "infra", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// example finds a page's fenced block with this language and title.
func example(t *testing.T, page, label string) string {
	t.Helper()
	_, rest, ok := strings.Cut(readDoc(t, page), "\n```"+label+"\n")
	block, _, ended := strings.Cut(rest, "\n```")
	if !ok || !ended {
		t.Fatalf("%s has no block %q", page, label)
	}
	return block
}

// TestAPIExamples runs the examples of the API's pages as a reader would, in a
// shell against a running Bindery, and holds each answer against the one that
// the page shows: the same fields, of the same kinds.
func TestAPIExamples(t *testing.T) {
	outside.Long(t, "runs a whole Bindery")
	for _, tool := range []string{"bash", "curl"} {
		outside.Program(t, tool)
	}
	u := harness.Start(t, t.TempDir())
	defer u.Stop(t)
	// There is an export of an earlier state, so that the answers say what changed.
	source, earlier := filepath.Join(outside.Checkout(t), "infra", "docs"), t.TempDir()
	err := os.CopyFS(earlier, os.DirFS(source))
	if err == nil {
		err = os.WriteFile(filepath.Join(earlier, "index.mdx"), []byte("---\ntitle: Earlier\n---\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"publish", earlier, "--domain", "docs.example.com"},
		{"export", "--domain", "docs.example.com", "--out", filepath.Join(t.TempDir(), "earlier.tar.gz")},
		{"publish", source, "--domain", "docs.example.com"},
	} {
		if _, err := u.Command(t, args...); err != nil {
			t.Fatal(err)
		}
	}
	env := append(os.Environ(), "BINDERY_URL="+u.URL, "BINDERY_ADMIN_KEY="+u.Key, "BINDERY_PROJECT="+u.Project)
	shell := func(t *testing.T, script string) string {
		t.Helper()
		cmd := exec.Command("bash", "-euo", "pipefail", "-c", script)
		cmd.Env = env
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, script, stderr.String())
		}
		return string(out)
	}
	set := func(name, value string) { env = append(env, name+"="+value) }
	// call runs a page's example and compares what it answers.
	call := func(t *testing.T, page string, status int) map[string]any {
		t.Helper()
		script := strings.Replace(example(t, page, "bash curl"), "curl ", `curl -sS -w '\n%{http_code}' `, 1)
		out := shell(t, script)
		body, code, _ := strings.Cut(strings.TrimSpace(out), "\n")
		if i := strings.LastIndex(out, "\n"); i >= 0 {
			body, code = out[:i], strings.TrimSpace(out[i:])
		}
		if code != fmt.Sprint(status) {
			t.Fatalf("%s: the example answers %s, the page says %d: %s", page, code, status, body)
		}
		var got, shown map[string]any
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatalf("%s: %v in %s", page, err, body)
		}
		if err := json.Unmarshal([]byte(example(t, page, fmt.Sprintf("json %d", status))), &shown); err != nil {
			t.Fatalf("%s: the answer that is shown: %v", page, err)
		}
		if diff := sameShape("", shown, got); len(diff) > 0 {
			t.Errorf("%s shows another answer than the API gives: %s", page, strings.Join(diff, "; "))
		}
		return got
	}

	job := call(t, "api/start-export.mdx", http.StatusAccepted)["jobId"].(string)
	set("JOB", job)
	var state map[string]any
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if _, state, _ = u.Call(t, http.MethodGet, "/v1/static-export/jobs/"+job, ""); state["status"] == "completed" {
			break
		}
		if state["status"] == "failed" || time.Now().After(end) {
			t.Fatalf("the export is %v", state)
		}
	}
	call(t, "api/get-export.mdx", http.StatusOK)
	link := call(t, "api/get-bundle.mdx", http.StatusOK)
	set("BUNDLE_URL", link["bundleUrl"].(string))
	set("SHA256", link["sha256"].(string))
	shell(t, "cd "+t.TempDir()+"\n"+example(t, "api/get-bundle.mdx", "bash"))

	set("BASE", call(t, "api/latest-snapshot.mdx", http.StatusOK)["snapshotId"].(string))
	pack := []byte(`{"name":"Two","navigation":{"pages":["index"]}}` + "---\ntitle: One\n---\n")
	sum := func(b []byte) string { s := sha256.Sum256(b); return hex.EncodeToString(s[:]) }
	docs, index := pack[:strings.Index(string(pack), "---")], pack[strings.Index(string(pack), "---"):]
	manifest := fmt.Appendf(nil, `{"format":1,"packs":[{"sha256":%q,"size":%d}],"entries":[`+
		`{"path":"docs.json","sha256":%q,"size":%d,"pack":0,"modified":"2026-03-01T17:20:00Z"},`+
		`{"path":"index.mdx","sha256":%q,"size":%d,"pack":0,"offset":%d,"modified":"2026-03-01T17:20:00Z"}]}`,
		sum(pack), len(pack), sum(docs), len(docs), sum(index), len(index), len(docs))
	set("MANIFEST_SHA256", sum(manifest))
	set("MANIFEST_SIZE", fmt.Sprint(len(manifest)))
	set("PACK_SHA256", sum(pack))
	set("PACK_SIZE", fmt.Sprint(len(pack)))
	created := call(t, "api/create-snapshot.mdx", http.StatusCreated)
	set("SNAPSHOT", created["snapshotId"].(string))
	for _, upload := range created["uploads"].([]any) {
		up := upload.(map[string]any)
		file := filepath.Join(t.TempDir(), "object")
		data := manifest
		if up["kind"] == "pack" {
			data = pack
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		script := "curl -fsS -X " + up["method"].(string) + " --data-binary @" + file
		for name, value := range up["headers"].(map[string]any) {
			script += fmt.Sprintf(" -H '%s: %s'", name, value)
		}
		shell(t, script+" '"+up["url"].(string)+"'")
	}
	if state := call(t, "api/publish-snapshot.mdx", http.StatusOK); state["status"] != "published" || state["fileCount"] != 2.0 {
		t.Errorf("the published snapshot is %v", state)
	}

	set("JOB", finishedAgentJob(t, u.Data, u.Project))
	agent := call(t, "api/get-agent-job.mdx", http.StatusOK)
	call(t, "api/list-agent-jobs.mdx", http.StatusOK)
	call(t, "api/agent-events.mdx", http.StatusOK)
	call(t, "api/archive-agent-job.mdx", http.StatusOK)
	// What needs a forge, or an active job, answers with a job too.
	for page, status := range map[string]int{"api/start-agent-job.mdx": 201, "api/message-agent-job.mdx": 200, "api/cancel-agent-job.mdx": 200} {
		out := shell(t, strings.Replace(example(t, page, "bash curl"), "curl ", `curl -sS -o /dev/null -w '%{http_code}' `, 1))
		if out != "409" {
			t.Errorf("%s: the example answers %s without a forge", page, out)
		}
		var shown map[string]any
		if err := json.Unmarshal([]byte(example(t, page, fmt.Sprintf("json %d", status))), &shown); err != nil {
			t.Fatalf("%s: %v", page, err)
		}
		if diff := gocmp.Diff(slices.Sorted(maps.Keys(agent)), slices.Sorted(maps.Keys(shown))); diff != "" {
			t.Errorf("%s shows another answer:\n%s", page, diff)
		}
	}
}

// finishedAgentJob leads an agent job of a data folder to its pull request, by
// the rules alone: no agent works.
func finishedAgentJob(t *testing.T, data, project string) string {
	t.Helper()
	ctx := t.Context()
	l, err := local.Open(ctx, local.Options{Dir: data, BaseURL: "http://127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close(context.Background())
	s := admin.New(admin.Options{Store: l.Store(), AgentReady: func(context.Context, admin.Project, string) (string, error) { return "example-model", nil }})
	p, err := s.GetProject(ctx, project)
	if err != nil {
		t.Fatal(err)
	}
	owner := admin.Caller{OrganisationID: p.Organisation, Plan: admin.PlanEnterprise}
	j, err := s.StartAgentJob(ctx, owner, admin.StartAgentJob{Project: project, Prompt: "mend the links", Ref: "main"})
	if err == nil {
		_, err = s.BeginAgentRound(ctx, j.Current(), admin.AgentBase{Commit: "c1"})
	}
	if err == nil {
		_, err = s.BeginAgentPublish(ctx, j.Current(), 1)
	}
	if err == nil {
		_, _, err = s.CompleteAgent(ctx, j.Current(), admin.AgentResult{PRLink: "https://github.com/example/docs/pull/12", PRNumber: 12, Branch: "bindery/x", Seen: 1})
	}
	if err != nil {
		t.Fatal(err)
	}
	return j.ID
}

// elided is what stands in an example for a value that no reader needs whole.
var elided = regexp.MustCompile(`…$`)

// sameShape compares two JSON values by their fields and the kinds of these.
// What is a header's name differs between backends.
func sameShape(at string, shown, got any) []string {
	kind := func(v any) string {
		switch v.(type) {
		case nil:
			return "null"
		case string:
			return "string"
		}
		return fmt.Sprintf("%T", v)
	}
	if kind(shown) != kind(got) && shown != nil && got != nil {
		return []string{fmt.Sprintf("%s: a %s is shown, it is a %s", at, kind(shown), kind(got))}
	}
	var diff []string
	switch shown := shown.(type) {
	case map[string]any:
		if strings.HasSuffix(at, ".headers") {
			return nil
		}
		got, _ := got.(map[string]any)
		names := make(map[string]bool)
		for n := range shown {
			names[n] = true
		}
		for n := range got {
			names[n] = true
		}
		sorted := make([]string, 0, len(names))
		for n := range names {
			sorted = append(sorted, n)
		}
		slices.Sort(sorted)
		for _, n := range sorted {
			s, inShown := shown[n]
			g, inGot := got[n]
			switch {
			case !inShown:
				diff = append(diff, at+"."+n+" is not shown")
			case !inGot:
				diff = append(diff, at+"."+n+" is shown, and not there")
			default:
				diff = append(diff, sameShape(at+"."+n, s, g)...)
			}
		}
	case []any:
		if got, _ := got.([]any); len(shown) > 0 && len(got) > 0 {
			diff = sameShape(at+"[0]", shown[0], got[0])
		}
	case string:
		// An example that looks like an id or a time has one's form.
		if s, _ := got.(string); !elided.MatchString(shown) && strings.HasSuffix(shown, "Z") != strings.HasSuffix(s, "Z") {
			diff = append(diff, fmt.Sprintf("%s: %q is shown, it is %q", at, shown, s))
		}
	}
	return diff
}

// TestTheDocumentedReceiver runs the receiver of the page on webhooks, as it stands
// there but for its port, and sends it what is signed and what is not.
func TestTheDocumentedReceiver(t *testing.T) {
	python := outside.Program(t, "python3")
	script := example(t, "api/webhooks.mdx", "python receive.py")
	const port = `("127.0.0.1", 9000)`
	if !strings.Contains(script, port) {
		t.Fatalf("the receiver listens elsewhere:\n%s", script)
	}
	// The script says which port it was given.
	script = strings.Replace(script, "HTTPServer("+port+", Receiver).serve_forever()",
		`server = HTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()`, 1)
	secret := "whsec_" + base64.StdEncoding.EncodeToString([]byte("a key of thirty-two bytes, no less"))
	cmd := exec.CommandContext(t.Context(), python, "-c", script)
	cmd.Env = append(os.Environ(), "WEBHOOK_SECRET="+secret)
	var stderr bytes.Buffer // read after the end
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the receiver says:\n%s", stderr.String())
		}
	}()
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the receiver did not start")
	}
	address := "http://" + net.JoinHostPort("127.0.0.1", lines.Text())
	body := []byte(`{"type":"export.completed","data":{"jobId":"exp_1"}}`)
	now := time.Now()
	sign := func(secret string, at time.Time, body []byte) string {
		signature, err := webhook.Sign(secret, "evt_1", at, body)
		if err != nil {
			t.Fatal(err)
		}
		return signature
	}
	good := sign(secret, now, body)
	other := sign("whsec_"+base64.StdEncoding.EncodeToString([]byte("another key")), now, body)
	old := now.Add(-time.Hour)
	for _, c := range []struct {
		name, signature string
		at              time.Time
		body            []byte
		want            int
	}{
		{"signed", good, now, body, http.StatusNoContent},
		{"signed with two secrets", other + " " + good, now, body, http.StatusNoContent},
		{"signed with another secret", other, now, body, http.StatusBadRequest},
		{"another body", good, now, []byte(`{"type":"export.failed"}`), http.StatusBadRequest},
		{"old", sign(secret, old, body), old, body, http.StatusBadRequest},
		{"not signed", "", now, body, http.StatusBadRequest},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, bytes.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(webhook.HeaderID, "evt_1")
		req.Header.Set(webhook.HeaderTimestamp, fmt.Sprint(c.at.Unix()))
		req.Header.Set(webhook.HeaderSignature, c.signature)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != c.want {
			t.Errorf("%s: %d, want %d", c.name, res.StatusCode, c.want)
		}
	}
	if !lines.Scan() || lines.Text() != "evt_1 export.completed" {
		t.Errorf("the receiver prints %q", lines.Text())
	}
}

// TestTheDocumentedStart holds the docs.json of the page for those with a folder of
// Markdown against the one that bindery init writes.
func TestTheDocumentedStart(t *testing.T) {
	docs := filepath.Join(t.TempDir(), "docs")
	for _, name := range []string{"index.md", "guides/start.md"} {
		file := filepath.Join(docs, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("Text.\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(harness.Bindery(t), "init", docs, "--name", "Example").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	written, err := os.ReadFile(filepath.Join(docs, "docs.json"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(example(t, "migrate/markdown.mdx", "json docs.json")+"\n", string(written)); diff != "" {
		t.Errorf("init writes another docs.json than the page shows (-page +init):\n%s", diff)
	}
}
