package site

import (
	"path"
	"slices"
	"strings"
)

// maxHops bounds a chain of redirects; browsers give up after about as many.
const maxHops = 20

// pattern is a redirect whose source has wildcards.
type pattern struct {
	elements []element
	// rest is the place in elements of the one that takes any number, or -1.
	rest        int
	destination string
	// when says which query and fragment the source names.
	when condition
}

// element is one element of a pattern's path. At most one of a pattern is a rest.
type element struct {
	literal string // what must stand there; before a rest: a prefix
	name    string // the name that the matched text goes by; "" for literals
	rest    bool
}

// condition is the query and the fragment that a redirect's source names. A
// server never sees a fragment, and a file answers to any query, so that such a
// redirect also holds for its path alone, if nothing else does.
type condition struct{ query, fragment string }

func (c condition) empty() bool { return c == condition{} }

// suffix is the condition as it stands behind a path.
func (c condition) suffix() (s string) {
	if c.query != "" {
		s = "?" + c.query
	}
	if c.fragment != "" {
		s += "#" + c.fragment
	}
	return s
}

// without are the conditions that a link with this one meets, the strictest first.
func (c condition) without() [4]condition {
	return [4]condition{c, {query: c.query}, {fragment: c.fragment}, {}}
}

// splitSource takes a redirect's source apart: its path without slashes at the
// ends, and its condition. A question mark behind the last parameter makes that
// one optional: short is the path without it.
func splitSource(source string) (path string, when condition, short string, optional bool) {
	path, when.fragment, _ = strings.Cut(source, "#")
	path, query, asked := strings.Cut(path, "?")
	when.query = query
	path = strings.Trim(unescape(path), "/")
	if asked && query == "" {
		if i := strings.LastIndexByte(path, '/'); strings.HasPrefix(path[i+1:], ":") {
			return path, when, path[:max(i, 0)], true
		}
	}
	return path, when, "", false
}

// hasWildcard tells whether a redirect's path is a pattern.
func hasWildcard(path string) bool {
	return strings.Contains(path, "*") || strings.HasPrefix(path, ":") || strings.Contains(path, "/:")
}

// Path is the path of the redirect's source, without slashes at its ends, and
// without a query or a fragment. Wild says that it is a pattern.
func (r Redirect) Path() (path string, wild bool) {
	path, _, _, _ = splitSource(r.Source)
	return path, hasWildcard(path)
}

// compilePattern reads a path such as "docs/:version/api/:rest*". Only the
// first wildcard that takes any number is one; others are literal.
func compilePattern(source, destination string) pattern {
	p := pattern{rest: -1, destination: destination}
	for _, e := range strings.Split(strings.Trim(source, "/"), "/") {
		el := element{literal: e}
		name, many := parameter(e)
		switch {
		case name != "" && many && p.rest < 0:
			el = element{name: name, rest: true}
		case name != "" && !many:
			el = element{name: name}
		case strings.HasSuffix(e, "*") && p.rest < 0:
			el = element{literal: e[:len(e)-1], name: "*", rest: true}
		}
		if el.rest {
			p.rest = len(p.elements)
		}
		p.elements = append(p.elements, el)
	}
	return p
}

// parameter reads ":name", ":name*" and ":name+"; the name is empty where e is
// none. What an expression in parentheses allows is not looked at: "(.*)" is any
// number, every other one is one element.
func parameter(e string) (name string, many bool) {
	if len(e) < 2 || e[0] != ':' {
		return "", false
	}
	name = e[1:]
	if i := strings.IndexByte(name, '('); i > 0 {
		return name[:i], strings.HasPrefix(name[i:], "(.*)") || strings.HasPrefix(name[i:], "(.+)")
	}
	if last := len(name) - 1; last > 0 && (name[last] == '*' || name[last] == '+') {
		return name[:last], true
	}
	return name, false
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
			default:
				if of, _ := parameter(part); of == name && of != "" {
					replaced = values[i]
				}
			}
		}
		if replaced == "" && part != "" {
			continue // a rest that took nothing leaves no empty element
		}
		out = append(out, replaced)
	}
	return head + strings.Join(out, "/")
}

// patternIndex finds the first pattern that matches a path without trying all
// of them: sites that moved have thousands. It is a tree of what the patterns'
// first elements are, up to one that takes any number.
type patternIndex struct {
	patterns []pattern // in the written order
	root     patternNode
}

type patternNode struct {
	literals map[string]*patternNode
	any      *patternNode // below an element that takes any text
	ends     []int        // patterns that end here
	rests    map[restKey][]int
	lengths  []int // of the prefixes in rests, each once
}

// restKey sorts patterns whose rest begins at one node.
type restKey struct {
	prefix string // what the rest's first element begins with
	last   string // the pattern's last element, "" when it is the rest or takes any text
}

func (x *patternIndex) add(p pattern) {
	at := len(x.patterns)
	x.patterns = append(x.patterns, p)
	n := &x.root
	for i, e := range p.elements {
		if i == p.rest {
			key := restKey{prefix: e.literal}
			if last := p.elements[len(p.elements)-1]; !last.rest && last.name == "" {
				key.last = last.literal
			}
			if n.rests == nil {
				n.rests = make(map[restKey][]int)
			}
			n.rests[key] = append(n.rests[key], at)
			if !slices.Contains(n.lengths, len(e.literal)) {
				n.lengths = append(n.lengths, len(e.literal))
			}
			return
		}
		if e.name != "" {
			if n.any == nil {
				n.any = new(patternNode)
			}
			n = n.any
			continue
		}
		next := n.literals[e.literal]
		if next == nil {
			if n.literals == nil {
				n.literals = make(map[string]*patternNode)
			}
			next = new(patternNode)
			n.literals[e.literal] = next
		}
		n = next
	}
	n.ends = append(n.ends, at)
}

// match gives the destination of the first pattern that matches path: of those
// that ask for exactly this query and fragment, else of those that ask for
// nothing, else of any. met is what the pattern asked for.
func (x *patternIndex) match(path string, has condition) (destination string, met condition, ok bool) {
	if len(x.patterns) == 0 {
		return "", met, false
	}
	found := x.candidates(path)
	for _, want := range has.without() {
		for _, i := range found {
			if x.patterns[i].when == want {
				if to, ok := x.patterns[i].match(path); ok {
					return to, want, true
				}
			}
		}
	}
	for _, i := range found {
		if to, ok := x.patterns[i].match(path); ok {
			return to, condition{}, true
		}
	}
	return "", met, false
}

// candidates are the patterns that may match path, in the written order.
func (x *patternIndex) candidates(path string) []int {
	found := x.root.collect(nil, path, path[strings.LastIndexByte(path, '/')+1:])
	slices.Sort(found)
	return found
}

// collect adds the patterns below n that may match rest, the part of a path
// that is left; last is the path's last element.
func (n *patternNode) collect(found []int, rest, last string) []int {
	for _, length := range n.lengths {
		if length > len(rest) {
			continue
		}
		found = append(found, n.rests[restKey{prefix: rest[:length]}]...)
		if last != "" {
			found = append(found, n.rests[restKey{rest[:length], last}]...)
		}
	}
	if rest == "" {
		return append(found, n.ends...)
	}
	part, after, _ := strings.Cut(rest, "/")
	if next := n.literals[part]; next != nil {
		found = next.collect(found, after, last)
	}
	if n.any != nil {
		found = n.any.collect(found, after, last)
	}
	return found
}

// redirect gives where a redirect leads from a path, and what of the query and
// the fragment its source named: that part is not carried on.
func (x *index) redirect(path string, has condition) (destination string, met condition, ok bool) {
	if has.empty() {
		destination, ok = x.exact[path]
	} else {
		for _, want := range has.without() {
			if destination, ok = x.exact[path+want.suffix()]; ok {
				met = want
				break
			}
		}
	}
	if ok {
		return destination, met, true
	}
	if destination, met, ok = x.patterns.match(path, has); ok {
		return destination, met, true
	}
	destination, ok = x.loose[path]
	return destination, condition{}, ok
}

// addRedirects fills the tables of redirects. Of two from one source the first
// counts.
func (x *index) addRedirects(redirects []Redirect) {
	x.exact, x.loose = make(map[string]string, len(redirects)), make(map[string]string)
	put := func(m map[string]string, key, value string) {
		if _, taken := m[key]; !taken {
			m[key] = value
		}
	}
	add := func(path string, when condition, destination string) {
		if hasWildcard(path) {
			p := compilePattern(path, destination)
			p.when = when
			x.patterns.add(p)
			return
		}
		put(x.exact, path+when.suffix(), destination)
		if !when.empty() {
			put(x.loose, path, destination)
		}
	}
	for _, r := range redirects {
		path, when, short, optional := splitSource(r.Source)
		add(path, when, r.Destination)
		if optional {
			d := compilePattern(path, r.Destination)
			last := d.elements[len(d.elements)-1].name
			add(short, when, substitute(r.Destination, []string{last}, []string{""}))
		}
	}
}

// way follows redirects from a path of the site and gives the addresses that it
// passes, the last one where it ends. loop says that it never does; named, that
// no pattern had a part in it.
func (s *Site) way(path string) (passed []string, named, loop bool) {
	x := s.tables()
	seen := map[string]bool{path: true}
	named = true
	for range maxHops {
		destination, _, ok := x.redirect(path, condition{})
		if !ok {
			return passed, named, false
		}
		if _, exact := x.exact[path]; !exact {
			named = false
		}
		path, ok = s.inside(destination)
		if !ok {
			return append(passed, destination), named, false
		}
		passed = append(passed, "/"+path)
		var t Target
		if s.found(x, path, &t) {
			return passed, named, false
		}
		if seen[path] {
			return passed, named, true
		}
		seen[path] = true
	}
	return passed, named, true
}

// inside gives the path within the site that a redirect's destination names.
func (s *Site) inside(destination string) (string, bool) {
	if schemeOf(destination) != "" || strings.HasPrefix(destination, "//") {
		inner, own := s.ownPath(destination)
		if !own {
			return "", false
		}
		destination = inner
	}
	ref, _, _ := strings.Cut(destination, "#")
	ref, _, _ = strings.Cut(ref, "?")
	return strings.TrimPrefix(path.Clean("/"+unescape(ref)), "/"), true
}
