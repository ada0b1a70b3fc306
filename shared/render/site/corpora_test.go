package site

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/tests/outside"
)

// corpus opens one of the shared sites and lists its files, or skips the test.
func corpus(t testing.TB, name string) (fs.FS, []string) {
	t.Helper()
	fsys := os.DirFS(outside.Folder(t, "corpora", name))
	return fsys, allFiles(t, fsys)
}

func allFiles(t testing.TB, fsys fs.FS) []string {
	t.Helper()
	var paths []string
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// The three real sites are read whole: every page, every entry of the
// navigation, and nothing of their configuration is unknown to us.
func TestRealSitesLoad(t *testing.T) {
	for _, c := range []struct {
		name                            string
		pages, inNav, redirects, static int
		top                             NodeKind
		home                            string
		broken                          []string // what the authors' configuration refers to and does not have
	}{
		{"mcp", 343, 342, 74, 56, KindTab, "docs/2026-07-28/getting-started/intro", []string{
			"docs.json:3 config-unsupported", "LICENSE:0 file-left-out", "docs/2024-11-05/learn/architecture.mdx:4 front-matter-unknown",
		}},
		{"novu", 403, 385, 81, 100, KindTab, "platform", []string{
			"docs.json:3 config-unsupported", "docs.json:837 contextual-unsupported", "docs.json:838 contextual-unsupported", "docs.json:839 contextual-unsupported",
			"LICENSE:0 file-left-out", "docs.json:809 api-remote",
			"docs.json:855 redirect-missing", "docs.json:860 redirect-missing", "docs.json:875 redirect-missing",
			"docs.json:890 redirect-missing", "docs.json:915 redirect-missing",
		}},
		{"trigger", 325, 314, 42, 105, KindDropdown, "introduction", []string{
			"docs.json:3 config-unsupported", "docs.json:635 config-unsupported", "docs.json:620 config-unsupported", "LICENSE:0 file-left-out", "docs.json:608 file-missing", "docs.json:838 redirect-missing", "docs.json:874 redirect-unused",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys, paths := corpus(t, c.name)
			s, diags, err := Load(context.Background(), fsys, paths, Options{Domain: c.name + ".example"})
			if err != nil {
				t.Fatal(err)
			}
			var broken []string
			for _, d := range diags {
				broken = append(broken, fmt.Sprintf("%s:%d %s", d.File, d.Line, d.Code))
			}
			if d := cmp.Diff(c.broken, broken); d != "" {
				t.Errorf("diagnostics (-want +got):\n%s%v", d, diags)
			}
			inNav := 0
			for i, p := range s.Pages {
				if !p.InNav {
					continue
				}
				inNav++
				if s.Section(i) == nil || len(s.Trail(i)) == 0 {
					t.Errorf("%s stands in the navigation, but has no section or trail", p.Source)
				}
			}
			if len(s.Pages) != c.pages || inNav != c.inNav || len(s.Redirects) != c.redirects || len(s.Files) != c.static {
				t.Errorf("pages %d, in the navigation %d, redirects %d, files %d", len(s.Pages), inNav, len(s.Redirects), len(s.Files))
			}
			for _, n := range s.Nav.Children {
				if n.Kind != c.top {
					t.Errorf("%q is a %s, want a %s", n.Label, n.Kind, c.top)
				}
			}
			if got := s.Pages[s.Home()].Address; got != c.home {
				t.Errorf("home is %s, want %s", got, c.home)
			}

			// What a render step reads back is the same site.
			b, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			var back Site
			if err := json.Unmarshal(b, &back); err != nil {
				t.Fatal(err)
			}
			again, err := json.Marshal(&back)
			if err != nil || !bytes.Equal(b, again) {
				t.Errorf("a site that was written and read back is another (%v)", err)
			}
		})
	}
}

// The short way of reading front matter gives what the YAML parser gives.
func TestSimpleFrontMatterAgrees(t *testing.T) {
	simple, total := 0, 0
	for _, name := range []string{"mcp", "novu", "trigger"} {
		fsys, paths := corpus(t, name)
		for _, p := range paths {
			if !strings.HasSuffix(p, ".mdx") {
				continue
			}
			src, err := fs.ReadFile(fsys, p)
			if err != nil {
				t.Fatal(err)
			}
			head, _ := mdx.SplitFrontMatter(src)
			if len(head) == 0 {
				continue
			}
			total++
			short, ok := simpleYAML(string(head))
			if !ok {
				continue
			}
			simple++
			full, diag := fullYAML(p, head)
			if diag != nil {
				t.Errorf("%s: the short way reads what YAML refuses: %v", p, diag)
				continue
			}
			if d := cmp.Diff(full, short, cmp.AllowUnexported(field{})); d != "" {
				t.Errorf("%s (-full +short):\n%s", p, d)
			}
		}
	}
	if simple*10 < total*9 {
		t.Errorf("only %d of %d heads take the short way", simple, total)
	}
}
