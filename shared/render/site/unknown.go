package site

import (
	"fmt"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// unread warns about fields that no reader asked for: misspelt ones mostly. It
// is called when everything is read.
func (r *configReader) unread(v *value, where string) {
	if v == nil || v.open {
		return
	}
	for _, i := range v.list() {
		r.unread(i, "an entry of "+strings.TrimPrefix(where, "an entry of "))
	}
	members := v.members()
	if len(members) == 0 || len(v.asked) == 0 {
		return // nobody looked into it: that was reported where it stands
	}
	asked := make(map[string]bool, len(v.asked))
	for _, a := range v.asked {
		asked[a] = true
	}
	seen := make(map[string]bool, len(members))
	for _, m := range members {
		if strings.HasPrefix(m.key, "$") {
			continue
		}
		if seen[m.key] {
			r.report(m.val, mdx.Warning, "config-twice", "%s has the field %q twice: this one counts", where, m.key)
		}
		seen[m.key] = true
		if asked[m.key] {
			r.unread(m.val, fmt.Sprintf("%q", m.key))
			continue
		}
		hint := ""
		if near := Nearest(m.key, v.asked); near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		r.report(m.val, mdx.Warning, "config-unknown", "%s has no field %q%s", where, m.key, hint)
	}
}

// Nearest returns the word that is most like s, or "" if none is. Of two that are
// equally like it, it is the first.
func Nearest(s string, words []string) string {
	const longest = 64 // no field has a longer name
	if len(s) > longest {
		return ""
	}
	fold := func(s string) string {
		return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(s))
	}
	folded := fold(s)
	best, least := "", 2+len(folded)/4
	for _, w := range words {
		if f := fold(w); len(f) <= longest {
			if d := Distance(folded, f); d < least {
				best, least = w, d
			}
		}
	}
	return best
}

// Distance counts the bytes to insert, take away, replace or swap with their
// neighbour that make b of a.
func Distance(a, b string) int {
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
