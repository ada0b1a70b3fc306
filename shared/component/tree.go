package component

import (
	"github.com/bindery-docs/bindery/shared/mdx"
)

func treeComponents() []*Component {
	tree := func(name string) *Component {
		return &Component{
			Name: name, Doc: "Files and folders.", Block: true,
			HTML: func(w *Writer, e *Element) {
				w.Raw(`<div class="tree">`)
				if hasElements(e, "Tree.Folder", "Tree.File") {
					w.Raw(`<ul role="list">`).Nodes(e.Flat()).Raw("</ul>")
				} else {
					w.Children(e)
				}
				w.Raw("</div>")
			},
		}
	}
	return []*Component{
		tree("Tree"), tree("FileTree"),
		{
			Name: "Tree.Folder", Doc: "A folder of a tree.", Block: true,
			Attrs: []AttrSpec{
				{"name", "string", "", "The folder's name."},
				{"defaultOpen", "boolean", "false", "Whether its content is shown at first."},
				{"openable", "boolean", "true", "Whether it can be opened and closed."},
				{"highlight", "boolean", "false", "Marks the folder."},
				{"comment", "string", "", "A remark behind the name."},
			},
			HTML: func(w *Writer, e *Element) {
				w.Raw(`<li class="tree-folder`).highlight(e).Raw(`">`)
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
				w.Raw(folderIcon).Text(e.String("name")).comment(e)
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
			},
			Markdown: func(m *Markdown, e *Element) { treeMarkdown(m, e, "/") },
			Text:     treeText,
		},
		{
			Name: "Tree.File", Doc: "A file of a tree.", Block: true,
			Attrs: []AttrSpec{
				{"name", "string", "", "The file's name."},
				{"highlight", "boolean", "false", "Marks the file."},
				{"comment", "string", "", "A remark behind the name."},
			},
			HTML: func(w *Writer, e *Element) {
				w.Raw(`<li class="tree-file`).highlight(e).Raw(`"><div class="tree-name">`).Raw(fileIcon).
					Text(e.String("name")).comment(e).Raw("</div></li>")
			},
			Markdown: func(m *Markdown, e *Element) { treeMarkdown(m, e, "") },
			Text:     treeText,
		},
		{
			Name: "Color", Doc: "Colours with their values.", Block: true,
			Attrs: []AttrSpec{{"variant", "string", "compact", "compact or table."}},
			HTML: func(w *Writer, e *Element) {
				w.Raw(`<div class="colors`)
				if e.String("variant") == "table" {
					w.Raw(" colors-table")
				}
				w.Raw(`">`).Children(e).Raw("</div>")
			},
		},
		{
			Name: "Color.Row", Doc: "A row of colours.", Block: true,
			Attrs: []AttrSpec{{"title", "string", "", "The row's title."}},
			HTML: func(w *Writer, e *Element) {
				w.Raw(`<div class="color-row"><p class="color-row-title">`).Title(e, "title").Raw(`</p><div class="color-row-items">`).Children(e).Raw("</div></div>")
			},
			Markdown: titledMarkdown,
		},
		{
			Name: "Color.Item", Doc: "One colour.", Block: true,
			Attrs: []AttrSpec{
				{"name", "string", "", "Its name."},
				{"value", "string", "", "Its value, or {light, dark}."},
			},
			HTML: func(w *Writer, e *Element) {
				w.Raw(`<div class="color-item">`)
				values := colorValues(e)
				for _, v := range values {
					w.Raw(`<span class="color-swatch"`)
					if c := Color(v); c != "" {
						w.Attr("style", "background:"+c)
					}
					w.Raw("></span>")
				}
				w.Raw(`<span class="color-name">`).Text(e.String("name")).Raw("</span>")
				for _, v := range values {
					w.Raw(" <code>").Text(v).Raw("</code>")
				}
				w.Raw("</div>")
			},
			Markdown: func(m *Markdown, e *Element) {
				line := escapePhrase(e.String("name"))
				for _, v := range colorValues(e) {
					line += " " + CodeSpan(v)
				}
				m.Push("- ", "  ")
				m.Paragraph(line)
				m.Pop()
			},
			Text: func(t *Text, e *Element) {
				t.Break()
				t.Add(e.String("name"))
				for _, v := range colorValues(e) {
					t.Add(" " + v)
				}
				t.Break()
			},
		},
	}
}

func hasElements(e *Element, names ...string) bool {
	for _, n := range e.Flat() {
		for _, name := range names {
			if n.Kind == mdx.Element && n.Name == name {
				return true
			}
		}
	}
	return false
}

func (w *Writer) highlight(e *Element) *Writer {
	if e.Bool("highlight") {
		w.Raw(" tree-highlight")
	}
	return w
}

func (w *Writer) comment(e *Element) *Writer {
	if c := e.String("comment"); c != "" {
		w.Raw(` <span class="tree-comment">`).Text(c).Raw("</span>")
	}
	return w
}

func treeMarkdown(m *Markdown, e *Element, after string) {
	m.Push("- ", "  ")
	m.SetTight(true)
	line := CodeSpan(e.String("name") + after)
	if c := e.String("comment"); c != "" {
		line += " " + escapePhrase(c)
	}
	m.Paragraph(line)
	m.Children(e)
	m.Pop()
}

func treeText(t *Text, e *Element) {
	t.Line(e.String("name") + " " + e.String("comment"))
	t.Children(e)
}

// colorValues lists the values of a Color.Item: one, or those of an object
// such as {light: "…", dark: "…"}.
func colorValues(e *Element) []string {
	v, _ := e.Value("value")
	object, ok := v.(mdx.Object)
	if !ok {
		return e.Strings("value")
	}
	var values []string
	for _, m := range object {
		if s, ok := m.Value.(string); ok {
			values = append(values, s)
		}
	}
	return values
}
