package page

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A line has every mark whose lines hold it.
func TestLineMarks(t *testing.T) {
	f := fence{}
	f.mark(2, 4, markHighlight)
	f.mark(4, 100_000, markFocus)
	f.mark(3, 3, markHighlight|markAdded)
	f.mark(9, 12, markError)
	f.mark(5, 4, markWarning)
	want := []mark{0, markHighlight, markHighlight | markAdded, markHighlight | markFocus, markFocus}
	if diff := cmp.Diff(want, f.lineMarks(5)); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
	if got := f.lineMarks(0); len(got) != 0 {
		t.Errorf("no lines have %v", got)
	}
}
