package export

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// BenchmarkWholeExport runs the program on sites of several sizes, from
// packing to the checked archive, and reports the pages per CPU second of the
// whole process, its CPU time for a page, and its peak memory.
func BenchmarkWholeExport(b *testing.B) {
	sites := []struct {
		name string
		path func(b *testing.B) string
	}{
		{"made-1000", func(b *testing.B) string { return harness.MadeSite(b, 1000) }},
		{"made-20000", func(b *testing.B) string { return harness.MadeSite(b, 20000) }},
	}
	for _, site := range []string{"mcp", "trigger", "novu"} {
		sites = append(sites, struct {
			name string
			path func(b *testing.B) string
		}{site, func(b *testing.B) string { return outside.Folder(b, "corpora", site) }})
	}
	for _, site := range sites {
		b.Run(site.name, func(b *testing.B) {
			source := site.path(b)
			program := harness.Bindery(b)
			out := filepath.Join(b.TempDir(), "bundle.tar.gz")
			var cpu, pages float64
			var peak int64
			for b.Loop() {
				cmd := exec.Command(program, "run", source, "--out", out, "--json", "--no-cache")
				stdout, err := cmd.Output()
				if err != nil {
					b.Fatal(err)
				}
				pages += float64(pagesOf(b, stdout))
				cpu += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
				peak = max(peak, peakKiB(cmd.ProcessState))
			}
			b.ReportMetric(pages/cpu, "pages/cpu-s")
			b.ReportMetric(1000*cpu/pages, "cpu-ms/page")
			if peak > 0 {
				b.ReportMetric(float64(peak)/1024, "peak-MiB")
			}
			if info, err := os.Stat(out); err == nil {
				b.ReportMetric(float64(info.Size())/(pages/float64(b.N)), "bundle-bytes/page")
			}
		})
	}
}

// BenchmarkCheck reports how much of the processor time of bindery run a check of
// the same site takes; it is to be a third at most.
func BenchmarkCheck(b *testing.B) {
	site, program, out := outside.Folder(b, "corpora", "novu"), harness.Bindery(b), filepath.Join(b.TempDir(), "bundle.tar.gz")
	cpu := func(args ...string) float64 {
		cmd := exec.Command(program, args...)
		if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 5 { // which a site with errors has
			b.Fatal(err)
		}
		return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	}
	var check, run float64
	for b.Loop() {
		check += cpu("check", site)
		run += cpu("run", site, "--out", out, "--no-cache")
	}
	b.ReportMetric(check/run, "of-run")
}

func pagesOf(b *testing.B, stdout []byte) int {
	b.Helper()
	e, err := harness.ReadExported(stdout)
	if err != nil {
		b.Fatal(fmt.Errorf("bindery run --json: %w", err))
	}
	return e.Pages
}
