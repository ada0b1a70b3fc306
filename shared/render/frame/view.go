package frame

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/diagram"
	"github.com/bindery-docs/bindery/shared/render/highlight"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/script"
	"github.com/bindery-docs/bindery/shared/render/search"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme"
	"github.com/bindery-docs/bindery/shared/render/theme/icons"
)

// Features are what the pages of a bundle have beside their text, as those who
// publish the site decided.
type Features struct {
	// Search is whether the bundle has an index and pages a field to search it.
	Search bool
	// Analytics is whether pages may count their readers, AnalyticsID the
	// publisher's measurement id, of Google or of another service that package
	// analytics knows. SiteAnalytics is whether the services that the site's own
	// configuration names may load.
	Analytics     bool
	AnalyticsID   string
	SiteAnalytics bool
	// Assistant is whether pages may lead to an assistant, AssistantURL its
	// address, with "$page" and "$path" to be filled in.
	Assistant    bool
	AssistantURL string
	// RatingsURL is where readers' ratings are sent; empty for nowhere.
	RatingsURL string
	// Offline is whether readers have no network, which is why a service is missing.
	Offline bool
	// HTMLAddresses is whether canonical addresses end with ".html".
	HTMLAddresses bool
	// Repository is where the sources of sites that name no repository are; empty
	// if that is not known.
	Repository string
}

// Options are what New works with. Site and Icons are required.
type Options struct {
	Site     *site.Site
	Features Features
	Icons    *icons.Set
	// Modified returns when a source changed last; the zero time if that is not
	// known. Nil knows it of none.
	Modified func(source string) time.Time
}

// Views turns pages of a site into what the theme shows around them. What
// pages of one section and depth of folder share is made once. It is safe for
// concurrent use.
type Views struct {
	site     *site.Site
	features Features
	forge    *forge // nil if no page links to its source
	actions  []site.ContextualOption
	// modified is that of Options, never nil.
	modified func(source string) time.Time
	theme    *theme.Theme
	services services
	finder   *Finder // nil if the bundle has no search
	meta     []theme.Meta
	image    string     // of all pages, where the site has one
	cards    cards      // otherwise
	fallback *site.Node // the section that pages outside the navigation show
	home     int        // the page that readers see first, or -1

	// divisions are those below each node that has any.
	divisions map[*site.Node][]*site.Node
	// directories are the groups that pages list after their text.
	directories map[int]*site.Node
	// sections are all sections, and contents the names of their contents pages.
	sections []*site.Node
	contents map[*site.Node]string
	frames   *recent[frameKey, *frame]
	sidebars *recent[sidebarKey, *theme.Sidebar]
	made     atomic.Int64 // entries of sidebars, for tests

	namesOnce sync.Once
	names     map[string]struct{} // fileNames

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

// New prepares what stands around the pages of a site. Its errors are faults of
// our own, never the site's.
func New(opt Options) (*Views, error) {
	s := opt.Site
	c := &s.Config
	v := &Views{
		site: s, features: opt.Features, modified: opt.Modified,
		forge: newForge(c.Repository, opt.Features.Repository), actions: actionsOf(c, opt.Features.Offline),
		divisions: divisionsOf(s), directories: directoriesOf(s), outlines: make(map[*site.Node]*outline),
		frames:   newRecent[frameKey, *frame](maxFrameLinks),
		sidebars: newRecent[sidebarKey, *theme.Sidebar](maxSidebarLinks),
	}
	var err error
	if v.services, err = newServices(s, opt.Features); err != nil {
		return nil, err
	}
	if opt.Features.Search {
		if v.finder, err = newFinder(s); err != nil {
			return nil, err
		}
	}
	if v.modified == nil {
		v.modified = func(string) time.Time { return time.Time{} }
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
	sheets, scripts := []string{component.CSS(), highlight.CSS(), diagram.CSS(), script.CSS()}, []string{component.JS(languages(s))}
	if v.finder != nil {
		sheets, scripts = append(sheets, search.CSS()), append(scripts, search.Opener())
	}
	v.theme, err = theme.New(theme.Config{
		SiteName: c.Name, SiteKey: s.Domain, Lang: siteLanguage(s),
		Colors:  Colors(s),
		Fonts:   theme.Fonts{Body: font(c.Fonts.Body), Heading: font(c.Fonts.Heading)},
		Logo:    theme.Logo{Light: asset(c.Logo.Light), Dark: asset(c.Logo.Dark), Href: href},
		Favicon: asset(c.Favicon.Light), FaviconDark: asset(c.Favicon.Dark),
		Appearance: c.Appearance.Default, Strict: c.Appearance.Strict,
		IconLibrary: library, Icons: opt.Icons,
		CSS: sheets, JS: scripts,
		NotFoundTitle: c.NotFound.Title, NotFoundText: page.InlineText(c.NotFound.Description),
		Decoration: c.Background.Decoration, Sharp: c.Styling.Sharp,
		BackgroundImage: asset(c.Background.ImageLight), BackgroundImageDark: asset(c.Background.ImageDark),
		Assistant: v.services.assistant != "", Ratings: v.services.ratings,
		SearchPrompt: c.SearchPrompt, Drilldown: c.Drilldown, Theme: c.Theme,
	})
	if err != nil {
		return nil, err
	}
	for i := range c.SEO.Metatags {
		m := &c.SEO.Metatags[i]
		switch name := strings.ToLower(m.Name); {
		case slices.Contains([]string{"canonical", "robots", "charset", "viewport", "generator"}, name):
		case name == "og:image":
			v.image = v.picture(-1, m.Content)
		case m.Picture():
			if address := v.picture(-1, m.Content); address != "" {
				v.meta = append(v.meta, theme.Meta{Name: m.Name, Content: address})
			}
		default:
			v.meta = append(v.meta, theme.Meta{Name: m.Name, Content: m.Content})
		}
	}
	if v.image == "" {
		v.cards = newCards(s)
	}
	v.sections, v.contents = contentsNames(s)
	v.fallback, v.home = s.DefaultSection(), s.Home()
	return v, nil
}

// Document appends the whole document of a page, of which res is the body, to
// dst. The document of a page that leads elsewhere is a redirect.
func (v *Views) Document(dst []byte, i int, res *page.Result) []byte {
	if p := &v.site.Pages[i]; p.URL != "" {
		root := strings.Repeat("../", strings.Count(p.Output, "/"))
		return append(dst, v.theme.RedirectPage(root, (&linker{views: v, root: root}).href(p.URL), "")...)
	}
	section := cmp.Or(v.site.Near(i), v.fallback)
	depth := strings.Count(v.site.Pages[i].Output, "/")
	f := v.frame(section, depth)
	return v.documentWith(dst, i, res, f, v.sidebar(f, section, depth, i))
}

// documentWith is Document with all that pages share at hand.
func (v *Views) documentWith(dst []byte, i int, res *page.Result, f *frame, sidebar *theme.Sidebar) []byte {
	s, p := v.site, &v.site.Pages[i]
	image, meta := v.metaOf(i)
	drawn := image == ""
	if drawn {
		image = s.AbsoluteURL(v.cards.path(s.Near(i)))
	}
	view := theme.View{
		Lang: f.lang, Title: p.Title, Description: mdx.InlineText(p.Description), Lead: res.Lead, NoIndex: p.NoIndex,
		Image: image, ImageDrawn: drawn, Meta: meta, Root: f.root, Home: f.home,
		Path: "/" + p.CleanAddress(), Markdown: site.Rel(p.Output, p.MarkdownPath()), Mode: theme.Mode(p.Mode), Tag: p.Tag, Deprecated: p.Deprecated,
		Banner: f.banner, Header: f.header, Sidebar: sidebar, CurrentKey: i,
		Breadcrumbs: v.breadcrumbs(i), Body: res.HTML, Beside: res.Beside, Footer: f.footer,
		Styles: f.stylesFor(res), Scripts: f.scriptsFor(res),
		Canonical: v.canonical(p),
	}
	if len(res.Contents) > 0 {
		view.Contents = make([]theme.Heading, len(res.Contents))
		for j, h := range res.Contents {
			view.Contents[j] = theme.Heading{ID: h.ID, Text: h.Text, Level: h.Level}
		}
	}
	if !p.NoIndex {
		view.Trail = v.trail(i)
	}
	view.Header.Switches, view.Alternates = v.switches(f, i)
	if v.services.assistant != "" {
		view.Header.Assistant = v.assistantFor(f, p)
	}
	view.EditURL, view.IssueURL = v.forge.edit(p), v.forge.issue(p, v.address(p))
	if p.Updated != "" {
		view.Modified, _ = time.Parse(time.DateOnly, p.Updated) // read when the page was
	} else if shown := p.Timestamp; shown != nil && *shown || shown == nil && s.Config.Timestamp {
		view.Modified = v.modified(p.File())
	}
	if v.hasFeed(i, res) {
		view.Feed, view.FeedShown = site.Rel(p.Output, feedPath(p)), p.RSS
	}
	view.Actions, view.ActionsInContents = v.actionsFor(f, p), s.Config.Contextual.Display == "toc"
	if !p.NoNeighbours {
		view.Prev, view.Next = v.neighbour(p, s.Prev(i)), v.neighbour(p, s.Next(i))
	}
	return v.theme.Document(dst, &view)
}

// Theme returns the theme of the site's pages.
func (v *Views) Theme() *theme.Theme { return v.theme }

// Sources returns what a content security policy must allow besides 'self' for
// the theme, for services and for the site's own scripts and style sheets, by directive. The caller may change it.
func (v *Views) Sources() map[string][]string {
	sources := v.theme.PolicySources()
	add := func(more map[string][]string) {
		for directive, needed := range more {
			sources[directive] = append(sources[directive], needed...)
			slices.Sort(sources[directive])
			sources[directive] = slices.Compact(sources[directive])
		}
	}
	add(v.site.Sources)
	if v.services.analytics != nil {
		add(v.services.analytics.Sources)
	}
	return sources
}

// Notices returns what authors should know of the services that pages have or
// lack.
func (v *Views) Notices() []mdx.Diagnostic { return v.services.notices }

// address is where a page is published.
func (v *Views) address(p *site.Page) string { return v.site.URL(p, v.features.HTMLAddresses) }

// canonical is the address that a page names as its own.
func (v *Views) canonical(p *site.Page) string {
	if p.Canonical != "" {
		return p.Canonical
	}
	if base := v.site.Config.SEO.Canonical; base != "" {
		return base + strings.TrimPrefix(v.address(p), strings.TrimSuffix(v.site.AbsoluteURL(""), "/"))
	}
	return v.address(p)
}

func (v *Views) neighbour(p *site.Page, other int) *theme.Link {
	if other < 0 {
		return nil
	}
	o := &v.site.Pages[other]
	return &theme.Link{Label: o.Name(), Href: site.Rel(p.Output, o.Output)}
}

// metaOf are the picture and the entries of a page's head, its own before those
// of the site. What is not there is not its own.
func (v *Views) metaOf(page int) (image string, meta []theme.Meta) {
	p := &v.site.Pages[page]
	image, meta = v.image, v.meta
	if len(p.Meta) == 0 {
		return image, meta
	}
	own := make(map[string]bool, len(p.Meta))
	var all []theme.Meta
	for i := range p.Meta {
		m := &p.Meta[i]
		content := m.Content
		if m.Picture() {
			if content = v.picture(page, content); content == "" {
				continue
			}
		}
		own[m.Name] = true
		if m.Name == "og:image" {
			image = content
			continue
		}
		all = append(all, theme.Meta{Name: m.Name, Content: content})
	}
	for _, m := range meta {
		if !own[m.Name] {
			all = append(all, m)
		}
	}
	return image, all
}

// picture is the absolute address of a picture for link previews, which a page
// names, or with -1 the site; "" for one that the site does not have.
func (v *Views) picture(page int, ref string) string {
	switch t := v.site.Resolve(page, ref); t.Kind {
	case site.ToFile:
		return v.site.AbsoluteURL(t.Path)
	case site.External:
		return t.Href
	}
	return ""
}

// switches are the header's, with options that lead to the same page in the
// other version, language or product where there is one, and that page's
// addresses in all languages.
func (v *Views) switches(f *frame, i int) ([]theme.Switch, []theme.Alternate) {
	switches := f.header.Switches
	if len(f.choices) == 0 {
		return switches, nil
	}
	s := v.site
	switches = slices.Clone(switches)
	var alternates []theme.Alternate
	for _, c := range f.choices {
		options := slices.Clone(switches[c.at].Options)
		for j, n := range c.nodes {
			twin := i
			if n != c.current {
				if twin = s.Counterpart(i, c.current, n); twin < 0 {
					continue
				}
				options[j].Href = f.root + site.Rel("index.html", s.Pages[twin].Output)
			}
			if n.Kind == site.KindLanguage {
				a := theme.Alternate{Lang: languageTag(n.Label), Href: v.address(&s.Pages[twin])}
				alternates = append(alternates, a)
				if n.Default || j == 0 && !slices.ContainsFunc(c.nodes, func(n *site.Node) bool { return n.Default }) {
					alternates = append(alternates, theme.Alternate{Lang: "x-default", Href: a.Href})
				}
			}
		}
		switches[c.at].Options = options
	}
	if len(alternates) < 3 { // itself alone, with or without being the default
		alternates = nil
	}
	return switches, alternates
}

// breadcrumbs are the groups that a page stands in; the innermost alone where
// the site wants only the section named.
func (v *Views) breadcrumbs(i int) []theme.Link {
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
	if v.site.Config.Styling.Eyebrows == "section" && len(out) > 1 {
		out = out[len(out)-1:]
	}
	return out
}

// trail is the way from the site's first page to a page in absolute addresses,
// for search engines: pages that groups on the way lead to, and the page.
func (v *Views) trail(i int) []theme.Link {
	s := v.site
	if i == v.home {
		return nil
	}
	var out []theme.Link
	if v.home >= 0 {
		out = append(out, theme.Link{Label: s.Config.Name, Href: v.canonical(&s.Pages[v.home])})
	}
	for _, n := range s.Trail(i) {
		if n.Kind != site.KindGroup || n.Label == "" || n.Root < 0 || n.Root == i || n.Root == v.home {
			continue
		}
		if p := &s.Pages[n.Root]; !p.Excluded && !p.NoIndex && p.URL == "" {
			out = append(out, theme.Link{Label: n.Label, Href: v.canonical(p)})
		}
	}
	if out == nil {
		return nil
	}
	p := &s.Pages[i]
	return append(out, theme.Link{Label: p.Title, Href: v.canonical(p)})
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

// frame returns what the pages of a section and depth share.
func (v *Views) frame(section *site.Node, depth int) *frame {
	key := frameKey{section, depth}
	return v.frames.get(key, func() (*frame, int) { return v.build(section, depth) })
}

// sidebar returns what a page's sidebar shows, which it shares with pages near it.
func (v *Views) sidebar(f *frame, section *site.Node, depth, page int) *theme.Sidebar {
	o := v.outline(section)
	key := sidebarKey{frameKey{section, depth}, o.excerpt(page)}
	return v.sidebars.get(key, func() (*theme.Sidebar, int) {
		l := &linker{views: v, root: f.root}
		view := v.sidebarView(l, f, o, key.excerpt)
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

// Sheets returns the files that have the theme's style sheets on the pages of a
// site, as far as they are the same for all projects. Its errors are faults of our own.
func Sheets(s *site.Site) ([]theme.Asset, error) {
	v, err := New(Options{Site: s, Features: Features{Search: true}})
	if err != nil {
		return nil, err
	}
	return v.theme.Assets(), nil
}

// Colors returns the colours of a site's brand and pages.
func Colors(s *site.Site) theme.Colors {
	c := &s.Config
	return theme.Colors{
		Primary: c.Colors.Primary, Light: c.Colors.Light, Dark: c.Colors.Dark,
		BackgroundLight: c.Background.ColorLight, BackgroundDark: c.Background.ColorDark,
	}
}
