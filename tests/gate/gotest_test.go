package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// events writes lines of go test -json: ACTION PACKAGE TEST OUTPUT, divided by |.
func events(lines ...string) *bytes.Buffer {
	var b bytes.Buffer
	for _, line := range lines {
		f := strings.SplitN(line, "|", 4)
		e := event{Action: f[0], Package: module + "/" + f[1]}
		if len(f) > 2 {
			e.Test = f[2]
		}
		if len(f) > 3 {
			e.Output = f[3] + "\n"
		}
		e.Elapsed = 2
		text, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "%s\n", text)
	}
	return &b
}

func TestOutputOfTests(t *testing.T) {
	var out bytes.Buffer
	tt := &tester{out: &out, long: map[string][]string{}, lacking: map[string]int{}}
	tt.read(events(
		"output|a|TestGood|    it says little",
		"pass|a|TestGood",
		"output|a||ok  \t"+module+"/a\t(cached)",
		"pass|a",
		"output|b|TestBad/part|    b_test.go:1: it broke",
		"fail|b|TestBad/part",
		"output|b|TestBad|--- FAIL: TestBad",
		"fail|b|TestBad",
		"output|b|TestLong/sub_name|    "+outside.Later+": it exports",
		"skip|b|TestLong/sub_name",
		"pass|b|TestLong",
		"output|b|TestSample|    b_test.go:2: some cases are not run with -short, "+outside.Later,
		"pass|b|TestSample",
		"output|b|TestTool|    b_test.go:3: "+outside.NotRun+" needs helm (make tools)",
		"skip|b|TestTool",
		"output|b|TestHangs|panic: test timed out after 45m0s",
		"output|b||FAIL\t"+module+"/b\t2.0s",
		"fail|b",
	), "race")
	if err := tt.end(nil); err != nil {
		t.Fatal(err)
	}
	want := `ok  	a	(cached)
    b_test.go:1: it broke
--- FAIL: TestBad
FAIL	b	2.0s
panic: test timed out after 45m0s
not run: 1 for want of helm (make tools)
3 passed, 1 failed, 1 skipped
`
	if out.String() != want {
		t.Errorf("output:\n%s\nwant:\n%s", out.String(), want)
	}
	if len(tt.packages) != 2 || !tt.packages[0].Cached || tt.packages[1].Status != "fail" || tt.packages[1].Tests["TestBad"] != 2 {
		t.Errorf("results: %+v", tt.packages)
	}
	pattern, packages := longTests(tt.long)
	if pattern != `^TestLong$/^sub_name$|^TestSample$` || !slices.Equal(packages, []string{module + "/b"}) {
		t.Errorf("long tests: %s of %v", pattern, packages)
	}
}

func TestLongTests(t *testing.T) {
	pattern, packages := longTests(map[string][]string{"b": {"TestB", "TestC/a+b"}, "a": {"TestB"}})
	if want := `^TestB$|^TestC$/^a\+b$`; pattern != want || strings.Join(packages, " ") != "a b" {
		t.Errorf("%s of %v, want %s", pattern, packages, want)
	}
	if pattern, _ := longTests(nil); pattern != "" {
		t.Errorf("without long tests: %q", pattern)
	}
}

// TestRacedPackages holds the list of packages with short tests that run under
// the race detector, and there alone. BINDERY_UPDATE=1 writes it anew.
func TestRacedPackages(t *testing.T) {
	list := modulePackages(t)
	names, err := raced(list)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(names, "\n") + "\n"
	file := filepath.Join("testdata", "raced.txt")
	if os.Getenv("BINDERY_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("packages under the race detector:\n%s\n%s has:\n%s", got, file, want)
	}
}

func TestConcurrent(t *testing.T) {
	for name, c := range map[string]struct {
		imports []string
		source  string
		want    bool
	}{
		"nothing":   {nil, `func f() { later := "go" ; _ = later }`, false},
		"go":        {nil, `func f() { go f() }`, true},
		"AfterFunc": {[]string{"time"}, `import "time"; func f() { time.AfterFunc(1, f) }`, true},
		"sync":      {[]string{"sync"}, ``, true},
		"atomic":    {[]string{"sync/atomic"}, ``, true},
		"errgroup":  {[]string{"golang.org/x/sync/errgroup"}, ``, true},
		"strings":   {[]string{"strings"}, ``, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a; "+c.source), 0o644); err != nil {
				t.Fatal(err)
			}
			got, err := concurrent(pkg{Dir: dir, GoFiles: []string{"a.go"}, Imports: c.imports})
			if err != nil || got != c.want {
				t.Errorf("concurrent: %t, %v, want %t", got, err, c.want)
			}
		})
	}
}

// Packages that need nothing from outside come first, and none is left out.
func TestBatches(t *testing.T) {
	list := modulePackages(t)
	batches, err := batchesOf(list, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(batches[0], "shared/render/css") || slices.Contains(batches[0], "tests/rules") || !slices.Contains(batches[1], "tests/rules") || !slices.Contains(batches[2], "tests/pipelines") {
		t.Errorf("batches: %v", batches)
	}
	for _, p := range list {
		if p.hasTests() && !slices.Contains(slices.Concat(batches...), p.name()) {
			t.Errorf("%s is in no batch", p.name())
		}
	}
}

func TestAffected(t *testing.T) {
	list := modulePackages(t)
	for _, c := range []struct {
		name, files string
		// with are packages that must be there, without some that must not.
		with, without string
	}{
		{"a leaf", "infra/sbom/main.go", "infra/sbom tests/rules", "shared/render/mdx functions infra/cmd/bindery"},
		{"what much imports", "shared/base/html/html.go", "shared/base/html shared/render/page functions infra/cmd/bindery", "shared/base/json shared/render/css"},
		{"a test file", "shared/render/css/css_test.go", "shared/render/css", "shared/base/json"},
		{"test data", "shared/render/css/testdata/a.txtar", "shared/render/css", "shared/base/json"},
		{"a chart", "infra/chart/values.yaml", "tests/chart infra/image", "shared/base/json"},
		{"a page", "infra/docs/index.mdx", "tests/rules", "shared/base/json"},
		{"modules", "go.sum", "shared/base/json tests/rules functions", ""},
		{"nothing", "", "", "shared/base/json tests/rules"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := affected(list, strings.Fields(c.files))
			for name := range strings.FieldsSeq(c.with) {
				if !slices.Contains(got, name) {
					t.Errorf("%s is missing in %v", name, got)
				}
			}
			for name := range strings.FieldsSeq(c.without) {
				if slices.Contains(got, name) {
					t.Errorf("%s is there", name)
				}
			}
		})
	}
	// Rows that name no package, or no folder, are stale.
	names := map[string]bool{}
	for _, p := range list {
		names[p.name()] = true
	}
	root := outside.Checkout(t)
	for _, folder := range slices.Sorted(maps.Keys(readers)) {
		if _, err := os.Stat(filepath.Join(root, folder)); err != nil {
			t.Errorf("readers has %s: %v", folder, err)
		}
		for _, name := range readers[folder] {
			if !names[name] {
				t.Errorf("readers of %s has %s, which is no package", folder, name)
			}
		}
	}
}

func TestArguments(t *testing.T) {
	for _, c := range []struct{ args, err string }{
		{"", "no command"},
		{"help", "help requested"},
		{"nonsense", "unknown command nonsense"},
		{"test -nonsense", "-nonsense"},
		{"affected", "one revision"},
	} {
		err := run(t.Context(), strings.Fields(c.args), &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("gate %s: %v, want %q", c.args, err, c.err)
		}
	}
}

// Every step of the gate that is a make target is one of the Makefile.
func TestStepsAreTargets(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(outside.Checkout(t), "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps() {
		if s.command[0] != "make" {
			continue
		}
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(s.command[2]) + `:`).Match(text) {
			t.Errorf("step %s: the Makefile has no target %s", s.name, s.command[2])
		}
	}
}

func modulePackages(t *testing.T) []pkg {
	t.Helper()
	list, err := packages(t.Context(), outside.Checkout(t))
	if err != nil {
		t.Fatal(err)
	}
	return list
}
