package highlight

import (
	"strings"

	"github.com/alecthomas/chroma/v2"
)

// stockTokens runs chroma's own driver. What it can't take (it panics on a
// broken grammar) is left out of the tokens, and so plain.
//
// Chroma's driver gives each expression 250 ms of the clock and takes an
// expression that used them for one that didn't match, so this is also bounded
// in size; see stockMaxBytes.
func stockTokens(lexer chroma.Lexer, code string, text []rune) (tokens []token) {
	defer func() {
		if recover() != nil {
			tokens = nil
		}
	}()
	next, err := lexer.Tokenise(nil, code)
	if err != nil {
		return nil
	}
	tokens, _ = place(next, text)
	return tokens
}

// place finds the stretch of the text behind each of chroma's tokens, which
// are strings without a position. Most grammars give the text back piece by
// piece. Where a token isn't what comes next in the text, placing ends: the
// rest has no tokens, and whole is false.
func place(next chroma.Iterator, text []rune) (tokens []token, whole bool) {
	at := 0
	for t := next(); t != chroma.EOF; t = next() {
		if t.Type == chroma.Ignore || t.Value == "" {
			continue
		}
		start := at
		for _, r := range t.Value {
			if at == len(text) {
				// Only the line feed that chroma adds may lie behind the end.
				if r == '\n' {
					break
				}
				return tokens, false
			}
			if r != text[at] {
				return tokens, false
			}
			at++
		}
		if at > start {
			tokens = append(tokens, token{t.Type, start, at})
		}
	}
	return tokens, at == len(text)
}

// unsafeNested tells whether code that is left to chroma's own driver might
// name, as a language inside it, one of those that are not safe: chroma's Raku
// grammar rewrites its own rules while it runs, for all its users at once, so
// that output would depend on what else runs.
func unsafeNested(code string) bool {
	lower := strings.ToLower(code)
	return strings.Contains(lower, "raku") || strings.Contains(lower, "perl6") || strings.Contains(lower, "pl6")
}
