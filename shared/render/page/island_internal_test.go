package page

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// A file of a script has a name that bundles and file systems take, and pages
// have files of their own.
func TestScriptPath(t *testing.T) {
	seen := map[string]bool{}
	for _, address := range []string{"a", "guides/a", strings.Repeat("x", 250), strings.Repeat("x", 249) + "y", strings.Repeat("deep/", 200) + "a"} {
		name := scriptPath(address, []byte("same"))
		if len(name) > 1000 || len(path.Base(name)) > 255 || !strings.HasPrefix(name, "bindery/islands/") || path.Clean(name) != name || seen[name] {
			t.Errorf("the script of %.40q is %q", address, name)
		}
		seen[name] = true
	}
}

// The page of limits has the constants.
func TestLimitsPage(t *testing.T) {
	n := fmt.Sprintf
	outside.LimitRow(t, "A page with its snippets and components", n("%d nodes, or one for each byte of its source and of what that includes, at most %d", maxNodes, mostNodes))
	outside.LimitRow(t, "A page as it is written, and its Markdown copy", "–", n("%d MiB, and %d for each byte of its source and of what that includes", writtenBytes>>20, writtenPerByte))
	outside.LimitRow(t, "JavaScript of a page", n("%d calls and turns of loops, %d pieces", maxIslandSteps, maxIslands))
}
