package serve

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/site"
	"github.com/bindery-docs/bindery/shared/delivery/site/sitetest"
)

// BenchmarkAnswer is what the server itself adds to a request, beside Go's HTTP.
func BenchmarkAnswer(b *testing.B) {
	v := &volume{dir: b.TempDir(), log: slog.New(slog.DiscardHandler)}
	release, err := v.lock(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer release()
	files := sample()
	files["video.mp4"] = strings.Repeat("eight KiB", 1<<20) // larger than what is kept in memory
	record, err := v.addBytes(b, bundleOf(b, "1", files, nil), want{})
	if err != nil {
		b.Fatal(err)
	}
	s, err := v.openSite(b.Context(), record.Digest)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name, path, accept string
		cache              int64
	}{
		{"page", "/guides/start", "", 1 << 20},
		{"zstd", "/guides/start", "gzip, deflate, br, zstd", 1 << 20},
		{"missing", "/missing", "", 1 << 20},
		{"not in memory", "/api/", "", 1},
		{"large", "/video.mp4", "", 1 << 20},
	} {
		b.Run(c.name, func(b *testing.B) {
			h := newHandler("", v.log, newMetrics(time.Time{}), site.NewCache(c.cache, c.cache/4))
			h.show(s, nil)
			r := httptest.NewRequest("GET", c.path, nil)
			if c.accept != "" {
				r.Header.Set("Accept-Encoding", c.accept)
			}
			w := sitetest.NewDiscard()
			b.ReportAllocs()
			for b.Loop() {
				clear(w.Header())
				h.ServeHTTP(w, r)
			}
		})
	}
}

// BenchmarkJoin is what joined writes are for: requests over connections of
// TCP, with them and without.
func BenchmarkJoin(b *testing.B) {
	for _, size := range []int{6000, 20_000, 60_000} {
		for _, join := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d/join=%t", size, join), func(b *testing.B) {
				body := make([]byte, size)
				server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Length", strconv.Itoa(size))
					writeBody(w, r, body)
				}))
				if join {
					server.Config.ConnContext, server.Listener = joinContext, &joinListener{Listener: server.Listener}
				}
				server.Start()
				defer server.Close()
				b.SetParallelism(8)
				b.RunParallel(func(pb *testing.PB) {
					c, err := net.Dial("tcp", server.Listener.Addr().String())
					if err != nil {
						b.Error(err)
						return
					}
					defer c.Close()
					in := bufio.NewReader(c)
					for pb.Next() {
						if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"); err != nil {
							b.Error(err)
							return
						}
						answer, err := http.ReadResponse(in, nil)
						if err != nil {
							b.Error(err)
							return
						}
						if _, err := io.Copy(io.Discard, answer.Body); err != nil {
							b.Error(err)
						}
					}
				})
			})
		}
	}
}
