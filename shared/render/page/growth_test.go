package page_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/tests/outside"
)

// What a page becomes grows with its source, whatever the source repeats: a few
// thousand bytes never become millions.
func TestPagesGrowWithTheirSource(t *testing.T) {
	times := strings.Repeat
	for name, source := range map[string]string{
		"rows shorter than the head":         times("|a", 1000) + "|\n" + times("|-", 1000) + "|\n" + times("x\n", 2000),
		"rows of HTML shorter than the head": "<table>\n<tr>" + times("<td>a</td>", 500) + "</tr>\n" + times("<tr><td>a</td></tr>\n", 1000) + "</table>\n",
		"lines far down in quotes":           times("> ", 900) + "a\n" + times("b\n", 5000),
		"lines far down in lists":            times("- ", 900) + "a\n" + times("b\n", 5000),
		"code far down in components":        times("<Card>\n", 900) + "\n```\n" + times("b\n", 5000) + "```\n" + times("</Card>\n", 900),
		"one word marked many times":         "```js\n" + times("// [!code word:a]\n", 40) + times("aaaa\n", 2000) + "```\n",
		"words within words":                 "```js\n" + wordsInWords(40) + times("a", 5000) + "\n```\n",
		"marks of more lines than there are": "```js\n" + times("// [!code highlight:100000]\n", 2000) + "a\n```\n",
		"ranges of more lines":               "```js {" + times("1-100000,", 2000) + "}\na\n```\n",
		"blocks with ranges":                 times("```js {1-100000}\na\n```\n\n", 500),
	} {
		r := renderSource(t, source)
		// The longest of what is known: a mark around each letter.
		if most := 64 * len(source); len(r.HTML) > most || len(r.Markdown) > most {
			t.Errorf("%s: %d bytes of source become %d of HTML and %d of Markdown", name, len(source), len(r.HTML), len(r.Markdown))
		}
		for _, fault := range checkHTML(r) {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

// A page has a bounded number of bytes, whatever a few bytes of its source stand
// for, and so has each of its copies. What is cut is reported once, with its place.
func TestWrittenBytesAreBounded(t *testing.T) {
	outside.Long(t, "renders pages as large as their limits allow")
	times := strings.Repeat
	long := "/" + times("x", 40_000)
	for name, files := range map[string]map[string]string{
		"a picture in a snippet":  {"page.mdx": times("<Snippet file=\"a.mdx\" />\n\n", 4000), "snippets/a.mdx": "![](" + long + ")"},
		"a link in a snippet":     {"page.mdx": times("<Snippet file=\"a.mdx\" />\n\n", 4000), "snippets/a.mdx": "[a](" + long + ")"},
		"a title in a snippet":    {"page.mdx": times("<Snippet file=\"a.mdx\" />\n\n", 4000), "snippets/a.mdx": "[a](/ '" + long + "')"},
		"a fence's words":         {"page.mdx": times("<Snippet file=\"a.mdx\" />\n\n", 4000), "snippets/a.mdx": "```js title=\"" + long + "\"\na\n```"},
		"an attribute":            {"page.mdx": times("<Snippet file=\"a.mdx\" />\n\n", 4000), "snippets/a.mdx": "<div title=\"" + long + "\">a</div>"},
		"text with entities":      {"page.mdx": times("<Snippet file=\"a.mdx\" />\n\n", 4000), "snippets/a.mdx": times("\\\"&", 10_000)},
		"an address in a value":   {"page.mdx": "export const a = '" + long + "'\n\n" + times("<a href={a}>a</a>\n\n", 4000)},
		"icons in a snippet":      {"page.mdx": times("<Snippet file=\"a.mdx\" />\n\n", 200), "snippets/a.mdx": times("<Icon icon=\"a\" />", 900)},
		"a long folder of a page": {"page.mdx": times("<Snippet file=\"a.mdx\" />\n\n", 200), "snippets/a.mdx": times("[a](/"+times("d/", 100)+")", 900)},
	} {
		fsys := fstest.MapFS{}
		for file, text := range files {
			fsys[file] = &fstest.MapFile{Data: []byte(text)}
		}
		r := renderFiles(t, fsys, "page.mdx")
		const most = 12 << 20
		text := 0
		for _, s := range r.Text {
			text += len(s.Text)
		}
		if len(r.HTML) > most || len(r.Markdown) > most || text > most {
			t.Errorf("%s: %d bytes of HTML, %d of Markdown, %d of text", name, len(r.HTML), len(r.Markdown), text)
		}
		said := 0
		for _, d := range r.Diagnostics {
			if d.Code == "page-too-large" {
				said++
				if d.File == "" || d.Line == 0 {
					t.Errorf("%s: the place is missing: %s", name, d)
				}
			}
		}
		if said != 1 {
			t.Errorf("%s: it is reported %d times", name, said)
		}
		for _, fault := range checkHTML(r) {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

func wordsInWords(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "// [!code word:%s]\n", strings.Repeat("a", i+1))
	}
	return b.String()
}

// A table of a size that people write is filled up, so that every row has all
// columns.
func TestShortRowsAreFilled(t *testing.T) {
	r := renderSource(t, "| a | b | c |\n| - | - | - |\n| 1 |\n")
	if got := strings.Count(string(r.HTML), "<td>"); got != 3 {
		t.Errorf("%d cells: %s", got, r.HTML)
	}
	if !strings.Contains(string(r.Markdown), "| 1 |  |  |") {
		t.Errorf("the copy: %s", r.Markdown)
	}
}

// An element has a bounded number of attributes, written or spread; its author
// is told.
func TestManyAttributes(t *testing.T) {
	var written, object strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&written, " data-a%d=\"x\"", i)
		fmt.Fprintf(&object, "\"data-a%d\": 1, ", i)
	}
	for name, source := range map[string]string{
		"written":     "<div" + written.String() + ">text</div>\n",
		"a component": "<Card" + written.String() + ">text</Card>\n",
		"an arrow":    "export const A = (p) => <p>text</p>;\n\n<A" + written.String() + " />\n",
		"spread":      "<div {...{" + object.String() + "}}>text</div>\n",
		"spread many times": "export const o = {" + strings.Repeat("a: 1, ", 5) + "b: 2};\n\n<div" +
			strings.Repeat(" {...o}", 450) + ">text</div>\n",
	} {
		r := renderSource(t, source)
		if got := words(r.HTML); got != "text" {
			t.Errorf("%s: the content is %q", name, got)
		}
		if got := strings.Count(string(r.HTML), "data-a"); got > 500 {
			t.Errorf("%s: %d attributes", name, got)
		}
		for _, fault := range checkHTML(r) {
			t.Errorf("%s: %s", name, fault)
		}
		if d := diagnostics(r); d == "" {
			t.Errorf("%s: the author is told nothing", name)
		}
	}
}

// What the author is told stays readable, however long a name or an address is.
func TestMessagesAreShort(t *testing.T) {
	long := strings.Repeat("ü", 20_000)
	r := renderSource(t, "<X"+long+">a</X"+long+">\n\n[a](/"+long+")\n\n<div id=\""+long+"\" /><div id=\""+long+"\" />\n\n<Icon icon=\"unknown\" />\n\n```"+long+"\na\n```\n")
	if len(r.Diagnostics) < 3 {
		t.Errorf("told only of %v", r.Diagnostics)
	}
	for _, d := range r.Diagnostics {
		if len(d.Message) > 1100 || strings.ContainsRune(d.Message, '\ufffd') {
			t.Errorf("%s has a message of %d bytes", d.Code, len(d.Message))
		}
	}
}
