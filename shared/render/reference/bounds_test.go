package reference

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/render/mdx"
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

// What a specification says once stands on a page a bounded number of times.
func TestBoundsOfSamples(t *testing.T) {
	doubling := Server{URL: "https://{v0}.example/{none}{"}
	for i := range 40 {
		doubling.Variables = append(doubling.Variables, Variable{Name: fmt.Sprintf("v%d", i), Default: fmt.Sprintf("{v%d}{v%d}", i+1, i+1)})
	}
	if got, want := doubling.Address(), "https://{v1}{v1}.example/{none}{"; got != want {
		t.Errorf("the address is %.200q, want %q", got, want)
	}
	long := Server{URL: strings.Repeat("{v}", 1000), Variables: []Variable{{Name: "v", Default: strings.Repeat("x", 100)}}}
	if got := long.Address(); got != long.URL {
		t.Errorf("the address has %d bytes", len(got))
	}
	large, err := json.Marshal(strings.Repeat("x", 50_000))
	if err != nil {
		t.Fatal(err)
	}
	value := &Schema{Types: []string{"string"}, Examples: []json.RawMessage{large}}
	s := &Slice{Key: Key{Kind: KindOperation, Method: "POST", Path: "/{p0}{p0}{p0}"}}
	form := &Schema{Types: []string{"object"}}
	for i := range 500 {
		s.Params = append(s.Params, Param{Name: fmt.Sprintf("p%d", i), In: []string{"path", "query", "header"}[i%3], Required: true, Schema: value})
		form.Properties = append(form.Properties, Property{Name: fmt.Sprintf("p%d", i), Schema: value})
	}
	s.Body = &Body{Media: []Media{{Type: "multipart/form-data", Schema: form}}}
	r := s.request(Options{Prefill: true}, s.bodies()[0])
	size := len(r.url)
	for _, h := range r.headers {
		size += len(h.value)
	}
	for _, f := range r.form {
		size += len(f.value)
	}
	if size > 8*maxExample {
		t.Errorf("a call has %d bytes", size)
	}
	deep := strings.Repeat("[", 180) + strings.Repeat("1,", 20_000) + "1" + strings.Repeat("]", 180)
	if n := len(indented(json.RawMessage(deep))); n > 50*len(deep) {
		t.Errorf("an example of %d bytes has %d", len(deep), n)
	}
}

// A description and an example that everything refers to stand on a page as far
// as it has room.
func TestBoundsOfPages(t *testing.T) {
	large, err := json.Marshal(strings.Repeat("x", 50_000))
	if err != nil {
		t.Fatal(err)
	}
	s := &Slice{Key: Key{Kind: KindOperation, Method: "POST", Path: "/a"}, Schemas: map[string]*Schema{
		"x#/E": {Name: "E", Types: []string{"string"}, Description: strings.Repeat("word ", 20_000), Examples: []json.RawMessage{large}},
	}}
	form := &Schema{Types: []string{"object"}}
	for i := range 1000 {
		name, ref := fmt.Sprintf("p%d", i), &Schema{Ref: "x#/E"}
		s.Params = append(s.Params, Param{Name: name, In: "query", Required: true, Schema: ref})
		s.Responses = append(s.Responses, Response{Status: name, Media: []Media{{Type: "application/json", Schema: ref}}})
		form.Properties = append(form.Properties, Property{Name: name, Schema: ref})
	}
	s.Body = &Body{Media: []Media{{Type: "application/json", Schema: form}}}
	content := s.Content(Options{Playground: true})
	size := 0
	for _, list := range [][]*mdx.Node{content.Head, content.Body, content.Beside} {
		for _, n := range list {
			mdx.Walk(n, func(n *mdx.Node) bool {
				size += len(n.Value)
				for _, a := range n.Attrs {
					size += len(a.Value)
				}
				return true
			})
		}
	}
	if size > 10<<20 {
		t.Errorf("the page has %d bytes", size)
	}
}

// What descriptions hold on a page counts, not how they are written: references of
// Markdown repeat an address.
func TestBoundsOfDescriptions(t *testing.T) {
	long := "[a]: /" + strings.Repeat("x", 10_000) + "\n\n" + strings.Repeat("[a] ", 100)
	s := &Slice{Key: Key{Kind: KindOperation, Method: "GET", Path: "/a"}, Description: long}
	for i := range 100 {
		s.Params = append(s.Params, Param{Name: fmt.Sprintf("p%d", i), In: "query", Description: long})
	}
	content := s.Content(Options{})
	size := 0
	for _, n := range append(content.Head, content.Body...) {
		mdx.Walk(n, func(n *mdx.Node) bool {
			size += n.Size()
			return true
		})
	}
	if size > maxTold+200_000 || size < 1<<20 || !content.Cut {
		t.Errorf("the page has %d bytes, cut: %v", size, content.Cut)
	}
}

// All alternatives of a page share one limit, however they nest.
func TestBoundsOfAlternatives(t *testing.T) {
	leaf := &Schema{Types: []string{"string"}, Description: "word"}
	for name, wrap := range map[string]func(list []*Schema) *Schema{
		"oneOf":       func(list []*Schema) *Schema { return &Schema{OneOf: list} },
		"anyOf":       func(list []*Schema) *Schema { return &Schema{AnyOf: list} },
		"items":       func(list []*Schema) *Schema { return &Schema{Types: []string{"array"}, Items: &Schema{OneOf: list}} },
		"prefixItems": func(list []*Schema) *Schema { return &Schema{Types: []string{"array"}, Tuple: list} },
	} {
		x := leaf
		for range 7 {
			list := make([]*Schema, 10)
			for i := range list {
				list[i] = x
			}
			x = wrap(list)
		}
		s := &Slice{Key: Key{Kind: KindSchema}, Schema: x}
		content := s.Content(Options{})
		shown := 0
		for _, n := range content.Body {
			mdx.Walk(n, func(n *mdx.Node) bool {
				if n.Name == "Expandable" || n.Name == "ResponseField" {
					shown++
				}
				return true
			})
		}
		if most := maxAlternatives + maxFields + 10; shown > most || shown < 100 || !content.Cut {
			t.Errorf("%s: %d parts, at most %d, cut: %v", name, shown, most, content.Cut)
		}
	}
}
