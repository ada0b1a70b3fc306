package page

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/reference"
)

// Outline lists the parts of a page as readers get them.
type Outline struct {
	// Parts are in the order of the page. At most [MaxParts] are listed; More counts
	// the rest.
	Parts []Part
	More  int
	// Unrun is set if parts of the page need JavaScript, which was not run.
	Unrun bool
	// Diagnostics are the errors and warnings in the parts of the page that were read.
	Diagnostics []mdx.Diagnostic
}

// Part is a part of a page: a heading, a paragraph, a block of code, a component.
type Part struct {
	// Depth counts the components, lists and quotes around the part.
	Depth int
	// Text describes the part in one line: its kind, and its text, shortened.
	Text string
}

// MaxParts is the most parts of an outline.
const MaxParts = 3000

// maxPartText is the most bytes of the text of one part.
const maxPartText = 160

// Outline returns the outline of the page with this index in Site.Pages, with its
// snippets and its part of a specification in place; slice is that of RenderReference.
// It runs no script. The error is about reading files or the end of ctx.
func (r *Renderer) Outline(ctx context.Context, page int, slice *reference.Slice) (*Outline, error) {
	t, said, err := r.begin(ctx, page, slice)
	if err != nil {
		return nil, err
	}
	o := &outliner{tree: t, used: map[string]bool{}}
	o.blocks(t.root, 0)
	for _, n := range t.root {
		t.walk(n, func(n *mdx.Node) bool {
			if n.Kind == mdx.FootnoteRef && !o.used[n.Name] && t.footnotes[n.Name] != nil {
				o.used[n.Name] = true
				o.add(0, "footnote:")
				o.blocks(t.footnotes[n.Name].Children, 1)
			}
			return true
		})
	}
	return &Outline{Parts: o.parts, More: o.more, Unrun: t.unrun, Diagnostics: said.sorted(t.source)}, nil
}

// outliner collects the parts of a tree.
type outliner struct {
	*tree
	parts []Part
	more  int
	used  map[string]bool // footnotes
}

func (o *outliner) add(depth int, format string, args ...any) {
	if len(o.parts) == MaxParts {
		o.more++
		return
	}
	o.parts = append(o.parts, Part{depth, fmt.Sprintf(format, args...)})
}

// shortened returns the first words of a text, on one line.
func shortened(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxPartText {
		return text
	}
	n := maxPartText
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return strings.TrimSpace(text[:n]) + "…"
}

// blocks adds the parts of a list of nodes. Runs of inline nodes are paragraphs.
func (o *outliner) blocks(list []*mdx.Node, depth int) {
	for _, n := range o.paragraphs(list) {
		o.block(n, depth)
	}
}

// block adds one node, unless it is the heading that repeats the page's title.
func (o *outliner) block(n *mdx.Node, depth int) {
	switch n.Kind {
	case mdx.Heading:
		if n != o.titled {
			o.heading(n, n.Level, depth)
		}
	case mdx.Paragraph:
		o.mixed(n.Children, depth)
	case mdx.CodeBlock:
		o.code(n, depth)
	case mdx.Table:
		o.table(n, depth)
	case mdx.List:
		kind := "list"
		if n.Ordered {
			kind = "numbered list"
		}
		o.add(depth, "%s of %s", kind, counted(len(n.Children), "item"))
		for _, item := range n.Children {
			o.item(item, depth+1)
		}
	case mdx.Blockquote:
		o.add(depth, "quote")
		o.blocks(n.Children, depth+1)
	case mdx.MathBlock:
		o.add(depth, "formula: %s", shortened(n.Value))
	case mdx.ThematicBreak:
		o.add(depth, "rule")
	case mdx.Element:
		o.element(n, depth)
	case mdx.Definition, mdx.FootnoteDef, mdx.ESM, mdx.Expression:
	default:
		o.phrase("text", []*mdx.Node{n}, depth)
	}
}

// mixed adds inline nodes among which may be blocks, such as cards written in one line.
func (o *outliner) mixed(list []*mdx.Node, depth int) {
	for i := 0; i < len(list); {
		if o.isBlock(list[i]) {
			o.block(list[i], depth)
			i++
			continue
		}
		from := i
		for i < len(list) && !o.isBlock(list[i]) {
			i++
		}
		o.phrase("text", list[from:i], depth)
	}
}

func (o *outliner) heading(n *mdx.Node, level, depth int) {
	id := ""
	if of := o.ids[n]; of != "" {
		id = " (#" + of + ")"
	}
	o.add(depth, "%s %s%s", strings.Repeat("#", level), shortened(o.plain(n.Children)), id)
	o.within(n.Children, depth+1)
}

func (o *outliner) code(n *mdx.Node, depth int) {
	kind := "code"
	if strings.EqualFold(n.Name, "mermaid") {
		kind = "diagram"
	}
	if n.Name != "" {
		kind += " in " + n.Name
	}
	first, _, _ := strings.Cut(strings.TrimSpace(n.Value), "\n")
	meta := ""
	if n.Meta != "" {
		meta = " {" + shortened(n.Meta) + "}"
	}
	o.add(depth, "%s, %s%s: %s", kind, counted(strings.Count(n.Value, "\n")+1, "line"), meta, shortened(first))
}

func (o *outliner) table(n *mdx.Node, depth int) {
	if len(n.Children) == 0 {
		return
	}
	var heads []string
	for _, cell := range n.Children[0].Children {
		heads = append(heads, o.plain(cell.Children))
	}
	o.add(depth, "table of %s and %s: %s", counted(len(heads), "column"), counted(len(n.Children)-1, "row"), shortened(strings.Join(heads, " | ")))
	for _, row := range n.Children[1:] {
		for _, cell := range row.Children {
			o.within(cell.Children, depth+1)
		}
	}
}

// item adds an item of a list: its first paragraph on its own line, and the rest below.
func (o *outliner) item(n *mdx.Node, depth int) {
	mark := "item"
	switch n.Checked {
	case 1:
		mark = "open task"
	case 2:
		mark = "done task"
	}
	rest := o.paragraphs(n.Children)
	if len(rest) > 0 && rest[0].Kind == mdx.Paragraph {
		o.phrase(mark, rest[0].Children, depth)
		rest = rest[1:]
	} else {
		o.add(depth, "%s", mark)
	}
	o.blocks(rest, depth+1)
}

// phrase adds inline nodes: their words, then the links and pictures among them.
func (o *outliner) phrase(kind string, list []*mdx.Node, depth int) {
	pictures := !slices.ContainsFunc(list, func(n *mdx.Node) bool { return n.Kind != mdx.Image && !component.IsBlank(n) })
	if text := shortened(o.plain(list)); text != "" && !pictures {
		o.add(depth, "%s: %s", kind, text)
		depth++
	}
	o.within(list, depth)
}

// within adds the links, pictures and components among inline nodes.
func (o *outliner) within(list []*mdx.Node, depth int) {
	for _, n := range list {
		switch n.Kind {
		case mdx.Link:
			o.add(depth, "link %s: %s", shortened(n.URL), shortened(o.plain(n.Children)))
			o.within(n.Children, depth+1)
		case mdx.Image:
			o.picture(n.URL, n.Value, depth)
		case mdx.Element:
			o.element(n, depth)
		default:
			o.within(n.Children, depth)
		}
	}
}

func (o *outliner) picture(address, alt string, depth int) {
	if alt = shortened(alt); alt == "" {
		o.add(depth, "picture %s without alternative text", shortened(address))
		return
	}
	o.add(depth, "picture %s: %s", shortened(address), alt)
}

// element adds a component, or what an element of HTML has.
func (o *outliner) element(n *mdx.Node, depth int) {
	text := func(name string) string {
		a, _ := n.Attr(name)
		v, _ := component.AttrValue(a)
		s, _ := v.(string)
		return s
	}
	c := o.component(n)
	switch {
	case n.Name == "img":
		o.picture(text("src"), text("alt"), depth)
		return
	case n.Name == "a":
		o.add(depth, "link %s: %s", shortened(text("href")), shortened(o.plain(n.Children)))
		o.within(n.Children, depth+1)
		return
	case len(n.Name) == 2 && n.Name[0] == 'h' && '1' <= n.Name[1] && n.Name[1] <= '6':
		o.heading(n, int(n.Name[1]-'0'), depth)
		return
	case n.Name == "video", n.Name == "audio", n.Name == "iframe":
		o.add(depth, "%s %s", n.Name, shortened(text("src")))
	case c != nil:
		name := "<" + n.Name + ">"
		if own, ok := strings.CutPrefix(n.Name, "#"); ok { // a component of a specification's pages
			name = own
		}
		o.add(depth, "%s%s", name, o.attributes(n))
		for _, a := range n.Attrs {
			o.blocks(o.slots[n][a.Name], depth+1)
		}
		o.children(n, depth+1)
		return
	case n.Name != "" && !isTag(n.Name):
		o.add(depth, "<%s>, which does not exist: readers see its content without it", n.Name)
		depth++
	}
	o.children(n, depth)
}

// children adds the content of an element: what is in the line of a text is part of
// that text already.
func (o *outliner) children(n *mdx.Node, depth int) {
	if n.Inline && !o.isBlock(n) {
		o.within(n.Children, depth)
		return
	}
	o.blocks(n.Children, depth)
}

// attributes describes the attributes of a component: " title="A", cols=2".
func (o *outliner) attributes(n *mdx.Node) string {
	var all []string
	for _, a := range n.Attrs {
		if len(o.slots[n][a.Name]) > 0 || a.Kind == mdx.AttrSpread {
			continue
		}
		v, _ := component.AttrValue(a)
		switch v := v.(type) {
		case string:
			all = append(all, a.Name+"="+strconv.Quote(shortened(v)))
		case bool, float64:
			all = append(all, fmt.Sprintf("%s=%v", a.Name, v))
		default:
			all = append(all, a.Name+"={"+shortened(a.Value)+"}")
		}
	}
	if len(all) == 0 {
		return ""
	}
	return " " + strings.Join(all, " ")
}

// counted returns a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
