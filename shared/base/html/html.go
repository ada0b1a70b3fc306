// Package html writes text into HTML and XML so that it means itself there, and
// knows which addresses a page may lead to. It is the only place that escapes:
// every writer of a bundle appends through it.
//
//	html.go  AppendText, AppendValue, AppendAttr; Safe, SafeURL
package html

import "strings"

// The characters below '@' that text, and the value of an attribute, can't hold.
const (
	inText  uint64 = 1 | 1<<'&' | 1<<'<' | 1<<'>'
	inValue        = inText | 1<<'"' | 1<<'\n'
)

// AppendText appends s as the text of an element. NUL, which HTML does not
// allow, becomes U+FFFD.
func AppendText(dst []byte, s string) []byte { return escape(dst, s, inText) }

// AppendValue appends s as it is written between the double quotes of an
// attribute, which is right for text too. NUL becomes U+FFFD.
func AppendValue(dst []byte, s string) []byte { return escape(dst, s, inValue) }

// AppendAttr appends ` name="value"`, the value escaped and the name as it is.
func AppendAttr(dst []byte, name, value string) []byte {
	dst = append(dst, ' ')
	dst = append(dst, name...)
	dst = append(dst, '=', '"')
	dst = AppendValue(dst, value)
	return append(dst, '"')
}

// escape is on the way of every byte of a bundle's pages: the bits of special
// are the characters that it stops at.
func escape(dst []byte, s string, special uint64) []byte {
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c > '>' || special>>c&1 == 0 {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '&':
			dst = append(dst, "&amp;"...)
		case '<':
			dst = append(dst, "&lt;"...)
		case '>':
			dst = append(dst, "&gt;"...)
		case '"':
			dst = append(dst, "&quot;"...)
		case '\n':
			dst = append(dst, "&#10;"...)
		default:
			dst = append(dst, "\uFFFD"...)
		}
	}
	return append(dst, s[from:]...)
}

// Safe returns the address, or "#" in its place where SafeURL refuses it.
func Safe(address string) string {
	if SafeURL(address) {
		return address
	}
	return "#"
}

// SafeURL reports whether a page may name an address, in a link or as the source
// of a picture. What runs code or reads local files is refused:
//
//   - javascript and vbscript run in the page.
//   - data is a document that the address itself holds, except "data:image/":
//     authors write small pictures so, and no script in one runs.
//   - file, blob and filesystem are what is on the reader's machine, which
//     authors mean by mistake, and nobody means well.
//   - view-source shows another address, whichever that is.
//
// Browsers skip control characters and spaces in a scheme, so they are skipped
// here too.
func SafeURL(address string) bool {
	var scheme [len("view-source") + 1]byte // longer ones are on no list
	n := 0
	for i := 0; i < len(address) && n < len(scheme); i++ {
		switch c := address[i]; {
		case c <= ' ' || c == 0x7f:
		case c == ':':
			switch string(scheme[:n]) {
			case "javascript", "vbscript", "file", "blob", "filesystem", "view-source":
				return false
			case "data":
				const picture = "image/"
				kind := address[i+1:]
				return len(kind) >= len(picture) && strings.EqualFold(kind[:len(picture)], picture)
			}
			return true
		case c >= 'A' && c <= 'Z':
			scheme[n] = c + 'a' - 'A'
			n++
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.':
			scheme[n] = c
			n++
		default:
			return true
		}
	}
	return true
}
