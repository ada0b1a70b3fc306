package highlight

import "strings"

// scriptLexer reads JavaScript, TypeScript and both with JSX. It keeps a stack
// of the brackets that are open and of what each means, so that it can tell an
// object from a block, a parameter from an argument and a type from a value. A
// closing brace repairs the stack, and an empty line ends a type, so a wrong
// guess stays where it was made.
type scriptLexer struct {
	lexer
	jsx   bool // "<" may begin an element
	stack []frame
	lost  int // brackets that are open beyond maxDepth

	operand   bool   // the last token ends a value or a type: an operator may follow
	dot       bool   // the last token is "." or "?."
	params    bool   // the next "(" holds parameters
	arrow     bool   // the last token is "=>" in front of a function's body
	typeParen bool   // the last token closed a parenthesis inside a type
	keyword   string // the last token, if it is a keyword
}

// frameKind is what an open bracket means.
type frameKind uint8

const (
	inBlock    frameKind = iota
	inObject             // also a pattern: { a, b: c } = …
	inClass              // a class's body
	inMembers            // the body of an interface or of an object type
	inEnum               // an enumeration's body
	inImports            // names after import or export
	inParams             // a function's parameters
	inParen              // arguments, a value in parentheses
	inIndex              // [ in a value
	inTypes              // ( [ or < in a type
	inTag                // an element's tag
	inChildren           // an element's content
	inEmbed              // { in an element
	inTemplate           // ${ in a template
)

// frame is one open bracket and how far what it holds has come.
type frame struct {
	kind  frameKind
	close byte // the byte that ends it; 0 for the outermost one and for elements

	start   bool // a statement, a member, a key or a parameter begins
	typing  bool // a type is being read
	annot   bool // a colon begins a type
	alias   bool // an equals sign begins a type
	heading bool // between the word class or interface and the body
	imports bool // in an import or export statement
	ternary int  // question marks whose colon is to come
	body    frameKind
}

// scriptKeywords are words that mean the same wherever a value may begin.
var scriptKeywords = wordSet(`await break case catch class const continue debugger default delete do else enum export
	extends finally for function if import in instanceof let new return super switch this throw try typeof var void while
	with yield`)

// scriptTypeWords are keywords inside types.
var scriptTypeWords = wordSet(`abstract as asserts extends import in infer is keyof new readonly typeof unique`)

// scriptModifiers stand in front of members and of declarations.
var scriptModifiers = wordSet(`abstract accessor async declare get override private protected public readonly set static`)

func lexScript(code string) ([]Run, int)    { return lexScripts(code, false) }
func lexScriptJSX(code string) ([]Run, int) { return lexScripts(code, true) }

func lexScripts(code string, jsx bool) ([]Run, int) {
	l := &scriptLexer{lexer: newLexer(code), jsx: jsx}
	l.stack = append(make([]frame, 0, 16), frame{kind: inBlock, start: true})
	if l.has(0, "#!") {
		l.put(Comment, l.lineEnd(0))
	}
	for l.pos < len(code) {
		l.next()
	}
	return l.done()
}

// next reads white space, one token, or the text of an element up to the next
// token.
func (l *scriptLexer) next() {
	switch l.top().kind {
	case inTag:
		l.inTag()
	case inChildren:
		l.inChildren()
	default:
		l.token()
	}
}

func (l *scriptLexer) top() *frame { return &l.stack[len(l.stack)-1] }

// push opens a bracket. What lies inside begins without a value.
func (l *scriptLexer) push(kind frameKind, closing byte) {
	l.operand, l.dot, l.params, l.arrow, l.typeParen, l.keyword = false, false, false, false, false, ""
	if len(l.stack) >= maxDepth {
		l.lost++
		return
	}
	l.stack = append(l.stack, frame{kind: kind, close: closing, start: true})
}

// pop closes the innermost bracket that c ends, if there is one that c may end,
// and returns its kind. A brace also ends brackets in it that are still open.
func (l *scriptLexer) pop(c byte) (frameKind, bool) {
	if l.lost > 0 {
		l.lost--
		return inBlock, false
	}
	for i := len(l.stack) - 1; i > 0; i-- {
		f := l.stack[i]
		if f.close == c {
			l.stack = l.stack[:i]
			return f.kind, true
		}
		if c != '}' && (f.close == '}' || f.close == 0) {
			break
		}
	}
	return inBlock, false
}

// typing reports whether a type is expected or being read.
func (l *scriptLexer) typing() bool {
	f := l.top()
	return f.typing || f.kind == inTypes
}

// after notes what the last token was.
func (l *scriptLexer) after(operand bool) {
	l.operand = operand
	l.dot, l.arrow, l.typeParen, l.keyword = false, false, false, ""
}

// token reads white space or one token outside of elements.
func (l *scriptLexer) token() {
	c := l.code[l.pos]
	switch {
	case isSpace(c):
		l.space()
	case c == '/' && l.at(l.pos+1) == '/':
		l.put(Comment, l.lineEnd(l.pos))
	case c == '/' && l.at(l.pos+1) == '*':
		l.comment()
	case c == '"' || c == '\'':
		l.put(String, l.quoted(l.pos))
		l.after(true)
		l.value()
	case c == '`':
		l.put(String, l.pos+1)
		l.template()
	case isDigit(c) || c == '.' && isDigit(l.at(l.pos+1)):
		l.number()
		l.value()
	case isWordStart(c) || c == '#' && isWordStart(l.at(l.pos+1)):
		l.word()
	default:
		if l.typing() {
			l.typePunctuation(c)
		} else {
			l.punctuation(c)
		}
	}
}

// value notes that a value stands where a statement or a parameter began. A key
// of an object is still at its beginning: its colon is to come.
func (l *scriptLexer) value() {
	f := l.top()
	if f.kind != inObject && f.kind != inMembers && f.kind != inClass {
		f.start = false
	}
	f.imports = false
}

// continues are the bytes with which a line goes on that a value ended.
const continues = ".?:+-*/%&|^=<>,)]}(["

// space reads white space. The end of a line may end a statement or a member,
// an empty line what was left open.
func (l *scriptLexer) space() {
	end, lines := l.pos, 0
	for end < len(l.code) && isSpace(l.code[end]) {
		if l.code[end] == '\n' {
			lines++
		}
		end++
	}
	begin := l.pos
	l.put(Plain, end)
	if lines == 0 {
		return
	}
	if lines > 1 && len(l.stack) > 1 {
		// The last line end, or the one in front of it if that is the last byte.
		i := begin + strings.LastIndexByte(l.code[begin:end-1], '\n')
		if i >= begin && l.statementAfter(i) {
			l.restart() // a bracket was never closed
		}
	}
	f := l.top()
	switch f.kind {
	case inBlock, inClass, inMembers, inEnum:
	default:
		if lines > 1 && f.typing {
			f.typing = false
		}
		return
	}
	if next := l.at(end); lines > 1 && next != '.' && next != '|' && next != '&' || l.operand && !l.goesOn(f, end) {
		l.begin(f)
	}
}

// goesOn reports whether what stands at the beginning of a line, at i, goes on
// with a value that ended on a line before.
func (l *scriptLexer) goesOn(f *frame, i int) bool {
	next := l.at(i)
	if next == '/' && (l.at(i+1) == '/' || l.at(i+1) == '*') {
		// A comment. What stands after it decides, and in most cases begins anew.
		return f.typing && !l.operand
	}
	more := strings.IndexByte(continues, next) >= 0 && next != 0
	if f.kind == inClass || f.kind == inMembers {
		more = more && strings.IndexByte("[(*}<-+", next) < 0
	}
	return more
}

// begin makes the next token the first one of a statement or a member.
func (l *scriptLexer) begin(f *frame) {
	f.start, f.typing, f.annot, f.alias, f.imports, f.ternary = true, false, false, false, false, 0
	if !f.heading {
		f.body = inBlock
	}
	f.heading = false
	l.operand, l.params = false, false
}

// statementAfter reports whether an empty line, and then a statement at the very
// beginning of a line, follow the line end at i. In code that is whole, nothing
// else than a template may be open there.
func (l *scriptLexer) statementAfter(i int) bool {
	if l.at(i+1) == '\r' {
		i++
	}
	if l.at(i+1) != '\n' || !isWordStart(l.at(i+2)) {
		return false
	}
	end := l.skipWord(i + 2)
	switch l.code[i+2 : end] {
	case "class", "const", "enum", "export", "function", "import", "interface", "let", "type", "var":
		return l.at(end) == ' '
	}
	return false
}

// restart closes all that is open: a statement begins.
func (l *scriptLexer) restart() {
	l.stack, l.lost = l.stack[:1], 0
	l.after(false)
	l.begin(l.top())
}

// comment reads a block comment. In one for documentation, tags are keywords
// and the braces after them hold types.
func (l *scriptLexer) comment() {
	end := l.commentEnd()
	if l.has(l.pos, "/**") && end-l.pos > 4 {
		for l.pos < end {
			n := strings.IndexByte(l.code[l.pos:end], '@')
			if n < 0 {
				break
			}
			tag := l.pos + n
			l.put(Comment, tag)
			last := min(l.wordEnd(tag+1), end)
			if before := l.code[tag-1]; last == tag+1 || before != ' ' && before != '*' && before != '{' && before != '\t' {
				l.put(Comment, max(last, tag+1))
				continue
			}
			l.put(Keyword, last)
			if brace := l.skipBlank(last); l.at(brace) == '{' && brace < end {
				ahead := l.code[brace:min(end, l.reach(brace, maxAhead))]
				l.looked += len(ahead)
				closing := strings.IndexByte(ahead, '}')
				if closing > 0 && strings.IndexByte(ahead[:closing], '\n') < 0 {
					l.put(Comment, brace+1)
					l.put(Type, brace+closing)
				}
			}
		}
	}
	l.put(Comment, end)
}

// template reads the text of a template up to its end or to the next "${".
func (l *scriptLexer) template() {
	for i := l.pos; i < len(l.code); i++ {
		switch l.code[i] {
		case '\\':
			i++
		case '`':
			l.put(String, i+1)
			l.after(true)
			l.value()
			return
		case '$':
			if l.at(i+1) == '{' && len(l.stack) < maxDepth {
				l.put(String, i)
				l.put(Operator, i+2)
				l.push(inTemplate, '}')
				return
			}
		}
	}
	l.put(String, len(l.code))
}

func (l *scriptLexer) number() {
	end := l.pos + 1
	for isWord(l.at(end)) || l.at(end) == '.' && l.at(end+1) != '.' || (l.at(end) == '+' || l.at(end) == '-') && l.at(end-1)|0x20 == 'e' && l.code[l.pos+1]|0x20 != 'x' {
		end++
	}
	l.put(Number, end)
	l.after(true)
}

// regex returns the end of the regular expression that begins at l.pos, or -1.
func (l *scriptLexer) regex() int {
	class := false
	for i, end := l.pos+1, l.reach(l.pos+1, maxAhead); i < end; i++ {
		l.looked++
		switch l.code[i] {
		case '\\':
			i++
		case '\n':
			return -1
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				return i + 1
			}
		}
	}
	return -1
}
