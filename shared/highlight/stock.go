package highlight

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
)

// stock leaves a text to chroma's own driver. That gives each expression 250 ms
// of the clock and takes one that used them for one that didn't match, so it is
// only given texts that it is through with long before; see stockMaxBytes.
func (m *machine) stock(lang *language, text []rune, base int) {
	code := string(text)
	if lang.load(m.languages.limits.attempt) == nil && m.languages.unsafeNested(code) {
		return
	}
	next, err := lang.lexer.Tokenise(nil, code)
	if err != nil {
		return
	}
	for _, t := range m.place(next, text) {
		m.emit(t.typ, base+t.start, base+t.end)
	}
}

// place finds the stretch of the text behind each of chroma's tokens, which
// are strings without a position. Most grammars give the text back piece by
// piece. Where a token isn't what comes next in the text, placing ends: the
// rest has no tokens.
func (m *machine) place(next chroma.Iterator, text []rune) (tokens []token) {
	at := 0
	for t := next(); t != chroma.EOF && !m.late(); t = next() {
		if t.Type == chroma.Ignore || t.Value == "" {
			continue
		}
		start := at
		for _, r := range t.Value {
			if at == len(text) || r != text[at] {
				break
			}
			at++
		}
		if at > start {
			tokens = append(tokens, token{t.Type, start, at, m.traits})
		}
		// Only the line feed that chroma adds may lie behind the end.
		if at == len(text) || utf8.RuneCountInString(t.Value) != at-start {
			break
		}
	}
	return tokens
}

// unsafeNested tells whether code that is left to chroma's own driver might
// name, as a language inside it, the one that isn't safe: chroma's Raku grammar
// rewrites its own rules while it runs, for all its users at once, so that the
// output would depend on what else runs.
func (l *languages) unsafeNested(code string) bool {
	words := strings.FieldsFunc(strings.ToLower(code), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return slices.ContainsFunc(words, func(word string) bool {
		_, found := slices.BinarySearch(l.unsafe, word)
		return found
	})
}
