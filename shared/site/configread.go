package site

import (
	"strings"

	"github.com/bindery-docs/bindery/shared/mdx"
)

// config reads the fields of docs.json. What has another form than expected is
// reported and left out.
func (r *configReader) config(v *value) Config {
	var c Config
	r.unknown(v, "the configuration", "theme", "name", "description", "colors", "logo", "favicon", "fonts", "icons",
		"navbar", "navigation", "footer", "banner", "appearance", "background", "seo", "styling", "errors", "api",
		"variables", "contextual", "thumbnails", "search", "redirects", "styles", "scripts", "head", "integrations",
		"interaction", "metadata", "canonical", "analytics")
	c.Theme = r.str(v.get("theme"))
	c.Name = r.str(v.get("name"))
	c.Description = r.str(v.get("description"))
	if x := v.get("colors"); r.object(x) {
		c.Colors = Colors{r.color(x.get("primary")), r.color(x.get("light")), r.color(x.get("dark"))}
	}
	c.Logo = r.picture(v.get("logo"))
	c.Favicon = r.picture(v.get("favicon"))
	if x := v.get("fonts"); r.object(x) {
		if x.get("family") != nil || x.get("source") != nil {
			f := r.font(x)
			c.Fonts = Fonts{f, f}
		}
		if y := x.get("heading"); r.object(y) {
			c.Fonts.Heading = r.font(y)
		}
		if y := x.get("body"); r.object(y) {
			c.Fonts.Body = r.font(y)
		}
	}
	if x := v.get("icons"); r.object(x) {
		c.Icons.Library = r.str(x.get("library"))
	}
	if x := v.get("navbar"); r.object(x) {
		for _, l := range r.items(x.get("links")) {
			if n, ok := r.navLink(l); ok {
				c.Navbar.Links = append(c.Navbar.Links, n)
			}
		}
		if p := x.get("primary"); p != nil {
			if n, ok := r.navLink(p); ok {
				c.Navbar.Primary = &n
			}
		}
	}
	if x := v.get("footer"); r.object(x) {
		c.Footer.Socials = r.socials(x.get("socials"))
		for _, col := range r.items(x.get("links")) {
			if !r.object(col) {
				continue
			}
			fc := FooterColumn{Header: r.str(col.get("header"))}
			for _, l := range r.items(col.get("items")) {
				if n, ok := r.navLink(l); ok {
					fc.Items = append(fc.Items, n)
				}
			}
			c.Footer.Links = append(c.Footer.Links, fc)
		}
	}
	if x := v.get("banner"); r.object(x) {
		c.Banner = Banner{r.str(x.get("content")), r.boolean(x.get("dismissible"))}
	}
	if x := v.get("appearance"); r.object(x) {
		c.Appearance = Appearance{r.str(x.get("default")), r.boolean(x.get("strict"))}
	}
	if x := v.get("background"); r.object(x) {
		c.Background.Decoration = r.str(x.get("decoration"))
		if y := x.get("color"); r.object(y) {
			c.Background.ColorLight, c.Background.ColorDark = r.color(y.get("light")), r.color(y.get("dark"))
		}
		p := r.picture(x.get("image"))
		c.Background.ImageLight, c.Background.ImageDark = p.Light, p.Dark
	}
	if x := v.get("seo"); r.object(x) {
		c.SEO.Indexing = r.str(x.get("indexing"))
		r.metatags(x.get("metatags"), &c.SEO)
	}
	if x := v.get("metadata"); r.object(x) {
		r.metatags(x, &c.SEO)
	}
	if x := v.get("styling"); r.object(x) {
		c.Styling.Eyebrows = r.str(x.get("eyebrows"))
		y := x.get("codeblocks")
		if s, ok := y.text(); ok {
			c.Styling.CodeTheme = s
		} else if s, ok := y.get("theme").text(); ok {
			c.Styling.CodeTheme = s
		}
	}
	if x := v.get("errors").get("404"); r.object(x) {
		c.NotFound.Title, c.NotFound.Description = r.str(x.get("title")), r.str(x.get("description"))
		if y := x.get("redirect"); y != nil {
			b := r.boolean(y)
			c.NotFound.Redirect = &b
		}
	}
	if x := v.get("api"); r.object(x) {
		c.API.OpenAPI = r.specs(x.get("openapi"))
		c.API.AsyncAPI = r.specs(x.get("asyncapi"))
		if y := x.get("playground"); r.object(y) {
			c.API.Playground = r.str(y.get("display"))
		}
		if y := x.get("mdx"); r.object(y) {
			c.API.Servers = r.strings(y.get("server"))
			c.API.AuthMethod = r.str(y.get("auth").get("method"))
			c.API.AuthName = r.str(y.get("auth").get("name"))
		}
	}
	if x := v.get("variables"); r.object(x) {
		c.Variables = make(map[string]string, len(x.members()))
		for _, m := range x.members() {
			c.Variables[m.key] = r.str(m.val)
		}
	}
	for _, o := range r.items(contextualOptions(v.get("contextual"))) {
		switch x := o.v.(type) {
		case string:
			c.Contextual = append(c.Contextual, x)
		case []member: // an option of the author's own is a link that needs its service
		}
	}
	c.Thumbnails = r.str(v.get("thumbnails").get("background"))
	c.SearchPrompt = r.str(v.get("search").get("prompt"))
	return c
}

func contextualOptions(v *value) *value {
	if v == nil || v.list() != nil {
		return v
	}
	return v.get("options")
}

// color reads a CSS hex colour.
func (r *configReader) color(v *value) string {
	if v == nil {
		return ""
	}
	s := r.str(v)
	if s == "" || !isHexColor(s) {
		r.report(v, mdx.Warning, "config-color", "%q is no colour such as #0055aa", s)
		return ""
	}
	return s
}

func isHexColor(s string) bool {
	if len(s) != 4 && len(s) != 5 && len(s) != 7 && len(s) != 9 || s[0] != '#' {
		return false
	}
	return strings.Trim(s[1:], "0123456789abcdefABCDEF") == ""
}

// picture reads a path, or an object with light, dark and href.
func (r *configReader) picture(v *value) Logo {
	if v == nil {
		return Logo{}
	}
	if s, ok := v.text(); ok {
		r.refer(v, s, true)
		return Logo{Light: s, Dark: s}
	}
	if !r.object(v) {
		return Logo{}
	}
	l := Logo{Light: r.str(v.get("light")), Dark: r.str(v.get("dark")), Href: r.str(v.get("href"))}
	r.refer(v.get("light"), l.Light, true)
	r.refer(v.get("dark"), l.Dark, true)
	r.refer(v.get("href"), l.Href, false)
	if l.Light == "" {
		l.Light = l.Dark
	}
	if l.Dark == "" {
		l.Dark = l.Light
	}
	return l
}

func (r *configReader) font(v *value) Font {
	r.refer(v.get("source"), r.str(v.get("source")), true)
	return Font{r.str(v.get("family")), r.str(v.get("source")), r.str(v.get("format")), r.str(v.get("weight"))}
}

// navLink reads a link of the header or the footer.
func (r *configReader) navLink(v *value) (NavLink, bool) {
	if !r.object(v) {
		return NavLink{}, false
	}
	n := NavLink{Label: r.str(v.get("label")), Href: r.str(v.get("href")), Type: r.str(v.get("type"))}
	n.Icon, _ = r.icon(v.get("icon"))
	if n.Label == "" {
		n.Label = r.str(v.get("name"))
	}
	if n.Href == "" {
		n.Href = r.str(v.get("url"))
	}
	if n.Label == "" && n.Type != "" && n.Type != "button" {
		n.Label = strings.ToUpper(n.Type[:1]) + n.Type[1:]
		if n.Type == "github" {
			n.Label = "GitHub"
		}
	}
	if n.Href == "" {
		r.report(v, mdx.Warning, "config-link", "this link has no href")
		return n, false
	}
	if n.Label == "" {
		n.Label = n.Href
	}
	r.refer(v, n.Href, false)
	return n, true
}

// icon reads a name, or an object with name and library.
func (r *configReader) icon(v *value) (name, library string) {
	if v == nil {
		return "", ""
	}
	if s, ok := v.text(); ok {
		return s, ""
	}
	if !r.object(v) {
		return "", ""
	}
	return r.str(v.get("name")), r.str(v.get("library"))
}

// socials reads {"github": "https://…"} or [{"type": "github", "url": "…"}].
func (r *configReader) socials(v *value) []Social {
	var out []Social
	for _, m := range v.members() {
		if s := r.str(m.val); s != "" {
			r.refer(m.val, s, false)
			out = append(out, Social{m.key, s})
		}
	}
	for _, i := range v.list() {
		if s := r.str(i.get("url")); s != "" {
			r.refer(i.get("url"), s, false)
			out = append(out, Social{r.str(i.get("type")), s})
		}
	}
	return out
}

func (r *configReader) metatags(v *value, seo *SEO) {
	for _, m := range v.members() {
		content := r.str(m.val)
		if m.key == "robots" && strings.Contains(strings.ToLower(content), "noindex") {
			seo.NoIndex = true
		}
		seo.Metatags = append(seo.Metatags, Meta{m.key, content})
	}
}

// specs reads a specification's place: a string, a list of them, or an object
// with a source.
func (r *configReader) specs(v *value) []string {
	if v == nil {
		return nil
	}
	if src := v.get("source"); src != nil {
		return r.strings(src)
	}
	return r.strings(v)
}

// redirects reads the list of redirects, and gives the place of each.
func (r *configReader) redirects(v *value) (out []Redirect, places []*value) {
	for _, i := range r.items(v) {
		if !r.object(i) {
			continue
		}
		d := Redirect{Source: r.str(i.get("source")), Destination: r.str(i.get("destination"))}
		if d.Source == "" || d.Destination == "" {
			r.report(i, mdx.Warning, "config-redirect", "a redirect needs source and destination")
			continue
		}
		if p := i.get("permanent"); p != nil {
			d.Permanent = r.boolean(p)
		} else {
			d.Permanent = true
		}
		if !strings.HasPrefix(d.Source, "/") {
			d.Source = "/" + d.Source
		}
		out, places = append(out, d), append(places, i)
	}
	return out, places
}
