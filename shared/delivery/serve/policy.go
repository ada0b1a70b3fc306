package serve

import (
	"maps"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// ContentSecurityPolicy is the header for a bundle's pages: everything from the
// site itself, and what the bundle says that it needs besides. What is no
// source by the header's grammar is left out: a bundle must not be able to add
// directives.
func ContentSecurityPolicy(info *bundle.Info) string {
	var b strings.Builder
	b.WriteString("default-src 'self'")
	for _, directive := range slices.Sorted(maps.Keys(info.Sources)) {
		if !isFetchDirective(directive) {
			continue
		}
		b.WriteString("; " + directive + " 'self'")
		for _, source := range info.Sources[directive] {
			if isSource(source) {
				b.WriteString(" " + source)
			}
		}
	}
	for _, directive := range [...]string{"object-src", "base-uri"} {
		if len(info.Sources[directive]) == 0 {
			b.WriteString("; " + directive + " 'none'")
		}
	}
	if len(info.Sources["form-action"]) == 0 {
		b.WriteString("; form-action 'self'")
	}
	b.WriteString("; frame-ancestors 'self'")
	return b.String()
}

func isFetchDirective(s string) bool {
	name, ok := strings.CutSuffix(s, "-src")
	return s == "form-action" || ok && name != "" && name != "default" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// isSource reports whether a source may be in a directive: visible ASCII
// without the signs that end a source, a directive or a policy. 'none' beside
// 'self' would mean nothing.
func isSource(s string) bool {
	return s != "" && s != "'none'" && s != "'self'" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || r == ';' || r == ','
	})
}
