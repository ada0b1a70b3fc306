package check_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/tests/outside"
)

// mended applies the fixes of a site and returns it, and what they were.
func mended(t *testing.T, files fstest.MapFS, tools *check.Tools) (fstest.MapFS, []check.Fix) {
	t.Helper()
	report, err := check.Site(t.Context(), files, check.Options{Domain: "docs.example", Tools: tools, Fix: true, Indented: true})
	if err != nil {
		t.Fatal(err)
	}
	texts, err := check.Apply(files, report.Fixes)
	if err != nil {
		t.Fatal(err)
	}
	now := maps.Clone(files)
	for name, data := range texts {
		now[name] = &fstest.MapFile{Data: data}
	}
	return now, report.Fixes
}

// Each case is a site, and what fixes make of its files.
func TestFixes(t *testing.T) {
	files, err := filepath.Glob("testdata/fix/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	tools := check.NewTools(nil)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			was := siteOf(archive, "")
			now, fixes := mended(t, was, tools)
			want := &txtar.Archive{Comment: archive.Comment}
			for _, f := range archive.Files {
				if !strings.HasPrefix(f.Name, "want") {
					want.Files = append(want.Files, f)
				}
			}
			var list strings.Builder
			for _, f := range fixes {
				fmt.Fprintf(&list, "%s:%d:%d: %s\n", f.File, f.Line, f.Column, f.Message)
			}
			want.Files = append(want.Files, txtar.File{Name: "want", Data: []byte(list.String())})
			for _, name := range slices.Sorted(maps.Keys(now)) {
				if !bytes.Equal(now[name].Data, was[name].Data) {
					want.Files = append(want.Files, txtar.File{Name: "want/" + name, Data: now[name].Data})
				}
			}
			got := txtar.Format(want)
			if golden.Update() {
				golden.Write(t, file, got)
				return
			}
			if diff := cmp.Diff(string(txtar.Format(archive)), string(got)); diff != "" {
				t.Errorf("the fixes differ (-want +got; -update writes them anew):\n%s", diff)
			}
			if _, again := mended(t, now, tools); len(again) > 0 {
				t.Errorf("a second run mends %v", again)
			}
		})
	}
}

// Faults that are made in real sites are mended to the byte, and nothing else is
// touched: links of pages that moved, places with a hyphen too many, lines of docs.json
// that lost their indentation.
func TestMadeFaultsInRealSites(t *testing.T) {
	for _, name := range []string{"mcp", "novu", "trigger"} {
		t.Run(name, func(t *testing.T) {
			outside.Long(t, "checks a real site five times")
			tools := check.NewTools(nil)
			good := corpus(t, name)
			for { // the site's own faults first
				now, fixes := mended(t, good, tools)
				if good = now; len(fixes) == 0 {
					break
				}
			}
			report, err := check.Site(t.Context(), good, check.Options{Domain: "docs.example", Tools: tools})
			if err != nil {
				t.Fatal(err)
			}
			gone := map[string]bool{} // places that there never were
			for _, f := range report.Findings {
				if rest, ok := strings.CutPrefix(f.Message, `the link "`); ok && f.Code == "fragment-missing" {
					address, _, _ := strings.Cut(rest, `"`)
					gone[f.File+address] = true
				}
			}
			random := rand.New(rand.NewPCG(17, 3))
			config := string(good["docs.json"].Data)
			bad, redirects, made := withFaults(good, gone, random)
			if made < 20 {
				t.Fatalf("only %d faults were made", made)
			}
			config, ok := withRedirects(config, redirects)
			if !ok {
				t.Fatal("docs.json has no place for redirects")
			}
			want := maps.Clone(good)
			want["docs.json"] = &fstest.MapFile{Data: []byte(config)}
			now, _ := mended(t, want, tools) // the lines of redirects get their indentation
			want["docs.json"] = now["docs.json"]
			lines := strings.SplitAfter(string(want["docs.json"].Data), "\n")
			for i := range lines {
				if i > 5 && random.IntN(20) == 0 && strings.TrimSpace(lines[i]) != "" {
					lines[i] = strings.Repeat(" ", random.IntN(9)) + strings.TrimLeft(lines[i], " \t")
				}
			}
			bad["docs.json"] = &fstest.MapFile{Data: []byte(strings.Join(lines, ""))}
			got, fixes := mended(t, bad, tools)
			t.Logf("%d faults made, %d fixes", made, len(fixes))
			for file := range want {
				if !bytes.Equal(got[file].Data, want[file].Data) {
					t.Errorf("%s differs (-want +got):\n%s", file, cmp.Diff(strings.Split(string(want[file].Data), "\n"), strings.Split(string(got[file].Data), "\n")))
				}
			}
			if _, again := mended(t, got, tools); len(again) > 0 {
				t.Errorf("a second run mends %v", again)
			}
		})
	}
}

// withFaults returns a site in which links lead to where pages no longer are, with the
// redirects from there, or to places with a hyphen too many; made is how many. gone
// are the links to places that there never were.
func withFaults(good fstest.MapFS, gone map[string]bool, random *rand.Rand) (bad fstest.MapFS, redirects string, made int) {
	link := regexp.MustCompile(`\]\((/[a-z][a-z/-]+[a-z])(#[a-z]{9,})?\)`)
	config := string(good["docs.json"].Data)
	bad = maps.Clone(good)
	for _, page := range slices.Sorted(maps.Keys(good)) {
		if path.Ext(page) != ".mdx" {
			continue
		}
		src := string(good[page].Data)
		var out strings.Builder
		at := 0
		for _, m := range link.FindAllStringSubmatchIndex(src, -1) {
			to := src[m[2]:m[3]]
			if good[to[1:]+".mdx"] == nil || strings.Contains(config, `"source": "`+to+`"`) {
				continue // not written as a fix writes it
			}
			if random.IntN(2) == 0 {
				out.WriteString(src[at:m[2]] + "/moved-away" + to)
				at = m[3]
				if !strings.Contains(redirects, `"/moved-away`+to+`"`) {
					redirects += fmt.Sprintf(`{"source": "/moved-away%[1]s", "destination": "%[1]s"},`+"\n", to)
				}
				made++
			}
			if m[4] >= 0 && random.IntN(2) == 0 && src[m[4]:m[4]+5] != "#your" && !gone[page+to+src[m[4]:m[5]]] {
				out.WriteString(src[at:m[4]+5] + "-")
				at = m[4] + 5
				made++
			}
		}
		bad[page] = &fstest.MapFile{Data: []byte(out.String() + src[at:])}
	}
	return bad, redirects, made
}

// withRedirects puts redirects first into a configuration.
func withRedirects(config, redirects string) (string, bool) {
	before, after, ok := strings.Cut(config, `"redirects": [`)
	if ok {
		return before + `"redirects": [` + "\n" + redirects + strings.TrimLeft(after, "\n"), true
	}
	before, after, ok = strings.Cut(config, "{\n")
	return before + "{\n" + `"redirects": [` + "\n" + strings.TrimSuffix(redirects, ",\n") + "\n],\n" + after, ok
}

// corpus reads the files of a real site.
func corpus(t *testing.T, name string) fstest.MapFS {
	t.Helper()
	root := os.DirFS(outside.Folder(t, "corpora", name))
	files := fstest.MapFS{}
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := fs.ReadFile(root, p)
		files[p] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
