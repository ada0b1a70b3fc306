package page

import (
	"sync"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// lead returns a page's description as inline HTML: authors write code,
// emphasis and links in it.
func (w *htmlWriter) lead(description string) []byte {
	if description == "" {
		return nil
	}
	out := component.Writer{HTML: w}
	out.RichTitle(leadElement(description, w), "description")
	return out.B
}

// previews looks where the page's own pictures for links are. The page does not load
// them, so its policy has nothing of them.
func (w *htmlWriter) previews(p *site.Page) {
	for i := range p.Meta {
		m := &p.Meta[i]
		if !m.Picture() {
			continue
		}
		pos := mdx.Pos{Line: max(m.Line, 1), Column: 1}
		switch t := w.target(m.Content); t.Kind {
		case site.ToFile:
		case site.External:
			w.report(w.source, pos, mdx.Notice, "asset-outside", m.Name+" "+excerpt(t.Href)+" is on another host: the bundle has no copy, and services that show links load it from there, if they can")
		case site.Restricted:
			w.report(w.source, pos, mdx.Warning, "file-restricted", m.Name+" "+excerpt(m.Content)+" is left out: "+w.r.Site.WhyRestricted(t))
		case site.Missing:
			w.report(w.source, pos, mdx.Warning, "file-missing", "there is no file "+t.Path+" ("+excerpt(m.Content)+"): "+m.Name+" is left out")
		default:
			w.report(w.source, pos, mdx.Warning, "file-missing", excerpt(m.Content)+" is neither a picture of this site nor the address of one: "+m.Name+" is left out")
		}
	}
}

// Inline returns a short text of docs.json, such as the banner's, as inline
// HTML: emphasis, code and links, as pages show them; of all else only the
// words. href returns the address that a link leads to, as the page that holds
// the text must write it, or "" for one that must not be used.
func Inline(text string, href func(address string) string) []byte {
	w := htmlWriter{tree: &tree{r: noSite()}, href: href}
	return w.nodes(new(component.Writer), inlines(text)).B
}

// noSite knows the kinds of nodes and nothing of a site.
var noSite = sync.OnceValue(func() *Renderer { return &Renderer{kinds: builtinKinds()} })

// InlineText returns the words of such a text.
func InlineText(text string) string {
	return mdx.PlainText(&mdx.Node{Kind: mdx.Document, Children: inlines(text)})
}

func inlines(text string) []*mdx.Node {
	file, _ := mdx.Parse([]byte(text), mdx.Options{})
	return onlyInlines(nil, file.Root.Children)
}

func onlyInlines(to, list []*mdx.Node) []*mdx.Node {
	space := &mdx.Node{Kind: mdx.Text, Value: " "}
	for i, n := range list {
		switch n.Kind {
		case mdx.Text, mdx.InlineCode:
			to = append(to, n)
		case mdx.Emphasis, mdx.Strong, mdx.Delete, mdx.Link:
			n.Children = onlyInlines(nil, n.Children)
			to = append(to, n)
		case mdx.Break:
			to = append(to, space)
		default:
			if i > 0 && n.Kind == mdx.Paragraph {
				to = append(to, space)
			}
			to = onlyInlines(to, n.Children)
		}
	}
	return to
}

// Inline implements component.HTML.
func (w *htmlWriter) Inline(e *component.Element, name, text string) []*mdx.Node {
	list := mdx.ParseInline(text)
	pos := attrPos(e.Node, name)
	file := w.fileOf(e.Node)
	for _, n := range list {
		mdx.Walk(n, func(n *mdx.Node) bool {
			n.Pos, n.End = pos, pos
			if file != w.source && n.Kind == mdx.Link { // what may be reported
				put(&w.inlined, n, file)
			}
			return true
		})
	}
	return list
}
