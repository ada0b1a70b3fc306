package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/edit"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// Comparison lists the changes between two states of a site beside the lines of its
// files. Lists are in the order of the site.
type Comparison struct {
	// Redirects are the new ones, Gone those that are no longer there, each as
	// "/from → /to".
	Redirects, Gone []string
	// Navigation has a line for each change of the navigation.
	Navigation []string
	// Lost are addresses of pages that lead nowhere any more.
	Lost []string
	// Leads has, for files of pages that are gone, the file of the page that their
	// address leads to now. Paths are those of the repository.
	Leads map[string]string
}

// Compare compares two states of a site. It fails only if the configuration of one of
// them can't be read, or with the error of ctx.
func Compare(ctx context.Context, before, after *Tree) (Comparison, error) {
	c := Comparison{Leads: map[string]string{}}
	was, err := before.site(ctx)
	if err != nil {
		return c, err
	}
	is, err := after.site(ctx)
	if err != nil {
		return c, err
	}
	c.Redirects = redirectsBeyond(is, was)
	c.Gone = redirectsBeyond(was, is)
	leads := map[string]string{}
	for _, p := range was.Pages {
		if p.From != "" || pageOf(is, p.Source) >= 0 {
			continue
		}
		address := "/" + edit.EscapeAddress(p.CleanAddress())
		target := is.Resolve(-1, address)
		if target.Kind == site.Missing {
			c.Lost = append(c.Lost, address)
		} else if now := sourceOf(is, target); isPage(now) {
			leads[p.Source] = now
			c.Leads[before.full(p.Source)] = after.full(now)
		}
	}
	c.Navigation = navigationChanges(entriesOf(was), entriesOf(is), leads)
	return c, nil
}

// redirectsBeyond are the redirects of a that b doesn't have.
func redirectsBeyond(a, b *site.Site) []string {
	lines := func(s *site.Site) (all []string) {
		for _, r := range s.Redirects {
			all = append(all, r.Source+" → "+r.Destination)
		}
		return all
	}
	has := map[string]bool{}
	for _, l := range lines(b) {
		has[l] = true
	}
	return slices.DeleteFunc(lines(a), func(l string) bool { return has[l] })
}

// siteEntry is a page in the navigation: its file, and the labels of the groups in
// which it is.
type siteEntry struct{ source, in string }

// entriesOf are the pages of a site's navigation, in order.
func entriesOf(s *site.Site) []siteEntry {
	var all []siteEntry
	var walk func(n *site.Node, in string)
	walk = func(n *site.Node, in string) {
		if n.Page >= 0 {
			all = append(all, siteEntry{s.Pages[n.Page].Source, in})
			return
		}
		if n.Label != "" {
			in = strings.TrimPrefix(in+" › "+n.Label, " › ")
		}
		if n.Root >= 0 {
			all = append(all, siteEntry{s.Pages[n.Root].Source, in})
		}
		for _, c := range n.Children {
			walk(c, in)
		}
	}
	for _, c := range s.Nav.Children {
		walk(c, "")
	}
	return all
}

// navigationChanges says what changes from one navigation to another. leads has the
// pages that were moved.
func navigationChanges(was, is []siteEntry, leads map[string]string) []string {
	before := map[string]string{}
	for i, e := range was {
		if now := leads[e.source]; now != "" {
			was[i].source = now
		}
		before[was[i].source] = e.in
	}
	after := map[string]string{}
	for _, e := range is {
		after[e.source] = e.in
	}
	place := func(in string) string {
		if in == "" {
			return "the top"
		}
		return in
	}
	type step struct{ kind, from, to string }
	var steps []step
	pages := map[step][]string{}
	note := func(s step, page string) {
		if !slices.Contains(pages[s], page) {
			if pages[s] == nil {
				steps = append(steps, s)
			}
			pages[s] = append(pages[s], page)
		}
	}
	var kept [2][]string
	for _, e := range is {
		in, had := before[e.source]
		switch {
		case !had:
			note(step{kind: "new", to: place(e.in)}, e.source)
		case in != e.in:
			note(step{"moved", place(in), place(e.in)}, e.source)
		default:
			kept[1] = append(kept[1], e.source)
		}
	}
	for _, e := range was {
		if in, has := after[e.source]; !has {
			note(step{kind: "gone", from: place(e.in)}, e.source)
		} else if in == e.in {
			kept[0] = append(kept[0], e.source)
		}
	}
	var lines []string
	for _, s := range steps {
		what := Plural(len(pages[s]), "page")
		if len(pages[s]) == 1 {
			what = pages[s][0]
		}
		switch s.kind {
		case "new":
			lines = append(lines, fmt.Sprintf("new in %s: %s", s.to, what))
		case "moved":
			lines = append(lines, fmt.Sprintf("from %s to %s: %s", s.from, s.to, what))
		default:
			lines = append(lines, fmt.Sprintf("no longer in %s: %s", s.from, what))
		}
	}
	if !slices.Equal(kept[0], kept[1]) {
		lines = append(lines, "pages have another order")
	}
	return lines
}
