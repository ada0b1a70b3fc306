package mdx

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// isSpace reports Markdown white space inside a line.
func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// isSpaceOrEOL reports Markdown white space, line endings included.
func isSpaceOrEOL(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isAlnum(c byte) bool { return isAlpha(c) || isDigit(c) }

func isControl(c byte) bool { return c < 0x20 || c == 0x7f }

// isPunct reports ASCII punctuation: what a backslash can escape.
func isPunct(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

// class is what emphasis looks at beside a run of markers.
type class uint8

const (
	classOther class = iota
	classSpace
	classPunct
)

// classOf classifies a character. Characters beyond the basic plane are
// neither: the reference parser looks at UTF-16 code units.
func classOf(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		switch {
		case r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\f' || r == '\v':
			return classSpace
		case isPunct(byte(r)):
			return classPunct
		}
		return classOther
	case r > 0xffff:
		return classOther
	case unicode.IsSpace(r) && r != 0x85 || r == 0xfeff:
		return classSpace
	case unicode.IsPunct(r) || unicode.IsSymbol(r):
		return classPunct
	}
	return classOther
}

// classBefore classifies the character that ends at i; the start of the text
// counts as white space.
func classBefore(s string, i int) class {
	if i <= 0 {
		return classSpace
	}
	if c := s[i-1]; c < utf8.RuneSelf {
		return classOf(rune(c))
	}
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return classOf(r)
}

// classAfter classifies the character at i; the end of the text counts as
// white space.
func classAfter(s string, i int) class {
	if i >= len(s) {
		return classSpace
	}
	if c := s[i]; c < utf8.RuneSelf {
		return classOf(rune(c))
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return classOf(r)
}

// blankLine reports that nothing but spaces and tabs is left.
func blankLine(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isSpace(s[i]) {
			return false
		}
	}
	return true
}

// normalLabel is the form in which labels of definitions and footnotes are
// compared: white space collapsed, case folded.
func normalLabel(label string) string {
	simple := true
	for i := 0; i < len(label); i++ {
		c := label[i]
		if c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' || isSpaceOrEOL(c) {
			simple = false
			break
		}
	}
	if simple {
		return label
	}
	label = strings.Join(strings.FieldsFunc(label, func(r rune) bool {
		return r == ' ' || r == '\t' || r == '\n' || r == '\r'
	}), " ")
	// Two steps, because some capitals share a small letter and some small
	// letters a capital; sharp s is the one letter whose capital is two.
	label = strings.ToUpper(strings.ToLower(label))
	label = strings.ReplaceAll(label, "ß", "SS")
	return strings.ToLower(label)
}

// maxReference is the longest name of a character reference.
const maxReference = 31

// reference reads the character reference at s[i], which is an ampersand. It
// returns the text and how many bytes of s it takes; 0 bytes means that it is
// none.
func reference(s string, i int) (string, int) {
	j := i + 1
	if j >= len(s) {
		return "", 0
	}
	if s[j] == '#' {
		return numericReference(s, i)
	}
	for j < len(s) && isAlnum(s[j]) && j-i <= maxReference {
		j++
	}
	if j == i+1 || j >= len(s) || s[j] != ';' {
		return "", 0
	}
	ref := s[i : j+1]
	text := html.UnescapeString(ref)
	// UnescapeString also knows names without semicolon and leaves the rest
	// of an unknown name after them.
	if text == ref || strings.HasSuffix(text, ";") && ref != "&semi;" {
		return "", 0
	}
	return text, len(ref)
}

func numericReference(s string, i int) (string, int) {
	j, base, max := i+2, 10, 7
	if j < len(s) && s[j]|0x20 == 'x' {
		j, base, max = j+1, 16, 6
	}
	start, n := j, 0
	for ; j < len(s) && j-start <= max; j++ {
		c := s[j]
		switch {
		case isDigit(c):
			n = n*base + int(c-'0')
			continue
		case base == 16 && c|0x20 >= 'a' && c|0x20 <= 'f':
			n = n*base + int(c|0x20-'a') + 10
			continue
		}
		break
	}
	if j == start || j-start > max || j >= len(s) || s[j] != ';' {
		return "", 0
	}
	return string(codePoint(n)), j + 1 - i
}

// codePoint replaces what a numeric reference must not name.
func codePoint(n int) rune {
	switch {
	case n < 9, n == 11, n > 13 && n < 32, n > 126 && n < 160, n > 0xd7ff && n < 0xe000,
		n > 64975 && n < 65008, n&0xffff >= 0xfffe, n > unicode.MaxRune:
		return utf8.RuneError
	}
	return rune(n)
}

// unescape resolves backslash escapes and character references, as in
// destinations, titles and info strings.
func unescape(s string) string { return resolve(s, `\&`) }

// decodeReferences resolves character references only, as in the attribute
// values of JSX.
func decodeReferences(s string) string { return resolve(s, "&") }

// resolve resolves what begins with one of these signs.
func resolve(s, signs string) string {
	if !strings.ContainsAny(s, signs) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\\' && len(signs) > 1 && i+1 < len(s) && isPunct(s[i+1]):
			b.WriteByte(s[i+1])
			i += 2
			continue
		case c == '&':
			if text, n := reference(s, i); n > 0 {
				b.WriteString(text)
				i += n
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}
