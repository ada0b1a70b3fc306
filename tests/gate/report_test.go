package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/tests/outside"
)

func TestReport(t *testing.T) {
	dir := t.TempDir()
	file, err := newReport(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(envReport, file)
	var out bytes.Buffer
	for _, kind := range []string{"race", ""} { // two runs of go test add to one report
		tt := &tester{out: &out, long: map[string][]string{}, lacking: map[string]int{}}
		tt.save(packageResult{Name: "shared/a" + kind, Status: "pass", Seconds: 100, Kind: kind, Tests: map[string]float64{"TestSlow": 90}})
		tt.save(packageResult{Name: "shared/c" + kind, Status: "pass", Seconds: 1, Cached: true})
	}
	steps := []stepResult{{Name: "make test", Seconds: 101, CPUSeconds: 190}, {Name: "make test-cloud", Seconds: 80, CPUSeconds: 20, Background: true, Error: "exit status 1"}}
	g, err := readGate(dir, steps, 2*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	g.Date = "2026-01-02"
	if err := g.save(dir); err != nil {
		t.Fatal(err)
	}
	g.print(&out)
	for _, want := range []string{
		"what the gate took: 2 min 0 s", "make test                1 min 41 s", "FAILED: exit status 1",
		"100.0 s  shared/arace (race)", "90.0 s  shared/a TestSlow", "2 of 4 results", "over budget: shared/a took 1 min 40 s, its budget is 10 s",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
	page := "before\n" + tableBegin + "old\n" + tableEnd + "after\n"
	text, err := replaceTable(page, g.table())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"before\n", "Gate of 2026-01-02: 2 min 0 s; 2 of 4", "| make test-cloud (background) | 1 min 20 s | 20 s |", "| `shared/a TestSlow` | 1 min 30 s |", "after\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	if again, err := replaceTable(text, g.table()); err != nil || again != text {
		t.Errorf("written again it differs (%v):\n%s", err, again)
	}
	if _, err := replaceTable("no marks", ""); err == nil {
		t.Error("a page without marks is no error")
	}
}

func TestPageHasMarks(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(outside.Checkout(t), "infra", "docs", "contribute", "testing.mdx"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := replaceTable(string(page), "table"); err != nil {
		t.Error(err)
	}
}

// Each line of the budgets names a package with tests.
func TestBudgets(t *testing.T) {
	names := map[string]bool{}
	for _, p := range modulePackages(t) {
		names[p.name()] = p.hasTests()
	}
	n := 0
	for name, seconds := range budgets() {
		n++
		if !names[name] || seconds <= 0 {
			t.Errorf("budget of %s: %v seconds", name, seconds)
		}
	}
	if lines := strings.Count(budgetsText, "\n"); n != lines {
		t.Errorf("%d lines of budgets.txt are read, it has %d", n, lines)
	}
}
