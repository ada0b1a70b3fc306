package site

import (
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

// match gives the destination of the first pattern that matches path.
func (x *patternIndex) match(path string) (string, bool) {
	if len(x.patterns) == 0 {
		return "", false
	}
	found := x.root.collect(nil, path, path[strings.LastIndexByte(path, '/')+1:])
	slices.Sort(found)
	for _, i := range found {
		if to, ok := x.patterns[i].match(path); ok {
			return to, true
		}
	}
	return "", false
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
