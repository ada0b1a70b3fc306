package page_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/tests/outside"
)

// Snippets that include each other twice double with every level; a page of
// them ends at a limit and says so.
func TestSnippetBomb(t *testing.T) {
	fsys := fstest.MapFS{"page.mdx": {Data: []byte("import S0 from \"/snippets/s0.mdx\";\n\n<S0 />\n\nBehind the bomb.\n")}}
	const levels = 30
	for i := range levels {
		body := fmt.Sprintf("import Next from \"/snippets/s%d.mdx\";\n\n<Next />\n\n<Next />\n", i+1)
		fsys[fmt.Sprintf("snippets/s%d.mdx", i)] = &fstest.MapFile{Data: []byte(body)}
	}
	fsys[fmt.Sprintf("snippets/s%d.mdx", levels)] = &fstest.MapFile{Data: []byte("Boom " + strings.Repeat("x", 1000))}
	result := renderFiles(t, fsys, "page.mdx")
	if d := diagnostics(result); strings.Count(d, "page-too-large") != 1 {
		t.Errorf("diagnostics: %s", d)
	}
	if size := len(result.HTML); size > 64<<20 {
		t.Errorf("the page has %d bytes", size)
	}
}

// Children handed from component to component double too.
func TestChildrenBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("export const Twice = ({ children }) => (<div>{children}{children}</div>);\n\n")
	const levels = 25
	b.WriteString(strings.Repeat("<Twice>", levels) + "boom" + strings.Repeat("</Twice>", levels) + "\n")
	result := renderSource(t, b.String())
	if size := len(result.HTML); size > 64<<20 {
		t.Errorf("the page has %d bytes", size)
	}
	if faults := checkHTML(result); len(faults) > 0 {
		t.Error(faults)
	}
}

// A long text that a page shows or hands on again and again counts with its
// length: as an expression, as an attribute, in code and in copies of elements.
func TestTextBomb(t *testing.T) {
	outside.Long(t, "renders a page as large as its limits allow")
	text := "export const text = 'x'.repeat(900000);\n\n"
	for name, source := range map[string]string{
		"expressions":             text + strings.Repeat("{text}\n\n", 500),
		"attributes":              text + strings.Repeat("<div title={text} />\n\n", 500),
		"attributes of a list":    text + "{[1,2,3,4,5,6,7,8,9].map(x => [1,2,3,4,5,6,7,8,9].map(y => [1,2,3,4,5,6,7,8,9].map(z => <div title={text} />)))}\n",
		"lists in attributes":     text + strings.Repeat("<Update label=\"a\" tags={[text]}>x</Update>\n\n", 500),
		"components":              text + strings.Repeat("<Card title={text} />\n\n", 500),
		"snippets":                "import S from \"/snippets/s.mdx\";\n" + text + strings.Repeat("<S v={text} />\n\n", 300),
		"copies of one attribute": "export const Twice = ({ children }) => (<div>{children}{children}</div>);\n\n" + strings.Repeat("<Twice>", 12) + "<b title=\"" + strings.Repeat("x", 100_000) + "\">x</b>" + strings.Repeat("</Twice>", 12) + "\n",
	} {
		result := renderFiles(t, fstest.MapFS{
			"page.mdx":       {Data: []byte(source)},
			"snippets/s.mdx": {Data: []byte("```\n" + strings.Repeat("{v}", 1000) + "\n```\n\n{v} <div title={v} />\n")},
		}, "page.mdx")
		if d := diagnostics(result); strings.Count(d, "page-too-large") != 1 {
			t.Errorf("%s: diagnostics: %s", name, d)
		}
		if size := max(len(result.HTML), len(result.Markdown)); size > 128<<20 {
			t.Errorf("%s: the page has %d bytes", name, size)
		}
	}
}

// A list that holds the same list twice, and so on, is short as a value and
// endless as content or as an attribute.
func TestListBomb(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	const list = "export const bomb = (() => { const f = (l, n) => n > 0 ? f([l, l], n - 1) : l; return f([], 100) })();\n\n"
	for name, source := range map[string]string{
		"expression": list + "{bomb}\n",
		"attribute":  list + "<Update label=\"a\" tags={bomb}>x</Update>\n",
		"content":    list + "<div>{bomb}</div>\n",
	} {
		if d := diagnostics(renderSource(t, source)); strings.Count(d, "page-too-large") != 1 {
			t.Errorf("%s: diagnostics: %s", name, d)
		}
	}
}

// What can't be read is an error, not a page without something.
func TestReadErrors(t *testing.T) {
	fsys := fstest.MapFS{
		"docs.json":      {Data: []byte(`{"name": "Test", "navigation": {"pages": ["page"]}}`)},
		"page.mdx":       {Data: []byte("import A from \"/snippets/a.mdx\";\n\n<A />\n")},
		"snippets/a.mdx": {Data: []byte("A")},
	}
	_, s := open(t, fsys)
	broken := errors.New("the disk is gone")
	for _, name := range []string{"page.mdx", "snippets/a.mdx"} {
		r := page.New(page.Options{Site: s, FS: brokenFS{fsys, name, broken}})
		if _, err := r.Render(t.Context(), 0); !errors.Is(err, broken) {
			t.Errorf("%s can't be read: got %v", name, err)
		}
	}
	r := page.New(page.Options{Site: s, FS: fsys})
	for _, i := range []int{-1, len(s.Pages)} {
		if _, err := r.Render(t.Context(), i); err == nil {
			t.Errorf("page %d rendered", i)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Render(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

type brokenFS struct {
	fs.FS
	name string
	err  error
}

func (b brokenFS) ReadFile(name string) ([]byte, error) {
	if name == b.name {
		return nil, b.err
	}
	return fs.ReadFile(b.FS, name)
}

// A renderer that failed to read a snippet once, reads it again.
func TestReadErrorIsNotKept(t *testing.T) {
	fsys := fstest.MapFS{
		"docs.json":      {Data: []byte(`{"name": "Test", "navigation": {"pages": ["page"]}}`)},
		"page.mdx":       {Data: []byte("import A from \"/snippets/a.mdx\";\n\n<A />\n")},
		"snippets/a.mdx": {Data: []byte("A")},
	}
	_, s := open(t, fsys)
	broken := &brokenFS{fsys, "snippets/a.mdx", errors.New("for now")}
	r := page.New(page.Options{Site: s, FS: broken})
	if _, err := r.Render(t.Context(), 0); err == nil {
		t.Fatal("no error")
	}
	broken.name = ""
	result, err := r.Render(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(result.HTML); got != "<p>A</p>\n" {
		t.Errorf("got %q", got)
	}
}

// Many goroutines may render at once, and get what one alone gets.
func TestConcurrentRender(t *testing.T) {
	fsys := fstest.MapFS{
		"docs.json":      {Data: []byte(`{"name": "Test", "navigation": {"pages": ["a", "b"]}}`)},
		"a.mdx":          {Data: []byte("import S from \"/snippets/s.mdx\";\n\n## One\n\n<S word=\"a\" />\n\n[b](/b)\n")},
		"b.mdx":          {Data: []byte("import S from \"/snippets/s.mdx\";\n\n<S word=\"b\" />\n\n```js\nlet x = 1\n```\n")},
		"snippets/s.mdx": {Data: []byte("## Part {word}\n\n<Note>{word}</Note>\n")},
	}
	_, s := open(t, fsys)
	r := page.New(page.Options{Site: s, FS: fsys})
	var want [2]*page.Result
	for i := range want {
		var err error
		if want[i], err = page.New(page.Options{Site: s, FS: fsys}).Render(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for n := range 32 {
		wg.Go(func() {
			got, err := r.Render(t.Context(), n%2)
			if err != nil {
				t.Error(err)
				return
			}
			if diff := cmp.Diff(want[n%2], got); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
	wg.Wait()
}

// Classes are those that authors wrote, in the page and in its snippets.
func TestClasses(t *testing.T) {
	result := renderFiles(t, fstest.MapFS{
		"page.mdx":       {Data: []byte("import S from \"/snippets/s.mdx\";\n\n<div className=\"b a\"><S /></div>\n\n<Icon icon=\"x\" className=\"mr-2\" />\n")},
		"snippets/s.mdx": {Data: []byte("<p class=\"a c\">x</p>\n")},
	}, "page.mdx")
	if diff := cmp.Diff([]string{"a", "b", "c", "mr-2"}, result.Classes); diff != "" {
		t.Errorf("classes differ (-want +got):\n%s", diff)
	}
}

// Whatever authors put into attributes and addresses, nothing of it runs.
func TestNothingRuns(t *testing.T) {
	for _, source := range []string{
		`<a href="javascript:alert(1)">x</a>`,
		`<a href=" JaVaScRiPt:alert(1)">x</a>`,
		"<a href=\"java\tscript:alert(1)\">x</a>",
		`<a href={"javascript:alert(1)"}>x</a>`,
		`[x](javascript:alert(1))`,
		`![x](javascript:alert(1))`,
		`<img src="x" onerror="alert(1)" />`,
		`<img src="x" {...{onerror: "alert(1)"}} />`,
		`<svg onload="alert(1)"><script>alert(1)</script></svg>`,
		`<svg><sCript>alert(1)</sCript><meta httpEquiv="refresh" content="0" /></svg>`,
		`<svg><style>{"<img src=x onerror=alert(1)>"}</style></svg>`,
		`<svg><foreignObject><stYle>{"</style><script>alert(1)</script>"}</stYle></foreignObject></svg>`,
		`<svg><title>{"</title><script>alert(1)</script>"}</title></svg>`,
		`<svg><a xlinkHref="javascript:alert(1)">x</a></svg>`,
		`<iframe srcDoc="<script>alert(1)</script>" />`,
		`<iframe src="javascript:alert(1)" />`,
		`<form action="javascript:alert(1)"><button formAction="javascript:alert(1)">x</button></form>`,
		`<object data="javascript:alert(1)" />`,
		`<Card title="x" href="javascript:alert(1)" />`,
		`<Card title="</p><script>alert(1)</script>" />`,
		`<Icon icon="javascript:alert(1).svg" />`,
		`<Tooltip tip="x" href="javascript:alert(1)">x</Tooltip>`,
		`<div dangerouslySetInnerHTML={{__html: "<script>alert(1)</script>"}} />`,
		`<style>{"</style><script>alert(1)</script>"}</style>`,
		`<Card icon="x" color="red;background:url(javascript:alert(1))" title="x" />`,
		`<script>alert(1)</script>`,
		`<script src="https://example.com/x.js" />`,
		`<noscript><p title="</noscript><img src=x onerror=alert(1)>">x</p></noscript>`,
		"```x\"><script>alert(1)</script>\ncode\n```",
		`<base href="https://example.com/" />`,
		`<meta httpEquiv="refresh" content="0;url=https://example.com" />`,
		`<link rel="stylesheet" href="https://example.com/x.css" />`,
	} {
		result := renderSource(t, source)
		for _, fault := range checkHTML(result) {
			t.Errorf("%s: %s", source, fault)
		}
		html := strings.ToLower(string(result.HTML))
		for _, bad := range []string{"<script", "\"javascript:", " onerror=\"", "<base", "<meta", "<link", "srcdoc"} {
			if strings.Contains(html, bad) {
				t.Errorf("%s: %s in %s", source, bad, result.HTML)
			}
		}
	}
}

// FuzzRender: no page panics or renders into HTML that does not nest, and the
// same page gives the same bytes.
func FuzzRender(f *testing.F) {
	for _, source := range []string{
		"# A\n\n<Card title=\"x\">**y** {props.z}</Card>\n\n[x](/page#a) ![y](z.png)\n",
		"<Steps><Step title=\"a\">x</Step>y</Steps>\n\n<Tabs><Tab title=\"a\">\n\n- x\n\n</Tab></Tabs>",
		"export const a = 1;\n\n{a} {b.c} <A/> <a b={{c: 1}} {...d}/>\n\n| a |\n| - |\n| <br/> |\n",
		"text[^1]\n\n[^1]: note[^1]\n\n```js {1} title=\"x\n[!code ++]\n```\n",
		"<p>\n\n<p>x</p>\n\n## h\n\n</p>\n\n<svg><style>{`x`}</style><title>y</title></svg><h2 id=\"x\">x</h2>",
		"import A from \"/page.mdx\";\n\n<A b={<i>x</i>}>y</A>\n",
		"<Tooltip tip={<>x <Tooltip tip=\"y\">z</Tooltip></>}>a</Tooltip>",
	} {
		f.Add([]byte(source))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		if len(source) > 10_000 {
			return
		}
		fsys := fstest.MapFS{
			"docs.json": {Data: []byte(`{"name": "Test", "navigation": {"pages": ["page"]}}`)},
			"page.mdx":  {Data: source},
		}
		_, s := open(t, fsys)
		r := page.New(page.Options{Site: s, FS: fsys, Icons: namedIcons{}})
		result, err := r.Render(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, fault := range checkHTML(result) {
			t.Errorf("%s\n%s", fault, result.HTML)
		}
		again, err := page.New(page.Options{Site: s, FS: fsys, Icons: namedIcons{}}).Render(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(result.HTML, again.HTML) || !bytes.Equal(result.Markdown, again.Markdown) {
			t.Error("the same page gives other bytes")
		}
		// The Markdown copy is Markdown that MDX's parser can at least read
		// leniently.
		mdx.Parse(result.Markdown, mdx.Options{})
	})
}

// Where snippets lie, and how pages name them.
func TestSnippetPaths(t *testing.T) {
	for _, test := range []struct{ name, page, source, file string }{
		{"the folder of snippets", "page.mdx", `<Snippet file="a.mdx" />`, "snippets/a.mdx"},
		{"its older name", "page.mdx", `<Snippet file="a.mdx" />`, "_snippets/a.mdx"},
		{"a folder in it", "page.mdx", `<Snippet file="b/a.mdx" />`, "_snippets/b/a.mdx"},
		{"a path from the root", "page.mdx", `<Snippet file="/b/a.mdx" />`, "b/a.mdx"},
		{"a path with the folder", "page.mdx", `<Snippet file="_snippets/a.mdx" />`, "_snippets/a.mdx"},
		{"the folder of a language", "es/c/page.mdx", `<Snippet file="a.mdx" />`, "es/_snippets/a.mdx"},
		{"without its ending", "page.mdx", `<Snippet file="a" />`, "_snippets/a.mdx"},
		{"names with dots", "page.mdx", `<Snippet file="v1.2/.env.mdx" />`, "snippets/v1.2/.env.mdx"},
		{"an import from the root", "page.mdx", "import A from '/snippets/a.mdx'\n\n<A />", "snippets/a.mdx"},
		{"an import without a slash", "page.mdx", "import A from 'snippets/a.mdx'\n\n<A />", "snippets/a.mdx"},
		{"an import without a slash, from a folder", "b/page.mdx", "import A from 'snippets/a.mdx'\n\n<A />", "snippets/a.mdx"},
		{"an import without the folder", "b/page.mdx", "import A from 'a.mdx'\n\n<A />", "snippets/a.mdx"},
		{"an import beside the page", "b/page.mdx", "import A from 'a.mdx'\n\n<A />", "b/a.mdx"},
		{"an import by the other name", "page.mdx", "import A from '/snippets/a.mdx'\n\n<A />", "_snippets/a.mdx"},
		{"an import without its ending", "page.mdx", "import A from '/snippets/a'\n\n<A />", "snippets/a.mdx"},
		{"an import with dots", "page.mdx", "import A from '/snippets/b/.env.v2.mdx'\n\n<A />", "snippets/b/.env.v2.mdx"},
		{"an import of a component", "b/page.mdx", "import { A } from 'snippets/a.jsx'\n\n<A />", "_snippets/a.jsx"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := "The words."
			if strings.HasSuffix(test.file, ".jsx") {
				text = "export const A = () => <p>The words.</p>"
			}
			r := renderFiles(t, fstest.MapFS{test.page: {Data: []byte(test.source)}, test.file: {Data: []byte(text)}}, test.page)
			if d := diagnostics(r); !strings.Contains(string(r.HTML), "<p>The words.</p>") || d != "" {
				t.Errorf("it shows %s and says %s", r.HTML, d)
			}
		})
	}
}

// Code in a CodeBlock that is no fence is shown whole and in its lines, whatever
// Markdown reads in it.
// TestRemovedLines: lines that are marked as removed are on the page and not in its
// Markdown, unless nothing else is there.
func TestRemovedLines(t *testing.T) {
	for _, c := range []struct{ source, html, markdown string }{
		{"```js\na\nold() // [!code --]\nnew() // [!code ++]\nb\n```", "old", "```js\na\nnew()\nb\n```"},
		{"```py\n# [!code --:2]\none\ntwo\nthree\n```", "two", "```py\nthree\n```"},
		{"```html\n<a> <!-- [!code remove] -->\n<b> <!-- [!code add] -->\n```", "removed\">&lt;<span class=\"g\">a", "```html\n<b>\n```"},
		{"```js\nall() // [!code --]\n```", "all</span>", "```js\nall()\n```"},
		{"```diff\n- old\n+ new\n```", "- old", "```diff\n- old\n+ new\n```"},
		{"```js {1}\nmarked\nplain\n```", "marked", "```js\nmarked\nplain\n```"},
		{"<CodeBlock language=\"js\">\n```\nold() // [!code --]\nnew()\n```\n</CodeBlock>", "old", "```js\nnew()\n```"},
	} {
		r := renderSource(t, c.source)
		if !strings.Contains(string(r.HTML), c.html) {
			t.Errorf("%q is shown as %s", c.source, r.HTML)
		}
		if !strings.Contains(string(r.Markdown), c.markdown+"\n") {
			t.Errorf("the Markdown of %q is %q, want %q", c.source, r.Markdown, c.markdown)
		}
	}
}

func TestCodeBlockOfText(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"from a import b\nfrom c import d\n\n# Set it up\nkey = 1\n# again\nrun(key)\n\n\n## End", "from a import b\nfrom c import d\n\n# Set it up\nkey = 1\n# again\nrun(key)\n\n\n## End"},
		{"echo `date` now\n\n# done", "echo `date` now\n\n# done"},
		{"before\n\n# Head\n\n- one\n- *two*", "before\nHead\none\ntwo"},
	} {
		r := renderSource(t, "<CodeBlock>\n"+c.source+"\n</CodeBlock>\n")
		code := string(r.HTML)
		code = code[strings.Index(code, "<code>")+len("<code>") : strings.Index(code, "</code>")]
		if code != c.want {
			t.Errorf("%q is shown as %q, want %q", c.source, code, c.want)
		}
	}
}
