package page

import (
	"context"
	"fmt"

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
