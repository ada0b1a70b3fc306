package reference

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// Small files must not ask for work without end, and large ones not for more
// than a slice shows.
func TestBounds(t *testing.T) {
	// Each step of a reference's way leads through another reference, each step
	// of which does.
	const last = 20
	ref := func(level int) string {
		return fmt.Sprintf(`{"$ref": "#/level%d%s/p"}`, level, strings.Repeat("/n", 8))
	}
	end := `{}`
	for i := range last {
		end = fmt.Sprintf(`{"n": %s, "p": %s}`, ref(i+1), end)
	}
	var levels strings.Builder
	for i := range last {
		fmt.Fprintf(&levels, `"level%d": {"n": %s},`, i, ref(i+1))
	}
	fmt.Fprintf(&levels, `"level%d": %s{"p": %s}%s,`, last, strings.Repeat(`{"n": `, 8), end, strings.Repeat("}", 8))
	var many strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&many, `"p%d": {},`, i)
	}
	object := `{"properties": {` + many.String() + `"last": {}}}`
	long := strings.Repeat("x", 1<<20)
	for _, test := range []struct{ name, schema, rest, report string }{
		{"references through references", ref(0), levels.String(), "circle"},
		{"a reference without end", `{"$ref": "#/` + long + `"}`, "", "is too long"},
		{"objects with more properties than are shown", `{"allOf": [{"$ref": "#/big"}, {"$ref": "#/big"}, {"$ref": "#/big"}]}`, `"big": ` + object + `,`, "deeper ones are left out"},
		{"long names again and again", `{"properties": {` + strings.TrimSuffix(strings.Repeat(`"a": {"properties": {"`+long[:100_000]+`": {}}},`, 400), ",") + `}}`, "", "deeper ones are left out"},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := `{"openapi": "3.1.0", ` + test.rest + `"paths": {"/a": {"post": {"requestBody": {"content": {"a/b": {"schema": ` + test.schema + `}}}}}}}`
			r := NewReader(fstest.MapFS{"x.json": {Data: []byte(file)}})
			s := r.Spec("x.json")
			if s == nil || len(s.Operations) != 1 {
				t.Fatalf("no operation: %v", r.Diagnostics())
			}
			raw, err := json.Marshal(r.Slice(s, &s.Operations[0]))
			if err != nil || len(raw) > 2*maxSliceBytes {
				t.Errorf("the slice has %d bytes, %v", len(raw), err)
			}
			said := ""
			for _, d := range r.Diagnostics() {
				said += d.Message + "\n"
			}
			if !strings.Contains(said, test.report) || len(said) > 4000 {
				t.Errorf("the report has %d bytes: %.500s", len(said), said)
			}
		})
	}
}
