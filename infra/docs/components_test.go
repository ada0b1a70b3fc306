package docs_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// uses collects the components of a source text and their attributes, as
// "Card" and "Card.title".
func uses(t *testing.T, name, source string) map[string]bool {
	t.Helper()
	file, diagnostics := mdx.Parse([]byte(source), mdx.Options{File: name})
	for _, d := range diagnostics {
		t.Errorf("%s: %s", name, d)
	}
	found := map[string]bool{}
	mdx.Walk(file.Root, func(n *mdx.Node) bool {
		if n.Kind == mdx.Element {
			found[n.Name] = true
			for _, a := range n.Attrs {
				found[n.Name+"."+a.Name] = true
			}
		}
		return true
	})
	return found
}

// samples are the blocks of code on a page that show a component's source.
func samples(name, source string) []string {
	file, _ := mdx.Parse([]byte(source), mdx.Options{})
	var found []string
	mdx.Walk(file.Root, func(n *mdx.Node) bool {
		if n.Kind == mdx.CodeBlock && n.Name == "mdx" {
			found = append(found, strings.TrimSpace(n.Value))
		}
		return true
	})
	return found
}

// Every component, and each attribute of it, is shown live on a page of
// components/, with the very source of what is shown in a sample.
func TestEveryAttributeIsShown(t *testing.T) {
	s, fsys := load(t)
	live, sampled := map[string]bool{}, map[string]bool{}
	count := 0
	for name, src := range sources(t, s, fsys) {
		if !strings.HasPrefix(name, "components/") {
			continue
		}
		for use := range uses(t, name, src) {
			live[use] = true
		}
		for i, text := range samples(name, src) {
			count++
			if strings.Count(src, text) < 2 {
				t.Errorf("%s: sample %d is not what is shown:\n%s", name, i+1, text)
			}
			for use := range uses(t, fmt.Sprintf("%s, sample %d", name, i+1), text) {
				sampled[use] = true
			}
		}
	}
	if count < 20 {
		t.Errorf("only %d samples were found", count)
	}
	for _, c := range component.Builtin().All() {
		names := []string{c.Name}
		for _, a := range c.Attrs {
			// The kinds of callouts have the same attributes: one shows them.
			if slices.Contains(callouts, c.Name) {
				names = append(names, "Error."+a.Name)
			} else {
				names = append(names, c.Name+"."+a.Name)
			}
		}
		for _, name := range names {
			if !live[name] || !sampled[name] {
				t.Errorf("%s of %s: shown live is %v, in a sample is %v", name, c.Name, live[name], sampled[name])
			}
		}
	}
}

var callouts = []string{"Note", "Tip", "Info", "Check", "Warning", "Danger", "Error"}

// attributeTable is a table of attributes: its head names the components.
var attributeTable = regexp.MustCompile("(?m)^\\| (`[A-Z][^|]*`) \\| Type \\| Default \\| What it does \\|\n\\|[-|]+\\|\n((?:\\|.*\n)+)")

// The tables say of every attribute what the program says: its name, type and
// default, in the same order, and that it does something.
func TestTablesOfAttributes(t *testing.T) {
	s, fsys := load(t)
	written := map[string][]string{}
	for name, src := range sources(t, s, fsys) {
		if !strings.HasPrefix(name, "components/") {
			continue
		}
		for _, m := range attributeTable.FindAllStringSubmatch(src+"\n", -1) {
			var rows []string
			for line := range strings.Lines(m[2]) {
				cells := strings.Split(strings.TrimSpace(line), "|")
				if len(cells) != 6 || strings.TrimSpace(cells[4]) == "" {
					t.Errorf("%s: a row of %s has other cells: %s", name, m[1], line)
					continue
				}
				row := strings.ReplaceAll(strings.TrimSpace(cells[1])+", "+strings.TrimSpace(cells[2])+", "+strings.TrimSpace(cells[3]), "`", "")
				rows = append(rows, row)
			}
			for c := range strings.SplitSeq(m[1], ", ") {
				c = strings.Trim(c, "`")
				if written[c] != nil {
					t.Errorf("%s has two tables", c)
				}
				written[c] = rows
			}
		}
	}
	for _, c := range component.Builtin().All() {
		var rows []string
		for _, a := range c.Attrs {
			rows = append(rows, a.Name+", "+a.Type+", "+a.Default)
		}
		if diff := cmp.Diff(rows, written[c.Name]); diff != "" {
			t.Errorf("the table of %s differs from the program (-program +page):\n%s", c.Name, diff)
		}
		delete(written, c.Name)
	}
	for name := range written {
		t.Errorf("there is a table of %s, which is no component", name)
	}
}

// The attributes that all components understand are listed once.
func TestCommonAttributes(t *testing.T) {
	s, fsys := load(t)
	src := sources(t, s, fsys)["components/index.mdx"]
	for _, a := range component.CommonAttrs() {
		if !strings.Contains(src, "| `"+a.Name+"` | "+a.Type+" |") {
			t.Errorf("%s is not listed", a.Name)
		}
	}
}
