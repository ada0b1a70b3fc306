package harness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/bindery-docs/bindery/shared/base/buildid"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/tests/outside"
)

// scratch is the temporary folder that Main makes and removes.
var scratch string

// Scratch returns a temporary folder shared by all tests of the package. Its
// TestMain must call Main.
func Scratch() string { return scratch }

// atEnd holds functions that Main calls after the last test.
var atEnd []func()

// AtEnd registers a function that Main calls after the last test of the package.
func AtEnd(end func()) { atEnd = append(atEnd, end) }

// Main implements TestMain for packages that start Bindery's programs. It creates
// the folder of Scratch, runs the tests, cleans up and exits.
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

// Bindery returns the path of the program bindery.
func Bindery(tb testing.TB) string {
	tb.Helper()
	return program(tb, "bindery")
}

// BinderyServe returns the path of the server for clusters.
func BinderyServe(tb testing.TB) string {
	tb.Helper()
	return program(tb, "bindery-serve")
}

// program returns the path of a program of infra/cmd: one that was linked for all
// tests, or else one that it builds as make build does, once for all tests of the
// package.
func program(tb testing.TB, name string) string {
	tb.Helper()
	if file := outside.Programs(tb, name); file != "" {
		return file
	}
	once, _ := built.LoadOrStore(name, sync.OnceValues(func() (string, error) {
		outside.WatchSources(tb)
		digest, err := buildid.Digest(outside.Checkout(tb), "shared/service/export")
		if err != nil {
			return "", err
		}
		file := filepath.Join(scratch, name)
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w -X github.com/bindery-docs/bindery/shared/service/export.sources="+digest,
			"-o", file, "./infra/cmd/"+name)
		cmd.Dir, cmd.Stderr = outside.Checkout(tb), os.Stderr
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		return file, cmd.Run()
	}))
	file, err := once.(func() (string, error))()
	if err != nil {
		tb.Fatal(err)
	}
	return file
}

// built has a function for each program that was built.
var built sync.Map

// Exported is the output of `bindery run --json`.
type Exported struct {
	Bundle      string         `json:"bundle"`
	SHA256      string         `json:"sha256"`
	SizeBytes   int64          `json:"sizeBytes"`
	Pages       int            `json:"pages"`
	Files       int            `json:"files"`
	Diagnostics map[string]int `json:"diagnostics"`
}

// ExportSite exports a site with the program, as `make run` does, once for all
// tests that see the same files in it. Tests must not change the bundle; they may
// change what they unpack from it.
func ExportSite(tb testing.TB, site string) Exported {
	tb.Helper()
	site, err := filepath.Abs(site)
	if err != nil {
		tb.Fatal(err)
	}
	if name, err := filepath.Rel(outside.Checkout(tb), site); err == nil && filepath.IsLocal(name) {
		outside.Watch(tb, name)
	}
	h := sha256.New()
	if err := writeState(h, site); err != nil {
		tb.Fatal(err)
	}
	once, _ := exports.LoadOrStore(string(h.Sum(nil)), sync.OnceValues(func() (Exported, error) {
		programs := outside.Programs(tb)
		if name, err := filepath.Rel(os.TempDir(), site); err == nil && filepath.IsLocal(name) {
			programs = "" // no other package has this site
		}
		return exportOnce(programs, Bindery(tb), site)
	}))
	e, err := once.(func() (Exported, error))()
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// exports has a function for each site that was exported, by the digest of its state.
var exports sync.Map

// exportOnce exports a site. With a folder of programs, it stores the bundle there,
// so that other test packages reuse it. The key is a digest of the program and of
// the site's files.
func exportOnce(programs, program, site string) (Exported, error) {
	if programs == "" {
		dir, err := os.MkdirTemp(scratch, "export-")
		if err != nil {
			return Exported{}, err
		}
		return runOn(program, site, dir)
	}
	key, err := exportKey(program, site)
	if err != nil {
		return Exported{}, err
	}
	all := filepath.Join(programs, "bundles", filepath.Base(site))
	dir := filepath.Join(all, key)
	if err := os.MkdirAll(all, 0o755); err != nil {
		return Exported{}, err
	}
	held, err := outside.Lock(filepath.Join(all, "lock"), func() {})
	if err == nil {
		defer held.Close()
	} else if !errors.Is(err, errors.ErrUnsupported) {
		return Exported{}, err
	}
	if said, err := os.ReadFile(filepath.Join(dir, "said.json")); err == nil {
		return ReadExported(said)
	}
	old, err := filepath.Glob(filepath.Join(all, "*", "bundle.tar.gz")) // of other programs, or of the site as it was
	if err != nil {
		return Exported{}, err
	}
	for _, bundle := range old {
		if err := os.RemoveAll(filepath.Dir(bundle)); err != nil {
			return Exported{}, err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Exported{}, err
	}
	e, err := runOn(program, site, dir)
	if err != nil {
		return Exported{}, err
	}
	said, err := json.Marshal(e)
	if err != nil {
		return Exported{}, err
	}
	return e, os.WriteFile(filepath.Join(dir, "said.json"), said, 0o644)
}

// exportKey returns a digest of a program and of the names, sizes and times of a
// site's files.
func exportKey(program, site string) (string, error) {
	h := sha256.New()
	f, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	err = writeState(h, site)
	return hex.EncodeToString(h.Sum(nil))[:32], err
}

// writeState writes the path of a site and the names, sizes and times of its files.
func writeState(w io.Writer, site string) error {
	fmt.Fprintln(w, site)
	site, err := filepath.EvalSymlinks(site)
	if err != nil {
		return err
	}
	return filepath.WalkDir(site, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(w, path, info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
}

// runOn exports a site into a folder and checks the program's JSON output.
func runOn(program, site, dir string) (Exported, error) {
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
