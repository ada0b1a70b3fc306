package pattern

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/tests/outside"
)

// try is an expression with a text, and where each match and its groups are.
type try struct {
	Source, Flags, Text string
	Want                [][]int `json:",omitempty"`
	Fault               bool    `json:",omitempty"`
}

// all finds all matches as String.prototype.matchAll does.
func all(source, flags, text string, limit int) (matches [][]int, steps int, err error) {
	p, err := Compile(utf16.Encode([]rune(source)), Flags{
		IgnoreCase: strings.Contains(flags, "i"), Multiline: strings.Contains(flags, "m"),
		DotAll: strings.Contains(flags, "s"), Unicode: strings.Contains(flags, "u"),
	})
	if err != nil {
		return nil, 0, err
	}
	units := utf16.Encode([]rune(text))
	var m Matcher
	for at := 0; at <= len(units); {
		outcome, took := m.Find(p, units, at, strings.Contains(flags, "y"), limit-steps)
		steps += took
		if outcome == OverBudget {
			return nil, steps, errors.New("over budget")
		}
		if outcome == NoMatch {
			break
		}
		var found []int
		for i := range p.Groups() + 1 {
			start, end := m.Group(i)
			found = append(found, start, end)
		}
		matches = append(matches, found)
		if at = found[1]; found[0] == found[1] {
			_, at, _ = p.next(units, at, false)
			if found[1] == len(units) {
				break
			}
		}
	}
	return matches, steps, nil
}

// engine is what Node says to the same tries.
const engine = `
const tries = JSON.parse(require('fs').readFileSync(0, 'utf8'));
for (const t of tries) {
  let re;
  try { re = new RegExp(t.Source, t.Flags + 'dg'); } catch { t.Fault = true; continue; }
  t.Want = [];
  for (const m of t.Text.matchAll(re)) t.Want.push(m.indices.flatMap((x) => x || [-1, -1]));
}
process.stdout.write(JSON.stringify(tries));
`

var sources = []string{
	`(?<=\$)\d+`, `\B(?=(\d{3})+(?!\d))`, `(['"]).*?\1`, `(a*)*`, `(?:(a)|b)*`, `(z)((a+)?(b+)?(c))*`, `(?=(a+))a*b\1`, `(.*?)a(?!(a+)b\2c)\2(.*)`,
	`(?<year>\d{4})-(?<month>\d\d)\k<month>?`, `\k<a>(?<a>x)`, `(?<!a)b`, `(?<=(\d+)(\d+))$`, `(?<=\1(a))b`, `(?<=([abc]+)([abc]+))c`, `^|$`, `\b\w+\b`, `[^]`, `[]`, `[\s\S]*?x`, `[\w-]+`,
	`a{,2}`, `a{2`, `{a}`, `]`, `\1(a)`, `\2(a)`, `\08`, `\777`, `\c`, `\cA`, `[\c]`, `[\c1]`, `[\b]`, `\k`, `\k<a>`, `\u{61}`, `\u0061`, `\ud83d\ude00`, `[😀-😂]`, `😀+`, `^.$`, `.`, `\p{L}+`, `\P{Lu}`, `\p{Script=Greek}`, `[\p{Ll}\d]`,
	`(?:a?)*?b`, `(?:a?){3}b`, `(a?){2,3}?$`, `(?:a|ab)(?:c|bcd)(?:d*)`, `x*`, `(?=x)*a`, `(?!)|b`, `(a)|(b)|\1c`, `((a)|(b))+`, `(?:(?=(a))|b)+`, `ſ`, `s`, `k`, `K`, `ß`, `ẞ`, `[^x]`, `\W`, `\w`, `[\W]`, `[^\w]`, `σ`, `Σ`, `İ`, `ı`, `i`, `µ`, `ǆ`, `ᾀ`, `ᾳ`,
	`(`, `)`, `*`, `a**`, `[z-a]`, `(?<a>.)(?<a>.)`, `(?<a`, `a{2,1}`, `\`, `(?<=a)*`, `\-`, `[\-a]`, `[\d-x]`, `[a-\d]`, `\_`, `\/`, `\a`, `(?a)`, `a|`, `|a`, `()`, `(?:)`, `\p{Nope}`, `\u`, `\x4`, `\x41`, `[a-]`, `[-a]`, `[]a]`, `[^]a]`, `\0`, `(?:){999999999}`, `\8`, `(\8)`,
	`(a+)+$`, `(?:a+){2,}b`, `(a(b)?)+`, `(?:(\w)(?!\1))+`, `(?<=^|,)[^,]*`, `(?<![\w.])\.\d`, `\$(?=\{)|\}`, `^(?!.*--)[a-z-]+$`, `(?:^|_|-)(.)`, `([A-Z]+)([A-Z][a-z])|([a-z])([A-Z])`,
}

var texts = []string{
	"", "a", "b", "aab", "aaab", "baaabac", "zaacbbbcac", "abcd", "costs $12, or $7.5", "1234567.89", `he said "it's" and 'no'`, "2024-0101", "a,b,,c", "ab\ncd\r\ne", "😀😁 x", "ſ s S K k K ß ẞ SS", "Σσς ΑΒΓ αβγ", "iIıİ", "µμΜ ǆǅǄ ᾀᾈ ᾳᾼ",
	"fooBarBAZqux", "foo-bar_baz", "<a href='x'>${b}</a>", "k<a> \\c ]{a{2 {,2}", "\x01\x1f\b\x00 8 A", "aaaaaaaaaaaa", "axxbxa",
}

// TestEngine: Node finds the same matches and groups, and takes the same
// expressions.
func TestEngine(t *testing.T) {
	node := outside.Program(t, "node")
	var tries []try
	for _, source := range sources {
		for _, flags := range []string{"", "i", "m", "su", "iu", "y"} {
			for _, text := range texts {
				tries = append(tries, try{Source: source, Flags: flags, Text: text})
			}
		}
	}
	tries = append(tries, made(4000)...)
	compare(t, node, tries)
}

// made are expressions by chance, the same each time.
func made(count int) []try {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	var part func(depth int) string
	part = func(depth int) string {
		if depth > 3 {
			return pick("a", "b", "c", ".", "[ab]", "[^a]", `\w`, `\b`, "^", "$", `\1`, `\2`)
		}
		inner := part(depth + 1)
		for range r.IntN(3) {
			inner += part(depth + 1)
		}
		switch r.IntN(9) {
		case 0:
			return "(" + inner + ")" + pick("", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{2,}")
		case 1:
			return "(?:" + inner + ")" + pick("*", "+", "?", "*?", "{2}", "{0,3}")
		case 2:
			return pick("(?=", "(?!", "(?<=", "(?<!") + inner + ")"
		case 3:
			return "(?:" + inner + "|" + part(depth+1) + ")"
		case 4:
			return "(" + inner + "|" + part(depth+1) + ")"
		}
		return inner
	}
	var out []try
	for range count {
		var text strings.Builder
		for range r.IntN(9) {
			text.WriteString(pick("a", "b", "c", "A"))
		}
		out = append(out, try{Source: part(0), Flags: pick("", "i", "u", "y"), Text: text.String()})
	}
	return out
}

func compare(t *testing.T, node string, tries []try) {
	t.Helper()
	in, err := json.Marshal(tries)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "-e", engine)
	cmd.Stdin = strings.NewReader(string(in))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []try
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	bad, unsupported := 0, 0
	for _, w := range want {
		if bad > 30 {
			t.Fatal("and more")
		}
		got, _, err := all(w.Source, w.Flags, w.Text, 50_000_000)
		switch {
		case errors.Is(err, ErrUnsupported):
			unsupported++
		case (err != nil) != w.Fault:
			bad++
			t.Errorf("/%s/%s in %q: error %v, Node refuses it: %v", w.Source, w.Flags, w.Text, err, w.Fault)
		case err == nil && !cmp.Equal(got, w.Want) && len(got)+len(w.Want) > 0:
			bad++
			t.Errorf("/%s/%s in %q: %v, Node finds %v", w.Source, w.Flags, w.Text, got, w.Want)
		}
	}
	if unsupported > len(want)/50 {
		t.Errorf("%d of %d are unsupported", unsupported, len(want))
	}
}

// TestSteps: what takes long ends after the same steps each time; without
// back-references it does not take long.
func TestSteps(t *testing.T) {
	long := strings.Repeat("a", 5000)
	for _, tt := range []struct {
		source, text string
		over         bool
	}{
		{`(a+)+$`, strings.Repeat("a", 2000) + "b", false},
		{`(a*)*$`, strings.Repeat("a", 2000) + "b", false},
		{`(a|a?)+$`, long + "b", false},
		{`(?:a|aa)+$`, long + "b", false},
		{`^(([a-z])+.)+[A-Z]([a-z])+$`, long, false},
		{`(a+)+\1$`, strings.Repeat("a", 40) + "b", true},
		{`(?=(a+)+$)b`, strings.Repeat("a", 40) + "b", true},
	} {
		_, steps, err := all(tt.source, "", tt.text, 60_000_000)
		if (err != nil) != tt.over {
			t.Errorf("/%s/ took %d steps: %v", tt.source, steps, err)
		}
		if _, again, _ := all(tt.source, "", tt.text, 60_000_000); again != steps {
			t.Errorf("/%s/ took %d steps and %d", tt.source, steps, again)
		}
	}
}

// TestLimits: no expression is too much to read.
func TestLimits(t *testing.T) {
	for _, source := range []string{strings.Repeat("(", 100_000), strings.Repeat("(?:", 2000) + strings.Repeat(")", 2000), `((((a{99}){99}){99}){99}){99}`, `(a|b){2147483647}`} {
		if _, _, err := all(source, "", "a", 1000); err == nil {
			t.Errorf("%.20s… is taken", source)
		}
	}
}

// FuzzFind: whatever is read ends within its steps.
func FuzzFind(f *testing.F) {
	for _, source := range sources {
		f.Add(source, "iu", "ab😀\n")
		f.Add(source, "m", "ab😀\n")
	}
	f.Fuzz(func(t *testing.T, source, flags, text string) {
		const limit = 100_000
		if _, steps, err := all(source, flags, text, limit); err == nil && steps > limit {
			t.Errorf("%d steps", steps)
		}
	})
}

func ExampleMatcher() {
	p, err := Compile(utf16.Encode([]rune(`(?<=\$)(\d+)`)), Flags{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var m Matcher
	text := utf16.Encode([]rune("it costs $12"))
	if outcome, _ := m.Find(p, text, 0, false, 1000); outcome == Matched {
		start, end := m.Group(1)
		fmt.Println(string(utf16.Decode(text[start:end])))
	}
	// Output: 12
}
