package expr

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The words of the language, as the scanner, the parser and the reader of
// modules all see them: each function looks at s from i on and returns where
// the word ends.

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isAlnum(c byte) bool { return isLetter(c) || isDigit(c) }

// isSpace reports whether a byte is white space, a line ending included.
func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// isWideSpace reports white space beyond ASCII.
func isWideSpace(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.IsSpace(r) && r != 0x85 || r == 0xfeff)
}

// IsIDStart reports whether a character may begin an identifier.
func IsIDStart(r rune) bool {
	if r < utf8.RuneSelf {
		return isLetter(byte(r)) || r == '$' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) || unicode.Is(unicode.Other_ID_Start, r)
}

// IsIDPart reports whether a character may go on an identifier.
func IsIDPart(r rune) bool {
	if r < utf8.RuneSelf {
		return isAlnum(byte(r)) || r == '$' || r == '_'
	}
	return IsIDStart(r) || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue) ||
		r == 0x200c || r == 0x200d
}

// wordEnd passes over an identifier; it returns i where none begins.
func wordEnd(s string, i int) int {
	start := i
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			if !isAlnum(c) && c != '$' && c != '_' || i == start && isDigit(c) {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !IsIDPart(r) || i == start && !IsIDStart(r) {
			return i
		}
		i += size
	}
	return i
}

// spaceEnd passes over white space and comments, and reports whether a line
// ended in them.
func spaceEnd(s string, i int) (end int, newline bool) {
	for i < len(s) {
		switch c := s[i]; {
		case isSpace(c):
			newline = newline || c == '\n'
			i++
		case c == '/' && strings.HasPrefix(s[i:], "//"):
			k := strings.IndexByte(s[i:], '\n')
			if k < 0 {
				return len(s), newline
			}
			i += k
		case c == '/' && strings.HasPrefix(s[i:], "/*"):
			k := strings.Index(s[i+2:], "*/")
			if k < 0 {
				return len(s), newline
			}
			newline = newline || strings.Contains(s[i:i+k], "\n")
			i += k + 4
		case c < utf8.RuneSelf:
			return i, newline
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			if !isWideSpace(r) {
				return i, newline
			}
			i += size
		}
	}
	return i, newline
}

// numberEnd passes over a number, or what begins like one.
func numberEnd(s string, i int) int {
	start := i
	for i < len(s) {
		c := s[i]
		sign := (c == '-' || c == '+') && i > start && s[i-1]|0x20 == 'e' && !strings.HasPrefix(s[start:], "0x")
		if !isAlnum(c) && c != '.' && c != '_' && !sign {
			break
		}
		i++
	}
	return i
}

// parseNumber returns the value of a whole number as it is written.
func parseNumber(s string) (float64, bool) {
	if len(s) > 2 && s[0] == '0' && strings.IndexByte("xXoObB", s[1]) >= 0 {
		n, err := strconv.ParseInt(s, 0, 64)
		return float64(n), err == nil
	}
	if s == "" || !isDigit(s[0]) && s[0] != '.' || strings.ContainsAny(s, "xXpPiInN") {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return n, err == nil
}

// textNumber returns the value of a text in arithmetic, NaN if it is not a number.
func textNumber(s string) float64 {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0
	}
	sign := 1.0
	if s[0] == '-' || s[0] == '+' {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	if s == "Infinity" {
		return math.Inf(int(sign))
	}
	if n, ok := parseNumber(s); ok {
		return sign * n
	}
	return math.NaN()
}

// quoted reads a text from after its quote, and resolves escapes. It ends at
// the next such quote, which it does not pass, and a template also at ${.
func quoted(s string, i int, quote byte) (text string, end int, ok bool) {
	start := i
	var b []byte // what was read, once there was an escape
	for i < len(s) {
		c := s[i]
		switch {
		case c == quote, c == '$' && quote == '`' && strings.HasPrefix(s[i:], "${"):
			if b == nil {
				return s[start:i], i, true
			}
			return string(append(b, s[start:i]...)), i, true
		case c == '\n' && quote != '`':
			return "", i, false
		case c != '\\':
			i++
			continue
		}
		b = append(b, s[start:i]...)
		if b, i, ok = appendEscape(b, s, i+1); !ok {
			return "", i, false
		}
		start = i
	}
	return "", i, false
}

var escapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", 'b': "\b", 'f': "\f", 'v': "\v", '0': "\x00", '\n': ""}

// appendEscape appends the character of the escape whose backslash is before i.
func appendEscape(b []byte, s string, i int) ([]byte, int, bool) {
	if i >= len(s) {
		return b, i, false
	}
	c := s[i]
	i++
	if text, ok := escapes[c]; ok {
		return append(b, text...), i, true
	}
	if c != 'x' && c != 'u' {
		return append(b, c), i, true
	}
	if rest, ok := strings.CutPrefix(s[i:], "{"); ok && c == 'u' {
		digits, _, ok := strings.Cut(rest, "}")
		n, err := strconv.ParseUint(digits, 16, 32)
		return utf8.AppendRune(b, rune(n)), i + len(digits) + 2, ok && err == nil && n <= utf8.MaxRune
	}
	width := 2
	if c == 'u' {
		width = 4
	}
	unit := func(i int) (rune, bool) {
		if i+width > len(s) {
			return 0, false
		}
		n, err := strconv.ParseUint(s[i:i+width], 16, 32)
		return rune(n), err == nil
	}
	r, ok := unit(i)
	i += width
	// The second half of a pair follows.
	if ok && 0xd800 <= r && r < 0xdc00 && strings.HasPrefix(s[i:], `\u`) {
		if low, paired := unit(i + 2); paired && 0xdc00 <= low && low < 0xe000 {
			r = 0x10000 + (r-0xd800)<<10 + low - 0xdc00
			i += 2 + width
		}
	}
	return utf8.AppendRune(b, r), i, ok
}

// regexpEnd passes over a regular expression and its flags; it reports false
// for one that does not end on its line.
func regexpEnd(s string, i int) (int, bool) {
	class := false
	for i++; i < len(s) && s[i] != '\n'; i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			return wordEnd(s, i+1), true
		}
	}
	return min(i, len(s)), false
}
