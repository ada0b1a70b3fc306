package tests

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/serve"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// TestRedirectsAgree: a link that the export takes for good by a redirect leads
// a reader to the same place on the server, in every form of a source.
func TestRedirectsAgree(t *testing.T) {
	sources := []string{
		"/plain", "/:one", "/a/:one", "/:one/b", "/a/:many*", "/a/:many+", "/a/:many(.*)", "/a/:one(\\d+)", "/:many*/b", "/:one/:many*/b",
		"/*", "/a*", "/a/b*", "/a/*", "/:one/:two", "/a/:many*/:other*", "/a/:one?", "/a.c/:one", "/gr%C3%B6%C3%9Fe/:one",
	}
	paths := []string{
		"/plain", "/a", "/b", "/a/b", "/a/b/c", "/ab", "/ab/c", "/a/b/b", "/x/y/b", "/x/y/z", "/a/1", "/a.c/x", "/abc/x", "/größe/x", "/a/x/:other*",
	}
	matched := 0
	for _, from := range sources {
		const to = "https://elsewhere.example/p/:one/:many*/q"
		config, err := json.Marshal(map[string]any{
			"name": "Site", "navigation": []any{map[string]any{"group": "All", "pages": []string{"index"}}},
			"redirects": []any{map[string]any{"source": from, "destination": to}},
		})
		if err != nil {
			t.Fatal(err)
		}
		files := fstest.MapFS{"docs.json": {Data: config}, "index.mdx": {Data: []byte("# Home")}}
		s, _, err := site.Load(t.Context(), files, []string{"docs.json", "index.mdx"}, site.Options{Domain: "docs.example"})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Redirects) != 1 || !slices.Equal([]string{from, to}, []string{s.Redirects[0].Source, s.Redirects[0].Destination}) {
			t.Errorf("%s: the site has %+v", from, s.Redirects)
			continue
		}
		served, err := serve.NewRedirects([]bundle.Redirect{{From: from, To: to}})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			checked := s.Resolve(-1, path)
			want := ""
			if checked.Kind == site.External {
				want, matched = checked.Href, matched+1
			}
			got, _, _ := served.Follow(strings.Trim(path, "/"), "")
			if got, err = url.PathUnescape(got); err != nil || got != want { // the export shows, the server sends
				t.Errorf("%s from %s: readers get to %q, the export expects %q", path, from, got, want)
			}
		}
	}
	if matched < 50 {
		t.Errorf("only %d paths are redirected", matched)
	}
}
