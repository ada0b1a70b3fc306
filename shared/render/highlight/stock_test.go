package highlight

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
	"github.com/dlclark/regexp2/v2"
)

// stock is chroma's own driver, which tests compare with. Chroma gives each
// expression 250 ms of the clock and takes one that used them for one that
// didn't match; on a busy machine that happens to any. So the clock is switched
// off here, and code over which an expression would take for ever must not come.
type stock struct {
	languages *languages
	patient   map[*language]bool // the clocks are off
	// anyLanguage holds the languages whose code names others.
	anyLanguage map[*language]bool
}

func newStock() *stock { return &stock{newLanguages(), map[*language]bool{}, map[*language]bool{}} }

// wait switches the clocks of a language off, and those of the languages that
// its grammar uses.
func (s *stock) wait(lang *language) {
	if lang == nil || lang.lexer == nil || s.patient[lang] {
		return
	}
	s.patient[lang] = true
	kind, inner, outer := unwrap(lang.lexer)
	for _, lexer := range []*chroma.RegexLexer{inner, outer} {
		if lexer == nil {
			continue
		}
		if _, err := lexer.Rules(); err != nil {
			panic(err)
		}
		for _, rules := range hidden(lexer, "rules").(map[string][]*chroma.CompiledRule) {
			for _, rule := range rules {
				if rule.Regexp != nil {
					rule.Regexp.MatchTimeout = regexp2.DefaultMatchTimeout
				}
			}
		}
	}
	anyLanguage := kind == wrapContentType
	var visit func(e *emitter)
	visit = func(e *emitter) {
		if e == nil {
			return
		}
		if e.kind == emitLexer {
			s.wait(s.languages.find(e.lexer))
		}
		anyLanguage = anyLanguage || e.kind == emitLexerByGroup
		for _, part := range e.groups {
			visit(part)
		}
	}
	lang.load()
	for _, g := range []*grammar{lang.grammar, lang.outer} {
		if g != nil {
			for r := range allRules(g) {
				visit(r.emit)
			}
		}
	}
	s.anyLanguage[lang] = anyLanguage
}

// waitFor does that for code: for its language, and for every language that a
// word of it names where the code may say which languages lie inside.
func (s *stock) waitFor(lang *language, code string) {
	s.wait(lang)
	if !s.anyLanguage[lang] {
		return
	}
	words := strings.FieldsFunc(code, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("+#-", r)
	})
	for _, word := range words {
		s.wait(s.languages.find(word))
	}
}

// tokens gives chroma's tokens of code. Those are strings without a position;
// most grammars give the text back piece by piece. Where a token isn't what
// comes next in the text, placing ends: the rest has no tokens.
func (s *stock) tokens(label, code string) (tokens []token, text []rune) {
	lang := s.languages.find(label)
	if lang == nil || lang.lexer == nil {
		return nil, nil
	}
	text, _ = characters(code)
	s.waitFor(lang, code)
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
			tokens = append(tokens, token{t.Type, start, at, lang.traits})
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
