package highlight

import "strings"

// shellLexer reads the shells of Bourne's kin: sh, Bash, Zsh. The first word of
// a command is a function and all others are strings, whatever they hold, as
// the text of a command's arguments is. It keeps a stack of what is open:
// strings, substitutions, arithmetic. The end of a line begins a new command,
// and an empty line ends substitutions in strings, so a wrong guess stays where
// it was made.
type shellLexer struct {
	lexer
	stack []shellFrame
	// documents are the here documents that begin at the next line.
	documents []hereDocument
	// endless counts searches for the end of a here document that found none.
	endless int
	// nextEnd is where each of the ends occurs next, as far as that is known: the
	// code's length where it occurs no more.
	nextEnd [shellEnds]int
}

// hereDocument is what "<<EOF" announces.
type hereDocument struct {
	tag  string
	tabs bool // "<<-": tabs may stand in front of the end
}

// maxDocuments is how many here documents a line may begin, and after how many
// without an end the lexer takes "<<" for an operator.
const maxDocuments = 8

// shellFrame is what is open, and what of the current command has been read.
type shellFrame struct {
	kind  shellKind
	close byte // ends the frame; 0 for the outermost one

	expect  shellExpectation
	inWord  bool  // the last token is part of a word that may go on
	literal Class // of the word's own characters
	cases   int   // how many "case" are open
	loop    bool  // between "for" and "do"
	test    byte  // 1 in [ … ], 2 in [[ … ]]
	depth   int   // parentheses that are open in arithmetic
}

type shellKind uint8

const (
	shellCommands   shellKind = iota // also in $( ), ( ) and back quotes
	shellQuoted                      // in double quotes
	shellArithmetic                  // in $(( )) and (( ))
)

// shellExpectation is what the next word is.
type shellExpectation uint8

const (
	expectCommand shellExpectation = iota
	expectArgument
	expectName    // of a function that is declared
	expectBinding // of a variable: after export, local and others, or for
	expectPattern // of a case
)

// shellOpeners are keywords with a command after them, shellClosers those
// without one.
var (
	shellOpeners  = wordSet("if then elif else while until do time")
	shellClosers  = wordSet("fi done esac break continue return")
	shellBindings = wordSet("export local readonly declare typeset alias")
)

func lexShell(code string) ([]Run, int) {
	l := newShellLexer(code)
	l.read()
	return l.done()
}

func newShellLexer(code string) *shellLexer {
	l := &shellLexer{lexer: newLexer(code)}
	l.stack = append(make([]shellFrame, 0, 8), shellFrame{})
	return l
}

// read reads up to the end of the code.
func (l *shellLexer) read() {
	for l.pos < len(l.code) {
		switch f := l.top(); {
		case f.kind == shellQuoted:
			l.quotedText()
		case f.kind == shellArithmetic:
			l.arithmetic(f)
		case f.inWord:
			l.wordPart(f)
		default:
			l.token(f)
		}
	}
}

func (l *shellLexer) top() *shellFrame { return &l.stack[len(l.stack)-1] }

// push opens a frame; false where too many are open.
func (l *shellLexer) push(f shellFrame) bool {
	if len(l.stack) >= maxDepth {
		return false
	}
	l.stack = append(l.stack, f)
	return true
}

// pop closes the innermost frame if c ends it.
func (l *shellLexer) pop(c byte) bool {
	n := len(l.stack) - 1
	if n == 0 || l.stack[n].close != c {
		return false
	}
	l.stack = l.stack[:n]
	return true
}

// nameEnd returns the end of the variable's name that begins at i.
func (l *shellLexer) nameEnd(i int) int {
	for l.at(i) != '$' && isWord(l.at(i)) {
		i++
	}
	return i
}

// outer returns the class of the brackets of a substitution.
func (l *shellLexer) outer() Class {
	if l.top().kind == shellQuoted {
		return String
	}
	return Plain
}

// token reads what stands between words.
func (l *shellLexer) token(f *shellFrame) {
	c, next := l.code[l.pos], l.at(l.pos+1)
	switch {
	case c == '\n':
		l.newline(f)
	case isSpace(c):
		l.put(Plain, l.skipBlank(l.pos+1))
	case c == '\\' && l.continuesLine(l.pos):
		l.continuation(f)
	case c == '#':
		l.put(Comment, l.lineEnd(l.pos))
	case c == ';':
		l.semicolon(f, next)
	case c == '&' && next == '>':
		l.put(Operator, l.pos+2)
	case c == '&' || c == '|':
		l.connective(f, c, next)
	case c == '<' || c == '>':
		l.redirect()
	case c == '(':
		l.open(f, next)
	case c == ')':
		l.closeParenthesis(f)
	case c == '}' && f.expect == expectCommand:
		l.put(Plain, l.pos+1)
		f.expect = expectArgument
	case c == '{' && f.expect == expectCommand, c == '[' && next == ']':
		l.put(Plain, l.pos+1)
	case isDigit(c) && (next == '<' || next == '>'):
		l.put(Operator, l.pos+1)
	default:
		l.word(f)
	}
}

// continuesLine reports whether the backslash at i stands at the end of its line.
func (l *shellLexer) continuesLine(i int) bool {
	return l.at(i+1) == '\n' || l.at(i+1) == '\r' && l.at(i+2) == '\n'
}

// command makes the next word the first one of a command.
func (l *shellLexer) command(f *shellFrame) {
	f.expect, f.test, f.loop = expectCommand, 0, false
}

// continuation reads the backslash at the end of a line.
func (l *shellLexer) continuation(f *shellFrame) {
	class := String
	if f.expect == expectCommand {
		class = Plain
	}
	l.put(class, l.pos+1)
	l.put(Plain, l.lineEnd(l.pos)+1)
}

// semicolon reads ";" or the ";;" that ends a choice of a case.
func (l *shellLexer) semicolon(f *shellFrame, next byte) {
	l.put(Plain, l.pos+1)
	if next == ';' {
		l.put(Plain, l.pos+1)
		if f.cases > 0 {
			f.expect = expectPattern
			return
		}
	}
	l.command(f)
}

// connective reads "&&", "|" and their kind: a command follows, but not in a
// test or in the patterns of a case.
func (l *shellLexer) connective(f *shellFrame, c, next byte) {
	class, length := Plain, 1
	if c == '|' {
		class = Operator
	}
	if next == '&' || c == '|' && next == '|' {
		length = 2
	}
	l.put(class, l.pos+length)
	if f.test != 2 && f.expect != expectPattern {
		l.command(f)
	}
}

// newline ends a command and reads the here documents that it announced.
func (l *shellLexer) newline(f *shellFrame) {
	l.put(Plain, l.pos+1)
	if f.expect != expectPattern && f.close != '`' {
		l.command(f)
	}
	for _, document := range l.documents {
		l.hereDocument(document)
	}
	l.documents = l.documents[:0]
	if l.at(l.pos) == '\n' || l.at(l.pos) == '\r' && l.at(l.pos+1) == '\n' {
		// An empty line within a string's substitution: it was never closed.
		for i := range l.stack {
			if l.stack[i].kind == shellQuoted {
				l.stack = l.stack[:1]
				l.stack[0].inWord = false
				l.command(l.top())
				break
			}
		}
	}
}

// hereDocument reads the lines up to the one that ends the document. One that
// has no end ends in front of the next empty line.
func (l *shellLexer) hereDocument(d hereDocument) {
	empty := -1
	for i := l.pos; i < len(l.code); {
		end := l.lineEnd(i)
		line := strings.TrimSuffix(l.code[i:end], "\r")
		if d.tabs {
			line = strings.TrimLeft(line, "\t")
		}
		if line == d.tag {
			l.put(String, end)
			return
		}
		if empty < 0 && line == "" {
			empty = i
		}
		i = end + 1
	}
	l.looked += len(l.code) - l.pos
	l.endless++
	if empty < 0 {
		empty = len(l.code)
	}
	l.put(String, empty)
}

// redirect reads "<", ">" and their kin, and names in angle brackets that stand
// for what readers put there.
func (l *shellLexer) redirect() {
	c, next := l.code[l.pos], l.at(l.pos+1)
	if end := l.placeholder(l.pos); end > 0 {
		l.put(String, end)
		return
	}
	if c == '<' && next == '<' && l.at(l.pos+2) != '<' && l.announce() {
		return
	}
	end := l.pos + 1
	for end < l.pos+3 && (l.at(end) == c || l.at(end) == '&' || l.at(end) == '|') {
		end++
	}
	if l.at(end-1) == '&' && (isDigit(l.at(end)) || l.at(end) == '-') {
		end++
	}
	if (next == '(') && end == l.pos+1 {
		// The output of a command in place of a file's name.
		if l.push(shellFrame{close: ')'}) {
			l.put(Plain, l.pos+2)
			return
		}
	}
	l.put(Operator, end)
}

// placeholder returns the end of a name in angle brackets such as <your-key> that
// begins at i, or -1.
func (l *shellLexer) placeholder(i int) int {
	if l.at(i) != '<' || !isWordStart(l.at(i+1)) {
		return -1
	}
	const longest = 60
	for end, most := i+1, l.reach(i+1, longest); end < most; end++ {
		l.looked++
		switch c := l.code[end]; {
		case c == '>':
			return end + 1
		case !isWord(c) && c != '-' && c != '.' && c != ':' && c != '/' && c != ' ':
			return -1
		}
	}
	return -1
}

// announce reads "<<" and the word that will end a here document.
func (l *shellLexer) announce() bool {
	if l.endless >= maxDocuments || len(l.documents) >= maxDocuments || l.top().close == '`' {
		return false
	}
	i := l.pos + 2
	tabs := l.at(i) == '-'
	if tabs {
		i++
	}
	operator := i
	i = l.skipBlank(i)
	start, tag := i, ""
	switch c := l.at(i); {
	case c == '\'' || c == '"':
		end := i + 1
		for isWord(l.at(end)) && end < i+maxAhead {
			end++
		}
		if l.at(end) != c || end == i+1 {
			return false
		}
		tag, i = l.code[i+1:end], end+1
	case isWordStart(c):
		for isWord(l.at(i)) && i < start+maxAhead {
			i++
		}
		tag = l.code[start:i]
	default:
		return false
	}
	l.looked += i - start
	l.put(Operator, operator)
	l.put(Plain, start)
	l.put(String, i)
	l.documents = append(l.documents, hereDocument{tag, tabs})
	return true
}

// open reads "(": of a subshell, of arithmetic, of a list or of a pattern.
func (l *shellLexer) open(f *shellFrame, next byte) {
	switch {
	case f.expect == expectPattern || f.test == 2:
		l.put(Plain, l.pos+1)
	case next == '(' && f.expect == expectCommand:
		if l.push(shellFrame{kind: shellArithmetic, close: ')'}) {
			f.expect = expectArgument
		}
		l.put(Plain, l.pos+2)
	case next == ')':
		l.put(Plain, l.pos+2) // after the name of a function
		l.command(f)
	default:
		if f.expect == expectCommand {
			f.expect = expectArgument
		}
		if l.push(shellFrame{close: ')'}) && l.at(l.pos-1) == '=' {
			l.top().expect = expectArgument // a list of values
		}
		l.put(Plain, l.pos+1)
	}
}

func (l *shellLexer) closeParenthesis(f *shellFrame) {
	switch {
	case f.expect == expectPattern:
		l.put(Operator, l.pos+1)
		l.command(f)
		return
	case l.pop(')'):
		l.put(l.outer(), l.pos+1)
		return
	}
	l.put(Plain, l.pos+1)
}
