package page

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/reference"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// New makes a Renderer.
func New(o Options) *Renderer {
	r := &Renderer{Options: o, kinds: builtinKinds()}
	r.settings = sync.OnceValues(r.settingsOf)
	r.fallback = o.Site.DefaultSection()
	if home := o.Site.Home(); home >= 0 {
		r.lang = o.Site.Language(o.Site.Near(home))
	}
	r.Registry = cmp.Or(r.Registry, component.Builtin())
	r.attrs = attrNames(r.Registry)
	r.Registry = component.NewRegistry(append(r.Registry.All(), reference.Components()...)...)
	r.Log = cmp.Or(r.Log, slog.New(slog.DiscardHandler))
	return r
}

// Render renders the page with this index in Site.Pages. The error is about
// reading files or the context's end; everything that is wrong with the page
// itself is in the result's Diagnostics.
func (r *Renderer) Render(ctx context.Context, page int) (*Result, error) {
	return r.RenderReference(ctx, page, nil)
}

// RenderReference is Render for a page that shows a part of a specification:
// slice is what site.Page.Reference names. With nil the page has what its author
// wrote alone.
func (r *Renderer) RenderReference(ctx context.Context, page int, slice *reference.Slice) (*Result, error) {
	t, said, err := r.begin(ctx, page, slice)
	if err != nil {
		return nil, err
	}
	result, notes, err := t.writeHTML(ctx, said, false)
	if err != nil {
		return nil, err
	}
	result.Markdown = t.writeMarkdown(notes)
	result.Text = t.writeText(notes)
	if err := t.islandScript(ctx, result, said); err != nil {
		return nil, err
	}
	result.Diagnostics, result.Ignores = said.sorted(t.source), t.ignores
	result.Inputs = t.inputsOf()
	return result, nil
}

// Inspect returns what RenderReference finds out about a page, without its
// copies and its script: Diagnostics, IDs, Links and Classes are the same. It
// still writes HTML, and drops it: what a component shows of its content is
// decided there. Code is not coloured, which takes most of the time of the rest.
func (r *Renderer) Inspect(ctx context.Context, page int, slice *reference.Slice) (*Result, error) {
	t, said, err := r.begin(ctx, page, slice)
	if err != nil {
		return nil, err
	}
	result, _, err := t.writeHTML(ctx, said, true)
	if err != nil {
		return nil, err
	}
	result.HTML, result.Lead = nil, nil
	result.Diagnostics, result.Ignores = said.sorted(t.source), t.ignores
	return result, nil
}

// begin resolves the page with this index, if there is one.
func (r *Renderer) begin(ctx context.Context, page int, slice *reference.Slice) (*tree, *report, error) {
	if page < 0 || page >= len(r.Site.Pages) {
		return nil, nil, fmt.Errorf("page %d of %d does not exist", page, len(r.Site.Pages))
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	return r.resolve(ctx, page, slice)
}

// writeHTML writes the page as HTML, with code in one colour if it is uncoloured. It
// returns what is known of the page then, and the footnotes that it shows, in
// order. What its author should know goes to said.
func (t *tree) writeHTML(ctx context.Context, said *report, uncoloured bool) (*Result, []*footnote, error) {
	p := &t.r.Site.Pages[t.page]
	w := &htmlWriter{tree: t, notes: notes{said: said}, ctx: ctx, uncoloured: uncoloured, written: make(map[string]struct{}, len(t.used.taken))}
	w.result.Reference, w.result.Playground, w.result.Unrun = t.reference, t.playground, t.unrun
	for _, server := range t.servers {
		w.allow("connect-src", server)
	}
	defer func() {
		if w.endAhead != nil {
			w.endAhead()
		}
	}()
	w.previews(p)
	out := component.Writer{B: make([]byte, 0, min(t.length*2, 16<<20)+512), HTML: w}
	if t.unread != nil {
		w.notice(&out, t.unread)
	}
	w.topLevel(&out)
	w.footnoteSection(&out)
	w.nodes(&out, w.after)
	w.result.HTML, w.result.Lead = out.B, w.lead(p.Description)
	w.result.Classes = slices.Sorted(maps.Keys(w.classes))
	w.reportElsewhere()
	return &w.result, w.order, w.err
}

// notice shows a reader that something of the page could not be read.
func (w *htmlWriter) notice(out *component.Writer, d *mdx.Diagnostic) {
	out.Raw(`<div class="callout bdy-callout bdy-callout-danger bdy-page-notice" role="note"`).Attr("aria-label", w.say(words.Error)).
		Raw(`><div class="bdy-callout-body"><p>`).Text(w.say(words.Unread) + ": " + d.Message)
	if d.Line > 0 {
		out.Text(fmt.Sprintf(" (%s %d)", w.say(words.Line), d.Line))
	}
	out.Raw(`</p></div></div>`)
}

// topLevel appends the page's top level. What stands beside the text comes in
// one box, in place of the first of it: it is one column, and its place in the
// text matters on narrow screens alone.
func (w *htmlWriter) topLevel(out *component.Writer) {
	beside := func(n *mdx.Node) bool { return n.Kind == mdx.Element && component.Beside(n.Name) }
	line := func(i int) {
		w.nodes(out, w.root[i:i+1])
		// Elements on lines of their own are as apart as their lines.
		if len(out.B) > 0 && out.B[len(out.B)-1] != '\n' {
			out.Raw("\n")
		}
	}
	first := slices.IndexFunc(w.root, beside)
	for i, n := range w.root {
		switch {
		case !beside(n):
			line(i)
		case i == first:
			w.result.Beside = true
			out.OpenBeside().Raw("\n")
			for i, n := range w.root {
				if beside(n) {
					line(i)
				}
			}
			out.Raw("</div></aside>\n")
		}
	}
}

// writeMarkdown writes the page's Markdown copy: title and description first,
// then the tree without any JSX, and the footnotes that the page shows.
func (t *tree) writeMarkdown(notes []*footnote) []byte {
	p := &t.r.Site.Pages[t.page]
	w := &markdownWriter{tree: t}
	m := component.NewMarkdown(w)
	m.Paragraph("# " + inlineText(p.Title))
	if p.Description != "" {
		m.Push("> ", "> ")
		m.Paragraph(m.Title(leadElement(p.Description, w), "description"))
		m.Pop()
	}
	w.blocks(m, t.root)
	for _, f := range notes {
		m.Push("[^"+f.def.Name+"]: ", "    ")
		w.blocks(m, f.def.Children)
		m.Pop()
	}
	w.blocks(m, t.after)
	return m.Bytes()
}

// writeText returns the page's text by heading, with the footnotes that the page
// shows.
func (t *tree) writeText(notes []*footnote) []component.Section {
	text := t.NewText()
	text.Nodes(t.root)
	for _, f := range notes {
		text.Nodes(f.def.Children)
	}
	return text.Sections()
}
