package tool

import (
	"bytes"
	"context"
)

var revertTool = definition{
	name: "revert",
	about: "Undoes all changes of one file: it is again as the repository has it. A file that the repository doesn't have is removed, a deleted one comes back. " +
		"Links, redirects and navigation entries in other files stay: check finds those that lead nowhere.",
	params: []param{{name: "path", required: true, about: "The file. diff shows which files are changed."}},
	call:   (*Set).revert,
}

func (s *Set) revert(ctx context.Context, a args) (Result, error) {
	p, err := a.path("path")
	if err != nil {
		return Result{}, err
	}
	if p == "" {
		return Result{}, refuse("path: is the site's folder, not a file")
	}
	now, changed := s.tree.changed[p]
	if !changed {
		if !s.tree.exists(p) {
			return Result{File: p}, s.missing(p)
		}
		return Result{File: p}, refuse("%s is not changed", p)
	}
	next := s.tree.clone()
	text, outcome := p+": as the repository has it again", "reverted"
	if e, old := s.tree.entries[p]; old {
		was, err := s.tree.base.Read(e.Path)
		if err != nil {
			return Result{File: p}, refuse("%s can't be read as it was", p)
		}
		if now == nil {
			text, outcome = p+": is back, as the repository has it", "back"
		}
		if err := next.put(p, bytes.Clone(was)); err != nil {
			return Result{File: p}, err
		}
	} else {
		text, outcome = p+": is removed, because the repository doesn't have it", "removed"
		if err := next.put(p, nil); err != nil {
			return Result{File: p}, err
		}
	}
	// A file that comes back can be in the way of a new one.
	if err := next.collision(next.Changes()); err != nil {
		return Result{File: p}, err
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	*s.tree = *next
	return Result{Text: text + ".", File: p, Outcome: outcome}, nil
}
