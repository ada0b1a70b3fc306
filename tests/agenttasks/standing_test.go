package agenttasks

import (
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/tests/outside"
)

// standing sums up the tries of a task, of a family of tasks, or of all.
type standing struct {
	name   string
	tasks  []tally // one for each task
	score  int     // of all tries together, in percent for each
	rounds int
	turns  int
	usage  admin.AgentUsage
}

// tally counts the tries of a task, and those that passed.
type tally struct{ tries, passed int }

func (s standing) tally() (all tally) {
	for _, t := range s.tasks {
		all.tries, all.passed = all.tries+t.tries, all.passed+t.passed
	}
	return all
}

// passAll estimates the probability that k tries of a task all pass, from c passes of n
// tries without bias: C(c,k)/C(n,k), the mean of all tasks. It returns false where a task
// has fewer tries.
func (s standing) passAll(k int) (*big.Rat, bool) {
	sum := new(big.Rat)
	for _, t := range s.tasks {
		if t.tries < k {
			return nil, false
		}
		n, k := int64(t.tries), int64(k)
		sum.Add(sum, new(big.Rat).SetFrac(new(big.Int).Binomial(int64(t.passed), k), new(big.Int).Binomial(n, k)))
	}
	if len(s.tasks) == 0 {
		return nil, false
	}
	return sum.Quo(sum, new(big.Rat).SetInt64(int64(len(s.tasks)))), true
}

// perSolved returns the cost of all tries for each that passed, in millionths of a US
// dollar, rounded to the nearest; false where none passed.
func (s standing) perSolved() (int64, bool) {
	passed := int64(s.tally().passed)
	if passed == 0 {
		return 0, false
	}
	return (s.usage.Cost + passed/2) / passed, true
}

// add adds a try of a task.
func (s *standing) add(r result, first bool) {
	if first {
		s.tasks = append(s.tasks, tally{})
	}
	t := &s.tasks[len(s.tasks)-1]
	if t.tries++; len(r.Reasons) == 0 {
		t.passed++
	}
	s.score += r.Score
	s.rounds += r.Rounds
	s.turns += r.Turns
	s.usage = s.usage.Add(r.Usage)
}

// standings sums up results, which are in the order of tasks: by task, by family, and all.
func standings(results []result) (tasks, families []standing, all standing) {
	all.name = "all"
	last := ""
	for _, r := range results {
		if r.outside {
			continue
		}
		first := r.Task != last
		if last = r.Task; first {
			tasks = append(tasks, standing{name: r.Task})
		}
		i := slices.IndexFunc(families, func(s standing) bool { return s.name == r.Family })
		if i < 0 {
			i = len(families)
			families = append(families, standing{name: r.Family})
		}
		tasks[len(tasks)-1].add(r, first)
		families[i].add(r, first)
		all.add(r, first)
	}
	return tasks, families, all
}

// most is the largest number of tries that a task of some results has.
func most(results []result) int {
	n := 1
	tasks, _, _ := standings(results)
	for _, s := range tasks {
		n = max(n, s.tasks[0].tries)
	}
	return n
}

// figures are the cells that both tables have: tries, passed, pass^1 to pass^k, rounds,
// turns, cost, and cost for each that passed.
func (s standing) figures(k int) []string {
	t := s.tally()
	cells := []string{strconv.Itoa(t.tries), strconv.Itoa(t.passed)}
	for i := range k {
		cell := "–"
		if p, ok := s.passAll(i + 1); ok {
			cell = p.Mul(p, big.NewRat(100, 1)).FloatString(1) + "%"
		}
		cells = append(cells, cell)
	}
	solved := "–"
	if c, ok := s.perSolved(); ok {
		solved = admin.USDollars(c)
	}
	return append(cells, strconv.Itoa(s.rounds), strconv.Itoa(s.turns), admin.USDollars(s.usage.Cost), solved)
}

func passNames(k int) []string {
	var names []string
	for i := range k {
		names = append(names, fmt.Sprintf("pass^%d", i+1))
	}
	return names
}

// tableOf shows results for people: each task, each family, and all. Input does not
// count tokens that the model's server had in its cache.
func tableOf(results []result) string {
	var b strings.Builder
	k := most(results)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells ...string) { fmt.Fprintln(w, strings.Join(cells, "\t")+"\t") }
	tasks, families, all := standings(results)
	head := slices.Concat([]string{"task", "tries", "passed"}, passNames(k), []string{"rounds", "turns", "cost", "per solved", "score", "input", "cached", "output"})
	row(head...)
	line := func(s standing) {
		u := s.usage
		row(slices.Concat([]string{s.name}, s.figures(k), []string{fmt.Sprintf("%d%%", s.score/max(s.tally().tries, 1)),
			strconv.FormatInt(u.Input+u.CacheWrite, 10), strconv.FormatInt(u.CacheRead, 10), strconv.FormatInt(u.Output, 10)})...)
	}
	for _, s := range tasks {
		line(s)
	}
	head[0] = "family"
	row(head...)
	for _, s := range families {
		line(s)
	}
	line(all)
	_ = w.Flush() // to memory
	if n := len(results) - all.tally().tries; n > 0 {
		fmt.Fprintf(&b, "%d tries ended for another reason than the model, and do not count.\n", n)
	}
	return b.String()
}

// markdownHead is the head of a table in Markdown, with pass^1 to pass^k.
func markdownHead(first string, k int) string {
	names := []string{"Model", first, "Tasks", "Tries", "Passed"}
	if first == "Task" {
		names = slices.Delete(names, 2, 3)
	}
	for _, n := range passNames(k) {
		names = append(names, "`"+n+"`")
	}
	names = append(names, "Rounds", "Turns", "Cost, USD", "Cost per solved task, USD")
	return "| " + strings.Join(names, " | ") + " |\n|---|---" + strings.Repeat("|--:", len(names)-2) + "|\n"
}

// markdownOf shows results as two tables in Markdown: by family, and by task.
func markdownOf(results []result) string {
	var b strings.Builder
	k := most(results)
	tasks, families, all := standings(results)
	for i, part := range []struct {
		first string
		rows  []standing
	}{{"Family", append(families, all)}, {"Task", tasks}} {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(markdownHead(part.first, k))
		for _, s := range part.rows {
			cells := slices.Concat([]string{results[0].Model, s.name, strconv.Itoa(len(s.tasks))}, s.figures(k))
			if part.first == "Task" {
				cells = slices.Delete(cells, 2, 3)
			}
			b.WriteString("| " + strings.ReplaceAll(strings.Join(cells, " | "), "$", "") + " |\n") // two dollar signs are a formula
		}
	}
	return b.String()
}

// scripted are results of tries: each letter is one, "+" passed and "-" failed, at a cost
// in millionths of a US dollar; "x" ended for another reason.
func scripted(task, family, tries string, cost int64) []result {
	var all []result
	for i, c := range tries {
		r := result{Task: task, Family: family, Model: "best", Try: i + 1, Score: 100, Rounds: 2, Turns: 10, Usage: admin.AgentUsage{Input: 1000, CacheRead: 9000, Output: 500, Cost: cost}, outside: c == 'x'}
		if c != '+' {
			r.Score, r.Reasons, r.Rounds = 80, []string{"round 1: nothing is asked"}, 1
		}
		all = append(all, r)
	}
	return all
}

// pass^k is the share of all choices of k tries that have passes alone, which counting
// shows, and a cost is exact to the millionth.
func TestStandings(t *testing.T) {
	for _, c := range []struct {
		tries  string
		passes []string // pass^1 and so on, as fractions
		cost   int64    // of each try
		solved string
	}{
		{tries: "+", passes: []string{"1/1"}, cost: 4512, solved: "$0.004512"},
		{tries: "-", passes: []string{"0/1"}, cost: 4512, solved: "–"},
		{tries: "+++-", passes: []string{"3/4", "1/2", "1/4", "0/1"}, cost: 300_000, solved: "$0.40"},
		{tries: "-+-+", passes: []string{"1/2", "1/6", "0/1", "0/1"}, cost: 1, solved: "$0.000002"},
		{tries: "++-", passes: []string{"2/3", "1/3", "0/1"}, cost: 1, solved: "$0.000002"}, // 1.5 millionths
		{tries: "----", passes: []string{"0/1", "0/1", "0/1", "0/1"}, cost: 1_000_000, solved: "–"},
		{tries: "++x", passes: []string{"1/1", "1/1"}, cost: 10, solved: "$0.00001"},
	} {
		tasks, _, _ := standings(scripted("one", "text", c.tries, c.cost))
		s := tasks[0]
		for k := 1; k <= len(c.passes)+1; k++ {
			p, ok := s.passAll(k)
			if want := k <= len(c.passes); ok != want {
				t.Errorf("%s: pass^%d is known: %t", c.tries, k, ok)
			} else if ok && (p.String() != c.passes[k-1] || p.Cmp(counted(c.tries[:s.tasks[0].tries], k)) != 0) {
				t.Errorf("%s: pass^%d is %s, want %s; of all choices it is %s", c.tries, k, p, c.passes[k-1], counted(c.tries[:s.tasks[0].tries], k))
			}
		}
		if figures := s.figures(1); figures[len(figures)-1] != c.solved {
			t.Errorf("%s: each solved one cost %s, want %s", c.tries, figures[len(figures)-1], c.solved)
		}
	}
}

// counted is the share of the choices of k tries in which all passed, by counting them.
func counted(tries string, k int) *big.Rat {
	all, passed := int64(0), int64(0)
	for chosen := range 1 << len(tries) {
		n, fine := 0, true
		for i, c := range tries {
			if chosen&(1<<i) != 0 {
				n++
				fine = fine && c == '+'
			}
		}
		if n == k {
			if all++; fine {
				passed++
			}
		}
	}
	return big.NewRat(passed, all)
}

// Tables have each task, each family and all. A family has the mean of its tasks' pass^k,
// and none for a k that one of them was not tried so often for.
func TestTables(t *testing.T) {
	results := slices.Concat(
		scripted("rename-feature", "text", "++++", 30_000), scripted("terminology", "text", "++-+", 45_678),
		scripted("ask-limit", "ask back", "----", 12_345), scripted("ask-role", "ask back", "+x-x", 20_000), scripted("question", "links", "++++", 0))
	golden.Same(t, filepath.Join("testdata", "tables", "table.txt"), []byte(tableOf(results)))
	golden.Same(t, filepath.Join("testdata", "tables", "table.md"), []byte(markdownOf(results)))
}

// The page of results has the columns of the tables that make agent-tasks writes for four tries.
func TestThePageHasTheColumns(t *testing.T) {
	page := readText(t, filepath.Join(outside.Checkout(t), "infra", "docs", "contribute", "agent-results.mdx"))
	for _, first := range []string{"Family", "Task"} {
		if head := markdownHead(first, 4); !strings.Contains(page, head) {
			t.Errorf("the page lacks\n%s", head)
		}
	}
}
