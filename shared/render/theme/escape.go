package theme

// appendText writes s so that it means itself both as text and inside a
// double-quoted attribute. NUL, which HTML does not allow, becomes U+FFFD.
func appendText(dst []byte, s string) []byte {
	at := 0
	for i := 0; i < len(s); i++ {
		var esc string
		switch s[i] {
		case '&':
			esc = "&amp;"
		case '<':
			esc = "&lt;"
		case '>':
			esc = "&gt;"
		case '"':
			esc = "&quot;"
		case '\'':
			esc = "&#39;"
		case 0:
			esc = "\uFFFD"
		default:
			continue
		}
		dst = append(dst, s[at:i]...)
		dst = append(dst, esc...)
		at = i + 1
	}
	return append(dst, s[at:]...)
}

// appendHref writes a complete href attribute with the space before it.
// Addresses that would run a script are replaced by "#".
func appendHref(dst []byte, href string) []byte {
	return appendAttr(dst, "href", safeURL(href))
}

// appendAttr writes a complete attribute with the space before it.
func appendAttr(dst []byte, name, value string) []byte {
	dst = append(dst, ' ')
	dst = append(dst, name...)
	dst = append(dst, '=', '"')
	dst = appendText(dst, value)
	return append(dst, '"')
}

// safeURL refuses addresses whose scheme runs a script. Browsers skip control
// characters and spaces in a scheme, so they are skipped here too.
func safeURL(u string) string {
	var scheme [12]byte
	n := 0
	for i := 0; i < len(u) && n < len(scheme); i++ {
		c := u[i]
		switch {
		case c <= ' ' || c == 0x7f:
			continue
		case c == ':':
			switch string(scheme[:n]) {
			case "javascript", "vbscript", "data":
				return "#"
			}
			return u
		case c >= 'A' && c <= 'Z':
			scheme[n] = c + 'a' - 'A'
			n++
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.':
			scheme[n] = c
			n++
		default:
			return u
		}
	}
	return u
}
