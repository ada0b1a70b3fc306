package script

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// TestFormulas: what is drawn shows these characters.
func TestFormulas(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	e := New()
	for tex, want := range map[string]string{
		`\|x\|`:                                                "‖x‖",
		`\left\| x \right\|`:                                   "‖x‖",
		`\text{if $x \ge 0$}`:                                  "ifx≥0",
		`\text{a \textbf{b} c}`:                                "abc",
		`a\hspace{1em} b`:                                      "ab",
		`\begin{dcases} x \\ y \end{dcases}`:                   "{xy",
		`\begin{rcases} x \\ y \end{rcases}`:                   "xy}",
		`\begin{gather} a \\ b \end{gather}`:                   "ab",
		`\begin{alignat}{2} a&=b&c&=d \end{alignat}`:           "a=bc=d",
		`\begin{split} a &= b \end{split}`:                     "a=b",
		`\begin{smallmatrix} a & b \\ c & d \end{smallmatrix}`: "abcd",
		`\begin{matrix*}[r] -1 & 3 \\ 2 & -4 \end{matrix*}`:    "-132-4",
		`\frac12`:                      "12",
		`x = 1 \tag{1}`:                "x=1(1)",
		`\operatorname*{arg\,max}_x f`: "argmaxxf",
		`\begin{array}{c} 1 \\ \hline 3 \end{array}`:                       "13",
		`\xrightarrow{n \to \infty}`:                                       "→n→∞",
		`\braket{\phi|\psi}`:                                               "⟨φ|ψ⟩",
		`\newcommand{\pd}[2]{\frac{\partial #1}{\partial #2}} \pd{f}{x}`:   "∂f∂x",
		`\begin{cases} 1 & \text{if $a<b$} \\ 0 & \text{else} \end{cases}`: "{1ifa<b0else",
		`\def\a#1{\def\b##1{#1##1}} \a{x} \b{y}`:                           "xy",
		`\ce{SO4^2- + Ba^2+ -> BaSO4 v}`:                                   "SO42-+Ba2+→BaSO4↓",
		`\text{<b> \& "c"}`:                                                `<b>&"c"`,
	} {
		f, err := e.Formula(t.Context(), tex, true)
		if err != nil {
			t.Errorf("%s: %v", tex, err)
			continue
		}
		if got := leaves(mathML(f)); got != want {
			t.Errorf("%s shows %q, want %q", tex, got, want)
		}
	}
}

// TestFormulaMarkup: a formula is MathML alone. Styles are classes that the caller
// names, other classes begin as all of ours do, and its TeX is with it.
func TestFormulaMarkup(t *testing.T) {
	e := New()
	for _, test := range []struct {
		tex     string
		display bool
		want    string
	}{
		{`x'`, false, `<math><semantics><msup><mi>x</mi><mo lspace="0em" rspace="0em" class="bdy-tml-prime bdy-tml-sml-pad">′</mo></msup><annotation encoding="application/x-tex">x'</annotation></semantics></math>`},
		{`{\color{red}x} < y`, false, `<math><semantics><mrow><mrow><mi class="{color:#ff0000}">x</mi></mrow><mo>&lt;</mo><mi>y</mi></mrow>` +
			`<annotation encoding="application/x-tex">{\color{red}x} &lt; y</annotation></semantics></math>`},
		{`\begin{equation} x \end{equation}`, true, `<math display="block" class="bdy-tml-display"><semantics>` +
			`<mtable displaystyle="true" class="{width:100%}"><mtr><mtd class="bdy-tml-right {padding:0;padding-left:0em;padding-right:0em;width:50%}"></mtd><mtd class="bdy-tml-left {padding-left:1em;padding-right:0em}"><mi>x</mi></mtd>` +
			`<mtd class="{padding:0;padding-left:0em;padding-right:0em;width:50%}"><mtext class="bdy-tml-eqn"></mtext></mtd></mtr></mtable>` +
			`<annotation encoding="application/x-tex">\begin{equation} x \end{equation}</annotation></semantics></math>`},
	} {
		f, err := e.Formula(t.Context(), test.tex, test.display)
		if err != nil {
			t.Errorf("%s: %v", test.tex, err)
		} else if got := mathML(f); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.tex, got, test.want)
		}
	}
	f, err := e.Formula(t.Context(), `\color{red}x`, false)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(f.Append([]byte("a"), func(string) string { return "" })); !strings.HasPrefix(got, `a<math><semantics><mrow><mi class="">x`) {
		t.Errorf("without a class for the style: %s", got)
	}
}

// hostile are formulas that ask for more work, space or depth than there is.
var hostile = map[string]string{
	`\def\a{` + strings.Repeat("x ", 1000) + `}` + strings.Repeat(`\a `, 600):         "it takes too much work",
	`\def\a#1{` + strings.Repeat("#1", 900) + `}\a{` + strings.Repeat("y", 900) + `}`: "its macros unfold to too much",
	`\def\a#1{#1#1}` + strings.Repeat(`\a{`, 40) + "x" + strings.Repeat("}", 40):      "its macros unfold too often",
	`\def\a{\a}\a`:            "its macros unfold too often",
	`\def\a{\a\a}\edef\b{\a}`: "its macros unfold too often",
	strings.Repeat("{", 1500) + strings.Repeat("}", 1500):                                      "it is nested too deep",
	strings.Repeat(`\sqrt{`, 250) + "x" + strings.Repeat("}", 250):                             "it is nested too deep",
	strings.Repeat(`\left(`, 600):                                                              "",
	strings.Repeat("x^{", 1000) + strings.Repeat("}", 1000):                                    "it is nested too deep",
	`\begin{matrix}` + strings.Repeat("&", 1000) + strings.Repeat(`\\`, 1000) + `\end{matrix}`: "it takes too much work",
	`\begin{array}{` + strings.Repeat("|", 2000) + "}x" + `\end{array}`:                        "",
	`\ce{` + strings.Repeat("A1", 2000) + `}`:                                                  "it takes too much work",
	strings.Repeat("x", MaxFormula+1):                                                          "it has more than 4096 bytes",
	`\rule{99999999em}{1em}`:                                                                   "", // a size has a bound
}

// TestHostileFormulas: each is refused by a count, the same in each engine and
// whatever was drawn before.
func TestHostileFormulas(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	e := New()
	said := func(e *Engine, tex string) string {
		f, err := e.drawFormula(tex, true)
		if len(tex) > MaxFormula {
			f, err = e.Formula(t.Context(), tex, true)
		}
		if wrong, ok := errors.AsType[*TeXError](err); ok {
			return wrong.Message
		}
		if err != nil {
			return "fault: " + err.Error()
		}
		return mathML(f)
	}
	for tex, want := range hostile {
		first := said(e, tex)
		if strings.HasPrefix(first, "fault") || want != "" && first != want || len(first) > 2*maxFormulaBytes {
			t.Errorf("%.60s: %.200s, want %q", tex, first, want)
		}
		if again := said(e, tex); again != first {
			t.Errorf("%.60s: again %.200s, first %.200s", tex, again, first)
		}
		if strings.Contains(first, "99999999") && strings.Contains(first, `width="99999999`) {
			t.Errorf("%.60s: its size has no bound: %.300s", tex, first)
		}
	}
	if got := said(e, "x"); !strings.HasPrefix(got, "<math") {
		t.Errorf("after all of them: %s", got)
	}
}

// TestFormulasApart: no formula changes another one, in any order and at the same
// time, by definitions, by counters or by how it ends.
func TestFormulasApart(t *testing.T) {
	outside.NoRace(t, "its counts take long with it")
	list := []string{
		`\gdef\R{broken} \R`, `\R`, `\global\def\frac#1#2{#2} \frac{a}{b}`, `\frac{a}{b}`, `\renewcommand{\alpha}{\beta} \alpha`, `\alpha`, `\let\sum\int \sum`, `\sum`,
		`\def\x{`, `\x`, `\tag{7} a`, `a`, `\begin{align} a \\ b \end{align}`, `\begin{align} a \\ b \end{align} `, `\newcommand{\foo}{f} \foo`, `\foo`, `\DeclareMathOperator{\q}{q} \q`, `\q`,
		`\catcode`, `%`, `a % b`, `\makeatletter \a@b`, `\a@b`, `\def\a{\a}\a`, strings.Repeat("{", 1500), `\char"41`, `\verb|x|`, `\left(`, `\text{$`, `\ce{^`, `\pu{1e3}`,
	}
	fresh, alone := New(), map[string]string{}
	say := func(f *Formula, err error) string {
		if err != nil {
			return err.Error()
		}
		return mathML(f)
	}
	for _, tex := range list {
		fresh.formulas.idle = nil // a machine of its own
		alone[tex] = say(fresh.drawFormula(tex, true))
	}
	e := New()
	var wg sync.WaitGroup
	for n := range 4 {
		list := slices.Clone(list)
		if n%2 == 1 {
			slices.Reverse(list)
		}
		wg.Go(func() {
			for range 2 {
				for _, tex := range list {
					if got := say(e.drawFormula(tex, true)); got != alone[tex] {
						t.Errorf("%.40s:\n%s\nalone\n%s", tex, got, alone[tex])
					}
				}
			}
		})
	}
	wg.Wait()
}

// TestFormulaOnce: a formula is drawn once, and nothing is started before the first.
func TestFormulaOnce(t *testing.T) {
	e := New()
	if n := e.Starts(); n != 0 {
		t.Errorf("%d machines without a formula", n)
	}
	var first *Formula
	for i := range 3 {
		f, err := e.Formula(t.Context(), "x", false)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && f != first {
			t.Error("it is drawn again")
		}
		first = f
	}
	if block, err := e.Formula(t.Context(), "x", true); err != nil || block == first {
		t.Errorf("a block is the same as a phrase: %v", err)
	}
	if n := e.Starts(); n != 1 {
		t.Errorf("%d machines", n)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Formula(ended, "y", false); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context's end: %v", err)
	}
	if _, err := e.Formula(t.Context(), "y", false); err != nil {
		t.Errorf("after another one's context ended: %v", err)
	}
}

// TestFormulaFaults: what is wrong is said in one line, without Temml's marks.
func TestFormulaFaults(t *testing.T) {
	e := New()
	for tex, want := range map[string]string{
		`\foo`:                          `Unsupported function name: \foo`,
		`\frac{1}`:                      `Unexpected end of input in a macro argument, expected '}'`,
		`\begin{foo}`:                   `No such environment: foo`,
		`x_1_2`:                         `Double subscript`,
		`\text{\foo}`:                   `Unsupported function name: \foo`,
		`\href{https://example.com}{x}`: `Unsupported function name: \href`,
		`\class{x}{y}`:                  `Function "\class" is not trusted`,
		`\ref{x}`:                       `links and pictures are not supported`,
		"a\x01":                         "Unexpected character: '\x01'",
	} {
		_, err := e.Formula(t.Context(), tex, false)
		if wrong, ok := errors.AsType[*TeXError](err); !ok || wrong.Message != want {
			t.Errorf("%s: %v, want %s", tex, fmt.Sprintf("%q", err), want)
		}
	}
}
