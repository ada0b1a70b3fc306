package page_test

import (
	"strings"
	"testing"
	"testing/fstest"
)

// A page's title is shown once, whether its front matter or its first heading says it.
func TestTitleIsShownOnce(t *testing.T) {
	tests := []struct {
		name, source string
		markdown     string // the beginning of the copy
		headings     int    // of the first level in the body
	}{
		{"the heading alone", "# Intro to **things** {#top}\n\nText", "# Intro to things\n\nText", 0},
		{"both", "---\ntitle: With head\n---\n# With head\n\nText [up](#with-head)", "# With head\n\nText", 0},
		{"in another case", "---\ntitle: With Head\n---\n\n#  with   head\n\nText", "# With Head\n\nText", 0},
		{"underlined", "A title\n=======\n\nText", "# A title\n\nText", 0},
		{"after a comment", "{/* for authors */}\n\n# A title\n\nText", "# A title\n\nText", 0},
		{"another heading", "---\ntitle: With head\n---\n# More\n\nText", "# With head\n\n# More\n\nText", 1},
		{"a heading of the second level", "---\ntitle: More\n---\n## More\n\nText", "# More\n\n## More\n\nText", 0},
		{"a heading further down", "---\ntitle: More\n---\nText\n\n# More\n", "# More\n\nText\n\n# More", 1},
		{"no heading", "Text\n", "# Page\n\nText", 0},
		{"a language", "# C#\n\nText", "# C#\n\nText", 0},
		{"a page of its author's own look", "---\ntitle: T\nmode: custom\n---\n# T\n\nText", "# T\n\n# T\n\nText", 1},
		{"a page of its author's own look beside the sidebar", "---\ntitle: T\nmode: frame\n---\n# T\n\nText", "# T\n\n# T\n\nText", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result := renderFiles(t, fstest.MapFS{"page.mdx": {Data: []byte(tt.source + "\n")}}, "page.mdx")
			if !strings.HasPrefix(string(result.Markdown), tt.markdown) {
				t.Errorf("the copy is\n%s", result.Markdown)
			}
			if got := strings.Count(string(result.HTML), "<h1"); got != tt.headings {
				t.Errorf("%d headings: %s", got, result.HTML)
			}
			if got := diagnostics(result); got != "" {
				t.Errorf("diagnostics %s", got)
			}
		})
	}
}
