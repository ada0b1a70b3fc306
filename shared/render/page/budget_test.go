package page_test

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/tests/outside"
)

// growths make sites by breadth and depth: each part of one is made of so many
// of the next, so many levels down.
var growths = []struct {
	name string
	make func(breadth, depth int) map[string]string
}{
	{"snippets", func(breadth, depth int) map[string]string {
		files := map[string]string{"page.mdx": `<Snippet file="s0.mdx" />`, fmt.Sprintf("snippets/s%d.mdx", depth): "word"}
		for i := range depth {
			files[fmt.Sprintf("snippets/s%d.mdx", i)] = strings.Repeat(fmt.Sprintf("<Snippet file=\"s%d.mdx\" />\n\n", i+1), breadth)
		}
		return files
	}},
	{"empty snippets", func(breadth, depth int) map[string]string {
		files := map[string]string{"page.mdx": `<Snippet file="s0.mdx" />`, fmt.Sprintf("snippets/s%d.mdx", depth): ""}
		for i := range depth {
			files[fmt.Sprintf("snippets/s%d.mdx", i)] = strings.Repeat(fmt.Sprintf("<Snippet file=\"s%d.mdx\" />\n\n", i+1), breadth)
		}
		return files
	}},
	{"components", func(breadth, depth int) map[string]string {
		var b strings.Builder
		for i := range depth {
			fmt.Fprintf(&b, "export const C%d = () => <>%s</>\n\n", i, strings.Repeat(fmt.Sprintf("<C%d />", i+1), breadth))
		}
		fmt.Fprintf(&b, "export const C%d = () => <b>word</b>\n\n<C0 />\n", depth)
		return map[string]string{"page.mdx": b.String()}
	}},
	{"children", func(breadth, depth int) map[string]string {
		return map[string]string{"page.mdx": "export const C = ({children}) => <div>" + strings.Repeat("{children}", breadth) + "</div>\n\n" +
			strings.Repeat("<C>", depth) + "word" + strings.Repeat("</C>", depth) + "\n"}
	}},
	{"values", func(breadth, depth int) map[string]string {
		var b strings.Builder
		fmt.Fprintf(&b, "export const a0 = 'word'\n\n")
		for i := range depth {
			fmt.Fprintf(&b, "export const a%d = [%s]\n\n", i+1, strings.Repeat(fmt.Sprintf("a%d,", i), breadth))
		}
		fmt.Fprintf(&b, "{a%d}\n", depth)
		return map[string]string{"page.mdx": b.String()}
	}},
	{"texts", func(breadth, depth int) map[string]string {
		var b strings.Builder
		fmt.Fprintf(&b, "export const a0 = 'word'\n\n")
		for i := range depth {
			fmt.Fprintf(&b, "export const a%d = `%s`\n\n", i+1, strings.Repeat(fmt.Sprintf("${a%d}", i), breadth))
		}
		fmt.Fprintf(&b, "{a%d}\n", depth)
		return map[string]string{"page.mdx": b.String()}
	}},
	{"alternatives", specification(`{"oneOf": [LIST]}`)},
	{"properties", specification(`{"type": "object", "properties": {MEMBERS}}`)},
	{"parts", specification(`{"allOf": [LIST], "properties": {MEMBERS}}`)},
	{"items", specification(`{"type": "array", "items": {"anyOf": [LIST]}, "prefixItems": [LIST]}`)},
	{"headings", func(breadth, depth int) map[string]string {
		return map[string]string{"page.mdx": strings.Repeat("## a\n\n", 50*breadth*depth)}
	}},
	{"lists", func(breadth, depth int) map[string]string {
		var b strings.Builder
		for i := range 20 * depth {
			b.WriteString(strings.Repeat(strings.Repeat("  ", i)+"- a\n", breadth))
		}
		return map[string]string{"page.mdx": b.String()}
	}},
	{"quotes", func(breadth, depth int) map[string]string {
		return map[string]string{"page.mdx": strings.Repeat(strings.Repeat("> ", 20*depth)+"a\n", 20*breadth)}
	}},
	{"elements", func(breadth, depth int) map[string]string {
		return map[string]string{"page.mdx": strings.Repeat(strings.Repeat("<div>", 10*depth)+"a"+strings.Repeat("</div>", 10*depth)+"\n\n", 10*breadth)}
	}},
	{"tables", func(breadth, depth int) map[string]string {
		return map[string]string{"page.mdx": strings.Repeat("|a", 20*breadth) + "\n" + strings.Repeat("|-", 20*breadth) + "\n" + strings.Repeat("x\n", 50*depth)}
	}},
}

// specification returns what makes a page about an operation, whose schemas are
// as form says: LIST stands for the next one, so many times, MEMBERS for those by
// name.
func specification(form string) func(breadth, depth int) map[string]string {
	return func(breadth, depth int) map[string]string {
		schemas := []string{fmt.Sprintf(`"S%d": {"type": "string"}`, depth)}
		for i := range depth {
			next := fmt.Sprintf(`{"$ref": "#/components/schemas/S%d"}`, i+1)
			list, members := make([]string, breadth), make([]string, breadth)
			for k := range list {
				list[k], members[k] = next, fmt.Sprintf(`"p%d": %s`, k, next)
			}
			schemas = append(schemas, fmt.Sprintf(`"S%d": `, i)+strings.NewReplacer("LIST", strings.Join(list, ","), "MEMBERS", strings.Join(members, ",")).Replace(form))
		}
		body := `{"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}`
		return map[string]string{
			"page.mdx": "---\nopenapi: api.json POST /a\n---\n",
			"api.json": `{"openapi": "3.1.0", "info": {"title": "X"}, "paths": {"/a": {"post": {"requestBody": ` + body + `, "responses": {"200": ` + body + `}}}},
				"components": {"schemas": {` + strings.Join(schemas, ",") + `}}}`,
		}
	}
}

// cut matches what says that not all of a page is shown.
var cut = regexp.MustCompile(`page-too-large|api-cut|mdx-syntax|is left out|too `)

// FuzzBudget holds what a page takes against the size of its site: in
// proportion beside what any page may take, or within a fixed bound and reported.
func FuzzBudget(f *testing.F) {
	outside.NoRace(f, "one goroutine does all its work")
	for shape := range growths {
		f.Add(uint8(shape), uint8(3), uint8(3))
		f.Add(uint8(shape), uint8(11), uint8(11))
	}
	f.Fuzz(func(t *testing.T, shape, breadth, depth uint8) {
		g := growths[int(shape)%len(growths)]
		fsys, size := fstest.MapFS{}, 0
		for name, text := range g.make(int(breadth)%12+1, int(depth)%12+1) {
			fsys[name] = &fstest.MapFile{Data: []byte(text)}
			size += len(text)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := renderFiles(t, fsys, "page.mdx")
		runtime.ReadMemStats(&after)
		allocated := int(after.TotalAlloc - before.TotalAlloc)
		made := len(r.HTML) + len(r.Markdown)
		for _, s := range r.Text {
			made += len(s.Text)
		}
		reported := cut.MatchString(diagnostics(r))
		switch {
		case !reported && (allocated > 256<<20+4000*size || made > 16<<20+64*size):
			t.Errorf("%s: %d bytes take %d of memory and become %d, and nothing is said of it", g.name, size, allocated, made)
		case allocated > 1<<30 || made > 128<<20:
			t.Errorf("%s: %d bytes take %d of memory and become %d", g.name, size, allocated, made)
		}
		t.Logf("%s: %d bytes, %d kB allocated, %d kB made, reported: %v", g.name, size, allocated>>10, made>>10, reported)
	})
}
