package highlight

func (l *scriptLexer) punctuation(c byte) {
	f := l.top()
	switch c {
	case '{', '(', '[':
		l.opening(f, c)
	case '}', ')', ']':
		l.closing(c)
	case ';':
		l.put(Plain, l.pos+1)
		l.after(false)
		l.begin(f)
	case ',':
		l.put(Plain, l.pos+1)
		l.after(false)
		if f.kind != inBlock {
			f.start = true
		}
		f.annot = f.kind == inBlock && f.annot
		f.ternary = 0
	case ':':
		l.colon(f)
	case '?':
		l.question(f)
	case '.':
		l.dots()
	case '<':
		l.less(f)
	case '@':
		l.put(Plain, l.pos+1)
		l.after(false)
	case '/':
		l.slash(f)
	case '=':
		l.equals(f)
	case '*':
		l.star(f)
	case '!':
		l.put(Operator, l.pos+1)
		if !l.operand || l.at(l.pos) == '=' {
			l.after(false)
		}
	case '+', '-', '%', '&', '|', '^', '~', '>':
		if (c == '+' || c == '-') && l.at(l.pos+1) == c {
			l.put(Operator, l.pos+2)
			return
		}
		l.operator(f, 1)
	default:
		l.put(Plain, l.pos+1)
	}
}

func (l *scriptLexer) operator(f *frame, length int) {
	l.put(Operator, l.pos+length)
	l.after(false)
	if f.kind != inObject && f.kind != inMembers {
		f.start = false
	}
}

func (l *scriptLexer) opening(f *frame, c byte) {
	kind, closing := inIndex, byte(']')
	switch c {
	case '{':
		kind, closing = l.braceKind(f), '}'
		f.start, f.heading, f.body, f.annot = false, false, inBlock, kind == inObject && f.annot
	case '(':
		kind, closing = inParen, ')'
		if l.params || !l.operand && l.functionAhead(l.pos) {
			kind = inParams
		}
		if f.kind != inObject {
			f.start = false
		}
	default:
		if f.kind == inMembers && f.start {
			kind = inTypes
		}
	}
	l.put(Plain, l.pos+1)
	l.push(kind, closing)
}

func (l *scriptLexer) dots() {
	if l.has(l.pos, "...") {
		l.put(Operator, l.pos+3)
		l.after(false)
		return
	}
	l.put(Plain, l.pos+1)
	l.after(false)
	l.dot = true
}

// slash reads a regular expression or a division.
func (l *scriptLexer) slash(f *frame) {
	if !l.operand {
		if end := l.regex(); end > 0 {
			l.put(String, end)
			l.put(Keyword, l.wordEnd(end))
			l.after(true)
			l.value()
			return
		}
	}
	l.operator(f, 1)
}

// equals reads "=>", "=" or the first two signs of a comparison.
func (l *scriptLexer) equals(f *frame) {
	switch l.at(l.pos + 1) {
	case '>':
		l.put(Operator, l.pos+2)
		l.after(false)
		l.arrow = true
		f.annot = false
	case '=':
		l.operator(f, 2)
	default:
		l.put(Operator, l.pos+1)
		l.after(false)
		f.annot = false
		f.typing = f.alias
		f.alias = false
		if f.kind == inClass {
			f.start = false
		}
	}
}

// star reads "*": all that a module exports, the mark of a generator, or an
// operator.
func (l *scriptLexer) star(f *frame) {
	switch {
	case f.imports:
		l.put(Constant, l.pos+1)
		l.after(true)
	case l.keyword == "function" || l.keyword == "yield" || f.start && f.kind != inBlock:
		l.put(Keyword, l.pos+1)
	default:
		l.operator(f, 1)
	}
}

func (l *scriptLexer) braceKind(f *frame) frameKind {
	switch {
	case f.body != inBlock:
		return f.body
	case f.imports:
		return inImports
	case f.kind == inMembers:
		return inMembers
	case l.arrow || l.operand:
		return inBlock
	case l.keyword == "try" || l.keyword == "else" || l.keyword == "do" || l.keyword == "finally" || l.keyword == "static":
		return inBlock
	case f.kind == inBlock && f.start:
		return inBlock
	}
	return inObject
}

func (l *scriptLexer) closing(c byte) {
	kind, ok := l.pop(c)
	if ok && kind == inTemplate {
		l.put(Operator, l.pos+1)
		l.template()
		return
	}
	l.put(Plain, l.pos+1)
	l.after(true)
	l.params = false
	if !ok {
		return
	}
	f := l.top()
	switch kind {
	case inParams:
		f.annot, f.start = true, false
	case inTypes:
		l.typeParen = c == ')'
		if f.kind == inMembers || f.kind == inClass {
			f.annot = true
		}
	case inBlock, inClass, inEnum:
		// A body ends what it belongs to, outside of brackets.
		if f.kind == inBlock || f.kind == inClass || f.kind == inMembers {
			l.begin(f)
		}
	case inMembers:
		if !f.typing && (f.kind == inBlock || f.kind == inMembers) {
			l.begin(f)
		}
	}
}

func (l *scriptLexer) colon(f *frame) {
	class, typing := Plain, false
	switch {
	case f.ternary > 0:
		class = Operator
		f.ternary--
	case f.kind == inParams || f.kind == inClass || f.kind == inMembers || f.annot:
		class, typing = Operator, true
	case f.kind == inObject:
		f.start = false
	case f.kind == inBlock:
		f.start = l.operand && !f.start || f.start
	}
	if typing {
		f.start, f.annot, f.typing = false, false, true
		l.params = false
	}
	l.put(class, l.pos+1)
	l.after(false)
}

func (l *scriptLexer) question(f *frame) {
	switch next := l.at(l.pos + 1); {
	case next == '.' && !isDigit(l.at(l.pos+2)):
		l.put(Plain, l.pos+2)
		l.after(false)
		l.dot = true
	case next == '?':
		l.put(Operator, l.pos+2)
		l.after(false)
	case next == ':':
		l.put(Operator, l.pos+1)
		if f.kind != inParams && f.kind != inClass && f.kind != inMembers {
			l.put(Operator, l.pos+1)
			l.after(false)
		}
	default:
		l.put(Operator, l.pos+1)
		if (f.kind == inClass || f.kind == inMembers || f.kind == inParams) && (next == ',' || next == ')' || next == ';' || next == '(' || next == '<') {
			return // optional
		}
		l.after(false)
		f.ternary++
	}
}

// less reads "<": a comparison, an element, or the types of a call.
func (l *scriptLexer) less(f *frame) {
	if f.heading || f.alias || l.params || l.operand && l.typesAhead(l.pos) {
		l.put(Plain, l.pos+1)
		heading := l.params
		l.push(inTypes, '>')
		l.params = heading
		return
	}
	next := l.at(l.pos + 1)
	if !l.operand && (isWordStart(next) || next == '>') {
		generic := l.genericAhead(l.pos)
		if l.jsx && !generic {
			l.value()
			l.element()
			return
		}
		if generic || l.skipBrackets(l.pos) > 0 {
			l.put(Plain, l.pos+1)
			l.push(inTypes, '>')
			return
		}
	}
	l.operator(f, 1)
}
