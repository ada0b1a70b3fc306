package page

import (
	"strings"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// kind is how nodes of one kind are resolved and written. A new kind of node is
// one value of it in the table of builtinKinds, and no change anywhere else.
type kind struct {
	// form is where such nodes stand. A kind without one is not registered.
	form form
	// resolve changes a node in place, or returns what stands in its place; nil
	// resolves its children.
	resolve func(s *resolver, n *mdx.Node, sc *scope) (list []*mdx.Node, same bool)
	// html appends a node; nil appends nothing.
	html func(w *htmlWriter, b []byte, n *mdx.Node) []byte
	// markdown writes a node as a block of Markdown; nil writes nothing.
	markdown func(w *markdownWriter, m *component.Markdown, n *mdx.Node)
	// phrase appends a node as it stands in a line of Markdown; nil appends its
	// children.
	phrase func(w *markdownWriter, b []byte, n *mdx.Node) []byte
	// text adds the words of a node; nil adds none.
	text func(w textWriter, t *component.Text, n *mdx.Node)
}

// form is where nodes of a kind stand.
type form uint8

const (
	// formPhrase stands in a line of text.
	formPhrase form = 1 + iota
	// formBlock stands on lines of its own; HTML allows none in a paragraph.
	formBlock
	// formPart stands in nodes of one other kind, as a cell stands in a row.
	formPart
	// formElement stands as its component or its tag says.
	formElement
	// formGone is resolved into other nodes, or into none.
	formGone
)

// kinds are all kinds of nodes.
type kinds [256]kind

// builtinKinds returns the kinds that package mdx has.
func builtinKinds() *kinds {
	k := new(kinds)
	for _, register := range [...]func(*kinds){
		registerPhrases, registerBlocks, registerLists, registerTables, registerFootnotes, registerLinks,
		registerImages, registerMath, registerCode, registerElements, registerSource,
	} {
		register(k)
	}
	return k
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
	for _, n := range list {
		switch t.r.kinds[n.Kind].form {
		case formBlock:
			return true
		case formElement:
			if c := t.component(n); c != nil {
				if c.Block {
					return true
				}
			} else if isBlockTag(n.Name) {
				return true
			}
			fallthrough
		case formPhrase:
			if t.hasBlock(n.Children) {
				return true
			}
		}
	}
	return false
}

// isInline reports whether a node was written in a line.
func (t *tree) isInline(n *mdx.Node) bool {
	switch t.r.kinds[n.Kind].form {
	case formPhrase:
		return true
	case formElement, formGone:
		return n.Inline
	}
	return false
}

// paragraphs puts runs of inline nodes among blocks into paragraphs: what the
// value of an expression leaves, or an element that shows only its content.
func (t *tree) paragraphs(list []*mdx.Node) []*mdx.Node {
	loose := false
	for _, n := range list {
		loose = loose || t.isInline(n)
	}
	if !loose {
		return list
	}
	var out []*mdx.Node
	for i := 0; i < len(list); {
		if !t.isInline(list[i]) {
			out = append(out, list[i])
			i++
			continue
		}
		start := i
		blank := true
		for i < len(list) && t.isInline(list[i]) {
			blank = blank && list[i].Kind == mdx.Text && strings.TrimSpace(list[i].Value) == ""
			i++
		}
		if !blank {
			run := list[start:i:i]
			out = append(out, &mdx.Node{Kind: mdx.Paragraph, Children: run, Pos: run[0].Pos, End: run[len(run)-1].End})
		}
	}
	return out
}

// soleParagraph returns the content of a paragraph that stands alone: inside
// elements that hold phrases, MDX makes paragraphs of lines of their own.
func soleParagraph(list []*mdx.Node) []*mdx.Node {
	var only *mdx.Node
	for _, n := range list {
		if n.Kind == mdx.Text && strings.TrimSpace(n.Value) == "" {
			continue
		}
		if only != nil {
			return list
		}
		only = n
	}
	if only != nil && only.Kind == mdx.Paragraph {
		return only.Children
	}
	return list
}
