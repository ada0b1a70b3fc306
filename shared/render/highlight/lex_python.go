package highlight

import "strings"

// pythonLexer reads Python. It keeps a stack of the formatted strings that are
// open and of the expressions in them. The end of a line ends a string that has
// one quote, so a wrong guess stays on its line.
type pythonLexer struct {
	lexer
	stack []pythonFrame

	dot     bool   // the last token is "."
	keyword string // the last token, if it is a keyword
	start   bool   // a statement begins
	depth   int    // brackets that are open, outside of strings
	// bases and params are the depth of the brackets that hold a class's bases
	// or a function's parameters; 0 outside of them.
	bases, params int
	name          bool // a parameter's name is expected
	// endless are the long strings, by quote, that no later one ends.
	endless [2]bool
}

// pythonFrame is a formatted string, or an expression in one.
type pythonFrame struct {
	quote      byte // of a string; 0 for an expression
	long, raw  bool
	depth      int  // brackets that are open in an expression
	formatting bool // after the colon of an expression
}

var (
	pythonKeywords = wordSet(`and as assert async await break class continue def del elif else except finally for from
		global if import in is lambda nonlocal not or pass raise return try while with yield`)
	pythonConstants = wordSet(`True False None NotImplemented Ellipsis`)
	pythonTypes     = wordSet(`bool bytearray bytes classmethod complex dict float frozenset int list memoryview object
		property set slice staticmethod str super tuple type
		ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError BrokenPipeError
		BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError
		ConnectionResetError DeprecationWarning EOFError EnvironmentError Exception ExceptionGroup FileExistsError
		FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError ImportError ImportWarning
		IndentationError IndexError InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError
		MemoryError ModuleNotFoundError NameError NotADirectoryError NotImplementedError OSError OverflowError
		PendingDeprecationWarning PermissionError ProcessLookupError RecursionError ReferenceError ResourceWarning
		RuntimeError RuntimeWarning StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit
		TabError TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError
		UnicodeTranslateError UnicodeWarning UserWarning ValueError Warning ZeroDivisionError`)
	pythonFunctions = wordSet(`__import__ abs aiter all anext any ascii bin breakpoint callable chr compile delattr dir
		divmod enumerate eval exec filter format getattr globals hasattr hash help hex id input isinstance issubclass
		iter len locals map max min next oct open ord pow print range repr reversed round setattr sorted sum vars zip`)
)

func lexPython(code string) ([]Run, int) {
	l := &pythonLexer{lexer: newLexer(code), start: true}
	for l.pos < len(l.code) {
		if f := l.top(); f != nil && f.quote != 0 {
			l.formatted(f)
		} else if f != nil && f.formatting {
			l.format(f)
		} else {
			l.token(f)
		}
	}
	return l.done()
}

// top returns the innermost frame, or nil outside of all strings.
func (l *pythonLexer) top() *pythonFrame {
	if n := len(l.stack); n > 0 {
		return &l.stack[n-1]
	}
	return nil
}

func (l *pythonLexer) after(keyword string) {
	l.dot, l.keyword, l.start = false, keyword, false
}

// token reads one token of code. f is the expression in a string that holds it,
// or nil.
func (l *pythonLexer) token(f *pythonFrame) {
	c := l.code[l.pos]
	switch {
	case c == '\n':
		l.newline(f)
	case isSpace(c):
		l.put(Plain, l.skipBlank(l.pos+1))
	case c == '#':
		l.put(Comment, l.lineEnd(l.pos))
	case c == '"' || c == '\'':
		l.text(l.pos)
	case isDigit(c) || c == '.' && isDigit(l.at(l.pos+1)):
		l.number()
	case isWordStart(c) && c != '$':
		l.word()
	case c == '@' && l.start:
		l.decorator()
	case c == '.':
		l.dots()
	case c == '-' && l.at(l.pos+1) == '>':
		l.put(Plain, l.pos+2)
		l.after("")
	case l.start && (l.has(l.pos, ">>> ") || l.has(l.pos, ">>>\n")):
		l.put(Operator, l.pos+3)
	case f != nil && l.endsExpression(f, c):
		l.endExpression(f, c)
	case strings.IndexByte("([{)]}", c) >= 0:
		l.bracket(f, c)
	case strings.IndexByte("+-*/%=<>!&|^~@", c) >= 0:
		l.put(Operator, l.pos+1)
		l.after("")
		l.name = l.name && c == '*'
	case c == ':' && l.at(l.pos+1) == '=':
		l.put(Operator, l.pos+2)
		l.after("")
		l.name = false
	default:
		l.separator(c)
	}
}

// decorator reads "@" and the name that follows.
func (l *pythonLexer) decorator() {
	end := l.pos + 1
	for isWord(l.at(end)) || l.at(end) == '.' {
		end++
	}
	l.put(Function, end)
	l.after("")
}

func (l *pythonLexer) dots() {
	end := l.pos + 1
	for l.at(end) == '.' {
		end++
	}
	l.put(Plain, end)
	l.after("")
	l.dot = end == l.pos && l.at(l.pos-2) != '.'
}

// separator reads a comma, a colon, a semicolon, or a byte that means nothing.
func (l *pythonLexer) separator(c byte) {
	if c == ',' || c == ';' {
		l.name = c == ',' && l.params > 0 && l.depth == l.params
	}
	l.put(Plain, l.pos+1)
	l.after("")
	l.start = c == ';' || c == ':' && l.depth == 0
}

// newline begins a new statement outside of brackets, and after an empty line.
func (l *pythonLexer) newline(f *pythonFrame) {
	l.put(Plain, l.pos+1)
	if f != nil && !l.stack[len(l.stack)-2].long {
		l.stack = l.stack[:0] // a string that never ended
	}
	if l.depth > 0 && !(l.at(l.pos) == '\n' && isWordStart(l.at(l.pos+1))) {
		return
	}
	l.depth, l.bases, l.params, l.name = 0, 0, 0, false
	l.after("")
	l.start = true
}

func (l *pythonLexer) bracket(f *pythonFrame, c byte) {
	keyword := l.keyword
	l.put(Plain, l.pos+1)
	l.after("")
	depth := &l.depth
	if f != nil {
		depth = &f.depth
	}
	if c == '(' || c == '[' || c == '{' {
		*depth++
		if f == nil && c == '(' && keyword == "class" {
			l.bases = l.depth
		}
		if f == nil && c == '(' && keyword == "def" {
			l.params, l.name = l.depth, true
		}
		return
	}
	*depth = max(0, *depth-1)
	if f == nil {
		if l.depth < l.bases {
			l.bases = 0
		}
		if l.depth < l.params {
			l.params = 0
		}
	}
}

func (l *pythonLexer) number() {
	end := l.pos + 1
	for isWord(l.at(end)) || l.at(end) == '.' || (l.at(end) == '+' || l.at(end) == '-') && l.at(end-1)|0x20 == 'e' && l.at(l.pos+1)|0x20 != 'x' {
		end++
	}
	l.put(Number, end)
	l.after("")
}

// word reads a name, a keyword, or the prefix of a string with the string.
func (l *pythonLexer) word() {
	end := l.wordEnd(l.pos)
	word := l.code[l.pos:end]
	next := l.at(end)
	if (next == '"' || next == '\'') && len(word) <= 2 && strings.Trim(strings.ToLower(word), "rbuft") == "" {
		l.text(end)
		return
	}
	switch {
	case l.dot:
		class := Plain
		if next == '(' {
			class = Function
		}
		l.put(class, end)
		l.after("")
	case l.keyword == "def":
		l.put(Function, end)
		l.dot, l.start = false, false // "def" still counts for the bracket
	case l.keyword == "class":
		l.put(Type, end)
		l.dot, l.start = false, false
	case pythonKeywords[word], l.start && l.softKeyword(word, end):
		l.put(Keyword, end)
		l.after(word)
	case pythonConstants[word]:
		l.put(Constant, end)
		l.after("")
	case word == "self" || word == "cls":
		l.put(Keyword, end)
		l.after("")
		l.name = false
	case l.bases > 0 && l.depth == l.bases:
		l.put(Type, end)
		l.after("")
	default:
		l.put(l.nameClass(word, next), end)
		l.after("")
		l.name = false
	}
}

// nameClass returns the class of a name that is not a keyword.
func (l *pythonLexer) nameClass(word string, next byte) Class {
	called := next == '('
	switch {
	case l.name, next == '=' && l.at(l.pos+len(word)+1) != '=':
		return Plain // a parameter's name
	case next == '[':
		return Plain
	case pythonTypes[word]:
		return Type
	case called || pythonFunctions[word]:
		return Function
	}
	return Plain
}

// softKeyword reports whether a word at the beginning of a statement, which may be
// a name, is a keyword there.
func (l *pythonLexer) softKeyword(word string, end int) bool {
	if word != "match" && word != "case" && word != "type" || l.at(end) != ' ' {
		return false
	}
	next := l.skipBlank(end)
	switch c := l.at(next); {
	case word == "type":
		i := l.skipBlank(l.skipWord(next))
		return i > next && (l.at(i) == '=' || l.at(i) == '[')
	case isWordStart(c) || isDigit(c) || c == '"' || c == '\'' || c == '[' || c == '(' || c == '{' || c == '-':
		return l.statementColon(next)
	}
	return false
}

// statementColon reports whether the line from i on ends with a colon or holds one
// in front of a statement.
func (l *pythonLexer) statementColon(i int) bool {
	line := l.code[i:l.reach(i, maxAhead)]
	if n := strings.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	l.looked += len(line)
	return strings.Contains(line, ": ") || strings.HasSuffix(strings.TrimRight(line, " \r"), ":")
}

// text reads a string, from its prefix to its end; quote is where its first
// quote stands. A formatted one is read up to its first expression.
func (l *pythonLexer) text(quote int) {
	prefix := strings.ToLower(l.code[l.pos:quote])
	f := pythonFrame{quote: l.code[quote], raw: strings.Contains(prefix, "r")}
	l.put(Keyword, quote)
	l.after("")
	marks := l.code[quote : quote+1]
	if triple := strings.Repeat(marks, 3); l.has(quote, triple) {
		f.long, marks = true, triple
	}
	if (prefix == "" || !strings.ContainsAny(prefix, "ft")) || len(l.stack) >= maxDepth {
		if f.long {
			l.put(String, l.longEnd(quote+3, f.quote))
		} else {
			l.put(String, l.quoted(quote))
		}
		return
	}
	l.put(String, quote+len(marks))
	l.stack = append(l.stack, f)
}

// longEnd returns the end of a string in three quotes from i on. One that nothing
// ends goes up to the next empty line.
func (l *pythonLexer) longEnd(i int, quote byte) int {
	which := 0
	if quote == '\'' {
		which = 1
	}
	if !l.endless[which] {
		for j := i; j < len(l.code); j++ {
			if l.code[j] == '\\' {
				j++
			} else if l.code[j] == quote && l.at(j+1) == quote && l.at(j+2) == quote {
				return j + 3
			}
		}
		l.looked += len(l.code) - i
		l.endless[which] = true
	}
	if n := strings.Index(l.code[i:], "\n\n"); n >= 0 {
		return i + n
	}
	return len(l.code)
}

// formatted reads the text of a formatted string up to its end or to the next
// expression.
func (l *pythonLexer) formatted(f *pythonFrame) {
	for i := l.pos; i < len(l.code); i++ {
		switch c := l.code[i]; {
		case c == '\\' && !f.raw:
			i++
		case c == f.quote && (!f.long || l.at(i+1) == c && l.at(i+2) == c):
			length := 1
			if f.long {
				length = 3
			}
			l.put(String, i+length)
			l.stack = l.stack[:len(l.stack)-1]
			return
		case c == '\n' && !f.long:
			l.put(String, i)
			l.stack = l.stack[:0]
			return
		case c == '{' && l.at(i+1) == '{':
			i++
		case c == '{':
			l.put(String, i+1)
			l.stack = append(l.stack, pythonFrame{})
			l.after("")
			return
		}
	}
	l.put(String, len(l.code))
}

// endsExpression reports whether c ends an expression in a string, or begins
// what says how its value is written.
func (l *pythonLexer) endsExpression(f *pythonFrame, c byte) bool {
	return f.depth == 0 && (c == '}' || c == ':' || c == '!' && l.at(l.pos+1) != '=')
}

// endExpression reads the brace that ends an expression in a string, or what
// says how its value is written.
func (l *pythonLexer) endExpression(f *pythonFrame, c byte) {
	l.after("")
	switch c {
	case '}':
		l.put(String, l.pos+1)
		l.stack = l.stack[:len(l.stack)-1]
	case '!':
		l.put(Keyword, l.wordEnd(l.pos+1))
	default:
		f.formatting = true
	}
}

// format reads how a value is written, up to the end of its expression.
func (l *pythonLexer) format(f *pythonFrame) {
	for i := l.pos; i < len(l.code); i++ {
		switch l.code[i] {
		case '{':
			if len(l.stack) < maxDepth {
				l.put(Keyword, i)
				l.put(String, i+1)
				l.stack = append(l.stack, pythonFrame{})
				return
			}
		case '}', '\n':
			l.put(Keyword, i)
			f.formatting = false
			return
		}
	}
	l.put(Keyword, len(l.code))
}
