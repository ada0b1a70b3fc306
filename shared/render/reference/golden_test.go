package reference_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bindery-docs/bindery/shared/base/golden"
	"github.com/bindery-docs/bindery/shared/render/highlight"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/reference"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// noIcons draws none: pages about APIs have those of their author alone.
type noIcons struct{}

func (noIcons) Icon(_, _, _ string) (string, bool) { return "", false }

// aboutAPI tells pages that show something of a specification, or would if it
// could be read.
func aboutAPI(p *site.Page) bool { return p.Reference != nil || p.OpenAPI != "" }

// rendered are the wanted pages of a site, in the order of the site.
func rendered(t *testing.T, fsys fs.FS, want func(*site.Page) bool) (pages []*site.Page, results []*page.Result) {
	t.Helper()
	var paths []string
	if err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			paths = append(paths, p)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	r := reference.NewReader(fsys)
	s, _, err := site.Load(context.Background(), fsys, paths, site.Options{Domain: "docs.example.com", Reference: r})
	if err != nil {
		t.Fatal(err)
	}
	render := page.New(page.Options{Site: s, FS: fsys, Icons: noIcons{}, Highlighter: highlight.New(highlight.Options{}), Playground: true})
	for i := range s.Pages {
		p := &s.Pages[i]
		if !want(p) {
			continue
		}
		var slice *reference.Slice
		if p.Reference != nil {
			spec := r.Spec(p.Reference.File)
			raw, err := r.Slice(spec, spec.Find(p.Reference.Key)).Encode() // as between the steps of an export
			if err != nil {
				t.Fatal(err)
			}
			slice = new(reference.Slice)
			if err := json.Unmarshal(raw, slice); err != nil {
				t.Fatal(err)
			}
		}
		result, err := render.RenderReference(t.Context(), i, slice)
		if err != nil {
			t.Fatal(err)
		}
		pages, results = append(pages, p), append(results, result)
	}
	return pages, results
}

// TestPages renders the pages of specifications of our own: each file in
// testdata/pages is a site whose files named "want/" are the pages of it, as HTML,
// without what stands around them.
func TestPages(t *testing.T) {
	files, err := filepath.Glob("testdata/pages/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d golden files (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fsys, want, spec := fstest.MapFS{}, map[string]string{}, ""
			var kept []txtar.File
			for _, f := range archive.Files {
				if name, ok := strings.CutPrefix(f.Name, "want/"); ok {
					want[name] = string(f.Data)
					continue
				}
				if strings.HasPrefix(f.Name, "api.") {
					spec = f.Name
				}
				fsys[f.Name] = &fstest.MapFile{Data: f.Data}
				kept = append(kept, f)
			}
			fsys["index.mdx"] = &fstest.MapFile{Data: []byte("Hello.\n")}
			if fsys["docs.json"] == nil { // one language of samples is enough for most
				fsys["docs.json"] = &fstest.MapFile{Data: fmt.Appendf(nil,
					`{"name": "Test", "api": {"examples": {"languages": ["curl"]}}, "navigation": {"tabs": [{"tab": "Guide", "pages": ["index"]}, {"tab": "API", "openapi": {"source": %q, "directory": "api"}}]}}`, spec)}
			}
			got := map[string]string{}
			pages, results := rendered(t, fsys, aboutAPI)
			for i, p := range pages {
				name := strings.ReplaceAll(strings.TrimPrefix(p.Address, "api/"), "/", " ")
				got[name] = string(txtar.Parse(txtar.Format(&txtar.Archive{Files: []txtar.File{{Name: "x", Data: results[i].HTML}}})).Files[0].Data)
				kept = append(kept, txtar.File{Name: "want/" + name, Data: results[i].HTML})
			}
			if len(got) == 0 || len(got) != len(pages) {
				t.Fatalf("%d names of %d pages", len(got), len(pages))
			}
			if golden.Update() {
				archive.Files = kept
				golden.Write(t, file, txtar.Format(archive))
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
