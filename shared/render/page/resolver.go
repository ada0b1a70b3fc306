package page

import (
	"context"
	"fmt"

	"github.com/bindery-docs/bindery/shared/render/expr"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Limits of what one page may grow to. They stop snippets that include each
// other over and over, and bound the memory of a page.
const (
	maxSnippetDepth = 32
	// maxNodes bounds a page's nodes; a text counts once more for every
	// bytesPerNode bytes of it. A long page may have one for each byte of its source
	// and of the files that it includes, but mostNodes.
	maxNodes     = 200_000
	mostNodes    = 500_000
	bytesPerNode = 256
	// writtenBytes and writtenPerByte limit the bytes of a page and of each of its
	// copies: writtenBytes, and writtenPerByte for each byte of its source and of the
	// files that it includes. A short source can repeat a long address or an icon
	// thousands of times.
	writtenBytes   = 8 << 20
	writtenPerByte = 16
	// callBytes is what a snippet counts wherever it is shown, beside its nodes:
	// an empty one takes memory too.
	callBytes = 9 * bytesPerNode
	// maxComponentDepth bounds components that show each other.
	maxComponentDepth = 64
	// maxAttrs bounds an element's attributes, spread ones included: each is
	// compared with the others, and what is spread may be spread many times.
	maxAttrs = 500
)

// resolver makes a page's tree.
type resolver struct {
	*tree
	notes
	ctx context.Context
	// size counts the page's parts, held the bytes of their text.
	size, held int
	// read are the snippets that the page includes.
	read map[string]bool
	// stack are the snippets and components that are being shown.
	stack []string
	js    *expr.Machine
	// lastWritten is the last expression that was shown as it was written.
	lastWritten *mdx.Node
	// modules are the files that names were imported from.
	modules map[string]*scope
	// ownIDs are the ids that headings give themselves.
	ownIDs map[*mdx.Node]string
	// trial is the innermost one that runs: the notes belong to it.
	trial *trial
	// islands counts the pieces of JavaScript that were tried, islandSteps the
	// work that those took which were shown.
	islands, islandSteps int
}

// grows counts one more part of the page and the bytes of its text. It is
// false once the page is too large, which it reports.
func (s *resolver) grows(text int, file string, pos mdx.Pos) bool {
	s.size += 1 + text/bytesPerNode
	s.held += text
	if s.size <= s.parts() && s.held <= s.room() {
		return true
	}
	if !s.tooLarge {
		s.tooLarge = true
		message := fmt.Sprintf("the page grows to more than %d parts; the rest is left out", s.parts())
		if s.size <= s.parts() {
			message = tooManyBytes(s.room())
		}
		s.report(file, pos, mdx.Error, "page-too-large", message)
	}
	return false
}

func tooManyBytes(most int) string {
	return fmt.Sprintf("the page grows to more than %d bytes; the rest is left out", most)
}

// from records that a node was made for a source that is not the page's.
func (s *resolver) from(n *mdx.Node, sc *scope) {
	if sc.file != s.source {
		put(&s.origin, n, sc.file)
	}
}

// clone copies resolved nodes with what is known about them.
func (s *resolver) clone(n *mdx.Node) *mdx.Node {
	c := *n
	if !s.grows(n.Size(), s.fileOf(n), n.Pos) {
		c.Value, c.Children, c.Attrs = "", nil, nil
		return &c
	}
	if file, ok := s.origin[n]; ok {
		s.origin[&c] = file
	}
	if slots, ok := s.slots[n]; ok {
		copied := make(map[string][]*mdx.Node, len(slots))
		for name, list := range slots {
			copied[name], _ = s.content(nodes(list), n.Pos)
		}
		s.slots[&c] = copied
	}
	if n.Children != nil {
		c.Children = make([]*mdx.Node, len(n.Children))
		for i, child := range n.Children {
			c.Children[i] = s.clone(child)
		}
	}
	return &c
}

// content turns a value into the nodes that show it.
func (s *resolver) content(v any, pos mdx.Pos) ([]*mdx.Node, bool) {
	switch v := v.(type) {
	case nodes:
		list := make([]*mdx.Node, len(v))
		for i, n := range v {
			// A copy each time: two nodes never share an id.
			list[i] = s.clone(n)
		}
		return list, true
	case []any:
		// A list may hold the same one many times, and that again.
		if !s.grows(len(v), s.source, pos) {
			return nil, true
		}
		var list []*mdx.Node
		for _, x := range v {
			part, ok := s.content(x, pos)
			if !ok {
				return nil, false
			}
			list = append(list, part...)
		}
		return list, true
	}
	text, ok := display(v)
	if !ok {
		return nil, false
	}
	if text == "" {
		return nil, true
	}
	if !s.grows(len(text), s.source, pos) {
		return nil, true
	}
	return []*mdx.Node{{Kind: mdx.Text, Value: text, Pos: pos, End: pos}}, true
}

// literal makes an attribute from a value. JSX goes to the node's slots.
func (s *resolver) literal(n *mdx.Node, name string, v any) (mdx.Attr, bool) {
	switch v := v.(type) {
	case string:
		if !s.grows(len(v), s.fileOf(n), n.Pos) {
			v = ""
		}
		return mdx.Attr{Kind: mdx.AttrString, Name: name, Value: v}, true
	case nodes:
		list, _ := s.content(v, n.Pos)
		if s.slots[n] == nil {
			s.slots[n] = map[string][]*mdx.Node{}
		}
		if list == nil {
			list = []*mdx.Node{}
		}
		s.slots[n][name] = list
		return mdx.Attr{Kind: mdx.AttrExpr, Name: name, Value: "null"}, true
	}
	src, ok := literalSource(v)
	if !s.grows(len(src), s.fileOf(n), n.Pos) {
		src = "null"
	}
	return mdx.Attr{Kind: mdx.AttrExpr, Name: name, Value: src}, ok
}

// trial is one attempt to show an element or an expression without an engine.
// Trials nest: what an element holds is shown within the trial of the element.
type trial struct {
	outer *trial
	// said is what there is to report if the attempt is what readers get; before
	// is where the resolver reported to.
	said   report
	before *report
	// needsEngine is set when a part was left out because it needs an engine.
	needsEngine bool
}

// try begins a trial; settle ends it.
func (s *resolver) try() *trial {
	t := &trial{outer: s.trial, before: s.said}
	s.trial, s.said = t, &t.said
	return t
}

// end ends a trial, whatever came of it.
func (s *resolver) end(t *trial) { s.trial, s.said = t.outer, t.before }

// needsEngine leaves a part of the page out because it needs an engine: the
// trial around it knows, and the author is told unless an engine shows it.
func (s *resolver) needsEngine(file string, pos mdx.Pos, message string) {
	if s.trial != nil {
		s.trial.needsEngine = true
	} else if s.r.Islands == nil {
		s.unrun = true
	}
	s.report(file, pos, mdx.Warning, "script-needed", message)
}

// keep reports what a trial said.
func (s *resolver) keep(t *trial) {
	s.end(t)
	for _, d := range t.said.list {
		s.said.add(d)
	}
	if t.outer != nil && t.needsEngine {
		t.outer.needsEngine = true
	}
}
