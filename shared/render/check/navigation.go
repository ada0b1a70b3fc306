package check

import (
	"cmp"
	"fmt"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// Navigation returns the findings about the navigation: pages that it lacks although
// they are not hidden, and pages of one group with the same label.
func Navigation(s *site.Site) []mdx.Diagnostic {
	var found []mdx.Diagnostic
	say := func(p *site.Page, severity mdx.Severity, code, format string, args ...any) {
		found = append(found, mdx.Diagnostic{
			Severity: severity, Code: code, File: p.File(), Line: 1, Column: 1, Message: fmt.Sprintf(format, args...),
		})
	}
	for i := range s.Pages {
		if p := &s.Pages[i]; !p.InNav && !p.Hidden && !p.Excluded && p.From == "" && i != s.Home() {
			say(p, mdx.Info, "page-unlisted", `the page is not in the navigation, so only links lead to it; if that is intended, set "hidden: true" in its head`)
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
				say(p, mdx.Notice, "title-duplicate", "the navigation labels this page %q, like %s in the same group", label, s.Pages[before].Source)
			}
		}
	}
	visit(s.Nav)
	return found
}
