package site

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/capability"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// legacyConfig reads the fields of mint.json, the form before docs.json.
func (r *configReader) legacyConfig(v *value) Config {
	c := Config{Variables: r.variables}
	c.Name, c.Description = r.str(v.get("name")), r.str(v.get("description"))
	c.Theme = r.str(v.get("theme"))
	colors := r.section(v, "colors")
	c.Colors = Colors{r.color(colors.get("primary")), r.color(colors.get("light")), r.color(colors.get("dark"))}
	c.Background.ColorLight, c.Background.ColorDark = r.colors(colors.get("background"))
	c.Logo, c.Favicon = r.picture(v.get("logo")), r.picture(v.get("favicon"))
	c.Background.Decoration = r.oneOf(r.section(v, "background").get("style"), decorations...)
	p := r.picture(v.get("backgroundImage"))
	c.Background.ImageLight, c.Background.ImageDark = p.Light, p.Dark
	c.Fonts = r.legacyFonts(v.get("font"))
	for _, l := range r.items(v.get("topbarLinks")) {
		if n, ok := r.navLink(l); ok {
			c.Navbar.Links = append(c.Navbar.Links, n)
		}
	}
	if p := v.get("topbarCtaButton"); r.object(p) {
		if n, ok := r.navLink(p); ok {
			if n.Type == "link" {
				n.Type = "button"
			}
			n.Shape, n.Arrow = r.oneOf(p.get("style"), "pill", "roundedRectangle"), r.boolean(p.get("arrow"))
			c.Navbar.Primary = &n
		}
	}
	c.Footer = r.footer(v.get("footer"))
	c.Footer.Socials = append(c.Footer.Socials, r.socials(v.get("footerSocials"))...)
	c.Banner = r.banner(v.get("banner"))
	mode := r.section(v, "modeToggle")
	c.Appearance = Appearance{r.oneOf(mode.get("default"), "light", "dark", "system"), r.boolean(mode.get("isHidden"))}
	r.metatags(v.get("metadata"), &c.SEO)
	if r.boolean(r.section(v, "seo").get("indexHiddenPages")) {
		c.SEO.Indexing = "all"
	}
	c.Styling = r.legacyStyling(v)
	if x := v.get("search"); x.members() != nil {
		c.SearchPrompt = r.str(x.get("prompt"))
		r.searchPlace(x.get("location"))
	} else {
		r.searchPlace(x)
	}
	c.API = r.legacyAPI(v)
	c.Contextual = r.contextual(v.get("contextual"))
	c.Repository = r.repository(v)
	c.Ratings = r.ratings(v)
	c.Integrations = r.integrations(v.get("integrations"))
	for name, settings := range r.integrations(v.get("analytics")) {
		if c.Integrations == nil {
			c.Integrations = make(map[string]map[string]string)
		}
		if _, twice := c.Integrations[name]; !twice {
			c.Integrations[name] = settings
		}
	}
	r.boolean(v.get("isWhiteLabeled")) // no page of a bundle names its maker
	return c
}

// legacyFonts reads one font, or one for "headings" and one for "body".
func (r *configReader) legacyFonts(v *value) (f Fonts) {
	if !r.object(v) {
		return f
	}
	one := func(v *value) Font {
		source := r.str(v.get("url"))
		r.refer(v.get("url"), source, true)
		return Font{r.str(v.get("family")), source, r.str(v.get("format")), r.str(v.get("weight"))}
	}
	all := one(v)
	f = Fonts{all, all}
	if x := v.get("headings"); r.object(x) {
		f.Heading = one(x)
	}
	if x := v.get("body"); r.object(x) {
		f.Body = one(x)
	}
	return f
}

func (r *configReader) legacyStyling(v *value) (s Styling) {
	s.Eyebrows = r.oneOf(r.section(v, "eyebrow").get("display"), "section", "breadcrumbs")
	s.DarkCode = r.oneOf(r.section(v, "codeBlock").get("mode"), "auto", "dark") == "dark"
	s.Sharp = r.oneOf(v.get("rounded"), "default", "sharp") == "sharp"
	r.shape(v.get("layout"), "pages", "topnav")
	r.shape(r.section(v, "sidebar").get("items"), "entries of the sidebar", "container")
	r.shape(r.section(v, "topbar").get("style"), "headers", "default")
	return s
}

// shape reads the name of a shape that the older looks had; usual is the one
// that is most like the look.
func (r *configReader) shape(v *value, what, usual string) {
	if s := r.str(v); s != "" && s != usual {
		r.report(v, mdx.Info, "config-unsupported", "%s have one shape, and not %q", what, s)
	}
}

// searchPlace reads where the search field is to stand.
func (r *configReader) searchPlace(v *value) {
	if r.oneOf(v, "side", "top") == "side" {
		r.report(v, mdx.Info, "config-unsupported", "the search field stands in the header")
	}
}

func (r *configReader) legacyAPI(v *value) (a API) {
	a.OpenAPI, a.OpenAPIDirectory = r.specs(v.get("openapi"))
	x := v.get("api")
	if !r.object(x) {
		return a
	}
	for _, y := range [...]*value{x.get("baseUrl"), x.get("auth")} {
		if y != nil {
			y.open = true
			r.tell(y, capability.Setting, "api.mdx")
		}
	}
	if y := x.get("playground"); r.object(y) {
		switch r.oneOf(y.get("mode"), "show", "simple", "hide") {
		case "show":
			a.Playground = "interactive"
		case "simple":
			a.Playground = "simple"
		case "hide":
			a.Playground = "none"
		}
		if off := y.get("disableProxy"); off != nil && !r.boolean(off) {
			r.tell(off, capability.Setting, "api.playground.proxy")
		}
	}
	if y := x.get("request"); r.object(y) {
		if z := y.get("example"); r.object(z) {
			a.Examples.Languages = r.strings(z.get("languages"))
			switch shown := r.maybe(z.get("showOptionalParams")); {
			case shown == nil:
			case *shown:
				a.Examples.Defaults = "all"
			default:
				a.Examples.Defaults = "required"
			}
		}
	}
	a.Params = r.str(r.section(x, "paramFields").get("expanded"))
	a.MaintainOrder = r.boolean(x.get("maintainOrder"))
	return a
}

// legacyPart is a tab or an anchor. Those that name a prefix of addresses have
// the groups whose first page begins with it.
type legacyPart struct {
	node    *Node
	prefix  string // with a slash at its end; "" for a link
	version string // "" for all
}

// legacyGroup is a group of the older navigation.
type legacyGroup struct {
	node    *Node
	version string // "" for all
}

// legacyRoot builds the navigation of mint.json: a list of groups, tabs and
// anchors, and versions that these may name. What names no version belongs to
// all.
func (n *navReader) legacyRoot(v *value) *Node {
	root := &Node{Kind: KindRoot, Page: -1, Root: -1}
	var groups []legacyGroup
	for _, i := range n.items(v.get("navigation")) {
		version := n.str(i.get("version"))
		for _, node := range n.entries([]*value{i}, root) {
			groups = append(groups, legacyGroup{node, version})
		}
	}
	parts := n.legacyParts(v, "tabs", KindTab)
	tabs := len(parts)
	parts = append(parts, n.legacyParts(v, "anchors", KindAnchor)...)

	first := &Node{Kind: KindTab, Label: n.str(v.get("primaryTab").get("name")), Page: -1, Root: -1, Default: true}
	first.Hidden = n.boolean(v.get("primaryTab").get("isDefaultHidden"))
	if top := v.get("topAnchor"); n.object(top) {
		label, icon := n.str(top.get("name")), n.icon(top)
		if tabs == 0 {
			first.Label, first.Icon = label, icon
		}
	}
	if tabs == 0 {
		first.Kind = KindAnchor
		first.Icon.Name = cmp.Or(first.Icon.Name, "book-open")
	}
	first.Label = cmp.Or(first.Label, "Documentation")

	var versions []*Node
	for _, i := range n.items(v.get("versions")) {
		node := &Node{Kind: KindVersion, Page: -1, Root: -1}
		if _, ok := i.text(); ok {
			node.Label = n.str(i)
		} else if n.object(i) {
			if node.Label = n.str(i.get("name")); node.Label == "" {
				node.Label = n.str(i.get("version"))
			}
			if locale := n.str(i.get("locale")); locale != "" {
				node.Kind, node.Label = KindLanguage, locale
			}
			node.Default, node.Href = n.boolean(i.get("default")), n.str(i.get("url"))
		}
		if node.Label != "" {
			versions = append(versions, node)
		}
	}
	if len(versions) == 0 {
		root.Children = n.legacyLevel("", groups, parts, first)
		return root
	}
	for _, version := range versions {
		version.Children = n.legacyLevel(version.Label, groups, parts, first)
	}
	root.Children = versions
	return root
}

// legacyParts reads the tabs or the anchors.
func (n *navReader) legacyParts(v *value, list string, kind NodeKind) (parts []legacyPart) {
	colors := v.get("colors").get("anchors")
	if kind == KindAnchor {
		n.gradient(colors) // also where each anchor has a colour of its own
	}
	for _, i := range n.items(v.get(list)) {
		if !n.object(i) {
			continue
		}
		node := &Node{Kind: kind, Page: -1, Root: -1, Label: n.str(i.get("name")), Icon: n.icon(i), Hidden: n.boolean(i.get("isDefaultHidden"))}
		specs, _ := n.specs(i.get("openapi"))
		node.OpenAPI = strings.Join(specs, " ")
		if kind == KindAnchor {
			node.ColorLight, node.ColorDark = n.gradient(cmp.Or(i.get("color"), colors))
		}
		part := legacyPart{node: node, version: n.str(i.get("version"))}
		url := n.str(i.get("url"))
		switch {
		case url == "":
			n.report(i, mdx.Warning, "nav-entry", "this entry of %q has no url", list)
			continue
		case schemeOf(url) != "" || strings.HasPrefix(url, "/"):
			node.Href = url
			n.refer(i, url, false)
		default:
			part.prefix = strings.Trim(path.Clean(url), "/") + "/"
		}
		parts = append(parts, part)
	}
	return parts
}

// gradient reads a colour, or the ends of a gradient.
func (n *navReader) gradient(v *value) (light, dark string) {
	if v.members() == nil {
		return n.colors(v)
	}
	light, dark = n.color(v.get("from")), n.color(v.get("to"))
	n.color(v.get("via"))
	light = cmp.Or(light, dark)
	return light, light
}

// legacyLevel puts each group into the tab or anchor with the longest prefix
// that its first page has, and the others to first.
func (n *navReader) legacyLevel(version string, groups []legacyGroup, parts []legacyPart, first *Node) []*Node {
	in := func(of string) bool { return of == "" || version == "" || of == version }
	var out []*Node
	var own []legacyPart
	for _, p := range parts {
		if in(p.version) {
			p.node = clone(p.node)
			own = append(own, p)
			out = append(out, p.node)
		}
	}
	first = clone(first)
	for _, g := range groups {
		if !in(g.version) {
			continue
		}
		home, best := first, 0
		if p := n.firstPage(g.node); p >= 0 {
			for _, pt := range own {
				if pt.prefix != "" && strings.HasPrefix(n.site.Pages[p].Address, pt.prefix) && len(pt.prefix) > best {
					home, best = pt.node, len(pt.prefix)
				}
			}
		}
		home.Children = append(home.Children, clone(g.node))
	}
	switch {
	case len(out) == 0:
		return first.Children
	case len(first.Children) > 0:
		return slices.Insert(out, 0, first)
	}
	return out
}

// clone copies a node with all below it: no node stands in two places.
func clone(n *Node) *Node {
	c := *n
	c.Children = nil
	for _, k := range n.Children {
		c.Children = append(c.Children, clone(k))
	}
	return &c
}

func (n *navReader) firstPage(node *Node) int {
	if node.Kind == KindPage {
		return node.Page
	}
	for _, c := range node.Children {
		if p := n.firstPage(c); p >= 0 {
			return p
		}
	}
	return -1
}
