package page

import (
	"cmp"
	"strconv"
	"strings"

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
func (w *htmlWriter) image(out *component.Writer, n *mdx.Node) {
	address, mode := imageMode(n.URL)
	if strings.TrimSpace(n.Value) == "" {
		w.altMissing(n, n.URL)
	}
	out.Raw("<img").AttrIf("src", w.asset(n, n.Pos, address)).Attr("alt", n.Value).AttrIf("title", n.Title).AttrIf("class", mode)
	if size, ok := w.sizeOf(&w.notes, address); ok {
		out.Attr("width", strconv.Itoa(size.Width)).Attr("height", strconv.Itoa(size.Height))
	}
	w.appendLoading(out, false)
	out.Raw(">")
}

// altMissing reports a picture without an alternative text. In Markdown that is an
// empty one; of an <img> an empty one says that the picture is decoration.
func (w *htmlWriter) altMissing(n *mdx.Node, address string) {
	w.report(w.fileOf(n), n.Pos, mdx.Notice, "alt-missing", "the picture "+excerpt(address)+" has no alternative text, which says what it shows to those who don't see it")
}

func (w *markdownWriter) image(b []byte, alt, src string) []byte {
	b = append(b, "!["...)
	b = component.AppendMarkdown(b, strings.Join(strings.Fields(alt), " "))
	b = append(b, "]("...)
	b = append(b, markdownAddress(w.target(src).Href)...)
	return append(b, ')')
}

// firstScreen is how much HTML, in bytes, a screen of a phone or a small window
// shows of an article.
const firstScreen = 4 << 10

// appendLoading says when a picture is loaded: the page's first one at once
// where it stands on the first screen, because it may well be the largest thing
// that the reader sees there. own is set where the author said it.
func (w *htmlWriter) appendLoading(out *component.Writer, own bool) {
	w.images++
	if (w.images > 1 || len(out.B) > firstScreen) && !own {
		out.Raw(` loading="lazy"`)
	}
	out.Raw(` decoding="async"`)
}

// Size implements component.HTML.
func (w *htmlWriter) Size(src string) (width, height int, ok bool) {
	size, ok := w.sizeOf(&w.notes, src)
	return size.Width, size.Height, ok
}

// Icon implements component.HTML.
func (w *htmlWriter) Icon(e *component.Element, name string) (string, bool) {
	return w.icon(e.Node, name, cmp.Or(e.String("iconLibrary"), e.String("library")), e.String("iconType"))
}

// iconMeant does what meant does, for the name of an icon.
func (w *htmlWriter) iconMeant(name string) string {
	if set, ok := w.r.Icons.(component.IconNames); ok {
		return meant(name, set.Names())
	}
	return ""
}

// icon draws an icon; n is what asks for it, nil where nothing is reported.
func (w *htmlWriter) icon(n *mdx.Node, name, library, style string) (svg string, ok bool) {
	if w.r.Icons == nil {
		return "", false
	}
	svg, ok = w.r.Icons.Icon(name, cmp.Or(library, w.r.Site.Config.Icons.Library), style)
	if ok || n == nil {
		return svg, ok
	}
	near := w.iconMeant(name)
	if pro, is := w.r.Icons.(component.ProIcons); is && near == "" && pro.Pro(name) {
		w.reportOnce(n, "icon "+name, n.Pos, mdx.Info, "icon-pro", name+" may be an icon of Font Awesome Pro, whose drawings are not free: its place stays empty")
	} else {
		w.report(w.fileOf(n), n.Pos, mdx.Warning, "icon-unknown", "no icon is called "+name+near)
	}
	// Its place stays as large as an icon, so that nothing beside it moves.
	if isWord(name) {
		return component.IconBox, true
	}
	return "", false
}
