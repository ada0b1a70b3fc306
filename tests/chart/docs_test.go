package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/bindery-docs/bindery/tests/outside"
)

// TestExamplesOfTheDocumentation renders every values.yaml that the pages for
// operators of clusters show.
func TestExamplesOfTheDocumentation(t *testing.T) {
	pages, err := filepath.Glob("../../infra/docs/cluster/*.mdx")
	if err != nil || len(pages) == 0 {
		t.Fatalf("pages %v, %v", pages, err)
	}
	seen := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, example := range blocks(string(text), "```yaml values.yaml") {
			seen++
			values := example
			if !strings.Contains(example, "staticExport:") {
				values = minimal + example
			}
			if objects := decode(t, render(t, values)); objects["Deployment/docs-bindery"] == nil {
				t.Errorf("%s: nothing is served with\n%s", filepath.Base(page), example)
			}
			var v map[string]any
			if err := yaml.UnmarshalStrict([]byte(example), &v); err != nil {
				t.Errorf("%s: %v in\n%s", filepath.Base(page), err, example)
			}
		}
	}
	// Values inside of what other programs read.
	text, err := os.ReadFile("../../infra/docs/cluster/gitops.mdx")
	if err != nil {
		t.Fatal(err)
	}
	for file, path := range map[string][]string{"application.yaml": {"spec", "source", "helm", "valuesObject"}, "release.yaml": {"spec", "values"}} {
		examples := blocks(string(text), "```yaml "+file)
		if len(examples) != 1 {
			t.Fatalf("%d examples of %s", len(examples), file)
		}
		var at any
		if err := yaml.Unmarshal([]byte(examples[0]), &at); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, name := range path {
			m, _ := at.(map[string]any)
			at = m[name]
		}
		values, err := yaml.Marshal(at)
		if err != nil {
			t.Fatal(err)
		}
		if objects := decode(t, render(t, string(values))); objects["Deployment/docs-bindery"] == nil {
			t.Errorf("%s: nothing is served with\n%s", file, values)
		}
	}
	if seen < 5 {
		t.Errorf("only %d examples were found: is the search right?", seen)
	}
}

// blocks are the code blocks of a page that begin with a line, without their
// indentation.
func blocks(text, start string) (found []string) {
	var block *strings.Builder
	indent := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case block == nil && trimmed == start:
			block, indent = new(strings.Builder), line[:strings.Index(line, "`")]
		case block != nil && trimmed == "```":
			found = append(found, block.String())
			block = nil
		case block != nil:
			block.WriteString(strings.TrimPrefix(line, indent))
		}
	}
	return found
}

// TestCommandsOfTheDocumentation holds that Helm 4 and Helm 3 know every flag that the
// pages give helm, or that the page has the other name for the one that doesn't.
func TestCommandsOfTheDocumentation(t *testing.T) {
	pages, err := filepath.Glob("../../infra/docs/cluster/*.mdx")
	if err != nil {
		t.Fatal(err)
	}
	programs := map[string]string{"Helm 4": outside.Program(t, "helm"), "Helm 3": outside.Tool(t, "Helm 3", "bin", "helm3")}
	help := map[string]string{} // by program and command
	for name, program := range programs {
		for _, command := range []string{"install", "upgrade", "rollback", "uninstall", "template", "history", "test"} {
			out, err := exec.CommandContext(t.Context(), program, command, "--help").CombinedOutput()
			if err != nil {
				t.Fatalf("%s %s: %v\n%s", name, command, err, out)
			}
			help[name+" "+command] = string(out)
		}
	}
	others := map[string]string{"--rollback-on-failure": "--atomic", "--atomic": "--rollback-on-failure"}
	call, flag := regexp.MustCompile(`(?m)^\s*helm ([a-z]+)((?:[^\n\\]|\\\n)*)$`), regexp.MustCompile(`--[a-z0-9-]+`)
	seen := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			seen++
			for _, f := range flag.FindAllString(m[2], -1) {
				for name := range programs {
					known := help[name+" "+m[1]]
					if known == "" {
						t.Errorf("%s: helm %s is a command that the test does not know", filepath.Base(page), m[1])
					}
					if !strings.Contains(known, f+" ") && (others[f] == "" || !strings.Contains(string(text), others[f]+"`")) {
						t.Errorf("%s: %s %s has no flag %s", filepath.Base(page), name, m[1], f)
					}
				}
			}
		}
	}
	if seen < 4 {
		t.Errorf("only %d commands were found: is the search right?", seen)
	}
}
