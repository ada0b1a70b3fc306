package pull

import (
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
)

// Outside the site's folder, instructions are read first, then what an agent may read,
// then the rest. What doesn't fit is left out and known as such.
func TestRoomBesideTheSite(t *testing.T) {
	fake := forgetest.New(t)
	fake.Write("main", map[string]string{
		"docs/docs.json": "{}", "docs/large.mdx": strings.Repeat("x", 500),
		".config/a.json": strings.Repeat("a", 30), "AGENTS.md": strings.Repeat("b", 40), "src/a.go": strings.Repeat("c", 50),
		"src/b.go": strings.Repeat("d", 60), "src/c.go": strings.Repeat("e", 10), "z.png": "\x89PNG\x00" + strings.Repeat("f", 100),
	})
	host, err := forge.New(fake.Options())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := host.Fetch(t.Context(), fake.Repository(), "main")
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for _, c := range []struct {
		room int64
		left []string
	}{
		{190, nil},
		{189, []string{".config/a.json"}},
		{110, []string{".config/a.json", "src/b.go"}},
		{45, []string{".config/a.json", "src/a.go", "src/b.go", "src/c.go"}},
		{0, []string{".config/a.json", "AGENTS.md", "src/a.go", "src/b.go", "src/c.go"}},
	} {
		r, files, err := readWithin(t.Context(), tree, "", c.room)
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		for i, e := range r.Entries {
			if files[i].Path != e.Path || files[i].LeftOut != e.LeftOut || files[i].Size != e.Size || e.LeftOut && e.Text {
				t.Errorf("%+v is %+v in the manifest", e, files[i])
			}
			if e.LeftOut {
				left = append(left, e.Path)
			}
		}
		if !slices.Equal(left, c.left) || len(r.Texts["docs/large.mdx"]) != 500 {
			t.Errorf("with room for %d bytes %v are left out, want %v", c.room, left, c.left)
		}
	}
}
