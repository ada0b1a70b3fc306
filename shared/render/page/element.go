package page

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// registerElements registers elements: components and those of HTML.
func registerElements(k *kinds) {
	k[mdx.Element] = kind{
		form: formElement, resolve: (*resolver).expandElement, html: (*htmlWriter).elementHTML, markdown: (*markdownWriter).blockElement, phrase: (*markdownWriter).inlineElement, text: textWriter.elementText,
	}
}

// elementHTML appends a component or an HTML element.
func (w *htmlWriter) elementHTML(out *component.Writer, n *mdx.Node) {
	if c := w.component(n); c != nil {
		if a, ok := n.Attr("className"); ok {
			w.classNames(a)
		}
		w.checkAttrs(n, c)
		c.HTML(out, component.NewElement(n, c, w))
		if c.Block {
			out.Raw("\n")
		}
		return
	}
	if !isTag(n.Name) {
		w.reportOnce(n, "component "+n.Name, n.Pos, mdx.Warning, "component-unknown", "there is no component <"+n.Name+">; its content is shown without it"+meant(n.Name, w.r.componentNames()))
		w.nodes(out, n.Children)
		return
	}
	w.tag(out, n)
}

// meant returns a suggestion as the end of a sentence, or "" if no word is near.
func meant(name string, words []string) string {
	if near := site.Nearest(name, words); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// attrNames returns the names of attributes that the components of a registry
// understand.
func attrNames(r *component.Registry) map[*component.Component]map[string]struct{} {
	all := make(map[*component.Component]map[string]struct{})
	for _, c := range r.All() {
		names := map[string]struct{}{"key": {}, "children": {}} // React's own
		for _, a := range append(component.CommonAttrs(), c.Attrs...) {
			names[a.Name] = struct{}{}
		}
		all[c] = names
	}
	return all
}

// checkAttrs reports the attributes of a component that it has no use for, each
// once a page.
func (w *htmlWriter) checkAttrs(n *mdx.Node, c *component.Component) {
	known := w.r.attrs[c]
	if known == nil { // a part of a specification
		return
	}
	for _, a := range n.Attrs {
		if _, ok := known[a.Name]; ok || a.Name == "" || strings.ContainsAny(a.Name, "-:") || isHandler(a.Name) {
			continue
		}
		key := "attribute " + n.Name + " " + a.Name
		if _, again := w.once[key]; again {
			continue
		}
		put(&w.once, key, struct{}{})
		w.report(w.fileOf(n), a.Pos, mdx.Notice, "attribute-unknown", "<"+n.Name+"> has no attribute "+excerpt(a.Name)+": it has no effect")
	}
}

// blockElement writes a component or an HTML element.
func (w *markdownWriter) blockElement(m *component.Markdown, n *mdx.Node) {
	if c := w.component(n); c != nil {
		if c.Markdown != nil {
			c.Markdown(m, w.element(n, c))
		} else {
			w.blocks(m, n.Children)
		}
		return
	}
	name := n.Name
	switch {
	case isHeadingTag(name):
		w.heading(m, int(name[1]-'0'), n.Children)
	case name == "hr":
		m.Paragraph("---")
	case name == "pre":
		if text := strings.Trim(mdx.PlainText(n), "\n"); text != "" {
			w.WriteCode(m, component.Code{Value: text})
		}
	case name == "ul" || name == "ol":
		number := 1
		if start, ok := w.element(n, nil).Number("start"); ok {
			number = listNumber(start)
		}
		for _, c := range n.Children {
			if c.Kind != mdx.Element || c.Name != "li" {
				w.blocks(m, []*mdx.Node{c})
				continue
			}
			marker := "- "
			if name == "ol" {
				if value, ok := w.element(c, nil).Number("value"); ok {
					number = listNumber(value)
				}
				marker = strconv.Itoa(number) + ". "
				number++
			}
			w.within(m, marker, c)
		}
	case name == "blockquote":
		w.within(m, "> ", n)
	case name == "table":
		w.htmlTable(m, n)
	case name == "summary":
		m.Paragraph(string(w.delimited(nil, "**", component.Phrasing(n.Children))))
	case (name == "del" || name == "s") && !w.hasBlock(n.Children):
		m.Paragraph(string(w.delimited(nil, "~~", n.Children)))
	case name == "del" || name == "s":
		for _, c := range n.Children {
			if c.Kind == mdx.Paragraph && !w.hasBlock(c.Children) {
				m.Paragraph(string(w.delimited(nil, "~~", c.Children)))
			} else {
				w.blocks(m, []*mdx.Node{c})
			}
		}
	case rules(name)&(drop|rawText) != 0 || name == "script" || name == "svg":
	default:
		w.blocks(m, n.Children)
	}
}

// listNumber is the number of a list's item, as Markdown can hold it.
func listNumber(v float64) int {
	if v >= 0 && v < 1e9 {
		return int(v)
	}
	return 1
}

func (w *markdownWriter) inlineElement(b []byte, n *mdx.Node) []byte {
	if c := w.component(n); c != nil {
		if c.Markdown == nil || c.Block {
			return w.inline(b, n.Children)
		}
		m := component.NewMarkdown(w)
		c.Markdown(m, w.element(n, c))
		return append(b, bytes.TrimRight(m.Bytes(), "\n")...)
	}
	switch n.Name {
	case "br":
		return w.lineBreak(b)
	case "strong", "b":
		return w.delimited(b, "**", n.Children)
	case "em", "i":
		return w.delimited(b, "*", n.Children)
	case "del", "s":
		return w.delimited(b, "~~", n.Children)
	case "sup", "sub":
		start := len(b)
		b = append(b, "<"+n.Name+">"...)
		from := len(b)
		if b = w.inline(b, n.Children); len(b) == from {
			return b[:start]
		}
		return append(b, "</"+n.Name+">"...)
	case "code", "kbd", "samp", "tt":
		if text := strings.Join(strings.Fields(mdx.PlainText(n)), " "); text != "" {
			return append(b, component.CodeSpan(text)...)
		}
		return b
	case "a":
		if href := w.element(n, nil).String("href"); href != "" {
			return w.anchor(b, n.Children, href)
		}
	case "img":
		e := w.element(n, nil)
		return w.image(b, e.String("alt"), e.String("src"))
	case "iframe", "video", "audio":
		e := w.element(n, nil)
		src, title := e.String("src"), e.String("title")
		if src == "" {
			return w.inline(b, n.Children)
		}
		b = append(b, '[')
		b = component.AppendMarkdown(b, cmp.Or(title, src))
		b = append(b, "]("...)
		b = append(b, markdownAddress(w.target(src).Href)...)
		return append(b, ')')
	case "svg", "script", "style":
		return b
	}
	return w.inline(b, n.Children)
}

func (w textWriter) elementText(t *component.Text, n *mdx.Node) {
	if c := w.component(n); c != nil {
		e := w.element(n, c)
		switch {
		case c.Text != nil:
			c.Text(t, e)
		case c.Block:
			t.Line(e.TitleText("title"))
			t.Line(e.String("description"))
			t.Children(e)
		default:
			w.AddNodes(t, n.Children)
		}
		return
	}
	switch {
	case isHeadingTag(n.Name):
		t.Begin(int(n.Name[1]-'0'), w.plain(n.Children), w.ids[n])
	case n.Name == "script" || n.Name == "svg" || n.Name == "iframe" || rules(n.Name)&(drop|rawText) != 0:
	case n.Name == "br":
		t.Break()
	case n.Name == "img":
		t.Add(w.element(n, nil).String("alt"))
	case rules(n.Name)&void != 0: // it has no content
	case isBlockTag(n.Name):
		t.Break()
		w.AddNodes(t, n.Children)
		t.Break()
	default:
		w.AddNodes(t, n.Children)
	}
}

// registerSource registers what a source has and a resolved page does not.
func registerSource(k *kinds) {
	gone := kind{form: formGone, resolve: func(*resolver, *mdx.Node, *scope) ([]*mdx.Node, bool) { return nil, false }}
	k[mdx.ESM], k[mdx.Definition] = gone, gone
	k[mdx.Expression] = kind{form: formGone, resolve: (*resolver).expandExpression}
}

// builtinKinds returns the kinds that package mdx has.
func builtinKinds() *kinds {
	k := new(kinds)
	for _, register := range [...]func(*kinds){
		registerPhrases, registerBlocks, registerLists, registerTables, registerFootnotes, registerLinks,
		registerImages, registerMath, registerCode, registerElements, registerSource,
	} {
		register(k)
	}
	return k
}
