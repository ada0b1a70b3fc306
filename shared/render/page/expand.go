package page

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// expandFile resolves a file's content in a scope of its own.
func (s *resolver) expandFile(root *mdx.Node, sc *scope) []*mdx.Node {
	s.declare(root, sc)
	return s.paragraphs(s.expand(root.Children, sc))
}

// expand resolves nodes: snippets are replaced by their content, expressions
// by their values, attributes hold literals afterwards. The nodes are changed
// in place; the slice that is returned may be another.
func (s *resolver) expand(list []*mdx.Node, sc *scope) []*mdx.Node {
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
func (s *resolver) expandNode(n *mdx.Node, sc *scope) (repl []*mdx.Node, same bool) {
	if !s.grows(n.Size(), sc.file, n.Pos) {
		return nil, false
	}
	s.from(n, sc)
	if resolve := s.r.kinds[n.Kind].resolve; resolve != nil {
		return resolve(s, n, sc)
	}
	if len(n.Children) > 0 {
		n.Children = s.expand(n.Children, sc)
	}
	return nil, true
}

func (s *resolver) expandExpression(n *mdx.Node, sc *scope) (list []*mdx.Node, same bool) {
	if strings.TrimSpace(n.Value) == "" {
		return nil, false // {} shows nothing
	}
	t := s.try()
	v, err := s.evaluate(n.Value, sc, n.Pos)
	ok := err == nil
	if ok {
		list, ok = s.content(v, n.Pos)
	}
	if ok && len(list) == 0 && s.meansNothing(n.Value, sc) {
		s.end(t)
		s.report(sc.file, n.Pos, mdx.Warning, "script-failed", writtenMessage(n.Value)+"nothing gives it a value")
		return s.written(n, n.Value), false
	}
	if name, undefined := undefinedName(n.Value, sc); !ok && undefined {
		s.end(t)
		s.report(sc.file, n.Pos, mdx.Warning, "script-failed", writtenMessage(n.Value)+name+" is not defined")
		return s.written(n, n.Value), false
	}
	if !ok {
		s.needsEngine(sc.file, n.Pos, writtenMessage(n.Value)+"it needs JavaScript: "+reasonOf(err))
	}
	if shown, done := s.settle(t, n, nil, nil, sc); done {
		return shown, false
	}
	if !ok {
		return s.written(n, n.Value), false
	}
	if n.Inline {
		for _, c := range list {
			c.Inline = c.Inline || c.Kind == mdx.Element
		}
	}
	return list, false
}

// writtenMessage begins the message about an expression that has no value.
func writtenMessage(source string) string {
	return "{" + excerpt(source) + "} is shown as it was written: "
}

// written shows the source of an expression that has no value: text such as
// /users/{id} is often meant so.
func (s *resolver) written(n *mdx.Node, source string) []*mdx.Node {
	if !s.grows(len(source), s.fileOf(n), n.Pos) {
		return nil
	}
	text := "{" + source + "}"
	// A paragraph of nothing but expressions has lost the spaces between them.
	if last := s.lastWritten; !n.Inline && n.Kind == mdx.Expression {
		if last != nil && last.End.Line == n.Pos.Line && last.End.Column+1 == n.Pos.Column {
			text = " " + text
		}
		s.lastWritten = n
	}
	return []*mdx.Node{{Kind: mdx.Text, Value: text, Pos: n.Pos, End: n.End}}
}

// meansNothing reports whether an expression such as {} or {children} in a text has no
// meaning on a page, so that it is shown as written.
func (s *resolver) meansNothing(source string, sc *scope) bool {
	if source = strings.TrimSpace(source); source == "" {
		return true
	}
	first, _, _ := strings.Cut(source, ".")
	return (first == "children" || first == "props") && isPath(source) && sc.file == s.source
}

// undefinedName returns the name that an expression such as user.id begins with,
// if nothing gives it a value: the source doesn't, and the engine has no such
// name. Then it is not asked, which would take some milliseconds.
func undefinedName(source string, sc *scope) (string, bool) {
	source = strings.TrimSpace(source)
	name, _, _ := strings.Cut(source, ".")
	if !isPath(source) || name[0] < 'a' || name[0] > 'z' || engineHas(name) {
		return "", false
	}
	if _, found := sc.names.Lookup(name); found || strings.Contains(sc.module, name) {
		return "", false
	}
	return name, true
}

// engineHas reports whether a name that begins with a small letter may be one of
// the engine's own.
func engineHas(name string) bool {
	switch name {
	case "user", "console", "globalThis", "this", "undefined", "null", "true", "false", "eval", "isFinite", "isNaN", "parseFloat",
		"parseInt", "encodeURI", "encodeURIComponent", "decodeURI", "decodeURIComponent", "escape", "unescape", "setTimeout",
		"setInterval", "clearTimeout", "clearInterval", "queueMicrotask", "memo", "forwardRef", "createContext", "createRef",
		"cloneElement", "isValidElement", "createPortal":
		return true
	}
	return len(name) > 3 && strings.HasPrefix(name, "use") && 'A' <= name[3] && name[3] <= 'Z' // hooks
}

// dissolve returns the content of an element that is shown without it.
func (s *resolver) dissolve(n *mdx.Node, sc *scope) []*mdx.Node {
	return s.inPlaceOf(n, s.expand(n.Children, sc))
}

func (s *resolver) expandElement(n *mdx.Node, sc *scope) (repl []*mdx.Node, same bool) {
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
				s.end(t) // the attributes are evaluated again below
			case snippet:
				s.keep(t)
				return list, false
			default:
				needed := t.needsEngine && s.r.Islands != nil
				if shown, ok := s.settle(t, n, attrs, children, sc); ok {
					return shown, false
				}
				if needed && !says(list) { // what it holds is readable at least
					list = s.inPlaceOf(n, children)
				}
				return list, false
			}
		}
		if name == "Snippet" {
			if file, ok := n.Attr("file"); ok && file.Kind == mdx.AttrString {
				given := mdx.Object{}
				for _, x := range s.props(n, sc) {
					given = setMember(given, x.name, x.value)
				}
				children := s.expand(n.Children, sc)
				if len(children) > 0 {
					given = setMember(given, "children", nodes(children))
				}
				return s.include(s.snippetFile(file.Value, sc), n, given, children), false
			}
		}
	}
	if name == mdx.Formula && s.component(n) == nil {
		return s.latex(n, sc), false
	}
	if n.Value != "" && isCapital(name) && s.component(n) == nil {
		// A word in angle brackets, such as <String>, and no component.
		tag := &mdx.Node{Kind: mdx.Text, Value: n.Value, Pos: n.Pos, End: n.Pos}
		s.from(tag, sc)
		return s.inPlaceOf(n, append([]*mdx.Node{tag}, s.expand(n.Children, sc)...)), false
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
			n.Children = s.paragraphs(n.Children) // an unknown component
		}
	}
	return nil, true
}

// attrsCut reports an element with too many attributes to its author.
func (s *resolver) attrsCut(n *mdx.Node) {
	s.report(s.fileOf(n), n.Pos, mdx.Warning, "attributes-cut", fmt.Sprintf("<%s> has more than %d attributes; the rest is left out", n.Name, maxAttrs))
}

// props evaluates an element's attributes.
func (s *resolver) props(n *mdx.Node, sc *scope) []prop {
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

// include puts a snippet in place of the element that names it; children are
// what the element holds, shown when there is no such snippet.
func (s *resolver) include(name string, n *mdx.Node, props mdx.Object, children []*mdx.Node) []*mdx.Node {
	file := s.fileOf(n)
	if len(s.stack) >= maxSnippetDepth || slices.Contains(s.stack, name) {
		s.report(file, n.Pos, mdx.Error, "snippet-cycle",
			"the snippet "+name+" includes itself, or snippets stand in each other too deep: "+strings.Join(append(s.stack, name), " → "))
		return nil
	}
	sn := s.included(name)
	if sn.err == nil && sn.file == nil {
		sn = &snippet{err: fs.ErrInvalid} // JavaScript is nothing to show
	}
	if sn.err != nil {
		s.snippetError(name, sn.err, n.Pos, &scope{file: file})
		return s.inPlaceOf(n, children)
	}
	for _, d := range sn.diagnostics {
		s.said.add(d)
	}
	if !s.read[name] {
		put(&s.read, name, true)
		s.length += sn.size
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
