package pattern

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
)

// ErrUnsupported is the error for expressions that are valid, but that this
// package doesn't run.
var ErrUnsupported = errors.New("pattern: unsupported expression")

// kind is the kind of a node.
type kind uint8

const (
	kindEmpty    kind = iota
	kindSet           // one character
	kindSequence      // list
	kindEither        // list
	kindGroup         // list[0]; index
	kindLoop          // list[0]; least, most, lazy
	kindLook          // list[0]; behind, negated
	kindRef           // index, of the group
	kindBegin
	kindEnd
	kindBoundary // negated
)

type node struct {
	kind             kind
	list             []*node
	set              *set
	index            int    // of a group
	name             string // of a reference
	least, most      int    // most is -1 for any number
	lazy             bool
	behind, negated  bool
	firstIn, afterIn int // groups in it: from firstIn to before afterIn
}

// maxDepth bounds groups in groups.
const maxDepth = 500

type parser struct {
	text       []rune
	at         int
	unicode    bool
	dotAll     bool
	fold       folding
	groups     int // so far
	total      int // in the whole expression
	names      map[string]int
	order      []string // names in their order
	hasNames   bool
	depth      int
	refs       []*node // by name
	characters map[rune]*set
}

func (p *parser) fail(format string, args ...any) error {
	return fmt.Errorf("pattern: "+format, args...)
}

func (p *parser) more() bool { return p.at < len(p.text) }

func (p *parser) peek(offset int) rune {
	if p.at+offset < len(p.text) {
		return p.text[p.at+offset]
	}
	return -1
}

func (p *parser) take(s string) bool {
	for i, r := range []rune(s) {
		if p.peek(i) != r {
			return false
		}
	}
	p.at += len([]rune(s))
	return true
}

// count finds how many groups there are, and whether any has a name.
func (p *parser) count() {
	in := false
	for i := 0; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '[':
			in = true
		case ']':
			in = false
		case '(':
			if in {
				continue
			}
			if i+1 >= len(p.text) || p.text[i+1] != '?' {
				p.total++
			} else if i+3 < len(p.text) && p.text[i+2] == '<' && p.text[i+3] != '=' && p.text[i+3] != '!' {
				p.total++
				p.hasNames = true
			}
		}
	}
}

func (p *parser) whole() (*node, error) {
	p.count()
	n, err := p.either()
	if err != nil {
		return nil, err
	}
	if p.more() {
		return nil, p.fail("unmatched )")
	}
	for _, ref := range p.refs {
		if ref.index = p.names[ref.name]; ref.index == 0 {
			return nil, p.fail("no group is called %s", ref.name)
		}
	}
	return n, nil
}

func (p *parser) either() (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("%w: it nests too deep", ErrUnsupported)
	}
	defer func() { p.depth-- }()
	var list []*node
	for {
		n, err := p.sequence()
		if err != nil {
			return nil, err
		}
		list = append(list, n)
		if !p.take("|") {
			break
		}
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return &node{kind: kindEither, list: list}, nil
}

func (p *parser) sequence() (*node, error) {
	n := &node{kind: kindSequence}
	for p.more() && p.peek(0) != '|' && p.peek(0) != ')' {
		t, err := p.term()
		if err != nil {
			return nil, err
		}
		n.list = append(n.list, t)
	}
	return n, nil
}

func (p *parser) term() (*node, error) {
	first := p.groups
	n, loops, err := p.atom()
	if err != nil {
		return nil, err
	}
	least, most, ok, err := p.quantifier()
	if err != nil || !ok {
		return n, err
	}
	if !loops {
		return nil, p.fail("nothing to repeat")
	}
	return &node{kind: kindLoop, list: []*node{n}, least: least, most: most, lazy: p.take("?"), firstIn: first + 1, afterIn: p.groups + 1}, nil
}

func (p *parser) quantifier() (least, most int, ok bool, err error) {
	switch {
	case p.take("*"):
		return 0, -1, true, nil
	case p.take("+"):
		return 1, -1, true, nil
	case p.take("?"):
		return 0, 1, true, nil
	case p.peek(0) != '{':
		return 0, 0, false, nil
	}
	start := p.at
	p.at++
	least, ok = p.number()
	most = least
	if ok && p.take(",") {
		if most, ok = p.number(); !ok {
			most, ok = -1, true
		}
	}
	if !ok || !p.take("}") {
		p.at = start
		if p.unicode {
			return 0, 0, false, p.fail("incomplete quantifier")
		}
		return 0, 0, false, nil
	}
	if most >= 0 && most < least {
		return 0, 0, false, p.fail("numbers out of order")
	}
	return least, most, true, nil
}

func (p *parser) number() (int, bool) {
	n, start := 0, p.at
	for p.peek(0) >= '0' && p.peek(0) <= '9' {
		n = min(n*10+int(p.peek(0)-'0'), math.MaxInt32)
		p.at++
	}
	return n, p.at > start
}

// char returns a node that matches one character.
func (p *parser) char(r rune) *node {
	if s := p.characters[r]; s != nil {
		return &node{kind: kindSet, set: s}
	}
	s := (&set{ranges: []rune{r, r}}).seal(p.fold)
	p.characters[r] = s
	return &node{kind: kindSet, set: s}
}

// atom reads a term without its quantifier; loops reports whether it may have one.
func (p *parser) atom() (n *node, loops bool, err error) {
	r := p.peek(0)
	switch r {
	case '^':
		p.at++
		return &node{kind: kindBegin}, false, nil
	case '$':
		p.at++
		return &node{kind: kindEnd}, false, nil
	case '(':
		return p.group()
	case '.':
		p.at++
		if p.dotAll {
			return &node{kind: kindSet, set: (&set{ranges: []rune{0, unicode.MaxRune}}).seal(exact)}, true, nil
		}
		return &node{kind: kindSet, set: (&set{ranges: without(lines)}).seal(exact)}, true, nil
	case '[':
		n, err = p.bracket()
		return n, true, err
	case '\\':
		return p.escape()
	case '*', '+', '?':
		return nil, false, p.fail("nothing to repeat")
	case '{':
		if p.unicode {
			return nil, false, p.fail("nothing to repeat")
		}
		if _, _, ok, err := p.quantifier(); ok || err != nil {
			return nil, false, p.fail("nothing to repeat")
		}
	case '}', ']':
		if p.unicode {
			return nil, false, p.fail("lone bracket")
		}
	}
	p.at++
	return p.char(r), true, nil
}

func (p *parser) group() (n *node, loops bool, err error) {
	n, loops = &node{firstIn: p.groups + 1}, true
	switch {
	case p.take("(?:"):
		n.kind = kindSequence
	case p.take("(?="), p.take("(?!"):
		n.kind, n.negated = kindLook, p.text[p.at-1] == '!'
		loops = !p.unicode
	case p.take("(?<="), p.take("(?<!"):
		n.kind, n.negated, n.behind = kindLook, p.text[p.at-1] == '!', true
		loops = false
	case p.take("(?<"):
		name, err := p.name()
		if err != nil {
			return nil, false, err
		}
		p.groups++
		n.kind, n.index = kindGroup, p.groups
		if p.names[name] != 0 {
			return nil, false, p.fail("two groups are called %s", name)
		}
		p.order = append(p.order, name)
		p.names[name] = n.index
	case p.take("(?"):
		return nil, false, fmt.Errorf("%w: modifiers", ErrUnsupported)
	default:
		p.at++
		p.groups++
		n.kind, n.index = kindGroup, p.groups
	}
	inner, err := p.either()
	if err != nil {
		return nil, false, err
	}
	if !p.take(")") {
		return nil, false, p.fail("unterminated group")
	}
	n.list, n.afterIn = []*node{inner}, p.groups+1
	return n, loops, nil
}

// name reads a group's name and the > after it.
func (p *parser) name() (string, error) {
	var b strings.Builder
	for p.more() && !p.take(">") {
		r := p.peek(0)
		if r == '\\' {
			p.at++
			var ok bool
			if r, ok = p.unicodeEscape(true); !ok {
				return "", p.fail("invalid name of a group")
			}
		} else {
			p.at++
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 || p.at == 0 || p.text[p.at-1] != '>' {
		return "", p.fail("invalid name of a group")
	}
	return b.String(), nil
}

// unicodeEscape reads what follows a backslash: u and its digits.
func (p *parser) unicodeEscape(full bool) (rune, bool) {
	start := p.at
	if !p.take("u") {
		return 0, false
	}
	if full && p.take("{") {
		n, digits := rune(0), 0
		for ; hex(p.peek(0)) >= 0; digits++ {
			n = min(n*16+hex(p.peek(0)), unicode.MaxRune+1)
			p.at++
		}
		if digits == 0 || n > unicode.MaxRune || !p.take("}") {
			p.at = start
			return 0, false
		}
		return n, true
	}
	n, ok := p.hexDigits(4)
	if !ok {
		p.at = start
		return 0, false
	}
	if full && utf16.IsSurrogate(n) && p.peek(0) == '\\' && p.peek(1) == 'u' {
		second := p.at
		p.at += 2
		if low, ok := p.hexDigits(4); ok && utf16.DecodeRune(n, low) != unicode.ReplacementChar {
			return utf16.DecodeRune(n, low), true
		}
		p.at = second
	}
	return n, true
}

func (p *parser) hexDigits(count int) (rune, bool) {
	n := rune(0)
	for i := range count {
		d := hex(p.peek(i))
		if d < 0 {
			return 0, false
		}
		n = n*16 + d
	}
	p.at += count
	return n, true
}

func hex(r rune) rune {
	switch {
	case r >= '0' && r <= '9':
		return r - '0'
	case r >= 'a' && r <= 'f':
		return r - 'a' + 10
	case r >= 'A' && r <= 'F':
		return r - 'A' + 10
	}
	return -1
}

// escape reads what begins with a backslash outside of a class.
func (p *parser) escape() (n *node, loops bool, err error) {
	p.at++
	r := p.peek(0)
	switch r {
	case 'b', 'B':
		p.at++
		return &node{kind: kindBoundary, negated: r == 'B'}, false, nil
	case 'k':
		if !p.unicode && !p.hasNames {
			break
		}
		p.at++
		if !p.take("<") {
			return nil, false, p.fail("invalid reference by name")
		}
		name, err := p.name()
		if err != nil {
			return nil, false, err
		}
		n = &node{kind: kindRef, name: name}
		p.refs = append(p.refs, n)
		return n, true, nil
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		start := p.at
		index, _ := p.number()
		if index <= p.total {
			return &node{kind: kindRef, index: index}, true, nil
		}
		if p.unicode {
			return nil, false, p.fail("invalid reference")
		}
		p.at = start
	}
	ranges, tables, one, err := p.characterEscape(false)
	switch {
	case err != nil:
		return nil, false, err
	case ranges == nil && tables == nil:
		return p.char(one), true, nil
	}
	return &node{kind: kindSet, set: (&set{ranges: ranges, tables: tables}).seal(p.fold)}, true, nil
}

// characterEscape reads an escape of a character or of a class, after its
// backslash.
func (p *parser) characterEscape(inClass bool) (ranges []rune, tables []table, one rune, err error) {
	r := p.peek(0)
	if r < 0 {
		return nil, nil, 0, p.fail("\\ at the end")
	}
	start := p.at
	p.at++
	switch r {
	case 'd':
		return digits, nil, 0, nil
	case 'D':
		return without(digits), nil, 0, nil
	case 'w':
		return wordsIn(p.fold), nil, 0, nil
	case 'W':
		return without(wordsIn(p.fold)), nil, 0, nil
	case 's':
		return spaces, nil, 0, nil
	case 'S':
		return without(spaces), nil, 0, nil
	case 'p', 'P':
		if p.unicode {
			t, err := p.property()
			t.negated = r == 'P'
			return nil, []table{t}, 0, err
		}
	case 'f':
		return nil, nil, '\f', nil
	case 'n':
		return nil, nil, '\n', nil
	case 'r':
		return nil, nil, '\r', nil
	case 't':
		return nil, nil, '\t', nil
	case 'v':
		return nil, nil, '\v', nil
	case 'b':
		if inClass {
			return nil, nil, '\b', nil
		}
	case '-':
		if p.unicode && !inClass {
			return nil, nil, 0, p.fail("invalid escape")
		}
		return nil, nil, '-', nil
	case 'c':
		c := p.peek(0)
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || !p.unicode && inClass && (c >= '0' && c <= '9' || c == '_') {
			p.at++
			return nil, nil, c % 32, nil
		}
		if p.unicode {
			return nil, nil, 0, p.fail("invalid escape")
		}
		p.at = start // the backslash is itself
		return nil, nil, '\\', nil
	case 'x':
		if n, ok := p.hexDigits(2); ok {
			return nil, nil, n, nil
		}
	case 'u':
		p.at = start
		if n, ok := p.unicodeEscape(p.unicode); ok {
			return nil, nil, n, nil
		}
		p.at = start + 1
	case '0', '1', '2', '3', '4', '5', '6', '7':
		if r == '0' && (p.peek(0) < '0' || p.peek(0) > '9') {
			return nil, nil, 0, nil
		}
		if p.unicode {
			break
		}
		n := r - '0'
		for i := 0; i < 2 && p.peek(0) >= '0' && p.peek(0) <= '7' && n*8+p.peek(0)-'0' <= 0o377; i++ {
			n = n*8 + p.peek(0) - '0'
			p.at++
		}
		return nil, nil, n, nil
	case 'k':
		if p.hasNames {
			return nil, nil, 0, p.fail("invalid reference by name")
		}
	}
	if p.unicode && !strings.ContainsRune(`^$\.*+?()[]{}|/`, r) {
		return nil, nil, 0, p.fail("invalid escape")
	}
	return nil, nil, r, nil
}

func (p *parser) property() (table, error) {
	if !p.take("{") {
		return table{}, p.fail("invalid name of a property")
	}
	start := p.at
	for p.more() && p.peek(0) != '}' {
		p.at++
	}
	name := string(p.text[start:p.at])
	if !p.take("}") {
		return table{}, p.fail("invalid name of a property")
	}
	in, ok := property(name)
	if !ok {
		return table{}, fmt.Errorf("%w: the property %s", ErrUnsupported, name)
	}
	return table{in: in}, nil
}

// bracket reads a class.
func (p *parser) bracket() (*node, error) {
	p.at++
	s := &set{negated: p.take("^")}
	// atom reads one character or the escape of a class; of a class, one is -1.
	atom := func() (one rune, err error) {
		if !p.take(`\`) {
			p.at++
			return p.text[p.at-1], nil
		}
		ranges, tables, one, err := p.characterEscape(true)
		if ranges == nil && tables == nil {
			return one, err
		}
		s.ranges, s.tables = append(s.ranges, ranges...), append(s.tables, tables...)
		return -1, err
	}
	for {
		if !p.more() {
			return nil, p.fail("unterminated class")
		}
		if p.take("]") {
			s.ranges = slices.Clip(s.ranges)
			return &node{kind: kindSet, set: s.seal(p.fold)}, nil
		}
		first, err := atom()
		if err != nil {
			return nil, err
		}
		if p.peek(0) != '-' || p.peek(1) == ']' || p.peek(1) < 0 {
			if first >= 0 {
				s.add(first, first)
			}
			continue
		}
		p.at++
		last, err := atom()
		switch {
		case err != nil:
			return nil, err
		case first >= 0 && last >= 0:
			if last < first {
				return nil, p.fail("range out of order")
			}
			s.add(first, last)
			continue
		case p.unicode:
			return nil, p.fail("invalid range")
		}
		s.add('-', '-')
		for _, r := range [...]rune{first, last} {
			if r >= 0 {
				s.add(r, r)
			}
		}
	}
}
