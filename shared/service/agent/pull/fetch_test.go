package pull

import (
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
	"github.com/bindery-docs/bindery/shared/service/forge"
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

// The text outside the site's folder and all fetched commits share one limit.
func TestRoomForAFetch(t *testing.T) {
	m := &agent.Manifest{Root: "docs", Files: []agent.File{
		{Path: "docs/a.mdx", Size: 1000, Pack: 1}, {Path: "src/a.go", Size: 300, Pack: 1}, {Path: "src/logo.png", Size: 5000, Pack: 1, Picture: true}, {Path: "src/big.bin", Size: 9000},
	}}
	j := admin.AgentJob{Fetches: []admin.AgentFetch{{Bytes: 20}, {Refused: "not there"}, {Bytes: 4}}}
	if got := roomFor(j, m); got != maxBeside-324 {
		t.Errorf("there is room for %d bytes, want %d", got, maxBeside-324)
	}
}

// A history has no secrets, bounded texts and lists, and parents and tags in their places.
func TestHistoryOf(t *testing.T) {
	log := []forge.LogEntry{
		{ID: "c", Subject: "Merge", Parents: []string{"b", "a", "gone"}},
		{ID: "b", Subject: "Use ghp_" + strings.Repeat("a1B2", 9), Parents: []string{"a"}},
		{ID: "a", Subject: strings.Repeat("x", 1000)},
	}
	tags := []forge.Tag{{Name: "v0.9", Commit: "old"}, {Name: "v0.10", Commit: "old"}, {Name: "v1", Commit: "a"}, {Name: "v2", Commit: "c"}}
	h := historyOf(log, tags)
	if !slices.Equal(h.Commits[0].Parents, []int{1, 2}) || len(h.Commits[2].Subject) > maxSubject+len("…") {
		t.Errorf("the commits are %+v", h.Commits)
	}
	if strings.Contains(h.Commits[1].Subject, "a1B2") || !strings.HasPrefix(h.Commits[1].Subject, "Use ") {
		t.Errorf("the subject is %q", h.Commits[1].Subject)
	}
	if want := []tool.Tag{{Name: "v2", Commit: "c"}, {Name: "v1", Commit: "a"}, {Name: "v0.10", Commit: "old"}, {Name: "v0.9", Commit: "old"}}; !slices.Equal(h.Tags, want) {
		t.Errorf("the tags are %v, want %v", h.Tags, want)
	}
	if h := historyOf(nil, make([]forge.Tag, 2*maxTags)); len(h.Tags) != maxTags {
		t.Errorf("there are %d tags", len(h.Tags))
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
