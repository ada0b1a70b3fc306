package reference

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// restricted slices an operation of the specification api.yaml beside other files,
// for groups.
func restricted(t *testing.T, groups []string, key Key, files map[string]string) (string, *Reader, *Spec) {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	r := NewReader(fsys)
	r.LetIn(groups)
	spec := r.Spec("api.yaml")
	if spec == nil {
		return "", r, nil
	}
	o := spec.Find(key)
	if o == nil {
		return "", r, spec
	}
	data, err := r.Slice(spec, o).Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(data), r, spec
}

const restrictedHead = "openapi: 3.1.0\ninfo: {title: T, version: '1'}\n"

// What restricts a part, wherever it stands, also in another file: nothing of it
// is in the slice, and what stands beside it is.
func TestRestrictedParts(t *testing.T) {
	const other = "Marked: {x-mint: {groups: [staff]}, description: quokka, type: object, properties: {quokka: {type: string}}}\n" +
		"Deep: {type: object, properties: {open: {type: string}, quokka: {x-mint: {groups: [staff]}, type: string}}}\n"
	body := func(schema, example string) string {
		return "paths: {/a: {post: {requestBody: {content: {application/json: {schema: " + schema + example + "}}}, responses: {}}}}\n"
	}
	for _, c := range []struct{ name, text string }{
		{"a property", body("{properties: {open: {type: string}, quokka: {x-mint: {groups: [staff]}}}}", ", example: {open: 1, quokka: 2}")},
		{"a property by a text", body("{properties: {open: {type: string}, quokka: {x-mint: {groups: 'board, staff'}}}}", ", example: {open: 1, quokka: 2}")},
		{"a property by its metadata", body("{properties: {open: {type: string}, quokka: {x-mint: {metadata: {groups: [staff]}}}}}", ", example: {open: 1, quokka: 2}")},
		{"a property in a property", body("{properties: {open: {properties: {quokka: {x-mint: {groups: [staff]}}}}}}", ", example: {open: {quokka: [2]}}")},
		{"a property of items", body("{type: array, items: {properties: {open: {}, quokka: {x-mint: {groups: [staff]}}}}}", ", example: [{open: 1, quokka: 2}]")},
		{"a required property", body("{required: [open, quokka], properties: {open: {}, quokka: {x-mint: {groups: [staff]}}}}", "")},
		{"of all others", body("{properties: {open: {}}, additionalProperties: {x-mint: {groups: [staff]}, description: quokka}}", "")},
		{"by a pattern", body("{properties: {open: {}}, patternProperties: {quokka: {x-mint: {groups: [staff]}}}}", "")},
		{"an alternative", body("{oneOf: [{x-mint: {groups: [staff]}, properties: {quokka: {}, open: {}}}, {properties: {open: {}}}]}", ", examples: {one: {value: {open: 1, quokka: 2}}}")},
		{"of alternatives in allOf", body("{allOf: [{anyOf: [{x-mint: {groups: [staff]}, title: quokka}, {properties: {open: {}}}]}]}", "")},
		{"a part of allOf", body("{allOf: [{x-mint: {groups: [staff]}, properties: {quokka: {}}}, {properties: {open: {}}}]}", ", example: {open: 1, quokka: 2}")},
		{"all alternatives of a mapping", body("{properties: {open: {}}, discriminator: {propertyName: open, mapping: {quokka: '#/components/schemas/M'}}, oneOf: [{x-mint: {groups: [staff]}, $ref: '#/components/schemas/M'}]}", "") + "components: {schemas: {M: {description: quokka}}}\n"},
		{"a schema that others refer to", body("{properties: {open: {}, quokka: {$ref: '#/components/schemas/Q'}}}", ", example: {open: 1, quokka: 2}") +
			"components: {schemas: {Q: {$ref: '#/components/schemas/R'}, R: {x-mint: {groups: [staff]}, description: quokka}}}\n"},
		{"a part of a schema that is left out", body("{properties: {open: {}, part: {$ref: '#/components/schemas/X/properties/y'}}}", "") +
			"components: {schemas: {X: {x-mint: {groups: [staff]}, properties: {y: {description: quokka}}}}}\n"},
		{"a part of one by its anchor", body("{properties: {open: {}, part: {$ref: '#inner'}}}", "") +
			"components: {schemas: {X: {x-mint: {groups: [staff]}, properties: {y: {$anchor: inner, description: quokka}}}}}\n"},
		{"a schema in a circle", body("{$ref: '#/components/schemas/C'}", ", example: {open: {open: {quokka: 1}}}") +
			"components: {schemas: {C: {properties: {open: {$ref: '#/components/schemas/C'}, quokka: {x-mint: {groups: [staff]}, $ref: '#/components/schemas/C'}}}}}\n"},
		{"a schema of another file", body("{properties: {open: {}, quokka: {$ref: 'other.yaml#/Marked'}}}", ", example: {open: 1, quokka: 2}")},
		{"an alternative of another file", body("{anyOf: [{$ref: 'other.yaml#/Marked'}, {properties: {open: {}}}]}", "")},
		{"a property in another file", body("{$ref: 'other.yaml#/Deep'}", ", example: {open: 1, quokka: 2}")},
		{"a value of an enum", body("{properties: {open: {enum: [x, quokka], x-enumDescriptions: {quokka: a quokka}, default: quokka, x-mint-enum: {quokka: [staff]}}}}", ", example: {open: quokka}")},
		{"in conditions", body("{properties: {open: {}, quokka: {x-mint: {groups: [staff]}}}, if: {required: [quokka], properties: {quokka: {const: 1}}}, then: {required: [open, quokka]}, else: {properties: {quokka: {const: 2}}}, not: {required: [quokka]}, dependentRequired: {quokka: [open], open: [quokka]}, dependentSchemas: {open: {properties: {quokka: {const: 1}}}}}", "")},
		{"an answer", "paths: {/a: {post: {description: open, responses: {'200': {x-mint: {groups: [staff]}, description: quokka}}}}}\n"},
		{"a body", "paths: {/a: {post: {description: open, requestBody: {x-mint: {groups: [staff]}, description: quokka}, responses: {}}}}\n"},
		{"a parameter", "paths: {/a: {parameters: [{name: quokka, in: query, x-mint: {groups: [staff]}}], post: {description: open, x-codeSamples: [{lang: bash, source: 'curl ?quokka=1'}], responses: {}}}}\n"},
		{"a parameter that is referred to", "paths: {/a: {post: {description: open, parameters: [{$ref: '#/components/parameters/P'}], x-codeSamples: [{lang: bash, source: 'curl ?quokka=1'}], responses: {}}}}\n" +
			"components: {parameters: {P: {name: quokka, in: query, x-mint: {groups: [staff]}}}}\n"},
		{"an example by its name", body("{oneOf: [{x-mint: {groups: [staff]}, properties: {quokka: {}}}, {properties: {open: {}}}]}", ", examples: {quokka: {value: 1}, open: {value: {open: 1}}}")},
		{"a part of a form", "paths: {/a: {post: {requestBody: {content: {multipart/form-data: {schema: {properties: {open: {}, quokka: {x-mint: {groups: [staff]}}}}, encoding: {quokka: {contentType: a/b}}}}}, responses: {}}}}\n"},
		{"a link to an operation", "paths: {/a: {post: {description: open, responses: {'200': {description: ok, links: {a: {operationId: quokka}, b: {operationRef: '#/paths/~1quokka/get'}}}}}}, /quokka: {x-mint: {groups: [staff]}, get: {operationId: quokka}}}\n"},
		{"behind an alias", "x-part: &p {x-mint: {groups: [staff]}, description: quokka}\n" + body("{properties: {open: {}, quokka: *p}}", "")},
		{"in XML", body("{properties: {open: {}, quokka: {x-mint: {groups: [staff]}}}}, x: 1}, application/xml: {schema: {}", ", example: '<open><quokka/></open>'")},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"api.yaml": restrictedHead + c.text, "other.yaml": other}
			key := Key{Kind: KindOperation, Method: "POST", Path: "/a"}
			slice, r, _ := restricted(t, nil, key, files)
			if strings.Contains(slice, "quokka") || !strings.Contains(slice, "open") {
				t.Errorf("the slice is %s", slice)
			}
			for _, d := range r.Diagnostics() {
				if d.Code != "api-restricted" || strings.Contains(d.Message, "quokka") {
					t.Errorf("reported: %v", d)
				}
			}
			if len(r.RestrictedFiles()) == 0 {
				t.Error("the file could be published")
			}
			if slice, r, _ = restricted(t, []string{"staff"}, key, files); !strings.Contains(slice, "quokka") {
				t.Errorf("for its group the slice is %s", slice)
			} else if found := r.Diagnostics(); len(found) > 0 || len(r.RestrictedFiles()) > 0 {
				t.Errorf("for its group: %v, %v", found, r.RestrictedFiles())
			}
		})
	}
}

// Operations that are left out are known as such, by whatever name a page has for
// them; those beside them are there.
func TestRestrictedOperations(t *testing.T) {
	const mark = "x-mint: {groups: [board, staff]}"
	text := restrictedHead + `paths:
  /op/{id}: {get: {` + mark + `}, put: {}}
  /item: {` + mark + `, get: {}}
  /ref: {$ref: "#/components/pathItems/P"}
  /file: {$ref: "other.yaml#/Item"}
  /inside: {$ref: "other.yaml#/Inside"}
webhooks: {paid: {post: {` + mark + `}}}
components: {pathItems: {P: {` + mark + `, get: {}}}, schemas: {S: {` + mark + `}, T: {}}}
`
	other := "Item: {" + mark + ", get: {}}\nInside: {get: {" + mark + "}, put: {}}\n"
	_, r, spec := restricted(t, []string{"crew"}, Key{}, map[string]string{"api.yaml": text, "other.yaml": other})
	op := func(method, path string) Key { return Key{Kind: KindOperation, Method: method, Path: path} }
	for key, out := range map[Key]bool{
		op("GET", "/op/{name}"): true, op("PUT", "/op/{id}"): false, op("GET", "/item"): true, op("GET", "/ref"): true, op("GET", "/file"): true,
		op("GET", "/inside"): true, op("PUT", "/inside"): false, {Kind: KindWebhook, Path: "paid"}: true,
		{Kind: KindSchema, Path: "S"}: true, {Kind: KindSchema, Path: "T"}: false,
	} {
		_, left := spec.Restricted(key)
		if left != out || (spec.Find(key) == nil) != out {
			t.Errorf("%s is left out: %t, and is there: %t", key, left, spec.Find(key) != nil)
		}
	}
	if only, _ := spec.Restricted(op("GET", "/item")); only.String() != `the groups "board", "staff"` {
		t.Errorf("it is for %s", only)
	}
	if d := cmp.Diff([]string{"board", "staff"}, r.Groups()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"api.yaml", "other.yaml"}, r.RestrictedFiles()); d != "" {
		t.Error(d)
	}
	lines := 0
	for _, d := range r.Diagnostics() {
		if d.Code != "api-restricted" || d.Line == 0 {
			t.Errorf("reported: %v", d)
		}
		lines++
	}
	if lines == 0 {
		t.Error("nothing is reported")
	}

	// A specification may be for a group as a whole.
	if _, r, spec := restricted(t, nil, Key{}, map[string]string{"api.yaml": mark + "\n" + text}); spec != nil || !slices.Equal(r.RestrictedFiles(), []string{"api.yaml", "other.yaml"}) {
		t.Errorf("it is there, and %v are left out", r.RestrictedFiles())
	}
}

// Channels of AsyncAPI are operations like others.
func TestRestrictedChannels(t *testing.T) {
	text := "asyncapi: 3.0.0\ninfo: {title: T, version: '1'}\nchannels:\n  quokka: {x-mint: {groups: [staff]}, address: quokka}\n" +
		"  open: {address: open, messages: {m: {payload: {properties: {open: {}, quokka: {x-mint: {groups: [staff]}}}}, examples: [{payload: {open: 1, quokka: 2}}]}}}\n" +
		"operations: {o: {action: send, channel: {$ref: '#/channels/open'}}, p: {x-mint: {groups: [staff]}, action: send, summary: quokka, channel: {$ref: '#/channels/open'}}}\n"
	files := map[string]string{"api.yaml": text}
	slice, _, spec := restricted(t, nil, Key{Kind: KindChannel, Path: "open"}, files)
	if strings.Contains(slice, "quokka") || !strings.Contains(slice, `"open":1`) {
		t.Errorf("the slice is %s", slice)
	}
	if _, out := spec.Restricted(Key{Kind: KindChannel, Path: "quokka"}); !out || spec.Find(Key{Kind: KindChannel, Path: "quokka"}) != nil {
		t.Error("the channel is there")
	}
}

// What only looks like a specification is looked at too, and what can't be read
// is not published; other data is.
func TestLook(t *testing.T) {
	for text, out := range map[string]bool{
		`{"a": {"x-mint": {"groups": ["staff"]}}}`: true,
		`{"a": {"x-mint": {"groups": ["board"]}}}`: false,
		`{"a": {"x-mint": {"content": "Words."}}}`: false,
		`{"a": {"x-mint": {"groups": ["staff"]}`:   true,
		`{"a": {"x-mint-enum": {"b": ["staff"]}}}`: true,
		`{"groups": ["staff"]}`:                    false,
		"a:\n  x-mint:\n    groups: [staff]\n":     true,
		"a: [\n  x-mint:\n    groups: [staff]\n":   true,
	} {
		r := NewReader(fstest.MapFS{"a.json": {Data: []byte(text)}})
		r.LetIn([]string{"board"})
		if err := r.Look("a.json"); err != nil {
			t.Fatal(err)
		}
		if got := len(r.RestrictedFiles()) > 0; got != out || len(r.Diagnostics()) > 0 {
			t.Errorf("%s is left out: %t", text, got)
		}
	}
}
