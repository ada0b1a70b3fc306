package highlight

// word reads a name or a keyword.
func (l *scriptLexer) word() {
	end := l.pos
	if l.code[end] == '#' {
		end++
	}
	end = l.wordEnd(end)
	word := l.code[l.pos:end]
	f := l.top()
	if l.typing() {
		l.typeWord(f, word, end)
		return
	}
	if l.dot {
		class := Plain
		if l.called(end) {
			class = Function
		}
		l.name(class, end)
		return
	}
	switch f.kind {
	case inImports:
		if word == "as" || word == "type" && isWordStart(l.at(l.skipSpace(end))) || word == "default" {
			l.put(Keyword, end)
			return
		}
		l.name(Plain, end)
		return
	case inEnum:
		if f.start {
			l.name(Plain, end)
			f.start = false
			return
		}
	case inMembers, inClass, inObject:
		if f.start && !l.operand {
			l.member(f, word, end)
			return
		}
	}
	if f.heading {
		l.headingWord(f, word, end)
		return
	}
	switch l.keyword {
	case "function":
		l.name(Function, end)
		l.params = true
		return
	case "class", "interface", "enum", "namespace", "module", "type":
		l.name(Type, end)
		f.heading = l.keywordOpens(f)
		return
	case "const", "let", "var":
		if word == "enum" {
			break
		}
		class := Plain
		if l.bindsFunction(end) {
			class = Function
		}
		l.name(class, end)
		f.annot = true
		return
	}
	if l.isKeyword(f, word, end) {
		l.keywordToken(f, word, end)
		return
	}
	switch word {
	case "true", "false", "null", "undefined", "NaN", "Infinity":
		l.name(Constant, end)
		return
	case "this", "arguments":
		l.name(Keyword, end)
		return
	}
	if f.kind == inParams && f.start {
		if scriptModifiers[word] && isWordStart(l.at(l.skipBlank(end))) {
			l.put(Keyword, end)
			return
		}
		class := Plain
		if l.bindsFunction(end) {
			class = Function
		}
		l.name(class, end)
		return
	}
	class := Plain
	switch {
	case l.called(end):
		class = Function
	case f.kind == inBlock && f.annot && l.bindsFunction(end):
		class = Function
	}
	l.name(class, end)
}

// keywordOpens says whether a body, or "=" and a type, follows the name behind a
// keyword, and perhaps its parameters.
func (l *scriptLexer) keywordOpens(f *frame) bool {
	switch f.body {
	case inClass, inMembers, inEnum:
		if f.body == inMembers {
			f.typing = false
		}
		return true
	}
	return f.alias
}

// name puts a word that ends a value.
func (l *scriptLexer) name(class Class, end int) {
	l.put(class, end)
	l.after(true)
	l.params = false
	l.value()
}

// called says whether arguments, or types and arguments, begin at i.
func (l *scriptLexer) called(i int) bool {
	switch l.at(i) {
	case '(', '`':
		return true
	case '<':
		return l.typesAhead(i)
	case '?':
		return l.has(i, "?.(")
	case '!':
		return l.at(i+1) == '('
	case ' ':
		i = l.skipBlank(i)
		return l.at(i) == '('
	}
	return false
}

// isKeyword says whether a word in front of which a value may begin, or behind
// which one has ended, is a keyword there.
func (l *scriptLexer) isKeyword(f *frame, word string, end int) bool {
	next := l.skipBlank(end)
	c := l.at(next)
	switch word {
	case "as", "satisfies":
		return (l.operand || f.imports) && c != '(' && c != '.' && c != ','
	case "of":
		return l.operand && f.kind == inParen
	case "from":
		return f.imports || l.operand && (c == '"' || c == '\'')
	case "async":
		return !l.operand && (isWordStart(c) || c == '(' && l.functionAhead(next) || c == '<')
	case "type", "namespace", "module", "interface":
		return (f.start || f.imports) && !l.operand && (isWordStart(c) || f.imports && (c == '{' || c == '*'))
	case "declare", "abstract", "private", "protected", "public", "static", "readonly", "override":
		return !l.operand && isWordStart(c) && (f.start || f.kind == inParams)
	case "get", "set", "accessor", "constructor":
		return false
	case "implements", "infer":
		return false
	}
	if !scriptKeywords[word] {
		return false
	}
	// The name of a key or of a label.
	return c != ':' || word == "default" || word == "case" || f.ternary > 0
}

// keywordToken puts a keyword, and notes what it announces.
func (l *scriptLexer) keywordToken(f *frame, word string, end int) {
	start := f.start
	l.put(Keyword, end)
	l.after(false)
	l.keyword = word
	l.params = false
	switch word {
	case "super":
		l.operand = true
		f.start = false
	case "import", "export":
		if start && f.kind == inBlock {
			f.imports = true
		}
		return // a statement may follow export
	case "type":
		f.alias = !f.imports || start
		if c := l.at(l.skipBlank(end)); c == '{' || c == '*' {
			f.alias = false
		} else if f.imports && f.alias {
			// "import type Name from" or "export type Name = …".
			f.alias = l.at(l.skipBlank(l.skipWord(l.skipBlank(end)))) != 'f'
			f.imports = !f.alias
		}
		if !f.alias {
			l.keyword = ""
		}
		return
	case "class":
		f.body = inClass
	case "interface":
		f.body = inMembers
	case "enum":
		f.body = inEnum
	case "catch":
		l.params = true
	case "const", "let", "var":
		f.annot = true
	case "as", "satisfies":
		if f.imports || f.kind == inImports {
			return
		}
		if l.has(l.skipBlank(end), "const") {
			l.put(Plain, l.skipBlank(end))
			l.put(Keyword, l.wordEnd(l.pos))
			l.operand = true
			return
		}
		f.typing = true
		return
	case "async", "declare", "abstract", "default", "from":
		return
	case "case":
		f.ternary = 0
	}
	if word != "else" && word != "try" && word != "do" && word != "finally" {
		f.start = false
	} else {
		f.start = true
	}
	if f.imports && word != "from" {
		f.imports = false
	}
}

// headingWord reads a word between a class's name and its body.
func (l *scriptLexer) headingWord(f *frame, word string, end int) {
	switch word {
	case "extends":
		l.put(Keyword, end)
		l.after(false)
		if f.body == inMembers {
			f.typing = true
		}
	case "implements":
		l.put(Keyword, end)
		l.after(false)
		f.typing = true
	default:
		class := Type
		if l.at(end) == '(' {
			class = Function
		}
		l.put(class, end)
		l.after(true)
	}
}

// member reads the first word of a member of a class or a type, or of a key of
// an object.
func (l *scriptLexer) member(f *frame, word string, end int) {
	next := l.skipSpace(end)
	c := l.at(next)
	named := isWordStart(c) || c == '[' || c == '"' || c == '\'' || c == '*' || c == '#' || c == '{' && word == "static"
	switch {
	case scriptModifiers[word] && named && (f.kind != inObject || word == "async" || word == "get" || word == "set"):
		l.put(Keyword, end)
		l.after(false)
		l.keyword = word
		return
	case word == "new" && f.kind == inMembers && (c == '(' || c == '<'):
		l.put(Keyword, end)
		l.after(false)
		l.params = true
		return
	case word == "constructor" && c == '(' && f.kind == inClass:
		l.put(Keyword, end)
		l.after(true)
		l.params = true
		return
	}
	if c == '?' || c == '!' && f.kind == inClass {
		next = l.skipSpace(next + 1)
		c = l.at(next)
	}
	switch {
	case c == '(' || c == '<':
		l.put(Function, end)
		l.after(true)
		l.params = true
		return
	case c == ':' && f.kind == inObject:
		class := Plain
		if l.functionAhead(next + 1) {
			class = Function
		}
		l.put(class, end)
	case c == ':' || c == '=':
		class := Plain
		if l.bindsFunction(end) {
			class = Function
		}
		l.put(class, end)
		f.annot = f.kind != inObject
	default:
		class := Plain
		switch word {
		case "this":
			class = Keyword
		case "true", "false", "null":
			class = Constant
		}
		l.put(class, end)
	}
	l.after(true)
	l.params = false
}
