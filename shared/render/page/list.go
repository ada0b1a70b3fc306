package page

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// registerLists registers lists and their items.
func registerLists(k *kinds) {
	k[mdx.List] = kind{form: formBlock, html: (*htmlWriter).list, markdown: (*markdownWriter).list, text: textWriter.block}
	k[mdx.ListItem] = kind{ // it meets the writers only where a component takes a list apart
		form: formPart, html: (*htmlWriter).children, text: textWriter.block,
		markdown: func(w *markdownWriter, m *component.Markdown, n *mdx.Node) { w.within(m, "- ", n) },
	}
}

// isLoose reports whether there are blank lines between or within items.
func isLoose(n *mdx.Node) bool {
	return n.Loose || slices.ContainsFunc(n.Children, func(item *mdx.Node) bool { return item.Loose })
}

func (w *htmlWriter) list(out *component.Writer, n *mdx.Node) {
	tag := "ul"
	if n.Ordered {
		tag = "ol"
	}
	out.Raw("<").Raw(tag)
	if n.Ordered && n.Start != 1 {
		out.Attr("start", strconv.Itoa(n.Start))
	}
	loose := isLoose(n)
	if slices.ContainsFunc(n.Children, func(item *mdx.Node) bool { return item.Checked != 0 }) {
		out.Raw(` class="bdy-task-list"`)
	}
	out.Raw(">\n")
	for _, item := range n.Children {
		if item.Checked == 0 {
			out.Raw("<li>")
		} else {
			out.Raw(`<li class="bdy-task">`)
			if task := item.Children; loose && len(task) > 0 && task[0].Kind == mdx.Paragraph {
				out.Raw("<p>")
			}
			out.Raw(`<input type="checkbox" disabled`)
			word := words.Todo
			if item.Checked == 2 {
				word = words.Done
				out.Raw(" checked")
			}
			out.Attr("aria-label", w.say(word)).Raw("> ")
		}
		for i, c := range item.Children {
			switch {
			case c.Kind == mdx.Paragraph && !loose:
				if i > 0 {
					out.Raw("\n")
				}
				w.nodes(out, c.Children)
				if i+1 < len(item.Children) {
					out.Raw("\n")
				}
			case c.Kind == mdx.Paragraph && i == 0 && item.Checked != 0:
				w.nodes(out, c.Children).Raw("</p>\n")
			default:
				w.nodes(out, item.Children[i:i+1])
			}
		}
		out.Raw("</li>\n")
	}
	out.Raw("</").Raw(tag).Raw(">\n")
}

func (w *markdownWriter) list(m *component.Markdown, n *mdx.Node) {
	loose := isLoose(n)
	number := n.Start
	for i, item := range n.Children {
		marker := "- "
		if n.Ordered {
			marker = strconv.Itoa(number) + ". "
			number++
		}
		indent := strings.Repeat(" ", len(marker))
		switch item.Checked {
		case 1:
			marker += "[ ] "
		case 2:
			marker += "[x] "
		}
		before := m.SetTight(i > 0 && !loose)
		m.Push(marker, indent)
		m.SetTight(!loose)
		w.blocks(m, item.Children)
		m.Pop()
		m.SetTight(before)
	}
}
