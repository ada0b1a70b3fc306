package site

import "strings"

// maxHops bounds a chain of redirects; browsers give up after about as many.
const maxHops = 20

// pattern is a redirect whose source has wildcards.
type pattern struct {
	elements []element
	// rest is the place in elements of the one that takes any number, or -1.
	rest        int
	destination string
}

// element is one element of a pattern's path. At most one of a pattern is a rest.
type element struct {
	literal string // what must stand there; before a rest: a prefix
	name    string // the name that the matched text goes by; "" for literals
	rest    bool
}

// hasWildcard tells whether a redirect's source is a pattern.
func hasWildcard(source string) bool {
	return strings.ContainsAny(source, "*") || strings.Contains(source, "/:")
}

// compilePattern reads a source such as "/docs/:version/api/:rest*". Only the
// first wildcard that takes any number is one; others are literal.
func compilePattern(source, destination string) pattern {
	p := pattern{rest: -1, destination: destination}
	for _, e := range strings.Split(strings.Trim(source, "/"), "/") {
		el := element{literal: e}
		switch {
		case strings.HasPrefix(e, ":") && strings.HasSuffix(e, "*") && p.rest < 0:
			el = element{name: e[1 : len(e)-1], rest: true}
		case strings.HasSuffix(e, "*") && p.rest < 0:
			el = element{literal: e[:len(e)-1], name: "*", rest: true}
		case len(e) > 1 && e[0] == ':':
			el = element{name: e[1:]}
		}
		if el.rest {
			p.rest = len(p.elements)
		}
		p.elements = append(p.elements, el)
	}
	return p
}

// match gives the destination for path, which has no leading slash.
func (p *pattern) match(path string) (string, bool) {
	var parts []string
	if path != "" {
		parts = strings.Split(path, "/")
	}
	var names, values []string
	one := func(e *element, part string) bool {
		if e.name != "" {
			names, values = append(names, e.name), append(values, part)
			return part != ""
		}
		return e.literal == part
	}
	if p.rest < 0 {
		if len(parts) != len(p.elements) {
			return "", false
		}
		for i := range p.elements {
			if !one(&p.elements[i], parts[i]) {
				return "", false
			}
		}
		return substitute(p.destination, names, values), true
	}
	tail := len(p.elements) - p.rest - 1
	if len(parts) < p.rest+tail {
		return "", false
	}
	for i := range p.rest {
		if !one(&p.elements[i], parts[i]) {
			return "", false
		}
	}
	rest := strings.Join(parts[p.rest:len(parts)-tail], "/")
	e := &p.elements[p.rest]
	if !strings.HasPrefix(rest, e.literal) {
		return "", false
	}
	names, values = append(names, e.name), append(values, rest[len(e.literal):])
	for i := range tail {
		if !one(&p.elements[p.rest+1+i], parts[len(parts)-tail+i]) {
			return "", false
		}
	}
	return substitute(p.destination, names, values), true
}

// substitute puts captured text into a destination: for ":name", ":name*" and
// "*". In an absolute address the scheme's colon is left alone.
func substitute(destination string, names, values []string) string {
	head := ""
	if i := strings.Index(destination, "://"); i >= 0 {
		head, destination = destination[:i+3], destination[i+3:]
	}
	parts := strings.Split(destination, "/")
	out := parts[:0:0]
	for _, part := range parts {
		replaced := part
		for i, name := range names {
			switch {
			case name == "*" && strings.HasSuffix(part, "*") && !strings.HasPrefix(part, ":"):
				replaced = part[:len(part)-1] + values[i]
			case part == ":"+name || part == ":"+name+"*":
				replaced = values[i]
			}
		}
		if replaced == "" && part != "" {
			continue // a rest that took nothing leaves no empty element
		}
		out = append(out, replaced)
	}
	return head + strings.Join(out, "/")
}
