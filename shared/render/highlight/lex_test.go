package highlight

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/tests/outside"
)

// lexersByLabel are the own lexers by a label of theirs.
var lexersByLabel = map[string]lexFunction{
	"ts": lexScript, "tsx": lexScriptJSX, "json": lexJSON, "bash": lexShell, "console": lexConsole,
	"markdown": lexMarkdown, "mdx": lexMDX, "python": lexPython,
}

// spell writes the runs of code one behind another, each with the letter of its
// class in front: "k⟨let⟩ a". What is plain has none.
func spell(code string, runs []Run) string {
	var b strings.Builder
	for _, r := range runs {
		text := code[r.Start:r.End]
		if r.Class == Plain {
			b.WriteString(text)
			continue
		}
		fmt.Fprintf(&b, "%s⟨%s⟩", classes[r.Class].name, text)
	}
	return b.String()
}

// TestLexers says how the lexers read what only a parser could know.
func TestLexers(t *testing.T) {
	for _, tt := range []struct{ label, name, want string }{
		{"ts", "types and values behind colons", "k⟨const⟩ a p⟨:⟩ t⟨string⟩ p⟨=⟩ b p⟨?⟩ c p⟨:⟩ d;"},
		{"ts", "an object", "k⟨const⟩ o p⟨=⟩ { a: b, f⟨run⟩: k⟨async⟩ (x) p⟨=>⟩ x };"},
		{"ts", "an interface", "k⟨interface⟩ t⟨A⟩ k⟨extends⟩ t⟨B⟩ { ap⟨?:⟩ t⟨C⟩ p⟨|⟩ t⟨null⟩ }"},
		{"ts", "types of a call", "f⟨f⟩<t⟨string⟩>(a)"},
		{"ts", "a comparison", "a p⟨<⟩ b p⟨&&⟩ c p⟨>⟩ d"},
		{"ts", "a regular expression", "a p⟨=⟩ s⟨/[/]\\/x/⟩k⟨g⟩;"},
		{"ts", "a division", "a p⟨/⟩ b p⟨/⟩ c"},
		{"ts", "templates in templates", "s⟨`a⟩p⟨${⟩s⟨`b⟩p⟨${⟩cp⟨}⟩s⟨`⟩p⟨}⟩s⟨`⟩"},
		{"ts", "an assertion is no element", "k⟨const⟩ a p⟨=⟩ <t⟨B⟩>c;"},
		{"tsx", "an element", "k⟨return⟩ <g⟨p⟩ a⟨id⟩p⟨=⟩s⟨\"a\"⟩>it's {a} text</g⟨p⟩>;"},
		{"tsx", "a generic function is no element", "k⟨const⟩ f⟨f⟩ p⟨=⟩ <t⟨T⟩,>(ap⟨:⟩ t⟨T⟩) p⟨=>⟩ a;"},
		{"json", "keys and values", `{ a⟨"a"⟩: s⟨"b"⟩, a⟨c⟩: [n⟨1⟩, n⟨-2.5e-3⟩, o⟨true⟩] } c⟨// d⟩`},
		{"json", "a string without an end", "{ s⟨\"a⟩\n a⟨\"b\"⟩: o⟨null⟩ }"},
		{"bash", "a command", "f⟨npm⟩ s⟨install⟩ s⟨--save⟩ s⟨\"a b\"⟩ n⟨3⟩ c⟨# why⟩"},
		{"bash", "variables in front", "Ap⟨=⟩s⟨1⟩ Bp⟨=⟩s⟨\"$C\"⟩ f⟨make⟩ s⟨all⟩"},
		{"bash", "a pipe and a redirection", "f⟨a⟩ p⟨|⟩ f⟨b⟩ p⟨>⟩ s⟨c⟩ p⟨2>&1⟩ && f⟨d⟩"},
		{"bash", "a condition", "k⟨if⟩ [ p⟨-f⟩ s⟨\"$a\"⟩ ]; k⟨then⟩ f⟨rm⟩ $a; k⟨fi⟩"},
		{"bash", "a choice", "k⟨case⟩ s⟨\"$1\"⟩ k⟨in⟩ s⟨a*⟩p⟨)⟩ f⟨run⟩ ;; k⟨esac⟩"},
		{"bash", "a here document", "f⟨cat⟩ p⟨<<⟩s⟨EOF⟩ p⟨>⟩ s⟨f⟩\ns⟨if $x\nEOF⟩\nf⟨ls⟩"},
		{"bash", "substitutions in a string", "f⟨echo⟩ s⟨\"a $(⟩f⟨b⟩ s⟨\"c\"⟩s⟨) d\"⟩"},
		{"bash", "a name in angle brackets", "f⟨login⟩ s⟨--key⟩ s⟨<your-key>⟩"},
		{"bash", "an apostrophe", "f⟨echo⟩ s⟨don't⟩\nf⟨ls⟩"},
		{"bash", "lines that go on", "f⟨a⟩ s⟨\\⟩\n  s⟨b⟩\nf⟨c⟩"},
		{"bash", "a prompt", "$ f⟨npm⟩ s⟨i⟩"},
		{"console", "prompts and output", "user@host:~$ f⟨ls⟩ s⟨-l⟩\nif total 3\n# f⟨id⟩"},
		{"python", "a function", "f⟨@a.b⟩\nk⟨async⟩ k⟨def⟩ f⟨f⟩(id: t⟨int⟩ p⟨=⟩ n⟨3⟩, p⟨**⟩kw) -> t⟨str⟩:\n  k⟨return⟩ f⟨id⟩(idp⟨=⟩n⟨4⟩)"},
		{"python", "a class", "k⟨class⟩ t⟨A⟩(t⟨B⟩): s⟨\"\"\"Doc.\n\n\"\"\"⟩"},
		{"python", "a formatted string", "k⟨f⟩s⟨\"a {⟩f⟨len⟩(x)k⟨!r:>⟩s⟨{⟩ns⟨}} {{}}\"⟩"},
		{"python", "words that are keywords in places", "k⟨match⟩ a:\n  k⟨case⟩ n⟨1⟩: k⟨pass⟩\nmatch p⟨=⟩ case"},
		{"markdown", "blocks", "h⟨# A⟩\n\np⟨-⟩ b s⟨`c`⟩ b⟨**d**⟩ [e](s⟨/f⟩)\np⟨>⟩ g e⟨*h*⟩ 2 * 3\np⟨```⟩a⟨js⟩\nk⟨let⟩ a\np⟨```⟩\n"},
		{"markdown", "front matter", "p⟨---⟩\na⟨title⟩: s⟨\"A\"⟩\na⟨n⟩: n⟨1⟩\np⟨---⟩\nb"},
		{"mdx", "elements and expressions", "<g⟨Card⟩ a⟨title⟩p⟨=⟩s⟨\"it's\"⟩ a⟨n⟩p⟨=⟩{n⟨1⟩}>\n  a's {b.c} <g⟨br⟩ /> s⟨`<d>`⟩\n</g⟨Card⟩>"},
		{"mdx", "modules and comments", "k⟨import⟩ A k⟨from⟩ s⟨'b'⟩;\n\n{c⟨/* d */⟩}"},
		{"mdx", "an address", "<s⟨https://a.b⟩> and \\{c}"},
	} {
		t.Run(tt.label+" "+tt.name, func(t *testing.T) {
			code, want := parseSpelled(t, tt.want)
			runs, _ := lexersByLabel[tt.label](code)
			checkRuns(t, code, runs)
			if got, want := spell(code, runs), spell(code, want); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// parseSpelled reads what spell writes. Neighbours may have one class there.
func parseSpelled(t *testing.T, spelled string) (code string, runs []Run) {
	t.Helper()
	l := newLexer("")
	put := func(class Class, text string) {
		l.code += text
		l.put(class, len(l.code))
	}
	for {
		before, rest, found := strings.Cut(spelled, "⟨")
		if !found {
			put(Plain, spelled)
			return l.code, l.runs
		}
		name := before[len(before)-1:]
		class := slices.IndexFunc(classes[:], func(c classInfo) bool { return c.name == name })
		if class < 0 {
			t.Fatalf("no class has the name %q", name)
		}
		put(Plain, before[:len(before)-1])
		inside, after, _ := strings.Cut(rest, "⟩")
		put(Class(class), inside)
		spelled = after
	}
}

// runsFrom gives the runs of code behind a place, as those of that code alone.
func runsFrom(runs []Run, from int) []Run {
	var behind []Run
	for _, r := range runs {
		if r.End > from {
			behind = append(behind, Run{r.Class, max(r.Start, from) - from, r.End - from})
		}
	}
	return behind
}

// TestLocal: code that is broken, or cut off, spoils nothing behind the next
// empty line.
func TestLocal(t *testing.T) {
	const script = "export const a: string = run(b) / 2;\n"
	const shell = "npm install \"$a\" && echo 'b'\n"
	const python = "def f(a: int) -> str:\n    return f\"{a}\"\n"
	const markup = "# A\n\n<Card title=\"b\">c `d`</Card>\n"
	for _, tt := range []struct{ label, broken, whole string }{
		{"ts", "const a: {", script},
		{"ts", "interface A { b: Map<string,", script},
		{"ts", "foo(a, (b) => {", script},
		{"ts", "const x = { a: [1, 2,", script},
		{"ts", "x = a < b", script},
		{"ts", "type A = B extends C ?", script},
		{"ts", "const s = 'it", script},
		{"ts", "class A<T extends {", script},
		{"tsx", "return <p>it's", script},
		{"tsx", "return <p className={a}><b", script},
		{"tsx", "<A b={() => (", script},
		{"bash", "echo \"$(foo", shell},
		{"bash", "cat <<EOF", shell},
		{"bash", "for a in b; do case $x in", shell},
		{"bash", "echo it's", shell},
		{"bash", "a=$(( 1 + ", shell},
		{"bash", "if [[ -f x", shell},
		{"mdx", "<Card title=\"a", markup},
		{"mdx", "a {b", markup},
		{"mdx", "a `b **c", markup},
		{"mdx", "---\na: b", markup},
		{"mdx", "export const a = (", markup},
		{"python", "foo(a, [b", python},
		{"python", "x = f\"{a", python},
		{"python", "\"\"\"text", python},
		{"python", "class A(B, C", python},
		{"python", "def f(a,", python},
	} {
		t.Run(tt.label+" "+tt.broken, func(t *testing.T) {
			lex := lexersByLabel[tt.label]
			front := tt.broken + "\n\n"
			alone, _ := lex(tt.whole)
			runs, _ := lex(front + tt.whole)
			if got, want := spell(tt.whole, runsFrom(runs, len(front))), spell(tt.whole, alone); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// stepsAByte bounds how many bytes a lexer may look at for each byte of code.
// Code in Markdown may be read ahead by two lexers.
const stepsAByte = 2*aheadFactor + 20

// checkLexer: the runs cover the code, and the work is in proportion to it.
func checkLexer(t *testing.T, label, code string) {
	t.Helper()
	runs, steps := lexersByLabel[label](code)
	if code != "" {
		checkRuns(t, code, runs)
	}
	if most := stepsAByte*len(code) + 20*maxAhead; steps > most {
		t.Errorf("%s takes %d steps for %d bytes, want at most %d: %.100q", label, steps, len(code), most, code)
	}
}

// TestLexersHostile: brackets, templates, elements and substitutions without
// end.
func TestLexersHostile(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	for label := range lexersByLabel {
		for _, part := range []string{
			"(", "[", "{", "<", "<a ", "<a>", "<a b={", "`${", "${", "$(", "$((", "\"$(", "\"", "'", "`", "/", "/*", "a<", "(a", "a(", "a<b,",
			"a ? ", "{a:", "<<A", "<<A\n", "<<'B' ", "case a in ", "[[ ", "f\"{", "f'{x:{", "\"\"\"", "'''\n\n", "\\", "\\\n", "\n", "\n\n", "case ", "esac", "**a", "*", "](", "```", "```js\n", "> ", "- ", "# ", "---\n", "<!--", "import a\n\n", "<a\n", "{a\n\n", "`a", "\"a\" ",
			"type a = ", "class A extends ", "const a = (", "a => ", "}", ")", "@", "#", "a", "1", ": ", ">>> ", "... ", "$ ", "é", "\xff", "\r", "\x00",
			"=", "<a-b", "async ", "( ( ", "match a", "*/", "/** @a {", "</", "<>", "?.", "&", "&a", "a\n\n", "<A b='\n",
		} {
			t.Run(fmt.Sprintf("%s %q", label, part), func(t *testing.T) {
				checkLexer(t, label, strings.Repeat(part, MaxBytes/16/len(part)))
			})
		}
	}
}

// TestLexersNeed: the code of real sites needs a tenth of what lexers may read
// ahead.
func TestLexersNeed(t *testing.T) {
	h := New(Options{})
	worst := map[string]float64{}
	for _, b := range corpora(t) {
		lang := h.languages.find(b.label)
		if lang == nil || lang.lex == nil || b.code == "" {
			continue
		}
		runs, steps := lang.lex(b.code)
		checkRuns(t, b.code, runs)
		need := float64(steps-maxAhead) / float64(len(b.code))
		worst[lang.name] = max(worst[lang.name], need)
		if need > aheadFactor/2 {
			t.Errorf("%s: %d steps for %d bytes:\n%s", b.label, steps, len(b.code), b.code)
		}
	}
	t.Logf("most steps a byte: %v", worst)
}

// FuzzLexers: for any bytes, the runs cover the code in order and the work is
// linear.
func FuzzLexers(f *testing.F) {
	labels := []string{"ts", "tsx", "json", "bash", "console", "python", "markdown", "mdx"}
	for i, label := range labels {
		for _, sample := range []string{label, "typescript", "jsx"} {
			f.Add(i, samples(f)[sample])
		}
	}
	f.Add(3, "a <<A <<-'B'\n\tA\n\tB\n${a:-$(b)} `c` $((d)) [[ e ]] f() { g; }")
	f.Add(5, "f'''{a!r:{b}}''' rb\"\\\"\" @x\nclass A(B): 1_0.5e-3j")
	f.Fuzz(func(t *testing.T, which int, code string) {
		label := labels[uint(which)%uint(len(labels))]
		checkLexer(t, label, code)
		runs, _ := lexersByLabel[label](code)
		again, _ := lexersByLabel[label](code)
		if diff := cmp.Diff(runs, again); diff != "" {
			t.Errorf("the second time the runs differ:\n%s", diff)
		}
	})
}
