package page

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/capability"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/highlight"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

func registerCode(k *kinds) {
	k[mdx.CodeBlock] = kind{
		form: formBlock,
		resolve: func(s *resolver, n *mdx.Node, sc *scope) ([]*mdx.Node, bool) {
			if code := interpolate(n.Value, sc.props); len(code) <= len(n.Value) || s.grows(len(code), sc.file, n.Pos) {
				n.Value = code
			}
			return nil, true
		},
		html:     func(w *htmlWriter, out *component.Writer, n *mdx.Node) { w.codeBlock(out, n, codeOf(n)) },
		markdown: func(w *markdownWriter, m *component.Markdown, n *mdx.Node) { w.WriteCode(m, codeOf(n)) },
		phrase: func(_ *markdownWriter, b []byte, n *mdx.Node) []byte {
			return component.AppendCodeSpan(b, strings.Join(strings.Fields(n.Value), " "))
		},
		text: func(_ textWriter, t *component.Text, n *mdx.Node) {
			f := parseFence(n.Name, n.Meta)
			t.Verbatim(f.annotations(n.Value))
		},
	}
}

func codeOf(n *mdx.Node) component.Code {
	return component.Code{Lang: n.Name, Meta: n.Meta, Value: n.Value}
}

// maxInterpolated bounds in bytes what the properties of a snippet may add to one
// block of code.
const maxInterpolated = 1 << 20

// interpolate replaces {name} by the properties of a snippet in its
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

// codeBlock appends a block of code; n is the fence, or the component that asks. Lines are marked up one by one only where something is special about
// one of them: it triples the size of the block.
func (w *htmlWriter) codeBlock(out *component.Writer, n *mdx.Node, c component.Code) {
	f := parseFence(c.Lang, c.Meta)
	f.title = cmp.Or(c.Title, f.title)
	live := false
	if isDiagram(f.lang) {
		if f.placement {
			w.told(n, capability.Fence, "placement")
		}
		var drawn bool
		if drawn, live = w.diagram(out, n, f.title, c.Value, f.still); drawn {
			return
		}
	}
	w.codeLanguage(n, f.lang)
	if f.types {
		w.told(n, capability.Fence, "twoslash")
	}
	code := f.annotations(strings.ReplaceAll(c.Value, "\r\n", "\n"))
	out.Raw(`<div class="code-block bdy-code-block`)
	if w.r.Site.Config.Styling.DarkCode {
		out.Raw(" dark") // its colours are those of dark pages
	}
	out.Raw(`"`)
	if live {
		out.Raw(" data-bindery-mermaid")
		if !f.still {
			out.Attr("data-bindery-tools", w.diagramTools())
		}
	}
	if f.noCopy {
		out.Raw(` data-bindery-copy="false"`)
	}
	out.AttrIf("data-bindery-lang", f.lang).Raw(">")
	icon := ""
	if f.icon != "" {
		icon, _ = w.icon(n, f.icon, "", "")
	}
	if f.title != "" || icon != "" {
		out.Raw(`<div class="bdy-code-title">`)
		if icon != "" {
			out.Raw(`<span class="bdy-code-icon">`).Raw(icon).Raw("</span>")
		}
		out.Text(f.title).Raw("</div>")
	}
	label := w.say(words.Code)
	if name := cmp.Or(f.title, f.lang); name != "" {
		label += ": " + name
	}
	// It takes the focus, so that the keyboard can scroll it; a group may have
	// a name.
	out.Raw(`<pre tabindex="0" role="group"`).Attr("aria-label", label).AttrIf("class", f.classes()).Raw("><code>")
	switch {
	case f.numbers || len(f.marks) > 0 || len(f.words) > 0:
		w.codeLines(out, &f, code)
	case w.uncoloured || w.r.Highlighter == nil:
		out.Text(code)
	default:
		out.B = highlight.AppendHTML(out.B, code, w.r.Highlighter.Runs(f.lang, code))
	}
	if strings.HasSuffix(code, "\n") { // browsers leave out the last line ending
		out.Raw("\n")
	}
	out.Raw("</code></pre></div>\n")
}

// codeLanguage reports a language that the highlighter doesn't know, once a
// page. Its code is shown in one colour.
func (w *htmlWriter) codeLanguage(n *mdx.Node, lang string) {
	if lang == "" || n == nil || w.r.Highlighter == nil {
		return
	}
	if _, known := w.r.Highlighter.Language(lang); !known {
		w.reportOnce(n, "code-language "+lang, n.Pos, mdx.Warning, "code-language", "code is shown in one colour: no language is called "+excerpt(lang))
	}
}

func (f *fence) classes() string {
	focus := slices.ContainsFunc(f.marks, func(m lineMark) bool { return m.mark&markFocus != 0 })
	classes := ""
	for _, of := range [...]struct {
		is    bool
		class string
	}{{f.numbers, "bdy-code-numbers"}, {f.wrap, "bdy-code-wrap"}, {f.expandable, "bdy-code-expandable"}, {focus, "bdy-code-focus"}} {
		if of.is {
			classes = joinClasses(classes, of.class)
		}
	}
	return classes
}

func (w *htmlWriter) codeLines(out *component.Writer, f *fence, code string) {
	lines := w.lines[:0]
	if !w.uncoloured && w.r.Highlighter != nil {
		lines = w.r.Highlighter.AppendLines(lines, f.lang, code)
	} else {
		for line := range strings.SplitSeq(code, "\n") {
			lines = append(lines, html.AppendText(nil, line))
		}
	}
	w.lines = lines
	marks := f.lineMarks(len(lines))
	room := len(code)
	for i, line := range lines {
		if i > 0 {
			out.Raw("\n")
		}
		out.B = marks[i].appendClasses(append(out.B, `<span class="bdy-line`...))
		out.Raw(`">`)
		line = bytes.TrimRight(line, "\n")
		for _, w := range f.words {
			if w.from <= i+1 && i+1 <= w.to {
				line = markWord(line, w.word, &room)
			}
		}
		out.B = append(append(out.B, line...), "</span>"...)
	}
}

// WriteCode implements component.HTML.
func (w *htmlWriter) WriteCode(out *component.Writer, c component.Code) { w.codeBlock(out, c.At, c) }

// WriteCode implements component.Blocks.
func (w *markdownWriter) WriteCode(m *component.Markdown, c component.Code) {
	f := parseFence(c.Lang, c.Meta)
	f.title = cmp.Or(c.Title, f.title)
	code, lang := f.kept(f.annotations(c.Value)), f.lang
	if lang == "" && f.title != "" {
		lang = "text" // or the title's first word would be the language
	}
	m.Fence(lang+" "+f.title, code)
}
