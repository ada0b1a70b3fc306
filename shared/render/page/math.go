package page

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/script"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// Formulas draws formulas; *script.Engine does.
type Formulas interface {
	// Formula draws TeX as MathML. A *script.TeXError says, for the author, why it
	// can't.
	Formula(ctx context.Context, tex string, display bool) (*script.Formula, error)
}

func registerMath(k *kinds) {
	verbatim := func(_ textWriter, t *component.Text, n *mdx.Node) { t.Verbatim(n.Value) }
	k[mdx.MathBlock] = kind{
		form: formBlock, text: verbatim,
		html: func(w *htmlWriter, out *component.Writer, n *mdx.Node) {
			w.scrollBox(out, "bdy-math-block", words.Formula)
			w.math(out, n)
			out.Raw("</div>\n")
		},
		markdown: func(_ *markdownWriter, m *component.Markdown, n *mdx.Node) {
			m.Block()
			m.Write("$$\n" + n.Value + "\n$$")
		},
	}
	k[mdx.InlineMath] = kind{
		form: formPhrase, text: addValue,
		html: func(w *htmlWriter, out *component.Writer, n *mdx.Node) { w.math(out, n) },
		phrase: func(_ *markdownWriter, b []byte, n *mdx.Node) []byte {
			return append(append(append(b, "$$"...), n.Value...), "$$"...)
		},
	}
}

// maxEndless bounds the formulas of a page that bounds end: each costs as much as a hundred
// others.
const maxEndless = 20

// math appends a formula as MathML. One that can't be drawn is shown as its TeX, and
// reported.
func (w *htmlWriter) math(out *component.Writer, n *mdx.Node) {
	switch {
	case w.r.Formulas == nil:
	case w.endless >= maxEndless:
		w.reportOnce(n, "formulas", n.Pos, mdx.Warning, "math-unknown", fmt.Sprintf("this formula and all after it are shown as they were written: %d of the page take too much work", maxEndless))
	default:
		w.formulasAhead()
		f, err := w.r.Formulas.Formula(w.ctx, tex(n), isDisplay(n))
		if err == nil {
			out.B = f.Append(out.B, func(declarations string) string { return w.style(n, n.Pos, declarations) })
			w.result.Math = true
			return
		}
		wrong, ok := errors.AsType[*script.TeXError](err)
		if !ok {
			w.fail(err)
			return
		}
		if wrong.Limit {
			w.endless++
		}
		w.report(w.fileOf(n), n.Pos, mdx.Warning, "math-unknown", "this formula is shown as it was written: "+wrong.Message+": "+excerpt(n.Value))
	}
	out.Raw(`<code class="bdy-math">`).Text(n.Value).Raw("</code>")
}

func tex(n *mdx.Node) string { return strings.TrimSpace(n.Value) }

func isDisplay(n *mdx.Node) bool { return n.Kind == mdx.MathBlock }

// formulasAhead begins to draw all formulas of the page, in their order and several at a
// time, when its first one is written. Each is drawn once: the writer waits for those
// that are in work.
func (w *htmlWriter) formulasAhead() {
	helpers := runtime.GOMAXPROCS(0) - 1
	if w.endAhead != nil || helpers < 1 {
		return
	}
	var list []*mdx.Node
	collect := func(n *mdx.Node) bool {
		if n.Kind == mdx.MathBlock || n.Kind == mdx.InlineMath {
			list = append(list, n)
		}
		return true
	}
	for _, n := range w.root {
		w.walk(n, collect)
	}
	var group sync.WaitGroup
	ctx, cancel := context.WithCancel(w.ctx)
	w.endAhead = func() { cancel(); group.Wait() }
	var next, endless atomic.Int64
	for range min(helpers, len(list)-1) {
		group.Go(func() {
			for i := next.Add(1); i < int64(len(list)) && ctx.Err() == nil && endless.Load() < maxEndless; i = next.Add(1) {
				// What is wrong with it is said where it is written.
				_, err := w.r.Formulas.Formula(ctx, tex(list[i]), isDisplay(list[i]))
				if wrong, ok := errors.AsType[*script.TeXError](err); ok && wrong.Limit {
					endless.Add(1)
				}
			}
		})
	}
}

// latex is what an element <Latex> shows: the formula that its content is, as it was
// written or as an expression says it.
func (s *resolver) latex(n *mdx.Node, sc *scope) []*mdx.Node {
	source := n.Meta
	if len(n.Children) == 1 && n.Children[0].Kind == mdx.Expression {
		raw, tagged := strings.CutPrefix(strings.TrimSpace(n.Children[0].Value), "String.raw`")
		raw, closed := strings.CutSuffix(raw, "`")
		if tagged && closed && !strings.Contains(raw, "${") && !strings.Contains(raw, "`") {
			source = raw
		} else if text := mdx.PlainText(&mdx.Node{Children: s.expand(n.Children, sc)}); text != "" {
			source = text
		}
	}
	source = strings.TrimSpace(source)
	for _, sign := range [...]string{"$$", "$"} {
		if inner, ok := strings.CutPrefix(source, sign); ok && len(inner) > len(sign) && strings.HasSuffix(inner, sign) {
			source = strings.TrimSpace(strings.TrimSuffix(inner, sign))
			break
		}
	}
	formula := &mdx.Node{Kind: mdx.MathBlock, Value: source, Pos: n.Pos, End: n.End}
	if n.Inline {
		formula.Kind = mdx.InlineMath
	}
	s.from(formula, sc)
	return s.inPlaceOf(n, []*mdx.Node{formula})
}
