package expr

import (
	"html"
	"strings"
)

// element reads <name …>…</name>, <name …/> or <>…</>.
func (p *parser) element() node {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	e := &Element{Offset: p.i, Source: p.src}
	p.i++ // <
	p.space()
	e.Name = p.tagName()
	if e.Name == "" && p.peek() != '>' {
		return p.unexpected()
	}
	for {
		p.space()
		switch c := p.peek(); {
		case c == '>':
			p.i++
			p.content(e)
			return e
		case c == '/':
			p.i++
			p.need(">")
			return e
		case c == '{':
			a := Attr{Offset: p.i}
			p.i++
			p.need("...")
			a.value = p.expression()
			p.need("}")
			e.Attrs = append(e.Attrs, a)
		default:
			a := Attr{Offset: p.i, Name: p.tagName(), value: true}
			if a.Name == "" {
				return p.unexpected()
			}
			if p.sign("=") {
				a.value = p.attrValue()
			}
			e.Attrs = append(e.Attrs, a)
		}
	}
}

func (p *parser) attrValue() node {
	p.space()
	switch c := p.peek(); c {
	case '"', '\'':
		value, _, found := strings.Cut(p.s[p.i+1:], string(c))
		if !found {
			return p.fail("an attribute in it does not end")
		}
		p.i += len(value) + 2
		return html.UnescapeString(value)
	case '{':
		p.i++
		value := p.expression()
		p.need("}")
		return value
	case '<':
		return p.element()
	}
	return p.unexpected()
}

func (p *parser) tagName() string {
	start := p.i
	for p.i < len(p.s) {
		w := p.peekWord()
		if w == "" {
			c := p.s[p.i]
			if p.i == start || c != '-' && c != '.' && c != ':' && (c < '0' || c > '9') {
				break
			}
			p.i++
			continue
		}
		p.i += len(w)
	}
	return p.s[start:p.i]
}

// content reads what stands between the tags, and the end tag.
func (p *parser) content(e *Element) {
	start := p.i
	flush := func() {
		if text := jsxText(p.s[start:p.i]); text != "" {
			e.children = append(e.children, Child{of: text})
		}
	}
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case '{':
			flush()
			c := Child{Offset: p.i}
			p.i++
			if !p.sign("}") { // else a comment
				c.of = p.expression()
				if p.need("}"); p.err == nil {
					c.Source = p.s[c.Offset+1 : p.i-1]
				}
				e.children = append(e.children, c)
			}
			start = p.i
		case '<':
			flush()
			mark := p.i
			p.i++
			if p.sign("/") {
				p.space()
				if name := p.tagName(); name != e.Name {
					p.fail("<%s> is closed by </%s>", e.Name, name)
				}
				p.need(">")
				return
			}
			p.i = mark
			e.children = append(e.children, Child{of: p.element()})
			start = p.i
		default:
			p.i++
		}
	}
	p.fail("<%s> is not closed", e.Name)
}

// jsxText is text as JSX has it: lines are trimmed and joined by spaces, empty
// ones are nothing.
func jsxText(s string) string {
	if strings.IndexByte(s, '\n') >= 0 {
		lines := strings.Split(s, "\n")
		kept := lines[:0]
		for i, line := range lines {
			if i > 0 {
				line = strings.TrimLeft(line, " \t\r")
			}
			if i < len(lines)-1 {
				line = strings.TrimRight(line, " \t\r")
			}
			if line != "" {
				kept = append(kept, line)
			}
		}
		s = strings.Join(kept, " ")
	}
	return html.UnescapeString(s)
}
