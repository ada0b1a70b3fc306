package export

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/tests/outside"
)

// bundleAlone are the findings that a check doesn't make: they are about what the
// project allows and names, which a folder doesn't know.
var bundleAlone = []string{"feature-unset", "integration-off", "search-service"}

// TestCheckFindsWhatTheBundleLists: the findings of a check and the lines of the
// bundle's list are the same, in the same order. make test-all compares three real
// sites, other runs one.
func TestCheckFindsWhatTheBundleLists(t *testing.T) {
	outside.Long(t, "exports many sites")
	sites := map[string]func(t *testing.T) fs.FS{
		"sample": func(*testing.T) fs.FS { return sampleSite(130) },
		"look":   func(*testing.T) fs.FS { return lookSite() },
		"rules": func(*testing.T) fs.FS {
			site := sampleSite(3)
			site["bindery.yaml"] = &fstest.MapFile{Data: []byte("check:\n  link-missing: error\n  fragment-missing: off\n  no-code: off\n")}
			return site
		},
		"ignores": func(*testing.T) fs.FS {
			site := sampleSite(3)
			site["p1.mdx"] = &fstest.MapFile{Data: []byte("---\ntitle: One\n---\n\n{/* bindery-ignore link-missing: soon */}\n[one](/nowhere) [two](/p1#nowhere)\n\n{/* bindery-ignore alt-missing: nothing */}\nText.\n")}
			return site
		},
		"docs": func(t *testing.T) fs.FS {
			return os.DirFS(filepath.Join(outside.Checkout(t), "infra", "docs"))
		},
	}
	real := []string{"mcp", "novu", "trigger"}
	if !outside.Full() {
		real = real[1:2]
	}
	for _, name := range real {
		sites[name] = func(t *testing.T) fs.FS {
			outside.Long(t, "exports a real site")
			return realSite(t, name)
		}
	}
	for _, name := range []string{"atlas", "islands"} { // all that a site may have, and components in JavaScript
		sites[name] = func(t *testing.T) fs.FS {
			outside.Long(t, "runs components that don't end")
			return os.DirFS(filepath.Join(outside.Checkout(t), "tests", "browser", "testdata", name))
		}
	}
	for name, open := range sites {
		t.Run(name, func(t *testing.T) {
			fsys := open(t)
			program, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			scripts := island.New(island.Options{Program: program})
			defer scripts.Close()
			w := newWorld(t)
			w.publish(t, fsys)
			var listed []check.Finding
			files := unpacked(t, w.exported(t, func(o *Options) { o.Islands = scripts }))
			if _, ok := files["bindery.yaml"]; ok {
				t.Error("the bundle has the site's rules")
			}
			lines := bufio.NewScanner(strings.NewReader(files["bindery/diagnostics.jsonl"]))
			for lines.Scan() {
				var d check.Finding
				if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
					t.Fatal(err)
				}
				if !slices.Contains(bundleAlone, d.Code) {
					listed = append(listed, d)
				}
			}
			report, err := check.Site(t.Context(), fsys, check.Options{Domain: domain, Islands: scripts})
			if err != nil {
				t.Fatal(err)
			}
			for i := range report.Findings {
				report.Findings[i].Page = "" // the list has none
			}
			if diff := cmp.Diff(listed, report.Findings); diff != "" {
				t.Errorf("the findings differ (-bundle +check):\n%s", diff)
			}
			if len(listed) == 0 && name != "docs" {
				t.Error("there is nothing to compare")
			}
			if c := check.Count(report.Findings); c != report.Counts {
				t.Errorf("counted are %+v, and there are %+v", report.Counts, c)
			}
		})
	}
}

// A check of novu beside its export.
func BenchmarkCheck(b *testing.B) {
	fsys := realSite(b, "novu")
	b.ReportAllocs()
	for b.Loop() {
		report, err := check.Site(b.Context(), fsys, check.Options{Domain: domain})
		if err != nil || report.Pages < 400 || report.Counts.Warnings == 0 || report.Findings[0].Level == mdx.Error {
			b.Fatal(report, err)
		}
	}
}
