package site

import (
	"path"
	"strings"
)

// legacyConfig reads the fields of mint.json, the form before docs.json.
func (r *configReader) legacyConfig(v *value) Config {
	var c Config
	c.Name, c.Description = r.str(v.get("name")), r.str(v.get("description"))
	c.Theme = r.str(v.get("theme"))
	if x := v.get("colors"); r.object(x) {
		c.Colors = Colors{r.color(x.get("primary")), r.color(x.get("light")), r.color(x.get("dark"))}
	}
	c.Logo, c.Favicon = r.picture(v.get("logo")), r.picture(v.get("favicon"))
	for _, l := range r.items(v.get("topbarLinks")) {
		if n, ok := r.navLink(l); ok {
			c.Navbar.Links = append(c.Navbar.Links, n)
		}
	}
	if p := v.get("topbarCtaButton"); p != nil {
		if n, ok := r.navLink(p); ok {
			c.Navbar.Primary = &n
		}
	}
	c.Footer.Socials = r.socials(v.get("footerSocials"))
	if x := v.get("modeToggle"); r.object(x) {
		c.Appearance = Appearance{r.str(x.get("default")), r.boolean(x.get("isHidden"))}
	}
	if x := v.get("metadata"); r.object(x) {
		r.metatags(x, &c.SEO)
	}
	c.API.OpenAPI = r.specs(v.get("openapi"))
	if x := v.get("api"); r.object(x) {
		c.API.Servers = r.strings(x.get("baseUrl"))
		c.API.AuthMethod = r.str(x.get("auth").get("method"))
		c.API.AuthName = r.str(x.get("auth").get("name"))
	}
	return c
}

// legacyRoot builds the navigation of mint.json: a list of groups, and tabs and
// anchors that name a prefix of addresses. A group belongs to the tab or anchor
// with the longest prefix that its first page has.
func (n *navReader) legacyRoot(v *value) *Node {
	root := &Node{Kind: KindRoot, Page: -1, Root: -1}
	groups := n.entries(n.items(v.get("navigation")))
	type part struct {
		prefix string
		node   *Node
	}
	var parts []part
	add := func(list string, kind NodeKind) {
		for _, i := range n.items(v.get(list)) {
			if !n.object(i) {
				continue
			}
			node := &Node{Kind: kind, Page: -1, Root: -1, Label: n.str(i.get("name"))}
			node.Icon, node.IconLibrary = n.icon(i.get("icon"))
			url := n.str(i.get("url"))
			if strings.Contains(url, "://") || strings.HasPrefix(url, "/") {
				node.Href = url
				n.refer(i, url, false)
			} else {
				parts = append(parts, part{strings.Trim(path.Clean(url), "/") + "/", node})
			}
			root.Children = append(root.Children, node)
		}
	}
	add("tabs", KindTab)
	add("anchors", KindAnchor)
	if len(root.Children) == 0 {
		root.Children = groups
		return root
	}
	name := n.str(v.get("primaryTab").get("name"))
	if name == "" {
		name = "Documentation"
	}
	first := &Node{Kind: KindTab, Label: name, Page: -1, Root: -1, Default: true}
	for _, g := range groups {
		home, best := first, -1
		if p := n.firstPage(g); p >= 0 {
			for _, pt := range parts {
				if strings.HasPrefix(n.site.Pages[p].Address, pt.prefix) && len(pt.prefix) > best {
					home, best = pt.node, len(pt.prefix)
				}
			}
		}
		home.Children = append(home.Children, g)
	}
	if len(first.Children) > 0 {
		root.Children = append([]*Node{first}, root.Children...)
	}
	return root
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
