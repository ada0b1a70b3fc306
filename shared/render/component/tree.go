package component

import (
	"slices"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

func treeComponents() []*Component {
	tree := func(name, doc string) *Component {
		return &Component{
			Name: name, Doc: doc, Block: true,
			HTML: func(w *Writer, e *Element) {
				w.open("div", e, "tree").Raw(">")
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
		tree("Tree", "Files and folders."),
		tree("FileTree", "Another name of Tree; its content may be a Markdown list too."),
		{
			Name: "Tree.Folder", Doc: "A folder of a tree.", Block: true,
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
				w.open("li", e, "tree-file", treeMark(e)).Raw(`><div class="tree-name">`).Raw(fileIcon)
				treeName(w, e)
				w.Raw("</div></li>")
			},
			Markdown: func(m *Markdown, e *Element) { treeMarkdown(m, e, "") },
			Text:     treeText,
		},
	}
}

func folderHTML(w *Writer, e *Element) {
	w.open("li", e, "tree-folder", treeMark(e)).Raw(">")
	openable := !e.Has("openable") || e.Bool("openable")
	if openable {
		w.Raw("<details")
		if e.Bool("defaultOpen") {
			w.Raw(" open")
		}
		w.Raw("><summary>")
	} else {
		w.Raw(`<div class="tree-name">`)
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
func treeMark(e *Element) string { return when(e.Bool("highlight"), "tree-highlight") }

func treeName(w *Writer, e *Element) {
	w.Raw(`<span>`).Text(e.String("name")).Raw("</span>")
	if e.String("comment") != "" {
		w.Raw(` <span class="tree-comment">`).title(e, "comment").Raw("</span>")
	}
}

func treeMarkdown(m *Markdown, e *Element, after string) {
	m.Push("- ", "  ")
	m.SetTight(true)
	line := CodeSpan(e.String("name") + after)
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
