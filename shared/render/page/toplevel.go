package page

import (
	"slices"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// topLevel appends the page's top level. What stands beside the text comes in
// one box, in place of the first of it: it is one column, and its place in the
// text matters on narrow screens alone.
func (s *state) topLevel(b []byte) []byte {
	beside := func(n *mdx.Node) bool { return n.Kind == mdx.Element && component.Beside(n.Name) }
	line := func(b []byte, n *mdx.Node) []byte {
		b = s.html(b, n)
		// Elements on lines of their own are as apart as their lines.
		if len(b) > 0 && b[len(b)-1] != '\n' {
			b = append(b, '\n')
		}
		return b
	}
	first := slices.IndexFunc(s.root, beside)
	for i, n := range s.root {
		switch {
		case !beside(n):
			b = line(b, n)
		case i == first:
			s.result.Beside = true
			w := component.Writer{B: b, Services: s}
			b = append(w.OpenBeside().B, '\n')
			for _, n := range s.root {
				if beside(n) {
					b = line(b, n)
				}
			}
			b = append(b, "</div></aside>\n"...)
		}
	}
	return b
}
