package export

import (
	"bytes"
	"compress/gzip"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// Weight of what a reader's browser loads for one page, compressed as servers
// send it, fonts and pictures aside.
const (
	pageWeight   = 40 << 10
	scriptWeight = 10<<10 + 320
	// islandsWeight is what pages with components load once for all of them.
	islandsWeight = 13 << 10
	// referenceWeight is what pages of operations load beside all others.
	referenceWeight = 7 << 10
)

// TestPagesLoadLittle holds the weight of pages of an exported site: of a plain
// one with all that it loads, and of the scripts alone.
func TestPagesLoadLittle(t *testing.T) {
	dir := t.TempDir()
	archive, err := os.ReadFile(harness.ExportSite(t, filepath.Join(outside.Checkout(t), "infra", "docs")).Bundle)
	if err != nil {
		t.Fatal(err)
	}
	harness.Extract(t, archive, dir)
	files, err := filepath.Glob(filepath.Join(dir, "bindery", "*"))
	if err != nil {
		t.Fatal(err)
	}
	sum := map[string]int{}
	for _, f := range files {
		switch ext := path.Ext(f); {
		case strings.HasPrefix(path.Base(f), "folder."): // never comes over a network
		case strings.HasPrefix(path.Base(f), "islands."):
			sum["islands"] += compressed(t, f)
		case strings.HasPrefix(path.Base(f), "reference."):
			sum["reference"] += compressed(t, f)
		case ext == ".css", ext == ".js":
			sum[ext] += compressed(t, f)
		}
	}
	if sum[".css"] == 0 || sum[".js"] == 0 || sum[".js"] > scriptWeight {
		t.Errorf("styles %d bytes, scripts %d bytes, limit %d", sum[".css"], sum[".js"], scriptWeight)
	}
	if n := sum["islands"]; n == 0 || n > islandsWeight {
		t.Errorf("what components need has %d bytes, limit %d", n, islandsWeight)
	}
	if n := sum["reference"]; n == 0 || n > referenceWeight {
		t.Errorf("what pages of operations need has %d bytes, limit %d", n, referenceWeight)
	}
	for _, page := range []string{"index.html", "start/quickstart.html", "operate/runbook.html"} {
		weight := sum[".css"] + sum[".js"] + compressed(t, filepath.Join(dir, page))
		t.Logf("%s: %d bytes, of them styles %d, scripts %d", page, weight, sum[".css"], sum[".js"])
		if weight > pageWeight {
			t.Errorf("%s: %d bytes, limit %d", page, weight, pageWeight)
		}
	}
}

// compressed is a file's size under gzip.
func compressed(t *testing.T, file string) int {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}
