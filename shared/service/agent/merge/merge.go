// Package merge joins two changes of one text, line by line, or of a site's configuration
// by its entries. It is pure: it knows no files, no repository and no clock.
package merge

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"znkr.io/diff"
)

// Conflict is a place where both sides changed the same lines, or lines next to each
// other, in different ways.
type Conflict struct {
	// From and To are the first and the last of the lines in the merged text, from 1.
	// To is From-1 if the other side deleted them all.
	From, To int
	// Lost is our text of the place, which the merged text does not have.
	Lost string
}

// String returns the lines, such as "7" or "7-9".
func (c Conflict) String() string {
	if c.To > c.From {
		return fmt.Sprintf("%d-%d", c.From, c.To)
	}
	return fmt.Sprint(c.From)
}

// Text returns base with the changes of both sides. At a conflict it has the text of
// theirs, and returns the place, in the order of the text. The same changes conflict as
// for git merge-file.
func Text(base, ours, theirs []byte) ([]byte, []Conflict) {
	old, we, they := lines(base), lines(ours), lines(theirs)
	var out bytes.Buffer
	var conflicts []Conflict
	line, at := 1, 0 // of the merged text, and of old
	write := func(list []string) {
		for _, l := range list {
			out.WriteString(l)
		}
		line += len(list)
	}
	our, their := hunks(old, we), hunks(old, they)
	for len(our) > 0 || len(their) > 0 {
		var a, b []hunk
		a, b, our, their = next(our, their)
		from, to := span(a, b)
		write(old[at:from])
		at = to
		mine, other := apply(old, we, a, from, to), apply(old, they, b, from, to)
		switch {
		case len(b) == 0:
			write(mine)
		case len(a) == 0 || slices.Equal(mine, other):
			write(other)
		default:
			first := line
			write(other)
			conflicts = append(conflicts, Conflict{From: first, To: line - 1, Lost: strings.Join(mine, "")})
		}
	}
	write(old[at:])
	return out.Bytes(), conflicts
}

// lines splits a text after its line ends.
func lines(b []byte) []string {
	list := strings.SplitAfter(string(b), "\n")
	if n := len(list); list[n-1] == "" {
		list = list[:n-1]
	}
	return list
}

// hunk is a difference: lines [from, to) of the old text became [newFrom, newTo).
type hunk struct{ from, to, newFrom, newTo int }

// hunks returns the differences between two texts, in order.
func hunks(old, now []string) []hunk {
	var list []hunk
	for _, h := range diff.Hunks(old, now, diff.Context(0)) {
		list = append(list, hunk{h.PosX, h.EndX, h.PosY, h.EndY})
	}
	return list
}

// next takes the first hunks of both sides that touch each other, directly or by way
// of others, and returns the rest.
func next(ours, theirs []hunk) (a, b, restOurs, restTheirs []hunk) {
	end := -1
	touches := func(list []hunk) bool { return len(list) > 0 && list[0].from <= end }
	first := func(list []hunk) int {
		if len(list) == 0 {
			return int(^uint(0) >> 1)
		}
		return list[0].from
	}
	end = min(first(ours), first(theirs))
	for touches(ours) || touches(theirs) {
		if touches(ours) {
			a, end, ours = append(a, ours[0]), max(end, ours[0].to), ours[1:]
		}
		if touches(theirs) {
			b, end, theirs = append(b, theirs[0]), max(end, theirs[0].to), theirs[1:]
		}
	}
	return a, b, ours, theirs
}

// span returns the old lines that hunks cover together.
func span(a, b []hunk) (from, to int) {
	all := slices.Concat(a, b)
	return slices.MinFunc(all, func(x, y hunk) int { return cmp.Compare(x.from, y.from) }).from,
		slices.MaxFunc(all, func(x, y hunk) int { return cmp.Compare(x.to, y.to) }).to
}

// apply returns the old lines from, to with the changes of hunks.
func apply(old, now []string, list []hunk, from, to int) (out []string) {
	for _, h := range list {
		out = append(out, old[from:h.from]...)
		out = append(out, now[h.newFrom:h.newTo]...)
		from = h.to
	}
	return append(out, old[from:to]...)
}
