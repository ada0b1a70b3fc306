package reference

import (
	"go/parser"
	"go/token"
	"testing"
)

// Samples hold what would break them: quotes, backquotes, new lines.
func TestSamples(t *testing.T) {
	hard := &request{
		method: "POST", url: "https://x.example/a?b=it's",
		headers: []header{{"X-A", "it's \"q\" `b`"}, {"Content-Type", "application/json"}},
		body:    "{\n  \"a\": \"it's `b` \\n true null\",\n  \"t\": true,\n  \"n\": null\n}", json: true,
	}
	form := &request{method: "PUT", url: "https://x.example", form: []formField{{"a'b", "c d", false}, {"f", "file", true}}, multipart: true}
	plain := &request{method: "PUT", url: "https://x.example", form: []formField{{"a'b", "c d", false}}}
	for _, c := range []struct {
		name string
		fn   func(*request) string
		r    *request
		want string
	}{
		{"curl", curl, hard, "curl --request POST \\\n  --url 'https://x.example/a?b=it'\\''s' \\\n  --header 'X-A: it'\\''s \"q\" `b`' \\\n  --header 'Content-Type: application/json' \\\n  --data '{\n  \"a\": \"it'\\''s `b` \\n true null\",\n  \"t\": true,\n  \"n\": null\n}'"},
		{"curl with a form", curl, form, "curl --request PUT \\\n  --url https://x.example \\\n  --form 'a'\\''b=c d' \\\n  --form f=@file"},
		{"curl with a short form", curl, plain, "curl --request PUT \\\n  --url https://x.example \\\n  --data-urlencode 'a'\\''b=c d'"},
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
