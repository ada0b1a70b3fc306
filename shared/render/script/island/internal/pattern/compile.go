package pattern

import (
	"fmt"
	"slices"
	"unicode"
	"unicode/utf16"
)

// op is what an instruction does. Those with back go from right to left.
type op uint8

const (
	opMatch    op = iota
	opSet         // one character of set
	opLoop        // characters of set, at least a, at most b; lazy
	opSplit       // goes on at a, or, if that fails, at b
	opJump        // goes on at a
	opSave        // the position is slot a
	opClear       // groups from a to before b took no part
	opMark        // the position is register a
	opMoved       // fails if the position is register a
	opLook        // what follows, up to a, must match here, or, negated, must not
	opRef         // what group a matched
	opBegin       // a: 1 for that of any line
	opEnd         // likewise
	opBoundary    // negated
)

type inst struct {
	op            op
	back, negated bool
	lazy          bool
	a, b          int32
	set           *set
	// memo is the place of its failures among those of all, -1 for none, and
	// marks the registers that what follows depends on.
	memo  int32
	marks []int32
}

// Program is a compiled expression. It is immutable and safe for concurrent use.
type Program struct {
	code      []inst
	groups    int
	registers int
	names     []Name
	unicode   bool
	fold      folding
	word      *set
	// memos is how many instructions have a memo, depth how many registers one of
	// them depends on at most.
	memos, depth int
}

// Name is the name of a group.
type Name struct {
	Name  string
	Group int
}

// Groups is the number of the expression's groups, without the whole match.
func (p *Program) Groups() int { return p.groups }

// Names are the names of groups, in the order of the expression.
func (p *Program) Names() []Name { return p.names }

// Size is about how many bytes the program takes.
func (p *Program) Size() int { return 100 * len(p.code) }

// Flags are the flags of an expression that change what it matches.
type Flags struct{ IgnoreCase, Multiline, DotAll, Unicode bool }

// maxCode bounds the instructions of one expression: counted repetitions of
// groups are written out.
const maxCode = 50_000

// Compile reads an expression, in UTF-16. Its error wraps ErrUnsupported for one
// that is valid but not run.
func Compile(source []uint16, f Flags) (*Program, error) {
	p := &parser{unicode: f.Unicode, dotAll: f.DotAll, names: map[string]int{}, characters: map[rune]*set{}}
	if f.Unicode {
		p.text = utf16.Decode(source)
	} else {
		for _, u := range source {
			p.text = append(p.text, rune(u))
		}
	}
	switch {
	case f.IgnoreCase && f.Unicode:
		p.fold = unicod
	case f.IgnoreCase:
		p.fold = legacy
	}
	tree, err := p.whole()
	if err != nil {
		return nil, err
	}
	c := &compiler{program: &Program{groups: p.groups, unicode: f.Unicode, fold: p.fold}, multiline: f.Multiline}
	c.memo = !refers(tree)
	c.program.word = (&set{ranges: wordsIn(p.fold)}).seal(exact)
	for _, name := range p.order {
		c.program.names = append(c.program.names, Name{name, p.names[name]})
	}
	c.node(tree)
	c.emit(inst{op: opMatch})
	if c.full {
		return nil, fmt.Errorf("%w: it is too long", ErrUnsupported)
	}
	return c.program, nil
}

// refers reports whether there is a reference in a tree.
func refers(n *node) bool { return n.kind == kindRef || slices.ContainsFunc(n.list, refers) }

// empties reports whether a node may match nothing.
func empties(n *node) bool {
	switch n.kind {
	case kindSet:
		return false
	case kindLoop:
		return n.least == 0 || empties(n.list[0])
	case kindEither:
		return slices.ContainsFunc(n.list, empties)
	case kindSequence, kindGroup:
		return !slices.ContainsFunc(n.list, func(n *node) bool { return !empties(n) })
	}
	return true
}

type compiler struct {
	program   *Program
	multiline bool
	back      bool
	memo      bool // failures may be kept
	full      bool
	marks     []int32 // registers of the loops around
}

func (c *compiler) emit(i inst) int {
	p := c.program
	if len(p.code) >= maxCode {
		c.full = true
		return 0
	}
	i.memo = -1
	if c.memo && (i.op == opSplit || i.op == opLoop) {
		i.memo, i.marks = int32(p.memos), slices.Clone(c.marks)
		p.memos++
		p.depth = max(p.depth, len(c.marks))
	}
	i.back = i.back || c.back
	p.code = append(p.code, i)
	return len(p.code) - 1
}

func (c *compiler) here() int32 { return int32(len(c.program.code)) }

// split emits a choice; with lazy, of what follows last. later sets the other end.
func (c *compiler) split(lazy bool) (later func()) {
	at := c.emit(inst{op: opSplit})
	one, other := &c.program.code[at].a, &c.program.code[at].b
	if lazy {
		*other = c.here()
	} else {
		*one = c.here()
	}
	return func() {
		if lazy {
			c.program.code[at].a = c.here()
		} else {
			c.program.code[at].b = c.here()
		}
	}
}

func (c *compiler) node(n *node) {
	if c.full {
		return
	}
	switch n.kind {
	case kindSet:
		c.emit(inst{op: opSet, set: n.set})
	case kindSequence:
		if c.back {
			for _, part := range slices.Backward(n.list) {
				c.node(part)
			}
			return
		}
		for _, part := range n.list {
			c.node(part)
		}
	case kindEither:
		var ends []int
		for i, part := range n.list {
			if i == len(n.list)-1 {
				c.node(part)
				break
			}
			later := c.split(false)
			c.node(part)
			ends = append(ends, c.emit(inst{op: opJump}))
			later()
		}
		for _, end := range ends {
			c.program.code[end].a = c.here()
		}
	case kindGroup:
		first, last := int32(2*n.index), int32(2*n.index+1)
		if c.back {
			first, last = last, first
		}
		c.emit(inst{op: opSave, a: first})
		c.node(n.list[0])
		c.emit(inst{op: opSave, a: last})
	case kindLoop:
		c.loop(n)
	case kindLook:
		back, memo, marks := c.back, c.memo, c.marks
		at := c.emit(inst{op: opLook, negated: n.negated})
		// What is in it may succeed at a place again and again.
		c.back, c.memo, c.marks = n.behind, false, nil
		c.node(n.list[0])
		c.emit(inst{op: opMatch})
		c.back, c.memo, c.marks = back, memo, marks
		c.program.code[at].a = c.here()
	case kindRef:
		c.emit(inst{op: opRef, a: int32(n.index)})
	case kindBegin, kindEnd:
		i := inst{op: opBegin}
		if n.kind == kindEnd {
			i.op = opEnd
		}
		if c.multiline {
			i.a = 1
		}
		c.emit(i)
	case kindBoundary:
		c.emit(inst{op: opBoundary, negated: n.negated})
	}
}

func (c *compiler) loop(n *node) {
	body := n.list[0]
	if body.kind == kindSequence && len(body.list) == 1 {
		body = body.list[0]
	}
	if body.kind == kindSet {
		c.emit(inst{op: opLoop, set: body.set, a: int32(n.least), b: int32(n.most), lazy: n.lazy})
		return
	}
	turn := func() {
		if n.afterIn > n.firstIn {
			c.emit(inst{op: opClear, a: int32(n.firstIn), b: int32(n.afterIn)})
		}
		c.node(body)
	}
	// more is a turn that need not be: it may not match nothing.
	more := func() {
		if !empties(body) {
			turn()
			return
		}
		mark := int32(c.program.registers)
		c.program.registers++
		c.emit(inst{op: opMark, a: mark})
		c.marks = append(c.marks, mark)
		turn()
		c.marks = c.marks[:len(c.marks)-1]
		c.emit(inst{op: opMoved, a: mark})
	}
	for range n.least {
		before := c.here()
		if turn(); c.full || c.here() == before { // there is nothing in it
			break
		}
	}
	if n.most < 0 {
		start := c.here()
		later := c.split(n.lazy)
		more()
		c.emit(inst{op: opJump, a: start})
		later()
		return
	}
	var ends []func()
	for range n.most - n.least {
		if c.full {
			break
		}
		ends = append(ends, c.split(n.lazy))
		more()
	}
	for _, end := range ends {
		end()
	}
}

// next reads the character after a position, or before it; ok is false where
// there is none.
func (p *Program) next(text []uint16, pos int, back bool) (r rune, to int, ok bool) {
	if back {
		if pos == 0 {
			return 0, pos, false
		}
		r, to = rune(text[pos-1]), pos-1
		if p.unicode && to > 0 {
			if whole := utf16.DecodeRune(rune(text[to-1]), r); whole != unicode.ReplacementChar {
				return whole, to - 1, true
			}
		}
		return r, to, true
	}
	if pos >= len(text) {
		return 0, pos, false
	}
	r, to = rune(text[pos]), pos+1
	if p.unicode && to < len(text) {
		if whole := utf16.DecodeRune(r, rune(text[to])); whole != unicode.ReplacementChar {
			return whole, to + 1, true
		}
	}
	return r, to, true
}
