package tool

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/render/edit"
	"github.com/bindery-docs/bindery/shared/render/site"
)

var deleteTool = definition{
	name: "delete",
	about: "Deletes a file or a folder, and reports the links and the navigation entries that led to it, which are left for you to mend. " +
		"With redirect, its old address leads elsewhere.",
	params: []param{
		{name: "path", required: true, about: "The file or folder."},
		{name: "redirect", about: "The address of a page, such as /guides/start, to which the old addresses lead from now on. Default: none."},
	},
	call: (*Set).remove,
}

func (s *Set) remove(ctx context.Context, a args) (Result, error) {
	p, err := a.path("path")
	if err != nil {
		return Result{}, err
	}
	files := []string{p}
	if !s.tree.exists(p) {
		if files = s.tree.below(p); len(files) == 0 || p == "" {
			return Result{File: p}, s.missing(p)
		}
	}
	if slices.Contains(files, s.tree.configFile()) {
		return Result{File: p}, refuse("%s: the configuration must stay", s.tree.configFile())
	}
	was, err := s.tree.site(ctx)
	if err != nil {
		return Result{File: p}, err
	}
	goes := map[string]string{}
	next := s.tree.clone()
	for _, f := range files {
		if err := next.put(f, nil); err != nil {
			return Result{File: p}, err
		}
		goes[f] = f
	}
	if to := a.text("redirect"); to != "" {
		if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || sourceOf(was, was.Resolve(-1, to)) == "" || goes[sourceOf(was, was.Resolve(-1, to))] != "" {
			return Result{File: p}, refuse("redirect: %.200q is not the address of a page that stays", to)
		}
		var wanted [][2]string
		for _, page := range was.Pages {
			if goes[page.Source] != "" && page.From == "" {
				wanted = append(wanted, [2]string{"/" + edit.EscapeAddress(page.CleanAddress()), to})
			}
		}
		if err := next.redirect(wanted, nil, func(string, string) {}); err != nil {
			return Result{File: p}, err
		}
	}
	contents := next.since(s.tree)
	left := s.leftovers(ctx, was, goes)
	if err := s.edit(ctx, contents); err != nil {
		return Result{File: p}, err
	}
	var b pages
	b.add("Deleted %s.", Plural(len(files), "file"))
	for _, l := range left {
		b.add("%s", l)
	}
	if len(left) == 0 {
		b.add("Nothing led there.")
	}
	return Result{Text: b.end("places", "search for the old path to see them"), File: p, Outcome: fmt.Sprintf("deleted; %s left", Plural(len(left), "place"))}, nil
}

// leftovers lists the links and entries that lead to deleted files.
func (s *Set) leftovers(ctx context.Context, was *site.Site, goes map[string]string) []string {
	m := &mover{from: s.tree, moved: goes}
	addresses := m.addresses()
	var out []string
	documents := s.tree.configDocuments()
	for _, file := range sortedKeys(documents) {
		walkTexts(documents[file].root, nil, func(v *json.Value, keys []string) {
			if _, ok := m.entry(file, v.Text, keys, addresses); ok {
				out = append(out, fmt.Sprintf("%s:%d: still names it: %s", file, v.Line, cutLine(quote(v.Text))))
			}
		})
	}
	for _, p := range s.tree.sources() {
		src, err := s.tree.read(p)
		if err != nil || goes[p] != "" || ctx.Err() != nil || !m.mayName(src) {
			continue
		}
		page := pageOf(was, p)
		for _, r := range edit.Refs(src, s.tree.settings().Syntax(p)) {
			leads := goes[importPath(p, r.Value)] != ""
			if !r.File {
				leads = !isElsewhere(r.Value) && goes[sourceOf(was, was.Resolve(page, r.Value))] != ""
			}
			if leads {
				out = append(out, fmt.Sprintf("%s:%d: leads there: %s", p, 1+bytes.Count(src[:r.From], []byte("\n")), cutLine(r.Value)))
			}
		}
	}
	return out
}
