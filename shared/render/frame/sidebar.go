package frame

import (
	"cmp"
	"strings"
	"sync"

	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme"
)

// A sidebar of a small section holds all its entries. One of a large section
// shows an excerpt on each page: on every level some entries before and after
// the one that leads to the page. Only what can be shown is made, for the pages
// of one run together, so that a page costs the same in a section of a hundred
// pages and in one of a hundred thousand.
const (
	// sidebarRun is how many neighbours share an excerpt.
	sidebarRun = 40
	// sidebarMargin is how many entries an excerpt has on each side of its
	// run: as many as the theme shows of a level, for it fills one side with
	// what the other has not.
	sidebarMargin = 61
)

// outline is what a section's sidebar can show, in the navigation's order.
type outline struct {
	once    sync.Once
	entries []outlineEntry // each before its children; the first is the section
	places  map[int]int32  // page → its first entry
	links   int            // as the theme counts them
}

// outlineEntry is one group, page or link.
type outlineEntry struct {
	node    *site.Node
	parent  int32
	ordinal int32      // its place among its parent's children
	first   *site.Node // where it leads: itself, else the first in it that leads somewhere
	kids    []int32
}

// excerpt names the part of an outline that a page's sidebar shows: the run of
// the children of one entry, and on the levels above what surrounds the way
// there.
type excerpt struct{ parent, run int32 }

// whole is the excerpt of a section that is shown in full.
var whole = excerpt{parent: -1}

// outline returns a section's outline, which is made once.
func (v *Views) outline(section *site.Node) *outline {
	v.mu.Lock()
	o := v.outlines[section]
	if o == nil {
		o = new(outline)
		v.outlines[section] = o
	}
	v.mu.Unlock()
	o.once.Do(func() { v.readOutline(o, section) })
	return o
}

func (v *Views) readOutline(o *outline, section *site.Node) {
	o.places = make(map[int]int32)
	l := &linker{views: v}
	var add func(n *site.Node, parent, ordinal int32) bool
	kids := func(at int32, children []*site.Node) {
		for _, c := range children {
			n := int32(len(o.entries))
			if add(c, at, int32(len(o.entries[at].kids))) {
				o.entries[at].kids = append(o.entries[at].kids, n)
				o.entries[at].first = cmp.Or(o.entries[at].first, o.entries[n].first)
			}
		}
	}
	add = func(n *site.Node, parent, ordinal int32) bool {
		page, ok := v.shown(l, n)
		if !ok {
			return false
		}
		at := int32(len(o.entries))
		e := outlineEntry{node: n, parent: parent, ordinal: ordinal}
		if page >= 0 || n.Kind == site.KindLink {
			e.first = n
		}
		o.entries = append(o.entries, e)
		_, again := o.places[page]
		if page >= 0 && !again {
			o.places[page] = at
		}
		if n.Kind == site.KindGroup {
			if kids(at, n.Children); len(o.entries[at].kids) == 0 && page < 0 {
				o.entries = o.entries[:at]
				return false
			}
		}
		if page >= 0 || n.Kind == site.KindLink {
			o.links++
		}
		return true
	}
	o.entries = append(o.entries, outlineEntry{node: section, parent: -1})
	kids(0, section.Children)
}

// shown reports whether the sidebar has an entry for a node, and of which page;
// -1 for links, and for groups whose label leads nowhere: those are shown only
// when something in them is.
func (v *Views) shown(l *linker, n *site.Node) (page int, ok bool) {
	if n.Hidden {
		return -1, false
	}
	switch n.Kind {
	case site.KindGroup:
		if n.Root >= 0 && !v.site.Pages[n.Root].Excluded {
			return n.Root, true
		}
		return -1, true
	case site.KindPage:
		if n.Page < 0 || v.site.Pages[n.Page].Excluded || v.site.Pages[n.Page].Hidden {
			return -1, false
		}
		return n.Page, true
	case site.KindLink:
		return -1, l.href(n.Href) != ""
	}
	return -1, false // divisions are shown in the header
}

// cut reports whether the section is too large for pages to show all of it.
func (o *outline) cut() bool { return o.links > theme.DefaultMaxLinks }

// excerpt is the part of the outline that a page's sidebar shows.
func (o *outline) excerpt(page int) excerpt {
	if !o.cut() {
		return whole
	}
	at, ok := o.places[page]
	switch {
	case !ok:
		return excerpt{}
	case len(o.entries[at].kids) > 0: // a group's own page shows what is in the group
		return excerpt{parent: at}
	}
	return excerpt{parent: o.entries[at].parent, run: o.entries[at].ordinal / sidebarRun}
}

// sidebarItems makes the part of a section's sidebar that an excerpt names.
func (v *Views) sidebarItems(l *linker, o *outline, x excerpt) []theme.NavItem {
	if x == whole {
		return v.items(l, o, 0)
	}
	from := x.run * sidebarRun
	items := v.excerptLevel(l, o, x.parent, from, from+sidebarRun, -1, nil)
	for at := x.parent; at > 0; at = o.entries[at].parent {
		e := &o.entries[at]
		items = v.excerptLevel(l, o, e.parent, e.ordinal, e.ordinal+1, at, items)
	}
	return items
}

// sidebarView is a whole sidebar.
func (v *Views) sidebarView(l *linker, f *frame, o *outline, x excerpt) theme.SidebarView {
	view := theme.SidebarView{Anchors: f.anchors, Items: v.sidebarItems(l, o, x)}
	if x != whole {
		view.Listing = v.contentsLink(l, f.lang, o.entries[0].node)
		view.MaxLinks = 1 // of the excerpt too the theme shows only what is near the page
	}
	return view
}

// excerptLevel makes the children [from, to) of an entry with those around
// them. Groups have no more in them than the theme needs to lead there, but for
// open, if it is one of them, which gets the children given.
func (v *Views) excerptLevel(l *linker, o *outline, parent, from, to, open int32, children []theme.NavItem) []theme.NavItem {
	level := o.entries[parent].kids
	level = level[max(0, int(from)-sidebarMargin):min(len(level), int(to)+sidebarMargin)]
	items := make([]theme.NavItem, 0, len(level))
	for _, at := range level {
		e := &o.entries[at]
		item := v.item(l, e.node)
		switch {
		case at == open:
			item.Children = children
		case len(e.kids) > 0:
			// Two, so that no excerpt is too small for the theme to cut.
			href := v.itemHref(l, e.first)
			item.Children = []theme.NavItem{{Href: href, Key: -1}, {Href: href, Key: -1}}
		}
		items = append(items, item)
	}
	return items
}

// items makes all of an entry's children, and theirs.
func (v *Views) items(l *linker, o *outline, parent int32) []theme.NavItem {
	var items []theme.NavItem
	for _, at := range o.entries[parent].kids {
		item := v.item(l, o.entries[at].node)
		item.Children = v.items(l, o, at)
		items = append(items, item)
	}
	return items
}

// item makes a node's own entry, without what is below it.
func (v *Views) item(l *linker, n *site.Node) theme.NavItem {
	v.made.Add(1)
	item := theme.NavItem{Label: n.Label, Icon: l.icon(n.Icon), Tag: n.Tag, Key: -1, Expanded: n.Expanded}
	item.Href = v.itemHref(l, n)
	switch n.Kind {
	case site.KindGroup:
		if item.Href != "" {
			item.Key = n.Root
		}
	case site.KindPage:
		p := &v.site.Pages[n.Page]
		item.Key, item.Deprecated = n.Page, p.Deprecated
		item.Label = cmp.Or(item.Label, p.Name())
		item.Icon = cmp.Or(item.Icon, l.icon(p.Icon))
		item.Tag = cmp.Or(item.Tag, p.Tag)
		item.Method = method(cmp.Or(p.OpenAPI, p.API))
		item.External = p.URL != "" && strings.Contains(item.Href, "://")
	case site.KindLink:
		item.External = strings.Contains(item.Href, "://")
	}
	return item
}

// itemHref is where a node's own entry leads; empty where it is only a label.
func (v *Views) itemHref(l *linker, n *site.Node) string {
	switch n.Kind {
	case site.KindGroup:
		if n.Root >= 0 && !v.site.Pages[n.Root].Excluded {
			return l.path(v.site.Pages[n.Root].Output)
		}
	case site.KindPage:
		p := &v.site.Pages[n.Page]
		if p.URL != "" {
			if href := l.href(p.URL); href != "" {
				return href
			}
		}
		return l.path(p.Output)
	case site.KindLink:
		return l.href(n.Href)
	}
	return ""
}

// method finds the HTTP method in the operation that a page documents, such as
// "POST /v1/jobs" or "openapi.json POST /v1/jobs".
func method(operation string) string {
	for f := range strings.FieldsSeq(operation) {
		switch m := strings.ToUpper(f); m {
		case "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "WEBHOOK":
			return m
		}
	}
	return ""
}
