package export

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/tests/outside"
)

// Real sites too give the same bytes for one worker on one shard and for many
// on many, and no page is lost.
func TestRealSites(t *testing.T) {
	for name, pages := range map[string]int{"mcp": 343, "novu": 403, "trigger": 325} {
		t.Run(name, func(t *testing.T) {
			outside.Long(t, "exports a real site twice")
			w := newWorld(t)
			w.publish(t, realSite(t, name))
			one := w.exported(t, func(o *Options) { o.Shards, o.Concurrency = 1, 1 })
			many := w.exported(t, func(o *Options) { o.Shards, o.Concurrency = 40, 8 })
			if !bytes.Equal(one, many) {
				t.Error("40 shards give other bytes than one")
			}
			html, markdown := 0, 0
			files := unpacked(t, many)
			for f, text := range files {
				name, ok := strings.CutSuffix(f, ".md")
				if !ok || strings.HasPrefix(text, "[Moved](<") {
					continue // the old address of a folder's index has a copy that leads on
				}
				markdown++
				if _, ok := files[name+".html"]; ok {
					html++
				}
			}
			if html != pages || markdown != pages {
				t.Errorf("%d pages with Markdown copies, %d copies, want %d", html, markdown, pages)
			}
		})
	}
}

// BenchmarkExport runs whole workflows on real sites: reading, rendering,
// highlighting, compressing, hashing and writing.
func BenchmarkExport(b *testing.B) {
	for _, name := range []string{"mcp", "novu", "trigger"} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b)
			w.publish(b, realSite(b, name))
			b.ReportAllocs()
			pages := 0
			for b.Loop() {
				job := w.start(b)
				if err := workflow(context.Background(), w.steps(nil), job.ID); err != nil {
					b.Fatal(err)
				}
				j, err := w.admin.FindExport(context.Background(), job.ID)
				if err != nil || j.Status != admin.ExportCompleted {
					b.Fatal(j.Status, err)
				}
				pages += j.Bundle.Pages
			}
			b.ReportMetric(float64(pages)/b.Elapsed().Seconds(), "pages/s")
		})
	}
}
