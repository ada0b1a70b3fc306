package mdx

import "strings"

func (p *parser) openBracket(in *inliner, a, b int, image bool) {
	if n := len(in.brackets); n > 0 {
		in.brackets[n-1].filled = true
	}
	// An item of its own: what a link takes begins after it.
	k := in.push(item{kind: itemText, mark: '[', start: int32(a), end: int32(b)})
	in.brackets = append(in.brackets, bracket{item: k, after: b, image: image})
}

// closeBracket reads the closing bracket at i, with what may follow it, and
// returns the offset after it; i when the bracket is text.
func (p *parser) closeBracket(in *inliner, i int) int {
	n := len(in.brackets)
	if n == 0 {
		return i
	}
	b := in.brackets[n-1]
	if !b.inactive && !in.flat {
		if url, title, end, ok := p.target(in, b, i); ok {
			in.brackets = in.brackets[:n-1]
			if p.link(in, b, i, end, url, title) {
				return end
			}
			return i
		}
	}
	in.brackets = in.brackets[:n-1]
	if b.filled && n > 1 {
		in.brackets[n-2].filled = true
	}
	if b.image {
		// ![^label]: no image, but its bracket may begin a footnote's call.
		if label, end, ok := p.noteIn(in.s, b.after, i); ok && p.notes[label] {
			p.imageNote(in, b, label, end)
			return end
		}
	}
	return i
}

// noteIn reads ^label between an image's brackets.
func (p *parser) noteIn(s string, from, to int) (string, int, bool) {
	if from >= to || s[from] != '^' || to-from > maxLabel {
		return "", 0, false
	}
	p.steps += to - from
	return normalLabel(s[from+1 : to]), to + 1, true
}

// imageNote makes ! text and the rest a footnote's call.
func (p *parser) imageNote(in *inliner, b bracket, label string, end int) {
	for k := in.items[b.item].next; k != 0; {
		next := in.items[k].next
		in.remove(k)
		k = next
	}
	in.items[b.item].end = in.items[b.item].start + 1
	ref := p.node(FootnoteRef, 0)
	ref.Name = label
	p.pushNode(in, ref, b.after-1, end)
}

// target reads where the brackets around the text up to i lead.
func (p *parser) target(in *inliner, b bracket, i int) (url, title string, end int, ok bool) {
	s := in.s
	if i+1 < len(s) && s[i+1] == '(' {
		if url, title, end, ok := p.resource(in, i+1); ok {
			return url, title, end, true
		}
	}
	if len(p.defs) == 0 {
		return "", "", 0, false
	}
	var def *Node
	if !b.filled && i-b.after <= maxLabel {
		p.steps += i - b.after
		def = p.defs[normalLabel(s[b.after:i])]
	}
	if i+1 < len(s) && s[i+1] == '[' {
		if label, end, ok := p.label(s, i+1); ok {
			if full := p.defs[normalLabel(label)]; full != nil {
				return p.expand(in, b, full, end)
			}
		}
		// A label that leads nowhere keeps its brackets from being a short
		// reference; an empty one does not.
		if def == nil || i+2 >= len(s) || s[i+2] != ']' {
			return "", "", 0, false
		}
		return p.expand(in, b, def, i+3)
	}
	if def == nil {
		return "", "", 0, false
	}
	return p.expand(in, b, def, i+1)
}

// expand returns the address and title of a definition. Each reference repeats them, so
// many references to a long address would make a huge page. After max(len(p.s),
// maxExpanded) repeated bytes a reference stays text, as in other implementations of
// CommonMark. expand reports the first one.
func (p *parser) expand(in *inliner, b bracket, def *Node, end int) (url, title string, _ int, ok bool) {
	size := len(def.URL) + len(def.Title)
	most := max(len(p.s), maxExpanded)
	if p.expanded+size <= most {
		p.expanded += size
		return def.URL, def.Title, end, true
	}
	if !p.expandedCut {
		p.expandedCut = true
		p.note(Warning, CodeReferences, in.v.src(b.after-1),
			"references repeat more than %d bytes of addresses and titles, first here: those that don't fit stay as they are written", most)
	}
	return "", "", 0, false
}

// link makes the items after the bracket a link or an image.
func (p *parser) link(in *inliner, b bracket, i, end int, url, title string) bool {
	kind := Link
	if b.image {
		kind = Image
	}
	if in.tilde {
		p.resolveTildes(in, b.item, 0, true)
	}
	p.resolveMarks(in, b.item, 0, true)
	start := in.items[b.item].start
	if !p.wrap(in, kind, b.item, 0, start, int32(end), true) {
		return false
	}
	n := in.items[in.items[b.item].next].node
	n.URL, n.Title = url, title
	if b.image {
		n.Value = altText(n.Children)
		n.Children = nil
		if p.short {
			n.Kind, n.URL, n.Title = Text, "", ""
			if n.Value == "" {
				in.remove(in.items[b.item].next)
			}
		}
	} else {
		for k := len(in.brackets) - 1; k >= 0; k-- {
			p.steps++
			if in.brackets[k].image {
				continue
			}
			if in.brackets[k].inactive {
				break
			}
			in.brackets[k].inactive = true
		}
	}
	in.remove(b.item)
	return true
}

// altText is the text of an image's description. Expressions in it cannot be
// evaluated here and stand as they are written.
func altText(children []*Node) string {
	if len(children) == 1 && children[0].Kind == Text {
		return children[0].Value
	}
	var b strings.Builder
	for _, c := range children {
		Walk(c, func(n *Node) bool {
			switch n.Kind {
			case Text, InlineCode, InlineMath, Image, Expression:
				b.WriteString(n.Value)
			case Break:
				b.WriteByte('\n')
			}
			return true
		})
	}
	return b.String()
}

// resource reads (destination "title") at i.
func (p *parser) resource(in *inliner, i int) (url, title string, end int, ok bool) {
	s := in.s
	i = p.skipWhite(s, i+1)
	if i < len(s) && s[i] == ')' {
		return "", "", i + 1, true
	}
	url, i, ok = p.destination(s, i, 32)
	if !ok {
		return "", "", 0, false
	}
	if t := p.skipWhite(s, i); t > i {
		i = t
		if i < len(s) && (s[i] == '"' || s[i] == '\'' || s[i] == '(') {
			if title, i, ok = p.title(s, i, &in.noTitle); !ok {
				return "", "", 0, false
			}
			i = p.skipWhite(s, i)
		}
	}
	if i < len(s) && s[i] == ')' {
		return url, title, i + 1, true
	}
	return "", "", 0, false
}

// destination reads <destination> or one without white space, in which
// parentheses are balanced up to a depth.
func (p *parser) destination(s string, i, depth int) (string, int, bool) {
	if i < len(s) && s[i] == '<' {
		return p.angleDestination(s, i)
	}
	start, open := i, 0
	for ; i < len(s); i++ {
		p.steps++
		c := s[i]
		if isSpaceOrEOL(c) || c == ')' && open == 0 {
			break
		}
		switch {
		case c == '(':
			if open >= depth {
				return "", 0, false
			}
			open++
		case c == ')':
			open--
		case isControl(c):
			return "", 0, false
		case c == '\\' && i+1 < len(s) && (s[i+1] == '(' || s[i+1] == ')' || s[i+1] == '\\'):
			i++
		}
	}
	if i == start || open > 0 {
		return "", 0, false
	}
	return unescape(s[start:i]), i, true
}

// angleDestination reads <destination>, which stands on one line.
func (p *parser) angleDestination(s string, i int) (string, int, bool) {
	start := i + 1
	for i++; i < len(s); i++ {
		p.steps++
		switch s[i] {
		case '>':
			return unescape(s[start:i]), i + 1, true
		case '<', '\n':
			return "", 0, false
		case '\\':
			if i+1 < len(s) && (s[i+1] == '<' || s[i+1] == '>' || s[i+1] == '\\') {
				i++
			}
		}
	}
	return "", 0, false
}

// title reads a title in quotes or parentheses. failed notes quotes that are
// not closed, so that they are not looked for again.
func (p *parser) title(s string, i int, failed *[3]bool) (string, int, bool) {
	if i >= len(s) {
		return "", 0, false
	}
	var end byte
	kind := 0
	switch s[i] {
	case '"':
		end = '"'
	case '\'':
		end, kind = '\'', 1
	case '(':
		end, kind = ')', 2
	default:
		return "", 0, false
	}
	if failed != nil && failed[kind] {
		return "", 0, false
	}
	start, lines := i+1, false
	for i++; i < len(s); i++ {
		p.steps++
		switch c := s[i]; {
		case c == end:
			title := s[start:i]
			if lines {
				title = trimLineStarts(title, anyIndent)
			}
			return unescape(title), i + 1, true
		case c == '\n':
			lines = true
		case c == '\\' && i+1 < len(s) && (s[i+1] == end || s[i+1] == '\\'):
			i++
		}
	}
	if failed != nil {
		failed[kind] = true
	}
	return "", 0, false
}

// label reads [label] at i.
func (p *parser) label(s string, i int) (string, int, bool) {
	seen := false
	for k := i + 1; k < len(s) && k-i-1 <= maxLabel; k++ {
		p.steps++
		switch c := s[k]; {
		case c == '[':
			return "", 0, false
		case c == ']':
			return s[i+1 : k], k + 1, seen
		case c == '\\' && k+1 < len(s) && (s[k+1] == '[' || s[k+1] == '\\' || s[k+1] == ']'):
			k++
			seen = true
		case !isSpaceOrEOL(c):
			seen = true
		}
	}
	return "", 0, false
}
