package highlight

import (
	"math"

	"github.com/dlclark/regexp2/v2/syntax"
)

// step is one element of an expression that needs no engine: a character or a
// character of a class, so many times, as many as there are.
type step struct {
	literal  rune // where set is nil
	negate   bool // everything but the literal
	set      *syntax.CharSet
	ascii    charSet // of set, exact below nonASCII
	min, max int
}

// simpleSteps returns the steps of an expression that is a sequence of them, in
// which nothing can have to be tried again: only the last one, or one that the
// parser found to be atomic, takes a varying number of characters. About half
// of all attempts are of such expressions: white space, punctuation, names.
func simpleSteps(root *syntax.RegexNode) ([]step, bool) {
	if root.T != syntax.NtCapture || len(root.Children) != 1 {
		return nil, false
	}
	nodes := []*syntax.RegexNode{root.Children[0]}
	if nodes[0].T == syntax.NtConcatenate {
		nodes = nodes[0].Children
	}
	if len(nodes) < 2 || nodes[0].T != syntax.NtStart {
		return nil, false
	}
	var steps []step
	nodes = nodes[1:]
	for i, n := range nodes {
		if n.Options&(syntax.RightToLeft|syntax.ECMAScript|syntax.IgnoreCase) != 0 {
			return nil, false
		}
		last := i == len(nodes)-1
		s := step{literal: n.Ch, set: n.Set, min: 1, max: 1}
		switch n.T {
		case syntax.NtOne, syntax.NtNotone, syntax.NtSet:
		case syntax.NtMulti:
			for _, r := range n.Str {
				steps = append(steps, step{literal: r, min: 1, max: 1})
			}
			continue
		case syntax.NtOneloopatomic, syntax.NtNotoneloopatomic, syntax.NtSetloopatomic:
			s.min, s.max = n.M, n.N
		case syntax.NtOneloop, syntax.NtNotoneloop, syntax.NtSetloop:
			if !last {
				return nil, false
			}
			s.min, s.max = n.M, n.N
		default:
			return nil, false
		}
		switch n.T {
		case syntax.NtSet, syntax.NtSetloop, syntax.NtSetloopatomic:
			if s.set == nil {
				return nil, false
			}
			s.ascii = setChars(s.set, false)
		case syntax.NtNotone, syntax.NtNotoneloop, syntax.NtNotoneloopatomic:
			s.set, s.negate = nil, true
		default:
			s.set = nil
		}
		if s.max == math.MaxInt32 {
			s.max = math.MaxInt
		}
		steps = append(steps, s)
	}
	return steps, true
}

func (s *step) takes(r rune) bool {
	switch {
	case s.set == nil:
		return (r == s.literal) != s.negate
	case r >= 0 && r < nonASCII:
		return s.ascii.has(int(r))
	}
	return s.set.Contains(r)
}

// matchSteps returns where the steps end that begin at pos, or -1, and how many
// characters they passed.
func matchSteps(steps []step, text []rune, pos int) (end, passed int) {
	start := pos
	for i := range steps {
		s := &steps[i]
		stop := len(text)
		if s.max < stop-pos {
			stop = pos + s.max
		}
		from := pos
		for pos < stop && s.takes(text[pos]) {
			pos++
		}
		if pos-from < s.min {
			return -1, pos - start
		}
	}
	return pos, pos - start
}
