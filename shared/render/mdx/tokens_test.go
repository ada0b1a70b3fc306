package mdx

import (
	"fmt"
	"strings"
)

// squeeze drops white space as the oracle does.
var squeezer = strings.NewReplacer(" ", "", "\n", "", "\t", "", "\r", "", "\u00a0", "")

func squeeze(s string) string { return squeezer.Replace(s) }

// tokenList renders a tree in the oracle's token form.
type tokenList struct {
	out  []string
	text strings.Builder
}

func tokens(root *Node) []string {
	var t tokenList
	for _, c := range root.Children {
		t.node(c)
	}
	t.flush()
	return t.out
}

func (t *tokenList) flush() {
	if s := squeeze(t.text.String()); s != "" {
		t.out = append(t.out, "T:"+s)
	}
	t.text.Reset()
}

func (t *tokenList) emit(s string) {
	t.flush()
	t.out = append(t.out, s)
}

func openingToken(n *Node) string {
	var b strings.Builder
	b.WriteString("<" + n.Name)
	for _, a := range n.Attrs {
		switch a.Kind {
		case AttrSpread:
			b.WriteString(" {" + squeeze(a.Value) + "}")
		case AttrBool:
			b.WriteString(" " + a.Name)
		case AttrString:
			b.WriteString(" " + a.Name + "=" + squeeze(a.Value))
		case AttrExpr:
			b.WriteString(" " + a.Name + "={" + squeeze(a.Value) + "}")
		}
	}
	return b.String() + ">"
}

func (t *tokenList) node(n *Node) {
	open := ""
	switch n.Kind {
	case Definition, FootnoteDef:
		return
	case Text:
		t.text.WriteString(n.Value)
		return
	case Break:
		t.emit("br")
		return
	case ThematicBreak:
		t.emit("hr")
		return
	case MathBlock:
		t.emit("math")
		return
	case InlineMath:
		t.emit("imath")
		return
	case FootnoteRef:
		t.emit("fn")
		return
	case InlineCode:
		t.emit("`" + squeeze(n.Value))
		return
	case Image:
		t.emit("img:" + squeeze(n.URL))
		return
	case CodeBlock:
		info := n.Name
		if n.Meta != "" {
			info += " " + n.Meta
		}
		t.emit("code:" + squeeze(info) + ":" + n.Value)
		return
	case Expression:
		t.emit("{" + squeeze(n.Value))
		return
	case ESM:
		t.emit("esm:" + squeeze(n.Value))
		return
	case TableCell:
		if len(n.Children) == 0 {
			return
		}
		open = "td"
	case Paragraph:
		open = "p"
	case Heading:
		open = fmt.Sprintf("h%d", n.Level)
	case Blockquote:
		open = "bq"
	case List:
		open = "ul"
		if n.Ordered {
			open = "ol"
		}
	case ListItem:
		open = "li"
	case Table:
		open = "table"
	case TableRow:
		open = "tr"
	case Element:
		open = openingToken(n)
	case Emphasis:
		open = "em1"
	case Strong:
		open = "em2"
	case Delete:
		open = "del"
	case Link:
		open = "a:" + squeeze(n.URL)
	default:
		open = "?"
	}
	t.emit(open)
	for _, c := range n.Children {
		t.node(c)
	}
	t.emit("/")
}
