package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bindery-docs/bindery/tests/outside"
)

// options of gate test.
type options struct {
	// race has concurrent packages run their short tests under the race
	// detector and their long ones without it.
	race bool
	// short leaves out long tests, and tools.
	short bool
	// programs links the programs that tests start, with these flags for the
	// linker, and tells tests where they are.
	programs bool
	ldflags  string
	// verbose prints the output of tests that pass too.
	verbose bool
	// tools names what .ci/tools installs before the tests of args.
	tools string
	// only limits the run to these packages, by their folders.
	only map[string]bool
	// args are given to go test as they are: flags and packages. With them the
	// run is one go test.
	args []string
}

func testOptions(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("gate test", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&o.race, "race", false, "short tests of concurrent packages under the race detector")
	flags.BoolVar(&o.short, "short", false, "short tests only")
	flags.BoolVar(&o.programs, "programs", false, "link the programs that tests start")
	flags.StringVar(&o.ldflags, "ldflags", "", "flags for the linker")
	flags.BoolVar(&o.verbose, "v", false, "output of tests that pass")
	flags.StringVar(&o.tools, "tools", "", "tools to install")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return o, err
		}
		return o, usageError(err.Error())
	}
	o.args = flags.Args()
	return o, nil
}

// timeout ends a package's tests that hang.
const timeout = "60m"

// runTests installs the tools and runs go test. Packages that need no tool start
// at once. It prints results as they come, and at the end what was not run.
func runTests(ctx context.Context, o options, out io.Writer) error {
	t := &tester{out: out, verbose: o.verbose, long: map[string][]string{}, lacking: map[string]int{}}
	if o.programs || len(o.args) == 0 && !o.short {
		dir, err := filepath.Abs(filepath.Join("bin", "programs"))
		if err != nil {
			return err
		}
		t.programs = dir
	}
	if len(o.args) > 0 {
		if err := installTools(ctx, out, strings.Fields(o.tools)...); err != nil {
			return err
		}
		if o.programs {
			if err := t.link(ctx, o.ldflags); err != nil {
				return err
			}
		}
		return t.end(t.goTest(ctx, "", o.args...))
	}
	list, err := packages(ctx, ".")
	if err != nil {
		return err
	}
	batches, err := batchesOf(list, o.only)
	if err != nil {
		return err
	}
	var withRace map[string]bool
	if o.race {
		names, err := raced(list)
		if err != nil {
			return err
		}
		withRace = setOf(names)
	}
	if o.short {
		names := slices.Concat(batches...)
		sortByBudget(names)
		return t.end(t.goTest(ctx, "", slices.Concat([]string{"-vet=off", "-short", "-timeout", timeout}, folders(names))...))
	}
	// Each batch waits for more: nothing, then tools and programs, then the forge,
	// which takes many minutes to build.
	needs := []*installation{
		start(func() error { return nil }),
		start(func() error { return errors.Join(installTools(ctx, out, testTools...), t.link(ctx, o.ldflags)) }),
		start(func() error { return installTools(ctx, out, "forge") }),
	}
	if needs[1].ready(5*time.Second) && needs[2].ready(0) {
		batches = [][]string{slices.Concat(batches...)}
		needs = needs[1:2]
	}
	var failures []error
	for i, batch := range batches {
		if err := needs[i].wait(); err != nil {
			failures = append(failures, err)
		}
		sortByBudget(batch)
		failures = append(failures, t.batch(ctx, batch, withRace))
	}
	return t.end(errors.Join(failures...))
}

// batch runs the tests of packages.
func (t *tester) batch(ctx context.Context, names []string, withRace map[string]bool) error {
	plain, race := slices.Clone(names), slices.Clone(names)
	plain = folders(slices.DeleteFunc(plain, func(name string) bool { return withRace[name] }))
	race = folders(slices.DeleteFunc(race, func(name string) bool { return !withRace[name] }))
	common := []string{"-vet=off", "-timeout", timeout}
	// Two chains at the same time. Many tests wait for programs and browsers, and the
	// last packages of a go test leave processors idle.
	var chains sync.WaitGroup
	var plainErr, raceErr, longErr error
	if len(plain) > 0 {
		chains.Go(func() { plainErr = t.goTest(ctx, "", slices.Concat(common, plain)...) })
	}
	if len(race) > 0 {
		chains.Go(func() {
			clear(t.long)
			raceErr = t.goTest(ctx, raceKind, slices.Concat(common, []string{"-race", "-short"}, race)...)
			if pattern, packages := longTests(t.long); pattern != "" {
				longErr = t.goTest(ctx, longKind, slices.Concat(common, []string{"-run", pattern}, packages)...)
			}
		})
	}
	chains.Wait()
	return errors.Join(plainErr, raceErr, longErr)
}

// longTests returns the pattern for go test's -run that chooses the tests which
// -short left out, and their packages. left maps packages to names of tests,
// subtests included.
func longTests(left map[string][]string) (pattern string, packages []string) {
	var names []string
	for path, tests := range left {
		packages = append(packages, path)
		names = append(names, tests...)
	}
	slices.Sort(packages)
	slices.Sort(names)
	names = slices.Compact(names)
	for i, name := range names {
		parts := strings.Split(name, "/")
		for j, part := range parts {
			parts[j] = "^" + regexp.QuoteMeta(part) + "$"
		}
		names[i] = strings.Join(parts, "/")
	}
	return strings.Join(names, "|"), packages
}

// An event is a line of go test -json (go doc test2json).
type event struct {
	Action, Package, Test, Output string
	// ImportPath is the package of output of the compiler.
	ImportPath string
	Elapsed    float64
}

// A tester runs go test and collects what it says.
type tester struct {
	out     io.Writer
	verbose bool

	// programs is the folder with the programs that tests start, if there is one.
	programs string

	// mu guards what follows, and out, while several go tests run.
	mu                      sync.Mutex
	passed, failed, skipped int
	packages                []packageResult
	// long maps packages to tests that -short left out under the race detector.
	long map[string][]string
	// lacking counts tests that were not run for want of something.
	lacking map[string]int
}

// A packageResult is the result of a package's tests.
type packageResult struct {
	// Name is the package's folder.
	Name    string  `json:"name"`
	Status  string  `json:"status"`
	Seconds float64 `json:"seconds"`
	// Kind is raceKind, longKind or empty.
	Kind   string `json:"kind,omitempty"`
	Cached bool   `json:"cached,omitempty"`
	// Tests has the seconds of its tests that took more than one.
	Tests map[string]float64 `json:"tests,omitempty"`
}

// Kinds of runs of a package's tests.
const (
	raceKind = "race" // short tests under the race detector
	longKind = "long" // what -short left out, without it
)

// envPrograms names the variable with the folder of programs for tests.
const envPrograms = "BINDERY_PROGRAMS"

// link links the programs that tests start.
func (t *tester) link(ctx context.Context, ldflags string) error {
	return runPrograms(ctx, []string{"-to", t.programs, "-ldflags", ldflags}, t.out)
}

// folders returns go test's names of packages.
func folders(names []string) []string {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = "./" + name
	}
	return paths
}

// shown is the time in seconds after which a test that passes has a line of its own:
// packages of many such tests print nothing for minutes.
const shown = 20

// goTest runs go test with the arguments and prints what a person needs: a line
// for each package, and the output of tests that fail.
func (t *tester) goTest(ctx context.Context, kind string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{"test", "-json"}, args)...)
	ownGroup(cmd, 30*time.Second)
	cmd.Stderr = writerFunc(func(p []byte) (int, error) {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.out.Write(p)
	})
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if kind == raceKind {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // which the detector needs
	}
	if t.programs != "" {
		cmd.Env = append(cmd.Env, envPrograms+"="+t.programs)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	t.read(stdout, kind)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("go test: %w", err)
	}
	return nil
}

// A writerFunc is a function that writes.
type writerFunc func(p []byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// A packageState is the result of a package so far.
type packageState struct {
	output map[string]*bytes.Buffer // by test
	result packageResult
}

// read reads the events of a go test and prints what they say.
func (t *tester) read(r io.Reader, kind string) {
	states := map[string]*packageState{}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			t.readLine(line, kind, states)
		}
		if err != nil {
			return
		}
	}
}

// readLine reads a line of go test -json. states has the packages that have not ended.
func (t *tester) readLine(line []byte, kind string, states map[string]*packageState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var e event
	if json.Unmarshal(line, &e) != nil {
		_, _ = t.out.Write(line) // go says something that is no event
		return
	}
	if e.Action == "build-output" {
		fmt.Fprint(t.out, e.Output)
		return
	}
	if e.Package == "" {
		return
	}
	s := states[e.Package]
	if s == nil {
		s = &packageState{map[string]*bytes.Buffer{}, packageResult{Name: pkg{ImportPath: e.Package}.name(), Kind: kind, Tests: map[string]float64{}}}
		states[e.Package] = s
	}
	switch e.Action {
	case "output":
		if t.verbose {
			fmt.Fprint(t.out, e.Output)
		}
		if strings.HasSuffix(e.Output, "\t(cached)\n") {
			s.result.Cached = true
		}
		if e.Test == "" && (strings.HasPrefix(e.Output, "ok  \t") || strings.HasPrefix(e.Output, "FAIL\t")) && !t.verbose {
			fmt.Fprint(t.out, strings.Replace(e.Output, module+"/", "", 1))
			return
		}
		if strings.Contains(e.Output, outside.Later) && e.Test != "" && kind == raceKind {
			t.long[e.Package] = append(t.long[e.Package], e.Test)
		}
		if _, what, ok := strings.Cut(strings.TrimSpace(e.Output), outside.NotRun+" needs "); ok {
			t.lacking[what]++
		}
		b := s.output[e.Test]
		if b == nil {
			b = &bytes.Buffer{}
			s.output[e.Test] = b
		}
		b.WriteString(e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.result.Status, s.result.Seconds = e.Action, e.Elapsed
			if e.Action == "fail" && !t.verbose {
				for _, test := range slices.Sorted(maps.Keys(s.output)) { // of the package, and of tests that did not end
					t.print(s.output[test])
				}
			}
			t.packages = append(t.packages, s.result)
			t.save(s.result)
			delete(states, e.Package)
			return
		}
		if !strings.Contains(e.Test, "/") {
			t.count(e.Action)
			if e.Elapsed > 1 {
				s.result.Tests[e.Test] = e.Elapsed
			}
			if e.Elapsed > shown && e.Action == "pass" && !t.verbose {
				fmt.Fprintf(t.out, "    \t%s %s\t%.0fs\n", s.result.Name, e.Test, e.Elapsed)
			}
		}
		if e.Action == "fail" && !t.verbose {
			t.print(s.output[e.Test])
		}
		delete(s.output, e.Test)
	}
}

func (t *tester) print(b *bytes.Buffer) {
	if b != nil {
		_, _ = t.out.Write(b.Bytes())
	}
}

func (t *tester) count(action string) {
	switch action {
	case "pass":
		t.passed++
	case "fail":
		t.failed++
	default:
		t.skipped++
	}
}

// end prints what was not run and the counts, and passes the failure on.
func (t *tester) end(failure error) error {
	for _, what := range slices.Sorted(maps.Keys(t.lacking)) {
		fmt.Fprintf(t.out, "not run: %d for want of %s\n", t.lacking[what], what)
	}
	fmt.Fprintf(t.out, "%d passed, %d failed, %d skipped\n", t.passed, t.failed, t.skipped)
	return failure
}

// envReport names the variable with the file to which results are added, for the
// report of the gate.
const envReport = "BINDERY_GATE_REPORT"

// save adds a result to the gate's report, if there is one.
func (t *tester) save(p packageResult) {
	file := os.Getenv(envReport)
	if file == "" {
		return
	}
	line, err := json.Marshal(p)
	if err != nil {
		fmt.Fprintln(t.out, "gate: no report:", err)
		return
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		fmt.Fprintln(t.out, "gate: no report:", err)
		return
	}
	defer f.Close()
	if _, err := f.Write(append(line, '\n')); err != nil {
		fmt.Fprintln(t.out, "gate: no report:", err)
	}
}

// batchesOf sorts the packages with tests into those that need nothing from
// outside the checkout, those that may, and those that may start a forge. only
// limits them, if it is not nil.
func batchesOf(list []pkg, only map[string]bool) ([][]string, error) {
	reached := reach(list)
	var none, some, forge []string
	for _, p := range list {
		switch {
		case !p.hasTests() || only != nil && !only[p.name()]:
		case reached[p.ImportPath][module+"/shared/service/forge/forgetest"]:
			forge = append(forge, p.name())
		case reached[p.ImportPath][module+"/tests/outside"]:
			some = append(some, p.name())
		default:
			none = append(none, p.name())
		}
	}
	if len(none)+len(some)+len(forge) == 0 && only == nil {
		return nil, errors.New("no package has tests")
	}
	return [][]string{none, some, forge}, nil
}

// sortByBudget puts the packages with the longest tests first: one that comes
// last would leave all processors but one idle.
func sortByBudget(names []string) {
	b := budgets()
	slices.SortFunc(names, func(x, y string) int { return cmp.Or(cmp.Compare(b[y], b[x]), cmp.Compare(x, y)) })
}

func setOf(names []string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

// An installation is work that tests wait for.
type installation struct {
	done chan struct{}
	err  error
}

func start(work func() error) *installation {
	i := &installation{done: make(chan struct{})}
	go func() {
		defer close(i.done)
		i.err = work()
	}()
	return i
}

// ready reports whether the work is done after at most d.
func (i *installation) ready(d time.Duration) bool {
	select {
	case <-i.done:
		return true
	default:
	}
	select {
	case <-i.done:
		return true
	case <-time.After(d):
		return false
	}
}

func (i *installation) wait() error {
	<-i.done
	return i.err
}

// testTools are the tools that tests without a target of their own use.
var testTools = strings.Fields("system oracle highlight trees helm helm3 schemathesis ministack npm lighthouse script github dynoxide oidc commonmark actionlint shellcheck")

// installTools has .ci/tools install tools. One that can't be had is an error only
// if nothing may be lacking.
func installTools(ctx context.Context, out io.Writer, names ...string) error {
	if len(names) == 0 {
		return nil
	}
	cmd := exec.CommandContext(ctx, ".ci/tools", names...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil && os.Getenv(envRequire) != "" {
		return fmt.Errorf(".ci/tools: %w", err)
	}
	return nil // tests say what they lack
}
