package site

import (
	"path"
	"slices"
)

// buildTree fills the tables that say where pages stand in the navigation.
func (s *Site) buildTree(x *index) {
	n := len(s.Pages)
	x.trails, x.sections = make([][]*Node, n), make([]*Node, n)
	x.next, x.prev = make([]int32, n), make([]int32, n)
	for i := range n {
		x.next[i], x.prev[i] = -1, -1
	}
	x.first = make(map[*Node]int)
	x.parents = make(map[*Node]*Node)
	x.near = make(map[string]*Node)
	if s.Nav == nil {
		s.Nav = &Node{Kind: KindRoot, Page: -1, Root: -1}
	}
	last := make(map[*Node]int32) // per section: the page before
	var walk func(node *Node, trail []*Node, section *Node, hidden bool) int
	walk = func(node *Node, trail []*Node, section *Node, hidden bool) int {
		first := -1
		visit := func(p int) {
			if p < 0 || p >= n || s.Pages[p].Excluded {
				return
			}
			if first < 0 && s.Pages[p].URL == "" {
				first = p
			}
			if x.sections[p] != nil {
				return // the first place counts
			}
			x.trails[p], x.sections[p] = trail, section
			for dir := path.Dir(s.Pages[p].Address); dir != "." && x.near[dir] == nil; dir = path.Dir(dir) {
				x.near[dir] = section
			}
			if s.Pages[p].Hidden || hidden || s.Pages[p].URL != "" {
				return
			}
			if before, ok := last[section]; ok {
				x.next[before], x.prev[p] = int32(p), before
			}
			last[section] = int32(p)
		}
		if node.Kind == KindPage {
			visit(node.Page)
			return first
		}
		if node.Kind != KindRoot {
			trail = append(trail[:len(trail):len(trail)], node)
			hidden = hidden || node.Hidden
		}
		if node.Kind.Division() {
			section = node
		}
		visit(node.Root)
		for _, c := range node.Children {
			x.parents[c] = node
			if f := walk(c, trail, section, hidden); first < 0 {
				first = f
			}
		}
		x.first[node] = first
		return first
	}
	walk(s.Nav, nil, s.Nav, false)
	for _, g := range s.Global {
		walk(g, nil, g, false)
	}
	x.entries = make(map[*Node]int)
	for node, first := range x.first {
		if node.Kind.Division() {
			if x.entries[node] = s.defaultFirst(node); x.entries[node] < 0 {
				x.entries[node] = first
			}
		}
	}
}

// Trail is the way from the outermost division down to the group that holds
// the page, without the page itself. Nil for pages outside the navigation; a
// page that stands in several places has the first. Callers must not change it.
func (s *Site) Trail(page int) []*Node { return s.tables().trails[page] }

// Section is the innermost division that holds the page (the root where there
// are not divisions): its groups are what a sidebar shows. Nil for pages
// outside the navigation.
func (s *Site) Section(page int) *Node { return s.tables().sections[page] }

// Near is the section that a page shows beside it: its own, or for a page
// outside the navigation that of the first page in the nearest folder. Nil
// where no folder above has pages of the navigation.
func (s *Site) Near(page int) *Node {
	x := s.tables()
	if section := x.sections[page]; section != nil {
		return section
	}
	for dir := path.Dir(s.Pages[page].Address); dir != "."; dir = path.Dir(dir) {
		if section := x.near[dir]; section != nil {
			return section
		}
	}
	return nil
}

// Next is the page that follows in the same section, or -1.
func (s *Site) Next(page int) int { return int(s.tables().next[page]) }

// Prev is the page before in the same section, or -1.
func (s *Site) Prev(page int) int { return int(s.tables().prev[page]) }

// First is the first page of the bundle under a node (pages that only lead
// elsewhere aside), or -1.
func (s *Site) First(node *Node) int {
	if node.Kind == KindPage {
		return node.Page
	}
	if f, ok := s.tables().first[node]; ok {
		return f
	}
	return -1
}

// Parent is the node above, or nil for the root and what is not in the tree.
func (s *Site) Parent(node *Node) *Node { return s.tables().parents[node] }

// Language is the label of the innermost language that holds a node of the
// tree; empty for a node in none, and for nil.
func (s *Site) Language(node *Node) string {
	for ; node != nil; node = s.Parent(node) {
		if node.Kind == KindLanguage {
			return node.Label
		}
	}
	return ""
}

// Home is the page that a reader sees first: the root's index, else the page
// that a redirect from the root leads to, else the first of the navigation
// (of its default divisions), else the first of all. -1 for a site without pages.
func (s *Site) Home() int {
	if i, ok := s.Lookup(""); ok && !s.Pages[i].Excluded {
		return i
	}
	if t := s.Resolve(-1, "/"); t.Kind == ToPage {
		return t.Page
	}
	if i := s.defaultFirst(s.Nav); i >= 0 {
		return i
	}
	for i := range s.Pages {
		if !s.Pages[i].Excluded && !s.Pages[i].Hidden {
			return i
		}
	}
	for i := range s.Pages {
		if !s.Pages[i].Excluded {
			return i
		}
	}
	return -1
}

// AtRoot returns the site as it is for the document at the root of a bundle that
// has no page there: the page that readers see first, which it returns too, lies
// at index.html and names its own address as the canonical one. It reports false
// where a page is at the root, and where a redirect leads readers elsewhere.
func (s *Site) AtRoot() (*Site, int, bool) {
	home := s.Home()
	if home < 0 || s.Pages[home].Output == "index.html" || s.Pages[home].URL != "" {
		return nil, -1, false
	}
	if t := s.Resolve(-1, "/"); t.Kind == External || t.Kind == ToFile && t.Path != "index.html" {
		return nil, -1, false
	}
	at := &Site{
		Domain: s.Domain, Base: s.Base, Prefixes: s.Prefixes, ConfigFile: s.ConfigFile, Config: s.Config, Pages: slices.Clone(s.Pages), Nav: s.Nav, Global: s.Global,
		Redirects: s.Redirects, Files: s.Files, Renamed: s.Renamed, LeftOut: s.LeftOut, Withheld: s.Withheld, GoneRedirects: s.GoneRedirects, Concealed: s.Concealed, Styles: s.Styles, Scripts: s.Scripts, Outside: s.Outside, Remote: s.Remote,
	}
	at.Pages[home].Output = "index.html"
	return at, home, true
}

// DefaultSection is the section of the page that a reader sees first: what
// pages outside the navigation show beside them.
func (s *Site) DefaultSection() *Node {
	if h := s.Home(); h >= 0 {
		if sec := s.Section(h); sec != nil {
			return sec
		}
	}
	if i := s.defaultFirst(s.Nav); i >= 0 {
		return s.Section(i)
	}
	return s.Nav
}

// defaultFirst is First, but goes into a division marked as default before
// the others.
func (s *Site) defaultFirst(node *Node) int {
	for _, c := range node.Children {
		if c.Default && !c.Hidden {
			if i := s.defaultFirst(c); i >= 0 {
				return i
			}
		}
	}
	if node.Kind == KindPage {
		if p := node.Page; p >= 0 && !s.Pages[p].Excluded && !s.Pages[p].Hidden && s.Pages[p].URL == "" {
			return p
		}
		return -1
	}
	if node.Root >= 0 && !s.Pages[node.Root].Excluded {
		return node.Root
	}
	for _, c := range node.Children {
		if c.Hidden {
			continue
		}
		if i := s.defaultFirst(c); i >= 0 {
			return i
		}
	}
	return -1
}

// shown adds the pages that the navigation names outside of what it hides. A
// hidden version or language is out of the menus alone: its pages are meant to be
// found.
func (n *Node) shown(pages map[int]bool) {
	if n.Hidden && n.Kind != KindVersion && n.Kind != KindLanguage {
		return
	}
	if n.Kind == KindPage && n.Page >= 0 {
		pages[n.Page] = true
	}
	if n.Root >= 0 {
		pages[n.Root] = true
	}
	for _, c := range n.Children {
		c.shown(pages)
	}
}

// Secondary reports whether a version or language is not the one that readers see
// first of those beside it, which are the children of parent.
func (s *Site) Secondary(parent, n *Node) bool {
	if n.Kind != KindVersion && n.Kind != KindLanguage {
		return false
	}
	var main *Node
	for _, c := range parent.Children {
		if c.Kind != n.Kind || c.Hidden || s.First(c) < 0 {
			continue
		}
		if main == nil || c.Default && !main.Default {
			main = c
		}
	}
	return main != nil && n != main
}

// Entry is the page that a division leads to: the first of its default
// divisions that can be seen, else First. -1 for a division without pages.
func (s *Site) Entry(node *Node) int {
	if i, ok := s.tables().entries[node]; ok {
		return i
	}
	if i := s.defaultFirst(node); i >= 0 {
		return i
	}
	return s.First(node)
}
