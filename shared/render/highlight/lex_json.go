package highlight

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
			l.put(Comment, l.commentEnd())
		case isDigit(c) || (c == '-' || c == '+' || c == '.') && (isDigit(l.at(l.pos+1)) || l.at(l.pos+1) == '.'):
			end := l.pos + 1
			for isWord(l.at(end)) || l.at(end) == '.' || (l.at(end) == '-' || l.at(end) == '+') && l.at(end-1)|0x20 == 'e' {
				end++
			}
			l.put(Number, end)
		case isWordStart(c):
			jsonWord(&l)
		default:
			l.put(Plain, l.pos+1)
		}
	}
	return l.done()
}

// jsonWord reads a name of JSON5, or a value that is a word.
func jsonWord(l *lexer) {
	end := l.wordEnd(l.pos)
	class := Plain
	if l.at(l.skipSpace(end)) == ':' {
		class = Attribute
	} else {
		switch l.code[l.pos:end] {
		case "true", "false", "null", "Infinity", "NaN":
			class = Constant
		}
	}
	l.put(class, end)
}
