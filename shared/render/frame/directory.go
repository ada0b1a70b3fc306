package frame

import (
	"cmp"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// A directory is the list of a group's pages on the group's root page, for groups
// that docs.json asks one for. It goes two levels deep: what is further down has
// its place on the root pages there, so that no page is listed on many.

// directoriesOf finds the groups that are listed on their root pages. A page that
// is the root of several lists the first.
func directoriesOf(s *site.Site) map[int]*site.Node {
	out := make(map[int]*site.Node)
	var walk func(n *site.Node)
	walk = func(n *site.Node) {
		if n.Hidden {
			return
		}
		if n.Kind == site.KindGroup && n.Root >= 0 && n.Directory != "" && out[n.Root] == nil {
			out[n.Root] = n
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(s.Nav)
	return out
}

// Names of elements that no author can write: a tag begins with a letter. A
// directory holds entries, and an entry of a group those of its pages.
const (
	cardsName = "#cards"
	listsName = "#lists"
	entryName = "#entry"
)

// Components returns the components that Directory's nodes name.
func Components() []*component.Component {
	return []*component.Component{
		{Name: cardsName, Doc: "A directory as cards.", Block: true, HTML: cardsHTML, Markdown: listMarkdown},
		{Name: listsName, Doc: "A directory as a list, and lists to open.", Block: true, HTML: listsHTML, Markdown: listMarkdown},
	}
}

// Directory returns a page's directory as nodes for page.Options.After; nil if
// the page has none.
func (v *Views) Directory(i int) []*mdx.Node {
	group := v.directories[i]
	if group == nil {
		return nil
	}
	p := &v.site.Pages[i]
	l := &linker{views: v, root: strings.Repeat("../", strings.Count(p.Output, "/"))}
	list := v.entries(l, p, group.Children, i, 2)
	if len(list) == 0 {
		return nil
	}
	name := cardsName
	if group.Directory == "accordion" {
		name = listsName
	}
	return []*mdx.Node{{Kind: mdx.Element, Name: name, Children: list}}
}

// attrOf returns what an entry has of this name: label, description, icon (HTML),
// href, or copy, the address in the page's Markdown copy.
func attrOf(entry *mdx.Node, name string) string {
	a, _ := entry.Attr(name)
	return a.Value
}

// entries are what the sidebar shows of these nodes, down to some levels; own is
// the page that they are listed on.
func (v *Views) entries(l *linker, from *site.Page, nodes []*site.Node, own, levels int) (out []*mdx.Node) {
	for _, n := range nodes {
		at, ok := v.shown(l, n)
		if !ok || at == own && n.Kind == site.KindPage {
			continue
		}
		label, description, icon, link := n.Label, n.Description, v.iconHTML(l, n.Icon), ""
		if at >= 0 {
			o := &v.site.Pages[at]
			label = cmp.Or(label, o.Name())
			description = cmp.Or(description, o.Description)
			if icon == "" {
				icon = v.iconHTML(l, o.Icon)
			}
			link = site.Rel(from.Output, o.MarkdownPath())
		}
		href := v.itemHref(l, n)
		if link == "" || strings.Contains(href, "://") {
			link = href
		}
		e := &mdx.Node{Kind: mdx.Element, Name: entryName}
		if n.Kind == site.KindGroup {
			if levels > 1 {
				e.Children = v.entries(l, from, n.Children, own, levels-1)
			}
			if href == "" {
				if href, link = v.firstIn(l, from, n); href == "" {
					continue // an empty group
				}
			}
		}
		for _, a := range [...][2]string{{"label", label}, {"description", description}, {"icon", icon}, {"href", href}, {"copy", link}} {
			e.Attrs = append(e.Attrs, mdx.Attr{Kind: mdx.AttrString, Name: a[0], Value: a[1]})
		}
		out = append(out, e)
	}
	return out
}

// firstIn is where a group without a page of its own leads.
func (v *Views) firstIn(l *linker, from *site.Page, group *site.Node) (href, markdown string) {
	for _, n := range group.Children {
		at, ok := v.shown(l, n)
		if !ok {
			continue
		}
		if href = v.itemHref(l, n); href == "" {
			if href, markdown = v.firstIn(l, from, n); href == "" {
				continue
			}
			return href, markdown
		}
		if at >= 0 && !strings.Contains(href, "://") {
			return href, site.Rel(from.Output, v.site.Pages[at].MarkdownPath())
		}
		return href, href
	}
	return "", ""
}

// iconHTML draws an icon; it returns "" for a name that no library has.
func (v *Views) iconHTML(l *linker, i site.Icon) string {
	if strings.ContainsAny(i.Name, "/.") {
		src := l.icon(i)
		if src == "" {
			return ""
		}
		return string(html.AppendAttr([]byte(`<img class="icon bdy-icon"`), "src", src)) + ` alt="">`
	}
	if i.Name == "" {
		return ""
	}
	svg, _ := v.theme.Icon(i.Name, i.Library, i.Style)
	return svg
}

// cardsHTML appends a directory as cards that look like the component's.
func cardsHTML(w *component.Writer, d *component.Element) {
	w.Raw(`<div class="bdy-columns bdy-cols-2 bdy-directory">`)
	for _, n := range d.Node.Children {
		w.Raw(`<div class="card bdy-card">`)
		writeIcon(w, "bdy-card-icon", attrOf(n, "icon"))
		w.Raw(`<div class="bdy-card-body"><p class="bdy-card-title"><a class="bdy-card-link"`).Attr("href", attrOf(n, "href")).Raw(">").Text(attrOf(n, "label")).Raw(`</a></p>`)
		if d := attrOf(n, "description"); d != "" {
			w.Raw(`<p class="bdy-card-description">`).Text(d).Raw(`</p>`)
		}
		w.Raw(`</div></div>`)
	}
	w.Raw("</div>")
}

// listsHTML appends pages as a list, then groups as lists to open.
func listsHTML(w *component.Writer, d *component.Element) {
	var pages, groups []*mdx.Node
	for _, n := range d.Node.Children {
		if len(n.Children) > 0 {
			groups = append(groups, n)
		} else {
			pages = append(pages, n)
		}
	}
	w.Raw(`<div class="bdy-directory">`)
	if len(pages) > 0 {
		writeLinks(w, pages)
	}
	if len(groups) > 0 {
		w.Raw(`<div class="accordion-group bdy-accordion-group">`)
		for _, n := range groups {
			w.Raw(`<details class="accordion bdy-accordion"><summary>`)
			writeIcon(w, "bdy-disclosure-icon", attrOf(n, "icon"))
			w.Raw(`<span class="bdy-disclosure-title">`).Text(attrOf(n, "label")).Raw(`</span></summary><div class="bdy-disclosure-body">`)
			writeLinks(w, n.Children)
			w.Raw(`</div></details>`)
		}
		w.Raw(`</div>`)
	}
	w.Raw("</div>")
}

func writeLinks(w *component.Writer, entries []*mdx.Node) {
	w.Raw(`<ul>`)
	for _, n := range entries {
		w.Raw(`<li><a`).Attr("href", attrOf(n, "href")).Raw(">").Text(attrOf(n, "label")).Raw(`</a>`)
		if d := attrOf(n, "description"); d != "" {
			w.Raw(": ").Text(d)
		}
		w.Raw(`</li>`)
	}
	w.Raw(`</ul>`)
}

func writeIcon(w *component.Writer, class, icon string) {
	if icon != "" {
		w.Raw(`<span`).Attr("class", class).Raw(">").Raw(icon).Raw(`</span>`)
	}
}

// listMarkdown writes a directory as a list.
func listMarkdown(m *component.Markdown, d *component.Element) {
	m.Block()
	writeList(m, d.Node.Children, "")
}

func writeList(m *component.Markdown, entries []*mdx.Node, indent string) {
	for _, n := range entries {
		m.Write(indent + "- [" + linkText(attrOf(n, "label")) + "](" + attrOf(n, "copy") + ")")
		if d := oneLine(attrOf(n, "description")); d != "" {
			m.Write(": " + d)
		}
		m.Write("\n")
		writeList(m, n.Children, indent+"  ")
	}
}
