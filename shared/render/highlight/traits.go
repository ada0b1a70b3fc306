package highlight

import (
	"strings"
	"unicode"

	"github.com/alecthomas/chroma/v2"
)

// traits are what a language asks of the way from tokens to classes.
type traits struct {
	// calls: a plain name right before "(" is a function. Chroma's grammars of
	// most languages have no class for calls.
	calls bool
	// keys: what chroma calls a tag is a key.
	keys bool
	// globals: what chroma calls a built-in name is an object or a class of the
	// run-time library, not a function.
	globals bool
	// builtinTypes: what chroma calls a built-in name is a type where it isn't
	// called.
	builtinTypes bool
	// looseTypes: chroma calls whatever follows a colon a type, also the value
	// in an object.
	looseTypes bool
	// upperTypes: names that begin with a capital letter are types, but for those
	// of which a member follows.
	upperTypes bool
	// typeKeywords: the language's own types are keywords, as editors show them.
	typeKeywords bool
	// blockCalls: a name in front of a brace is called with what that holds.
	blockCalls bool
	// paths: "::" is an operator, and what stands in front of it a type or a
	// module.
	paths bool
	// annotations: decorators are keywords.
	annotations bool
	// literals: a name right before a brace is the type of the value in it.
	literals bool
	// symbols: what chroma calls a constant is a class, unless it is in capitals.
	symbols bool
	// properties: chroma calls the names of properties keywords.
	properties bool
}

// languageTraits is by chroma's name of the language.
var languageTraits = map[string]traits{
	"C":            {calls: true},
	"C#":           {calls: true, typeKeywords: true},
	"CSS":          {properties: true},
	"SCSS":         {properties: true},
	"C++":          {calls: true},
	"Dart":         {calls: true, upperTypes: true},
	"Elixir":       {calls: true},
	"Go":           {calls: true, typeKeywords: true, literals: true},
	"Groovy":       {calls: true, upperTypes: true},
	"HTTP":         {keys: true},
	"Java":         {calls: true, upperTypes: true, annotations: true},
	"JavaScript":   {calls: true, globals: true, looseTypes: true},
	"Julia":        {calls: true},
	"Kotlin":       {calls: true, upperTypes: true, blockCalls: true, annotations: true},
	"Lua":          {calls: true},
	"Objective-C":  {calls: true},
	"PHP":          {calls: true},
	"Python":       {calls: true, builtinTypes: true},
	"R":            {calls: true},
	"Ruby":         {calls: true, symbols: true},
	"Rust":         {calls: true, upperTypes: true, paths: true},
	"Scala":        {calls: true, upperTypes: true},
	"Solidity":     {calls: true},
	"Swift":        {calls: true, upperTypes: true},
	"TypeScript":   {calls: true, globals: true, looseTypes: true},
	"Zig":          {calls: true},
	"react":        {calls: true, globals: true, looseTypes: true},
	"JSON":         {keys: true},
	"YAML":         {keys: true},
	"TOML":         {keys: true},
	"INI":          {keys: true},
	"Properties":   {keys: true},
	"Desktop file": {keys: true},
}

// classOf gives the class of the token that is code[start:end].
func (tr *traits) classOf(typ chroma.TokenType, code []rune, start, end int) Class {
	if tr.calls {
		if class, ok := tr.inCode(typ, code, start, end); ok {
			return class
		}
	}
	text, next := code[start:end], at(code, end)
	switch typ {
	case chroma.Name, chroma.NameOther:
		switch {
		case tr.keys:
			return Attribute
		case tr.calls && next == '(':
			return Function
		}
		return Plain
	case chroma.NameTag:
		if tr.keys {
			return Attribute
		}
		return Tag
	case chroma.NameBuiltin:
		switch {
		case next == '(' || !tr.globals && !tr.builtinTypes:
			return Function
		case tr.builtinTypes || unicode.IsUpper(text[0]):
			return Type
		}
		return Plain
	case chroma.KeywordType:
		if tr.looseTypes {
			return looseType(text, next)
		}
		return Type
	case chroma.NameNamespace:
		if tr.keys {
			return Plain // YAML's "---"
		}
		return Type
	case chroma.Operator:
		if len(text) == 1 && text[0] == '.' {
			return Plain
		}
		return Operator
	case chroma.NameAttribute, chroma.NameProperty:
		return Attribute
	case chroma.NameFunction, chroma.NameFunctionMagic, chroma.NameDecorator, chroma.NamePseudo:
		return Function
	case chroma.NameClass, chroma.NameException:
		if tr.properties {
			return Attribute // of an element
		}
		return Type
	case chroma.StringEscape:
		return String
	case chroma.NameConstant, chroma.NameEntity, chroma.NameBuiltinPseudo, chroma.KeywordConstant,
		chroma.StringSymbol, chroma.LiteralStringAtom, chroma.LiteralStringBoolean, chroma.LiteralDate:
		return Constant
	case chroma.NameKeyword, chroma.OperatorWord, chroma.OperatorReserved, chroma.StringAffix:
		return Keyword
	case chroma.NameOperator, chroma.StringInterpol, chroma.GenericPrompt:
		return Operator
	case chroma.StringDoc:
		// A comment in Rust and others; a string in Python and YAML.
		for i, r := range text {
			if !unicode.IsSpace(r) {
				if strings.ContainsRune("/*#-;%", r) && at(text, i+1) != '{' {
					return Comment
				}
				break
			}
		}
		return String
	case chroma.CommentPreproc:
		// "#include" is a directive; grammars have "//go:build" and "#!/bin/sh"
		// here, too.
		if text[0] == '/' || len(text) > 1 && text[0] == '#' && text[1] == '!' {
			return Comment
		}
		return Keyword
	case chroma.CommentPreprocFile:
		return String
	case chroma.GenericInserted:
		return Inserted
	case chroma.GenericDeleted:
		return Deleted
	case chroma.GenericHeading, chroma.GenericSubheading:
		return Heading
	case chroma.GenericEmph:
		return Emphasis
	case chroma.GenericStrong:
		return Strong
	}
	switch {
	case typ < 0:
		return Plain // errors and what chroma keeps for itself
	case tr.properties && typ.InCategory(chroma.Keyword):
		if next == ':' {
			return Attribute
		}
		return Plain
	case typ.InCategory(chroma.Keyword):
		return Keyword
	case typ.InSubCategory(chroma.LiteralNumber):
		return Number
	case typ.InCategory(chroma.Literal):
		return String
	case typ.InCategory(chroma.Operator):
		return Operator
	case typ.InCategory(chroma.Comment):
		return Comment
	}
	return Plain
}

// inCode gives the class of tokens of programming languages for which the token
// type alone says too little; false for all others.
func (tr *traits) inCode(typ chroma.TokenType, code []rune, start, end int) (Class, bool) {
	first := code[start]
	switch typ {
	case chroma.NameClass:
		return Plain, tr.upperTypes && !tr.paths && at(code, end) == '.'
	case chroma.Name, chroma.NameOther, chroma.NameAttribute, chroma.NameProperty, chroma.NameFunction, chroma.NameBuiltin:
		upper := unicode.IsUpper(first) && !allUpper(code[start:end])
		switch {
		case unicode.IsDigit(first):
			return Number, true
		case !unicode.IsLetter(first) && first != '_':
			return Plain, false
		case upper && isNew(code, start):
			return Type, true
		case tr.paths && at(code, end) == ':' && at(code, end+1) == ':' && at(code, end+2) != '<':
			return Type, true
		case upper && tr.paths:
			return Type, true
		case isCalled(code, end), tr.blockCalls && typ == chroma.Name && unicode.IsLower(first) && at(code, end) == ' ' && at(code, end+1) == '{':
			return Function, true
		case tr.symbols && rubyKeywords[string(code[start:end])]:
			return Keyword, true
		case tr.symbols && at(code, start-1) == '.' && !upper:
			return Function, true
		case upper && tr.upperTypes && at(code, end) != '.', upper && tr.literals && at(code, end) == '{':
			return Type, true
		case !tr.globals && (typ == chroma.NameProperty || typ == chroma.NameAttribute && !tr.typeKeywords && !tr.paths):
			return Plain, true
		}
		return Plain, false
	case chroma.NameConstant:
		if tr.symbols {
			if allUpper(code[start:end]) {
				return Plain, true
			}
			return Type, true
		}
	case chroma.NameDecorator:
		if tr.annotations {
			return Keyword, true
		}
	case chroma.KeywordType:
		if tr.typeKeywords {
			return Keyword, true
		}
	case chroma.Operator:
		if strings.Trim(string(code[start:end]), "[](){},;.") == "" || string(code[start:end]) == "::" && !tr.paths {
			return Plain, true
		}
	case chroma.Text:
		if tr.paths && string(code[start:end]) == "::" {
			return Operator, true
		}
	case chroma.StringInterpol:
		switch text := string(code[start:end]); {
		case len(text) > 2 && text[1] == '{':
			return Plain, true
		case len(text) > 1 && text[0] == '$' && text[1] != '{':
			return String, true
		}
	case chroma.Punctuation:
		if tr.blockCalls && first == '?' {
			return Plain, true
		}
		for _, r := range code[start:end] {
			if !strings.ContainsRune("=!<>+-*/%&|^~?", r) && !(tr.paths && r == ':') {
				return Plain, false
			}
		}
		if r := string(code[start:end]); r != "<" && r != ">" && r != "*" && r != "&" && r != ">>" {
			return Operator, true
		}
	}
	if typ.InCategory(chroma.Keyword) || typ == chroma.NameBuiltinPseudo {
		switch string(code[start:end]) {
		case "true", "false", "null", "nil", "None", "undefined":
			return Constant, true
		case "self", "Self", "this", "super", "base":
			return Keyword, true
		}
	}
	return Plain, false
}

// rubyKeywords are methods that editors show as keywords.
var rubyKeywords = wordSet("extend include raise require require_relative")

// at gives the character at i, and 0 outside of the code.
func at(code []rune, i int) rune {
	if i >= 0 && i < len(code) {
		return code[i]
	}
	return 0
}

// allUpper says whether a name is in capitals, as those of constants are.
func allUpper(name []rune) bool {
	for _, r := range name {
		if unicode.IsLower(r) {
			return false
		}
	}
	return len(name) > 1
}

// isNew says whether the word "new" stands in front of i.
func isNew(code []rune, i int) bool {
	return i >= 4 && string(code[i-4:i]) == "new " && !unicode.IsLetter(at(code, i-5)) && at(code, i-5) != '_'
}

// isCalled says whether arguments, or types in brackets and arguments, begin at i.
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

// looseType gives the class of a word behind a colon in JavaScript and its
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
