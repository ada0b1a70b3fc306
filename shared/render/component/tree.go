package component

import (
	"slices"
	"strings"
	"unicode"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

func treeComponents() []*Component {
	tree := func(name, doc string) *Component {
		return &Component{
			Name: name, Doc: doc, Block: true, Ready: listed,
			HTML: func(w *Writer, e *Element) {
				w.open("div", e, "bdy-tree").Raw(">")
				if hasElements(e, "Tree.Folder", "Tree.File") {
					w.Raw(`<ul role="list">`).Nodes(e.Flat()).Raw("</ul>")
				} else {
					w.Children(e)
				}
				w.Raw("</div>")
			},
			Markdown: func(m *Markdown, e *Element) {
				if !hasElements(e, "Tree.Folder", "Tree.File") {
					m.Children(e)
					return
				}
				m.Block()
				before := m.SetTight(true)
				m.Nodes(e.Flat())
				m.SetTight(before)
			},
		}
	}
	return []*Component{
		tree("Tree", "Files and folders, also as a Markdown list."),
		tree("FileTree", "Another name of Tree."),
		{
			Name: "Tree.Folder", Doc: "A folder of a tree.", Block: true, Ready: listed,
			Attrs: []AttrSpec{
				{"name", "string", "", "The folder's name."},
				{"defaultOpen", "boolean", "false", "Whether its content is shown at first."},
				{"openable", "boolean", "true", "Whether it can be opened and closed."},
				{"highlight", "boolean", "false", "Marks the folder."},
				{"comment", "string", "", "A remark after the name."},
			},
			HTML:     folderHTML,
			Markdown: func(m *Markdown, e *Element) { treeMarkdown(m, e, "/") },
			Text:     treeText,
		},
		{
			Name: "Tree.File", Doc: "A file of a tree.", Block: true,
			Attrs: []AttrSpec{
				{"name", "string", "", "The file's name."},
				{"highlight", "boolean", "false", "Marks the file."},
				{"comment", "string", "", "A remark after the name."},
			},
			HTML: func(w *Writer, e *Element) {
				w.open("li", e, "bdy-tree-file", treeMark(e)).Raw(`><div class="bdy-tree-name">`).Raw(fileIcon)
				treeName(w, e)
				w.Raw("</div></li>")
			},
			Markdown: func(m *Markdown, e *Element) { treeMarkdown(m, e, "") },
			Text:     treeText,
		},
	}
}

// listed makes files and folders of the Markdown lists that an element holds. An
// element with other content, or with lists that say more than a tree can show,
// such as links, stays as it is.
func listed(e *Element) {
	var entries []*mdx.Node
	for _, n := range e.Flat() {
		list, ok := treeEntries(n)
		if !ok {
			return
		}
		entries = append(entries, list...)
	}
	e.Node.Children = entries
}

// treeEntries makes files and folders of a list. It reports false for what is no
// list of them.
func treeEntries(list *mdx.Node) (entries []*mdx.Node, ok bool) {
	if list.Kind != mdx.List || list.Ordered {
		return nil, false
	}
	for _, item := range list.Children {
		if len(item.Children) == 0 || item.Checked != 0 || item.Children[0].Kind != mdx.Paragraph {
			return nil, false
		}
		entry := &mdx.Node{Kind: mdx.Element, Name: "Tree.File", Pos: item.Pos, End: item.End}
		set := func(kind mdx.AttrKind, name, value string) {
			entry.Attrs = append(entry.Attrs, mdx.Attr{Kind: kind, Name: name, Value: value, Pos: item.Pos})
		}
		name, comment, marked, ok := treeLine(item.Children[0].Children)
		if !ok {
			return nil, false
		}
		for _, n := range item.Children[1:] {
			below, ok := treeEntries(n)
			if !ok {
				return nil, false
			}
			entry.Children = append(entry.Children, below...)
		}
		if strings.HasSuffix(name, "/") || len(entry.Children) > 0 {
			entry.Name = "Tree.Folder"
			if len(entry.Children) > 0 {
				set(mdx.AttrBool, "defaultOpen", "")
			} else {
				set(mdx.AttrExpr, "openable", "false")
			}
		}
		set(mdx.AttrString, "name", name)
		if comment != "" {
			set(mdx.AttrString, "comment", comment)
		}
		if marked {
			set(mdx.AttrBool, "highlight", "")
		}
		entries = append(entries, entry)
	}
	return entries, true
}

// treeLine divides an item of a list into the name, which is its first word or
// what is bold or code at its beginning, and the comment after it, as inline
// Markdown. marked reports a bold name; ok is false where there is no name or the
// line has what neither can hold.
func treeLine(line []*mdx.Node) (name, comment string, marked, ok bool) {
	if len(line) == 0 {
		return "", "", false, false
	}
	first, rest, after := line[0], line[1:], ""
	switch first.Kind {
	case mdx.Text:
		name = strings.TrimSpace(first.Value)
		if i := strings.IndexFunc(name, unicode.IsSpace); i >= 0 {
			name, after = name[:i], name[i:]
		}
		if last := first.Value; strings.TrimRightFunc(last, unicode.IsSpace) != last {
			after += " "
		}
	case mdx.Strong, mdx.InlineCode:
		name, marked = mdx.PlainText(first), first.Kind == mdx.Strong
	}
	source, plain := inlineSource(append([]*mdx.Node{{Kind: mdx.Text, Value: after}}, rest...))
	return name, strings.TrimSpace(source), marked, plain && name != ""
}

// inlineSource writes phrases as inline Markdown. It reports false for other
// phrases than texts, code and emphasis.
func inlineSource(list []*mdx.Node) (string, bool) {
	var b []byte
	for _, n := range list {
		mark := map[mdx.Kind]string{mdx.Strong: "**", mdx.Emphasis: "*", mdx.Delete: "~~"}[n.Kind]
		switch {
		case n.Kind == mdx.Text:
			b = AppendMarkdown(b, whiteSpace().ReplaceAllString(n.Value, " "))
		case n.Kind == mdx.InlineCode:
			b = AppendCodeSpan(b, n.Value)
		case mark != "":
			within, ok := inlineSource(n.Children)
			if !ok {
				return "", false
			}
			b = append(b, mark+within+mark...)
		default:
			return "", false
		}
	}
	return string(b), true
}

var whiteSpace = lazy.Regexp(`\s+`)

func folderHTML(w *Writer, e *Element) {
	w.open("li", e, "bdy-tree-folder", treeMark(e)).Raw(">")
	openable := !e.Has("openable") || e.Bool("openable")
	if openable {
		w.Raw("<details")
		if e.Bool("defaultOpen") {
			w.Raw(" open")
		}
		w.Raw("><summary>")
	} else {
		w.Raw(`<div class="bdy-tree-name">`)
	}
	w.Raw(folderIcon)
	treeName(w, e)
	if openable {
		w.Raw("</summary>")
	} else {
		w.Raw("</div>")
	}
	w.Raw(`<ul role="list">`).Nodes(e.Flat()).Raw("</ul>")
	if openable {
		w.Raw("</details>")
	}
	w.Raw("</li>")
}

func hasElements(e *Element, names ...string) bool {
	return slices.ContainsFunc(e.Flat(), func(n *mdx.Node) bool { return n.Kind == mdx.Element && slices.Contains(names, n.Name) })
}

// treeMark is the class of what its author marked.
func treeMark(e *Element) string { return when(e.Bool("highlight"), "bdy-tree-highlight") }

func treeName(w *Writer, e *Element) {
	w.Raw(`<span>`).Text(e.String("name")).Raw("</span>")
	if e.String("comment") != "" {
		w.Raw(` <span class="bdy-tree-comment">`).title(e, "comment").Raw("</span>")
	}
}

func treeMarkdown(m *Markdown, e *Element, after string) {
	m.Push("- ", "  ")
	m.SetTight(true)
	line := CodeSpan(strings.TrimSuffix(e.String("name"), after) + after)
	if e.String("comment") != "" {
		line += " " + m.Title(e, "comment")
	}
	m.Paragraph(line)
	m.Nodes(e.Flat())
	m.Pop()
}

func treeText(t *Text, e *Element) {
	t.Line(e.String("name") + " " + mdx.InlineText(e.String("comment")))
	t.Children(e)
}
