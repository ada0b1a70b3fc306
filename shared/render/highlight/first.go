package highlight

import (
	"unicode"

	"github.com/dlclark/regexp2/v2/syntax"
)

// dispatchSize is the number of rule lists of a state: one for each ASCII
// character and one, nonASCII, for everything above.
const (
	dispatchSize = 129
	nonASCII     = 128
)

// charSet says for each dispatch column whether a character of it is in the
// set. Sets here are always supersets of the true ones, so that a rule which
// might match is never left out.
type charSet [3]uint64

func (s *charSet) add(column int)     { s[column>>6] |= 1 << (column & 63) }
func (s charSet) has(column int) bool { return s[column>>6]&(1<<(column&63)) != 0 }
func (s charSet) union(o charSet) charSet {
	return charSet{s[0] | o[0], s[1] | o[1], s[2] | o[2]}
}
func (s charSet) intersect(o charSet) charSet {
	return charSet{s[0] & o[0], s[1] & o[1], s[2] & o[2]}
}

func allChars() charSet { return charSet{^uint64(0), ^uint64(0), 1} }

// prefix is what is known of the beginning of an expression, given that there
// is a next character: with which next characters it can match and consume
// that character (consume), and with which it can match the empty string at
// this position (empty).
type prefix struct{ consume, empty charSet }

func (p prefix) any() charSet { return p.consume.union(p.empty) }

// unknownPrefix is the safe answer for what isn't analysed.
func unknownPrefix() prefix { return prefix{allChars(), allChars()} }

// analyse returns the characters in front of which the pattern can match, and
// its steps where it is simple.
func analyse(pattern string) (first charSet, steps []step, err error) {
	tree, err := syntax.Parse(pattern, syntax.ParseOptions{})
	if err != nil {
		return charSet{}, nil, err
	}
	if tree.Options&syntax.RightToLeft != 0 {
		return allChars(), nil, nil
	}
	steps, _ = simpleSteps(tree.Root)
	return nodePrefix(tree.Root, 0).any(), steps, nil
}

// maxPrefixDepth bounds the recursion over a syntax tree; deeper parts count
// as unknown.
const maxPrefixDepth = 200

func nodePrefix(n *syntax.RegexNode, depth int) prefix {
	if n == nil || depth > maxPrefixDepth || n.Options&(syntax.RightToLeft|syntax.ECMAScript) != 0 {
		return unknownPrefix()
	}
	fold := n.Options&syntax.IgnoreCase != 0
	var p prefix
	switch n.T {
	case syntax.NtOne:
		p.consume = runeChars(n.Ch, fold, false)
	case syntax.NtNotone:
		p.consume = runeChars(n.Ch, false, true)
	case syntax.NtSet:
		p.consume = setChars(n.Set, fold)
	case syntax.NtMulti:
		if len(n.Str) == 0 {
			p.empty = allChars()
		} else {
			p.consume = runeChars(n.Str[0], fold, false)
		}
	case syntax.NtOneloop, syntax.NtOnelazy, syntax.NtOneloopatomic:
		p.consume = runeChars(n.Ch, fold, false)
		p.empty = emptyIf(n.M == 0)
	case syntax.NtNotoneloop, syntax.NtNotonelazy, syntax.NtNotoneloopatomic:
		p.consume = runeChars(n.Ch, false, true)
		p.empty = emptyIf(n.M == 0)
	case syntax.NtSetloop, syntax.NtSetlazy, syntax.NtSetloopatomic:
		p.consume = setChars(n.Set, fold)
		p.empty = emptyIf(n.M == 0)
	case syntax.NtNothing:
		// Never matches.
	case syntax.NtEmpty, syntax.NtBol, syntax.NtBoundary, syntax.NtNonboundary,
		syntax.NtECMABoundary, syntax.NtNonECMABoundary, syntax.NtBeginning,
		syntax.NtStart, syntax.NtUpdateBumpalong, syntax.NtNegLook:
		p.empty = allChars()
	case syntax.NtEol, syntax.NtEndZ:
		// There is a next character, so an end can only be in front of a line feed.
		p.empty.add('\n')
	case syntax.NtEnd:
		// Never true where there is a next character.
	default:
		return innerPrefix(n, depth)
	}
	return p
}

// innerPrefix is nodePrefix of a node that holds others.
func innerPrefix(n *syntax.RegexNode, depth int) prefix {
	var p prefix
	switch n.T {
	case syntax.NtPosLook:
		if len(n.Children) != 1 || n.Children[0].Options&syntax.RightToLeft != 0 {
			p.empty = allChars() // looks behind
		} else {
			p.empty = nodePrefix(n.Children[0], depth+1).any()
		}
	case syntax.NtConcatenate:
		p.empty = allChars()
		for _, child := range n.Children {
			c := nodePrefix(child, depth+1)
			p.consume = p.consume.union(p.empty.intersect(c.consume))
			p.empty = p.empty.intersect(c.empty)
		}
	case syntax.NtAlternate:
		for _, child := range n.Children {
			c := nodePrefix(child, depth+1)
			p.consume = p.consume.union(c.consume)
			p.empty = p.empty.union(c.empty)
		}
	case syntax.NtLoop, syntax.NtLazyloop:
		if len(n.Children) != 1 {
			return unknownPrefix()
		}
		p = nodePrefix(n.Children[0], depth+1)
		if n.M == 0 {
			p.empty = allChars()
		}
	case syntax.NtCapture, syntax.NtGroup, syntax.NtAtomic:
		if len(n.Children) != 1 {
			return unknownPrefix()
		}
		p = nodePrefix(n.Children[0], depth+1)
	default:
		return unknownPrefix()
	}
	return p
}

func emptyIf(nullable bool) charSet {
	if nullable {
		return allChars()
	}
	return charSet{}
}

// runeChars is the set of ch, or with negate of everything but ch. With fold
// it holds every character that is ch in another case.
func runeChars(ch rune, fold, negate bool) charSet {
	if negate {
		s := allChars()
		if ch >= 0 && ch < nonASCII {
			s[ch>>6] &^= 1 << (ch & 63)
		}
		return s
	}
	var s charSet
	s.add(column(ch))
	if fold {
		for r := unicode.SimpleFold(ch); r != ch; r = unicode.SimpleFold(r) {
			s.add(column(r))
		}
		s.add(column(unicode.ToLower(ch)))
		s.add(column(unicode.ToUpper(ch)))
	}
	return s
}

// setChars is the set of a character class. Everything above ASCII is taken to
// be in it unless the class says that it isn't.
func setChars(set *syntax.CharSet, fold bool) charSet {
	if set == nil {
		return allChars()
	}
	var s charSet
	for c := rune(0); c < nonASCII; c++ {
		in := set.Contains(c)
		if !in && fold {
			for r := unicode.SimpleFold(c); r != c && !in; r = unicode.SimpleFold(r) {
				in = set.Contains(r)
			}
		}
		if in {
			s.add(int(c))
		}
	}
	if fold || !set.Analyze().ContainsOnlyAscii {
		s.add(nonASCII)
	}
	return s
}

// column is the dispatch column of a character.
func column(r rune) int {
	if r >= 0 && r < nonASCII {
		return int(r)
	}
	return nonASCII
}
