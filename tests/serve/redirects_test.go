package serve

import (
	"encoding/json"
	"net/url"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/delivery/address"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// TestRedirectsAgree: a link that the export takes for good by a redirect leads
// a reader to the same place on the server. Both read sources with one package;
// each has its own way to the redirect that counts: exact ones first, then the
// first pattern, and on along a chain.
func TestRedirectsAgree(t *testing.T) {
	redirects := []struct{ Source, Destination string }{
		{"/x/:any", "https://o.example/any/:any"},
		{"/x/plain", "https://o.example/plain"},
		{"/x/plain", "https://o.example/never"},
		{"/x/:many*", "https://o.example/many/:many*"},
		{"/opt/:one?", "https://o.example/opt/:one/end"},
		{"/:any", "https://o.example/first/:any"},
		{"/s*r", "https://o.example/star"},
		{"/gr%C3%B6%C3%9Fe/:one", "https://o.example/:one"},
		{"/chain/:rest*", "/x/:rest*"},
	}
	wants := map[string]string{
		"/x/plain": "plain", "/x/1": "any/1", "/x/1/2": "many/1/2", "/x": "many", "/opt": "opt/end", "/opt/1": "opt/1/end", "/other": "first/other",
		"/s*r": "star", "/star": "first/star", "/größe/1": "1", "/chain/plain": "plain", "/chain/1/2": "many/1/2", "/none/at/all": "",
	}
	config := map[string]any{"name": "Site", "navigation": map[string]any{"pages": []string{"index"}}}
	var listed []any
	var described []bundle.Redirect
	for _, r := range redirects {
		listed = append(listed, map[string]any{"source": r.Source, "destination": r.Destination})
		described = append(described, bundle.Redirect{From: r.Source, To: r.Destination})
	}
	config["redirects"] = listed
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"docs.json": {Data: text}, "index.mdx": {Data: []byte("# Home")}}
	s, _, err := site.Load(t.Context(), files, []string{"docs.json", "index.mdx"}, site.Options{Domain: "docs.example"})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Redirects) != len(redirects) {
		t.Fatalf("the site has %+v", s.Redirects)
	}
	served, err := address.NewRedirects(described)
	if err != nil {
		t.Fatal(err)
	}
	addresses := address.Addresses{Has: func(name string) bool { return name == "index.html" }, Redirects: served}
	for path, want := range wants {
		if want != "" {
			want = "https://o.example/" + want
		}
		exported := ""
		if target := s.Resolve(-1, path); target.Kind == site.External {
			exported = target.Href
		}
		sent, err := url.PathUnescape(addresses.Find(path, "").To) // the export shows, the server sends
		if err != nil || exported != want || sent != want {
			t.Errorf("%s: the export expects %q, readers get to %q, want %q", path, exported, sent, want)
		}
	}
}
