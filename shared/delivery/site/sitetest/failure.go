package sitetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/delivery/site"
)

// otherName is a file that is large enough to share nothing with others in a storage.
const otherName = "other.txt"

// testDamage: of a file that differs from what was exported nothing is sent, in any form,
// and the rest of the site is there.
func testDamage(t *testing.T, open Open) {
	for cached, cache := range map[string]func() *site.Cache{"": func() *site.Cache { return site.NewCache(0, 0) }, "cached": inMemory} {
		files := sample()
		files[otherName] = noise(300 << 10)
		w := serve(t, open(t, files, sampleInfo()), "", cache())
		w.Damage(t, "guides/start.html", 40)
		w.Damage(t, "404.html", 40)
		w.Damage(t, "logo.png", 2)
		for _, path := range []string{"/guides/start", "/guides/start.html", "/logo.png", "/missing"} {
			for _, ask := range [][]string{nil, {"Accept-Encoding", "gzip"}, {"Accept-Encoding", "zstd"}, {"Range", "bytes=2-40"}} {
				got := w.get(t, "GET", path, ask...)
				if got.err != nil || got.status != 500 || strings.Contains(got.body, "<") || strings.Contains(got.body, "\x89") || got.header.Get("Etag") != "" || got.header.Get("Cache-Control") != "no-store" ||
					got.header.Get("Content-Encoding")+got.header.Get("Content-Range")+got.header.Get("Retry-After") != "" {
					t.Errorf("%s %s, %q: status %d with %.40q, %v, %v", cached, path, ask, got.status, got.body, got.header, got.err)
				}
			}
		}
		seen := map[string]bool{}
		for _, f := range w.reported() {
			seen[f.name] = true
			if temporary, ok := errors.AsType[*site.Temporary](f.err); ok {
				t.Errorf("%s %s: %v counts as temporary", cached, f.name, temporary)
			}
		}
		if !seen["guides/start.html"] || !seen["404.html"] || !seen["logo.png"] || len(seen) != 3 {
			t.Errorf("%s failures are reported of %v", cached, seen)
		}
		if got := w.get(t, "GET", "/"+otherName); got.status != 200 || got.body != files[otherName] {
			t.Errorf("%s another file: status %d", cached, got.status)
		}
		// What a reader has is not damaged.
		if got := w.get(t, "GET", "/guides/start", "If-None-Match", Tag(files["guides/start.html"], samplePolicy, site.Identity)); got.status != 304 {
			t.Errorf("%s what the reader has: status %d", cached, got.status)
		}
	}
}

// testDamageOfLarge: of a large file, what is before the part that differs is the most
// that is sent, and never as if it were all.
func testDamageOfLarge(t *testing.T, open Open) {
	files := largeSample()
	large := files["large.bin"]
	w := serve(t, open(t, files, sampleInfo()), "", inMemory())
	w.Damage(t, "large.bin", -20)
	w.Damage(t, "large.json", 20)
	if got := w.get(t, "GET", "/large.bin"); got.err == nil || !strings.HasPrefix(large, got.body) || len(got.body) > len(large)-20 {
		t.Errorf("the whole file: status %d, %d bytes, %v", got.status, len(got.body), got.err)
	}
	if got := w.get(t, "GET", "/large.bin", "Range", "bytes=300000-300009"); got.status != 206 || got.err != nil || got.body != large[300000:300010] {
		t.Errorf("a part that does not differ: status %d, %q, %v", got.status, got.body, got.err)
	}
	if got := w.get(t, "GET", "/large.bin", "Range", "bytes=-10"); got.status != 500 || got.err != nil || got.header.Get("Content-Range") != "" || strings.Contains(got.body, large[len(large)-10:]) {
		t.Errorf("a part that differs: status %d with %d bytes, %v", got.status, len(got.body), got.err)
	}
	if got := w.get(t, "GET", "/large.bin", "Range", "bytes=900000-"); got.err == nil || !strings.HasPrefix(large[900000:], got.body) || len(got.body) > len(large)-900000-20 {
		t.Errorf("a part with an end that differs: status %d with %d bytes, %v", got.status, len(got.body), got.err)
	}
	if got := w.get(t, "GET", "/large.bin", "Range", "bytes=0-9, -10"); got.err == nil {
		t.Errorf("several parts, one of which differs: status %d with %d bytes", got.status, len(got.body))
	}
	for _, accept := range []string{"", "gzip", "zstd"} {
		if got := w.get(t, "GET", "/large.json", "Accept-Encoding", accept); got.status != 500 || got.err != nil || strings.Contains(got.body, files["large.json"][100:200]) {
			t.Errorf("its beginning differs, %q: status %d with %d bytes, %v", accept, got.status, len(got.body), got.err)
		}
	}
	if got := w.get(t, "HEAD", "/large.bin"); got.status != 200 || got.length != int64(len(large)) {
		t.Errorf("HEAD: status %d, length %d", got.status, got.length)
	}
	for _, f := range w.reported() {
		if f.name != "large.bin" && f.name != "large.json" {
			t.Errorf("a failure is reported of %q: %v", f.name, f.err)
		}
	}
}

// testFailure: while a storage does not answer, no address is taken for one that does not
// exist, nothing is kept by a reader, and what is in memory is there. Then all is as
// before.
func testFailure(t *testing.T, open Open) {
	files := largeSample()
	s := open(t, files, sampleInfo())
	w := serve(t, s, "", inMemory())
	s.Fail(true)
	for _, path := range []string{"/", "/guides/start", "/guides/start.md", "/logo.png", "/large.bin", "/large.txt", "/section/index.html", "/" + themeName} {
		for _, ask := range [][]string{nil, {"Accept-Encoding", "gzip"}, {"Range", "bytes=5-9"}, {"If-None-Match", `"x"`}} {
			for _, method := range []string{"GET", "HEAD"} {
				got := w.get(t, method, path, ask...)
				if got.err != nil || got.status != 503 || retryAfter(got) < 1 || got.header.Get("Cache-Control") != "no-store" || got.header.Get("Etag") != "" ||
					got.header.Get("Content-Encoding")+got.header.Get("Content-Range") != "" {
					t.Errorf("%s %s, %q: status %d, %v, %v", method, path, ask, got.status, got.header, got.err)
				}
			}
		}
	}
	for _, path := range []string{"/missing", "/old", "/v1/x", "/api"} {
		// A storage may know that without reading.
		if got := w.get(t, "GET", path); got.status != 503 && (path != "/missing" || got.status != 404) {
			t.Errorf("%s: status %d", path, got.status)
		}
	}
	if len(w.reported()) == 0 {
		t.Error("no failure is reported")
	}
	s.Fail(false)
	for path, status := range map[string]int{"/": 200, "/guides/start": 200, "/large.bin": 200, "/missing": 404, "/old": 308} {
		if got := w.get(t, "GET", path); got.status != status || got.err != nil {
			t.Errorf("afterwards, %s: status %d, %v", path, got.status, got.err)
		}
	}
}
