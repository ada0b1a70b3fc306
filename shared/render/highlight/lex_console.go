package highlight

// lexConsole reads what a terminal shows: commands after prompts, and their
// output.
func lexConsole(code string) ([]Run, int) {
	l := newShellLexer(code)
	for l.pos < len(code) {
		prompt := promptEnd(code[l.pos:l.lineEnd(l.pos)])
		if prompt == 0 {
			l.put(Plain, l.lineEnd(l.pos)+1)
			continue
		}
		l.put(Plain, l.pos+prompt)
		l.code = code[:l.commandEnd()]
		l.stack = append(l.stack[:0], shellFrame{})
		l.documents = l.documents[:0]
		l.nextEnd = [shellEnds]int{}
		l.read()
		l.code = code
	}
	return l.done()
}

// promptEnd returns the length of a prompt at the beginning of a line, or 0:
// "$ ", "# ", "% ", "> ", with "user@host:~/folder" or "(environment)" in front.
func promptEnd(line string) int {
	const longest = 60
	for i := 0; i < min(len(line), longest); i++ {
		switch c := line[i]; c {
		case '$', '#', '%', '>':
			if i+1 == len(line) || line[i+1] == ' ' {
				return i + 1
			}
		case ' ':
			if i == 0 || line[i-1] != ')' && line[i-1] != ']' {
				return 0
			}
		case '(', ')', '[', ']', '@', ':', '~', '/', '.', '-':
		default:
			if !isWord(c) {
				return 0
			}
		}
	}
	return 0
}

// commandEnd returns the end of the lines that one command takes.
func (l *shellLexer) commandEnd() int {
	end := l.lineEnd(l.pos)
	for end < len(l.code) && end > l.pos && l.code[end-1] == '\\' {
		end = l.lineEnd(end + 1)
	}
	return min(len(l.code), end+1)
}
