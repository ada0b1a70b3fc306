package component

import (
	"strconv"
	"strings"
)

func cardComponents() []*Component {
	columns := []AttrSpec{{"cols", "number", "2", "Columns on a wide screen, 1 to 6."}}
	card := &Component{
		Name:  "Card",
		Doc:   "A box with a title, often a link to another page.",
		Block: true,
		Attrs: []AttrSpec{
			{"title", "nodes", "", "Title."},
			{"href", "address", "", "Where the whole card leads."},
			{"icon", "icon", "", "An icon's name, a picture's address, or an element."},
			{"iconLibrary", "string", "", "The library that the icon's name is looked for in."},
			{"color", "string", "", "The icon's colour."},
			{"img", "address", "", "A picture over the card's width."},
			{"horizontal", "boolean", "false", "Icon beside the text, not above."},
			{"cta", "string", "", "Words for the link at the foot."},
			{"arrow", "boolean", "false", "An arrow that shows that the card is a link."},
			{"description", "string", "", "Text below the title."},
			{"type", "string", "", "Tints the card: note, tip, warning, danger, info or check."},
		},
		HTML: cardHTML, Markdown: cardMarkdown,
	}
	return []*Component{
		card,
		{Name: "Tile", Doc: "A card whose content is a picture or a preview.", Block: true, Attrs: []AttrSpec{
			{"title", "nodes", "", "Title below the content."},
			{"description", "string", "", "Text below the title."},
			{"href", "address", "", "Where the tile leads."},
		}, HTML: tileHTML, Markdown: cardMarkdown},
		{Name: "CardGroup", Doc: "Cards side by side.", Block: true, Attrs: columns, HTML: columnsHTML},
		{Name: "Columns", Doc: "Content in columns.", Block: true, Attrs: columns, HTML: columnsHTML},
		{Name: "Column", Doc: "One of several columns.", Block: true, HTML: func(w *Writer, e *Element) {
			w.Raw(`<div class="column">`).Children(e).Raw("</div>")
		}},
	}
}

func cardHTML(w *Writer, e *Element) {
	w.Raw(`<div class="card`)
	if e.Bool("horizontal") {
		w.Raw(" card-horizontal")
	}
	if k := calloutKind(e.String("type")); k != nil {
		w.Raw(" card-").Raw(k.class)
	}
	w.Raw(`"`).ID(e).Raw(">")
	if img := e.String("img"); img != "" {
		w.Raw(`<img class="card-img" alt="" loading="lazy"`).Attr("src", w.Asset(e, img)).Raw(">")
	}
	w.Icon(e, "icon", "card-icon")
	w.Raw(`<div class="card-body">`)
	href := cardLink(w, e)
	if e.Has("title") {
		w.Raw(`<p class="card-title">`)
		if href != "" {
			w.Raw(`<a class="card-link"`).Attr("href", href).Raw(">").Title(e, "title").Raw("</a>")
		} else {
			w.Title(e, "title")
		}
		w.Raw("</p>")
	} else if href != "" {
		w.Raw(`<a class="card-link"`).Attr("href", href).Attr("aria-label", cardLabel(e)).Raw("></a>")
	}
	if d := e.String("description"); d != "" {
		w.Raw(`<p class="card-description">`).Phrase(d).Raw("</p>")
	}
	w.Children(e)
	if cta := e.String("cta"); cta != "" {
		w.Raw(`<p class="card-cta" aria-hidden="true">`).Text(cta).Raw("</p>")
	}
	w.Raw("</div>")
	if href != "" && e.Bool("arrow") {
		w.Raw(`<span class="card-arrow" aria-hidden="true">` + arrowIcon + `</span>`)
	}
	w.Raw("</div>")
}

func tileHTML(w *Writer, e *Element) {
	w.Raw(`<div class="card tile"`).ID(e).Raw(`><div class="tile-content">`).Children(e).Raw(`</div><div class="card-body"><p class="card-title">`)
	if href := cardLink(w, e); href != "" {
		w.Raw(`<a class="card-link"`).Attr("href", href)
		if !e.Has("title") {
			w.Attr("aria-label", cardLabel(e))
		}
		w.Raw(">").Title(e, "title").Raw("</a>")
	} else {
		w.Title(e, "title")
	}
	w.Raw("</p>")
	if d := e.String("description"); d != "" {
		w.Raw(`<p class="card-description">`).Phrase(d).Raw("</p>")
	}
	w.Raw("</div></div>")
}

func cardLink(w *Writer, e *Element) string {
	if href := e.String("href"); href != "" {
		return w.Link(e, href)
	}
	return ""
}

// cardLabel names a link that has no title: by its words, else by its address.
func cardLabel(e *Element) string {
	t := NewText(e.services)
	t.Children(e)
	if s := strings.Join(strings.Fields(t.String()), " "); s != "" {
		return s
	}
	return e.String("href")
}

func cardMarkdown(m *Markdown, e *Element) {
	title, href := m.Title(e, "title"), e.String("href")
	if href != "" {
		href = m.MarkdownLink(e, href)
	}
	switch {
	case href == "" && title != "":
		title = bold(title)
	case href != "":
		if title == "" {
			title = escapePhrase(cardLabel(e))
		}
		title = "[" + title + "](" + href + ")"
	}
	m.Push("- ", "  ")
	m.Paragraph(title)
	m.Paragraph(escapePhrase(e.String("description")))
	m.Children(e)
	m.Pop()
}

func columnsHTML(w *Writer, e *Element) {
	cols := 2
	if n, ok := e.Number("cols"); ok && n >= 1 {
		cols = int(min(n, 6))
	}
	w.Raw(`<div class="columns cols-`).Raw(strconv.Itoa(cols)).Raw(`">`).Children(e).Raw("</div>")
}
