package highlight

import (
	"slices"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// wrapper is what chroma does around a grammar in code of its own.
type wrapper uint8

const (
	wrapNone wrapper = iota
	// wrapContentType: the body is of the language that a header names (HTTP).
	wrapContentType
	// wrapDelegate: what the grammar leaves over is of another one (Svelte).
	wrapDelegate
)

// unwrap takes a lexer apart: the grammar that the machine runs, nil if there is
// none, and for wrapDelegate the outer one. What chroma does around a grammar
// otherwise is left out: that some words of Lisp get another type, and that
// Markdown, which has a lexer of its own here, begins with YAML.
func unwrap(lexer chroma.Lexer) (kind wrapper, inner, outer *chroma.RegexLexer) {
	if inner, ok := lexer.(*chroma.RegexLexer); ok {
		return wrapNone, inner, nil
	}
	if lexer == lexers.HTTP {
		kind = wrapContentType
	}
	if inner, ok := fieldsOf(lexer)["Lexer"].(*chroma.RegexLexer); ok {
		return kind, inner, nil
	}
	if outer, ok := hidden(lexer, "root").(*chroma.RegexLexer); ok {
		inner, _ = hidden(lexer, "language").(*chroma.RegexLexer)
		return wrapDelegate, inner, outer
	}
	inner, _ = hidden(lexer, "lexer").(*chroma.RegexLexer)
	return wrapNone, inner, nil
}

// text tokenises a text of its own in a language.
func (m *machine) text(lang *language, text []rune, base, depth int) {
	g := lang.load()
	outer := m.traits
	m.traits = lang.traits
	defer func() { m.traits = outer }()
	first := len(m.tokens)
	switch {
	case m.failed:
	case g == nil:
		m.emit(chroma.Text, base, base+len(text))
	case lang.wrap == wrapContentType:
		m.document(g, text, base, depth)
		m.body(text, base, first, depth)
	case lang.wrap == wrapDelegate:
		m.document(g, text, base, depth)
		m.delegate(lang.outer, text, base, first, depth)
	default:
		m.document(g, text, base, depth)
	}
}

// delegate replaces the tokens that a grammar left over, whose type is Other,
// by those that another grammar finds in their text, put together as if nothing
// lay between them.
func (m *machine) delegate(outer *grammar, text []rune, base, first, depth int) {
	tokens := coalesce(slices.Clone(m.tokens[first:]), text, base)
	var rest []rune
	var places []int // of the characters of rest in the text
	for _, t := range tokens {
		if t.typ == chroma.Other {
			rest = append(rest, text[t.start-base:t.end-base]...)
			for at := t.start; at < t.end; at++ {
				places = append(places, at)
			}
		}
	}
	m.tokens = m.tokens[:first]
	if m.failed || len(rest) == 0 {
		m.tokens = append(m.tokens, tokens...)
		return
	}
	limit := m.limit
	m.limit = len(rest)
	m.document(outer, rest, 0, depth+1)
	m.limit = limit
	found := slices.Clone(m.tokens[first:])
	if len(rest) < len(text) {
		found = coalesce(found, rest, 0)
	}
	m.tokens = m.tokens[:first]
	// Both lists are in order: each token goes where it begins in the text, and
	// one that spans others is cut there.
	next := 0
	others := func(before int) {
		for ; next < len(found); next++ {
			t := &found[next]
			for t.start < t.end {
				start := places[t.start]
				if start >= before {
					return
				}
				length := 1
				for t.start+length < t.end && places[t.start+length] == start+length {
					length++
				}
				m.tokens = append(m.tokens, token{t.typ, start, start + length, t.traits})
				t.start += length
			}
		}
	}
	for _, t := range tokens {
		if t.typ != chroma.Other {
			others(t.start)
			m.tokens = append(m.tokens, t)
		}
	}
	others(base + len(text))
}

// coalesce joins neighbours of one type, as chroma does, up to a length of
// about 8 kB.
func coalesce(tokens []token, text []rune, base int) []token {
	const enough = 8192
	joined := tokens[:0]
	size := 0
	for _, t := range tokens {
		bytes := len(string(text[t.start-base : t.end-base]))
		if n := len(joined); n > 0 && joined[n-1].typ == t.typ && joined[n-1].end == t.start && size < enough {
			joined[n-1].end = t.end
			size += bytes
			continue
		}
		joined = append(joined, t)
		size = bytes
	}
	return joined
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
		if plus := strings.LastIndex(contentType, "+"); plus >= 0 {
			family, _, _ := strings.Cut(contentType[:plus], "/")
			lexer = lexers.MatchMimeType(family + "/" + contentType[plus+1:])
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
