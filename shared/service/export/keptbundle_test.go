package export

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/kept"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestAKeptBundleIsTaken: an export of the same plan takes the bundle that a service
// before it left in the folder, with its findings; one that differs, is to be rendered
// or finds a damaged file renders.
func TestAKeptBundleIsTaken(t *testing.T) {
	outside.Long(t, "exports one site many times")
	dir := t.TempDir()
	site := sampleSite(40)
	export := func(t *testing.T, in admin.StartExport) (w *world, j admin.ExportJob, data []byte) {
		t.Helper()
		values, err := kept.Open(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer values.Close()
		w = newWorld(t) // nothing is left of the service before
		w.publish(t, site)
		j, data = w.completed(t, in, func(o *Options) { o.Kept = values })
		return w, j, data
	}
	w, first, want := export(t, admin.StartExport{Version: "v1"})
	if first.Reused != "" {
		t.Fatalf("the first export is %+v", first)
	}
	findings := w.findings(t, first.ID)
	if !strings.Contains(findings, "link-missing") {
		t.Fatalf("the site is to have findings, and has %q", findings)
	}
	w, again, got := export(t, admin.StartExport{Version: "v1"})
	if again.Reused != first.ID || !bytes.Equal(got, want) || w.findings(t, again.ID) != findings {
		t.Errorf("the same export is %+v", again)
	}
	if again.Bundle.Diagnostics != first.Bundle.Diagnostics || again.Bundle.End != first.Bundle.End || again.PageCount() != first.PageCount() {
		t.Errorf("its bundle is %+v, was %+v", again.Bundle, first.Bundle)
	}
	for _, tt := range []struct {
		name   string
		in     admin.StartExport
		before func()
	}{
		{"fresh", admin.StartExport{Version: "v1", Fresh: true}, nil},
		{"another version", admin.StartExport{Version: "v2"}, nil},
		{"the first again, whose file is gone", admin.StartExport{Version: "v1"}, nil},
		{"damaged", admin.StartExport{Version: "v1"}, func() {
			files, err := filepath.Glob(filepath.Join(dir, "*.file"))
			if err != nil || len(files) != 1 {
				t.Fatalf("the folder has %v, %v", files, err)
			}
			if err := os.Truncate(files[0], int64(len(want)/2)); err != nil {
				t.Fatal(err)
			}
		}},
		{"other settings", admin.StartExport{Version: "v1"}, func() {
			site["docs.json"].Data = bytes.Replace(site["docs.json"].Data, []byte(`"name":`), []byte(`"description":"Other","name":`), 1)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.before != nil {
				tt.before()
			}
			if _, j, data := export(t, tt.in); j.Reused != "" || len(data) == 0 {
				t.Errorf("the export is %+v", j)
			}
		})
	}
}
