package mdx

// nextItem begins a further item of list n, if the line does so.
func (p *parser) nextItem(c *cursor, n int) (int, bool) {
	ct := &p.stack[n]
	q := *c
	indent := q.skip(p)
	if p.isCode(indent) {
		return n, false
	}
	m, ok := p.listMarker(q, indent, false)
	if !ok || m.ordered != ct.node.Ordered || m.marker != ct.marker {
		return n, false
	}
	p.closeLeaf(false)
	p.exitContainers(n + 1)
	ct = &p.stack[n]
	endWithChildren(ct.item)
	if p.blankAbove(p.blankIn, n+1) {
		ct.node.Loose = true
	}
	p.beginItem(ct, m, q.off)
	*c = m.after
	return n + 1, true
}

// beginItem starts the item of a marker at off.
func (p *parser) beginItem(ct *container, m marker, off int) {
	ct.item = p.node(ListItem, off)
	ct.item.End = p.pos(m.end)
	p.inHTML = false
	ct.size = m.size
	ct.initialBlank, ct.furtherBlank = m.blank, false
	ct.node.Children = append(ct.node.Children, ct.item)
	p.blankIn = 0
}

type marker struct {
	ordered bool
	marker  byte
	start   int
	size    int // columns up to the item's content
	end     int // offset after the marker
	blank   bool
	after   cursor
}

// listMarker reads a list item's marker at the cursor, which stands after
// indent columns of white space. An item that interrupts a paragraph must not
// be empty and must not begin with another number than 1.
func (p *parser) listMarker(c cursor, indent int, interrupt bool) (marker, bool) {
	m := marker{}
	start := c
	switch b := c.byte(p); {
	case b == '*' || b == '+' || b == '-':
		if b != '+' && p.isThematicBreak(c) {
			return m, false
		}
		m.marker = b
		c.off++
		c.col++
	case isDigit(b):
		if interrupt && b != '1' {
			return m, false
		}
		digits := 0
		for ; isDigit(c.byte(p)); c.off++ {
			digits++
			if digits > 9 {
				return m, false
			}
			m.start = m.start*10 + int(c.byte(p)-'0')
			c.col++
		}
		if interrupt && digits > 1 {
			return m, false
		}
		m.marker = c.byte(p)
		if m.marker != '.' && m.marker != ')' {
			return m, false
		}
		m.ordered = true
		c.off++
		c.col++
	default:
		return m, false
	}
	m.end = c.off
	width := c.col - start.col
	if c.isBlank(p) {
		if interrupt {
			return m, false
		}
		m.blank = true
		m.size = indent + width + 1
		m.after = c
		return m, true
	}
	before := c
	space := c.skip(p)
	if space == 0 {
		return m, false
	}
	if p.indented && space > 4 { // the item begins with indented code
		p.sawIndented = true
		c = before
		space = c.take(p, 1)
	}
	m.size = indent + width + space
	m.after = c
	return m, true
}
