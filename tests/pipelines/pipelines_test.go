package pipelines

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// releaseServer serves the program of this checkout as a release that is called
// v1.2.3, and returns its address and the digest of its checksums.
func releaseServer(t *testing.T) (address, checksums string) {
	t.Helper()
	program, err := os.ReadFile(harness.Bindery(t))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{
		"bindery_1.2.3_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz": tarGz(t, map[string][]byte{"bindery": program, "bindery-serve": []byte("#!/bin/sh\n")}),
		"install.sh": []byte(harness.Read(t, filepath.Join(outside.Checkout(t), "infra", "install.sh"))),
	}
	var sums strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&sums, "%s  %s\n", harness.Digest(files[name]), name)
	}
	files["checksums.txt"] = []byte(sums.String())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _ := strings.CutPrefix(r.URL.Path, "/download/v1.2.3/")
		data, ok := files[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(data)
	}))
	t.Cleanup(server.Close)
	return server.URL, harness.Digest([]byte(sums.String()))
}

// tarGz packs programs, without compressing them: they are large, and soon unpacked.
func tarGz(t *testing.T, programs map[string][]byte) []byte {
	t.Helper()
	var archive bytes.Buffer
	z, err := gzip.NewWriterLevel(&archive, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(programs[name]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(programs[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

// action is the part of a composite action that the runner here knows.
type action struct {
	Inputs map[string]struct {
		Default  string `json:"default"`
		Required bool   `json:"required"`
	} `json:"inputs"`
	Outputs map[string]struct {
		Value string `json:"value"`
	} `json:"outputs"`
	Runs struct {
		Using string `json:"using"`
		Steps []struct {
			ID    string            `json:"id"`
			Name  string            `json:"name"`
			If    string            `json:"if"`
			Shell string            `json:"shell"`
			Env   map[string]string `json:"env"`
			Run   string            `json:"run"`
		} `json:"steps"`
	} `json:"runs"`
}

var (
	anyExpression = regexp.MustCompile(`\$\{\{ *(.*?) *\}\}`)
	inputName     = regexp.MustCompile(`inputs\.([a-z-]+)`)
)

// run does what GitHub's runner does with the action's steps, and returns the log,
// the outputs and the names of the steps that ran.
func (a action) run(t *testing.T, e environment, inputs map[string]string) (log string, outputs map[string]string, ran []string, err error) {
	t.Helper()
	given := map[string]string{}
	for name, input := range a.Inputs {
		given[name] = input.Default
	}
	maps.Copy(given, inputs)
	outputs = map[string]string{}
	pathFile := filepath.Join(e.home, "path")
	for i, step := range a.Runs.Steps {
		if step.Shell != "bash" || anyExpression.MatchString(step.Run) {
			t.Fatalf("the step %q has the shell %q, or an expression in its script", step.Name, step.Shell)
		}
		if step.If != "" {
			// GitHub's operators are Go's, and all values are constants here.
			condition := inputName.ReplaceAllStringFunc(anyExpression.FindStringSubmatch(step.If)[1], func(found string) string {
				return strconv.Quote(given[strings.TrimPrefix(found, "inputs.")])
			})
			condition = strings.ReplaceAll(condition, "'", `"`)
			value, err := types.Eval(token.NewFileSet(), nil, token.NoPos, condition)
			if err != nil {
				t.Fatalf("%s: %v", step.If, err)
			}
			if !constant.BoolVal(value.Value) {
				continue
			}
		}
		ran = append(ran, step.Name)
		output := filepath.Join(e.home, fmt.Sprintf("output-%d", i))
		env := map[string]string{
			"GITHUB_OUTPUT": output, "GITHUB_PATH": pathFile, "RUNNER_TEMP": filepath.Join(e.home, "tmp"),
			"GITHUB_ACTION_PATH": filepath.Join(outside.Checkout(t), ".github", "actions", "bindery"),
		}
		for name, text := range step.Env {
			env[name] = anyExpression.ReplaceAllStringFunc(text, func(found string) string {
				return given[strings.TrimPrefix(anyExpression.FindStringSubmatch(found)[1], "inputs.")]
			})
		}
		maps.Copy(env, e.override)
		now := e
		if added, err := os.ReadFile(pathFile); err == nil {
			now.path = strings.TrimSpace(string(added)) + ":" + e.path
		}
		said, err := shell(t, now, env, step.Run, "--noprofile", "--norc", "-eo", "pipefail")
		if log += said; err != nil {
			return log, outputs, ran, err
		}
		text, _ := os.ReadFile(output)
		for line := range strings.Lines(string(text)) {
			if name, v, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok {
				outputs[name] = v
			}
		}
	}
	return log, outputs, ran, nil
}

// TestActionOfGitHub runs the steps of the composite action against a real `bindery
// up`, with a release that they install.
func TestActionOfGitHub(t *testing.T) {
	outside.Long(t, "installs a release and exports with it")
	a := theAction(t)
	releases, checksums := releaseServer(t)
	u := harness.Start(t, t.TempDir())
	domain := harness.SeededDomain(t, u)
	setting := func(t *testing.T) environment {
		home := t.TempDir()
		for name, text := range map[string]string{
			"docs/docs.json": `{"name": "Example", "theme": "mint", "colors": {"primary": "#123456"}, "navigation": {"pages": ["index"]}}`,
			"docs/index.mdx": "Hello. [Away](/nowhere)\n",
		} {
			file := filepath.Join(home, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Mkdir(filepath.Join(home, "tmp"), 0o755); err != nil {
			t.Fatal(err)
		}
		// Services name files from the root of the repository.
		if out, err := exec.Command("git", "init", "-q", home).CombinedOutput(); err != nil {
			t.Fatalf("git init: %v\n%s", err, out)
		}
		return environment{home: home, path: os.Getenv("PATH")}
	}
	inputs := func(command string, more ...string) map[string]string {
		all := map[string]string{"command": command, "version": "v1.2.3", "checksums": checksums, "releases": releases, "url": u.URL, "key": u.Key, "domain": domain}
		for i := 0; i < len(more); i += 2 {
			all[more[i]] = more[i+1]
		}
		return all
	}

	t.Run("check", func(t *testing.T) {
		log, _, ran, err := a.run(t, setting(t), inputs("check", "url", "", "key", "", "domain", ""))
		if err != nil || !strings.Contains(log, "::warning file=docs/index.mdx,line=1") || !slices.Equal(ran, []string{"Install programs", "Check"}) {
			t.Errorf("%v, steps %v\n%s", err, ran, log)
		}
	})
	t.Run("review of a push", func(t *testing.T) {
		e := setting(t)
		e.override = map[string]string{"GITHUB_REF": "refs/heads/main", "GITHUB_API_URL": u.URL + "/nowhere", "GITHUB_REPOSITORY": "me/docs"}
		log, _, ran, err := a.run(t, e, inputs("check", "review", "token"))
		if err != nil || !slices.Equal(ran, []string{"Install programs", "Review", "Check"}) {
			t.Errorf("%v, steps %v\n%s", err, ran, log)
		}
	})
	t.Run("check that fails", func(t *testing.T) {
		log, _, _, err := a.run(t, setting(t), inputs("check", "fail-on", "warning"))
		if code := exitCode(err); code != 5 {
			t.Errorf("exit code %d, not 5\n%s", code, log)
		}
	})
	t.Run("publish and export", func(t *testing.T) {
		e := setting(t)
		log, outputs, ran, err := a.run(t, e, inputs("publish-and-export", "site", "public"))
		if err != nil || !slices.Equal(ran, []string{"Install programs", "Publish", "Export", "Unpack"}) {
			t.Fatalf("%v, steps %v\n%s", err, ran, log)
		}
		if !harness.Exists(filepath.Join(e.home, "public", "index.html")) || harness.Digest([]byte(harness.Read(t, filepath.Join(e.home, "bundle.tar.gz")))) != outputs["sha256"] {
			t.Errorf("no site, or another one than %v", outputs)
		}
		for name, output := range a.Outputs {
			if want := "${{ steps.export.outputs." + name + " }}"; output.Value != want || outputs[name] == "" {
				t.Errorf("the output %s is %q, with %q", name, output.Value, outputs[name])
			}
		}
		if strings.Contains(log, u.Key) {
			t.Errorf("the key is in the log:\n%s", log)
		}
	})
	t.Run("other programs", func(t *testing.T) {
		log, _, ran, err := a.run(t, setting(t), inputs("publish", "checksums", strings.Repeat("0", 64)))
		if err == nil || !strings.Contains(log, "nothing was installed") || len(ran) != 1 {
			t.Errorf("%v, steps %v\n%s", err, ran, log)
		}
	})
	t.Run("another command", func(t *testing.T) {
		if log, _, _, err := a.run(t, setting(t), inputs("exprot")); exitCode(err) != 2 || !strings.Contains(log, "::error::command must be") {
			t.Errorf("%v\n%s", err, log)
		}
	})
	t.Run("GitLab", func(t *testing.T) { gitlabTemplate(t, setting, releases, checksums, u, domain) })
}

// gitlabTemplate runs the scripts of GitLab's template.
func gitlabTemplate(t *testing.T, setting func(*testing.T) environment, releases, checksums string, u *harness.Up, domain string) {
	inputs := map[string]string{"version": "v1.2.3", "checksums": checksums, "releases": releases, "domain": domain}
	for name, file := range map[string]string{"bindery-check": "findings.json", "bindery-site": "public/index.html"} {
		t.Run(name, func(t *testing.T) {
			e := setting(t)
			log, err := gitlabJob(t, e, name, inputs, map[string]string{"BINDERY_URL": u.URL, "BINDERY_ADMIN_KEY": u.Key})
			if err != nil || !harness.Exists(filepath.Join(e.home, filepath.FromSlash(file))) {
				t.Errorf("no %s, %v\n%s", file, err, log)
			}
		})
	}
}

// gitlabJob runs a job of GitLab's template with inputs and variables of a project.
func gitlabJob(t *testing.T, e environment, name string, inputs, variables map[string]string) (log string, err error) {
	t.Helper()
	head, text, found := strings.Cut(harness.Read(t, filepath.Join(outside.Checkout(t), "infra", "pipelines", "gitlab.yml")), "\n---\n")
	var spec struct {
		Spec struct {
			Inputs map[string]struct {
				Default string `json:"default"`
			} `json:"inputs"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(head), &spec); err != nil || !found {
		t.Fatalf("the template has no inputs: %v", err)
	}
	text = regexp.MustCompile(`\$\[\[ inputs\.([a-z-]+) \]\]`).ReplaceAllStringFunc(text, func(found string) string {
		name := strings.Fields(strings.ReplaceAll(found, "inputs.", ""))[1]
		input, ok := spec.Spec.Inputs[name]
		if !ok {
			t.Errorf("there is no input %s", name)
		}
		if value := inputs[name]; value != "" {
			return value
		}
		return input.Default
	})
	var jobs map[string]struct {
		Before    []string          `json:"before_script"`
		Script    []string          `json:"script"`
		Variables map[string]string `json:"variables"`
		Extends   string            `json:"extends"`
	}
	if err := yaml.Unmarshal([]byte(text), &jobs); err != nil {
		t.Fatal(err)
	}
	job := jobs[name]
	base, ok := jobs[job.Extends]
	if !ok {
		t.Fatalf("there is no job %s, or nothing that it extends", name)
	}
	env := map[string]string{"CI_PROJECT_DIR": e.home}
	maps.Copy(env, variables)
	maps.Copy(env, base.Variables)
	return shell(t, e, env, strings.Join(append(base.Before, job.Script...), "\n"), "-eo", "pipefail")
}

// exitCode is that of a program that failed, 0 for none.
func exitCode(err error) int {
	if failed, ok := err.(*exec.ExitError); ok {
		return failed.ExitCode()
	}
	return 0
}

// TestWorkflowsInTheDocumentation has actionlint read the workflows of the page on
// templates and those of the chart, with the action beside them.
func TestWorkflowsInTheDocumentation(t *testing.T) {
	actionlint := outside.Program(t, "actionlint")
	checkout := outside.Checkout(t)
	repository := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		file := filepath.Join(repository, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(".github/actions/bindery/action.yml", harness.Read(t, filepath.Join(checkout, ".github", "actions", "bindery", "action.yml")))
	put(".github/workflows/chart.yml", harness.Read(t, filepath.Join(checkout, "infra", "chart", "workflows", "github-actions.yaml")))
	page := harness.Read(t, filepath.Join(checkout, "infra", "docs", "export", "templates.mdx"))
	workflows := regexp.MustCompile("(?s)```yaml (\\.git(?:hub|ea)/workflows/[a-z-]+\\.yml)\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(workflows) < 4 {
		t.Fatalf("only %d workflows", len(workflows))
	}
	for _, w := range workflows {
		action := regexp.MustCompile(`(https://github\.com/)?bindery-docs/bindery/\.github/actions/bindery@v1\.2\.3`)
		put(strings.Replace(w[1], ".gitea/workflows/", ".github/workflows/gitea-", 1), action.ReplaceAllString(w[2], "./.github/actions/bindery"))
	}
	put(".git/HEAD", "ref: refs/heads/main\n")
	cmd := exec.Command(actionlint, "-no-color", "-shellcheck", outside.Program(t, "shellcheck"))
	cmd.Dir = repository
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
