package component

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Component is one built-in component. HTML is required; where Markdown or
// Text is nil, a default shows the title attribute and the children.
type Component struct {
	// Name is what authors write, with a dot for members ("Tree.File").
	Name string
	// Doc says in one sentence what the component is for.
	Doc string
	// Attrs lists the attributes that are understood.
	Attrs []AttrSpec
	// Block is set where the HTML is a block, which can't stand in a paragraph.
	Block bool
	// ID returns the text from which the element's id is made, and the prefix
	// that goes before it; an empty text means no id. It is asked only where
	// the author gave no id. Nil: no id, in Builtin the author's alone.
	ID func(e *Element) (prefix, text string)
	// Ready changes the element's content, once, before anything is written of
	// the page. Nil: nothing.
	Ready func(e *Element)
	// HTML appends the element.
	HTML func(w *Writer, e *Element)
	// Markdown appends the element to the page's Markdown copy.
	Markdown func(w *Markdown, e *Element)
	// Text appends the element's words.
	Text func(w *Text, e *Element)
}

// AttrSpec documents one attribute.
type AttrSpec struct {
	Name string
	// Type is "string", "boolean", "number", "color", "icon" (a name, an address
	// or an element), "address", "list", "object" or "text" (inline Markdown,
	// or an element).
	Type string
	// Default is the value taken when the attribute is missing, as an author
	// would write it.
	Default string
	Doc     string
}

// Registry finds components by name. It is read-only after its making and
// safe for concurrent use.
type Registry struct {
	byName map[string]*Component
}

// NewRegistry makes a registry; a later component replaces an earlier one of
// the same name.
func NewRegistry(components ...*Component) *Registry {
	r := &Registry{byName: make(map[string]*Component, len(components))}
	for _, c := range components {
		r.byName[c.Name] = c
	}
	return r
}

// Lookup returns the component with this name, or nil.
func (r *Registry) Lookup(name string) *Component { return r.byName[name] }

// All lists the components by name.
func (r *Registry) All() []*Component {
	return slices.SortedFunc(maps.Values(r.byName), func(a, b *Component) int { return cmp.Compare(a.Name, b.Name) })
}

// Builtin makes the registry of all components of this package.
func Builtin() *Registry {
	all := slices.Concat(
		calloutComponents(), cardComponents(), columnComponents(), stepComponents(), tabComponents(), viewComponents(),
		accordionComponents(), expandableComponents(), fieldComponents(), codeComponents(), exampleComponents(),
		frameComponents(), iconComponents(), tooltipComponents(), badgeComponents(), treeComponents(), colorComponents(),
		updateComponents(), promptComponents(), visibilityComponents(), repoComponents(),
	)
	for _, c := range all {
		if c.ID == nil {
			c.ID = ownID
		}
	}
	return NewRegistry(all...)
}

// ownID makes an element's id from its id attribute alone.
func ownID(e *Element) (prefix, text string) { return "", e.String("id") }

// CommonAttrs lists the attributes that every component understands whose
// HTML is a box or a label of its own, in addition to its Attrs.
func CommonAttrs() []AttrSpec {
	return []AttrSpec{
		{"id", "string", "", "The id, for links to the element; it stays as it is written."},
		{"className", "string", "", "Classes of the site's own styles, or utility classes."},
		{"style", "object", "", "Declarations such as {{ maxWidth: \"20rem\" }}."},
	}
}

// iconAttrs are the attributes of an icon before or above something.
func iconAttrs(doc string) []AttrSpec {
	return []AttrSpec{
		{"icon", "icon", "", doc},
		{"iconType", "string", "", "The style in Font Awesome: regular, solid, brands and others."},
		{"iconLibrary", "string", "", "fontawesome, lucide or tabler, in place of the site's own choice."},
	}
}

// Icons draws icons by name. library and style ("solid", "brands") may be
// empty: the drawer's own choice.
type Icons interface {
	Icon(name, library, style string) (svg string, ok bool)
}

// IconBox is an icon's place without a drawing.
const IconBox = `<svg class="icon bdy-icon" viewBox="0 0 24 24" aria-hidden="true"></svg>`

// ProIcons is an optional interface of Icons. Pro reports whether an unknown name looks
// like one of Font Awesome Pro. Its drawings are not free.
type ProIcons interface {
	Pro(name string) bool
}

// IconNames is an optional interface of Icons. It returns the names of all icons, which
// the caller must not change.
type IconNames interface {
	Names() []string
}

// Page is what a component may ask of the page that it stands on, whichever of
// the page's copies is written.
type Page interface {
	// Lang is the page's language, as the site's configuration names it; "" for
	// the site's own.
	Lang() string
	// ID is the id that the page gave to the element, or "".
	ID(e *Element) string
	// Slot returns the nodes given to an attribute as JSX, nil if it has none.
	Slot(e *Element, name string) []*mdx.Node
	// NewMarkdown and NewText return empty writers, for what a component says of
	// its content by the way.
	NewMarkdown() *Markdown
	NewText() *Text
}

// HTML writes a page as HTML: what it offers to a component's own HTML.
type HTML interface {
	Page
	looks
	// WriteNodes appends nodes.
	WriteNodes(w *Writer, nodes []*mdx.Node)
	// WriteCode appends a block of code.
	WriteCode(w *Writer, c Code)
	// Inline returns the nodes of inline Markdown that the author gave as the
	// text of an attribute.
	Inline(e *Element, name, text string) []*mdx.Node
	// Link turns an address as its author wrote it into one for href, "" for
	// one that is not safe, and reports it when it leads nowhere.
	Link(e *Element, href string) string
	// InLink reports whether what is written stands in a link: HTML knows no
	// link within another.
	InLink() bool
	// Aliases returns further ids of the element, which links written for other
	// tools have: they stand in the HTML from here on.
	Aliases(e *Element) []string
	// Contents lists the element in the page's contents, at a heading's level.
	Contents(e *Element, level int, text string)
}

// looks is what HTML takes from elsewhere: pictures, drawings, styles.
type looks interface {
	// Asset is Link for a picture or another file that the page loads.
	Asset(e *Element, src string) string
	// Size returns the width and height in pixels of a picture of the site; ok
	// is false for one of elsewhere, or of an unknown format.
	Size(src string) (width, height int, ok bool)
	// Icon draws an icon in the library and style that the element asks for; a
	// name that no library has is reported.
	Icon(e *Element, name string) (svg string, ok bool)
	// Style registers CSS declarations, such as "color:#a1b2c3", for the
	// site's style sheet and returns the class that has them; "" when nothing
	// of them is safe there. The page itself holds no style attributes.
	Style(e *Element, css string) (class string)
	// StyleClass does that for the element's own style attribute, "" if it has
	// none.
	StyleClass(e *Element) (class string)
}

// Blocks writes a page as Markdown.
type Blocks interface {
	Page
	// WriteNodes writes nodes as blocks.
	WriteNodes(m *Markdown, nodes []*mdx.Node)
	// WriteCode writes a block of code as a fence.
	WriteCode(m *Markdown, c Code)
	// Phrase returns nodes as one run of inline Markdown.
	Phrase(nodes []*mdx.Node) string
	// Link turns an address as its author wrote it into one for the copy, ""
	// for one that is not safe.
	Link(href string) string
}

// Words writes a page as text.
type Words interface {
	Page
	// AddNodes adds the words of nodes.
	AddNodes(t *Text, nodes []*mdx.Node)
}

// Element is one use of a component on a page: its node, whose attributes
// hold only literals, and typed access to them.
type Element struct {
	Node      *mdx.Node
	Component *Component
	page      Page
}

// NewElement binds a node to its page. c may be nil for an element that is not
// a component, the page for one that is asked for its attributes alone.
func NewElement(n *mdx.Node, c *Component, p Page) *Element {
	return &Element{Node: n, Component: c, page: p}
}

// Has reports whether the attribute is there in any form.
func (e *Element) Has(name string) bool {
	_, ok := e.Node.Attr(name)
	return ok
}

// Value returns an attribute's value as EvalLiteral does: string,
// float64, bool, nil, []any or mdx.Object. ok is false when it is missing or
// not a literal.
func (e *Element) Value(name string) (value any, ok bool) {
	a, ok := e.Node.Attr(name)
	if !ok {
		return nil, false
	}
	return AttrValue(a)
}

// AttrValue returns the value of one attribute as Value does.
func AttrValue(a mdx.Attr) (value any, ok bool) {
	switch a.Kind {
	case mdx.AttrBool:
		return true, true
	case mdx.AttrString:
		return a.Value, true
	case mdx.AttrExpr:
		return mdx.EvalLiteral(a.Value)
	}
	return nil, false
}

// String returns an attribute as text: "" when it is missing, a number in its
// shortest form, and "" for true, which is how a bare attribute reads.
func (e *Element) String(name string) string {
	a, ok := e.Node.Attr(name)
	if !ok {
		return ""
	}
	if a.Kind == mdx.AttrString {
		return a.Value
	}
	v, _ := AttrValue(a)
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// Display returns an attribute as text that a reader sees: like String, but
// booleans are "true" and "false".
func (e *Element) Display(name string) string {
	if v, ok := e.Value(name); ok {
		if b, ok := v.(bool); ok {
			return strconv.FormatBool(b)
		}
	}
	return e.String(name)
}

// Bool reports whether an attribute is on: bare, true, or any string but
// "false", "0" and "no". Authors write defaultOpen="true" and arrow={true}.
func (e *Element) Bool(name string) bool {
	v, _ := e.Value(name)
	switch v := v.(type) {
	case bool:
		return v
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "false", "0", "no":
			return false
		}
		return true
	case float64:
		return v != 0
	}
	return false
}

// Number returns an attribute as a number, also when it is written as text.
func (e *Element) Number(name string) (float64, bool) {
	v, _ := e.Value(name)
	switch v := v.(type) {
	case float64:
		return v, true
	case string:
		f, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(v), "px"), 64)
		return f, err == nil
	}
	return 0, false
}

// Strings returns an attribute that lists texts; a single text is a list of
// one.
func (e *Element) Strings(name string) []string {
	v, _ := e.Value(name)
	switch v := v.(type) {
	case string:
		if v != "" {
			return []string{v}
		}
	case []any:
		out := make([]string, 0, len(v))
		for _, x := range v {
			if s, ok := x.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// slot returns the nodes that were given to the attribute as JSX.
func (e *Element) slot(name string) []*mdx.Node {
	if a, ok := e.Node.Attr(name); !ok || a.Kind != mdx.AttrExpr {
		return nil
	}
	return e.page.Slot(e, name)
}

// TitleText returns the attribute as plain text, from a string or from the
// words of a slot.
func (e *Element) TitleText(name string) string {
	if nodes := e.slot(name); nodes != nil {
		t := e.page.NewText()
		t.Nodes(nodes)
		return t.String()
	}
	return strings.TrimSpace(mdx.InlineText(e.String(name)))
}

// unlinked leaves of the links in nodes only their words.
func unlinked(nodes []*mdx.Node) []*mdx.Node {
	out := nodes[:0:len(nodes)]
	for _, n := range nodes {
		n.Children = unlinked(n.Children)
		if n.Kind == mdx.Link {
			out = append(out[:len(out):len(out)], n.Children...)
		} else {
			out = append(out, n)
		}
	}
	return out
}

// Flat returns the children with fragments, and paragraphs that hold nothing
// but elements, replaced by their content, and without white space: what a
// component sees that arranges its children (the steps of Steps).
func (e *Element) Flat() []*mdx.Node {
	return flatten(nil, e.Node.Children)
}

func flatten(to, nodes []*mdx.Node) []*mdx.Node {
	for _, n := range nodes {
		switch {
		case n.Kind == mdx.Element && n.Name == "" || n.Kind == mdx.Paragraph && onlyElements(n):
			to = flatten(to, n.Children)
		case IsBlank(n):
		default:
			to = append(to, n)
		}
	}
	return to
}

func onlyElements(p *mdx.Node) bool {
	return !slices.ContainsFunc(p.Children, func(c *mdx.Node) bool { return c.Kind != mdx.Element && !IsBlank(c) })
}

// IsBlank reports whether a node is white space.
func IsBlank(n *mdx.Node) bool { return n.Kind == mdx.Text && strings.TrimSpace(n.Value) == "" }

// Phrasing returns the content of a paragraph that stands alone, for elements
// that hold phrases: MDX makes paragraphs of lines of their own.
func Phrasing(nodes []*mdx.Node) []*mdx.Node {
	var only *mdx.Node
	for _, n := range nodes {
		if IsBlank(n) {
			continue
		}
		if only != nil {
			return nodes
		}
		only = n
	}
	if only != nil && only.Kind == mdx.Paragraph {
		return only.Children
	}
	return nodes
}
