package site

import (
	"path"
	"strings"
)

// twinSet are the pages of a version, a language or a product by what their
// addresses have in common with those of its siblings.
type twinSet struct {
	kind NodeKind
	// mark is the element that all addresses have and those of the siblings
	// have not, such as "fr" or "v2"; empty for one without.
	mark string
	// byKey finds pages by their address without the mark; byName by the
	// file's name alone, -1 where several have it.
	byKey, byName map[string]int
}

// Counterpart is the page in other that says the same as a page in own, or -1.
// Both are siblings of one kind: versions, languages or products. It is the one
// whose address differs only in the element that distinguishes the two; among
// versions and languages also the one whose file has the same name, if no
// other one has.
func (s *Site) Counterpart(page int, own, other *Node) int {
	x := s.tables()
	x.twinsOnce.Do(func() { s.buildTwins(x) })
	from, to := x.twins[own], x.twins[other]
	if from == nil || to == nil || from.kind != to.kind || from == to {
		return -1
	}
	address := s.Pages[page].Address
	if i, ok := to.byKey[withoutElement(address, from.mark)]; ok {
		return i
	}
	if from.kind == KindProduct {
		return -1
	}
	name := path.Base(address)
	if i, ok := from.byName[name]; !ok || i != page {
		return -1
	}
	if i, ok := to.byName[name]; ok {
		return i
	}
	return -1
}

// buildTwins fills the tables of all divisions that have siblings. Each page
// counts in the divisions on its own way alone: a page that stands in two
// versions is shown in the first, so that it is not a counterpart in the second.
func (s *Site) buildTwins(x *index) {
	x.twins = make(map[*Node]*twinSet)
	pages := make(map[*Node][]int)
	for i := range s.Pages {
		p := &s.Pages[i]
		if p.Excluded || p.URL != "" {
			continue
		}
		for n := s.Near(i); n != nil; n = x.parents[n] {
			if n.Kind == KindVersion || n.Kind == KindLanguage || n.Kind == KindProduct {
				pages[n] = append(pages[n], i)
			}
		}
	}
	var walk func(n *Node)
	walk = func(n *Node) {
		for _, kind := range [...]NodeKind{KindVersion, KindLanguage, KindProduct} {
			var siblings []*Node
			for _, c := range n.Children {
				if c.Kind == kind {
					siblings = append(siblings, c)
				}
			}
			if len(siblings) > 1 {
				s.compare(x, siblings, pages)
			}
		}
		for _, c := range n.Children {
			if c.Kind.Division() {
				walk(c)
			}
		}
	}
	walk(s.Nav)
}

// compare finds the marks of siblings and files their pages.
func (s *Site) compare(x *index, siblings []*Node, pages map[*Node][]int) {
	counts := make([]map[string]int, len(siblings))
	others := make(map[string]int) // element → siblings where it is common
	common := func(n, of int) bool { return 10*n > of }
	for i, n := range siblings {
		counts[i] = make(map[string]int)
		for _, p := range pages[n] {
			for _, e := range folders(s.Pages[p].Address) {
				counts[i][e]++
			}
		}
		for e, count := range counts[i] {
			if common(count, len(pages[n])) {
				others[e]++
			}
		}
	}
	for i, n := range siblings {
		set := &twinSet{kind: n.Kind, byKey: make(map[string]int), byName: make(map[string]int)}
		best := 0
		for e, count := range counts[i] {
			if 2*count < len(pages[n]) || others[e] > 1 {
				continue
			}
			if named(n.Label, e) {
				count += len(pages[n]) // what the label says goes before what only occurs
			}
			if count > best || count == best && e < set.mark {
				best, set.mark = count, e
			}
		}
		for _, p := range pages[n] {
			address := s.Pages[p].Address
			key := withoutElement(address, set.mark)
			if _, taken := set.byKey[key]; !taken {
				set.byKey[key] = p
			}
			name := path.Base(address)
			if _, twice := set.byName[name]; twice {
				set.byName[name] = -1
			} else {
				set.byName[name] = p
			}
		}
		x.twins[n] = set
	}
}

// folders are the elements of an address without the last one, each once.
func folders(address string) (out []string) {
	elements := strings.Split(address, "/")
next:
	for _, e := range elements[:len(elements)-1] {
		for _, o := range out {
			if o == e {
				continue next
			}
		}
		out = append(out, e)
	}
	return out
}

// named reports whether a division's label, or a word of it, is an element of
// addresses: "Version 2.1" and "v2.1", "fr" and "fr".
func named(label, element string) bool {
	element = strings.ToLower(element)
	for w := range strings.FieldsSeq(strings.ToLower(label)) {
		w = strings.Trim(w, "()[],;")
		if w == element || "v"+w == element || w == "v"+element {
			return true
		}
	}
	return false
}

// withoutElement takes the first element of this name out of an address.
func withoutElement(address, element string) string {
	if element == "" {
		return address
	}
	for at := 0; at < len(address); {
		end := strings.IndexByte(address[at:], '/')
		if end < 0 {
			break // the last element is the page's own
		}
		if address[at:at+end] == element {
			return address[:at] + address[at+end+1:]
		}
		at += end + 1
	}
	return address
}
