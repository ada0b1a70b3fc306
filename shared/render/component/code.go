package component

import (
	"cmp"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Code is a block of code as a page renders it.
type Code struct {
	// Lang is the language label of the fence.
	Lang string
	// Meta is the rest of the fence's first line: title and line features.
	Meta string
	// Title is shown above; "" means: what Meta says.
	Title string
	Value string
	// At is the element that has the code, where what is wrong with it is reported;
	// nil for a fence.
	At *mdx.Node
}

func codeComponents() []*Component {
	return []*Component{
		{
			Name: "CodeGroup", Doc: "Several blocks of code of which a reader picks one.", Block: true,
			Attrs: []AttrSpec{{"dropdown", "boolean", "false", "Blocks are picked from a list."}},
			HTML: func(w *Writer, e *Element) {
				w.open("div", e, "code-group bdy-code-group", when(e.Bool("dropdown"), "bdy-code-group-dropdown")).Raw(">").Children(e).Raw("</div>")
			},
		},
		{
			Name: "CodeBlock", Doc: "A block of code, as an element.", Block: true,
			Attrs: []AttrSpec{
				{"language", "string", "", "The language."},
				{"filename", "string", "", "The title; title is the same."},
				{"icon", "icon", "", "An icon before the title."},
				{"lines", "boolean", "false", "Line numbers."},
				{"wrap", "boolean", "false", "Long lines are wrapped."},
				{"expandable", "boolean", "false", "A long block is folded."},
				{"nocopy", "boolean", "false", "There is no button to copy the block."},
				{"highlight", "list", "", "The lines that are marked, such as {[1,3]}."},
				{"focus", "list", "", "The lines that stand out."},
			},
			HTML:     func(w *Writer, e *Element) { w.WriteCode(w, codeOf(e)) },
			Markdown: func(m *Markdown, e *Element) { m.WriteCode(m, codeOf(e)) },
			Text:     func(t *Text, e *Element) { t.Verbatim(codeOf(e).Value) },
		},
	}
}

// codeOf reads a CodeBlock element: its content is one fence, or text.
func codeOf(e *Element) Code {
	c := Code{At: e.Node, Lang: e.String("language"), Title: cmp.Or(e.String("filename"), e.String("title"))}
	children := e.Flat()
	if len(children) == 1 && children[0].Kind == mdx.CodeBlock {
		n := children[0]
		c.Value, c.Meta = n.Value, n.Meta
		c.Lang = cmp.Or(c.Lang, n.Name)
	} else if text, ok := literal(children); ok {
		c.Value = strings.Trim(text, "\n")
	} else {
		t := e.page.NewText()
		t.Children(e)
		c.Value = t.String()
	}
	if icon := e.String("icon"); icon != "" && !strings.ContainsAny(icon, "\"\n") {
		c.Meta += ` icon="` + icon + `"`
	}
	for _, flag := range []string{"lines", "wrap", "expandable", "nocopy"} {
		if e.Bool(flag) {
			c.Meta += " " + flag
		}
	}
	for _, name := range []string{"highlight", "focus"} {
		if a, ok := e.Node.Attr(name); ok && a.Value != "" {
			c.Meta += " " + name + "={" + strings.Trim(a.Value, "[]{}\"' ") + "}"
		}
	}
	return c
}

// literal returns the text of nodes that Markdown reads as little more than text,
// such as a template literal, as its author wrote it: a comment after # is a
// heading to Markdown, and a blank line ends a paragraph.
func literal(nodes []*mdx.Node) (string, bool) {
	var text strings.Builder
	for i, n := range nodes {
		if i > 0 && (n.Kind == mdx.Paragraph || n.Kind == mdx.Heading) {
			text.WriteString(strings.Repeat("\n", max(1, n.Pos.Line-nodes[i-1].End.Line)))
		}
		switch n.Kind {
		case mdx.Text:
			text.WriteString(n.Value)
		case mdx.InlineCode:
			text.WriteString("`" + n.Value + "`")
		case mdx.Paragraph, mdx.Heading:
			words, ok := literal(n.Children)
			if !ok {
				return "", false
			}
			if n.Kind == mdx.Heading {
				words = strings.Repeat("#", n.Level) + " " + words
			}
			text.WriteString(words)
		default:
			return "", false
		}
	}
	return text.String(), true
}
