package page

import (
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// lead returns a page's description as inline HTML: authors write code,
// emphasis and links in it. A fault in it is reported at the head of the file.
func (s *state) lead(description string) []byte {
	if description == "" {
		return nil
	}
	w := component.Writer{Services: s}
	w.Rich(s.leadElement(), description)
	return w.B
}

// leadMarkdown is lead for the Markdown copy.
func (s *state) leadMarkdown(m *component.Markdown, description string) string {
	return m.Phrase(s.leadElement(), description)
}

// leadElement stands for the front matter, where links are looked up from.
func (s *state) leadElement() *component.Element {
	at := mdx.Pos{Line: 1, Column: 1}
	return component.NewElement(&mdx.Node{Kind: mdx.Element, Pos: at, End: at}, nil, s)
}
