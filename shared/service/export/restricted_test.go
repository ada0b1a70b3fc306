package export

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/tests/outside"
)

// restrictedSite keeps something for the group staff in every way.
// Each way has a word of its own, "quokka-" and the way's name, which stands
// nowhere else. The secret of "anyone" stands in what is for no group.
func restrictedSite() fstest.MapFS {
	return fstest.MapFS{
		"docs.json": {Data: []byte(`{"name":"Restricted","colors":{"primary":"#0055aa"},"api":{"openapi":["shop.yaml","split.json"]},
			"navbar":{"links":[{"label":"quokkaNavbar","href":"/head"}]},
			"redirects":[{"source":"/way","destination":"/head"},{"source":"/far","destination":"/way"}],
			"navigation":{"tabs":[
				{"tab":"Docs","pages":["index","head","text","empty","broken","changelog","doc-secret",
					{"group":"quokkaGroup","groups":["staff"],"pages":["inherited","opened",{"title":"quokkaLink","href":"https://staff.example/"}]},
					{"group":"quokkaEmptied","pages":["head"]},
					{"page":"entry","groups":["staff"]}]},
				{"tab":"quokkaTab","groups":["staff"],"description":"quokkaTab","pages":["tabbed"]},
				{"tab":"API","public":true,"openapi":"shop.yaml"},
				{"tab":"Some","pages":["GET /secret","GET /orders"]},
				{"tab":"quokkaNavapi","groups":["staff"],"openapi":{"source":"split.json","directory":"split"}}]}}`)},
		"index.mdx": {Data: []byte("---\ntitle: Start\n---\n\nimport Part from '/snippets/part.mdx';\nimport Whole from '/head.mdx';\n\n" +
			"Read [the head](/head) or [by a way](/far), [relatively](./head.mdx#x) or <a href=\"/tabbed\">in a tab</a>.\n\n" +
			"<Card title=\"A card\" href=\"/head\">Of words.</Card>\n\n<Tooltip tip=\"t\" href=\"/head\" cta=\"go\">tip</Tooltip>\n\n![shared](/images/shared.png)\n\n<Part />\n\n<Whole />\n\n[The file](/shop.yaml)\n")},
		"snippets/part.mdx": {Data: []byte("A wallaby that all may see.\n")},
		"head.mdx": {Data: []byte("---\ntitle: quokkaHead\ndescription: quokkaHead\ngroups: [\"staff\", \"board\"]\nkeywords: [quokkaHead]\nmode: quokkaHead\n---\n\nimport Part from '/snippets/part.mdx';\n\n" +
			"## quokkaHead\n\nquokkaHead ![only here](/images/only.png) ![shared](/images/shared.png) [x](javascript:quokkaHead)\n\n<Part />\n")},
		"text.mdx":      {Data: []byte("---\ntitle: Text\ngroups: staff\npublic: true\n---\n\nquokkaText\n")},
		"empty.mdx":     {Data: []byte("---\ntitle: For nobody\ngroups: []\n---\n\nanyone1\n")},
		"broken.mdx":    {Data: []byte("---\ntitle: [\ngroups: [\"staff\"]\n---\n\nanyone2\n")},
		"changelog.mdx": {Data: []byte("---\ntitle: News\ngroups: [\"staff\"]\nrss: true\n---\n\n<Update label=\"2026-01-01\" tags={[\"quokkaFeed\"]}>\n  quokkaFeed\n</Update>\n")},
		"inherited.mdx": {Data: []byte("---\ntitle: Inherited\n---\n\nquokkaNavigation\n")},
		"opened.mdx":    {Data: []byte("---\ntitle: Opened\npublic: true\n---\n\nA numbat that all may see.\n")},
		"entry.mdx":     {Data: []byte("---\ntitle: Entry\n---\n\nquokkaEntry\n")},
		"tabbed.mdx":    {Data: []byte("---\ntitle: Tabbed\n---\n\nquokkaTab\n")},
		"hidden.mdx":    {Data: []byte("---\ntitle: Hidden\nhidden: true\ngroups:\n  - staff\n---\n\nquokkaHidden\n")},
		// What a page says of an operation that is restricted goes with it.
		"doc-secret.mdx":    {Data: []byte("---\nopenapi: GET /secret\n---\n\nquokkaDoc\n")},
		"images/shared.png": {Data: []byte("\x89PNG\r\n")},
		"images/only.png":   {Data: []byte("\x89PNG\r\nquokkaAsset")},
		"old/unnamed.json":  {Data: []byte(`{"openapi":"3.1.0","info":{"title":"Old"},"paths":{"/old":{"get":{"x-mint":{"groups":["staff"]},"summary":"quokkaUnnamed"}}}}`)},
		"parts/only.json":   {Data: []byte(`{"Only":{"type":"object","description":"quokkaFile","properties":{"quokkaFile":{"type":"string"}}}}`)},
		"parts/other.json":  {Data: []byte(`{"Marked":{"x-mint":{"groups":["staff"]},"type":"object","description":"quokkaOther","properties":{"quokkaOther":{"type":"string"}}}}`)},
		"split.json":        {Data: []byte(`{"openapi":"3.1.0","info":{"title":"Split","version":"1"},"paths":{"/split":{"get":{"summary":"quokkaSplit","responses":{"200":{"description":"ok"}}}}}}`)},
		"shop.yaml": {Data: []byte(`openapi: 3.1.0
info: {title: Shop, version: "1"}
tags: [{name: Orders}]
paths:
  /secret:
    get:
      summary: quokkaOperation
      x-mint: {groups: [staff]}
      responses: {"200": {description: quokkaOperation}}
  /item:
    x-mint: {groups: [staff]}
    get: {summary: quokkaItem, responses: {"200": {description: ok}}}
  /orders:
    get:
      tags: [Orders]
      summary: List orders
      parameters:
        - {name: page, in: query, schema: {type: integer}}
        - {name: quokkaParam, in: query, x-mint: {groups: [staff]}, schema: {type: string}}
      x-codeSamples:
        - {lang: bash, label: Shell, source: "curl 'https://shop.example/orders?quokkaParam=1'"}
      responses:
        "200":
          description: Orders
          content:
            application/json:
              schema: {$ref: "#/components/schemas/Order"}
              example: {id: o1, quokkaProperty: quokkaProperty, buyer: {name: Ann, quokkaNested: 7}, plan: quokkaEnum, text: "<quokkaProperty>"}
            application/xml:
              schema: {$ref: "#/components/schemas/Order"}
              example: "<order><quokkaProperty>1</quokkaProperty></order>"
    post:
      tags: [Orders]
      summary: Order
      requestBody:
        content:
          application/json:
            schema:
              oneOf:
                - {title: quokkaVariant, x-mint: {groups: [staff]}, type: object, properties: {quokkaVariant: {type: string}, id: {type: string}}}
                - {title: Plain, type: object, properties: {id: {type: string}}}
            examples:
              both: {value: {id: o2, quokkaVariant: x}}
      responses: {"201": {description: ok}}
  /metadata:
    get:
      x-mint: {metadata: {groups: [staff], title: quokkaMetadata}}
      responses: {"200": {description: ok}}
webhooks:
  paid:
    post: {summary: quokkaWebhook, x-mint: {groups: [staff]}, responses: {"200": {description: ok}}}
components:
  schemas:
    Order:
      type: object
      required: [id, quokkaProperty]
      properties:
        id: {type: string}
        quokkaProperty: {type: string, description: quokkaProperty, x-mint: {groups: [staff]}}
        quokkaRef: {$ref: "#/components/schemas/Internal"}
        quokkaOther: {$ref: "parts/other.json#/Marked"}
        buyer: {$ref: "#/components/schemas/Buyer"}
        plan: {type: string, enum: [free, quokkaEnum], default: quokkaEnum, x-mint-enum: {quokkaEnum: [staff]}}
        quokkaOnly: {x-mint: {groups: [staff]}, $ref: "parts/only.json#/Only"}
    Buyer:
      allOf:
        - type: object
          properties:
            name: {type: string}
            quokkaNested: {type: integer, description: quokkaNested, x-mint: {groups: [staff]}}
        - {x-mint: {groups: [staff]}, type: object, properties: {quokkaAllof: {type: string}}}
    Internal:
      x-mint: {groups: [staff]}
      type: object
      description: quokkaRef
      properties: {quokkaRef: {type: string}}
`)},
	}
}

// secrets are the words of restrictedSite, by the way in which each is kept.
var secrets = []string{
	"quokkaHead", "quokkaText", "quokkaFeed", "quokkaHidden", "quokkaNavbar", "quokkaDoc", "quokkaAsset",
	"quokkaGroup", "quokkaLink", "quokkaNavigation", "quokkaEmptied", "quokkaEntry", "quokkaTab", "quokkaNavapi", "quokkaSplit",
	"quokkaOperation", "quokkaItem", "quokkaMetadata", "quokkaWebhook", "quokkaParam",
	"quokkaProperty", "quokkaRef", "quokkaEnum", "quokkaNested", "quokkaAllof", "quokkaVariant", "quokkaOther", "quokkaFile", "quokkaOnly", "quokkaUnnamed",
}

// exportedFor runs an export for groups and returns its files.
func (w *world) exportedFor(t *testing.T, groups ...string) map[string]string {
	t.Helper()
	ctx := context.Background()
	job, err := w.admin.StartExport(ctx, w.caller, admin.StartExport{Domain: domain, Groups: groups})
	if err != nil {
		t.Fatal(err)
	}
	if err := workflow(ctx, w.steps(nil), job.ID); err != nil {
		j, _ := w.admin.FindExport(ctx, job.ID)
		t.Fatalf("%v; failure %+v", err, j.Failure)
	}
	return unpacked(t, w.bundle(t, job.ID))
}

// holds reports which files have a word, in their names, their bytes, or the
// bytes that are compressed in them.
func holds(files map[string]string, word string) (names []string) {
	word = strings.ToLower(word)
	for name, text := range files {
		if plain, err := gzip.NewReader(strings.NewReader(text)); err == nil {
			if more, err := io.ReadAll(plain); err == nil {
				text += string(more)
			}
		}
		if strings.Contains(strings.ToLower(name+"\n"+text), word) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestRestricted looks for what a site keeps for a group in every byte of a
// bundle, and in its search.
func TestRestricted(t *testing.T) {
	outside.Long(t, "exports one site many times")
	w := newWorld(t)
	w.publish(t, restrictedSite())

	open := w.exportedFor(t)
	for _, word := range append([]string{"anyone"}, secrets...) {
		if in := holds(open, word); len(in) > 0 {
			t.Errorf("%s stands in %s", word, in)
			for _, name := range in {
				if i := strings.Index(strings.ToLower(open[name]), strings.ToLower(word)); i >= 0 {
					t.Logf("%s: …%s…", name, open[name][max(0, i-200):min(len(open[name]), i+100)])
				}
			}
		}
		results, err := engineOf(t, open, "index").Find(word)
		if err != nil || len(results) > 0 {
			t.Errorf("%s is found by search: %v, %v", word, results, err)
		}
	}
	for _, word := range []string{"wallaby", "numbat"} {
		if len(holds(open, word)) == 0 {
			t.Errorf("%s, which all may see, is nowhere", word)
		}
	}
	for _, name := range []string{"opened.html", "images/shared.png", "api-reference/orders/list-orders.html"} {
		if _, ok := open[name]; !ok {
			t.Errorf("there is no %s", name)
		}
	}
	for _, name := range []string{"way.html", "far.html", "shop.yaml", "split.json", "head.md", "changelog/rss.xml"} {
		if _, ok := open[name]; ok {
			t.Errorf("there is %s", name)
		}
	}
	index := open["index.html"]
	for _, text := range []string{`href="head`, `href="tabbed`, `href=""`, `href="way`} {
		if strings.Contains(index, text) {
			t.Errorf("index.html has %s", text)
		}
	}
	if text := open["index.md"]; !strings.Contains(text, "Read the head or by a way, relatively or in a tab.") {
		t.Errorf("index.md is\n%s", text)
	}

	staff := w.exportedFor(t, "staff")
	for _, word := range secrets {
		if len(holds(staff, word)) == 0 {
			t.Errorf("%s is not there for its group", word)
		}
	}
	if in := holds(staff, "anyone"); len(in) > 0 {
		t.Errorf("what is for no group stands in %s", in)
	}
	if results, err := engineOf(t, staff, "index").Find("quokkaNavigation"); err != nil || len(results) == 0 {
		t.Errorf("search finds %v, %v", results, err)
	}
	for files, want := range map[*map[string]string]int{&open: 1, &staff: 2} {
		var info bundle.Info
		if err := json.Unmarshal([]byte((*files)[bundle.InfoPath]), &info); err != nil || info.Format != want || len(info.Groups) != want-1 {
			t.Errorf("the description has format %d and groups %q, want format %d: %v", info.Format, info.Groups, want, err)
		}
	}
	if bytes.Contains([]byte(open[bundle.InfoPath]), []byte(`"/way"`)) {
		t.Error("the description has a redirect to a restricted page")
	}
}

// What a restricted page loads from other hosts is not fetched either.
func TestRestrictedRemote(t *testing.T) {
	h := newHosts(t, map[string]string{"https://example.com/a.png": "image/png|\x89PNG\r\n\x1a\n", "https://example.com/b.png": "image/png|\x89PNG\r\n\x1a\n"})
	w := openWorldOf(t, t.TempDir(), admin.KindCloud, admin.Settings{AllowHosts: "example.com"})
	w.publish(t, fstest.MapFS{
		"docs.json": {Data: []byte(`{"name":"R","navigation":{"pages":["index","staff"]}}`)},
		"index.mdx": {Data: []byte("![](https://example.com/a.png)\n")},
		"staff.mdx": {Data: []byte("---\ngroups: [staff]\n---\n\n![](https://example.com/b.png)\n")},
	})
	w.exported(t, func(o *Options) { o.Fetcher = h.fetcher() })
	if h.asked["https://example.com/a.png"] == 0 || h.asked["https://example.com/b.png"] > 0 {
		t.Errorf("asked for %v", h.asked)
	}
}
