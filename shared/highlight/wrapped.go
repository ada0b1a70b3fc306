package highlight

import (
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// wrapper is what chroma does around a grammar in code of its own.
type wrapper uint8

const (
	wrapNone wrapper = iota
	// wrapFrontMatter: a leading YAML block is YAML (Markdown).
	wrapFrontMatter
	// wrapContentType: the body is of the language that a header names (HTTP).
	wrapContentType
)

// unwrap gives the lexer that holds a language's grammar; nil where there is
// none that the machine could run.
func unwrap(lexer chroma.Lexer) (*chroma.RegexLexer, wrapper) {
	if plain, ok := lexer.(*chroma.RegexLexer); ok {
		return plain, wrapNone
	}
	inner, ok := fieldsOf(lexer)["Lexer"].(*chroma.RegexLexer)
	if !ok {
		return nil, wrapNone
	}
	switch lexer {
	case lexers.Markdown:
		return inner, wrapFrontMatter
	case lexers.HTTP:
		return inner, wrapContentType
	}
	return nil, wrapNone
}

// text tokenises a text of its own in a language, whatever runs it.
func (m *machine) text(lang *language, text []rune, base, depth int) {
	g := lang.load(m.languages.limits.attempt)
	outer := m.traits
	m.traits = &lang.traits
	defer func() { m.traits = outer }()
	switch {
	case m.failed:
	case g == nil:
		if lang.lexer != nil && len(text) <= stockMaxBytes {
			m.stock(lang, text, base)
		} else {
			m.emit(chroma.Text, base, base+len(text))
		}
	case lang.wrap == wrapFrontMatter:
		end := frontMatter(text)
		if yaml := m.languages.find("yaml"); end > 0 && yaml != nil {
			m.text(yaml, text[:end], base, depth+1)
		}
		if !m.failed {
			m.document(g, text[end:], base+end, depth)
		}
	case lang.wrap == wrapContentType:
		first := len(m.tokens)
		m.document(g, text, base, depth)
		m.body(text, base, first, depth)
	default:
		m.document(g, text, base, depth)
	}
}

// frontMatter gives the length of a leading block between two lines of "---".
func frontMatter(text []rune) int {
	fence := func(from int) (next int, ok bool) {
		const dashes = 3
		for i := range dashes {
			if from+i >= len(text) || text[from+i] != '-' {
				return 0, false
			}
		}
		if from+dashes >= len(text) || text[from+dashes] != '\n' {
			return 0, false
		}
		return from + dashes + 1, true
	}
	at, ok := fence(0)
	if !ok {
		return 0
	}
	for at < len(text) {
		if next, ok := fence(at); ok {
			return next
		}
		for at < len(text) && text[at] != '\n' {
			at++
		}
		at++
	}
	return 0
}

// body replaces the token of an HTTP message's body, which is the last one, by
// those of the language that the Content-Type header names.
func (m *machine) body(text []rune, base, first, depth int) {
	if m.failed || len(m.tokens) == first {
		return
	}
	var contentType string
	named := false
	for _, t := range m.tokens[first:] {
		value := func() string { return string(text[t.start-base : t.end-base]) }
		switch {
		case t.typ == chroma.Name && strings.EqualFold(value(), "content-type"):
			named = true
		case t.typ == chroma.Literal && named:
			named = false
			contentType, _, _ = strings.Cut(strings.TrimSpace(value()), ";")
			contentType = strings.TrimSpace(contentType)
		}
	}
	last := m.tokens[len(m.tokens)-1]
	if last.typ != chroma.Generic || contentType == "" {
		return
	}
	lexer := lexers.MatchMimeType(contentType)
	if lexer == nil {
		// "application/problem+json" is JSON where it has no language of its own.
		if kind, suffix, ok := cutLast(contentType, "+"); ok {
			family, _, _ := strings.Cut(kind, "/")
			lexer = lexers.MatchMimeType(family + "/" + suffix)
		}
	}
	if lexer == nil {
		m.tokens[len(m.tokens)-1].typ = chroma.Text
		return
	}
	if lang := m.languages.find(lexer.Config().Name); lang != nil {
		m.tokens = m.tokens[:len(m.tokens)-1]
		m.text(lang, text[last.start-base:last.end-base], last.start, depth+1)
	}
}

func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return s, "", false
}
