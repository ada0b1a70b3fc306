package site

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// Policy says what the pages of a version may do, in a header of every answer.
type Policy struct {
	value  []string // as a header's values
	digest PolicyDigest
}

// PolicyDigest is the beginning of the SHA-256 of a policy.
type PolicyDigest [6]byte

// NewPolicy returns the policy of a bundle.
func NewPolicy(info *bundle.Info) *Policy {
	text := ContentSecurityPolicy(info)
	sum := sha256.Sum256([]byte(text))
	return &Policy{value: []string{text}, digest: PolicyDigest(sum[:])}
}

// String is the header's value.
func (p *Policy) String() string { return p.value[0] }

// ContentSecurityPolicy is the header for a bundle's pages: everything from the
// site itself, and what the bundle says it needs as well. What is no
// source by the header's grammar is left out: a bundle must not be able to add
// directives.
func ContentSecurityPolicy(info *bundle.Info) string {
	var b strings.Builder
	b.WriteString("default-src 'self'")
	objects := false
	for _, directive := range slices.Sorted(maps.Keys(info.Sources)) {
		sources := slices.DeleteFunc(slices.Clone(info.Sources[directive]), func(s string) bool { return !isSource(s) })
		if !isFetchDirective(directive) || directive == "object-src" && len(sources) == 0 {
			continue
		}
		objects = objects || directive == "object-src"
		b.WriteString("; " + strings.Join(append([]string{directive, "'self'"}, sources...), " "))
	}
	if !objects {
		b.WriteString("; object-src 'none'")
	}
	// No page of a bundle has a <base>; what a bundle says of it doesn't count.
	b.WriteString("; base-uri 'none'")
	if _, named := info.Sources["form-action"]; !named {
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
