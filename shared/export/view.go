package export

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bindery-docs/bindery/shared/admin"
	"github.com/bindery-docs/bindery/shared/component"
	"github.com/bindery-docs/bindery/shared/highlight"
	"github.com/bindery-docs/bindery/shared/page"
	"github.com/bindery-docs/bindery/shared/site"
	"github.com/bindery-docs/bindery/shared/theme"
	"github.com/bindery-docs/bindery/shared/theme/icons"
)

// views turns pages of a site into what the theme shows around them. What
// pages of one section and depth of folder share is made once.
type views struct {
	site     *site.Site
	settings admin.Settings
	theme    *theme.Theme
	banner   []inline
	meta     []theme.Meta
	image    string
	fallback *site.Node // the section that pages outside the navigation show

	// divisions are those below each node that has any.
	divisions map[*site.Node][]*site.Node
	frames    *recent[frameKey, *frame]
	sidebars  *recent[sidebarKey, *theme.Sidebar]
	made      atomic.Int64 // entries of sidebars, for tests

	mu       sync.Mutex
	outlines map[*site.Node]*outline
}

// Frames and sidebars that are kept. Pages come by path, so that those that
// follow each other mostly share them.
const (
	// maxFrameLinks is in links of headers and footers.
	maxFrameLinks = 20_000
	// maxSidebarLinks is in entries, which take about half a KiB each.
	maxSidebarLinks = 40_000
)

// frameKey names what a frame depends on.
type frameKey struct {
	section *site.Node
	depth   int
}

// sidebarKey names what a sidebar depends on.
type sidebarKey struct {
	frameKey
	excerpt excerpt
}

// frame is what all pages of a section have around them, seen from one depth,
// but for the sidebar's entries.
type frame struct {
	root    string
	home    string
	header  theme.Header
	anchors []theme.Anchor
	footer  theme.Footer
	banner  *theme.Banner
	styles  []string
	scripts []string
	lang    string
}

func newViews(s *site.Site, in admin.ExportInput, set *icons.Set) (*views, error) {
	c := &s.Config
	v := &views{
		site: s, settings: in.Job.Settings,
		divisions: divisionsOf(s), outlines: make(map[*site.Node]*outline),
		frames:   newRecent[frameKey, *frame](maxFrameLinks),
		sidebars: newRecent[sidebarKey, *theme.Sidebar](maxSidebarLinks),
	}
	asset := func(ref string) string {
		if ref == "" {
			return ""
		}
		switch t := s.Resolve(-1, ref); t.Kind {
		case site.ToFile:
			return t.Path
		case site.External, site.Other:
			return t.Href
		}
		return ""
	}
	font := func(f site.Font) theme.Font {
		return theme.Font{Family: f.Family, Weight: f.Weight, Source: asset(f.Source), Format: f.Format}
	}
	href := ""
	if t := s.Resolve(-1, c.Logo.Href); c.Logo.Href != "" && t.Kind == site.External {
		href = t.Href
	}
	library := c.Icons.Library
	var err error
	v.theme, err = theme.New(theme.Config{
		SiteName: c.Name, SiteKey: s.Domain, Lang: siteLanguage(s),
		Colors: theme.Colors{
			Primary: c.Colors.Primary, Light: c.Colors.Light, Dark: c.Colors.Dark,
			BackgroundLight: c.Background.ColorLight, BackgroundDark: c.Background.ColorDark,
		},
		Fonts:   theme.Fonts{Body: font(c.Fonts.Body), Heading: font(c.Fonts.Heading)},
		Logo:    theme.Logo{Light: asset(c.Logo.Light), Dark: asset(c.Logo.Dark), Href: href},
		Favicon: asset(c.Favicon.Light), FaviconDark: asset(c.Favicon.Dark),
		Appearance: c.Appearance.Default, Strict: c.Appearance.Strict,
		IconLibrary: library, Icons: set,
		CSS: []string{component.CSS(), highlight.CSS()}, JS: []string{component.JS()},
		NotFoundTitle: c.NotFound.Title, NotFoundText: c.NotFound.Description,
	})
	if err != nil {
		return nil, err
	}
	for _, m := range c.SEO.Metatags {
		switch strings.ToLower(m.Name) {
		case "canonical", "robots", "charset", "viewport", "generator":
		case "og:image":
			v.image = m.Content
		default:
			v.meta = append(v.meta, theme.Meta{Name: m.Name, Content: m.Content})
		}
	}
	v.banner = parseInline(c.Banner.Content)
	v.fallback = s.DefaultSection()
	return v, nil
}

// document appends the whole document of a page to dst.
func (v *views) document(dst []byte, i int, res *page.Result) []byte {
	section := v.site.Section(i)
	if section == nil {
		section = v.fallback
	}
	depth := strings.Count(v.site.Pages[i].Output, "/")
	f := v.frame(section, depth)
	return v.documentWith(dst, i, res, f, v.sidebar(f, section, depth, i))
}

// documentWith is document with all that pages share at hand.
func (v *views) documentWith(dst []byte, i int, res *page.Result, f *frame, sidebar *theme.Sidebar) []byte {
	s, p := v.site, &v.site.Pages[i]
	view := theme.View{
		Lang: f.lang, Title: p.Title, Description: p.Description, NoIndex: p.NoIndex,
		Image: v.image, Meta: v.meta, Root: f.root, Home: f.home,
		Markdown: site.Rel(p.Output, markdownPath(p)), Mode: theme.Mode(p.Mode), Tag: p.Tag, Deprecated: p.Deprecated,
		Banner: f.banner, Header: f.header, Sidebar: sidebar, CurrentKey: i,
		Breadcrumbs: v.breadcrumbs(i), Body: res.HTML, Footer: f.footer,
		Styles: f.styles, Scripts: f.scripts,
		Canonical: v.canonical(p),
	}
	if len(res.Contents) > 0 {
		view.Contents = make([]theme.Heading, len(res.Contents))
		for j, h := range res.Contents {
			view.Contents[j] = theme.Heading{ID: h.ID, Text: h.Text, Level: h.Level}
		}
	}
	view.Prev, view.Next = v.neighbour(p, s.Prev(i)), v.neighbour(p, s.Next(i))
	return v.theme.Document(dst, &view)
}

// address is where a page is published.
func (v *views) address(p *site.Page) string { return v.site.URL(p, v.settings.CanonicalHTML) }

// canonical is the address that a page names as its own.
func (v *views) canonical(p *site.Page) string {
	if p.Canonical != "" {
		return p.Canonical
	}
	return v.address(p)
}

func (v *views) neighbour(p *site.Page, other int) *theme.Link {
	if other < 0 {
		return nil
	}
	o := &v.site.Pages[other]
	return &theme.Link{Label: o.Name(), Href: site.Rel(p.Output, o.Output)}
}

// breadcrumbs are the groups that a page stands in.
func (v *views) breadcrumbs(i int) []theme.Link {
	var out []theme.Link
	for _, n := range v.site.Trail(i) {
		if n.Kind != site.KindGroup || n.Label == "" {
			continue
		}
		l := theme.Link{Label: n.Label}
		if n.Root >= 0 && n.Root != i && !v.site.Pages[n.Root].Excluded {
			l.Href = site.Rel(v.site.Pages[i].Output, v.site.Pages[n.Root].Output)
		}
		out = append(out, l)
	}
	return out
}

// divisionsOf gathers each node's divisions, so that looking for them does not
// pass its pages, of which there may be a great many.
func divisionsOf(s *site.Site) map[*site.Node][]*site.Node {
	out := make(map[*site.Node][]*site.Node)
	var walk func(n *site.Node)
	walk = func(n *site.Node) {
		for _, c := range n.Children {
			if c.Kind.Division() {
				out[n] = append(out[n], c)
			}
			walk(c)
		}
	}
	walk(s.Nav)
	for _, g := range s.Global {
		walk(g)
	}
	return out
}

// frame gives what the pages of a section and depth share.
func (v *views) frame(section *site.Node, depth int) *frame {
	key := frameKey{section, depth}
	return v.frames.get(key, func() (*frame, int) { return v.build(section, depth) })
}

// sidebar gives what a page's sidebar shows, which it shares with pages near it.
func (v *views) sidebar(f *frame, section *site.Node, depth, page int) *theme.Sidebar {
	o := v.outline(section)
	key := sidebarKey{frameKey{section, depth}, o.excerpt(page)}
	return v.sidebars.get(key, func() (*theme.Sidebar, int) {
		l := &linker{views: v, root: f.root}
		view := v.sidebarView(l, f.anchors, o, key.excerpt)
		return v.theme.Sidebar(view), countItems(view.Items)
	})
}

func countItems(items []theme.NavItem) int {
	sum := len(items)
	for i := range items {
		sum += countItems(items[i].Children)
	}
	return sum
}

// build makes a frame and tells how many links it has, about.
func (v *views) build(section *site.Node, depth int) (*frame, int) {
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
	f.header, f.lang = v.header(l, path)
	f.anchors = v.anchors(l, path)
	f.footer = v.footer(l)
	if len(v.banner) > 0 {
		f.banner = &theme.Banner{HTML: appendInline(nil, v.banner, l), Dismissible: c.Banner.Dismissible}
	}
	for _, name := range s.Styles {
		f.styles = append(f.styles, l.path(name))
	}
	for _, name := range s.Scripts {
		f.scripts = append(f.scripts, l.path(name))
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
	views *views
	root  string
}

// path leads to a file of the bundle.
func (l *linker) path(p string) string { return l.root + site.Rel("index.html", p) }

// href is for an address as the configuration gives it; empty for one that
// must not be used.
func (l *linker) href(ref string) string {
	switch t := l.views.site.Resolve(-1, ref); t.Kind {
	case site.Unsafe:
		return ""
	case site.External, site.Other:
		return t.Href
	case site.ToAnchor:
		return l.path("index.html") + t.Href
	case site.Missing:
		// The domain may have more than the documentation; a page with this
		// name in the bundle there is not.
		return l.views.site.AbsoluteURL(t.Path) + afterPath(t.Href)
	default:
		return l.root + t.Href
	}
}

// icon is a name, or the address of a picture.
func (l *linker) icon(icon string) string {
	if !strings.ContainsAny(icon, "/.") {
		return icon
	}
	switch t := l.views.site.Resolve(-1, icon); t.Kind {
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

// header makes tabs and switches from the divisions on the way to the section:
// at each node of the way, its divisions of one kind are a choice.
func (v *views) header(l *linker, path []*site.Node) (theme.Header, string) {
	var h theme.Header
	lang := ""
	levels := make([][]*site.Node, 0, len(path)+1)
	for _, n := range path {
		levels = append(levels, v.divisions[n])
	}
	levels = append(levels, v.site.Global)
	on := make(map[*site.Node]bool, len(path))
	for _, n := range path {
		on[n] = true
		if n.Kind == site.KindLanguage {
			lang = languageTag(n.Label)
		}
	}
	for _, children := range levels {
		for _, kind := range [...]site.NodeKind{site.KindProduct, site.KindVersion, site.KindLanguage, site.KindDropdown} {
			sw := theme.Switch{Kind: string(kind)}
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
				}
			}
			if len(sw.Options) > 0 {
				h.Switches = append(h.Switches, sw)
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
			if ok || len(tab.Menu) > 0 {
				h.Tabs = append(h.Tabs, tab)
			}
		}
	}
	nav := &v.site.Config.Navbar
	for _, n := range nav.Links {
		if href := l.href(n.Href); href != "" {
			h.Links = append(h.Links, theme.Link{Label: n.Label, Href: href, Icon: l.icon(brandIcon(n))})
		}
	}
	if p := nav.Primary; p != nil {
		if href := l.href(p.Href); href != "" {
			h.Primary = &theme.Link{Label: p.Label, Href: href, Icon: l.icon(brandIcon(*p))}
		}
	}
	return h, lang
}

func brandIcon(n site.NavLink) string {
	if n.Icon == "" && (n.Type == "github" || n.Type == "discord") {
		return n.Type
	}
	return n.Icon
}

// option is a division as an entry of a menu. Hidden ones are left out, unless
// the reader is there.
func (v *views) option(l *linker, n *site.Node, current bool) (theme.Option, bool) {
	o := theme.Option{Label: n.Label, Icon: l.icon(n.Icon), Description: n.Description, Tag: n.Tag, Current: current, Href: l.target(n)}
	return o, o.Href != "" && (!n.Hidden || current)
}

// anchors are links with icons above the sidebar's tree.
func (v *views) anchors(l *linker, path []*site.Node) []theme.Anchor {
	var out []theme.Anchor
	add := func(nodes []*site.Node, current *site.Node) {
		for _, n := range nodes {
			if n.Kind != site.KindAnchor || n.Hidden && n != current {
				continue
			}
			if href := l.target(n); href != "" {
				out = append(out, theme.Anchor{Label: n.Label, Href: href, Icon: l.icon(n.Icon), Current: n == current})
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

func (v *views) footer(l *linker) theme.Footer {
	var f theme.Footer
	c := &v.site.Config.Footer
	for _, n := range c.Socials {
		if href := l.href(n.URL); href != "" {
			f.Socials = append(f.Socials, theme.Link{Label: n.Name, Href: href, Icon: socialIcon(n.Name)})
		}
	}
	for _, col := range c.Links {
		fc := theme.FooterColumn{Title: col.Header}
		for _, n := range col.Items {
			if href := l.href(n.Href); href != "" {
				fc.Links = append(fc.Links, theme.Link{Label: n.Label, Href: href})
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

// siteLanguage is the language of a site's pages: that of its default
// division, else English.
func siteLanguage(s *site.Site) string {
	lang := ""
	for _, n := range s.Nav.Children {
		if n.Kind == site.KindLanguage && (lang == "" || n.Default) {
			lang = languageTag(n.Label)
		}
	}
	return lang
}

// languageTag is the BCP 47 tag for a language of the configuration, which
// uses "cn" for Chinese.
func languageTag(label string) string {
	switch label {
	case "cn", "zh", "zh-Hans":
		return "zh-Hans"
	case "jp":
		return "ja"
	}
	return label
}

// languageName is a language's name in itself.
func languageName(label string) string {
	names := map[string]string{
		"en": "English", "de": "Deutsch", "fr": "Français", "es": "Español", "it": "Italiano", "pt": "Português",
		"pt-BR": "Português (Brasil)", "nl": "Nederlands", "pl": "Polski", "cs": "Čeština", "ro": "Română", "hu": "Magyar",
		"sv": "Svenska", "no": "Norsk", "da": "Dansk", "fi": "Suomi", "ru": "Русский", "uk": "Українська", "tr": "Türkçe",
		"ar": "العربية", "he": "עברית", "hi": "हिन्दी", "id": "Bahasa Indonesia", "vi": "Tiếng Việt", "th": "ไทย",
		"ja": "日本語", "jp": "日本語", "ko": "한국어", "zh": "简体中文", "cn": "简体中文", "zh-Hans": "简体中文",
		"zh-Hant": "繁體中文", "uz": "Oʻzbekcha", "lv": "Latviešu", "ca": "Català", "ja-jp": "日本語",
	}
	if n := names[label]; n != "" {
		return n
	}
	return label
}
