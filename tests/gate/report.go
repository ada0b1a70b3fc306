package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A gateReport is what the last gate cost, in .cache/gate/report.json.
type gateReport struct {
	// Date is the day of the gate's end (UTC).
	Date     string          `json:"date"`
	Seconds  float64         `json:"seconds"`
	Steps    []stepResult    `json:"steps"`
	Packages []packageResult `json:"packages"`
}

const (
	reportFile   = "report.json"
	packagesFile = "packages.jsonl"
)

// newReport empties the folder's file of package results and returns its name.
func newReport(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	file := filepath.Join(dir, packagesFile)
	return file, os.WriteFile(file, nil, 0o644)
}

// readGate makes a report of the results of steps and of the packages that they
// added to the folder's file.
func readGate(dir string, steps []stepResult, took time.Duration) (gateReport, error) {
	g := gateReport{Date: time.Now().UTC().Format(time.DateOnly), Seconds: took.Seconds(), Steps: steps}
	text, err := os.ReadFile(filepath.Join(dir, packagesFile))
	if err != nil {
		return g, err
	}
	for line := range bytes.Lines(text) {
		var p packageResult
		if err := json.Unmarshal(line, &p); err != nil {
			return g, fmt.Errorf("%s: %w", packagesFile, err)
		}
		g.Packages = append(g.Packages, p)
	}
	return g, nil
}

func (g gateReport) save(dir string) error {
	text, err := json.MarshalIndent(g, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, reportFile), append(text, '\n'), 0o644)
}

// copyReport copies the report of the gate in the clone to the caller's checkout.
func copyReport(clone, caller string) error {
	text, err := os.ReadFile(filepath.Join(clone, ".cache", "gate", reportFile))
	if err != nil {
		return err
	}
	dir := filepath.Join(caller, ".cache", "gate")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, reportFile), text, 0o644)
}

// budgetsText has a line for each package: its folder and the seconds that its
// tests may take in a gate on two processors.
//
//go:embed budgets.txt
var budgetsText string

// budgets maps packages to seconds.
func budgets() map[string]float64 {
	b := map[string]float64{}
	for line := range strings.Lines(budgetsText) {
		name, seconds, ok := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseFloat(strings.TrimSpace(seconds), 64); ok && err == nil {
			b[name] = n
		}
	}
	return b
}

// defaultBudget is the budget in seconds of a package without a line.
const defaultBudget = 10

// over returns the packages that took more than half over their budgets.
func (g gateReport) over() []string {
	b := budgets()
	took := map[string]float64{}
	for _, p := range g.Packages {
		if !p.Cached {
			took[p.Name] += p.Seconds
		}
	}
	var names []string
	for name, seconds := range took {
		if limit := cmp.Or(b[name], defaultBudget); seconds > 1.5*limit {
			names = append(names, fmt.Sprintf("%s took %s, its budget is %s", name, minutes(seconds), minutes(limit)))
		}
	}
	slices.Sort(names)
	return names
}

// slowest returns the ten packages and the ten tests that took longest.
func (g gateReport) slowest() (packages, tests []timed) {
	for _, p := range g.Packages {
		if p.Cached {
			continue
		}
		name := p.Name
		if p.Kind != "" {
			name += " (" + p.Kind + ")"
		}
		packages = append(packages, timed{name, p.Seconds})
		for test, seconds := range p.Tests {
			tests = append(tests, timed{p.Name + " " + test, seconds})
		}
	}
	return most(packages, 10), most(tests, 10)
}

type timed struct {
	name    string
	seconds float64
}

func most(list []timed, n int) []timed {
	slices.SortFunc(list, func(x, y timed) int { return cmp.Or(cmp.Compare(y.seconds, x.seconds), cmp.Compare(x.name, y.name)) })
	return list[:min(n, len(list))]
}

// cached counts the packages with results from Go's test cache, and all.
func (g gateReport) cached() (n, all int) {
	for _, p := range g.Packages {
		if p.Cached {
			n++
		}
	}
	return n, len(g.Packages)
}

// print writes the report for a person.
func (g gateReport) print(out io.Writer) {
	fmt.Fprintf(out, "\n== what the gate took: %s\n", minutes(g.Seconds))
	for _, s := range g.Steps {
		beside := ""
		if s.Background {
			beside = ", in the background"
		}
		fmt.Fprintf(out, "%-20s %14s  (processor %s%s) %s\n", s.Name, minutes(s.Seconds), minutes(s.CPUSeconds), beside, outcome(s))
	}
	packages, tests := g.slowest()
	fmt.Fprintln(out, "\nslowest packages")
	for _, p := range packages {
		fmt.Fprintf(out, "%8.1f s  %s\n", p.seconds, p.name)
	}
	fmt.Fprintln(out, "\nslowest tests")
	for _, t := range tests {
		fmt.Fprintf(out, "%8.1f s  %s\n", t.seconds, t.name)
	}
	n, all := g.cached()
	fmt.Fprintf(out, "\n%d of %d results of packages came from the cache\n", n, all)
	for _, line := range g.over() {
		fmt.Fprintln(out, "over budget:", line)
	}
}

// Marks around the table in the page on testing.
const (
	tableBegin = "{/* Written by make gate-table. */}\n"
	tableEnd   = "{/* End of what make gate-table writes. */}\n"
)

// writeTable writes the times of the last gate into the page on testing of the
// checkout.
func writeTable(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, ".cache", "gate", reportFile))
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("no report: .ci/run writes one")
	} else if err != nil {
		return err
	}
	var g gateReport
	if err := json.Unmarshal(text, &g); err != nil {
		return fmt.Errorf("%s: %w", reportFile, err)
	}
	page := filepath.Join(dir, "infra", "docs", "contribute", "testing.mdx")
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	updated, err := replaceTable(string(old), g.table())
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(page, []byte(updated), 0o644)
}

// replaceTable puts the table between the marks of a page.
func replaceTable(page, table string) (string, error) {
	before, rest, ok := strings.Cut(page, tableBegin)
	_, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		return "", errors.New("no marks of make gate-table")
	}
	return before + tableBegin + "\n" + table + "\n" + tableEnd + after, nil
}

// table returns the report as tables in Markdown.
func (g gateReport) table() string {
	var b strings.Builder
	n, all := g.cached()
	fmt.Fprintf(&b, "Gate of %s: %s; %d of %d results of packages came from the cache.\n\n", g.Date, minutes(g.Seconds), n, all)
	b.WriteString("| Step | Time | Processor time |\n|---|---|---|\n")
	for _, s := range g.Steps {
		name := s.Name
		if s.Background {
			name += " (background)"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, minutes(s.Seconds), minutes(s.CPUSeconds))
	}
	packages, tests := g.slowest()
	for _, part := range []struct {
		title string
		rows  []timed
	}{{"Slowest packages", packages}, {"Slowest tests", tests}} {
		if len(part.rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n| %s | Time |\n|---|---|\n", part.title)
		for _, r := range part.rows {
			fmt.Fprintf(&b, "| `%s` | %s |\n", r.name, minutes(r.seconds))
		}
	}
	return b.String()
}
