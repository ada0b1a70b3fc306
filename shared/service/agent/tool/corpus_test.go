package tool

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/edit"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/tests/outside"
)

// folderBase is a folder on disk as a repository.
func folderBase(t testing.TB, dir string) memory {
	t.Helper()
	base := memory{}
	fsys := os.DirFS(dir)
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(fsys, p)
		if !isText(b) {
			b = []byte("binary")
		}
		base[p] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return base
}

// brokenLinks asks the exporter which links and files of a site lead nowhere, and
// what of its sources is not there.
func brokenLinks(t testing.TB, tree *Tree) []string {
	t.Helper()
	s, diags, err := site.Load(t.Context(), tree.FS(), tree.files(), site.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range diags {
		if strings.HasSuffix(d.Code, "-missing") {
			out = append(out, d.File+": "+d.Code+" "+d.Message)
		}
	}
	r := page.New(page.Options{Site: s, FS: tree.FS()})
	for i := range s.Pages {
		if s.Pages[i].From != "" {
			continue
		}
		result, err := r.Render(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range result.Links {
			if l.Missing {
				out = append(out, fmt.Sprintf("%s: %s", s.Pages[i].Source, l.Raw))
			}
		}
		for _, d := range result.Diagnostics {
			if d.Code == "snippet-missing" || d.Code == "import-missing" {
				out = append(out, d.File+": "+d.Message)
			}
		}
	}
	return out
}

// A folder of a real site moves and takes its links along: by the exporter's own
// reader no more are broken than before, and each old address leads on.
func TestMoveInRealSites(t *testing.T) {
	outside.NoRace(t, "it uses one goroutine, and takes much longer")
	short := outside.Short(t)
	for _, c := range []struct{ site, from, to string }{
		{"mcp", "docs/2026-07-28/learn", "guides/learn"},
		{"mcp", "specification/2025-06-18", "spec/june"},
		{"novu", "platform", "product"},
		{"novu", "framework/typescript", "framework/ts"},
		{"trigger", "guides", "howto/guides"},
		{"trigger", "snippets", "snippets/parts"},
		{"trigger", "triggering.mdx", "runs/triggering.mdx"},
	} {
		if short && c.site != "novu" {
			continue
		}
		t.Run(c.site+" "+c.from, func(t *testing.T) {
			base := folderBase(t, corpus(t, c.site))
			s := newSet(t, base, "", Limits{Files: 2000, Bytes: 64 << 20, FileBytes: 4 << 20})
			before := brokenLinks(t, s.tree)
			was, err := s.tree.site(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			r := call(t, s, "move", fmt.Sprintf(`{"from": %q, "to": %q}`, c.from, c.to))
			t.Log(strings.Join(strings.SplitN(r.Text, "\n", 6), "\n"))
			after := brokenLinks(t, s.tree)
			t.Logf("broken before %d, after %d", len(before), len(after))
			if len(after) > len(before) {
				var fresh []string
				for _, l := range after {
					if !slices.Contains(before, l) {
						fresh = append(fresh, l)
					}
				}
				t.Errorf("%d links were broken, now %d:\n%s", len(before), len(after), strings.Join(fresh[:min(len(fresh), 20)], "\n"))
			}
			is, err := s.tree.site(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range was.Pages {
				if p.From == "" && is.Resolve(-1, "/"+edit.EscapeAddress(p.CleanAddress())).Kind != site.ToPage {
					t.Errorf("/%s leads nowhere", p.CleanAddress())
				}
			}
			// What is not an address stays as it is, and the configuration's lines too.
			for _, ch := range s.tree.Changes() {
				old := base[ch.Path]
				if ch.Path == "docs.json" && strings.Count(old, "\n") < bytes.Count(ch.Content, []byte("\n"))-4*len(was.Pages) {
					t.Error("the configuration was written anew")
				}
			}
			if left := s.leftoverPaths(c.from); len(left) > 0 && !strings.HasPrefix(c.to, c.from) {
				t.Logf("the old path still stands in: %v", left)
			}
		})
	}
}

// leftoverPaths lists pages with links that still begin with a path.
func (s *Set) leftoverPaths(old string) (all []string) {
	for _, p := range s.tree.sources() {
		src, _ := s.tree.read(p)
		for _, r := range edit.Refs(src, s.tree.settings().Syntax(p)) {
			if strings.HasPrefix(r.Value, "/"+strings.TrimSuffix(old, ".mdx")+"/") {
				all = append(all, p+": "+r.Value)
			}
		}
	}
	return all[:min(len(all), 20)]
}

func corpus(t testing.TB, name string) string { return outside.Folder(t, "corpora", name) }
