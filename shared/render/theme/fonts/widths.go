package fonts

import (
	_ "embed" // for the widths
	"slices"
)

//go:embed widths.bin
var widthData string

// Widths says how wide a family's characters are.
type Widths struct{ pairs string }

const (
	lightest, boldest = 400, 700
	missing           = 1<<16 - 1
)

func word(s string, i int) int { return int(s[2*i])<<8 | int(s[2*i+1]) }

// Widths returns the widths of a family of the set.
func (s *Set) Widths(f *Family) *Widths {
	at := slices.IndexFunc(s.families, func(g Family) bool { return g.Family == f.Family })
	n := word(widthData, 0)
	from := 2 * (1 + n + 2*n*at)
	return &Widths{widthData[from : from+4*n]}
}

// Of returns the width of a character at a weight, in thousandths of an em. It is
// false for a character that the family does not have.
func (w *Widths) Of(r rune, weight int) (int, bool) {
	low, high := 0, word(widthData, 0)
	if r >= ' ' && r < 0x7f { // the first ones, without a gap
		low = int(r - ' ')
		high = low + 1
	}
	for low < high {
		mid := (low + high) / 2
		switch c := rune(word(widthData, 1+mid)); {
		case c < r:
			low = mid + 1
		case c > r:
			high = mid
		default:
			light, bold := word(w.pairs, 2*mid), word(w.pairs, 2*mid+1)
			if light == missing {
				return 0, false
			}
			weight = max(lightest, min(weight, boldest))
			return light + (bold-light)*(weight-lightest)/(boldest-lightest), true
		}
	}
	return 0, false
}
