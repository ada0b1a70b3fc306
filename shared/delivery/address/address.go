// Package address finds what answers an address of a bundle: the one place that
// knows which file, or which redirect, readers get. It is apart from package serve,
// so that programs that only ask need no server.
//
//	address.go   Addresses: the names of all files are at hand
//	site.go      Site: files are looked up where that can fail
//	redirect.go  Redirects of a bundle's description
//	stub.go      pages that only lead elsewhere
package address

import (
	"context"
	"strconv"
	"strings"
)

// Addresses finds what answers an address where the names of all files are at
// hand: a file of a bundle, another address, or nothing.
type Addresses struct {
	// Has reports whether there is a file of this name, a path with slashes.
	Has func(name string) bool
	// Stub reports whether a file only leads elsewhere, so that a redirect may
	// answer in its place; nil if that is not known.
	Stub func(name string) bool
	// Redirects are the site's; may be nil.
	Redirects *Redirects
}

// Answer answers an address: at most one of File, a name, and To is set.
type Answer = Found[string]

// Find is Site's, with names as files.
func (a Addresses) Find(urlPath, rawQuery string) Answer {
	site := Site[string]{Look: a.look, Redirects: a.Redirects}
	if a.Stub != nil {
		site.Stub = func(_ context.Context, name string) (bool, error) { return a.Stub(name), nil }
	}
	answer, err := site.Find(context.Background(), urlPath, rawQuery)
	if err != nil {
		return Answer{} // never: what is asked here can't fail
	}
	return answer
}

func (a Addresses) look(_ context.Context, name string) (Place[string], error) {
	var at Place[string]
	has := func(name string) string {
		if a.Has(name) {
			return name
		}
		return ""
	}
	if name == "" {
		at.Index = has("index.html")
		return at, nil
	}
	at.Plain, at.Page, at.Index = has(name), has(name+".html"), has(name+"/index.html")
	return at, nil
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
