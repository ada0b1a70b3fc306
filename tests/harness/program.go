package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/tests/outside"
)

// scratch is a folder for what all tests of a package share. Main makes and
// removes it.
var scratch string

// Scratch is a folder for what all tests of a package share, whose TestMain calls
// Main.
func Scratch() string { return scratch }

// atEnd has what Main does when the tests are done.
var atEnd []func()

// AtEnd has Main call a function after the last test of the package.
func AtEnd(end func()) { atEnd = append(atEnd, end) }

// Main is what TestMain of a package does that runs programs of ours: it makes the
// folder of Scratch, runs the tests, and clears up after them.
func Main(m *testing.M) {
	if island.IsWorker(os.Getenv) { // the process that shows what pages have in JavaScript
		os.Exit(island.Work(os.Stdin, os.Stdout))
	}
	dir, err := os.MkdirTemp("", "bindery-tests-")
	if err != nil {
		panic(err)
	}
	scratch = dir
	code := m.Run()
	for _, end := range atEnd {
		end()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// Bindery builds the program, once, and gives its path.
func Bindery(tb testing.TB) string {
	tb.Helper()
	built.Do(func() {
		WatchSources(tb)
		built.file = filepath.Join(scratch, "bindery")
		cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", built.file, "./infra/cmd/bindery")
		cmd.Dir, cmd.Stderr = outside.Checkout(tb), os.Stderr
		built.err = cmd.Run()
	})
	if built.err != nil {
		tb.Fatal(built.err)
	}
	return built.file
}

// built is the program of all tests.
var built struct {
	sync.Once
	file string
	err  error
}

// WatchSources is Watch for all that programs of infra/cmd are built of.
func WatchSources(tb testing.TB) {
	tb.Helper()
	Watch(tb, "go.mod", "go.sum", "infra/cmd", "shared", "statemachine")
}

// Watch looks at files and folders of the checkout, at all that is in them, for Go's
// cache of results: it runs a test again when something changed that the test itself
// looked at, and knows nothing of what programs read that a test runs.
func Watch(tb testing.TB, names ...string) {
	tb.Helper()
	for _, name := range names {
		err := filepath.WalkDir(filepath.Join(outside.Checkout(tb), filepath.FromSlash(name)), func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return err
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// Exported is what `bindery run --json` says of a bundle.
type Exported struct {
	Bundle      string         `json:"bundle"`
	SHA256      string         `json:"sha256"`
	SizeBytes   int64          `json:"sizeBytes"`
	Pages       int            `json:"pages"`
	Files       int            `json:"files"`
	Diagnostics map[string]int `json:"diagnostics"`
}

// ExportSite turns a folder into a bundle with the program, the way `make run`
// does, once for all tests: they read bundles, and change what they unpack.
func ExportSite(tb testing.TB, site string) Exported {
	tb.Helper()
	site, err := filepath.Abs(site)
	if err != nil {
		tb.Fatal(err)
	}
	if name, err := filepath.Rel(outside.Checkout(tb), site); err == nil && filepath.IsLocal(name) {
		Watch(tb, name)
	}
	once, _ := exports.LoadOrStore(site, sync.OnceValues(func() (Exported, error) { return runOn(Bindery(tb), site) }))
	e, err := once.(func() (Exported, error))()
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// exports has a function for each folder that was exported.
var exports sync.Map

// runOn has a program export a site, and believes what it says of it if that can
// be so.
func runOn(program, site string) (Exported, error) {
	dir, err := os.MkdirTemp(scratch, "export-")
	if err != nil {
		return Exported{}, err
	}
	out := filepath.Join(dir, "bundle.tar.gz")
	cmd := exec.Command(program, "run", site, "--out", out, "--json", "--no-cache")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return Exported{}, fmt.Errorf("bindery run %s: %w\n%s", site, err, stderr.Bytes())
	}
	e, err := ReadExported(stdout.Bytes())
	if err != nil {
		return Exported{}, fmt.Errorf("bindery run --json: %w in %s", err, stdout.Bytes())
	}
	if e.Bundle != out || e.Pages == 0 {
		return Exported{}, fmt.Errorf("bindery run --json says %+v, want the bundle %s with pages", e, out)
	}
	return e, nil
}

// ReadExported reads the output of `bindery run --json`.
func ReadExported(stdout []byte) (Exported, error) {
	var e Exported
	err := json.Unmarshal(stdout, &e)
	return e, err
}
