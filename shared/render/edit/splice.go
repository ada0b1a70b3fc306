package edit

import "slices"

// Span is a run of bytes: From is its first, To is just past its last.
type Span struct{ From, To int }

// Change replaces a span by a text.
type Change struct {
	Span
	Text string
}

// Splice applies changes to src and leaves all other bytes as they are. Of changes
// that overlap the first counts.
func Splice(src []byte, changes []Change) []byte {
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(a, b Change) int { return a.From - b.From })
	out := make([]byte, 0, len(src)+64)
	at := 0
	for _, c := range changes {
		if c.From < at {
			continue
		}
		out = append(append(out, src[at:c.From]...), c.Text...)
		at = c.To
	}
	return append(out, src[at:]...)
}
