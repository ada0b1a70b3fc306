package page_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/net/html"
)

// Pages of a size and depth that nobody reads are rendered whole, and grow
// with their source.
func TestLargePages(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("| A | B |\n| - | - |\n")
	for i := range 10_000 {
		fmt.Fprintf(&rows, "| %d | `code` |\n", i)
	}
	r := renderSource(t, rows.String())
	if got := strings.Count(string(r.HTML), "<tr>"); got != 10_001 {
		t.Errorf("the table has %d rows", got)
	}
	if got := strings.Count(string(r.Markdown), "\n| "); got < 10_001 {
		t.Errorf("the table's Markdown has %d rows", got)
	}
	if limit := 4 * rows.Len(); len(r.HTML) > limit {
		t.Errorf("%d bytes of HTML for %d of source", len(r.HTML), rows.Len())
	}

	const depth = 60
	var list strings.Builder
	for i := range depth {
		list.WriteString(strings.Repeat("  ", i) + "- level\n")
	}
	r = renderSource(t, list.String())
	for _, fault := range checkHTML(r) {
		t.Error(fault)
	}
	if got := strings.Count(string(r.HTML), "<li>"); got != depth {
		t.Errorf("%d levels of lists, want %d", got, depth)
	}

	var lists strings.Builder
	lists.WriteString("export const n = [" + strings.Repeat("1,", 3000) + "];\n\n<ul>{n.map((x, i) => <li key={i}>{i}</li>)}</ul>\n")
	if got := strings.Count(string(renderSource(t, lists.String()).HTML), "<li>"); got != 3000 {
		t.Errorf("%d items of a list in JavaScript", got)
	}
}

// A fault in the middle of a page leaves the rest readable, and says so.
func TestBrokenPages(t *testing.T) {
	for _, broken := range []string{
		"<Card title=\"x>", "<Steps><Step>", "{a b", "</Card>", "<div {...>", "export const x = {", "<Foo bar={<}>", "{`", "<", "<>",
		"<Unknown attr={1}>**kept**</Unknown>", "<Tab title=\"alone\">x</Tab>", "<Note><Note><Note>deep</Note></Note></Note>",
	} {
		r := renderSource(t, "# Before\n\nText before.\n\n"+broken+"\n\n## After\n\nText *after*.\n")
		for _, fault := range checkHTML(r) {
			t.Errorf("%s: %s", broken, fault)
		}
		text := words(r.HTML)
		if !strings.Contains(text, "Textbefore.") || !strings.Contains(text, "Text") || !strings.Contains(text, "after") {
			t.Errorf("%s: the rest is not there: %s", broken, r.HTML)
		}
		for _, d := range r.Diagnostics {
			if d.Severity == "error" && !strings.Contains(string(r.HTML), "page-notice") {
				t.Errorf("%s: nothing tells readers of %s", broken, d)
			}
		}
	}
}

// A heading in a link has no link of its own.
func TestHeadingInLink(t *testing.T) {
	r := renderSource(t, "<a href=\"https://example.com\"><h4>Title</h4></a>\n\n<h4>Outside</h4>\n")
	for _, fault := range checkHTML(r) {
		t.Error(fault)
	}
	if got := strings.Count(string(r.HTML), `class="bdy-anchor"`); got != 1 {
		t.Errorf("%d links of headings to themselves: %s", got, r.HTML)
	}
}

// Text from every corner of a page is text: what looks like markup in it is
// none.
func TestNothingIsInjected(t *testing.T) {
	const evil = `</script><script>alert(1)</script><img src=x onerror=alert(1)>"'`
	quoted := strings.ReplaceAll(evil, `"`, "&quot;")
	source := "export const evil = `" + evil + "`;\n\nexport const Show = ({ a }) => <p title={a} className={a} style={{ color: a }}>{a}</p>;\n\n" +
		"{evil}\n\n<Show a={evil} />\n\n<Card title={evil} icon={evil} href={evil} img={evil}>{evil}</Card>\n\n" +
		"<img src=\"" + quoted + "\" alt=\"" + quoted + "\" width=\"" + quoted + "\" />\n\n<iframe src=\"" + quoted + "\" title=\"" + quoted + "\" />\n\n" +
		"```js title=\"" + strings.ReplaceAll(evil, `"`, "") + "\" icon=\"" + strings.ReplaceAll(evil, `"`, "") + "\"\n" + evil + " // [!code word:<script>]\n```\n\n" +
		"<div dangerouslySetInnerHTML={{__html: evil}} />\n"
	r := renderFiles(t, fstest.MapFS{"page.mdx": {Data: []byte(source)}}, "page.mdx")
	for _, fault := range checkHTML(r) {
		t.Error(fault)
	}
	z := html.NewTokenizer(strings.NewReader(string(r.HTML)))
	for {
		if z.Next() == html.ErrorToken {
			break
		}
		tok := z.Token()
		if tok.Type != html.StartTagToken {
			continue
		}
		if tok.Data == "script" {
			t.Errorf("a script: %s", r.HTML)
		}
		for _, a := range tok.Attr {
			if strings.HasPrefix(a.Key, "on") {
				t.Errorf("a handler: %v", tok)
			}
		}
	}
	for _, rule := range r.Styles {
		if strings.ContainsAny(rule, "<>{}") {
			t.Errorf("a rule: %s", rule)
		}
	}
}

// No animation changes where a link leads; all others stay.
func TestAnimatedAddresses(t *testing.T) {
	for source, kept := range map[string]bool{
		`<animate attributeName="href" values="javascript:alert(1)" />`:                      false,
		`<animate attributename=" HREF " to="javascript:alert(1)" />`:                        false,
		`<set attributeName={"xlink:href"} to="https://example.com" />`:                      false,
		`<set {...{attributeName: "href", to: "javascript:alert(1)"}} />`:                    false,
		`<set attributeName="x" attributeName="href" to="javascript:alert(1)" />`:            false,
		`<SET attributeName="href" to="javascript:alert(1)" />`:                              false,
		`<animate attributeName="opacity" values="0;1" dur="1s" repeatCount="indefinite" />`: true,
		`<set attributeName="fill" to="red" />`:                                              true,
	} {
		r := renderSource(t, `<svg viewBox="0 0 9 9"><a href="https://example.com/x">`+source+`<rect width="9" height="9" /></a></svg>`)
		got := string(r.HTML)
		if shown := strings.Contains(got, "<animate") || strings.Contains(got, "<set"); shown != kept || strings.Contains(got, "javascript:") {
			t.Errorf("%s: %s", source, got)
		}
	}
}
