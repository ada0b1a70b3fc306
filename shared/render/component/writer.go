package component

import (
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/css"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// Writer is the HTML that a component appends to. Its methods return the
// Writer so that a tag reads as one line.
type Writer struct {
	// B holds the HTML so far.
	B []byte
	HTML
}

// Raw appends HTML as it is.
func (w *Writer) Raw(html string) *Writer {
	w.B = append(w.B, html...)
	return w
}

// Text appends text, escaped.
func (w *Writer) Text(s string) *Writer {
	w.B = html.AppendText(w.B, s)
	return w
}

// Attr appends an attribute with a space before it.
func (w *Writer) Attr(name, value string) *Writer {
	w.B = html.AppendAttr(w.B, name, value)
	return w
}

// AttrIf appends the attribute unless its value is empty.
func (w *Writer) AttrIf(name, value string) *Writer {
	if value != "" {
		w.B = html.AppendAttr(w.B, name, value)
	}
	return w
}

// say returns a phrase in the page's language.
func (w *Writer) say(p words.Phrase) string { return words.In(w.Lang()).Say(p) }

// Children appends the element's content, after the further ids that links
// may have for the element.
func (w *Writer) Children(e *Element) *Writer {
	for _, id := range w.Aliases(e) {
		w.Raw("<span").Attr("id", id).Raw("></span>")
	}
	return w.Nodes(e.Node.Children)
}

// Nodes appends nodes.
func (w *Writer) Nodes(nodes []*mdx.Node) *Writer {
	w.WriteNodes(w, nodes)
	return w
}

// title appends what an attribute holds: nodes given as JSX, or inline Markdown
// of whose links only the words are shown. Titles stand in links, tabs and
// summaries, which hold no links.
func (w *Writer) title(e *Element, name string) *Writer {
	if nodes := e.slot(name); nodes != nil {
		return w.Nodes(nodes)
	}
	return w.Nodes(unlinked(w.inline(e, name)))
}

// RichTitle is title where links may stand.
func (w *Writer) RichTitle(e *Element, name string) *Writer {
	if nodes := e.slot(name); nodes != nil {
		return w.Nodes(nodes)
	}
	return w.Nodes(w.inline(e, name))
}

// inline returns the nodes of an attribute's text, which is inline Markdown.
func (w *Writer) inline(e *Element, name string) []*mdx.Node {
	text := e.Display(name)
	if text == "" {
		return nil
	}
	return w.Inline(e, name, text)
}

// open appends the start of an element's outermost tag: its id, the classes
// given, and those of its author (className, style). The tag stays open for
// more attributes. Empty classes are left out.
func (w *Writer) open(tag string, e *Element, classes ...string) *Writer {
	w.Raw("<").Raw(tag)
	own := strings.Join(strings.Fields(e.String("className")), " ")
	return w.AttrIf("class", join(append(slices.Clip(classes), own, w.StyleClass(e)))).AttrIf("id", w.ID(e))
}

// icon appends the icon that an attribute names: a picture where it is an
// address, nodes where it is JSX, else a drawing from the icon library. It
// stands in a span of these classes, and counts as decoration.
func (w *Writer) icon(e *Element, attr string, classes ...string) *Writer {
	if nodes := e.slot(attr); nodes != nil {
		return w.Raw(`<span`).Attr("class", join(classes)).Raw(` aria-hidden="true">`).Nodes(nodes).Raw("</span>")
	}
	name := strings.TrimSpace(e.String(attr))
	if name == "" {
		return w
	}
	if isAddress(name) {
		return w.Raw(`<span`).Attr("class", join(classes)).Raw(`><img class="icon bdy-icon" alt=""`).
			AttrIf("src", w.Asset(e, name)).Raw(` loading="lazy"></span>`)
	}
	svg, ok := w.Icon(e, name)
	if !ok {
		return w
	}
	return w.Raw(`<span`).Attr("class", join(classes)).Raw(">").Raw(svg).Raw("</span>")
}

// colorClass returns the class that sets a property to the colour that an
// attribute names, "" where it names none.
func (w *Writer) colorClass(e *Element, attr, property string) string {
	c := css.Color(e.String(attr))
	if c == "" {
		return ""
	}
	return w.Style(e, property+":"+c)
}

// when returns a class where it holds, else none.
func when(holds bool, class string) string {
	if holds {
		return class
	}
	return ""
}

// join joins classes, leaving out empty ones.
func join(classes []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(classes), func(c string) bool { return c == "" }), " ")
}

// isAddress reports whether an icon is named by an address.
func isAddress(s string) bool {
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") ||
		strings.Contains(s, "://") || strings.HasPrefix(s, "data:image/") ||
		strings.HasSuffix(s, ".svg") || strings.HasSuffix(s, ".png")
}
