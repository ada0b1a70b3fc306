package diagram

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestDocs: the limits that the documentation names are those of the code.
func TestDocs(t *testing.T) {
	data, err := os.ReadFile("../../../infra/docs/authoring/diagrams.mdx")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(data)), " ")
	for _, want := range []string{
		fmt.Sprintf("more than %d KiB", maxSource>>10), fmt.Sprintf("more than %d nodes and links", maxGraph),
		fmt.Sprintf("more than %d participants or %d lines", maxActors, maxItems), fmt.Sprintf("more than %d slices", maxSlices),
		fmt.Sprintf("more than %d tasks", maxTasks), fmt.Sprintf("a mind map with more than %d nodes", maxThoughts),
		fmt.Sprintf("more than %d periods or %d events", maxPeriods, maxEvents), fmt.Sprintf("more than %d points", maxPoints),
		fmt.Sprintf("more than %d series or %d values", maxSeries, maxValues),
		fmt.Sprintf("more than %d commits or %d branches", maxCommits, maxBranches),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page on diagrams does not say %q", want)
		}
	}
}
