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
