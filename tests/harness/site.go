package harness

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Download exports a site with the program and returns the digest of the bundle.
func Download(t *testing.T, u *Up, domain string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "bundle.tar.gz")
	if _, err := u.Command(t, append([]string{"export", "--domain", domain, "--out", out}, flags...)...); err != nil {
		t.Fatal(err)
	}
	archive, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return Digest(archive)
}

// SeededDomain returns the domain that `up --seed` made, from the operator's command.
func SeededDomain(t *testing.T, u *Up) string {
	t.Helper()
	out, err := u.Command(t, "project", "list", "--data", u.Data, "--json")
	if err != nil {
		t.Fatal(err)
	}
	var projects []struct{ Domain string }
	if err := json.Unmarshal(out, &projects); err != nil || len(projects) != 1 {
		t.Fatalf("project list --json: %v in %s", err, out)
	}
	return projects[0].Domain
}

// MadeSite writes a site of n pages with links, code and pictures.
func MadeSite(tb testing.TB, n int) string {
	tb.Helper()
	dir := tb.TempDir()
	write := func(name, text string) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
		// The modification time is part of a bundle: hold it still.
		when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		if err := os.Chtimes(file, when, when); err != nil {
			tb.Fatal(err)
		}
	}
	var pages []string
	for i := range n {
		name := fmt.Sprintf("part-%02d/page-%04d", i/50, i)
		pages = append(pages, fmt.Sprintf("%q", name))
		write(name+".mdx", fmt.Sprintf("---\ntitle: Page %d\n---\n\n## First\n\nSee [the next](/part-%02d/page-%04d).\n\n<Note>Number **%d**</Note>\n\n```go\nfunc f() int { return %d }\n```\n",
			i, ((i+1)%n)/50, (i+1)%n, i, i))
	}
	write("docs.json", fmt.Sprintf(`{"name":"Made","theme":"mint","colors":{"primary":"#0055aa"},"navigation":{"groups":[{"group":"All","pages":[%s]}]}}`,
		strings.Join(pages, ",")))
	return dir
}
