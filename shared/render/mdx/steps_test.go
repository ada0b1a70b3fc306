package mdx

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// ways are how a source can be read; each returns what it cost.
var ways = []struct {
	name  string
	steps func(src string) int
}{
	{"MDX", func(src string) int { return parsed(newParser(src, Options{})).steps }},
	{"plain", func(src string) int { return parsed(newParser(src, Options{Plain: true, Tags: anyTag})).steps }},
	{"Markdown", func(src string) int { return parsed(newCommonMark(src, Options{Markdown: true})).steps }},
	{"inline", func(src string) int {
		p := newShort()
		p.start(src)
		p.parseInline()
		return p.steps
	}},
}

func parsed(p *parser) *parser {
	p.parse()
	return p
}

func anyTag(string) bool { return true }

// repeated names constructs whose repetition has made parsers slow. Each makes
// a source of size n.
var repeated = []struct {
	name string
	make func(n int) string
}{
	{"plain text", func(n int) string { return strings.Repeat("word ", n) }},
	{"one long line without spaces", func(n int) string { return strings.Repeat("a", 8*n) }},
	{"lines of one paragraph", func(n int) string { return strings.Repeat("a line\n", n) }},
	{"indented lines of one paragraph", func(n int) string { return strings.Repeat("      a line  \n", n) }},
	{"block quotes in a row", func(n int) string { return strings.Repeat("> a\n\n", n) }},
	{"block quote of many lines", func(n int) string { return strings.Repeat("> a\n", n) }},
	{"nested block quotes", func(n int) string { return strings.Repeat(">", n) + " a" }},
	{"lines in nested block quotes", func(n int) string { return strings.Repeat(strings.Repeat("> ", 20)+"a\n", n) }},
	{"lazy lines", func(n int) string { return "> a\n" + strings.Repeat("b\n", n) }},
	{"list items", func(n int) string { return strings.Repeat("- a\n", n) }},
	{"loose list items", func(n int) string { return strings.Repeat("1. a\n\n", n) }},
	{"lists in lists", func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < 8*n; i++ {
			b.WriteString(strings.Repeat("  ", i) + "- a\n")
		}
		return b.String()
	}},
	{"list markers on one line", func(n int) string { return strings.Repeat("- ", n) + "a" }},
	{"alternating list markers", func(n int) string { return strings.Repeat("- a\n* b\n+ c\n", n) }},
	{"blank lines in a list item", func(n int) string { return "- a\n" + strings.Repeat("\n", n) + "  b" }},
	{"opening brackets", func(n int) string { return strings.Repeat("[", n) }},
	{"opening and closing brackets", func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }},
	{"bracket pairs", func(n int) string { return strings.Repeat("[a]", n) }},
	{"bracket pairs with a definition", func(n int) string { return strings.Repeat("[a]", n) + "\n\n[a]: /b" }},
	{"labels that are too long", func(n int) string { return strings.Repeat("["+strings.Repeat("a", 999), n/16) + "\n\n[a]: /b" }},
	{"brackets with parentheses", func(n int) string { return strings.Repeat("[a](b", n) }},
	{"closing bracket, parenthesis", func(n int) string { return strings.Repeat("](", n) }},
	{"empty bracket, parenthesis", func(n int) string { return strings.Repeat("[](", n) }},
	{"titles that do not end", func(n int) string { return strings.Repeat("[a](b \"", n) }},
	{"titles in parentheses that do not end", func(n int) string { return strings.Repeat("[a](b (", n) }},
	{"destinations that do not end", func(n int) string { return strings.Repeat("[a](<b", n) }},
	{"images", func(n int) string { return strings.Repeat("![", n) }},
	{"images in images", func(n int) string { return strings.Repeat("![", n) + strings.Repeat("](a)", n) }},
	{"links around links", func(n int) string { return strings.Repeat("[", n) + "a](b)" + strings.Repeat("](c)", n) }},
	{"definitions", func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "[l%d]: /u%d\n", i, i)
		}
		return b.String()
	}},
	{"definitions and references", func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "[l%d]: /u%d\n\n[l%d] [x][l%d]\n\n", i, i, n-i, n-i)
		}
		return b.String()
	}},
	{"one definition, many references", func(n int) string { return "[a]: /b\n\n" + strings.Repeat("[a] ", n) }},
	{"definitions that go wrong", func(n int) string { return strings.Repeat("[a]: <b\n\n", n) }},
	{"footnote calls without definition", func(n int) string { return strings.Repeat("[^1]", n) }},
	{"footnote calls", func(n int) string { return strings.Repeat("[^1] ", n) + "\n\n[^1]: a" }},
	{"footnotes", func(n int) string { return strings.Repeat("[^1]: a\n", n) }},
	{"footnotes on one line", func(n int) string { return strings.Repeat("[^1]:", n) }},
	{"stars that open", func(n int) string { return strings.Repeat("*a ", n) }},
	{"stars that close", func(n int) string { return strings.Repeat("a* ", n) }},
	{"stars that open and close", func(n int) string { return strings.Repeat("*a* ", n) }},
	{"stars, then underscores", func(n int) string { return strings.Repeat("*a_ ", n) }},
	{"stars and underscores that open", func(n int) string { return strings.Repeat("*a _b ", n) + strings.Repeat("c* ", n) }},
	{"two stars and one", func(n int) string { return strings.Repeat("a**b*c", n) }},
	{"rule of three", func(n int) string { return strings.Repeat("a**b", n) + strings.Repeat("c*", n) }},
	{"a long run of stars", func(n int) string { return strings.Repeat("*", n) + "a" + strings.Repeat("*", n) }},
	{"nested emphasis", func(n int) string { return strings.Repeat("*a **b ", n) + strings.Repeat("c** d*", n) }},
	{"tildes", func(n int) string { return strings.Repeat("~a ", n) }},
	{"tildes of two sizes", func(n int) string { return strings.Repeat("~a ~~b ", n) + strings.Repeat("c~~ d~ ", n) }},
	{"tildes and stars", func(n int) string { return strings.Repeat("~a *b ", n) + strings.Repeat("c~ d* ", n) }},
	{"backticks", func(n int) string { return strings.Repeat("`a ", n) }},
	{"backtick runs of different lengths", func(n int) string {
		var b strings.Builder
		for i := 1; b.Len() < 8*n; i++ {
			b.WriteString(strings.Repeat("`", i) + " ")
		}
		return b.String()
	}},
	{"dollars", func(n int) string { return strings.Repeat("$$ a ", n) }},
	{"dollar runs of different lengths", func(n int) string {
		var b strings.Builder
		for i := 1; b.Len() < 8*n; i++ {
			b.WriteString("a" + strings.Repeat("$", i))
		}
		return b.String()
	}},
	{"math fences", func(n int) string { return strings.Repeat("$$\na\n", n) }},
	{"code fences", func(n int) string { return strings.Repeat("```\na\n", n) }},
	{"backslashes", func(n int) string { return strings.Repeat("\\", n) }},
	{"ampersands", func(n int) string { return strings.Repeat("&", n) }},
	{"references that do not end", func(n int) string { return strings.Repeat("&amp", n) }},
	{"less-than", func(n int) string { return strings.Repeat("a <", n) }},
	{"less-than, exclamation mark", func(n int) string { return strings.Repeat("<!", n) }},
	{"elements on lines", func(n int) string { return strings.Repeat("<a>\n", n) + strings.Repeat("</a>\n", n) }},
	{"elements in text", func(n int) string { return "a " + strings.Repeat("<a>", n) + strings.Repeat("</a>", n) }},
	{"elements that are not closed", func(n int) string { return strings.Repeat("<a>", n) }},
	{"elements that are not opened", func(n int) string { return strings.Repeat("</a>\n\n", n) }},
	{"blocks of HTML", func(n int) string { return strings.Repeat("<div>\n\n", n) + strings.Repeat("</div>\n\n", n) }},
	{"blocks of HTML that begin in paragraphs", func(n int) string { return strings.Repeat("<div>a\n\n", n) + strings.Repeat("b</div>\n\n", n) }},
	{"elements with an optional end tag", func(n int) string { return strings.Repeat("<li>a\n\n<p>b\n\n", n) }},
	{"raw elements", func(n int) string { return strings.Repeat("<pre>\n\na <b>c</b>\n\n</pre>\n", n) }},
	{"raw elements that are not closed", func(n int) string { return strings.Repeat("<pre>\n\n", n) }},
	{"raw elements that are not closed, in a list", func(n int) string { return "- a\n\n" + strings.Repeat("  <pre>\n\n", n) }},
	{"comments that do not end, in a raw element", func(n int) string { return "<pre>\n" + strings.Repeat("<!-- ", n) + "\n</pre>" }},
	{"tags that do not end, in a raw element", func(n int) string { return "<pre>\n" + strings.Repeat("<a b=\"", n) + "\n</pre>" }},
	{"values that do not end", func(n int) string { return strings.Repeat("<a b=\"", n) }},
	{"indented code", func(n int) string { return strings.Repeat("    a\n\n", n) + "b" }},
	{"indented code in lists", func(n int) string { return strings.Repeat("-     a\n\n          b\n", n) }},
	{"blank lines after indented code", func(n int) string { return "    a\n" + strings.Repeat("    \n", n) }},
	{"elements of different names", func(n int) string { return strings.Repeat("<a><b>", n) + strings.Repeat("</a></b>", n) }},
	{"tags in text on lines", func(n int) string { return strings.Repeat("<a/> b\n", n) }},
	{"tags that do not end", func(n int) string { return strings.Repeat("<a b ", n) }},
	{"attribute values that do not end", func(n int) string { return strings.Repeat("<a b=\"\n", n) }},
	{"attributes", func(n int) string { return "<a " + strings.Repeat("b={1} ", n) + "/>" }},
	{"names with dots", func(n int) string { return "<a" + strings.Repeat(".b", n) + "/>" }},
	{"opening braces", func(n int) string { return strings.Repeat("{", n) }},
	{"opening braces on lines", func(n int) string { return strings.Repeat("{\n\n", n) }},
	{"braces in braces", func(n int) string { return strings.Repeat("{", n) + strings.Repeat("}", n) }},
	{"expressions", func(n int) string { return strings.Repeat("{a} ", n) }},
	{"templates in templates", func(n int) string { return "{" + strings.Repeat("`${", n) + strings.Repeat("}`", n) + "}" }},
	{"elements in an expression", func(n int) string { return "{" + strings.Repeat("<a>", n) + strings.Repeat("</a>", n) + "}" }},
	{"an element of many lines in a list", func(n int) string { return "- <a\n" + strings.Repeat("  b='c'\n", n) + "  />" }},
	{"elements in a list", func(n int) string { return "- a\n" + strings.Repeat("  <b/>\n", n) }},
	{"expressions in a block quote", func(n int) string { return strings.Repeat("> {a\n> + b}\n", n) }},
	{"imports", func(n int) string { return strings.Repeat("import a from 'b'\n", n) }},
	{"imports, each a block", func(n int) string { return strings.Repeat("import a from 'b'\n\n", n) }},
	{"an export with blank lines", func(n int) string { return "export const a = [\n" + strings.Repeat("1,\n\n", n) + "]" }},
	{"exports that do not end", func(n int) string { return strings.Repeat("export const a = [\n\n", n) }},
	{"pipes", func(n int) string { return strings.Repeat("|", n) }},
	{"pipes on lines", func(n int) string { return strings.Repeat("|\n", n) }},
	{"table rows", func(n int) string { return "| a | b |\n|---|---|\n" + strings.Repeat("| c | d |\n", n) }},
	{"table columns", func(n int) string { return strings.Repeat("|a", n) + "\n" + strings.Repeat("|-", n) }},
	{"heads without a table", func(n int) string { return strings.Repeat("| a | b |\n| - |\n", n) }},
	{"delimiter rows", func(n int) string { return strings.Repeat("|---|\n", n) }},
	{"headings", func(n int) string { return strings.Repeat("# a #\n", n) }},
	{"a heading of number signs", func(n int) string { return "# " + strings.Repeat("# ", n) }},
	{"underlines", func(n int) string { return strings.Repeat("a\n===\n", n) }},
	{"breaks", func(n int) string { return strings.Repeat("a  \n", n) }},
	{"spaces at the end of lines", func(n int) string { return strings.Repeat("a"+strings.Repeat(" ", 20)+"\n", n) }},
	{"at signs", func(n int) string { return strings.Repeat("a@", n) }},
	{"at signs behind dots", func(n int) string { return strings.Repeat("a.", n) + strings.Repeat("@b", n) }},
	{"mail addresses", func(n int) string { return strings.Repeat("a@b.co ", n) }},
	{"mail addresses in a bracket", func(n int) string { return "[" + strings.Repeat("a@b.co ", n) }},
	{"mail addresses without space", func(n int) string { return strings.Repeat("a@b.co_", n) }},
	{"www.", func(n int) string { return strings.Repeat("www.", n) }},
	{"www. with underscores", func(n int) string { return strings.Repeat("www._", n) }},
	{"underscore, www.", func(n int) string { return strings.Repeat("_www.", n) }},
	{"dots behind an address", func(n int) string { return "www.a" + strings.Repeat(".", n) + "b" }},
	{"punctuation in an address", func(n int) string { return "www.a/" + strings.Repeat("!b?", n) }},
	{"parentheses behind an address", func(n int) string { return "www.a.b/(" + strings.Repeat(")", n) }},
	{"references behind an address", func(n int) string { return "www.a/" + strings.Repeat("&amp;", n) + "b" }},
	{"http://", func(n int) string { return strings.Repeat("http://", n) }},
	{"http:// with underscores", func(n int) string { return strings.Repeat("http://a_b.c_d ", n) }},
	{"addresses in a bracket", func(n int) string { return "[" + strings.Repeat("www.a.b ", n) }},
	{"comments that do not end", func(n int) string { return strings.Repeat("<!-- a\n", n) }},
	{"comments with one end", func(n int) string { return strings.Repeat("<!-- a\n", n) + "--> b" }},
	{"comments on a line", func(n int) string { return strings.Repeat("<!-- a --> b ", n) }},
	{"comments that do not end on a line", func(n int) string { return "a " + strings.Repeat("<!-- ", n) }},
	{"attributes that do not end", func(n int) string { return strings.Repeat("<b c=\"", n) }},
	{"attributes of one tag", func(n int) string { return "<b " + strings.Repeat("c='d' ", n) }},
	{"tags that do not end on their line", func(n int) string { return strings.Repeat("<b\n", n) }},
	{"quoted tags that do not end on their line", func(n int) string { return strings.Repeat("> <b\n", n) }},
	{"white space in tags", func(n int) string { return strings.Repeat("<b"+strings.Repeat(" ", 20), n) }},
	{"NUL", func(n int) string { return strings.Repeat("\x00", n) }},
	{"carriage returns", func(n int) string { return strings.Repeat("a\r", n) }},
}

// Twice the source costs at most 2.2 times the steps: the work grows with the
// length, whatever is repeated.
func TestStepsGrowWithLength(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	const limit = 2.2
	for _, c := range repeated {
		t.Run(c.name, func(t *testing.T) {
			for _, way := range ways {
				for _, n := range []int{200, 2000} {
					one, two := way.steps(c.make(n)), way.steps(c.make(2*n))
					if growth := float64(two) / float64(one); growth > limit {
						t.Errorf("%s: %d steps at n = %d, %d at twice that: %.2f times, want at most %.1f", way.name, one, n, two, growth, limit)
					}
				}
			}
		})
	}
}
