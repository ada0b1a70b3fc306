package tests

import (
	"bytes"
	"compress/gzip"
	"os"
	"path"
	"path/filepath"
	"testing"
)

// TestPagesLoadLittle holds what every page of an exported site loads before
// it shows anything: compressed, 16 kB of styles and 12 kB of scripts.
func TestPagesLoadLittle(t *testing.T) {
	dir := t.TempDir()
	archive, err := os.ReadFile(exportSite(t, filepath.Join(repository(t), "infra", "docs")).Bundle)
	if err != nil {
		t.Fatal(err)
	}
	extractWithGo(t, archive, dir)
	files, err := os.ReadDir(filepath.Join(dir, "bindery"))
	if err != nil {
		t.Fatal(err)
	}
	sum := map[string]int{}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, "bindery", f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		sum[path.Ext(f.Name())] += b.Len()
	}
	for ext, limit := range map[string]int{".css": 16_000, ".js": 12_000} {
		if sum[ext] == 0 || sum[ext] > limit {
			t.Errorf("%d bytes of %s, limit %d", sum[ext], ext, limit)
		}
	}
}
