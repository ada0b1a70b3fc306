package reference

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/shared/render/words"

	"github.com/bindery-docs/bindery/tests/outside"
)

const oldShop = `swagger: "2.0"
info: {title: Shop}
host: shop.example
basePath: /v1/
schemes: [https, http]
consumes: [application/json]
produces: [application/json, application/xml]
securityDefinitions:
  key: {type: apiKey, in: header, name: X-Key}
  user: {type: basic}
  app: {type: oauth2, flow: accessCode, authorizationUrl: "https://a.example", tokenUrl: "https://t.example", scopes: {read: To read}}
security: [{key: []}]
parameters:
  Limit: {name: limit, in: query, type: integer, maximum: 100, description: How many}
  Order: {name: order, in: body, required: true, schema: {$ref: "#/definitions/Order"}}
responses:
  Gone: {description: It is gone, schema: {$ref: "#/definitions/Error"}}
definitions:
  Order: {type: object, discriminator: kind, required: [kind], properties: {kind: {type: string}, note: {type: string, x-nullable: true}}}
  Error: {type: object, properties: {message: {type: string}}}
paths:
  /orders:
    parameters: [{$ref: "#/parameters/Limit"}]
    get:
      parameters: [{name: ids, in: query, type: array, items: {type: integer}, collectionFormat: pipes}, {name: tags, in: query, type: array, items: {type: string}, collectionFormat: multi}]
      responses:
        200: {description: All, headers: {X-Next: {type: string, description: The next}}, schema: {type: array, items: {$ref: "#/definitions/Order"}}, examples: {application/json: [{kind: a}]}}
        410: {$ref: "#/responses/Gone"}
    post: {parameters: [{$ref: "#/parameters/Order"}], security: [{app: [read]}, {user: []}], responses: {204: {description: Made}}}
  /files:
    post:
      consumes: [multipart/form-data]
      parameters: [{name: file, in: formData, type: file, required: true}, {name: note, in: formData, type: string, description: Words}]
      responses: {default: {description: Done, schema: {type: file}}}
`

// A file of Swagger 2.0 gives the slices that the same API gives in OpenAPI 3.0,
// with the lines of its author.
func TestSwagger(t *testing.T) {
	r := NewReader(fstest.MapFS{"x.yaml": {Data: []byte(oldShop)}})
	s := r.Spec("x.yaml")
	if s == nil || len(s.Operations) != 3 || s.Version != "2.0" {
		t.Fatalf("%+v, %v", s, r.Diagnostics())
	}
	var got strings.Builder
	for i := range s.Operations {
		slice := r.Slice(s, &s.Operations[i])
		slice.Steps = 0
		raw, err := json.MarshalIndent(slice, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		got.Write(append(raw, '\n'))
	}
	said := r.Diagnostics()
	if len(said) != 1 || said[0].Code != "api-converted" || said[0].Line != 1 {
		t.Errorf("reported is %v", said)
	}
	golden.Same(t, "testdata/swagger.json", []byte(got.String()))
}

// The best known file of Swagger 2.0 is read whole.
func TestPetstoreOfSwagger(t *testing.T) {
	data, err := os.ReadFile(outside.Folder(t, "cases", "diagrams", "swagger2-petstore.json"))
	if err != nil {
		t.Fatal(err)
	}
	r := NewReader(fstest.MapFS{"x.json": {Data: data}})
	s := r.Spec("x.json")
	if s == nil || len(s.Operations) != 3 {
		t.Fatalf("%v", r.Diagnostics())
	}
	var got []string
	for i := range s.Operations {
		o := &s.Operations[i]
		slice := r.Slice(s, o)
		got = append(got, o.Key.String()+" "+slice.Servers[0].URL)
		if len(slice.Responses) == 0 || len(slice.Responses) == 2 && slice.Responses[0].Status == "200" && len(slice.Responses[0].Media) != 1 {
			t.Errorf("%s: %+v", o.Key, slice.Responses)
		}
	}
	want := []string{"GET /pets http://petstore.swagger.io/v1", "POST /pets http://petstore.swagger.io/v1", "GET /pets/{petId} http://petstore.swagger.io/v1"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Whatever a file says that calls itself Swagger 2.0: nothing panics, and the work
// grows with the file.
func FuzzSwagger(f *testing.F) {
	f.Add(oldShop)
	for _, s := range []string{
		`{"swagger": "2.0", "paths": {"/a": {"get": {"parameters": [{"$ref": "#/parameters/A"}]}}}, "parameters": {"A": {"$ref": "#/parameters/A"}}}`,
		`{"swagger": "2.0", "paths": [1], "parameters": "x", "responses": 1, "definitions": [], "securityDefinitions": null, "schemes": {}, "host": []}`,
		`{"swagger": "2.0", "paths": {"/a": {"get": 1, "parameters": {"a": 1}, "post": {"parameters": [null, 1, {"in": "body"}, {"in": "formData"}], "responses": {"200": null, "x": 1}}}}}`,
		"swagger: '2.0'\ndefinitions: {a: &a {type: file, items: {allOf: [{type: file}]}}, b: *a}\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		r := NewReader(fstest.MapFS{"x.yaml": {Data: []byte(source)}})
		s := r.Spec("x.yaml")
		if s == nil {
			return
		}
		for i := range s.Operations {
			r.Slice(s, &s.Operations[i]).Content(Options{})
		}
	})
}

// Values of an enum that are empty or null are choices like others.
func TestEmptyChoices(t *testing.T) {
	source := `{"openapi": "3.1.0", "paths": {"/a": {"get": {"parameters": [{"name": "a", "in": "query", "schema": {"type": "string", "enum": [null, "", "x"], "nullable": true}}]}}}}`
	r := NewReader(fstest.MapFS{"x.json": {Data: []byte(source)}})
	s := r.Spec("x.json")
	slice := r.Slice(s, &s.Operations[0])
	b := &builder{slice: slice, lang: words.In("en")}
	var got []string
	for _, n := range b.facts(slice.Params[0].Schema)[0].Children {
		got = append(got, n.Value)
	}
	if d := cmp.Diff([]string{"Available options: ", "null", ", ", `""`, ", ", "x"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := b.typeOf(slice.Params[0].Schema, 0); got != "enum<string> | null" {
		t.Errorf("the type is %s", got)
	}
	if got := string(slice.Params[0].Schema.someValue()); got != `""` {
		t.Errorf("the sample is %s", got)
	}
}
