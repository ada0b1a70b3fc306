package page

import (
	"net/url"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// fitEmbed gives a video, a frame or another page within the page what its
// author left out: a name, a way to play it, and loading when it is needed.
func (s *resolver) fitEmbed(n *mdx.Node, name string) {
	e := s.element(n, nil)
	has := func(names ...string) bool {
		for _, a := range n.Attrs {
			for _, name := range names {
				if strings.EqualFold(a.Name, name) {
					return true
				}
			}
		}
		return false
	}
	switch name {
	case "iframe":
		for _, old := range [...]string{"webkitallowfullscreen", "mozallowfullscreen", "webkitAllowFullScreen", "mozAllowFullScreen", "frameborder", "frameBorder"} {
			dropAttr(n, old) // standard long since, or the style sheet's
		}
		if !has("loading") {
			setAttr(n, "loading", "lazy")
		}
		fallthrough
	case "embed", "object":
		if strings.TrimSpace(e.String("title")) == "" && !has("aria-label", "aria-hidden") {
			setAttr(n, "title", s.embedTitle(embedAddress(e)))
		}
	case "video", "audio":
		plays := has("autoplay") && (e.Bool("autoPlay") || e.Bool("autoplay"))
		if !has("controls") && !plays {
			n.Attrs = append(n.Attrs[:len(n.Attrs):len(n.Attrs)], mdx.Attr{Kind: mdx.AttrBool, Name: "controls", Pos: n.Pos})
		}
		if !has("preload") && !plays {
			setAttr(n, "preload", "metadata")
		}
		if name == "video" && plays && !has("playsinline") {
			n.Attrs = append(n.Attrs[:len(n.Attrs):len(n.Attrs)], mdx.Attr{Kind: mdx.AttrBool, Name: "playsinline", Pos: n.Pos})
		}
	}
}

// embedAddress is what an element embeds: its own address, or that of the
// first source in it.
func embedAddress(e *component.Element) string {
	for _, name := range [...]string{"src", "data"} {
		if address := strings.TrimSpace(e.String(name)); address != "" {
			return address
		}
	}
	for _, c := range e.Flat() {
		if c.Kind == mdx.Element && c.Name == "source" {
			return strings.TrimSpace(component.NewElement(c, nil, nil).String("src"))
		}
	}
	return ""
}

// embedTitle names what its author gave no title, for readers who can't see
// it: by its host.
func (t *tree) embedTitle(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return t.say(words.Embedded)
}

// outside tells whether an element embeds something of another host.
func (t *tree) outside(n *mdx.Node) bool {
	return t.r.site.Resolve(t.page, embedAddress(t.element(n, nil))).Kind == site.External
}

// embedNotice stands for what can't be reached without a network.
func (w *htmlWriter) embedNotice(b []byte, n *mdx.Node) []byte {
	e := w.element(n, nil)
	address := embedAddress(e)
	title := strings.TrimSpace(e.String("title"))
	if title == "" {
		title = w.embedTitle(address)
	}
	w.report(w.fileOf(n), n.Pos, mdx.Notice, "embed-outside", "<"+n.Name+"> shows something of another host; the bundle is for readers without a network, so a link stands in its place: "+excerpt(address))
	b = append(b, `<span class="embed-notice" role="note">`...)
	b = html.AppendText(b, w.say(words.Offline)+": ")
	href := w.link(n, n.Pos, address)
	if href == "" || w.anchors > 0 {
		b = html.AppendText(b, title)
	} else {
		b = append(b, "<a"...)
		b = html.AppendAttr(b, "href", href)
		b = append(b, '>')
		b = html.AppendText(b, title)
		b = append(b, "</a>"...)
	}
	return append(b, "</span>"...)
}
