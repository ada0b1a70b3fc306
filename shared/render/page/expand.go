package page

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Limits of what one page may grow to. They stop snippets that include each
// other over and over, and bound the memory of a page.
const (
	maxSnippetDepth = 32
	// maxNodes bounds a page's nodes; a text counts once more for every
	// bytesPerNode bytes of it.
	maxNodes     = 200_000
	bytesPerNode = 256
	// callBytes is what a snippet counts wherever it is shown, beside its nodes:
	// an empty one takes memory too.
	callBytes = 9 * bytesPerNode
	// maxComponentDepth bounds components that show each other.
	maxComponentDepth = 64
	// maxAttrs bounds an element's attributes, spread ones included: each is
	// compared with the others, and what is spread may be spread many times.
	maxAttrs = 500
)

// snippet is a source that others include, parsed once for the site.
type snippet struct {
	once sync.Once
	// file is the tree of one in MDX, statements are those of one in
	// JavaScript.
	file        *mdx.File
	statements  []statement
	diagnostics []mdx.Diagnostic
	err         error
}

// snippetCache holds the snippets of a site by path.
type snippetCache struct{ m sync.Map }

func (r *Renderer) snippet(name string) *snippet {
	v, _ := r.snippets.m.LoadOrStore(name, new(snippet))
	sn := v.(*snippet)
	sn.once.Do(func() {
		src, err := fs.ReadFile(r.fs, name)
		if err != nil {
			sn.err = err
			if !errors.Is(err, fs.ErrNotExist) {
				r.snippets.m.CompareAndDelete(name, v) // it may go well the next time
			}
			return
		}
		if isScript(strings.ToLower(name)) {
			sn.statements = parseScript(string(src))
			return
		}
		sn.file, sn.diagnostics = r.parse(name, src)
		mdx.Unravel(sn.file.Root)
	})
	return sn
}

// parse reads a source after the site's variables were put into it.
func (r *Renderer) parse(name string, src []byte) (*mdx.File, []mdx.Diagnostic) {
	o := mdx.Options{File: name, Dollars: mdx.ClearDollars}
	if latex := r.site.Config.Styling.Latex; latex != nil {
		o.Dollars = mdx.DoubleDollars
		if *latex {
			o.Dollars = mdx.SingleDollars
		}
	}
	return mdx.Parse(r.site.Expand(src), o)
}

// expandFile resolves a file's content in a scope of its own.
func (s *state) expandFile(root *mdx.Node, sc *scope) []*mdx.Node {
	s.declare(root, sc)
	return paragraphs(s.expand(root.Children, sc))
}

// expand resolves nodes: snippets are replaced by their content, expressions
// by their values, attributes hold literals afterwards. The nodes are changed
// in place; the slice that is returned may be another.
func (s *state) expand(list []*mdx.Node, sc *scope) []*mdx.Node {
	out := list[:0:0]
	changed := false
	for i, n := range list {
		repl, same := s.expandNode(n, sc)
		if same {
			if changed {
				out = append(out, n)
			}
			continue
		}
		if !changed {
			changed = true
			out = append(make([]*mdx.Node, 0, len(list)+len(repl)), list[:i]...)
		}
		out = append(out, repl...)
	}
	if !changed {
		return list
	}
	return out
}

// expandNode returns what stands in place of a node, or same.
func (s *state) expandNode(n *mdx.Node, sc *scope) (repl []*mdx.Node, same bool) {
	if !s.grows(nodeBytes(n), sc.file, n.Pos) {
		return nil, false
	}
	if s.origin != nil && sc.file != s.source {
		s.origin[n] = sc.file
	}
	switch n.Kind {
	case mdx.ESM, mdx.Definition:
		return nil, false
	case mdx.Expression:
		return s.expandExpression(n, sc), false
	case mdx.Element:
		return s.expandElement(n, sc)
	}
	switch n.Kind {
	case mdx.CodeBlock:
		if code := interpolate(n.Value, sc.props); len(code) <= len(n.Value) || s.grows(len(code), sc.file, n.Pos) {
			n.Value = code
		}
	case mdx.Heading:
		s.ownID(n)
	}
	if len(n.Children) > 0 {
		n.Children = s.expand(n.Children, sc)
	}
	return nil, true
}

// grows counts one more part of the page, with so many bytes of text. It is
// false once the page is too large, which it reports.
func (s *state) grows(text int, file string, pos mdx.Pos) bool {
	if s.size += 1 + text/bytesPerNode; s.size <= maxNodes {
		return true
	}
	if !s.tooLarge {
		s.tooLarge = true
		s.report(file, pos, mdx.Error, "page-too-large",
			fmt.Sprintf("the page grows to more than %d parts; the rest is left out", maxNodes))
	}
	return false
}

// nodeBytes is the text that a node itself has: its own and its attributes'.
func nodeBytes(n *mdx.Node) int {
	size := len(n.Value)
	for i := range n.Attrs {
		size += len(n.Attrs[i].Value)
	}
	return size
}

// maxInterpolated bounds in bytes what the properties of a snippet may add to one
// block of code.
const maxInterpolated = 1 << 20

// interpolate puts the properties of a snippet in the place of {name} in its
// code. Where that would make it very long, the code stays as it is.
func interpolate(code string, props mdx.Object) string {
	if len(props) == 0 || strings.IndexByte(code, '{') < 0 {
		return code
	}
	var pairs []string
	added := 0
	for _, p := range props {
		if text, ok := display(p.Value); ok && isPath(p.Key) {
			short, long := "{"+p.Key+"}", "{props."+p.Key+"}"
			pairs = append(pairs, short, text, long, text)
			if added += (strings.Count(code, short) + strings.Count(code, long)) * len(text); added > maxInterpolated {
				return code
			}
		}
	}
	return strings.NewReplacer(pairs...).Replace(code)
}

// ownID takes {#id} off the end of a heading: the id that its author wants.
func (s *state) ownID(n *mdx.Node) {
	last := len(n.Children) - 1
	if last < 0 || n.Children[last].Kind != mdx.Expression {
		return
	}
	id, ok := strings.CutPrefix(strings.TrimSpace(n.Children[last].Value), "#")
	if !ok || id == "" || strings.ContainsAny(id, " \t\n\"'<>&") {
		return
	}
	n.Children = n.Children[:last]
	if last > 0 && n.Children[last-1].Kind == mdx.Text {
		n.Children[last-1].Value = strings.TrimRight(n.Children[last-1].Value, " \t")
	}
	if s.ownIDs == nil {
		s.ownIDs = map[*mdx.Node]string{}
	}
	s.ownIDs[n] = id
}

func (s *state) expandExpression(n *mdx.Node, sc *scope) []*mdx.Node {
	t := s.try()
	var list []*mdx.Node
	v, err := s.evaluate(n.Value, sc, n.Pos)
	ok := err == nil
	if ok {
		list, ok = s.content(v, n.Pos)
	}
	if !ok {
		s.needsEngine(sc.file, n.Pos,
			"this expression needs JavaScript and is left out: {"+excerpt(n.Value)+"}: "+reasonOf(err))
	}
	if shown, ok := s.settle(t, n, nil, nil, sc); ok {
		return shown
	}
	if n.Inline {
		for _, c := range list {
			c.Inline = c.Inline || c.Kind == mdx.Element
		}
	}
	return list
}

// paragraphs puts runs of inline nodes among blocks into paragraphs: what the
// value of an expression leaves, or an element that shows only its content.
func paragraphs(list []*mdx.Node) []*mdx.Node {
	loose := false
	for _, n := range list {
		loose = loose || isInline(n)
	}
	if !loose {
		return list
	}
	var out []*mdx.Node
	for i := 0; i < len(list); {
		if !isInline(list[i]) {
			out = append(out, list[i])
			i++
			continue
		}
		start := i
		blank := true
		for i < len(list) && isInline(list[i]) {
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

func isInline(n *mdx.Node) bool {
	switch n.Kind {
	case mdx.Text, mdx.Emphasis, mdx.Strong, mdx.Delete, mdx.InlineCode, mdx.InlineMath, mdx.Break, mdx.Link, mdx.Image, mdx.FootnoteRef:
		return true
	case mdx.Element, mdx.Expression:
		return n.Inline
	}
	return false
}

// dissolve returns the content of an element that is shown without it.
func (s *state) dissolve(n *mdx.Node, sc *scope) []*mdx.Node {
	list := s.expand(n.Children, sc)
	if !n.Inline {
		return paragraphs(list)
	}
	return list
}

// content turns a value into the nodes that show it.
func (s *state) content(v any, pos mdx.Pos) ([]*mdx.Node, bool) {
	switch v := v.(type) {
	case nodes:
		list := make([]*mdx.Node, len(v))
		for i, n := range v {
			// A copy each time: two nodes never share an id.
			list[i] = s.clone(n)
		}
		return list, true
	case []any:
		// A list may hold the same one many times, and that again.
		if !s.grows(len(v), s.source, pos) {
			return nil, true
		}
		var list []*mdx.Node
		for _, x := range v {
			part, ok := s.content(x, pos)
			if !ok {
				return nil, false
			}
			list = append(list, part...)
		}
		return list, true
	}
	text, ok := display(v)
	if !ok {
		return nil, false
	}
	if text == "" {
		return nil, true
	}
	if !s.grows(len(text), s.source, pos) {
		return nil, true
	}
	return []*mdx.Node{{Kind: mdx.Text, Value: text, Pos: pos, End: pos}}, true
}

// clone copies resolved nodes with what is known about them.
func (s *state) clone(n *mdx.Node) *mdx.Node {
	c := *n
	if !s.grows(nodeBytes(n), s.fileOf(n), n.Pos) {
		c.Value, c.Children, c.Attrs = "", nil, nil
		return &c
	}
	if file, ok := s.origin[n]; ok {
		s.origin[&c] = file
	}
	if slots, ok := s.slots[n]; ok {
		copied := make(map[string][]*mdx.Node, len(slots))
		for name, list := range slots {
			copied[name], _ = s.content(nodes(list), n.Pos)
		}
		s.slots[&c] = copied
	}
	if n.Children != nil {
		c.Children = make([]*mdx.Node, len(n.Children))
		for i, child := range n.Children {
			c.Children[i] = s.clone(child)
		}
	}
	return &c
}

func (s *state) expandElement(n *mdx.Node, sc *scope) (repl []*mdx.Node, same bool) {
	if len(n.Attrs) > maxAttrs {
		s.attrsCut(n)
		n.Attrs = n.Attrs[:maxAttrs]
	}
	if n.Name == "" {
		return s.dissolve(n, sc), false
	}
	name := n.Name
	if isCapital(name) {
		first, _, _ := strings.Cut(name, ".")
		if v, ok := sc.names.Lookup(first); ok {
			_, snippet := v.(snippetValue)
			attrs := slices.Clone(n.Attrs)
			children := s.expand(n.Children, sc)
			t := s.try()
			props := s.props(n, sc)
			list, ok := s.custom(n, props, children, sc.names)
			switch {
			case !ok:
				s.trial = t.outer // the attributes are evaluated again below
			case snippet:
				s.keep(t)
				return list, false
			default:
				needed := t.needsEngine && s.r.islands != nil
				if shown, ok := s.settle(t, n, attrs, children, sc); ok {
					return shown, false
				}
				if needed && !says(list) { // what it holds is readable at least
					list = children
					if !n.Inline {
						list = paragraphs(children)
					}
				}
				return list, false
			}
		}
		if name == "Snippet" {
			if file, ok := n.Attr("file"); ok && file.Kind == mdx.AttrString {
				p := file.Value
				if !strings.HasPrefix(p, "/") {
					p = "/snippets/" + p
				}
				given := mdx.Object{}
				for _, x := range s.props(n, sc) {
					given = setMember(given, x.name, x.value)
				}
				children := s.expand(n.Children, sc)
				if len(children) > 0 {
					given = setMember(given, "children", nodes(children))
				}
				return s.include(s.importPath(p, sc), n, given, children), false
			}
		}
	}
	n.Children = s.expand(n.Children, sc)
	if slices.ContainsFunc(n.Attrs, func(a mdx.Attr) bool { return a.Kind == mdx.AttrExpr || a.Kind == mdx.AttrSpread }) {
		attrs, children := n.Attrs, n.Children
		t := s.try()
		// Expressions become literals; attributes that have none are dropped.
		s.setAttrs(n, s.props(n, sc), sc)
		if shown, ok := s.settle(t, n, attrs, children, sc); ok {
			return shown, false
		}
	}
	if len(n.Children) > 0 {
		if !n.Inline && !isTag(name) && s.component(n) == nil {
			n.Children = paragraphs(n.Children) // an unknown component
		}
	}
	return nil, true
}

// attrsCut tells the author of an element with too many attributes.
func (s *state) attrsCut(n *mdx.Node) {
	s.report(s.fileOf(n), n.Pos, mdx.Warning, "attributes-cut", fmt.Sprintf("<%s> has more than %d attributes; the rest is left out", n.Name, maxAttrs))
}

// props evaluates an element's attributes.
func (s *state) props(n *mdx.Node, sc *scope) []prop {
	out := make([]prop, 0, len(n.Attrs))
	for _, a := range n.Attrs {
		if len(out) > maxAttrs {
			break
		}
		switch a.Kind {
		case mdx.AttrBool:
			out = append(out, prop{a.Name, true, a.Pos})
		case mdx.AttrString:
			out = append(out, prop{a.Name, a.Value, a.Pos})
		case mdx.AttrSpread:
			v, err := s.evaluate(strings.TrimPrefix(strings.TrimSpace(a.Value), "..."), sc, a.Pos)
			members, ok := v.(mdx.Object)
			if err != nil || !ok && v != nil {
				s.attrDropped(n, "", a.Value, a.Pos, err)
			}
			for _, m := range members {
				out = append(out, prop{m.Key, m.Value, a.Pos})
			}
		case mdx.AttrExpr:
			if isHandler(a.Name) && !isCapital(n.Name) {
				s.handlerDropped(n, a.Name, a.Pos)
				continue
			}
			v, err := s.evaluate(a.Value, sc, a.Pos)
			if err != nil {
				if isHandler(a.Name) {
					s.handlerDropped(n, a.Name, a.Pos)
				} else {
					s.attrDropped(n, a.Name, a.Value, a.Pos, err)
				}
				continue
			}
			out = append(out, prop{a.Name, v, a.Pos})
		}
	}
	if len(out) > maxAttrs {
		s.attrsCut(n)
		out = out[:maxAttrs]
	}
	return out
}

// literal makes an attribute from a value. JSX goes to the node's slots.
func (s *state) literal(n *mdx.Node, name string, v any) (mdx.Attr, bool) {
	switch v := v.(type) {
	case string:
		if !s.grows(len(v), s.fileOf(n), n.Pos) {
			v = ""
		}
		return mdx.Attr{Kind: mdx.AttrString, Name: name, Value: v}, true
	case nodes:
		list, _ := s.content(v, n.Pos)
		if s.slots[n] == nil {
			s.slots[n] = map[string][]*mdx.Node{}
		}
		if list == nil {
			list = []*mdx.Node{}
		}
		s.slots[n][name] = list
		return mdx.Attr{Kind: mdx.AttrExpr, Name: name, Value: "null"}, true
	}
	src, ok := literalSource(v)
	if !s.grows(len(src), s.fileOf(n), n.Pos) {
		src = "null"
	}
	return mdx.Attr{Kind: mdx.AttrExpr, Name: name, Value: src}, ok
}

// include puts a snippet in place of the element that names it; children are
// what the element holds, shown when there is no such snippet.
func (s *state) include(name string, n *mdx.Node, props mdx.Object, children []*mdx.Node) []*mdx.Node {
	file := s.fileOf(n)
	if len(s.stack) >= maxSnippetDepth || slices.Contains(s.stack, name) {
		s.report(file, n.Pos, mdx.Error, "snippet-cycle",
			"the snippet "+name+" includes itself, or snippets stand in each other too deep: "+strings.Join(append(s.stack, name), " → "))
		return nil
	}
	sn := s.r.snippet(name)
	if sn.err == nil && sn.file == nil {
		sn = &snippet{err: fs.ErrInvalid} // JavaScript is nothing to show
	}
	if sn.err != nil {
		s.snippetError(name, sn.err, n.Pos, &scope{file: file})
		if n.Inline {
			return children
		}
		return paragraphs(children)
	}
	s.input(name)
	for _, d := range sn.diagnostics {
		s.add(d)
	}
	if s.origin == nil {
		s.origin = map[*mdx.Node]string{}
	}
	if s.tooLarge || !s.grows(callBytes, file, n.Pos) {
		return nil
	}
	s.stack = append(s.stack, name)
	list := s.expandFile(mdx.Clone(sn.file.Root), newScope(name, props))
	s.stack = s.stack[:len(s.stack)-1]
	// A snippet of one paragraph, used within a line, continues that line.
	if n.Inline && len(list) == 1 && list[0].Kind == mdx.Paragraph {
		return list[0].Children
	}
	return list
}

// importPath gives the file that an import names, or "" when it leads out of
// the site.
func (s *state) importPath(from string, sc *scope) string {
	p := from
	if !strings.HasPrefix(p, "/") {
		p = path.Join(path.Dir(sc.file), p)
	}
	p = strings.TrimPrefix(path.Clean(p), "/")
	if !fs.ValidPath(p) || p == "." {
		return ""
	}
	return p
}

// excerpt shortens a source for a message.
func excerpt(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return cutText(s, 60)
}

// cutText gives a text with no more than most bytes of it, in whole characters.
func cutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xC0 == 0x80 {
		most--
	}
	return s[:most] + "…"
}

func isHandler(name string) bool {
	return len(name) > 2 && strings.EqualFold(name[:2], "on") && isPath(name)
}
