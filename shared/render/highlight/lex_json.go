package highlight

import "strings"

// lexJSON reads JSON and its kin: with comments (JSONC), with names and single
// quotes (JSON5), a value a line (JSONL). A string in front of a colon is a key.
func lexJSON(code string) ([]Run, int) {
	l := newLexer(code)
	for l.pos < len(code) {
		c := code[l.pos]
		switch {
		case c == '"' || c == '\'':
			end := l.quoted(l.pos)
			class := String
			if l.at(l.skipSpace(end)) == ':' {
				class = Attribute
			}
			l.put(class, end)
		case c == '/' && l.at(l.pos+1) == '/':
			l.put(Comment, l.lineEnd(l.pos))
		case c == '/' && l.at(l.pos+1) == '*':
			end := len(code)
			if n := strings.Index(code[l.pos+2:], "*/"); n >= 0 {
				end = l.pos + 2 + n + 2
			}
			l.put(Comment, end)
		case isDigit(c) || (c == '-' || c == '+' || c == '.') && (isDigit(l.at(l.pos+1)) || l.at(l.pos+1) == '.'):
			end := l.pos + 1
			for isWord(l.at(end)) || l.at(end) == '.' || (l.at(end) == '-' || l.at(end) == '+') && l.at(end-1)|0x20 == 'e' {
				end++
			}
			l.put(Number, end)
		case isWordStart(c):
			end := l.wordEnd(l.pos)
			class := Plain
			switch word := code[l.pos:end]; {
			case l.at(l.skipSpace(end)) == ':':
				class = Attribute
			case word == "true" || word == "false" || word == "null" || word == "Infinity" || word == "NaN":
				class = Constant
			}
			l.put(class, end)
		default:
			l.put(Plain, l.pos+1)
		}
	}
	return l.done()
}
