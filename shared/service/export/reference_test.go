package export

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/tests/outside"
)

// apiSite is the site of tests/browser/testdata that has pages about APIs.
func apiSite() fs.FS {
	return os.DirFS(filepath.Join("..", "..", "..", "tests", "browser", "testdata", "reference"))
}

// Pages about an API are in the bundle like others: in the navigation, the
// sitemap and the lists, each with its Markdown copy, and no specification is
// needed to read them.
func TestBundleOfAnAPI(t *testing.T) {
	w := newWorld(t)
	w.publish(t, apiSite())
	files := unpacked(t, w.exported(t, nil))
	for name, must := range map[string]string{
		"api/orders/list-orders.html":       `<code class="bdy-endpoint-path">/orders</code>`,
		"api/orders/list-orders.md":         "**GET** `http://127.0.0.1:9/v1/orders`",
		"api/orders/create-order.html":      "Create order",
		"api/orders/an-order-was-paid.html": "WEBHOOK",
		"api/files/send-a-file.html":        "multipart/form-data",
		"api/hidden.html":                   "noindex",
		"events/order-paid.md":              "kafka://events.shop.example:9092/orders/{orderId}/paid",
		"events/stock.md":                   "Stock changes.",
		"line.md":                           "Option 2: A voucher (kind = voucher)",
		"lines.md":                          `{"by": "the author"}`,
		"index.html":                        "lines.html",
		"sitemap.xml":                       "/api/orders/list-orders</loc>",
		"llms.txt":                          "[List orders](https://docs.example/api/orders/list-orders.md)",
		"bindery.json":                      `"connect-src"`,
		"shop.yaml":                         "openapi: 3.1.0",
		"api/orders/delete-an-order.html":   "endpoint-deprecated",
		"api/orders/get-an-order.md":        "o_1",
		"api/files/rename-a-file.md":        "--data-urlencode",
	} {
		if !strings.Contains(files[name], must) {
			t.Errorf("%s lacks %q:\n%.1500s", name, must, files[name])
		}
	}
	for _, name := range []string{"api/excluded.html", "api/orders/add-lines.html"} { // left out; the author's own page stands for it
		if _, ok := files[name]; ok {
			t.Errorf("%s is in the bundle", name)
		}
	}
	if got := files["bindery/diagnostics.jsonl"]; strings.Count(got, "\n") != strings.Count(got, `"feature-unset"`) {
		t.Errorf("the author is told %s", got)
	}
	if strings.Contains(files["index.html"], "bindery/reference.") {
		t.Error("a page without an API loads what such pages need")
	}
}

// The playground is there by the feature table; without it no page and no file
// has a trace of it.
func TestPlaygroundByTheFeatureTable(t *testing.T) {
	outside.Long(t, "exports one site for each setting")
	for _, tt := range []struct {
		kind admin.Kind
		set  bool
		site string
		has  bool
	}{
		{admin.KindCloud, false, "", true},
		{admin.KindClientHosted, false, "", true},
		{admin.KindAirGapped, false, "", false},
		{admin.KindAirGapped, true, "", true},
		{admin.KindCloud, true, "none", false},
		{admin.KindCloud, true, "simple", false},
	} {
		t.Run(fmt.Sprintf("%s %v %s", tt.kind, tt.set, tt.site), func(t *testing.T) {
			config := `{"name": "x", "api": {"playground": {"display": "` + tt.site + `"}}, "navigation": {"pages": ["page"]}}`
			if tt.site == "" {
				config = `{"name": "x", "navigation": {"pages": ["page"]}}`
			}
			w := openWorldOf(t, t.TempDir(), tt.kind, admin.Settings{Playground: tt.set})
			w.publish(t, fstest.MapFS{
				"docs.json":    {Data: []byte(config)},
				"openapi.json": {Data: []byte(`{"openapi": "3.0.0", "servers": [{"url": "https://x.example"}], "paths": {"/a": {"get": {"summary": "A"}}}}`)},
				"page.mdx":     {Data: []byte("---\nopenapi: GET /a\n---\n")},
			})
			traces := 0
			for name, text := range unpacked(t, w.exported(t, nil)) {
				script := strings.HasPrefix(name, "bindery/reference.") && strings.HasSuffix(name, ".js")
				if script || !strings.HasPrefix(name, "bindery") && strings.Contains(text, `class="bdy-playground"`) || strings.Contains(text, "connect-src") {
					if traces++; !tt.has {
						t.Errorf("%s tells of the playground", name)
					}
				}
			}
			if tt.has && traces != 4 {
				t.Errorf("%d files tell of the playground, want the page, its script, bindery.json and the index", traces)
			}
		})
	}
}

// manyCalls is a site of an API with many operations and one large schema.
func manyCalls(n int) fstest.MapFS {
	var b strings.Builder
	b.WriteString("openapi: 3.0.0\nservers: [{url: https://x.example}]\npaths:\n")
	for i := range n {
		fmt.Fprintf(&b, "  /calls/%d:\n    get:\n      tags: [Part %d]\n      summary: Call %d\n      responses: {\"200\": {description: ok, content: {application/json: {schema: {$ref: \"#/components/schemas/S%d\"}}}}}\n", i, i%9, i, i%20)
	}
	b.WriteString("components:\n  schemas:\n")
	for i := range 20 {
		fmt.Fprintf(&b, "    S%d: {type: object, properties: {next: {$ref: \"#/components/schemas/S%d\"}, text: {type: string, description: What %d says.}}}\n", i, (i+1)%20, i)
	}
	return fstest.MapFS{
		"docs.json": {Data: []byte(`{"name": "x", "navigation": {"tabs": [{"tab": "T", "pages": ["index"]}, {"tab": "A", "openapi": "big.yaml"}]}}`)},
		"big.yaml":  {Data: []byte(b.String())},
		"index.mdx": {Data: []byte("Hello.")},
	}
}

// A site of an API gives the same bytes however it is cut.
func TestSameBytesOfAnAPI(t *testing.T) {
	outside.Long(t, "exports a large specification twice")
	w := newWorld(t)
	w.publish(t, manyCalls(300))
	var want []byte
	for _, shards := range []int{1, 3, 40} {
		got := w.exported(t, func(o *Options) { o.Shards, o.Concurrency = shards, 3 })
		if want == nil {
			want = got
		}
		if !bytes.Equal(want, got) {
			t.Errorf("%d shards give other bytes", shards)
		}
	}
}

// readCounter counts reads by key.
type readCounter struct {
	store.Objects
	mu    sync.Mutex
	reads map[string]int
	bytes map[string]int64
}

func (o *readCounter) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	o.mu.Lock()
	o.reads[key]++
	o.bytes[key] += max(length, 0)
	o.mu.Unlock()
	return o.Objects.Get(ctx, key, offset, length)
}

// A specification is read once, by Plan. Units read the slices of their own
// pages, by one request each, and of all of them each byte once.
func TestSlicesAreReadOnce(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	w := newWorld(t)
	w.publish(t, manyCalls(300))
	counted := &readCounter{Objects: w.objects, reads: map[string]int{}, bytes: map[string]int64{}}
	w.objects = counted
	w.admin = w.service(w.store, w.objects, w.runner)
	exp := w.start(t)
	s := w.steps(func(o *Options) { o.Shards = 5 })
	plan, err := s.Plan(context.Background(), admin.WorkflowInput{JobID: exp.ID})
	if err != nil {
		t.Fatal(err)
	}
	info, err := w.objects.Stat(context.Background(), job.SlicesKey(exp.ID))
	if err != nil {
		t.Fatal(err)
	}
	for _, shard := range plan.Shards {
		fresh := w.steps(func(o *Options) { o.Shards = 5 }) // a process of its own
		if err := fresh.Render(context.Background(), job.RenderInput{JobID: exp.ID, Renderer: plan.Renderer, Shard: shard}); err != nil {
			t.Fatal(err)
		}
	}
	if got := counted.bytes[job.SlicesKey(exp.ID)]; got != info.Size {
		t.Errorf("%d bytes of slices are read, there are %d", got, info.Size)
	}
	if got := counted.reads[job.SlicesKey(exp.ID)]; got > 60 { // a unit has five pages at least, about
		t.Errorf("the slices of 300 pages are read by %d requests", got)
	}
}
