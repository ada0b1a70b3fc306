package highlight

import (
	"strings"
	"unicode"

	"github.com/alecthomas/chroma/v2"
)

// Class is what a stretch of code is, as far as a theme colours it.
type Class uint8

// The classes. Plain is identifiers, punctuation, white space and everything
// that has no other class.
const (
	Plain Class = iota
	Comment
	String
	Number
	Keyword
	Constant // true, null, self, escapes in strings
	Operator
	Function // declared, called, built in
	Type
	Tag       // of a markup language
	Attribute // of a tag; keys of JSON, YAML and the like; properties of CSS
	Inserted  // a line that a diff adds
	Deleted   // a line that a diff removes
	Heading
	Emphasis
	Strong
	classCount
)

// classInfo is what of a class is visible outside Go.
type classInfo struct {
	name  string // the value of the class attribute in HTML
	style string // the part of the CSS variable behind --hl-
	light string // text colour on light backgrounds; "" inherits
	dark  string // on dark ones
	extra string // further declarations
}

// classes is the one table of what classes look like. Every colour has a
// contrast of at least 4.5:1, the bound of WCAG 2.2 criterion 1.4.3, on the
// code backgrounds that css_test.go lists.
var classes = [classCount]classInfo{
	Plain:     {},
	Comment:   {name: "c", style: "comment", light: "#57606a", dark: "#8b949e", extra: "font-style:italic"},
	String:    {name: "s", style: "string", light: "#0a3069", dark: "#a5d6ff"},
	Number:    {name: "n", style: "number", light: "#0550ae", dark: "#79c0ff"},
	Keyword:   {name: "k", style: "keyword", light: "#b3242f", dark: "#ff7b72"},
	Constant:  {name: "o", style: "constant", light: "#0550ae", dark: "#79c0ff"},
	Operator:  {name: "p", style: "operator", light: "#9a3412", dark: "#ffb38a"},
	Function:  {name: "f", style: "function", light: "#7a3ec8", dark: "#d2a8ff"},
	Type:      {name: "t", style: "type", light: "#8a4600", dark: "#ffa657"},
	Tag:       {name: "g", style: "tag", light: "#116329", dark: "#7ee787"},
	Attribute: {name: "a", style: "attribute", light: "#0b5a80", dark: "#8bd0f0"},
	Inserted:  {name: "i", style: "inserted", light: "#116329", dark: "#7ee787"},
	Deleted:   {name: "d", style: "deleted", light: "#a40e26", dark: "#ffa198"},
	Heading:   {name: "h", style: "heading", light: "#0550ae", dark: "#79c0ff", extra: "font-weight:600"},
	Emphasis:  {name: "e", extra: "font-style:italic"},
	Strong:    {name: "b", extra: "font-weight:600"},
}

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
}

// languageTraits is by chroma's name of the language.
var languageTraits = map[string]traits{
	"C":            {calls: true},
	"C#":           {calls: true},
	"C++":          {calls: true},
	"Dart":         {calls: true},
	"Elixir":       {calls: true},
	"Go":           {calls: true},
	"Groovy":       {calls: true},
	"Java":         {calls: true},
	"JavaScript":   {calls: true, globals: true, looseTypes: true},
	"Julia":        {calls: true},
	"Kotlin":       {calls: true},
	"Lua":          {calls: true},
	"Objective-C":  {calls: true},
	"PHP":          {calls: true},
	"Python":       {calls: true, builtinTypes: true},
	"R":            {calls: true},
	"Ruby":         {calls: true},
	"Rust":         {calls: true},
	"Scala":        {calls: true},
	"Solidity":     {calls: true},
	"Swift":        {calls: true},
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

// classOf gives the class of a token. text is the token's, next the character
// behind it (0 at the end).
func (tr *traits) classOf(typ chroma.TokenType, text []rune, next rune) Class {
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
		return Type
	case chroma.NameConstant, chroma.NameEntity, chroma.NameBuiltinPseudo, chroma.KeywordConstant,
		chroma.StringEscape, chroma.StringSymbol, chroma.LiteralStringAtom, chroma.LiteralStringBoolean, chroma.LiteralDate:
		return Constant
	case chroma.NameKeyword, chroma.OperatorWord, chroma.OperatorReserved, chroma.StringAffix:
		return Keyword
	case chroma.NameOperator, chroma.StringInterpol, chroma.GenericPrompt:
		return Operator
	case chroma.StringDoc:
		// A comment in Rust and others; a string in Python and YAML.
		for _, r := range text {
			if !unicode.IsSpace(r) {
				if strings.ContainsRune("/*#-;%", r) {
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
