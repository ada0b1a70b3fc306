package highlight

import (
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
)

// stock is chroma's own driver, which tests compare with. It gives each
// expression 250 ms of the clock and takes one that used them for one that
// didn't match, so it is only fit for code that it is through with long before.
type stock struct{ languages *languages }

func newStock() *stock { return &stock{newLanguages()} }

// tokens gives chroma's tokens of code. Those are strings without a position;
// most grammars give the text back piece by piece. Where a token isn't what
// comes next in the text, placing ends: the rest has no tokens.
func (s *stock) tokens(label, code string) (tokens []token, text []rune) {
	lang := s.languages.find(label)
	if lang == nil || lang.lexer == nil {
		return nil, nil
	}
	text, _ = characters(code)
	next, err := lang.lexer.Tokenise(nil, string(text))
	if err != nil {
		return nil, text
	}
	at := 0
	for t := next(); t != chroma.EOF; t = next() {
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
			tokens = append(tokens, token{t.Type, start, at, &lang.traits})
		}
		// Only the line feed that chroma adds may lie behind the end.
		if at == len(text) || utf8.RuneCountInString(t.Value) != at-start {
			break
		}
	}
	return tokens, text
}

// runs gives the runs that the tokens become.
func (s *stock) runs(label, code string) []Run {
	tokens, _ := s.tokens(label, code)
	text, offsets := characters(code)
	return join(tokens, text, offsets, len(code))
}
