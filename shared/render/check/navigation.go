package check

import (
	"cmp"
	"fmt"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// Navigation returns what is found of the navigation and the pages as a whole:
// pages in no navigation that are not meant to be hidden, and pages of one group
// that readers can't tell apart.
func Navigation(s *site.Site) []mdx.Diagnostic {
	var found []mdx.Diagnostic
	say := func(p *site.Page, code, format string, args ...any) {
		found = append(found, mdx.Diagnostic{
			Severity: mdx.Notice, Code: code, File: p.File(), Line: 1, Column: 1, Message: fmt.Sprintf(format, args...),
		})
	}
	for i := range s.Pages {
		if p := &s.Pages[i]; !p.InNav && !p.Hidden && !p.Excluded && p.From == "" && i != s.Home() {
			say(p, "page-unlisted", `the page is in no navigation: only links lead to it; if that is meant, its head should say "hidden: true"`)
		}
	}
	var visit func(n *site.Node)
	visit = func(n *site.Node) {
		first := map[string]int{}
		for _, child := range n.Children {
			visit(child)
			if child.Kind != site.KindPage || child.Page < 0 || s.Pages[child.Page].Excluded {
				continue
			}
			p := &s.Pages[child.Page]
			label := cmp.Or(child.Label, p.Name())
			before, again := first[label]
			if !again {
				first[label] = child.Page
			} else if before != child.Page {
				say(p, "title-duplicate", "the navigation calls this page %q, and %s beside it, too", label, s.Pages[before].Source)
			}
		}
	}
	visit(s.Nav)
	return found
}
