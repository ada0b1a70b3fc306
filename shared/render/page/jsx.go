package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/bindery-docs/bindery/shared/render/expr"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

var _ expr.Host = (*resolver)(nil)

// Element returns the nodes of an element in JavaScript. Unlike one in MDX, its
// text is not Markdown.
func (s *resolver) Element(m *expr.Machine, e *expr.Element, names *expr.Scope) (any, error) {
	sc, _ := names.Host.(*scope)
	if s.size++; s.size > s.parts() || sc == nil {
		return nodes(nil), nil
	}
	n := &mdx.Node{Kind: mdx.Element, Name: e.Name, Pos: placeOf(e.Source, e.Offset)}
	n.End = n.Pos
	s.from(n, sc)
	props := s.jsProps(m, e, n, names)
	fragment := e.Name == "" || e.Name == "Fragment" || e.Name == "React.Fragment"
	children := s.jsChildren(m, e, n, names)
	if fragment {
		return children, nil
	}
	if isCapital(e.Name) {
		if list, ok := s.custom(n, props, children, names); ok {
			return nodes(list), nil
		}
	}
	n.Children = children
	s.setAttrs(n, props, sc)
	return nodes{n}, nil
}

// prop is one attribute of an element with its value.
type prop struct {
	name  string
	value any
	pos   mdx.Pos
}

// jsProps evaluates the attributes of an element in JavaScript.
func (s *resolver) jsProps(m *expr.Machine, e *expr.Element, n *mdx.Node, names *expr.Scope) []prop {
	out := make([]prop, 0, len(e.Attrs))
	for _, a := range e.Attrs {
		pos := placeOf(e.Source, a.Offset)
		if a.Name != "" && isHandler(a.Name) && !isCapital(n.Name) {
			s.handlerDropped(n, a.Name, pos)
			continue
		}
		v, err := m.Value(a, names)
		if err != nil {
			s.attrDropped(n, a.Name, "", pos, err)
			continue
		}
		if a.Name == "" {
			members, _ := v.(mdx.Object)
			for _, x := range members {
				out = append(out, prop{x.Key, x.Value, pos})
			}
			continue
		}
		out = append(out, prop{a.Name, v, pos})
	}
	return out
}

// jsChildren evaluates the content of an element in JavaScript. What of it
// needs an engine is reported, and left out unless it is a name, which is shown as
// it was written.
func (s *resolver) jsChildren(m *expr.Machine, e *expr.Element, n *mdx.Node, names *expr.Scope) nodes {
	var out nodes
	words := false
	m.Children(e, names, func(c expr.Child, v any, err error) {
		pos := n.Pos
		if c.Source != "" {
			pos = placeOf(e.Source, c.Offset)
		}
		list, ok := []*mdx.Node(nil), err == nil
		if _, isText := v.(string); ok && !isText {
			list, ok = s.content(v, n.Pos)
		}
		if !ok {
			if !isPath(strings.TrimSpace(c.Source)) { // a program is nothing to read
				s.needsEngine(s.fileOf(n), pos, "content of <"+n.Name+"> needs JavaScript and is left out: "+reasonOf(err))
				return
			}
			s.needsEngine(s.fileOf(n), pos, writtenMessage(c.Source)+"it needs JavaScript: "+reasonOf(err))
			list = s.written(n, c.Source)
		}
		if text, ok := v.(string); ok {
			words = words || strings.TrimSpace(text) != ""
			if text != "" {
				out = append(out, &mdx.Node{Kind: mdx.Text, Value: text, Pos: n.Pos, End: n.Pos})
			}
			return
		}
		for _, c := range list {
			words = words || c.Kind == mdx.Text && strings.TrimSpace(c.Value) != ""
		}
		out = append(out, list...)
	})
	if words {
		// Elements among words are part of the line.
		for _, c := range out {
			c.Inline = c.Inline || c.Kind == mdx.Element && !isBlockTag(c.Name) && !isCapital(c.Name)
		}
	}
	return out
}

// custom replaces an element by what a name of the source stands for.
func (s *resolver) custom(n *mdx.Node, props []prop, children nodes, names *expr.Scope) ([]*mdx.Node, bool) {
	v, found, err := s.named(n.Name, names)
	if !found {
		return nil, false
	}
	given := make(mdx.Object, 0, len(props)+1)
	for _, p := range props {
		given = setMember(given, p.name, p.value)
	}
	if len(children) > 0 {
		given = setMember(given, "children", children)
	}
	if err == nil {
		switch v := v.(type) {
		case snippetValue:
			return s.include(v.path, n, given, children), true
		case *expr.Function:
			var list []*mdx.Node
			if list, err = s.apply(v, n, given); err == nil {
				return list, true
			}
		case nodes:
			list, _ := s.content(v, n.Pos)
			return list, true
		default:
			err = &expr.Unsupported{Reason: "it is not a component"}
		}
	}
	s.needsEngine(s.fileOf(n), n.Pos,
		"<"+n.Name+"> needs JavaScript, only its content is shown: "+reasonOf(err))
	return s.inPlaceOf(n, children), true
}

// apply returns what a function of JavaScript returns as a component.
func (s *resolver) apply(f *expr.Function, n *mdx.Node, props mdx.Object) ([]*mdx.Node, error) {
	if len(s.stack) >= maxComponentDepth {
		return nil, &expr.Unsupported{Reason: "it shows itself"}
	}
	s.stack = append(s.stack, "<"+n.Name+">")
	v, err := s.machine().Call(f, props)
	s.stack = s.stack[:len(s.stack)-1]
	if err != nil {
		return nil, err
	}
	list, ok := s.content(v, n.Pos)
	if !ok {
		return nil, &expr.Unsupported{Reason: "it returns a value that can't be shown"}
	}
	if n.Inline {
		for _, c := range list {
			c.Inline = c.Inline || c.Kind == mdx.Element
		}
	}
	return list, nil
}

func setMember(o mdx.Object, key string, v any) mdx.Object {
	for i := range o {
		if o[i].Key == key {
			o[i].Value = v
			return o
		}
	}
	return append(o, mdx.Member{Key: key, Value: v})
}

// setAttrs gives an element its attributes as literals, its JSX as slots.
func (s *resolver) setAttrs(n *mdx.Node, props []prop, sc *scope) {
	n.Attrs = make([]mdx.Attr, 0, len(props))
	for _, p := range props {
		switch {
		case p.name == "children":
			if len(n.Children) == 0 {
				n.Children, _ = s.content(p.value, n.Pos)
			}
		case p.name == "dangerouslySetInnerHTML":
			s.rawHTML(n, p)
		case isHandler(p.name):
			s.handlerDropped(n, p.name, p.pos)
		default:
			if a, ok := s.literal(n, p.name, p.value); ok {
				a.Pos = p.pos
				n.Attrs = append(n.Attrs, a)
			} else {
				s.attrDropped(n, p.name, "", p.pos, nil)
			}
		}
	}
}

func (s *resolver) handlerDropped(n *mdx.Node, name string, pos mdx.Pos) {
	s.needsEngine(s.fileOf(n), pos, handlerMessage(n, name))
}

func (s *resolver) attrDropped(n *mdx.Node, name, source string, pos mdx.Pos, err error) {
	what := name
	if source != "" {
		what += "={" + excerpt(source) + "}"
	}
	s.needsEngine(s.fileOf(n), pos,
		"this attribute of <"+n.Name+"> needs JavaScript and is left out: "+what+": "+reasonOf(err))
}

// rawHTML reads HTML that an author gave as a text. Its elements are written
// as those of the page are: without scripts and handlers.
func (s *resolver) rawHTML(n *mdx.Node, p prop) {
	members, _ := p.value.(mdx.Object)
	source, _ := members.Get("__html")
	text, ok := source.(string)
	if !ok {
		s.attrDropped(n, p.name, "", p.pos, nil)
		return
	}
	if n.Name == "style" || n.Name == "script" { // HTML is not read there
		n.Children = []*mdx.Node{{Kind: mdx.Text, Value: text, Pos: p.pos, End: p.pos}}
		return
	}
	parsed, err := html.ParseFragment(strings.NewReader(text), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		s.attrDropped(n, p.name, "", p.pos, nil)
		return
	}
	n.Children = nil
	for _, c := range parsed {
		if made := s.fromHTML(c, n, p.pos, 0); made != nil {
			n.Children = append(n.Children, made)
		}
	}
}

// maxHTMLDepth bounds how deep HTML in a text may nest.
const maxHTMLDepth = 200

func (s *resolver) fromHTML(h *html.Node, around *mdx.Node, pos mdx.Pos, depth int) *mdx.Node {
	if s.size++; s.size > s.parts() || depth > maxHTMLDepth {
		return nil
	}
	switch h.Type {
	case html.TextNode:
		return &mdx.Node{Kind: mdx.Text, Value: h.Data, Pos: pos, End: pos}
	case html.ElementNode:
		n := &mdx.Node{Kind: mdx.Element, Name: h.Data, Inline: true, Pos: pos, End: pos}
		if file, ok := s.origin[around]; ok {
			s.origin[n] = file
		}
		for _, a := range h.Attr {
			name := a.Key
			if a.Namespace != "" {
				name = a.Namespace + ":" + name
			}
			n.Attrs = append(n.Attrs, mdx.Attr{Kind: mdx.AttrString, Name: name, Value: a.Val, Pos: pos})
		}
		for c := h.FirstChild; c != nil; c = c.NextSibling {
			if made := s.fromHTML(c, n, pos, depth+1); made != nil {
				n.Children = append(n.Children, made)
			}
		}
		return n
	}
	return nil
}
