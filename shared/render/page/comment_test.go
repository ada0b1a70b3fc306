package page_test

import (
	"strings"
	"testing"
)

// TestCommentsStayOut: no comment of HTML is published, wherever it stands, and what
// stands around it is. Code shows what it has.
func TestCommentsStayOut(t *testing.T) {
	for _, src := range []string{
		"a <!-- secret --> b", "a <!-- secret\nsecret --> b", "a <!-- secret\n\nsecret --> b", "a <!-- secret\n\nsecret\n\n- secret\n\n# secret\n\nsecret --> b\n\nend",
		"- a <!-- secret\n\n  secret --> b\n- c", "- a b\n\n  <!-- secret\n\n  secret -->\n- c", "- a <!-- secret\n- secret --> b\n\nend", "- a <!-- secret\n\nsecret --> b", "- a\n  - b\n\n    c <!-- secret\n\n    secret -->",
		"<Card>\n\na <!-- secret\n\nsecret --> b\n\n</Card>", "<Card>a <!-- secret\n\nsecret --> b</Card>", "<Card>\n<!-- secret\n\nsecret -->\na b\n</Card>", "<Card>a b<!-- secret --></Card>", "<Card>\n  <!-- secret -->\n  a b\n</Card>",
		"<div>a <!-- secret --> b</div>", "<div>\n<!-- secret\n\n</div> secret\n-->\na b\n</div>", "<p>{/* secret */}a b<!-- secret --></p>", "a <!-- secret\n\n<Card>\n\nsecret --> b\n\n</Card>\n\nend",
		"> a <!-- secret\n>\n> secret --> b", "> a <!-- secret\n\nsecret --> b", "| a | b |\n|---|---|\n| x <!-- secret --> | y |", "# a <!-- secret --> b", "# a <!-- secret\n\nsecret --> b", "## a b <!-- secret", "a <!-- secret {x} <Card> --> b", "a <!-- secret\n\n```\nsecret\n```\n--> b",
		"[a <!-- secret --> b](/x)", "**a <!-- secret --> b**", "a <!-- secret\n\nsecret --> b <!-- secret\n\nsecret --> c", "a <!-- secret\nsecret\n\nb", "<!-- secret\nsecret\n\na b", "a `<!-- shown -->` b", "a b\n\n```\n<!-- shown\n\nshown -->\n```", "a \\<!-- shown --> b",
		"a <!-- secret\r\n\r\nsecret --> b",
	} {
		result := withIslands(t, nil, map[string]string{"page.mdx": src + "\n"})
		for name, text := range map[string]string{"page": string(result.HTML), "Markdown": string(result.Markdown)} {
			if strings.Contains(text, "secret") || strings.Contains(src, "shown") && name == "page" && !strings.Contains(text, "shown") {
				t.Errorf("%q: the %s is %s", src, name, text)
			}
		}
		if html := string(result.HTML); !strings.Contains(html, "a") || !strings.Contains(html, "b") {
			t.Errorf("%q lacks something: %s", src, html)
		}
	}
}
