package component

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Text collects the words of a page in sections, one for each heading. White
// space is collapsed: words are separated by one space, blocks by a line end.
type Text struct {
	Words
	sections []Section
	b        []byte
	space    bool
	line     bool
}

// Section is the text from one heading to the next.
type Section struct {
	// Heading is the heading's text, "" for what stands before the first.
	Heading string `json:"heading,omitempty"`
	// ID is the heading's id.
	ID string `json:"id,omitempty"`
	// Level is the heading's depth; 0 before the first.
	Level int    `json:"level,omitempty"`
	Text  string `json:"text,omitempty"`
}

// NewText makes an empty collector.
func NewText(w Words) *Text { return &Text{Words: w} }

// Begin ends the section so far and begins one under a heading.
func (t *Text) Begin(level int, heading, id string) {
	t.end()
	t.sections = append(t.sections, Section{Heading: heading, ID: id, Level: level})
}

// Break ends a block: what follows stands on its own line.
func (t *Text) Break() { t.line = len(t.b) > 0 }

// Add adds text; it joins the word before it unless white space stands
// between them.
func (t *Text) Add(s string) {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if unicode.IsSpace(r) {
			t.space = true
			i += size
			continue
		}
		end := i + size
		for end < len(s) {
			r, size := utf8.DecodeRuneInString(s[end:])
			if unicode.IsSpace(r) {
				break
			}
			end += size
		}
		t.separate()
		t.b = append(t.b, s[i:end]...)
		i = end
	}
}

// Line adds text on a line of its own.
func (t *Text) Line(s string) {
	t.Break()
	t.Add(s)
	t.Break()
}

// Verbatim adds a block whose white space stays, such as code.
func (t *Text) Verbatim(s string) {
	if strings.TrimSpace(s) == "" {
		return
	}
	t.Break()
	t.separate()
	t.b = append(t.b, s...)
	t.Break()
}

// Nodes adds the words of nodes.
func (t *Text) Nodes(nodes []*mdx.Node) { t.AddNodes(t, nodes) }

// Children adds the words of an element's content, as blocks of their own.
func (t *Text) Children(e *Element) {
	t.Break()
	t.Nodes(e.Node.Children)
	t.Break()
}

// String returns the text of all sections so far, each after its heading.
func (t *Text) String() string {
	if len(t.sections) == 0 {
		return string(t.b)
	}
	var lines []string
	for i, s := range t.sections {
		if i == len(t.sections)-1 {
			s.Text = cmp.Or(s.Text, string(t.b))
		}
		for _, line := range [...]string{s.Heading, s.Text} {
			if line != "" {
				lines = append(lines, line)
			}
		}
	}
	return strings.Join(lines, "\n")
}

// Sections ends the last section and returns all; sections with neither
// heading nor text are left out.
func (t *Text) Sections() []Section {
	t.end()
	return t.sections
}

func (t *Text) separate() {
	if len(t.b) > 0 {
		if t.line {
			t.b = append(t.b, '\n')
		} else if t.space {
			t.b = append(t.b, ' ')
		}
	}
	t.space, t.line = false, false
}

func (t *Text) end() {
	if len(t.b) > 0 {
		if len(t.sections) == 0 {
			t.sections = append(t.sections, Section{})
		}
		t.sections[len(t.sections)-1].Text = string(t.b)
	}
	t.b = t.b[:0]
	t.space, t.line = false, false
}
