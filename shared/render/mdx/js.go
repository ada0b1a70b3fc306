package mdx

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The scanner below finds where an expression or a statement of JavaScript
// ends. It is no parser: it knows strings, templates, comments, regular
// expressions, brackets and JSX, which is what decides about a closing brace,
// and it tells operands from operators, which is what decides about a slash
// and about less-than.

// jsMode is what the scanner is inside of.
type jsMode uint8

const (
	inBraces   jsMode = iota // { … }
	inParens                 // ( … )
	inBrackets               // [ … ]
	inTemplate               // ` … `
	inSubst                  // ${ … } in a template
	inComment                // /* … */
	inTag                    // <a …
	inJSX                    // <a> … </a>
	inJSXExpr                // { … } in a tag or between tags
)

// jsFrame is one thing that is open.
type jsFrame struct {
	mode jsMode
	// block is set for braces that hold statements: what follows them is no
	// operator.
	block bool
	// object is set for braces that surely hold an object, key where the next
	// token is a key of it.
	key, object bool
	at          int
}

// jsLast is the last token, as far as it matters.
type jsLast uint8

const (
	lastNone     jsLast = iota
	lastOperand         // a name, literal or closing bracket
	lastParen           // )
	lastOperator        // something that needs an operand behind it
	lastArrow           // =>
	lastWord            // a keyword that needs something behind it
	lastBlock           // a keyword in front of a block: else, try, …
	lastSemi            // ;
	lastBrace           // } of a block
	lastDot             // . or ?.
)

// jsError is what is wrong with JavaScript, and where.
type jsError struct {
	at      int
	message string
}

type jsScanner struct {
	r     *reader
	i     int
	stack []jsFrame
	last  jsLast
	op    byte // the last operator's first sign
	// operand tells that the last token ends an operand.
	operand bool
	// expr is set for an expression, unset for statements.
	expr bool
	// newLine tells that a line ended since the last token.
	newLine bool
	// question counts ?-operators outside of brackets that wait for a colon.
	question int
	err      *jsError
}

// jsBlockWords are followed by a block or statement, jsWords by something
// else; names that are in neither are operands.
var jsWords = map[string]jsLast{
	"else": lastBlock, "do": lastBlock, "try": lastBlock, "finally": lastBlock, "static": lastBlock,
	"return": lastWord, "typeof": lastWord, "instanceof": lastWord, "in": lastWord, "of": lastWord, "new": lastWord,
	"delete": lastWord, "void": lastWord, "throw": lastWord, "case": lastWord, "await": lastWord, "yield": lastWord,
	"async": lastWord, "function": lastWord, "class": lastBlock, "extends": lastWord, "const": lastWord, "let": lastWord,
	"var": lastWord, "if": lastWord, "for": lastWord, "while": lastWord, "switch": lastWord, "import": lastWord,
	"export": lastWord, "default": lastWord, "from": lastWord, "as": lastWord, "with": lastWord,
}

func (j *jsScanner) fail(at int, format string, args ...any) {
	if j.err == nil {
		j.err = &jsError{at: at, message: fmt.Sprintf(format, args...)}
	}
}

func (j *jsScanner) push(mode jsMode, block bool) {
	if len(j.stack) >= maxDepth {
		j.fail(j.i, "brackets nest deeper than %d levels", maxDepth)
		return
	}
	j.stack = append(j.stack, jsFrame{mode: mode, block: block, at: j.i})
}

// scan reads up to limit, or to the brace that closes the expression in which
// it began, and reports whether it found that.
func (j *jsScanner) scan(limit int) bool {
	for j.err == nil {
		j.r.p.steps++
		if limit >= 0 && j.i >= limit {
			return false
		}
		c := j.r.at(j.i)
		if c == 0 && j.i >= j.r.end {
			return false
		}
		mode := inBraces
		if n := len(j.stack); n > 0 {
			mode = j.stack[n-1].mode
		}
		switch mode {
		case inTemplate:
			j.template(c)
		case inComment:
			if c == '*' && j.r.at(j.i+1) == '/' {
				j.stack = j.stack[:len(j.stack)-1]
				j.i++
			}
			j.i++
		case inTag:
			j.tag(c)
		case inJSX:
			j.children(c)
		default:
			if c == '}' && len(j.stack) == 0 && j.expr {
				return true
			}
			j.token(c)
		}
	}
	return false
}

func (j *jsScanner) template(c byte) {
	switch {
	case c == '\\':
		j.i += 2
	case c == '`':
		j.stack = j.stack[:len(j.stack)-1]
		j.i++
		j.operand, j.last = true, lastOperand
	case c == '$' && j.r.at(j.i+1) == '{':
		j.i++
		j.push(inSubst, false)
		j.i++
		j.operand, j.last = false, lastNone
	default:
		j.i++
	}
}

// tag reads inside of <a …>.
func (j *jsScanner) tag(c byte) {
	top := &j.stack[len(j.stack)-1]
	switch {
	case c == '>':
		top.mode = inJSX
		j.i++
	case c == '/' && j.r.at(j.i+1) == '>':
		j.i += 2
		j.endElement()
	case c == '/' && j.r.at(j.i+1) == '*':
		j.push(inComment, false)
		j.i += 2
	case c == '{':
		j.push(inJSXExpr, false)
		j.i++
		j.operand, j.last = false, lastNone
	case c == '"' || c == '\'':
		start := j.i
		for j.i++; ; j.i++ {
			j.r.p.steps++
			q := j.r.at(j.i)
			if q == c {
				break
			}
			if q == 0 && j.i >= j.r.end {
				j.fail(start, "found an attribute value that does not end, expected a closing %c", c)
				return
			}
		}
		j.i++
	case c == '<' || c == '}':
		j.fail(j.i, "found %c in a tag, expected an attribute or the end of the tag", c)
	default:
		j.i++
	}
}

// children reads between tags.
func (j *jsScanner) children(c byte) {
	switch {
	case c == '{':
		j.push(inJSXExpr, false)
		j.i++
		j.operand, j.last = false, lastNone
	case c == '<' && j.r.at(j.i+1) == '/':
		start := j.i
		for j.i += 2; j.r.at(j.i) != '>'; j.i++ {
			j.r.p.steps++
			if j.r.atEnd(j.i) || j.r.at(j.i) == '<' || j.r.at(j.i) == '{' {
				j.fail(start, "found a closing tag that does not end, expected >")
				return
			}
		}
		j.i++
		j.endElement()
	case c == '<':
		j.element()
	case c == '>' || c == '}':
		j.fail(j.i, "found %c between tags of an expression, expected {'%c'}", c, c)
	default:
		j.i++
	}
}

// element enters the tag at a less-than sign.
func (j *jsScanner) element() {
	next := j.r.at(j.i + 1)
	if next == '>' {
		j.push(inJSX, false)
		j.i += 2
		return
	}
	if !isAlpha(next) && next != '_' && next != '$' && next < utf8.RuneSelf {
		j.fail(j.i, "found < in an expression, expected an operand")
		return
	}
	j.push(inTag, false)
	j.i++
}

func (j *jsScanner) endElement() {
	j.stack = j.stack[:len(j.stack)-1]
	j.operand, j.last = true, lastOperand
}

// token reads one token of plain JavaScript.
func (j *jsScanner) token(c byte) {
	key := false
	if n := len(j.stack); n > 0 && j.stack[n-1].key && !isSpaceOrEOL(c) && (c != '/' || j.r.at(j.i+1) != '*' && j.r.at(j.i+1) != '/') {
		key = true
		j.stack[n-1].key = false
	}
	switch {
	case isSpaceOrEOL(c) || c == '\f' || c == '\v':
		j.newLine = j.newLine || c == '\n'
		j.i++
		return
	case c == '/':
		j.slash()
	case c == '"' || c == '\'':
		j.adjacent("a string")
		j.str(c)
	case c == '`':
		j.push(inTemplate, false)
		j.i++
	case c == '(' || c == '[' || c == '{':
		j.open(c)
	case c == ')' || c == ']' || c == '}':
		j.close(c)
	case isDigit(c) || c == '.' && isDigit(j.r.at(j.i+1)):
		j.adjacent("a number")
		for isAlnum(c) || c == '.' || c == '_' {
			j.r.p.steps++
			j.i++
			// The sign of an exponent belongs to the number.
			if c|0x20 == 'e' && (j.r.at(j.i) == '+' || j.r.at(j.i) == '-') && isDigit(j.r.at(j.i+1)) {
				j.i++
			}
			c = j.r.at(j.i)
		}
		j.operand, j.last = true, lastOperand
	case c == '<' && !j.operand:
		j.element()
	case isAlpha(c) || c == '_' || c == '$' || c == '#' || c >= utf8.RuneSelf:
		start := j.i
		j.word()
		if key && j.err == nil {
			j.key(j.r.s[start:j.i])
		}
	default:
		j.operator(c)
	}
	j.newLine = false
}

// adjacent refuses an operand right behind an operand, which is how prose
// reads where JavaScript was expected. On a new line a statement may begin.
func (j *jsScanner) adjacent(what string) bool {
	if !j.operand || len(j.stack) > 0 || !j.expr && j.newLine {
		return false
	}
	want := "an operator or }"
	if !j.expr {
		want = "an operator or the end of the statement"
	}
	j.fail(j.i, "found %s behind a complete expression, expected %s", what, want)
	return true
}

func (j *jsScanner) slash() {
	switch j.r.at(j.i + 1) {
	case '*':
		j.push(inComment, false)
		j.i += 2
		return
	case '/':
		for !j.r.atEnd(j.i) && j.r.at(j.i) != '\n' {
			j.r.p.steps++
			j.i++
		}
		return
	}
	if j.operand {
		j.i++
		if j.r.at(j.i) == '=' {
			j.i++
		}
		j.operand, j.last, j.op = false, lastOperator, '/'
		return
	}
	start, class := j.i, false
	for j.i++; ; j.i++ {
		j.r.p.steps++
		switch c := j.r.at(j.i); {
		case c == '\n' || c == 0 && j.i >= j.r.end:
			j.fail(start, "found a regular expression that does not end on its line, expected /")
			return
		case c == '\\':
			j.i++
			continue
		case c == '[':
			class = true
			continue
		case c == ']':
			class = false
			continue
		case c == '/' && !class:
		default:
			continue
		}
		break
	}
	for j.i++; isAlpha(j.r.at(j.i)); j.i++ {
		j.r.p.steps++
	}
	j.operand, j.last = true, lastOperand
}

func (j *jsScanner) str(quote byte) {
	start := j.i
	for j.i++; ; j.i++ {
		j.r.p.steps++
		c := j.r.at(j.i)
		switch {
		case c == '\\':
			j.i++
			continue
		case c == '\n' || c == 0 && j.i >= j.r.end:
			j.fail(start, "found a string that does not end on its line, expected %c", quote)
			return
		case c == quote:
			j.i++
			j.operand, j.last = true, lastOperand
			return
		}
	}
}

func (j *jsScanner) open(c byte) {
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
				block = !j.expr
			}
		case lastOperand:
			// class A {, switch, a label's block: none is an operand.
			block = true
		}
		// Behind a colon it may also be the block of a case, and the braces of
		// imports and exports hold names.
		key := !block && !(j.last == lastOperator && j.op == ':') &&
			(j.expr || len(j.stack) > 0 || j.last == lastOperator && j.op != ',')
		if j.push(inBraces, block); j.err == nil {
			top := &j.stack[len(j.stack)-1]
			top.key, top.object = key, key
		}
	}
	j.i++
	j.operand, j.last = false, lastNone
}

// key checks what follows a name where a key of an object stands. Braces in
// braces are also how templates mark what they fill in: {{user.name}} is
// neither an object nor anything else.
func (j *jsScanner) key(name string) {
	for k := j.i; ; k++ {
		j.r.p.steps++
		switch c := j.r.at(k); {
		case isSpaceOrEOL(c):
			continue
		case c == 0 || c >= utf8.RuneSelf || strings.IndexByte(":,}(=/", c) >= 0:
		case name == "get" || name == "set" || name == "async":
		default:
			j.i = k
			j.fail(k, "found %c behind a key of an object, expected :, a comma or }", c)
		}
		return
	}
}

func (j *jsScanner) close(c byte) {
	if len(j.stack) == 0 {
		j.fail(j.i, "found %c without the bracket that it closes", c)
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
		j.fail(j.i, "found %c, expected %c", c, want)
		return
	}
	j.stack = j.stack[:len(j.stack)-1]
	j.i++
	switch {
	case c == ')':
		j.operand, j.last = true, lastParen
	case top.block:
		j.operand, j.last = false, lastBrace
	default:
		// Also true behind ${…} and {…} in JSX, where nothing asks.
		j.operand, j.last = true, lastOperand
	}
}

func (j *jsScanner) word() {
	start := j.i
	c := j.r.at(j.i)
	if c == '#' {
		j.i++
	}
	ascii := true
	for {
		j.r.p.steps++
		c = j.r.at(j.i)
		if isAlnum(c) || c == '_' || c == '$' {
			j.i++
			continue
		}
		if c < utf8.RuneSelf {
			break
		}
		ascii = false
		r, n := utf8.DecodeRuneInString(j.r.s[j.i:])
		if classOf(r) == classSpace && j.i == start {
			j.i += n
			return
		}
		if !isIDPart(r) || j.i == start && !isIDStart(r) {
			if j.i == start {
				j.fail(j.i, "found %q in an expression, expected an operand or operator", r)
				return
			}
			break
		}
		j.i += n
	}
	if j.i == start {
		j.i++
		return
	}
	name := j.r.s[start:j.i]
	if j.last == lastDot {
		j.operand, j.last = true, lastOperand
		return
	}
	kind, keyword := lastNone, false
	if ascii {
		kind, keyword = jsWords[name]
	}
	if keyword {
		j.operand, j.last = false, kind
		// A key or property may have the name of a keyword.
		for k := j.i; ; k++ {
			if next := j.r.at(k); !isSpace(next) {
				if next == ':' || next == ',' || next == '=' || next == '}' || next == ')' {
					j.operand, j.last = true, lastOperand
				}
				break
			}
			j.r.p.steps++
		}
		return
	}
	if j.operand {
		end := j.i
		j.i = start
		if j.adjacent("`" + name + "`") {
			return
		}
		j.i = end
	}
	j.operand, j.last = true, lastOperand
}

func (j *jsScanner) operator(c byte) {
	next := j.r.at(j.i + 1)
	switch {
	case c == '=' && next == '>':
		j.i += 2
		j.operand, j.last = false, lastArrow
		return
	case (c == '+' || c == '-') && next == c:
		// As prefix or postfix: operands stay what they are.
		j.i += 2
		if !j.operand {
			j.last = lastOperator
		}
		return
	case c == '?' && next == '.' && !isDigit(j.r.at(j.i+2)):
		j.i += 2
		j.operand, j.last = false, lastDot
		return
	case c == '.':
		if next == '.' && j.r.at(j.i+2) == '.' {
			if j.expr && len(j.stack) == 0 && j.last == lastNone {
				j.fail(j.i, "found ... at the start of an expression, expected an operand")
				return
			}
			j.i += 3
			j.operand, j.last = false, lastOperator
			return
		}
		j.i++
		j.operand, j.last = false, lastDot
		return
	case c == ';':
		if j.expr && len(j.stack) == 0 {
			j.fail(j.i, "found ; behind an expression, expected }")
			return
		}
		j.i++
		j.operand, j.last = false, lastSemi
		return
	case c == '?' && next == '?':
		j.i += 2
		j.operand, j.last = false, lastOperator
		return
	case c == '?' && len(j.stack) == 0:
		j.question++
	case c == ':' && len(j.stack) == 0:
		if j.question == 0 && j.expr {
			j.fail(j.i, "found : behind a complete expression, expected an operator or }")
			return
		}
		j.question = max(0, j.question-1)
	case c == '@' || c == '\\' || c < 0x20:
		j.fail(j.i, "found %q in an expression, expected an operand or operator", rune(c))
		return
	case (c == '!' && next != '=' || c == '~') && j.operand && !j.newLine:
		j.fail(j.i, "found %c behind an operand, expected an operator between two", c)
		return
	case !j.operand && j.needsLeft(c):
		j.fail(j.i, "found %c, expected an operand", c)
		return
	}
	if n := len(j.stack); c == ',' && n > 0 && j.stack[n-1].mode == inBraces && !j.stack[n-1].block {
		j.stack[n-1].key = j.stack[n-1].object
	}
	j.i++
	if next == '=' && (c == '+' || c == '-' || c == '<' || c == '!') {
		j.i++
	}
	j.op = c
	for n := j.r.at(j.i); n != 0 && strings.IndexByte("=*%&|^>?", c) >= 0 && strings.IndexByte("=*&|>", n) >= 0; n = j.r.at(j.i) {
		j.r.p.steps++
		j.i++
	}
	j.operand, j.last = false, lastOperator
}

// needsLeft reports an operator that cannot stand where an operand must.
func (j *jsScanner) needsLeft(c byte) bool {
	switch j.last {
	case lastOperator, lastArrow, lastDot, lastNone:
		// import a, * as b has a star behind a comma.
		return strings.IndexByte("%&|^=", c) >= 0 || len(j.stack) == 0 && (c == '>' || c == '*' && (j.expr || j.op != ','))
	}
	return false
}

// complete reports that nothing is open and no operand is missing.
func (j *jsScanner) complete() bool {
	if len(j.stack) > 0 || j.question > 0 {
		return false
	}
	switch j.last {
	case lastOperator, lastArrow, lastWord, lastBlock, lastDot:
		return false
	}
	return true
}

// open names the innermost thing that is open, for messages.
func (j *jsScanner) opened() (string, int) {
	if len(j.stack) == 0 {
		return "", -1
	}
	top := j.stack[len(j.stack)-1]
	names := [...]string{inBraces: "} for {", inParens: ") for (", inBrackets: "] for [", inTemplate: "` for `",
		inSubst: "} for ${", inComment: "*/ for /*", inTag: "> for <", inJSX: "a closing tag for the element", inJSXExpr: "} for {"}
	return names[top.mode], top.at
}
