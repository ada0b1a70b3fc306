package page

import (
	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// blocks appends nodes, blocks or inlines.
func (s *state) blocks(b []byte, list []*mdx.Node) []byte {
	for _, n := range list {
		b = s.html(b, n)
	}
	return b
}

// html appends one node.
func (s *state) html(b []byte, n *mdx.Node) []byte {
	if write := s.kinds[n.Kind].html; write != nil {
		return write(s, b, n)
	}
	return b
}

// childHTML appends a node's content alone.
func (s *state) childHTML(b []byte, n *mdx.Node) []byte { return s.blocks(b, n.Children) }

// scrollBox begins an element that scrolls by itself where it is too wide. It
// takes the focus, so that the keyboard can scroll it too; it is a group and
// not a region, because a page's tables and formulas are no landmarks.
func (s *state) scrollBox(b []byte, class string, name words.Phrase) []byte {
	b = append(b, `<div class="`...)
	b = append(b, class...)
	b = append(b, `" tabindex="0" role="group"`...)
	b = html.AppendAttr(b, "aria-label", s.say(name))
	return append(b, '>')
}
