package reference

import (
	"go/parser"
	"go/token"
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
	for _, r := range []*request{hard, form, plain, {method: "GET", url: "https://x.example"}} {
		src := golang(r)
		if _, err := parser.ParseFile(token.NewFileSet(), "main.go", src, 0); err != nil {
			t.Errorf("%v in\n%s", err, src)
		}
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
