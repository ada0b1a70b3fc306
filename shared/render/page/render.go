package page

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/reference"
)

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
	if page < 0 || page >= len(r.site.Pages) {
		return nil, fmt.Errorf("page %d of %d does not exist", page, len(r.site.Pages))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t, said, err := r.resolve(ctx, page, slice)
	if err != nil {
		return nil, err
	}
	result, notes, err := t.writeHTML(ctx, said)
	if err != nil {
		return nil, err
	}
	result.Markdown = t.writeMarkdown(notes)
	result.Text = t.writeText(notes)
	if err := t.islandScript(ctx, result); err != nil {
		return nil, err
	}
	result.Diagnostics = said.sorted(t.source)
	return result, nil
}

// New makes a Renderer.
func New(o Options) *Renderer {
	r := &Renderer{kinds: builtinKinds(), site: o.Site, fs: o.FS, code: o.Highlighter, icons: o.Icons, diagrams: o.Diagrams, islands: o.Islands, registry: o.Registry, log: o.Log, airGapped: o.AirGapped, playground: o.Playground}
	r.fallback = o.Site.DefaultSection()
	if home := o.Site.Home(); home >= 0 {
		r.lang = o.Site.Language(o.Site.Near(home))
	}
	if r.registry == nil {
		r.registry = component.Builtin()
	}
	r.registry = component.NewRegistry(append(r.registry.All(), reference.Components()...)...)
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	return r
}
