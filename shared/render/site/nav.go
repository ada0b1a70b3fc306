package site

import (
	"math"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// division is one of the lists that divide a site.
type division struct {
	list, name string
	kind       NodeKind
}

// divisions are the lists of docs.json that divide a site, with the field that
// names an entry, in the order in which they are read where several stand in
// one object.
var divisions = [...]division{
	{"products", "product", KindProduct},
	{"versions", "version", KindVersion},
	{"languages", "language", KindLanguage},
	{"dropdowns", "dropdown", KindDropdown},
	{"tabs", "tab", KindTab},
	{"anchors", "anchor", KindAnchor},
	{"menu", "item", KindMenu},
}

// endpointEntry matches navigation entries that name an API operation instead
// of a page: "GET /users", also with a specification before it.
var endpointEntry = lazy.Regexp(`(^|\s)(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE|WEBHOOK)\s+\S`)

// navReader builds the navigation of docs.json.
type navReader struct {
	*configReader
	// page finds a page by the address that an entry names.
	page func(address string) (int, bool)
	// used is told every page that the navigation names.
	used func(page int)
	site *Site
	// api finds and makes pages about operations; above is the node whose
	// entries are being read.
	api   *apiReader
	above *Node
}

// root reads the field "navigation".
func (n *navReader) root(v *value) *Node {
	root := &Node{Kind: KindRoot, Page: -1, Root: -1}
	root.specs.openDirectory, root.specs.asyncDirectory = n.site.Config.API.OpenAPIDirectory, n.site.Config.API.AsyncAPIDirectory
	if v == nil {
		return root
	}
	if l := v.list(); l != nil { // a bare list of groups and pages
		root.Children = n.entries(l, root)
		return root
	}
	if !n.object(v) {
		return root
	}
	if g := v.get("global"); n.object(g) {
		n.site.Global = n.children(g, root)
	}
	n.fill(root, v, root)
	return root
}

// fill reads into node the fields that all kinds of nodes share. What stands
// above has a say in some.
func (n *navReader) fill(node *Node, v *value, above *Node) {
	n.tellEntry(v)
	node.at = v
	node.access = n.navAccess(v)
	node.Icon = n.icon(v)
	node.Tag = n.str(v.get("tag"))
	node.Description = n.str(v.get("description"))
	node.Hidden = n.boolean(v.get("hidden"))
	node.Default = n.boolean(v.get("default"))
	node.Expanded = n.boolean(v.get("expanded"))
	node.Searchable = n.maybe(v.get("searchable"))
	node.Boost = n.number(v.get("boost"))
	switch node.Directory = n.oneOf(v.get("directory"), "none", "card", "accordion"); node.Directory {
	case "":
		node.Directory = above.Directory
	case "none":
		node.Directory = ""
	}
	var specs []string
	specs, node.OpenAPIDirectory = n.specs(v.get("openapi"))
	node.OpenAPI = strings.Join(specs, " ")
	specs, node.AsyncAPIDirectory = n.specs(v.get("asyncapi"))
	node.AsyncAPI = strings.Join(specs, " ")
	named := n.api.own(node, above, v.get("openapi"), v.get("asyncapi"))
	if c := v.get("color"); c != nil {
		node.ColorLight, node.ColorDark = n.colors(c)
	}
	if x := v.get("navbar"); n.object(x) {
		c := n.navbar(x)
		node.Navbar = &c
	}
	if x := v.get("footer"); n.object(x) {
		c := n.footer(x)
		node.Footer = &c
	}
	if x := v.get("banner"); x != nil {
		c := n.banner(x)
		node.Banner = &c
	}
	href := v.get("href")
	if href == nil {
		href = v.get("url")
	}
	if node.Href = n.str(href); node.Href != "" {
		n.refer(href, node.Href, false)
	}
	if root := v.get("root"); root != nil {
		if p, ok := n.find(root, n.str(root)); ok {
			node.Root = p
		}
	}
	node.Children = n.children(v, node)
	if named && len(node.Children) == 0 && node.Href == "" {
		node.Children = n.api.all(node, v.get("openapi") != nil, v.get("asyncapi") != nil, n.used)
	}
}

// number reads a number that is not negative.
func (n *navReader) number(v *value) float64 {
	s := n.str(v)
	if s == "" {
		return 0
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f < 0 || math.IsInf(f, 0) || math.IsNaN(f) {
		n.report(v, mdx.Warning, "config-type", "expected a number, found %q", s)
		return 0
	}
	return f
}

// children reads the lists below a node: divisions, groups and pages.
func (n *navReader) children(v *value, above *Node) []*Node {
	var out []*Node
	for _, d := range divisions {
		for _, i := range n.items(v.get(d.list)) {
			if s, ok := i.text(); ok && d.kind == KindVersion { // a version by its name alone
				out = append(out, &Node{Kind: d.kind, Page: -1, Root: -1, Label: n.expand(s), at: i})
				continue
			}
			if !n.object(i) {
				continue
			}
			c := &Node{Kind: d.kind, Page: -1, Root: -1, Label: n.str(i.get(d.name))}
			if name := n.str(i.get("name")); c.Label == "" {
				c.Label = name
			}
			n.fill(c, i, above)
			if c.Label == "" {
				n.report(i, mdx.Warning, "nav-label", "an entry of %q has no field %q", d.list, d.name)
				c.Label = strings.ToUpper(d.name[:1]) + d.name[1:]
			}
			out = append(out, c)
		}
	}
	if n.readers(v) == nil {
		out = append(out, n.entries(n.items(v.get("groups")), above)...)
	}
	return append(out, n.entries(n.items(v.get("pages")), above)...)
}

// entries reads a list that mixes pages, groups and links.
func (n *navReader) entries(list []*value, above *Node) []*Node {
	var out []*Node
	for _, i := range list {
		n.above = above
		switch x := i.v.(type) {
		case string:
			if c := n.entry(i, n.expand(x)); c != nil {
				out = append(out, c)
			}
		case []member:
			if c := n.entryObject(i, above); c != nil {
				out = append(out, c)
			}
		case nil: // a reference that led nowhere, reported already
		default:
			n.report(i, mdx.Warning, "config-type", "expected a page or a group, found %s", i.kind())
		}
	}
	return out
}

// entry reads a page's name, or the address of another site.
func (n *navReader) entry(v *value, name string) *Node {
	if strings.Contains(name, "://") {
		return &Node{Kind: KindLink, Page: -1, Root: -1, Label: name, Href: name, at: v}
	}
	if p, ok := n.find(v, name); ok {
		return &Node{Kind: KindPage, Page: p, Root: -1, at: v}
	}
	return nil
}

// entryObject reads a group, or an entry such as {"title": …, "href": …}.
func (n *navReader) entryObject(v *value, above *Node) *Node {
	if g := v.get("group"); g != nil || v.get("pages") != nil {
		c := &Node{Kind: KindGroup, Page: -1, Root: -1, Label: n.str(g)}
		n.fill(c, v, above)
		return c
	}
	if v.get("href") == nil && v.get("page") == nil {
		for _, d := range divisions { // a division among the pages, as some sites write it
			if v.get(d.name) != nil && len(v.members()) > 1 {
				c := &Node{Kind: KindGroup, Page: -1, Root: -1, Label: n.str(v.get(d.name))}
				n.fill(c, v, above)
				return c
			}
		}
	}
	href := n.str(v.get("href"))
	if href == "" {
		href = n.str(v.get("url"))
	}
	label := ""
	for _, key := range [...]string{"title", "label", "name", "anchor"} {
		if s := n.str(v.get(key)); label == "" {
			label = s
		}
	}
	c := &Node{Kind: KindLink, Page: -1, Root: -1, Href: href, Label: label, Icon: n.icon(v), Tag: n.str(v.get("tag")), Hidden: n.boolean(v.get("hidden")), access: n.navAccess(v), at: v}
	page := n.str(v.get("page"))
	switch {
	case href != "":
		if c.Label == "" {
			if c.Label = page; page == "" {
				c.Label = href
			}
		}
		n.refer(v, href, false)
		return c
	case page == "":
		n.report(v, mdx.Warning, "nav-entry", "an entry of the navigation is neither a page, a group nor a link")
		return nil
	case strings.Contains(page, "://"):
		if c.Href = page; c.Label == "" {
			c.Label = page
		}
		return c
	}
	p, ok := n.find(v, page)
	if !ok {
		return nil
	}
	c.Kind, c.Page = KindPage, p
	return c
}

// find looks for the page that an entry names, and reports it when missing.
func (n *navReader) find(v *value, name string) (int, bool) {
	if p, ok := n.page(name); ok {
		n.used(p)
		return p, true
	}
	if n.above != nil {
		if p, ok := n.api.operation(n.above, name); ok {
			n.used(p)
			return p, true
		}
	}
	if n.above != nil && n.api.restricted(n.above, name) {
		return -1, false // reported where the specification says so
	}
	if endpointEntry().MatchString(name) {
		n.report(v, mdx.Notice, "nav-endpoint", "the operation %q is in none of the site's specifications: it has no page", name)
	} else {
		n.report(v, mdx.Error, "nav-missing", "the navigation names a page that does not exist: %q", name)
	}
	return -1, false
}
