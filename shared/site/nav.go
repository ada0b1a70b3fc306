package site

import (
	"regexp"
	"strings"

	"github.com/bindery-docs/bindery/shared/mdx"
)

// divisions are the lists of docs.json that divide a site, with the field that
// names an entry, in the order in which they are read where several stand in
// one object.
var divisions = [...]struct {
	list, name string
	kind       NodeKind
}{
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
var endpointEntry = regexp.MustCompile(`(^|\s)(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE|WEBHOOK)\s+\S`)

// navReader builds the navigation of docs.json.
type navReader struct {
	*configReader
	// page finds a page by the address that an entry names.
	page func(address string) (int, bool)
	// used is told every page that the navigation names.
	used func(page int)
	site *Site
}

// root reads the field "navigation".
func (n *navReader) root(v *value) *Node {
	root := &Node{Kind: KindRoot, Page: -1, Root: -1}
	if v == nil {
		return root
	}
	if l := v.list(); l != nil { // a bare list of groups and pages
		root.Children = n.entries(l)
		return root
	}
	if !n.object(v) {
		return root
	}
	if g := v.get("global"); g != nil && n.object(g) {
		n.site.Global = n.children(g)
	}
	n.fill(root, v)
	return root
}

// fill reads into node the fields that all kinds of nodes share.
func (n *navReader) fill(node *Node, v *value) {
	node.Icon, node.IconLibrary = n.icon(v.get("icon"))
	node.Tag = n.str(v.get("tag"))
	node.Description = n.str(v.get("description"))
	node.Hidden = n.boolean(v.get("hidden"))
	node.Default = n.boolean(v.get("default"))
	node.Expanded = n.boolean(v.get("expanded"))
	if d, ok := v.get("directory").text(); ok {
		node.Directory = d
	}
	if s := n.specs(v.get("openapi")); len(s) > 0 {
		node.OpenAPI = strings.Join(s, " ")
	}
	if href := v.get("href"); href != nil {
		node.Href = n.str(href)
		n.refer(href, node.Href, false)
	} else if u, ok := v.get("url").text(); ok {
		node.Href = u
		n.refer(v.get("url"), u, false)
	}
	if root := v.get("root"); root != nil {
		if p, ok := n.find(root, n.str(root)); ok {
			node.Root = p
		}
	}
	node.Children = n.children(v)
}

// children reads the lists below a node: divisions, groups and pages.
func (n *navReader) children(v *value) []*Node {
	var out []*Node
	for _, d := range divisions {
		list := v.get(d.list)
		if list == nil {
			continue
		}
		for _, i := range n.items(list) {
			if !n.object(i) {
				continue
			}
			c := &Node{Kind: d.kind, Page: -1, Root: -1, Label: n.str(i.get(d.name))}
			if c.Label == "" && d.kind == KindLanguage {
				c.Label = n.str(i.get("name"))
			}
			n.fill(c, i)
			if c.Label == "" {
				n.report(i, mdx.Warning, "nav-label", "an entry of %q has no field %q", d.list, d.name)
				c.Label = strings.ToUpper(d.name[:1]) + d.name[1:]
			}
			out = append(out, c)
		}
	}
	out = append(out, n.entries(n.items(v.get("groups")))...)
	return append(out, n.entries(n.items(v.get("pages")))...)
}

// entries reads a list that mixes pages, groups and links.
func (n *navReader) entries(list []*value) []*Node {
	var out []*Node
	for _, i := range list {
		switch x := i.v.(type) {
		case string:
			if c := n.entry(i, x); c != nil {
				out = append(out, c)
			}
		case []member:
			if c := n.entryObject(i); c != nil {
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
		return &Node{Kind: KindLink, Page: -1, Root: -1, Label: name, Href: name}
	}
	if p, ok := n.find(v, name); ok {
		return &Node{Kind: KindPage, Page: p, Root: -1}
	}
	return nil
}

// entryObject reads a group, or an entry such as {"title": …, "href": …}.
func (n *navReader) entryObject(v *value) *Node {
	if g := v.get("group"); g != nil || v.get("pages") != nil {
		c := &Node{Kind: KindGroup, Page: -1, Root: -1, Label: n.str(g)}
		n.fill(c, v)
		return c
	}
	for _, d := range divisions { // a division among the pages, as some sites write it
		if v.get(d.name) != nil && len(v.members()) > 1 && v.get("href") == nil {
			c := &Node{Kind: KindGroup, Page: -1, Root: -1, Label: n.str(v.get(d.name))}
			n.fill(c, v)
			return c
		}
	}
	href := n.str(v.get("href"))
	if href == "" {
		href = n.str(v.get("url"))
	}
	label := ""
	for _, key := range [...]string{"title", "label", "name", "anchor", "page"} {
		if s, ok := v.get(key).text(); ok && label == "" {
			label = s
		}
	}
	if p, ok := v.get("page").text(); ok && href == "" {
		if c := n.entry(v, p); c != nil {
			c.Icon, c.IconLibrary = n.icon(v.get("icon"))
			c.Tag = n.str(v.get("tag"))
			c.Hidden = n.boolean(v.get("hidden"))
			if label != p {
				c.Label = label
			}
			return c
		}
		return nil
	}
	if href == "" {
		n.report(v, mdx.Warning, "nav-entry", "an entry of the navigation is neither a page, a group nor a link")
		return nil
	}
	if label == "" {
		label = href
	}
	n.refer(v, href, false)
	c := &Node{Kind: KindLink, Page: -1, Root: -1, Label: label, Href: href}
	c.Icon, c.IconLibrary = n.icon(v.get("icon"))
	c.Hidden = n.boolean(v.get("hidden"))
	return c
}

// find looks for the page that an entry names, and reports it when missing.
func (n *navReader) find(v *value, name string) (int, bool) {
	if p, ok := n.page(name); ok {
		n.used(p)
		return p, true
	}
	if endpointEntry.MatchString(name) {
		n.report(v, mdx.Notice, "nav-endpoint", "the operation %q has no page yet", name)
	} else {
		n.report(v, mdx.Error, "nav-missing", "the navigation names a page that there is not: %q", name)
	}
	return -1, false
}
