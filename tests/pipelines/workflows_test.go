package pipelines

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestOwnWorkflows has actionlint read the project's own workflows, and holds that
// their steps call what is there: targets of the Makefile and scripts.
func TestOwnWorkflows(t *testing.T) {
	checkout := outside.Checkout(t)
	files, err := filepath.Glob(filepath.Join(checkout, ".github", "workflows", "*.yml"))
	if err != nil || len(files) < 4 {
		t.Fatalf("workflows: %v, %v", files, err)
	}
	makefile := harness.Read(t, filepath.Join(checkout, "Makefile"))
	ran := map[string]bool{}
	for _, file := range files {
		var workflow struct {
			Jobs map[string]struct {
				TimeoutMinutes int `json:"timeout-minutes"`
				Steps          []struct{ Uses, Run string }
			}
		}
		if err := yaml.Unmarshal([]byte(harness.Read(t, file)), &workflow); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for name, job := range workflow.Jobs {
			if job.TimeoutMinutes == 0 {
				t.Errorf("%s: job %s may run for six hours: it has no timeout-minutes", filepath.Base(file), name)
			}
			for _, step := range job.Steps {
				words := strings.Fields(step.Run)
				switch {
				case len(words) == 0:
				case words[0] == "make" && regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(words[1])+`:`).MatchString(makefile):
					ran[words[1]] = true
				case strings.HasPrefix(words[0], ".ci/"):
					info, err := os.Stat(filepath.Join(checkout, words[0]))
					if err != nil || info.Mode()&0o111 == 0 {
						t.Errorf("%s: %s is no program", filepath.Base(file), words[0])
					}
					ran[words[0]] = true
				default:
					t.Errorf("%s: the step %q is neither a target of the Makefile nor a script of .ci", filepath.Base(file), step.Run)
				}
			}
		}
	}
	for _, name := range []string{"check", "test", ".ci/run", "test-all", "release"} {
		if !ran[name] {
			t.Errorf("no workflow runs %s", name)
		}
	}
	lint := exec.Command(outside.Program(t, "actionlint"), append([]string{"-no-color", "-shellcheck", outside.Program(t, "shellcheck")}, files...)...)
	lint.Dir = checkout
	if out, err := lint.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
