package highlight

import "github.com/alecthomas/chroma/v2"

// functionKey is the place of an emitter that chroma has as a function in Go,
// which can be called but not read: the grammar's name and the rule's
// expression as chroma has it.
type functionKey struct{ grammar, pattern string }

// emitFunctions are what those emitters do. A grammar with another function
// doesn't load, and its language stays plain: TestGrammars names those.
var emitFunctions = map[functionKey]*emitter{
	// What stands between the quotes may be a template.
	{"Go", "(`)([^`]*)(`)"}: {kind: emitLexer, lexer: "Go Text Template", other: chroma.LiteralString},
	{"HTTP", `([^\s:]+)( *)(:)( *)([^\r\n]+)(\r?\n|\Z)`}: tokenGroups(
		chroma.Name, chroma.Text, chroma.Operator, chroma.Text, chroma.Literal, chroma.Text),
	{"HTTP", `([\t ]+)([^\r\n]+)(\r?\n|\Z)`}: tokenGroups(chroma.Text, chroma.Literal, chroma.Text),
	{"HTTP", `.+`}:                           {kind: emitToken, token: chroma.Generic},
	// The last four groups are code, in a language that chroma looks up.
	{"reStructuredText", `^( *\.\.)(\s*)((?:source)?code(?:-block)?)(::)([ \t]*)([^\n]+)(\n[ \t]*\n)([ \t]+)(.*)(\n)((?:(?:\8.*|)\n)+)`}: tokenGroups(
		chroma.Punctuation, chroma.Text, chroma.OperatorWord, chroma.Punctuation, chroma.Text, chroma.Keyword, chroma.Text,
		chroma.String, chroma.String, chroma.String, chroma.String),
}

func tokenGroups(types ...chroma.TokenType) *emitter {
	e := &emitter{kind: emitGroups}
	for _, t := range types {
		e.groups = append(e.groups, &emitter{kind: emitToken, token: t})
	}
	return e
}
