package highlight

import "strings"

func (l *scriptLexer) typeWord(f *frame, word string, end int) {
	if l.dot {
		l.put(Type, end)
		l.after(true)
		return
	}
	if l.namesParameter(f, end) {
		f.start = false
		l.put(Plain, end)
		l.after(true)
		return
	}
	f.start = f.start && f.kind != inTypes
	switch {
	case l.keyword == "typeof":
		l.put(Plain, end)
		for l.at(l.pos) == '.' && isWordStart(l.at(l.pos+1)) {
			l.put(Plain, l.wordEnd(l.pos+1))
		}
		l.after(true)
	case scriptTypeWords[word] && strings.IndexByte(",)>;:=", l.at(l.skipBlank(end))) < 0:
		l.put(Keyword, end)
		l.after(false)
		l.keyword = word
	case word == "as" || word == "satisfies" || word == "implements" && f.heading || word == "const" && f.kind == inTypes:
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

// namesParameter reports whether the word that ends at end is the name of a
// parameter, or of an index.
func (l *scriptLexer) namesParameter(f *frame, end int) bool {
	if f.kind != inTypes || !f.start || f.close == '>' {
		return false
	}
	next := l.skipBlank(end)
	switch l.at(next) {
	case ':':
		return l.at(next+1) != ':'
	case '?':
		return l.at(l.skipBlank(next+1)) == ':'
	}
	return f.close == ']' && l.has(next, "in ")
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
	case '[', '<':
		l.put(Plain, l.pos+1)
		l.push(inTypes, c+2) // ] and >
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
		l.typeEquals(f)
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
		l.typeQuestion(f)
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
		l.dots()
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

// typeEquals reads "=>" of a function's type or after its result, or "=" in
// front of a default or after the type.
func (l *scriptLexer) typeEquals(f *frame) {
	switch {
	case l.at(l.pos+1) == '>':
		function := l.typeParen
		l.put(Operator, l.pos+2)
		l.after(false)
		if !function && f.kind != inTypes {
			f.typing, l.arrow = false, true
		}
	case f.kind == inTypes:
		l.put(Operator, l.pos+1)
		l.after(false)
	default:
		f.typing = false
		l.punctuation('=')
	}
}

// typeQuestion reads "?" of a condition or after an optional name, or "??" that
// follows the type.
func (l *scriptLexer) typeQuestion(f *frame) {
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
	// After a method's name or "<T>" of an arrow function come parameters.
	l.params = l.at(l.pos) == '(' && ((f.kind == inMembers || f.kind == inClass || f.kind == inObject) && f.start || l.functionAhead(l.pos))
}
