package check_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/shared/render/capability"
	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/frame"
	"github.com/bindery-docs/bindery/tests/outside"
)

// kinds of capabilities in the order of the documentation.
var kinds = []capability.Kind{capability.Setting, capability.Entry, capability.Head, capability.Attribute, capability.Fence, capability.Extension, capability.Hook}

// Rows are sorted and complete: one that is without effect has its code and an
// example, any other has neither.
func TestRowsOfCapabilities(t *testing.T) {
	codes := map[string]bool{}
	for _, c := range check.Codes() {
		codes[c.Name] = true
	}
	for _, kind := range kinds {
		var names []string
		for row := range capability.All(kind) {
			names = append(names, row.Name)
			told := row.State == capability.Told
			if row.Rule == "" || told != codes[row.Code] || told != (row.Example != "") || !told && (row.Loses || row.Elsewhere) {
				t.Errorf("%s %s: %+v", kind, row.Name, *row)
			}
			if capability.Find(kind, row.Name) != row {
				t.Errorf("%s %s is not found by its name", kind, row.Name)
			}
		}
		if len(names) == 0 || !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
			t.Errorf("%s: rows are not sorted, or double: %v", kind, names)
		}
	}
	if row := capability.Find(capability.Head, "og:image"); row == nil || row.Name != "og:" {
		t.Errorf("og:image is %v", row)
	}
}

// Whatever has no effect is reported: once a site, with its place, and for an
// author who writes it and nothing else.
func TestWithoutEffectIsTold(t *testing.T) {
	tools := check.NewTools(nil)
	for _, kind := range kinds {
		for row := range capability.All(kind) {
			if row.State != capability.Told {
				continue
			}
			t.Run(string(kind)+" "+row.Name, func(t *testing.T) {
				findings := func(example string) []check.Finding {
					config, entry, head, body, spec := "", "", "", "", ""
					if example != "" {
						switch kind {
						case capability.Setting:
							config = ", " + example
						case capability.Entry:
							entry = ", " + example
						case capability.Head:
							head = example + "\n"
						case capability.Extension:
							spec = "      " + example + "\n"
						default:
							body = example
						}
					}
					fsys := fstest.MapFS{
						"docs.json": {Data: []byte(`{"name": "S", "navigation": {"tabs": [{"tab": "T", "pages": ["a", "b"]` + entry + `}, {"tab": "API", "openapi": "api.yaml"}]}` + config + `}`)},
						"a.mdx":     {Data: []byte("---\ntitle: A\n" + head + "---\n\nText\n\n" + body + "\n")},
						"b.mdx":     {Data: []byte("---\ntitle: B\n" + head + "---\n\nText\n")},
						"api.yaml":  {Data: []byte("openapi: 3.1.0\npaths:\n  /a:\n    get:\n      summary: One\n" + spec + "    post:\n      summary: Two\n" + spec)},
						"a.png":     {Data: []byte("\x89PNG\r\n\x1a\n")}, "t.png": {Data: []byte("\x89PNG\r\n\x1a\n")}, "g.json": {Data: []byte("{}")},
					}
					report, err := check.Site(t.Context(), fsys, check.Options{Domain: "docs.example", Tools: tools, Features: &frame.Features{}})
					if err != nil {
						t.Fatal(err)
					}
					return report.Findings
				}
				before := findings("")
				after := check.New(before, findings(row.Example))
				name := row.Name[strings.LastIndexByte(row.Name, '.')+1:]
				if kind == capability.Setting && name == "family" {
					name = "font"
				}
				if len(after) != 1 || after[0].Code != row.Code || !strings.Contains(after[0].Message, name) || after[0].File == "" {
					t.Errorf("%s\nis reported as\n%s", row.Example, text(after))
				}
				if len(after) == 1 && (after[0].Level == "warning") != row.Loses {
					t.Errorf("%s is a %s", row.Name, after[0].Level)
				}
			})
		}
	}
}

// The documentation has the table, with the attributes of all components as
// their code lists them.
func TestPageOfCapabilities(t *testing.T) {
	file := filepath.Join(outside.Checkout(t), "infra", "docs", "authoring", "compatibility.mdx")
	const begin, end = "{/* table */}\n", "{/* end of table */}\n"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(data), begin)
	got, after, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatal("the page has no place for the table")
	}
	titles := map[capability.Kind]string{
		capability.Setting: "Fields of docs.json", capability.Entry: "Fields of the navigation's entries", capability.Head: "Fields of a page's head",
		capability.Attribute: "Attributes", capability.Fence: "Options of a block of code", capability.Extension: "Extensions of specifications",
		capability.Hook: "Names for styles and scripts",
	}
	var want strings.Builder
	for _, kind := range kinds {
		fmt.Fprintf(&want, "\n## %s\n\n| Name | In a bundle | |\n|---|---|---|\n", titles[kind])
		if kind == capability.Attribute {
			all := component.Builtin().All()
			slices.SortFunc(all, func(a, b *component.Component) int { return cmp.Compare(a.Name, b.Name) })
			for _, c := range all {
				for _, a := range c.Attrs {
					fmt.Fprintf(&want, "| `%s.%s` | has an effect | |\n", c.Name, a.Name)
				}
			}
		}
		for row := range capability.All(kind) {
			state, about := "has an effect", strings.ToUpper(row.Rule[:1])+row.Rule[1:]
			if row.State == capability.Told {
				state = "reported as `" + row.Code + "`"
			}
			fmt.Fprintf(&want, "| `%s` | %s | %s. |\n", row.Name, state, strings.NewReplacer("{", `\{`, "|", `\|`, "<", `\<`).Replace(about))
		}
	}
	want.WriteString("\n")
	if golden.Update() {
		golden.Write(t, file, []byte(before+begin+want.String()+end+after))
		return
	}
	if got != want.String() {
		t.Error("the table of the page differs from the program's; -update writes it anew")
	}
}
