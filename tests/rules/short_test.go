package rules

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// TestShortTestsSayWhatTheyLeaveOut holds that tests ask tests/outside whether
// -short is set. The gate runs short tests of some packages under the race detector
// only, and a test again without it if it says that it left something out. One that
// asks package testing would never run whole.
func TestShortTestsSayWhatTheyLeaveOut(t *testing.T) {
	root := outside.Checkout(t)
	found := 0
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(file, root+string(filepath.Separator)))
		if d.IsDir() {
			if name == "bin" || name == "out" || d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && file != root {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, n := range calls(f, "testing", "Short") {
			found++
			if !strings.HasPrefix(name, "tests/outside/") {
				t.Errorf("%s: call outside.Short or outside.Long", set.Position(n.Pos()))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Error("tests/outside does not call testing.Short: is the search right?")
	}
}
