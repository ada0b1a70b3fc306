package component

import (
	"strconv"

	"github.com/bindery-docs/bindery/shared/mdx"
)

func stepComponents() []*Component {
	step := &Component{
		Name: "Step", Doc: "One step of several.", Block: true,
		Attrs: []AttrSpec{
			{"title", "nodes", "", "What is done in this step."},
			{"icon", "icon", "", "An icon in place of the number."},
			{"stepNumber", "number", "", "Another number than the next."},
			{"titleSize", "string", "p", "p, h2, h3 or h4: a heading is listed in the contents."},
			{"id", "string", "", "The step's id, made from its title by default."},
		},
		ID: func(e *Element) (string, string) { return "", titleOrID(e) },
	}
	step.HTML = func(w *Writer, e *Element) {
		w.Raw(`<ol class="steps" role="list">`)
		stepHTML(w, e, "")
		w.Raw("</ol>")
	}
	step.Markdown = func(m *Markdown, e *Element) { stepMarkdown(m, e, 1) }
	return []*Component{step, {
		Name: "Steps", Doc: "Steps that are taken one after another.", Block: true,
		Attrs: []AttrSpec{{"titleSize", "string", "p", "The titleSize of all steps."}},
		HTML: func(w *Writer, e *Element) {
			w.Raw(`<ol class="steps" role="list">`)
			size := e.String("titleSize")
			eachStep(e, func(n *mdx.Node) { stepHTML(w, NewElement(n, step, w.Services), size) },
				func(nodes []*mdx.Node) { w.Raw(`<li class="step-aside">`).Nodes(nodes).Raw("</li>") })
			w.Raw("</ol>")
		},
		Markdown: func(m *Markdown, e *Element) {
			number := 0
			eachStep(e, func(n *mdx.Node) {
				number++
				stepMarkdown(m, NewElement(n, step, m.Services), number)
			}, m.Nodes)
		},
	}}
}

// eachStep calls step for the steps among the children and other for the runs
// of what stands between them.
func eachStep(e *Element, step func(*mdx.Node), other func([]*mdx.Node)) {
	children := e.Flat()
	for i := 0; i < len(children); {
		if children[i].Kind == mdx.Element && children[i].Name == "Step" {
			step(children[i])
			i++
			continue
		}
		start := i
		for i < len(children) && (children[i].Kind != mdx.Element || children[i].Name != "Step") {
			i++
		}
		other(children[start:i])
	}
}

func stepHTML(w *Writer, e *Element, size string) {
	w.Raw(`<li class="step"`).ID(e)
	if n, ok := e.Number("stepNumber"); ok && n >= 0 && n < 1e6 {
		number := strconv.Itoa(int(n))
		w.Attr("value", number).Attr("style", "--step:"+number)
	}
	w.Raw(">")
	w.Icon(e, "icon", "step-icon")
	if e.Has("title") {
		if s := e.String("titleSize"); s != "" {
			size = s
		}
		tag := "p"
		if level := headingLevel(size); level > 0 {
			tag = size
			w.Contents(e, level, e.TitleText("title"))
		}
		w.Raw("<").Raw(tag).Raw(` class="step-title">`).Title(e, "title").Raw("</").Raw(tag).Raw(">")
	}
	w.Raw(`<div class="step-body">`).Children(e).Raw("</div></li>")
}

func stepMarkdown(m *Markdown, e *Element, number int) {
	marker := strconv.Itoa(number) + ". "
	m.Push(marker, "          "[:min(len(marker), 10)])
	if title := m.Title(e, "title"); title != "" {
		m.Paragraph(bold(title))
	}
	m.Children(e)
	m.Pop()
}

func headingLevel(tag string) int {
	if len(tag) == 2 && tag[0] == 'h' && '2' <= tag[1] && tag[1] <= '6' {
		return int(tag[1] - '0')
	}
	return 0
}

// titleOrID is the text that an element's id is made from: its id attribute,
// else its title.
func titleOrID(e *Element) string {
	if id := e.String("id"); id != "" {
		return id
	}
	return e.TitleText("title")
}
