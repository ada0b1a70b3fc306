package page

import (
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
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

func (w *htmlWriter) list(b []byte, n *mdx.Node) []byte {
	tag := "ul"
	if n.Ordered {
		tag = "ol"
	}
	b = append(b, '<')
	b = append(b, tag...)
	if n.Ordered && n.Start != 1 {
		b = html.AppendAttr(b, "start", strconv.Itoa(n.Start))
	}
	loose, tasks := n.Loose, false
	for _, item := range n.Children {
		loose = loose || item.Loose
		tasks = tasks || item.Checked != 0
	}
	if tasks {
		b = append(b, ` class="task-list"`...)
	}
	b = append(b, ">\n"...)
	for _, item := range n.Children {
		if item.Checked == 0 {
			b = append(b, "<li>"...)
		} else {
			b = append(b, `<li class="task">`...)
			if task := item.Children; loose && len(task) > 0 && task[0].Kind == mdx.Paragraph {
				b = append(b, "<p>"...)
			}
			b = append(b, `<input type="checkbox" disabled`...)
			if item.Checked == 2 {
				b = append(b, " checked"...)
			}
			word := words.Todo
			if item.Checked == 2 {
				word = words.Done
			}
			b = html.AppendAttr(b, "aria-label", w.say(word))
			b = append(b, "> "...)
		}
		for i, c := range item.Children {
			if c.Kind == mdx.Paragraph && !loose {
				if i > 0 {
					b = append(b, '\n')
				}
				b = w.blocks(b, c.Children)
				if i+1 < len(item.Children) {
					b = append(b, '\n')
				}
				continue
			}
			if i == 0 && item.Checked != 0 && c.Kind == mdx.Paragraph {
				b = w.blocks(b, c.Children)
				b = append(b, "</p>\n"...)
				continue
			}
			b = w.node(b, c)
		}
		b = append(b, "</li>\n"...)
	}
	b = append(b, "</"...)
	b = append(b, tag...)
	return append(b, ">\n"...)
}

func (w *markdownWriter) list(m *component.Markdown, n *mdx.Node) {
	loose := n.Loose
	for _, item := range n.Children {
		loose = loose || item.Loose
	}
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
