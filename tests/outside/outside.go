// Package outside finds tools and data that tests need from outside the checkout,
// and skips or fails a test that lacks one. Only tests import it. The rules:
//
//   - The shared folder, with real sites, a reference parser's oracle and test
//     beds, is $BINDERY_SHARED, else ../shared beside the module's root. It is no
//     part of the product. Without it, tests that need it are skipped and say so.
//   - With the shared folder, a file in it that a test can't find fails the test:
//     its name is wrong, or it has moved.
//   - What .ci/tools installs (programs, libraries, the trees of the reference
//     parser) may be missing too: such a test says so and is skipped.
//   - With BINDERY_REQUIRE=tools, a test that lacks what .ci/tools installs fails.
//     With BINDERY_REQUIRE=all, a test that lacks anything fails: the shared
//     folder, root or a feature of the kernel too. With any other value, a test
//     that lacks something also fails: a misspelt value must not go unnoticed.
//
// Tests that belong to a make target of their own (test-cloud, test-sam,
// test-chart) are skipped without that target's variable, whatever
// BINDERY_REQUIRE says. A test calls Long to be left out of -short. Skips for other
// reasons, such as another operating system, don't use this package.
package outside

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// How messages of skipped tests begin. tests/gate looks for them.
const (
	// NotRun begins the message of a test that lacks something.
	NotRun = "not run:"
	// Later is in the message of a test that leaves something to a run without
	// -short and without the race detector.
	Later = "left to make test"
)

// Checkout returns the module's root: the nearest folder with a go.mod, from the one
// that the test runs in upward.
func Checkout(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if exists(filepath.Join(dir, "go.mod")) {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			tb.Fatal("the test does not run in the checkout")
		}
		dir = up
	}
}

// LimitRow fails the test unless the page of limits has a row that begins with
// these cells: packages hold their constants against it.
func LimitRow(tb testing.TB, cells ...string) {
	tb.Helper()
	page, err := os.ReadFile(filepath.Join(Checkout(tb), "infra", "docs", "export", "limits.mdx"))
	if err != nil {
		tb.Fatal(err)
	}
	row := "\n| " + strings.Join(cells, " | ") + " |"
	row = digits.ReplaceAllStringFunc(row, func(n string) string { // 1000000 is 1,000,000 there
		for i := len(n) - 3; i > 0; i -= 3 {
			n = n[:i] + "," + n[i:]
		}
		return n
	})
	if !strings.Contains(string(page), row) {
		tb.Errorf("the page of limits should have the row %q", row[1:])
	}
}

var digits = regexp.MustCompile(`[0-9]+`)

// Folder returns the path of a file or folder in the shared folder. Without a shared
// folder it skips the test. Without the file it fails the test.
func Folder(tb testing.TB, elem ...string) string {
	tb.Helper()
	piece, ok := Maybe(tb, elem...)
	if !ok {
		OutOfReach(tb, "the shared folder with "+filepath.Join(elem...)+" (BINDERY_SHARED)")
	}
	return piece
}

// Maybe does what Folder does, for tests that can go on without the shared folder: it
// returns false without one, unless BINDERY_REQUIRE is all.
func Maybe(tb testing.TB, elem ...string) (piece string, ok bool) {
	tb.Helper()
	shared, ok := sharedFolder(tb)
	if !ok {
		if required(tb) == all {
			tb.Fatalf("needs the shared folder with %s (BINDERY_SHARED), and BINDERY_REQUIRE=all", filepath.Join(elem...))
		}
		return "", false
	}
	piece = filepath.Join(append([]string{shared}, elem...)...)
	if !exists(piece) {
		tb.Fatalf("%s is there, but has no %s", shared, filepath.Join(elem...))
	}
	return piece, true
}

// Trees returns the path of a file that .ci/tools makes with the shared folder's
// oracle: site.jsonl is what the reference MDX parser reads of a real site,
// site.highlight.jsonl what the reference highlighter shows. They lie in
// $BINDERY_TREES, else behind the links of .cache/trees.
func Trees(tb testing.TB, file string) string {
	tb.Helper()
	Folder(tb, "oracle") // which makes them
	dir := os.Getenv("BINDERY_TREES")
	if dir == "" {
		dir = filepath.Join(Checkout(tb), ".cache", "trees")
	}
	path := filepath.Join(dir, file)
	if !exists(path) {
		Lacking(tb, "the reference parser's "+path)
	}
	return path
}

// Tool returns the path of a tool that .ci/tools has installed, by its link below
// .cache. Messages call it what.
func Tool(tb testing.TB, what string, elem ...string) string {
	tb.Helper()
	path := filepath.Join(append([]string{Checkout(tb), ".cache"}, elem...)...)
	if !exists(path) {
		Lacking(tb, what)
	}
	return path
}

// Programs returns the path of a file or folder in $BINDERY_PROGRAMS, where "make
// programs" links the programs that tests start. Without the variable it returns "",
// and tests link the programs themselves.
func Programs(tb testing.TB, elem ...string) string {
	tb.Helper()
	dir := os.Getenv("BINDERY_PROGRAMS")
	if dir == "" {
		return ""
	}
	path := filepath.Join(append([]string{dir}, elem...)...)
	if len(elem) == 0 {
		return dir
	}
	// For Go's test cache, every program is an input of the test.
	err := filepath.WalkDir(path, func(_ string, _ fs.DirEntry, err error) error { return err })
	if err != nil {
		tb.Fatalf("BINDERY_PROGRAMS=%s has no %s (make programs): %v", dir, filepath.Join(elem...), err)
	}
	return path
}

// WatchSources watches the sources of the programs in infra/cmd.
func WatchSources(tb testing.TB) {
	tb.Helper()
	Watch(tb, "go.mod", "go.sum", "infra/cmd", "shared", "statemachine")
}

// Watch makes files and folders of the checkout inputs of the test, for Go's test
// cache. Go knows the files that the test opens, but not those that a program opens
// which the test starts.
func Watch(tb testing.TB, names ...string) {
	tb.Helper()
	for _, name := range names {
		err := filepath.WalkDir(filepath.Join(Checkout(tb), filepath.FromSlash(name)), func(_ string, d fs.DirEntry, err error) error {
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

// Program finds a program by the first of its names that is installed, by
// .ci/tools or on the system.
func Program(tb testing.TB, names ...string) string {
	tb.Helper()
	for _, name := range names {
		if file, err := exec.LookPath(filepath.Join(Checkout(tb), ".cache", "bin", name)); err == nil {
			return file
		}
		if file, err := exec.LookPath(name); err == nil {
			return file
		}
	}
	Lacking(tb, names[0])
	return ""
}

// Lacking ends a test for want of something that .ci/tools installs.
func Lacking(tb testing.TB, what string) {
	tb.Helper()
	if r := required(tb); r != nothing {
		tb.Fatalf("needs %s (make tools), and BINDERY_REQUIRE=%s", what, r)
	}
	tb.Skipf(NotRun+" needs %s (make tools)", what)
}

// OutOfReach ends a test for want of something that .ci/tools can't install:
// rights, a kernel's feature, a Docker engine.
func OutOfReach(tb testing.TB, what string) {
	tb.Helper()
	if required(tb) == all {
		tb.Fatalf("needs %s, and BINDERY_REQUIRE=all", what)
	}
	tb.Skipf(NotRun+" needs %s", what)
}

// Long skips a test under -short, whatever BINDERY_REQUIRE says. make check sets
// -short, make test doesn't. why says what takes long.
func Long(tb testing.TB, why string) {
	tb.Helper()
	if testing.Short() {
		tb.Skipf("not run with -short, %s: %s", Later, why)
	}
}

// Short reports whether -short is set, for a test that then tries a part of its
// cases. It logs that: the gate runs such a test again with all of them.
func Short(tb testing.TB) bool {
	tb.Helper()
	if testing.Short() {
		tb.Logf("some cases are not run with -short, %s", Later)
	}
	return testing.Short()
}

// NoRace skips a test under the race detector. why says what the detector changes.
// The gate runs such a test again without it.
func NoRace(tb testing.TB, why string) {
	tb.Helper()
	if raceDetector {
		tb.Skipf("not run under the race detector, %s: %s", Later, why)
	}
}

// Full reports whether $BINDERY_FULL is set, as in make test-all. Without it, a test
// that would take many minutes runs a sample of its cases.
func Full() bool { return os.Getenv("BINDERY_FULL") != "" }

// requirement is a value of BINDERY_REQUIRE.
type requirement string

const (
	nothing requirement = ""
	tools   requirement = "tools"
	all     requirement = "all"
)

func required(tb testing.TB) requirement {
	tb.Helper()
	switch r := requirement(os.Getenv("BINDERY_REQUIRE")); r {
	case nothing, tools, all:
		return r
	default:
		tb.Fatalf("BINDERY_REQUIRE=%s: neither tools nor all", r)
		return all
	}
}

// sharedFolder finds the shared folder. A path that is not absolute begins at the
// checkout, as for .ci/tools. A folder that only happens to be called shared, and
// lies beside the checkout, is somebody else's: ours has corpora, an oracle or
// test beds.
func sharedFolder(tb testing.TB) (string, bool) {
	tb.Helper()
	// Go's test cache ignores files outside the module. It compares variables that
	// a test reads, and this one has a digest of the folder.
	_ = os.Getenv("BINDERY_SHARED_DIGEST")
	if dir := os.Getenv("BINDERY_SHARED"); dir != "" {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(Checkout(tb), dir)
		}
		return dir, exists(dir)
	}
	dir := filepath.Join(filepath.Dir(Checkout(tb)), "shared")
	for _, mark := range []string{"corpora", "oracle", "testbeds"} {
		if exists(filepath.Join(dir, mark)) {
			return dir, true
		}
	}
	return "", false
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
