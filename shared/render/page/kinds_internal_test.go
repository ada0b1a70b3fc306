package page

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// mdxKinds returns the names of the kinds that package mdx declares; the index
// of each is its value.
func mdxKinds(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../mdx/ast.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		first := g.Specs[0].(*ast.ValueSpec)
		if of, ok := first.Type.(*ast.Ident); !ok || of.Name != "Kind" {
			continue
		}
		var names []string
		for _, spec := range g.Specs {
			names = append(names, spec.(*ast.ValueSpec).Names[0].Name)
		}
		return names
	}
	t.Fatal("package mdx declares no kinds")
	return nil
}

// Whoever adds a kind of node registers it: without that, a page would leave it
// out of one of its three copies.
func TestKindsAreRegistered(t *testing.T) {
	k := builtinKinds()
	// What stands in another kind alone is written with it.
	within := map[string]string{"TableRow": "text", "TableCell": "text", "Document": "html text", "FootnoteDef": ""}
	silent := map[string]bool{"ThematicBreak": true, "FootnoteRef": true} // they have no words
	for i, name := range mdxKinds(t) {
		of := &k[i]
		var has []string
		for _, output := range []struct {
			name string
			is   bool
		}{{"html", of.html != nil}, {"markdown", of.markdown != nil || of.phrase != nil}, {"text", of.text != nil || silent[name]}} {
			if output.is {
				has = append(has, output.name)
			}
		}
		want, part := within[name]
		switch got := strings.Join(has, " "); {
		case of.form == 0:
			t.Errorf("the kind %s is not registered", name)
		case of.form == formGone && (of.resolve == nil || got != ""):
			t.Errorf("the kind %s is gone after resolving and is written", name)
		case of.form != formGone && !part && got != "html markdown text":
			t.Errorf("the kind %s is written as %q alone", name, got)
		case part && got != want:
			t.Errorf("the kind %s is written as %q, want %q", name, got, want)
		}
	}
}

// A new kind of node is one registration for each: here a block that rules
// resolve to, and a phrase that code in a line resolves to.
func TestNewKind(t *testing.T) {
	fsys := fstest.MapFS{
		"docs.json": {Data: []byte(`{"name": "Test", "navigation": {"pages": ["page"]}}`)},
		"page.mdx":  {Data: []byte("# One\n\nBefore `x` after.\n\n---\n")},
	}
	s, _, err := site.Load(t.Context(), fsys, []string{"docs.json", "page.mdx"}, site.Options{Domain: "docs.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	r := New(Options{Site: s, FS: fsys})
	const banner, key = mdx.Kind(200), mdx.Kind(201)
	become := func(kind mdx.Kind, value string) func(*resolver, *mdx.Node, *scope) ([]*mdx.Node, bool) {
		return func(_ *resolver, n *mdx.Node, _ *scope) ([]*mdx.Node, bool) {
			return []*mdx.Node{{Kind: kind, Value: value, Pos: n.Pos, End: n.End}}, false
		}
	}
	r.kinds[mdx.ThematicBreak].resolve = become(banner, "a & b")
	r.kinds[mdx.InlineCode].resolve = become(key, "Esc")
	r.kinds[banner] = kind{
		form: formBlock,
		html: func(_ *htmlWriter, out *component.Writer, n *mdx.Node) {
			out.Raw("<hr title=banner>").Text(n.Value).Raw("\n")
		},
		markdown: func(_ *markdownWriter, m *component.Markdown, n *mdx.Node) { m.Paragraph("== " + n.Value) },
		text:     func(_ textWriter, t *component.Text, n *mdx.Node) { t.Line(n.Value) },
	}
	r.kinds[key] = kind{
		form: formPhrase,
		html: func(_ *htmlWriter, out *component.Writer, n *mdx.Node) {
			out.Raw("<kbd>").Text(n.Value).Raw("</kbd>")
		},
		phrase: func(_ *markdownWriter, b []byte, n *mdx.Node) []byte {
			return append(append(append(b, '<'), n.Value...), '>')
		},
		text: addValue,
	}
	result, err := r.Render(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(result.HTML), "<p>Before <kbd>Esc</kbd> after.</p>\n<hr title=banner>a &amp; b\n"; !strings.HasSuffix(got, want) {
		t.Errorf("HTML %q does not end with %q", got, want)
	}
	if got, want := string(result.Markdown), "Before <Esc> after.\n\n== a & b\n"; !strings.HasSuffix(got, want) {
		t.Errorf("Markdown %q does not end with %q", got, want)
	}
	if got, want := result.Text[len(result.Text)-1].Text, "Before Esc after.\na & b"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}

// The tree is the same whatever was written from it, and how often.
func TestWritersLeaveTheTree(t *testing.T) {
	fsys := fstest.MapFS{
		"docs.json": {Data: []byte(`{"name": "Test", "navigation": {"pages": ["page"]}}`)},
		"a.svg":     {Data: []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"/>`)},
		"page.mdx": {Data: []byte(`# One

## fn 1

Words[^a] and again[^a], then[^b] {1 + 1}.

<Frame caption="See [one](#one)"><video src="/v.mp4" autoPlay /></Frame>

<Card title="**Two**[^b]" href="/page" icon="/a.svg" /> <Update label="May">- [ ] todo</Update>

<img src="/a.svg#only-dark" /> <iframe src="https://example.com/x" /> ![a](/a.svg)

[^a]: First, see[^b].
[^b]: Second.
`)},
	}
	s, _, err := site.Load(t.Context(), fsys, []string{"a.svg", "docs.json", "page.mdx"}, site.Options{Domain: "docs.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	tree, _, err := New(Options{Site: s, FS: fsys}).resolve(t.Context(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	before, text := string(tree.writeMarkdown(nil)), tree.writeText(nil)
	first, _, err := tree.writeHTML(t.Context(), new(report), false)
	if err != nil {
		t.Fatal(err)
	}
	again, notes, err := tree.writeHTML(t.Context(), new(report), false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again); diff != "" || len(notes) != 2 {
		t.Errorf("the second time, the HTML differs, with %d notes (-first +again):\n%s", len(notes), diff)
	}
	if after := string(tree.writeMarkdown(nil)); after != before {
		t.Errorf("after the HTML, the Markdown differs:\n%s", cmp.Diff(before, after))
	}
	if diff := cmp.Diff(text, tree.writeText(nil)); diff != "" {
		t.Errorf("after the HTML, the text differs:\n%s", diff)
	}
}
