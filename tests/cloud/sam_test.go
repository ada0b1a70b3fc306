package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestSAM runs the synthesized template under the SAM CLI: it validates, every
// function answers its sample invocation, and the API on this machine refuses
// who has no key. It needs a Docker engine with the base image of functions;
// where the shared folder has its engine, that one, with a stand-in for the
// base image. Storage is nowhere, on purpose: what needs it must say so.
func TestSAM(t *testing.T) {
	if os.Getenv("BINDERY_SAM") == "" {
		t.Skip("not run: make test-sam does")
	}
	outside.WatchSources(t)
	outside.Watch(t, "infra", "functions", "events")
	root := outside.Checkout(t)
	sam := outside.Tool(t, "the SAM CLI", "sam", "bin", "sam")
	cdk := outside.Tool(t, "the CDK's program", "npm", "node_modules", ".bin", "cdk")
	dir := t.TempDir()
	env := append(os.Environ(),
		"SAM_CLI_TELEMETRY=0", "AWS_MAX_ATTEMPTS=1", "AWS_ENDPOINT_URL_STS=http://127.0.0.1:1", // or each call waits for an account
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_REGION=us-east-1",
	)
	run := func(args ...string) (stdout, stderr string, err error) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir, cmd.Env = root, env
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err = cmd.Run()
		return out.String(), errs.String(), err
	}
	must := func(args ...string) string {
		t.Helper()
		out, errs, err := run(args...)
		if err != nil {
			t.Fatalf("%s: %v\n%s%s", strings.Join(args, " "), err, out, harness.LastBytes(errs))
		}
		return out
	}
	if host := samEngine(t, root, run, must); host != "" {
		env = append(env, "DOCKER_HOST="+host)
	}
	functions := filepath.Join(dir, "functions")
	built := samBuild(t, root, functions)
	must(cdk, "synth", "-q", "-c", "stage=dev", "-c", "waf=true", "-c", "arch=x86_64", "-c", "functions="+functions, "-o", filepath.Join(dir, "cdk"))
	template, ids := samTemplate(t, filepath.Join(dir, "cdk"))

	// Answers come on standard output, and nothing else does: an invocation
	// that prints nothing ends with success all the same.
	t.Run("validate", func(t *testing.T) {
		out := must(sam, "validate", "--lint", "--region", "us-east-1", "-t", template)
		if !strings.Contains(out, "is a valid SAM Template") {
			t.Error(out)
		}
	})
	// One function by the command that a person types, the rest by a server: the
	// command takes five seconds to start, for each of forty functions.
	t.Run("invoke openapi", func(t *testing.T) {
		out, errs, err := run(sam, "local", "invoke", ids["openapi"], "-t", template, "-e", filepath.Join(root, "events", "openapi.json"), "--skip-pull-image")
		if err != nil || out == "" && !strings.Contains(errs, "No response from invoke container") {
			t.Fatalf("%v: %q\n%s", err, out, harness.LastBytes(errs))
		}
		if out != "" { // see samFirst
			samAnswer(t, "openapi", []byte(out))
		}
	})
	t.Run("start-lambda", func(t *testing.T) {
		base := samServer(t, root, env, sam, "start-lambda", template)
		t.Run("all", func(t *testing.T) { // ends before the server does
			for _, name := range built {
				t.Run(name, func(t *testing.T) {
					t.Parallel() // some try for twenty seconds to reach storage
					event, err := os.ReadFile(filepath.Join(root, "events", name+".json"))
					if err != nil {
						t.Fatal(err)
					}
					status, body, _ := samFirst(t, "POST", base+"/2015-03-31/functions/"+ids[name]+"/invocations", string(event), nil)
					if status != http.StatusOK {
						t.Fatalf("%d: %s", status, body)
					}
					samAnswer(t, name, []byte(body))
				})
			}
		})
	})
	t.Run("start-api", func(t *testing.T) { samAPI(t, root, env, sam, template) })
}

// samAnswer checks how a function answers its sample event without storage.
func samAnswer(t *testing.T, name string, b []byte) {
	t.Helper()
	var answer struct {
		StatusCode int    `json:"statusCode"`
		Body       string `json:"body"`
		ErrorType  string `json:"errorType"`
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		t.Fatalf("%v: %q", err, b)
	}
	switch {
	case name == "openapi":
		if answer.StatusCode != http.StatusOK || !strings.Contains(answer.Body, `"openapi"`) {
			t.Errorf("answered %+v", answer)
		}
	case name == "dashboard":
		if answer.StatusCode != http.StatusOK || !strings.Contains(answer.Body, "<title>Sign in") {
			t.Errorf("answered %+v", answer)
		}
	case slices.Contains([]string{"planexport", "rendershard", "assemblebundle", "failexport", "agentprepare", "agentwork", "agentreview", "agentpublish", "agentfail", "reconcile", "deliverwebhooks"}, name):
		if answer.ErrorType != "temporary" {
			t.Errorf("without storage it answers %s", b)
		}
	default:
		if answer.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(answer.Body, `{"error":`) {
			t.Errorf("answered %+v", answer)
		}
	}
}

// samFirst sends a request until the container of its function has answered. On
// a busy machine the SAM CLI gives up on a container that takes longer than a
// third of a second to listen, and then answers with nothing, or with a 502.
func samFirst(t *testing.T, method, url, body string, header map[string]string) (int, string, http.Header) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for {
		r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range header {
			r.Header.Set(name, v)
		}
		status, answer, got, err := 0, "", http.Header(nil), error(nil)
		res, err := http.DefaultClient.Do(r)
		if err == nil {
			var b []byte
			b, err = io.ReadAll(res.Body)
			_ = res.Body.Close()
			status, answer, got = res.StatusCode, string(b), res.Header
		}
		gaveUp := err != nil || strings.TrimSpace(answer) == "" || status == http.StatusBadGateway && got.Get("Bindery-Error-Code") == ""
		if !gaveUp {
			return status, answer, got
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s %s: %d %q %v", method, url, status, answer, err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// Prefix of the folders of engines. A private one: the folders of killed runs are
// removed.
const enginePrefix = "bndeng"

// samEngine makes sure of a Docker engine that has the base image, and gives
// its address if it is not the usual one.
func samEngine(t *testing.T, root string, run func(...string) (string, string, error), must func(...string) string) string {
	t.Helper()
	script, ok := outside.Maybe(t, "testbeds", "engine", "engine.sh")
	if !ok || os.Getuid() != 0 {
		if _, _, err := run("docker", "info"); err != nil {
			outside.OutOfReach(t, "a Docker engine, or root and the engine of the shared folder")
		}
		return ""
	}
	emulators, err := filepath.Glob(filepath.Join(root, ".cache/sam/lib/python3*/site-packages/samcli/local/rapid/aws-lambda-rie-x86_64"))
	if err != nil || len(emulators) != 1 {
		t.Fatalf("the emulator in the SAM CLI: %v %v", emulators, err)
	}
	// Engines share a network bridge: one at a time. Whatever another left when it
	// was killed goes first, or its container keeps the address of ours.
	lock, err := outside.Lock(filepath.Join(os.TempDir(), "bindery-engine.lock"), func() { t.Log("waiting for another Docker engine") })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Close() })
	down := func(dir string) error {
		// A container ends with its shim, which outlives a killed engine.
		_ = exec.Command("pkill", "-KILL", "-f", "containerd-shim.* -address "+dir+"/").Run()
		if out, err := exec.Command(script, "down", dir).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), enginePrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range left {
		if err := down(dir); err != nil {
			t.Logf("a killed run left %s: %v", dir, err)
		}
	}
	// The address is a socket, whose name must be short.
	dir, err := os.MkdirTemp("", enginePrefix)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := down(dir); err != nil {
			t.Errorf("the engine's end: %v", err)
		}
	})
	out := must(script, "up", dir)
	must(script, "lambda-base", dir, emulators[0])
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(out), "export DOCKER_HOST="))
}

// samBuild builds the functions for the engine's processor and gives their
// names.
func samBuild(t *testing.T, root, dir string) []string {
	t.Helper()
	events, err := filepath.Glob(filepath.Join(root, "events", "*.json"))
	if err != nil || len(events) == 0 {
		t.Fatalf("no events: %v", err)
	}
	linked := outside.Programs(t, "functions-amd64")
	var names []string
	for _, e := range events {
		name := strings.TrimSuffix(filepath.Base(e), ".json")
		if linked != "" {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join(linked, name))); err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
			continue
		}
		cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-tags", "lambda.norpc,nethttpomithttp2",
			"-o", filepath.Join(dir, name, "bootstrap"), "./functions/"+name)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		names = append(names, name)
	}
	return names
}

// samTemplate readies the synthesized template for this machine, beside it:
// functions find no AWS at once instead of after long waits, secrets have
// addresses, and the linter leaves out what CDK writes twice. It returns the
// logical ids of functions too.
func samTemplate(t *testing.T, dir string) (file string, ids map[string]string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*.template.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("templates: %v %v", found, err)
	}
	b, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	var template map[string]any
	if err := json.Unmarshal(b, &template); err != nil {
		t.Fatal(err)
	}
	ids = map[string]string{}
	for id, r := range template["Resources"].(map[string]any) {
		r := r.(map[string]any)
		if r["Type"] != "AWS::Lambda::Function" {
			continue
		}
		properties := r["Properties"].(map[string]any)
		description, _ := properties["Description"].(string)
		name, ours := strings.CutPrefix(description, "Bindery: ")
		if !ours {
			continue
		}
		ids[name] = id
		variables := properties["Environment"].(map[string]any)["Variables"].(map[string]any)
		variables["AWS_ENDPOINT_URL"] = "http://127.0.0.1:1"
		for _, name := range []string{config.ModelSecret, config.GitHubAppSecret} {
			if variables[name] != nil { // an attribute that the SAM CLI does not know, and leaves empty
				variables[name] = "arn:aws:secretsmanager:us-east-1:123456789012:secret:agents"
			}
		}
	}
	template["Metadata"] = map[string]any{"cfn-lint": map[string]any{"config": map[string]any{
		"ignore_checks": []string{"W3005"}, // DependsOn beside GetAtt: harmless, and CDK's own way
	}}}
	if b, err = json.Marshal(template); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "sam.json")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, ids
}

// samServer starts a server of the SAM CLI and returns its address.
func samServer(t *testing.T, root string, env []string, sam, kind, template string) string {
	t.Helper()
	port := outside.Port(t)
	cmd := exec.Command(sam, "local", kind, "-t", template, "--skip-pull-image", "--warm-containers", "LAZY", "--port", port)
	cmd.Dir, cmd.Env = root, env
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(2 * time.Minute):
			_ = cmd.Process.Kill()
			<-ended
		}
		_ = log.Close()
		if b, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Log(harness.LastBytes(string(b)))
		}
	})
	base := "http://127.0.0.1:" + port
	deadline := time.Now().Add(5 * time.Minute)
	for {
		if res, err := http.Get(base); err == nil {
			_ = res.Body.Close()
			return base
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
		select {
		case <-ended:
			t.Fatal(kind + " has ended")
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// samAPI starts the API on this machine and has it refuse.
func samAPI(t *testing.T, root string, env []string, sam, template string) {
	base := samServer(t, root, env, sam, "start-api", template)
	if status, body, _ := samFirst(t, "GET", base+"/openapi.json", "", nil); status != http.StatusOK || !strings.Contains(body, `"openapi"`) {
		t.Errorf("openapi.json: %d %.80s", status, body)
	}
	if status, body, header := samFirst(t, "PUT", base+"/v1/static-export/jobs", "x", map[string]string{"Content-Type": "text/plain"}); status != http.StatusMethodNotAllowed ||
		header.Get("Allow") != "GET, POST" || header.Get("Bindery-Error-Code") != "method_not_allowed" {
		t.Errorf("a method that the path has not: %d, Allow %q, %s", status, header.Get("Allow"), body)
	}
	for _, c := range []struct{ method, path string }{
		{"GET", "/v2/agent/prj_1/job/agj_1"}, {"POST", "/v1/static-export/jobs"}, {"GET", "/v1/static-export/jobs/exp_1"},
		{"POST", "/v1/static-export/jobs/exp_1/bundle"}, {"GET", "/v1/sites/docs.example.com/snapshots/latest"},
		{"POST", "/v1/sites/docs.example.com/snapshots"}, {"POST", "/v1/sites/docs.example.com/snapshots/snp_1/publish"},
	} {
		for _, key := range []string{"", "Bearer bnd_nobody", "Basic bm86Ym9keQ=="} {
			status, body, header := samFirst(t, c.method, base+c.path, "{}", map[string]string{"Authorization": key, "Content-Type": "application/json"})
			var refusal struct{ Error string }
			if status != http.StatusUnauthorized || json.Unmarshal([]byte(body), &refusal) != nil || refusal.Error == "" ||
				header.Get("Bindery-Error-Code") != "unauthorized" {
				t.Errorf("%s %s with %q: %d %s", c.method, c.path, key, status, body)
			}
		}
	}
}
