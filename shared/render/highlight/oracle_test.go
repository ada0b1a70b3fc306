package highlight

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// reference is how Shiki's grammars class a block of code: a letter a byte.
type reference struct{ Lang, Code, Classes string }

// references returns every distinct block of the real sites as Shiki classes it.
func references(t testing.TB) []reference {
	t.Helper()
	var all []reference
	sites, _ := outside.Sites(t)
	for _, site := range sites {
		file, err := os.Open(site.Highlighted(t))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			var r reference
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// referenceLetters are the letters of the reference by our classes. It has no
// class for what only diffs and Markdown have.
var referenceLetters = [classCount]byte{
	Plain: '-', Comment: 'c', String: 's', Number: 'n', Keyword: 'k', Constant: 'l', Operator: 'o', Function: 'f',
	Type: 't', Tag: 'g', Attribute: 'a', Inserted: '+', Deleted: '+', Heading: '+', Emphasis: '+', Strong: '+',
}

// agreement counts bytes of code that are no white space.
type agreement struct {
	bytes, same int
	// confused counts by the reference's letter and ours.
	confused map[string]int
	// examples are some of the stretches behind each of those.
	examples map[string][]string
}

func (a *agreement) share() float64 { return 100 * float64(a.same) / float64(max(a.bytes, 1)) }

// add compares the runs of a block with its reference.
func (a *agreement) add(r reference, runs []Run) {
	if a.confused == nil {
		a.confused, a.examples = map[string]int{}, map[string][]string{}
	}
	last := ""
	for _, run := range runs {
		letter := referenceLetters[run.Class]
		for i := run.Start; i < run.End; i++ {
			if isSpace(r.Code[i]) {
				last = ""
				continue
			}
			a.bytes++
			if r.Classes[i] == letter {
				a.same++
				last = ""
				continue
			}
			pair := string([]byte{r.Classes[i], letter})
			a.confused[pair]++
			if pair != last {
				last = pair
				a.examples[pair] = append(a.examples[pair], r.Code[max(0, i-25):i]+"⟦"+r.Code[i:min(len(r.Code), i+25)])
			}
		}
	}
}

// worst gives the commonest confusions.
func (a *agreement) worst(most int) string {
	pairs := make([]string, 0, len(a.confused))
	for pair := range a.confused {
		pairs = append(pairs, pair)
	}
	slices.SortFunc(pairs, func(x, y string) int {
		if a.confused[x] != a.confused[y] {
			return a.confused[y] - a.confused[x]
		}
		return strings.Compare(x, y)
	})
	var b strings.Builder
	for _, pair := range pairs[:min(most, len(pairs))] {
		fmt.Fprintf(&b, " %c→%c %d", pair[0], pair[1], a.confused[pair])
	}
	return b.String()
}

// TestReference: most of the code has the class that Shiki gives it. For the
// languages with lexers of their own the shares are asserted; for the others
// they are logged. Set BINDERY_CONFUSED to a label to see where it differs.
func TestReference(t *testing.T) {
	outside.NoRace(t, "one goroutine does all its work")
	floors := map[string]struct {
		labels []string
		share  float64
	}{
		"TypeScript": {[]string{"ts", "typescript"}, 97},
		"TSX":        {[]string{"tsx", "jsx", "js", "javascript"}, 97},
		"JSON":       {[]string{"json", "jsonc", "json5", "jsonl"}, 97},
		"shell":      {[]string{"bash", "sh", "shell", "zsh", "console"}, 93},
		"Python":     {[]string{"python", "py"}, 93},
	}
	h := New(Options{})
	own, grammar := map[string]*agreement{}, map[string]*agreement{}
	var labels []string
	blocks := map[string]int{}
	for _, r := range references(t) {
		if own[r.Lang] == nil {
			own[r.Lang], grammar[r.Lang] = &agreement{}, &agreement{}
			labels = append(labels, r.Lang)
		}
		blocks[r.Lang]++
		own[r.Lang].add(r, h.Runs(r.Lang, r.Code))
		lang := h.languages.find(r.Lang)
		if lang == nil || lang.lexer == nil {
			continue
		}
		if lang.lex == nil || lang.name == markdownName || lang.name == mdxName { // the last two have no grammar alone
			continue
		}
		grammar[r.Lang].add(r, h.grammarRuns(lang, r.Code))
	}
	slices.SortFunc(labels, func(x, y string) int { return own[y].bytes - own[x].bytes })
	for _, label := range labels {
		beside := ""
		if g := grammar[label]; g.bytes > 0 {
			beside = fmt.Sprintf(", chroma's grammar %5.1f %%", g.share())
		}
		t.Logf("%-12s %5d blocks %7d bytes %5.1f %%%s;%s", label, blocks[label], own[label].bytes, own[label].share(), beside, own[label].worst(5))
	}
	if a := own[os.Getenv("BINDERY_CONFUSED")]; a != nil {
		for pair, examples := range a.examples {
			for _, example := range examples {
				t.Logf("%s: %q", pair, example)
			}
		}
	}
	for name, floor := range floors {
		sum := agreement{}
		for _, label := range floor.labels {
			if a := own[label]; a != nil {
				sum.bytes += a.bytes
				sum.same += a.same
			}
		}
		t.Logf("%s: %.2f %% of %d bytes", name, sum.share(), sum.bytes)
		if sum.bytes > 0 && sum.share() < floor.share {
			t.Errorf("%s: %.2f %% of %d bytes have the reference's class, want at least %.0f %%", name, sum.share(), sum.bytes, floor.share)
		}
	}
}
