package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/script/island"
)

// scratch is a folder for what all tests of the package share. TestMain
// removes it.
var scratch string

func TestMain(m *testing.M) {
	if island.IsWorker(os.Getenv) { // the process that shows what pages have in JavaScript
		os.Exit(island.Work(os.Stdin, os.Stdout))
	}
	dir, err := os.MkdirTemp("", "bindery-tests-")
	if err != nil {
		panic(err)
	}
	scratch = dir
	code := m.Run()
	if oneBrowser.stop != nil {
		oneBrowser.stop()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// bindery builds the program, once, and gives its path.
func bindery(tb testing.TB) string {
	tb.Helper()
	file, err := buildOnce()
	if err != nil {
		tb.Fatal(err)
	}
	return file
}

var buildOnce = sync.OnceValues(func() (string, error) {
	file := filepath.Join(scratch, "bindery")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", file, "../infra/cmd/bindery")
	cmd.Stderr = os.Stderr
	return file, cmd.Run()
})

// exported is what `bindery run --json` says of a bundle.
type exported struct {
	Bundle      string         `json:"bundle"`
	SHA256      string         `json:"sha256"`
	SizeBytes   int64          `json:"sizeBytes"`
	Pages       int            `json:"pages"`
	Files       int            `json:"files"`
	Diagnostics map[string]int `json:"diagnostics"`
}

// exportSite turns a folder into a bundle with the program, the way `make run`
// does, once for all tests: they read bundles, and change what they unpack.
func exportSite(tb testing.TB, site string) exported {
	tb.Helper()
	site, err := filepath.Abs(site)
	if err != nil {
		tb.Fatal(err)
	}
	once, _ := exports.LoadOrStore(site, sync.OnceValues(func() (exported, error) { return runOn(bindery(tb), site) }))
	e, err := once.(func() (exported, error))()
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// exports has a function for each folder that was exported.
var exports sync.Map

// runOn has a program export a site, and believes what it says of it if that can
// be so.
func runOn(program, site string) (exported, error) {
	dir, err := os.MkdirTemp(scratch, "export-")
	if err != nil {
		return exported{}, err
	}
	out := filepath.Join(dir, "bundle.tar.gz")
	cmd := exec.Command(program, "run", site, "--out", out, "--json", "--no-cache")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return exported{}, fmt.Errorf("bindery run %s: %w\n%s", site, err, stderr.Bytes())
	}
	e, err := readExported(stdout.Bytes())
	if err != nil {
		return exported{}, fmt.Errorf("bindery run --json: %w in %s", err, stdout.Bytes())
	}
	if e.Bundle != out || e.Pages == 0 {
		return exported{}, fmt.Errorf("bindery run --json says %+v, want the bundle %s with pages", e, out)
	}
	return e, nil
}

func readExported(stdout []byte) (exported, error) {
	var e exported
	err := json.Unmarshal(stdout, &e)
	return e, err
}
