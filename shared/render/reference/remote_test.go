package reference

import (
	"slices"
	"testing"
	"testing/fstest"
)

// copies are specifications on other hosts, and what they were asked for.
type copies struct {
	files            map[string]string
	announced, asked []string
}

func (c *copies) Announce(addresses []string) { c.announced = append(c.announced, addresses...) }

func (c *copies) Read(address string) ([]byte, string) {
	c.asked = append(c.asked, address)
	text, ok := c.files[address]
	if !ok {
		return nil, "answers with the status 404"
	}
	return []byte(text), ""
}

// A server without a host is that of the specification's own address.
func TestServersBesideTheSpecification(t *testing.T) {
	for _, c := range []struct{ servers, want string }{
		{"", "https://h.example/a"},
		{"servers: [{url: /}]", "https://h.example/a"},
		{"servers: [{url: /v1}]", "https://h.example/v1/a"},
		{"servers: [{url: '/{v}', variables: {v: {default: v2}}}]", "https://h.example/v2/a"},
		{"servers: [{url: v1}]", "https://h.example/api/v1/a"},
		{"servers: [{url: ../v1/}]", "https://h.example/v1/a"},
		{"servers: [{url: //x.example/v1}]", "https://x.example/v1/a"},
		{"servers: [{url: 'http://x.example'}]", "http://x.example/a"},
	} {
		const address = "https://h.example/api/openapi.yaml"
		r := NewReader(fstest.MapFS{})
		r.UseRemotes(&copies{files: map[string]string{address: "openapi: 3.1.0\n" + c.servers + "\npaths: {/a: {get: {}}}\n"}})
		spec := r.Spec(address)
		if spec == nil {
			t.Fatalf("%s: %+v", c.servers, r.Diagnostics())
		}
		if got := r.Slice(spec, &spec.Operations[0]).request(Options{}, nil).url; got != c.want {
			t.Errorf("%q: %s, want %s", c.servers, got, c.want)
		}
	}
}

// A specification on another host is read like a file of the site, references in
// it lead to files beside it there, and each is asked for once.
func TestSpecificationsElsewhere(t *testing.T) {
	const spec = "openapi: 3.1.0\npaths:\n  /a: {$ref: 'parts/a.yaml#/a'}\n  /b: {$ref: '/b.yaml'}\n  /c: {$ref: 'none.yaml'}\n  /d: {$ref: 'https://h.example/api/parts/a.yaml#/a'}\n"
	from := &copies{files: map[string]string{
		"https://h.example/api/openapi.yaml": spec,
		"https://h.example/api/parts/a.yaml": "a: {get: {summary: A}}",
		"https://h.example/b.yaml":           "get: {summary: B}",
		"https://h.example/broken.yaml":      "a: [",
	}}
	site := fstest.MapFS{"own.yaml": {Data: []byte("openapi: 3.1.0\npaths: {/b: {$ref: '//h.example/b.yaml'}}")}}
	r := NewReader(site)
	r.UseRemotes(from)
	r.Announce([]string{"https://h.example/api/openapi.yaml"})
	for range 2 {
		for name, want := range map[string][]string{
			"https://h.example/api/openapi.yaml":   {"GET /a", "GET /b", "GET /d"},
			"https://h.example/api/openapi.yaml#x": {"GET /a", "GET /b", "GET /d"},
			"own.yaml":                             {"GET /b"},
		} {
			var got []string
			if s := r.Spec(name); s != nil {
				for i := range s.Operations {
					got = append(got, s.Operations[i].Key.String())
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s has %q, want %q", name, got, want)
			}
		}
		if problem := r.Fetch("https://h.example/nothing.yaml"); problem != "answers with the status 404" {
			t.Errorf("a file that is not there: %q", problem)
		}
		if problem := r.Fetch("https://h.example/broken.yaml"); problem != "" || r.Spec("https://h.example/broken.yaml") != nil {
			t.Errorf("a file that can't be read: %q", problem)
		}
	}
	slices.Sort(from.asked)
	if !slices.Equal(from.asked, slices.Compact(slices.Clone(from.asked))) || len(from.announced) != 1 {
		t.Errorf("it was asked for %q", from.asked)
	}
	var said []string
	for _, d := range r.Diagnostics() {
		said = append(said, d.File+" "+d.Code)
	}
	slices.Sort(said)
	if want := []string{"https://h.example/api/openapi.yaml api-ref", "https://h.example/broken.yaml api-unreadable"}; !slices.Equal(slices.Compact(said), want) {
		t.Errorf("it said %q, want %q", said, want)
	}
	if problem := NewReader(site).Fetch("https://h.example/b.yaml"); problem != notAsked {
		t.Errorf("a reader without copies says %q", problem)
	}
}
