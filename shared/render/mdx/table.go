package mdx

// startTable begins a table: a line that is a head, if the line below it is a
// delimiter row with as many cells.
func (p *parser) startTable(c cursor, n int) bool {
	ls := c.le + 1
	if ls >= len(p.s) {
		return false
	}
	d := cursor{off: ls, ls: ls, le: p.lineEnd(ls)}
	p.steps += len(p.stack)
	if !p.continues(&d) {
		return false
	}
	q := d
	indent := q.skip(p)
	if b := q.byte(p); b != '|' && b != '-' && b != ':' {
		return false
	}
	align, ok := p.delimiterRow(q)
	if !ok || p.headCells(c) != len(align) {
		return false
	}
	if _, _, ok := p.container(q, indent, true); ok {
		return false
	}
	p.closeLeaf(false)
	t := p.node(Table, c.off)
	t.Align = align
	p.add(t)
	p.table = t
	p.leaf = leafTable
	p.tableRow(c)
	t.End = p.pos(d.le)
	p.next, p.nextLine = d.le+1, p.line+2
	return true
}

// delimiterRow reads a row such as | --- | :-: |, with at least one pipe or
// colon.
func (p *parser) delimiterRow(c cursor) ([]Align, bool) {
	var align []Align
	sign := false
	i := c.off
	s := p.s[:c.le]
	space := func() {
		for i < len(s) && isSpace(s[i]) {
			p.steps++
			i++
		}
	}
	if s[i] == '|' {
		sign = true
		i++
		space()
	}
	for i < len(s) {
		p.steps++
		left, right := false, false
		if s[i] == ':' {
			left, sign = true, true
			i++
		}
		start := i
		for i < len(s) && s[i] == '-' {
			p.steps++
			i++
		}
		if i == start {
			return nil, false
		}
		if i < len(s) && s[i] == ':' {
			right, sign = true, true
			i++
		}
		a := AlignNone
		switch {
		case left && right:
			a = AlignCenter
		case left:
			a = AlignLeft
		case right:
			a = AlignRight
		}
		align = append(align, a)
		space()
		if i < len(s) {
			if s[i] != '|' {
				return nil, false
			}
			sign = true
			i++
			space()
		}
	}
	return align, sign && len(align) > 0
}

// headCells counts the cells of a head row; 0 means that it is not a head row but a single
// pipe.
func (p *parser) headCells(c cursor) int {
	signs, cells := 0, 0
	open := p.s[c.off] != '|'
	if open {
		signs++
	}
	for i := c.off; i < c.le; i++ {
		p.steps++
		b := p.s[i]
		if isSpace(b) {
			continue
		}
		signs++
		if open {
			open = false
			cells++
		}
		if b == '|' {
			open = true
			continue
		}
		// To the end of this run of data.
		for ; i < c.le && p.s[i] != '|' && !isSpace(p.s[i]); i++ {
			p.steps++
			if p.s[i] == '\\' && i+1 < c.le && (p.s[i+1] == '\\' || p.s[i+1] == '|') {
				i++
			}
		}
		i--
	}
	if signs <= 1 {
		return 0
	}
	return cells
}

// tableRow adds the line as a row of the open table.
func (p *parser) tableRow(c cursor) {
	row := p.node(TableRow, c.off)
	s, i := p.s, c.off
	end := c.le
	for end > i && isSpace(s[end-1]) {
		end--
	}
	row.End = p.pos(end)
	p.table.End = row.End
	if s[i] == '|' {
		i++
	}
	for cells := 0; i < end || cells == 0; cells++ {
		p.steps++
		from := i
		for i < end && s[i] != '|' {
			p.steps++
			if s[i] == '\\' && i+1 < end && (s[i+1] == '\\' || s[i+1] == '|') {
				i++
			}
			i++
		}
		to := i
		for from < to && isSpace(s[from]) {
			from++
		}
		for to > from && isSpace(s[to-1]) {
			to--
		}
		cell := p.node(TableCell, from)
		cell.End = p.pos(to)
		if from < to {
			p.job(cell, inlineJob{table: true}, seg{from, to})
		}
		row.Children = append(row.Children, cell)
		i++
	}
	p.table.Children = append(p.table.Children, row)
}
