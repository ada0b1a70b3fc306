package site

import (
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/redirect"
)

// pattern is a redirect whose source has wildcards.
type pattern struct {
	redirect.Pattern
	destination string
	when        condition // which query and fragment the source names
}

// match returns where the redirect leads from path, which has no leading slash.
func (p *pattern) match(path string) (destination string, ok bool) {
	values, ok := p.Match(path)
	if !ok {
		return "", false
	}
	return p.Fill(p.destination, values), true
}

// samplePath returns a path that the pattern matches and that no page has: any text
// may replace a name.
func samplePath(p redirect.Pattern) string {
	parts := make([]string, len(p.Elements))
	for i, e := range p.Elements {
		if parts[i] = e.Literal; e.Name != "" && e.Name != "*" {
			parts[i] = "bindery-sample-" + e.Name
		}
	}
	return strings.Join(parts, "/")
}

// condition is the query and the fragment that a redirect's source names. A
// server never sees a fragment, and a file answers to any query, so that such a
// redirect also holds for its path alone, if nothing else does.
type condition struct{ query, fragment string }

func conditionOf(s redirect.Source) condition { return condition{s.Query, s.Fragment} }

func (c condition) empty() bool { return c == condition{} }

// suffix returns the condition as it is written after a path.
func (c condition) suffix() (s string) {
	if c.query != "" {
		s = "?" + c.query
	}
	if c.fragment != "" {
		s += "#" + c.fragment
	}
	return s
}

// without returns the conditions that a link with this one meets, the strictest
// first.
func (c condition) without() [4]condition {
	return [4]condition{c, {query: c.query}, {fragment: c.fragment}, {}}
}

// Path returns the path of the redirect's source, without slashes at its ends,
// and without a query or a fragment. Wild reports that it is a pattern.
func (r Redirect) Path() (path string, wild bool) {
	path = redirect.Parse(r.Source).Path
	_, wild = redirect.Compile(path)
	return path, wild
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
	for i, e := range p.Elements {
		if i == p.Rest {
			key := restKey{prefix: e.Literal}
			if last := p.Elements[len(p.Elements)-1]; last.Name == "" {
				key.last = last.Literal
			}
			if n.rests == nil {
				n.rests = make(map[restKey][]int)
			}
			n.rests[key] = append(n.rests[key], at)
			if !slices.Contains(n.lengths, len(e.Literal)) {
				n.lengths = append(n.lengths, len(e.Literal))
			}
			return
		}
		if e.Name != "" {
			if n.any == nil {
				n.any = new(patternNode)
			}
			n = n.any
			continue
		}
		next := n.literals[e.Literal]
		if next == nil {
			if n.literals == nil {
				n.literals = make(map[string]*patternNode)
			}
			next = new(patternNode)
			n.literals[e.Literal] = next
		}
		n = next
	}
	n.ends = append(n.ends, at)
}

// match returns the destination of the first pattern that matches path: of those
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

// redirect returns where a redirect leads from a path, and what of the query and
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
	if x.exact == nil {
		x.exact, x.loose = make(map[string]string, len(redirects)), make(map[string]string)
	}
	put := func(m map[string]string, key, value string) {
		if _, taken := m[key]; !taken {
			m[key] = value
		}
	}
	add := func(path string, when condition, destination string) {
		if p, wild := redirect.Compile(path); wild {
			x.patterns.add(pattern{p, destination, when})
			return
		}
		put(x.exact, path+when.suffix(), destination)
		if !when.empty() {
			put(x.loose, path, destination)
		}
	}
	for _, r := range redirects {
		source := redirect.Parse(r.Source)
		add(source.Path, conditionOf(source), r.Destination)
		if source.Optional {
			short, to := source.Short(r.Destination)
			add(short, condition{}, to)
		}
	}
}

// way follows redirects from a path of the site and returns the addresses that it
// passes, the last one where it ends. loop says that it never does; named, that
// no pattern had a part in it.
func (s *Site) way(path string) (passed []string, named, loop bool) {
	x := s.tables()
	seen := map[string]bool{path: true}
	named = true
	for range redirect.MaxHops {
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

// inside returns the path within the site that a redirect's destination names.
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
