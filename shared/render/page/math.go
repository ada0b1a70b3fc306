package page

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/wyatt915/treeblood"
	nethtml "golang.org/x/net/html"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/css"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

func registerMath(k *kinds) {
	verbatim := func(_ textWriter, t *component.Text, n *mdx.Node) { t.Verbatim(n.Value) }
	k[mdx.MathBlock] = kind{
		form: formBlock, text: verbatim,
		html: func(w *htmlWriter, out *component.Writer, n *mdx.Node) {
			w.scrollBox(out, "bdy-math-block", words.Formula)
			w.math(out, n, true)
			out.Raw("</div>\n")
		},
		markdown: func(_ *markdownWriter, m *component.Markdown, n *mdx.Node) {
			m.Block()
			m.Write("$$\n" + n.Value + "\n$$")
		},
	}
	k[mdx.InlineMath] = kind{
		form: formPhrase, text: addValue,
		html: func(w *htmlWriter, out *component.Writer, n *mdx.Node) { w.math(out, n, false) },
		phrase: func(_ *markdownWriter, b []byte, n *mdx.Node) []byte {
			return append(append(append(b, "$$"...), n.Value...), "$$"...)
		},
	}
}

// maxFormula bounds a formula in bytes: the converter works on it at once.
const maxFormula = 4096

// math appends a formula as MathML. One that can't be converted is shown as
// its TeX, and reported.
func (w *htmlWriter) math(out *component.Writer, n *mdx.Node, display bool) {
	start := len(out.B)
	if err := w.appendMathML(out, n, display); err != nil {
		w.report(w.fileOf(n), n.Pos, mdx.Warning, "math-unknown", "this formula is shown as it was written: "+err.Error()+": "+excerpt(n.Value))
		out.B = out.B[:start]
		out.Raw(`<code class="bdy-math">`).Text(n.Value).Raw("</code>")
		return
	}
	w.result.Math = true
}

// appendMathML converts a formula and writes it anew: of the converter's result,
// elements and attributes of MathML stay, in an order of their own,
// styles become classes, and all text is escaped.
func (w *htmlWriter) appendMathML(out *component.Writer, n *mdx.Node, display bool) error {
	tex := strings.TrimSpace(n.Value)
	if err := refused(tex); err != nil {
		return err
	}
	converted, err := treeblood.TexToMML(tex, nil, display, false)
	if err != nil {
		return errors.New("its TeX is not understood")
	}
	z := nethtml.NewTokenizer(strings.NewReader(converted))
	annotation := false
	var open []string
	for {
		switch z.Next() {
		case nethtml.ErrorToken:
			if z.Err() != io.EOF || len(open) > 0 {
				return errors.New("its TeX is not understood")
			}
			return nil
		case nethtml.StartTagToken, nethtml.SelfClosingTagToken:
			t := z.Token()
			if !isMathML(t.Data) || annotation {
				return errors.New("it has a command that is not known")
			}
			open = append(open, t.Data)
			w.mathTag(out, n, t)
			if t.Data == "annotation" {
				annotation = true
				out.Text(tex)
			}
		case nethtml.EndTagToken:
			t := z.Token()
			if len(open) == 0 || open[len(open)-1] != t.Data {
				return errors.New("its TeX is not understood")
			}
			open = open[:len(open)-1]
			annotation = false
			out.Raw("</").Raw(t.Data).Raw(">")
		case nethtml.TextToken:
			text := z.Token().Data
			if annotation || strings.TrimSpace(text) == "" && (len(open) == 0 || open[len(open)-1] != "mtext" && open[len(open)-1] != "ms") {
				continue // the converter's indentation
			}
			out.Text(text)
		}
	}
}

// refused says why a formula is not given to the converter: for definitions,
// which could unfold into any size, and commands for which it keeps state from
// one formula to the next.
func refused(tex string) error {
	if len(tex) > maxFormula {
		return errors.New("it is too long")
	}
	if strings.Count(tex, "{") > 400 || strings.Count(tex, "\\left") > 100 || strings.Count(tex, "\\begin") > 50 {
		return errors.New("it is nested too deep")
	}
	for rest := tex; ; {
		i := strings.IndexByte(rest, '\\')
		if i < 0 {
			return nil
		}
		rest = rest[i+1:]
		end := 0
		for end < len(rest) && isASCIILetter(rest[end]) {
			end++
		}
		switch command := rest[:end]; command {
		case "newcommand", "renewcommand", "providecommand", "def", "edef", "gdef", "let", "newenvironment", "DeclareMathOperator",
			"varinjlim", "varprojlim", "varliminf", "varlimsup", "href", "url", "html", "htmlClass", "htmlStyle", "includegraphics":
			return errors.New("\\" + command + " is not known")
		case "":
			if rest != "" {
				rest = rest[1:]
			}
		}
	}
}

func (w *htmlWriter) mathTag(out *component.Writer, n *mdx.Node, t nethtml.Token) {
	out.Raw("<").Raw(t.Data)
	slices.SortFunc(t.Attr, func(a, b nethtml.Attribute) int { return cmp.Compare(a.Key, b.Key) })
	for _, a := range t.Attr {
		switch {
		case a.Key == "style":
			// The converter keeps declarations in no order.
			var list []string
			for _, d := range css.Declarations(a.Val) {
				if d.Name != "font-feature-settings" {
					list = append(list, d.Text)
				}
			}
			slices.Sort(list)
			out.AttrIf("class", w.style(n, n.Pos, strings.Join(list, ";")))
		case isMathAttr(a.Key) && plainValue(a.Val):
			out.Attr(a.Key, a.Val)
		}
	}
	out.Raw(">")
}

func isMathML(name string) bool {
	switch name {
	case "math", "mrow", "mi", "mo", "mn", "mtext", "mspace", "ms", "mfrac", "msqrt", "mroot", "mstyle", "mpadded", "mphantom",
		"msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts", "none", "mtable", "mtr", "mtd",
		"menclose", "semantics", "annotation":
		return true
	}
	return false // merror too: then the TeX says more
}

func isMathAttr(name string) bool {
	switch name {
	case "display", "displaystyle", "scriptlevel", "mathvariant", "stretchy", "fence", "separator", "form", "lspace", "rspace",
		"minsize", "maxsize", "symmetric", "largeop", "movablelimits", "accent", "accentunder", "linethickness", "width", "height",
		"depth", "voffset", "columnalign", "rowalign", "rowspacing", "columnspacing", "columnlines", "rowlines", "columnspan",
		"rowspan", "mathcolor", "mathbackground", "mathsize", "notation", "encoding", "frame", "align":
		return true
	}
	return false
}

// plainValue reports whether a value is made of words, numbers and lengths.
func plainValue(v string) bool {
	for i := 0; i < len(v); i++ {
		if c := v[i]; !isASCIILetter(c) && (c < '0' || c > '9') && strings.IndexByte(" .,%#+-/", c) < 0 {
			return false
		}
	}
	return true
}
