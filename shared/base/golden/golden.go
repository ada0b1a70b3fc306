// Package golden compares what tests get with files that keep what they want, and
// writes those files anew with the flag -update. It is for tests alone.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what tests get into the golden files")

// Update reports whether golden files are to be written anew, for tests that keep
// what they want in a part of a file.
func Update() bool { return *update }

// Same fails the test unless the file holds got. With -update it writes it instead.
func Same(t testing.TB, file string, got []byte) {
	t.Helper()
	if *update {
		Write(t, file, got)
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (-update writes it)", err)
	}
	if string(want) == string(got) {
		return
	}
	if !utf8.Valid(want) || !utf8.Valid(got) {
		t.Errorf("%s differs: %d bytes, want %d; -update writes it anew", file, len(got), len(want))
		return
	}
	t.Errorf("%s differs; -update writes it anew (-want +got):\n%s", file, cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")))
}

// Write writes a golden file of which the test knows what is in it, with the folder
// that it is in.
func Write(t testing.TB, file string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
