package page

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/expr"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/reference"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// resolver makes a page's tree.
type resolver struct {
	*tree
	notes
	ctx context.Context
	// size counts the page's parts, tooLarge is set once they are too many.
	size     int
	tooLarge bool
	// stack are the snippets and components that are being shown.
	stack []string
	js    *expr.Machine
	// modules are the files that names were imported from.
	modules map[string]*scope
	// ownIDs are the ids that headings give themselves.
	ownIDs map[*mdx.Node]string
	// trial is the innermost one that runs: the notes belong to it.
	trial *trial
	// islands counts the pieces of JavaScript that were tried, islandSteps the
	// work that those took which were shown.
	islands, islandSteps int
}

// resolve reads a page and decides all that its copies have in common. It
// returns the tree and what its author should know; the error is about reading
// files or the context's end.
func (r *Renderer) resolve(ctx context.Context, page int, slice *reference.Slice) (*tree, *report, error) {
	p := &r.site.Pages[page]
	src, name, err := r.source(p, slice)
	if err != nil {
		return nil, nil, err
	}
	s := &resolver{tree: newTree(r, page, name), notes: notes{said: new(report)}, ctx: ctx}
	s.length = len(src)
	file, diagnostics := r.parse(name, src)
	for i, d := range diagnostics {
		s.said.add(d)
		if d.Severity == mdx.Error && s.unread == nil {
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
	for _, n := range s.root {
		s.fit(n, false)
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
	src, err := fs.ReadFile(r.fs, p.Source)
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", p.Source, err)
	}
	return src, p.Source, nil
}

// fit readies components and elements for what browsers want of them: the size
// of pictures, the names of frames, how a video is played.
func (s *resolver) fit(n *mdx.Node, inSVG bool) {
	if n.Kind == mdx.Element {
		if c := s.component(n); c != nil {
			if c.Ready != nil {
				c.Ready(s.element(n, c))
			}
		} else if isTag(n.Name) {
			switch name := strings.ToLower(n.Name); {
			case name == "svg" || name == "math":
				inSVG = true
			case inSVG:
			case name == "img":
				s.fitImage(n)
			case isEmbed(name) && !(s.r.airGapped && s.outside(n)):
				s.fitEmbed(n, name)
			}
		}
		for _, list := range s.slots[n] {
			for _, c := range list {
				s.fit(c, inSVG)
			}
		}
	}
	for _, c := range n.Children {
		s.fit(c, inSVG)
	}
}
