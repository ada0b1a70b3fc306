package page

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/script"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// Diagrams draws Mermaid's diagrams; *script.Engine does.
type Diagrams interface {
	// Draw draws a diagram. An error that is not the context's tells the
	// author why it can't be drawn.
	Draw(ctx context.Context, source string) (*script.Diagram, error)
}

// diagramNames name drawings whose author does not.
var diagramNames = map[script.Kind]words.Phrase{
	script.Flowchart: words.Flowchart, script.Sequence: words.Sequence, script.State: words.State,
	script.Class: words.Class, script.Entity: words.Entity,
	script.Pie: words.Pie,
}

// diagram appends a drawing in place of its source; ok is false where the
// source is to be shown. Where Mermaid itself may draw it, live is true: the
// source then stands in an element that its runtime finds.
func (w *htmlWriter) diagram(b []byte, n *mdx.Node, title, source string) (out []byte, ok, live bool) {
	if w.r.diagrams == nil {
		return b, false, false
	}
	d, err := w.r.diagrams.Draw(w.ctx, source)
	if err != nil {
		if w.ctx.Err() != nil {
			w.fail(w.ctx.Err())
			return b, true, false
		}
		if !errors.Is(err, script.ErrOther) && n != nil {
			w.report(w.fileOf(n), n.Pos, mdx.Warning, "diagram-not-drawn", "the diagram is not drawn at export: "+err.Error())
		}
		live = script.Live(err)
		w.result.Mermaid = w.result.Mermaid || live
		return b, false, live
	}
	w.diagrams++
	name := cmp.Or(d.Title, title, w.say(diagramNames[d.Kind]))
	b = append(b, `<figure class="diagram"><div class="diagram-view" tabindex="0" role="group"`...)
	b = html.AppendAttr(b, "aria-label", w.say(words.Diagram)+": "+name)
	b = append(b, '>')
	b = d.AppendSVG(b, "diagram-"+strconv.Itoa(w.diagrams)+"-", cmp.Or(d.Description, name))
	b = append(b, `</div>`...)
	if caption := cmp.Or(title, d.Title); caption != "" {
		b = append(b, `<figcaption>`...)
		b = html.AppendText(b, caption)
		b = append(b, `</figcaption>`...)
	}
	b = append(b, `<details class="diagram-text"><summary>`...)
	b = html.AppendText(b, w.say(words.DiagramText))
	b = append(b, "</summary>"...)
	b = appendLines(b, d.Lines)
	return append(b, "</details></figure>\n"...), true, false
}

// appendLines writes what a drawing shows as lists within each other.
func appendLines(b []byte, lines []script.Line) []byte {
	depth := -1
	for _, l := range lines {
		// A line stands at most one list deeper than the one before it.
		at := min(l.Depth, depth+1)
		for depth > at {
			b = append(b, "</li></ul>"...)
			depth--
		}
		if depth == at {
			b = append(b, "</li>"...)
		} else {
			b = append(b, "<ul>"...)
			depth++
		}
		b = append(b, "<li>"...)
		b = html.AppendText(b, l.Text)
	}
	for ; depth >= 0; depth-- {
		b = append(b, "</li></ul>"...)
	}
	return b
}

// isDiagram tells fences of diagrams.
func isDiagram(lang string) bool { return strings.EqualFold(lang, "mermaid") }
