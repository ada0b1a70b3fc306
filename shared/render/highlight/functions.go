package highlight

import "github.com/alecthomas/chroma/v2"

// Some of chroma's grammars hold functions in Go, which can be called but not
// read, and which run chroma's own driver on what they are given. There are
// few; this file says what each does, by the grammar and the expression that it
// belongs to. A grammar with another function doesn't load, and its language
// stays plain: TestGrammars names those.

// functionKey is the place of a function: the grammar's name and the rule's
// expression as chroma has it.
type functionKey struct{ grammar, pattern string }

// emitFunctions are chroma's emitters that are functions.
func emitFunctions(key functionKey) *emitter {
	tokens := func(types ...chroma.TokenType) []*emitter {
		var list []*emitter
		for _, t := range types {
			list = append(list, &emitter{kind: emitToken, token: t})
		}
		return list
	}
	switch key {
	case functionKey{"Go", "(`)([^`]*)(`)"}:
		// What lies between the quotes, which is a template perhaps.
		return &emitter{kind: emitLexer, lexer: "Go Text Template", other: chroma.LiteralString}
	case functionKey{"HTTP", `([^\s:]+)( *)(:)( *)([^\r\n]+)(\r?\n|\Z)`}:
		return &emitter{kind: emitGroups, groups: tokens(chroma.Name, chroma.Text, chroma.Operator, chroma.Text, chroma.Literal, chroma.Text)}
	case functionKey{"HTTP", `([\t ]+)([^\r\n]+)(\r?\n|\Z)`}:
		return &emitter{kind: emitGroups, groups: tokens(chroma.Text, chroma.Literal, chroma.Text)}
	case functionKey{"HTTP", `.+`}:
		return &emitter{kind: emitToken, token: chroma.Generic}
	case functionKey{"reStructuredText", `^( *\.\.)(\s*)((?:source)?code(?:-block)?)(::)([ \t]*)([^\n]+)(\n[ \t]*\n)([ \t]+)(.*)(\n)((?:(?:\8.*|)\n)+)`}:
		// The last four groups are the code, in the language that the sixth names.
		return &emitter{
			kind: emitLexerByGroup, nameGroup: 6, codeGroup: 8, codeEnd: 11,
			groups: tokens(chroma.Punctuation, chroma.Text, chroma.OperatorWord, chroma.Punctuation, chroma.Text, chroma.Keyword, chroma.Text,
				chroma.String, chroma.String, chroma.String, chroma.String),
		}
	}
	return nil
}

// mutateFunctions are chroma's changes of the stack that are functions.
func mutateFunctions(key functionKey) (mutationKind, bool) {
	if key == (functionKey{"Haxe", `(#)(if|elseif|else|end|error)\b`}) {
		return mutateConditional, true
	}
	return 0, false
}

// The states of Haxe in which an expression or a message follows a directive.
const (
	conditionState = "preproc-expr"
	messageState   = "preproc-error"
)

// conditional changes the stack as Haxe's preprocessor does: each branch of a
// condition begins with the stack that was there in front of the condition.
// saved are those of the conditions that are open. A nil stack means that the
// grammar lacks a state.
func (g *grammar) conditional(stack []int, saved [][]int, directive string) (now []int, open [][]int) {
	push := func(name string) {
		state := g.stateIndex(name)
		if state < 0 {
			stack = nil
			return
		}
		stack = append(stack, state)
	}
	switch directive {
	case "if":
		saved = append(saved, append([]int(nil), stack...))
		push(conditionState)
	case "else", "elseif":
		if n := len(saved); n > 0 {
			stack = append(stack[:0], saved[n-1]...)
		}
		if directive == "elseif" {
			push(conditionState)
		}
	case "end":
		if n := len(saved); n > 0 {
			saved = saved[:n-1]
		}
	case "error":
		push(messageState)
	}
	return stack, saved
}
