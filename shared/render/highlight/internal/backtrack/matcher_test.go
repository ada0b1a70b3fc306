package backtrack

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dlclark/regexp2/v2"
	"github.com/google/go-cmp/cmp"
)

// anchored is how grammars have their expressions compiled: tried at one
// position.
func anchored(pattern string) string { return `\G(?m)(?:` + pattern + `)` }

// reference gives the groups of regexp2's match at a position; nil where there
// is none. full is true where its stack was too small.
func reference(t *testing.T, re *regexp2.Regexp, text []rune, at int) (groups []Span, full bool) {
	t.Helper()
	match, err := re.FindRunesMatchStartingAt(text, at)
	if errors.Is(err, regexp2.ErrBacktrackingStackLimit) {
		return nil, true
	}
	if err != nil {
		t.Fatalf("regexp2 at %d: %v", at, err)
	}
	if match == nil || match.RuneIndex != at {
		return nil, false
	}
	for _, g := range match.Groups() {
		if len(g.Captures) == 0 {
			groups = append(groups, Span{-1, -1})
		} else {
			groups = append(groups, Span{g.RuneIndex, g.RuneIndex + g.RuneLength})
		}
	}
	return groups, false
}

// compare tries an expression at every position of a text with both engines.
// It stops where this one would take more than limit steps, at which that one
// might take for ever.
func compare(t *testing.T, m *Matcher, p *Program, re *regexp2.Regexp, text []rune, limit int) (matches int) {
	t.Helper()
	for at := 0; at <= len(text); at++ {
		outcome, steps := m.Match(p, text, at, limit)
		if steps < 1 || steps > limit {
			t.Fatalf("%s in %q at %d took %d steps of %d", re, string(text), at, steps, limit)
		}
		if outcome == OverBudget {
			return matches
		}
		var got []Span
		if outcome == Matched {
			for i := range p.Groups() + 1 {
				got = append(got, m.Group(i))
			}
		}
		want, full := reference(t, re, text, at)
		if full != (outcome == StackFull) {
			t.Fatalf("%s in %q at %d ends as %d; regexp2's stack is full: %v", re, string(text), at, outcome, full)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("groups of %s in %q at %d differ (-regexp2 +got):\n%s", re, string(text), at, diff)
		}
		if want != nil {
			matches++
		}
	}
	return matches
}

// TestAsRegexp2: each construct matches where regexp2 has it match, with the
// same groups, at every position of every text.
func TestAsRegexp2(t *testing.T) {
	texts := []string{
		"", "a", "aaab", "abcd", "ababab", "abcabcabc", "aXbXXc", "foo(bar[baz])", "\"a\\\"b\" 'c'", "line\nnext\n\nlast", "line\r\nnext\n",
		"ABab aBAb", "İıſKk ΣσςÀà", "a1_b2-c3", "日本語 text é", "e\u0301x\u200d\U0001f468\u200d\U0001f469", "aaaaaaaaaaaaaaaaaaaa", "xyz xyz xy", "<<EOF\nbody\nEOF\n", "((()))", "1.5e+10 0x1F", "\x00\t ", "cat dog cats", "if x then y else z", "}{][",
	}
	for _, patterns := range [][]string{
		// characters, classes, categories, subtraction
		{`a`, `.`, `[^a]`, `[a-c]`, `[^\w\s]`, `\w`, `\W`, `\d`, `\D`, `\s`, `\S`, `\p{L}`, `\P{L}`, `\p{Lu}`, `\p{Greek}`, `\p{Mn}`, `[a-z-[aeiou]]`, `[\w-[\d_]]`, `[^\p{L}\d]`, `\x41`, `\u0041`, `[\x00-\x1f]`, `(?s).`},
		// loops
		{`a*`, `a+`, `a?`, `a*?`, `a+?b`, `a??b`, `a{2}`, `a{2,}`, `a{2,4}`, `a{2,4}?`, `[ab]*b`, `[^b]*b`, `.*b`, `.*?b`, `.+?\n`, `(ab)*`, `(ab)+?c`, `(ab){2}`, `(ab){2,3}`, `(a|b)*?c`, `(?:a*)*`, `(?:a*)+b`, `(?:a?){3}`, `(a?)*?b`, `(?:a|ab)(?:c|bcd)`, `(?:)*`, `(?:a*?)*?b`, `(?:\b|a)*`, `(?:(a)|b)*`, `(?:(a)|(b)|(c))+`, `(a*){2,3}`, `(?:x{0,2}y{0,2}){0,3}`},
		// alternatives
		{`a|ab|abc`, `abc|ab|a`, `(?:foo|bar|baz)`, `(?:if|else|then)\b`, `x|y|[a-c]|\d`, `(a|(b|c))d?`, `|a`, `a|`, `(?:a|b|c|d)x?`, `(?:\d|[a-f])+`, `(?:é|日|x).`},
		// groups and back references
		{`(a)(b)?`, `(?<n>a)\k<n>`, `(.)\1`, `(?i)(ab)\1`, `(a)|\1b`, `(\w+) \1`, `<<(\w+)\n(?:.*\n)*?\1`, `(?<q>['"]).*?\k<q>`, `(a(b(c)))`, `(?:(a)|b)\1?`, `(?<5>a)(b)`, `(?n)(a)(?<x>b)`, `(?i)(\w)\1`, `(?i)ſ`, `(?i)k`, `(?i)[k-l]`, `(?i)straße`, `(?i)σ`},
		// looking
		{`a(?=b)`, `a(?!b)`, `(?<=a)b`, `(?<!a)b`, `(?=(a+))a`, `(?<=(a)(b))a`, `(?<=\w+ )x`, `(?<!\n)^`, `(?<=^|\n).`, `(?<=a{2})a`, `(?<=a*?b)a`, `(?<=(?:ab|b))a`, `(?<=[^a]*)b`, `(?<=foo\()b`, `(?<=(.)\1)a`, `(?!(a)b)a`, `(?=a(?!b))a`, `(?<=(?=a)a)b`, `(?<!(?<!a)b)c`, `(?<=(?i:AB))a`, `(?<=a{1,2}?)b`, `(?<=[a-c]x?)\w`},
		// atomic groups and conditions
		{`(?>a*)b`, `(?>a*)a`, `(?>a|ab)c?`, `(?>(a)|b)*c`, `(?(?=a)ab|\w)`, `(?(?!a).|aa)`, `(?(a)a+|b)`},
		// anchors
		{`^`, `$`, `^a`, `b$`, `\A`, `\Aa`, `\Z`, `t\Z`, `\b`, `\B`, `\ba`, `a\b`, `\Ba`, `\Ga`, `(?-m)^a`, `(?-m)a$`, `^\s*$`, `\b\w+\b`, `(?:^|\s)\w`},
		// strings of languages
		{`"(?:\\.|[^"\\])*"`, `'(''|[^'])*'`, `/\*(?:.|\n)*?\*/`, `(?<![\w.])\d+(?:\.\d+)?(?:[eE][+-]?\d+)?`, `[a-zA-Z_]\w*(?=\s*\()`, `(?:[^()]|\((?:[^()]|\([^()]*\))*\))+`, `(<<-?)(\s*)(['"]?)(\w+)(\3)`, `(?x) a b `},
	} {
		for _, pattern := range patterns {
			t.Run(pattern, func(t *testing.T) {
				re, err := regexp2.Compile(anchored(pattern))
				if err != nil {
					t.Fatal(err)
				}
				p, err := Compile(anchored(pattern))
				if err != nil {
					t.Fatal(err)
				}
				var m Matcher
				for _, text := range texts {
					compare(t, &m, p, re, []rune(text), 1_000_000)
				}
			})
		}
	}
}

// TestBudget: an expression that would backtrack for ever ends after exactly
// the steps that it has, each time, and those of another that came between
// change nothing.
func TestBudget(t *testing.T) {
	other, err := Compile(anchored(`(\w+)\s(\w+)`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ pattern, text string }{
		{`"(?:\\\\|\\"|[^"])*"`, `"` + strings.Repeat(`\`, 200)},
		{`(a+)+b`, strings.Repeat("a", 60)},
		{`(a*)*b`, strings.Repeat("a", 60)},
		{`(?:a|aa)+$`, strings.Repeat("a", 100) + "b"},
		{`(a|aa)*c`, strings.Repeat("a", 100)},
		{`.*b.*b.*b.*c`, strings.Repeat("ab", 500)},
		{`(.*)\1\1b`, strings.Repeat("a", 5000)},
		{`(?=(a|aa)+b)`, strings.Repeat("a", 100)},
		{`(?!(a|aa)+b)a`, strings.Repeat("a", 100)},
		{`(?>(?:a|aa)+b)`, strings.Repeat("a", 100)},
		{`a{99}(?<=b(?:a|aa)+)`, strings.Repeat("a", 100)},
		{`((a?){20}){20}b`, strings.Repeat("a", 60)},
		{`(?(?=(a|aa)+b)a|a)`, strings.Repeat("a", 100)},
		{`(?i)(a|aa)*?(\2|b)c`, strings.Repeat("a", 100)},
	} {
		p, err := Compile(anchored(tt.pattern))
		if err != nil {
			t.Fatal(err)
		}
		var m Matcher
		text := []rune(tt.text)
		for _, limit := range []int{1, 100, 12_345, 200_000} {
			for range 2 {
				outcome, steps := m.Match(p, text, 0, limit)
				if outcome != OverBudget || steps != limit {
					t.Errorf("%s with %d steps ends as %d after %d, want %d after all", tt.pattern, limit, outcome, steps, OverBudget)
				}
				m.Match(other, text, 0, limit)
			}
		}
	}
}

// TestSteps: an attempt counts instructions and characters, and a match needs
// exactly as many steps as it is said to have taken.
func TestSteps(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          int
	}{
		{`a`, "a", 6},         // the branch at the start, the mark, \G, a, the group, the end
		{`a`, "b", 7},         // a fails; back over the mark and the branch to the end
		{`a*`, "aaaa", 6 + 4}, // a character is a step
		{`[^\n]*`, "aaaa", 6 + 4},
		{`(?<=\w)b`, "b", 11},
	} {
		p, err := Compile(anchored(tt.pattern))
		if err != nil {
			t.Fatal(err)
		}
		var m Matcher
		text := []rune(tt.text)
		outcome, steps := m.Match(p, text, 0, 1000)
		if steps != tt.want {
			t.Errorf("%s in %q took %d steps, want %d", tt.pattern, tt.text, steps, tt.want)
		}
		if again, _ := m.Match(p, text, 0, steps); again != outcome {
			t.Errorf("%s in %q with %d steps ends as %d, want %d", tt.pattern, tt.text, steps, again, outcome)
		}
		if less, _ := m.Match(p, text, 0, steps-1); less != OverBudget {
			t.Errorf("%s in %q with %d steps ends as %d, want %d", tt.pattern, tt.text, steps-1, less, OverBudget)
		}
	}
}

// TestStackFull: what regexp2's bound on its stack ends, the bound here ends,
// too, whatever the matcher ran before.
func TestStackFull(t *testing.T) {
	const pattern = `(?:(a)|b)*c`
	p, err := Compile(anchored(pattern))
	if err != nil {
		t.Fatal(err)
	}
	re := regexp2.MustCompile(anchored(pattern))
	var m Matcher
	ends := map[Outcome]int{}
	for length := 1000; length <= 64_000; length *= 2 {
		text := []rune(strings.Repeat("a", length) + "c")
		outcome, _ := m.Match(p, text, 0, 10_000_000)
		ends[outcome]++
		want, full := reference(t, re, text, 0)
		if full != (outcome == StackFull) || (want != nil) != (outcome == Matched) {
			t.Errorf("%d characters end as %d; regexp2 matches %v, its stack is full: %v", length, outcome, want != nil, full)
		}
	}
	if ends[Matched] == 0 || ends[StackFull] == 0 {
		t.Errorf("want some to match and some to be stopped: %v", ends)
	}
}

func TestUnsupported(t *testing.T) {
	for _, pattern := range []string{`(?<a>x)(?<b-a>y)`, `(?<-a>x)(?<a>y)`, `\X`, `(ab){1,2}?c`, `(a)?(?(1)b|c)`, `a\z`} {
		if _, err := Compile(pattern); !errors.Is(err, errUnsupported) {
			t.Errorf("%s gives %v, want %v", pattern, err, errUnsupported)
		}
	}
	for _, pattern := range []string{`(`, `[z-a]`, `\p{Nope}`, `a**`} {
		if _, err := Compile(pattern); err == nil || errors.Is(err, errUnsupported) {
			t.Errorf("%s gives %v, want regexp2's error", pattern, err)
		}
	}
}

// TestOutside: a position that isn't in the text is no match, and no panic.
func TestOutside(t *testing.T) {
	p, err := Compile(`a?`)
	if err != nil {
		t.Fatal(err)
	}
	var m Matcher
	for at, want := range map[int]Outcome{-1: NoMatch, 0: Matched, 1: Matched, 2: NoMatch} {
		if got, _ := m.Match(p, []rune("a"), at, 100); got != want {
			t.Errorf("at %d of one character: %d, want %d", at, got, want)
		}
	}
	if got, steps := m.Match(p, []rune("a"), 0, 0); got != OverBudget || steps != 0 {
		t.Errorf("without steps: %d after %d", got, steps)
	}
}

// TestNoAllocation: attempts after the first allocate nothing.
func TestNoAllocation(t *testing.T) {
	var programs []*Program
	for _, pattern := range []string{`(\w+)(?:\s|(\d))*`, `(?<=a)b|(?>c+)d`, `"(?:\\.|[^"\\])*"`} {
		p, err := Compile(anchored(pattern))
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, p)
	}
	text := []rune(`"a \" string" word 1 2 3`)
	var m Matcher
	run := func() {
		for _, p := range programs {
			for at := range text {
				m.Match(p, text, at, 10_000)
			}
		}
	}
	run()
	if n := testing.AllocsPerRun(10, run); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// TestIsWord: the answers at hand for ASCII are regexp2's.
func TestIsWord(t *testing.T) {
	for r := rune(0); r < 0x3000; r++ {
		want, err := regexp2.MustCompile(`^\w`).MatchString(string(r))
		if err != nil {
			t.Fatal(err)
		}
		if got := IsWord(r); got != want && r != '\u200c' && r != '\u200d' {
			t.Errorf("IsWord(%U) = %v, want %v", r, got, want)
		}
	}
}

// FuzzMatch: any expression that both engines take matches any text alike.
func FuzzMatch(f *testing.F) {
	for _, pattern := range []string{`(a|b)*?c`, `(?<=(a)\1?)b{2,3}?`, `(?>x+)(?(?=y)y|z)`, `(?i)(ab)\1|[^\W\d]`, `^(?:\w+\s?)*$`, `(?<!a|bc)(?:d|(e))+\b`, `(?:(a)|b|(c))*\2`, `\G(?!\z).{0,3}`} {
		for _, text := range []string{"abcabc", "xxyz aab\nBB", "éß日 "} {
			f.Add(pattern, text)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, source string) {
		const longest = 60
		if len(pattern) > longest || len(source) > longest {
			t.Skip("long")
		}
		expression := anchored(pattern)
		re, err := regexp2.Compile(expression)
		p, err2 := Compile(expression)
		if errors.Is(err2, errUnsupported) {
			t.Skip(err2)
		}
		if (err == nil) != (err2 == nil) {
			t.Fatalf("%q compiles with %v, regexp2 says %v", pattern, err2, err)
		}
		if err != nil {
			t.Skip(err)
		}
		var m Matcher
		compare(t, &m, p, re, []rune(source), 20_000)
	})
}

func ExampleMatcher() {
	p, err := Compile(`(\w+)(?=\()`)
	if err != nil {
		fmt.Println(err)
		return
	}
	var m Matcher
	text := []rune("call(me)")
	if outcome, _ := m.Match(p, text, 0, 1000); outcome == Matched {
		name := m.Group(1)
		fmt.Println(string(text[name.Start:name.End]))
	}
	// Output: call
}
