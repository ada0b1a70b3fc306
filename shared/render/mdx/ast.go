package mdx

import (
	"fmt"

	"github.com/bindery-docs/bindery/shared/render/expr"
)

// Pos is a place in a source file. Line and Column count from 1, Column in
// bytes; Offset counts bytes from 0.
type Pos struct {
	Offset, Line, Column int
}

// Kind is what a Node is. The comment after each kind names the fields of
// Node that it uses besides Pos and, where it has content, Children.
type Kind uint8

// The kinds of nodes. Names follow mdast (the syntax tree of the reference
// MDX parser) so that trees can be compared.
const (
	Document Kind = iota

	// Blocks.
	Paragraph     // Children: inlines
	Heading       // Level 1–6; Children: inlines
	Blockquote    // Children: blocks
	List          // Ordered, Start, Loose; Children: ListItem
	ListItem      // Checked, Loose; Children: blocks
	CodeBlock     // Name (language), Meta (the rest of the info string), Value (code, final newline removed)
	ThematicBreak //
	Table         // Align; Children: TableRow, the first is the head
	TableRow      // Children: TableCell
	TableCell     // Children: inlines
	MathBlock     // Value, Meta
	Definition    // Name (normalised label), URL, Title
	FootnoteDef   // Name (normalised label); Children: blocks
	ESM           // Value: import and export statements, verbatim

	// JSX and expressions; Inline distinguishes text from flow.
	Element    // Name ("" for a fragment), Attrs, SelfClosing; Children
	Expression // Value: the source between the braces

	// Inlines.
	Text        // Value, entities and escapes resolved
	Emphasis    // Children
	Strong      // Children
	Delete      // Children
	InlineCode  // Value
	InlineMath  // Value
	Break       // a hard line break
	Link        // URL, Title; Children
	Image       // URL, Title, Value (alternative text)
	FootnoteRef // Name (normalised label)
)

// Node is one node of the tree. It is one struct for all kinds, so that a walk
// needs no type switches and a page costs few allocations; Kind's comments say
// which fields mean something.
//
// Links and images by reference are resolved by the parser: their Kind is Link
// or Image and a reference whose definition is missing is plain text.
type Node struct {
	Kind Kind
	// Inline is set on Elements and Expressions that stand in a paragraph
	// (mdast: mdxJsxTextElement, mdxTextExpression).
	Inline bool
	// SelfClosing is set on Elements written as <Name/>.
	SelfClosing bool
	Ordered     bool
	// Loose is set on lists and items whose paragraphs are separated by
	// blank lines (mdast: spread).
	Loose bool
	// Level is a heading's depth, 1 to 6.
	Level int
	// Start is the number of an ordered list's first item.
	Start int
	// Checked is a task list item's state: 0 no task, 1 open, 2 done.
	Checked uint8
	Align   []Align

	Name string
	// Value is a text, or the source of code, of an expression or of a formula. That
	// of an Element is its opening tag where its closing tag is missing.
	Value string
	// Meta is what follows the language of code. That of an Element named Formula is
	// its content as it was written.
	Meta  string
	URL   string
	Title string
	Attrs []Attr

	Children []*Node

	// Pos is where the node begins, End is just past its last byte.
	Pos, End Pos
}

// Align is a table column's alignment.
type Align uint8

// Column alignments.
const (
	AlignNone Align = iota
	AlignLeft
	AlignCenter
	AlignRight
)

// AttrKind is how an attribute was written.
type AttrKind uint8

// The forms of a JSX attribute.
const (
	AttrBool   AttrKind = iota // name
	AttrString                 // name="value"; Value has character references resolved
	AttrExpr                   // name={value}; Value is the source between the braces
	AttrSpread                 // {...value}; Value is the source between the braces, dots included
)

// Attr is one attribute of an Element.
type Attr struct {
	Kind AttrKind
	Name string
	// Value is a text, or the source of code, of an expression or of a formula. That
	// of an Element is its opening tag where its closing tag is missing.
	Value string
	Pos   Pos
}

// Attr returns the attribute with this name, the last one if it stands twice.
func (n *Node) Attr(name string) (Attr, bool) {
	for i := len(n.Attrs) - 1; i >= 0; i-- {
		if n.Attrs[i].Kind != AttrSpread && n.Attrs[i].Name == name {
			return n.Attrs[i], true
		}
	}
	return Attr{}, false
}

// Size is the number of bytes of text that the node itself holds, with its
// attributes and without its children.
func (n *Node) Size() int {
	size := len(n.Name) + len(n.Value) + len(n.Meta) + len(n.URL) + len(n.Title)
	for i := range n.Attrs {
		size += len(n.Attrs[i].Name) + len(n.Attrs[i].Value)
	}
	return size
}

// Severity is how much a Diagnostic matters.
type Severity string

// Severities. None of them stops an export: what makes a site unusable is an
// error value, not a diagnostic.
const (
	Error   Severity = "error"   // something of the page is not shown as its author meant it
	Warning Severity = "warning" // the page is whole, but probably not what was meant
	Notice  Severity = "notice"  // the page is as it was meant, and could be better
	Info    Severity = "info"    // nothing to fix in the site: something that a bundle lacks, or does in its own way
)

// Diagnostic is something that an author should know about a source file. It
// is what every room reports and what a bundle lists.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	// Code is a stable name such as "mdx-syntax" or "link-missing".
	Code string `json:"code"`
	File string `json:"file"`
	// Line and Column count from 1; 0 if the place is unknown.
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	// Mended is set for a fault that readers don't see on the page.
	Mended bool `json:"-"`
}

// String returns the form that editors and terminals link: file:line:column: message.
func (d Diagnostic) String() string {
	place := d.File
	if d.Line > 0 {
		place = fmt.Sprintf("%s:%d:%d", d.File, d.Line, d.Column)
	}
	return fmt.Sprintf("%s: %s: %s (%s)", place, d.Severity, d.Message, d.Code)
}

// Walk calls fn for n and everything below it in document order. Where fn
// returns false, the node's children are left out.
func Walk(n *Node, fn func(*Node) bool) {
	if !fn(n) {
		return
	}
	for _, c := range n.Children {
		Walk(c, fn)
	}
}

// Object is the value of an object of JavaScript, Member one of its members.
type (
	Object = expr.Object
	Member = expr.Member
)

// EvalLiteral returns the value of a JavaScript literal: string, float64, bool,
// nil (null and undefined), []any or Object. It reports false for everything
// else, such as names and calls.
func EvalLiteral(source string) (any, bool) { return expr.Literal(source) }
