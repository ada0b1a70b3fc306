package site

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// contextualNames are the built-in options. What they need is why a bundle
// has no such entry; empty for those that it has.
var contextualNames = map[string]string{
	"copy": "", "view": "", "chatgpt": "", "claude": "", "perplexity": "", "grok": "", "aistudio": "",
	"assistant": "an assistant", "download-pdf": "a service that prints pages", "download-spec": "a service that packs specifications",
	"mcp": "an MCP server", "add-mcp": "an MCP server", "cursor": "an MCP server", "vscode": "an MCP server",
	"devin": "an account of its service", "devin-desktop": "a program on the reader's machine", "windsurf": "a program on the reader's machine",
	"devin-mcp": "an MCP server",
}

// contextual reads a list of options, or an object that has one.
func (r *configReader) contextual(v *value) (c Contextual) {
	list := v
	if v != nil && v.list() == nil {
		if !r.object(v) {
			return c
		}
		list = v.get("options")
		c.Display = r.oneOf(v.get("display"), "header", "toc")
	}
	for _, o := range r.items(list) {
		if o.members() != nil {
			if x, ok := r.contextualOption(o); ok {
				c.Options = append(c.Options, x)
			}
			continue
		}
		name := r.str(o)
		needs, known := contextualNames[name]
		switch {
		case name == "":
		case !known:
			hint := ""
			if near := Nearest(name, slices.Sorted(maps.Keys(contextualNames))); near != "" {
				hint = fmt.Sprintf("; did you mean %q?", near)
			}
			r.report(o, mdx.Warning, "config-value", "there is no option %q of the page's menu%s", name, hint)
		case needs != "":
			r.report(o, mdx.Info, "contextual-unsupported", "the option %q of the page's menu is left out: it needs %s, which a bundle has not", name, needs)
			c.Options = append(c.Options, ContextualOption{Name: name})
		default:
			c.Options = append(c.Options, ContextualOption{Name: name})
		}
	}
	return c
}

// contextualOption reads an option of the author's own.
func (r *configReader) contextualOption(v *value) (ContextualOption, bool) {
	o := ContextualOption{Title: r.str(v.get("title")), Description: r.str(v.get("description")), Icon: r.icon(v)}
	href := v.get("href")
	if href.members() != nil {
		o.Href = r.str(href.get("base"))
		query := href.get("query")
		for _, q := range query.fields() { // {"key": "value"}, as some write it
			o.Query = append(o.Query, QueryField{q.key, r.str(q.val)})
		}
		if query.members() == nil {
			for _, q := range r.items(query) {
				if r.object(q) {
					o.Query = append(o.Query, QueryField{r.str(q.get("key")), r.str(q.get("value"))})
				}
			}
		}
	} else {
		o.Href = r.str(href)
	}
	if o.Title == "" || o.Href == "" {
		r.report(v, mdx.Warning, "config-link", "an option of the page's menu needs a title and an href")
		return o, false
	}
	if !strings.Contains(o.Href, "$") {
		r.refer(href, o.Href, false)
	}
	return o, true
}

// repository reads where the sources live: an address, or an object with it;
// and the older "feedback", which only asks for links.
func (r *configReader) repository(v *value) (p Repository) {
	if x := v.get("repository"); x != nil {
		p.Edit, p.Issues = true, true
		if _, ok := x.text(); ok {
			p.URL = r.str(x)
		} else if r.object(x) {
			p.URL, p.Branch = r.str(x.get("url")), r.str(x.get("branch"))
			p.Directory = strings.Trim(path.Clean("/"+r.str(x.get("directory"))), "/")
			if y := r.maybe(x.get("edit")); y != nil {
				p.Edit = *y
			}
			if y := r.maybe(x.get("issues")); y != nil {
				p.Issues = *y
			}
		}
		p.URL = strings.TrimSuffix(strings.TrimRight(p.URL, "/"), ".git")
		if scheme := schemeOf(p.URL); p.URL != "" && scheme != "https" && scheme != "http" {
			r.report(x, mdx.Warning, "config-link", "the repository's address %q does not begin with https://", p.URL)
			p.URL = ""
		}
	}
	if x := v.get("feedback"); r.object(x) {
		p.Edit = r.boolean(x.get("suggestEdit")) || p.Edit
		p.Issues = r.boolean(x.get("raiseIssue")) || p.Issues
	}
	return p
}

// ratings reports whether the site wants its readers to rate pages.
func (r *configReader) ratings(v *value) bool {
	x := v.get("feedback")
	return x.members() != nil && r.boolean(x.get("thumbsRating"))
}

// integrations keeps services and their settings as they are. A single value
// stands under the empty name.
func (r *configReader) integrations(v *value) map[string]map[string]string {
	if !r.object(v) {
		return nil
	}
	out := make(map[string]map[string]string, len(v.members()))
	for _, service := range v.fields() {
		settings := make(map[string]string)
		if service.val.members() == nil {
			if s := r.str(service.val); s != "" {
				settings[""] = s
			}
		}
		for _, m := range service.val.fields() {
			settings[m.key] = r.str(m.val)
		}
		out[service.key] = settings
	}
	return out
}
