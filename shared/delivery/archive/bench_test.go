package archive

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
	"github.com/bindery-docs/bindery/shared/delivery/site/sitetest"
)

// pages is a site of pages of 40 kB, with their Markdown copies.
func pages(n int) map[string]string {
	r := rand.New(rand.NewPCG(1, 2))
	files := map[string]string{"404.html": "none"}
	for i := range n {
		var b strings.Builder
		for b.Len() < 40_000 {
			fmt.Fprintf(&b, "<li><a href=/guides/page-%d>%x %x</a></li>\n", r.IntN(n), r.Uint32(), r.Uint32())
		}
		files[fmt.Sprintf("guides/page-%04d.html", i)] = b.String()
		files[fmt.Sprintf("guides/page-%04d.md", i)] = b.String()[:4000]
	}
	return files
}

// BenchmarkAnswer measures the processor time of the handler for an answer: from memory,
// and with a read of the index and one of the file that cost nothing.
func BenchmarkAnswer(b *testing.B) {
	files := pages(300)
	for _, shared := range []bool{false, true} {
		data, root, _ := written(b, files, &bundle.Info{}, shared)
		for _, c := range []struct {
			name, path, accept string
			cache              int64
		}{
			{"hit/gzip", "/guides/page-0100", "gzip, deflate, br, zstd", 64 << 20},
			{"hit/plain", "/guides/page-0100", "", 64 << 20},
			{"miss/gzip", "/guides/page-0100", "gzip, deflate, br, zstd", 1},
			{"miss/plain", "/guides/page-0100", "", 1},
			{"miss/markdown", "/guides/page-0100.md", "gzip", 1},
		} {
			b.Run(fmt.Sprintf("shared=%t/%s", shared, c.name), func(b *testing.B) {
				cache := site.NewCache(c.cache, max(c.cache/4, 1))
				v, err := Open(b.Context(), &memory{data: data}, root, cache)
				if err != nil {
					b.Fatal(err)
				}
				h := &site.Handler{Cache: cache}
				r := httptest.NewRequest("GET", c.path, nil)
				if c.accept != "" {
					r.Header.Set("Accept-Encoding", c.accept)
				}
				w := sitetest.NewDiscard()
				b.ReportAllocs()
				for b.Loop() {
					if c.cache == 1 {
						clear(v.places)
					}
					clear(w.Header())
					if got := h.Answer(w, r, v); got.Status != 200 {
						b.Fatalf("status %d", got.Status)
					}
				}
			})
		}
	}
}

// slow answers after a while, as object storage does.
type slow struct {
	*memory
	after time.Duration
}

func (s slow) ReadRange(ctx context.Context, offset, length int64) ([]byte, error) {
	time.Sleep(s.after)
	return s.memory.ReadRange(ctx, offset, length)
}

// BenchmarkColdAnswers reports how long answers take that are not in memory, from a
// storage that takes 30 ms for each read: the median and the longest.
func BenchmarkColdAnswers(b *testing.B) {
	files := pages(300)
	data, root, _ := written(b, files, &bundle.Info{}, false)
	names := slices.Sorted(maps.Keys(files))
	for b.Loop() {
		cache := site.NewCache(64<<20, 1<<20)
		v, err := Open(b.Context(), slow{&memory{data: data}, 30 * time.Millisecond}, root, cache)
		if err != nil {
			b.Fatal(err)
		}
		h := &site.Handler{Cache: cache}
		var took []time.Duration
		for i := range 60 {
			r := httptest.NewRequest("GET", "/"+strings.TrimSuffix(names[i*9%len(names)], ".html"), nil)
			r.Header.Set("Accept-Encoding", "gzip")
			began := time.Now()
			if got := h.Answer(sitetest.NewDiscard(), r, v); got.Status != 200 {
				b.Fatalf("%s: status %d", r.URL, got.Status)
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "ms/median")
		b.ReportMetric(float64(took[len(took)-1].Milliseconds()), "ms/longest")
	}
}
