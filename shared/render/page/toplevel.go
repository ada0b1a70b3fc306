package page

import (
	"slices"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// topLevel appends the page's top level. What stands beside the text comes in
// one box, in place of the first of it: it is one column, and its place in the
// text matters on narrow screens alone.
func (w *htmlWriter) topLevel(b []byte) []byte {
	beside := func(n *mdx.Node) bool { return n.Kind == mdx.Element && component.Beside(n.Name) }
	line := func(b []byte, n *mdx.Node) []byte {
		b = w.node(b, n)
		// Elements on lines of their own are as apart as their lines.
		if len(b) > 0 && b[len(b)-1] != '\n' {
			b = append(b, '\n')
		}
		return b
	}
	first := slices.IndexFunc(w.root, beside)
	for i, n := range w.root {
		switch {
		case !beside(n):
			b = line(b, n)
		case i == first:
			w.result.Beside = true
			out := component.Writer{B: b, HTML: w}
			b = append(out.OpenBeside().B, '\n')
			for _, n := range w.root {
				if beside(n) {
					b = line(b, n)
				}
			}
			b = append(b, "</div></aside>\n"...)
		}
	}
	return b
}
