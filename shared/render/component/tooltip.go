package component

import "strings"

func tooltipComponents() []*Component {
	return []*Component{{
		Name: "Tooltip", Doc: "Words that explain themselves when pointed at.",
		Attrs: []AttrSpec{
			{"tip", "text", "", "The explanation."},
			{"headline", "text", "", "A title above the explanation."},
			{"cta", "text", "", "Words of a link below it; else its address."},
			{"href", "address", "", "Where that link leads."},
		},
		ID: func(e *Element) (string, string) {
			t := e.page.NewText()
			t.Children(e)
			return "tip-", t.String()
		},
		HTML:     tooltipHTML,
		Markdown: tooltipMarkdown,
		// In text the words stand alone.
		Text: func(t *Text, e *Element) { t.Nodes(e.Node.Children) },
	}}
}

// tooltipMarkdown writes the words, and the tip behind them in parentheses.
func tooltipMarkdown(m *Markdown, e *Element) {
	m.Write(m.Phrase(Phrasing(e.Node.Children)))
	tip := m.Title(e, "tip")
	if headline := m.Title(e, "headline"); headline != "" && tip != "" {
		tip = headline + ": " + tip
	} else if headline != "" {
		tip = headline
	}
	if href := e.String("href"); href != "" {
		if to := m.Link(href); to != "" {
			cta := m.Title(e, "cta")
			if cta == "" {
				cta = string(AppendMarkdown([]byte("x"), href)[1:])
			}
			tip = strings.TrimSpace(tip + " [" + cta + "](" + to + ")")
		}
	}
	if tip != "" {
		m.Write(" (" + tip + ")")
	}
}

// tooltipHTML appends the words, which take the focus, and the tip within
// them: it shows while the words or the tip are pointed at or have the focus,
// so a touch or the keyboard show it too, and its link can be reached.
func tooltipHTML(w *Writer, e *Element) {
	id := w.ID(e)
	w.Raw(`<span`).Attr("class", join([]string{"tooltip bdy-tooltip", e.String("className"), w.StyleClass(e)})).
		Raw(` tabindex="0"`).AttrIf("aria-describedby", id).Raw(">").Nodes(Phrasing(e.Node.Children))
	w.Raw(`<span class="bdy-tooltip-tip" role="tooltip"`).AttrIf("id", id).Raw(">")
	if e.Has("headline") {
		w.Raw(`<strong class="bdy-tooltip-headline">`).title(e, "headline").Raw("</strong> ")
	}
	w.title(e, "tip")
	href, to := e.String("href"), ""
	if href != "" && !w.InLink() {
		to = w.Link(e, href)
	}
	if to != "" { // else it must not be a link
		w.Raw(` <a class="bdy-tooltip-link"`).Attr("href", to).Raw(">")
		if e.Has("cta") {
			w.title(e, "cta")
		} else {
			w.Text(href)
		}
		w.Raw("</a>")
	}
	w.Raw("</span></span>")
}
