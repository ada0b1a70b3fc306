package backtrack

import (
	"unicode"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2/syntax"
)

// class is a character class with its ASCII part as a bitmap.
type class struct {
	ascii [2]uint64
	set   *syntax.CharSet // for characters above ASCII
}

func newClass(set *syntax.CharSet) *class {
	c := &class{set: set}
	for r := rune(0); r < utf8.RuneSelf; r++ {
		if set.Contains(r) {
			c.ascii[r>>6] |= 1 << (r & 63)
		}
	}
	return c
}

func (c *class) has(r rune) bool {
	if uint32(r) < utf8.RuneSelf {
		return c.ascii[r>>6&1]&(1<<(r&63)) != 0
	}
	return c.set.Contains(r)
}

// wordASCII holds the ASCII letters, digits and the underscore.
var wordASCII = [2]uint64{0x03ff_0000_0000_0000, 0x07ff_fffe_87ff_fffe}

// IsWord reports whether r counts as part of a word for \b. It is regexp2's rule
// with an answer at hand for ASCII.
func IsWord(r rune) bool {
	if uint32(r) < utf8.RuneSelf {
		return wordASCII[r>>6&1]&(1<<(r&63)) != 0
	}
	return syntax.IsWordChar(r)
}

// isBoundary reports whether a word begins or ends at pos.
func isBoundary(text []rune, pos int) bool {
	return (pos > 0 && IsWord(text[pos-1])) != (pos < len(text) && IsWord(text[pos]))
}

// equalFold reports whether two characters are one in another case. The rule is
// that of regexp2's back references.
func equalFold(a, b rune) bool {
	if a == b {
		return true
	}
	if uint32(a|b) <= unicode.MaxASCII {
		folded := a | 0x20
		return folded >= 'a' && folded <= 'z' && folded == b|0x20
	}
	return syntax.IsCaseEquivalent(a, b, 0)
}
