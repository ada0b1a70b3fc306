package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// steps lists what must hold before a change lands. Background steps mostly
// wait: for retries, for the reconciler's clock, for deadlines.
func steps() []step {
	made := func(target string, args ...string) []string {
		return append([]string{"make", "--no-print-directory", target}, args...)
	}
	return []step{
		{name: "formatting", command: made("fmt")},
		{name: "go.mod is tidy", command: []string{"go", "mod", "tidy", "-diff"}},
		{name: "programs", command: made("programs")},
		{name: "make test-cloud", command: made("test-cloud"), after: []string{"programs"}, background: true},
		{name: "make test-chart", command: made("test-chart"), after: []string{"programs"}, background: true},
		{name: "make test-sam", command: made("test-sam"), after: []string{"programs"}, background: true},
		{name: "make test-release", command: made("test-release"), after: []string{"programs"}, background: true},
		{name: "make test-kills", command: made("test-kills", "KILLS=20", "SEED=8"), after: []string{"programs"}, background: true},
		{name: "make test", command: made("test", "RACE=yes"), after: []string{"programs"}},
		{name: "make vet", command: made("vet")},
		{name: "make run", command: []string{".ci/try-run"}, after: []string{"programs"}},
	}
}

// runSteps runs the steps of the gate in the current folder, a checkout.
func runSteps(ctx context.Context, steps []step, out io.Writer) error {
	dir, err := filepath.Abs(filepath.Join(".cache", "gate"))
	if err != nil {
		return err
	}
	report, err := newReport(dir)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(dir, "logs")); err != nil {
		return err
	}
	s := &scheduler{out: out, logs: filepath.Join(dir, "logs"), atOnce: 2, grace: 30 * time.Second}
	for i := range steps {
		steps[i].env = append(steps[i].env, envReport+"="+report)
	}
	began := time.Now()
	results, failure := s.run(ctx, steps)
	g, err := readGate(dir, results, time.Since(began))
	if err != nil {
		return err
	}
	if err := g.save(dir); err != nil {
		return err
	}
	g.print(out)
	if failure != nil {
		return failure
	}
	fmt.Fprintf(out, "\nThe gate passed in %s.\n", minutes(g.Seconds))
	return nil
}
