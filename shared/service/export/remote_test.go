package export

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/tests/outside"
)

// hosts is example.com, with files that a test may change, and a count of the
// requests for each.
type hosts struct {
	*httptest.Server
	mu    sync.Mutex
	files map[string]string
	asked map[string]int
}

func newHosts(t *testing.T, files map[string]string) *hosts {
	t.Helper()
	h := &hosts{files: files, asked: map[string]int{}}
	h.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		address := "https://" + r.Host + r.URL.RequestURI()
		h.asked[address]++
		text, ok := h.files[address]
		if !ok {
			http.NotFound(w, r)
			return
		}
		kind, body, _ := strings.Cut(text, "|")
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hosts) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if strings.HasPrefix(host, "inside.") {
		return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
	}
	return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
}

// fetcher asks these hosts.
func (h *hosts) fetcher() Fetcher {
	pool := x509.NewCertPool()
	pool.AddCert(h.Certificate())
	return remote.New(remote.Options{Resolver: h, TLS: &tls.Config{RootCAs: pool}, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, h.Listener.Addr().String())
	}})
}

// most is how often the address was asked for that was asked for most.
func (h *hosts) most() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Max(append(slices.Collect(maps.Values(h.asked)), 0))
}

func remoteHosts(t *testing.T) *hosts {
	return newHosts(t, map[string]string{
		"https://example.com/api/openapi.yaml": "application/yaml|openapi: 3.1.0\ninfo: {title: Shop, version: '1'}\n" +
			"servers: [{url: 'https://shop.example'}]\npaths:\n  /orders:\n    get:\n      summary: List orders\n      responses:\n" +
			"        '200': {description: fine, content: {application/json: {schema: {$ref: 'parts/order.yaml#/Order'}}}}\n",
		"https://example.com/api/parts/order.yaml": "text/plain|Order: {type: object, properties: {amount: {type: integer, description: How much it costs.}}}\n",
		"https://example.com/a.png":                "image/png|\x89PNG\r\n\x1a\n a",
		"https://example.com/picture?size=2&x=1":   "image/webp|RIFF....WEBP",
		"https://example.com/logo.svg":             `image/svg+xml|<svg xmlns="http://www.w3.org/2000/svg"/>`,
		"https://example.com/body.woff2":           "font/woff2|wOF2",
		"https://example.com/js/widget.js":         "text/javascript|console.log(1)",
		"https://example.com/css/more.css":         "text/css|@import 'deep.css'; a { background: url(../a.png) } b { background: url(gone.png) } c { background: url(data:image/png;base64,AA) }",
		"https://example.com/css/deep.css":         `text/css|@font-face { src: url("/body.woff2") }`,
		"https://example.com/page.png":             "text/html|<html>",
	})
}

const remoteConfig = `{"name":"Remote","logo":"https://example.com/logo.svg",
"fonts":{"body":{"family":"Own","source":"https://example.com/body.woff2"}},
"navigation":{"groups":[
{"group":"Guides","pages":["index"]},
{"group":"API","openapi":"https://example.com/api/openapi.yaml"}]}}`

func remoteSite() fstest.MapFS {
	return fstest.MapFS{
		"docs.json": {Data: []byte(remoteConfig)},
		"index.mdx": {Data: []byte("---\ntitle: Start\n\"og:image\": https://example.com/a.png\ntwitter:image: https://example.com/picture?size=2&x=1\n---\n\n![one](https://example.com/a.png)\n\n<img src=\"https://example.com/picture?size=2&amp;x=1\" alt=\"two\" />\n\n" +
			"![none](https://example.com/none.png) ![a page](https://example.com/page.png) ![inside](https://inside.example.com/x.png) ![elsewhere](https://other.example/b.png)\n\n" +
			"[a link](https://example.com/manual)\n\n```md\n![code](https://example.com/code.png)\n```\n\n<script src=\"https://example.com/js/widget.js\"></script>\n")},
		"style.css": {Data: []byte(`@import "https://example.com/css/more.css"; h1 { background: url(https://example.com/a.png#x) }`)},
	}
}

const remoteAllowed = "*.example.com,example.com"

// A project that allows a host gets a bundle that is whole: what the site names
// there are files of the bundle, and specifications are read as the site's own.
func TestRemoteFiles(t *testing.T) {
	for _, kind := range admin.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			h := remoteHosts(t)
			w := openWorldOf(t, t.TempDir(), kind, admin.Settings{AllowHosts: remoteAllowed})
			w.publish(t, remoteSite())
			data := w.exported(t, func(o *Options) { o.Fetcher = h.fetcher() })
			files := unpacked(t, data)
			remotes := map[string]string{} // by content
			for name, text := range files {
				if strings.HasPrefix(name, remoteDir) {
					remotes[text] = name
				}
			}
			if len(remotes) != 7 {
				t.Errorf("the bundle has the fetched files %v", remotes)
			}
			index := files["index.html"]
			for _, content := range []string{"\x89PNG\r\n\x1a\n a", "RIFF....WEBP", "console.log(1)", `<svg xmlns="http://www.w3.org/2000/svg"/>`} {
				if name := remotes[content]; name == "" || !strings.Contains(index, `src="`+name+`"`) {
					t.Errorf("the page does not load %q as %q", content, name)
				}
			}
			for name, content := range map[string]string{"og:image": "\x89PNG\r\n\x1a\n a", "twitter:image": "RIFF....WEBP"} {
				if !strings.Contains(index, `="`+name+`" content="https://docs.example/`+remotes[content]+`"`) {
					t.Errorf("%s is not %q", name, remotes[content])
				}
			}
			for _, stays := range []string{"https://example.com/none.png", "https://example.com/page.png", "https://other.example/b.png", `href="https://example.com/manual"`} {
				if !strings.Contains(index, stays) {
					t.Errorf("%s is no longer on the page", stays)
				}
			}
			deep := `@font-face { src: url("` + strings.TrimPrefix(remotes["wOF2"], remoteDir) + `") }`
			more := "@import '" + strings.TrimPrefix(remotes[deep], remoteDir) + "'; a { background: url(" + strings.TrimPrefix(remotes["\x89PNG\r\n\x1a\n a"], remoteDir) +
				") } b { background: url(https://example.com/css/gone.png) } c { background: url(data:image/png;base64,AA) }"
			if remotes[deep] == "" || remotes[more] == "" {
				t.Errorf("the fetched style sheets are not %q and %q", deep, more)
			}
			if want := `@import "` + remotes[more] + `"; h1 { background: url(` + remotes["\x89PNG\r\n\x1a\n a"] + `#x) }`; files["style.css"] != want {
				t.Errorf("the site's style sheet is %s, want %s", files["style.css"], want)
			}
			if page := files["api-reference/list-orders.html"]; !strings.Contains(page, "How much it costs.") {
				t.Error("the page about the specification does not show it")
			}
			if h.asked["https://example.com/code.png"] > 0 || h.most() != 1 {
				t.Errorf("it was asked for: %v", h.asked)
			}
			var info bundle.Info
			if err := json.Unmarshal([]byte(files[bundle.InfoPath]), &info); err != nil {
				t.Fatal(err)
			}
			if info.Remote == nil || !slices.Equal(info.Remote.Hosts, []string{"*.example.com", "example.com"}) || len(info.Remote.SHA256) != 64 ||
				!strings.HasSuffix(info.Version, "-r"+info.Remote.SHA256[:12]) {
				t.Errorf("the bundle says %+v, version %s", info.Remote, info.Version)
			}
			if images := info.Sources["img-src"]; !slices.Contains(images, "https://other.example") {
				t.Errorf("the policy allows pictures of %v", images)
			}
			if list := files[remoteListPath]; strings.Count(list, "\n") != 9 || !strings.Contains(list, `{"address":"https://example.com/api/parts/order.yaml","sha256":"`) {
				t.Errorf("the list of fetched files is %s", list)
			}
			var problems []string
			for line := range strings.Lines(files[bundle.DiagnosticsPath]) {
				var d mdx.Diagnostic
				if err := json.Unmarshal([]byte(line), &d); err != nil {
					t.Fatal(err)
				}
				if d.Code == "remote-missing" {
					problems = append(problems, fmt.Sprintf("%s:%d %s", d.File, d.Line, d.Message))
				}
			}
			const end = ": readers load it from there, if they can"
			if want := []string{
				"index.mdx:11 https://example.com/none.png answers with the status 404" + end,
				"index.mdx:11 https://example.com/page.png has a content type that is not asked for" + end,
				"index.mdx:11 https://inside.example.com/x.png is on a host with an address that is not public" + end,
			}; !slices.Equal(problems, want) {
				t.Errorf("it says %q, want %q", problems, want)
			}
		})
	}
}

// Queries of addresses may be signatures and tokens. Those of what is fetched
// are nowhere in the bundle, and those of what is not stand only where their
// authors wrote them: not in the report, not in the list, not in the log.
func TestQueriesStaySecret(t *testing.T) {
	h := newHosts(t, map[string]string{
		"https://example.com/a.png?token=hush1":          "image/png|\x89PNG\r\n\x1a\na",
		"https://example.com/api/spec.yaml?token=hush2":  "application/yaml|openapi: 3.1.0\npaths: {/orders: {get: {summary: Orders, responses: {'200': {$ref: 'more.yaml?token=hush3#/none'}}}}}",
		"https://example.com/api/more.yaml?token=hush3":  "application/yaml|some: thing",
		"https://example.com/style.css?token=hush4":      "text/css|a { background: url(b.png?token=hush5) }",
		"https://example.com/b.png?token=hush5":          "image/png|\x89PNG\r\n\x1a\nb",
		"https://example.com/api/other.yaml?token=hush6": "application/yaml|: : no specification",
	})
	w := openWorldOf(t, t.TempDir(), admin.KindAirGapped, admin.Settings{AllowHosts: remoteAllowed})
	w.publish(t, fstest.MapFS{
		"docs.json": {Data: []byte(`{"name":"x","navigation":{"groups":[{"group":"A","pages":["index"]},` +
			`{"group":"B","openapi":"https://example.com/api/spec.yaml?token=hush2"},{"group":"C","openapi":"https://example.com/api/other.yaml?token=hush6"},` +
			`{"group":"D","openapi":"https://me:hush7@example.com/gone.yaml?token=hush7"},{"group":"E","openapi":"https://elsewhere.example/x.yaml?token=hush7"}]}}`)},
		"index.mdx": {Data: []byte("---\ntitle: Start\n---\n\n![one](https://example.com/a.png?token=hush1)\n\n![gone](https://example.com/gone.png?token=shown1)\n\n![far](https://far.example/x.png?token=shown2)\n")},
		"own.css":   {Data: []byte(`@import "https://example.com/style.css?token=hush4";`)},
	})
	var log bytes.Buffer
	files := unpacked(t, w.exported(t, func(o *Options) {
		o.Fetcher, o.Log = h.fetcher(), slog.New(slog.NewTextHandler(&log, nil))
	}))
	for name, text := range files {
		if i := strings.Index(text, "hush"); i >= 0 {
			t.Errorf("%s has …%s", name, text[max(0, i-200):i+5])
		}
		if i := strings.Index(text, "token=shown"); i >= 0 && name != "index.html" && name != "index.md" && name != "llms-full.txt" {
			t.Errorf("%s has …%s", name, text[max(0, i-200):i+5])
		}
	}
	if said := log.String(); strings.Contains(said, "hush") || strings.Contains(said, "token=shown") || !strings.Contains(said, "https://example.com/a.png?…") {
		t.Errorf("the log says %s", said)
	}
	for _, want := range []string{"https://example.com/gone.png?… answers with the status 404", "https://far.example/x.png?…", "https://example.com/gone.yaml?…", "https://elsewhere.example/x.yaml?…"} {
		if !strings.Contains(files[bundle.DiagnosticsPath], want) {
			t.Errorf("the report does not name %s:\n%s", want, files[bundle.DiagnosticsPath])
		}
	}
	if !strings.Contains(files[remoteListPath], `"address":"https://example.com/a.png?…"`) {
		t.Errorf("the list is %s", files[remoteListPath])
	}
}

// Without the setting nobody is asked, and the report says which specification
// is missing and where it is named.
func TestNothingIsFetchedUnlessAllowed(t *testing.T) {
	h := remoteHosts(t)
	for name, settings := range map[string]admin.Settings{"no host": {}, "another host": {AllowHosts: "other.example"}} {
		w := openWorldOf(t, t.TempDir(), admin.KindCloud, settings)
		site := remoteSite()
		site["bindery.yaml"] = &fstest.MapFile{Data: []byte("run: {allow-host: example.com, kind: air-gapped}\n")} // is not for a server
		w.publish(t, site)
		files := unpacked(t, w.exported(t, func(o *Options) {
			o.Fetcher = h.fetcher()
		}))
		if strings.Contains(files[bundle.DiagnosticsPath], `"check-rules"`) || !strings.Contains(files[bundle.InfoPath], `"cloud"`) {
			t.Errorf("%s: the bundle is %s", name, files[bundle.InfoPath])
		}
		if h.most() > 0 {
			t.Errorf("%s: %v is asked for", name, h.asked)
		}
		if !strings.Contains(files[bundle.DiagnosticsPath], `"api-remote"`) || !strings.Contains(files[bundle.DiagnosticsPath], `"docs.json","line":5`) {
			t.Errorf("%s: the report is %s", name, files[bundle.DiagnosticsPath])
		}
		if !strings.Contains(files["index.html"], `src="https://example.com/a.png"`) {
			t.Errorf("%s: the page's picture is elsewhere", name)
		}
	}
}

// A job has what it fetched first: steps that run again, and Plans that run at
// the same time or stop half-way, read that copy although the host has changed.
func TestRetriesReadTheCopy(t *testing.T) {
	h := remoteHosts(t)
	w := openWorldOf(t, t.TempDir(), admin.KindCloud, admin.Settings{AllowHosts: remoteAllowed})
	w.publish(t, remoteSite())
	job := w.start(t)
	ctx := context.Background()
	// The first Plan dies after some notes.
	dying := &dyingObjects{Objects: w.objects, left: 5}
	s := w.steps(func(o *Options) { o.Fetcher, o.Objects = h.fetcher(), dying })
	if _, err := s.Plan(ctx, admin.WorkflowInput{JobID: job.ID}); err == nil {
		t.Fatal("the step lives")
	}
	if h.most() == 0 {
		t.Fatal("nothing was asked for before the end")
	}
	h.change(map[string]string{"https://example.com/api/openapi.yaml": "application/yaml|openapi: 3.1.0\npaths: {/other: {get: {summary: Other}}}"})
	steps := w.steps(func(o *Options) { o.Fetcher = h.fetcher() })
	first, err := steps.Plan(ctx, admin.WorkflowInput{JobID: job.ID})
	if err != nil {
		t.Fatal(err)
	}
	before := h.total()
	h.change(nil) // nothing is there any more
	second, err := steps.Plan(ctx, admin.WorkflowInput{JobID: job.ID})
	if err != nil || len(first.Shards) != len(second.Shards) || h.total() != before {
		t.Errorf("the second Plan: %v, %v; %d requests after %d", second, err, h.total(), before)
	}
	if err := workflow(ctx, w.steps(func(o *Options) { o.Fetcher = h.fetcher() }), job.ID); err != nil {
		t.Fatal(err)
	}
	files := unpacked(t, w.bundle(t, job.ID))
	if files["api-reference/list-orders.html"] == "" || files["api-reference/other.html"] != "" {
		t.Error("the bundle is not made of what was fetched first")
	}
	if h.total() != before {
		t.Errorf("later steps asked: %d requests after %d", h.total(), before)
	}
}

func (h *hosts) change(files map[string]string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if files == nil {
		clear(h.files)
	}
	maps.Copy(h.files, files)
}

func (h *hosts) total() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, k := range h.asked {
		n += k
	}
	return n
}

// dyingObjects fail after some writes below remote/.
type dyingObjects struct {
	store.Objects
	mu   sync.Mutex
	left int
}

func (o *dyingObjects) Put(ctx context.Context, key string, r io.Reader, opt store.PutOptions) (store.ObjectInfo, error) {
	o.mu.Lock()
	o.left--
	dead := o.left < 0
	o.mu.Unlock()
	if dead {
		return store.ObjectInfo{}, errors.New("the step ends here")
	}
	return o.Objects.Put(ctx, key, r, opt)
}

// The same files of other hosts give the same bytes, however many shards there
// are; other ones give another version, and a label refuses them.
func TestRemoteFilesAreAnInput(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	h := remoteHosts(t)
	w := openWorldOf(t, t.TempDir(), admin.KindCloud, admin.Settings{AllowHosts: remoteAllowed})
	w.publish(t, remoteSite())
	one := w.exported(t, func(o *Options) { o.Fetcher, o.Shards = h.fetcher(), 1 })
	if other := w.exported(t, func(o *Options) { o.Fetcher, o.Shards, o.Concurrency = h.fetcher(), 3, 4 }); string(one) != string(other) {
		t.Error("two exports of the same files differ")
	}
	label := func() (admin.ExportJob, error) {
		job, err := w.admin.StartExport(context.Background(), w.caller, admin.StartExport{Domain: domain, Version: "v1"})
		if err != nil {
			t.Fatal(err)
		}
		err = workflow(context.Background(), w.steps(func(o *Options) { o.Fetcher = h.fetcher() }), job.ID)
		job, _ = w.admin.FindExport(context.Background(), job.ID)
		return job, err
	}
	for range 2 {
		if job, err := label(); err != nil {
			t.Fatalf("%v %+v", err, job.Failure)
		}
	}
	h.change(map[string]string{"https://example.com/a.png": "image/png|\x89PNG\r\n\x1a\nanother"})
	if other := w.exported(t, func(o *Options) { o.Fetcher = h.fetcher() }); string(one) == string(other) {
		t.Error("another picture gives the same bundle")
	}
	if job, err := label(); err == nil || job.Failure == nil || job.Failure.Code != admin.CodeVersionTaken {
		t.Errorf("the label took other files: %v %+v", err, job.Failure)
	}
}

// A host that sends more than a job may have costs the files past the limit, the
// same ones every time.
func TestRemoteLimits(t *testing.T) {
	outside.Long(t, "downloads up to every limit")
	const each = 15 << 20
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "![x](https://example.com/%02d.png)\n", i)
	}
	w := openWorldOf(t, t.TempDir(), admin.KindCloud, admin.Settings{AllowHosts: "example.com"})
	w.publish(t, fstest.MapFS{"docs.json": {Data: []byte(`{"name":"x","navigation":{"pages":["index"]}}`)}, "index.mdx": {Data: []byte(b.String())}})
	files := unpacked(t, w.exported(t, func(o *Options) { o.Fetcher = largeFiles(each) }))
	if got, want := strings.Count(files[remoteListPath], "\n"), MaxRemoteBytes/each; got != want {
		t.Errorf("%d files are fetched, want %d", got, want)
	}
	for i, want := range map[int]bool{0: false, MaxRemoteBytes/each - 1: false, MaxRemoteBytes / each: true, 19: true} {
		if got := strings.Contains(files["index.html"], fmt.Sprintf("https://example.com/%02d.png", i)); got != want {
			t.Errorf("picture %d stays elsewhere: %v", i, got)
		}
	}
	if !strings.Contains(files[bundle.DiagnosticsPath], "may have 200 MiB together") {
		t.Error("the report does not say why")
	}
}

// largeFiles gives files of a size.
type largeFiles int

func (n largeFiles) Get(_ context.Context, address string, _ remote.Hosts, _ remote.Kind) (remote.File, error) {
	data := make([]byte, n)
	copy(data, address)
	return remote.File{Data: data, Extension: ".png"}, nil
}

// What a file loads is told from what it only speaks of.
func TestScan(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		want             []string
	}{
		{"pictures of Markdown", "a.mdx", "![a](https://h.example/a) ![b](<https://h.example/b>)", []string{"1 https://h.example/a", "1 https://h.example/b"}},
		{"elements", "a.mdx", "\n<img src='https://h.example/a'/><video poster={\"https://h.example/b\"}/><Card img=\"https://h.example/c\"/>", []string{"2 https://h.example/a", "2 https://h.example/b", "2 https://h.example/c"}},
		{"by its ending", "a.mdx", "[x](https://h.example/x.SVG?y#z)", []string{"1 https://h.example/x.SVG?y"}},
		{"links and text", "a.mdx", "[x](https://h.example/x) https://h.example/y <a href=\"https://h.example/z\">z</a>", nil},
		{"hosts that are not allowed", "a.mdx", "![x](https://g.example/x.png) ![x](http://h.example/x.png) ![x](https://127.0.0.1/x.png)", nil},
		{"code", "a.mdx", "```md\n![x](https://h.example/x.png)\n````\n![y](https://h.example/y.png)\n", []string{"4 https://h.example/y.png"}},
		{"an open fence", "a.md", "~~~\n![x](https://h.example/x.png)\n```\n![y](https://h.example/y.png)\n", nil},
		{"entities", "a.mdx", `<img src="https://h.example/a?b=1&amp;c=2"/>`, []string{"1 https://h.example/a?b=1&c=2"}},
		{"styles", "a.css", `@import 'https://h.example/a'; a { b: url( "https://h.example/c" ) }`, []string{"1 https://h.example/a", "1 https://h.example/c"}},
		{"configuration", "docs.json", `{"logo": {"light": "https://h.example/a"}, "href": "https://h.example/b"}`, []string{"1 https://h.example/a"}},
	} {
		r := &remotes{hosts: remote.NewHosts([]string{"h.example"})}
		var got []string
		for _, m := range r.scan(c.file, []byte(c.text)) {
			got = append(got, fmt.Sprintf("%d %s", m.line, m.address))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Style sheets and pages may be anything.
func FuzzStyleSheet(f *testing.F) {
	for _, s := range []string{"a{b:url(c)}", `@import "x"; url('`, "url(\"a\\\"b\")", "@import url(https://example.com/x.css)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, css string) {
		s := &site.Site{Remote: map[string]string{"https://example.com/x.css": remoteDir + "x.css"}}
		siteSheet(s, "a/b.css", []byte(css))
		r := &remotes{hosts: remote.NewHosts([]string{"example.com"})}
		r.localSheet("https://example.com/css/a.css", []byte(css))
		for _, m := range r.scan("x.mdx", []byte(css)) {
			if _, problem := r.hosts.Parse(m.address); problem != "" && problem != "is too long" {
				t.Fatalf("%q %s", m.address, problem)
			}
		}
	})
}
