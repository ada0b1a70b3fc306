package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/base/golden"
)

// TestDocumentationHasTheWorkflows holds the page about the loop against the
// files of the workflows; -update writes them into it.
func TestDocumentationHasTheWorkflows(t *testing.T) {
	const page = "../../infra/docs/cluster/loop.mdx"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := string(text)
	for _, name := range []string{"github-actions.yaml", "gitlab-ci.yaml"} {
		workflow, err := os.ReadFile(filepath.Join(folder, "workflows", name))
		if err != nil {
			t.Fatal(err)
		}
		const indent, end = "    ", "    {/* /file */}\n"
		start := fmt.Sprintf("    {/* file: %s */}\n", name)
		before, rest, ok := strings.Cut(want, start)
		_, after, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("%s has no marks for %s", page, name)
		}
		var block strings.Builder
		block.WriteString("\n" + indent + "```yaml " + name + "\n")
		for line := range strings.Lines(string(workflow)) {
			if line != "\n" {
				line = indent + line
			}
			block.WriteString(line)
		}
		block.WriteString(indent + "```\n\n")
		want = before + start + block.String() + end + after
	}
	if golden.Update() {
		golden.Write(t, page, []byte(want))
	} else if string(text) != want {
		t.Errorf("%s shows other workflows than infra/chart/workflows has (-update writes them)", page)
	}
}
