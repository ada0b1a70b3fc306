package page_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/diagram"
	"github.com/bindery-docs/bindery/shared/render/page"
)

// drawings answers for diagrams by a word of their source.
type drawings struct{}

func (drawings) Draw(_ context.Context, source string) (*diagram.Diagram, error) {
	switch {
	case strings.Contains(source, "other"):
		return nil, diagram.ErrOther
	case strings.Contains(source, "broken"):
		return nil, errors.New("a <line> can't be read")
	}
	width := 10
	if strings.Contains(source, "large") {
		width = 700
	}
	return &diagram.Diagram{Kind: diagram.Sequence, Title: `A "title"`, Width: width, Height: 20, Lines: []diagram.Line{
		{Depth: 0, Text: "a"}, {Depth: 3, Text: "<b>"}, {Depth: 1, Text: "c"}, {Depth: 0, Text: "d"},
	}}, nil
}

// TestDiagrams: a drawing, its words beside it, and its source where it is not
// drawn.
func TestDiagrams(t *testing.T) {
	const named = `A &quot;title&quot;`
	drawing := `<figure class="bdy-diagram mermaid"><figcaption>%</figcaption><div class="bdy-diagram-view" tabindex="0" role="group" aria-label="Diagram: A &quot;title&quot;">` +
		`<svg viewBox="0 0 10 20" width="10" height="20" role="img" aria-label="` + named + `"></svg></div>` +
		`<details class="bdy-diagram-text"><summary>Diagram as text</summary>` +
		`<ul><li>a<ul><li>&lt;b&gt;</li><li>c</li></ul></li><li>d</li></ul></details></figure>` + "\n"
	const tools = "Move left|Move up|Move down|Move right|Zoom out|Enlarge|Reset size"
	tests := []struct {
		name, src, want string
		codes           []string
		live, zoom      bool
	}{
		{"drawn", "```mermaid\nfine\n```", strings.Replace(drawing, "%", `A "title"`, 1), nil, false, false},
		{"with a title", "```Mermaid The flow\nfine\n```", strings.Replace(drawing, "%", "The flow", 1), nil, false, false},
		{"in a component", "<CodeGroup>\n```mermaid\nfine\n```\n</CodeGroup>", strings.Replace(drawing, "%", `A "title"`, 1), nil, false, false},
		{"another kind", "```mermaid\nother\n```", `<div class="code-block bdy-code-block" data-bindery-mermaid data-bindery-tools="` + tools + `" data-bindery-lang="mermaid">`, []string{"diagram-not-drawn"}, true, true},
		{"another kind in an element", "<CodeBlock language=\"mermaid\">{`other`}</CodeBlock>", `<div class="code-block bdy-code-block" data-bindery-mermaid`, []string{"diagram-not-drawn"}, true, true},
		{"broken", "```mermaid\nbroken\n```", `<div class="code-block bdy-code-block" data-bindery-mermaid data-bindery-tools="` + tools + `" data-bindery-lang="mermaid">`, []string{"diagram-not-drawn"}, true, true},
		{"large", "```mermaid\nlarge\n```", `<figure class="bdy-diagram mermaid" data-bindery-tools="` + tools + `"><figcaption>`, nil, false, true},
		{"large and still", "```mermaid actions={false}\nlarge\n```", `<figure class="bdy-diagram mermaid"><figcaption>`, nil, false, false},
		{"buttons elsewhere", "```mermaid placement=\"top-left\"\nlarge\n```", `data-bindery-tools=`, []string{"code-option"}, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fsys := fstest.MapFS{
				"docs.json": {Data: []byte(`{"name": "Test", "navigation": {"pages": ["page"]}}`)},
				"page.mdx":  {Data: []byte(tt.src)},
			}
			_, site := open(t, fsys)
			res, err := page.New(page.Options{Site: site, FS: fsys, Diagrams: drawings{}}).Render(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			html := string(res.HTML)
			if !strings.Contains(html, tt.want) {
				t.Errorf("%s\nhas no\n%s", html, tt.want)
			}
			var codes []string
			for _, d := range res.Diagnostics {
				codes = append(codes, d.Code)
			}
			if diff := cmp.Diff(tt.codes, codes); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
			if res.Mermaid != tt.live || res.Zoom != tt.zoom {
				t.Errorf("Mermaid is %v, Zoom is %v; want %v, %v", res.Mermaid, res.Zoom, tt.live, tt.zoom)
			}
			if !strings.Contains(string(res.Markdown), "```") {
				t.Errorf("the Markdown copy has no source: %s", res.Markdown)
			}
		})
	}
}
