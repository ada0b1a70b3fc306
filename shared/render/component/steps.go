package component

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// maxStepNumber bounds the numbers that authors give.
const maxStepNumber = 1e6

func stepComponents() []*Component {
	step := &Component{
		Name: "Step", Doc: "One step of several.", Block: true,
		Attrs: slices.Concat(
			[]AttrSpec{{"title", "text", "", "What is done in this step."}},
			iconAttrs("An icon in place of the number."),
			[]AttrSpec{
				{"stepNumber", "number", "", "Another number than the next; the steps after it count on from there."},
				{"titleSize", "string", "p", "p, h2, h3 or h4: h2 and h3 stand in the page's contents."},
				{"noAnchor", "boolean", "false", "A heading's title has no link to itself."},
			}),
		ID: func(e *Element) (string, string) { return "", e.TitleText("title") },
	}
	step.HTML = func(w *Writer, e *Element) {
		w.Raw(`<ol class="steps bdy-steps" role="list">`)
		stepHTML(w, e, "", stepNumber(e, 1))
		w.Raw("</ol>")
	}
	step.Markdown = func(m *Markdown, e *Element) { stepMarkdown(m, e, stepNumber(e, 1)) }
	steps := &Component{
		Name: "Steps", Doc: "Steps that are taken one after another.", Block: true,
		Attrs: []AttrSpec{{"titleSize", "string", "p", "The titleSize of all steps that have none."}},
		HTML: func(w *Writer, e *Element) {
			w.open("ol", e, "steps bdy-steps").Raw(` role="list">`)
			size, number := e.String("titleSize"), 0
			eachStep(e, func(n *mdx.Node) {
				s := NewElement(n, step, w.HTML)
				number = stepNumber(s, number+1)
				stepHTML(w, s, size, number)
			}, func(nodes []*mdx.Node) { w.Raw(`<li class="bdy-step-aside">`).Nodes(nodes).Raw("</li>") })
			w.Raw("</ol>")
		},
		Markdown: func(m *Markdown, e *Element) {
			number := 0
			eachStep(e, func(n *mdx.Node) {
				s := NewElement(n, step, m.Blocks)
				number = stepNumber(s, number+1)
				stepMarkdown(m, s, number)
			}, m.Nodes)
		},
	}
	return []*Component{step, steps}
}

// stepNumber is the number that an author gave to a step, else the next one.
func stepNumber(e *Element, next int) int {
	if n, ok := e.Number("stepNumber"); ok && n >= 0 && n < maxStepNumber {
		return int(n)
	}
	return next
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

func stepHTML(w *Writer, e *Element, size string, number int) {
	w.open("li", e, "step bdy-step").Attr("value", strconv.Itoa(number)).Raw(">")
	if e.Has("icon") {
		w.icon(e, "icon", "bdy-step-mark", "bdy-step-icon")
	} else {
		// Written out: a counter in a style sheet is nothing that can be read
		// aloud or found.
		w.Raw(`<span class="bdy-step-mark">`).Raw(strconv.Itoa(number)).Raw("</span>")
	}
	if e.Has("title") {
		size = cmp.Or(e.String("titleSize"), size)
		tag := "p"
		if level := headingLevel(size); level > 0 {
			tag = size
			w.Contents(e, level, e.TitleText("title"))
		}
		w.Raw("<").Raw(tag).Raw(` class="bdy-step-title">`).title(e, "title")
		if id := w.ID(e); id != "" && tag != "p" && !e.Bool("noAnchor") {
			w.Raw(`<a class="bdy-anchor"`).Attr("href", "#"+FragmentEscape(id)).Attr("aria-label", w.say(words.Link)).Raw("></a>")
		}
		w.Raw("</").Raw(tag).Raw(">")
	}
	w.Raw(`<div class="bdy-step-body">`).Children(e).Raw("</div></li>")
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
