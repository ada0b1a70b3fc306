package expr

import (
	"html"
	"strings"
)

// element reads <name …>…</name>, <name …/> or <>…</>.
func (p *parser) element() (node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	e := &Element{Offset: p.i, Source: p.src}
	p.i++ // <
	p.space()
	e.Name = p.tagName()
	if e.Name == "" && p.peek() != '>' {
		return nil, p.unexpected()
	}
	for {
		p.space()
		switch c := p.peek(); {
		case c == '>':
			p.i++
			return e, p.content(e)
		case c == '/':
			p.i++
			return e, p.need(">")
		case c == '{':
			p.i++
			a := Attr{Offset: p.i - 1}
			if err := p.need("..."); err != nil {
				return nil, err
			}
			var err error
			if a.value, err = p.expression(); err != nil {
				return nil, err
			}
			if err := p.need("}"); err != nil {
				return nil, err
			}
			e.Attrs = append(e.Attrs, a)
		default:
			a := Attr{Offset: p.i, Name: p.tagName(), value: true}
			if a.Name == "" {
				return nil, p.unexpected()
			}
			if p.sign("=") {
				if err := p.attrValue(&a); err != nil {
					return nil, err
				}
			}
			e.Attrs = append(e.Attrs, a)
		}
	}
}

func (p *parser) attrValue(a *Attr) error {
	p.space()
	switch c := p.peek(); c {
	case '"', '\'':
		end := strings.IndexByte(p.s[p.i+1:], c)
		if end < 0 {
			return unsupported("an attribute in it does not end")
		}
		a.value = html.UnescapeString(p.s[p.i+1 : p.i+1+end])
		p.i += end + 2
		return nil
	case '{':
		p.i++
		var err error
		if a.value, err = p.expression(); err != nil {
			return err
		}
		return p.need("}")
	case '<':
		var err error
		a.value, err = p.element()
		return err
	}
	return p.unexpected()
}

// tagName reads the name of an element or attribute.
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
func (p *parser) content(e *Element) error {
	start := p.i
	flush := func() {
		if text := jsxText(p.s[start:p.i]); text != "" {
			e.children = append(e.children, text)
		}
	}
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case '{':
			flush()
			p.i++
			if !p.sign("}") { // else a comment
				inner, err := p.expression()
				if err != nil {
					return err
				}
				if err := p.need("}"); err != nil {
					return err
				}
				e.children = append(e.children, inner)
			}
			start = p.i
		case '<':
			flush()
			mark := p.i
			p.i++
			if p.sign("/") {
				p.space()
				if name := p.tagName(); name != e.Name {
					return unsupported("<%s> is closed by </%s>", e.Name, name)
				}
				return p.need(">")
			}
			p.i = mark
			inner, err := p.element()
			if err != nil {
				return err
			}
			e.children = append(e.children, inner)
			start = p.i
		default:
			p.i++
		}
	}
	return unsupported("<%s> is not closed", e.Name)
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
