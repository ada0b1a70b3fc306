package component

import (
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/words"
)

// callout is one kind of box around a remark; its label is empty for none.
type callout struct {
	name, class string
	label       words.Phrase
	icon        string
}

// callouts lists the kinds; Danger and Error are one.
func callouts() []callout {
	return []callout{
		{"Note", "note", words.Note, noteIcon},
		{"Tip", "tip", words.Tip, tipIcon},
		{"Warning", "warning", words.Warning, warningIcon},
		{"Danger", "danger", words.Danger, dangerIcon},
		{"Error", "danger", words.Error, dangerIcon},
		{"Info", "info", words.Info, noteIcon},
		{"Check", "check", words.Check, checkIcon},
	}
}

// calloutKind finds a kind by the name that a type attribute gives.
func calloutKind(name string) *callout {
	if name == "" {
		return nil
	}
	for _, k := range callouts() {
		if strings.EqualFold(k.name, name) {
			return &k
		}
	}
	return nil
}

func calloutComponents() []*Component {
	attrs := slices.Concat(
		[]AttrSpec{{"title", "text", "", "A title above the text."}},
		iconAttrs("Another icon than the kind's own."),
		[]AttrSpec{{"color", "color", "", "Another colour of border, icon and tint than the kind's own."}},
	)
	var all []*Component
	for _, k := range callouts() {
		all = append(all, &Component{
			Name: k.name, Doc: "A remark beside the text, marked as: " + strings.ToLower(k.name) + ".",
			Block: true, Attrs: attrs,
			HTML:     func(w *Writer, e *Element) { calloutHTML(w, e, k) },
			Markdown: func(m *Markdown, e *Element) { calloutMarkdown(m, e, k) },
		})
	}
	kind := func(e *Element) callout {
		if k := calloutKind(e.String("type")); k != nil {
			return *k
		}
		return callout{class: "plain"}
	}
	return append(all, &Component{
		Name: "Callout", Doc: "A remark with an icon and a colour of the author's choice.", Block: true,
		Attrs:    append([]AttrSpec{{"type", "string", "", "Looks like the callout of this name: note, tip, warning, danger, error, info or check."}}, attrs...),
		HTML:     func(w *Writer, e *Element) { calloutHTML(w, e, kind(e)) },
		Markdown: func(m *Markdown, e *Element) { calloutMarkdown(m, e, kind(e)) },
	})
}

func calloutHTML(w *Writer, e *Element, k callout) {
	tint := w.colorClass(e, "color", "--fg")
	if tint != "" {
		tint = "bdy-tinted " + tint
	}
	w.open("div", e, "callout bdy-callout", "bdy-callout-"+k.class, tint).Raw(` role="note"`)
	if k.label != "" {
		w.Attr("aria-label", w.say(k.label))
	}
	w.Raw(">")
	if e.Has("icon") {
		w.icon(e, "icon", "bdy-callout-icon")
	} else if k.icon != "" {
		w.Raw(`<span class="bdy-callout-icon">`).Raw(k.icon).Raw("</span>")
	}
	w.Raw(`<div class="bdy-callout-body">`)
	if e.Has("title") {
		w.Raw(`<p class="bdy-callout-title">`).RichTitle(e, "title").Raw("</p>")
	}
	w.Children(e).Raw("</div></div>")
}

func calloutMarkdown(m *Markdown, e *Element, k callout) {
	m.Push("> ", "> ")
	title, label := m.Title(e, "title"), ""
	if k.label != "" {
		label = m.say(k.label)
	}
	if label != "" && title != "" {
		label += ": "
	}
	if label+title != "" {
		m.Paragraph(bold(label + title))
	}
	m.Children(e)
	m.Pop()
}
