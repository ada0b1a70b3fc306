package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// engines are those that bench.mjs asks beside ours.
var engines = []string{"pagefind", "minisearch"}

// BenchmarkSearchAnswers prints what the search of bundles answers wrongly, and its
// ranks beside those of Pagefind and minisearch on the same articles. It is run by
// make bench-search, which installs the others; TestSearchAnswersReaders holds the
// rate.
func BenchmarkSearchAnswers(b *testing.B) {
	b.Run("translations", func(b *testing.B) { benchSites(b, translatedSites(b)) })
	b.Run("corpora", func(b *testing.B) { benchSites(b, corpusSites(b)) })
}

func benchSites(b *testing.B, sites []questionSite) {
	ours := make([][]int, len(sites))
	find := engineFind(b)
	for i := range sites {
		for _, q := range sites[i].questions {
			ours[i] = append(ours[i], q.rank(find(&sites[i], q.query)))
		}
	}
	others := askOthers(b, sites)
	totals := map[string]*answers{"bindery": {}}
	for i, s := range sites {
		for n, q := range s.questions {
			totals["bindery"].add(ours[i][n])
			var beside []any
			for _, e := range engines {
				if others[e] == nil {
					continue
				}
				if totals[e] == nil {
					totals[e] = &answers{}
				}
				totals[e].add(others[e][i][n])
				beside = append(beside, e, others[e][i][n])
			}
			if r := ours[i][n]; r < 1 || r > 3 {
				fmt.Println(append([]any{s.name, q.kind, q.query, "→", q.right[0], "is number", r}, beside...)...)
			}
		}
	}
	for _, e := range slices.Sorted(maps.Keys(totals)) {
		b.ReportMetric(100*float64(totals[e].three)/float64(totals[e].all), e+"-%")
		fmt.Printf("%-10s %v\n", e, totals[e]) // a benchmark's log is cut after ten lines
	}
}

// askOthers returns the ranks of the other engines, by engine, site and question;
// none where they can't be had, which it says.
func askOthers(t testing.TB, sites []questionSite) map[string][][]int {
	type question struct {
		Query string   `json:"query"`
		Right []string `json:"right"`
	}
	type site struct {
		Name      string     `json:"name"`
		Language  string     `json:"language"`
		Dir       string     `json:"dir"`
		Pages     []string   `json:"pages"`
		Questions []question `json:"questions"`
	}
	root := filepath.Join(outside.Checkout(t), ".cache", "searchbench")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Log("Pagefind and minisearch are left out: there is no node")
		return nil
	}
	if _, err := os.Stat(filepath.Join(root, "node_modules", "minisearch")); err != nil {
		t.Log("Pagefind and minisearch are left out: npm could not install them")
		return nil
	}
	var list []site
	for _, s := range sites {
		out := site{Name: s.name, Language: "en", Dir: s.dir}
		if slices.Contains(translations, s.name) {
			out.Language = s.name
		}
		for path, p := range readPages(t, s.dir) {
			if p.index == s.index {
				out.Pages = append(out.Pages, path)
			}
		}
		slices.Sort(out.Pages)
		for _, q := range s.questions {
			out.Questions = append(out.Questions, question{q.query, q.right})
		}
		list = append(list, out)
	}
	input, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, filepath.Join(root, "bench.mjs"))
	var complaints bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &complaints
	data, err := cmd.Output()
	if err != nil {
		t.Logf("Pagefind and minisearch are left out: %v: %s", err, complaints.String())
		return nil
	}
	var ranks map[string][][]int
	if err := json.Unmarshal(data, &ranks); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return ranks
}
