package check_test

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// siteOf makes a file system of the files of a case that lie below a folder.
func siteOf(archive *txtar.Archive, folder string) fstest.MapFS {
	site := fstest.MapFS{}
	for _, f := range archive.Files {
		if name, ok := strings.CutPrefix(f.Name, folder); ok && !strings.HasPrefix(f.Name, "want") {
			site[name] = &fstest.MapFile{Data: f.Data}
		}
	}
	return site
}

// text writes findings as people read them, one a line.
func text(list []check.Finding) string {
	var b strings.Builder
	for _, f := range list {
		b.WriteString(mdx.Diagnostic{Severity: f.Level, Code: f.Code, File: f.File, Line: f.Line, Column: f.Column, Message: f.Message}.String())
		if f.Page != "" {
			b.WriteString(" on " + f.Page)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Each case is a site and what a check of it finds. A line of the comment that
// begins with "options:" changes how it is checked.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
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
			opt := check.Options{Domain: "docs.example", Tools: tools}
			for line := range strings.Lines(string(archive.Comment)) {
				rest, _ := strings.CutPrefix(strings.TrimSpace(line), "options:")
				for word := range strings.FieldsSeq(rest) {
					switch name, value, _ := strings.Cut(word, "="); {
					case rest == strings.TrimSpace(line):
					case name == "groups":
						opt.Groups = strings.Split(value, ",")
					case name == "air-gapped":
						opt.AirGapped = true
					default:
						t.Fatalf("there is no option %s", name)
					}
				}
			}
			report, err := check.Site(t.Context(), siteOf(archive, ""), opt)
			if err != nil {
				t.Fatal(err)
			}
			if c := check.Count(report.Findings); c != report.Counts {
				t.Errorf("counted are %+v, and there are %+v", report.Counts, c)
			}
			got := text(report.Findings)
			for _, p := range report.NotChecked {
				got += p + " is not checked\n"
			}
			i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" })
			if i < 0 {
				t.Fatal("the case has no file want")
			}
			if golden.Update() {
				archive.Files[i].Data = []byte(got)
				golden.Write(t, file, txtar.Format(archive))
				return
			}
			if diff := cmp.Diff(strings.Split(string(archive.Files[i].Data), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("the findings differ (-want +got; -update writes them anew):\n%s", diff)
			}
		})
	}
}

// TestNew: what moved is not new, and what is there once more is.
func TestNew(t *testing.T) {
	f := func(code, file string, line int, message string) check.Finding {
		return check.Finding{Level: mdx.Warning, Code: code, File: file, Line: line, Message: message}
	}
	before := []check.Finding{f("a", "x.mdx", 1, "m"), f("b", "x.mdx", 2, "m"), f("gone", "x.mdx", 3, "m")}
	now := []check.Finding{f("a", "x.mdx", 7, "m"), f("a", "x.mdx", 9, "m"), f("b", "y.mdx", 2, "m"), f("b", "x.mdx", 2, "m"), f("b", "x.mdx", 2, "n")}
	want := []check.Finding{now[1], now[2], now[4]}
	if diff := cmp.Diff(want, check.New(before, now)); diff != "" {
		t.Errorf("new findings differ (-want +got):\n%s", diff)
	}
	if got := check.New(now, now); got != nil {
		t.Errorf("nothing changed, and new are %v", got)
	}
}

// TestGivenRules: rules that are given are in the place of the site's own.
func TestGivenRules(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/badrules.txtar")
	if err != nil {
		t.Fatal(err)
	}
	report, err := check.Site(t.Context(), siteOf(archive, ""), check.Options{Rules: check.Rules{"file-missing": check.Off, "alt-missing": mdx.Error}})
	if err != nil {
		t.Fatal(err)
	}
	if report.Counts != (check.Counts{Errors: 1, Warnings: 1}) {
		t.Errorf("found are\n%s", text(report.Findings))
	}
}

// TestReadErrors: what goes wrong with the files themselves is an error.
func TestReadErrors(t *testing.T) {
	site := fstest.MapFS{"docs.json": {Data: []byte(`{"name": "Site", "navigation": {"pages": ["a"]}}`)}, "a.mdx": {Data: []byte("Text.\n")}}
	_, err := check.Site(t.Context(), broken{site}, check.Options{})
	if err == nil || !strings.Contains(err.Error(), "a disk is gone") {
		t.Errorf("the error is %v", err)
	}
}

// broken can't read pages.
type broken struct{ fs.FS }

func (b broken) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, ".mdx") {
		return nil, fmt.Errorf("a disk is gone")
	}
	return b.FS.Open(name)
}
