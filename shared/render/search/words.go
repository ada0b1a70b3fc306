package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxTerm is how many characters a term may have. Longer ones are data, such as
// keys and digests, which nobody types.
const maxTerm = 32

// maxJoined is how many characters a term of two joined words may have.
const maxJoined = 40

// maxVersion is how many digits two numbers of a version may have together, as in
// "2024.11".
const maxVersion = 8

// maxDigits is how many digits a term that has nothing else may have.
const maxDigits = 6

// charKind says what a character does in a text.
type charKind uint8

const (
	separator charKind = iota
	letter             // part of a word
	dense              // of a script that sets no spaces between words
)

// ranges lists the characters from U+0080 that are not letters; what lies
// outside the basic plane separates. core.js has the same table, and a test
// compares the two for every character.
var ranges = []struct {
	from, to rune
	kind     charKind
}{
	{0x80, 0xBF, separator}, {0xD7, 0xD7, separator}, {0xF7, 0xF7, separator},
	{0x2B0, 0x2FF, separator}, {0x37E, 0x37E, separator}, {0x387, 0x387, separator},
	{0x55A, 0x55F, separator}, {0x589, 0x58F, separator},
	{0x5BE, 0x5BE, separator}, {0x5C0, 0x5C0, separator}, {0x5C3, 0x5C3, separator}, {0x5F3, 0x5F4, separator},
	{0x600, 0x61F, separator}, {0x66A, 0x66D, separator}, {0x6D4, 0x6D4, separator},
	{0x964, 0x965, separator}, {0xE00, 0xE3E, dense}, {0xE3F, 0xE3F, separator}, {0xE40, 0xE4E, dense},
	{0xE4F, 0xE4F, separator}, {0xE50, 0xE59, dense}, {0xE5A, 0xE5B, separator}, {0xE80, 0xEFF, dense},
	{0x1000, 0x1049, dense}, {0x104A, 0x104F, separator}, {0x1050, 0x109F, dense}, {0x1100, 0x11FF, dense},
	{0x1780, 0x17D3, dense}, {0x17D4, 0x17DB, separator}, {0x17DC, 0x17FF, dense},
	{0x2000, 0x20CF, separator}, {0x2100, 0x2BFF, separator}, {0x2E00, 0x2E7F, separator}, {0x2E80, 0x2FDF, dense},
	{0x2FE0, 0x3004, separator}, {0x3005, 0x3007, dense}, {0x3008, 0x3040, separator}, {0x3041, 0x3096, dense},
	{0x3097, 0x309C, separator}, {0x309D, 0x309F, dense}, {0x30A0, 0x30A0, separator}, {0x30A1, 0x30FA, dense},
	{0x30FB, 0x30FB, separator}, {0x30FC, 0x31BF, dense}, {0x31C0, 0x31EF, separator}, {0x31F0, 0x31FF, dense},
	{0x3200, 0x33FF, separator}, {0x3400, 0x9FFF, dense}, {0xA960, 0xA97F, dense}, {0xAC00, 0xD7FF, dense},
	{0xD800, 0xF8FF, separator}, {0xF900, 0xFAFF, dense}, {0xFD3E, 0xFD3F, separator}, {0xFE00, 0xFE6F, separator},
	{0xFEFF, 0xFEFF, separator}, {0xFF00, 0xFFFF, separator},
	{0x10000, unicode.MaxRune, separator},
}

func kindOf(r rune) charKind {
	if r < 0x80 {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return letter
		}
		return separator
	}
	lo, hi := 0, len(ranges)
	for lo < hi {
		m := (lo + hi) / 2
		switch {
		case r > ranges[m].to:
			lo = m + 1
		case r < ranges[m].from:
			hi = m
		default:
			return ranges[m].kind
		}
	}
	return letter
}

// ignored reports whether a mark is one that readers leave out when they type: accents that
// stand alone, vowel points of Hebrew and Arabic, joiners.
func ignored(r rune) bool {
	return r >= 0x300 && r <= 0x36F || r == 0xAD || r >= 0x591 && r <= 0x5BD || r == 0x5BF || r == 0x5C1 || r == 0x5C2 ||
		r == 0x5C4 || r == 0x5C5 || r == 0x5C7 || r == 0x640 || r >= 0x64B && r <= 0x65F || r == 0x670 || r == 0x200B || r == 0x200C || r == 0x200D
}

// fold writes a word as it is compared: in lower case and without accents.
func fold(w string) string {
	plain := true
	for i := 0; i < len(w); i++ {
		if c := w[i]; c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
			plain = false
			break
		}
	}
	if plain {
		return w
	}
	var b strings.Builder
	for _, r := range w {
		r = unicode.ToLower(r)
		switch {
		case r < 0x80:
			b.WriteByte(byte(r))
		case ignored(r):
		case r == 'ß':
			b.WriteString("ss")
		case r == 'æ':
			b.WriteString("ae")
		case r == 'œ':
			b.WriteString("oe")
		case r == 'ø':
			b.WriteByte('o')
		case r == 'đ' || r == 'ð':
			b.WriteByte('d')
		case r == 'ł':
			b.WriteByte('l')
		case r == 'ı':
			b.WriteByte('i')
		case r == 'ς':
			b.WriteRune('σ')
		case r >= 0xC0 && r < 0x530 || r >= 0x1E00 && r < 0x2000:
			// Letters of Latin, Greek and Cyrillic without what stands on them.
			base, _ := utf8.DecodeRuneInString(norm.NFD.String(string(r)))
			b.WriteRune(base)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// terms calls fn with each term of a text. A word written in parts, such as
// "XMLHttpRequest", is a term as a whole, and part marks its parts and its ends, such
// as "HttpRequest". Names of several words, such as "docs.json" or "--force", are found
// whole by terms of two neighbors each, which joined makes. "C++" is one by marked. Runs
// of a script without spaces are cut in overlapping pairs of characters. Of a text that
// is a name, single letters are terms too: "R" is called so.
func terms(text string, name bool, fn func(term string, part bool)) {
	before := ""
	runs(text, func(run, gap, after string, kind charKind) {
		if kind == dense {
			before = ""
			pairs(fold(run), fn)
			return
		}
		word(run, name, fn)
		if t := marked(nil, run, after); len(t) > 0 {
			fn(string(t), true)
		}
		if t := joined(nil, before, gap, run); len(t) > 0 {
			fn(string(t), true)
		}
		before = run
	})
}

// joined appends the term for a word that is tied to the one before it by what
// stands between them, as in "docs.json", "1.2" or "I/O", or begins with a mark, as
// in "--force". It appends nothing where the word stands alone. "v1.2" is "1.2".
func joined(b []byte, before, gap, run string) []byte {
	switch gap {
	case "":
		return b
	case "_", ".", "-", "/", ":", "@", "#", "::", "->":
	default:
		if !strings.ContainsRune("-.$@", rune(gap[len(gap)-1])) {
			return b
		}
		before = ""
	}
	if gap == "." && len(before) > 1 && before[0]|0x20 == 'v' && number(before[1:]) && number(run) {
		before = before[1:]
	}
	numbers := number(before) && number(run)
	n := utf8.RuneCountInString(before) + utf8.RuneCountInString(run)
	switch {
	case numbers && (gap != "." || before == "" || n > maxVersion):
		return b
	case !numbers && (n > maxJoined || n < 3 && !(n == 2 && gap == "/" && before != "" && !number(before) && !number(run))):
		return b
	}
	return append(append(append(b, fold(before)...), '_'), fold(run)...)
}

// marked appends the term for a letter with the mark of a programming language behind
// it, as in "C++", "C#" and "F#", else nothing.
func marked(b []byte, run, after string) []byte {
	if len(run) != 1 || run[0] <= '9' {
		return b
	}
	name := "_sharp"
	rest, ok := strings.CutPrefix(after, "#")
	if !ok {
		name = "_plusplus"
		rest, ok = strings.CutPrefix(after, "++")
	}
	if r, _ := utf8.DecodeRuneInString(rest); !ok || rest != "" && (r == utf8.RuneError || kindOf(r) != separator) {
		return b
	}
	return append(append(b, fold(run)...), name...)
}

// number reports whether a word has digits alone; an empty one has.
func number(w string) bool {
	for i := range len(w) {
		if w[i] < '0' || w[i] > '9' {
			return false
		}
	}
	return true
}

// plainLetter has the letters of ASCII, which most texts are made of.
var plainLetter = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = kindOf(rune(c)) == letter
	}
	return t
}()

// runs calls fn with each run of characters of one kind, less those that
// separate, with what separates it from the run before, and with all that is after it.
func runs(text string, fn func(run, gap, after string, kind charKind)) {
	if !norm.NFKC.IsNormalString(text) {
		text = norm.NFKC.String(text)
	}
	end := 0 // of the run before
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf && !plainLetter[c] {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		kind := kindOf(r)
		if kind == separator {
			i += size
			continue
		}
		start := i
		for i += size; i < len(text); i += size {
			if c := text[i]; c < utf8.RuneSelf {
				if kind == letter && plainLetter[c] {
					size = 1
					continue
				}
				break
			}
			r, size = utf8.DecodeRuneInString(text[i:])
			if !ignored(r) && kindOf(r) != kind {
				break
			}
		}
		fn(text[start:i], text[end:start], text[i:], kind)
		end = i
	}
}

// pairs cuts a run of a dense script.
func pairs(run string, fn func(term string, part bool)) {
	var before rune
	n := 0
	for _, r := range run {
		if n++; n > 1 {
			fn(string([]rune{before, r}), false)
		}
		before = r
	}
	if n == 1 {
		fn(run, false)
	}
}

// word passes a word and its parts to fn.
func word(w string, name bool, fn func(term string, part bool)) {
	// A fold may make a character longer; nothing a reader types comes near.
	if len(w) > 4*maxTerm {
		return
	}
	whole := fold(w)
	if usable(whole) || name && len(whole) == 1 && lower(whole[0]) && whole[0] > '9' {
		fn(whole, false)
	}
	start := 0
	for i := 1; i < len(w); i++ {
		if upper(w[i]) && (lower(w[i-1]) || i+1 < len(w) && upper(w[i-1]) && lower(w[i+1])) {
			if p := fold(w[start:i]); usable(p) {
				fn(p, true)
			}
			if start > 0 {
				if p := fold(w[start:]); usable(p) {
					fn(p, true)
				}
			}
			start = i
		}
	}
	if start > 0 {
		if p := fold(w[start:]); usable(p) {
			fn(p, true)
		}
	}
}

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }
func lower(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

// usable reports whether a word is worth a term.
func usable(w string) bool {
	n, digits := 0, 0
	for _, r := range w {
		n++
		if r >= '0' && r <= '9' {
			digits++
		}
	}
	return n >= 2 && n <= maxTerm && (digits < n || n <= maxDigits)
}
