package page

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

func registerImages(k *kinds) {
	k[mdx.Image] = kind{
		form: formPhrase, html: (*htmlWriter).image, text: addValue,
		phrase: func(w *markdownWriter, b []byte, n *mdx.Node) []byte { return w.image(b, n.Value, n.URL) },
	}
}

// image appends a picture of Markdown.
func (w *htmlWriter) image(b []byte, n *mdx.Node) []byte {
	b = append(b, "<img"...)
	address, mode := imageMode(n.URL)
	if src := w.asset(n, n.Pos, address); src != "" {
		b = html.AppendAttr(b, "src", src)
	}
	b = html.AppendAttr(b, "alt", n.Value)
	if n.Title != "" {
		b = html.AppendAttr(b, "title", n.Title)
	}
	if mode != "" {
		b = html.AppendAttr(b, "class", mode)
	}
	if size, ok := w.sizeOf(&w.notes, address); ok {
		b = appendSize(b, size.Width, size.Height)
	}
	return append(w.appendLoading(b, false), '>')
}

func (w *markdownWriter) image(b []byte, alt, src string) []byte {
	b = append(b, "!["...)
	b = component.AppendMarkdown(b, strings.Join(strings.Fields(alt), " "))
	b = append(b, "]("...)
	b = append(b, markdownAddress(w.r.site.Resolve(w.page, src).Href)...)
	return append(b, ')')
}

func appendSize(b []byte, width, height int) []byte {
	b = append(b, ` width="`...)
	b = strconv.AppendInt(b, int64(width), 10)
	b = append(b, `" height="`...)
	b = strconv.AppendInt(b, int64(height), 10)
	return append(b, '"')
}

// appendLoading says when a picture is loaded: the page's first one at once,
// because it may well be what the reader sees first. own tells that the author
// said it.
func (w *htmlWriter) appendLoading(b []byte, own bool) []byte {
	w.images++
	if w.images > 1 && !own {
		b = append(b, ` loading="lazy"`...)
	}
	return append(b, ` decoding="async"`...)
}

// Size implements component.Looks.
func (w *htmlWriter) Size(src string) (width, height int, ok bool) {
	size, ok := w.sizeOf(&w.notes, src)
	return size.Width, size.Height, ok
}

// Icon implements component.Looks.
func (w *htmlWriter) Icon(e *component.Element, name string) (string, bool) {
	if w.r.icons == nil {
		return "", false
	}
	library := cmp.Or(e.String("iconLibrary"), e.String("library"), w.r.site.Config.Icons.Library)
	svg, ok := w.r.icons.Icon(name, library, e.String("iconType"))
	if !ok {
		w.report(w.fileOf(e.Node), e.Node.Pos, mdx.Warning, "icon-unknown", "no icon is called "+name)
	}
	return svg, ok
}
