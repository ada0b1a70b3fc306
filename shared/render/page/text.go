package page

import (
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// text adds the words of nodes.
func (s *state) text(t *component.Text, list []*mdx.Node) {
	for _, n := range list {
		if write := s.kinds[n.Kind].text; write != nil {
			write(s, t, n)
		}
	}
}

// childText adds the words of a node's content.
func (s *state) childText(t *component.Text, n *mdx.Node) { s.text(t, n.Children) }
