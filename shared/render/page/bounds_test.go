package page

import (
	"fmt"
	"path"
	"strings"
	"testing"
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

// A page of very many hosts asks for no more of them than shows that they are
// too many for a policy.
func TestSourcesOfAPolicy(t *testing.T) {
	s := &state{}
	for i := range 10_000 {
		s.allow("img-src", origin(fmt.Sprintf("https://host%d.example/a.png", i)))
	}
	if n := len(s.result.Sources["img-src"]); n != maxSources {
		t.Errorf("%d sources", n)
	}
}
