package remote

import "regexp"

// shownAddress matches an address within a text: its beginning, who signs in,
// its host and path, and its query with what follows. The last character of a
// query is no punctuation: that is the sentence's.
var shownAddress = regexp.MustCompile(`(?i)(\b[a-z][a-z0-9+.-]*://|(?:^|\s)//)(?:[^\s/?#"'<>` + "`" + `]*@)?([^\s?#"'<>` + "`" + `]*)(\?(?:[^\s"'<>` + "`" + `]*[^\s"'<>` + "`" + `.,:;)\]])?)?`)

// Shown is a text about addresses as logs and reports may have it: without the
// query of any address, which often is a token or a signature, and without the
// user and password. An ellipsis stands where a query was.
func Shown(text string) string {
	return shownAddress.ReplaceAllStringFunc(text, func(address string) string {
		m := shownAddress.FindStringSubmatch(address)
		if m[3] == "" {
			return m[1] + m[2]
		}
		return m[1] + m[2] + "?…"
	})
}
