package page

import (
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
	html func(w *htmlWriter, out *component.Writer, n *mdx.Node)
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

// tagRule says how an HTML element is written.
type tagRule uint8

const (
	// block: can't stand in a paragraph.
	block tagRule = 1 << iota
	// void: has no end tag and no content.
	void
	// phrases: holds phrases only; a paragraph alone in it is taken out.
	phrases
	// unwrap: the tag would break the document around it; its content stays.
	unwrap
	// drop: neither tag nor content is shown.
	drop
	// text: its content is text that HTML does not parse.
	rawText
)

// rules lists the elements that need more than passing through.
func rules(name string) tagRule {
	switch name {
	case "address", "article", "aside", "blockquote", "center", "details", "dialog", "dir", "dd", "div", "dl",
		"fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "li", "menu", "nav",
		"ol", "search", "section", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul", "caption", "colgroup":
		return block
	case "main":
		return block
	case "p", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "dt", "summary", "legend":
		return block | phrases
	case "hr":
		return block | void
	case "area", "br", "col", "embed", "img", "input", "source", "track", "wbr", "param":
		return void
	case "a", "abbr", "b", "bdi", "bdo", "button", "cite", "code", "dfn", "em", "font", "i", "kbd", "label", "mark",
		"q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var":
		return phrases
	case "html", "head", "body", "frameset", "noscript", "template", "portal", "fencedframe", "slot":
		return unwrap
	case "base", "meta", "link", "title", "frame", "plaintext", "xmp", "noembed", "noframes", "listing", "applet", "basefont", "bgsound":
		return drop
	case "style":
		return rawText
	}
	return 0
}

func isBlockTag(name string) bool { return rules(name)&block != 0 }
