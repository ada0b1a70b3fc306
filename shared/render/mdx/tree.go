package mdx

import "strings"

// PlainText returns the plain text of a node and what is below it: text, code and
// the alternative text of images, without any markup. Definitions, imports
// and exports have none.
func PlainText(n *Node) string {
	if n == nil {
		return ""
	}
	if n.Kind == Text && len(n.Children) == 0 {
		return n.Value
	}
	var b strings.Builder
	writeText(&b, n)
	return b.String()
}

func writeText(b *strings.Builder, n *Node) {
	switch n.Kind {
	case Text, InlineCode, InlineMath, CodeBlock, MathBlock, Image:
		b.WriteString(n.Value)
	case Break:
		b.WriteByte('\n')
	}
	for _, c := range n.Children {
		writeText(b, c)
	}
}

// Clone returns a deep copy: nothing of it is shared with n but strings.
func Clone(n *Node) *Node {
	if n == nil {
		return nil
	}
	c := *n
	c.Align = append([]Align(nil), n.Align...)
	c.Attrs = append([]Attr(nil), n.Attrs...)
	if n.Children != nil {
		c.Children = make([]*Node, len(n.Children))
		for i, child := range n.Children {
			c.Children[i] = Clone(child)
		}
	}
	return &c
}

// Unravel lifts elements and expressions out of paragraphs that hold nothing
// else but white space: a line such as <Card>text</Card> reads as a paragraph
// with an inline element and is meant as a block. The reference compiler does
// this between parsing and rendering (its step "mark and unravel"), so Parse
// leaves the tree as it stands in the source. The tree is changed in place.
func Unravel(root *Node) {
	if root == nil {
		return
	}
	var out []*Node // once a paragraph was taken apart
	for i, child := range root.Children {
		if child.Kind == Paragraph {
			if lifted, ok := unravelled(child); ok {
				if out == nil {
					out = append(make([]*Node, 0, len(root.Children)+len(lifted)), root.Children[:i]...)
				}
				for _, n := range lifted {
					Unravel(n)
				}
				out = append(out, lifted...)
				continue
			}
		}
		Unravel(child)
		if out != nil {
			out = append(out, child)
		}
	}
	if out != nil {
		root.Children = out
	}
}

// unravelled returns a paragraph's elements and expressions as blocks, if it
// has any and nothing else than white space beside them.
func unravelled(p *Node) ([]*Node, bool) {
	found := 0
	for _, c := range p.Children {
		switch {
		case c.Kind == Element || c.Kind == Expression:
			found++
		case c.Kind == Text && strings.Trim(c.Value, " \t\r\n\f") == "":
		default:
			return nil, false
		}
	}
	if found == 0 {
		return nil, false
	}
	out := make([]*Node, 0, found)
	for _, c := range p.Children {
		if c.Kind != Text {
			c.Inline = false
			out = append(out, c)
		}
	}
	return out, true
}
