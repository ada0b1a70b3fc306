package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// craft is something that one room makes for all others.
type craft struct {
	name string
	// room makes it, why no other may.
	room, why string
	// in finds the marks of another maker in a file: what it is made of.
	in func(f *ast.File) []ast.Node
	// except names files with such a mark that are no second maker, each with
	// the reason.
	except map[string]string
}

// crafts lists what exists once. A second escaper, reader, matcher or table has
// drifted from the first each time that there was one.
func crafts() []craft {
	return []craft{
		{
			name: "a writer of HTML", room: "shared/base/html",
			why: "two lists of unsafe schemes and three entities for one quote",
			in: func(f *ast.File) []ast.Node {
				return slices.Concat(literals(f, regexp.MustCompile(`^&(?:lt|gt|quot|#34|#39|amp);$`)), calls(f, "html", "EscapeString"), imports(f, "html/template"))
			},
			except: map[string]string{
				"shared/service/dashboard/view.go": "people get these pages from a server that knows their session: html/template escapes what others typed by its place",
			},
		},
		{
			name: "a reader of CSS", room: "shared/render/css",
			why: "regular expressions took comments and texts for addresses, and missed imports",
			in: func(f *ast.File) []ast.Node {
				return slices.Concat(imports(f, "github.com/tdewolff/parse/v2/css"), literals(f, regexp.MustCompile(`url\\\(.*\\s|@import`)))
			},
			except: map[string]string{
				"shared/service/export/remoteassets.go": "finds addresses in sources of pages too, where a style attribute is text",
			},
		},
		{
			name: "a reader of JSON with places", room: "shared/base/json",
			why: "four readers gave four columns, and names that differ by case were one name in some",
			in: func(f *ast.File) []ast.Node {
				return slices.Concat(imports(f, "github.com/go-json-experiment/json"), calls(f, "", "InputOffset"))
			},
			except: map[string]string{
				"shared/service/snapshot/manifest.go": "a manifest of 200,000 files is read as a stream",
			},
		},
		{
			name: "a matcher of redirects", room: "shared/base/redirect",
			why: "export and server read one source in two ways",
			in: func(f *ast.File) []ast.Node {
				return slices.Concat(functions(f, regexp.MustCompile(`(?i)wildcard|splat`)), stars(f))
			},
			except: map[string]string{
				"shared/delivery/address/redirect.go": "holds the filled destination's host against the written one",
			},
		},
		{
			name: "a table of phrases", room: "shared/render/words",
			why: "three tables had three sets of languages, and pages were half translated",
			in:  func(f *ast.File) []ast.Node { return slices.Concat(byLanguage(f), embeds(f, "words.tsv")) },
			except: map[string]string{
				"shared/render/frame/language.go": "what languages call themselves is not translated",
			},
		},
	}
}

func TestEachCraftHasOneRoom(t *testing.T) {
	root := outside.Checkout(t)
	files := map[string]*ast.File{}
	set := token.NewFileSet()
	err := filepath.WalkDir(filepath.Join(root, "shared"), func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(rel)], err = parser.ParseFile(set, file, nil, parser.SkipObjectResolution|parser.ParseComments)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range crafts() {
		own := false
		for name, f := range files {
			found := c.in(f)
			reason, excepted := c.except[name]
			switch {
			case strings.HasPrefix(name, c.room+"/"):
				own = own || len(found) > 0
			case excepted && reason == "":
				t.Errorf("%s: the exception has no reason", name)
			case excepted && len(found) == 0:
				t.Errorf("%s is an exception of %s and has no mark of it", name, c.name)
			case !excepted:
				for _, n := range found {
					t.Errorf("%s: %s; %s makes it for all: %s", set.Position(n.Pos()), c.name, c.room, c.why)
				}
			}
		}
		for name := range c.except {
			if files[name] == nil {
				t.Errorf("%s is an exception of %s and does not exist", name, c.name)
			}
		}
		if !own {
			t.Errorf("%s has no mark of %s: is the search right?", c.room, c.name)
		}
	}
}

// A search finds what it is meant to find.
func TestSearchesForCrafts(t *testing.T) {
	for name, source := range map[string]string{
		"a writer of HTML":             `var r = strings.NewReplacer("<", "&lt;")`,
		"a reader of CSS":              "var x = regexp.MustCompile(`url\\(\\s*`)",
		"a reader of JSON with places": `func f(d *json.Decoder) int64 { return d.InputOffset() }`,
		"a matcher of redirects":       `func f(s string) bool { return strings.HasSuffix(s, "*") }`,
		"a table of phrases":           `var x = map[string]string{"de": "Suche", "fr": "Recherche", "es": "Buscar", "ja": "検索"}`,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n\n"+source+"\n", parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range crafts() {
			if found := len(c.in(f)) > 0; found != (c.name == name) {
				t.Errorf("%s: the search for %s found it: %v", source, c.name, found)
			}
		}
	}
}

// imports returns the imports of a package or of one below it.
func imports(f *ast.File, path string) []ast.Node {
	var found []ast.Node
	for _, spec := range f.Imports {
		if p := strings.Trim(spec.Path.Value, `"`); p == path || strings.HasPrefix(p, path+"/") {
			found = append(found, spec)
		}
	}
	return found
}

// literals returns the texts that match.
func literals(f *ast.File, match *regexp.Regexp) []ast.Node {
	return inspect(f, func(n ast.Node) bool {
		text, ok := textOf(n)
		return ok && match.MatchString(text)
	})
}

// calls returns calls of a function of a package, or of a method of any value
// where pkg is empty.
func calls(f *ast.File, pkg, name string) []ast.Node {
	return inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != name {
			return false
		}
		id, ok := sel.X.(*ast.Ident)
		return pkg == "" || ok && id.Name == pkg
	})
}

// functions returns the functions and methods whose names match.
func functions(f *ast.File, match *regexp.Regexp) []ast.Node {
	return inspect(f, func(n ast.Node) bool {
		decl, ok := n.(*ast.FuncDecl)
		return ok && match.MatchString(decl.Name.Name)
	})
}

// stars returns the calls that look for a star at the end of a text.
func stars(f *ast.File) []ast.Node {
	return inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 {
			return false
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains([]string{"HasSuffix", "TrimSuffix", "CutSuffix"}, sel.Sel.Name) {
			return false
		}
		text, ok := textOf(call.Args[1])
		return ok && text == "*"
	})
}

// byLanguage returns the literals that have a key for each of several languages.
func byLanguage(f *ast.File) []ast.Node {
	return inspect(f, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok {
			return false
		}
		languages := 0
		for _, e := range lit.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if key, ok := textOf(kv.Key); ok && slices.Contains([]string{"de", "fr", "es", "ja", "ru", "zh"}, key) {
					languages++
				}
			}
		}
		return languages > 2
	})
}

// embeds returns the comments that embed a file.
func embeds(f *ast.File, name string) []ast.Node {
	var found []ast.Node
	for _, group := range f.Comments {
		for _, c := range group.List {
			if c.Text == "//go:embed "+name {
				found = append(found, c)
			}
		}
	}
	return found
}

func textOf(n ast.Node) (string, bool) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

func inspect(f *ast.File, is func(ast.Node) bool) []ast.Node {
	var found []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if n != nil && is(n) {
			found = append(found, n)
		}
		return true
	})
	return found
}
