package reference

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// Samples hold what would break them: quotes, backquotes, new lines.
func TestSamples(t *testing.T) {
	hard := &request{
		method: "POST", url: "https://x.example/a?b=it's",
		headers: []header{{"X-A", "it's \"q\" `b`"}, {"Content-Type", "application/json"}},
		body:    "{\n  \"a\": \"it's `b` \\n true null\",\n  \"t\": true,\n  \"n\": null\n}", json: true,
	}
	form := &request{method: "PUT", url: "https://x.example", form: []formField{{name: "a'b", value: "c d"}, {name: "f", value: "file", file: true}}, multipart: true}
	plain := &request{method: "PUT", url: "https://x.example", form: []formField{{name: "a'b", value: "c d"}}}
	for _, c := range []struct {
		name string
		fn   func(*request) string
		r    *request
		want string
	}{
		{"curl", curl, hard, "curl --request POST \\\n  --url 'https://x.example/a?b=it'\\''s' \\\n  --header 'X-A: it'\\''s \"q\" `b`' \\\n  --header 'Content-Type: application/json' \\\n  --data '{\n  \"a\": \"it'\\''s `b` \\n true null\",\n  \"t\": true,\n  \"n\": null\n}'"},
		{"curl with a form", curl, form, "curl --request PUT \\\n  --url https://x.example \\\n  --form 'a'\\''b=c d' \\\n  --form f=@file"},
		{"curl with a short form", curl, plain, "curl --request PUT \\\n  --url https://x.example \\\n  --data-urlencode 'a%27b=c d'"},
		{"Python's words", func(r *request) string { return pythonLiteral(r.body) }, hard, "{\n  \"a\": \"it's `b` \\n true null\",\n  \"t\": True,\n  \"n\": None\n}"},
	} {
		if got := c.fn(c.r); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	typed := &request{method: "PUT", url: "https://x.example", multipart: true, form: []formField{
		{name: "meta", value: `{"a":"b;c"}`, part: "application/json"}, {name: "at", value: "@x"},
		{name: "one", value: "file", file: true, part: "image/png"}, {name: "two", value: "file", file: true}, {name: "two", value: "file", file: true},
	}}
	// What is made compiles.
	fset := token.NewFileSet()
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	for _, r := range []*request{hard, form, plain, typed, {method: "GET", url: "https://x.example"}, {method: "PUT", url: "https://x.example", file: true}, {method: "PUT", url: "https://x.example", multipart: true}} {
		src := golang(r)
		file, err := parser.ParseFile(fset, "main.go", src, 0)
		if err == nil {
			_, err = config.Check("main", fset, []*ast.File{file}, nil)
		}
		if err != nil {
			t.Errorf("%v in\n%s", err, src)
		}
	}
	want := `curl --request PUT \
  --url https://x.example \
  --form 'meta="{\"a\":\"b;c\"}";type=application/json' \
  --form 'at="@x"' \
  --form 'one=@file;type=image/png' \
  --form two=@file \
  --form two=@file`
	if got := curl(typed); got != want {
		t.Errorf("parts of a form:\n%s\nwant\n%s", got, want)
	}
}

// Parameters stand in a query as their style says; what has content in the place
// of a schema is sent as JSON.
func TestQueries(t *testing.T) {
	for _, c := range []struct{ name, param, want string }{
		{"a text", `{schema: {type: string}, example: "a b"}`, "p=a+b"},
		{"a list", `{schema: {type: array, items: {type: string}}, example: [a, "b,c"]}`, "p=a&p=b%2Cc"},
		{"an example of its own", `{schema: {type: array, items: {type: integer}}}`, "p=1"},
		{"a list at once", `{explode: false, schema: {type: array, items: {type: integer}}, example: [1, 2]}`, "p=1,2"},
		{"between bars", `{style: pipeDelimited, schema: {type: array, items: {type: integer}}, example: [1, 2]}`, "p=1%7C2"},
		{"between spaces", `{style: spaceDelimited, schema: {type: array, items: {type: integer}}, example: [1, 2]}`, "p=1%202"},
		{"an empty list", `{schema: {type: array}, example: []}`, "p=%5B%5D"},
		{"a list that is none", `{schema: {type: array}, example: "a]"}`, "p=a%5D"},
		{"an object", `{schema: {type: object}, example: {z: 1, a: {b: 2}}}`, "z=1&a=%7B%22b%22%3A2%7D"},
		{"an object in brackets", `{style: deepObject, schema: {type: object}, example: {z: 1, a: x}}`, "p[z]=1&p[a]=x"},
		{"an object at once", `{explode: false, schema: {type: object}, example: {z: 1, a: x}}`, "p=z,1,a,x"},
		{"an object between bars", `{style: pipeDelimited, schema: {type: object}, example: {z: 1, a: x}}`, "p=z%7C1%7Ca%7Cx"},
		{"an object that is made up", `{style: deepObject, explode: true, schema: {type: object, properties: {color: {type: string, example: red}, size: {type: integer, example: 3}}}}`, "p[color]=red&p[size]=3"},
		{"an object with required members", `{schema: {type: object, required: [a], properties: {a: {type: string, example: x}, b: {type: integer}}}}`, "a=x"},
		{"content", `{content: {application/json: {schema: {type: object}, example: {z: 1}}}}`, "p=%7B%22z%22%3A1%7D"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewReader(fstest.MapFS{"api.yaml": {Data: []byte(`
openapi: 3.0.3
servers: [{url: https://x.example}]
paths: {/q: {get: {parameters: [{name: p, in: query, required: true, ` + strings.TrimPrefix(c.param, "{") + `]}}}
`)}})
			spec := r.Spec("api.yaml")
			if spec == nil {
				t.Fatalf("%+v", r.Diagnostics())
			}
			if got := r.Slice(spec, &spec.Operations[0]).request(Options{}, nil).url; got != "https://x.example/q?"+c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// Parameters with an example are filled in, by their style.
func TestPathsOfSamples(t *testing.T) {
	for _, c := range []struct{ name, servers, param, want string }{
		{"without an example", "", `schema: {type: string}`, "<server>/q/{p}/x"},
		{"a text", "[{url: https://x.example}]", `schema: {type: string}, example: a/b`, "https://x.example/q/a%2Fb/x"},
		{"the schema's example", "[{url: /v1}]", `schema: {type: integer, example: 7}`, "<server>/v1/q/7/x"},
		{"a list", "", `schema: {type: array}, example: [1, "a,b"]`, "<server>/q/1,a%2Cb/x"},
		{"an object", "", `schema: {type: object}, example: {z: 1, a: x}`, "<server>/q/z,1,a,x/x"},
		{"an object, member by member", "", `explode: true, schema: {type: object}, example: {z: 1, a: x}`, "<server>/q/z=1,a=x/x"},
		{"label", "", `style: label, schema: {type: array}, example: [1, 2]`, "<server>/q/.1,2/x"},
		{"label, item by item", "", `style: label, explode: true, schema: {type: array}, example: [1, 2]`, "<server>/q/.1.2/x"},
		{"matrix", "", `style: matrix, schema: {type: array}, example: [1, 2]`, "<server>/q/;p=1,2/x"},
		{"matrix, item by item", "", `style: matrix, explode: true, schema: {type: array}, example: [1, 2]`, "<server>/q/;p=1;p=2/x"},
		{"matrix, member by member", "", `style: matrix, explode: true, schema: {type: object}, example: {z: 1, a: x}`, "<server>/q/;z=1;a=x/x"},
		{"members with examples", "", `schema: {type: object, properties: {r: {type: integer, example: 1}, g: {enum: [2]}}}`, "<server>/q/r,1,g,2/x"},
		{"members of which one has no example", "", `schema: {type: object, properties: {r: {type: integer, example: 1}, g: {type: integer}}}`, "<server>/q/{p}/x"},
		{"items with an example", "", `style: label, schema: {type: array, items: {type: string, example: a}}`, "<server>/q/.a/x"},
		{"matrix of a text", "", `style: matrix, schema: {type: string}, example: v`, "<server>/q/;p=v/x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			servers := c.servers
			if servers == "" {
				servers = "[]"
			}
			r := NewReader(fstest.MapFS{"api.yaml": {Data: []byte("openapi: 3.0.3\nservers: " + servers + "\npaths: {'/q/{p}/x': {get: {parameters: [{name: p, in: path, required: true, " + c.param + "}]}}}\n")}})
			spec := r.Spec("api.yaml")
			if spec == nil {
				t.Fatalf("%+v", r.Diagnostics())
			}
			if got := r.Slice(spec, &spec.Operations[0]).request(Options{}, nil).url; got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// Headers have the style "simple", cookies "form"; neither is escaped.
func TestHeadersOfSamples(t *testing.T) {
	for _, c := range []struct{ name, param, want string }{
		{"a text", `in: header, schema: {type: string}, example: "a b"`, "p: a b"},
		{"a list", `in: header, schema: {type: array}, example: [1, a b]`, "p: 1,a b"},
		{"an object", `in: header, schema: {type: object}, example: {z: 1, a: x}`, "p: z,1,a,x"},
		{"an object, member by member", `in: header, explode: true, schema: {type: object}, example: {z: 1, a: x}`, "p: z=1,a=x"},
		{"an object that is made up", `in: header, schema: {type: object, properties: {a: {type: integer}}}`, "p: a,1"},
		{"JSON", `in: header, content: {application/json: {schema: {type: object}, example: {z: 1}}}`, `p: {"z":1}`},
		{"JSON in a text", `in: header, schema: {type: string}, example: '{"z":1}'`, `p: {"z":1}`},
		{"a cookie", `in: cookie, schema: {type: string}, example: a`, "Cookie: p=a"},
		{"a cookie of a list", `in: cookie, explode: false, schema: {type: array}, example: [u, v]`, "Cookie: p=u,v"},
		{"a cookie of an object", `in: cookie, explode: false, schema: {type: object}, example: {z: 1, a: x}`, "Cookie: p=z,1,a,x"},
		{"a cookie, member by member", `in: cookie, schema: {type: object}, example: {z: 1, a: x}`, "Cookie: z=1&a=x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewReader(fstest.MapFS{"api.yaml": {Data: []byte("openapi: 3.0.3\npaths: {/q: {get: {parameters: [{name: p, required: true, " + c.param + "}]}}}\n")}})
			spec := r.Spec("api.yaml")
			if spec == nil {
				t.Fatalf("%+v", r.Diagnostics())
			}
			headers := r.Slice(spec, &spec.Operations[0]).request(Options{}, nil).headers
			if len(headers) != 1 || headers[0].name+": "+headers[0].value != c.want {
				t.Errorf("%v, want %s", headers, c.want)
			}
		})
	}
}

// A server has an address for each of its hosts that readers can pick.
func TestAddresses(t *testing.T) {
	s := Server{URL: "https://{env}.{zone}.example:{port}/{base}/", Variables: []Variable{
		{Name: "env", Default: "api", Enum: []string{"api", "test"}}, {Name: "zone", Default: "eu", Enum: []string{"eu", "us"}},
		{Name: "port", Default: "443"}, {Name: "base", Default: "v2", Enum: []string{"v1", "v2"}}, {Name: "env", Default: "again", Enum: []string{"again"}},
	}}
	all := []string{"https://api.eu.example:443/v2", "https://test.eu.example:443/v2", "https://api.us.example:443/v2", "https://test.us.example:443/v2"}
	for _, c := range []struct {
		limit int
		want  []string
	}{{10, all}, {3, all[:3]}, {1, all[:1]}} {
		if d := cmp.Diff(c.want, s.Addresses(c.limit)); d != "" {
			t.Errorf("at most %d (-want +got):\n%s", c.limit, d)
		}
	}
	if got := (Server{URL: "/v1"}).Addresses(5); !slices.Equal(got, []string{"/v1"}) {
		t.Errorf("%q", got)
	}
}

// XML has the names, attributes and wrappers that schemas ask for; what no name
// allows is none of one.
func TestXML(t *testing.T) {
	for _, c := range []struct{ name, schema, value, want string }{
		{"names", `{type: object, properties: {a b: {type: string}, "1": {type: integer}}}`, `{"a b": "<&>", "1": null}`, "<Subject>\n  <a_b>&lt;&amp;&gt;</a_b>\n  <_1></_1>\n</Subject>"},
		{"other names", `{type: object, xml: {name: s, prefix: p, namespace: "urn:x\"y"}, properties: {a: {type: string, xml: {name: b}}}}`, `{"a": "x"}`, "<p:s xmlns:p=\"urn:x&#34;y\">\n  <b>x</b>\n</p:s>"},
		{"attributes", `{type: object, properties: {a: {type: integer, xml: {attribute: true}}, o: {type: object, xml: {attribute: true}}}}`, `{"a": 1, "o": {}}`, "<Subject a=\"1\">\n  <o/>\n</Subject>"},
		{"lists", `{type: object, properties: {a: {type: array, items: {type: string}}}}`, `{"a": ["x", "y"]}`, "<Subject>\n  <a>x</a>\n  <a>y</a>\n</Subject>"},
		{"wrapped lists", `{type: object, properties: {a: {type: array, xml: {wrapped: true, name: all}, items: {type: string}}}}`, `{"a": ["x"]}`, "<Subject>\n  <all>\n    <all>x</all>\n  </all>\n</Subject>"},
		{"items with a name", `{type: object, properties: {a: {type: array, xml: {wrapped: true}, items: {type: string, xml: {name: one}}}}}`, `{"a": ["x"]}`, "<Subject>\n  <a>\n    <one>x</one>\n  </a>\n</Subject>"},
		{"what no schema knows", `{}`, `{"a": {"b": [true]}}`, "<Subject>\n  <a>\n    <b>true</b>\n  </a>\n</Subject>"},
		{"a value", `{type: string}`, `1.5`, "<Subject>1.5</Subject>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewReader(site("x.yaml", "openapi: 3.1.0\ncomponents:\n  schemas:\n    Subject: "+c.schema+"\n"))
			s := r.Spec("x.yaml")
			slice := r.Slice(s, s.Find(Key{Kind: KindSchema, Path: "Subject"}))
			got := slice.xml(slice.Schema, []byte(c.value))
			if want := `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + c.want; got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// What a call asks for are the types of answers to it when it goes well.
func TestAccepts(t *testing.T) {
	media := func(types ...string) (out []Media) {
		for _, x := range types {
			out = append(out, Media{Type: x})
		}
		return out
	}
	answers := []Response{
		{Status: "200", Media: media("text/csv", "application/json")}, {Status: "2XX", Media: media("application/json", "application/xml", "*/*")},
		{Status: "404", Media: media("text/html")}, {Status: "default", Media: media("text/plain")},
	}
	for _, c := range []struct {
		name  string
		slice Slice
		want  []string
	}{
		{"JSON first", Slice{Responses: answers}, []string{"application/json", "text/csv", "application/xml"}},
		{"by default", Slice{Responses: answers[2:]}, []string{"text/plain"}},
		{"failures alone", Slice{Responses: answers[2:3]}, nil},
		{"a parameter says it", Slice{Responses: answers, Params: []Param{{Name: "accept", In: "header"}}}, nil},
	} {
		if got := c.slice.accepts(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Only one language's sample contains a long body, and the others send a file. This bounds
// the pages of a small specification with many operations.
func TestLongBodyIsShownOnce(t *testing.T) {
	example := `[` + strings.Repeat(`{"a":true,"b":null},`, 400) + `{"true":"a \"null\" é"}]`
	src := `{"openapi":"3.1.0","info":{"title":"A","version":"1"},"servers":[{"url":"https://a.example"}],"paths":{"/a":{"post":{"requestBody":{"content":{"application/json":{"example":` +
		example + `}}},"responses":{"200":{"description":"x"}}}}}}`
	r := NewReader(fstest.MapFS{"a.json": {Data: []byte(src)}})
	spec := r.Spec("a.json")
	s := r.Slice(spec, &spec.Operations[0])
	for i, c := range s.samples(Options{}, &s.Body.Media[0], false) {
		if long := len(c.source) > 4<<10; long != (i == 0) {
			t.Errorf("the sample in %s has %d bytes", c.title, len(c.source))
		}
	}
	if c := s.samples(Options{Languages: []string{"python"}}, &s.Body.Media[0], false)[0].source; !strings.Contains(c, `"true": "a \"null\" é"`) || !strings.Contains(c, `"a": True`) || !strings.Contains(c, `"b": None`) {
		t.Errorf("Python's sample is\n%.300s", c[max(0, len(c)-300):])
	}
}
