package mdx

import (
	"strings"

	"github.com/bindery-docs/bindery/shared/render/expr"
)

// The block phase reads line by line. Every line is first matched against the
// open containers (block quotes, list items, footnotes), then may open new
// ones, and what is left of it goes to the open leaf (a paragraph, code, a
// table) or begins one. It follows CommonMark as the reference parser reads it
// for MDX: without indented code, so that indentation never matters except to
// continue a list item; and with tags, expressions and ESM as leaves.

// leafKind is the leaf that the last line left open.
type leafKind uint8

const (
	leafNone leafKind = iota
	leafParagraph
	leafFence // fenced code or $$ math
	leafIndented
	leafTable
)

// container is an open block quote, list with its current item, or footnote.
type container struct {
	kind Kind
	node *Node // the Blockquote, List or FootnoteDef
	item *Node // of a List
	// marker is the list's bullet, or the sign after its numbers; size how
	// many columns the content of the item is indented.
	marker byte
	size   int
	// An item that begins with a blank line ends at a second one.
	initialBlank, furtherBlank bool
}

// seg is one line of a leaf's content.
type seg struct{ start, end int }

// inlineJob is text that waits for the inline phase: definitions may follow it.
type inlineJob struct {
	from, to int // in segs
	// task is set on the first paragraph of a list item.
	item  *Node
	table bool
}

type blockState struct {
	root  *Node
	stack []container
	leaf  leafKind

	line     int // of the line at hand
	next     int // offset of the line after what was read
	nextLine int
	opened   int // containers opened so far
	// Up to this offset nothing but the sign and white space was found, and
	// there something else.
	notBreak     int
	notBreakSign byte
	immune       int // lines up to this one open no containers
	// blankIn is set when the last line was blank: 1 more than the number of
	// open containers up to the innermost block quote or footnote it was in.
	blankIn     int
	paraBlank   int // blankIn where the open paragraph begins
	segs        []seg
	jobs        []inlineJob
	paraFrom    int // the open paragraph's first seg
	paraItem    *Node
	fence       *Node
	fenceByte   byte
	fenceLen    int
	fenceIndent int
	fenceLines  []string
	table       *Node
	// flowCommentEnd is where the next --> ends, -1 for nowhere.
	flowCommentEnd int
	plainEnd       int // of the last paragraph that paragraphEnd saw
	// inHTML is set from a line of tags up to the next blank line: what is indented
	// there is no code.
	inHTML      bool
	sawIndented bool            // indentation has made a difference
	noClosing   map[string]bool // names of closing tags that don't come any more
	flow        reader
	scanner     expr.Scanner
}

// cursor is a place in a line. A tab that is taken in part leaves columns
// pending.
type cursor struct {
	off, col, pend int
	ls, le         int // the line's start and end
	// text is where the white space ends that was looked at last, textCol its
	// column: each of a hundred lists in each other asks for it. At 0 none was.
	text, textCol int
}

// look finds the end of the white space at the cursor.
func (c *cursor) look(p *parser) {
	if c.off <= c.text && c.text > 0 {
		return
	}
	c.text, c.textCol = c.off, c.col+c.pend
	for ; c.text < c.le && isSpace(p.s[c.text]); c.text++ {
		p.steps++
		if c.textCol++; p.s[c.text] == '\t' {
			c.textCol += 3 - (c.textCol-1)&3
		}
	}
}

// indent is the width of the white space at the cursor.
func (c *cursor) indent(p *parser) int {
	c.look(p)
	return c.textCol - c.col
}

// take consumes up to n columns of white space.
func (c *cursor) take(p *parser, n int) int {
	got := 0
	for got < n {
		p.steps++
		switch {
		case c.pend > 0:
			c.pend--
		case c.off < c.le && p.s[c.off] == ' ':
			c.off++
		case c.off < c.le && p.s[c.off] == '\t':
			c.off++
			c.pend = 3 - c.col&3
		default:
			return got
		}
		c.col++
		got++
	}
	return got
}

// skip consumes all white space.
func (c *cursor) skip(p *parser) int { return c.take(p, 1<<30) }

func (c *cursor) byte(p *parser) byte {
	if c.off < c.le {
		return p.s[c.off]
	}
	return 0
}

// isBlank reports that only white space is left in the line.
func (c *cursor) isBlank(p *parser) bool {
	c.look(p)
	return c.text == c.le
}

func (p *parser) lineEnd(off int) int {
	if off > len(p.s) {
		return len(p.s)
	}
	if n := strings.IndexByte(p.s[off:], '\n'); n >= 0 {
		p.steps += n
		return off + n
	}
	return len(p.s)
}

// blocks reads all blocks from off on, which is the start of the given line,
// into root.
func (p *parser) blocks(root *Node, off, line int) {
	p.root = root
	p.nextLine = line
	for p.next = off; p.next < len(p.s); {
		ls := p.next
		le := p.lineEnd(ls)
		p.line = p.nextLine
		p.next, p.nextLine = le+1, p.line+1
		p.readLine(cursor{off: ls, ls: ls, le: le})
	}
	p.closeLeaf(false)
	p.exitContainers(0)
}

// parent is the node that takes the next block.
func (p *parser) parent() *Node {
	if n := len(p.stack); n > 0 {
		if item := p.stack[n-1].item; item != nil {
			return item
		}
		return p.stack[n-1].node
	}
	return p.root
}

// add appends a block to the innermost container.
func (p *parser) add(n *Node) {
	parent := p.parent()
	if p.blankAbove(p.blankIn, len(p.stack)) && parent.Kind == ListItem && len(parent.Children) > 0 {
		parent.Loose = true
	}
	parent.Children = append(parent.Children, n)
}

// blankAbove reports whether a blank line separates blocks of the container
// at a depth: one inside of a block quote separates the quote's blocks only.
func (p *parser) blankAbove(blankIn, depth int) bool {
	return blankIn > 0 && depth >= blankIn-1
}

// exitContainers closes containers down to the given number.
func (p *parser) exitContainers(n int) {
	for k := len(p.stack) - 1; k >= n; k-- {
		c := &p.stack[k]
		if c.item != nil {
			endWithChildren(c.item)
		}
		endWithChildren(c.node)
	}
	if n < len(p.stack) {
		p.inHTML = false
	}
	p.stack = p.stack[:n]
}

// endWithChildren lets a container end where its last child does.
func endWithChildren(n *Node) {
	if k := len(n.Children); k > 0 && n.Children[k-1].End.Offset > n.End.Offset {
		n.End = n.Children[k-1].End
	}
}

// continues matches a line against all open containers without changing them:
// the look-ahead of constructs that span lines.
func (p *parser) continues(c *cursor) bool {
	for k := range p.stack {
		ct := &p.stack[k]
		switch ct.kind {
		case Blockquote:
			if !c.quote(p) {
				return false
			}
		case FootnoteDef:
			if !c.isBlank(p) && c.take(p, 4) < 4 {
				return false
			}
		default:
			if c.isBlank(p) {
				c.take(p, ct.size)
			} else if ct.furtherBlank || c.take(p, ct.size) < ct.size {
				return false
			}
		}
	}
	return true
}

// quote takes the marker of a block quote.
func (c *cursor) quote(p *parser) bool {
	if p.isCode(c.indent(p)) {
		return false
	}
	c.skip(p)
	if c.byte(p) != '>' {
		return false
	}
	c.off++
	c.col++
	c.take(p, 1)
	return true
}

func (p *parser) readLine(c cursor) {
	n, newItem := p.matchContainers(&c)
	interrupt := false
	if n == len(p.stack) && !newItem {
		if p.leaf == leafFence {
			p.fenceLine(c)
			return
		}
		interrupt = p.leaf == leafParagraph
	}
	opened := newItem
	if p.line > p.immune || n < len(p.stack) {
		before := p.opened
		n = p.openContainers(&c, n, interrupt)
		opened = opened || p.opened != before
	}
	p.readFlow(c, n, opened)
}

// matchContainers matches the open containers against the line and returns
// how many it continues. A further item of a list continues the list.
func (p *parser) matchContainers(c *cursor) (n int, newItem bool) {
	for n < len(p.stack) {
		ct := &p.stack[n]
		p.steps++
		switch ct.kind {
		case Blockquote:
			q := *c
			if !q.quote(p) {
				return n, false
			}
			*c = q
		case FootnoteDef:
			if !c.isBlank(p) {
				if c.indent(p) < 4 {
					return n, false
				}
				c.take(p, 4)
			}
		default:
			if c.isBlank(p) {
				ct.furtherBlank = ct.furtherBlank || ct.initialBlank
				c.take(p, ct.size)
				break
			}
			further := ct.furtherBlank
			ct.furtherBlank, ct.initialBlank = false, false
			if !further && c.indent(p) >= ct.size {
				c.take(p, ct.size)
				break
			}
			return p.nextItem(c, n)
		}
		n++
	}
	return n, false
}

// openContainers opens the containers that begin at the cursor. n is how many
// of the open ones the line continues; what it does not continue is closed by
// the first that opens.
func (p *parser) openContainers(c *cursor, n int, interrupt bool) int {
	opened := false
	for {
		p.steps++
		q := *c
		indent := q.skip(p)
		b := q.byte(p)
		if p.isCode(indent) {
			break
		}
		if b != '>' && b != '*' && b != '+' && b != '-' && b != '[' && !isDigit(b) {
			break
		}
		ct, after, ok := p.container(q, indent, interrupt)
		if !ok {
			break
		}
		if n >= maxDepth {
			p.problem(q.off, "found block quotes and lists nested deeper than %d levels", maxDepth)
			break
		}
		if !opened {
			p.closeLeaf(false)
			p.exitContainers(n)
			opened = true
		}
		ct.node = p.node(ct.kind, q.off)
		ct.node.End = p.pos(after.mark)
		p.add(ct.node)
		switch ct.kind {
		case List:
			ct.node.Ordered = after.m.ordered
			ct.node.Start = after.m.start
			ct.marker = after.m.marker
			p.beginItem(&ct, after.m, q.off)
		case FootnoteDef:
			ct.node.Name = after.label
			if p.notes == nil {
				p.notes = make(map[string]bool)
			}
			p.notes[after.label] = true
		}
		p.blankIn = 0
		p.stack = append(p.stack, ct)
		p.opened++
		n++
		*c = after.c
	}
	return n
}

// opening is what follows the mark of a container.
type opening struct {
	c     cursor
	mark  int // offset after the mark
	m     marker
	label string
}

// container reads the mark of a new container at the cursor.
func (p *parser) container(c cursor, indent int, interrupt bool) (container, opening, bool) {
	switch c.byte(p) {
	case '>':
		c.off++
		c.col++
		mark := c.off
		c.take(p, 1)
		return container{kind: Blockquote}, opening{c: c, mark: mark}, true
	case '[':
		label, end, ok := p.footnoteLabel(p.s[:c.le], c.off)
		if !ok || end >= c.le || p.s[end] != ':' {
			return container{}, opening{}, false
		}
		c.col += end + 1 - c.off
		c.off = end + 1
		mark := c.off
		c.skip(p)
		return container{kind: FootnoteDef}, opening{c: c, mark: mark, label: label}, true
	}
	m, ok := p.listMarker(c, indent, interrupt)
	if !ok {
		return container{}, opening{}, false
	}
	return container{kind: List}, opening{c: m.after, mark: m.end, m: m}, true
}

// maxLabel bounds the labels of references, in bytes.
const maxLabel = 999

// footnoteLabel reads [^label] at i and returns the label in normal form and
// the offset after it.
func (p *parser) footnoteLabel(s string, i int) (string, int, bool) {
	if i+1 >= len(s) || s[i+1] != '^' {
		return "", 0, false
	}
	for k := i + 2; k < len(s) && k-i-2 <= maxLabel; k++ {
		p.steps++
		switch c := s[k]; {
		case c == '[' || isSpaceOrEOL(c):
			return "", 0, false
		case c == ']':
			if k == i+2 {
				return "", 0, false
			}
			return normalLabel(s[i+2 : k]), k + 1, true
		case c == '\\' && k+1 < len(s) && (s[k+1] == '[' || s[k+1] == '\\' || s[k+1] == ']'):
			k++
		}
	}
	return "", 0, false
}

// readFlow passes what is left of the line to a leaf. n is how many of the open
// containers the line continues: where it is not all, the line is lazy and can
// only go on a paragraph. opened means that the line opens containers.
func (p *parser) readFlow(c cursor, n int, opened bool) {
	lazy := n < len(p.stack)
	if c.isBlank(p) {
		p.inHTML = false
		if p.leaf == leafIndented && !lazy {
			p.indentedLine(c)
		} else {
			p.closeLeaf(lazy)
		}
		p.exitContainers(n)
		if !opened {
			p.blankIn = 1
			for k := range p.stack {
				if p.stack[k].kind != List {
					p.blankIn = k + 2
				}
			}
		}
		return
	}
	if p.leaf == leafFence {
		p.closeLeaf(true)
	}
	c2 := c
	indent := c2.skip(p)
	if p.leaf == leafParagraph {
		if p.isCode(indent) || !p.startLeaf(c2, indent, n, true) {
			p.segs = append(p.segs, seg{c.off, c.le})
		}
		p.blankIn = 0
		return
	}
	if lazy {
		p.closeLeaf(true)
		p.exitContainers(n)
	}
	switch {
	case !p.isCode(indent):
		p.startPlain(c2, indent, n)
	case p.leaf == leafIndented:
		p.indentedLine(c)
	default:
		p.openIndented(c, c2, n)
	}
	p.blankIn = 0
}

// startPlain begins a leaf where no paragraph is open.
func (p *parser) startPlain(c cursor, indent, n int) {
	if p.startLeaf(c, indent, n, false) {
		return
	}
	p.closeLeaf(false)
	p.leaf = leafParagraph
	if p.indented && c.byte(p) == '<' {
		p.inHTML = true
	}
	p.paraFrom = len(p.segs)
	p.segs = append(p.segs, seg{c.off, c.le})
	p.paraItem = nil
	p.paraBlank = p.blankIn
	if parent := p.parent(); parent.Kind == ListItem && len(parent.Children) == 0 {
		p.paraItem = parent
	}
}

// commit closes what the line interrupts before a new leaf is added.
func (p *parser) commit(n int) {
	p.closeLeaf(false)
	if n < len(p.stack) {
		p.exitContainers(n)
	}
}

// closeLeaf ends the open leaf. lazy means that a line outside of the leaf's
// containers ended it.
func (p *parser) closeLeaf(lazy bool) {
	leaf := p.leaf
	p.leaf = leafNone
	switch leaf {
	case leafParagraph:
		p.closeParagraph()
	case leafFence:
		p.closeFence(lazy, 0)
	case leafIndented:
		p.closeIndented()
	case leafTable:
		p.table = nil
	}
}
