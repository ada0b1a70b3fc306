package outside

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Site is a real site that tests compare with the reference parser and the
// reference highlighter: a folder with a docs.json or a mint.json.
type Site struct {
	// Name is the folder's own name.
	Name, Dir string
	chosen    bool
}

// Sites returns the sites to compare. They are the folders that BINDERY_SITES
// lists, as PATH lists folders; one that is not absolute begins at the checkout.
// Without it they are the three of the shared folder, and all reports so: tests
// know how much is in these.
func Sites(tb testing.TB) (sites []Site, all bool) {
	tb.Helper()
	list := filepath.SplitList(os.Getenv("BINDERY_SITES"))
	if len(list) == 0 {
		for _, name := range []string{"mcp", "novu", "trigger"} {
			sites = append(sites, Site{Name: name, Dir: Folder(tb, "corpora", name)})
		}
		return sites, true
	}
	names := map[string]bool{}
	for _, dir := range list {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(Checkout(tb), dir)
		}
		s := Site{Name: filepath.Base(dir), Dir: dir, chosen: true}
		switch {
		case !exists(filepath.Join(dir, "docs.json")) && !exists(filepath.Join(dir, "mint.json")):
			tb.Fatalf("BINDERY_SITES names %s, which has no docs.json", dir)
		case names[s.Name]:
			tb.Fatalf("BINDERY_SITES names two folders called %s", s.Name)
		}
		names[s.Name] = true
		sites = append(sites, s)
	}
	return sites, false
}

// Trees is the place of what the reference MDX parser reads of the site.
func (s Site) Trees(tb testing.TB) string {
	tb.Helper()
	return s.oracle(tb, ".jsonl", "trees.mjs")
}

// Highlighted is the place of what the reference highlighter shows of the site.
func (s Site) Highlighted(tb testing.TB) string {
	tb.Helper()
	return s.oracle(tb, ".highlight.jsonl", "highlight.mjs")
}

// oracle returns a file that .ci/tools has made of a site of the shared folder,
// or makes it of another one with the same program.
func (s Site) oracle(tb testing.TB, end, program string) string {
	tb.Helper()
	if !s.chosen {
		return Trees(tb, s.Name+end)
	}
	script := Tool(tb, "the reference's "+program, "oracle", program)
	out, err := os.Create(filepath.Join(tb.TempDir(), s.Name+end))
	if err != nil {
		tb.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(Program(tb, "node"), script, s.Dir)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Run(); err != nil {
		tb.Fatalf("%s of %s: %v", program, s.Dir, err)
	}
	return out.Name()
}
