package tests

import (
	"os"
	"path"
	"path/filepath"
	"testing"
)

// TestPagesLoadLittle holds what every page of an exported site loads before
// it shows anything: 40 kB of styles and 12 kB of scripts, not compressed.
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
	sum := map[string]int64{}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		sum[path.Ext(f.Name())] += info.Size()
	}
	for ext, limit := range map[string]int64{".css": 40 << 10, ".js": 12 << 10} {
		if sum[ext] == 0 || sum[ext] > limit {
			t.Errorf("%d bytes of %s, limit %d", sum[ext], ext, limit)
		}
	}
}
