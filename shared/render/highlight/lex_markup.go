package highlight

import "strings"

// markupLexer reads Markdown, and MDX: Markdown with elements, expressions in
// braces and modules. It goes line by line: a fence, a heading or an empty line
// begins anew, so a wrong guess ends with its paragraph.
type markupLexer struct {
	lexer
	mdx bool
	// others returns the runs of code in a language without a lexer here, and nil
	// for one that it doesn't know. It is asked for the first maxOthers fences.
	others func(label, code string) []Run
	asked  int
}

// maxOthers bounds what fences may cost whose language has chroma's grammar: each
// has the steps of a whole block.
const maxOthers = 8

// lexMarkup reads Markdown, or MDX. others may be nil.
func lexMarkup(code string, mdx bool, others func(label, code string) []Run) ([]Run, int) {
	l := &markupLexer{lexer: newLexer(code), mdx: mdx, others: others}
	if line := l.line(0); line == "---" {
		l.frontMatter()
	}
	for l.pos < len(code) {
		l.block()
	}
	return l.done()
}

func lexMarkdown(code string) ([]Run, int) { return lexMarkup(code, false, nil) }
func lexMDX(code string) ([]Run, int)      { return lexMarkup(code, true, nil) }

// line returns the line that begins at i, without the blanks at its end.
func (l *markupLexer) line(i int) string {
	return strings.TrimRight(l.code[i:l.lineEnd(i)], " \t\r")
}

// frontMatter reads the fields above a page, up to the line that ends them or to
// an empty line.
func (l *markupLexer) frontMatter() {
	l.put(Operator, l.pos+3)
	l.put(Plain, l.lineEnd(l.pos)+1)
	for l.pos < len(l.code) {
		line := l.line(l.pos)
		end := l.pos + len(line)
		if line == "---" {
			l.put(Operator, end)
			l.put(Plain, l.lineEnd(l.pos)+1)
			return
		}
		if line == "" {
			return
		}
		l.put(Plain, l.pos+len(line)-len(strings.TrimLeft(line, " \t-")))
		if l.at(l.pos) == '#' {
			l.put(Comment, end)
		}
		if key := strings.IndexByte(l.code[l.pos:max(end, l.pos)], ':'); key > 0 {
			l.put(Attribute, l.pos+key)
			l.put(Plain, l.skipBlank(l.pos+1))
		}
		switch value := l.code[min(l.pos, end):end]; {
		case value == "true" || value == "false" || value == "null":
			l.put(Constant, end)
		case value != "" && strings.Trim(value, "0123456789.") == "":
			l.put(Number, end)
		default:
			l.put(String, end)
		}
		l.put(Plain, l.lineEnd(l.pos)+1)
	}
}

// block reads one line, or all lines of a fence or of a module.
func (l *markupLexer) block() {
	start := l.skipBlank(l.pos)
	for l.at(start) == '>' {
		l.put(Plain, start)
		l.put(Operator, start+1)
		start = l.skipBlank(l.pos)
	}
	line := l.line(start)
	end := start + len(line)
	switch {
	case strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~"):
		l.fence(start, line)
		return
	case headingLevel(line) > 0:
		l.put(Plain, start)
		l.put(Heading, end)
	case l.mdx && start == l.pos && (strings.HasPrefix(line, "import ") || strings.HasPrefix(line, "export ")):
		l.module()
		return
	case len(line) >= 3 && (strings.Trim(line, "- ") == "" || strings.Trim(line, "* ") == "" || strings.Trim(line, "_ ") == ""):
		l.put(Plain, start)
		l.put(Operator, end)
	default:
		l.put(Plain, start)
		if marker := listMarker(line); marker > 0 {
			l.put(Operator, start+marker)
		}
		l.inline()
	}
	if l.at(l.pos) == '\n' || l.pos < l.lineEnd(l.pos) {
		l.put(Plain, l.lineEnd(l.pos)+1)
	}
}

// headingLevel returns the number of signs that make a line a heading, or 0.
func headingLevel(line string) int {
	level := len(line) - len(strings.TrimLeft(line, "#"))
	if level == 0 || level > 6 || level < len(line) && line[level] != ' ' {
		return 0
	}
	return level
}

// listMarker returns the length of what begins an item of a list, or 0.
func listMarker(line string) int {
	i := 0
	if line != "" && strings.IndexByte("-*+", line[0]) >= 0 {
		i = 1
	} else {
		for i < len(line) && i < 9 && isDigit(line[i]) {
			i++
		}
		if i == 0 || i == len(line) || line[i] != '.' && line[i] != ')' {
			return 0
		}
		i++
	}
	if i < len(line) && line[i] != ' ' {
		return 0
	}
	return i
}

// fence reads a block of code up to the line that ends it, or to the end. Code
// in a language that has a lexer here has its classes.
func (l *markupLexer) fence(start int, line string) {
	mark := line[:len(line)-len(strings.TrimLeft(line, line[:1]))]
	info := strings.TrimLeft(line[len(mark):], " ")
	label, _, _ := strings.Cut(info, " ")
	l.put(Plain, start)
	l.put(Operator, start+len(mark))
	l.put(Attribute, start+len(line))
	l.put(Plain, l.lineEnd(l.pos)+1)
	from, end, next := l.pos, len(l.code), len(l.code)
	for i := from; i < len(l.code); i = l.lineEnd(i) + 1 {
		body := strings.TrimSpace(l.code[i:l.lineEnd(i)])
		if strings.HasPrefix(body, mark) && strings.Trim(body, mark[:1]) == "" {
			end, next = i, l.lineEnd(i)
			break
		}
	}
	for _, run := range l.embedded(label, l.code[from:end]) {
		l.put(run.Class, from+run.End)
	}
	l.put(Plain, end)
	l.put(Operator, next)
	l.put(Plain, next+1)
}

// embedded returns the runs of the code in a fence, or nil.
func (l *markupLexer) embedded(label, code string) []Run {
	if code == "" {
		return nil
	}
	if lex := embeddedLexer(label); lex != nil {
		runs, steps := lex(code)
		l.looked += steps
		return runs
	}
	if l.others == nil || l.asked >= maxOthers {
		return nil
	}
	l.asked++
	return l.others(label, code)
}

// embeddedLexer returns the lexer of code in Markdown, or nil.
func embeddedLexer(label string) lexFunction {
	switch strings.ToLower(label) {
	case "js", "javascript", "jsx", "mjs", "cjs", "tsx":
		return lexScriptJSX
	case "ts", "typescript", "mts", "cts":
		return lexScript
	case "json", "jsonc", "json5", "jsonl":
		return lexJSON
	case "bash", "sh", "shell", "zsh":
		return lexShell
	case "python", "py":
		return lexPython
	}
	return nil
}

// module reads imports and exports up to the next empty line.
func (l *markupLexer) module() {
	end := len(l.code)
	if n := strings.Index(l.code[l.pos:], "\n\n"); n >= 0 {
		end = l.pos + n + 1
	}
	from := l.pos
	runs, steps := lexScriptJSX(l.code[from:end])
	l.looked += steps
	for _, run := range runs {
		l.put(run.Class, from+run.End)
	}
}

// inline reads text to the end of its line, or further where an element or an
// expression goes on.
func (l *markupLexer) inline() {
	for i := l.pos; i < len(l.code); {
		switch c := l.code[i]; {
		case c == '\n':
			l.put(Plain, i)
			return
		case c == '\\':
			i += 2
		case c == '`':
			i = l.codeSpan(i)
		case c == '<' && l.has(i, "<!--"):
			l.put(Plain, i)
			end := len(l.code)
			if n := strings.Index(l.code[i:], "-->"); n >= 0 {
				end = i + n + 3
			}
			l.put(Comment, end)
			i = end
		case c == '<' && (isWordStart(l.at(i+1)) || l.at(i+1) == '/' || l.mdx && l.at(i+1) == '>'):
			if end := l.autolink(i); end > 0 {
				l.put(Plain, i+1)
				l.put(String, end)
				i = end
				continue
			}
			l.put(Plain, i)
			l.script((*scriptLexer).tag)
			i = l.pos
		case c == '{' && l.mdx:
			l.put(Plain, i)
			l.script((*scriptLexer).embedded)
			i = l.pos
		case c == '*' && l.at(i+1) == '*':
			i = l.emphasis(i, "**", Strong)
		case (c == '*' || c == '_') && !isSpace(l.at(i+1)) && !isWord(l.at(i-1)):
			i = l.emphasis(i, l.code[i:i+1], Emphasis)
		case c == ']' && l.at(i+1) == '(':
			i = l.target(i)
		default:
			i++
		}
	}
	l.put(Plain, len(l.code))
}

// codeSpan reads code between back quotes on one line, and returns where it ended.
func (l *markupLexer) codeSpan(i int) int {
	end := i
	for end < l.reach(i, maxAhead) && l.code[end] == '`' {
		end++
	}
	mark := l.code[i:max(end, i+1)]
	line := l.code[i+len(mark) : max(l.reach(i, 2*maxAhead), i+len(mark))]
	if n := strings.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	n := strings.Index(line, mark)
	if n < 0 {
		l.looked += len(mark) + len(line)
		return i + len(mark)
	}
	l.put(Plain, i)
	l.put(String, i+n+2*len(mark))
	return l.pos
}

// emphasis reads text between two marks on one line, and returns where it ended.
func (l *markupLexer) emphasis(i int, mark string, class Class) int {
	line := l.code[i+len(mark) : max(l.reach(i, maxAhead), i+len(mark))]
	if n := strings.IndexAny(line, "\n`<{["); n >= 0 {
		line = line[:n]
	}
	l.looked += len(line)
	n := strings.Index(line, mark)
	if n <= 0 {
		return i + len(mark)
	}
	l.put(Plain, i)
	l.put(class, i+n+2*len(mark))
	return l.pos
}

// target reads "](address)" on one line, and returns where it ended.
func (l *markupLexer) target(i int) int {
	line := l.code[i:max(l.reach(i, 2*maxAhead), i)]
	if n := strings.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	n := strings.IndexByte(line, ')')
	if n < 0 {
		l.looked += len(line)
		return i + 1
	}
	l.put(Plain, i+2)
	l.put(String, i+n)
	return l.pos
}

// autolink returns the end of the address in <https://…>, or 0.
func (l *markupLexer) autolink(i int) int {
	line := l.code[i+1 : max(l.reach(i+1, maxAhead), i+1)]
	l.looked += len(line)
	n := strings.IndexAny(line, "> \n\"")
	if n < 0 || line[n] != '>' || !strings.Contains(line[:n], ":/") {
		return 0
	}
	return i + 1 + n
}

// script lets the lexer of scripts read on from here.
func (l *markupLexer) script(read func(*scriptLexer)) {
	s := &scriptLexer{lexer: l.lexer, jsx: true}
	s.stack = append(make([]frame, 0, 8), frame{kind: inBlock, start: true})
	read(s)
	l.lexer = s.lexer
}

// tag reads one tag of an element, not what the element holds. A tag ends at
// the latest in front of an empty line.
func (l *scriptLexer) tag() {
	if l.at(l.pos+1) == '/' {
		l.put(Plain, l.pos+2)
		l.put(Tag, l.tagName(l.pos))
		if l.at(l.pos) == '>' {
			l.put(Plain, l.pos+1)
		}
		return
	}
	l.element()
	for l.pos < len(l.code) && len(l.stack) > 1 && !(len(l.stack) == 2 && l.top().kind == inChildren) && !l.paragraphEnds() {
		l.next()
	}
}

// embedded reads an expression in braces, up to its end or in front of an empty
// line.
func (l *scriptLexer) embedded() {
	l.put(Plain, l.pos+1)
	l.push(inEmbed, '}')
	for l.pos < len(l.code) && len(l.stack) > 1 && !l.paragraphEnds() {
		l.next()
	}
}

// paragraphEnds reports whether an empty line follows.
func (l *scriptLexer) paragraphEnds() bool {
	return l.has(l.pos, "\n\n") || l.has(l.pos, "\n\r\n")
}
