package reference

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// site makes a file system of names and contents.
func site(pairs ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i+1 < len(pairs); i += 2 {
		fsys[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return fsys
}

func told(r *Reader) []string {
	var out []string
	for _, d := range r.Diagnostics() {
		out = append(out, fmt.Sprintf("%s:%d %s", d.File, d.Line, d.Code))
	}
	return out
}

// References lead within a file, to others, and through one another; those that
// lead nowhere are reported where they stand.
func TestFollow(t *testing.T) {
	fsys := site("api/a.yaml", `
plain: {text: plain}
local: {$ref: "#/plain"}
twice: {$ref: "#/local"}
other: {$ref: "b.json#/x/y~1z/0"}
whole: {$ref: "./b.json"}
up: {$ref: "../c.yaml#/c"}
rooted: {$ref: "/c.yaml#/c"}
through: {$ref: "#/local/text"}
escaped: {$ref: "#/a%20b"}
"a b": {text: spaced}
anchored: {$ref: "#named"}
deep: {schema: {$anchor: named, text: anchor}}
circle: {$ref: "#/circle"}
pair: {$ref: "#/riap"}
riap: {$ref: "#/pair"}
within: {$ref: "#/within/x"}
missing: {$ref: "#/nowhere"}
item: {$ref: "#/list/7"}
list: [1]
scalar: {$ref: "#/plain/text/x"}
file: {$ref: "none.yaml#/x"}
remote: {$ref: "https://specs.example/x.yaml#/x"}
outside: {$ref: "../../secret.yaml"}
unnamed: {$ref: "#noanchor"}
`, "api/b.json", `{"text": "whole", "x": {"y/z": [{"text": "json"}]}}`, "c.yaml", "c: {text: up}")
	for _, c := range []struct{ key, want, said string }{
		{"plain", "plain", ""}, {"local", "plain", ""}, {"twice", "plain", ""}, {"other", "json", ""}, {"whole", "whole", ""},
		{"up", "up", ""}, {"rooted", "up", ""}, {"escaped", "spaced", ""}, {"anchored", "anchor", ""},
		{"circle", "", "api/a.yaml:14 api-ref"}, {"pair", "", "api/a.yaml:15 api-ref"}, {"within", "", "api/a.yaml:17 api-ref"},
		{"missing", "", "api/a.yaml:18 api-ref"}, {"item", "", "api/a.yaml:19 api-ref"}, {"scalar", "", "api/a.yaml:21 api-ref"},
		{"file", "", "none.yaml"}, {"remote", "", "api/a.yaml:23 api-ref"}, {"outside", "", "api/a.yaml:24 api-ref"},
		{"unnamed", "", "api/a.yaml:25 api-ref"},
	} {
		t.Run(c.key, func(t *testing.T) {
			r := NewReader(fsys)
			doc := r.open("api/a.yaml")
			p, ok := r.follow(place{doc: doc, v: doc.root.get(c.key)})
			said := strings.Join(told(r), " ")
			if ok != (c.said == "") || p.v.first("text") != c.want || !strings.Contains(said, c.said) {
				t.Errorf("leads to %q (%v), said %q", p.v.first("text"), ok, said)
			}
		})
	}
	r := NewReader(fsys)
	doc := r.open("api/a.yaml")
	if p, ok := r.follow(place{doc: doc, v: doc.root.get("through")}); !ok || p.v.str() != "plain" {
		t.Errorf("a pointer through a reference leads to %v", p.v)
	}
}

// A file that is no specification, or of another version, is said to be so.
func TestSpecFaults(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"not there", "", "x.yaml:0 api-unreadable"},
		{"no format", "a: 1", "x.yaml:1 api-unreadable"},
		{"a list", "- a", "x.yaml:1 api-unreadable"},
		{"broken", "a: [", "x.yaml:1 api-unreadable"},
		{"Swagger 1", "info: {}\nswagger: \"1.2\"", "x.yaml:2 api-version"},
		{"OpenAPI 4", "openapi: 4.0.0", "x.yaml:1 api-version"},
		{"AsyncAPI 1", "asyncapi: 1.2.0", "x.yaml:1 api-version"},
		{"empty", "openapi: 3.0.3", ""},
		{"other shapes", "openapi: 3.1.0\npaths: [1]\nwebhooks: x\ntags: 7\ncomponents: []\nservers: {a: 1}", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := site("x.yaml", c.src)
			if c.name == "not there" {
				fsys = site()
			}
			r := NewReader(fsys)
			s := r.Spec("x.yaml")
			if got := strings.Join(told(r), " "); got != c.want || (s == nil) != (c.want != "") {
				t.Errorf("said %q, want %q (%v)", got, c.want, s)
			}
			if r.Spec("x.yaml"); len(r.Diagnostics()) > 0 {
				t.Error("it is said twice")
			}
		})
	}
}

// What pages name: a call, with or without its specification.
func TestParseKey(t *testing.T) {
	for _, c := range []struct {
		text, file string
		key        Key
	}{
		{"GET /users", "", Key{KindOperation, "GET", "/users"}},
		{" post  /users/{id} ", "", Key{KindOperation, "POST", "/users/{id}"}},
		{"/admin-openapi.json POST /v1/x", "/admin-openapi.json", Key{KindOperation, "POST", "/v1/x"}},
		{"v3-openapi GET /x", "v3-openapi", Key{KindOperation, "GET", "/x"}},
		{"\"my api.yaml\" DELETE /x", "my api.yaml", Key{KindOperation, "DELETE", "/x"}},
		{"webhook order.paid", "", Key{Kind: KindWebhook, Path: "order.paid"}},
		{"a.yaml WEBHOOK order paid", "a.yaml", Key{Kind: KindWebhook, Path: "order paid"}},
		{"users", "", Key{}},
		{"GET", "", Key{}},
		{"GETAWAY /x", "", Key{}},
	} {
		file, key, ok := ParseKey(c.text)
		if file != c.file || key != c.key || ok != (c.key != Key{}) {
			t.Errorf("%q: %q %+v %v", c.text, file, key, ok)
		}
	}
}

// An operation is found by its path as authors write it.
func TestFind(t *testing.T) {
	r := NewReader(site("x.yaml", `
openapi: 3.0.0
paths:
  /users: {get: {summary: all}, x-note: 1}
  /users/{user_id}: {get: {summary: one}}
  /users/me: {get: {summary: me}}
x-webhooks: {paid: {post: {summary: paid}}}
components: {schemas: {User: {title: A user}}}
`))
	s := r.Spec("x.yaml")
	for key, want := range map[Key]string{
		{KindOperation, "GET", "/users"}:         "all",
		{KindOperation, "GET", "/users/"}:        "all",
		{KindOperation, "GET", "/users/{id}"}:    "one",
		{KindOperation, "GET", "/users/:id"}:     "one",
		{KindOperation, "GET", "/users/me"}:      "me",
		{KindOperation, "POST", "/users"}:        "",
		{Kind: KindWebhook, Path: "paid"}:        "paid",
		{Kind: KindSchema, Path: "User"}:         "A user",
		{Kind: KindSchema, Path: "Nobody"}:       "",
		{Kind: KindChannel, Path: "/users"}:      "",
		{KindOperation, "GET", "/users/{id}/no"}: "",
	} {
		got := ""
		if o := s.Find(key); o != nil {
			got = o.Name()
		}
		if got != want {
			t.Errorf("%v is %q, want %q", key, got, want)
		}
	}
	if d := cmp.Diff([]string(nil), told(r)); d != "" {
		t.Error(d)
	}
}
