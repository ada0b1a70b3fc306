package page

import (
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// textWriter writes a tree as the words in it.
type textWriter struct{ *tree }

var _ component.Words = textWriter{}

// AddNodes implements component.Words.
func (w textWriter) AddNodes(t *component.Text, list []*mdx.Node) {
	for _, n := range list {
		if write := w.r.kinds[n.Kind].text; write != nil {
			write(w, t, n)
		}
	}
}

// children adds the words of a node's content.
func (w textWriter) children(t *component.Text, n *mdx.Node) { w.AddNodes(t, n.Children) }

// addValue adds the text of a node that is one.
func addValue(_ textWriter, t *component.Text, n *mdx.Node) { t.Add(n.Value) }
