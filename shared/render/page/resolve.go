package page

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/reference"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// resolve reads a page and decides all that its copies have in common. It
// returns the tree and what its author should know; the error is about reading
// files or the context's end.
func (r *Renderer) resolve(ctx context.Context, page int, slice *reference.Slice) (*tree, *report, error) {
	p := &r.Site.Pages[page]
	src, name, err := r.source(p, slice)
	if err != nil {
		return nil, nil, err
	}
	s := &resolver{tree: newTree(r, page, name), notes: notes{said: new(report)}, ctx: ctx}
	s.length, s.reports = len(src), s.said
	file, ignores, diagnostics := r.parse(name, src)
	s.ignores = ignores
	for i, d := range diagnostics {
		s.said.add(d)
		if d.Severity == mdx.Error && !d.Mended && s.unread == nil {
			s.unread = &diagnostics[i]
		}
	}
	mdx.Unravel(file.Root)
	s.root = s.expandFile(file.Root, newScope(name, nil))
	if s.err != nil {
		return nil, nil, s.err
	}
	s.addReference(p, slice)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	s.assignIDs()
	s.titled = s.titleHeading(p)
	for _, n := range s.root {
		s.fit(n, false)
	}
	if r.After != nil {
		s.after = r.After(page)
	}
	return s.tree, s.said, s.err
}

// source reads a page's source, and returns the file's name. A page that is made
// from a specification has only what the specification says of its page.
func (r *Renderer) source(p *site.Page, slice *reference.Slice) ([]byte, string, error) {
	if p.From != "" {
		if slice == nil {
			return nil, p.From, nil
		}
		return []byte(slice.Preface), p.From, nil
	}
	src, err := fs.ReadFile(r.FS, p.Source)
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", p.Source, err)
	}
	return src, p.Source, nil
}
