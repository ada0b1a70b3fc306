package highlight

import (
	"slices"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/dlclark/regexp2/v2"
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
	runaway   bool    // it took too long; all of it is plain, see limits
	traits    *traits // of the language that runs
	limit     int     // where the text ends that tokens may cover
	steps     int
	deadline  time.Time

	// The last match, written by view.
	matched bool
	whole   span
	groups  []span
	numbers []int // the group numbers to read
	onMatch func(regexp2.MatchView) bool
}

func newMachine(l *languages) *machine {
	m := &machine{languages: l}
	m.onMatch = m.view
	return m
}

// reset prepares for a text of so many characters.
func (m *machine) reset(length int) {
	m.traits = &traits{}
	m.limit = length
	m.tokens = m.tokens[:0]
	m.failed, m.runaway = false, false
	m.steps = 0
	m.deadline = time.Now().Add(m.languages.limits.block)
}

// document tokenises a whole text from the grammar's root, as chroma does for
// a text of its own: a grammar that needs a line feed at the end gets one. The
// text may have a line feed behind its end, in its spare capacity or not.
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

// run tokenises text[:end] from a state on; matches may look at, and end
// behind, what lies between end and the length of text. base is added to the
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
		if m.failed || m.late() {
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
			m.emitMatch(g, s, r.emit, text, base, depth)
			if m.failed {
				return
			}
		}
		if len(stack) == 0 && pos < end {
			m.emit(chroma.Error, base+pos, base+end)
		}
	}
}

// late looks at the clock at every 64th call.
func (m *machine) late() bool {
	if m.steps++; m.steps&63 == 0 && time.Now().After(m.deadline) {
		m.stop()
	}
	return m.runaway
}

// stop gives the whole text up.
func (m *machine) stop() { m.failed, m.runaway = true, true }

// fail gives the rest of the text up. Tokens that are there stay.
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
// match and of its groups in the machine. Nil if none does.
func (m *machine) match(g *grammar, s *state, text []rune, pos int) *rule {
	for _, r := range s.candidates(text[pos]) {
		if r.always {
			m.whole = span{pos, pos}
			m.groups = m.groups[:0]
			return r
		}
		if r.steps != nil {
			if end := matchSteps(r.steps, text, pos); end >= 0 {
				m.whole = span{pos, end}
				m.groups = m.groups[:0]
				return r
			}
			continue
		}
		if r.words != nil {
			if end := r.words.match(text, pos); end >= 0 {
				m.whole = span{pos, end}
				m.groups = m.groups[:0]
				if r.words.group {
					m.groups = append(m.groups, m.whole)
				}
				return r
			}
			continue
		}
		re := r.expression(g.attempt)
		if re == nil {
			continue
		}
		m.matched = false
		m.numbers = r.groups
		err := re.FindRunesMatches(text, pos, m.onMatch)
		if err != nil && err != regexp2.ErrBacktrackingStackLimit {
			// Stopped by the clock; see limits.
			m.matched = false
			if err = re.FindRunesMatches(text, pos, m.onMatch); err != nil && err != regexp2.ErrBacktrackingStackLimit {
				m.stop()
				return nil
			}
		}
		if err == nil && m.matched && m.whole.start == pos {
			return r
		}
	}
	return nil
}

// view reads a match while the engine lends it.
func (m *machine) view(v regexp2.MatchView) bool {
	start, length, _ := v.GroupRange(0)
	m.matched = true
	m.whole = span{start, start + length}
	m.groups = m.groups[:0]
	for _, number := range m.numbers {
		if start, length, ok := v.GroupRange(number); ok {
			m.groups = append(m.groups, span{start, start + length})
		} else {
			m.groups = append(m.groups, span{-1, -1})
		}
	}
	return false
}

// emitMatch adds the tokens of the last match.
func (m *machine) emitMatch(g *grammar, s *state, e *emitter, text []rune, base, depth int) {
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
			m.emitPart(g, s, part, text, groups[i], nil, base, depth)
		}
	case emitLexerByGroup:
		if len(e.groups) != len(m.groups) {
			m.fail()
			return
		}
		groups := slices.Clone(m.groups)
		label := groups[e.nameGroup-1]
		inner := m.languages.find(textOf(text, label))
		for i, part := range e.groups {
			if i == e.codeGroup-1 && inner != nil {
				if code := groups[i]; code.start >= 0 {
					m.text(inner, text[code.start:code.end], base+code.start, depth+1)
				}
				continue
			}
			m.emitPart(g, s, part, text, groups[i], nil, base, depth)
		}
	default:
		m.emitPart(g, s, e, text, whole, slices.Clone(m.groups), base, depth)
	}
}

// emitPart adds the tokens of one stretch of the text: of a whole match, then
// with its groups, or of one group.
func (m *machine) emitPart(g *grammar, s *state, e *emitter, text []rune, at span, groups []span, base, depth int) {
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
		inner := m.languages.find(e.lexer)
		if inner == nil {
			m.fail()
			return
		}
		if g := inner.load(m.languages.limits.attempt); g != nil {
			outer := m.traits
			m.traits = &inner.traits
			m.run(g, part, len(part), base+at.start, g.root, depth+1)
			m.traits = outer
		} else {
			m.text(inner, part, base+at.start, depth+1)
		}
	case emitFunc:
		values := []string{string(part)}
		for _, group := range groups {
			values = append(values, textOf(text, group))
		}
		m.call(g, s, e, part, values, base+at.start)
	}
}

// call runs an emitter that is a function of chroma's and places its tokens,
// which are strings, over the text that it was given.
func (m *machine) call(g *grammar, s *state, e *emitter, part []rune, values []string, base int) {
	next := e.call.Emit(values, &chroma.LexerState{
		Lexer:          g.lexer,
		Registry:       chroma.NewLexerRegistry(),
		Text:           part,
		State:          s.name,
		Groups:         values,
		MutatorContext: map[any]any{},
	})
	tokens := m.place(next, part)
	for _, t := range tokens {
		m.emit(t.typ, base+t.start, base+t.end)
	}
}

func textOf(text []rune, at span) string {
	if at.start < 0 {
		return ""
	}
	return string(text[at.start:at.end])
}
