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

// Nearest returns the word with the smallest edit distance to s, as Distance counts it:
// at most 2, and at most a third of the letters of s. Two words at the
// distance 2 begin with the same letter: few slips are in the first one, and many
// different words are alike otherwise. Of two at the same distance it returns the first.
// It returns "" if none is near.
func Nearest(s string, words []string) string {
	fold := func(s string) string {
		return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(s))
	}
	return nearest(fold(s), words, fold)
}

// maxSlips is the largest edit distance of a suggestion.
const maxSlips = 2

// nearest does what Nearest does, for words that fold has made comparable.
func nearest(s string, words []string, fold func(string) string) string {
	const longest = 200
	if len(s) > longest {
		return ""
	}
	most := maxSlips
	best := ""
	for _, w := range words {
		if d := len(w) - len(s); d < -maxSlips || d > maxSlips+8 { // hyphens may fold away
			continue
		}
		folded := fold(w)
		allowed := min(most, max(1, len(s)/3))
		if d := slips(s, folded, allowed); d <= allowed && (d < 2 || s[0] == folded[0]) {
			if best, most = w, d-1; d <= 1 {
				break
			}
		}
	}
	return best
}

// slips is Distance, or any number above most where that is what Distance is.
func slips(a, b string, most int) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if d := len(a) - len(b); d > most || d < -most {
		return most + 1
	}
	// What is left differs at both ends: of longer texts a part in the middle is alike,
	// which costs nothing, so they are compared in full.
	return Distance(a, b)
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
