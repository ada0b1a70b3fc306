package address

import "bytes"

// IsStub reports whether a page is one that bundles have at old addresses, for
// servers that know no redirects. Its authors' text can't look like one: in a
// page, the head is the theme's.
func IsStub(page []byte) bool {
	head, _, _ := bytes.Cut(page[:min(len(page), 16<<10)], []byte("</head>"))
	return bytes.Contains(head, []byte(`<meta http-equiv="refresh"`))
}
