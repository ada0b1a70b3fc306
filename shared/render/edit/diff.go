package edit

import (
	"fmt"
	"slices"
	"strings"
)

// diffContext is how many lines a diff shows around what differs.
const diffContext = 3

// diffLines returns a text's lines with their ends; the last says if it has none.
func diffLines(src []byte) []string {
	if len(src) == 0 {
		return nil
	}
	lines := strings.SplitAfter(string(src), "\n")
	if n := len(lines); lines[n-1] == "" {
		lines = lines[:n-1]
	} else {
		lines[n-1] += "\n\\ No newline at end of file\n"
	}
	return lines
}

// Diff returns the unified diff of a file, "" where nothing differs, and how many
// lines were added and removed. nil stands for no file.
func Diff(p string, was, is []byte, shown func(line string) string) (text string, added, removed int) {
	if shown == nil {
		shown = func(line string) string { return line }
	}
	old, now := diffLines(was), diffLines(is)
	if slices.Equal(old, now) && (was == nil) == (is == nil) {
		return "", 0, 0
	}
	var b strings.Builder
	from, to := "a/"+p, "b/"+p
	if was == nil {
		from = "/dev/null"
	}
	if is == nil {
		to = "/dev/null"
	}
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
	added, removed = hunks(&b, old, now, shown)
	return b.String(), added, removed
}

// run is a stretch of lines that are in both texts.
type run struct{ old, now, n int }

// hunks writes what differs between two texts, and counts its lines.
func hunks(b *strings.Builder, old, now []string, shown func(line string) string) (added, removed int) {
	type edit struct{ old, oldEnd, now, nowEnd int }
	var edits []edit
	i, j := 0, 0
	for _, r := range append(common(old, now), run{len(old), len(now), 0}) {
		if r.old > i || r.now > j {
			edits = append(edits, edit{i, r.old, j, r.now})
			removed += r.old - i
			added += r.now - j
		}
		i, j = r.old+r.n, r.now+r.n
	}
	for len(edits) > 0 {
		last := 0 // those so near that their context would touch are one hunk
		for last+1 < len(edits) && edits[last+1].old-edits[last].oldEnd <= 2*diffContext {
			last++
		}
		first, end := edits[0], edits[last]
		before := min(diffContext, first.old)
		after := min(diffContext, len(old)-end.oldEnd)
		fmt.Fprintf(b, "@@ -%s +%s @@\n", lineRange(first.old-before, end.oldEnd+after), lineRange(first.now-before, end.nowEnd+after))
		at := first.old - before
		for _, e := range edits[:last+1] {
			for ; at < e.old; at++ {
				b.WriteString(" " + shown(old[at]))
			}
			for ; at < e.oldEnd; at++ {
				b.WriteString("-" + shown(old[at]))
			}
			for _, line := range now[e.now:e.nowEnd] {
				b.WriteString("+" + shown(line))
			}
		}
		for ; at < end.oldEnd+after; at++ {
			b.WriteString(" " + shown(old[at]))
		}
		edits = edits[last+1:]
	}
	return added, removed
}

func lineRange(from, to int) string {
	switch {
	case to == from:
		return fmt.Sprintf("%d,0", from)
	case to == from+1:
		return fmt.Sprint(to)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

// common returns runs of lines that two texts have in common, in order: what both
// begin and end with, and, between these, around lines that each has once
// (patience diff). It takes no longer than sorting the lines does.
func common(old, now []string) []run {
	var out []run
	start := 0
	for start < len(old) && start < len(now) && old[start] == now[start] {
		start++
	}
	end := 0
	for end < len(old)-start && end < len(now)-start && old[len(old)-1-end] == now[len(now)-1-end] {
		end++
	}
	if start > 0 {
		out = append(out, run{0, 0, start})
	}
	i, j := start, start
	for _, a := range anchors(old[start:len(old)-end], now[start:len(now)-end]) {
		x, y := a.old+start, a.now+start
		if x < i || y < j {
			continue // within the last run
		}
		from := 0
		for x-from > i && y-from > j && old[x-from-1] == now[y-from-1] {
			from++
		}
		n := 1
		for x+n < len(old)-end && y+n < len(now)-end && old[x+n] == now[y+n] {
			n++
		}
		out = append(out, run{x - from, y - from, n + from})
		i, j = x+n, y+n
	}
	if end > 0 {
		out = append(out, run{len(old) - end, len(now) - end, end})
	}
	return out
}

// anchors returns the longest list of lines that each text has once, in the order
// of both.
func anchors(old, now []string) []run {
	type count struct{ old, now, oldAt, nowAt int }
	seen := map[string]*count{}
	at := func(line string) *count {
		if seen[line] == nil {
			seen[line] = &count{}
		}
		return seen[line]
	}
	for i, line := range old {
		c := at(line)
		c.old++
		c.oldAt = i
	}
	for j, line := range now {
		c := at(line)
		c.now++
		c.nowAt = j
	}
	var both []run // by their place in old
	for i, line := range old {
		if c := seen[line]; c.old == 1 && c.now == 1 {
			both = append(both, run{i, c.nowAt, 1})
		}
	}
	// The longest rising list of places in now.
	var tails []int // of the lists of each length, the one that ends earliest
	before := make([]int, len(both))
	for k, r := range both {
		n, _ := slices.BinarySearchFunc(tails, r.now, func(t, now int) int { return both[t].now - now })
		before[k] = -1
		if n > 0 {
			before[k] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, k)
		} else {
			tails[n] = k
		}
	}
	if len(tails) == 0 {
		return nil
	}
	out := make([]run, len(tails))
	for n, k := len(tails)-1, tails[len(tails)-1]; n >= 0; n, k = n-1, before[k] {
		out[n] = both[k]
	}
	return out
}
