package script

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestDocs: the limit that the documentation names is that of the code.
func TestDocs(t *testing.T) {
	data, err := os.ReadFile("../../../infra/docs/authoring/diagrams.mdx")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("At most %d different names", MaxClasses)
	if !strings.Contains(strings.Join(strings.Fields(string(data)), " "), want) {
		t.Errorf("the page on utility classes does not say %q", want)
	}
}
