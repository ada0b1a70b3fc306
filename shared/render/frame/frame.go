package frame

import (
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/diagram"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/reference"
	"github.com/bindery-docs/bindery/shared/render/script"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme"
)

// frame is what all pages of a section have around them, seen from one depth,
// but for the sidebar's entries.
type frame struct {
	root    string
	home    string
	header  theme.Header
	choices []choice
	anchors []theme.Anchor
	footer  theme.Footer
	banner  *theme.Banner
	styles  []string
	scripts []string
	lang    string
}

// choice is a switch of the header whose options lead each page to its like:
// the versions, languages or products that options stand for.
type choice struct {
	at      int // in theme.Header.Switches
	current *site.Node
	nodes   []*site.Node // as the options
}

// build makes a frame and returns about how many links it has.
func (v *Views) build(section *site.Node, depth int) (*frame, int) {
	s, c := v.site, &v.site.Config
	f := &frame{root: strings.Repeat("../", depth)}
	l := &linker{views: v, root: f.root}
	if c.Logo.Href != "" {
		if t := s.Resolve(-1, c.Logo.Href); t.Kind == site.ToPage || t.Kind == site.ToFile {
			f.home = l.path(t.Path)
		}
	}
	var path []*site.Node // from the root down to the section
	for n := section; n != nil; n = s.Parent(n) {
		path = append(path, n)
	}
	slices.Reverse(path)
	// A language may have a header, a footer and a banner of its own.
	navbar, footer, banner := &c.Navbar, &c.Footer, &c.Banner
	for _, n := range path {
		if n.Navbar != nil {
			navbar = n.Navbar
		}
		if n.Footer != nil {
			footer = n.Footer
		}
		if n.Banner != nil {
			banner = n.Banner
		}
	}
	v.divisionsHeader(f, l, path)
	if v.finder != nil {
		f.header.Search = v.finder.field(section, l)
	}
	v.links(&f.header, l, navbar)
	f.anchors = v.anchors(l, path)
	f.footer = v.footer(l, footer)
	if text := page.Inline(banner.Content, l.href); len(text) > 0 {
		f.banner = &theme.Banner{
			HTML: text, Dismissible: banner.Dismissible,
			Kind: banner.Type, ColorLight: banner.ColorLight, ColorDark: banner.ColorDark,
		}
	}
	for _, name := range s.Styles {
		f.styles = append(f.styles, l.path(name))
	}
	for _, name := range s.Scripts {
		f.scripts = append(f.scripts, l.path(name))
	}
	if a := v.services.analytics; a != nil {
		f.scripts = append(f.scripts, l.path(a.Path))
	}
	links := 1 + len(f.anchors) + len(f.styles) + len(f.scripts) + len(f.header.Tabs) + len(f.header.Links) + len(f.footer.Socials)
	for _, sw := range f.header.Switches {
		links += len(sw.Options)
	}
	for _, t := range f.header.Tabs {
		links += len(t.Menu)
	}
	for _, col := range f.footer.Columns {
		links += len(col.Links)
	}
	return f, links
}

// linker makes addresses for all pages of one depth.
type linker struct {
	views *Views
	root  string
}

// path leads to a file of the bundle.
func (l *linker) path(p string) string { return l.root + site.Rel("index.html", p) }

// href is for an address as the configuration gives it; empty for one that
// must not be used.
func (l *linker) href(ref string) string {
	switch t := l.views.site.Resolve(-1, ref); t.Kind {
	case site.Unsafe, site.Restricted:
		return ""
	case site.External, site.Other:
		return t.Href
	case site.ToAnchor:
		return l.path("index.html") + t.Href
	case site.Missing:
		// The domain may have more than the documentation; a page with this
		// name in the bundle there is not.
		return l.views.site.AbsoluteURL(t.Path) + t.AfterPath()
	default:
		return l.root + t.Href
	}
}

// icon is an icon as the theme takes it: a name with its library and style, or
// the address of a picture.
func (l *linker) icon(i site.Icon) string {
	if !strings.ContainsAny(i.Name, "/.") {
		switch {
		case i.Name == "" || i.Library == "" && i.Style == "":
			return i.Name
		case i.Style == "":
			return i.Library + ":" + i.Name
		}
		return i.Library + ":" + i.Style + ":" + i.Name
	}
	switch t := l.views.site.Resolve(-1, i.Name); t.Kind {
	case site.ToFile:
		return l.path(t.Path)
	case site.External:
		return t.Href
	}
	return ""
}

// target is where a division leads: its first page, or its own address.
func (l *linker) target(n *site.Node) string {
	if i := l.views.site.Entry(n); i >= 0 {
		return l.path(l.views.site.Pages[i].Output)
	}
	if n.Href != "" {
		return l.href(n.Href)
	}
	return ""
}

// divisionsHeader makes tabs and switches from the divisions on the way to the section:
// at each node of the way, its divisions of one kind are a choice.
func (v *Views) divisionsHeader(f *frame, l *linker, path []*site.Node) {
	h := &f.header
	levels := make([][]*site.Node, 0, len(path)+1)
	for _, n := range path {
		levels = append(levels, v.divisions[n])
	}
	levels = append(levels, v.site.Global)
	on := make(map[*site.Node]bool, len(path))
	for _, n := range path {
		on[n] = true
		if n.Kind == site.KindLanguage {
			f.lang = languageTag(n.Label)
		}
	}
	for depth, children := range levels {
		outer := len(h.Tabs)
		for _, kind := range [...]site.NodeKind{site.KindProduct, site.KindVersion, site.KindLanguage, site.KindDropdown} {
			sw, pick := theme.Switch{Kind: string(kind)}, choice{at: len(h.Switches)}
			for _, n := range children {
				if n.Kind != kind {
					continue
				}
				if o, ok := v.option(l, n, on[n]); ok {
					if kind == site.KindLanguage {
						o.Lang = languageTag(n.Label)
						o.Label = languageName(n.Label)
					}
					sw.Options = append(sw.Options, o)
					pick.nodes = append(pick.nodes, n)
					if on[n] {
						pick.current = n
					}
				}
			}
			if len(sw.Options) > 0 {
				h.Switches = append(h.Switches, sw)
			}
			if len(pick.nodes) > 1 && pick.current != nil && kind != site.KindDropdown {
				f.choices = append(f.choices, pick)
			}
		}
		for _, n := range children {
			if n.Kind != site.KindTab {
				continue
			}
			o, ok := v.option(l, n, on[n])
			tab := theme.Tab{Label: o.Label, Href: o.Href, Icon: o.Icon, Current: o.Current}
			for _, m := range v.divisions[n] {
				if m.Kind == site.KindMenu {
					if mo, mok := v.option(l, m, on[m]); mok {
						tab.Menu = append(tab.Menu, mo)
					}
				}
			}
			if !ok && len(tab.Menu) == 0 {
				continue
			}
			if depth < len(path) {
				// A version's own tab stands for one of its name beside the versions.
				same := slices.IndexFunc(h.Tabs[:outer], func(o theme.Tab) bool { return o.Label == tab.Label })
				if same >= 0 {
					h.Tabs, outer = slices.Delete(h.Tabs, same, same+1), outer-1
				}
			}
			h.Tabs = append(h.Tabs, tab)
		}
	}
}

// links are the author's own in the header.
func (v *Views) links(h *theme.Header, l *linker, nav *site.Navbar) {
	for _, n := range nav.Links {
		if href := l.href(n.Href); href != "" {
			h.Links = append(h.Links, theme.Link{Label: n.Label, Href: href, Icon: l.icon(brandIcon(n)), IconOnly: n.IconOnly})
		}
	}
	if p := nav.Primary; p != nil {
		if href := l.href(p.Href); href != "" {
			h.Primary = &theme.Link{Label: p.Label, Href: href, Icon: l.icon(brandIcon(*p)), IconOnly: p.IconOnly}
		}
	}
}

func brandIcon(n site.NavLink) site.Icon {
	if n.Icon.Name == "" && (n.Type == "github" || n.Type == "discord") {
		return site.Icon{Name: n.Type}
	}
	return n.Icon
}

// option is a division as an entry of a menu. Hidden ones are left out, unless
// the reader is there.
func (v *Views) option(l *linker, n *site.Node, current bool) (theme.Option, bool) {
	o := theme.Option{Label: n.Label, Icon: l.icon(n.Icon), Description: n.Description, Tag: n.Tag, Current: current, Href: l.target(n)}
	return o, o.Href != "" && (!n.Hidden || current)
}

// anchors are links with icons above the sidebar's tree.
func (v *Views) anchors(l *linker, path []*site.Node) []theme.Anchor {
	var out []theme.Anchor
	add := func(nodes []*site.Node, current *site.Node) {
		for _, n := range nodes {
			if n.Kind != site.KindAnchor || n.Hidden && n != current {
				continue
			}
			if href := l.target(n); href != "" {
				out = append(out, theme.Anchor{Label: n.Label, Href: href, Icon: l.icon(n.Icon), Current: n == current, ColorLight: n.ColorLight, ColorDark: n.ColorDark})
			}
		}
	}
	for i, n := range path {
		var next *site.Node
		if i+1 < len(path) {
			next = path[i+1]
		}
		add(v.divisions[n], next)
	}
	add(v.site.Global, nil)
	return out
}

func (v *Views) footer(l *linker, c *site.Footer) theme.Footer {
	var f theme.Footer
	for _, n := range c.Socials {
		if href := l.href(n.URL); href != "" {
			f.Socials = append(f.Socials, theme.Link{Label: n.Name, Href: href, Icon: socialIcon(n.Name)})
		}
	}
	for _, col := range c.Links {
		fc := theme.FooterColumn{Title: col.Header}
		for _, n := range col.Items {
			if href := l.href(n.Href); href != "" {
				fc.Links = append(fc.Links, theme.Link{Label: n.Label, Href: href, Icon: l.icon(n.Icon)})
			}
		}
		if len(fc.Links) > 0 {
			f.Columns = append(f.Columns, fc)
		}
	}
	return f
}

// socialIcon is the name of a network's icon.
func socialIcon(network string) string {
	switch n := strings.ToLower(network); n {
	case "x":
		return "x-twitter"
	case "website":
		return "globe"
	case "earth-americas":
		return "earth-americas"
	default:
		return n
	}
}

// UtilitiesPath is the style sheet of the class names and styles that authors
// write. Its content is known when all pages are, so its name has no hash.
const UtilitiesPath = "bindery/utilities.css"

// stylesFor are the style sheets that a page loads besides the theme's.
func (f *frame) stylesFor(res *page.Result) []string {
	var out []string
	if res.Math {
		if files, err := theme.Math(); err == nil { // else formulas have the reader's own font
			out = append(out, f.root+files[0].Path)
		}
	}
	if res.Reference {
		out = append(out, f.root+reference.Styles().Path)
	}
	if len(res.Classes) > 0 || len(res.MaybeClasses) > 0 || len(res.Styles) > 0 {
		out = append(out, f.root+UtilitiesPath)
	}
	if out == nil {
		return f.styles
	}
	return append(out, f.styles...)
}

// scriptsFor are the scripts that a page loads besides the theme's.
func (f *frame) scriptsFor(res *page.Result) []string {
	var out []string
	if res.Playground {
		out = append(out, f.root+reference.Script().Path)
	}
	if res.Zoom {
		path, _ := diagram.Script()
		out = append(out, f.root+path)
	}
	if res.Mermaid {
		if files, err := script.Runtime(); err == nil { // else the sources of its diagrams stay
			for _, file := range files {
				out = append(out, f.root+file.Path)
			}
		}
	}
	if res.Script != nil {
		if file, err := script.Islands(); err == nil { // else components stay as they are at first
			out = append(out, f.root+file.Path, f.root+res.ScriptPath)
		}
	}
	if out == nil {
		return f.scripts
	}
	return append(out, f.scripts...)
}
