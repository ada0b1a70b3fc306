package pull

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/tool"
)

// between is the pull request that makes one set of texts another.
func between(before, after map[string]string) *whole {
	w := &whole{before: map[string][]byte{}, after: map[string][]byte{}}
	for p, text := range before {
		w.before[p] = []byte(text)
	}
	for p, text := range after {
		w.after[p] = []byte(text)
	}
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, p := range slices.Sorted(maps.Keys(all)) {
		was, had := before[p]
		is, has := after[p]
		f := file{path: p, change: admin.AgentPageChanged}
		switch {
		case had && has && was == is:
			continue
		case !had:
			f.change = admin.AgentPageAdded
		case !has:
			f.change = admin.AgentPageDeleted
		}
		_, f.added, f.removed = tool.Diff(p, w.before[p], w.after[p])
		w.files = append(w.files, f)
	}
	return w
}

// What a reviewer reads of files that were moved.
func TestMoves(t *testing.T) {
	page := func(n int) string { return fmt.Sprintf("# Page %d\n\na%d\nb%d\nc%d\nSee [x](/s/p1).\n", n, n, n, n) }
	many, moved := map[string]string{}, map[string]string{}
	for n := range 50 {
		many[fmt.Sprintf("s3/p%d.mdx", n)] = page(n)
		moved[fmt.Sprintf("area/three/p%d.mdx", n)] = strings.Replace(page(n), "/s/p1", "/area/p1", 1)
		many[fmt.Sprintf("s3/deep/q%d.mdx", n)] = page(100 + n)
		moved[fmt.Sprintf("area/three/deep/q%d.mdx", n)] = page(100 + n)
	}
	for n := range 415 {
		many[fmt.Sprintf("o/o%d.mdx", n)] = fmt.Sprintf("See [x](/s3/p%d) and <a href=\"/s3/p1\">y</a>.\n", n)
		moved[fmt.Sprintf("o/o%d.mdx", n)] = fmt.Sprintf("See [x](/area/three/p%d) and <a href=\"/area/three/p1\">y</a>.\n", n)
	}
	many["e.mdx"], moved["e.mdx"] = "word\n", "other\n"
	for _, c := range []struct {
		name          string
		before, after map[string]string
		leads         map[string]string
		want          string
		stat          admin.AgentChanges
	}{
		{"one page", map[string]string{"a/x.mdx": page(1)}, map[string]string{"b/y.mdx": page(1)}, nil, "- `a/x.mdx` → `b/y.mdx` (moved, +0 −0)\n", admin.AgentChanges{Files: 1}},
		{
			"one page that changes, too", map[string]string{"a/x.mdx": page(1)}, map[string]string{"x.mdx": page(1) + "More.\n"}, nil,
			"- `a/x.mdx` → `x.mdx` (moved, +1 −0)\n", admin.AgentChanges{Files: 1, Added: 1},
		},
		{
			"two pages that have little in common", map[string]string{"a/x.mdx": page(1)}, map[string]string{"b/x.mdx": "Another.\n"}, nil,
			"- `a/x.mdx` (deleted)\n- `b/x.mdx` (new, 1 line)\n", admin.AgentChanges{Files: 2, Added: 1, Removed: 6},
		},
		{
			"the address says which of two", map[string]string{"a.mdx": page(1)}, map[string]string{"b.mdx": page(1), "c.mdx": page(1)}, map[string]string{"a.mdx": "c.mdx"},
			"- `b.mdx` (new, 6 lines)\n- `a.mdx` → `c.mdx` (moved, +0 −0)\n", admin.AgentChanges{Files: 2, Added: 6},
		},
		{
			"two of the same name", map[string]string{"a/x.mdx": page(1), "b/x.mdx": page(2)}, map[string]string{"c/a/x.mdx": page(1), "c/b/x.mdx": page(2)}, nil,
			"- 2 pages moved from `the root` to `c/`\n", admin.AgentChanges{Files: 2},
		},
		{
			"a folder", many, moved, nil,
			"- 100 pages moved from `s3/` to `area/three/`\n- links rewritten in 415 files\n- `e.mdx` (+1 −1)\n", admin.AgentChanges{Files: 516, Added: 466, Removed: 466},
		},
		{
			"links alone, without a move", map[string]string{"a.mdx": "[x](/y)\n"}, map[string]string{"a.mdx": "[x](/z)\n"}, nil,
			"- `a.mdx` (+1 −1)\n", admin.AgentChanges{Files: 1, Added: 1, Removed: 1},
		},
	} {
		w := between(c.before, c.after)
		w.move(c.leads)
		var b strings.Builder
		text{whole: w}.list(&b, maxPart)
		if b.String() != c.want {
			t.Errorf("%s: %s", c.name, b.String())
		}
		if w.stat() != c.stat {
			t.Errorf("%s: %+v", c.name, w.stat())
		}
	}
}

// Redirects and the navigation come before the files, and many are counted.
func TestSummaryOfASite(t *testing.T) {
	w := between(map[string]string{}, map[string]string{"a.mdx": "x\n"})
	w.site = tool.Comparison{Redirects: []string{"/a → /b"}, Navigation: []string{"new in Guides: a.mdx"}}
	for range 50 {
		w.site.Gone = append(w.site.Gone, "/c → /d")
	}
	var b strings.Builder
	text{whole: w}.list(&b, maxPart)
	if want := "- new redirect `/a → /b`\n- 50 removed redirects\n- navigation: `new in Guides: a.mdx`\n- `a.mdx` (new, 1 line)\n"; b.String() != want {
		t.Errorf("%s", b.String())
	}
}
