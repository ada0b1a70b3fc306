package highlight

// bindsFunction reports whether what is bound to the name that ends at i is a
// function: "= () =>", ": () => …".
func (l *scriptLexer) bindsFunction(i int) bool {
	i = l.skipBlank(i)
	if c := l.at(i); c == '?' || c == '!' {
		i = l.skipBlank(i + 1)
	}
	switch l.at(i) {
	case ':':
		return l.functionTypeAhead(i + 1)
	case '=':
		return l.at(i+1) != '=' && l.at(i+1) != '>' && l.functionAhead(i+1)
	}
	return false
}

// functionAhead reports whether a function begins at i: "function", "a =>",
// "(a, b) =>", "<T>(a) =>", each perhaps with "async" in front.
func (l *scriptLexer) functionAhead(i int) bool {
	i = l.skipSpace(i)
	if l.has(i, "async") && !isWord(l.at(i+5)) {
		i = l.skipSpace(i + 5)
	}
	if l.has(i, "function") && !isWord(l.at(i+8)) {
		return true
	}
	if l.at(i) == '<' {
		if i = l.skipBrackets(i); i < 0 {
			return false
		}
		i = l.skipSpace(i)
	}
	if isWordStart(l.at(i)) {
		return l.has(l.skipBlank(l.skipWord(i)), "=>")
	}
	if l.at(i) != '(' {
		return false
	}
	if i = l.skipBrackets(i); i < 0 {
		return false
	}
	i = l.skipSpace(i)
	return l.has(i, "=>") || l.at(i) == ':' && l.arrowOnLine(i)
}

func (l *scriptLexer) functionTypeAhead(i int) bool {
	i = l.skipSpace(i)
	if l.at(i) == '<' {
		if i = l.skipBrackets(i); i < 0 {
			return false
		}
	}
	if l.at(i) != '(' {
		return false
	}
	if i = l.skipBrackets(i); i < 0 {
		return false
	}
	return l.has(l.skipSpace(i), "=>")
}

// arrowOnLine reports whether "=>" follows on the line, in front of a semicolon.
func (l *scriptLexer) arrowOnLine(i int) bool {
	for end := l.reach(i, maxAhead/2); i < end; i++ {
		l.looked++
		switch l.code[i] {
		case '\n', ';':
			return false
		case '=':
			return l.at(i+1) == '>'
		}
	}
	return false
}

// skipBrackets returns the end of the bracket that opens at i, or -1 if it isn't
// closed near by. Inside of "<", an arrow does not close.
func (l *scriptLexer) skipBrackets(i int) int {
	var open [16]byte
	depth := 0
	for end := l.reach(i, 2*maxAhead); i < end; i++ {
		l.looked++
		switch c := l.code[i]; c {
		case '(', '[', '{', '<':
			if c == '<' && depth > 0 && open[depth-1] != '>' {
				continue // perhaps a comparison
			}
			if depth == len(open) {
				return -1
			}
			open[depth] = closingOf(c)
			depth++
		case ')', ']', '}', '>':
			if c == '>' && (l.code[i-1] == '=' || depth > 0 && open[depth-1] != '>') {
				continue
			}
			if depth == 0 || open[depth-1] != c {
				return -1
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '\'', '`':
			closing := i + 1
			for closing < end && l.code[closing] != c && (c == '`' || l.code[closing] != '\n') {
				if l.code[closing] == '\\' {
					closing++
				}
				closing++
			}
			l.looked += closing - i
			i = closing
		case ';':
			if depth > 0 && open[depth-1] != '}' {
				return -1
			}
		}
	}
	return -1
}

func closingOf(c byte) byte {
	switch c {
	case '(':
		return ')'
	case '[':
		return ']'
	case '{':
		return '}'
	}
	return '>'
}

// typesAhead reports whether "<" at i begins the types of a call.
func (l *scriptLexer) typesAhead(i int) bool {
	switch c := l.at(i + 1); {
	case c == ' ' || c == '=' || c == '<' || isDigit(c):
		return false
	}
	for j, end := i+1, l.reach(i, maxAhead/2); j < end; j++ {
		l.looked++
		if c := l.code[j]; c == '&' && l.at(j+1) == '&' || c == '|' && l.at(j+1) == '|' || c == '+' || c == ')' && j == i+1 {
			return false
		} else if c == '>' {
			break
		}
	}
	if i = l.skipBrackets(i); i < 0 {
		return false
	}
	switch l.at(i) {
	case '(', '`':
		return true
	}
	return false
}

// genericAhead reports whether "<" at i begins the parameters of a generic arrow
// function, which in JSX have a comma or "extends" after the first name.
func (l *scriptLexer) genericAhead(i int) bool {
	end := l.skipWord(i + 1)
	return l.at(end) == ',' || l.has(end, " extends ")
}
