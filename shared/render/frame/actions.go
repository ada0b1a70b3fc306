package frame

import (
	"net/url"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme"
)

// service is a built-in option of a page's menu that hands the page to a service
// in the web: a plain link, which nothing follows but the reader.
type service struct {
	label, description, icon string
	// address is followed by the question, escaped.
	address string
}

// serviceOf knows the services by the names that sites use.
func serviceOf(name string) (service, bool) {
	switch name {
	case "chatgpt":
		return service{"Open in ChatGPT", "Ask questions about this page", "openai", "https://chatgpt.com/?hints=search&q="}, true
	case "claude":
		return service{"Open in Claude", "Ask questions about this page", "claude", "https://claude.ai/new?q="}, true
	case "perplexity":
		return service{"Open in Perplexity", "Ask questions about this page", "perplexity", "https://www.perplexity.ai/search?q="}, true
	case "grok":
		return service{"Open in Grok", "Ask questions about this page", "x-twitter", "https://grok.com/?q="}, true
	case "aistudio":
		return service{"Open in Google AI Studio", "Ask questions about this page", "google", "https://aistudio.google.com/prompts/new_chat?prompt="}, true
	}
	return service{}, false
}

// actionsOf are the options of a page's menu that a bundle can have. A site that
// names none has those that need nobody, and offline readers no outside service.
func actionsOf(c *site.Config, offline bool) []site.ContextualOption {
	if len(c.Contextual.Options) == 0 {
		return []site.ContextualOption{{Name: "copy"}, {Name: "view"}}
	}
	var out []site.ContextualOption
	for _, o := range c.Contextual.Options {
		_, known := serviceOf(o.Name)
		known = known && !offline
		// An option that wants an MCP server leads nowhere.
		wants := strings.Contains(o.Href, "$mcp")
		for _, q := range o.Query {
			wants = wants || strings.Contains(q.Value, "$mcp")
		}
		if !wants && (o.Name == "" || o.Name == "copy" || o.Name == "view" || known) {
			out = append(out, o)
		}
	}
	return out
}

func (v *Views) actionsFor(f *frame, p *site.Page) []theme.Action {
	if len(v.actions) == 0 || p.NoActions {
		return nil
	}
	out := make([]theme.Action, 0, len(v.actions))
	copyOf := v.site.AbsoluteURL(p.MarkdownPath())
	for i := range v.actions {
		o := &v.actions[i]
		switch o.Name {
		case "copy", "view":
			out = append(out, theme.Action{Name: o.Name, Href: site.Rel(p.Output, p.MarkdownPath())})
		case "":
			if href := v.customHref(f, o, p, copyOf); href != "" {
				out = append(out, theme.Action{
					Label: o.Title, Description: o.Description, Href: href,
					Icon: (&linker{views: v, root: f.root}).icon(o.Icon), External: isExternal(href),
				})
			}
		default:
			if s, ok := serviceOf(o.Name); ok {
				question := "Read " + copyOf + " so that I can ask questions about it."
				out = append(out, theme.Action{
					Name: o.Name, Label: s.label, Description: s.description, Icon: s.icon,
					Href: s.address + url.QueryEscape(question), External: true,
				})
			}
		}
	}
	return out
}

func isExternal(href string) bool {
	return strings.HasPrefix(href, "https:") || strings.HasPrefix(href, "http:")
}

// customHref is the address of an author's own option. "$path" is the page's
// path on the site, "$page" the address of its text: a whole page is too long
// for an address.
func (v *Views) customHref(f *frame, o *site.ContextualOption, p *site.Page, copyOf string) string {
	path := "/" + p.CleanAddress()
	href := o.Href
	if strings.Contains(href, "$") {
		href = strings.NewReplacer("$page", url.QueryEscape(copyOf), "$path", escapedPath(path)).Replace(href)
	}
	if href = (&linker{views: v, root: f.root}).href(href); href == "" || len(o.Query) == 0 {
		return href
	}
	fill := strings.NewReplacer("$page", copyOf, "$path", path)
	href, fragment, _ := strings.Cut(href, "#")
	glue := "?"
	if strings.Contains(href, "?") {
		glue = "&"
	}
	for _, q := range o.Query {
		href += glue + url.QueryEscape(q.Key) + "=" + url.QueryEscape(fill.Replace(q.Value))
		glue = "&"
	}
	if fragment != "" {
		href += "#" + fragment
	}
	return href
}
