package serve

import (
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// Redirects answers at the old addresses of a site.
type Redirects struct {
	exact    map[string][]*rule // by path without slashes at the ends
	patterns []*rule            // in the site's order; the first that matches counts
}

// rule is one redirect.
type rule struct {
	from      []element  // nil: the path alone decides
	rest      int        // which of them takes any number; -1 for none
	literal   string     // what every path that from matches begins with
	missing   string     // the optional name that this form of the source lacks
	query     url.Values // what the query must hold
	to        string
	permanent bool
}

// element is one of a pattern: it stands for what has its name, or for itself.
type element struct{ name, literal string }

// NewRedirects reads the redirects of a bundle's description. A source such as
// "/docs/:version/api/:rest*" is a pattern: ":name" is one element, ":name*" and
// ":name+" any number of them, and "*" at the end of an element any rest. Only
// the first that takes any number is one. What an expression behind a name
// allows, as in ":id(\\d+)", is not looked at, save "(.*)" and "(.+)", which
// take any number. (Package site reads sources so when it checks links.) A "?"
// at the end makes the last name optional; a query behind it must be in the
// request. A fragment never reaches a server.
func NewRedirects(list []bundle.Redirect) (*Redirects, error) {
	out := &Redirects{exact: map[string][]*rule{}}
	for _, r := range list {
		source, _, _ := strings.Cut(r.From, "#")
		source, query, asked := strings.Cut(source, "?")
		if plain, err := url.PathUnescape(source); err == nil {
			source = plain
		}
		source = strings.Trim(source, "/")
		want, err := url.ParseQuery(query)
		if err != nil {
			return nil, fmt.Errorf("the redirect from %q: its query can't be read", r.From)
		}
		base := rule{query: want, to: r.To, permanent: r.Permanent}
		if !isPattern(source) {
			out.exact[source] = append(out.exact[source], &base)
			continue
		}
		one := base
		one.compile(source)
		out.patterns = append(out.patterns, &one)
		if parent, last := cutLast(source); asked && query == "" && strings.HasPrefix(last, ":") {
			short := base
			short.compile(parent)
			short.missing, _ = parameter(last)
			out.patterns = append(out.patterns, &short)
		}
	}
	return out, nil
}

// isPattern tells sources of which a server has to know more than the path.
func isPattern(source string) bool {
	for element := range strings.SplitSeq(source, "/") {
		if strings.HasSuffix(element, "*") || len(element) > 1 && element[0] == ':' {
			return true
		}
	}
	return false
}

// parameter reads ":name", ":name*", ":name+" and ":name(expression)"; the name
// is empty where element is none of them. many: it takes any number of elements.
func parameter(element string) (name string, many bool) {
	name, ok := strings.CutPrefix(element, ":")
	if !ok || name == "" {
		return "", false
	}
	if i := strings.IndexByte(name, '('); i > 0 {
		return name[:i], strings.HasPrefix(name[i:], "(.*)") || strings.HasPrefix(name[i:], "(.+)")
	}
	if last := len(name) - 1; last > 0 && (name[last] == '*' || name[last] == '+') {
		return name[:last], true
	}
	return name, false
}

func cutLast(source string) (parent, last string) {
	if i := strings.LastIndexByte(source, '/'); i >= 0 {
		return source[:i], source[i+1:]
	}
	return "", source
}

// compile reads a pattern. An expression would do the same, and take twenty
// times the memory: sites that moved have thousands.
func (r *rule) compile(source string) {
	r.rest = -1
	literal := true
	if source == "" {
		r.from = []element{}
		return
	}
	for i, text := range strings.Split(source, "/") {
		name, many := parameter(text)
		prefix, isRest := strings.CutSuffix(text, "*")
		one := element{literal: text}
		switch {
		case r.rest < 0 && name != "" && many: // may be nothing at all, and no slash then
			one, r.rest = element{name: name}, i
		case name != "" && !many:
			one = element{name: name}
		case r.rest < 0 && isRest:
			one, r.rest = element{literal: prefix}, i
		}
		r.from = append(r.from, one)
		if literal = literal && one.name == "" && r.rest < 0; literal {
			r.literal = strings.TrimPrefix(r.literal+"/"+text, "/")
		}
	}
}

// names are what the values of match stand for in the destination; "" is "*".
func (r *rule) names() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		n := 0
		for i, e := range r.from {
			if i != r.rest && e.name == "" {
				continue
			}
			if !yield(n, e.name) {
				return
			}
			n++
		}
	}
}

// match holds a path without slashes at its ends against the pattern, and gives
// what its names stand for then.
func (r *rule) match(path string) (values []string, ok bool) {
	var parts []string
	if path != "" {
		parts = strings.Split(path, "/")
	}
	if r.rest >= 0 {
		behind := len(r.from) - r.rest - 1
		if len(parts) < r.rest+behind {
			return nil, false
		}
		end := len(parts) - behind
		taken, ok := strings.CutPrefix(strings.Join(parts[r.rest:end], "/"), r.from[r.rest].literal)
		if !ok {
			return nil, false
		}
		parts = slices.Replace(parts, r.rest, end, taken)
	}
	if len(parts) != len(r.from) {
		return nil, false
	}
	for i, e := range r.from {
		switch {
		case i == r.rest, e.name != "" && parts[i] != "":
			values = append(values, parts[i])
		case e.name != "" || e.literal != parts[i]:
			return nil, false
		}
	}
	return values, true
}

// Exact gives the address that a redirect from this very path leads to. path
// has no slashes at its ends. A redirect that asks for a query comes before one
// that doesn't.
func (r *Redirects) Exact(path, rawQuery string) (to string, permanent, ok bool) {
	if r == nil || len(r.exact) == 0 {
		return "", false, false
	}
	rules := r.exact[path]
	for _, conditional := range [...]bool{true, false} {
		for _, one := range rules {
			if (len(one.query) > 0) == conditional && one.asked(rawQuery) {
				return local(one.to), one.permanent, true
			}
		}
	}
	return "", false, false
}

// Follow gives the address that the first redirect leads to from a path
// without slashes at its ends: exact ones first, then those with patterns.
func (r *Redirects) Follow(path, rawQuery string) (to string, permanent, ok bool) {
	if to, permanent, ok := r.Exact(path, rawQuery); ok || r == nil {
		return to, permanent, ok
	}
	for _, one := range r.patterns {
		if !strings.HasPrefix(path, one.literal) || !one.asked(rawQuery) {
			continue
		}
		if values, ok := one.match(path); ok {
			if to, ok := one.destination(values); ok {
				return to, one.permanent, true
			}
		}
	}
	return "", false, false
}

// asked tells whether a request has the query that the redirect asks for.
func (r *rule) asked(rawQuery string) bool {
	if len(r.query) == 0 {
		return true
	}
	has, _ := url.ParseQuery(rawQuery) // what can be read of it
	for name, values := range r.query {
		for _, v := range values {
			if !contains(has[name], v) {
				return false
			}
		}
	}
	return true
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

// destination puts what was matched into the destination. It is not ok when
// that would have a reader choose the host: "https://docs.example.com*" takes a
// rest that begins with a slash, and not ".other.example".
func (r *rule) destination(values []string) (address string, ok bool) {
	scheme, to := "", r.to
	if i := strings.Index(to, "://"); i >= 0 {
		scheme, to = to[:i+3], to[i+3:]
	}
	host := isWeb(scheme) // the first element is one
	var out []string
	for element := range strings.SplitSeq(to, "/") {
		made, of := element, ""
		if of, _ = parameter(element); of != "" && of == r.missing {
			made = ""
		}
		for i, name := range r.names() {
			value := (&url.URL{Path: values[i]}).EscapedPath()
			switch {
			case name == "" && strings.HasSuffix(element, "*") && !strings.HasPrefix(element, ":"):
				made = strings.TrimSuffix(element, "*") + value
				if host && (made == value || value != "" && value[0] != '/') {
					return "", false
				}
			case name != "" && of == name:
				if made = value; host {
					return "", false
				}
			}
		}
		host = false
		if made != "" || element == "" {
			out = append(out, made)
		}
	}
	return local(scheme + strings.Join(out, "/")), true
}

// isWeb tells whether an address names a scheme that readers may be sent to.
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
