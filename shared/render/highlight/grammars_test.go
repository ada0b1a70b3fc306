package highlight

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dlclark/regexp2/v2"
	"github.com/dlclark/regexp2/v2/syntax"

	"github.com/bindery-docs/bindery/shared/render/highlight/internal/backtrack"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestChromaSamples: the driver gives chroma's tokens on chroma's own samples,
// one or more for nearly every language it has, and on pieces of them, which
// end in the middle of a string, a tag or a word. The samples lie in the
// module's folder and not here.
func TestChromaSamples(t *testing.T) {
	outside.Long(t, "its time is chroma's own driver's, minutes under the race detector")
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/alecthomas/chroma/v2").Output()
	dir := filepath.Join(strings.TrimSpace(string(out)), "lexers", "testdata")
	files, globErr := filepath.Glob(filepath.Join(dir, "*.actual"))
	if err != nil || globErr != nil || len(files) == 0 {
		outside.Lacking(t, fmt.Sprintf("chroma's samples in its module's folder %q (%v)", dir, err))
	}
	own, stock := New(Options{}), newStock()
	var languages, driven int
	for _, file := range files {
		label := strings.TrimSuffix(filepath.Base(file), ".actual")
		lang := own.languages.find(label)
		if lang == nil || lang.lexer == nil {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code := string(source)
		const longest = 20_000
		code = code[:min(len(code), longest)]
		languages++
		if lang.load() != nil {
			driven++
		}
		for _, piece := range []string{code, code[:len(code)/2], code[:len(code)/3], code[len(code)/3:], code[len(code)*2/5 : len(code)*3/4]} {
			compareTokens(t, own, stock, label, piece)
			checkRuns(t, piece, own.Runs(label, piece))
		}
	}
	t.Logf("%d samples, %d of them under the own driver", languages, driven)
	const fewest = 120
	if driven < fewest {
		t.Errorf("only %d samples ran under the own driver, want at least %d", driven, fewest)
	}
}

// TestGrammars: the machine runs every language that chroma has but those that
// stay plain on purpose; each of its expressions compiles.
func TestGrammars(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	languages := newLanguages()
	seen := map[string]bool{}
	expressions := 0
	for _, lang := range languages.byLabel {
		if seen[lang.name] || lang.lexer == nil {
			continue
		}
		seen[lang.name] = true
		g := lang.load()
		if g == nil {
			_, inner, _ := unwrap(lang.lexer)
			_, err := newGrammar(inner)
			t.Errorf("%s has no grammar: %v", lang.name, err)
			continue
		}
		for r := range allRules(g) {
			expressions++
			if !r.always && r.expression() == nil {
				t.Errorf("%s: %s doesn't compile", lang.name, r.pattern)
			}
		}
	}
	t.Logf("%d languages, %d expressions", len(seen), expressions)
	const fewest = 290
	if len(seen) < fewest {
		t.Errorf("found %d languages, want at least %d", len(seen), fewest)
	}
}

// TestWrapped: the parts of chroma's combined lexers are where unwrap looks.
func TestWrapped(t *testing.T) {
	languages := newLanguages()
	for label, want := range map[string]wrapper{
		"go": wrapNone, "markdown": wrapNone, "http": wrapContentType,
		"erb": wrapDelegate, "go-html-template": wrapDelegate, "phtml": wrapDelegate, "svelte": wrapDelegate, "yaml+jinja": wrapDelegate,
		"common-lisp": wrapNone, "emacs-lisp": wrapNone,
	} {
		lang := languages.find(label)
		if lang == nil {
			t.Errorf("no language %s", label)
			continue
		}
		if lang.load() == nil || lang.wrap != want {
			t.Errorf("%s is wrapped as %d, want %d", label, lang.wrap, want)
		}
	}
}

// allRules gives the rules of a grammar, each once, in an order that is always
// the same.
func allRules(g *grammar) iter.Seq[*rule] {
	return func(yield func(*rule) bool) {
		seen := map[*rule]bool{}
		for _, s := range g.states {
			for _, r := range s.rules {
				if seen[r] {
					continue
				}
				seen[r] = true
				if !yield(r) {
					return
				}
			}
		}
	}
}

// TestExpressions: every expression of every grammar matches where regexp2 has
// it match, with the same groups, in texts made from the expression itself: some
// that it should match, others with a character more, less or another one.
func TestExpressions(t *testing.T) {
	outside.Long(t, "compares two engines on every expression")
	languages := newLanguages()
	names := make([]string, 0, len(languages.byLabel))
	byName := map[string]*language{}
	for _, lang := range languages.byLabel {
		if byName[lang.name] == nil {
			byName[lang.name] = lang
			names = append(names, lang.name)
		}
	}
	slices.Sort(names)
	done := map[string]bool{}
	var engine backtrack.Matcher
	var attempts, matches, undecided int
	for _, name := range names {
		lang := byName[name]
		if lang.load() == nil {
			continue
		}
		for _, g := range []*grammar{lang.grammar, lang.outer} {
			if g == nil {
				continue
			}
			for r := range allRules(g) {
				if done[r.pattern] || r.always {
					continue
				}
				done[r.pattern] = true
				program := r.expression()
				re, err := regexp2.Compile(r.pattern)
				if err != nil || program == nil {
					t.Errorf("%s: %q: regexp2 says %v, program %v", name, r.pattern, err, program != nil)
					continue
				}
				for _, text := range textsFor(t, r.pattern) {
					for _, at := range []int{0, 1, 2, len(text) / 2} {
						if at > len(text) {
							continue
						}
						const enough = 100_000
						outcome, _ := engine.Match(program, text, at, enough)
						if outcome == backtrack.OverBudget {
							undecided++
							continue // regexp2 might take for ever
						}
						attempts++
						if outcome == backtrack.Matched {
							matches++
						}
						match, err := re.FindRunesMatchStartingAt(text, at)
						if err != nil {
							t.Fatalf("%s: %q in %q at %d: %v", name, r.pattern, string(text), at, err)
						}
						var want, got []span
						if match != nil && match.RuneIndex == at {
							for _, group := range match.Groups() {
								place := span{-1, -1}
								if len(group.Captures) > 0 {
									place = span{group.RuneIndex, group.RuneIndex + group.RuneLength}
								}
								want = append(want, place)
							}
						}
						if outcome == backtrack.Matched {
							for i := range program.Groups() + 1 {
								group := engine.Group(i)
								got = append(got, span{group.Start, group.End})
							}
						}
						if !slices.Equal(want, got) {
							t.Errorf("%s: %q in %q at %d: %v, want %v", name, r.pattern, string(text), at, got, want)
						}
					}
				}
			}
		}
	}
	t.Logf("%d expressions, %d attempts, %d matches, %d undecided", len(done), attempts, matches, undecided)
	const fewest = 5_000
	if len(done) < fewest || matches < attempts/10 {
		t.Errorf("want at least %d expressions and a match in ten attempts: is the making of texts broken?", fewest)
	}
}

// textsFor makes texts for an expression, the same each time.
func textsFor(t *testing.T, pattern string) [][]rune {
	t.Helper()
	tree, err := syntax.Parse(pattern, syntax.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, uint64(len(pattern))))
	texts := [][]rune{{}, []rune(pattern)}
	for range 5 {
		maker := textMaker{random: random}
		maker.node(tree.Root, 0)
		text := maker.text
		texts = append(texts, text, append([]rune("x "), text...), append(slices.Clone(text), []rune("\nx9é")...))
		if len(text) > 0 {
			at := random.IntN(len(text))
			texts = append(texts, slices.Delete(slices.Clone(text), at, at+1), slices.Insert(slices.Clone(text), at, text[random.IntN(len(text))]))
			other := slices.Clone(text)
			other[at] = rune(random.IntN(nonASCII))
			texts = append(texts, other)
		}
	}
	return texts
}

// textMaker makes a text that an expression might match. What looks around
// itself is left out, so not every text does.
type textMaker struct {
	random *rand.Rand
	text   []rune
	groups map[int][]rune
}

func (m *textMaker) node(n *syntax.RegexNode, depth int) {
	const deepest, longest = 60, 400
	if depth > deepest || len(m.text) > longest {
		return
	}
	times := func() int {
		const more = 3
		return n.M + m.random.IntN(min(n.N-n.M, more)+1)
	}
	switch n.T {
	case syntax.NtOne:
		m.text = append(m.text, n.Ch)
	case syntax.NtNotone:
		m.text = append(m.text, m.not(n.Ch))
	case syntax.NtSet:
		m.text = append(m.text, m.of(n.Set))
	case syntax.NtMulti:
		m.text = append(m.text, n.Str...)
	case syntax.NtOneloop, syntax.NtOnelazy, syntax.NtOneloopatomic:
		for range times() {
			m.text = append(m.text, n.Ch)
		}
	case syntax.NtNotoneloop, syntax.NtNotonelazy, syntax.NtNotoneloopatomic:
		for range times() {
			m.text = append(m.text, m.not(n.Ch))
		}
	case syntax.NtSetloop, syntax.NtSetlazy, syntax.NtSetloopatomic:
		for range times() {
			m.text = append(m.text, m.of(n.Set))
		}
	case syntax.NtLoop, syntax.NtLazyloop:
		for range times() {
			m.node(n.Children[0], depth+1)
		}
	case syntax.NtAlternate:
		m.node(n.Children[m.random.IntN(len(n.Children))], depth+1)
	case syntax.NtCapture:
		from := len(m.text)
		m.node(n.Children[0], depth+1)
		if m.groups == nil {
			m.groups = map[int][]rune{}
		}
		m.groups[n.M] = slices.Clone(m.text[from:])
	case syntax.NtRef:
		m.text = append(m.text, m.groups[n.M]...)
	case syntax.NtConcatenate, syntax.NtGroup, syntax.NtAtomic:
		for _, child := range n.Children {
			m.node(child, depth+1)
		}
	}
}

func (m *textMaker) not(r rune) rune {
	const some = "aZ_0 .\"é"
	for {
		if c := []rune(some)[m.random.IntN(len([]rune(some)))]; c != r {
			return c
		}
	}
}

func (m *textMaker) of(set *syntax.CharSet) rune {
	const tries = 200
	for range tries {
		if r := rune(m.random.IntN(nonASCII)); set.Contains(r) {
			return r
		}
	}
	for range tries {
		if r := rune(m.random.IntN(0x3000)); set.Contains(r) {
			return r
		}
	}
	return 'x'
}
