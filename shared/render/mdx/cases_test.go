package mdx

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bindery-docs/bindery/shared/base/golden"
)

var kindNames = [...]string{Document: "document", Paragraph: "paragraph", Heading: "heading", Blockquote: "quote", List: "list",
	ListItem: "item", CodeBlock: "code", ThematicBreak: "rule", Table: "table", TableRow: "row", TableCell: "cell", MathBlock: "math",
	Definition: "definition", FootnoteDef: "footnote", ESM: "esm", Element: "element", Expression: "expression", Text: "text",
	Emphasis: "emphasis", Strong: "strong", Delete: "delete", InlineCode: "code-span", InlineMath: "math-span", Break: "break",
	Link: "link", Image: "image", FootnoteRef: "footnote-call"}

// someTags are the elements that the cases in plain Markdown may hold.
func someTags(name string) bool { return strings.Contains(" p b br div img ", " "+name+" ") }

// outline writes a tree for people: a line a node, with where it stands.
func outline(b *strings.Builder, n *Node, depth int) {
	fmt.Fprintf(b, "%s%s", strings.Repeat("  ", depth), kindNames[n.Kind])
	add := func(format string, args ...any) { fmt.Fprintf(b, " "+format, args...) }
	flagged := func(set bool, name string) {
		if set {
			add("%s", name)
		}
	}
	flagged(n.Inline, "inline")
	switch n.Kind {
	case Heading:
		add("%d", n.Level)
	case List:
		flagged(n.Ordered, "ordered")
		flagged(n.Ordered, fmt.Sprintf("from %d", n.Start))
	case Table:
		add("%v", n.Align)
	}
	flagged(n.Loose, "loose")
	flagged(n.Checked == 1, "open")
	flagged(n.Checked == 2, "done")
	flagged(n.SelfClosing, "self-closing")
	for _, f := range []struct{ name, value string }{{"name", n.Name}, {"meta", n.Meta}, {"url", n.URL}, {"title", n.Title}, {"value", n.Value}} {
		if f.value != "" || f.name == "value" && n.Kind == Text {
			add("%s=%q", f.name, f.value)
		}
	}
	for _, a := range n.Attrs {
		switch a.Kind {
		case AttrBool:
			add("[%s]", a.Name)
		case AttrString:
			add("[%s=%q]", a.Name, a.Value)
		case AttrExpr:
			add("[%s={%s}]", a.Name, strings.ReplaceAll(a.Value, "\n", "⏎"))
		case AttrSpread:
			add("[{%s}]", a.Value)
		}
	}
	fmt.Fprintf(b, " @%d:%d-%d:%d\n", n.Pos.Line, n.Pos.Column, n.End.Line, n.End.Column)
	for _, c := range n.Children {
		outline(b, c, depth+1)
	}
}

// The cases of testdata: NAME.mdx is read as in NAME.tree, below what is
// reported of it. NAME.md is plain Markdown with some HTML, NAME.markdown a source that
// may be CommonMark, NAME.title a short text.
func TestCases(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for _, f := range archive.Files {
			want[f.Name] = string(f.Data)
		}
		var out []txtar.File
		for _, f := range archive.Files {
			var b strings.Builder
			var list []*Node
			var name string
			switch ext := filepath.Ext(f.Name); ext {
			case ".mdx", ".md", ".markdown":
				name = strings.TrimSuffix(f.Name, ext)
				o := Options{File: f.Name}
				if ext == ".md" {
					o.Plain, o.Tags = true, someTags
				}
				o.Markdown = ext == ".markdown"
				parsed, diags := Parse(f.Data, o)
				for _, d := range diags {
					fmt.Fprintln(&b, d)
				}
				list = parsed.Root.Children
			case ".title":
				name = strings.TrimSuffix(f.Name, ext)
				list = ParseInline(strings.TrimSuffix(string(f.Data), "\n"))
			default:
				continue
			}
			for _, c := range list {
				outline(&b, c, 0)
			}
			out = append(out, f, txtar.File{Name: name + ".tree", Data: []byte(b.String())})
			if golden.Update() {
				continue
			}
			t.Run(filepath.Base(file)+"/"+name, func(t *testing.T) {
				if diff := cmp.Diff(want[name+".tree"], b.String()); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		}
		if golden.Update() {
			archive.Files = out
			golden.Write(t, file, txtar.Format(archive))
		}
	}
}
