package serve

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// tagOf is the tag of a file of these bytes.
func tagOf(data string, e encoding) string {
	s := sha256.Sum256([]byte(data))
	return `"` + hex.EncodeToString(s[:16]) + e.etagSuffix() + `"`
}

// TestAnswers: status, body and headers of a site's addresses.
func TestAnswers(t *testing.T) {
	files := sample()
	large := strings.Repeat("large file\n", 200_000) // more than is kept in memory
	files["large.txt"], files["large.bin"] = large, large
	r := started(t, Options{Link: write(t, archive(t, "1", files, func(i *bundle.Info) {
		i.Redirects = []bundle.Redirect{{From: "/old", To: "/guides/start", Permanent: true}, {From: "/v1/:page", To: "https://old.example/:page"}, {From: "/part", To: "/guides/start#part"}, {From: "/tab", To: "/guides/start?tab=2#part"}}
		i.Sources = map[string][]string{"img-src": {"data:"}}
	}))})
	const short, forever = "public, max-age=60", "public, max-age=31536000, immutable"
	type headers map[string]string
	for _, c := range []struct {
		name    string
		path    string
		ask     []string
		status  int
		body    string // "" for any
		headers headers
	}{
		{"a page", "/guides/start", nil, 200, files["guides/start.html"], headers{
			"Content-Type": "text/html; charset=utf-8", "Cache-Control": short, "Etag": tagOf(files["guides/start.html"], identity),
			"Vary": "Accept-Encoding", "Accept-Ranges": "bytes", "Content-Encoding": "", "Last-Modified": "",
		}},
		{"its file", "/guides/start.html", nil, 200, files["guides/start.html"], nil},
		{"its Markdown", "/guides/start.md", nil, 200, "# start", headers{"Content-Type": "text/markdown; charset=utf-8", "Vary": ""}},
		{"a name beyond ASCII", "/gr%C3%B6%C3%9Fe.txt", nil, 200, "size", headers{"Content-Type": "text/plain; charset=utf-8"}},
		{"a file with its digest in the name", "/bindery/theme.0123456789ab.css", nil, 200, files["bindery/theme.0123456789ab.css"], headers{"Cache-Control": forever, "Content-Type": "text/css; charset=utf-8"}},
		{"a picture", "/logo.png", nil, 200, "", headers{"Content-Type": "image/png", "Vary": "", "Cache-Control": short}},
		{"a folder", "/api", nil, 308, "", headers{"Location": "/api/", "Cache-Control": short}},
		{"a folder, with a query", "/api?q=1", nil, 308, "", headers{"Location": "/api/?q=1"}},
		{"a page's old address", "/old?q=1", nil, 308, "", headers{"Location": "/guides/start?q=1"}},
		{"a place on a page, with a query", "/part?q=1", nil, 307, "", headers{"Location": "/guides/start?q=1#part"}},
		{"a place with a query of its own", "/tab?q=1", nil, 307, "", headers{"Location": "/guides/start?tab=2#part"}},
		{"a redirect to elsewhere", "/v1/x", nil, 307, "", headers{"Location": "https://old.example/x"}},
		{"nothing", "/missing", nil, 404, "<p>nothing here</p>", headers{"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache", "Etag": ""}},
		{"the description is not for readers", "/bindery.json", nil, 404, "", nil},
		{"nor are the lists", "/bindery/diagnostics.jsonl", nil, 404, "", nil},
		{"what the reader has", "/guides/start", []string{"If-None-Match", tagOf(files["guides/start.html"], identity)}, 304, "", headers{"Etag": tagOf(files["guides/start.html"], identity), "Cache-Control": short, "Vary": "Accept-Encoding", "Content-Type": "", "Content-Length": ""}},
		{"what the reader has, among others, weakly", "/guides/start", []string{"If-None-Match", `"x", W/` + tagOf(files["guides/start.html"], identity)}, 304, "", nil},
		{"whatever the reader has", "/guides/start", []string{"If-None-Match", `*`}, 304, "", nil},
		{"another form than the reader has", "/guides/start", []string{"If-None-Match", tagOf(files["guides/start.html"], gzipped)}, 200, "", nil},
		{"the form that the reader has", "/guides/start", []string{"If-None-Match", tagOf(files["guides/start.html"], gzipped), "Accept-Encoding", "gzip"}, 304, "", nil},
		{"a part", "/guides/start", []string{"Range", "bytes=0-4"}, 206, "<html", headers{"Content-Range": fmt.Sprintf("bytes 0-4/%d", len(files["guides/start.html"])), "Etag": tagOf(files["guides/start.html"], identity)}},
		{"the end", "/guides/start", []string{"Range", "bytes=-7", "Accept-Encoding", "gzip"}, 206, "</html>", headers{"Content-Encoding": ""}},
		{"as many parts as are sent", "/guides/start", []string{"Range", "bytes=0-0" + strings.Repeat(",2-2", 15)}, 206, "", nil},
		{"more parts than are sent", "/guides/start", []string{"Range", "bytes=0-0" + strings.Repeat(",2-2", 16)}, 200, files["guides/start.html"], headers{"Content-Range": ""}},
		{"a part in other units", "/guides/start", []string{"Range", "lines=0-4"}, 200, files["guides/start.html"], headers{"Content-Range": ""}},
		{"a part that is not there", "/guides/start", []string{"Range", "bytes=99999-"}, 416, "", nil},
		{"a part of what the reader has", "/guides/start", []string{"Range", "bytes=0-4", "If-Range", tagOf(files["guides/start.html"], identity)}, 206, "<html", nil},
		{"a part of what is another file now", "/guides/start", []string{"Range", "bytes=0-4", "If-Range", `"other"`}, 200, files["guides/start.html"], nil},
		{"only if it is another", "/guides/start", []string{"If-Match", `"other"`}, 412, "", nil},
		{"only if it is the same", "/guides/start", []string{"If-Match", `"other", ` + tagOf(files["guides/start.html"], identity)}, 200, files["guides/start.html"], nil},
		{"only if it is the same form", "/guides/start", []string{"If-Match", tagOf(files["guides/start.html"], gzipped), "Accept-Encoding", "gzip"}, 200, "", headers{"Content-Encoding": "gzip"}},
		{"only if it is surely the same", "/guides/start", []string{"If-Match", "W/" + tagOf(files["guides/start.html"], identity)}, 412, "", nil},
		{"a part only if it is another", "/guides/start", []string{"If-Match", `"other"`, "Range", "bytes=0-4"}, 412, "", nil},
		{"a large file", "/large.txt", nil, 200, large, headers{"Content-Length": fmt.Sprint(len(large))}},
		{"a part of a large file", "/large.bin", []string{"Range", "bytes=11-20"}, 206, "large file", nil},
		{"a large file that the reader has", "/large.bin", []string{"If-None-Match", tagOf(large, identity)}, 304, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			response, body := r.get(t, c.path, c.ask...)
			if response.StatusCode != c.status || c.body != "" && body != c.body {
				t.Errorf("status %d with %d bytes, want %d with %d", response.StatusCode, len(body), c.status, len(c.body))
			}
			for name, want := range c.headers {
				if got := response.Header.Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			for name, want := range map[string]string{
				"X-Content-Type-Options":  "nosniff",
				"Referrer-Policy":         "strict-origin-when-cross-origin",
				"Content-Security-Policy": "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'",
			} {
				if got := response.Header.Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			// HEAD says the same without a body; it knows no parts.
			request, _ := http.NewRequest("HEAD", r.site+c.path, nil)
			request.Header = response.Request.Header.Clone()
			head, rest := send(t, request)
			if c.status == 206 || c.status == 416 {
				if head.StatusCode != 200 || head.Header.Get("Content-Range") != "" || rest != "" {
					t.Errorf("HEAD: status %d, part %q, %d bytes", head.StatusCode, head.Header.Get("Content-Range"), len(rest))
				}
				return
			}
			if head.StatusCode != c.status || rest != "" || body != "" && head.Header.Get("Content-Length") != response.Header.Get("Content-Length") {
				t.Errorf("HEAD: status %d, length %q, %d bytes", head.StatusCode, head.Header.Get("Content-Length"), len(rest))
			}
		})
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "PATCH"} {
		request, _ := http.NewRequest(method, r.site+"/", strings.NewReader("x"))
		response, _ := send(t, request)
		if response.StatusCode != 405 || response.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: status %d, Allow %q", method, response.StatusCode, response.Header.Get("Allow"))
		}
	}
}

// TestForms: a reader gets the form that it takes, and each unfolds into the
// file.
func TestForms(t *testing.T) {
	files := sample()
	large := strings.Repeat("a large file of many lines\n", 100_000)
	noise := strings.Repeat("x", 100)
	files["large.txt"], files["tiny.txt"] = large, noise
	r := started(t, Options{Link: write(t, archive(t, "1", files, nil)), CacheBytes: 8 << 10}) // next to nothing in memory
	unfold := func(t *testing.T, coding, body string) string {
		t.Helper()
		var plain io.Reader = strings.NewReader(body)
		var err error
		switch coding {
		case "gzip":
			plain, err = gzip.NewReader(plain)
		case "zstd":
			plain, err = zstd.NewReader(plain)
		}
		if err != nil {
			t.Fatal(err)
		}
		out, err := io.ReadAll(plain)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	for _, c := range []struct{ path, accept, coding string }{
		{"/guides/start", "gzip", "gzip"},
		{"/guides/start", "gzip, deflate, br, zstd", "zstd"},
		{"/guides/start", "zstd;q=0.1, gzip", "gzip"},
		{"/guides/start", "br", ""},
		{"/large.txt", "gzip", "gzip"},
		{"/large.txt", "zstd", "zstd"},
		{"/large.txt", "", ""},
		{"/tiny.txt", "gzip, zstd", ""},
		{"/logo.png", "gzip, zstd", ""},
		{"/bindery/theme.0123456789ab.css", "zstd", "zstd"},
	} {
		response, body := r.get(t, c.path, "Accept-Encoding", c.accept)
		name := strings.TrimPrefix(c.path, "/")
		if _, ok := files[name]; !ok {
			name += ".html"
		}
		if got := response.Header.Get("Content-Encoding"); got != c.coding {
			t.Errorf("%s, %q: coding %q, want %q", c.path, c.accept, got, c.coding)
			continue
		}
		if got := unfold(t, c.coding, body); got != files[name] {
			t.Errorf("%s, %q: %d bytes, want %d", c.path, c.accept, len(got), len(files[name]))
		}
		e := map[string]encoding{"": identity, "gzip": gzipped, "zstd": zstded}[c.coding]
		if got := response.Header.Get("Etag"); got != tagOf(files[name], e) {
			t.Errorf("%s, %q: tag %s", c.path, c.accept, got)
		}
		if c.coding != "" && len(body) > len(files[name])*9/10 {
			t.Errorf("%s, %q: %d bytes of %d are hardly fewer", c.path, c.accept, len(body), len(files[name]))
		}
	}
}

// TestMissingIsPacked: also the page for what is not there is sent in the form
// that a reader takes; robots ask for a great deal that is not.
func TestMissingIsPacked(t *testing.T) {
	files := sample()
	files["404.html"] = page("nothing here")
	r := started(t, Options{Link: write(t, archive(t, "1", files, nil))})
	for accept, want := range map[string]string{"": "", "gzip": "gzip", "gzip, zstd": "zstd"} {
		response, body := r.get(t, "/missing", "Accept-Encoding", accept)
		if response.StatusCode != 404 || response.Header.Get("Content-Encoding") != want || response.Header.Get("Vary") != "Accept-Encoding" ||
			response.ContentLength != int64(len(body)) || (len(body) < len(files["404.html"])) != (want != "") {
			t.Errorf("%q: status %d with %d bytes, %v", accept, response.StatusCode, len(body), response.Header)
		}
	}
}

// TestNoPath: an address may be a host alone, as proxies write it.
func TestNoPath(t *testing.T) {
	files := sample()
	for _, home := range []bool{true, false} {
		if !home {
			delete(files, "index.html")
		}
		r := started(t, Options{Link: write(t, archive(t, "1", files, nil))})
		for target, want := range map[string]int{"http://docs.example": map[bool]int{true: 200, false: 404}[home], "*": 404} {
			conn, err := net.Dial("tcp", strings.TrimPrefix(r.site, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: docs.example\r\n\r\n", target)
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || response.StatusCode != want {
				t.Errorf("%s: %+v, error %v; want status %d", target, response, err, want)
			}
		}
	}
}

// TestBasePath: under a sub-path the site is what it is at the root, and there
// is nothing beside it.
func TestBasePath(t *testing.T) {
	r := started(t, Options{BasePath: NormalBasePath("docs/"), Link: write(t, archive(t, "1", sample(), func(i *bundle.Info) {
		i.Redirects = []bundle.Redirect{{From: "/old", To: "/guides/start"}, {From: "/away", To: "https://a.example/"}}
	}))})
	for _, c := range []struct {
		path     string
		status   int
		location string
	}{
		{"/docs", 308, "/docs/"},
		{"/docs/", 200, ""},
		{"/docs/guides/start", 200, ""},
		{"/docs/guides/start/", 308, "/docs/guides/start"},
		{"/docs/api", 308, "/docs/api/"},
		{"/docs/old", 307, "/docs/guides/start"},
		{"/docs/away", 307, "https://a.example/"},
		{"/docs/missing", 404, ""},
		{"/", 404, ""},
		{"/guides/start", 404, ""},
		{"/docsx", 404, ""},
		{"/docs/../guides/start", 200, ""}, // still inside
	} {
		response, _ := r.get(t, c.path)
		if response.StatusCode != c.status || response.Header.Get("Location") != c.location {
			t.Errorf("%s: status %d to %q, want %d to %q", c.path, response.StatusCode, response.Header.Get("Location"), c.status, c.location)
		}
	}
}

// TestAccessLog: a line of JSON for each request, without queries.
func TestAccessLog(t *testing.T) {
	r := started(t, Options{Link: write(t, archive(t, "1", sample(), nil))})
	r.get(t, "/guides/start?token=secret", "Referer", "https://a.example/x?token=secret", "User-Agent", "reader/1")
	r.get(t, "/missing%0Aforged")
	r.stop()
	<-r.ended
	log := r.access.String()
	for _, want := range []string{`"path":"/guides/start","status":200`, `"agent":"reader/1"`, `"referer":"https://a.example/x"`, `"path":"/missing\nforged","status":404`, `"method":"GET"`} {
		if !strings.Contains(log, want) {
			t.Errorf("no %s in\n%s", want, log)
		}
	}
	if strings.Contains(log, "secret") || strings.Count(log, "\n") != 2 {
		t.Errorf("the log is\n%s", log)
	}
}

// TestCache: what is in memory stays within its bound, and what is read again
// and again stays in memory.
func TestCache(t *testing.T) {
	v := newVolume(t)
	v.limits = bundle.Limits{}
	files := content{}
	for i := range 40 {
		files[fmt.Sprintf("f%02d.txt", i)] = strings.Repeat(fmt.Sprintf("%02d", i), 500)
	}
	rec, err := v.addBytes(t, archive(t, "1", files, nil), want{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := v.openSite(t.Context(), rec.Digest)
	if err != nil {
		t.Fatal(err)
	}
	defer s.done()
	c := &cache{most: 10_000, largest: 5_000}
	for range 3 {
		for name := range files {
			for _, name := range []string{name, "f00.txt"} {
				h, err := c.get(s, s.files[name], identity)
				if err != nil || !bytes.Equal(h.body, []byte(files[name])) {
					t.Fatal(name, err)
				}
			}
			if c.bytes > c.most {
				t.Fatalf("%d bytes in memory", c.bytes)
			}
		}
	}
	if s.files["f00.txt"].hot[identity].Load() == nil {
		t.Error("what is read most is not in memory")
	}
	c.reset()
	if c.bytes != 0 || s.files["f00.txt"].hot[identity].Load() != nil {
		t.Error("something stays after a reset")
	}
}
