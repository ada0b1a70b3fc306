package expr

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// mode is what a Scanner is inside of.
type mode uint8

const (
	inBraces   mode = iota // { … }
	inParens               // ( … )
	inBrackets             // [ … ]
	inTemplate             // ` … `
	inSubst                // ${ … } in a template
	inComment              // /* … */
	inTag                  // <a …
	inJSX                  // <a> … </a>
	inJSXExpr              // { … } in a tag or between tags
)

// frame is one thing that is open.
type frame struct {
	mode mode
	// block is set for braces that hold statements: what follows them is not an
	// operator.
	block bool
	// object is set for braces that surely hold an object, key where the next
	// token is a key of it.
	key, object bool
	at          int
}

// last is the last token, as far as it matters.
type last uint8

const (
	lastNone     last = iota
	lastOperand       // a name, literal or closing bracket
	lastParen         // )
	lastOperator      // something that needs an operand after it
	lastArrow         // =>
	lastWord          // a keyword that needs something after it
	lastBlock         // a keyword before a block: else, try, …
	lastSemi          // ;
	lastBrace         // } of a block
	lastDot           // . or ?.
)

// maxOpen bounds how deep what a Scanner reads may nest.
const maxOpen = 1000

// Lines is where a Scanner gets more text from.
type Lines interface {
	// More returns the text with at least one more line at its end, and false
	// if there are no more.
	More() (text string, ok bool)
}

// Scanner finds where an expression or a statement of JavaScript ends. It is no
// parser: it knows strings, templates, comments, regular expressions, brackets
// and JSX, which is what decides about a closing brace, and it tells operands
// from operators, which is what decides about a slash and about less-than. It
// refuses what reads like prose, and lets some wrong JavaScript through.
type Scanner struct {
	// Text is what is scanned, as far as it was taken from Lines; At is the
	// offset of the next byte.
	Text string
	At   int
	// Lines has more text; nil for none. Tokens other than templates, comments,
	// strings and JSX end with their line.
	Lines Lines
	// Expression is set for an expression, which ends at a brace that it did
	// not open; unset for statements.
	Expression bool
	// Steps counts the work.
	Steps int

	stack []frame
	last  last
	op    byte // the last operator's first sign
	// operand is set after a token that ends an operand.
	operand bool
	// newLine is set when a line ended since the last token.
	newLine bool
	// question counts ?-operators outside of brackets that wait for a colon.
	question int
	fault    string
	faultAt  int
}

// Reset makes the Scanner as new, for another text; it keeps its memory.
func (j *Scanner) Reset() { *j = Scanner{stack: j.stack[:0]} }

// Fault returns what is wrong with the source and where; "" for nothing.
func (j *Scanner) Fault() (message string, at int) { return j.fault, min(j.faultAt, len(j.Text)) }

// Empty reports whether there was no token yet.
func (j *Scanner) Empty() bool { return j.last == lastNone }

// Complete reports whether nothing is open and no operand is missing.
func (j *Scanner) Complete() bool {
	if len(j.stack) > 0 || j.question > 0 {
		return false
	}
	switch j.last {
	case lastOperator, lastArrow, lastWord, lastBlock, lastDot:
		return false
	}
	return true
}

// Opened names what would close the innermost thing that is open, for messages,
// and returns where that was opened; -1 if nothing is open.
func (j *Scanner) Opened() (string, int) {
	if len(j.stack) == 0 {
		return "", -1
	}
	top := j.stack[len(j.stack)-1]
	names := [...]string{inBraces: "} for {", inParens: ") for (", inBrackets: "] for [", inTemplate: "` for `",
		inSubst: "} for ${", inComment: "*/ for /*", inTag: "> for <", inJSX: "a closing tag for the element", inJSXExpr: "} for {"}
	return names[top.mode], top.at
}

// Spread takes the dots of a spread, comments before them included, and reports
// whether they are there.
func (j *Scanner) Spread() bool {
	for {
		for isSpace(j.at(j.At)) {
			j.Steps++
			j.At++
		}
		if j.at(j.At) != '/' || j.at(j.At+1) != '*' {
			break
		}
		for j.At += 2; !j.ended(j.At) && !(j.at(j.At) == '*' && j.at(j.At+1) == '/'); j.At++ {
			j.Steps++
		}
		j.At += 2
	}
	if j.at(j.At) != '.' || j.at(j.At+1) != '.' || j.at(j.At+2) != '.' {
		return false
	}
	j.took(3, lastOperator)
	return true
}

// Scan reads up to the brace that closes the expression, and reports whether it
// found that, or to the end of the text.
func (j *Scanner) Scan() bool {
	for j.fault == "" {
		c := j.at(j.At)
		if c == 0 && j.ended(j.At) {
			return false
		}
		if c == '}' && len(j.stack) == 0 && j.Expression {
			return true
		}
		j.step(c)
	}
	return false
}

// block reads the braces that begin here, and what is in them; it reports false
// if they don't end.
func (j *Scanner) block() bool {
	j.push(inBraces, true)
	j.At++
	for j.fault == "" && len(j.stack) > 0 && j.At < len(j.Text) {
		j.step(j.Text[j.At])
	}
	return j.fault == "" && len(j.stack) == 0
}

// step reads one token, or one character of text.
func (j *Scanner) step(c byte) {
	j.Steps++
	in := inBraces
	if n := len(j.stack); n > 0 {
		in = j.stack[n-1].mode
	}
	switch in {
	case inTemplate:
		j.template(c)
	case inComment:
		if c == '*' && j.at(j.At+1) == '/' {
			j.stack = j.stack[:len(j.stack)-1]
			j.At++
		}
		j.At++
	case inTag:
		j.tag(c)
	case inJSX:
		j.children(c)
	default:
		j.token(c)
	}
}

// at returns the byte at i, or 0 at the end; more lines are taken as needed.
func (j *Scanner) at(i int) byte {
	if i < len(j.Text) {
		return j.Text[i]
	}
	return j.more(i)
}

func (j *Scanner) more(i int) byte {
	for ok := j.Lines != nil; ok; {
		if j.Text, ok = j.Lines.More(); i < len(j.Text) {
			return j.Text[i]
		}
	}
	return 0
}

func (j *Scanner) ended(i int) bool { return j.at(i) == 0 && i >= len(j.Text) }

// took passes over n bytes of a token after which an operand is expected.
func (j *Scanner) took(n int, as last) {
	j.At += n
	j.operand, j.last = false, as
}

func (j *Scanner) tookOperand() { j.operand, j.last = true, lastOperand }

func (j *Scanner) fail(at int, format string, args ...any) {
	if j.fault == "" {
		j.fault, j.faultAt = fmt.Sprintf(format, args...), at
	}
}

func (j *Scanner) push(in mode, block bool) {
	if len(j.stack) >= maxOpen {
		j.fail(j.At, "brackets nest deeper than %d levels", maxOpen)
		return
	}
	j.stack = append(j.stack, frame{mode: in, block: block, at: j.At})
}

// keywords have something after them, a block or an expression; other names are
// operands.
var keywords = map[string]last{
	"else": lastBlock, "do": lastBlock, "try": lastBlock, "finally": lastBlock, "static": lastBlock,
	"return": lastWord, "typeof": lastWord, "instanceof": lastWord, "in": lastWord, "of": lastWord, "new": lastWord,
	"delete": lastWord, "void": lastWord, "throw": lastWord, "case": lastWord, "await": lastWord, "yield": lastWord,
	"async": lastWord, "function": lastWord, "class": lastBlock, "extends": lastWord, "const": lastWord, "let": lastWord,
	"var": lastWord, "if": lastWord, "for": lastWord, "while": lastWord, "switch": lastWord, "import": lastWord,
	"export": lastWord, "default": lastWord, "from": lastWord, "as": lastWord, "with": lastWord,
}

func (j *Scanner) template(c byte) {
	switch {
	case c == '\\':
		j.At += 2
	case c == '`':
		j.stack = j.stack[:len(j.stack)-1]
		j.At++
		j.tookOperand()
	case c == '$' && j.at(j.At+1) == '{':
		j.At++
		j.push(inSubst, false)
		j.took(1, lastNone)
	default:
		j.At++
	}
}

// tag reads inside of <a …>.
func (j *Scanner) tag(c byte) {
	top := &j.stack[len(j.stack)-1]
	switch {
	case c == '>':
		top.mode = inJSX
		j.At++
	case c == '/' && j.at(j.At+1) == '>':
		j.At += 2
		j.endElement()
	case c == '/' && j.at(j.At+1) == '*':
		j.push(inComment, false)
		j.At += 2
	case c == '{':
		j.push(inJSXExpr, false)
		j.took(1, lastNone)
	case c == '"' || c == '\'':
		start := j.At
		for j.At++; ; j.At++ {
			j.Steps++
			q := j.at(j.At)
			if q == c {
				break
			}
			if q == 0 && j.At >= len(j.Text) {
				j.fail(start, "found an attribute value that does not end, expected a closing %c", c)
				return
			}
		}
		j.At++
	case c == '<' || c == '}':
		j.fail(j.At, "found %c in a tag, expected an attribute or the end of the tag", c)
	default:
		j.At++
	}
}

// children reads between tags.
func (j *Scanner) children(c byte) {
	switch {
	case c == '{':
		j.push(inJSXExpr, false)
		j.took(1, lastNone)
	case c == '<' && j.at(j.At+1) == '/':
		start := j.At
		for j.At += 2; j.at(j.At) != '>'; j.At++ {
			j.Steps++
			if j.ended(j.At) || j.at(j.At) == '<' || j.at(j.At) == '{' {
				j.fail(start, "found a closing tag that does not end, expected >")
				return
			}
		}
		j.At++
		j.endElement()
	case c == '<':
		j.element()
	case c == '>' || c == '}':
		j.fail(j.At, "found %c between tags of an expression, expected {'%c'}", c, c)
	default:
		j.At++
	}
}

// element enters the tag at a less-than sign.
func (j *Scanner) element() {
	next := j.at(j.At + 1)
	if next == '>' {
		j.push(inJSX, false)
		j.At += 2
		return
	}
	if !isLetter(next) && next != '_' && next != '$' && next < utf8.RuneSelf {
		j.fail(j.At, "found < in an expression, expected an operand")
		return
	}
	j.push(inTag, false)
	j.At++
}

func (j *Scanner) endElement() {
	j.stack = j.stack[:len(j.stack)-1]
	j.tookOperand()
}

// token reads one token of plain JavaScript.
func (j *Scanner) token(c byte) {
	if isSpace(c) {
		j.newLine = j.newLine || c == '\n'
		j.At++
		return
	}
	key := j.takeKey(c)
	switch {
	case c == '/':
		j.slash()
	case c == '"' || c == '\'':
		j.adjacent(j.At, "a string")
		j.str(c)
	case c == '`':
		j.push(inTemplate, false)
		j.At++
	case strings.IndexByte("([{", c) >= 0:
		j.open(c)
	case strings.IndexByte(")]}", c) >= 0:
		j.close(c)
	case isDigit(c) || c == '.' && isDigit(j.at(j.At+1)):
		j.adjacent(j.At, "a number")
		end := numberEnd(j.Text, j.At)
		j.Steps += end - j.At
		j.At = end
		j.tookOperand()
	case c == '<' && !j.operand:
		j.element()
	case isLetter(c) || c == '_' || c == '$' || c == '#' || c >= utf8.RuneSelf:
		start := j.At
		j.word()
		if key && j.fault == "" {
			j.key(j.Text[start:j.At])
		}
	default:
		j.operator(c)
	}
	j.newLine = false
}

// takeKey reports whether the token that begins with c stands where an object
// has a key.
func (j *Scanner) takeKey(c byte) bool {
	n := len(j.stack)
	if n == 0 || !j.stack[n-1].key || c == '/' && (j.at(j.At+1) == '*' || j.at(j.At+1) == '/') {
		return false
	}
	j.stack[n-1].key = false
	return true
}

// adjacent refuses an operand right after an operand, which is how prose
// reads where JavaScript was expected. On a new line a statement may begin.
func (j *Scanner) adjacent(at int, what string) bool {
	if !j.operand || len(j.stack) > 0 || !j.Expression && j.newLine {
		return false
	}
	want := "an operator or }"
	if !j.Expression {
		want = "an operator or the end of the statement"
	}
	j.fail(at, "found %s after a complete expression, expected %s", what, want)
	return true
}

func (j *Scanner) slash() {
	switch j.at(j.At + 1) {
	case '*':
		j.push(inComment, false)
		j.At += 2
		return
	case '/':
		for !j.ended(j.At) && j.at(j.At) != '\n' {
			j.Steps++
			j.At++
		}
		return
	}
	if j.operand {
		j.op = '/'
		if j.took(1, lastOperator); j.at(j.At) == '=' {
			j.At++
		}
		return
	}
	end, ok := regexpEnd(j.Text, j.At)
	j.Steps += end - j.At
	if !ok {
		j.fail(j.At, "found a regular expression that does not end on its line, expected /")
		return
	}
	j.At = end
	j.tookOperand()
}

func (j *Scanner) str(quote byte) {
	start := j.At
	for j.At++; ; j.At++ {
		j.Steps++
		c := j.at(j.At)
		switch {
		case c == '\\':
			j.At++
			continue
		case c == '\n' || c == 0 && j.At >= len(j.Text):
			j.fail(start, "found a string that does not end on its line, expected %c", quote)
			return
		case c == quote:
			j.At++
			j.tookOperand()
			return
		}
	}
}

func (j *Scanner) open(c byte) {
	switch c {
	case '(':
		j.push(inParens, false)
	case '[':
		j.push(inBrackets, false)
	default:
		block := false
		switch j.last {
		case lastParen, lastArrow, lastBlock, lastSemi, lastBrace:
			block = true
		case lastNone:
			// At the start of a statement: in braces that are a block.
			if n := len(j.stack); n > 0 {
				block = j.stack[n-1].block
			} else {
				block = !j.Expression
			}
		case lastOperand:
			// class A {, switch, a label's block: none is an operand.
			block = true
		}
		// After a colon it may also be the block of a case, and the braces of
		// imports and exports hold names.
		key := !block && !(j.last == lastOperator && j.op == ':') &&
			(j.Expression || len(j.stack) > 0 || j.last == lastOperator && j.op != ',')
		if j.push(inBraces, block); j.fault == "" {
			top := &j.stack[len(j.stack)-1]
			top.key, top.object = key, key
		}
	}
	j.took(1, lastNone)
}

// key checks what follows a name where a key of an object stands. Braces in
// braces are also how templates mark what they fill in: {{user.name}} is
// neither an object nor anything else.
func (j *Scanner) key(name string) {
	for k := j.At; ; k++ {
		j.Steps++
		switch c := j.at(k); {
		case isSpace(c):
			continue
		case c == 0 || c >= utf8.RuneSelf || strings.IndexByte(":,}(=/", c) >= 0:
		case name == "get" || name == "set" || name == "async":
		default:
			j.At = k
			j.fail(k, "found %c after a key of an object, expected :, a comma or }", c)
		}
		return
	}
}

func (j *Scanner) close(c byte) {
	if len(j.stack) == 0 {
		j.fail(j.At, "found %c without the bracket that it closes", c)
		return
	}
	top := j.stack[len(j.stack)-1]
	want := byte('}')
	switch top.mode {
	case inParens:
		want = ')'
	case inBrackets:
		want = ']'
	}
	if c != want {
		j.fail(j.At, "found %c, expected %c", c, want)
		return
	}
	j.stack = j.stack[:len(j.stack)-1]
	j.At++
	switch {
	case c == ')':
		j.operand, j.last = true, lastParen
	case top.block:
		j.operand, j.last = false, lastBrace
	default:
		// Also true after ${…} and {…} in JSX, where nothing asks.
		j.tookOperand()
	}
}

func (j *Scanner) word() {
	start := j.At
	if j.at(start) == '#' {
		j.At++
	}
	end := wordEnd(j.Text, j.At)
	if end == start {
		r, size := utf8.DecodeRuneInString(j.Text[start:])
		if j.At += size; !isWideSpace(r) {
			j.fail(start, "found %q in an expression, expected an operand or operator", r)
		}
		return
	}
	j.Steps += end - start
	j.At = end
	name := j.Text[start:end]
	kind, keyword := keywords[name]
	switch name {
	case "of", "from", "as": // names, unless one stands before them
		keyword = j.operand || j.last == lastOperator && j.op == '*'
	}
	switch {
	case j.last == lastDot:
	case keyword:
		// A key or property may have the name of a keyword.
		k := end
		for ; j.at(k) == ' ' || j.at(k) == '\t'; k++ {
			j.Steps++
		}
		if next := j.at(k); next == 0 || strings.IndexByte(":,=})", next) < 0 {
			j.took(0, kind)
			return
		}
	case j.operand && j.adjacent(start, "`"+name+"`"):
		return
	}
	j.tookOperand()
}

// punctuators maps a byte to the punctuators of ECMA-262 that begin with it, the longest
// first. The scanner reads brackets, slashes and numbers such as .5 before it looks here.
var punctuators = [utf8.RuneSelf][]string{
	'!': {"!==", "!=", "!"},
	'%': {"%=", "%"},
	'&': {"&&=", "&&", "&=", "&"},
	'*': {"**=", "**", "*=", "*"},
	'+': {"++", "+=", "+"},
	',': {","},
	'-': {"--", "-=", "-"},
	'.': {"...", "."},
	':': {":"},
	';': {";"},
	'<': {"<<=", "<<", "<=", "<"},
	'=': {"===", "==", "=>", "="},
	'>': {">>>=", ">>>", ">>=", ">>", ">=", ">"},
	'?': {"??=", "??", "?.", "?"},
	'^': {"^=", "^"},
	'|': {"||=", "||", "|=", "|"},
	'~': {"~"},
}

// punctuator returns the punctuator that begins with c at the next byte.
func (j *Scanner) punctuator(c byte) string {
	for _, op := range punctuators[c] {
		k := 1
		for k < len(op) && j.at(j.At+k) == op[k] {
			k++
		}
		if k == len(op) && !(op == "?." && isDigit(j.at(j.At+2))) {
			return op
		}
	}
	return ""
}

func (j *Scanner) operator(c byte) {
	op := j.punctuator(c)
	switch op {
	case "":
		j.fail(j.At, "found %q in an expression, expected an operand or operator", rune(c))
	case "=>":
		j.took(2, lastArrow)
	case "++", "--":
		// As prefix or postfix: operands stay what they are.
		if j.At += 2; !j.operand {
			j.last = lastOperator
		}
	case ".", "?.":
		j.took(len(op), lastDot)
	case "...":
		if j.Expression && len(j.stack) == 0 && j.last == lastNone {
			j.fail(j.At, "found ... at the start of an expression, expected an operand")
			return
		}
		j.took(3, lastOperator)
	case ";":
		if j.Expression && len(j.stack) == 0 {
			j.fail(j.At, "found ; after an expression, expected }")
			return
		}
		j.took(1, lastSemi)
	default:
		if j.fits(op) {
			j.between(op)
		}
	}
}

// between takes an operator that stands between operands, or before one.
func (j *Scanner) between(op string) {
	if n := len(j.stack); op == "," && n > 0 && j.stack[n-1].mode == inBraces && !j.stack[n-1].block {
		j.stack[n-1].key = j.stack[n-1].object
	}
	j.op = op[0]
	j.took(len(op), lastOperator)
}

// fits reports whether an operator can stand here, and is a fault otherwise.
func (j *Scanner) fits(op string) bool {
	outside := len(j.stack) == 0
	switch {
	case op == "?" && outside:
		j.question++
	case op == ":" && outside:
		if j.question == 0 && j.Expression {
			j.fail(j.At, "found : after a complete expression, expected an operator or }")
		}
		j.question = max(0, j.question-1)
	case (op == "!" || op == "~") && j.operand && !j.newLine:
		j.fail(j.At, "found %s after an operand, expected an operator between two", op)
	case !j.operand && j.needsLeft(op):
		j.fail(j.At, "found %s, expected an operand", op)
	}
	return j.fault == ""
}

// needsLeft reports whether an operator cannot stand where an operand must.
func (j *Scanner) needsLeft(op string) bool {
	switch op {
	case "!", "~", "+", "-", ",", "?", ":":
		return false
	}
	switch j.last {
	case lastOperator, lastArrow, lastDot, lastNone:
		// Types have > and import a, * as b has a star after a comma.
		return op != ">" && op != "*" || len(j.stack) == 0 && (op == ">" || j.Expression || j.op != ',')
	}
	return false
}
