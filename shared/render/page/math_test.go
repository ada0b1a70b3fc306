package page_test

import (
	"bytes"
	"fmt"
	"html"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/script"
)

// scripts is one engine for all tests, as a process has one.
var scripts = sync.OnceValue(script.New)

var formulas = []string{
	`E = mc^2`, `\frac{-b \pm \sqrt{b^2 - 4ac}}{2a}`, `\sum_{i=0}^{n} i^2`, `\int_0^\infty e^{-x}\,dx`, `\lim_{x \to 0} \frac{\sin x}{x} = 1`,
	`\begin{cases} x & x > 0 \\ -x & \text{otherwise} \end{cases}`, `\begin{pmatrix} a & b \\ c & d \end{pmatrix}`,
	`\begin{aligned} a &= b + c \\ &= d \end{aligned}`, `\mathbb{R}^n \subset \mathcal{H}`, `\vec{v} \cdot \hat{n}`, `\overline{AB} \parallel \underbrace{x + y}_{z}`,
	`\left( \frac{1}{2} \right)^{2}`, `\binom{n}{k} \log_2 n \quad \forall x \in X`, `\color{red} x \textcolor{blue}{y}`, `\ce{H2O}`, `\LaTeX`, `f'(x) \neq \neg g`,
}

// Formulas become MathML: the same in any order and at the same time, with
// nothing but MathML in them.
func TestMath(t *testing.T) {
	fsys := fstest.MapFS{"docs.json": {Data: []byte(`{"name": "Test", "navigation": {"pages": ["a", "b"]}}`)}}
	for i, name := range []string{"a.mdx", "b.mdx"} {
		var b strings.Builder
		for k := range formulas {
			if i == 1 {
				k = len(formulas) - 1 - k
			}
			fmt.Fprintf(&b, "$$\n%s\n$$\n\n", formulas[k])
		}
		fsys[name] = &fstest.MapFile{Data: []byte(b.String())}
	}
	_, s := open(t, fsys)
	r := page.New(page.Options{Site: s, FS: fsys, Formulas: scripts()})
	blocks := make([][][]byte, 8)
	var wg sync.WaitGroup
	for n := range blocks {
		wg.Go(func() {
			result, err := r.Render(t.Context(), n%2)
			if err != nil {
				t.Error(err)
				return
			}
			for _, fault := range checkHTML(result) {
				t.Error(fault)
			}
			if d := diagnostics(result); d != "" {
				t.Error(d)
			}
			blocks[n] = bytes.SplitAfter(bytes.TrimSpace(result.HTML), []byte("</div>\n"))
		})
	}
	wg.Wait()
	for n, list := range blocks {
		if len(list) != len(formulas) {
			t.Fatalf("%d formulas, want %d", len(list), len(formulas))
		}
		for k := range list {
			want, got := blocks[0][k], list[k]
			if n%2 == 1 {
				got = list[len(list)-1-k]
			}
			if !bytes.Equal(bytes.TrimSpace(want), bytes.TrimSpace(got)) {
				t.Errorf("%s:\n%s\n%s", formulas[k], want, got)
			}
			if !bytes.Contains(got, []byte("<math")) {
				t.Errorf("%s: %s", formulas[k], got)
			}
		}
	}
}

// What single dollars mean follows styling.latex.
func TestSingleDollars(t *testing.T) {
	for _, test := range []struct {
		latex string
		want  int
	}{{"", 1}, {`, "styling": {"latex": true}`, 2}, {`, "styling": {"latex": false}`, 0}} {
		r := renderFiles(t, fstest.MapFS{
			"docs.json": {Data: []byte(`{"name": "Test", "navigation": {"pages": ["page"]}` + test.latex + `}`)},
			"page.mdx":  {Data: []byte("From $a^2$ to $word$, $5 and $6.\n")},
		}, "page.mdx")
		if got := strings.Count(string(r.HTML), "<math"); got != test.want {
			t.Errorf("with %q: %d formulas, want %d: %s", test.latex, got, test.want, r.HTML)
		}
	}
}

// TestClearDollars: without styling.latex, these are the formulas of a line.
func TestClearDollars(t *testing.T) {
	for source, want := range map[string][]string{
		"plain $m_{i}$ end":                      {"m_{i}"},
		"prime $m'_{i}$ end":                     {"m'_{i}"},
		"only $m'$ end":                          {"m'"},
		"$m''_{i}$ and $m'$":                     {"m''_{i}", "m'"},
		`cmd $\texttt{Approve}$ end`:             {`\texttt{Approve}`},
		`glued $\mathit{id}$s end`:               {`\mathit{id}`},
		`list ($\texttt{Ab}(s,k)$ or $x$) end`:   {`\texttt{Ab}(s,k)`, "x"},
		`quote "$x_{i}$" end`:                    {"x_{i}"},
		"$x_{i}$, $y_{j}$; $z$. End":             {"x_{i}", "y_{j}", "z"},
		"$x$-th, the $i$-th and the $n$th":       {"x", "i", "n"},
		"*the $x_{i}$ value* and **$y_{i}$**":    {"x_{i}", "y_{i}"},
		"after $x_{i}$'s end":                    {"x_{i}"},
		`$S:=\{x_{1}\}$ end`:                     {`S:=\{x_{1}\}`},
		"number $2$ and $2^{n}$ and $x_{1}$2":    {"2", "2^{n}", "x_{1}"},
		"$O(n)$, $O(n log n)$, $f(x)=y$, $a, b$": {"O(n)", "O(n log n)", "f(x)=y", "a, b"},
		"$-1$, $x + y$, $|x|$, $n!$, $3.14$":     {"-1", "x + y", "|x|", "n!", "3.14"},
		"$a<b$ and $b>c$, $i<n, m>k$":            {"a<b", "b>c", "i<n, m>k"},
		"prices $5 and $10, $1,000 or $2,000":    nil,
		"space $ x $ end":                        nil,
		"$word$, $user_name$, $A and $B":         nil,
		"US$5 = A$6, $HOME_DIR/bin:$PATH_X":      nil,
		`"$a" and "$b", ($x, $y), $1$2`:          nil,
		"$5/$10, $a/$b, $5-$10":                  nil,
		"$a <b>bold</b> c$ and $x <br/> y$":      nil,
		`$a <a href="x">b</a>$`:                  nil,
		"$x=`a`$ and `$x_1$`":                    nil,
		"`$a_1` and `$b_1`":                      nil,
		`\$x_1$ and $x_1\$`:                      nil,
	} {
		var got []string
		for _, part := range strings.Split(string(renderSource(t, source).HTML), `x-tex">`)[1:] {
			tex, _, _ := strings.Cut(part, "<")
			got = append(got, html.UnescapeString(tex))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", source, diff)
		}
	}
}

// TestLatex: an element <Latex> is a formula, of its content as it was written or of a
// text that an expression gives.
func TestLatex(t *testing.T) {
	for source, want := range map[string]string{
		"Sum: <Latex>a^2 + b^2 = c^2</Latex>":                `Sum: <math>|a^2 + b^2 = c^2`,
		`Half: <Latex>\frac{1}{2} \, \{x\}</Latex>`:          `Half: <math>|\frac{1}{2} \, \{x\}`,
		"<Latex>\n  x_1 * y_2 * z\n</Latex>":                 `<math display="block"|x_1 * y_2 * z`,
		`See <Latex>{"\\frac{a}{b}"}</Latex>`:                `<math>|\frac{a}{b}`,
		"See <Latex>{String.raw`\\frac{a}{b}`}</Latex>":      `<math>|\frac{a}{b}`,
		"See <Latex>$x$</Latex> and <Latex>$$y$$</Latex>":    `<math>|x`,
		"export const Latex = () => <b>own</b>\n\n<Latex />": `<b>own</b>|`,
	} {
		r := renderSource(t, source)
		begin, tex, _ := strings.Cut(want, "|")
		if tex != "" {
			tex = `x-tex">` + tex + "</annotation>"
		}
		if !strings.Contains(string(r.HTML), begin) || !strings.Contains(string(r.HTML), tex) || len(r.Diagnostics) > 0 {
			t.Errorf("%s is shown as %s %s", source, r.HTML, diagnostics(r))
		}
	}
	if r := renderSource(t, `Bad: <Latex>\foo</Latex>`); !strings.Contains(diagnostics(r), `page.mdx:1:6: warning: this formula is shown as it was written: Unsupported function name: \foo`) {
		t.Errorf("%s", diagnostics(r))
	}
}

// TestEndlessFormulas: a page stops to draw formulas when too many of them took too much
// work, wherever they come from; others are drawn until then.
func TestEndlessFormulas(t *testing.T) {
	var b strings.Builder
	for i := range 25 {
		fmt.Fprintf(&b, "$$\\def\\a{\\a}\\a_{%d}$$ $$x_{%d}$$\n\n", i, i)
	}
	r := renderSource(t, b.String())
	if n := strings.Count(string(r.HTML), "<math"); n != 19 {
		t.Errorf("%d formulas are drawn", n)
	}
	said := diagnostics(r)
	if n := strings.Count(said, "its macros unfold too often"); n != 20 || strings.Count(said, "math-unknown") != 21 ||
		!strings.Contains(said, "page.mdx:39:23: warning: this formula and all after it are shown as they were written: 20 of the page take too much work") {
		t.Errorf("%d findings: %s", n, said)
	}
}

// Dollars before a template's names, and dollars around tags and code, are text.
func TestDollarsOfTemplates(t *testing.T) {
	for source, want := range map[string]string{
		`Go to <code>$\{a}</code> or <code>$\{b}</code>.`:            "<p>Go to <code>${a}</code> or <code>${b}</code>.</p>",
		"From $\\{a}/$\\{b} on.":                                     "<p>From ${a}/${b} on.</p>",
		`Sign in to <code>$\{a}</code> to go to <code>$\{b}</code>.`: "<code>${a}</code> to go to <code>${b}</code>",
		"The $x=`a`$ one.":                                           "<p>The $x=<code>a</code>$ one.</p>",
		`The set $\{1,2\}$.`:                                         "<math",
		"If $a<b$ then.":                                             "<math",
	} {
		if r := renderSource(t, source); !strings.Contains(string(r.HTML), want) {
			t.Errorf("%s is shown as %s", source, r.HTML)
		}
	}
}

// FuzzMath: whatever stands in a formula, nothing but MathML comes of it.
func FuzzMath(f *testing.F) {
	for _, tex := range formulas {
		f.Add(tex)
	}
	f.Add(`\text{</annotation><script>alert(1)</script>}`)
	f.Add(`\begin{array}{c|c" onclick="x} a & b \end{array}`)
	f.Fuzz(func(t *testing.T, tex string) {
		if len(tex) > 500 || strings.Contains(tex, "$") {
			return
		}
		r := renderSource(t, "$$\n"+tex+"\n$$\n")
		for _, fault := range checkHTML(r) {
			t.Errorf("%s\n%s", fault, r.HTML)
		}
		if bytes.Contains(r.HTML, []byte("<script")) || bytes.Contains(r.HTML, []byte(" style=")) {
			t.Errorf("%s", r.HTML)
		}
	})
}
