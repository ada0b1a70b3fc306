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
	// wrapFrontMatter: a leading YAML block is YAML (Markdown).
	wrapFrontMatter
	// wrapContentType: the body is of the language that a header names (HTTP).
	wrapContentType
	// wrapDelegate: what the grammar leaves over is of another one (Svelte).
	wrapDelegate
	// wrapRename: some words get another type (Common Lisp).
	wrapRename
)

// wrapped is a language's grammar and what is around it.
type wrapped struct {
	kind  wrapper
	inner *chroma.RegexLexer
	outer *chroma.RegexLexer                // of wrapDelegate
	names func(chroma.Token) []chroma.Token // of wrapRename
}

// unwrap takes a lexer apart. Without an inner one there is nothing that the
// machine could run.
func unwrap(lexer chroma.Lexer) wrapped {
	if inner, ok := lexer.(*chroma.RegexLexer); ok {
		return wrapped{inner: inner}
	}
	if inner, ok := fieldsOf(lexer)["Lexer"].(*chroma.RegexLexer); ok {
		switch lexer {
		case lexers.Markdown:
			return wrapped{kind: wrapFrontMatter, inner: inner}
		case lexers.HTTP:
			return wrapped{kind: wrapContentType, inner: inner}
		}
		return wrapped{}
	}
	inner, _ := hidden(lexer, "language").(*chroma.RegexLexer)
	outer, _ := hidden(lexer, "root").(*chroma.RegexLexer)
	if inner != nil && outer != nil {
		return wrapped{kind: wrapDelegate, inner: inner, outer: outer}
	}
	inner, _ = hidden(lexer, "lexer").(*chroma.RegexLexer)
	names, _ := hidden(lexer, "mapper").(func(chroma.Token) []chroma.Token)
	if inner != nil && names != nil {
		return wrapped{kind: wrapRename, inner: inner, names: names}
	}
	return wrapped{}
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
	case lang.wrap == wrapFrontMatter:
		end := frontMatter(text)
		if yaml := m.languages.find("yaml"); end > 0 && yaml != nil {
			m.text(yaml, text[:end], base, depth+1)
		}
		if !m.failed {
			m.document(g, text[end:], base+end, depth)
		}
	case lang.wrap == wrapContentType:
		m.document(g, text, base, depth)
		m.body(text, base, first, depth)
	case lang.wrap == wrapDelegate:
		m.document(g, text, base, depth)
		m.delegate(lang.outer, text, base, first, depth)
	case lang.wrap == wrapRename:
		m.document(g, text, base, depth)
		m.rename(lang.names, text, base, first)
	default:
		m.document(g, text, base, depth)
	}
}

// rename gives tokens the types that chroma gives some words.
func (m *machine) rename(names func(chroma.Token) []chroma.Token, text []rune, base, first int) {
	for i := range m.tokens[first:] {
		t := &m.tokens[first+i]
		value := string(text[t.start-base : t.end-base])
		if renamed := names(chroma.Token{Type: t.typ, Value: value}); len(renamed) == 1 && renamed[0].Value == value {
			t.typ = renamed[0].Type
		}
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
