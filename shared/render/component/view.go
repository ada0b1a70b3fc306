package component

import "slices"

func viewComponents() []*Component {
	return []*Component{{
		Name: "View", Doc: "A part of the page for readers of one language or platform.", Block: true,
		Attrs: slices.Concat([]AttrSpec{{"title", "text", "", "Whom the part is for; parts of one title are shown together."}},
			iconAttrs("An icon before the title.")),
		ID:       func(e *Element) (string, string) { return "", e.TitleText("title") },
		HTML:     viewHTML,
		Markdown: titledMarkdown,
	}}
}

// viewHTML appends the part under its title as a heading: what is read without
// JavaScript, all parts in order. The script offers the titles as a choice,
// and hides the headings and the parts that are not chosen.
func viewHTML(w *Writer, e *Element) {
	w.open("section", e, "bdy-view").Raw(`><h2 class="bdy-view-title">`)
	w.icon(e, "icon", "bdy-tab-icon")
	w.title(e, "title").Raw(`</h2><div class="bdy-view-body">`).Children(e).Raw("</div></section>")
}
