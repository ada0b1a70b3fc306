package tool_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/agent/tool"
)

// What a reviewer must know of two states of a site beside lines: redirects, the
// navigation, and addresses that are lost.
func TestCompare(t *testing.T) {
	page := "---\ntitle: T\n---\n\nx\n"
	docs := func(navigation string, redirects ...string) string {
		list := []map[string]string{}
		for i := 0; i+1 < len(redirects); i += 2 {
			list = append(list, map[string]string{"source": redirects[i], "destination": redirects[i+1]})
		}
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"name": "A", "theme": "mint", "colors": {"primary": "#112233"}, "redirects": %s, "navigation": {"groups": [%s]}}`, text, navigation)
	}
	const groups = `{"group": "Start", "pages": ["index", "a"]}, {"group": "Guides", "pages": ["b", "c"]}`
	for _, c := range []struct {
		name          string
		before, after map[string]string
		want          tool.Comparison
	}{
		{"nothing", map[string]string{"docs/a.mdx": page, "docs/docs.json": docs(groups)}, map[string]string{"docs/a.mdx": page + "y", "docs/docs.json": docs(groups)}, tool.Comparison{}},
		{
			"a page that goes", map[string]string{"docs/a.mdx": page, "docs/b.mdx": page, "docs/docs.json": docs(groups)},
			map[string]string{"docs/a.mdx": page, "docs/docs.json": docs(`{"group": "Start", "pages": ["a"]}`)},
			tool.Comparison{Lost: []string{"/b"}, Navigation: []string{"no longer in Guides: b.mdx"}},
		},
		{
			"a page that moves with its redirect", map[string]string{"docs/a.mdx": page, "docs/b.mdx": page, "docs/docs.json": docs(groups)},
			map[string]string{"docs/a.mdx": page, "docs/x/b.mdx": page, "docs/docs.json": docs(`{"group": "Start", "pages": ["a"]}, {"group": "Guides", "pages": ["x/b"]}`, "/b", "/x/b")},
			tool.Comparison{Redirects: []string{"/b → /x/b"}, Leads: map[string]string{"docs/b.mdx": "docs/x/b.mdx"}},
		},
		{
			"a folder that moves with a pattern", map[string]string{"docs/s/a.mdx": page, "docs/s/b.mdx": page, "docs/docs.json": docs(`{"group": "S", "pages": ["s/a", "s/b"]}`, "/old", "/s/a")},
			map[string]string{"docs/t/a.mdx": page, "docs/t/b.mdx": page, "docs/docs.json": docs(`{"group": "T", "pages": ["t/a", "t/b"]}`, "/s/:slug*", "/t/:slug*", "/old", "/t/a")},
			tool.Comparison{
				Redirects: []string{"/s/:slug* → /t/:slug*", "/old → /t/a"}, Gone: []string{"/old → /s/a"}, Navigation: []string{"from S to T: 2 pages"},
				Leads: map[string]string{"docs/s/a.mdx": "docs/t/a.mdx", "docs/s/b.mdx": "docs/t/b.mdx"},
			},
		},
		{
			"the navigation", map[string]string{"docs/a.mdx": page, "docs/b.mdx": page, "docs/c.mdx": page, "docs/d.mdx": page, "docs/docs.json": docs(groups)},
			map[string]string{"docs/a.mdx": page, "docs/b.mdx": page, "docs/c.mdx": page, "docs/d.mdx": page, "docs/docs.json": docs(`{"group": "Guides", "pages": ["c", "b", "d"]}, {"group": "More", "pages": ["a"]}`)},
			tool.Comparison{Navigation: []string{"new in Guides: d.mdx", "from Start to More: a.mdx", "pages have another order"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.want.Leads == nil {
				c.want.Leads = map[string]string{}
			}
			got, err := tool.Compare(t.Context(), treeOf(t, c.before), treeOf(t, c.after))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got, cmpEmpty()); d != "" {
				t.Error(d)
			}
		})
	}
}

// cmpEmpty makes lists without entries equal.
func cmpEmpty() cmp.Option {
	return cmp.Comparer(func(a, b []string) bool { return slices.Equal(a, b) })
}

// texts is a repository of texts.
type texts map[string]string

func (f texts) Paths() []tool.Entry {
	var all []tool.Entry
	for p, text := range f {
		all = append(all, tool.Entry{Path: p, Size: int64(len(text)), Text: true, Plain: true})
	}
	return all
}

func (f texts) Read(p string) ([]byte, error) { return []byte(f[p]), nil }

// treeOf is the tree of the folder docs of a repository.
func treeOf(t *testing.T, files map[string]string) *tool.Tree {
	t.Helper()
	tree, err := tool.NewTree(texts(files), "docs")
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
