package export

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestThreeRealSites takes three sites that nobody here wrote, or those that
// BINDERY_SITES lists, from folder to
// bundle and has a checker that shares no code with the product look at what
// came out, beside the trees that the reference MDX parser reads.
func TestThreeRealSites(t *testing.T) {
	outside.Long(t, "exports three real sites")
	checker := outside.Folder(t, "oracle", "check_bundle.py")
	sites, all := outside.Sites(t)
	python := outside.Program(t, "python3")
	compared := 0
	for _, real := range sites {
		site, source := real.Name, real.Dir
		t.Run(site, func(t *testing.T) {
			bundle := harness.ExportSite(t, source)
			out, err := exec.Command(python, checker, bundle.Bundle, source,
				"--trees", besideFolders(t, real.Trees(t), source), "--fair", "--show", "1000000").Output()
			if err != nil {
				t.Fatalf("check_bundle.py: %v\n%s", err, out)
			}
			figures, faults := readReport(t, out)
			t.Logf("%s: %s", site, summary(figures))
			compared += int(figures["pages compared"])

			for _, must := range []string{
				"lost pages", "root-absolute reference", "reference out of the bundle", "unsafe name", "duplicate name",
				"not a plain file", "inline handler", "duplicate id", "javascript: link", "not utf-8", "no title",
				"use of an outside file (blocked on file://)",
			} {
				if figures[must] != 0 {
					t.Errorf("%s: %v, want 0\n%s", must, figures[must], strings.Join(first(faults[must], 5), "\n"))
				}
			}
			if got := int(figures["pages with JSX-looking text"]); all && got != pagesAboutJSX[site] {
				t.Errorf("%d pages show text that looks like JSX, want the %d that are about it", got, pagesAboutJSX[site])
			}
			if missing := faults["text missing"]; len(missing) > 0 {
				t.Errorf("%d pages lack text of the reference:\n%s", len(missing), strings.Join(first(missing, 10), "\n"))
			}
			if all && figures["nav pages that exist"] < 100 {
				t.Errorf("the checker found only %v pages in the navigation", figures["nav pages that exist"])
			}

			// A reference that leads nowhere must be one that the author was told of.
			told := toldOf(t, bundle.Bundle)
			for _, fault := range append(faults["broken reference"], faults["broken fragment"]...) {
				page, ref, _ := strings.Cut(fault, ": ")
				if !told(ref) {
					t.Errorf("%s: %s leads nowhere, and the bundle's diagnostics don't say so", page, ref)
				}
			}
		})
	}
	if all && compared < 1122-len(treesWithoutPage)-pagesThatLeadElsewhere {
		t.Errorf("%d pages were compared with the reference's text, want %d", compared, 1122-len(treesWithoutPage))
	}
}

// besideFolders returns a copy of the reference's trees with the names that bundles
// give the indexes of folders: guides/index.mdx is guides.html, as guides.mdx would be.
func besideFolders(t *testing.T, trees, source string) string {
	t.Helper()
	text := regexp.MustCompile(`(?m)^\{"page":"([^"]+)/index\.mdx"`).ReplaceAllStringFunc(harness.Read(t, trees), func(begin string) string {
		folder := strings.TrimSuffix(strings.TrimPrefix(begin, `{"page":"`), `/index.mdx"`)
		if harness.Exists(filepath.Join(source, folder+".mdx")) {
			return begin
		}
		return `{"page":"` + folder + `.mdx"`
	})
	file := filepath.Join(t.TempDir(), "trees.jsonl")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// pagesAboutJSX is how many pages of a site name components in their text or
// in code, so that tags are what a reader should see.
var pagesAboutJSX = map[string]int{"mcp": 3, "novu": 1}

// treesWithoutPage are sources that the reference parser reads, but that have
// no page of their own in a bundle: the 53 snippets that pages import.
var treesWithoutPage = make([]struct{}, 53)

// pagesThatLeadElsewhere are sources whose front matter names another address.
const pagesThatLeadElsewhere = 7

// readReport reads what check_bundle.py prints: a JSON object of figures, then
// a list of examples under a heading for each kind of fault.
func readReport(t *testing.T, out []byte) (figures map[string]float64, faults map[string][]string) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(out))
	var raw map[string]any
	if err := dec.Decode(&raw); err != nil {
		t.Fatalf("check_bundle.py printed no figures: %v", err)
	}
	figures, faults = map[string]float64{}, map[string][]string{}
	for name, v := range raw {
		if f, ok := v.(float64); ok {
			figures[name] = f
		}
	}
	kind := ""
	lines := bufio.NewScanner(bytes.NewReader(out[dec.InputOffset():]))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "   "):
			faults[kind] = append(faults[kind], strings.TrimSpace(line))
		case strings.HasSuffix(line, "):"):
			kind = line[:strings.LastIndex(line, " (")]
		}
	}
	return figures, faults
}

func summary(figures map[string]float64) string {
	data, _ := json.Marshal(figures)
	return string(data)
}

func first(list []string, n int) []string { return list[:min(n, len(list))] }

// toldOf reads the bundle's diagnostics about links and files. What it returns
// tells whether one of them names a reference's fragment, or else its last
// part: authors are told of the place in the source, which may be a snippet of many pages.
func toldOf(t *testing.T, bundle string) func(ref string) bool {
	t.Helper()
	var messages []string
	for _, line := range strings.Split(string(fileOf(t, bundle, "bindery/diagnostics.jsonl")), "\n") {
		if line == "" {
			continue
		}
		var d struct{ Code, Message string }
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(d.Code, "-missing") {
			messages = append(messages, d.Message)
		}
	}
	return func(ref string) bool {
		name := ref[strings.LastIndexByte(ref, '/')+1:]
		if _, fragment, ok := strings.Cut(ref, "#"); ok {
			name = fragment
		}
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
		return name != "" && slices.ContainsFunc(messages, func(m string) bool { return strings.Contains(m, name) })
	}
}

// fileOf reads one file out of a bundle.
func fileOf(t *testing.T, bundle, name string) []byte {
	t.Helper()
	f, err := os.Open(bundle)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	tr := tar.NewReader(zr)
	for {
		h, err := tr.Next()
		if err != nil {
			t.Fatalf("no %s in the bundle: %v", name, err)
		}
		if h.Name == name {
			data, err := io.ReadAll(tr)
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
	}
}
