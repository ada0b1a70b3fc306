package sitetest

import (
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/delivery/site"
)

// testRanges: parts of a file are those of its plain form, whatever the reader takes and
// however large the file is.
func testRanges(t *testing.T, open Open) {
	files := largeSample()
	s := open(t, files, sampleInfo())
	start, large := files["guides/start.html"], files["large.bin"]
	tag := Tag(start, samplePolicy, site.Identity)
	for cached, cache := range map[string]*site.Cache{"": site.NewCache(0, 0), "cached": inMemory()} {
		w := serve(t, s, "", cache)
		for _, c := range []struct {
			name   string
			path   string
			ask    []string
			status int
			body   string
			header string // Content-Range
		}{
			{"a part", "/guides/start", []string{"Range", "bytes=0-4"}, 206, start[:5], fmt.Sprintf("bytes 0-4/%d", len(start))},
			{"the end", "/guides/start", []string{"Range", "bytes=-7", "Accept-Encoding", "gzip, zstd"}, 206, "</html>", fmt.Sprintf("bytes %d-%d/%d", len(start)-7, len(start)-1, len(start))},
			{"from a byte on", "/guides/start", []string{"Range", "bytes=9-"}, 206, start[9:], ""},
			{"more parts than are sent", "/guides/start", []string{"Range", "bytes=0-0" + strings.Repeat(",2-2", 16)}, 200, start, ""},
			{"a part in other units", "/guides/start", []string{"Range", "lines=0-4"}, 200, start, ""},
			{"a part that is not there", "/guides/start", []string{"Range", "bytes=99999-"}, 416, "", fmt.Sprintf("bytes */%d", len(start))},
			{"a part of an empty file", "/empty.txt", []string{"Range", "bytes=0-0"}, 200, "", ""},
			{"a part of what the reader has", "/guides/start", []string{"Range", "bytes=0-4", "If-Range", tag}, 206, start[:5], ""},
			{"a part of what is another file now", "/guides/start", []string{"Range", "bytes=0-4", "If-Range", `"other"`}, 200, start, ""},
			{"a part of a file under another policy", "/guides/start", []string{"Range", "bytes=0-4", "If-Range", Tag(start, "x", site.Identity)}, 200, start, ""},
			{"a part only if it is another", "/guides/start", []string{"If-Match", `"other"`, "Range", "bytes=0-4"}, 412, "", ""},
			{"a part that the reader has", "/guides/start", []string{"If-None-Match", tag, "Range", "bytes=0-4"}, 304, "", ""},
			{"a part of a large file", "/large.txt", []string{"Range", "bytes=11-20"}, 206, "large file", ""},
			{"over the first MiB", "/large.bin", []string{"Range", "bytes=1048570-1048580"}, 206, large[1048570:1048581], ""},
			{"over two of them", "/large.bin", []string{"Range", "bytes=1000000-2200000"}, 206, large[1000000:2200001], ""},
			{"the first byte of the second", "/large.bin", []string{"Range", "bytes=1048576-1048576"}, 206, large[1048576:1048577], ""},
			{"the last byte", "/large.bin", []string{"Range", "bytes=-1"}, 206, large[len(large)-1:], ""},
			{"a part of a hashed file", "/" + themeName, []string{"Range", "bytes=0-3"}, 206, "body", ""},
			{"a part of what leads elsewhere", "/old", []string{"Range", "bytes=0-3"}, 308, "", ""},
			{"a part of nothing", "/missing", []string{"Range", "bytes=0-3"}, 404, files["404.html"], ""},
		} {
			got := w.get(t, "GET", c.path, c.ask...)
			if got.err != nil || got.status != c.status || (c.status == 200 || c.status == 206) && got.body != c.body || got.length >= 0 && got.status != 304 && got.length != int64(len(got.body)) {
				t.Errorf("%s %s: status %d with %d bytes, want %d with %d; %v", cached, c.name, got.status, len(got.body), c.status, len(c.body), got.err)
			}
			if c.header != "" && got.header.Get("Content-Range") != c.header || c.status == 200 && got.header.Get("Content-Range") != "" {
				t.Errorf("%s %s: part %q, want %q", cached, c.name, got.header.Get("Content-Range"), c.header)
			}
			if c.status == 206 && got.header.Get("Content-Encoding") != "" {
				t.Errorf("%s %s: a part in %s", cached, c.name, got.header.Get("Content-Encoding"))
			}
			if c.path == "/guides/start" && c.status < 400 && got.header.Get("Etag") != tag {
				t.Errorf("%s %s: tag %s", cached, c.name, got.header.Get("Etag"))
			}
			// HEAD knows no parts.
			if head := w.get(t, "HEAD", c.path, c.ask...); (c.status == 206 || c.status == 416) && (head.status != 200 || head.header.Get("Content-Range") != "") || head.body != "" {
				t.Errorf("%s %s: HEAD: status %d, part %q", cached, c.name, head.status, head.header.Get("Content-Range"))
			}
		}
		got := w.get(t, "GET", "/large.bin", "Range", "bytes=0-9, 1500000-1500009, -5")
		_, params, err := mime.ParseMediaType(got.header.Get("Content-Type"))
		if err != nil || got.status != 206 {
			t.Fatalf("%s several parts: status %d, %v", cached, got.status, err)
		}
		parts := multipart.NewReader(strings.NewReader(got.body), params["boundary"])
		for _, want := range []string{large[:10], large[1500000:1500010], large[len(large)-5:]} {
			part, err := parts.NextPart()
			if err != nil {
				t.Fatal(err)
			}
			if data, err := io.ReadAll(part); err != nil || string(data) != want {
				t.Errorf("%s several parts: %q, %v, want %q", cached, data, err, want)
			}
		}
		if got := w.get(t, "GET", "/guides/start", "Range", "bytes=0-0"+strings.Repeat(",2-2", 15)); got.status != 206 {
			t.Errorf("%s as many parts as are sent: status %d", cached, got.status)
		}
		if failures := w.reported(); len(failures) > 0 {
			t.Errorf("failures: %v", failures)
		}
	}
}
