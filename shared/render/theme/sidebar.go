package theme

import (
	"bytes"
	"cmp"
	"strconv"

	"github.com/bindery-docs/bindery/shared/base/html"
)

// SidebarView is the navigation of one section of a site as seen from one
// depth of folder: because every Href begins with the same way to the root, one
// Sidebar serves all pages of that section and depth.
type SidebarView struct {
	// Anchors stand above the tree with an icon each.
	Anchors []Anchor
	Items   []NavItem
	// MaxLinks is the number of links up to which every page carries the
	// whole tree. In larger sections a page carries its own branch only, and
	// the other groups are links to their first page; otherwise the bytes
	// of a section would grow with the square of its pages. 0 means
	// DefaultMaxLinks.
	MaxLinks int
	// Listing leads to the page that lists the whole section. Only sidebars
	// that are cut show it; nil for none.
	Listing *Link
}

// DefaultMaxLinks is how many links a sidebar shows in full: more than
// hand-written sections have, and about 30 kB of HTML.
const DefaultMaxLinks = 300

// Anchor is a link above the tree; Current marks the section that the page is
// in.
type Anchor struct {
	Label, Href, Icon string
	Current           bool
	// ColorLight and ColorDark are the icon's own colours, as CSS hex values;
	// empty for the theme's.
	ColorLight, ColorDark string
}

// NavItem is a page, a link to elsewhere, or a group of those.
type NavItem struct {
	Label, Icon, Tag string
	// Href is the target; a group may have one (its root page) or not.
	Href string
	// Key identifies the page for View.CurrentKey; -1 for an entry without a page.
	Key int
	// Expanded opens a nested group although the current page is not in it.
	Expanded bool
	// External marks links that leave the site.
	External   bool
	Deprecated bool
	Method     string // HTTP method of an API page, shown as a badge
	Children   []NavItem
}

// Sidebar is a rendered SidebarView. It is immutable and safe for concurrent
// use. Build it with Theme.Sidebar.
type Sidebar struct {
	html  []byte
	nodes []navNode
	byKey map[int]int // NavItem.Key → index in nodes, first occurrence
	top   []int       // the first level
	head  []byte      // the anchors
	// branch says that pages carry only their own branch.
	branch  bool
	listing *Link
}

// navNode is where one item stands in Sidebar.html.
type navNode struct {
	start, end int // the item's whole <li>
	mark       int // where ` aria-current="page"` goes, 0 if no link
	open       int // where ` open` goes in <details>, 0 if none; after mark
	inner      int // where the children's list content begins
	innerEnd   int
	parent     int // -1 at the top
	kids       []int
	ordinal    int // place among the siblings
	href       string
	label      string
}

// branchWindow is how many entries of a level a page of a large section shows
// at most: its ancestor there in their middle, or the first or last of them all.
// More would make pages of very large sites heavier than those of large ones;
// the section's listing has the rest.
const branchWindow = 61

const currentMark = ` aria-current="page"`

// Sidebar renders the navigation once; Document then marks a page in it by
// copying around known offsets.
func (t *Theme) Sidebar(v SidebarView) *Sidebar {
	s := &Sidebar{byKey: map[int]int{}}
	if len(v.Anchors) > 0 {
		b := append(s.head, `<ul class="nav-anchors bdy-nav-anchors">`...)
		for _, a := range v.Anchors {
			b = append(b, `<li><a class="nav-anchor"`...)
			b = appendIf(b, a.Current, ` aria-current="true"`)
			b = appendHref(b, a.Href)
			b = append(b, `><span class="bdy-nav-anchor-icon">`...)
			b = t.appendColoredIcon(b, &a)
			b = appendText(b, `</span>`, a.Label, `</a></li>`)
		}
		s.head = append(b, `</ul>`...)
	}
	links := 0
	s.top = t.sidebarLevel(s, v.Items, -1, 0, &links)
	limit := v.MaxLinks
	if limit <= 0 {
		limit = DefaultMaxLinks
	}
	if s.branch = links > limit; s.branch {
		s.listing = v.Listing
	}
	return s
}

// appendColoredIcon writes an anchor's icon, once for each appearance where it
// has colours of its own. A colour is an attribute of the drawing: no style.
func (t *Theme) appendColoredIcon(dst []byte, a *Anchor) []byte {
	light, dark := a.ColorLight, a.ColorDark
	light = cmp.Or(light, dark)
	dark = cmp.Or(dark, light)
	l, okLight := parseHex(light)
	d, okDark := parseHex(dark)
	icon := t.appendIcon(nil, a.Icon)
	drawing, isSVG := bytes.CutPrefix(icon, []byte("<svg"))
	if !okLight || !okDark || !isSVG {
		return append(dst, icon...)
	}
	one := func(class string, c rgb) {
		dst = append(dst, `<span class="`+class+`"><svg color="`+c.String()+`"`...)
		dst = append(dst, drawing...)
		dst = append(dst, `</span>`...)
	}
	if l == d {
		one("bdy-own-color", l)
		return dst
	}
	one("bdy-own-color only-light", l)
	one("bdy-own-color only-dark", d)
	return dst
}

// sidebarLevel appends the items of one level and returns their indices.
func (t *Theme) sidebarLevel(s *Sidebar, items []NavItem, parent, depth int, links *int) []int {
	level := make([]int, 0, len(items))
	for i := range items {
		it := &items[i]
		n := len(s.nodes)
		s.nodes = append(s.nodes, navNode{
			start: len(s.html), parent: parent, ordinal: i,
			href: firstHref(it), label: it.Label,
		})
		level = append(level, n)
		if it.Key >= 0 && it.Href != "" {
			if _, dup := s.byKey[it.Key]; !dup {
				s.byKey[it.Key] = n
			}
		}
		switch {
		case len(it.Children) == 0:
			*links++
			s.html = append(s.html, `<li>`...)
			t.navLink(s, n, it)
			s.html = append(s.html, `</li>`...)
		case depth == 0:
			s.html = append(s.html, `<li class="bdy-nav-section"><p class="bdy-nav-title sidebar-group-header sidebar-title">`...)
			if it.Href != "" {
				*links++
				t.navLink(s, n, it)
			} else {
				t.navLabel(s, it)
			}
			s.html = append(s.html, `</p><ul class="sidebar-group">`...)
			t.navChildren(s, n, it, depth, links)
			s.html = append(s.html, `</ul></li>`...)
		default:
			// A group with a page is two controls: a link, and what opens beside it.
			link := t.groupLink(it)
			if link.Href != "" {
				*links++
				s.html = append(s.html, `<li class="bdy-nav-pair">`...)
				t.navLink(s, n, link)
			} else {
				s.html = append(s.html, `<li>`...)
			}
			s.html = append(s.html, `<details`...)
			if it.Expanded {
				s.html = append(s.html, ` open`...)
			} else {
				s.nodes[n].open = len(s.html)
			}
			if link.Href != "" {
				s.html = appendLabel(s.html, `><summary`, it.Label, `>`)
			} else {
				s.html = append(s.html, `><summary>`...)
				t.navLabel(s, it)
			}
			s.html = append(s.html, `</summary><ul>`...)
			t.navChildren(s, n, it, depth, links)
			s.html = append(s.html, `</ul></details></li>`...)
		}
		s.nodes[n].end = len(s.html)
	}
	return level
}

// groupLink is a nested group as a link: to its own page, or to its first one
// where the site wants a group to lead there.
func (t *Theme) groupLink(it *NavItem) *NavItem {
	if it.Href != "" || t.cfg.Drilldown == nil || !*t.cfg.Drilldown {
		return it
	}
	link := *it
	link.Href = firstHref(it)
	return &link
}

func (t *Theme) navChildren(s *Sidebar, n int, it *NavItem, depth int, links *int) {
	s.nodes[n].inner = len(s.html)
	kids := t.sidebarLevel(s, it.Children, n, depth+1, links)
	s.nodes[n].kids = kids
	s.nodes[n].innerEnd = len(s.html)
}

func (t *Theme) navLink(s *Sidebar, n int, it *NavItem) {
	s.html = append(s.html, `<a`...)
	s.nodes[n].mark = len(s.html)
	s.html = appendHref(s.html, it.Href)
	s.html = appendIf(s.html, it.External, ` rel="noopener" target="_blank"`)
	s.html = append(s.html, '>')
	t.navLabel(s, it)
	s.html = appendIf(s.html, it.External, uiExternal)
	s.html = append(s.html, `</a>`...)
}

func (t *Theme) navLabel(s *Sidebar, it *NavItem) { s.html = t.appendNavLabel(s.html, it) }

// appendNavLabel writes an item's icon, method, name and tag.
func (t *Theme) appendNavLabel(dst []byte, it *NavItem) []byte {
	dst = t.appendIcon(dst, it.Icon)
	if it.Method != "" {
		dst = append(dst, `<span class="bdy-method method-nav-pill" data-bindery-method="`...)
		dst = html.AppendValue(dst, it.Method)
		dst = appendText(dst, `">`, it.Method, `</span>`)
	}
	if it.Deprecated {
		dst = append(dst, `<span class="bdy-nav-deprecated">`...)
	} else {
		dst = append(dst, `<span>`...)
	}
	dst = html.AppendText(dst, it.Label)
	dst = append(dst, `</span>`...)
	if it.Tag != "" {
		dst = appendText(dst, `<span class="bdy-tag nav-tag-pill nav-tag-pill-text">`, it.Tag, `</span>`)
	}
	return dst
}

// firstHref is where a group leads when it is shown as one link.
func firstHref(it *NavItem) string {
	if it.Href != "" {
		return it.Href
	}
	for i := range it.Children {
		if h := firstHref(&it.Children[i]); h != "" {
			return h
		}
	}
	return ""
}

// append writes the sidebar's content with the page of this key marked.
func (s *Sidebar) append(dst []byte, v *View) []byte {
	key := v.CurrentKey
	dst = append(dst, s.head...)
	dst = appendPagesLink(dst, s.listing, key == ListingKey)
	if len(s.top) == 0 {
		return dst
	}
	cur, ok := s.byKey[key]
	if !ok {
		cur = -1
	}
	dst = append(v.id(append(dst, `<ul`...), "navigation-items"), ` class="bdy-nav">`...)
	if s.branch {
		dst = s.appendBranch(dst, cur)
	} else {
		dst = s.appendWhole(dst, cur)
	}
	return append(dst, `</ul>`...)
}

// path appends n and its ancestors, the outermost last.
func (s *Sidebar) path(dst []int, n int) []int {
	for ; n >= 0; n = s.nodes[n].parent {
		dst = append(dst, n)
	}
	return dst
}

// appendWhole copies the tree around the offsets that change: the ancestors'
// <details>, the page's link, and its own <details>, which stand in this order in
// the text.
func (s *Sidebar) appendWhole(dst []byte, cur int) []byte {
	if cur < 0 {
		return append(dst, s.html...)
	}
	var room [16]int
	path := s.path(room[:0], cur)
	at := 0
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == cur {
			dst = append(dst, s.html[at:s.nodes[cur].start]...)
			dst, at = s.appendCurrent(dst, cur), s.nodes[cur].mark
		}
		if o := s.nodes[path[i]].open; o > 0 {
			dst = append(dst, s.html[at:o]...)
			dst = append(dst, ` open`...)
			at = o
		}
	}
	return append(dst, s.html[at:]...)
}

// appendCurrent writes the item of the page up to its link's attributes: what the
// theme's styles go by is at the link, what the source language's do at the item.
func (s *Sidebar) appendCurrent(dst []byte, n int) []byte {
	const item = `<li`
	nd := &s.nodes[n]
	dst = append(dst, item+` data-active`...)
	dst = append(dst, s.html[nd.start+len(item):nd.mark]...)
	return append(dst, currentMark...)
}

// appendBranch writes, level by level, the siblings near the page's ancestors;
// groups off the branch are links to their first page.
func (s *Sidebar) appendBranch(dst []byte, cur int) []byte {
	var room [16]int
	path := s.path(room[:0], cur)
	return s.appendBranchLevel(dst, s.top, path)
}

// appendBranchLevel writes one level; path ends with the ancestor on this
// level, or is empty when the page is above it.
func (s *Sidebar) appendBranchLevel(dst []byte, level, path []int) []byte {
	on, ordinal := -1, 0
	if len(path) > 0 {
		on = path[len(path)-1]
		ordinal = s.nodes[on].ordinal
	}
	from := max(0, min(ordinal-branchWindow/2, len(level)-branchWindow))
	to := min(len(level), from+branchWindow)
	if from > 0 {
		dst = s.appendMore(dst, level[from-1], "↑")
	}
	for _, n := range level[from:to] {
		nd := &s.nodes[n]
		switch {
		case n == on && len(nd.kids) > 0:
			at := nd.start
			if len(path) == 1 && nd.mark > 0 {
				dst, at = s.appendCurrent(dst, n), nd.mark
			}
			if nd.open > 0 {
				dst = append(dst, s.html[at:nd.open]...)
				dst = append(dst, ` open`...)
				at = nd.open
			}
			dst = append(dst, s.html[at:nd.inner]...)
			dst = s.appendBranchLevel(dst, nd.kids, path[:len(path)-1])
			dst = append(dst, s.html[nd.innerEnd:nd.end]...)
		case n == on:
			dst = s.appendCurrent(dst, n)
			dst = append(dst, s.html[nd.mark:nd.end]...)
		case len(nd.kids) > 0:
			if nd.href == "" {
				continue
			}
			dst = appendHref(append(dst, `<li class="bdy-nav-branch"><a`...), nd.href)
			dst = append(dst, `><span>`...)
			dst = html.AppendText(dst, nd.label)
			// The style sheet draws the arrow: there are many of these.
			dst = append(dst, `</span></a></li>`...)
		default:
			dst = append(dst, s.html[nd.start:nd.end]...)
		}
	}
	if to < len(level) {
		dst = s.appendMore(dst, level[to], "↓")
	}
	return dst
}

// appendMore writes the link that goes on where the window of a long level
// ends.
func (s *Sidebar) appendMore(dst []byte, n int, arrow string) []byte {
	nd := &s.nodes[n]
	if nd.href == "" {
		return dst
	}
	dst = appendHref(append(dst, `<li class="bdy-nav-more"><a`...), nd.href)
	dst = append(dst, `><span aria-hidden="true">`...)
	dst = append(dst, arrow...)
	return appendText(dst, ` </span><span>`, nd.label, ` …</span></a></li>`)
}

// Len is the number of bytes of the whole tree, for callers that keep many
// sidebars and bound them.
func (s *Sidebar) Len() int { return len(s.html) + len(s.head) }

// String is for logs and debuggers.
func (s *Sidebar) String() string {
	return "sidebar of " + strconv.Itoa(len(s.nodes)) + " items"
}
