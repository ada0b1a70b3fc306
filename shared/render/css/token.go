package css

import (
	"bytes"
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/css"
)

// tokens yields the tokens of CSS, comments and white space among them: joined
// they are its bytes.
func tokens(text []byte) iter.Seq2[css.TokenType, []byte] {
	return func(yield func(css.TokenType, []byte) bool) {
		// The lexer writes a byte past the end of what has room for one.
		lexer := css.NewLexer(parse.NewInputBytes(slices.Clip(text)))
		for {
			kind, token := lexer.Next()
			if kind == css.ErrorToken || !yield(kind, token) {
				return
			}
		}
	}
}

// Classes yields the class names that a style sheet's selectors have, as often
// as they have them.
func Classes(sheet []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		dot := false
		for kind, token := range tokens(sheet) {
			if dot && (kind == css.IdentToken || kind == css.CustomPropertyNameToken) && !yield(unescape(token)) {
				return
			}
			dot = kind == css.DelimToken && token[0] == '.'
		}
	}
}

// named reports whether the name of an at-rule or a function, as written, is
// another in lower case.
func named(name []byte, want string) bool {
	return strings.ToLower(unescape(name)) == want
}

// unescape returns what a name, a string or an address means.
func unescape(b []byte) string {
	at := bytes.IndexByte(b, '\\')
	if at < 0 {
		return string(b)
	}
	var out []byte
	for at >= 0 {
		out = append(out, b[:at]...)
		n := escapeLen(b[at:])
		escape := b[at+1 : at+n]
		b = b[at+n:]
		switch {
		case len(escape) == 0, escape[0] == '\n', escape[0] == '\r', escape[0] == '\f': // a line that goes on
		case isHex(escape[0]):
			r, _ := strconv.ParseUint(string(bytes.TrimRight(escape, " \t\n\r\f")), 16, 32)
			if r == 0 || r > utf8.MaxRune {
				r = utf8.RuneError
			}
			out = utf8.AppendRune(out, rune(r))
		default:
			out = append(out, escape...)
		}
		at = bytes.IndexByte(b, '\\')
	}
	return string(append(out, b...))
}

// escapeLen returns the bytes of the escape that b begins with.
func escapeLen(b []byte) int {
	n := 1
	for n < len(b) && n <= 6 && isHex(b[n]) {
		n++
	}
	switch {
	case n > 1:
		if n < len(b) && isSpace(b[n]) {
			n++
		}
	case bytes.HasPrefix(b[1:], []byte("\r\n")):
		n = 3
	case len(b) > 1: // a character, by its first byte as the lexer takes it
		n = 1 + min(4, max(1, bits.LeadingZeros8(^b[1])))
	}
	return min(n, len(b))
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }
