package island

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The page for authors names the limits that hold.
func TestDocs(t *testing.T) {
	data, err := os.ReadFile("../../../../infra/docs/authoring/interactive.mdx")
	if err != nil {
		t.Fatal(err)
	}
	thousands := func(n int) string {
		return fmt.Sprintf("%d,%03d,%03d", n/1_000_000, n/1000%1000, n%1000)
	}
	for _, want := range []string{
		fmt.Sprintf("| a component's work | %s calls and turns of loops |", thousands(maxSteps)),
		fmt.Sprintf("| the texts, lists and objects that it makes | %d MiB, counting what it drops again |", maxMade>>20),
		fmt.Sprintf("| one text | %d MiB of characters |", maxText>>20),
		fmt.Sprintf("| one integer | %d,%d bits |", maxBits/1000, maxBits%1000),
		fmt.Sprintf("after %.0f seconds of a processor, or at %d MiB of memory", maxCPU.Seconds(), maxMemory>>20),
		fmt.Sprintf("| what it shows | %d MiB |", maxShown>>20),
		fmt.Sprintf("| a file that is imported | %d MiB |", maxSource>>20),
		fmt.Sprintf("| files that a page imports | %d |", maxModules),
		fmt.Sprintf("| a page's script | %d MiB |", maxScript>>20),
	} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
