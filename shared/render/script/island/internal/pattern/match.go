package pattern

import "slices"

// Outcome is how a search ended.
type Outcome uint8

const (
	// NoMatch: the expression matches nowhere.
	NoMatch Outcome = iota
	// Matched: it does, and the Matcher holds the groups.
	Matched
	// OverBudget: the search took all the steps that it had and is undecided.
	OverBudget
)

const (
	// maxTrack bounds the places to go back to.
	maxTrack = 2_000_000
	// maxMemo bounds the bits of failures that are kept; a search with more places
	// keeps none.
	maxMemo = 64 << 20
	// memoFrom is the steps after which failures are kept: most searches are
	// shorter.
	memoFrom = 2000
)

// Matcher runs programs one after another. The zero value is ready to use. It is
// not safe for concurrent use.
type Matcher struct {
	program   *Program
	text      []uint16
	slots     []int32
	registers []int32
	track     []entry
	left      int
	over      bool
	failures  []uint64
	keeps     bool // failures are kept in this search
	keepsFrom int  // steps left from which they are
}

// entry is a position to backtrack to, or a slot or register to restore while backtracking.
type entry struct {
	what entryKind
	pc   int32 // or the slot or register
	pos  int32 // or its former value
	to   int32 // of loops: how far back it may go, or how many it has taken
}

type entryKind uint8

const (
	entryBranch entryKind = iota
	entryLoop
	entryLazy
	entrySlot
	entryRegister
)

// Group returns where a group of the last match begins and ends, -1 for one that
// took no part; 0 is the whole match.
func (m *Matcher) Group(i int) (start, end int) {
	start, end = int(m.slots[2*i]), int(m.slots[2*i+1])
	if start < 0 || end < 0 {
		return -1, -1
	}
	return start, end
}

// Find searches for the first match that begins at a position of the text or
// later; with sticky, only there. It takes at most limit steps and returns how many
// it took: one for each place and each instruction, forwards or back, and one for
// each character that a loop or a reference passes.
func (m *Matcher) Find(p *Program, text []uint16, at int, sticky bool, limit int) (Outcome, int) {
	m.program, m.text, m.left, m.over, m.keeps = p, text, limit, false, false
	m.keepsFrom = limit - memoFrom
	m.slots = slices.Grow(m.slots[:0], 2*p.groups+2)[:2*p.groups+2]
	m.registers = slices.Grow(m.registers[:0], p.registers)[:p.registers]
	if at > 0 && at < len(text) && p.unicode {
		if _, to, _ := p.next(text, at+1, true); to < at {
			at = to // it was in the middle of a character
		}
	}
	for at <= len(text) {
		for i := range m.slots {
			m.slots[i] = -1
		}
		m.track = m.track[:0]
		end, ok := m.run(0, at)
		switch {
		case m.over:
			return OverBudget, limit
		case ok:
			m.slots[0], m.slots[1] = int32(at), int32(end)
			return Matched, limit - m.left
		case sticky || at == len(text):
			return NoMatch, limit - m.left
		}
		_, at, _ = p.next(text, at, false)
	}
	return NoMatch, limit - m.left
}

// failed reports whether an instruction has been at a position in the same
// circumstances: then it failed.
func (m *Matcher) failed(in *inst, pos int) bool {
	if !m.keeps {
		if m.left > m.keepsFrom || m.program.depth > 10 {
			return false
		}
		size := m.program.memos * (len(m.text) + 1) << m.program.depth
		if size > maxMemo {
			m.keepsFrom = -1
			return false
		}
		m.keeps = true
		m.failures = slices.Grow(m.failures[:0], size/64+1)[:size/64+1]
		clear(m.failures)
	}
	at := (int(in.memo)*(len(m.text)+1) + pos) << m.program.depth
	for i, r := range in.marks {
		if int(m.registers[r]) == pos {
			at |= 1 << i
		}
	}
	if m.failures[at/64]&(1<<(at%64)) != 0 {
		return true
	}
	m.failures[at/64] |= 1 << (at % 64)
	return false
}

// push remembers a place to go back to.
func (m *Matcher) push(what entryKind, pc, pos, to int) {
	if len(m.track) >= maxTrack {
		m.over = true
		return
	}
	m.track = append(m.track, entry{what, int32(pc), int32(pos), int32(to)})
}

func (m *Matcher) save(slot int32, pos int) {
	m.push(entrySlot, int(slot), int(m.slots[slot]), 0)
	m.slots[slot] = int32(pos)
}

// run tries the program from an instruction on at a position; it returns where
// the match ends. What it leaves on the track are other ways to match.
func (m *Matcher) run(pc, pos int) (end int, ok bool) {
	p, text, base := m.program, m.text, len(m.track)
	for {
		if m.left--; m.left < 0 || m.over {
			m.over = true
			return 0, false
		}
		in := &p.code[pc]
		pc++
		matches := true
		switch in.op {
		case opMatch:
			return pos, true
		case opSet:
			var r rune
			r, pos, matches = p.next(text, pos, in.back)
			matches = matches && in.set.has(r)
		case opLoop:
			if matches = in.memo < 0 || !m.failed(in, pos); matches {
				pos, matches = m.loop(in, pc, pos)
			}
		case opSplit:
			if matches = in.memo < 0 || !m.failed(in, pos); matches {
				m.push(entryBranch, int(in.b), pos, 0)
				pc = int(in.a)
			}
		case opJump:
			pc = int(in.a)
		case opSave:
			m.save(in.a, pos)
		case opClear:
			for slot := 2 * in.a; slot < 2*in.b; slot++ {
				if m.slots[slot] >= 0 {
					m.save(slot, -1)
				}
			}
			m.left -= int(in.b - in.a)
		case opMark:
			m.push(entryRegister, int(in.a), int(m.registers[in.a]), 0)
			m.registers[in.a] = int32(pos)
		case opMoved:
			matches = int(m.registers[in.a]) != pos
		case opLook:
			matches = m.look(in, pc, pos)
			pc = int(in.a)
		case opRef:
			pos, matches = m.refer(in, pos)
		case opBegin:
			matches = pos == 0 || in.a == 1 && isLine(text[pos-1])
		case opEnd:
			matches = pos == len(text) || in.a == 1 && isLine(text[pos])
		case opBoundary:
			before, _, was := p.next(text, pos, true)
			after, _, is := p.next(text, pos, false)
			matches = (was && p.word.has(before)) != (is && p.word.has(after)) != in.negated
		}
		if matches {
			continue
		}
		if pc, pos, ok = m.backtrack(base); !ok {
			return 0, false
		}
	}
}

func isLine(u uint16) bool { return u == '\n' || u == '\r' || u == 0x2028 || u == 0x2029 }

// loop takes as many characters as it may, or with lazy as few.
func (m *Matcher) loop(in *inst, next, pos int) (end int, ok bool) {
	most, count := int(in.b), 0
	if in.lazy {
		most = int(in.a)
	}
	least := pos
	for most < 0 || count < most {
		r, to, ok := m.program.next(m.text, pos, in.back)
		if !ok || !in.set.has(r) {
			break
		}
		pos = to
		if count++; count == int(in.a) {
			least = pos
		}
	}
	m.left -= count
	switch {
	case count < int(in.a):
		return pos, false
	case in.lazy && (in.b < 0 || count < int(in.b)):
		m.push(entryLazy, next-1, pos, count)
	case !in.lazy && pos != least:
		m.push(entryLoop, next-1, pos, least)
	}
	return pos, true
}

// backtrack goes back to the last place with another way; false if there is none
// above base.
func (m *Matcher) backtrack(base int) (pc, pos int, ok bool) {
	for len(m.track) > base {
		m.left--
		e := &m.track[len(m.track)-1]
		switch e.what {
		case entryBranch:
			pc, pos = int(e.pc), int(e.pos)
			m.track = m.track[:len(m.track)-1]
			return pc, pos, true
		case entryLoop:
			in := &m.program.code[e.pc]
			_, pos, _ = m.program.next(m.text, int(e.pos), !in.back)
			pc = int(e.pc) + 1
			if e.pos = int32(pos); e.pos == e.to {
				m.track = m.track[:len(m.track)-1]
			}
			return pc, pos, true
		case entryLazy:
			in := &m.program.code[e.pc]
			r, to, more := m.program.next(m.text, int(e.pos), in.back)
			if !more || !in.set.has(r) {
				break
			}
			pc = int(e.pc) + 1
			e.pos, e.to = int32(to), e.to+1
			if e.to == in.b {
				m.track = m.track[:len(m.track)-1]
			}
			return pc, to, true
		case entrySlot:
			m.slots[e.pc] = e.pos
		case entryRegister:
			m.registers[e.pc] = e.pos
		}
		m.track = m.track[:len(m.track)-1]
	}
	return 0, 0, false
}

// look tries what must match at a position, or must not.
func (m *Matcher) look(in *inst, pc, pos int) bool {
	base := len(m.track)
	_, found := m.run(pc, pos)
	if m.over {
		return false
	}
	if found == in.negated {
		// Groups are as they were before.
		for len(m.track) > base {
			switch e := m.track[len(m.track)-1]; e.what {
			case entrySlot:
				m.slots[e.pc] = e.pos
			case entryRegister:
				m.registers[e.pc] = e.pos
			}
			m.track = m.track[:len(m.track)-1]
		}
		return false
	}
	// It matches in one way only. Backtracking restores what it changed.
	kept := m.track[:base]
	for _, e := range m.track[base:] {
		if e.what == entrySlot || e.what == entryRegister {
			kept = append(kept, e)
		}
	}
	m.left -= len(m.track) - base
	m.track = kept
	return true
}

// refer passes what a group matched.
func (m *Matcher) refer(in *inst, pos int) (end int, ok bool) {
	at, last := m.Group(int(in.a))
	if in.back {
		at, last = last, at
	}
	for at != last {
		m.left--
		want, next, _ := m.program.next(m.text, at, in.back)
		got, to, ok := m.program.next(m.text, pos, in.back)
		if !ok || canonical(want, m.program.fold) != canonical(got, m.program.fold) {
			return pos, false
		}
		at, pos = next, to
	}
	return pos, true
}
