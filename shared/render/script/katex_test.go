package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	nethtml "golang.org/x/net/html"
	"golang.org/x/text/unicode/norm"

	"github.com/bindery-docs/bindery/tests/outside"
)

// namedFormula is a name of KaTeX and a formula with it.
type namedFormula struct{ name, tex string }

func katexFormulas(t *testing.T) (list []namedFormula) {
	t.Helper()
	data, err := os.ReadFile("testdata/katex.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if name, tex, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			list = append(list, namedFormula{name, tex})
		}
	}
	return list
}

// exceptions are the formulas that are drawn otherwise than by KaTeX, by name, with the
// reason.
func exceptions(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("testdata/katex-exceptions.txt")
	if err != nil {
		t.Fatal(err)
	}
	reasons, reason := map[string]string{}, ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if text, ok := strings.CutPrefix(line, "# "); ok {
			reason = text
			continue
		}
		for _, name := range strings.Fields(line) {
			reasons[name] = reason
		}
	}
	return reasons
}

// katex draws formulas as blocks with KaTeX; "" stands for those that it refuses.
func katex(t *testing.T, list []namedFormula) []string {
	t.Helper()
	at := outside.Tool(t, "the libraries of shared/render/script", "script", "node_modules/katex/dist/katex.mjs")
	var in bytes.Buffer
	for _, f := range list {
		if err := json.NewEncoder(&in).Encode(map[string]any{"tex": f.tex, "display": true}); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), outside.Program(t, "node"), "testdata/katex.mjs", at)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var drawn []string
	for line := range strings.Lines(string(out)) {
		var mathml string
		if err := json.Unmarshal([]byte(line), &mathml); err != nil {
			t.Fatal(err)
		}
		drawn = append(drawn, mathml)
	}
	if len(drawn) != len(list) {
		t.Fatalf("%d of %d formulas", len(drawn), len(list))
	}
	return drawn
}

// leaves are the characters that MathML shows, in order: alphabets of
// mathematics are their letters, and white space and signs without ink don't count.
func leaves(mathml string) string {
	var b strings.Builder
	z := nethtml.NewTokenizer(strings.NewReader(mathml))
	hidden := 0
	for {
		switch z.Next() {
		case nethtml.ErrorToken:
			if z.Err() != io.EOF {
				return z.Err().Error()
			}
			return strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) {
					return -1
				}
				return alike(r)
			}, norm.NFKC.String(b.String()))
		case nethtml.StartTagToken, nethtml.EndTagToken:
			switch t := z.Token(); {
			case t.Data != "annotation" && t.Data != "mphantom":
			case t.Type == nethtml.StartTagToken:
				hidden++
			default:
				hidden--
			}
		case nethtml.TextToken:
			if hidden == 0 {
				b.Write(z.Text())
			}
		}
	}
}

var structure = regexp.MustCompile(`<(mfrac|msqrt|mroot|msub|msup|msubsup|mtr)[ >]`)

// structures are the elements of MathML that are alike with KaTeX, in order.
func structures(mathml string) (names []string) {
	for _, m := range structure.FindAllStringSubmatch(mathml, -1) {
		names = append(names, m[1])
	}
	return names
}

// alike gives one of the characters that mean the same and look the same.
func alike(r rune) rune {
	switch r {
	case '−', '‐', '‑', '–':
		return '-'
	case '∣':
		return '|'
	case '∥':
		return '‖'
	case 'ˆ':
		return '^'
	case '\u20d7':
		return '→'
	case '∗':
		return '*'
	case '⋅', '∙':
		return '·'
	case '∖':
		return '\\'
	case '〈':
		return '⟨'
	case '〉':
		return '⟩'
	case 'ˉ', '‾', '¯', '_':
		return '¯'
	}
	return r
}

// TestKaTeX: each name of KaTeX shows the characters that KaTeX shows, in the same
// structure of fractions, roots, indices and rows, but for the listed exceptions.
func TestKaTeX(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	list := katexFormulas(t)
	want, except := katex(t, list), exceptions(t)
	e := New()
	drawn, alike := 0, 0
	for i, f := range list {
		if want[i] == "" {
			t.Errorf("KaTeX does not draw %s", f.tex)
			continue
		}
		got, err := e.Formula(t.Context(), f.tex, true)
		fault := ""
		if err != nil {
			fault = err.Error()
		} else {
			drawn++
			drawing, katexDrawing := mathML(got), want[i]
			if got, want := leaves(drawing), leaves(want[i]); got != want {
				fault = fmt.Sprintf("shows %q, KaTeX %q", got, want)
			} else if got, want := structures(drawing), structures(katexDrawing); !slices.Equal(got, want) {
				fault = fmt.Sprintf("is made of %q, with KaTeX of %q", got, want)
			} else {
				alike++
			}
		}
		switch reason, excepted := except[f.name]; {
		case fault != "" && !excepted:
			t.Errorf("%s: %s: %s", f.name, f.tex, fault)
		case fault == "" && excepted:
			t.Errorf("%s is as with KaTeX, and listed as an exception: %s", f.name, reason)
		}
		delete(except, f.name)
	}
	for name := range except {
		t.Errorf("the exception %s is no name of KaTeX", name)
	}
	t.Logf("of %d formulas with names of KaTeX %d are drawn, %d as with KaTeX", len(list), drawn, alike)
}

// mathML is a formula with its declarations as classes.
func mathML(f *Formula) string {
	return string(f.Append(nil, func(declarations string) string { return "{" + declarations + "}" }))
}
