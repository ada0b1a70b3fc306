package diagram

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// TestSyntax: each part of the syntax of graphs has a file with a source and what
// is drawn of it.
func TestSyntax(t *testing.T) {
	files, err := filepath.Glob("testdata/syntax/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	w := New()
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil || ar.Files[0].Name != "source" {
				t.Fatal(err)
			}
			d, err := w.Draw(t.Context(), string(ar.Files[0].Data))
			if err != nil {
				t.Fatal(err)
			}
			safe(t, d.AppendSVG(nil, `"><script>`, address))
			got := shown(d)
			if *update {
				ar.Files = []txtar.File{ar.Files[0], {Name: "drawing", Data: got}}
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(ar.Files[1].Data), string(got)); diff != "" {
				t.Errorf("%s differs; -update writes it anew (-want +got):\n%s", file, diff)
			}
		})
	}
}
