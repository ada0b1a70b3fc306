package reference_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/bindery-docs/bindery/shared/reference"
)

// corpus is the folder of one of the real sites, or the test is skipped.
func corpus(t testing.TB, name string) string {
	t.Helper()
	shared := os.Getenv("BINDERY_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	dir := filepath.Join(shared, "corpora", name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the corpora are not here: %v", err)
	}
	return dir
}

// Real specifications are read whole: no reference leads nowhere, and every
// operation can be cut, written down, read back and shown.
func TestCorpora(t *testing.T) {
	r := reference.NewReader(os.DirFS(corpus(t, "trigger")))
	for file, want := range map[string]int{"openapi.yml": 3, "v3-openapi.yaml": 61} {
		s := r.Spec(file)
		if s == nil {
			t.Fatalf("%s is not read: %v", file, r.Diagnostics())
		}
		if len(s.Operations) != want {
			t.Errorf("%s has %d operations, want %d", file, len(s.Operations), want)
		}
		for i := range s.Operations {
			o := &s.Operations[i]
			raw, err := json.Marshal(r.Slice(s, o))
			if err != nil {
				t.Fatal(err)
			}
			var slice reference.Slice
			if err := json.Unmarshal(raw, &slice); err != nil {
				t.Fatal(err)
			}
			c := slice.Content(reference.Options{})
			if len(c.Head) == 0 || len(c.Beside) == 0 || c.Cut {
				t.Errorf("%s %s: %d nodes in the head, %d beside, cut: %v", file, o.Key, len(c.Head), len(c.Beside), c.Cut)
			}
		}
	}
	for _, d := range r.Diagnostics() {
		t.Error(d)
	}
}
