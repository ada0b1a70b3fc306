package mdx

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/render/expr"
)

// What an Element in a list of siblings represents before tags are matched;
// kept in Level, which elements do not use.
const (
	tagNone  = 0 // a whole element
	tagOpen  = 1 // an opening tag
	tagClose = 2 // a closing tag
)

// outcome is what an attempt to read a construct came to.
type outcome uint8

const (
	matched outcome = iota
	noMatch         // it is something else
	broken          // it is the construct, but wrong; the problem is reported
)

// tagScanner reads one JSX tag.
type tagScanner struct {
	p  *parser
	r  *reader
	at int // where the tag begins in the reader
	i  int
}

// scanTag reads the tag that begins at r.i and leaves r.i after it.
func (p *parser) scanTag(r *reader, inline bool) (*Node, outcome) {
	if next := r.at(r.i + 1); isSpaceOrEOL(next) || next == '!' && strings.HasPrefix(r.s[r.i:], "<!--") {
		return nil, noMatch // a comment is read elsewhere
	}
	t := tagScanner{p: p, r: r, at: r.i, i: r.i + 1}
	n := p.node(Element, r.src(r.i))
	n.Inline = inline
	if p.Plain {
		if !t.plain(n) {
			return nil, noMatch
		}
	} else if !t.read(n) {
		p.spent(t.i - t.at + 16)
		return nil, broken
	}
	r.i = t.i
	n.End = p.pos(r.src(t.i-1) + 1)
	return n, matched
}

func (t *tagScanner) unexpected(where, expected string) bool {
	if t.r.atEnd(t.i) {
		t.p.problem(t.r.src(t.at), "found %s %s, expected %s", t.r.eol(), where, expected)
		return false
	}
	r, _ := utf8.DecodeRuneInString(t.r.s[t.i:])
	t.p.problem(t.r.src(t.i), "found %s %s, expected %s", quoteRune(r), where, expected)
	return false
}

func quoteRune(r rune) string {
	switch r {
	case '\n':
		return "a line ending"
	case '`':
		return "a backtick"
	}
	return fmt.Sprintf("`%c`", r)
}

// space skips white space as JavaScript has it, line endings included.
func (t *tagScanner) space() {
	for {
		t.p.steps++
		c := t.r.at(t.i)
		switch {
		case isSpaceOrEOL(c) || c == '\f' || c == '\v':
			t.i++
			continue
		case c >= utf8.RuneSelf:
			if r, n := utf8.DecodeRuneInString(t.r.s[t.i:]); classOf(r) == classSpace {
				t.i += n
				continue
			}
		}
		return
	}
}

func (t *tagScanner) startsName() bool {
	c := t.r.at(t.i)
	if c < utf8.RuneSelf {
		return isAlpha(c) || c == '$' || c == '_'
	}
	r, _ := utf8.DecodeRuneInString(t.r.s[t.i:])
	return expr.IsIDStart(r)
}

// name reads an identifier, which in JSX may hold dashes.
func (t *tagScanner) name() string {
	start := t.i
	for {
		t.p.steps++
		c := t.r.at(t.i)
		if c < utf8.RuneSelf {
			if !isAlnum(c) && c != '$' && c != '_' && c != '-' {
				break
			}
			t.i++
			continue
		}
		r, n := utf8.DecodeRuneInString(t.r.s[t.i:])
		if !expr.IsIDPart(r) {
			break
		}
		t.i += n
	}
	return t.r.s[start:t.i]
}

const (
	wantName = "a character that can start a name, such as a letter, $ or _"
	wantAttr = "an attribute name, white space before attributes, or the end of the tag"
)

func (t *tagScanner) read(n *Node) bool {
	t.space()
	if t.r.at(t.i) == '/' {
		n.Level = tagClose
		t.i++
		t.space()
	}
	if t.r.at(t.i) == '>' {
		t.i++
		if n.Level != tagClose {
			n.Level = tagOpen
		}
		return true
	}
	if !t.startsName() {
		return t.unexpected("before a tag's name", wantName)
	}
	if !t.tagName(n) {
		return false
	}
	return t.attributes(n)
}

// tagName reads a.b.c, a:b or a.
func (t *tagScanner) tagName(n *Node) bool {
	n.Name = t.name()
	if !t.nameEnds(".:") {
		return false
	}
	t.space()
	switch t.r.at(t.i) {
	case ':':
		t.i++
		t.space()
		if !t.startsName() {
			return t.unexpected("after the colon in a tag's name", wantName+" (links in MDX are written [text](url))")
		}
		n.Name += ":" + t.name()
		if !t.nameEnds("") {
			return false
		}
		t.space()
	case '.':
		var b strings.Builder
		b.WriteString(n.Name)
		for t.r.at(t.i) == '.' {
			t.i++
			t.space()
			if !t.startsName() {
				return t.unexpected("after the dot in a tag's name", wantName)
			}
			b.WriteByte('.')
			b.WriteString(t.name())
			if !t.nameEnds(".") {
				return false
			}
			t.space()
		}
		n.Name = b.String()
	}
	return true
}

// nameEnds checks the character after a name.
func (t *tagScanner) nameEnds(further string) bool {
	c := t.r.at(t.i)
	if c == '/' || c == '>' || c == '{' || isSpaceOrEOL(c) || c == '\f' || c == '\v' || c != 0 && strings.IndexByte(further, c) >= 0 {
		return true
	}
	if c >= utf8.RuneSelf {
		if r, _ := utf8.DecodeRuneInString(t.r.s[t.i:]); classOf(r) == classSpace {
			return true
		}
	}
	want := "a letter, digit, $, _ or -, white space before attributes, or the end of the tag"
	if c == '@' {
		want += " (links in MDX are written [text](url))"
	}
	return t.unexpected("in a name", want)
}

// attributes reads what follows the name, the end of the tag included.
func (t *tagScanner) attributes(n *Node) bool {
	for {
		t.p.steps++
		t.space()
		c := t.r.at(t.i)
		switch {
		case c == '/':
			if n.Level == tagClose {
				return t.unexpected("in a closing tag", "> to end the tag")
			}
			t.i++
			t.space()
			if t.r.at(t.i) != '>' {
				return t.unexpected("after the slash of a tag", "> to end the tag")
			}
			t.i++
			n.SelfClosing = true
			return true
		case c == '>':
			t.i++
			if n.Level != tagClose {
				n.Level = tagOpen
			}
			return true
		case c == '{' || t.startsName():
			if n.Level == tagClose {
				return t.unexpected("in a closing tag", "> to end the tag")
			}
			if !t.attribute(n, c) {
				return false
			}
		default:
			return t.unexpected("in a tag", wantAttr)
		}
	}
}

func (t *tagScanner) attribute(n *Node, c byte) bool {
	a := Attr{Pos: t.p.pos(t.r.src(t.i))}
	if c == '{' {
		value, end, ok := t.p.scanBraces(t.r, t.i, bracesSpread)
		if !ok {
			return false
		}
		a.Kind, a.Value = AttrSpread, value
		t.i = end
		n.Attrs = append(n.Attrs, a)
		return true
	}
	a.Name = t.name()
	if !t.attrNameEnds(":=") {
		return false
	}
	t.space()
	if t.r.at(t.i) == ':' {
		t.i++
		t.space()
		if !t.startsName() {
			return t.unexpected("after the colon in an attribute's name", wantName)
		}
		a.Name += ":" + t.name()
		if !t.attrNameEnds("=") {
			return false
		}
		t.space()
	}
	if t.r.at(t.i) != '=' {
		n.Attrs = append(n.Attrs, a)
		return true
	}
	t.i++
	t.space()
	switch c := t.r.at(t.i); c {
	case '"', '\'':
		start := t.i
		lines := false
		for t.i++; t.r.at(t.i) != c; t.i++ {
			t.p.steps++
			if t.r.atEnd(t.i) {
				t.p.problem(t.r.src(start), "found %s in the value of attribute %s, expected a closing %c", t.r.eol(), a.Name, c)
				return false
			}
			lines = lines || t.r.s[t.i] == '\n'
		}
		value := t.r.s[start+1 : t.i]
		if lines {
			value = trimLineStarts(value, anyIndent)
		}
		a.Kind, a.Value = AttrString, decodeReferences(value)
		t.i++
	case '{':
		value, end, ok := t.p.scanBraces(t.r, t.i, bracesValue)
		if !ok {
			return false
		}
		a.Kind, a.Value = AttrExpr, value
		t.i = end
	default:
		return t.unexpected("before an attribute's value", "a value, which begins with \", ' or {")
	}
	n.Attrs = append(n.Attrs, a)
	return true
}

// attrNameEnds checks the character after an attribute's name.
func (t *tagScanner) attrNameEnds(further string) bool {
	return t.nameEnds(further)
}

// anyIndent is more than any line is indented.
const anyIndent = 1 << 30

// trimLineStarts drops up to max columns of white space from the start of
// every line but the first. What a tab has beyond that stays as spaces.
func trimLineStarts(s string, max int) string {
	var b strings.Builder
	b.Grow(len(s))
	for {
		nl := strings.IndexByte(s, '\n')
		if nl < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:nl+1])
		s = s[nl+1:]
		for n := 0; n < max && len(s) > 0 && isSpace(s[0]); n++ {
			if s[0] == '\t' {
				n += 3
				for k := max; k <= n; k++ {
					b.WriteByte(' ')
				}
			}
			s = s[1:]
		}
	}
}

// Where braces stand decides what they may hold.
type bracesIn uint8

const (
	bracesChild  bracesIn = iota // among content: an expression, or nothing but comments
	bracesValue                  // an attribute's value: an expression
	bracesSpread                 // among attributes: one spread
)

// exprIndent is how many columns of indentation the lines of an expression
// lose at most, as in the reference parser.
const exprIndent = 2

// scanBraces reads {…} from i. It returns the source between the braces and
// the offset after them.
func (p *parser) scanBraces(r *reader, i int, in bracesIn) (value string, end int, ok bool) {
	j := &p.scanner
	j.Reset()
	j.Text, j.At, j.Lines, j.Expression = r.s[:r.end], i+1, r, true
	// The dots of a spread make it a property of an object; look after them.
	if in == bracesSpread && !j.Spread() {
		p.problem(r.src(i), "found braces among attributes, expected a spread such as {...properties}")
		p.scanned(j, i)
		return "", 0, false
	}
	closed := j.Scan()
	message, at := j.Fault()
	switch {
	case message != "":
		p.problem(r.src(at), "%s", message)
	case !closed:
		message := fmt.Sprintf("found %s in an expression, expected a closing }", r.eol())
		if name, at := j.Opened(); at >= 0 {
			where := p.realPos(p.pos(r.src(at)))
			message = fmt.Sprintf("found %s in an expression, expected %s opened at %d:%d", r.eol(), name, where.Line, where.Column)
		}
		p.problem(r.src(i), "%s", message)
	case !j.Complete():
		p.problem(r.src(j.At), "found } in an expression, expected an operand")
	case j.Empty() && in == bracesValue:
		p.problem(r.src(i), "found an empty expression, expected a value")
	default:
		p.steps += j.Steps
		value = r.s[i+1 : j.At]
		if strings.IndexByte(value, '\n') >= 0 {
			value = trimLineStarts(value, exprIndent)
		}
		return value, j.At + 1, true
	}
	p.scanned(j, i)
	return "", 0, false
}

// scanned accounts for a scan from start on that came to nothing.
func (p *parser) scanned(j *expr.Scanner, start int) {
	p.steps += j.Steps
	p.spent(j.At - start)
}

// scanExpression reads an expression among content at r.i and leaves r.i
// after it.
func (p *parser) scanExpression(r *reader, inline bool) (*Node, outcome) {
	value, end, ok := p.scanBraces(r, r.i, bracesChild)
	if !ok {
		return nil, broken
	}
	n := p.node(Expression, r.src(r.i))
	n.Inline = inline
	n.Value = value
	r.i = end
	n.End = p.pos(r.src(end-1) + 1)
	return n, matched
}

// Formula is the name of elements that hold a formula as TeX.
const Formula = "Latex"

// elementFrame is an element whose closing tag has not come yet.
type elementFrame struct {
	el   *Node
	kids []*Node
	// first is set if only opening tags come before it.
	first bool
}

// matcher nests the siblings of one list.
type matcher struct {
	*parser
	out  []*Node
	open []elementFrame
}

// matchTags nests siblings: what stands between an opening tag and its closing
// tag becomes the element's content. Both tags must stand in the same list.
func (p *parser) matchTags(list []*Node) []*Node {
	m := matcher{parser: p, out: make([]*Node, 0, len(list))}
	var closings map[string]int // closing tags of void elements that still follow
	first := true
	for i, n := range list {
		p.steps++
		if n.Kind != Element || n.Level == tagNone {
			first = false
			m.add(n)
			continue
		}
		level := n.Level
		n.Level = 0
		void := IsVoid(n.Name)
		for level == tagOpen && p.commonMark && len(m.open) > 0 && mayOmitEnd(m.open[len(m.open)-1].el.Name, n.Name) {
			m.end(n.Pos)
		}
		if void && closings == nil {
			closings = p.voidClosings(list[i:])
		}
		if level == tagOpen {
			switch {
			case void && closings[n.Name] == 0 && len(n.Attrs) == 0 && needsAttributes(n.Name):
				p.problem(n.Pos.Offset, "found <%s> without attributes and a slash, expected <%s /> (it is shown as it was written)", n.Name, n.Name)
				first = false
				m.add(p.asText(n))
			case void && closings[n.Name] == 0:
				p.mended(n.Pos.Offset, "found <%s> without a slash, expected <%s /> (it ends here, as in HTML)", n.Name, n.Name)
				n.SelfClosing = true
				first = false
				m.add(n)
			case len(m.open) >= maxDepth:
				p.problem(n.Pos.Offset, "found elements nested deeper than %d levels", maxDepth)
				m.add(p.asText(n))
			default:
				m.open = append(m.open, elementFrame{el: n, first: first})
			}
			continue
		}
		first = false
		if void {
			closings[n.Name]--
		}
		m.close(n)
	}
	loose := p.looseTags && slices.ContainsFunc(m.open, func(f elementFrame) bool { return isBlockTag(f.el.Name) })
	for _, f := range m.open {
		if loose {
			f.el.Level = tagOpen
			m.out = append(append(m.out, f.el), f.kids...)
		}
	}
	for !loose && len(m.open) > 0 {
		m.unclosed("the end of the " + place(m.open[len(m.open)-1].el))
	}
	return m.out
}

// needsAttributes reports whether a void element shows nothing without attributes. A
// tag such as <img> without any is then text about the element.
func needsAttributes(name string) bool {
	switch name {
	case "br", "hr", "wbr", "input", "col":
		return false
	}
	return true
}

// voidClosings counts the closing tags of elements that have no content.
func (p *parser) voidClosings(list []*Node) map[string]int {
	p.steps += len(list)
	count := map[string]int{}
	for _, n := range list {
		if n.Kind == Element && n.Level == tagClose && IsVoid(n.Name) {
			count[n.Name]++
		}
	}
	return count
}

// add adds nodes to the innermost element that is open.
func (m *matcher) add(list ...*Node) {
	if len(m.open) > 0 {
		f := &m.open[len(m.open)-1]
		f.kids = append(f.kids, list...)
		return
	}
	m.out = append(m.out, list...)
}

// end ends the innermost element that is open.
func (m *matcher) end(end Pos) {
	f := m.open[len(m.open)-1]
	m.open = m.open[:len(m.open)-1]
	f.el.End = end
	if IsVoid(f.el.Name) {
		m.add(f.el)
		m.add(f.kids...)
		return
	}
	f.el.Children = f.kids
	m.add(f.el)
}

// close ends the element that a closing tag names.
func (m *matcher) close(n *Node) {
	k := len(m.open) - 1
	for k > 0 && m.open[k].el.Name != n.Name && len(m.open)-k < 16 {
		k--
	}
	if k < 0 || m.open[k].el.Name != n.Name {
		if m.looseTags && len(m.open) == 0 && isBlockTag(n.Name) {
			n.Level = tagClose
			m.add(n)
			return
		}
		if m.commonMark {
			if isHTML(n.Name) {
				m.mended(n.Pos.Offset, "found the closing tag </%s> without an opening tag (it is left out)", n.Name)
			} else {
				m.add(m.asText(n))
			}
			return
		}
		if len(m.open) == 0 {
			m.problem(n.Pos.Offset, "found the closing tag </%s>, expected an opening tag <%s> before it in the same %s",
				n.Name, n.Name, place(n))
		} else {
			top := m.open[len(m.open)-1].el
			m.problem(n.Pos.Offset, "expected the closing tag </%s> for <%s> opened at %s, found </%s>",
				top.Name, top.Name, m.lineColumn(top.Pos), n.Name)
		}
		m.add(m.asText(n))
		return
	}
	for len(m.open)-1 > k {
		m.unclosed("</" + n.Name + ">")
	}
	if n.Name == Formula {
		el := m.open[k].el
		el.Meta = m.s[el.End.Offset:n.Pos.Offset]
	}
	m.end(n.End)
}

// unclosed ends the innermost open element, which has no closing tag. found is what
// stands in its place. A word in angle brackets stays as text.
func (m *matcher) unclosed(found string) {
	f := m.open[len(m.open)-1]
	switch {
	case m.commonMark && endIsOptional(f.el.Name):
		end := f.el.End
		if k := f.kids; len(k) > 0 {
			end = k[len(k)-1].End
		}
		m.end(end)
		return
	case m.commonMark && !isHTML(f.el.Name) && !f.isTag(): // <your-name>
		m.open = m.open[:len(m.open)-1]
		m.add(m.asText(f.el))
		m.add(f.kids...)
		return
	}
	m.problem(f.el.Pos.Offset, "expected the closing tag </%s> for <%s> opened at %s, found %s",
		f.el.Name, f.el.Name, m.lineColumn(f.el.Pos), found)
	if !f.isTag() {
		m.open = m.open[:len(m.open)-1]
		m.add(m.asText(f.el))
		m.add(f.kids...)
		return
	}
	end := f.el.End
	if k := f.kids; len(k) > 0 {
		end = k[len(k)-1].End
	}
	f.el.Value = m.s[f.el.Pos.Offset:f.el.End.Offset]
	m.end(end)
}

// isTag reports whether an opening tag without a closing tag is still a tag: it has
// attributes with values, or it is an HTML element or a component at a place where an
// element can begin.
func (f *elementFrame) isTag() bool {
	switch name := f.el.Name; {
	case f.el.Inline && !f.first:
		return false
	case slices.ContainsFunc(f.el.Attrs, func(a Attr) bool { return a.Kind != AttrBool }):
		return true
	default:
		return name == "" || !isLower(name[0]) || strings.IndexByte(name, '.') >= 0 || isHTML(name)
	}
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

func place(n *Node) string {
	if n.Inline {
		return "paragraph or span"
	}
	return "block"
}

func (p *parser) lineColumn(at Pos) string {
	return fmt.Sprintf("%d:%d", at.Line, at.Column)
}

// asText turns a tag that cannot be matched into visible text.
func (p *parser) asText(tag *Node) *Node {
	text := p.node(Text, tag.Pos.Offset)
	text.End = tag.End
	text.Value = p.s[tag.Pos.Offset:tag.End.Offset]
	if tag.Inline {
		return text
	}
	para := p.node(Paragraph, tag.Pos.Offset)
	para.End = tag.End
	para.Children = []*Node{text}
	return para
}
