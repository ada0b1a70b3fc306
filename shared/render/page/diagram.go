package page

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/diagram"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// Diagrams draws Mermaid's diagrams; *diagram.Drawer does.
type Diagrams interface {
	// Draw draws a diagram. An error that is not the context's says, for
	// the author, why it can't be drawn.
	Draw(ctx context.Context, source string) (*diagram.Diagram, error)
}

// diagramNames name drawings whose author does not.
var diagramNames = map[diagram.Kind]words.Phrase{
	diagram.Flowchart: words.Flowchart, diagram.Sequence: words.Sequence, diagram.State: words.State,
	diagram.Class: words.Class, diagram.Entity: words.Entity,
	diagram.Pie: words.Pie, diagram.Git: words.Git, diagram.Gantt: words.Gantt, diagram.Mindmap: words.Mindmap,
	diagram.Timeline: words.Timeline, diagram.Quadrant: words.Quadrant, diagram.XY: words.Chart,
}

// diagram appends a drawing in place of its source; ok is false where the
// source is to be shown. Where Mermaid itself may draw it, live is true: the
// source then stands in an element that its runtime finds. A still one is not
// zoomed.
func (w *htmlWriter) diagram(out *component.Writer, n *mdx.Node, title, source string, still bool) (ok, live bool) {
	if w.r.Diagrams == nil {
		return false, false
	}
	d, err := w.r.Diagrams.Draw(w.ctx, source)
	if err != nil {
		if w.ctx.Err() != nil {
			w.fail(w.ctx.Err())
			return true, false
		}
		switch {
		case errors.Is(err, diagram.ErrOther):
			w.report(w.fileOf(n), n.Pos, mdx.Info, "diagram-not-drawn", "the diagram is drawn in the browser: "+err.Error())
		default:
			w.report(w.fileOf(n), n.Pos, mdx.Warning, "diagram-not-drawn", "the diagram is not drawn at export: "+err.Error())
		}
		live = diagram.Live(err)
		w.result.Mermaid = w.result.Mermaid || live
		w.result.Zoom = w.result.Zoom || live && !still
		return false, live
	}
	if n != nil {
		for _, setting := range d.Ignored {
			w.report(w.fileOf(n), n.Pos, mdx.Notice, "diagram-setting", "a setting of the diagram has no effect: "+setting)
		}
	}
	name := cmp.Or(d.Title, title, w.say(diagramNames[d.Kind]))
	out.Raw(`<figure class="bdy-diagram mermaid"`)
	if d.Large() && !still {
		w.result.Zoom = true
		out.Attr("data-bindery-tools", w.diagramTools())
	}
	out.Raw(">")
	if caption := cmp.Or(title, d.Title); caption != "" {
		// HTML lets a caption be the first or the last of a figure.
		out.Raw(`<figcaption>`).Text(caption).Raw(`</figcaption>`)
	}
	out.Raw(`<div class="bdy-diagram-view" tabindex="0" role="group"`).Attr("aria-label", w.say(words.Diagram)+": "+name).Raw(">")
	var address func(string) string
	if n != nil {
		address = func(href string) string { return w.link(n, n.Pos, href) }
	}
	out.B = d.AppendSVG(out.B, cmp.Or(d.Description, name), address)
	out.Raw(`</div><details class="bdy-diagram-text"><summary>`).Text(w.say(words.DiagramText)).Raw("</summary>")
	writeLines(out, d.Lines)
	out.Raw("</details></figure>\n")
	return true, false
}

// diagramTools are the names of the buttons that diagram.Script adds.
func (w *htmlWriter) diagramTools() string {
	return strings.Join([]string{w.say(words.MoveLeft), w.say(words.MoveUp), w.say(words.MoveDown), w.say(words.MoveRight),
		w.say(words.Shrink), w.say(words.Enlarge), w.say(words.AsBefore)}, "|")
}

// writeLines writes what a drawing shows as lists within each other.
func writeLines(out *component.Writer, lines []diagram.Line) {
	depth := -1
	for _, l := range lines {
		// A line stands at most one list deeper than the one before it.
		at := min(l.Depth, depth+1)
		for ; depth > at; depth-- {
			out.Raw("</li></ul>")
		}
		if depth == at {
			out.Raw("</li>")
		} else {
			out.Raw("<ul>")
			depth++
		}
		out.Raw("<li>").Text(l.Text)
	}
	for ; depth >= 0; depth-- {
		out.Raw("</li></ul>")
	}
}

// isDiagram reports whether a fence of this language holds a diagram.
func isDiagram(lang string) bool { return strings.EqualFold(lang, "mermaid") }
