// Package address finds what answers an address of a bundle: the one place that
// knows which file, or which redirect, readers get. It is apart from package serve,
// so that programs that only ask need no server.
//
//	address.go   Addresses
//	redirect.go  Redirects of a bundle's description
//	stub.go      pages that only lead elsewhere
package address

import (
	"net/url"
	"path"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/bindery-docs/bindery/shared/base/redirect"
)

// Addresses finds what answers an address: a file of a bundle, another address,
// or nothing.
type Addresses struct {
	// Has reports whether there is a file of this name, a path with slashes.
	Has func(name string) bool
	// Stub reports whether a file only leads elsewhere, so that a redirect may
	// answer in its place; nil if that is not known.
	Stub func(name string) bool
	// Redirects are the site's; may be nil.
	Redirects *Redirects
}

// Answer is what an address leads to: at most one of File and To is set.
type Answer struct {
	// File is the name of the file to send.
	File string
	// To is where the reader is sent: escaped, and either absolute with a
	// scheme or a path from the site's root.
	To        string
	Permanent bool
}

// Find looks up the path of a request, unescaped, from the site's root on:
//
//   - x is the file x, else x.html; x/ is x/index.html.
//   - x/ leads to x where x.html is and x/index.html is no page, x leads to x/ where
//     only x/index.html is: links of a page are relative to its file.
//   - names of files are in Unicode's NFC, whatever form the address has.
//   - a page wins over a redirect from its own address, unless it is a page
//     that only leads elsewhere.
//
// Redirects that lead to others of this site are gone through here, so that a
// reader is sent on once; those that never end lead nowhere. No name that is
// given to Has begins or ends with a slash or holds dots as an element.
func (a Addresses) Find(urlPath, rawQuery string) Answer {
	answer := a.step(urlPath, rawQuery)
	for range redirect.MaxHops {
		if !strings.HasPrefix(answer.To, "/") {
			return answer
		}
		to, fragment, _ := strings.Cut(answer.To, "#")
		to, query, _ := strings.Cut(to, "?")
		to, err := url.PathUnescape(to)
		if err != nil {
			return answer
		}
		next := a.step(to, query)
		if next.To == "" { // a page, or nothing: it is the reader's to see where
			return answer
		}
		next.To = WithQuery(next.To, query)
		if fragment != "" && !strings.Contains(next.To, "#") {
			next.To += "#" + fragment // as browsers do
		}
		next.Permanent = next.Permanent && answer.Permanent
		answer = next
	}
	return Answer{}
}

// WithQuery puts a query into an address that has none of its own.
func WithQuery(address, query string) string {
	rest, fragment, marked := strings.Cut(address, "#")
	if query == "" || strings.Contains(rest, "?") {
		return address
	}
	if rest += "?" + query; marked {
		rest += "#" + fragment
	}
	return rest
}

// step is Find without going on.
func (a Addresses) step(urlPath, rawQuery string) Answer {
	if !strings.HasPrefix(urlPath, "/") {
		urlPath = "/" + urlPath
	}
	name := norm.NFC.String(strings.Trim(path.Clean(urlPath), "/"))
	folder := strings.HasSuffix(urlPath, "/")
	var answer Answer
	file := "" // what decides
	index := func() string { return strings.TrimPrefix(name+"/index.html", "/") }
	switch {
	case folder && name != "" && a.Stub != nil && a.Has(name+".html") && a.Has(index()) && a.Stub(index()):
		file, answer = name+".html", Answer{To: escapePath("/" + name), Permanent: true}
	case (name == "" || folder) && a.Has(index()):
		file = index()
		answer.File = file
	case name == "":
	case a.Has(name) && !folder:
		file, answer.File = name, name
	case a.Has(name + ".html"):
		file = name + ".html"
		if folder {
			answer = Answer{To: escapePath("/" + name), Permanent: true}
		} else {
			answer.File = file
		}
	case a.Has(index()):
		file, answer = index(), Answer{To: escapePath("/" + name + "/"), Permanent: true}
	}
	stub := file != "" && a.Stub != nil && a.Stub(file)
	if stub {
		// Redirects are from addresses, not from the files at them.
		name = strings.TrimSuffix(strings.TrimSuffix(file, ".html"), "/index")
	}
	if file == "" || stub {
		if to, permanent, ok := a.Redirects.follow(name, rawQuery); ok {
			return Answer{To: to, Permanent: permanent}
		}
	}
	return answer
}

// escapePath writes a path that begins with one slash as it is written in a
// header.
func escapePath(p string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/"
	const hex = "0123456789ABCDEF"
	out := make([]byte, 0, len(p)+8)
	for i := range len(p) {
		if c := p[i]; strings.IndexByte(plain, c) >= 0 {
			out = append(out, c)
		} else {
			out = append(out, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(out)
}

// HeaderSafe returns an address with what must not be in a header escaped.
func HeaderSafe(address string) string {
	var b strings.Builder
	for i := range len(address) {
		if c := address[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' || c == '\\' {
			b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(c)|0x100, 16)[1:]))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
