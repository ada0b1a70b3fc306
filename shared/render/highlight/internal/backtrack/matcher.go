package backtrack

// Outcome is how an attempt ended.
type Outcome uint8

const (
	// NoMatch: the expression doesn't match at the position.
	NoMatch Outcome = iota
	// Matched: it does, and the Matcher holds the groups.
	Matched
	// OverBudget: the attempt took all the steps that it had and is undecided.
	OverBudget
	// StackFull: the attempt remembered more places to go back to than
	// maxTrack allows. Regexp2 ends such an attempt with an error, and grammars
	// go on with the next rule.
	StackFull
)

// maxTrack is how many numbers the stack of places to go back to holds at most:
// regexp2's own default bound (MaxBacktrackingStackSize).
const maxTrack = 100_000

// Span is a stretch of the text in characters; Start is -1 for a group that
// took no part.
type Span struct{ Start, End int }

// Matcher runs programs one after another. The zero value is ready to use. It
// is not safe for concurrent use.
type Matcher struct {
	// track holds the places to go back to, the last one on top: what is to be
	// restored, then the index of the instruction that knows how. The index is
	// negative where the instruction has a second way to fail.
	track []int32
	// stack holds what instructions keep for others that come later: where
	// groups and loops began, how often loops ran.
	stack []int32
	// undo holds what groups were before each capture, to be restored on the
	// way back.
	undo   []capture
	groups []Span
}

type capture struct {
	group int32
	old   Span
}

// Group returns a group of the last match, by its place in the order of group
// numbers; 0 is the whole match.
func (m *Matcher) Group(i int) Span { return m.groups[i] }

func (m *Matcher) prepare(p *Program) {
	const least = 64
	if need := max(least, 2*p.room+trackSlots); len(m.track) < need || len(m.stack) < need {
		m.track = make([]int32, max(need, len(m.track)))
		m.stack = make([]int32, max(need, len(m.stack)))
	}
	m.undo = m.undo[:0]
	if cap(m.groups) < p.slots {
		m.groups = make([]Span, p.slots)
	}
	m.groups = m.groups[:p.slots]
	for i := range m.groups {
		m.groups[i] = Span{-1, -1}
	}
}

// grow makes room on the stacks, of which so much is used.
func (m *Matcher) grow(p *Program, track, stack int) {
	if track+p.room > len(m.track) {
		m.track = append(m.track[:track], make([]int32, max(track, p.room))...)
	}
	if stack+p.room > len(m.stack) {
		m.stack = append(m.stack[:stack], make([]int32, max(stack, p.room))...)
	}
}

func (m *Matcher) capture(group int32, start, end int) {
	if end < start {
		start, end = end, start
	}
	m.undo = append(m.undo, capture{group, m.groups[group]})
	m.groups[group] = Span{start, end}
}

// release undoes captures until so many are left.
func (m *Matcher) release(left int) {
	for len(m.undo) > left {
		last := m.undo[len(m.undo)-1]
		m.groups[last.group] = last.old
		m.undo = m.undo[:len(m.undo)-1]
	}
}

// Match tries a program at a position of the text. It takes at most limit
// steps: one for each instruction, forwards or back, and one for each character
// that a loop or a back reference passes. It returns how many it took. The same
// program, text, position and limit give the same outcome and steps.
//
// It is one function because it is one loop: the position, the instruction, the
// steps left and the use of both stacks are read and written by nearly every
// instruction. As local variables of one function they may live in registers;
// an instruction in a function of its own would reach them through memory, and
// cost a call that is longer than most instructions.
func (m *Matcher) Match(p *Program, text []rune, at, limit int) (Outcome, int) {
	end := len(text)
	if at < 0 || end-at < p.minLength {
		return NoMatch, 1
	}
	m.prepare(p)
	var (
		code         = p.code
		track, stack = m.track, m.stack
		tp, sp       int // the lengths of track and stack in use
		pos          = at
		pc           int // index of the instruction
		left         = limit
	)
	// full is the use of the stacks from which they are looked at.
	full := min(len(track), len(stack), maxTrack) - p.room
	for {
		if left--; left < 0 {
			return OverBudget, limit
		}
		in := &code[pc]
		next := pc + 1
		switch in.op {
		case opStop:
			if m.groups[0].Start < 0 {
				return NoMatch, limit - left
			}
			return Matched, limit - left
		case opNothing:
			goto back
		case opNop:
		case opGoto:
			next = int(in.a)

		case opOne:
			if pos >= end || text[pos] != in.a {
				goto back
			}
			pos++
		case opNotone:
			if pos >= end || text[pos] == in.a {
				goto back
			}
			pos++
		case opSet:
			if pos >= end || !in.class.has(text[pos]) {
				goto back
			}
			pos++

		case opRep:
			count := int(in.b)
			if end-pos < count {
				goto back
			}
			for _, r := range text[pos : pos+count] {
				if !in.takes(r) {
					goto back
				}
			}
			pos += count
			left -= count
		case opRepRTL:
			count := int(in.b)
			if pos < count {
				goto back
			}
			for i := range count {
				if !in.takes(text[pos-1-i]) {
					goto back
				}
			}
			pos -= count
			left -= count

		case opOneLoop, opNotoneLoop, opSetLoop:
			stop := end
			if int(in.b) < end-pos {
				stop = pos + int(in.b)
			}
			i := pos
			switch in.op {
			case opOneLoop:
				for i < stop && text[i] == in.a {
					i++
				}
			case opNotoneLoop:
				for i < stop && text[i] != in.a {
					i++
				}
			default:
				for i < stop && in.class.has(text[i]) {
					i++
				}
			}
			if i > pos {
				left -= i - pos
				if !in.atomic {
					track[tp], track[tp+1], track[tp+2] = int32(i-pos-1), int32(i-1), int32(pc)
					tp += 3
				}
				pos = i
			}
		case opLoopRTL:
			count := 0
			for most := min(int(in.b), pos); count < most && in.takes(text[pos-1-count]); {
				count++
			}
			if count > 0 {
				left -= count
				pos -= count
				if !in.atomic {
					track[tp], track[tp+1], track[tp+2] = int32(count-1), int32(pos+1), int32(pc)
					tp += 3
				}
			}
		case opLazy:
			most := end - pos
			if in.rtl {
				most = pos
			}
			if count := min(int(in.b), most); count > 0 {
				track[tp], track[tp+1], track[tp+2] = int32(count-1), int32(pos), int32(pc)
				tp += 3
			}

		case opString:
			s := p.strings[in.a]
			if end-pos < len(s) {
				goto back
			}
			for i, r := range text[pos : pos+len(s)] {
				if r != s[i] {
					goto back
				}
			}
			pos += len(s)
		case opStringRTL:
			s := p.strings[in.a]
			if pos < len(s) {
				goto back
			}
			for i, r := range text[pos-len(s) : pos] {
				if r != s[i] {
					goto back
				}
			}
			pos -= len(s)
		case opRef:
			group := m.groups[in.a]
			if group.Start < 0 {
				goto back
			}
			length := group.End - group.Start
			from := pos
			if in.rtl {
				from = pos - length
			}
			if from < 0 || end-from < length {
				goto back
			}
			left -= length
			for i := range length {
				a, b := text[group.Start+i], text[from+i]
				if a != b && !(in.fold && equalFold(a, b)) {
					goto back
				}
			}
			pos = from
			if !in.rtl {
				pos = from + length
			}
		case opDispatch:
			from, after := pos, pos+1
			if in.rtl {
				from, after = pos-1, pos-1
			}
			if from < 0 || from >= end {
				goto back
			}
			to := p.tables[in.a].target(text[from])
			if to < 0 {
				goto back
			}
			pos, next = after, int(to)

		case opBol:
			if pos > 0 && text[pos-1] != '\n' {
				goto back
			}
		case opEol:
			if pos < end && text[pos] != '\n' {
				goto back
			}
		case opBoundary:
			if !isBoundary(text, pos) {
				goto back
			}
		case opNonboundary:
			if isBoundary(text, pos) {
				goto back
			}
		case opBeginning:
			if pos > 0 {
				goto back
			}
		case opStart:
			if pos != at {
				goto back
			}
		case opEndZ:
			if rest := end - pos; rest > 1 || rest == 1 && text[pos] != '\n' {
				goto back
			}

		case opLazybranch:
			track[tp], track[tp+1] = int32(pos), int32(pc)
			tp += 2
		case opBranchmark:
			// What a loop that may run for ever does after each round.
			mark := stack[sp-1]
			if int(mark) != pos {
				// Something was taken: again.
				track[tp], track[tp+1], track[tp+2] = mark, int32(pos), int32(pc)
				tp += 3
				stack[sp-1] = int32(pos)
				next = int(in.a)
			} else {
				track[tp], track[tp+1] = mark, int32(-pc)
				tp += 2
				sp--
			}
		case opLazybranchmark:
			// The same, but on before again; again is the way back.
			sp--
			mark := stack[sp]
			if int(mark) != pos {
				if mark < 0 {
					mark = int32(pos)
				}
				track[tp], track[tp+1], track[tp+2] = mark, int32(pos), int32(pc)
			} else {
				track[tp], track[tp+1], track[tp+2] = mark, 0, int32(-pc)
			}
			tp += 3
		case opSetcount, opNullcount:
			stack[sp], stack[sp+1] = int32(pos), in.a
			if in.op == opNullcount {
				stack[sp] = -1
			}
			sp += 2
			track[tp] = int32(pc)
			tp++
		case opBranchcount:
			// Under the count lies where the round began.
			mark, count := stack[sp-2], stack[sp-1]
			if count >= in.b || int(mark) == pos && count >= 0 {
				track[tp], track[tp+1], track[tp+2] = mark, count, int32(-pc)
				tp += 3
				sp -= 2
			} else {
				track[tp], track[tp+1] = mark, int32(pc)
				tp += 2
				stack[sp-2], stack[sp-1] = int32(pos), count+1
				next = int(in.a)
			}
		case opSetmark, opNullmark:
			stack[sp] = int32(pos)
			if in.op == opNullmark {
				stack[sp] = -1
			}
			sp++
			track[tp] = int32(pc)
			tp++
		case opCapturemark:
			sp--
			mark := stack[sp]
			m.capture(in.a, int(mark), pos)
			track[tp], track[tp+1] = mark, int32(pc)
			tp += 2
		case opGetmark:
			sp--
			track[tp], track[tp+1] = stack[sp], int32(pc)
			tp += 2
			pos = int(stack[sp])
		case opSetjump:
			// What follows is one piece: how high track and undo are, to cut them.
			stack[sp], stack[sp+1] = int32(tp), int32(len(m.undo))
			sp += 2
			track[tp] = int32(pc)
			tp++
		case opBackjump:
			sp -= 2
			tp = int(stack[sp])
			m.release(int(stack[sp+1]))
			goto back
		case opForejump:
			sp -= 2
			tp = int(stack[sp])
			track[tp], track[tp+1] = stack[sp+1], int32(pc)
			tp += 2
		}
	jump:
		if next <= pc && (tp > full || sp > full) {
			if tp > maxTrack-p.room {
				return StackFull, limit - left
			}
			m.grow(p, tp, sp)
			track, stack = m.track, m.stack
			full = min(len(track), len(stack), maxTrack) - p.room
		}
		pc = next
		continue

	back:
		for {
			if left--; left < 0 {
				return OverBudget, limit
			}
			tp--
			to := int(track[tp])
			second := to < 0
			if second {
				to = -to
			}
			if to < pc && (tp > full || sp > full) {
				if tp > maxTrack-p.room {
					return StackFull, limit - left
				}
				m.grow(p, tp, sp)
				track, stack = m.track, m.stack
				full = min(len(track), len(stack), maxTrack) - p.room
			}
			pc = to
			in := &code[pc]
			switch in.op {
			case opOneLoop, opNotoneLoop, opSetLoop:
				tp -= 2
				rest := track[tp]
				pos = int(track[tp+1])
				if rest > 0 {
					track[tp], track[tp+1], track[tp+2] = rest-1, int32(pos-1), int32(pc)
					tp += 3
				}
				next = pc + 1
				goto jump
			case opLoopRTL:
				tp -= 2
				rest := track[tp]
				pos = int(track[tp+1])
				if rest > 0 {
					track[tp], track[tp+1], track[tp+2] = rest-1, int32(pos+1), int32(pc)
					tp += 3
				}
				next = pc + 1
				goto jump
			case opLazy:
				tp -= 2
				rest := track[tp]
				pos = int(track[tp+1])
				if in.rtl {
					pos--
				}
				if !in.takes(text[pos]) {
					continue
				}
				if !in.rtl {
					pos++
				}
				if rest > 0 {
					track[tp], track[tp+1], track[tp+2] = rest-1, int32(pos), int32(pc)
					tp += 3
				}
				next = pc + 1
				goto jump

			case opLazybranch:
				tp--
				pos = int(track[tp])
				next = int(in.a)
				goto jump
			case opBranchmark:
				if second {
					tp--
					stack[sp] = track[tp]
					sp++
					continue
				}
				tp -= 2
				sp--
				pos = int(track[tp+1])
				track[tp+1] = int32(-pc)
				tp += 2
				next = pc + 1
				goto jump
			case opLazybranchmark:
				tp -= 2
				mark := track[tp]
				if second {
					if track[tp+1] != 0 {
						sp--
					}
					stack[sp] = mark
					sp++
					continue
				}
				pos = int(track[tp+1])
				track[tp+1], track[tp+2] = 1, int32(-pc)
				tp += 3
				stack[sp] = int32(pos)
				sp++
				next = int(in.a)
				goto jump
			case opSetcount, opNullcount, opSetjump:
				sp -= 2
			case opBranchcount:
				if second {
					tp -= 2
					stack[sp], stack[sp+1] = track[tp], track[tp+1]
					sp += 2
					continue
				}
				tp--
				if count := stack[sp-1]; count > 0 {
					sp -= 2
					pos = int(stack[sp])
					track[tp+1], track[tp+2] = count-1, int32(-pc)
					tp += 3
					next = pc + 1
					goto jump
				} else {
					stack[sp-2], stack[sp-1] = track[tp], count-1
				}
			case opSetmark, opNullmark:
				sp--
			case opCapturemark:
				tp--
				stack[sp] = track[tp]
				sp++
				m.release(len(m.undo) - 1)
			case opGetmark:
				tp--
				stack[sp] = track[tp]
				sp++
			case opForejump:
				tp--
				m.release(int(track[tp]))
			}
		}
	}
}
