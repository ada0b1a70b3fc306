package page

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
)

func registerLinks(k *kinds) {
	k[mdx.Link] = kind{
		form: formPhrase, html: (*htmlWriter).anchor, text: textWriter.children,
		phrase: func(w *markdownWriter, b []byte, n *mdx.Node) []byte { return w.anchor(b, n.Children, n.URL) },
	}
}

// anchor appends a link of Markdown.
func (w *htmlWriter) anchor(out *component.Writer, n *mdx.Node) {
	// An address in a link becomes a link of its own, as MDX reads it; a
	// browser would close the outer one before it and leave it empty.
	if w.anchors > 0 {
		w.nodes(out, n.Children)
		return
	}
	w.anchors++
	defer func() { w.anchors-- }()
	out.Raw("<a")
	if href := w.link(n, n.Pos, n.URL); href != "" || n.URL == "" {
		out.Attr("href", href)
	}
	if saysAddress(n, n.URL) {
		out.Raw(bareAttr)
	}
	w.nodes(out.AttrIf("title", n.Title).Raw(">"), n.Children).Raw("</a>")
}

// bareAttr marks a link that shows its address: on paper the address is not put behind
// it again.
const bareAttr = ` data-bindery-bare`

// saysAddress reports whether the text of a link is its address on another site, with or
// without the scheme and a slash at the end.
func saysAddress(n *mdx.Node, address string) bool {
	_, bare, ok := strings.Cut(address, "://")
	if !ok {
		return false
	}
	text := strings.TrimSpace(mdx.PlainText(n))
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text = rest
	}
	return text != "" && strings.TrimSuffix(text, "/") == strings.TrimSuffix(bare, "/")
}

func (w *markdownWriter) anchor(b []byte, list []*mdx.Node, href string) []byte {
	if w.anchors > 0 { // Markdown knows no link in a link either
		return w.inline(b, list)
	}
	start := len(b)
	w.anchors++
	b = w.inline(append(b, '['), list)
	w.anchors--
	label := bytes.TrimSpace(b[start+1:])
	address := w.Link(href)
	if len(label) == 0 || address == "" { // nothing to point at, or not safe to
		return append(b[:start], label...)
	}
	if len(label) < len(b)-start-1 {
		b = append(append(b[:start], '['), label...)
	}
	b = append(b, "]("...)
	b = append(b, markdownAddress(address)...)
	return append(b, ')')
}

// link returns what stands in href for an address on the page, and records it.
// Of an address that would run code nothing is left.
func (w *htmlWriter) link(n *mdx.Node, pos mdx.Pos, href string) string {
	return w.refer(n, pos, href, false)
}

// asset does the same for a file that the page loads.
func (w *htmlWriter) asset(n *mdx.Node, pos mdx.Pos, src string) string {
	return w.refer(n, pos, src, true)
}

func (w *htmlWriter) reportUnsafe(n *mdx.Node, pos mdx.Pos, address string) {
	w.report(w.fileOf(n), pos, mdx.Warning, "link-unsafe", "a link to "+excerpt(address)+" is left out: its scheme is not safe on a page")
}

// elsewhere is what a page loads from one host.
type elsewhere struct {
	host, address, file string
	pos                 mdx.Pos
	more                int // further addresses
}

// loadsElsewhere notes that the page loads something that the bundle has no copy of.
func (w *htmlWriter) loadsElsewhere(n *mdx.Node, pos mdx.Pos, address string) {
	host, file := origin(address), w.fileOf(n)
	for i := range w.loads {
		if l := &w.loads[i]; l.host == host && l.file == file {
			l.more++
			return
		}
	}
	w.loads = append(w.loads, elsewhere{host: host, address: address, file: file, pos: pos})
}

// reportElsewhere reports what the page loads from other hosts, once for each of them.
func (w *htmlWriter) reportElsewhere() {
	for _, l := range w.loads {
		more, why := "", "the bundle has no copy, and readers load it from there, if they can"
		if l.more > 0 {
			more = fmt.Sprintf(", and %d more from there", l.more)
		}
		if w.r.AirGapped {
			why = "the bundle is for readers without a network, who don't see it"
		}
		w.report(l.file, l.pos, mdx.Notice, "asset-outside", "the page loads "+excerpt(l.address)+more+" from another host: "+why)
	}
}

func (w *htmlWriter) refer(n *mdx.Node, pos mdx.Pos, address string, asset bool) string {
	if w.href != nil {
		return w.href(address)
	}
	t := w.target(address)
	switch t.Kind {
	case site.External, site.Other:
		if w.r.Outside && !asset && t.Kind == site.External {
			w.result.Outside = append(w.result.Outside, Ref{Raw: address, Page: -1, Path: t.Href, File: w.fileOf(n), Line: pos.Line, Column: pos.Column})
		}
		if asset {
			w.allowLoading(n, t.Href)
			if t.Kind == site.External && (w.r.AirGapped || directiveOf(n) == "img-src") {
				w.loadsElsewhere(n, pos, t.Href)
			}
		}
		return t.Href
	case site.Unsafe:
		w.reportUnsafe(n, pos, address)
		return ""
	case site.Restricted:
		code, what := "link-restricted", "the link to "
		if asset {
			code, what = "file-restricted", "the file "
		}
		w.report(w.fileOf(n), pos, mdx.Warning, code, what+excerpt(address)+" is left out: "+w.r.Site.WhyRestricted(t))
		return ""
	}
	ref := Ref{Raw: address, Page: -1, Path: t.Path, Fragment: t.Fragment, Asset: asset, File: w.fileOf(n), Line: pos.Line, Column: pos.Column}
	switch t.Kind {
	case site.ToPage, site.ToAnchor:
		ref.Page = t.Page
	case site.Missing:
		ref.Missing = true
		if asset {
			w.report(ref.File, pos, mdx.Warning, "file-missing", "there is no file "+t.Path+" ("+excerpt(address)+")"+w.r.Site.WhyMissing(t))
		} else {
			w.report(ref.File, pos, mdx.Warning, "link-missing", "there is no page or file "+t.Path+" ("+excerpt(address)+")"+w.r.Site.WhyMissing(t))
		}
	}
	w.result.Links = append(w.result.Links, ref)
	return t.Href
}

// styleAddress does the same for a file that a style loads, which a file in the
// bundle's folder "bindery" names. It returns "" where the address must not be used.
func (w *htmlWriter) styleAddress(n *mdx.Node, pos mdx.Pos, address string) string {
	t := w.target(address)
	switch t.Kind {
	case site.External, site.Other:
		w.allow("img-src", origin(t.Href))
		return t.Href
	case site.ToFile:
		w.refer(n, pos, address, true)
		return site.Rel("bindery/x.css", t.Path)
	case site.ToAnchor:
		return t.Href
	}
	w.refer(n, pos, address, true)
	return ""
}

// markdownAddress writes an address as the target of a Markdown link.
func markdownAddress(href string) string {
	if href == "" {
		return "<>"
	}
	depth, plain := 0, true
	for i := 0; i < len(href) && plain; i++ {
		switch c := href[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth--
			plain = depth >= 0
		case c <= ' ' || c == '<' || c == '>' || c == '\\':
			plain = false
		}
	}
	if plain && depth == 0 {
		return href
	}
	return "<" + strings.NewReplacer("<", `\<`, ">", `\>`, `\`, `\\`, "\n", "%0A", "\r", "%0A").Replace(href) + ">"
}

// Link implements component.HTML.
func (w *htmlWriter) Link(e *component.Element, href string) string {
	return w.link(e.Node, attrPos(e.Node, "href"), href)
}

// InLink implements component.HTML.
func (w *htmlWriter) InLink() bool { return w.anchors > 0 }

// Asset implements component.HTML.
func (w *htmlWriter) Asset(e *component.Element, src string) string {
	return w.asset(e.Node, e.Node.Pos, src)
}
