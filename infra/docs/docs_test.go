// Package docs_test holds the documentation against the program that it
// documents: every page renders without a finding, every component is shown,
// and the tables of codes and commands name what there is.
package docs_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme/icons"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/tests/outside"
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
		library = "lucide"
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

// Every operation of the API has a page that the product makes from the OpenAPI
// document: it names the operation, its scope and its plan, and stands in the overview.
func TestEveryOperationHasAPage(t *testing.T) {
	s, fsys := load(t)
	pages := sources(t, s, fsys)
	for _, r := range api.Routes(api.Options{}) {
		head, line := "\nopenapi: "+r.Method+" "+r.Path+"\n---\n", "\nScope"
		for i, scope := range r.Scopes {
			line += []string{"", " or"}[min(i, 1)] + " `" + string(scope) + "`"
		}
		if r.Plan != "" {
			line += " · " + strings.ToUpper(string(r.Plan[:1])) + string(r.Plan[1:]) + " plan"
		}
		var found []string
		for path, src := range pages {
			if strings.HasPrefix(path, "api/") && strings.Contains(src, head) && strings.Contains(src, line) {
				found = append(found, path)
			}
		}
		if len(found) != 1 {
			t.Errorf("%s is on the pages %v, want one with%s%s", r.Operation, found, head, line)
		} else if entry := "[`" + r.Method + " " + r.Path + "`](/" + strings.TrimSuffix(found[0], ".mdx") + ")"; !strings.Contains(pages["api/overview.mdx"], entry) {
			t.Errorf("the overview has no %s", entry)
		}
	}
}

// The OpenAPI document of these pages is the one that servers answer with, for a
// server at an address that readers fill in. -update writes it.
func TestOpenAPIDocument(t *testing.T) {
	served, err := os.ReadFile(filepath.Join("..", "..", "shared", "service", "api", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	const own = `"servers": [
    {
      "url": "/",
      "description": "The server that this document comes from."
    }
  ]`
	const readers = `"servers": [
    {
      "url": "{address}",
      "description": "Your Bindery.",
      "variables": { "address": { "default": "https://bindery.example.com", "description": "Where your Bindery answers." } }
    }
  ]`
	if !strings.Contains(string(served), own) {
		t.Fatal("the served document names its server in another way")
	}
	want := strings.Replace(string(served), own, readers, 1)
	golden.Same(t, "openapi.json", []byte(want))
}

// The table of plans is that of the rules.
func TestAgentPlansAreListed(t *testing.T) {
	s, fsys := load(t)
	page := sources(t, s, fsys)["api/agents.mdx"]
	pro, _ := admin.AgentPlanOf(admin.PlanPro)
	enterprise, _ := admin.AgentPlanOf(admin.PlanEnterprise)
	row := func(what, form string, value func(admin.AgentPlan) int64) {
		t.Helper()
		cell := func(p admin.AgentPlan) string {
			digits := strconv.FormatInt(value(p), 10)
			for i := len(digits) - 3; i > 0; i -= 3 {
				digits = digits[:i] + "," + digits[i:]
			}
			return fmt.Sprintf(form, digits)
		}
		if want := "| " + what + " | " + cell(pro) + " | " + cell(enterprise) + " |\n"; !strings.Contains(page, want) {
			t.Errorf("the row is missing: %s", want)
		}
	}
	row("Running jobs of a project", "%s", func(p admin.AgentPlan) int64 { return int64(p.ActiveProject) })
	row("Running jobs of an organisation", "%s", func(p admin.AgentPlan) int64 { return int64(p.ActiveOrganisation) })
	row("Starts of a project in an hour", "%s", func(p admin.AgentPlan) int64 { return int64(p.StartsPerHour) })
	row("Turns of a round", "%s", func(p admin.AgentPlan) int64 { return int64(p.Turns) })
	row("Tokens that the model reads in a round", "%s", func(p admin.AgentPlan) int64 { return p.Input })
	row("Tokens that it writes in a round", "%s", func(p admin.AgentPlan) int64 { return p.Output })
	row("Cost of a round", "$%s", func(p admin.AgentPlan) int64 { return p.Cost / 1_000_000 })
	row("Files changed", "%s", func(p admin.AgentPlan) int64 { return int64(p.Files) })
	row("Size of the changed files", "%s MiB", func(p admin.AgentPlan) int64 { return p.Bytes >> 20 })
	row("A prompt or message", "%s KiB", func(p admin.AgentPlan) int64 { return int64(p.Prompt) >> 10 })
	row("Messages of a job", "%s", func(p admin.AgentPlan) int64 { return int64(p.Messages) })
}

func TestEveryErrorCodeIsListed(t *testing.T) {
	s, fsys := load(t)
	src := sources(t, s, fsys)["api/errors.mdx"]
	// What only operators meet.
	others := []string{admin.CodeDomainTaken, admin.CodeSuperseded}
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

// Pages for contributors name files, folders and declarations of this
// repository. Each must exist.
func TestContributorsFindWhatPagesName(t *testing.T) {
	root := outside.Checkout(t)
	pages, err := filepath.Glob("contribute/*.mdx")
	if err != nil || len(pages) == 0 {
		t.Fatalf("pages: %v, %v", pages, err)
	}
	var (
		span    = regexp.MustCompile("`([^`\n]+)`")
		place   = regexp.MustCompile(`^(?:shared|functions|infra|statemachine|events|tests|\.ci|cdk\.json)(?:/[\w./-]+)?$`)
		name    = regexp.MustCompile(`^([a-z]+)\.([A-Z]\w*)(?:\.([A-Z]\w*))?$`)
		declare = declarations(t, filepath.Join(root, "shared"))
		named   int
	)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range span.FindAllStringSubmatch(string(text), -1) {
			switch {
			case place.MatchString(m[1]):
				if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(m[1]))); err != nil {
					t.Errorf("%s names %s, which does not exist", page, m[1])
				}
			case name.MatchString(m[1]):
				if !declare[m[1]] {
					t.Errorf("%s names %s, which no package under shared declares", page, m[1])
				}
			default:
				continue
			}
			named++
		}
	}
	if named < 50 {
		t.Errorf("only %d names were found on the pages: is the search right?", named)
	}
}

// declarations returns the exported functions, types, values and methods of all
// packages under dir, as package.Name and package.Type.Method.
func declarations(t *testing.T, dir string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range f.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				receiver := ""
				if decl.Recv != nil {
					typ := decl.Recv.List[0].Type
					if star, ok := typ.(*ast.StarExpr); ok {
						typ = star.X
					}
					if id, ok := typ.(*ast.Ident); ok {
						receiver = id.Name + "."
					}
				}
				found[f.Name.Name+"."+receiver+decl.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						found[f.Name.Name+"."+spec.Name.Name] = true
					case *ast.ValueSpec:
						for _, id := range spec.Names {
							found[f.Name.Name+"."+id.Name] = true
						}
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
