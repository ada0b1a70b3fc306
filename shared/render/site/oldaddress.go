package site

import (
	"strings"

	"github.com/bindery-docs/bindery/shared/base/redirect"
)

// maxOldAddresses bounds the addresses that patterns are turned into.
const maxOldAddresses = 50_000

// OldAddresses are the addresses from which patterns among the redirects lead
// to pages of the bundle: for each page those that it must have had. They
// have no leading slash, and none is that of a page or a file. More says that
// there are too many, and the list is cut. The order depends on the site alone.
func (s *Site) OldAddresses() (addresses []string, more bool) {
	x := s.tables()
	back := s.inverse()
	if len(back.patterns) == 0 {
		return nil, false
	}
	limit := min(maxOldAddresses, 1000+4*len(s.Pages))
	tries := 8 * limit
	seen := make(map[string]bool)
	type step struct {
		address  string
		from, by int // the step before, and the pattern that led here
	}
	var queue []step
	push := func(address string) {
		if !seen[address] {
			seen[address] = true
			queue = append(queue, step{address, -1, -1})
		}
	}
	// No pattern is used twice on one way: "/v1/:rest*" to "/:rest*" would find
	// v1/v1/v1 without an end.
	used := func(at, by int) bool {
		for ; at >= 0; at = queue[at].from {
			if queue[at].by == by {
				return true
			}
		}
		return false
	}
	for i := range s.Pages {
		if !s.Pages[i].Excluded {
			push(s.Pages[i].CleanAddress())
		}
	}
	for _, r := range s.Redirects {
		source := redirect.Parse(r.Source)
		if _, wild := redirect.Compile(source.Path); !wild && conditionOf(source).empty() {
			push(source.Path)
		}
	}
	for at := 0; at < len(queue); at++ {
		for _, i := range back.candidates(queue[at].address) {
			if used(at, i) {
				continue
			}
			old, ok := back.patterns[i].match(queue[at].address)
			if old = strings.Trim(old, "/"); !ok || old == "" || seen[old] {
				continue
			}
			if tries--; tries < 0 || len(addresses) >= limit {
				return addresses, true
			}
			seen[old] = true
			var t Target
			if s.found(x, old, &t) {
				continue
			}
			// Another redirect may come first, and lead elsewhere.
			if t := s.Resolve(-1, "/"+escapePath(old)); t.Kind == ToPage {
				addresses = append(addresses, old)
				queue = append(queue, step{old, at, i})
			}
		}
	}
	return addresses, false
}

// inverse has the patterns turned round: from a page's address to the one that
// it must have had. Patterns that lose a part of the address can't be.
func (s *Site) inverse() (x patternIndex) {
	for _, r := range s.Redirects {
		source := redirect.Parse(r.Source)
		here, wild := redirect.Compile(source.Path)
		if !wild || !conditionOf(source).empty() || strings.Contains(source.Path, "(") {
			continue
		}
		destination, ok := s.inside(r.Destination)
		if !ok {
			continue
		}
		there, wild := redirect.Compile(destination)
		complete := wild
		for i, e := range here.Elements {
			if e.Name != "" && !captures(there, e.Name, i == here.Rest) {
				complete = false
			}
		}
		if complete {
			x.add(pattern{Pattern: there, destination: source.Path})
		}
	}
	return x
}

// captures reports whether a pattern has an element of this name that takes as
// much: any number, or one.
func captures(p redirect.Pattern, name string, rest bool) bool {
	for i, e := range p.Elements {
		if e.Name == name && (i == p.Rest) == rest {
			return true
		}
	}
	return false
}
