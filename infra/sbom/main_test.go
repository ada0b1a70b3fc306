package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The test's own program has build information, and the same list each time.
func TestList(t *testing.T) {
	t.Chdir("../..")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "bindery")
	if err := os.Symlink(self, program); err != nil {
		t.Skip(err)
	}
	var texts [2]string
	for i := range texts {
		out := filepath.Join(t.TempDir(), "bom.json")
		if err := run(program, out, "1.2.3"); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	if texts[0] != texts[1] {
		t.Error("two lists of one program differ")
	}
	for _, want := range []string{`"specVersion": "1.6"`, `"pkg:golang/std@1.`, `"pkg:npm/mermaid@11.`, `"name": "bindery"`, `"version": "1.2.3"`, `"pkg:npm/%40`} {
		if !strings.Contains(texts[0], want) {
			t.Errorf("the list has no %s", want)
		}
	}
	if err := run("README.md", filepath.Join(t.TempDir(), "bom.json"), ""); err == nil {
		t.Error("what is not a program has a list")
	}
}
