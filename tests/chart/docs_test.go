package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
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
