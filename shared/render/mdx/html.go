package mdx

import (
	"slices"
	"strings"
)

// IsVoid reports whether an element of HTML has neither content nor a closing tag.
func IsVoid(name string) bool {
	switch name {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr":
		return true
	}
	return false
}

// isHTML reports whether a name in small letters is that of an element of HTML.
func isHTML(name string) bool {
	switch name {
	case "a", "abbr", "address", "article", "aside", "audio", "b", "bdi", "bdo", "blockquote", "body", "button", "canvas",
		"caption", "center", "cite", "code", "colgroup", "data", "datalist", "dd", "del", "details", "dfn", "dialog", "div", "dl",
		"dt", "em", "fieldset", "figcaption", "figure", "font", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head",
		"header", "hgroup", "html", "i", "iframe", "ins", "kbd", "label", "legend", "li", "main", "map", "mark", "menu", "meter",
		"nav", "noscript", "object", "ol", "optgroup", "option", "output", "p", "picture", "pre", "progress", "q", "rp", "rt",
		"ruby", "s", "samp", "script", "search", "section", "select", "slot", "small", "span", "strike", "strong", "style", "sub",
		"summary", "sup", "svg", "table", "tbody", "td", "template", "textarea", "tfoot", "th", "thead", "time", "title", "tr",
		"tt", "u", "ul", "var", "video":
		return true
	}
	return IsVoid(name)
}

// What a plain source holds of HTML. Every attempt to read a tag ends at the
// next < at the latest, so attempts in vain need no budget.

// plain fills n with the HTML tag at t.i, if its element may stand in the
// source: its attributes have quoted values or none.
func (t *tagScanner) plain(n *Node) bool {
	closing := t.r.at(t.i) == '/'
	if closing {
		t.i++
	}
	n.Name = t.word()
	if n.Name == "" || !t.p.Tags(n.Name) {
		return false
	}
	if t.p.commonMark && !isLower(n.Name[0]) {
		n.Name = strings.ToLower(n.Name)
	}
	n.Level = tagOpen
	void := IsVoid(n.Name)
	for {
		from := t.i
		t.space()
		switch c := t.r.at(t.i); {
		case closing:
			n.Level = tagClose
			t.i++
			return c == '>' && !void
		case c == '/' && t.r.at(t.i+1) == '>':
			t.i += 2
			n.SelfClosing, n.Level = true, tagNone
			return true
		case c == '>':
			t.i++
			if void {
				n.SelfClosing, n.Level = true, tagNone
			}
			return true
		case t.i == from || !isAlpha(c) && c != '_' && c != ':' && c != '@' || !t.plainAttribute(n):
			return false
		}
	}
}

// word reads letters, digits and dashes.
func (t *tagScanner) word() string {
	start := t.i
	for c := t.r.at(t.i); isAlnum(c) || c == '-'; c = t.r.at(t.i) {
		t.i++
	}
	t.p.steps += t.i - start
	return t.r.s[start:t.i]
}

// attributeName reads what a name of an attribute may hold in HTML.
func (t *tagScanner) attributeName() string {
	start := t.i
	for c := t.r.at(t.i); isAlnum(c) || c != 0 && strings.IndexByte("-_:.@", c) >= 0; c = t.r.at(t.i) {
		t.i++
	}
	t.p.steps += t.i - start
	return t.r.s[start:t.i]
}

// plainAttribute reads name="value", name='value', name=value or name.
func (t *tagScanner) plainAttribute(n *Node) bool {
	a := Attr{Pos: t.p.pos(t.r.src(t.i)), Name: t.attributeName()}
	if t.p.commonMark && a.Name == strings.ToUpper(a.Name) {
		a.Name = strings.ToLower(a.Name)
	}
	end := t.i
	t.space()
	if t.r.at(t.i) != '=' {
		t.i = end
		n.Attrs = append(n.Attrs, a)
		return true
	}
	t.i++
	t.space()
	quote := t.r.at(t.i)
	start := t.i + 1
	if quote != '"' && quote != '\'' {
		if !t.p.commonMark {
			return false
		}
		start = t.i
		for c := t.r.at(t.i); c > ' ' && strings.IndexByte("\"'=<>`", c) < 0; c = t.r.at(t.i) {
			t.i++
		}
		t.p.steps += t.i - start
		a.Kind, a.Value = AttrString, decodeReferences(t.r.s[start:t.i])
		n.Attrs = append(n.Attrs, a)
		return t.i > start
	}
	for t.i = start; t.r.at(t.i) != quote; t.i++ {
		t.p.steps++
		if c := t.r.at(t.i); (c == '<' || c == '>') && !t.p.commonMark || t.r.atEnd(t.i) {
			t.p.spent(t.i - start)
			return false
		}
	}
	value := t.r.s[start:t.i]
	if strings.IndexByte(value, '\n') >= 0 {
		value = trimLineStarts(value, anyIndent)
	}
	a.Kind, a.Value = AttrString, decodeReferences(value)
	t.i++
	n.Attrs = append(n.Attrs, a)
	return true
}

// commentEnd returns the offset after the comment at i in s, 0 if there is none.
// *known is where the next --> ends as far as it was looked for, -1 for nowhere.
func (p *parser) commentEnd(s string, i int, known *int) int {
	if *known < 0 || !strings.HasPrefix(s[i:], "<!--") {
		return 0
	}
	if *known < i+len("<!-->") { // the one that is known is before this comment
		k := strings.Index(s[i+len("<!"):], "-->")
		if k < 0 {
			p.steps += len(s) - i
			*known = -1
			return 0
		}
		p.steps += k
		*known = i + len("<!") + k + len("-->")
	}
	return *known
}

// flowComment leaves out a comment that takes whole lines.
func (p *parser) flowComment(c cursor, n int) bool {
	if !strings.HasPrefix(p.s[c.off:c.le], "<!--") {
		return false
	}
	var end int
	if len(p.stack) > 0 {
		end = p.commentEndWithin(c)
	} else {
		end = p.commentEnd(p.s, c.off, &p.flowCommentEnd)
	}
	if end == 0 {
		return false
	}
	next, line := p.lineEnd(end)+1, p.pos(end).Line+1
	if !blankLine(p.s[end : next-1]) {
		if p.Plain && !p.commonMark || len(p.stack) > 0 || !strings.Contains(p.s[c.off:end], "\n\n") {
			return false // part of a paragraph
		}
		next, line = end, line-1
	}
	p.comment(c.off)
	p.commit(n)
	p.next, p.nextLine = next, line
	return true
}

// commentEndWithin returns the offset after the comment that begins at the cursor
// in a container, 0 if it does not end there.
func (p *parser) commentEndWithin(c cursor) int {
	r := p.flowReader(c.off, c.le)
	for from := len("<!"); ; {
		p.steps += r.end - from
		if k := strings.Index(r.s[from:r.end], "-->"); k >= 0 {
			return r.src(from+k+len("--")) + 1
		}
		from = max(from, r.end-len("--"))
		if !p.affordable() || !r.more() {
			p.spent(r.end)
			return 0
		}
	}
}

// comment reports a comment that is left out, where the source should have none.
func (p *parser) comment(off int) {
	if !p.Plain && !p.Markdown {
		p.mended(off, "found a comment of HTML, expected {/* text */} (it is left out)")
	}
}

// paragraphEnd returns where the last line before a blank one ends; le is the end
// of a line.
func (p *parser) paragraphEnd(le int) int {
	for p.plainEnd = max(p.plainEnd, le); p.plainEnd+1 < len(p.s); {
		next := p.lineEnd(p.plainEnd + 1)
		if blankLine(p.s[p.plainEnd+1 : next]) {
			break
		}
		p.plainEnd = next
	}
	return p.plainEnd
}

// plainAngle reads a tag or an address at i, which is a <. It returns the offset
// after it, i if there is none.
func (p *parser) plainAngle(in *inliner, from, i int) int {
	if p.Tags != nil && (!p.commonMark || p.affordable()) {
		if end, ok := p.inlineTag(in, from, i); ok {
			return end
		}
	}
	return p.angleLink(in, from, i)
}

// withoutComments returns a parser of the same source with spaces for the comments that
// this parser found open, so that all offsets stay. A comment without an end goes up to the
// end of its paragraph, and so does one before the end of which another begins. In plain
// Markdown it is text. The result is nil if there is no comment to remove.
func (p *parser) withoutComments() *parser {
	source, from := []byte(p.s), 0
	next := &parser{Options: p.Options, mode: p.mode}
	type found struct {
		at   int
		ends bool
	}
	var all []found
	for _, at := range slices.Sorted(slices.Values(p.open)) {
		if at < from {
			continue
		}
		end := strings.Index(p.s[at:], "-->")
		if other := strings.Index(p.s[at+len("<!--"):], "<!--"); end >= 0 && (other < 0 || other+len("<!--") > end) {
			from = at + end + len("-->")
		} else if p.Plain && !p.commonMark {
			continue
		} else {
			end = -1
			for from = p.lineEnd(at); from+1 < len(p.s) && !blankLine(p.s[from+1:p.lineEnd(from+1)]); {
				from = p.lineEnd(from + 1)
			}
			from = min(from, len(p.s))
		}
		all = append(all, found{at, end >= 0})
		inPrefix := false
		for i := at; i < from; i++ {
			switch c := source[i]; {
			case c == '\n':
				inPrefix = true
			case inPrefix && (c == '>' || c == ' ' || c == '\t'): // of quotations
			default:
				source[i], inPrefix = ' ', false
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	next.start(string(source))
	next.origins, next.dirty = p.origins, p.dirty
	for _, c := range all {
		if c.ends {
			next.comment(c.at)
		} else {
			next.mended(c.at, "found a comment of HTML that does not end, expected --> (it is left out up to the end of its paragraph)")
		}
	}
	return next
}
