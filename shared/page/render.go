package page

import (
	"context"
	"fmt"
)

// Render renders the page with this index in Site.Pages. The error is about
// reading files or the context's end; everything that is wrong with the page
// itself is in the result's Diagnostics.
func (r *Renderer) Render(ctx context.Context, page int) (*Result, error) {
	if page < 0 || page >= len(r.site.Pages) {
		return nil, fmt.Errorf("page %d of %d does not exist", page, len(r.site.Pages))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("not built yet")
}
