package site

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/capability"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/reference"
)

// config reads the fields of docs.json. What has another form than expected is
// reported and left out.
func (r *configReader) config(v *value) Config {
	c := Config{Variables: r.variables}
	r.tellSettings(v)
	c.Theme = r.str(v.get("theme"))
	c.Name = r.str(v.get("name"))
	c.Description = r.str(v.get("description"))
	colors := r.section(v, "colors")
	c.Colors = Colors{r.color(colors.get("primary")), r.color(colors.get("light")), r.color(colors.get("dark"))}
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
	c.Icons.Library = r.oneOf(r.section(v, "icons").get("library"), libraries...)
	c.Navbar, c.Footer, c.Banner = r.navbar(v.get("navbar")), r.footer(v.get("footer")), r.banner(v.get("banner"))
	appearance := r.section(v, "appearance")
	c.Appearance = Appearance{r.oneOf(appearance.get("default"), "system", "light", "dark"), r.boolean(appearance.get("strict"))}
	background := r.section(v, "background")
	c.Background.Decoration = r.oneOf(background.get("decoration"), decorations...)
	c.Background.ColorLight, c.Background.ColorDark = r.colors(background.get("color"))
	p := r.picture(background.get("image"))
	c.Background.ImageLight, c.Background.ImageDark = p.Light, p.Dark
	seo := r.section(v, "seo")
	c.SEO.Indexing = r.oneOf(seo.get("indexing"), "navigable", "all")
	r.metatags(seo.get("metatags"), &c.SEO)
	metadata := r.section(v, "metadata")
	c.Timestamp = r.boolean(metadata.get("timestamp"))
	r.metatags(metadata, &c.SEO)
	styling := r.section(v, "styling")
	c.Styling.Eyebrows = r.oneOf(styling.get("eyebrows"), "section", "breadcrumbs")
	c.Styling.Latex = r.maybe(styling.get("latex"))
	c.Styling.Sharp = r.oneOf(styling.get("rounded"), "default", "sharp") == "sharp"
	c.Styling.DarkCode = r.darkCode(styling.get("codeblocks"))
	missing := r.section(r.section(v, "errors"), "404")
	c.NotFound = NotFound{r.str(missing.get("title")), r.str(missing.get("description"))}
	if home := missing.get("redirect"); r.boolean(home) {
		r.tell(home, capability.Setting, "errors.404.redirect")
	}
	c.API = r.api(v.get("api"))
	c.Contextual = r.contextual(v.get("contextual"))
	thumbnails := r.section(v, "thumbnails")
	if v := thumbnails.get("background"); r.str(v) != "" {
		r.refer(v, r.str(v), true)
		r.tell(v, capability.Setting, "thumbnails.background")
	}
	c.Thumbnails.Appearance = r.oneOf(thumbnails.get("appearance"), "light", "dark")
	if v := r.section(thumbnails, "fonts").get("family"); r.str(v) != "" {
		r.tell(v, capability.Setting, "thumbnails.fonts.family")
	}
	c.SearchPrompt = r.str(r.section(v, "search").get("prompt"))
	c.Drilldown = r.maybe(r.section(v, "interaction").get("drilldown"))
	c.Repository = r.repository(v)
	c.Ratings = r.ratings(v)
	c.Integrations = r.integrations(v.get("integrations"))
	if x := v.get("head"); x != nil {
		x.open = true
		if len(x.list())+len(x.members()) > 0 {
			r.tell(x, capability.Setting, "head")
		}
	}
	return c
}

// Words that several fields take.
var (
	libraries   = []string{"fontawesome", "lucide", "tabler"}
	decorations = []string{"gradient", "grid", "windows"}
)

// readVariables reads the texts that replace {{name}}, before all else is read.
func (r *configReader) readVariables(v *value) map[string]string {
	if !r.object(v) {
		return nil
	}
	out := make(map[string]string, len(v.members()))
	for _, m := range v.fields() {
		if len(m.key) > maxVariableName || strings.ContainsAny(m.key, "{} \t\r\n") || m.key == "" {
			r.report(m.val, mdx.Warning, "config-variable", "%q can't be the name of a variable", m.key)
			continue
		}
		out[m.key] = r.str(m.val)
	}
	return out
}

func (r *configReader) navbar(v *value) (n Navbar) {
	if !r.object(v) {
		return n
	}
	for _, l := range r.items(v.get("links")) {
		if link, ok := r.navLink(l); ok {
			n.Links = append(n.Links, link)
		}
	}
	if p := v.get("primary"); p != nil {
		if link, ok := r.navLink(p); ok {
			n.Primary = &link
		}
	}
	return n
}

// footer reads both forms: columns with "header" and "items", and the older
// ones with "title" and "links".
func (r *configReader) footer(v *value) (f Footer) {
	if !r.object(v) {
		return f
	}
	f.Socials = r.socials(v.get("socials"))
	for _, col := range r.items(v.get("links")) {
		if !r.object(col) {
			continue
		}
		c := FooterColumn{Header: r.str(col.get("header"))}
		if c.Header == "" {
			c.Header = r.str(col.get("title"))
		}
		items := col.get("items")
		if items == nil {
			items = col.get("links")
		}
		for _, l := range r.items(items) {
			if n, ok := r.navLink(l); ok {
				c.Items = append(c.Items, n)
			}
		}
		f.Links = append(f.Links, c)
	}
	return f
}

func (r *configReader) banner(v *value) (b Banner) {
	if s, ok := v.text(); ok {
		return Banner{Content: r.expand(s)}
	}
	if !r.object(v) {
		return b
	}
	b = Banner{Content: r.str(v.get("content")), Dismissible: r.boolean(v.get("dismissible"))}
	b.Type = r.oneOf(v.get("type"), "info", "warning", "critical")
	b.ColorLight, b.ColorDark = r.colors(v.get("color"))
	return b
}

// darkCode reads a word or the name of a theme for code, or an object with one
// or two of them. Blocks have colours that are readable with the site's own;
// other themes are not taken.
func (r *configReader) darkCode(v *value) bool {
	if v == nil {
		return false
	}
	theme := v
	if _, word := v.text(); !word {
		if !r.object(v) {
			return false
		}
		theme = v.get("theme")
		if l := v.get("languages"); r.object(l) {
			if custom := r.strings(l.get("custom")); len(custom) > 0 {
				r.tell(l, capability.Setting, "styling.codeblocks.languages")
			}
		}
	}
	names := []string{}
	if theme.members() != nil {
		names = append(names, r.str(theme.get("light")), r.str(theme.get("dark")))
	} else {
		names = append(names, r.str(theme))
	}
	names = slices.DeleteFunc(names, func(s string) bool { return s == "" || s == "system" })
	switch {
	case len(names) == 0:
		return false
	case len(names) == 1 && names[0] == "dark":
		return true
	}
	r.tell(theme, capability.Setting, "styling.codeblocks")
	return false
}

func (r *configReader) api(v *value) (a API) {
	if !r.object(v) {
		return a
	}
	a.OpenAPI, a.OpenAPIDirectory = r.specs(v.get("openapi"))
	a.AsyncAPI, a.AsyncAPIDirectory = r.specs(v.get("asyncapi"))
	playground := r.section(v, "playground")
	a.Playground = r.oneOf(playground.get("display"), "interactive", "simple", "none", "auth")
	if x := playground.get("proxy"); r.boolean(x) {
		r.tell(x, capability.Setting, "api.playground.proxy")
	}
	a.Credentials = r.boolean(playground.get("credentials"))
	if a.Playground == "auth" {
		r.tell(playground.get("display"), capability.Setting, "api.playground.display")
	}
	params := r.section(v, "params")
	a.Params, a.Labels = r.str(params.get("expanded")), r.strings(params.get("post"))
	a.URL = r.str(v.get("url"))
	examples := r.section(v, "examples")
	a.Examples = APIExamples{
		Languages: r.sampleLanguages(examples.get("languages")), Defaults: r.oneOf(examples.get("defaults"), "required", "all"),
		Prefill: r.boolean(examples.get("prefill")), Autogenerate: r.maybe(examples.get("autogenerate")),
	}
	return a
}

// sampleLanguages reads the languages of samples, and reports those that samples
// are not written in.
func (r *configReader) sampleLanguages(v *value) []string {
	all := r.strings(v)
	others := slices.DeleteFunc(slices.Clone(all), reference.WritesSamples)
	if len(others) > 0 {
		r.tell(v, capability.Setting, "api.examples.languages", others...)
	}
	return all
}

// color reads a CSS hex colour.
func (r *configReader) color(v *value) string {
	if v == nil {
		return ""
	}
	s := r.str(v)
	if s == "" || !isHexColor(s) {
		r.report(v, mdx.Warning, "config-color", "%q is not a colour such as #0055aa", s)
		return ""
	}
	return s
}

// colors reads one colour for both appearances, or an object with "light" and
// "dark".
func (r *configReader) colors(v *value) (light, dark string) {
	if v.members() != nil {
		return r.color(v.get("light")), r.color(v.get("dark"))
	}
	light = r.color(v)
	return light, light
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
	l.Light = cmp.Or(l.Light, l.Dark)
	l.Dark = cmp.Or(l.Dark, l.Light)
	return l
}

func (r *configReader) font(v *value) Font {
	r.refer(v.get("source"), r.str(v.get("source")), true)
	return Font{r.str(v.get("family")), r.str(v.get("source")), r.str(v.get("format")), r.str(v.get("weight"))}
}

func (r *configReader) navLink(v *value) (NavLink, bool) {
	if !r.object(v) {
		return NavLink{}, false
	}
	n := NavLink{Label: r.str(v.get("label")), Href: r.str(v.get("href")), Type: r.str(v.get("type"))}
	n.Icon = r.icon(v)
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
	n.IconOnly = n.Label == "" && n.Icon.Name != ""
	n.Label = cmp.Or(n.Label, n.Href)
	if n.Type == "github" || n.Type == "discord" {
		r.tell(v.get("type"), capability.Setting, "navbar.links.type")
	}
	r.refer(v, n.Href, false)
	return n, true
}

// icon reads the icon of an entry: a name with "iconType" beside it, or an
// object with name, style and library.
func (r *configReader) icon(entry *value) Icon {
	v, style := entry.get("icon"), r.str(entry.get("iconType"))
	if v == nil {
		return Icon{}
	}
	i := Icon{Style: style}
	if v.members() != nil {
		i.Name = r.str(v.get("name"))
		i.Library = r.oneOf(v.get("library"), libraries...)
		if s := r.str(v.get("style")); s != "" {
			i.Style = s
		}
	} else {
		i.Name = r.str(v)
	}
	if i.Name == "" {
		return Icon{}
	}
	return i
}

// socials reads {"github": "https://…"} or [{"type": "github", "url": "…"}].
func (r *configReader) socials(v *value) []Social {
	var out []Social
	for _, m := range v.fields() {
		if s := r.str(m.val); s != "" {
			r.refer(m.val, s, false)
			out = append(out, Social{m.key, s})
		}
	}
	if v.members() != nil {
		return out
	}
	for _, i := range r.items(v) {
		if !r.object(i) {
			continue
		}
		if s := r.str(i.get("url")); s != "" {
			r.refer(i.get("url"), s, false)
			out = append(out, Social{r.str(i.get("type")), s})
		}
	}
	return out
}

func (r *configReader) metatags(v *value, seo *SEO) {
	if !r.object(v) {
		return
	}
	for _, m := range v.fields() {
		if m.key == "timestamp" { // of "metadata", read apart
			continue
		}
		content := r.str(m.val)
		if m.key == "canonical" {
			seo.Canonical = r.base(m.val)
			continue
		}
		if m.key == "robots" && strings.Contains(strings.ToLower(content), "noindex") {
			seo.NoIndex = true
		}
		meta := Meta{Name: m.key, Content: content}
		if meta.Picture() {
			r.refer(m.val, content, true)
		}
		seo.Metatags = append(seo.Metatags, meta)
	}
}

// base reads the address that a site is served below, and returns it without
// slashes at its end.
func (r *configReader) base(v *value) string {
	s := strings.TrimRight(strings.TrimSpace(r.str(v)), "/")
	if u, err := url.Parse(s); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		r.report(v, mdx.Warning, "config-link", "%q is not an address such as https://docs.example.com", s)
		return ""
	}
	return s
}

// specs reads a specification's place: a string, a list of them, or an object
// with a source and the folder of its pages.
func (r *configReader) specs(v *value) (places []string, directory string) {
	if v.members() != nil {
		return r.strings(v.get("source")), r.str(v.get("directory"))
	}
	return r.strings(v), ""
}

// redirects reads the list of redirects, and returns the place of each.
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
		if to := cleanHref(d.Destination); !html.SafeURL(to) || schemeOf(to) == "data" {
			// Servers that read the bundle's description would send it on.
			r.report(i, mdx.Warning, "link-unsafe", "the redirect from %q to %q is left out: its scheme is not safe on a page", d.Source, d.Destination)
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
