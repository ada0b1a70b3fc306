package highlight

import (
	"slices"

	"github.com/alecthomas/chroma/v2"

	"github.com/bindery-docs/bindery/shared/render/highlight/internal/backtrack"
)

const (
	// maxNesting bounds languages inside languages (HTML with scripts with
	// strings with …); a grammar that uses itself on the same text would
	// otherwise never end.
	maxNesting = 40
	// maxIdle bounds the rules that match nothing and don't shorten the stack,
	// one after another at one position. Real grammars need a few; chroma's own
	// driver would go on for ever.
	maxIdle = 1000
)

// token is a stretch of the text with chroma's type, in characters, and the
// traits of the language that it is of.
type token struct {
	typ        chroma.TokenType
	start, end int
	traits     *traits
}

// span is a group's place in the text; start is -1 where it took no part.
type span struct{ start, end int }

// machine runs grammars over one text. It is not safe for concurrent use and
// is reused for text after text.
type machine struct {
	languages *languages
	tokens    []token
	failed    bool    // the text can't be taken from here on; what follows is plain
	traits    *traits // of the language that runs
	limit     int     // where the text ends that tokens may cover
	left      int     // steps that the text still has; see limits
	engine    backtrack.Matcher

	// The last match, written by match.
	whole  span
	groups []span
}

func newMachine(l *languages) *machine { return &machine{languages: l} }

// reset prepares for a text of so many characters.
func (m *machine) reset(length int) {
	m.traits = common
	m.limit = length
	m.tokens = m.tokens[:0]
	m.failed = false
	m.left = m.languages.limits.steps(length)
}

// document tokenises a whole text from the grammar's root, as chroma does for
// a text of its own: a grammar that needs a line feed at the end gets one. The
// text may have a line feed after its end, in its spare capacity or not.
func (m *machine) document(g *grammar, text []rune, base, depth int) {
	end := len(text)
	if g.ensureNL && (end == 0 || text[end-1] != '\n') {
		if cap(text) > end && text[:end+1][end] == '\n' {
			text = text[:end+1]
		} else {
			text = append(slices.Clone(text), '\n')
		}
	}
	outer := m.limit
	m.limit = min(outer, base+end)
	m.run(g, text, end, base, g.root, depth)
	m.limit = outer
}

// run tokenises text[:end], beginning in a state; matches may look at, and end
// within, what follows up to the length of text. base is added to the
// positions of the tokens.
func (m *machine) run(g *grammar, text []rune, end, base, start, depth int) {
	if depth > maxNesting {
		m.fail()
		return
	}
	var buffer [16]int
	stack := append(buffer[:0], start)
	idle := 0
	for pos := 0; pos < end && len(stack) > 0; {
		top := stack[len(stack)-1]
		if top < 0 {
			m.fail()
			return
		}
		s := g.states[top]
		r := m.match(g, s, text, pos)
		if m.failed {
			return
		}
		if r == nil {
			// An error token; at a line's end the grammar starts again.
			if text[pos] == '\n' && top != start {
				stack = append(stack[:0], start)
				continue
			}
			m.emit(chroma.Error, base+pos, base+pos+1)
			pos++
			idle = 0
			continue
		}
		before := len(stack)
		stack = mutate(stack, r.mutate, top)
		if stack == nil {
			m.fail()
			return
		}
		if m.whole.end > pos {
			idle = 0
		} else if len(stack) >= before {
			if idle++; idle > maxIdle {
				m.fail()
				return
			}
		}
		pos = m.whole.end
		if r.emit != nil {
			m.emitMatch(g, r.emit, text, base, depth)
			if m.failed {
				return
			}
		}
		if len(stack) == 0 && pos < end {
			m.emit(chroma.Error, base+pos, base+end)
		}
	}
}

// fail gives up the rest of the text. Tokens that are there stay.
func (m *machine) fail() { m.failed = true }

// emit adds a token; one that ends in a line feed that was only added is cut
// there, an empty one and one that is to be ignored are not added.
func (m *machine) emit(typ chroma.TokenType, start, end int) {
	end = min(end, m.limit)
	if start < end && typ != chroma.Ignore {
		m.tokens = append(m.tokens, token{typ, start, end, m.traits})
	}
}

// mutate changes the stack; nil where a state is popped that isn't there.
func mutate(stack []int, list []mutation, current int) []int {
	for _, change := range list {
		switch change.kind {
		case mutatePush:
			stack = append(stack, change.state)
		case mutatePushCurrent:
			stack = append(stack, current)
		case mutatePop:
			if change.depth > len(stack) || change.depth < 0 {
				return nil
			}
			stack = stack[:len(stack)-change.depth]
		}
	}
	return stack
}

// match finds the first rule that matches at pos and leaves the place of the
// match and of its groups in the machine. Nil if none does, or if the steps
// have run out.
func (m *machine) match(g *grammar, s *state, text []rune, pos int) *rule {
	for _, r := range s.candidates(text[pos]) {
		if m.left--; m.left < 0 {
			m.fail()
			return nil
		}
		switch {
		case r.always:
			m.whole = span{pos, pos}
			m.groups = m.groups[:0]
			return r
		case r.steps != nil:
			end, passed := matchSteps(r.steps, text, pos)
			m.left -= passed
			if end >= 0 {
				m.whole = span{pos, end}
				m.groups = m.groups[:0]
				return r
			}
		case r.words != nil:
			if end := r.words.match(text, pos); end >= 0 {
				m.whole = span{pos, end}
				m.groups = m.groups[:0]
				if r.words.group {
					m.groups = append(m.groups, m.whole)
				}
				return r
			}
		default:
			program := r.expression()
			if program == nil {
				continue
			}
			outcome, steps := m.engine.Match(program, text, pos, min(m.left, m.languages.limits.attempt))
			m.left -= steps
			switch outcome {
			case backtrack.OverBudget:
				m.fail()
				return nil
			case backtrack.Matched:
				if m.takeMatch(program, pos) {
					return r
				}
			}
		}
	}
	return nil
}

// takeMatch copies the places of the engine's last match; false if it doesn't
// begin at pos, which is what an expression that looks behind itself can do.
func (m *machine) takeMatch(program *backtrack.Program, pos int) bool {
	whole := m.engine.Group(0)
	m.whole = span{whole.Start, whole.End}
	m.groups = m.groups[:0]
	for i := range program.Groups() {
		group := m.engine.Group(i + 1)
		m.groups = append(m.groups, span{group.Start, group.End})
	}
	return m.whole.start == pos
}

// emitMatch adds the tokens of the last match.
func (m *machine) emitMatch(g *grammar, e *emitter, text []rune, base, depth int) {
	whole := m.whole
	switch e.kind {
	case emitToken:
		m.emit(e.token, base+whole.start, base+whole.end)
	case emitGroups:
		if len(e.groups) != len(m.groups) {
			m.emit(chroma.Error, base+whole.start, base+whole.end)
			return
		}
		// Emitting may run another language, which matches in turn.
		var buffer [16]span
		groups := append(buffer[:0], m.groups...)
		for i, part := range e.groups {
			m.emitPart(g, part, text, groups[i], base, depth)
		}
	case emitLexerByGroup:
		if len(e.groups) != len(m.groups) {
			m.fail()
			return
		}
		groups := slices.Clone(m.groups)
		inner := m.languages.find(textOf(text, groups[e.nameGroup-1]))
		for i, part := range e.groups {
			if at := groups[i]; i == e.codeGroup-1 && at.start >= 0 && inner != nil {
				m.text(inner, text[at.start:at.end], base+at.start, depth+1)
			} else {
				m.emitPart(g, part, text, at, base, depth)
			}
		}
	default:
		m.emitPart(g, e, text, whole, base, depth)
	}
}

// emitPart adds the tokens of one stretch of the text: of a whole match or of
// one group.
func (m *machine) emitPart(g *grammar, e *emitter, text []rune, at span, base, depth int) {
	if e == nil || at.start < 0 || m.failed {
		return
	}
	part := text[at.start:at.end]
	switch e.kind {
	case emitToken:
		m.emit(e.token, base+at.start, base+at.end)
	case emitGroups, emitLexerByGroup:
		// Groups of a group: chroma counts one group and none inside it.
		m.emit(chroma.Error, base+at.start, base+at.end)
	case emitSelf:
		m.run(g, part, len(part), base+at.start, e.state, depth+1)
	case emitLexer:
		m.emitLexer(e, part, base+at.start, depth)
	}
}

// emitLexer adds the tokens of a stretch in another language.
func (m *machine) emitLexer(e *emitter, part []rune, base, depth int) {
	inner := m.languages.find(e.lexer)
	if inner == nil {
		m.fail()
		return
	}
	g := inner.load()
	if g == nil || inner.wrap == wrapDelegate {
		m.text(inner, part, base, depth+1)
		return
	}
	first, outer := len(m.tokens), m.traits
	if e.other == 0 {
		m.traits = inner.traits
	}
	m.run(g, part, len(part), base, g.root, depth+1)
	m.traits = outer
	if e.other != 0 {
		for i := range m.tokens[first:] {
			if t := &m.tokens[first+i]; t.typ == chroma.Other {
				t.typ = e.other
			}
		}
	}
}

func textOf(text []rune, at span) string {
	if at.start < 0 {
		return ""
	}
	return string(text[at.start:at.end])
}
