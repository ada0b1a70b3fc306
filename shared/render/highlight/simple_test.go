package highlight

import (
	"testing"

	"github.com/dlclark/regexp2/v2"
)

// TestWithoutEngine: expressions that are matched without the engine match
// where, and as far as, the engine matches them.
func TestWithoutEngine(t *testing.T) {
	texts := []string{"", "a", "for", "fort", "for(", "FoRK", "for\u212a", "xfor", "_for ", "foré", "éfor", "for\u200d", "  \t\n x", "\u00a0\u2003", "a1_b$", "é1", "1for", "==>", "\"ab\"", "\r\n", "\x00", "forforfor", "İſK", "語for"}
	for _, tt := range []struct {
		pattern         string
		isWords, simple bool
	}{
		{`(for|if|fo)\b`, true, false},
		{`(?:for|for1)\b`, true, false},
		{`\b(for|a)\b`, true, false},
		{`(for|é)\b`, false, false},
		{`(for|)\b`, false, false},
		{`(for|f.)\b`, false, false},
		{`\s+`, false, true},
		{`[^\W\d]\w*`, false, true},
		{`[a-z_]\w{1,2}`, false, true},
		{`for`, false, true},
		{`[^"]+`, false, true},
		{`.`, false, true},
		{`.*`, false, true},
		{`=>?`, false, true},
		{`\w*r`, false, false},
		{`\w*?`, false, false},
		{`(\w)`, false, false},
		{`a|b`, false, true}, // the parser makes it a class
		{`for|if`, false, false},
		{`(?i)fork`, false, true}, // and here, one for each letter
		{`for$`, false, false},
	} {
		re := regexp2.MustCompile(`\G(?m)(?:` + tt.pattern + `)`)
		words := readWords(tt.pattern, "m")
		if (words != nil) != tt.isWords {
			t.Errorf("%s: read as words: %v, want %v", tt.pattern, words != nil, tt.isWords)
		}
		first, steps, err := analyse(`\G(?m)(?:` + tt.pattern + `)`)
		if err != nil || (steps != nil) != tt.simple {
			t.Errorf("%s: read as steps: %v, want %v (%v)", tt.pattern, steps != nil, tt.simple, err)
		}
		for _, source := range texts {
			text := []rune(source)
			for pos := range text {
				want := -1
				if match, err := re.FindRunesMatchStartingAt(text, pos); err == nil && match != nil {
					want = pos + match.RuneLength
				}
				if words != nil {
					if got := words.match(text, pos); got != want {
						t.Errorf("%s as words in %q from %d ends at %d, want %d", tt.pattern, source, pos, got, want)
					}
				}
				if steps != nil {
					if got, _ := matchSteps(steps, text, pos); got != want {
						t.Errorf("%s as steps in %q from %d ends at %d, want %d", tt.pattern, source, pos, got, want)
					}
				}
				if want >= 0 && !first.has(column(text[pos])) {
					t.Errorf("%s matches in %q from %d, but would not be tried there", tt.pattern, source, pos)
				}
			}
		}
	}
	if readWords(`(for|if)\b`, "mi") != nil {
		t.Error("words of any case were read as words of one")
	}
}
