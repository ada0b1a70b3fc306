package reference

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/render/mdx"

	"github.com/bindery-docs/bindery/tests/outside"
)

// levels is a specification of 15 schemas, each of which is made of ten times
// the next, as form has it: LIST stands for the ten, MEMBERS for them by name.
func levels(form string) string {
	schemas := make([]string, 16)
	for i := range 15 {
		next := fmt.Sprintf(`{"$ref": "#/components/schemas/S%d"}`, i+1)
		list, members := make([]string, 10), make([]string, 10)
		for k := range list {
			list[k], members[k] = next, fmt.Sprintf(`"p%d": %s`, k, next)
		}
		schemas[i] = fmt.Sprintf(`"S%d": `, i) + strings.NewReplacer("LIST", strings.Join(list, ","), "MEMBERS", strings.Join(members, ",")).Replace(form)
	}
	schemas[15] = `"S15": {"type": "string", "description": "The last.", "enum": ["a", "b"]}`
	body := `{"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}`
	return `{"openapi": "3.1.0", "paths": {"/a": {"post": {"requestBody": ` + body + `, "responses": {"200": ` + body + `},
		"callbacks": {"c": {"/x": {"post": {"requestBody": ` + body + `}}}}}}}, "components": {"schemas": {` + strings.Join(schemas, ",") + `}}}`
}

// show makes the nodes of each operation of a specification. It returns how many
// they are, whether a page was cut, and how many bytes were allocated.
func show(t *testing.T, file, source string) (nodes int, cut bool, allocated uint64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := NewReader(fstest.MapFS{file: {Data: []byte(source)}})
	s := r.Spec(file)
	if s == nil {
		t.Fatalf("no specification: %v", r.Diagnostics())
	}
	for i := range s.Operations {
		slice := r.Slice(s, &s.Operations[i])
		content := slice.Content(Options{Playground: true})
		signs := 0
		for _, n := range slices.Concat(content.Head, content.Body, content.Beside) {
			mdx.Walk(n, func(n *mdx.Node) bool {
				if nodes++; strings.HasPrefix(n.Value, "…") {
					signs++
				}
				return true
			})
		}
		if cut = cut || content.Cut; content.Cut && signs == 0 {
			t.Errorf("%s was cut, but the page does not show it", slice.Key)
		}
	}
	runtime.ReadMemStats(&after)
	return nodes, cut, after.TotalAlloc - before.TotalAlloc
}

// A few kilobytes that stand for very much are shown as far as a page's budget
// goes: the alternatives of one of them took 2.7 GB and did not come to an end.
func TestBudgetOfAPage(t *testing.T) {
	for _, form := range []string{
		`{"oneOf": [LIST]}`,
		`{"anyOf": [LIST], "type": "object", "properties": {MEMBERS}}`,
		`{"properties": {MEMBERS}, "type": "object"}`,
		`{"patternProperties": {MEMBERS}, "additionalProperties": {"oneOf": [LIST]}}`,
		`{"allOf": [LIST]}`,
		`{"allOf": [{"oneOf": [LIST]}, {"properties": {MEMBERS}}]}`,
		`{"prefixItems": [LIST]}`,
		`{"type": "array", "items": {"oneOf": [LIST]}}`,
		`{"if": {"required": ["a"]}, "then": {"properties": {MEMBERS}}, "else": {"oneOf": [LIST]}, "type": "object"}`,
		`{"allOf": [{"if": {"anyOf": [LIST]}, "then": {"allOf": [LIST]}}, {"dependentSchemas": {MEMBERS}}], "dependencies": {MEMBERS}}`,
		`{"type": "array", "items": {"prefixItems": [LIST], "oneOf": [{"not": {"oneOf": [LIST]}}, {"properties": {MEMBERS}}]}}`,
	} {
		t.Run(form, func(t *testing.T) {
			nodes, cut, allocated := show(t, "x.json", levels(form))
			if nodes > maxSteps || allocated > 400<<20 {
				t.Errorf("%d nodes, %d MB allocated", nodes, allocated>>20)
			}
			if !cut && !strings.Contains(form, "allOf\": [LIST]") { // ten equal parts are one
				t.Error("the page was not cut")
			}
		})
	}
}

// A few kilobytes of AsyncAPI stand for very much by YAML's aliases, too.
func TestBudgetOfAChannel(t *testing.T) {
	// nested makes ten of the level before, fifteen times.
	nested := func(form, last string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "x-0: &l0 %s\n", last)
		for i := range 15 {
			fmt.Fprintf(&b, "x-%d: &l%d %s\n", i+1, i+1, strings.ReplaceAll(form, "LEVEL", fmt.Sprintf("*l%d ", i)))
		}
		return b.String()
	}
	list := "[" + strings.Repeat("LEVEL,", 10) + "]"
	members := "{a: LEVEL, b: LEVEL, c: LEVEL, d: LEVEL, e: LEVEL, f: LEVEL, g: LEVEL, h: LEVEL, i: LEVEL}"
	var many strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&many, "      m%d: *m\n", i)
	}
	for name, source := range map[string]string{
		"traits of traits":   nested("{traits: "+list+", headers: {properties: {a: {type: string}}}}", "{}") + "channels: {c: {messages: {m: *l15 }}}",
		"bindings":           nested(members, "1") + "channels: {c: {bindings: *l15 }}",
		"schemas of Avro":    nested("{type: record, name: n, fields: [{name: a, type: LEVEL}, {name: b, type: LEVEL}, {name: c, type: LEVEL}]}", "string") + "channels: {c: {messages: {m: {payload: {schemaFormat: avro, schema: *l15 }}}}}",
		"unions of Avro":     nested(list, "string") + "channels: {c: {messages: {m: {payload: {schemaFormat: avro, schema: *l15 }}}}}",
		"alternatives":       nested("{oneOf: "+list+"}", "{name: n}") + "channels: {c: {publish: {message: *l15 }}}",
		"tags":               "x: &m {name: n, tags: [" + strings.Repeat("{name: tag},", 3000) + "]}\nchannels:\n  c:\n    messages:\n" + many.String(),
		"messages, examples": "x: &m {name: n, examples: [" + strings.Repeat("{payload: 1},", 3000) + "]}\nchannels:\n  c:\n    messages:\n" + many.String(),
	} {
		t.Run(name, func(t *testing.T) {
			version := "3.0.0"
			if strings.Contains(source, "publish") {
				version = "2.6.0"
			}
			nodes, _, allocated := show(t, "x.yaml", "asyncapi: "+version+"\n"+source)
			if nodes > maxSteps || allocated > 400<<20 {
				t.Errorf("%d nodes, %d MB allocated", nodes, allocated>>20)
			}
		})
	}
}

// Many operations that share what is large take what their specification may,
// and no more: each is 40 bytes here, and stands for 3,000 parts.
func TestBudgetOfASpecification(t *testing.T) {
	var paths, members strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&paths, `"/p%d": {"$ref": "#/x-shared"},`, i)
		fmt.Fprintf(&members, `"a%d": {},`, i)
	}
	source := `{"openapi": "3.1.0", "paths": {` + paths.String() + `"/last": {}}, "x-shared": {"get": {"responses": {"200": {"content":
		{"a/b": {"schema": {"properties": {` + members.String() + `"last": {}}}}}}}}}}`
	r := NewReader(fstest.MapFS{"x.json": {Data: []byte(source)}})
	s := r.Spec("x.json")
	s.parts = r.specParts() - 100_000 // which earlier pages had
	parts, cut := 0, 0
	for i := range s.Operations {
		slice := r.Slice(s, &s.Operations[i])
		for _, response := range slice.Responses {
			for _, media := range response.Media {
				parts += len(media.Schema.Properties)
			}
		}
		if slice.Cut {
			cut++
		}
		if slice.Steps == 0 || slice.Steps < fewestSteps {
			t.Fatalf("a page may take %d steps", slice.Steps)
		}
	}
	if parts > 100_000 || cut == 0 {
		t.Errorf("%d parts, %d pages were cut", parts, cut)
	}
	said := r.Diagnostics()
	if len(said) != 1 || said[0].Code != "api-cut" || !strings.Contains(said[0].Message, "together") {
		t.Errorf("the report: %v", said)
	}
}

// What a slice takes of texts is counted, wherever they stand: YAML's aliases
// and merge keys put one into thousands of places.
func TestBudgetOfAliases(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	lines := func(form string) string {
		var b strings.Builder
		for i := range 3000 {
			fmt.Fprintf(&b, form, i)
		}
		return b.String()
	}
	head := "openapi: 3.1.0\nx-long: &long {name: " + long + ", style: " + long + ", url: " + long + ", enum: &enum [" + strings.Repeat(long+", ", 10) + "]}\npaths:\n  /a:\n    get:\n"
	for name, source := range map[string]string{
		"styles of headers":  head + "      responses:\n        '200':\n          headers:\n" + lines("            h%d: {<<: *long}\n"),
		"servers":            head + "      servers:\n" + lines("        - {url: a%d, variables: {v: *long}}\n"),
		"names of required":  head + "      responses:\n        '200':\n          content:\n" + lines("            a/%d: {schema: {required: *enum}}\n"),
		"meanings of values": head + "      responses:\n        '200':\n          content:\n" + lines("            a/%d: {schema: {enum: [1,2,3,4,5,6,7,8,9], x-enumDescriptions: *enum}}\n"),
		"summaries":          head + "      responses:\n        '200':\n          content:\n            a/b:\n              examples:\n" + lines("                e%d: {summary: "+long[:1000]+", value: 1}\n"),
	} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(fstest.MapFS{"x.yaml": {Data: []byte(source)}})
			s := r.Spec("x.yaml")
			if s == nil || len(s.Operations) != 1 {
				t.Fatalf("no operation: %v", r.Diagnostics())
			}
			if raw, err := r.Slice(s, &s.Operations[0]).Encode(); err != nil || len(raw) > 2*maxSliceBytes {
				t.Errorf("a slice of %d bytes, %v", len(raw), err)
			}
		})
	}
	var many strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&many, "  k%d: 1\n", i)
	}
	source := "openapi: 3.1.0\nx-many: &many\n" + many.String() + lines("x-%d: {<<: *many}\n") + "paths: {}\n"
	r := NewReader(fstest.MapFS{"x.yaml": {Data: []byte(source)}})
	if s := r.Spec("x.yaml"); s != nil {
		t.Error("27 million members were made of 200 kB")
	}
	if said := fmt.Sprint(r.Diagnostics()); !strings.Contains(said, "merge keys") {
		t.Errorf("the report: %s", said)
	}
}

// What 1,500 operations share is on the first pages whole, and on the others as far as
// there is room. The report says so once.
func TestBudgetOfSharedTexts(t *testing.T) {
	text := strings.Repeat("word ", 3000)
	for name, operation := range map[string]string{
		"an example":    `{"responses": {"200": {"content": {"application/json": {"example": "` + text + `"}}}}}`,
		"a description": `{"description": "` + text + `"}`,
		"a code sample": `{"x-codeSamples": [{"lang": "go", "source": "` + text + `"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			var paths strings.Builder
			for i := range 1500 {
				fmt.Fprintf(&paths, "  /p%d: *shared\n", i)
			}
			r := NewReader(fstest.MapFS{"x.yaml": {Data: []byte("openapi: 3.1.0\nx-shared: &shared {\"get\": " + operation + "}\npaths:\n" + paths.String())}})
			s := r.Spec("x.yaml")
			size, first := 0, 0
			for i := range s.Operations {
				raw, err := r.Slice(s, &s.Operations[i]).Encode()
				if err != nil {
					t.Fatal(err)
				}
				if size += len(raw); i == 0 {
					first = len(raw)
				}
			}
			if first < len(text) || size > 2*maxSpecBytes {
				t.Errorf("the first page has %d bytes, all have %d", first, size)
			}
			if said := r.Diagnostics(); len(said) != 1 || said[0].Code != "api-cut" || !strings.Contains(said[0].Message, "together") {
				t.Errorf("the report: %v", said)
			}
		})
	}
}

// The page of limits has the constants.
func TestLimitsPage(t *testing.T) {
	n := fmt.Sprintf
	outside.LimitRow(t, "What a page shows of a specification", n("%d parts", maxParts), n("%d MiB", maxSliceBytes>>20))
	outside.LimitRow(t, "What all pages show of a specification", n("%d parts, and %d for each byte", maxSpecParts, partsPerByte),
		n("%d MiB, and %d times its size; each page at least %d KiB", maxSpecBytes>>20, bytesPerByte, fewestBytes>>10))
	outside.LimitRow(t, "The content of a page of a specification",
		n("%d nodes; of all pages %d and %d for each byte, divided by the operations, but %d", maxSteps, maxSpecSteps, stepsPerByte, fewestSteps),
		n("%d MiB of descriptions, %d MiB of examples", maxTold>>20, maxCode>>20))
	outside.LimitRow(t, "Fields of a page of a specification", n("%d fields, %d alternatives of `oneOf` and `anyOf` together", maxFields, maxAlternatives))
	outside.LimitRow(t, "Examples that are made up for a page", n("%d values", maxMade), n("%d KiB each", maxExample>>10))
	outside.LimitRow(t, "Merge keys of YAML", n("%d members a file, %d an object", maxFileMerged, maxMerged), n("%d MiB a file", maxFileBytes>>20))
	outside.LimitRow(t, "Operations of a specification", n("%d", maxOperations), n("%d MiB of all specifications", maxBytes>>20))
}
