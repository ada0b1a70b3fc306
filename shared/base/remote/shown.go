package remote

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// Visible is text from another host as a terminal may have it: what would move
// its cursor, change its colours or turn its direction is shown as text, in the
// form of JSON (\n, \u001b, \u202e), so that JSON stays the same JSON. That is
// every control character, every mark of direction or format but those that
// join letters, and what is not assigned; bytes that are not UTF-8 become U+FFFD.
func Visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case unicode.IsGraphic(r) || r == '\u200c' || r == '\u200d':
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		}
	}
	return b.String()
}

// shownAddress matches an address within a text: its beginning, who signs in,
// its host and path, and its query with what follows. The last character of a
// query is not punctuation: that belongs to the sentence.
var shownAddress = lazy.Regexp(`(?i)(\b[a-z][a-z0-9+.-]*://|(?:^|\s)//)(?:[^\s/?#"'<>` + "`" + `]*@)?([^\s?#"'<>` + "`" + `]*)(\?(?:[^\s"'<>` + "`" + `]*[^\s"'<>` + "`" + `.,:;)\]])?)?`)

// Shown is a text about addresses as logs and reports may have it: without the
// query of any address, which often is a token or a signature, and without the
// user and password. An ellipsis stands where a query was.
func Shown(text string) string {
	if !strings.Contains(text, "//") {
		return text
	}
	return shownAddress().ReplaceAllStringFunc(text, func(address string) string {
		m := shownAddress().FindStringSubmatch(address)
		if m[3] == "" {
			return m[1] + m[2]
		}
		return m[1] + m[2] + "?…"
	})
}
