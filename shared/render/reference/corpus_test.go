package reference

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// Real specifications are read whole: no reference leads nowhere, every operation
// can be cut, written down, read back and shown, and nothing of it is lost: each
// parameter and property of the slice is a field of the page.
func TestRealSpecificationsAreReadWhole(t *testing.T) {
	fields := 0
	r := NewReader(os.DirFS(outside.Folder(t, "corpora", "trigger")))
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
			var slice Slice
			if err := json.Unmarshal(raw, &slice); err != nil {
				t.Fatal(err)
			}
			c := slice.Content(Options{})
			if len(c.Head) == 0 || len(c.Beside) == 0 || c.Cut {
				t.Errorf("%s %s: %d nodes in the head, %d beside, cut: %v", file, o.Key, len(c.Head), len(c.Beside), c.Cut)
			}
			page := outline(c.Body)
			for name := range names(t, raw) {
				if !strings.Contains(page, "="+name+" ") {
					t.Errorf("%s %s: the page has no field %s", file, o.Key, name)
				}
				fields++
			}
		}
	}
	for _, d := range r.Diagnostics() {
		t.Error(d)
	}
	if fields < 500 {
		t.Errorf("only %d fields", fields)
	}
}

// names are the names of all parameters and properties in a slice.
func names(t *testing.T, slice []byte) map[string]bool {
	t.Helper()
	var root any
	if err := json.Unmarshal(slice, &root); err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for _, list := range []string{"Properties", "Params", "Headers"} {
				entries, _ := v[list].([]any)
				for _, x := range entries {
					if p, ok := x.(map[string]any); ok {
						name, _ := p["Name"].(string)
						out[name] = true
					}
				}
			}
			for key, x := range v {
				if key != "Default" && key != "Examples" && key != "Value" { // values, not schemas
					walk(x)
				}
			}
		}
	}
	walk(root)
	return out
}
