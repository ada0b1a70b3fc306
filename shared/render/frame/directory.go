package frame

import (
	"cmp"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/page"
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

type entry struct {
	label, description, icon string
	href, markdown           string // markdown is what the page's copy links to
	children                 []entry
}

// AddDirectory adds a page's directory, if it has one, after its text.
func (v *Views) AddDirectory(i int, res *page.Result) {
	group := v.directories[i]
	if group == nil {
		return
	}
	p := &v.site.Pages[i]
	l := &linker{views: v, root: strings.Repeat("../", strings.Count(p.Output, "/"))}
	entries := v.entries(l, p, group.Children, i, 2)
	if len(entries) == 0 {
		return
	}
	// The page's own result may be shared: it is written anew.
	w := &component.Writer{B: append(make([]byte, 0, len(res.HTML)+256*len(entries)), res.HTML...)}
	if group.Directory == "accordion" {
		writeAccordion(w, entries)
	} else {
		writeCards(w, entries)
	}
	res.HTML = w.B
	text := append(make([]byte, 0, len(res.Markdown)+64*len(entries)), res.Markdown...)
	res.Markdown = appendList(append(text, '\n'), entries, "")
}

// entries are what the sidebar shows of these nodes, down to some levels; own is
// the page that they are listed on.
func (v *Views) entries(l *linker, from *site.Page, nodes []*site.Node, own, levels int) (out []entry) {
	for _, n := range nodes {
		at, ok := v.shown(l, n)
		if !ok || at == own && n.Kind == site.KindPage {
			continue
		}
		e := entry{label: n.Label, description: n.Description, icon: v.iconHTML(l, n.Icon)}
		if at >= 0 {
			o := &v.site.Pages[at]
			e.label = cmp.Or(e.label, o.Name())
			e.description = cmp.Or(e.description, o.Description)
			if e.icon == "" {
				e.icon = v.iconHTML(l, o.Icon)
			}
			e.markdown = site.Rel(from.Output, o.MarkdownPath())
		}
		if e.href = v.itemHref(l, n); e.markdown == "" || strings.Contains(e.href, "://") {
			e.markdown = e.href
		}
		if n.Kind == site.KindGroup {
			if levels > 1 {
				e.children = v.entries(l, from, n.Children, own, levels-1)
			}
			if e.href == "" {
				if e.href, e.markdown = v.firstIn(l, from, n); e.href == "" {
					continue // there is nothing in it
				}
			}
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

// iconHTML draws an icon; empty where there is none of the name.
func (v *Views) iconHTML(l *linker, i site.Icon) string {
	if strings.ContainsAny(i.Name, "/.") {
		src := l.icon(i)
		if src == "" {
			return ""
		}
		return string(html.AppendAttr([]byte(`<img class="icon"`), "src", src)) + ` alt="">`
	}
	if i.Name == "" {
		return ""
	}
	svg, _ := v.theme.Icon(i.Name, i.Library, i.Style)
	return svg
}

// writeCards writes a directory as cards, as the component does.
func writeCards(w *component.Writer, entries []entry) {
	w.Raw(`<div class="columns cols-2 directory">`)
	for _, e := range entries {
		w.Raw(`<div class="card">`)
		writeIcon(w, "card-icon", e.icon)
		w.Raw(`<div class="card-body"><p class="card-title"><a class="card-link"`).Attr("href", e.href).Raw(">").Text(e.label).Raw(`</a></p>`)
		if e.description != "" {
			w.Raw(`<p class="card-description">`).Text(e.description).Raw(`</p>`)
		}
		w.Raw(`</div></div>`)
	}
	w.Raw("</div>\n")
}

// writeAccordion writes pages as a list, and groups as lists to open.
func writeAccordion(w *component.Writer, entries []entry) {
	var pages, groups []entry
	for _, e := range entries {
		if len(e.children) > 0 {
			groups = append(groups, e)
		} else {
			pages = append(pages, e)
		}
	}
	w.Raw(`<div class="directory">`)
	if len(pages) > 0 {
		writeLinks(w, pages)
	}
	if len(groups) > 0 {
		w.Raw(`<div class="accordion-group">`)
		for _, g := range groups {
			w.Raw(`<details class="accordion"><summary>`)
			writeIcon(w, "disclosure-icon", g.icon)
			w.Raw(`<span class="disclosure-title">`).Text(g.label).Raw(`</span></summary><div class="disclosure-body">`)
			writeLinks(w, g.children)
			w.Raw(`</div></details>`)
		}
		w.Raw(`</div>`)
	}
	w.Raw("</div>\n")
}

func writeLinks(w *component.Writer, entries []entry) {
	w.Raw(`<ul>`)
	for _, e := range entries {
		w.Raw(`<li><a`).Attr("href", e.href).Raw(">").Text(e.label).Raw(`</a>`)
		if e.description != "" {
			w.Raw(": ").Text(e.description)
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

func appendList(dst []byte, entries []entry, indent string) []byte {
	for _, e := range entries {
		dst = append(dst, indent+"- ["+linkText(e.label)+"]("+e.markdown+")"...)
		if d := oneLine(e.description); d != "" {
			dst = append(dst, ": "+d...)
		}
		dst = append(dst, '\n')
		dst = appendList(dst, e.children, indent+"  ")
	}
	return dst
}
