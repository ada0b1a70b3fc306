package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// tree is a resolved page: what all of its copies are written from. The
// resolver makes it; no writer changes what it shows.
type tree struct {
	r    *Renderer
	page int
	// source is the page's file, length the bytes in it and in all that it
	// includes, lang its language.
	source, lang string
	length       int
	root         []*mdx.Node
	// after are the nodes of Options.After: finished, and not part of root.
	after []*mdx.Node
	// unread is the first thing that the parser could not read, if any.
	unread *mdx.Diagnostic

	// origin is the file of nodes that were written in another one.
	origin map[*mdx.Node]string
	// slots holds the attributes that were given as JSX.
	slots map[*mdx.Node]map[string][]*mdx.Node
	// modes are the classes of pictures that are for one appearance alone.
	modes map[*mdx.Node]string
	// ids are those of headings and components, aliases further ones of
	// headings; used are all that are given out.
	ids     map[*mdx.Node]string
	aliases map[*mdx.Node][]string
	used    idSet
	// titled is the first heading if it repeats the page's title, else nil.
	titled *mdx.Node
	// footnotes are the definitions by label.
	footnotes map[string]*mdx.Node

	// ignores are those of the page and of what it includes.
	ignores []Ignore
	// tooLarge is set once a part of the page was left out because the page has too
	// many parts or bytes: that is reported once.
	tooLarge bool
	// reports is the page's list of diagnostics, nil for what stands on no page.
	reports *report
	// unrun is that of Result.
	unrun bool
	// live are the islands that readers' browsers bring to life; addresses are
	// how addresses in them are written on this page.
	live      []island.Source
	addresses map[string]string
	// reference is set on a page that shows a part of a specification, playground
	// where readers send requests from it; servers are the origins of those that
	// they may ask.
	reference, playground bool
	servers               []string

	// asked is what the page was made from so far: writers add to it. ran is set
	// where JavaScript was among what made it.
	asked asked
	ran   bool
}

var _ component.Page = (*tree)(nil)

// langOf returns a page's language: that of the section that it shows beside it,
// since what is around the page speaks it.
func (r *Renderer) langOf(page int) string {
	return cmp.Or(r.Site.Language(cmp.Or(r.Site.Near(page), r.fallback)), r.lang)
}

func newTree(r *Renderer, page int, source string) *tree {
	return &tree{
		r: r, page: page, source: source, lang: r.langOf(page),
		slots:     map[*mdx.Node]map[string][]*mdx.Node{},
		ids:       map[*mdx.Node]string{},
		footnotes: map[string]*mdx.Node{},
		used:      idSet{taken: make(map[string]struct{}, 32)},
	}
}

// room returns the limit of bytes for the tree and for each copy of the page.
func (t *tree) room() int { return writtenBytes + writtenPerByte*t.length }

// parts returns the limit of the tree's nodes.
func (t *tree) parts() int { return max(maxNodes, min(t.length, mostNodes)) }

// fits reports whether a node fits into a copy that has n bytes. It adds a diagnostic
// for the first node that does not.
func (t *tree) fits(size int, n *mdx.Node) bool {
	if size <= t.room() {
		return true
	}
	if !t.tooLarge && t.reports != nil {
		t.tooLarge = true
		to := notes{said: t.reports}
		to.report(t.fileOf(n), n.Pos, mdx.Error, "page-too-large", tooManyBytes(t.room()))
	}
	return false
}

// Lang implements component.Page.
func (t *tree) Lang() string { return t.lang }

// ID implements component.Page.
func (t *tree) ID(e *component.Element) string { return t.ids[e.Node] }

// Slot implements component.Page.
func (t *tree) Slot(e *component.Element, name string) []*mdx.Node { return t.slots[e.Node][name] }

// NewMarkdown implements component.Page.
func (t *tree) NewMarkdown() *component.Markdown {
	return component.NewMarkdown(&markdownWriter{tree: t})
}

// NewText implements component.Page.
func (t *tree) NewText() *component.Text { return component.NewText(textWriter{t}) }

// say returns a phrase in the page's language.
func (t *tree) say(p words.Phrase) string { return words.In(t.lang).Say(p) }

// component finds the component that an element names, nil for an HTML
// element or an unknown one.
func (t *tree) component(n *mdx.Node) *component.Component { return t.r.Registry.Lookup(n.Name) }

func (t *tree) element(n *mdx.Node, c *component.Component) *component.Element {
	return component.NewElement(n, c, t)
}

// fileOf is the file that a node was written in.
func (t *tree) fileOf(n *mdx.Node) string {
	if f, ok := t.origin[n]; ok {
		return f
	}
	return t.source
}

// walk visits a node, what is below it and what its attributes hold.
func (t *tree) walk(n *mdx.Node, fn func(*mdx.Node) bool) {
	if !fn(n) {
		return
	}
	for _, a := range n.Attrs {
		for _, c := range t.slots[n][a.Name] {
			t.walk(c, fn)
		}
	}
	for _, c := range n.Children {
		t.walk(c, fn)
	}
}

// plain returns the words of inline content.
func (t *tree) plain(list []*mdx.Node) string {
	if len(list) == 1 && list[0].Kind == mdx.Text {
		return strings.TrimSpace(list[0].Value)
	}
	words := t.NewText()
	words.Nodes(list)
	return strings.ReplaceAll(words.String(), "\n", " ")
}

// leadElement represents the front matter: a fault in the description is
// reported at the head of the file.
func leadElement(description string, p component.Page) *component.Element {
	at := mdx.Pos{Line: 1, Column: 1}
	return component.NewElement(&mdx.Node{Kind: mdx.Element, Pos: at, End: at, Attrs: []mdx.Attr{
		{Kind: mdx.AttrString, Name: "description", Value: description, Pos: at},
	}}, nil, p)
}

// isBlock reports whether a node is written as a block.
func (t *tree) isBlock(n *mdx.Node) bool {
	switch t.r.kinds[n.Kind].form {
	case formPhrase, formGone:
		return false
	case formElement:
		if c := t.component(n); c != nil {
			return c.Block
		}
		return isBlockTag(n.Name) || t.hasBlock(n.Children)
	}
	return true
}

// hasBlock reports whether inline content holds something that HTML does not
// allow in a paragraph.
func (t *tree) hasBlock(list []*mdx.Node) bool {
	return slices.ContainsFunc(list, func(n *mdx.Node) bool {
		switch t.r.kinds[n.Kind].form {
		case formBlock:
			return true
		case formElement:
			if c := t.component(n); c != nil && c.Block || c == nil && isBlockTag(n.Name) {
				return true
			}
			fallthrough
		case formPhrase:
			return t.hasBlock(n.Children)
		}
		return false
	})
}

// isInline reports whether a node was written in a line.
func (t *tree) isInline(n *mdx.Node) bool {
	of := t.r.kinds[n.Kind].form
	return of == formPhrase || n.Inline && (of == formElement || of == formGone)
}

// inPlaceOf returns nodes as they stand where n stood: in its line, or as blocks.
func (t *tree) inPlaceOf(n *mdx.Node, list []*mdx.Node) []*mdx.Node {
	if n.Inline {
		return list
	}
	return t.paragraphs(list)
}

// paragraphs puts runs of inline nodes among blocks into paragraphs: what the
// value of an expression leaves, or an element that shows only its content.
func (t *tree) paragraphs(list []*mdx.Node) []*mdx.Node {
	if !slices.ContainsFunc(list, t.isInline) {
		return list
	}
	var out []*mdx.Node
	for i := 0; i < len(list); {
		if !t.isInline(list[i]) {
			out = append(out, list[i])
			i++
			continue
		}
		start, blank := i, true
		for ; i < len(list) && t.isInline(list[i]); i++ {
			blank = blank && component.IsBlank(list[i])
		}
		if !blank {
			run := list[start:i:i]
			out = append(out, &mdx.Node{Kind: mdx.Paragraph, Children: run, Pos: run[0].Pos, End: run[len(run)-1].End})
		}
	}
	return out
}
