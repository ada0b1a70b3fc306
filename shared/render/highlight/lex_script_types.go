package highlight

// typeWord reads a word inside a type.
func (l *scriptLexer) typeWord(f *frame, word string, end int) {
	if l.dot {
		l.put(Type, end)
		l.after(true)
		return
	}
	next := l.skipBlank(end)
	c := l.at(next)
	if f.kind == inTypes && f.start && f.close != '>' {
		// A parameter, or the name of an index.
		if c == ':' && l.at(next+1) != ':' || c == '?' && l.at(l.skipBlank(next+1)) == ':' || f.close == ']' && l.has(next, "in ") {
			f.start = false
			l.put(Plain, end)
			l.after(true)
			return
		}
	}
	f.start = f.start && f.kind != inTypes
	switch {
	case l.keyword == "typeof":
		l.put(Plain, end)
		for l.at(l.pos) == '.' && isWordStart(l.at(l.pos+1)) {
			l.put(Plain, l.wordEnd(l.pos+1))
		}
		l.after(true)
	case scriptTypeWords[word] && c != ',' && c != ')' && c != '>' && c != ';' && c != ':' && c != '=':
		l.put(Keyword, end)
		l.after(false)
		l.keyword = word
	case word == "as" || word == "satisfies":
		l.put(Keyword, end)
		l.after(false)
	case word == "implements" && f.heading:
		l.put(Keyword, end)
		l.after(false)
	case word == "const" && f.kind == inTypes:
		l.put(Keyword, end)
		l.after(false)
	case l.operand && f.typing && f.kind != inTypes && !f.heading:
		// Two names in a row: the type has ended.
		f.typing = false
		l.word()
	default:
		l.put(Type, end)
		l.after(true)
	}
}

// typePunctuation reads punctuation and operators inside types.
func (l *scriptLexer) typePunctuation(c byte) {
	f := l.top()
	switch c {
	case '{':
		if l.operand && f.kind != inTypes {
			// The body of what the type belongs to.
			f.typing, f.ternary = false, 0
			l.punctuation(c)
			return
		}
		l.put(Plain, l.pos+1)
		l.push(inMembers, '}')
	case '(':
		l.put(Plain, l.pos+1)
		l.push(inTypes, ')')
	case '[':
		l.put(Plain, l.pos+1)
		l.push(inTypes, ']')
	case '<':
		l.put(Plain, l.pos+1)
		l.push(inTypes, '>')
	case '>':
		if f.kind == inTypes && f.close == '>' {
			l.endTypes()
			return
		}
		f.typing = false
		l.operator(f, 1)
	case ')', ']', '}':
		f.typing = false
		l.closing(c)
	case '|', '&':
		if l.at(l.pos+1) == c {
			f.typing = false
			l.operator(f, 2)
			return
		}
		l.put(Operator, l.pos+1)
		l.after(false)
	case '=':
		if l.at(l.pos+1) == '>' {
			function := l.typeParen
			l.put(Operator, l.pos+2)
			l.after(false)
			if !function && f.kind != inTypes {
				f.typing, l.arrow = false, true
			}
			return
		}
		if f.kind == inTypes {
			l.put(Operator, l.pos+1)
			l.after(false)
			return
		}
		f.typing = false
		l.punctuation(c)
	case ',':
		if f.kind == inTypes || f.heading {
			l.put(Plain, l.pos+1)
			l.after(false)
			f.start = true
			return
		}
		f.typing = false
		l.punctuation(c)
	case ';':
		f.typing = false
		l.punctuation(c)
	case '?':
		l.put(Operator, l.pos+1)
		if l.operand && l.at(l.pos) == '?' {
			f.typing = false
			l.put(Operator, l.pos+1)
			l.after(false)
			return
		}
		if l.at(l.skipBlank(l.pos)) != ':' {
			f.ternary++
			l.after(false)
		}
	case ':':
		if f.ternary > 0 {
			f.ternary--
		} else if f.kind != inTypes {
			f.typing = false
			l.colon(f)
			return
		}
		l.put(Operator, l.pos+1)
		l.after(false)
	case '.':
		if l.has(l.pos, "...") {
			l.put(Operator, l.pos+3)
			l.after(false)
			return
		}
		l.put(Plain, l.pos+1)
		l.after(false)
		l.dot = true
	case '+', '-', '!', '*', '/', '%', '^':
		if l.operand && f.kind != inTypes {
			f.typing = false
			l.punctuation(c)
			return
		}
		l.put(Operator, l.pos+1)
	default:
		l.put(Plain, l.pos+1)
	}
}

// endTypes closes "<". What follows is the call or the parameters that the
// types belong to, or the rest of a type.
func (l *scriptLexer) endTypes() {
	l.put(Plain, l.pos+1)
	if _, ok := l.pop('>'); !ok {
		l.after(true)
		return
	}
	l.after(true)
	f := l.top()
	// Behind a method's name or "<T>" of an arrow function come parameters.
	l.params = l.at(l.pos) == '(' && ((f.kind == inMembers || f.kind == inClass || f.kind == inObject) && f.start || l.functionAhead(l.pos))
}
