package highlight

// element reads "<", or "</" where nothing is open, and the name after it.
func (l *scriptLexer) element() {
	l.put(Plain, l.pos+1)
	l.put(Tag, l.tagName(l.pos))
	l.push(inTag, 0)
}

func (l *scriptLexer) tagName(i int) int {
	for isWord(l.at(i)) || l.at(i) == '.' || l.at(i) == '-' || l.at(i) == ':' {
		i++
	}
	return i
}

func (l *scriptLexer) closeElement() {
	if len(l.stack) > 1 {
		l.stack = l.stack[:len(l.stack)-1]
	}
	l.after(true)
}

func (l *scriptLexer) inTag() {
	c := l.code[l.pos]
	switch {
	case c == '>':
		l.put(Plain, l.pos+1)
		if l.lost == 0 {
			*l.top() = frame{kind: inChildren}
		}
	case c == '/' && l.at(l.pos+1) == '>':
		l.put(Plain, l.pos+2)
		l.closeElement()
	case c == '\n' && l.statementAfter(l.pos):
		l.restart() // the tag never ended
	case c == '/' && l.at(l.pos+1) == '*':
		l.comment()
	case c == '/' && l.at(l.pos+1) == '/':
		l.put(Comment, l.lineEnd(l.pos))
	case c == '=':
		l.put(Operator, l.pos+1)
	case c == '"' || c == '\'':
		l.put(String, l.markupString(c))
	case c == '{':
		l.put(Plain, l.pos+1)
		l.push(inEmbed, '}')
	case c == '<' && (isWordStart(l.at(l.pos+1)) || l.at(l.pos+1) == '>'):
		l.element()
	case c == '<' && l.at(l.pos+1) == '/', c == '}' || c == ')' || c == ';':
		// The tag never ended: what follows is not part of it.
		l.closeElement()
		if c != '<' {
			l.closing(c)
		}
	case isWordStart(c):
		l.put(Attribute, l.tagName(l.pos))
	default:
		l.put(Plain, l.pos+1)
	}
}

// markupString returns the end of an attribute's value. It may have line ends, but
// no empty line.
func (l *scriptLexer) markupString(quote byte) int {
	for i := l.pos + 1; i < len(l.code); i++ {
		switch {
		case l.code[i] == quote:
			return i + 1
		case l.code[i] == '\n' && l.at(i+1) == '\n':
			return i
		}
	}
	return len(l.code)
}

// inChildren reads the content of an element up to the next token.
func (l *scriptLexer) inChildren() {
	for i := l.pos; i < len(l.code); i++ {
		switch l.code[i] {
		case '<':
			l.put(Plain, i)
			switch next := l.at(i + 1); {
			case next == '/':
				l.put(Plain, i+2)
				l.put(Tag, l.tagName(l.pos))
				if l.at(l.pos) == '>' {
					l.put(Plain, l.pos+1)
				}
				l.closeElement()
			case isWordStart(next) || next == '>':
				l.element()
			default:
				l.put(Plain, i+1)
			}
			return
		case '{':
			l.put(Plain, i+1)
			l.push(inEmbed, '}')
			return
		case '&':
			end := i + 1
			for end < i+12 && (isWord(l.at(end)) || l.at(end) == '#') {
				end++
			}
			if l.at(end) == ';' && end > i+1 {
				l.put(Plain, i)
				l.put(String, end+1)
				return
			}
		case '\n':
			if l.statementAfter(i) {
				l.put(Plain, i)
				l.restart() // the element never ended
				return
			}
		}
	}
	l.put(Plain, len(l.code))
}
