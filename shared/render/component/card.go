package component

import (
	"slices"
	"strconv"
	"strings"
)

func cardComponents() []*Component {
	return []*Component{
		{
			Name: "Card", Doc: "A box with a title, often a link to another page.", Block: true,
			Attrs: slices.Concat(
				[]AttrSpec{
					{"title", "text", "", "The title."},
					{"href", "address", "", "Where the whole card leads."},
				},
				iconAttrs("An icon above the title."),
				[]AttrSpec{
					{"color", "color", "", "The icon's colour."},
					{"img", "address", "", "A picture over the card's width."},
					{"horizontal", "boolean", "false", "The icon stands beside the text."},
					{"description", "text", "", "Text below the title."},
					{"cta", "text", "", "Words for the link at the foot."},
					{"arrow", "boolean", "", "An arrow in the corner; without the attribute, links to other sites have one."},
					{"type", "string", "", "Looks like a callout: note, tip, warning, danger, info or check."},
				}),
			HTML: cardHTML, Markdown: cardMarkdown, Text: cardText,
		},
		{
			Name: "Tile", Doc: "A card whose content is a picture or a preview.", Block: true,
			Attrs: []AttrSpec{
				{"title", "text", "", "The title below the content."},
				{"description", "text", "", "Text below the title."},
				{"href", "address", "", "Where the tile leads."},
			},
			HTML: tileHTML, Markdown: cardMarkdown, Text: cardText,
		},
	}
}

func cardHTML(w *Writer, e *Element) {
	kind, icon := "", ""
	if k := calloutKind(e.String("type")); k != nil {
		kind, icon = "bdy-card-"+k.class, k.icon
	}
	w.open("div", e, "card bdy-card", when(e.Bool("horizontal"), "bdy-card-horizontal"), kind).Raw(">")
	if img := e.String("img"); img != "" {
		w.Raw(`<img class="bdy-card-img" alt="" loading="lazy"`)
		if width, height, ok := w.Size(img); ok {
			w.Attr("width", strconv.Itoa(width)).Attr("height", strconv.Itoa(height))
		}
		w.AttrIf("src", w.Asset(e, img)).Raw(">")
	}
	if e.Has("icon") {
		w.icon(e, "icon", "bdy-card-icon", w.colorClass(e, "color", "color"))
	} else if icon != "" {
		w.Raw(`<span class="bdy-card-icon">`).Raw(icon).Raw("</span>")
	}
	w.Raw(`<div class="bdy-card-body">`)
	href := cardLink(w, e)
	switch {
	case e.Has("title"):
		w.Raw(`<p class="bdy-card-title">`)
		cardTitle(w, e, href)
		w.Raw("</p>")
	case href != "":
		w.Raw(`<a class="bdy-card-link"`).Attr("href", href).Attr("aria-label", cardLabel(e)).Raw("></a>")
	}
	if e.Has("description") {
		w.Raw(`<p class="bdy-card-description">`).RichTitle(e, "description").Raw("</p>")
	}
	w.Children(e)
	if e.String("cta") != "" {
		// The title is the link already: its words need not be read twice.
		w.Raw(`<p class="bdy-card-cta" aria-hidden="true">`).title(e, "cta").Raw("</p>")
	}
	w.Raw("</div>")
	arrow := isElsewhere(e.String("href"))
	if e.Has("arrow") {
		arrow = e.Bool("arrow")
	}
	if href != "" && arrow {
		w.Raw(`<span class="bdy-card-arrow" aria-hidden="true">` + arrowIcon + `</span>`)
	}
	w.Raw("</div>")
}

func tileHTML(w *Writer, e *Element) {
	w.open("div", e, "card bdy-card", "bdy-tile").Raw(`><div class="bdy-tile-content">`).Children(e).Raw(`</div><div class="bdy-card-body"><p class="bdy-card-title">`)
	cardTitle(w, e, cardLink(w, e))
	w.Raw("</p>")
	if e.Has("description") {
		w.Raw(`<p class="bdy-card-description">`).RichTitle(e, "description").Raw("</p>")
	}
	w.Raw("</div></div>")
}

// cardTitle appends the title, as the link that its style spreads over the
// whole card: one link, with words, and other links in the card stay usable.
func cardTitle(w *Writer, e *Element, href string) {
	if href == "" {
		w.title(e, "title")
		return
	}
	w.Raw(`<a class="bdy-card-link"`).Attr("href", href)
	if !e.Has("title") {
		w.Attr("aria-label", cardLabel(e))
	}
	w.Raw(">").title(e, "title").Raw("</a>")
}

func cardLink(w *Writer, e *Element) string {
	if href := e.String("href"); href != "" && !w.InLink() {
		return w.Link(e, href)
	}
	return ""
}

// isElsewhere reports whether an address is of another site.
func isElsewhere(href string) bool {
	return strings.Contains(href, "://") || strings.HasPrefix(href, "//")
}

// cardLabel names a link that has no title: by its words, else by its address.
func cardLabel(e *Element) string {
	t := e.page.NewText()
	t.Children(e)
	if s := strings.Join(strings.Fields(t.String()), " "); s != "" {
		return s
	}
	return e.String("href")
}

func cardMarkdown(m *Markdown, e *Element) {
	title, href := m.Title(e, "title"), e.String("href")
	if href != "" {
		href = m.Link(href)
	}
	switch {
	case href == "" && title != "":
		title = bold(title)
	case href != "":
		if title == "" {
			title = escapeText(cardLabel(e))
		}
		title = "[" + title + "](" + href + ")"
	}
	m.Push("- ", "  ")
	m.Paragraph(title)
	m.Paragraph(m.Title(e, "description"))
	m.Children(e)
	m.Pop()
}

func cardText(t *Text, e *Element) {
	t.Line(e.TitleText("title"))
	t.Line(e.TitleText("description"))
	t.Children(e)
}
