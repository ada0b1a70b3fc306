package tests

import (
	"bytes"
	"encoding/json"
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
	cmd := exec.Command("go", "build", "-o", file, "../infra/cmd/bindery")
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
// does.
func exportSite(tb testing.TB, site string) exported {
	tb.Helper()
	out := filepath.Join(tb.TempDir(), "bundle.tar.gz")
	cmd := exec.Command(bindery(tb), "run", site, "--out", out, "--json")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		tb.Fatalf("bindery run %s: %v\n%s", site, err, stderr.Bytes())
	}
	e, err := readExported(stdout.Bytes())
	if err != nil {
		tb.Fatalf("bindery run --json: %v in %s", err, stdout.Bytes())
	}
	if e.Bundle != out || e.Pages == 0 {
		tb.Fatalf("bindery run --json says %+v, want the bundle %s with pages", e, out)
	}
	return e
}

func readExported(stdout []byte) (exported, error) {
	var e exported
	err := json.Unmarshal(stdout, &e)
	return e, err
}
