package page_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/shared/render/highlight"
	"github.com/bindery-docs/bindery/shared/render/page"
)

// namedIcons draws an icon as its name; it knows all names but "unknown".
type namedIcons struct{}

func (namedIcons) Icon(name, library, style string) (string, bool) {
	if name == "unknown" {
		return "", false
	}
	svg := `<svg class="icon bdy-icon" data-icon="` + strings.Trim(strings.Join([]string{library, style, name}, ":"), ":") + `"/>`
	return svg, true
}

// The golden files are sites: page.mdx, or page.md, is the page that is rendered, the files
// that begin with "want/" are what comes of it. A site without docs.json gets
// one.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(file, "testdata/"), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fsys := fstest.MapFS{}
			want := map[string]string{}
			var kept []txtar.File
			for _, f := range archive.Files {
				if name, ok := strings.CutPrefix(f.Name, "want/"); ok {
					want[name] = string(f.Data)
					continue
				}
				fsys[f.Name] = &fstest.MapFile{Data: f.Data}
				kept = append(kept, f)
			}
			source := "page.mdx"
			if fsys[source] == nil {
				source = "page.md"
			}
			result := renderFiles(t, fsys, source)
			for _, fault := range checkHTML(result) {
				t.Error(fault)
			}
			got := map[string]string{
				"html":        string(result.HTML),
				"md":          string(result.Markdown),
				"text":        sections(result),
				"contents":    contents(result),
				"diagnostics": diagnostics(result),
				"links":       links(result),
			}
			if golden.Update() {
				archive.Files = kept
				for _, name := range []string{"html", "md", "text", "contents", "diagnostics", "links"} {
					if _, asked := want[name]; asked || len(want) == 0 && got[name] != "" {
						archive.Files = append(archive.Files, txtar.File{Name: "want/" + name, Data: []byte(got[name])})
					}
				}
				golden.Write(t, file, txtar.Format(archive))
				return
			}
			if len(want) == 0 {
				t.Fatal("the golden file wants nothing: run the test with -update")
			}
			for name, text := range want {
				if diff := cmp.Diff(text, string(txtar.Parse(txtar.Format(&txtar.Archive{Files: []txtar.File{{Name: "x", Data: []byte(got[name])}}})).Files[0].Data)); diff != "" {
					t.Errorf("%s differs (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// renderFiles renders one page of a site made of files.
func renderFiles(t testing.TB, fsys fstest.MapFS, source string) *page.Result {
	t.Helper()
	if _, ok := fsys["docs.json"]; !ok {
		fsys["docs.json"] = &fstest.MapFile{Data: []byte(`{"name": "Test", "navigation": {"pages": ["page"]}}`)}
	}
	_, s := open(t, fsys)
	r := page.New(page.Options{Site: s, FS: fsys, Icons: namedIcons{}, Highlighter: highlight.New(highlight.Options{}), Formulas: scripts(), Playground: true})
	for i := range s.Pages {
		if s.Pages[i].Source == source {
			result, err := r.RenderReference(t.Context(), i, sliceOf(t, fsys, s, i))
			if err != nil {
				t.Fatal(err)
			}
			return result
		}
	}
	t.Fatalf("%s is not a page of the site", source)
	return nil
}

// renderSource renders a page that is all of its site.
func renderSource(t testing.TB, source string) *page.Result {
	t.Helper()
	return renderFiles(t, fstest.MapFS{"page.mdx": {Data: []byte(source)}}, "page.mdx")
}

func sections(r *page.Result) string {
	var b strings.Builder
	for _, s := range r.Text {
		fmt.Fprintf(&b, "[%d #%s %s]\n%s\n", s.Level, s.ID, s.Heading, s.Text)
	}
	return b.String()
}

func contents(r *page.Result) string {
	var b strings.Builder
	for _, h := range r.Contents {
		fmt.Fprintf(&b, "%d #%s %s\n", h.Level, h.ID, h.Text)
	}
	return b.String()
}

func diagnostics(r *page.Result) string {
	var b strings.Builder
	for _, d := range r.Diagnostics {
		fmt.Fprintln(&b, d)
	}
	return b.String()
}

func links(r *page.Result) string {
	var b strings.Builder
	for _, l := range r.Links {
		fmt.Fprintf(&b, "%s:%d:%d: %s → page %d %s", l.File, l.Line, l.Column, l.Raw, l.Page, l.Path)
		if l.Fragment != "" {
			fmt.Fprintf(&b, " #%s", l.Fragment)
		}
		if l.Asset {
			b.WriteString(" asset")
		}
		if l.Missing {
			b.WriteString(" missing")
		}
		b.WriteString("\n")
	}
	return b.String()
}
