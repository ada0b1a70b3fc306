package cloud

import (
	"bytes"
	"context"
	"encoding/json"
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
	for _, name := range built {
		t.Run("invoke "+name, func(t *testing.T) {
			out, errs, err := run(sam, "local", "invoke", ids[name], "-t", template, "-e", filepath.Join(root, "events", name+".json"), "--skip-pull-image")
			var answer struct {
				StatusCode int    `json:"statusCode"`
				Body       string `json:"body"`
				ErrorType  string `json:"errorType"`
			}
			if e := json.Unmarshal([]byte(out), &answer); e != nil {
				t.Fatalf("%v, %v: %q\n%s", err, e, out, harness.LastBytes(errs))
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
			case slices.Contains([]string{"planexport", "rendershard", "assemblebundle", "failexport", "agentprepare", "agentwork", "agentpublish", "agentfail", "reconcile", "deliverwebhooks"}, name):
				if answer.ErrorType != "temporary" {
					t.Errorf("without storage it answers %s", out)
				}
			default:
				if answer.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(answer.Body, `{"error":`) {
					t.Errorf("answered %+v", answer)
				}
			}
		})
	}
	t.Run("start-api", func(t *testing.T) { samAPI(t, root, env, sam, template) })
}

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
	// The address is a socket, whose name must be short.
	dir, err := os.MkdirTemp("", "engine")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if out, err := exec.Command(script, "down", dir).CombinedOutput(); err != nil {
			t.Errorf("the engine's end: %v: %s", err, out)
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

// samAPI starts the API on this machine and has it refuse.
func samAPI(t *testing.T, root string, env []string, sam, template string) {
	port := outside.Port(t)
	cmd := exec.Command(sam, "local", "start-api", "-t", template, "--skip-pull-image", "--warm-containers", "LAZY", "--port", port)
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
	ask := func(method, path, body string, header map[string]string) (int, string, http.Header, error) {
		r, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
		if err != nil {
			return 0, "", nil, err
		}
		for name, v := range header {
			r.Header.Set(name, v)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, "", nil, err
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		return res.StatusCode, string(b), res.Header, err
	}
	deadline := time.Now().Add(5 * time.Minute)
	for {
		if _, _, _, err := ask("GET", "/", "", nil); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
		select {
		case <-ended:
			t.Fatal("start-api has ended")
		case <-time.After(200 * time.Millisecond):
		}
	}
	if status, body, _, err := ask("GET", "/openapi.json", "", nil); err != nil || status != http.StatusOK || !strings.Contains(body, `"openapi"`) {
		t.Errorf("openapi.json: %d %.80s %v", status, body, err)
	}
	for _, c := range []struct{ method, path string }{
		{"GET", "/v2/agent/prj_1/job/agj_1"}, {"POST", "/v1/static-export/jobs"}, {"GET", "/v1/static-export/jobs/exp_1"},
		{"POST", "/v1/static-export/jobs/exp_1/bundle"}, {"GET", "/v1/sites/docs.example.com/snapshots/latest"},
		{"POST", "/v1/sites/docs.example.com/snapshots"}, {"POST", "/v1/sites/docs.example.com/snapshots/snp_1/publish"},
	} {
		for _, key := range []string{"", "Bearer bnd_nobody", "Basic bm86Ym9keQ=="} {
			status, body, header, err := ask(c.method, c.path, "{}", map[string]string{"Authorization": key, "Content-Type": "application/json"})
			var refusal struct{ Error string }
			if err != nil || status != http.StatusUnauthorized || json.Unmarshal([]byte(body), &refusal) != nil || refusal.Error == "" ||
				header.Get("Bindery-Error-Code") != "unauthorized" {
				t.Errorf("%s %s with %q: %d %s %v", c.method, c.path, key, status, body, err)
			}
		}
	}
}
