// Package docs_test holds the documentation against the program that it
// documents: every page renders without a finding, every component is shown,
// and the tables of codes and commands name what there is.
package docs_test

import (
	"context"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme/icons"
	"github.com/bindery-docs/bindery/shared/service/admin"
)

// load reads this folder as a site.
func load(t *testing.T) (*site.Site, fs.FS) {
	t.Helper()
	fsys := os.DirFS(".")
	var paths []string
	err := fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasSuffix(path, ".go") && path != ".mintignore" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(paths)
	s, diags, err := site.Load(context.Background(), fsys, paths, site.Options{Domain: "docs.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diags {
		t.Errorf("%s:%d: %s (%s)", d.File, d.Line, d.Message, d.Code)
	}
	return s, fsys
}

// sources is the text of all pages, by path.
func sources(t *testing.T, s *site.Site, fsys fs.FS) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, p := range s.Pages {
		src, err := fs.ReadFile(fsys, p.Source)
		if err != nil {
			t.Fatal(err)
		}
		out[p.Source] = string(src)
	}
	return out
}

type drawer struct{ *icons.Set }

func (d drawer) Icon(name, library, style string) (string, bool) {
	if library == "" {
		library = icons.Lucide
	}
	return d.SVG(name, library, style)
}

func TestEveryPageRendersWithoutAFinding(t *testing.T) {
	s, fsys := load(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	islands := island.New(island.Options{Program: program})
	defer islands.Close()
	r := page.New(page.Options{Site: s, FS: fsys, Icons: drawer{icons.New()}, Islands: islands})
	ids := map[string][]string{}
	var results []*page.Result
	for i, p := range s.Pages {
		res, err := r.Render(context.Background(), i)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range res.Diagnostics {
			t.Errorf("%s:%d: %s (%s)", d.File, d.Line, d.Message, d.Code)
		}
		if p.Description == "" {
			t.Errorf("%s has no description", p.Source)
		}
		if s.Section(i) == nil {
			t.Errorf("the navigation does not lead to %s", p.Source)
		}
		ids[p.Output] = res.IDs
		results = append(results, res)
	}
	// Links to headings of other pages.
	link := regexp.MustCompile(`href="(?:\.\./)*([a-z/-]+\.html)?#([^"]+)"`)
	links := 0
	for i, res := range results {
		for _, m := range link.FindAllStringSubmatch(string(res.HTML), -1) {
			target, own := m[1], s.Pages[i].Output
			if target != "" {
				links++
			}
			if target == "" {
				target = own
			} else if _, ok := ids[target]; !ok {
				// Relative to the page's own folder.
				target = own[:strings.LastIndexByte(own, '/')+1] + target
			}
			if !slices.Contains(ids[target], m[2]) {
				t.Errorf("%s: %s has no heading #%s", s.Pages[i].Source, target, m[2])
			}
		}
	}
	if links < 5 {
		t.Errorf("only %d links to headings of other pages were found", links)
	}
}

func TestEveryErrorCodeIsListed(t *testing.T) {
	s, fsys := load(t)
	src := sources(t, s, fsys)["api/errors.mdx"]
	// What only operators meet.
	others := []string{admin.CodeDomainTaken, admin.CodeJobNotActive}
	for _, code := range admin.Codes() {
		listed := strings.Contains(src, "`"+code+"` |")
		if known := slices.Contains(others, code); listed == known {
			t.Errorf("%s: listed is %v, known as not listed is %v", code, listed, known)
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| \\d+ \\| `([a-z_]+)`").FindAllStringSubmatch(src, -1) {
		if !slices.Contains(admin.Codes(), m[1]) {
			t.Errorf("%s is no code", m[1])
		}
	}
}
