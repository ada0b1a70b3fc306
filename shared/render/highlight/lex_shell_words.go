package highlight

import "strings"

// word reads the beginning of a word: all of it where it is a keyword, a name
// or an operator of a test.
func (l *shellLexer) word(f *shellFrame) {
	end := l.nameEnd(l.pos)
	if isDigit(l.code[l.pos]) {
		end = l.pos
	}
	text := l.code[l.pos:end]
	whole := l.endsWord(end)
	f.inWord = true
	switch f.expect {
	case expectName:
		f.literal = Function
		f.expect = expectCommand
		if i := l.skipBlank(end); l.at(i) == '(' {
			f.inWord = false
			l.put(Function, end)
		}
		return
	case expectPattern:
		if whole && text == "esac" {
			l.keyword(f, text, end)
			return
		}
		f.literal = String
		return
	case expectBinding:
		l.binding(f, text, end, whole)
		return
	case expectArgument:
		l.argument(f, text, end, whole)
		return
	}
	l.firstWord(f, text, end, whole)
}

// binding reads the name of a variable, or the keyword that ends the names.
func (l *shellLexer) binding(f *shellFrame, text string, end int, whole bool) {
	switch {
	case whole && (text == "in" || text == "do"):
		l.keyword(f, text, end)
	case text != "" && !f.loop && l.assignment(f, end):
	case text == "":
		f.literal = String
	default:
		f.literal = Plain
	}
}

func (l *shellLexer) firstWord(f *shellFrame, text string, end int, whole bool) {
	switch {
	case text != "" && l.assignment(f, end):
	case whole && (shellOpeners[text] || shellClosers[text] || shellBindings[text] || l.loopWord(text, end)):
		l.keyword(f, text, end)
	case l.has(l.pos, "[[") && l.endsWord(l.pos+2):
		f.inWord, f.test, f.expect = false, 2, expectArgument
		l.put(Plain, l.pos+2)
	case l.code[l.pos] == '[' && l.endsWord(l.pos+1):
		f.inWord, f.test, f.expect = false, 1, expectArgument
		l.put(Plain, l.pos+1)
	case l.code[l.pos] == '!' && l.endsWord(l.pos+1):
		f.inWord = false
		l.put(Operator, l.pos+1)
	default:
		f.literal, f.expect = Function, expectArgument
		if l.code[l.pos] == '$' && l.at(l.pos+1) == ' ' {
			// A prompt: what it asks for follows.
			f.inWord, f.expect = false, expectCommand
			l.put(Plain, l.pos+1)
		}
	}
}

// loopWord reports whether a word that ends at end begins a loop or a choice, and
// is not a word of a text that begins with it.
func (l *shellLexer) loopWord(word string, end int) bool {
	next := l.skipBlank(end)
	switch word {
	case "for", "select", "function":
		return isWordStart(l.at(next)) && l.at(next) != '$' || l.at(next) == '('
	case "case":
		return l.at(next) == '$' || l.at(next) == '"'
	case "in":
		return l.top().loop || l.top().cases > 0
	}
	return false
}

// keyword reads a keyword, and notes what it announces.
func (l *shellLexer) keyword(f *shellFrame, word string, end int) {
	l.put(Keyword, end)
	f.inWord = false
	switch word {
	case "for", "select":
		f.expect, f.loop = expectBinding, true
		if l.has(l.skipBlank(end), "((") {
			f.expect = expectCommand
		}
	case "in":
		f.expect = expectArgument
	case "case":
		f.expect = expectArgument
		if l.ends(endCase, end) {
			f.cases++
		}
	case "esac":
		f.cases = max(0, f.cases-1)
		f.expect = expectArgument
	case "function":
		f.expect = expectName
	case "do":
		l.command(f)
	default:
		switch {
		case shellBindings[word]:
			f.expect = expectBinding
		case shellClosers[word]:
			f.expect = expectArgument
		}
	}
}

// assignment reads a variable's name and "=" after it, if that is what follows.
func (l *shellLexer) assignment(f *shellFrame, end int) bool {
	i := end
	if l.at(i) == '[' {
		for most := l.reach(i, maxAhead/4); i < most && l.code[i] != ']' && l.code[i] != '\n'; i++ {
		}
		l.looked += i - end
		i++
	}
	if l.at(i) == '+' {
		i++
	}
	if l.at(i) != '=' || i > end && l.at(i-1) != ']' && l.at(i-1) != '+' {
		return false
	}
	operator := i
	if l.at(i-1) == '+' {
		operator--
	}
	l.put(Plain, operator)
	l.put(Operator, i+1)
	f.inWord, f.literal = !l.endsWord(l.pos), String
	return true
}

// argument reads a word after a command.
func (l *shellLexer) argument(f *shellFrame, text string, end int, whole bool) {
	f.literal = String
	if f.cases > 0 && whole && text == "in" {
		l.put(Keyword, end)
		f.inWord, f.expect = false, expectPattern
		return
	}
	if f.test > 0 {
		if l.code[l.pos] == ']' && (f.test == 1 || l.at(l.pos+1) == ']') {
			l.put(Plain, l.pos+int(f.test))
			f.inWord, f.test = false, 0
			return
		}
		if length := l.testOperator(); length > 0 {
			l.put(Operator, l.pos+length)
			f.inWord = false
			return
		}
		if whole && (text == "true" || text == "false") {
			l.put(Constant, end)
			f.inWord = false
			return
		}
		f.literal = Plain
	}
	if isDigit(l.code[l.pos]) {
		i := l.pos
		for isDigit(l.at(i)) || l.at(i) == '.' && isDigit(l.at(i+1)) {
			i++
		}
		if l.endsWord(i) {
			l.put(Number, i)
			f.inWord = false
		}
	}
}

func (l *shellLexer) testOperator() int {
	for _, operator := range [...]string{"==", "!=", "=~", "=", "!"} {
		if l.has(l.pos, operator) && l.endsWord(l.pos+len(operator)) {
			return len(operator)
		}
	}
	if l.code[l.pos] != '-' {
		return 0
	}
	end := l.pos + 1
	for end < l.pos+4 && l.at(end) >= 'a' && l.at(end)|0x20 <= 'z' && l.at(end)|0x20 >= 'a' {
		end++
	}
	if end == l.pos+1 || !l.endsWord(end) {
		return 0
	}
	return end - l.pos
}

// endsWord reports whether no word goes on at i.
func (l *shellLexer) endsWord(i int) bool {
	switch l.at(i) {
	case 0, ' ', '\t', '\n', '\r', ';', '|', '&', '(', ')', '<', '>', '`':
		return true
	}
	return false
}

func (l *shellLexer) wordPart(f *shellFrame) {
	switch c := l.code[l.pos]; c {
	case ' ', '\t', '\n', '\r', ';', '|', '&':
		f.inWord = false
	case '(', ')':
		f.inWord = false
		if c == '(' && l.at(l.pos+1) == ')' {
			l.put(Plain, l.pos+2)
			l.command(f)
		}
	case '<', '>':
		if end := l.placeholder(l.pos); end > 0 {
			l.put(f.literal, end)
			return
		}
		f.inWord = false
	case '\'':
		l.singleQuoted(f)
	case '"':
		if l.ends(endQuoted, l.pos) {
			l.put(String, l.pos+1)
			l.push(shellFrame{kind: shellQuoted, close: '"'})
			return
		}
		l.put(f.literal, l.pos+1)
	case '\\':
		if l.continuesLine(l.pos) {
			f.inWord = false
			return
		}
		l.put(f.literal, l.pos+2)
	case '$':
		l.dollar(Plain)
	case '`':
		l.backQuote()
	case '*', '?':
		class := f.literal
		if class != Plain && f.expect == expectArgument && l.pos > 0 && !l.endsWord(l.pos-1) && c == '*' {
			class = Keyword
		}
		l.put(class, l.pos+1)
	default:
		end := l.pos + 1
		for end < len(l.code) && !shellSpecial(l.code[end]) {
			end++
		}
		l.put(f.literal, end)
	}
}

// shellSpecial reports whether a byte ends a stretch of a word's own characters.
func shellSpecial(c byte) bool {
	switch c {
	case ' ', '\t', '\n', '\r', ';', '|', '&', '(', ')', '<', '>', '\'', '"', '\\', '$', '`', '*', '?':
		return true
	}
	return false
}

// What ends a quote or a choice.
const (
	endQuoted = iota
	endSingle
	endCase
	shellEnds
)

// ends reports whether one of these ends stands after i. No byte is searched twice.
func (l *shellLexer) ends(which, i int) bool {
	if l.nextEnd[which] <= i {
		from := min(i+1, len(l.code))
		end := [shellEnds]string{endQuoted: "\"", endSingle: "'", endCase: "esac"}[which]
		n := strings.Index(l.code[from:], end)
		if n < 0 {
			n = len(l.code) - from
		}
		l.looked += n
		l.nextEnd[which] = from + n
	}
	return l.nextEnd[which] < len(l.code)
}

// singleQuoted reads a string in single quotes. An apostrophe within a word,
// which no other one follows on the line, is an apostrophe.
func (l *shellLexer) singleQuoted(f *shellFrame) {
	if !l.ends(endSingle, l.pos) {
		l.put(f.literal, l.pos+1)
		return
	}
	end := l.pos + 1 + strings.IndexByte(l.code[l.pos+1:], '\'') + 1
	l.looked += end - l.pos
	if before := l.at(l.pos - 1); isWord(before) && isWord(l.at(l.pos+1)) && strings.IndexByte(l.code[l.pos:end], '\n') >= 0 {
		l.put(f.literal, l.pos+1)
		return
	}
	l.put(String, end)
}

// quotedText reads text in double quotes up to its end or a substitution.
func (l *shellLexer) quotedText() {
	for i := l.pos; i < len(l.code); i++ {
		switch l.code[i] {
		case '\\':
			i++
		case '"':
			l.put(String, i+1)
			l.pop('"')
			return
		case '$':
			l.put(String, i)
			l.dollar(String)
			return
		case '`':
			l.put(String, i)
			l.backQuote()
			return
		}
	}
	l.put(String, len(l.code))
}

// dollar reads a variable or the beginning of a substitution.
func (l *shellLexer) dollar(class Class) {
	next := l.at(l.pos + 1)
	switch {
	case next == '(' && l.at(l.pos+2) == '(':
		l.push(shellFrame{kind: shellArithmetic, close: ')'})
		l.put(class, l.pos+3)
	case next == '(':
		l.push(shellFrame{close: ')'})
		l.put(class, l.pos+2)
	case next == '{':
		l.put(class, l.parameterEnd())
	case isWordStart(next) && next != '$':
		l.put(class, l.nameEnd(l.pos+1))
	case next == '\'' && class != String:
		l.put(String, l.quoted(l.pos+1))
	case next == '"' || next == ' ' || next == '\n' || next == 0 || next == '\\' || next == '`' || next == '\r':
		l.put(class, l.pos+1)
	default:
		l.put(class, l.pos+2)
	}
}

// parameterEnd returns the end of "${…}" on this line, or of its first two bytes.
func (l *shellLexer) parameterEnd() int {
	depth := 0
	for i, end := l.pos+1, l.reach(l.pos+1, maxAhead); i < end; i++ {
		l.looked++
		switch l.code[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '\\':
			i++
		case '\n':
			return l.pos + 2
		}
	}
	return l.pos + 2
}

// backQuote reads the beginning or the end of a substitution in back quotes.
func (l *shellLexer) backQuote() {
	if l.pop('`') {
		l.put(String, l.pos+1)
		return
	}
	for _, f := range l.stack {
		if f.close == '`' {
			l.put(String, l.pos+1) // they don't nest
			return
		}
	}
	ahead := l.code[l.pos+1 : max(l.pos+1, l.reach(l.pos+1, maxAhead))]
	l.looked += len(ahead)
	if strings.IndexByte(ahead, '`') >= 0 {
		l.push(shellFrame{close: '`'})
	}
	l.put(String, l.pos+1)
}

func (l *shellLexer) arithmetic(f *shellFrame) {
	switch c := l.code[l.pos]; {
	case c == '(':
		f.depth++
		l.put(Plain, l.pos+1)
	case c == ')' && f.depth > 0:
		f.depth--
		l.put(Plain, l.pos+1)
	case c == ')':
		length := 1
		if l.at(l.pos+1) == ')' {
			length = 2
		}
		l.pop(')')
		l.put(l.outer(), l.pos+length)
	case c == '\n' && l.at(l.pos+1) == '\n':
		l.pop(')') // it was never closed
	case isDigit(c):
		l.put(Number, l.wordEnd(l.pos))
	case isWordStart(c) && c != '$':
		l.put(Plain, l.wordEnd(l.pos))
	case c == '$':
		l.dollar(Plain)
	case strings.IndexByte("+-*/%=<>!&|^~?:", c) >= 0:
		l.put(Operator, l.pos+1)
	default:
		l.put(Plain, l.pos+1)
	}
}
