package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// repository is the checkout that the tests run in.
func repository(tb testing.TB) string {
	tb.Helper()
	dir, err := filepath.Abs("..")
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

// lacking skips a test for want of something outside the repository, or
// fails it where everything has to be there.
func lacking(tb testing.TB, what string) {
	tb.Helper()
	if os.Getenv("BINDERY_REQUIRE") == "all" {
		tb.Fatalf("needs %s, and BINDERY_REQUIRE=all", what)
	}
	tb.Skipf("not run: needs %s", what)
}

// shared is the folder with the real sites and the outside checker: beside
// the checkout, or where BINDERY_SHARED says. It is not part of the product;
// who has no such folder runs the tests without it, in CI too.
func shared(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("BINDERY_SHARED")
	if dir == "" {
		dir = filepath.Join(repository(tb), "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(dir, "corpora", "inventory.json")); err != nil {
		tb.Skip("not run: needs the shared folder with the corpora (BINDERY_SHARED)")
	}
	return dir
}

// program finds a program by the first of its names that is installed.
func program(tb testing.TB, names ...string) string {
	tb.Helper()
	for _, name := range names {
		if file, err := exec.LookPath(name); err == nil {
			return file
		}
	}
	lacking(tb, names[0]+" (make tools)")
	return ""
}
