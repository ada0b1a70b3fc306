package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/capability"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// usesOutside finds and reports a <use> of another file: browsers load none
// on file://, and none from another host at all.
func (w *htmlWriter) usesOutside(n *mdx.Node) bool {
	e := w.element(n, nil)
	for _, name := range [...]string{"href", "xlinkHref", "xlink:href"} {
		if href := strings.TrimSpace(e.String(name)); href != "" && href[0] != '#' {
			w.reportOnce(n, "use "+href, attrPos(n, name), mdx.Warning, "drawing-outside", "<use> is left out: it shows a drawing of another file, which browsers refuse from a folder: "+excerpt(href))
			return true
		}
	}
	return false
}

// animatesAddress finds and reports an animation that would change where a
// link leads: to a script as well, which no check of the link sees (SVG 2 and
// SMIL Animation, 3.2.2).
func (w *htmlWriter) animatesAddress(n *mdx.Node) bool {
	for _, a := range n.Attrs {
		of, _ := attrText(a)
		of = strings.ToLower(strings.TrimSpace(of))
		if strings.EqualFold(a.Name, "attributeName") && (of == "href" || strings.HasSuffix(of, ":href")) {
			w.report(w.fileOf(n), a.Pos, mdx.Warning, "element-dropped", "<"+n.Name+"> is left out: the address of a link can't be animated")
			return true
		}
	}
	return false
}

// tag appends an HTML element as its author wrote it, as far as a page can
// hold it.
func (w *htmlWriter) tag(out *component.Writer, n *mdx.Node) {
	name := n.Name
	inSVG := w.svg > 0
	if !inSVG || !svgKeepsCase(name) {
		// HTML reads names whatever their case.
		name = strings.ToLower(name)
	}
	rule := rules(name)
	if inSVG {
		rule &= drop | unwrap
	}
	if w.instead(out, n, name, rule) {
		return
	}
	children := n.Children
	if rule&phrases != 0 {
		children = component.Phrasing(children)
		if (name == "p" || isHeadingTag(name)) && w.hasBlock(children) {
			name = "div"
		}
	}
	if name == "main" {
		name = "div" // the document has its own
	}
	table := name == "table" && !inSVG
	if table {
		w.scrollBox(out, "bdy-table-wrap", words.Table)
	}
	w.startTag(out, n, name)
	switch {
	case rule&void != 0:
		out.Raw(">")
	case len(children) == 0 && inSVG && isShape(name):
		out.Raw("/>")
	default:
		out.Raw(">")
		w.inside(out, n, name, rule, children)
		out.Raw("</").Raw(name).Raw(">")
	}
	if table {
		out.Raw("</div>")
	}
	if rule&block != 0 {
		out.Raw("\n")
	}
}

// instead appends what stands in place of an element that a page can't hold
// as it is, if only nothing, and reports whether the element is one of those.
func (w *htmlWriter) instead(out *component.Writer, n *mdx.Node, name string, rule tagRule) bool {
	inSVG := w.svg > 0
	switch {
	case name == "script":
		w.script(out, n)
	case inSVG && (name == "title" || name == "style"):
		w.svgText(out, n, name)
	case rule&drop != 0:
		w.report(w.fileOf(n), n.Pos, mdx.Warning, "element-dropped", "<"+name+"> can't stand in a page's body and is left out")
	case rule&unwrap != 0:
		w.nodes(out, n.Children)
	case name == "use" && w.usesOutside(n) || (name == "set" || name == "animate") && w.animatesAddress(n):
	case name == "a" && !inSVG && w.anchors > 0:
		w.nodes(out, n.Children) // as for Markdown's links
	case w.r.AirGapped && !inSVG && isEmbed(name) && w.outside(n):
		w.embedNotice(out, n)
	default:
		return false
	}
	return true
}

// startTag appends an element's start tag, without the sign that ends it.
func (w *htmlWriter) startTag(out *component.Writer, n *mdx.Node, name string) {
	out.Raw("<").Raw(name)
	w.attributes(out, n, name)
	if w.svg > 0 {
		return
	}
	if isHeadingTag(name) {
		if _, own := n.Attr("id"); !own {
			out.Attr("id", w.ids[n])
		}
	}
	if name == "a" && saysAddress(n, w.element(n, nil).String("href")) {
		out.Raw(bareAttr)
	}
	if name == "img" {
		if _, ok := n.Attr("alt"); !ok {
			out.Raw(` alt=""`)
			w.altMissing(n, w.element(n, nil).String("src"))
		}
		for _, name := range [...]string{"actions", "actionsPlacement"} {
			if _, ok := n.Attr(name); ok {
				w.told(n, capability.Attribute, "img."+name)
			}
		}
		_, own := n.Attr("loading")
		w.appendLoading(out, own)
	}
}

// inside appends what stands between an element's tags. children are the
// node's, without a paragraph that must not stand there.
func (w *htmlWriter) inside(out *component.Writer, n *mdx.Node, name string, rule tagRule, children []*mdx.Node) {
	if name == "a" && w.svg == 0 {
		w.anchors++
		defer func() { w.anchors-- }()
	}
	switch {
	case rule&rawText != 0:
		w.rawText(out, n)
	case name == "iframe": // what stands in a frame is never shown
	case w.svg == 0 && isHeadingTag(name) && w.ids[n] != "":
		w.headingBody(out, n, int(name[1]-'0'))
	case name == "svg" || name == "math":
		w.svg++
		w.nodes(out, children)
		w.svg--
	default:
		w.nodes(out, children)
	}
}

// svgText appends an element of SVG that holds text. Its text is written so
// that it reads the same whether or not it is parsed as HTML.
func (w *htmlWriter) svgText(out *component.Writer, n *mdx.Node, name string) {
	text := mdx.PlainText(n)
	if name == "style" && strings.ContainsAny(text, "<&") {
		w.report(w.fileOf(n), n.Pos, mdx.Warning, "element-dropped", "a <style> with < or & in it can't stand in an <svg> and is left out")
		return
	}
	out.Raw("<").Raw(name).Raw(">")
	if name == "style" {
		w.allowStyle(text)
		out.Raw(text)
	} else {
		out.Text(text)
	}
	out.Raw("</").Raw(name).Raw(">")
}

// svgKeepsCase reports whether an element of SVG has capitals in its name.
func svgKeepsCase(name string) bool {
	switch name {
	case "animateMotion", "animateTransform", "clipPath", "foreignObject", "linearGradient", "radialGradient", "textPath":
		return true
	}
	return strings.HasPrefix(name, "fe") && len(name) > 2 && 'A' <= name[2] && name[2] <= 'Z'
}

// isShape reports whether an element of SVG draws and has no content.
func isShape(name string) bool {
	switch name {
	case "path", "circle", "ellipse", "line", "polygon", "polyline", "rect", "stop", "use", "image":
		return true
	}
	return false
}

// script keeps scripts that are files of the site, or copies in the bundle, and leaves all others out.
func (w *htmlWriter) script(out *component.Writer, n *mdx.Node) {
	a, _ := n.Attr("src")
	if src, ok := attrText(a); ok && (!strings.Contains(src, "//") || w.target(src).Kind == site.ToFile) {
		out.Raw("<script defer").Attr("src", w.asset(n, n.Pos, src)).Raw("></script>")
		return
	}
	// Data for search engines is no script: browsers don't run it.
	kind, _ := n.Attr("type")
	name, _ := attrText(kind)
	var data, escaped bytes.Buffer
	if strings.EqualFold(strings.TrimSpace(name), "application/ld+json") && json.Compact(&data, []byte(mdx.PlainText(n))) == nil {
		json.HTMLEscape(&escaped, data.Bytes())
		out.Raw(`<script type="application/ld+json">`).Raw(escaped.String()).Raw("</script>")
		return
	}
	w.report(w.fileOf(n), n.Pos, mdx.Warning, "script-dropped", "a <script> in a page is left out unless it loads a file of the site: put its code into a .js file of the site, which every page loads")
}

// rawText appends the content of a style element, whose text HTML does not
// parse.
func (w *htmlWriter) rawText(out *component.Writer, n *mdx.Node) {
	text := mdx.PlainText(n)
	if i := strings.Index(strings.ToLower(text), "</"); i >= 0 {
		text = text[:i]
	}
	w.allowStyle(text)
	out.Raw(text)
}

// embedNotice stands for what can't be reached without a network.
func (w *htmlWriter) embedNotice(out *component.Writer, n *mdx.Node) {
	e := w.element(n, nil)
	address := embedAddress(e)
	title := cmp.Or(strings.TrimSpace(e.String("title")), w.embedTitle(address))
	w.report(w.fileOf(n), n.Pos, mdx.Notice, "embed-outside", "<"+n.Name+"> shows something of another host; the bundle is for readers without a network, so a link stands in its place: "+excerpt(address))
	out.Raw(`<span class="bdy-embed-notice" role="note">`).Text(w.say(words.Offline) + ": ")
	href := w.link(n, n.Pos, address)
	if href == "" || w.anchors > 0 {
		out.Text(title)
	} else {
		out.Raw("<a").Attr("href", href).Raw(">").Text(title).Raw("</a>")
	}
	out.Raw("</span>")
}
