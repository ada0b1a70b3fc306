package highlight

import (
	"maps"
	"strings"
	"unicode"

	"github.com/alecthomas/chroma/v2"
)

// traits say what the tokens of a language are, by kindOf their types: a class,
// unless a classifier has to look at the token.
type traits struct {
	class [256]Class
	by    [256]classifier
}

type classifier func(w word) Class

type classifiers map[chroma.TokenType]classifier

// kinds number the types of tokens, from 1.
var kinds = func() (kinds [1 << 13]uint8) {
	for i, typ := range chroma.TokenTypeValues() {
		if typ >= 0 {
			kinds[typ] = uint8(i + 1)
		}
	}
	return kinds
}()

// kindOf returns the number of a type, 0 for errors and what chroma keeps for
// itself.
func kindOf(typ chroma.TokenType) uint8 {
	if uint(typ) < uint(len(kinds)) {
		return kinds[typ]
	}
	return 0
}

// with returns traits that differ in some types.
func (tr *traits) with(own classifiers) *traits {
	out := *tr
	for typ, c := range own {
		out.by[kindOf(typ)] = c
	}
	return &out
}

// word is a token in its code.
type word struct {
	typ        chroma.TokenType
	code       []rune
	start, end int
}

func (w word) text() []rune { return w.code[w.start:w.end] }

func (w word) first() rune { return w.code[w.start] }

// next returns the character after the token, 0 at the end of the code.
func (w word) next() rune { return at(w.code, w.end) }

// isUpper reports whether the token is a name that begins with a capital letter
// and is not in capitals.
func (w word) isUpper() bool { return unicode.IsUpper(w.first()) && !allUpper(w.text()) }

func (tr *traits) classOf(typ chroma.TokenType, code []rune, start, end int) Class {
	kind := kindOf(typ)
	if by := tr.by[kind]; by != nil {
		return by(word{typ, code, start, end})
	}
	return tr.class[kind]
}

// anywhere is the classifier of tokens that are the same in all languages.
func anywhere(w word) Class { return common.classOf(w.typ, w.code, w.start, w.end) }

func always(class Class) classifier { return func(word) Class { return class } }

// common are the traits of languages that have none of their own.
var common = func() *traits {
	var tr traits // errors and all that is not named below are plain
	for _, typ := range chroma.TokenTypeValues() {
		switch {
		case typ.InCategory(chroma.Keyword):
			tr.class[kindOf(typ)] = Keyword
		case typ.InSubCategory(chroma.LiteralNumber):
			tr.class[kindOf(typ)] = Number
		case typ.InCategory(chroma.Literal):
			tr.class[kindOf(typ)] = String
		case typ.InCategory(chroma.Operator):
			tr.class[kindOf(typ)] = Operator
		case typ.InCategory(chroma.Comment):
			tr.class[kindOf(typ)] = Comment
		}
	}
	for class, types := range map[Class][]chroma.TokenType{
		Attribute: {chroma.NameAttribute, chroma.NameProperty},
		Constant: {
			chroma.KeywordConstant, chroma.NameBuiltinPseudo, chroma.NameConstant, chroma.NameEntity, chroma.LiteralDate,
			chroma.LiteralStringAtom, chroma.LiteralStringBoolean, chroma.StringSymbol,
		},
		Deleted:  {chroma.GenericDeleted},
		Emphasis: {chroma.GenericEmph},
		Function: {chroma.NameBuiltin, chroma.NameDecorator, chroma.NameFunction, chroma.NameFunctionMagic, chroma.NamePseudo},
		Heading:  {chroma.GenericHeading, chroma.GenericSubheading},
		Inserted: {chroma.GenericInserted},
		Keyword:  {chroma.NameKeyword, chroma.OperatorReserved, chroma.OperatorWord, chroma.StringAffix},
		Operator: {chroma.GenericPrompt, chroma.NameOperator, chroma.StringInterpol},
		String:   {chroma.CommentPreprocFile, chroma.StringEscape},
		Strong:   {chroma.GenericStrong},
		Tag:      {chroma.NameTag},
		Type:     {chroma.KeywordType, chroma.NameClass, chroma.NameException, chroma.NameNamespace},
	} {
		for _, typ := range types {
			tr.class[kindOf(typ)] = class
		}
	}
	return tr.with(classifiers{chroma.CommentPreproc: directive, chroma.Operator: operator, chroma.StringDoc: docString})
}()

func operator(w word) Class {
	if w.end-w.start == 1 && w.first() == '.' {
		return Plain
	}
	return Operator
}

// docString classifies what is a comment in Rust and others, a string in Python
// and YAML.
func docString(w word) Class {
	text := w.text()
	for i, r := range text {
		if !unicode.IsSpace(r) {
			if strings.ContainsRune("/*#-;%", r) && at(text, i+1) != '{' {
				return Comment
			}
			break
		}
	}
	return String
}

// directive classifies "#include" and its kind; grammars have "//go:build" and
// "#!/bin/sh" there, too.
func directive(w word) Class {
	if w.first() == '/' || w.first() == '#' && w.end-w.start > 1 && w.code[w.start+1] == '!' {
		return Comment
	}
	return Keyword
}

// languageTraits is by chroma's name of the language.
var languageTraits = map[string]*traits{
	"C":            programs,
	"C#":           program(classifiers{chroma.KeywordType: always(Keyword), chroma.NameAttribute: always(Attribute)}, called),
	"C++":          programs,
	"CSS":          styleSheets,
	"Dart":         typedPrograms,
	"Desktop file": keyedData,
	"Elixir":       programs,
	"Go":           program(classifiers{chroma.KeywordType: always(Keyword), chroma.NameAttribute: always(Attribute)}, called, typeOfLiteral),
	"Groovy":       typedPrograms,
	"HTTP":         keyedData,
	"INI":          keyedData,
	"JSON":         keyedData,
	"Java":         program(classifiers{chroma.NameClass: classOrModule, chroma.NameDecorator: always(Keyword)}, called, typeByCapital),
	"JavaScript":   scripts,
	"Julia":        programs,
	"Kotlin": program(classifiers{chroma.NameClass: classOrModule, chroma.NameDecorator: always(Keyword), chroma.Punctuation: kotlinPunctuation},
		called, calledWithBlock, typeByCapital),
	"Lua":         programs,
	"Objective-C": programs,
	"PHP":         programs,
	"Properties":  keyedData,
	"Python":      program(classifiers{chroma.NameBuiltin: calledOr(Type)}, called),
	"R":           programs,
	"Ruby":        program(classifiers{chroma.NameConstant: rubyConstant}, called, rubyMethod),
	"Rust": program(classifiers{chroma.NameAttribute: always(Attribute), chroma.Operator: rustOperator, chroma.Punctuation: rustPunctuation, chroma.Text: rustText},
		rustPath, called),
	"SCSS":       styleSheets,
	"Scala":      typedPrograms,
	"Solidity":   programs,
	"Swift":      typedPrograms,
	"TOML":       keyedData,
	"TypeScript": scripts,
	"YAML":       keyedData,
	"Zig":        programs,
	"react":      scripts,
}

// The families of languages.
var (
	programs = program(nil, called)
	// typedPrograms have names that begin with a capital letter for types.
	typedPrograms = program(classifiers{chroma.NameClass: classOrModule}, called, typeByCapital)
	// scripts: chroma's names of properties are such, what it calls a built-in
	// name is an object or a class of the run-time library, and it calls whatever
	// follows a colon a type, also the value in an object.
	scripts = program(classifiers{
		chroma.KeywordType: spelled(func(w word) Class { return looseType(w.text(), w.next()) }),
		chroma.NameBuiltin: globalOrCalled, chroma.NameAttribute: always(Attribute), chroma.NameProperty: always(Attribute),
	}, called)
	// keyedData: what chroma calls a name or a tag is a key.
	keyedData = common.with(classifiers{
		chroma.Name: always(Attribute), chroma.NameOther: always(Attribute), chroma.NameTag: always(Attribute),
		chroma.NameNamespace: always(Plain), // YAML's "---"
	})
	// styleSheets: chroma calls the names of properties keywords, and elements
	// classes.
	styleSheets = common.with(classifiers{
		chroma.Keyword: property, chroma.KeywordDeclaration: property, chroma.KeywordNamespace: property, chroma.KeywordPseudo: property,
		chroma.KeywordReserved: property, chroma.NameClass: always(Attribute), chroma.NameException: always(Attribute),
	})
)

func property(w word) Class {
	if w.next() == ':' {
		return Attribute
	}
	return Plain
}

// program returns the traits of a programming language. Chroma's grammars of most
// have no type for calls, so names are guessed by what stands around them, in
// the order of guesses. The language's own traits come before those that all
// programs have; for names they say what one is that nothing guesses.
func program(own classifiers, guesses ...guess) *traits {
	words := spelled(anywhere)
	all := classifiers{
		chroma.Name: calledOr(Plain), chroma.NameOther: calledOr(Plain), chroma.NameAttribute: member, chroma.NameProperty: member,
		chroma.NameFunction: anywhere, chroma.NameBuiltin: anywhere,
		chroma.Keyword: words, chroma.KeywordConstant: words, chroma.KeywordDeclaration: words, chroma.KeywordNamespace: words,
		chroma.KeywordPseudo: words, chroma.KeywordReserved: words, chroma.KeywordType: words, chroma.NameBuiltinPseudo: words,
		chroma.Operator: programOperator, chroma.Punctuation: punctuation, chroma.StringInterpol: interpolation,
	}
	maps.Copy(all, own)
	for _, typ := range [...]chroma.TokenType{
		chroma.Name, chroma.NameOther, chroma.NameAttribute, chroma.NameProperty, chroma.NameFunction, chroma.NameBuiltin,
	} {
		all[typ] = guessed(guesses, all[typ])
	}
	return common.with(all)
}

// guess returns the class of a name that begins with a letter or "_", by what
// stands around it. ok is false where that says nothing.
type guess func(w word) (class Class, ok bool)

// guessed returns a classifier of names: what the first guess that knows a name
// says, else otherwise.
func guessed(guesses []guess, otherwise classifier) classifier {
	return func(w word) Class {
		switch {
		case unicode.IsDigit(w.first()):
			return Number
		case !isNameStart(w.first()):
			return otherwise(w)
		case w.isUpper() && isNew(w.code, w.start):
			return Type
		}
		for _, g := range guesses {
			if class, ok := g(w); ok {
				return class
			}
		}
		return otherwise(w)
	}
}

func isNameStart(r rune) bool { return r == '_' || unicode.IsLetter(r) }

func called(w word) (Class, bool) { return Function, isCalled(w.code, w.end) }

// calledWithBlock guesses that a name before a brace is called with what that
// holds.
func calledWithBlock(w word) (Class, bool) {
	return Function, w.typ == chroma.Name && unicode.IsLower(w.first()) && w.next() == ' ' && at(w.code, w.end+1) == '{'
}

// typeByCapital guesses that names which begin with a capital letter are types,
// but for those of which a member follows.
func typeByCapital(w word) (Class, bool) { return Type, w.next() != '.' && w.isUpper() }

// typeOfLiteral guesses that a name right before a brace is the type of the value
// in it.
func typeOfLiteral(w word) (Class, bool) { return Type, w.next() == '{' && w.isUpper() }

// rustPath guesses that what stands before "::" is a type or a module.
func rustPath(w word) (Class, bool) {
	return Type, w.isUpper() || w.next() == ':' && at(w.code, w.end+1) == ':' && at(w.code, w.end+2) != '<'
}

func rubyMethod(w word) (Class, bool) {
	if rubyKeywords[string(w.text())] {
		return Keyword, true
	}
	return Function, at(w.code, w.start-1) == '.' && !w.isUpper()
}

func calledOr(otherwise Class) classifier {
	return func(w word) Class {
		if w.next() == '(' {
			return Function
		}
		return otherwise
	}
}

func member(w word) Class {
	if isNameStart(w.first()) {
		return Plain
	}
	return Attribute
}

func globalOrCalled(w word) Class {
	switch {
	case w.next() == '(':
		return Function
	case unicode.IsUpper(w.first()):
		return Type
	}
	return Plain
}

func classOrModule(w word) Class {
	if w.next() == '.' {
		return Plain
	}
	return Type
}

// rubyConstant classifies what chroma calls a constant as a class, unless it is in
// capitals.
func rubyConstant(w word) Class {
	if allUpper(w.text()) {
		return Plain
	}
	return Type
}

// spelled returns a classifier of keywords, of which some are values or name the
// object itself.
func spelled(otherwise classifier) classifier {
	return func(w word) Class {
		switch string(w.text()) {
		case "true", "false", "null", "nil", "None", "undefined":
			return Constant
		case "self", "Self", "this", "super", "base":
			return Keyword
		}
		return otherwise(w)
	}
}

// interpolation classifies "${" and "}" as operators, "${a}" as code and "$a" as
// a part of the string.
func interpolation(w word) Class {
	switch text := w.text(); {
	case len(text) > 2 && text[1] == '{':
		return Plain
	case len(text) > 1 && text[0] == '$' && text[1] != '{':
		return String
	}
	return Operator
}

func programOperator(w word) Class {
	if isPathSign(w) {
		return Plain
	}
	return rustOperator(w)
}

func rustOperator(w word) Class {
	for _, r := range w.text() {
		if !strings.ContainsRune("[](){},;.", r) {
			return Operator
		}
	}
	return Plain
}

func isPathSign(w word) bool {
	return w.end-w.start == 2 && w.first() == ':' && w.code[w.start+1] == ':'
}

func rustText(w word) Class {
	if isPathSign(w) {
		return Operator
	}
	return Plain
}

func punctuation(w word) Class { return signs(w.text(), "=!<>+-*/%&|^~?") }

func rustPunctuation(w word) Class { return signs(w.text(), "=!<>+-*/%&|^~?:") }

func kotlinPunctuation(w word) Class {
	if w.first() == '?' {
		return Plain // of a type
	}
	return punctuation(w)
}

// signs returns the class of punctuation: an operator is of operators' signs
// alone. Those that types have too are plain.
func signs(text []rune, operators string) Class {
	for _, r := range text {
		if !strings.ContainsRune(operators, r) {
			return Plain
		}
	}
	switch string(text) {
	case "<", ">", "*", "&", ">>":
		return Plain
	}
	return Operator
}

// rubyKeywords are methods that editors show as keywords.
var rubyKeywords = wordSet("extend include raise require require_relative")

// at returns the character at i, and 0 outside of the code.
func at(code []rune, i int) rune {
	if i >= 0 && i < len(code) {
		return code[i]
	}
	return 0
}

// allUpper reports whether a name is in capitals, as those of constants are.
func allUpper(name []rune) bool {
	for _, r := range name {
		if unicode.IsLower(r) {
			return false
		}
	}
	return len(name) > 1
}

// isNew reports whether the word "new" stands in front of i.
func isNew(code []rune, i int) bool {
	return i >= 4 && string(code[i-4:i]) == "new " && !unicode.IsLetter(at(code, i-5)) && at(code, i-5) != '_'
}

// isCalled reports whether arguments, or types in brackets and arguments, begin at i.
func isCalled(code []rune, i int) bool {
	opening, closing := at(code, i), rune('>')
	switch opening {
	case '(':
		return true
	case ':':
		return at(code, i+1) == ':' && at(code, i+2) == '<' && isCalled(code, i+2)
	case '<':
	case '[':
		closing = ']'
	default:
		return false
	}
	const longest = 80
	depth := 0
	for end := min(len(code), i+longest); i < end; i++ {
		switch r := code[i]; {
		case r == opening:
			depth++
		case r == closing:
			if depth--; depth == 0 {
				return at(code, i+1) == '('
			}
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_, .:?*&[]<>", r):
			return false
		}
	}
	return false
}

// looseType returns the class of a word after a colon in JavaScript and its
// kind: a type, or a value in an object.
func looseType(text []rune, next rune) Class {
	switch first := text[0]; {
	case unicode.IsDigit(first):
		return Number
	case unicode.IsUpper(first):
		return Type
	}
	switch string(text) {
	case "any", "bigint", "boolean", "never", "number", "object", "string", "symbol", "unknown", "void":
		return Type
	case "false", "null", "this", "true", "undefined":
		return Constant
	case "async", "await", "class", "function", "infer", "keyof", "new", "readonly", "typeof", "unique", "yield":
		return Keyword
	}
	if next == '(' {
		return Function
	}
	return Plain
}
