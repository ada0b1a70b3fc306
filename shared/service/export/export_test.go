package export

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/tests/outside"
)

// The bundle holds every page, its Markdown copy, the site's files and what
// every bundle has, and everything in it refers to what is in it.
func TestBundleOfASite(t *testing.T) {
	w := newWorld(t)
	w.publish(t, sampleSite(12))
	files := unpacked(t, w.exported(t, nil))
	for name, must := range map[string]string{
		"guides/part-00/page-000.html": "<title>Page 0",
		"guides/part-00/page-000.md":   "# Page 0",
		"hidden.html":                  "noindex",
		"images/a.png":                 "PNG",
		"style.css":                    "url(images/a.png)",
		"index.html":                   `<h1 id="page-title">Page 0</h1>`,
		"old.html":                     "guides/part-00/page-000.html",
		"404.html":                     "<title>",
		"robots.txt":                   "Sitemap: https://docs.example/sitemap.xml",
		"sitemap.xml":                  "<loc>https://docs.example/guides/part-00/page-000</loc>",
		"llms.txt":                     "- [Page 0](https://docs.example/guides/part-00/page-000.md): What page 0 is for.",
		"bindery/diagnostics.jsonl":    "fragment-missing",
		"bindery.json":                 `"from": "/past/*"`,
	} {
		if !strings.Contains(files[name], must) {
			t.Errorf("%s lacks %q:\n%.2000s", name, must, files[name])
		}
	}
	for _, name := range []string{"docs.json", "guides/part-00/page-000.mdx", "past.html"} {
		if _, ok := files[name]; ok {
			t.Errorf("%s is in the bundle", name)
		}
	}
	if strings.Contains(files["sitemap.xml"], "hidden") || strings.Contains(files["llms.txt"], "hidden") {
		t.Error("a hidden page is listed")
	}
	var info bundle.Info
	if err := json.Unmarshal([]byte(files["bindery.json"]), &info); err != nil {
		t.Fatal(err)
	}
	if info.Pages != 13 || info.Domain != domain || info.Name != "Sample" || info.Renderer != "test" {
		t.Errorf("described as %+v", info)
	}
}

// One site gives the same bytes however it is cut and however many workers
// there are. With -short the site is smaller.
func TestSameBytes(t *testing.T) {
	w := newWorld(t)
	pages := 400
	if outside.Short(t) {
		pages = 60
	}
	w.publish(t, sampleSite(pages))
	var want []byte
	for _, shards := range []int{1, 3, 40} {
		for _, concurrency := range []int{1, 3, 40} {
			got := w.exported(t, func(o *Options) { o.Shards, o.Concurrency = shards, concurrency })
			if want == nil {
				want = got
			}
			if !bytes.Equal(want, got) {
				t.Errorf("%d shards with concurrency %d give other bytes", shards, concurrency)
			}
		}
	}
}
