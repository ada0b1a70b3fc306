package component_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/net/html"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// namedIcons draws an icon as its name; it knows all names but "unknown".
type namedIcons struct{}

func (namedIcons) Icon(name, library, style string) (string, bool) {
	if name == "unknown" {
		return "", false
	}
	return `<svg class="icon bdy-icon" data-icon="` + html.EscapeString(strings.Trim(strings.Join([]string{library, style, name}, ":"), ":")) + `"/>`, true
}

// The golden files are pages that use one component or family in all its
// forms; "want/" files are what comes of it: HTML, the Markdown copy, text,
// contents, the rules of colours, and what the author is told.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fsys, want := fstest.MapFS{}, map[string]string{}
			var kept []txtar.File
			for _, f := range archive.Files {
				if name, ok := strings.CutPrefix(f.Name, "want/"); ok {
					want[name] = string(f.Data)
					continue
				}
				fsys[f.Name] = &fstest.MapFile{Data: f.Data}
				kept = append(kept, f)
			}
			result := render(t, fsys)
			for _, fault := range faults(result.HTML) {
				t.Error(fault)
			}
			got := outputs(result)
			if golden.Update() {
				archive.Files = kept
				for _, o := range got {
					if o.text != "" {
						archive.Files = append(archive.Files, txtar.File{Name: "want/" + o.name, Data: []byte(o.text)})
					}
				}
				golden.Write(t, file, txtar.Format(archive))
				return
			}
			if len(want) == 0 {
				t.Fatal("the golden file wants nothing: run the test with -update")
			}
			for _, o := range got {
				text := o.text
				if text != "" && !strings.HasSuffix(text, "\n") {
					text += "\n"
				}
				if diff := cmp.Diff(want[o.name], text); diff != "" {
					t.Errorf("%s differs (-want +got):\n%s", o.name, diff)
				}
			}
		})
	}
}

// render renders page.mdx of a site of these files.
func render(t testing.TB, fsys fstest.MapFS) *page.Result {
	t.Helper()
	fsys["docs.json"] = &fstest.MapFile{Data: []byte(`{"name": "Test", "navigation": {"pages": ["page"]}}`)}
	var paths []string
	for name := range fsys {
		paths = append(paths, name)
	}
	slices.Sort(paths)
	s, _, err := site.Load(t.Context(), fsys, paths, site.Options{Domain: "docs.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	result, err := page.New(page.Options{Site: s, FS: fsys, Icons: namedIcons{}}).Render(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

type output struct{ name, text string }

func outputs(r *page.Result) []output {
	var text, contents, styles, diagnostics strings.Builder
	for _, s := range r.Text {
		fmt.Fprintf(&text, "[%d #%s %s]\n%s\n", s.Level, s.ID, s.Heading, s.Text)
	}
	for _, h := range r.Contents {
		fmt.Fprintf(&contents, "%d #%s %s\n", h.Level, h.ID, h.Text)
	}
	var classes []string
	for class := range r.Styles {
		classes = append(classes, class)
	}
	slices.Sort(classes)
	for _, class := range classes {
		fmt.Fprintf(&styles, ".%s{%s}\n", class, r.Styles[class])
	}
	for _, d := range r.Diagnostics {
		fmt.Fprintln(&diagnostics, d)
	}
	return []output{
		{"html", string(r.HTML)}, {"md", string(r.Markdown)}, {"text", text.String()},
		{"contents", contents.String()}, {"styles", styles.String()}, {"diagnostics", diagnostics.String()},
	}
}

// faults lists what no component may write: styles and handlers in the page,
// scripts, ids twice, tags that do not match.
func faults(b []byte) []string {
	var out []string
	var open []string
	ids := map[string]bool{}
	z := html.NewTokenizer(bytes.NewReader(b))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		token := z.Token()
		switch kind {
		case html.StartTagToken:
			switch token.Data {
			case "img", "br", "hr", "input", "wbr", "source":
			case "script", "style":
				out = append(out, "a <"+token.Data+">")
			default:
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				out = append(out, fmt.Sprintf("</%s> closes %v", token.Data, open))
				continue
			}
			open = open[:len(open)-1]
		}
		for _, a := range token.Attr {
			switch {
			case a.Key == "style" || strings.HasPrefix(a.Key, "on") || strings.HasPrefix(strings.ToLower(a.Val), "javascript:"):
				out = append(out, fmt.Sprintf("<%s %s=%q>", token.Data, a.Key, a.Val))
			case a.Key == "id" && (ids[a.Val] || a.Val == ""):
				out = append(out, "the id "+a.Val+" twice")
			case a.Key == "id":
				ids[a.Val] = true
			}
		}
	}
	if len(open) > 0 {
		out = append(out, fmt.Sprintf("never closed: %v", open))
	}
	return out
}
