package site

import (
	"fmt"
	"path"
	"slices"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Settle replaces the style sheets and scripts of other hosts that the
// configuration names for every page by the bundle's copies. Those without a copy
// are taken out and reported: pages wait for styles and scripts, and a bundle's run
// nothing that may be another file tomorrow. reason says why there is no copy of
// what lies at an address, a "style sheet" or a "script", as the end of a sentence.
func (s *Site) Settle(reason func(address, what string) string) []mdx.Diagnostic {
	var diags []mdx.Diagnostic
	places := make(map[string]Outside, len(s.Outside))
	for _, o := range slices.Backward(s.Outside) {
		places[o.Address] = o
	}
	pick := func(names []string, ext, what string) []string {
		var out []string
		for _, name := range names {
			o, outside := places[name]
			if !outside {
				out = append(out, name)
				continue
			}
			if copied := s.Remote[name]; path.Ext(copied) == ext {
				out = append(out, copied)
				continue
			}
			diags = append(diags, mdx.Diagnostic{
				Severity: mdx.Warning, Code: "file-outside", File: o.File, Line: o.Line, Column: o.Column,
				Message: fmt.Sprintf("%s %s: pages do without it", name, reason(name, what)),
			})
		}
		return out
	}
	s.Styles, s.Scripts = pick(s.Styles, ".css", "style sheet"), pick(s.Scripts, ".js", "script")
	s.Outside = nil
	return diags
}
