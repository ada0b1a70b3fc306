package reference

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// outline is a page's nodes as lines: fields with their attributes, and the
// words of everything else.
func outline(nodes []*mdx.Node) string {
	var b strings.Builder
	var walk func(n *mdx.Node, depth int)
	walk = func(n *mdx.Node, depth int) {
		in := strings.Repeat("  ", depth)
		if n.Kind == mdx.Element {
			b.WriteString(in + n.Name)
			for _, a := range n.Attrs {
				b.WriteString(" " + a.Name)
				if a.Kind != mdx.AttrBool {
					b.WriteString("=" + a.Value)
				}
			}
			b.WriteString("\n")
			for _, c := range n.Children {
				walk(c, depth+1)
			}
			return
		}
		b.WriteString(in + mdx.PlainText(n) + "\n")
	}
	for _, n := range nodes {
		walk(n, 0)
	}
	return b.String()
}

// Every word of a schema is shown, in both versions' ways.
func TestSchemas(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"a type", `{type: string}`, "ParamField body=v type=string\n"},
		{"nothing", `{}`, "ParamField body=v type=any\n"},
		{"true", `true`, "ParamField body=v type=any\n"},
		{"false", `false`, "ParamField body=v type=never\n"},
		{"a format", `{type: integer, format: int64}`, "ParamField body=v type=integer<int64>\n"},
		{"null as in 3.0", `{type: string, nullable: true}`, "ParamField body=v type=string | null\n"},
		{"null as in 3.1", `{type: [string, "null"]}`, "ParamField body=v type=string | null\n"},
		{"null alone", `{type: "null"}`, "ParamField body=v type=null\n"},
		{"null as an alternative", `{anyOf: [{type: integer}, {type: "null"}]}`, "ParamField body=v type=integer | null\n"},
		{"several types", `{type: [string, integer]}`, "ParamField body=v type=string | integer\n"},
		{"bounds as in 3.0", `{type: number, minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false}`,
			"ParamField body=v type=number\n  exclusiveMinimum: 0 maximum: 9\n"},
		{"bounds as in 3.1", `{type: number, exclusiveMinimum: 0, maximum: 9, multipleOf: 0.5}`,
			"ParamField body=v type=number\n  exclusiveMinimum: 0 maximum: 9 multipleOf: 0.5\n"},
		{"texts", `{type: string, minLength: 1, maxLength: 5, pattern: "^a$"}`, "ParamField body=v type=string\n  minLength: 1 maxLength: 5 pattern: ^a$\n"},
		{"an enum", `{type: string, enum: [a, b, null]}`, "ParamField body=v type=enum<string> | null\n  Available options: a, b, null\n"},
		{"an enum without a type", `{enum: [1, 2]}`, "ParamField body=v type=number\n  Available options: 1, 2\n"},
		{"an enum with words", `{type: string, enum: [a, b], x-enum-descriptions: [First, Second]}`,
			"ParamField body=v type=enum<string>\n  Available options:\n  a Firstb Second\n"},
		{"a constant", `{const: a}`, "ParamField body=v type=string\n  Available options: a\n"},
		{"values", `{type: integer, default: 3, example: 4, deprecated: true, readOnly: false, writeOnly: true, description: "A *word*."}`,
			"ParamField body=v type=integer deprecated default=3 placeholder=4 post=[\"write-only\"]\n  A word.\n"},
		{"labels", `{type: string, x-mint: {pre: [" a", " a"], post: ["` + strings.Repeat("é", 70) + `", 2]}}`,
			"ParamField body=v type=string pre=[\" a\"] post=[\"" + strings.Repeat("é", 60) + "…\",\"2\"]\n"},
		{"more labels than a field shows", `{type: string, x-mint: {pre: [` + strings.Repeat("a, b, ", 9) + `c, d, e, f, g, h, i, j, k, l]}}`,
			"ParamField body=v type=string pre=[\"a\",\"b\"]\n"},
		{"a list", `{type: array, items: {type: string}, minItems: 1, uniqueItems: true}`, "ParamField body=v type=array<string>\n  minItems: 1 uniqueItems: true\n"},
		{"a list of objects", `{type: array, items: {type: object, required: [a], properties: {a: {type: string}}}}`,
			"ParamField body=v type=array<object>\n  Expandable\n    ParamField body=a type=string required\n"},
		{"a tuple", `{type: array, prefixItems: [{type: string}, {type: integer}]}`,
			"ParamField body=v type=array\n  ParamField body=[0] type=string\n  ParamField body=[1] type=integer\n"},
		{"an object", `{type: object, properties: {b: {type: string}, a: {type: object, properties: {c: {type: boolean}}}}}`,
			"ParamField body=v type=object\n  Expandable\n    ParamField body=b type=string\n    ParamField body=a type=object\n      Expandable\n        ParamField body=c type=boolean\n"},
		{"what only answers have", `{type: object, properties: {a: {type: string, readOnly: true}, b: {type: string}}}`,
			"ParamField body=v type=object\n  Expandable\n    ParamField body=b type=string\n"},
		{"any other property", `{type: object, additionalProperties: {type: integer, minimum: 1}, patternProperties: {"^x-": {type: string}}}`,
			"ParamField body=v type=object\n  Expandable\n    ParamField body=/^x-/ type=string\n    ParamField body={key} type=integer\n      minimum: 1\n"},
		{"allOf", `{allOf: [{type: object, properties: {a: {type: string}}}, {required: [a, b]}, {properties: {b: {type: string}, a: {description: later}}}], description: Both.}`,
			"ParamField body=v type=object\n  Both.\n  Expandable\n    ParamField body=a type=string required\n    ParamField body=b type=string required\n"},
		{"a reference with words of its own", `{allOf: [{$ref: "#/components/schemas/Named"}], description: Mine.}`,
			"ParamField body=v type=string\n  Mine.\n  maxLength: 9\n"},
		{"a reference with words beside it", `{$ref: "#/components/schemas/Named", description: Mine.}`,
			"ParamField body=v type=string\n  Mine.\n  maxLength: 9\n"},
		{"oneOf scalars", `{oneOf: [{type: string}, {type: integer}]}`, "ParamField body=v type=string | integer\n"},
		{"oneOf objects", `{oneOf: [{$ref: "#/components/schemas/Cat"}, {title: "A [dog]", type: object, properties: {bark: {type: boolean}}}], discriminator: {propertyName: kind, mapping: {cat: Cat}}}`,
			"ParamField body=v type=object\n  discriminator: kind\n  One of these:\n  Expandable title=Option 1: Cat (kind = cat)\n    ParamField body=meow type=boolean\n  Expandable title=Option 2: A \\[dog\\]\n    ParamField body=bark type=boolean\n"},
		{"not", `{type: string, not: {type: integer}}`, "ParamField body=v type=string\n  Not allowed: integer\n"},
		{"if, then and else", `{type: object, properties: {c: {type: string}, z: {type: string}}, if: {properties: {c: {const: US}}}, then: {required: [z], properties: {z: {pattern: "^[0-9]+$"}}}, else: {not: {required: [z]}}}`, "ParamField body=v type=object\n  Expandable\n    ParamField body=c type=string\n    ParamField body=z type=string\n  If c = US\n  Then: required: z\n  Expandable\n    ParamField body=z type=any required\n      pattern: ^[0-9]+$\n  Otherwise:\n  Not allowed: z is set\n"},
		{"conditions in allOf", `{type: object, properties: {a: {type: string}}, allOf: [{if: {properties: {a: {enum: [x, y]}}, required: [a]}, then: {required: [b]}}, {if: {required: [d]}, then: false}]}`, "ParamField body=v type=object\n  Expandable\n    ParamField body=a type=string\n  If a = x | y\n  Then: required: b\n  If d is set\n  Then: Not allowed\n"},
		{"what depends on a property", `{type: object, properties: {card: {type: string}}, dependentRequired: {card: [bill, cvc]}, dependentSchemas: {card: {properties: {bill: {type: integer, minimum: 1}}}}}`, "ParamField body=v type=object\n  Expandable\n    ParamField body=card type=string\n  If card is set\n  Then: required: bill, cvc\n  If card is set\n  Then:\n  Expandable\n    ParamField body=bill type=integer\n      minimum: 1\n"},
		{"dependencies", `{type: object, dependencies: {a: [b], c: {properties: {d: {type: boolean}}}}}`, "ParamField body=v type=object\n  If a is set\n  Then: required: b\n  If c is set\n  Then:\n  Expandable\n    ParamField body=d type=boolean\n"},
		{"a condition on a value", `{type: integer, if: {minimum: 10}, then: {multipleOf: 10}, else: {enum: [1, 2]}}`, "ParamField body=v type=integer\n  If minimum 10\n  Then:\n  multipleOf: 10\n  Otherwise:\n  Available options: 1, 2\n"},
		{"a condition that is not", `{if: {not: {properties: {a: {properties: {b: {type: string}}}}}}, then: {$ref: "#/components/schemas/Cat"}}`, "ParamField body=v type=any\n  If not (a.b: string)\n  Then:\n  Expandable\n    ParamField body=meow type=boolean\n"},
		{"a condition without effect", `{type: string, if: {const: a}, else: {}}`, "ParamField body=v type=string\n"},
		{"a condition in itself", `{$ref: "#/components/schemas/Loop"}`, "ParamField body=v type=object\n  If x is set\n  Then:\n  As above: Loop\n"},
		{"names that one of two requires", `{type: object, properties: {a: {}}, anyOf: [{required: [a]}, {required: [b, c]}]}`, "ParamField body=v type=object\n  Expandable\n    ParamField body=a type=any\n  Any of these:\n  Expandable title=Option 1: any\n    Required: a\n  Expandable title=Option 2: any\n    Required: b, c\n"},
		{"what is not allowed together", `{type: object, properties: {a: {}}, not: {anyOf: [{required: [a, b]}, {properties: {c: {enum: [1, 2]}}}]}}`, "ParamField body=v type=object\n  Not allowed: (a is set and b is set) or c = 1 | 2\n  Expandable\n    ParamField body=a type=any\n"},
		{"a schema in itself", `{$ref: "#/components/schemas/Tree"}`,
			"ParamField body=v type=object\n  Expandable\n    ParamField body=left type=object\n      As above: Tree\n    ParamField body=all type=array<object>\n      As above: Tree\n"},
		{"a list of itself", `{$ref: "#/components/schemas/Lists"}`, "ParamField body=v type=array<array<array<array>>>\n"},
		{"nowhere", `{$ref: "#/components/schemas/Nowhere"}`, "ParamField body=v type=any\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewReader(site("x.yaml", `
openapi: 3.1.0
components:
  schemas:
    Named: {type: string, maxLength: 9}
    Cat: {type: object, properties: {meow: {type: boolean}}}
    Tree: {type: object, properties: {left: {$ref: "#/components/schemas/Tree"}, all: {type: array, items: {$ref: "#/components/schemas/Tree"}}}}
    Loop: {type: object, if: {required: [x]}, then: {$ref: "#/components/schemas/Loop"}}
    Lists: {type: array, items: {$ref: "#/components/schemas/Lists"}}
    Subject: `+c.schema+"\n"))
			s := r.Spec("x.yaml")
			o := Operation{op: place{doc: s.doc}}
			slice := r.Slice(s, &o)
			cut := &slicer{r: r, spent: new(int), limit: maxSliceBytes, slice: slice}
			x := cut.schema(place{doc: s.doc, v: s.schemas.get("Subject")}, 0)
			b := &builder{slice: slice, kind: "ParamField", place: "body"}
			got := outline([]*mdx.Node{b.field(field{name: "v", schema: x}, 0)})
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// Examples are the author's, or made up from types, always the same.
func TestExamples(t *testing.T) {
	for _, c := range []struct{ name, schema, sent, answered string }{
		{"types", `{type: object, properties: {s: {type: string}, i: {type: integer, minimum: 3}, n: {type: number}, b: {type: boolean}, a: {type: array, items: {type: string, format: uuid}}, x: {}}}`,
			`{"s":"<string>","i":3,"n":1.5,"b":true,"a":["3c90c3cc-0d44-4b50-8888-8dd25736052a"],"x":null}`, ""},
		{"the author's", `{type: object, properties: {e: {type: string, example: x}, d: {type: integer, default: 7}, c: {const: k}, o: {enum: [p, q]}, z: {type: string, example: 20240523.1}}}`,
			`{"e":"x","d":7,"c":"k","o":"p","z":"20240523.1"}`, ""},
		{"of the whole", `{type: object, example: {b: 1, a: 2}, properties: {a: {type: string}}}`, `{"b":1,"a":"2"}`, ""},
		{"texts without quotes", `{type: object, properties: {zip: {type: string, example: 02142}, phone: {type: [string, "null"], example: +4912345}, hex: {type: string, default: 0x1F}, on: {type: string, const: True}, month: {type: string, enum: [01, 02, 010]}, n: {type: integer, example: 010}, f: {type: number, example: .5}, u: {type: [string, integer], example: 1_000}, either: {type: [string, integer], example: 0x1F}}}`,
			`{"zip":"02142","phone":"+4912345","hex":"0x1F","on":"True","month":"01","n":10,"f":0.5,"u":"1_000","either":31}`, ""},
		{"texts without quotes, inside", `{type: object, example: {zips: [02142, 010], by: {a: 01}, any: {zip: 0x10}, n: 010, free: 010}, properties: {zips: {type: array, items: {type: string}}, by: {type: object, additionalProperties: {type: string}}, any: {allOf: [{$ref: "#/components/schemas/Zip"}]}, n: {anyOf: [{type: integer}, {type: string}]}}}`,
			`{"zips":["02142","010"],"by":{"a":"01"},"any":{"zip":"0x10"},"n":10,"free":10}`, ""},
		{"sides", `{type: object, properties: {r: {type: boolean, readOnly: true}, w: {type: boolean, writeOnly: true}}}`, `{"w":true}`, `{"r":true}`},
		{"sides of the author's value", `{type: object, example: {id: 1, name: n, password: p, in: {at: 2, of: 3}, list: [{id: 4, name: m}]}, properties: {id: {type: integer, readOnly: true}, password: {type: string, writeOnly: true}, in: {type: object, properties: {at: {type: integer, readOnly: true}}}, list: {type: array, items: {type: object, properties: {id: {type: integer, readOnly: true}}}}}}`,
			`{"name":"n","password":"p","in":{"of":3},"list":[{"name":"m"}]}`, `{"id":1,"name":"n","in":{"at":2,"of":3},"list":[{"id":4,"name":"m"}]}`},
		{"circles", `{type: object, properties: {n: {type: boolean}, self: {$ref: "#/components/schemas/Subject"}, more: {type: array, items: {$ref: "#/components/schemas/Subject"}}}}`,
			`{"n":true,"self":{"n":true,"more":[]},"more":[{"n":true,"more":[]}]}`, ""},
		{"the first alternative", `{oneOf: [{type: object, properties: {a: {type: boolean}}}, {type: string}]}`, `{"a":true}`, ""},
		{"an alternative beside properties", `{type: object, properties: {k: {type: boolean}}, anyOf: [{properties: {a: {type: boolean}}}]}`, `{"k":true,"a":true}`, ""},
		{"others", `{type: object, additionalProperties: {type: integer}}`, `{"key":1}`, ""},
		{"what can't be", `{type: object, properties: {a: false, b: {type: boolean}}}`, `{"b":true}`, ""},
		{"bounds", `{type: object, properties: {between: {type: number, exclusiveMinimum: 0, exclusiveMaximum: 1}, above: {type: integer, exclusiveMinimum: 1}, below: {type: integer, maximum: -3}, from: {type: integer, minimum: 7}, step: {type: integer, minimum: 11, multipleOf: 5}, half: {type: number, multipleOf: 0.5}, none: {type: integer, minimum: 2, maximum: 1}}}`,
			`{"between":0.5,"above":2,"below":-3,"from":7,"step":15,"half":1.5,"none":2}`, ""},
		{"the name of an alternative", `{oneOf: [{$ref: "#/components/schemas/A"}], discriminator: {propertyName: kind, mapping: {aa: A}}, type: object}`, `{"kind":"aa"}`, ""},
		{"its author's name", `{oneOf: [{$ref: "#/components/schemas/B"}], discriminator: {propertyName: kind, mapping: {bb: B}}, type: object}`, `{"kind":"b"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewReader(site("x.yaml", "openapi: 3.1.0\ncomponents:\n  schemas:\n    A: {type: object, properties: {kind: {type: string}}}\n    B: {type: object, properties: {kind: {type: string, enum: [b]}}}\n    Zip: {type: object, properties: {zip: {type: string}}}\n    Subject: "+c.schema+"\n"))
			s := r.Spec("x.yaml")
			slice := r.Slice(s, s.Find(Key{Kind: KindSchema, Path: "Subject"}))
			if c.answered == "" {
				c.answered = c.sent
			}
			if got := string(slice.example(slice.resolve(slice.Schema), sent, false)); got != c.sent {
				t.Errorf("sent:\n%s\nwant\n%s", got, c.sent)
			}
			if got := string(slice.example(slice.resolve(slice.Schema), answered, false)); got != c.answered {
				t.Errorf("answered:\n%s\nwant\n%s", got, c.answered)
			}
		})
	}
}

// Aliases make much of a small file: a slice stays within its bounds, and says
// that it was cut.
func TestSliceIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("openapi: 3.1.0\nx-long: &long \"" + strings.Repeat("long ", 100_000) + "\"\nx-param: &param {in: query, name: q, description: *long, schema: {properties: {a: {description: *long}}}}\n")
	b.WriteString("x-answer: &answer\n  description: *long\n  headers: &headers\n")
	for i := range 300 {
		fmt.Fprintf(&b, "    H%d: *param\n", i)
	}
	b.WriteString("  content:\n    a/b: {schema: {allOf: [&s {properties: {n: *answer0}}]}}\n")
	b.WriteString("paths:\n  /a:\n    get:\n      parameters: [*param]\n      responses:\n")
	for i := range 300 {
		fmt.Fprintf(&b, "        \"%d\": *answer\n", i+200)
	}
	src := strings.ReplaceAll(b.String(), "*answer0", "{type: string}")
	r := NewReader(site("x.yaml", src))
	s := r.Spec("x.yaml")
	if s == nil || len(s.Operations) != 1 {
		t.Fatalf("%v", told(r))
	}
	raw, err := json.Marshal(r.Slice(s, &s.Operations[0]))
	if err != nil || len(raw) > 2*maxSliceBytes {
		t.Errorf("%d bytes (%v)", len(raw), err)
	}
	if said := strings.Join(told(r), " "); !strings.Contains(said, "api-cut") {
		t.Errorf("said %q", said)
	}
}
