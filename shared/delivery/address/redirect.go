package address

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/redirect"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// Redirects answers at the old addresses of a site.
type Redirects struct {
	exacts   map[string][]*rule // by path without slashes at the ends
	patterns []*rule            // in the site's order; the first that matches counts
}

// rule is one redirect.
type rule struct {
	from      redirect.Pattern // of patterns
	literal   string           // what every path that from matches begins with
	query     url.Values       // what the query must hold
	to        string
	permanent bool
}

// NewRedirects reads the redirects of a bundle's description. Package redirect
// says what a source may be. A query in it must be in the request; a fragment
// never reaches a server. The error names a redirect with a query that can't be
// read.
func NewRedirects(list []bundle.Redirect) (*Redirects, error) {
	out := &Redirects{exacts: map[string][]*rule{}}
	for _, r := range list {
		if err := out.read(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *Redirects) read(one bundle.Redirect) error {
	source := redirect.Parse(one.From)
	want, err := url.ParseQuery(source.Query)
	if err != nil {
		return fmt.Errorf("the redirect from %q: its query can't be read", one.From)
	}
	r.add(source.Path, rule{query: want, to: one.To, permanent: one.Permanent})
	if source.Optional {
		path, to := source.Short(one.To)
		r.add(path, rule{to: to, permanent: one.Permanent})
	}
	return nil
}

func (r *Redirects) add(path string, one rule) {
	from, wild := redirect.Compile(path)
	if !wild {
		r.exacts[path] = append(r.exacts[path], &one)
		return
	}
	one.from = from
	for i, e := range from.Elements {
		if e.Name != "" {
			break
		}
		if i > 0 {
			one.literal += "/"
		}
		one.literal += e.Literal
	}
	r.patterns = append(r.patterns, &one)
}

// exact returns the address that the first redirect from a path alone leads to, a
// path without slashes at its ends: those that ask for a query first. Before the
// site's own ones come those of list, some of which may be from other paths.
func (r *Redirects) exact(list []bundle.Redirect, path, rawQuery string) (to string, permanent, ok bool) {
	if r == nil && len(list) == 0 {
		return "", false, false
	}
	var rules []*rule
	if r != nil {
		rules = r.exacts[path]
	}
	if len(list) > 0 {
		listed := &Redirects{exacts: map[string][]*rule{}}
		for _, one := range list {
			// What can't be read would have refused its bundle.
			_ = listed.read(one)
		}
		rules = slices.Concat(listed.exacts[path], rules)
	}
	for _, conditional := range [...]bool{true, false} {
		for _, one := range rules {
			if (len(one.query) > 0) == conditional && one.asked(rawQuery) {
				return local(one.to), one.permanent, true
			}
		}
	}
	return "", false, false
}

// pattern returns the address that the first redirect with a pattern leads to.
func (r *Redirects) pattern(path, rawQuery string) (to string, permanent, ok bool) {
	if r == nil {
		return "", false, false
	}
	for _, one := range r.patterns {
		if !strings.HasPrefix(path, one.literal) || !one.asked(rawQuery) {
			continue
		}
		if values, ok := one.from.Match(path); ok {
			if to, ok := one.destination(values); ok {
				return to, one.permanent, true
			}
		}
	}
	return "", false, false
}

// asked reports whether a request has the query that the redirect asks for.
func (r *rule) asked(rawQuery string) bool {
	if len(r.query) == 0 {
		return true
	}
	has, _ := url.ParseQuery(rawQuery) // what can be read of it
	for name, values := range r.query {
		for _, v := range values {
			if !slices.Contains(has[name], v) {
				return false
			}
		}
	}
	return true
}

// destination puts what was matched into the destination. It is not ok when
// that would have a reader choose the host: "https://docs.example.com*" takes a
// rest that begins with a slash, and not ".other.example".
func (r *rule) destination(values []string) (address string, ok bool) {
	for i, v := range values {
		values[i] = (&url.URL{Path: v}).EscapedPath()
	}
	to := r.from.Fill(r.to, values)
	if _, after, absolute := strings.Cut(r.to, "://"); absolute && isWeb(r.to) {
		host, _, _ := strings.Cut(after, "/")
		_, filled, _ := strings.Cut(to, "://")
		rest, kept := strings.CutPrefix(filled, strings.TrimSuffix(host, "*"))
		if host == "*" || host != "" && host[0] == ':' || !kept || rest != "" && rest[0] != '/' {
			return "", false
		}
	}
	return local(to), true
}

// isWeb reports whether an address names a scheme that readers may be sent to.
func isWeb(address string) bool {
	lower := strings.ToLower(address)
	return strings.HasPrefix(lower, "https://") || strings.HasPrefix(lower, "http://")
}

// local makes an address that names no scheme one of this host: a path that
// was asked for must never name another.
func local(to string) string {
	if isWeb(to) {
		return to
	}
	return "/" + strings.TrimLeft(to, "/\\")
}
