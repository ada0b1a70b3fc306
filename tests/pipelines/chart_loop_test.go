package pipelines

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// The loop in pipelines: the shell steps of infra/chart/workflows, as they
// stand, against a real `bindery up`. What they download are archives of this
// checkout's program and of a helm that records how it is called.

// pipeline runs a workflow's steps and tells what its log shows.
type pipeline func(t *testing.T, env environment) (log string, err error)

// environment is what the owner of a repository sets, and this machine's part.
type environment struct {
	vars, secrets map[string]string
	home          string // of one run, with everything that it leaves
	path          string
	override      map[string]string // of the variables that the workflow itself sets
}

// TestLoopInPipelines runs each pipeline on success, on a failed job, on a
// time-out, and twice at once.
func TestLoopInPipelines(t *testing.T) {
	outside.Long(t, "runs the scripts of two kinds of pipelines to every end")
	u := harness.Start(t, t.TempDir())
	domain := harness.SeededDomain(t, u)
	publish := func(site string) {
		t.Helper()
		if _, err := u.Command(t, "publish", site, "--domain", domain); err != nil {
			t.Fatal("the site can't be published")
		}
	}
	publish(harness.MadeSite(t, 3))
	pipelines := map[string]pipeline{"GitHub Actions": githubActions, "GitLab CI": gitlabCI}
	setting := func(t *testing.T) environment {
		home := t.TempDir()
		path, sums := fakes(t, home)
		return environment{
			home: home, path: path,
			vars: map[string]string{"BINDERY_URL": u.URL, "BINDERY_VERSION": "v0.1.0", "BINDERY_SHA256": sums["bindery"], "HELM_VERSION": "v4.3.1", "HELM_SHA256": sums["helm"],
				"DOMAIN": domain, "RELEASE": "docs", "NAMESPACE": "web", "CHART": "oci://registry.example.com/charts/bindery"},
			secrets: map[string]string{"BINDERY_ADMIN_KEY": u.Key, "KUBECONFIG": "apiVersion: v1\nkind: Config\n"},
		}
	}

	for name, run := range pipelines {
		t.Run(name+"/success", func(t *testing.T) {
			e := setting(t)
			log, err := run(t, e)
			if err != nil {
				t.Fatalf("%v\n%s", err, log)
			}
			calls := helmCalls(t, e)
			if len(calls) != 1 {
				t.Fatalf("helm was called %d times", len(calls))
			}
			calls[0].check(t, e)
			for what, secret := range map[string]string{"the key": u.Key, "the link": calls[0].values["bundleUrl"]} {
				if strings.Contains(log, secret) {
					t.Errorf("%s is in the log:\n%s", what, log)
				}
			}
			left(t, e, calls[0].values["bundleUrl"], u.Key)
		})
		t.Run(name+"/twice at once", func(t *testing.T) {
			var both [2]environment
			var group sync.WaitGroup
			for i := range both {
				both[i] = setting(t)
				group.Go(func() {
					if log, err := run(t, both[i]); err != nil {
						t.Errorf("%v\n%s", err, log)
					}
				})
			}
			group.Wait()
			var versions []string
			for _, e := range both {
				for _, c := range helmCalls(t, e) {
					c.check(t, e)
					versions = append(versions, c.values["version"])
				}
			}
			if len(versions) != 2 || versions[0] != versions[1] {
				t.Errorf("two runs of one snapshot gave the versions %v", versions)
			}
		})
		t.Run(name+"/time-out", func(t *testing.T) {
			publish(harness.MadeSite(t, 400))
			e := setting(t)
			e.override = map[string]string{"INTERVAL": "1ms", "MAX_POLLS": "1"}
			log, err := run(t, e)
			failsBeforeHelm(t, e, log, err, 4, "bindery export --job exp_")
			publish(harness.MadeSite(t, 3))
		})
		t.Run(name+"/failed job", func(t *testing.T) {
			broken := t.TempDir()
			if err := os.WriteFile(filepath.Join(broken, "docs.json"), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
			publish(broken)
			e := setting(t)
			log, err := run(t, e)
			failsBeforeHelm(t, e, log, err, 3, "failed")
			publish(harness.MadeSite(t, 3))
		})
		t.Run(name+"/another program", func(t *testing.T) {
			e := setting(t)
			e.vars["BINDERY_SHA256"] = strings.Repeat("0", 64)
			log, err := run(t, e)
			failsBeforeHelm(t, e, log, err, 1, "bindery.tar.gz: FAILED")
		})
		t.Run(name+"/no key", func(t *testing.T) {
			e := setting(t)
			e.secrets["BINDERY_ADMIN_KEY"] = ""
			log, err := run(t, e)
			failsBeforeHelm(t, e, log, err, 2, "BINDERY_ADMIN_KEY")
		})
	}
}

// failsBeforeHelm: the pipeline ends with the program's exit code and reason,
// and readers keep what they have.
func failsBeforeHelm(t *testing.T, e environment, log string, err error, code int, reason string) {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != code {
		t.Errorf("it ends with %v, want exit code %d\n%s", err, code, log)
	}
	if !strings.Contains(log, reason) {
		t.Errorf("the log does not say %q:\n%s", reason, log)
	}
	if calls := helmCalls(t, e); len(calls) != 0 {
		t.Errorf("helm was called: %v", calls)
	}
}

// left looks through what a run leaves on its machine: the values that GitHub
// keeps are its own affair, everything else is gone.
func left(t *testing.T, e environment, secrets ...string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(e.home, "tmp"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, secret := range append(secrets, "kind: Config") {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s stays, with a secret in it", path)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// fakes makes a folder with a curl that stands before the machine's, and what it
// downloads: archives, of which it returns the digests by their programs.
func fakes(t *testing.T, home string) (path string, sums map[string]string) {
	t.Helper()
	bin := filepath.Join(home, "bin")
	for _, dir := range []string{bin, filepath.Join(home, "tmp"), filepath.Join(home, "helm")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	curl := `#!/bin/sh
while [ $# -gt 1 ]; do
  [ "$1" != -o ] || out=$2
  shift
done
case $1 in
https://github.com/bindery-docs/bindery/releases/download/v0.1.0/bindery_0.1.0_linux_amd64.tar.gz) cp '` + home + `/bindery.tar.gz' "$out" ;;
https://get.helm.sh/helm-v4.3.1-linux-amd64.tar.gz) cp '` + home + `/helm.tar.gz' "$out" ;;
*) echo "curl: (22) there is no $1" >&2; exit 22 ;;
esac
`
	if err := os.WriteFile(filepath.Join(bin, "curl"), []byte(curl), 0o755); err != nil {
		t.Fatal(err)
	}
	sums = map[string]string{}
	for name, script := range map[string]string{
		"bindery": "#!/bin/sh\nexec '" + harness.Bindery(t) + "' \"$@\"\n",
		"linux-amd64/helm": `#!/bin/sh
call=$(mktemp -d '` + home + `/helm/call.XXXXXX')
previous=
for argument; do
  printf '%s\n' "$argument" >>"$call/arguments"
  [ "$previous" != --values ] || cp "$argument" "$call/values"
  previous=$argument
done
cp "$KUBECONFIG" "$call/kubeconfig"
`,
	} {
		archive := tarGz(t, map[string][]byte{name: []byte(script)})
		name = filepath.Base(name)
		sums[name] = harness.Digest(archive)
		if err := os.WriteFile(filepath.Join(home, name+".tar.gz"), archive, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return bin + ":" + os.Getenv("PATH"), sums
}

// helmCall is a recorded call of helm.
type helmCall struct {
	arguments []string
	values    map[string]string // of staticExport, from arguments or a file
	kube      string
}

func helmCalls(t *testing.T, e environment) (calls []helmCall) {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(e.home, "helm", "call.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		arguments, err := os.ReadFile(filepath.Join(dir, "arguments"))
		if err != nil {
			t.Fatal(err)
		}
		c := helmCall{arguments: strings.Split(strings.TrimSuffix(string(arguments), "\n"), "\n"), values: map[string]string{}}
		for i, argument := range c.arguments {
			if name, value, ok := strings.Cut(argument, "="); ok && i > 0 && strings.HasPrefix(c.arguments[i-1], "--set") {
				c.values[strings.TrimPrefix(name, "staticExport.")] = value
			}
		}
		if text, err := os.ReadFile(filepath.Join(dir, "values")); err == nil {
			var file struct {
				StaticExport map[string]any `json:"staticExport"`
			}
			if err := yaml.UnmarshalStrict(text, &file); err != nil {
				t.Fatal(err)
			}
			for name, value := range file.StaticExport {
				c.values[name] = fmt.Sprint(value)
			}
		}
		kube, err := os.ReadFile(filepath.Join(dir, "kubeconfig"))
		if err != nil {
			t.Error("helm was called without a kubeconfig")
		}
		c.kube = string(kube)
		calls = append(calls, c)
	}
	return calls
}

// check holds a call against what an upgrade has to be, and the link against
// the digest.
func (c helmCall) check(t *testing.T, e environment) {
	t.Helper()
	if want := []string{"upgrade", "docs", e.vars["CHART"]}; !slices.Equal(c.arguments[:3], want) {
		t.Errorf("helm %v, want %v", c.arguments[:3], want)
	}
	for _, want := range []string{"--install", "--wait", "--rollback-on-failure", "--reset-then-reuse-values"} {
		if !slices.Contains(c.arguments, want) {
			t.Errorf("helm without %s: %v", want, c.arguments)
		}
	}
	if i := slices.Index(c.arguments, "--namespace"); i < 0 || c.arguments[i+1] != "web" {
		t.Errorf("helm in another namespace: %v", c.arguments)
	}
	if names := slices.Sorted(maps.Keys(c.values)); !slices.Equal(names, []string{"bundleUrl", "enabled", "sha256", "source", "version"}) || c.values["enabled"] != "true" ||
		!strings.HasPrefix(c.values["source"], "map[jobId:exp_") {
		t.Errorf("values %v, source %s", names, c.values["source"])
	}
	if strings.TrimSpace(c.kube) != strings.TrimSpace(e.secrets["KUBECONFIG"]) {
		t.Errorf("helm got the kubeconfig %q", c.kube)
	}
	response, err := http.Get(c.values["bundleUrl"])
	if err != nil {
		t.Fatal("the link leads nowhere")
	}
	defer response.Body.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, response.Body); err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(digest.Sum(nil)); got != c.values["sha256"] || c.values["version"] == "" {
		t.Errorf("the link leads to a bundle of SHA-256 %s; values say %s, version %q", got, c.values["sha256"], c.values["version"])
	}
}

// workflow is the part of a GitHub Actions workflow that the loop has.
type workflow struct {
	Concurrency struct {
		Group            string `json:"group"`
		CancelInProgress *bool  `json:"cancel-in-progress"`
	} `json:"concurrency"`
	Jobs map[string]struct {
		Env   map[string]string `json:"env"`
		Steps []struct {
			ID   string            `json:"id"`
			Name string            `json:"name"`
			Uses string            `json:"uses"`
			Env  map[string]string `json:"env"`
			Run  string            `json:"run"`
		} `json:"steps"`
	} `json:"jobs"`
}

// expression is what GitHub puts values in the place of.
var expression = regexp.MustCompile(`\$\{\{ *([a-zA-Z0-9_.-]+) *\}\}`)

// githubActions does what GitHub's runner does with the steps of a workflow.
func githubActions(t *testing.T, e environment) (string, error) {
	t.Helper()
	var w workflow
	readWorkflow(t, "github-actions.yaml", &w)
	if w.Concurrency.Group == "" || w.Concurrency.CancelInProgress == nil || *w.Concurrency.CancelInProgress {
		t.Errorf("two runs may meet, or one ends the other: %+v", w.Concurrency)
	}
	outputs := map[string]string{}
	value := func(step, text string) string {
		return expression.ReplaceAllStringFunc(text, func(found string) string {
			parts := strings.Split(expression.FindStringSubmatch(found)[1], ".")
			switch {
			case parts[0] == "vars" && len(parts) == 2:
				return e.vars[parts[1]]
			case parts[0] == "secrets" && len(parts) == 2:
				if parts[1] == "BINDERY_ADMIN_KEY" && step != "Export" {
					t.Errorf("the step %q has the key", step)
				}
				return e.secrets[parts[1]]
			case parts[0] == "steps" && parts[2] == "outputs" && len(parts) == 4:
				return outputs[parts[1]+"."+parts[3]]
			}
			t.Errorf("an expression that the test does not know: %s", found)
			return ""
		})
	}
	var log strings.Builder
	var hidden []string
	added := filepath.Join(e.home, "path")
	for _, job := range w.Jobs {
		for i, step := range job.Steps {
			if step.Run == "" {
				continue
			}
			if expression.MatchString(step.Run) {
				t.Errorf("the step %q has an expression in its script, which could be a command", step.Name)
			}
			output := filepath.Join(e.home, fmt.Sprintf("output-%d", i))
			env := map[string]string{"GITHUB_OUTPUT": output, "GITHUB_PATH": added, "RUNNER_TEMP": filepath.Join(e.home, "tmp")}
			for _, set := range []map[string]string{job.Env, step.Env} {
				for name, text := range set {
					env[name] = value(step.Name, text)
				}
			}
			maps.Copy(env, e.override)
			now := e
			if path, err := os.ReadFile(added); err == nil {
				now.path = strings.TrimSpace(string(path)) + ":" + e.path
			}
			said, err := shell(t, now, env, step.Run, "-e")
			for line := range strings.Lines(said) {
				if mask, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "::add-mask::"); ok {
					hidden = append(hidden, strings.ReplaceAll(mask, "%25", "%"))
					continue
				}
				for _, h := range hidden {
					line = strings.ReplaceAll(line, h, "***")
				}
				log.WriteString(line)
			}
			if err != nil {
				return log.String(), err
			}
			text, _ := os.ReadFile(output)
			for line := range strings.Lines(string(text)) {
				if name, v, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok {
					outputs[step.ID+"."+name] = v
				}
			}
		}
	}
	if link := outputs["export.bundle-url"]; !slices.Contains(hidden, link) {
		t.Errorf("GitHub was not told to hide the link")
	}
	return log.String(), nil
}

// gitlabCI does what GitLab's runner does with the script of a job.
func gitlabCI(t *testing.T, e environment) (string, error) {
	t.Helper()
	var jobs map[string]struct {
		Script        []string          `json:"script"`
		Variables     map[string]string `json:"variables"`
		ResourceGroup string            `json:"resource_group"`
	}
	readWorkflow(t, "gitlab-ci.yaml", &jobs)
	job := jobs["publish-documentation"]
	if len(jobs) != 1 || len(job.Script) == 0 || job.ResourceGroup == "" {
		t.Fatalf("jobs %v", jobs)
	}
	env := map[string]string{}
	for _, set := range []map[string]string{job.Variables, e.vars, e.secrets, e.override} {
		maps.Copy(env, set)
	}
	// A variable of type file.
	env["KUBECONFIG"] = filepath.Join(e.home, "kubeconfig")
	if err := os.WriteFile(env["KUBECONFIG"], []byte(e.secrets["KUBECONFIG"]), 0o600); err != nil {
		t.Fatal(err)
	}
	return shell(t, e, env, strings.Join(job.Script, "\n"), "-eo", "pipefail")
}

func readWorkflow(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(outside.Checkout(t), "infra", "chart", "workflows", name))
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// shell runs a script of a pipeline in a file, as runners do.
func shell(t *testing.T, e environment, env map[string]string, script string, flags ...string) (string, error) {
	t.Helper()
	file, err := os.CreateTemp(e.home, "step-*.sh")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(script); err != nil {
		t.Fatal(err)
	}
	file.Close()
	outside.Watch(t, ".github", "infra/chart")
	cmd := exec.CommandContext(t.Context(), outside.Program(t, "bash"), append(flags, file.Name())...)
	cmd.Dir = e.home
	cmd.Env = []string{"PATH=" + e.path, "HOME=" + e.home, "TMPDIR=" + filepath.Join(e.home, "tmp")}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}
