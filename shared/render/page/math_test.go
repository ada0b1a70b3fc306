package page_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

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

// Dollars before a template's names, and dollars around tags and code, are text.
func TestDollarsOfTemplates(t *testing.T) {
	for source, want := range map[string]string{
		`Go to <code>$\{a}</code> or <code>$\{b}</code>.`: "<p>Go to <code>${a}</code> or <code>${b}</code>.</p>",
		"From $\\{a}/$\\{b} on.":                          "<p>From ${a}/${b} on.</p>",
		"The $x=`a`$ one.":                                "<p>The $x=<code>a</code>$ one.</p>",
		`The set $\{1,2\}$.`:                              "<math",
		"If $a<b$ then.":                                  "<math",
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
