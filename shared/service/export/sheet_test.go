package export

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/kept"
)

// TestStylesOfClassesAreKept: the same names, in any order, are compiled once; a fault
// is not kept.
func TestStylesOfClassesAreKept(t *testing.T) {
	s, dir := New(Options{Renderer: "test"}), t.TempDir()
	made := 0
	var fault error
	sheet := func(names ...string) string {
		t.Helper()
		values, err := kept.Open(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer values.Close()
		css, unknown, err := s.sheetOf(t.Context(), values, names, func(_ context.Context, names []string) ([]byte, []string, error) {
			made++
			return []byte(".p-1{}"), []string{"nonsense"}, fault
		})
		if !errors.Is(err, fault) || err == nil && !slices.Equal(unknown, []string{"nonsense"}) {
			t.Errorf("unknown are %v, %v", unknown, err)
		}
		values.Finish()
		return string(css)
	}
	for _, tt := range []struct {
		names []string
		fault error
		made  int
	}{
		{[]string{"p-1", "nonsense"}, errors.New("stopped"), 1},
		{[]string{"p-1", "nonsense"}, nil, 2},
		{[]string{"nonsense", "p-1", "p-1"}, nil, 2},
		{[]string{"p-1\nnonsense"}, nil, 3},
		{[]string{"p-1"}, nil, 4},
	} {
		fault = tt.fault
		if got := sheet(tt.names...); tt.fault == nil && got != ".p-1{}" || made != tt.made {
			t.Errorf("%q: got %q, made %d times, want %d", tt.names, got, made, tt.made)
		}
	}
}
