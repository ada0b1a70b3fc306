package export

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestTheFlowByCurl does with plain requests what a pipeline does: publish with
// the program, then start, poll, generate, download, all over the public API.
func TestTheFlowByCurl(t *testing.T) {
	u := harness.Start(t, t.TempDir())
	if info, err := os.Stat(filepath.Join(u.Data, "env")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the env file is %v (%v), want mode 0600", info.Mode(), err)
	}
	domain := harness.SeededDomain(t, u)
	outside.Watch(t, "infra/docs")
	if _, err := u.Command(t, "publish", filepath.Join(outside.Checkout(t), "infra", "docs"), "--domain", domain); err != nil {
		t.Fatal(err)
	}

	status, job, header := u.Call(t, "POST", "/v1/static-export/jobs", fmt.Sprintf(`{"domain":%q}`, domain))
	if status != http.StatusAccepted || job["jobId"] == nil {
		t.Fatalf("start: %d %v", status, job)
	}
	path := "/v1/static-export/jobs/" + job["jobId"].(string)
	if got := header.Get("Location"); got != path {
		t.Errorf("Location is %q, want %q", got, path)
	}
	progress := -1.0
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		status, job, header = u.Call(t, "GET", path, "")
		if status != http.StatusOK {
			t.Fatalf("poll: %d %v", status, job)
		}
		now := job["progress"].(float64)
		if now < progress {
			t.Errorf("progress fell from %v to %v", progress, now)
		}
		progress = now
		if job["status"] == "completed" {
			break
		}
		if job["status"] == "failed" || time.Now().After(deadline) {
			t.Fatalf("the job: %v", job)
		}
		if now == 100 {
			t.Errorf("progress is 100 while the job is %v", job["status"])
		}
		if header.Get("Retry-After") == "" {
			t.Error("a running job has no Retry-After")
		}
	}
	if progress != 100 || job["pageCount"].(float64) < 5 {
		t.Errorf("completed with progress %v and pageCount %v", progress, job["pageCount"])
	}

	status, link, _ := u.Call(t, "POST", path+"/bundle", "")
	if status != http.StatusOK {
		t.Fatalf("bundle: %d %v", status, link)
	}
	end, err := time.Parse(time.RFC3339, link["expiresAt"].(string))
	if err != nil || !end.After(time.Now()) {
		t.Errorf("expiresAt is %v (%v)", link["expiresAt"], err)
	}
	response, err := http.Get(link["bundleUrl"].(string))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	archive, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if harness.Digest(archive) != link["sha256"] || float64(len(archive)) != link["sizeBytes"] {
		t.Error("the download is not what the API says")
	}
	if bytes.Contains(u.Log.Bytes(), []byte(u.Key)) {
		t.Error("the key is in the server's log")
	}
	u.Stop(t)
}

// TestTheDocumentedShellClient runs the script of the page on pipelines, as it
// stands there, but for the time between its polls.
func TestTheDocumentedShellClient(t *testing.T) {
	bash := outside.Program(t, "bash")
	outside.Program(t, "curl")
	outside.Program(t, "jq")
	page, err := os.ReadFile(filepath.Join(outside.Checkout(t), "infra", "docs", "export", "pipeline.mdx"))
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(page), "```bash export.sh")
	_, script, _ = strings.Cut(script, "\n")
	script, _, found := strings.Cut(script, "```")
	if !found || !strings.Contains(script, "sleep 10\n") || !strings.Contains(script, `"docs.example.com"`) {
		t.Fatalf("the page has no script, or another one:\n%s", script)
	}
	u := harness.Start(t, t.TempDir())
	domain := harness.SeededDomain(t, u)
	script = strings.ReplaceAll(strings.ReplaceAll(script, "sleep 10\n", "sleep 0.1\n"), "docs.example.com", domain)
	site := t.TempDir()
	publish := func(t *testing.T, config string) {
		t.Helper()
		for name, text := range map[string]string{"docs.json": config, "index.mdx": "Hello.\n"} {
			if err := os.WriteFile(filepath.Join(site, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := u.Command(t, "publish", site, "--domain", domain); err != nil {
			t.Fatal(err)
		}
	}
	run := func(t *testing.T, script string, env ...string) (code int, output, dir string) {
		t.Helper()
		dir = t.TempDir()
		cmd := exec.Command(bash, "-c", script)
		cmd.Dir = dir
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
		out, err := cmd.CombinedOutput()
		if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), string(out), dir
	}
	access := []string{"BINDERY_URL=" + u.URL, "BINDERY_ADMIN_KEY=" + u.Key}
	const good = `{"name": "Example", "theme": "mint", "colors": {"primary": "#123456"}, "navigation": {"pages": ["index"]}}`

	// Nothing is published: the start is refused.
	if code, out, _ := run(t, script, append(access, "CI_JOB_ID=1")...); code == 0 || !strings.Contains(out, "409") || !strings.Contains(out, `{"error":`) {
		t.Errorf("before anything is published: exit code %d\n%s", code, out)
	}
	for _, missing := range []string{"BINDERY_URL", "BINDERY_ADMIN_KEY", "GITHUB_RUN_ID"} {
		env := slices.DeleteFunc(slices.Clone(access), func(s string) bool { return strings.HasPrefix(s, missing+"=") })
		if code, out, _ := run(t, script, env...); code == 0 || !strings.Contains(out, missing) {
			t.Errorf("without %s: exit code %d\n%s", missing, code, out)
		}
	}
	// A job that failed: the attempt after it does not meet it again.
	publish(t, `{"name": `)
	if code, out, _ := run(t, script, append(access, "CI_JOB_ID=2")...); code != 3 || !strings.Contains(out, "docs.json") {
		t.Errorf("a broken site: exit code %d\n%s", code, out)
	}
	publish(t, good)
	for _, attempt := range [][]string{{"CI_JOB_ID=3"}, {"GITHUB_RUN_ID=1", "GITHUB_RUN_ATTEMPT=2"}} {
		code, out, dir := run(t, script, append(attempt, access...)...)
		if info, err := os.Stat(filepath.Join(dir, "bundle.tar.gz")); code != 0 || err != nil || info.Size() == 0 || !strings.Contains(out, "bundle.tar.gz: OK") {
			t.Errorf("attempt %v: exit code %d, %v\n%s", attempt, code, err, out)
		}
	}
	if code, out, dir := run(t, strings.Replace(script, "polls=60", "polls=0", 1), append(access, "CI_JOB_ID=4")...); code != 4 && code != 0 ||
		code == 4 && (!strings.Contains(out, "is still running") || harness.Exists(filepath.Join(dir, "bundle.tar.gz"))) {
		t.Errorf("out of polls: exit code %d\n%s", code, out)
	}
	u.Stop(t)
}

// TestExportSurvivesPowerCuts kills the whole process again and again while a
// site is exported, starts it on the same data, and compares the bundle with
// one that was made in peace.
func TestExportSurvivesPowerCuts(t *testing.T) {
	outside.Long(t, "exports a site of 600 pages twice and starts seven times")
	data := t.TempDir()
	u := harness.Start(t, data)
	domain := harness.SeededDomain(t, u)
	if _, err := u.Command(t, "publish", harness.MadeSite(t, 600), "--domain", domain); err != nil {
		t.Fatal(err)
	}
	peace := harness.Download(t, u, domain, "--export-version", "v1")

	status, job, _ := u.Call(t, "POST", "/v1/static-export/jobs", fmt.Sprintf(`{"domain":%q,"version":"v1","fresh":true}`, domain))
	if status != http.StatusAccepted {
		t.Fatalf("start: %d %v", status, job)
	}
	cutShort := 0
	for cut := range 6 {
		time.Sleep(time.Duration(5+cut*20) * time.Millisecond)
		if _, now, _ := u.Call(t, "GET", "/v1/static-export/jobs/"+job["jobId"].(string), ""); now["status"] != "completed" {
			cutShort++
		}
		u.Kill()
		u = harness.Start(t, data)
	}
	if cutShort == 0 {
		t.Error("the export was done before the first power cut: the site is too small for this test")
	}
	if got := harness.Download(t, u, domain, "--job", job["jobId"].(string)); got != peace {
		t.Errorf("after power cuts the bundle's digest is %s, in peace it was %s", got, peace)
	}
	u.Stop(t)
}
