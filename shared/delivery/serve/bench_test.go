package serve

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// discard is a reader that throws everything away.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkAnswer is what the server itself adds to a request, beside Go's HTTP.
func BenchmarkAnswer(b *testing.B) {
	v := &volume{dir: b.TempDir(), log: slog.New(slog.DiscardHandler)}
	release, err := v.lock(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer release()
	record, err := v.addBytes(b, archive(b, "1", sample(), nil), want{})
	if err != nil {
		b.Fatal(err)
	}
	s, err := v.openSite(record.Digest)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, path, accept string }{
		{"page", "/guides/start", ""},
		{"zstd", "/guides/start", "gzip, deflate, br, zstd"},
		{"missing", "/missing", ""},
	} {
		b.Run(c.name, func(b *testing.B) {
			h := &handler{log: v.log, metrics: newMetrics(time.Time{}), cache: &cache{most: 1 << 20, largest: 1 << 18}}
			h.show(s, nil)
			r := httptest.NewRequest("GET", c.path, nil)
			if c.accept != "" {
				r.Header.Set("Accept-Encoding", c.accept)
			}
			w := &discard{header: http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				h.ServeHTTP(w, r)
			}
		})
	}
}
