package serve

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/bindery-docs/bindery/shared/bundle"
)

// Redirects answers at the old addresses of a site.
type Redirects struct {
	exact    map[string][]*rule // by path without slashes at the ends
	patterns []*rule            // in the site's order; the first that matches counts
}

// rule is one redirect.
type rule struct {
	from      *regexp.Regexp // nil: the path alone decides
	literal   string         // what every path that from matches begins with
	names     []string       // what the groups of from stand for in to
	missing   string         // the optional name that this form of the source lacks
	query     url.Values     // what the query must hold
	to        string
	permanent bool
}

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
		if err := one.compile(source); err != nil {
			return nil, fmt.Errorf("the redirect from %q: %w", r.From, err)
		}
		out.patterns = append(out.patterns, &one)
		if parent, last := cutLast(source); asked && query == "" && strings.HasPrefix(last, ":") {
			short := base
			if err := short.compile(parent); err != nil {
				return nil, fmt.Errorf("the redirect from %q: %w", r.From, err)
			}
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

// compile turns a pattern into an expression.
func (r *rule) compile(source string) error {
	var b strings.Builder
	b.WriteString("^")
	rest, literal := false, true
	for element := range strings.SplitSeq(source, "/") {
		name, many := parameter(element)
		prefix, isRest := strings.CutSuffix(element, "*")
		switch {
		case !rest && (name != "" && many || element == "*"): // may be nothing at all, and no slash then
			r.names, rest = append(r.names, name), true
			b.WriteString("(?:/(.*))?")
		case name != "" && !many:
			r.names = append(r.names, name)
			b.WriteString("/([^/]+)")
		case !rest && isRest:
			r.names, rest = append(r.names, ""), true
			b.WriteString("/" + regexp.QuoteMeta(prefix) + "(.*)")
		default:
			b.WriteString("/" + regexp.QuoteMeta(element))
			if literal {
				r.literal += "/" + element
			}
			continue
		}
		literal = false
	}
	b.WriteString("$")
	var err error
	r.from, err = regexp.Compile(b.String())
	return err
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
		if !strings.HasPrefix("/"+path, one.literal) || !one.asked(rawQuery) {
			continue
		}
		if m := one.from.FindStringSubmatch("/" + path); m != nil {
			if to, ok := one.destination(m[1:]); ok {
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
		for i, name := range r.names {
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
