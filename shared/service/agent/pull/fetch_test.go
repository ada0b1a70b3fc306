package pull

import (
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
)

// Of a commit with more text than there is room for, no text is read. The files that may
// be text are left out, and are counted.
func TestReadInto(t *testing.T) {
	f := forgetest.New(t)
	f.Write("main", map[string]string{"a.md": strings.Repeat("a", 100), "b.md": strings.Repeat("b", 100), "c.png": "\x89PNG\x00", "d.md": "d", ".env": "KEY=1"})
	for _, c := range []struct {
		room        int64
		texts, left []string
		bytes       int64
	}{
		{201, []string{"a.md", "b.md", "d.md"}, nil, 201},
		{150, nil, []string{"a.md", "b.md", "c.png", "d.md"}, 0}, // whether c.png is text is not looked at any more
		{0, nil, []string{"a.md", "b.md", "c.png", "d.md"}, 0},
	} {
		tree, err := f.Forge().Fetch(t.Context(), f.Repository(), "main")
		if err != nil {
			t.Fatal(err)
		}
		defer tree.Close()
		r, fetch := entries(tree, ""), admin.AgentFetch{}
		if err := readInto(t.Context(), tree, r, &fetch, c.room, func(string) int64 { return maxOther }); err != nil {
			t.Fatal(err)
		}
		var texts, left []string
		for _, e := range r.Entries {
			if _, ok := r.Texts[e.Path]; ok != e.Text {
				t.Errorf("%s has a text: %t, %t", e.Path, ok, e.Text)
			}
			if e.Text {
				texts = append(texts, e.Path)
			}
			if e.LeftOut {
				left = append(left, e.Path)
			}
		}
		if !slices.Equal(texts, c.texts) || !slices.Equal(left, c.left) || fetch.Files != len(texts) || fetch.LeftOut != len(left) || fetch.Bytes != c.bytes {
			t.Errorf("with room for %d: texts %v, left out %v, %+v", c.room, texts, left, fetch)
		}
	}
}

// Tags are sorted by their numbers.
func TestByNumber(t *testing.T) {
	sorted := []string{"", "1", "v0.9", "v1", "v1.9", "v1.10", "v1.10-rc1", "v2", "v02.1", "w"}
	for i, a := range sorted {
		for k, b := range sorted {
			want := 0
			if i < k {
				want = -1
			} else if i > k {
				want = 1
			}
			if got := byNumber(a, b); got != want {
				t.Errorf("%q and %q: %d, want %d", a, b, got, want)
			}
		}
	}
}
