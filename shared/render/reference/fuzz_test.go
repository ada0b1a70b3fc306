package reference

import (
	"bytes"
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Whatever a file says, reading, cutting and showing it ends, gives the same
// twice, and stays within its bounds.
func FuzzReader(f *testing.F) {
	// Seeds are small: the engine takes long to make a large one smaller.
	for _, seed := range []string{
		"openapi: 3.1.0\npaths: {/a/{b}: {parameters: [{in: path, name: b, schema: {type: string}}], get: {tags: [T], responses: {200: {description: x}}}}}",
		"openapi: 3.0.0\nservers: [{url: 'https://{r}.x', variables: {r: {default: e, enum: [e, u]}}}]\npaths: {/a: {get: {security: [{k: []}]}}}\ncomponents: {securitySchemes: {k: {type: http, scheme: basic}}}",
		"openapi: 3.1.0\npaths: {/f: {post: {requestBody: {content: {multipart/form-data: {schema: {properties: {f: {format: binary}}}, encoding: {f: {contentType: a/b}}}}}}}}",
		"openapi: 3.1.0\nwebhooks: {w: {post: {requestBody: {content: {application/json: {schema: {oneOf: [{const: 1}, {type: 'null'}], discriminator: {propertyName: p}}}}}}}}",
		"openapi: 3.1.0\npaths: {/x: {put: {requestBody: {content: {text/xml: {schema: {$ref: '#/components/schemas/P'}, example: {a: [{b: 1}]}}, image/*: {}}}, responses: {200: {content: {a/xml: {schema: {$ref: '#/components/schemas/P'}}}, links: {l: {operationId: o, parameters: {p: 1}, requestBody: {}}}}}}}}\ncomponents: {schemas: {P: {xml: {name: p, wrapped: true}, properties: {k: {xml: {attribute: true}}}, discriminator: {propertyName: k, mapping: {c: C, p: P}}}, C: {allOf: [{$ref: '#/components/schemas/P'}]}}}",
		"openapi: 3.1.0\npaths: {/f: {post: {requestBody: {content: {multipart/form-data: {example: {a: [1], o: {x: y}}, schema: {anyOf: [{properties: {a: {type: array, items: {type: integer}}, o: {type: object}, n: {}}}]}, encoding: {a: {style: pipeDelimited}, o: {style: deepObject, explode: true, headers: {h: {}}}, n: {contentType: image/png}}}}}}}}",
		"asyncapi: 3.0.0\nchannels: {c: {address: 'a/{b}', parameters: {b: {enum: [x]}}, messages: {m: {payload: {type: object}}}}}\noperations: {o: {action: send, channel: {$ref: '#/channels/c'}}}",
		"asyncapi: 2.0.0\nchannels: {c: {subscribe: {message: {oneOf: [{name: n, payload: {type: array, items: {}}}]}}}}",
	} {
		f.Add([]byte(seed))
	}
	f.Add([]byte(`{"openapi": "3.1.0", "paths": {"/a": {"get": {"parameters": [{"in": "query", "name": "q", "schema": {"$ref": "#/components/schemas/A"}}]}}}, "components": {"schemas": {"A": {"allOf": [{"$ref": "#/components/schemas/A"}, {"properties": {"a": {"$ref": "#/components/schemas/A"}}}]}}}}`))
	f.Add([]byte("openapi: 3.0.0\npaths: {/a: &a {get: {responses: {200: {content: {a: {schema: &s {oneOf: [{items: *s}]}}}}}}}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 64<<10 {
			return
		}
		show := func() []byte {
			var out bytes.Buffer
			r := NewReader(fstest.MapFS{"x.yaml": {Data: data}})
			s := r.Spec("x.yaml")
			if s == nil {
				return nil
			}
			for i := range s.Operations {
				if i == 20 {
					break
				}
				raw, err := json.Marshal(r.Slice(s, &s.Operations[i]))
				if err != nil {
					t.Fatal(err)
				}
				var slice Slice
				if err := json.Unmarshal(raw, &slice); err != nil {
					t.Fatal(err)
				}
				c := slice.Content(Options{Playground: true})
				nodes := 0
				for _, list := range [][]*mdx.Node{c.Head, c.Body, c.Beside} {
					for _, n := range list {
						mdx.Walk(n, func(n *mdx.Node) bool {
							nodes++
							out.WriteString(n.Name + n.Value)
							for _, a := range n.Attrs {
								out.WriteString(a.Name + a.Value)
							}
							return true
						})
					}
				}
				if nodes > 200_000 {
					t.Errorf("a page of %d nodes", nodes)
				}
			}
			return out.Bytes()
		}
		if a, b := show(), show(); !bytes.Equal(a, b) {
			t.Error("the second reading gives another page")
		}
	})
}
