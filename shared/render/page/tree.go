package page

import (
	"cmp"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page/internal/imagesize"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// tree is a resolved page: what all of its copies are written from. The
// resolver makes it; no writer changes it.
type tree struct {
	r    *Renderer
	page int
	// source is the page's file, length the bytes in it, lang its language.
	source, lang string
	length       int
	root         []*mdx.Node
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
	ids, aliases map[*mdx.Node]string
	used         idSet
	// footnotes are the definitions by label.
	footnotes map[string]*mdx.Node

	// live are the islands that readers' browsers bring to life; addresses are
	// how addresses in them are written on this page.
	live      []island.Source
	addresses map[string]string
	// reference is set on a page that shows a part of a specification, playground
	// where readers send requests from it; servers are the origins of those that
	// they may ask.
	reference, playground bool
	servers               []string
}

var _ component.Page = (*tree)(nil)

func newTree(r *Renderer, page int, source string) *tree {
	// The language of the section that the page shows beside it: what is around
	// the page speaks it.
	section := cmp.Or(r.site.Near(page), r.fallback)
	return &tree{
		r: r, page: page, source: source, lang: cmp.Or(r.site.Language(section), r.lang),
		slots: map[*mdx.Node]map[string][]*mdx.Node{},
		ids:   map[*mdx.Node]string{},
		used:  idSet{taken: make(map[string]bool, 32)},
	}
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
func (t *tree) component(n *mdx.Node) *component.Component { return t.r.registry.Lookup(n.Name) }

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

// sizeOf returns the size of the picture at an address, if it is the site's. A
// fault in reading it goes to the notes.
func (t *tree) sizeOf(to *notes, address string) (imagesize.Size, bool) {
	target := t.r.site.Resolve(t.page, address)
	if target.Kind != site.ToFile {
		return imagesize.Size{}, false
	}
	size, err := t.r.imageSize(target.Path)
	if err != nil {
		to.fail(err)
	}
	return size, err == nil && size.Width > 0
}

// walk visits a node, what is below it and what its attributes hold.
func (t *tree) walk(n *mdx.Node, fn func(*mdx.Node) bool) {
	if !fn(n) {
		return
	}
	if slots, ok := t.slots[n]; ok {
		for _, a := range n.Attrs {
			for _, c := range slots[a.Name] {
				t.walk(c, fn)
			}
		}
	}
	for _, c := range n.Children {
		t.walk(c, fn)
	}
}

func attrPos(n *mdx.Node, name string) mdx.Pos {
	if a, ok := n.Attr(name); ok && a.Pos.Line > 0 {
		return a.Pos
	}
	return n.Pos
}
