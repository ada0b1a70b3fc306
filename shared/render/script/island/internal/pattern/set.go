package pattern

import (
	"strings"
	"unicode"
)

// set is a set of characters: ranges and tables, all of it perhaps negated.
type set struct {
	ranges  []rune // pairs, first and last
	tables  []table
	negated bool
	fold    folding
	ascii   [2]uint64 // the answer for ASCII; made by seal
}

// table is one of Unicode's, or all that is not in it.
type table struct {
	in      []*unicode.RangeTable
	negated bool
}

// folding is which characters are one.
type folding uint8

const (
	exact   folding = iota
	legacy          // those with the same upper case: the flag i
	unicod          // those with the same simple folding: the flags i and u
	lastBMP = 0xFFFF
)

func (s *set) add(first, last rune) { s.ranges = append(s.ranges, first, last) }

// seal makes the answers for ASCII.
func (s *set) seal(f folding) *set {
	s.fold = f
	for r := rune(0); r < 128; r++ {
		if s.find(r) {
			s.ascii[r>>6] |= 1 << (r & 63)
		}
	}
	return s
}

// has reports whether the set has a character.
func (s *set) has(r rune) bool {
	if r < 128 {
		return s.ascii[r>>6]&(1<<(r&63)) != 0
	}
	return s.find(r)
}

func (s *set) find(r rune) bool {
	found := s.holds(r)
	if !found && s.fold != exact {
		want := canonical(r, s.fold)
		for other := unicode.SimpleFold(r); other != r && !found; other = unicode.SimpleFold(other) {
			found = canonical(other, s.fold) == want && s.holds(other)
		}
	}
	return found != s.negated
}

// holds reports whether the set lists a character as it is.
func (s *set) holds(r rune) bool {
	for i := 0; i < len(s.ranges); i += 2 {
		if r >= s.ranges[i] && r <= s.ranges[i+1] {
			return true
		}
	}
	for _, t := range s.tables {
		if unicode.IsOneOf(t.in, r) != t.negated {
			return true
		}
	}
	return false
}

// canonical is the character that all that are one with it have in common:
// Canonicalize of the standard.
func canonical(r rune, f folding) rune {
	switch f {
	case legacy:
		if r > lastBMP || r >= 0x1f80 && r <= 0x1faf || r == 0x1fb3 || r == 0x1fc3 || r == 0x1ff3 { // these become two characters
			return r
		}
		up := unicode.ToUpper(r)
		if r >= 128 && up < 128 || up > lastBMP {
			return r
		}
		return up
	case unicod:
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}
	return r
}

// The classes that have an escape.
var (
	digits = []rune{'0', '9'}
	words  = []rune{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'}
	spaces = []rune{'\t', '\r', ' ', ' ', 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x202f, 0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff}
	lines  = []rune{'\n', '\n', '\r', '\r', 0x2028, 0x2029}
)

// wordsIn are the characters of words: in Unicode, those that are one with a
// letter of ASCII are among them.
func wordsIn(f folding) []rune {
	if f == unicod {
		return append(append([]rune{}, words...), 0x17f, 0x17f, 0x212a, 0x212a)
	}
	return words
}

// without are all characters but some, which are in order.
func without(ranges []rune) []rune {
	var out []rune
	next := rune(0)
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i] > next {
			out = append(out, next, ranges[i]-1)
		}
		next = ranges[i+1] + 1
	}
	return append(out, next, unicode.MaxRune)
}

// property finds what \p{…} names.
func property(text string) (in []*unicode.RangeTable, ok bool) {
	name, value, both := strings.Cut(text, "=")
	category := func(name string) bool {
		if long, ok := unicode.CategoryAliases[name]; ok {
			name = long
		}
		t, ok := unicode.Categories[name]
		in = []*unicode.RangeTable{t}
		return ok
	}
	if both {
		switch name {
		case "General_Category", "gc":
			return in, category(value)
		case "Script", "sc":
			t, ok := unicode.Scripts[value]
			return []*unicode.RangeTable{t}, ok
		}
		return nil, false
	}
	other := func(name string, categories ...*unicode.RangeTable) ([]*unicode.RangeTable, bool) {
		return append(categories, unicode.Properties[name]), true
	}
	switch name {
	case "Any":
		return []*unicode.RangeTable{{R32: []unicode.Range32{{Lo: 0, Hi: unicode.MaxRune, Stride: 1}}}}, true
	case "ASCII":
		return []*unicode.RangeTable{{R16: []unicode.Range16{{Lo: 0, Hi: unicode.MaxASCII, Stride: 1}}, LatinOffset: 1}}, true
	case "Alphabetic", "Alpha":
		return other("Other_Alphabetic", unicode.L, unicode.Nl)
	case "Lowercase", "Lower":
		return other("Other_Lowercase", unicode.Ll)
	case "Uppercase", "Upper":
		return other("Other_Uppercase", unicode.Lu)
	case "White_Space", "space", "Hex_Digit", "ASCII_Hex_Digit", "Dash", "Ideographic", "Quotation_Mark", "Diacritic", "Radical", "Variation_Selector":
		if name == "space" {
			name = "White_Space"
		}
		return []*unicode.RangeTable{unicode.Properties[name]}, true
	}
	return in, category(name)
}
