package highlight

func (l *scriptLexer) word() {
	end := l.pos
	if l.code[end] == '#' {
		end++
	}
	end = l.wordEnd(end)
	word := l.code[l.pos:end]
	f := l.top()
	switch {
	case l.typing():
		l.typeWord(f, word, end)
	case l.dot:
		l.name(functionIf(l.called(end)), end)
	case f.kind == inImports:
		if word == "as" || word == "type" && isWordStart(l.at(l.skipSpace(end))) || word == "default" {
			l.put(Keyword, end)
			return
		}
		l.name(Plain, end)
	case f.kind == inEnum && f.start:
		l.name(Plain, end)
		f.start = false
	case f.start && !l.operand && (f.kind == inMembers || f.kind == inClass || f.kind == inObject):
		l.member(f, word, end)
	case f.heading:
		l.headingWord(f, word, end)
	case l.declared(f, word, end):
	case l.isKeyword(f, word, end):
		l.keywordToken(f, word, end)
	default:
		l.valueWord(f, word, end)
	}
}

// functionIf is the class of a name that may be a function's.
func functionIf(function bool) Class {
	if function {
		return Function
	}
	return Plain
}

// declared reads the name that the keyword in front of it declares. It reports
// false, and reads nothing, where none is declared.
func (l *scriptLexer) declared(f *frame, word string, end int) bool {
	switch l.keyword {
	case "function":
		l.name(Function, end)
		l.params = true
		return true
	case "class", "interface", "enum", "namespace", "module", "type":
		l.name(Type, end)
		f.heading = l.keywordOpens(f)
		return true
	case "const", "let", "var":
		if word == "enum" {
			return false
		}
		l.name(functionIf(l.bindsFunction(end)), end)
		f.annot = true
		return true
	}
	return false
}

// valueWord reads a word of a value, or the name of a parameter.
func (l *scriptLexer) valueWord(f *frame, word string, end int) {
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
		l.name(functionIf(l.bindsFunction(end)), end)
		return
	}
	l.name(functionIf(l.called(end) || f.kind == inBlock && f.annot && l.bindsFunction(end)), end)
}

// keywordOpens reports whether a body, or "=" and a type, follows the name after
// a keyword, and perhaps its parameters.
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

// called reports whether arguments, or types and arguments, begin at i.
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

// isKeyword reports whether a word in front of which a value may begin, or has
// ended, is a keyword there.
func (l *scriptLexer) isKeyword(f *frame, word string, end int) bool {
	next := l.skipBlank(end)
	c := l.at(next)
	switch word {
	case "as", "satisfies", "of", "from":
		return l.followsValue(f, word, c)
	case "async":
		return !l.operand && (isWordStart(c) || c == '(' && l.functionAhead(next) || c == '<')
	case "type", "namespace", "module", "interface":
		return (f.start || f.imports) && !l.operand && (isWordStart(c) || f.imports && (c == '{' || c == '*'))
	case "declare", "abstract", "private", "protected", "public", "static", "readonly", "override":
		return !l.operand && isWordStart(c) && (f.start || f.kind == inParams)
	case "get", "set", "accessor", "constructor", "implements", "infer":
		return false
	}
	if !scriptKeywords[word] {
		return false
	}
	// The name of a key or of a label.
	return c != ':' || word == "default" || word == "case" || f.ternary > 0
}

// followsValue reports whether a word that may stand after a value, or in an
// import, is a keyword there. c is what follows the word.
func (l *scriptLexer) followsValue(f *frame, word string, c byte) bool {
	switch word {
	case "of":
		return l.operand && f.kind == inParen
	case "from":
		return f.imports || l.operand && (c == '"' || c == '\'')
	}
	return (l.operand || f.imports) && c != '(' && c != '.' && c != ','
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
		l.typeKeyword(f, start, end)
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
		l.cast(f, end)
		return
	case "async", "declare", "abstract", "default", "from":
		return
	case "case":
		f.ternary = 0
	}
	f.start = word == "else" || word == "try" || word == "do" || word == "finally"
	if f.imports && word != "from" {
		f.imports = false
	}
}

// typeKeyword notes what follows "type": the name of a type with "=" after it,
// or what a module imports or exports as types. start says that the word begins
// a statement.
func (l *scriptLexer) typeKeyword(f *frame, start bool, end int) {
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
}

// cast notes that a type follows "as" or "satisfies", or reads "as const".
func (l *scriptLexer) cast(f *frame, end int) {
	switch {
	case f.imports || f.kind == inImports:
	case l.has(l.skipBlank(end), "const"):
		l.put(Plain, l.skipBlank(end))
		l.put(Keyword, l.wordEnd(l.pos))
		l.operand = true
	default:
		f.typing = true
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
	if l.memberKeyword(f, word, end, c) {
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
		l.put(functionIf(l.functionAhead(next+1)), end)
	case c == ':' || c == '=':
		l.put(functionIf(l.bindsFunction(end)), end)
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

// memberKeyword reads a word that is a keyword in front of c, and reports
// whether it is one.
func (l *scriptLexer) memberKeyword(f *frame, word string, end int, c byte) bool {
	named := isWordStart(c) || c == '[' || c == '"' || c == '\'' || c == '*' || c == '#' || c == '{' && word == "static"
	switch {
	case scriptModifiers[word] && named && (f.kind != inObject || word == "async" || word == "get" || word == "set"):
		l.put(Keyword, end)
		l.after(false)
		l.keyword = word
	case word == "new" && f.kind == inMembers && (c == '(' || c == '<'):
		l.put(Keyword, end)
		l.after(false)
		l.params = true
	case word == "constructor" && c == '(' && f.kind == inClass:
		l.put(Keyword, end)
		l.after(true)
		l.params = true
	default:
		return false
	}
	return true
}
