package export

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/frame"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/tests/outside"
)

// siteOf makes a site from pairs of a name and a text.
func siteOf(pairs ...string) fstest.MapFS {
	files := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		files[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return files
}

// diagnosticsOf returns the list of a bundle as "file:line:column code".
func diagnosticsOf(t *testing.T, files map[string]string) (out []string) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(files[bundle.DiagnosticsPath]))
	for dec.More() {
		var d mdx.Diagnostic
		if err := dec.Decode(&d); err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s:%d:%d %s", d.File, d.Line, d.Column, d.Code))
	}
	return out
}

// siteCase is a site, and what its export must make of it.
type siteCase struct {
	name  string
	files fstest.MapFS
	has   map[string]string // files of the bundle, and a text in each
	lacks []string          // files that the bundle must not have
	diags []string          // all of the list; nil: any but failed pages
}

// listing returns a docs.json whose navigation has the given pages.
func listing(t *testing.T, pages ...string) string {
	t.Helper()
	list, err := json.Marshal(pages)
	if err != nil {
		t.Fatal(err)
	}
	return `{"name":"x","navigation":{"pages":` + string(list) + `}}`
}

// checkExports exports each site: its bundle must be whole, and the list must
// say what is wrong with the site.
func checkExports(t *testing.T, cases []siteCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.publish(t, c.files)
			files := unpacked(t, w.exported(t, nil))
			for name, must := range c.has {
				if text, ok := files[name]; !ok || !strings.Contains(text, must) {
					t.Errorf("%s lacks %q: %.1500s", name, must, text)
				}
			}
			for _, name := range c.lacks {
				if _, ok := files[name]; ok {
					t.Errorf("%s is there", name)
				}
			}
			// Every site without services has this one.
			got := slices.DeleteFunc(diagnosticsOf(t, files), func(d string) bool { return strings.HasSuffix(d, " feature-unset") })
			if c.diags != nil {
				if d := cmp.Diff(c.diags, got); d != "" {
					t.Errorf("diagnostics (-want +got):\n%s", d)
				}
			}
			for _, d := range got {
				if strings.HasSuffix(d, " page-failed") && !slices.Contains(c.diags, d) {
					t.Error(d)
				}
			}
		})
	}
}

func TestExportOfSitesWithFewPages(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	checkExports(t, []siteCase{
		{
			name: "nothing but hidden pages",
			files: siteOf(
				"docs.json", listing(t, "a"),
				"a.mdx", "---\nhidden: true\n---\nText",
				"b.mdx", "---\nhidden: true\n---\n"),
			has: map[string]string{"index.html": `data-bindery-copy-page="a.md"`, "a.html": "Text", "b.html": "noindex"},
		},
		{
			name:  "one page",
			files: siteOf("docs.json", listing(t, "index"), "index.mdx", "Hello"),
			has:   map[string]string{"index.html": "Hello", "index.md": "Hello"},
		},
		{
			name:  "an empty page",
			files: siteOf("docs.json", listing(t, "a"), "a.mdx", ""),
			has:   map[string]string{"a.html": "<title>A", "a.md": "# A"},
		},
	})
}

func TestExportOfUnusualNames(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	checkExports(t, []siteCase{
		{
			name: "names with spaces, signs and scripts",
			files: siteOf(
				"docs.json", listing(t, "with space/größe", "100%", "c#", "日本語/始め方"),
				"with space/größe.mdx", "[p](/100%25) [q](/c%23#ziel) [r](/日本語/始め方#見出し) ![i](</pics/a b#1.png>)",
				"100%.mdx", "back [home](</with space/größe>)",
				"c#.mdx", "## Ziel",
				"日本語/始め方.mdx", "## 見出し\n\n[hier](#見出し)",
				"pics/a b#1.png", "png",
				"it's+(1)&;,=@~.txt", "text"),
			has: map[string]string{
				"with space/größe.html": `href="../c%23.html#ziel"`,
				"100%.html":             `href="with%20space/gr%C3%B6%C3%9Fe.html"`,
				"日本語/始め方.html":          `href="#見出し"`,
				"pics/a b#1.png":        "png",
				"it's+(1)&;,=@~.txt":    "text",
				"sitemap.xml":           "https://docs.example/100%25<",
			},
		},
		{
			name: "a page and a folder of one name",
			files: siteOf(
				"docs.json", listing(t, "a", "a/index", "a/b"),
				"a.mdx", "[b](/a/b)",
				"a/index.mdx", "[a](/a)",
				"a/b.mdx", "[c](/a.html/c)",
				"a.html/c.mdx", ""),
			has:   map[string]string{"a.html": `href="a/b.html"`, "a/index.html": `href="../a.html"`, "a/b.html": ""},
			lacks: []string{"a.html/c.html"},
			diags: []string{"a.html/c.mdx:0:0 page-shadowed", "a/index.mdx:1:1 title-duplicate", "a/b.mdx:1:1 link-missing"},
		},
		{
			name: "files with names of ours",
			files: siteOf(
				"docs.json", `{"name":"x","navigation":{"pages":["a"]},"redirects":[
{"source":"/404","destination":"/a"},
{"source":"/llms.txt","destination":"/a"}]}`,
				"a.mdx", "",
				"404.html", "own 404",
				"robots.txt", "own robots",
				"llms.txt/x.png", "png",
				"sitemap.xml", "own map",
				"index.html/y.png", "png"),
			has:   map[string]string{"404.html": "own 404", "robots.txt": "own robots", "sitemap.xml": "own map", "llms.txt/x.png": "png"},
			lacks: []string{"llms.txt", "index.html"},
		},
	})
}

func TestExportOfUnusualRedirects(t *testing.T) {
	outside.Long(t, "exports many sites")
	var many []string
	for i := range 2500 {
		many = append(many,
			fmt.Sprintf(`{"source":"/old/%d/:rest*","destination":"/new/%d/:rest*"}`, i, i),
			fmt.Sprintf(`{"source":"/was/%d","destination":"/a"}`, i))
	}
	checkExports(t, []siteCase{
		{
			name: "redirects that loop, leave, end at files, or have a page's address",
			files: siteOf(
				"docs.json", `{"name":"x","navigation":{"pages":["a"]},"redirects":[
{"source":"/","destination":"/f.pdf"},
{"source":"/one","destination":"/two"},
{"source":"/two","destination":"/one"},
{"source":"/self","destination":"/self"},
{"source":"/file","destination":"/f.pdf#page=2"},
{"source":"/out","destination":"https://o.example/x?y=1"},
{"source":"/a","destination":"/elsewhere"},
{"source":"/f.pdf","destination":"/a"},
{"source":"/bad","destination":"javascript:x"},
{"source":"/<b>","destination":"/a"},
{"source":"/w/*","destination":"/w/x/*"}]}`,
				"a.mdx", "[1](/one) [2](/file) [3](/w/1)",
				"f.pdf", "pdf"),
			has: map[string]string{
				"index.html": "f.pdf",
				"file.html":  "f.pdf#page=2",
				"out.html":   "https://o.example/x?y=1",
				"a.html":     `href="f.pdf#page=2"`,
				"f.pdf":      "pdf",
			},
			lacks: []string{"one.html", "self.html", "bad.html"},
			diags: []string{
				"docs.json:10:1 link-unsafe", "docs.json:3:1 redirect-loop", "docs.json:4:1 redirect-loop", "docs.json:5:1 redirect-loop",
				"docs.json:8:1 redirect-unused", "docs.json:9:1 redirect-unused", "docs.json:11:1 redirect-name", "docs.json:12:1 redirect-loop", "a.mdx:1:1 link-missing", "a.mdx:1:22 link-missing",
			},
		},
		{
			name: "patterns among the redirects, and a page's own way out",
			files: siteOf(
				"docs.json", `{"name":"x","variables":{"v":"4.2"},"navigation":{"pages":["g/a","g/b","out"]},"redirects":[
{"source":"/was/:rest*","destination":"/g/:rest*","permanent":false},
{"source":"/older/*","destination":"/was/*"},
{"source":"/q?x=1","destination":"/g/b"}]}`,
				"g/a.mdx", "[1](/older/b) {{v}}",
				"g/b.mdx", "",
				"out.mdx", "---\nurl: https://o.example/\n---\n"),
			has: map[string]string{
				"was/a.html":   "../g/a.html",
				"older/b.html": "../g/b.html",
				"q.html":       "g/b.html",
				"out.html":     "url=https://o.example/",
				"g/a.html":     `href="b.html"`,
				"g/a.md":       "4.2",
				"bindery.json": `"from": "/was/:rest*"`,
			},
			lacks: []string{"was.html", "older.html"},
		},
		{
			name: "a redirect with a star that is one",
			files: siteOf(
				"docs.json", `{"name":"x","navigation":{"pages":["a"]},"redirects":[{"source":"/o*d","destination":"/a"}]}`,
				"a.mdx", "[1](/o*d) [2](/old)"),
			has:   map[string]string{"a.html": `<a href="a.html">1</a>`, "bindery.json": `"from": "/o*d"`},
			lacks: []string{"o*d.html", "old.html"},
			diags: []string{"docs.json:1:55 redirect-pattern", "a.mdx:1:11 link-missing"},
		},
		{
			name: "thousands of redirects",
			files: siteOf(
				"docs.json", `{"name":"x","navigation":{"pages":["a"]},"redirects":[`+strings.Join(many, ",")+`]}`,
				"a.mdx", "[1](/old/7/x) [2](/was/9) [3](/none)",
				"new/7/x.mdx", ""),
			has:   map[string]string{"a.html": `href="new/7/x.html"`, "was/2499.html": "a.html", "bindery.json": `"/old/2499/:rest*"`},
			diags: []string{"new/7/x.mdx:1:1 page-unlisted", "a.mdx:1:27 link-missing"},
		},
	})
}

func TestExportOfFaultySources(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	checkExports(t, []siteCase{
		{
			name: "a navigation that names pages twice, not, and itself",
			files: siteOf(
				"docs.json", `{"name":"x","navigation":{"tabs":[
{"tab":"T","groups":[{"group":"G","root":"a","pages":["a","a","b",{"group":"G","pages":["a"]}]}]},
{"tab":"U","pages":["b","gone"]}]}}`,
				"a.mdx", "",
				"b.mdx", ""),
			has:   map[string]string{"a.html": `aria-current="page"`, "b.html": `aria-current="page"`},
			diags: []string{"docs.json:3:25 nav-missing"},
		},
		{
			name: "a configuration that refers to itself",
			files: siteOf(
				"docs.json", `{"name":"x","navigation":{"$ref":"n.json"}}`,
				"n.json", `{"pages":{"$ref":"n.json"}}`,
				"a.mdx", ""),
			has:   map[string]string{"a.html": "<title>A"},
			diags: []string{"n.json:1:18 config-ref", "docs.json:1:1 nav-empty"},
		},
		{
			name: "heads that are broken",
			files: siteOf(
				"docs.json", listing(t, "a", "b", "c", "d"),
				"a.mdx", "---\ntitle: [x\nicon: y\n---\nText a",
				"b.mdx", "---\ntitle: x\n\nnever closed",
				"c.mdx", "---\n- 1\n---\nText c",
				"d.mdx", "---\ntitle: {{{{\n---\nText d"),
			has: map[string]string{"a.html": "Text a", "b.html": "<title>", "c.html": "Text c", "d.html": "Text d"},
		},
		{
			name: "a mark at the start, and lines that end as on Windows",
			files: siteOf(
				"docs.json", "\ufeff{\r\n\"name\":\"x\",\r\n\"navigation\":{\"pages\":[\"a\"]}}",
				"a.mdx", "\ufeff---\r\ntitle: Über\r\ndescription: Zeile\r\n---\r\n\r\n## Teil\r\n\r\n<Note>\r\nText\r\n</Note>\r\n\r\n```js\r\nlet a\r\n```\r\n"),
			has: map[string]string{"a.html": "<title>Über", "a.md": "# Über"},
		},
		{
			name: "bytes that are not text",
			files: siteOf(
				"docs.json", listing(t, "a", "b"),
				"a.mdx", "---\ntitle: \xff\xfe\n---\n\n\x00\xc3 # \xed\xa0\x80\n\n[x\xff](/b#\xff)\n\n```js\n\xf0\x9f\n```\n",
				"b.mdx", strings.Repeat("\x80", 3000),
				"c.png", "\x00\xff",
				"d.css", "a{background:url(/\xff)}"),
			has: map[string]string{"a.html": "", "b.html": "", "c.png": "\x00\xff"},
		},
		{
			name:  "syntax that is broken",
			files: siteOf("docs.json", listing(t, "a"), "a.mdx", "Before\n\n<Card\n\n{ oops\n\n</Tab>"),
			has:   map[string]string{"a.html": "Before"},
		},
	})
}

func TestExportOfLargeFiles(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	checkExports(t, []siteCase{
		{
			name:  "a page that is too large",
			files: siteOf("docs.json", listing(t, "a"), "a.mdx", "---\ntitle: Large\n---\n"+strings.Repeat("text\n", MaxPageBytes/5+1)),
			has:   map[string]string{"a.html": "<title>Large", "a.md": "could not be rendered"},
			diags: []string{"a.mdx:1:1 page-failed"},
		},
		{
			name: "a file larger than a pack",
			files: siteOf(
				"docs.json", listing(t, "a"),
				"a.mdx", "[f](/big.txt) [g](/big.zip)",
				"big.txt", strings.Repeat("0123456789abcdef", 40<<16),
				"big.zip", strings.Repeat("z", 5<<20)),
			has: map[string]string{"a.html": `href="big.txt"`, "big.txt": "89abcdef0123"},
		},
	})
}

// What makes a site unusable is said with file, line and column, and is no
// fault of ours.
func TestUnusableSites(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	for _, c := range []struct {
		name  string
		files fstest.MapFS
		want  string
	}{
		{"no configuration", siteOf("a.mdx", ""), "docs.json: "},
		{"an empty one", siteOf("docs.json", ""), "docs.json:1:1: "},
		{"a mark alone", siteOf("docs.json", "\ufeff"), "docs.json:1:4: "},
		{"no text", siteOf("docs.json", "\x00\xff"), "docs.json:1:1: "},
		{"a list", siteOf("docs.json", "\n[]"), "docs.json:2:1: "},
		{"two", siteOf("docs.json", "{}\r\n{}"), "docs.json:2:1: "},
		{"very deep", siteOf("docs.json", `{"navigation":`+strings.Repeat(`{"groups":[`, 5000)+strings.Repeat(`]}`, 5000)+"}"), "docs.json:1:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.publish(t, c.files)
			job := w.start(t)
			err := workflow(context.Background(), w.steps(nil), job.ID)
			j, findErr := w.admin.FindExport(context.Background(), job.ID)
			if findErr != nil {
				t.Fatal(findErr)
			}
			if err == nil || j.Status != admin.ExportFailed || j.Failure.Code != admin.CodeInvalidSite || !strings.HasPrefix(j.Failure.Message, c.want) {
				t.Errorf("%v; the job is %s with %+v", err, j.Status, j.Failure)
			}
		})
	}
}

// The same steps at the same time, and once more behind the end, do no harm.
func TestStepsAtTheSameTime(t *testing.T) {
	w := newWorld(t)
	w.publish(t, sampleSite(60))
	want := w.exported(t, nil)
	ctx := context.Background()
	exp := w.start(t)
	all := []*Steps{w.steps(func(o *Options) { o.Shards = 3 }), w.steps(func(o *Options) { o.Shards = 3 })}
	both := func(step func(s *Steps) error) {
		t.Helper()
		var wait sync.WaitGroup
		for _, s := range append(all, all...) {
			wait.Go(func() {
				if err := step(s); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
	}
	both(func(s *Steps) error { return second(s.Plan(ctx, admin.WorkflowInput{JobID: exp.ID})) })
	for n := 3; n >= 1; n-- {
		both(func(s *Steps) error { return s.Render(ctx, job.RenderInput{JobID: exp.ID, Renderer: "test", Shard: n}) })
	}
	both(func(s *Steps) error {
		return second(s.Assemble(ctx, job.AssembleInput{JobID: exp.ID, Renderer: "test"}))
	})
	if !bytes.Equal(w.bundle(t, exp.ID), want) {
		t.Error("other bytes")
	}
}

// A shard, or the end, that comes after the job failed brings nothing back, and
// what it wrote goes with the next sweep.
func TestLateStepsAfterFailure(t *testing.T) {
	w := newWorld(t)
	w.publish(t, sampleSite(9))
	ctx := context.Background()
	exp := w.start(t)
	// The job fails while its bundle is uploaded.
	late := &countingObjects{Objects: w.objects}
	s := w.steps(func(o *Options) { o.Objects, o.Shards = late, 2 })
	plan, err := s.Plan(ctx, admin.WorkflowInput{JobID: exp.ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range plan.Shards {
		if err := s.Render(ctx, job.RenderInput{JobID: exp.ID, Renderer: "test", Shard: n}); err != nil {
			t.Fatal(err)
		}
	}
	late.onPut = func(key string) {
		if key == job.BundleKey(exp.ID) {
			if err := w.admin.FailExport(ctx, exp.ID, admin.CodeInternal, "ended from outside"); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := s.Assemble(ctx, job.AssembleInput{JobID: exp.ID, Renderer: "test"}); admin.CodeOf(err) != admin.CodeJobNotActive {
		t.Errorf("the end came late: %v", err)
	}
	late.onPut = nil
	if err := s.Render(ctx, job.RenderInput{JobID: exp.ID, Renderer: "test", Shard: 1}); admin.CodeOf(err) != admin.CodeJobNotActive {
		t.Errorf("a shard came late: %v", err)
	}
	j, err := w.admin.FindExport(ctx, exp.ID)
	if err != nil || j.Status != admin.ExportFailed || j.Failure.Message != "ended from outside" {
		t.Errorf("the job is %s with %+v (%v)", j.Status, j.Failure, err)
	}
	w.now = w.now.Add(24 * time.Hour)
	if err := w.keeper().Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if list, err := w.objects.List(ctx, job.Prefix(exp.ID), "", 0); err != nil || len(list) != 1 || list[0].Key != admin.FindingsKey(exp.ID) {
		t.Errorf("there are still %v (%v)", list, err)
	}
}

// An upload that is cancelled half-way leaves no object and no slot behind.
func TestCancelledUpload(t *testing.T) {
	w := newWorld(t)
	w.publish(t, sampleSite(300))
	job := w.start(t)
	for _, ending := range []string{"site.json", "1.gz", "bundle.tar.gz"} {
		ctx, cancel := context.WithCancel(context.Background())
		objects := &cuttingObjects{Objects: w.objects, ending: ending, cut: cancel}
		s := w.steps(func(o *Options) { o.Objects, o.Shards, o.Concurrency = objects, 1, 2 })
		if err := workflow(ctx, s, job.ID); err == nil {
			t.Errorf("%s: the workflow succeeded", ending)
		}
		cancel()
		if len(s.slots) != 0 {
			t.Errorf("%s: %d slots are held", ending, len(s.slots))
		}
		if _, err := w.objects.Stat(context.Background(), objects.key); err == nil {
			t.Errorf("%s: an object is there that was cut", objects.key)
		}
	}
	if err := workflow(context.Background(), w.steps(func(o *Options) { o.Shards = 1 }), job.ID); err != nil {
		t.Fatal(err)
	}
	w.bundle(t, job.ID)
}

// cuttingObjects ends the context in the middle of a Put.
type cuttingObjects struct {
	store.Objects
	ending, key string
	cut         func()
}

type cuttingReader struct {
	of  *cuttingObjects
	ctx context.Context
	r   io.Reader
}

func (r cuttingReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p[:min(len(p), 100)])
	r.of.cut()
	if err == nil {
		err = r.ctx.Err()
	}
	return n, err
}

func (c *cuttingObjects) Put(ctx context.Context, key string, r io.Reader, opt store.PutOptions) (store.ObjectInfo, error) {
	if strings.HasSuffix(key, c.ending) {
		c.key = key
		r = cuttingReader{c, ctx, r}
	}
	return c.Objects.Put(ctx, key, r, opt)
}

// A fault in what surrounds a page costs the page its surroundings, and nothing
// else.
func TestDocumentThatFails(t *testing.T) {
	w := newWorld(t)
	w.publish(t, sampleSite(3))
	ctx := context.Background()
	exp := w.start(t)
	s := w.steps(func(o *Options) { o.Shards = 1 })
	if _, err := s.Plan(ctx, admin.WorkflowInput{JobID: exp.ID}); err != nil {
		t.Fatal(err)
	}
	input, err := w.admin.ExportInput(ctx, exp.ID)
	if err != nil {
		t.Fatal(err)
	}
	src, err := s.open(ctx, input)
	if err != nil {
		t.Fatal(err)
	}
	src.views = new(frame.Views) // using it panics
	if err := s.Render(ctx, job.RenderInput{JobID: exp.ID, Renderer: "test", Shard: 1}); err != nil {
		t.Fatal(err)
	}
	// The end is another process's.
	if _, err := w.steps(nil).Assemble(ctx, job.AssembleInput{JobID: exp.ID, Renderer: "test"}); err != nil {
		t.Fatal(err)
	}
	files := unpacked(t, w.bundle(t, exp.ID))
	doc := files["guides/part-00/page-000.html"]
	if !strings.Contains(doc, "<title>Page 0</title>") || !strings.Contains(doc, "First heading") {
		t.Error(doc)
	}
	failed := 0
	for _, d := range diagnosticsOf(t, files) {
		if strings.HasSuffix(d, ":1:1 page-failed") {
			failed++
		}
	}
	if failed != 4 {
		t.Errorf("%d pages are reported, want 4", failed)
	}
}

// A folder outside Git has no dates: the same files give the same bytes, whenever
// and on top of what they are published.
func TestTheSameFilesGiveTheSameBytes(t *testing.T) {
	site := sampleSite(5)
	site["guides/part-00/page-000.mdx"] = &fstest.MapFile{Data: []byte("---\ntitle: News\nrss: true\n---\n\n<Update label=\"March 2026\">\n  It works.\n</Update>\n")}
	var want map[string]string
	for i := range 2 {
		w := newWorld(t)
		w.now = w.now.AddDate(i, i, i)
		w.publish(t, sampleSite(5-i))
		w.publish(t, site)
		got := unpacked(t, w.exported(t, nil))
		delete(got, bundle.InfoPath) // names the snapshot
		for name, text := range want {
			if got[name] != text {
				t.Errorf("%s differs:\n%s\n%s", name, text, got[name])
			}
		}
		if want = got; want["sitemap.xml"] == "" || want["guides/part-00/page-000/rss.xml"] == "" {
			t.Errorf("no sitemap, or no feed among %d files", len(want))
		}
	}
}
