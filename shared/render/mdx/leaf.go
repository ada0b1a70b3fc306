package mdx

import (
	"strings"

	"github.com/bindery-docs/bindery/shared/render/expr"
)

// startLeaf begins the leaf whose mark stands at the cursor, if there is one,
// and reports whether it did. interrupt means that a paragraph is open.
func (p *parser) startLeaf(c cursor, indent, n int, interrupt bool) bool {
	switch b := c.byte(p); b {
	case '#':
		if p.heading(c, n) {
			return true
		}
	case '*', '_':
		if p.thematicBreak(c, n) {
			return true
		}
	case '-', '=':
		if interrupt && n == len(p.stack) && p.isUnderline(c) {
			if para := p.closeForUnderline(); para != nil {
				p.underline(para, c)
				return true
			}
			// Nothing but definitions: the line is text.
			p.startPlain(c, indent, n)
			return true
		}
		if b == '-' && p.thematicBreak(c, n) {
			return true
		}
	case '`', '~', '$':
		if p.openFence(c, indent, n) {
			return true
		}
	case '<', '{':
		if b == '<' && (!p.Plain || p.Tags != nil) && p.flowComment(c, n) {
			return true
		}
		if p.Plain {
			if b == '<' && p.Tags != nil && (!p.commonMark || p.affordable()) && p.flowTags(c, n) {
				return true
			}
		} else if p.affordable() && p.flowTags(c, n) {
			return true
		}
	case 'e', 'i':
		if !interrupt && !p.Plain && c.off == c.ls && p.affordable() && p.esm(c) {
			return true
		}
	}
	if p.leaf == leafTable {
		p.tableRow(c)
		return true
	}
	return p.startTable(c, n)
}

// heading reads # Title.
func (p *parser) heading(c cursor, n int) bool {
	i := c.off
	for i < c.le && p.s[i] == '#' {
		i++
	}
	level := i - c.off
	if level > 6 || i < c.le && !isSpace(p.s[i]) {
		return false
	}
	p.commit(n)
	h := p.node(Heading, c.off)
	h.Level = level
	text := strings.Trim(p.s[i:c.le], " \t")
	h.End = p.pos(c.off + len(strings.TrimRight(p.s[c.off:c.le], " \t")))
	p.steps += c.le - c.off
	if cut := strings.TrimRight(text, "#"); cut == "" || isSpace(cut[len(cut)-1]) {
		text = strings.TrimRight(cut, " \t")
	}
	if text != "" {
		for isSpace(p.s[i]) {
			i++
		}
		p.job(h, inlineJob{}, seg{i, i + len(text)})
	}
	p.add(h)
	return true
}

// job leaves a node's content to the inline phase.
func (p *parser) job(n *Node, job inlineJob, segs ...seg) {
	job.from = len(p.segs)
	p.segs = append(p.segs, segs...)
	job.to = len(p.segs)
	p.jobs = append(p.jobs, job)
	n.Start = -len(p.jobs)
}

// isThematicBreak reports three or more of one sign and nothing else.
func (p *parser) isThematicBreak(c cursor) bool {
	sign, n := c.byte(p), 0
	if c.off < p.notBreak && p.notBreak <= c.le && sign == p.notBreakSign {
		return false // the line's list markers before this one found out
	}
	for i := c.off; i < c.le; i++ {
		p.steps++
		switch {
		case p.s[i] == sign:
			n++
		case !isSpace(p.s[i]):
			p.notBreak, p.notBreakSign = i, sign
			return false
		}
	}
	return n >= 3
}

func (p *parser) thematicBreak(c cursor, n int) bool {
	if !p.isThematicBreak(c) {
		return false
	}
	p.commit(n)
	hr := p.node(ThematicBreak, c.off)
	hr.End = p.pos(c.off + len(strings.TrimRight(p.s[c.off:c.le], " \t")))
	p.add(hr)
	return true
}

// isUnderline reports the line under a heading: signs of one kind only.
func (p *parser) isUnderline(c cursor) bool {
	text := strings.TrimRight(p.s[c.off:c.le], " \t")
	p.steps += len(text)
	return strings.Trim(text, text[:1]) == ""
}

// closeForUnderline closes the open paragraph and returns it, or nil if it
// held definitions only.
func (p *parser) closeForUnderline() *Node {
	p.leaf = leafNone
	return p.closeParagraph()
}

// underline turns a paragraph into a heading.
func (p *parser) underline(para *Node, c cursor) {
	para.Kind = Heading
	para.Level = 1
	if c.byte(p) == '-' {
		para.Level = 2
	}
	p.jobs[-para.Start-1].item = nil
	para.End = p.pos(c.off + len(strings.TrimRight(p.s[c.off:c.le], " \t")))
}

// closeParagraph takes the definitions off the open paragraph and adds what is
// left. It returns the paragraph, nil if nothing is left.
func (p *parser) closeParagraph() *Node {
	from, to := p.paraFrom, len(p.segs)
	// It stands where it began, whatever came since.
	defer func(now int) { p.blankIn = now }(p.blankIn)
	p.blankIn = p.paraBlank
	if p.s[p.segs[from].start] == '[' {
		from += p.definitions(p.segs[from:to])
	}
	if from == to {
		return nil
	}
	first, end := &p.segs[from], p.segs[to-1].end
	for first.start < first.end && isSpace(p.s[first.start]) {
		first.start++
	}
	// The white space at the end stays in the text: less-than before it is no
	// tag.
	for end > first.start && isSpace(p.s[end-1]) {
		end--
	}
	para := p.node(Paragraph, first.start)
	para.End = p.pos(end)
	p.jobs = append(p.jobs, inlineJob{from: from, to: to, item: p.paraItem})
	para.Start = -len(p.jobs)
	p.add(para)
	return para
}

func (p *parser) join(segs []seg) view {
	whole := true
	for i := 1; i < len(segs); i++ {
		if segs[i].start != segs[i-1].end+1 {
			whole = false
			break
		}
	}
	p.steps += len(segs)
	if whole {
		return view{s: p.s[segs[0].start:segs[len(segs)-1].end], base: segs[0].start}
	}
	v := view{base: -1, starts: make([]int, len(segs)), srcs: make([]int, len(segs))}
	size := len(segs)
	for _, s := range segs {
		size += s.end - s.start
	}
	var b strings.Builder
	b.Grow(size)
	for i, s := range segs {
		if i > 0 {
			b.WriteByte('\n')
		}
		v.starts[i], v.srcs[i] = b.Len(), s.start
		b.WriteString(p.s[s.start:s.end])
	}
	p.steps += size
	v.s = b.String()
	return v
}

// definitions reads the link reference definitions that a paragraph begins
// with and returns how many of its lines they take.
func (p *parser) definitions(segs []seg) int {
	v := p.join(segs)
	s := v.s
	done, lines := 0, 0
	for done < len(s) {
		i := done
		for i < len(s) && isSpace(s[i]) {
			i++
		}
		if i >= len(s) || s[i] != '[' {
			break
		}
		def, end, ok := p.definition(s, i)
		if !ok {
			break
		}
		n := p.node(Definition, v.src(i))
		n.Name, n.URL, n.Title = def.label, def.url, def.title
		n.End = p.pos(v.src(end-1) + 1)
		p.add(n)
		if p.defs == nil {
			p.defs = make(map[string]*Node)
		}
		if p.defs[def.label] == nil {
			p.defs[def.label] = n
		}
		for end < len(s) && s[end] != '\n' {
			end++
		}
		lines += 1 + strings.Count(s[done:end], "\n")
		done = end + 1
	}
	return lines
}

type definition struct{ label, url, title string }

// definition reads [label]: destination "title" at i, where only white space
// may follow on the line. The offset is after the last part.
func (p *parser) definition(s string, i int) (definition, int, bool) {
	var def definition
	label, i, ok := p.label(s, i)
	if !ok || i >= len(s) || s[i] != ':' {
		return def, 0, false
	}
	def.label = normalLabel(label)
	i = p.skipWhite(s, i+1)
	dest, i, ok := p.destination(s, i, 1<<30)
	if !ok {
		return def, 0, false
	}
	def.url = dest
	if t := p.skipWhite(s, i); t > i {
		if title, end, ok := p.title(s, t, nil); ok && p.restIsBlank(s, end) {
			def.title = title
			return def, end, true
		}
	}
	return def, i, p.restIsBlank(s, i)
}

// restIsBlank reports that only white space follows on the line.
func (p *parser) restIsBlank(s string, i int) bool {
	for i < len(s) && isSpace(s[i]) {
		p.steps++
		i++
	}
	return i >= len(s) || s[i] == '\n'
}

func (p *parser) skipWhite(s string, i int) int {
	for i < len(s) && isSpaceOrEOL(s[i]) {
		p.steps++
		i++
	}
	return i
}

// openFence reads the opening line of fenced code, or of math between $$.
func (p *parser) openFence(c cursor, indent, n int) bool {
	sign := c.byte(p)
	i := c.off
	for i < c.le && p.s[i] == sign {
		i++
	}
	size := i - c.off
	least := 3
	if sign == '$' {
		least = 2
	}
	if size < least || sign == '$' && p.Dollars == NoDollars {
		return false
	}
	info := strings.Trim(p.s[i:c.le], " \t")
	p.steps += c.le - c.off
	if sign != '~' && strings.IndexByte(info, sign) >= 0 {
		return false
	}
	p.commit(n)
	kind := CodeBlock
	if sign == '$' {
		kind = MathBlock
	}
	f := p.node(kind, c.off)
	f.End = p.pos(c.le)
	if sign == '$' {
		f.Meta = unescape(info)
	} else if k := strings.IndexAny(info, " \t"); k >= 0 {
		f.Name, f.Meta = unescape(info[:k]), unescape(strings.TrimLeft(info[k:], " \t"))
	} else {
		f.Name = unescape(info)
	}
	p.add(f)
	p.leaf = leafFence
	p.fence, p.fenceByte, p.fenceLen, p.fenceIndent = f, sign, size, indent
	p.fenceLines = p.fenceLines[:0]
	return true
}

// fenceLine reads a line inside of fenced code.
func (p *parser) fenceLine(c cursor) {
	q := c
	if !p.isCode(q.skip(p)) && q.byte(p) == p.fenceByte {
		i := q.off
		for i < c.le && p.s[i] == p.fenceByte {
			i++
		}
		p.steps += i - q.off
		if i-q.off >= p.fenceLen && blankLine(p.s[i:c.le]) {
			p.leaf = leafNone
			p.closeFence(false, i)
			return
		}
	}
	c.take(p, p.fenceIndent)
	p.codeLine(c)
	p.fence.End = p.pos(c.le)
}

// closeFence sets the code's value; end is the offset after the closing
// fence, 0 when there is none.
func (p *parser) closeFence(lazy bool, end int) {
	f := p.fence
	p.fence = nil
	if end > 0 {
		f.End = p.pos(end)
	}
	f.Value = p.joinLines(f, p.fenceLines)
	if lazy {
		f.Value = strings.TrimSuffix(f.Value, "\n")
	}
	p.steps += len(f.Value)
}

// joinLines joins code lines; those that stand in the source just so are cut
// from it without copying.
func (p *parser) joinLines(f *Node, lines []string) string {
	switch len(lines) {
	case 0:
		return ""
	case 1:
		return lines[0]
	}
	if len(p.stack) == 0 && p.fenceIndent == 0 {
		size := len(lines) - 1
		for _, l := range lines {
			size += len(l)
		}
		start := p.lineEnd(f.Pos.Offset) + 1
		return p.s[start : start+size]
	}
	return strings.Join(lines, "\n")
}

// flowTags reads a line, or several, of nothing but tags and expressions.
func (p *parser) flowTags(c cursor, n int) bool {
	r := p.flowReader(c.off, c.le)
	var found []*Node
	for {
		p.steps++
		var node *Node
		var got outcome
		if r.at(r.i) == '<' {
			node, got = p.scanTag(r, false)
		} else {
			node, got = p.scanExpression(r, false)
		}
		if got != matched {
			return false
		}
		if p.commonMark && node.Level == tagOpen && hasRawText(node.Name) {
			p.rawContent(r, node)
		}
		found = append(found, node)
		for isSpace(r.at(r.i)) {
			p.steps++
			r.i++
		}
		b := r.at(r.i)
		// An expression right after an expression makes a paragraph of both.
		if b == '<' || b == '{' && node.Kind == Element && !p.Plain {
			continue
		}
		end := r.src(r.i)
		if b == '\n' || r.atEnd(r.i) {
			p.commit(n)
			p.inHTML = p.indented
			for _, node := range found {
				p.add(node)
			}
			p.next, p.nextLine = p.lineEnd(end)+1, p.pos(end).Line+1
			return true
		}
		// Text follows: a paragraph. The lines that were read to find out
		// belong to it, whatever they begin with.
		p.immune = p.pos(end).Line
		return false
	}
}

// esm reads import and export statements, up to the blank line at which they
// are complete.
func (p *parser) esm(c cursor) bool {
	text := p.s[c.off:c.le]
	if !strings.HasPrefix(text, "import ") && !strings.HasPrefix(text, "export ") {
		return false
	}
	j := &p.scanner
	j.Reset()
	j.At = c.off
	end := c.le
	for {
		// To the next blank line.
		for {
			next := p.lineEnd(end + 1)
			if end >= len(p.s) || end+1 >= len(p.s) || blankLine(p.s[end+1:next]) {
				break
			}
			end = next
		}
		j.Text = p.s[:end]
		j.Scan()
		if j.Complete() || end+1 >= len(p.s) {
			break
		}
		if message, _ := j.Fault(); message != "" {
			break
		}
		next := end
		for end+1 < len(p.s) {
			next = p.lineEnd(end + 1)
			blank := blankLine(p.s[end+1 : next])
			end = next
			if !blank {
				break
			}
		}
	}
	p.steps += j.Steps
	value := p.s[c.off:end]
	message, at := j.Fault()
	switch {
	case message != "":
		p.problem(at, "%s", message)
	case !j.Complete():
		what := "the rest of the statement"
		if name, at := j.Opened(); at >= 0 {
			what = name + " opened at " + p.lineColumn(p.pos(at))
		}
		p.problem(c.off, "found the end of the text in an import or export, expected %s", what)
	default:
		if _, _, at, want := expr.ParseModule(value); want != "" {
			p.problem(c.off+at, "found `%s` in an import or export, expected %s", firstWord(value[at:]), want)
			break
		}
		n := p.node(ESM, c.off)
		n.Value = strings.TrimRight(value, " \t\n")
		n.End = p.pos(c.off + len(n.Value))
		p.steps += len(value)
		p.commit(0)
		p.add(n)
		p.next, p.nextLine = end+1, p.pos(end).Line+1
		return true
	}
	p.spent(end - c.off)
	return p.esmPrefix(c, end)
}

// esmRescue is how many lines of a broken block are looked at for
// statements that are whole: text right under an import must not undo it.
const esmRescue = 16

// esmPrefix takes the lines of a broken block up to end that are statements.
func (p *parser) esmPrefix(c cursor, end int) bool {
	good := 0
	for k, n := c.off, 0; n < esmRescue && k < end; n++ {
		k = p.lineEnd(k)
		p.steps += k - c.off
		p.spent(k - c.off)
		if _, _, _, want := expr.ParseModule(p.s[c.off:k]); want == "" {
			good = k
		}
		k++
	}
	if good == 0 {
		return false
	}
	n := p.node(ESM, c.off)
	n.Value = strings.TrimRight(p.s[c.off:good], " \t")
	n.End = p.pos(c.off + len(n.Value))
	p.commit(0)
	p.add(n)
	p.next, p.nextLine = good+1, p.pos(good).Line+1
	return true
}

// firstWord cuts a short piece for a message.
func firstWord(s string) string {
	s = strings.TrimLeft(s, " \t\n")
	if k := strings.IndexAny(s, " \t\n"); k > 0 {
		s = s[:k]
	}
	if s == "" {
		return "end of the text"
	}
	if len(s) > 24 {
		s = strings.ToValidUTF8(s[:24], "")
	}
	return s
}
