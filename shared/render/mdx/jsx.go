package mdx

import (
	"fmt"
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
	if next := r.at(r.i + 1); isSpaceOrEOL(next) {
		return nil, noMatch
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
		want := wantName
		if t.r.at(t.i) == '!' {
			want += " (comments in MDX are written {/* text */})"
		}
		return t.unexpected("before a tag's name", want)
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

// elementFrame is an element whose closing tag has not come yet.
type elementFrame struct {
	el   *Node
	kids []*Node
}

// matchTags nests siblings: what stands between an opening tag and its closing
// tag becomes the element's content. Both tags must stand in the same list.
func (p *parser) matchTags(list []*Node) []*Node {
	out := make([]*Node, 0, len(list))
	var open []elementFrame
	add := func(n *Node) {
		if len(open) > 0 {
			f := &open[len(open)-1]
			f.kids = append(f.kids, n)
			return
		}
		out = append(out, n)
	}
	pop := func(end Pos) {
		f := open[len(open)-1]
		open = open[:len(open)-1]
		f.el.Children = f.kids
		f.el.End = end
		add(f.el)
	}
	for _, n := range list {
		p.steps++
		if n.Kind != Element || n.Level == tagNone {
			add(n)
			continue
		}
		level := n.Level
		n.Level = 0
		if level == tagOpen {
			if len(open) >= maxDepth {
				p.problem(n.Pos.Offset, "found elements nested deeper than %d levels", maxDepth)
				add(p.asText(n))
				continue
			}
			open = append(open, elementFrame{el: n})
			continue
		}
		k := len(open) - 1
		for k > 0 && open[k].el.Name != n.Name && len(open)-k < 16 {
			k--
		}
		if k < 0 || open[k].el.Name != n.Name {
			if len(open) == 0 {
				p.problem(n.Pos.Offset, "found the closing tag </%s>, expected an opening tag <%s> before it in the same %s",
					n.Name, n.Name, place(n))
			} else {
				top := open[len(open)-1].el
				p.problem(n.Pos.Offset, "expected the closing tag </%s> for <%s> opened at %s, found </%s>",
					top.Name, top.Name, p.lineColumn(top.Pos), n.Name)
			}
			add(p.asText(n))
			continue
		}
		for len(open)-1 > k {
			p.unclosed(open[len(open)-1].el, "</"+n.Name+">")
			pop(n.Pos)
		}
		pop(n.End)
	}
	for len(open) > 0 {
		el := open[len(open)-1].el
		p.unclosed(el, "the end of the "+place(el))
		end := el.End
		if k := open[len(open)-1].kids; len(k) > 0 {
			end = k[len(k)-1].End
		}
		pop(end)
	}
	return out
}

func place(n *Node) string {
	if n.Inline {
		return "paragraph or span"
	}
	return "block"
}

func (p *parser) lineColumn(at Pos) string {
	return fmt.Sprintf("%d:%d", at.Line, at.Column)
}

func (p *parser) unclosed(el *Node, found string) {
	p.problem(el.Pos.Offset, "expected the closing tag </%s> for <%s> opened at %s, found %s",
		el.Name, el.Name, p.lineColumn(el.Pos), found)
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
