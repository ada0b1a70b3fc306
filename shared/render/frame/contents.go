package frame

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme"
)

// A section whose sidebar shows an excerpt has a contents page, which lists all
// of it: every group and page with its description. A long one is cut into
// parts. Contents pages lie in a folder whose name no file of a site has, so
// that none stands in another's place. They are for readers: search engines
// and language models have sitemap.xml and llms.txt.

const (
	// contentsFolder is where contents pages lie, and contentsDepth how deep.
	contentsFolder = "bindery/contents/"
	contentsDepth  = 2
	// contentsPart is how many entries one page lists at most: some 200 kB of
	// HTML.
	contentsPart = 1000
	// contentsHeadings is up to how many groups a page has "On this page": past
	// that it would only say everything twice.
	contentsHeadings = 100
)

// contentsNames names the contents page of each section, whether it needs one
// or not, without the extension; and returns the sections in the navigation's
// order. Names follow from labels: a slug, and a number where several are alike.
func contentsNames(s *site.Site) (sections []*site.Node, names map[*site.Node]string) {
	names = make(map[*site.Node]string)
	used := make(map[string]int)
	add := func(n *site.Node) {
		if _, again := names[n]; again {
			return
		}
		name := slug(sectionName(s, n))
		if used[name]++; used[name] > 1 {
			name += "_" + strconv.Itoa(used[name]) // no slug has an underscore
		}
		sections, names[n] = append(sections, n), name
	}
	var walk func(n *site.Node)
	walk = func(n *site.Node) {
		if n.Kind.Division() {
			add(n)
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	add(s.Nav)
	walk(s.Nav)
	for _, g := range s.Global {
		add(g)
		walk(g)
	}
	return sections, names
}

// contentsFile is the file of a part of a section's contents, counted from 0;
// empty for a node that is not a section.
func (v *Views) contentsFile(section *site.Node, part int) string {
	name, ok := v.contents[section]
	switch {
	case !ok:
		return ""
	case part > 0:
		name += "_part" + strconv.Itoa(part+1)
	}
	return contentsFolder + name + ".html"
}

// contentsLink leads from a sidebar to its section's contents.
func (v *Views) contentsLink(l *linker, lang string, section *site.Node) *theme.Link {
	file := v.contentsFile(section, 0)
	if file == "" {
		return nil
	}
	return &theme.Link{Label: v.contentsTitle(lang, section), Href: l.path(file)}
}

// contentsTitle names a section's contents. Versions and languages do not
// name their pages: a reader sees one of them only.
func (v *Views) contentsTitle(lang string, section *site.Node) string {
	name := strings.TrimSpace(section.Label)
	switch section.Kind {
	case site.KindRoot, site.KindVersion, site.KindLanguage:
		name = ""
	}
	return v.theme.AllPages(lang, name)
}

func (o *ownFiles) contentsPages() {
	v := o.views
	for _, section := range v.sections {
		outline := v.outline(section)
		if !outline.cut() {
			continue
		}
		parts := outline.parts()
		var doc []byte
		for i := range parts {
			if o.err != nil {
				return
			}
			doc = v.contentsPage(doc[:0], section, outline, parts, i)
			o.put(v.contentsFile(section, i), doc)
		}
	}
}

// span is a run of an outline's entries.
type span struct{ from, to int32 } // to is after the last

// parts cuts an outline's entries into those of single pages: at the beginning
// of an outermost group or page where there is one in a page's second half.
func (o *outline) parts() (parts []span) {
	n := int32(len(o.entries))
	top := o.entries[0].kids
	for from := int32(1); from < n; {
		to := min(from+contentsPart, n)
		if to < n {
			i := sort.Search(len(top), func(i int) bool { return top[i] > to })
			if i > 0 && top[i-1] > from+contentsPart/2 {
				to = top[i-1]
			}
			for to > from+1 && len(o.entries[to-1].kids) > 0 {
				to-- // a group's label stands where its pages begin
			}
		}
		parts = append(parts, span{from, to})
		from = to
	}
	return parts
}

// within returns those of an entry's children that lie in a span, or have
// something below them that does.
func (o *outline) within(at int32, s span) []int32 {
	kids := o.entries[at].kids
	// The last that begins before the span may reach into it.
	from := max(0, sort.Search(len(kids), func(i int) bool { return kids[i] > s.from })-1)
	to := sort.Search(len(kids), func(i int) bool { return kids[i] >= s.to })
	if from < to && kids[from] < s.from && o.end(kids[from]) <= s.from {
		from++
	}
	return kids[min(from, to):to]
}

// end is the entry after the last one below an entry.
func (o *outline) end(at int32) int32 {
	for len(o.entries[at].kids) > 0 {
		at = o.entries[at].kids[len(o.entries[at].kids)-1]
	}
	return at + 1
}

// listing makes what a part lists below an entry. Groups that began on an
// earlier page are named again.
func (v *Views) listing(l *linker, o *outline, at int32, s span) []theme.ListEntry {
	kids := o.within(at, s)
	list := make([]theme.ListEntry, 0, len(kids))
	for _, k := range kids {
		n := o.entries[k].node
		e := theme.ListEntry{Item: v.item(l, n), Continued: k < s.from}
		if !e.Continued {
			e.Description = mdx.InlineText(v.description(n))
		}
		if len(o.entries[k].kids) > 0 {
			e.Children = v.listing(l, o, k, s)
		}
		list = append(list, e)
	}
	return list
}

// description is what a node says of itself, or the page that it leads to.
func (v *Views) description(n *site.Node) string {
	at := n.Page
	if n.Kind == site.KindGroup {
		at = n.Root
	}
	if n.Description != "" || at < 0 {
		return n.Description
	}
	return v.site.Pages[at].Description
}

// label is what the sidebar calls an outline's entry.
func (v *Views) label(o *outline, at int32) string {
	n := o.entries[at].node
	if n.Label == "" && n.Kind == site.KindPage {
		return v.site.Pages[n.Page].Name()
	}
	return n.Label
}

// contentsPage appends the document of one part of a section's contents.
func (v *Views) contentsPage(dst []byte, section *site.Node, o *outline, parts []span, part int) []byte {
	f := v.frame(section, contentsDepth)
	l := &linker{views: v, root: f.root}
	file := v.contentsFile(section, part)
	title := v.contentsTitle(f.lang, section)
	link := func(to int) *theme.Link {
		if to < 0 || to >= len(parts) {
			return nil
		}
		first, last := v.label(o, parts[to].from), v.label(o, parts[to].to-1)
		return &theme.Link{Label: first + " – " + last, Href: site.Rel(file, v.contentsFile(section, to))}
	}
	view := theme.View{
		Lang: f.lang, Title: title, NoIndex: true, Root: f.root, Home: f.home, Banner: f.banner, Header: f.header,
		Sidebar: v.sidebar(f, section, contentsDepth, -1), CurrentKey: theme.ListingKey, Footer: f.footer,
		Styles: f.stylesFor(&page.Result{}), Scripts: f.scriptsFor(&page.Result{}), Prev: link(part - 1), Next: link(part + 1),
	}
	var body []byte
	if len(parts) > 1 {
		view.Title = fmt.Sprintf("%s (%d/%d)", title, part+1, len(parts))
		if part == 0 {
			list := make([]theme.ListEntry, len(parts))
			for i := range parts {
				to := link(i)
				list[i].Item = theme.NavItem{Label: fmt.Sprintf("%d. %s", i+1, to.Label), Href: to.Href, Key: -1}
			}
			body, _ = v.theme.AppendListing(body, list)
		}
	}
	body, headings := v.theme.AppendListing(body, v.listing(l, o, 0, parts[part]))
	if len(headings) <= contentsHeadings {
		view.Contents = headings
	}
	view.Body = body
	return v.theme.Document(dst, &view)
}
