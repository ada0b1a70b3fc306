package sitetest

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
)

// Storage is a version of a site under test.
type Storage struct {
	Version site.Version
	// Damage changes a byte of each form of a file where the storage has it, so that
	// what a reader would get differs: at an offset near the given one, from the end
	// if that is negative. Small files beside it may become unreadable too.
	Damage func(t testing.TB, name string, offset int64)
	// Fail has reads fail with a site.Temporary, or ends that, for RunFailing; nil for a storage that
	// has no such failures.
	Fail func(failing bool)
}

// Open opens a version that has files, by name, and the redirects and the policy of a
// description. It ends with the test.
type Open func(t testing.TB, files map[string]string, info *bundle.Info) Storage

// Run tests a storage by all rules.
func Run(t *testing.T, open Open) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Open)
	}{
		{"answers", testAnswers},
		{"methods", testMethods},
		{"base path", testBasePath},
		{"not found", testNotFound},
		{"forms", testForms},
		{"tags", testTags},
		{"ranges", testRanges},
		{"damage", testDamage},
		{"damage of a large file", testDamageOfLarge},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open) })
	}
}

// RunFailing tests a storage that may fail for a while: one with Storage.Fail.
func RunFailing(t *testing.T, open Open) { testFailure(t, open) }

// Tag is the ETag of a file of these bytes in an encoding, under a policy; "" is for
// files that are the same under every policy.
func Tag(data, policy string, e site.Encoding) string {
	sum := sha256.Sum256([]byte(data))
	tag := hex.EncodeToString(sum[:16])
	if policy != "" {
		sum := sha256.Sum256([]byte(policy))
		tag += "-" + hex.EncodeToString(sum[:6])
	}
	return `"` + tag + [site.Encodings]string{"", "-gzip", "-zstd"}[e] + `"`
}

// page is a page that is worth compressing.
func page(text string) string {
	return "<html><head><title>" + text + "</title></head><body>" + strings.Repeat("<p>"+text+"</p>", 300) + "</body></html>"
}

// stub is a page that only leads elsewhere.
func stub(to string) string {
	return `<html><head><meta http-equiv="refresh" content="0; url=` + to + `"></head></html>`
}

const themeName = "bindery/theme.0123456789ab.css"

// noise is as many bytes that can't be compressed, the same each time.
func noise(n int) string {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b) // never fails
	return string(b)
}

// largeSample is the sample with files of more than one part.
func largeSample() map[string]string {
	files := sample()
	noise := noise(2500 << 10)
	files["large.txt"] = strings.Repeat("large file\n", 100_000)
	files["large.json"] = `"` + hex.EncodeToString([]byte(noise[:1200<<10])) + `"` // its forms are large too
	files["large.bin"] = noise
	return files
}

// sample is a small site with one of each kind of address.
func sample() map[string]string {
	return map[string]string{
		"index.html":        page("home"),
		"404.html":          page("nothing here"),
		"guides/start.html": page("start"),
		"guides/start.md":   "# start",
		"api/index.html":    page("api"),
		"section.html":      page("section"), "section/index.html": stub("../section.html"), "section/page.html": page("in it"),
		"both.html": page("beside"), "both/index.html": page("inside"),
		"old.html":      stub("guides/start.html"),
		themeName:       strings.Repeat("body{color:red}\n", 100),
		"logo.png":      "\x89PNG\r\n",
		"größe.txt":     "size",
		"empty.txt":     "",
		"bindery/index": "index",
	}
}

// sampleInfo describes the sample.
func sampleInfo() *bundle.Info {
	return &bundle.Info{
		Redirects: []bundle.Redirect{
			{From: "/old", To: "/guides/start", Permanent: true}, {From: "/v1/:page", To: "https://old.example/:page"},
			{From: "/part", To: "/guides/start#part"}, {From: "/tab", To: "/guides/start?tab=2#part"},
			{From: "/asked?tab=2", To: "/guides/start"}, {From: "/asked", To: "/api/"}, {From: "/chain", To: "/old", Permanent: true},
			{From: "/circle", To: "/circle"}, {From: "/guides/start", To: "/never"}, {From: "/maybe/:x?", To: "/api/:x"},
		},
		Sources: map[string][]string{"img-src": {"data:"}},
	}
}

const samplePolicy = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"

// failure is something that a handler reported.
type failure struct {
	name string // of the file, "" for none
	err  error
}

// web is a site that is served.
type web struct {
	Storage
	url string

	mu       sync.Mutex
	failures []failure
}

// serve serves a storage until the test ends.
func serve(t testing.TB, s Storage, base string, cache *site.Cache) *web {
	t.Helper()
	w := &web{Storage: s}
	h := &site.Handler{Base: base, Cache: cache, Failed: func(_ context.Context, v site.Version, f site.File, err error) {
		name := ""
		if f != nil {
			name = f.Facts().Name
		}
		if v != s.Version {
			t.Errorf("a failure is reported of another version")
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.failures = append(w.failures, failure{name, err})
	}}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if reply := h.Answer(rw, r, s.Version); reply.Err != nil {
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

// reported are the failures up to now.
func (w *web) reported() []failure {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.failures)
}

// inMemory is a cache that has the small files of the sample.
func inMemory() *site.Cache { return site.NewCache(4<<20, 512<<10) }

// answer is one that came to a reader.
type answer struct {
	status int
	header http.Header
	length int64
	body   string
	err    error // of the body's end
}

// get asks for a path without following redirects; headers are pairs.
func (w *web) get(t testing.TB, method, path string, headers ...string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, w.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return answer{err: err}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, response.ContentLength, string(body), err}
}

// facts are those of the file at a path.
func (w *web) facts(t testing.TB, path string) *site.Facts {
	t.Helper()
	found, err := w.Version.Find(t.Context(), path, "")
	if err != nil || found.File == nil {
		t.Fatalf("%s: %+v, %v", path, found, err)
	}
	return found.File.Facts()
}

// vary is the header of a file that has more than one form.
func vary(f *site.Facts) string {
	if f.Lengths[site.Gzip] != 0 || f.Lengths[site.Zstd] != 0 {
		return "Accept-Encoding"
	}
	return ""
}

// testAnswers: status, body and headers of a site's addresses.
func testAnswers(t *testing.T, open Open) {
	files := largeSample()
	w := serve(t, open(t, files, sampleInfo()), "", inMemory())
	const short, forever = "public, max-age=60", "public, max-age=31536000, immutable"
	start := Tag(files["guides/start.html"], samplePolicy, site.Identity)
	packed := Tag(files["guides/start.html"], samplePolicy, site.Gzip)
	type headers map[string]string
	for _, c := range []struct {
		name    string
		path    string
		ask     []string
		status  int
		body    string // "" for any
		headers headers
	}{
		{"the root", "/", nil, 200, files["index.html"], nil},
		{"a page", "/guides/start", nil, 200, files["guides/start.html"], headers{
			"Content-Type": "text/html; charset=utf-8", "Cache-Control": short, "Etag": start,
			"Vary": "Accept-Encoding", "Accept-Ranges": "bytes", "Content-Encoding": "", "Last-Modified": "",
		}},
		{"its file", "/guides/start.html", nil, 200, files["guides/start.html"], headers{"Etag": start}},
		{"its Markdown", "/guides/start.md", nil, 200, "# start", headers{"Content-Type": "text/markdown; charset=utf-8"}},
		{"a name beyond ASCII", "/gr%C3%B6%C3%9Fe.txt", nil, 200, "size", headers{"Content-Type": "text/plain; charset=utf-8"}},
		{"the same name, in other letters", "/gro%CC%88%C3%9Fe.txt", nil, 200, "size", nil},
		{"a file with its digest in the name", "/" + themeName, nil, 200, files[themeName], headers{"Cache-Control": forever, "Content-Type": "text/css; charset=utf-8"}},
		{"a picture", "/logo.png", nil, 200, files["logo.png"], headers{"Content-Type": "image/png", "Cache-Control": short}},
		{"an empty file", "/empty.txt", nil, 200, "", headers{"Content-Length": "0", "Etag": Tag("", samplePolicy, site.Identity)}},
		{"a folder", "/api", nil, 308, "", headers{"Location": "/api/", "Cache-Control": short}},
		{"a folder, with a query", "/api?q=1", nil, 308, "", headers{"Location": "/api/?q=1"}},
		{"a folder's page", "/api/index.html", nil, 200, files["api/index.html"], nil},
		{"a folder's page by its name", "/api/index", nil, 200, files["api/index.html"], nil},
		{"that with a slash", "/api/index/", nil, 308, "", headers{"Location": "/api/index"}},
		{"the home page by its name", "/index", nil, 200, files["index.html"], nil},
		{"the index of the archive", "/bindery/index", nil, 404, files["404.html"], nil},
		{"a page with a slash", "/guides/start/", nil, 308, "", headers{"Location": "/guides/start"}},
		{"a section", "/section", nil, 200, files["section.html"], nil},
		{"its folder", "/section/", nil, 308, "", headers{"Location": "/section"}},
		{"the file of its folder", "/section/index.html", nil, 308, "", headers{"Location": "/section"}},
		{"the file of its folder, with a query", "/section/index.html?q=1", nil, 308, "", headers{"Location": "/section?q=1"}},
		{"the page of its folder", "/section/index", nil, 308, "", headers{"Location": "/section"}},
		{"a page in it", "/section/page", nil, 200, files["section/page.html"], nil},
		{"a page beside a folder", "/both", nil, 200, files["both.html"], nil},
		{"the folder's own page", "/both/", nil, 200, files["both/index.html"], nil},
		{"its file", "/both/index.html", nil, 200, files["both/index.html"], nil},
		{"a page's old address", "/old?q=1", nil, 308, "", headers{"Location": "/guides/start?q=1"}},
		{"a page's old file", "/old.html", nil, 308, "", headers{"Location": "/guides/start"}},
		{"two redirects at once", "/chain", nil, 308, "", headers{"Location": "/guides/start"}},
		{"redirects without an end", "/circle", nil, 404, "", nil},
		{"a place on a page, with a query", "/part?q=1", nil, 307, "", headers{"Location": "/guides/start?q=1#part"}},
		{"a place with a query of its own", "/tab?q=1", nil, 307, "", headers{"Location": "/guides/start?tab=2#part"}},
		{"a redirect that asks for a query", "/asked?tab=2", nil, 307, "", headers{"Location": "/guides/start?tab=2"}},
		{"one that asks for none", "/asked?tab=3", nil, 307, "", headers{"Location": "/api/?tab=3"}},
		{"a redirect to elsewhere", "/v1/x%20y", nil, 307, "", headers{"Location": "https://old.example/x%20y"}},
		{"a redirect without its last part", "/maybe", nil, 307, "", headers{"Location": "/api/"}},
		{"nothing", "/missing", nil, 404, files["404.html"], headers{"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache", "Etag": ""}},
		{"nothing, in a folder", "/guides/start/x", nil, 404, files["404.html"], nil},
		{"names with other letters", "/Guides/Start", nil, 404, files["404.html"], nil},
		{"a name above", "/..%2f..%2fetc/passwd", nil, 404, files["404.html"], nil},
		{"the description is not for readers", "/bindery.json", nil, 404, "", nil},
		{"nor are the lists", "/bindery/files.jsonl", nil, 404, "", nil},
		{"what the reader has", "/guides/start", []string{"If-None-Match", start}, 304, "", headers{"Etag": start, "Cache-Control": short, "Vary": "Accept-Encoding", "Content-Type": "", "Content-Length": ""}},
		{"what the reader has, among others, weakly", "/guides/start", []string{"If-None-Match", `"x", W/` + start}, 304, "", nil},
		{"whatever the reader has", "/guides/start", []string{"If-None-Match", `*`}, 304, "", nil},
		{"another form than the reader has", "/guides/start", []string{"If-None-Match", packed}, 200, "", nil},
		{"the form that the reader has", "/guides/start", []string{"If-None-Match", packed, "Accept-Encoding", "gzip"}, 304, "", nil},
		{"only if it is another", "/guides/start", []string{"If-Match", `"other"`}, 412, "", nil},
		{"only if it is the same", "/guides/start", []string{"If-Match", `"other", ` + start}, 200, files["guides/start.html"], nil},
		{"only if it is the same form", "/guides/start", []string{"If-Match", packed, "Accept-Encoding", "gzip"}, 200, "", headers{"Content-Encoding": "gzip"}},
		{"only if it is surely the same", "/guides/start", []string{"If-Match", "W/" + start}, 412, "", nil},
		{"a large file", "/large.txt", nil, 200, files["large.txt"], headers{"Content-Length": fmt.Sprint(len(files["large.txt"]))}},
		{"a large file that the reader has", "/large.bin", []string{"If-None-Match", Tag(files["large.bin"], samplePolicy, site.Identity)}, 304, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := w.get(t, "GET", c.path, c.ask...)
			if got.err != nil || got.status != c.status || c.body != "" && got.body != c.body {
				t.Errorf("status %d with %d bytes, want %d with %d; %v", got.status, len(got.body), c.status, len(c.body), got.err)
			}
			for name, want := range c.headers {
				if got := got.header.Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			for name, want := range map[string]string{
				"X-Content-Type-Options":  "nosniff",
				"Referrer-Policy":         "strict-origin-when-cross-origin",
				"Content-Security-Policy": samplePolicy,
			} {
				if got := got.header.Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			if c.status == 200 {
				if got, want := got.header.Get("Vary"), vary(w.facts(t, strings.ReplaceAll(strings.ReplaceAll(c.path, "%C3%B6%C3%9F", "öß"), "%CC%88%C3%9F", "\u0308ß"))); got != want {
					t.Errorf("Vary: %q, want %q", got, want)
				}
			}
			// HEAD says the same without a body.
			head := w.get(t, "HEAD", c.path, c.ask...)
			if head.status != c.status || head.body != "" {
				t.Errorf("HEAD: status %d, %d bytes", head.status, len(head.body))
			}
			for _, name := range []string{"Content-Length", "Content-Type", "Content-Encoding", "Etag", "Cache-Control", "Location", "Vary", "Accept-Ranges"} {
				if head, get := head.header.Get(name), got.header.Get(name); head != get && (c.status < 300 || name != "Content-Length") {
					t.Errorf("HEAD: %s is %q, not %q", name, head, get)
				}
			}
		})
	}
	if failures := w.reported(); len(failures) > 0 {
		t.Errorf("failures: %v", failures)
	}
}

// testMethods: a site can only be read, and there may be none yet.
func testMethods(t *testing.T, open Open) {
	w := serve(t, open(t, sample(), sampleInfo()), "", inMemory())
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "PATCH"} {
		if got := w.get(t, method, "/"); got.status != 405 || got.header.Get("Allow") != "GET, HEAD" || got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: status %d, %v", method, got.status, got.header)
		}
	}
	w = serve(t, Storage{}, "", inMemory())
	if got := w.get(t, "GET", "/"); got.status != 503 || got.header.Get("Retry-After") == "" || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("without a version: status %d, %v", got.status, got.header)
	}
}

// testBasePath: under a sub-path the site is the same as at the root, and there is
// nothing beside it.
func testBasePath(t *testing.T, open Open) {
	w := serve(t, open(t, sample(), sampleInfo()), "/docs", inMemory())
	for _, c := range []struct {
		path     string
		status   int
		location string
	}{
		{"/docs", 308, "/docs/"},
		{"/docs/", 200, ""},
		{"/docs/guides/start", 200, ""},
		{"/docs/guides/start/", 308, "/docs/guides/start"},
		{"/docs/section/index.html", 308, "/docs/section"},
		{"/docs/api", 308, "/docs/api/"},
		{"/docs/old", 308, "/docs/guides/start"},
		{"/docs/v1/x", 307, "https://old.example/x"},
		{"/docs/missing", 404, ""},
		{"/", 404, ""},
		{"/guides/start", 404, ""},
		{"/docsx", 404, ""},
	} {
		if got := w.get(t, "GET", c.path); got.status != c.status || got.header.Get("Location") != c.location {
			t.Errorf("%s: status %d to %q, want %d to %q", c.path, got.status, got.header.Get("Location"), c.status, c.location)
		}
	}
}

// testNotFound: the page for what is not there comes in the form that a reader takes, and
// a site may have none.
func testNotFound(t *testing.T, open Open) {
	files := sample()
	w := serve(t, open(t, files, sampleInfo()), "", inMemory())
	for _, accept := range []string{"", "gzip", "gzip, zstd"} {
		got := w.get(t, "GET", "/missing", "Accept-Encoding", accept)
		if got.status != 404 || unfold(t, got) != files["404.html"] || got.header.Get("Vary") != "Accept-Encoding" || got.header.Get("Etag") != "" ||
			got.length != int64(len(got.body)) || (got.header.Get("Content-Encoding") == "") != (accept == "") {
			t.Errorf("%q: status %d with %d bytes, %v", accept, got.status, len(got.body), got.header)
		}
	}
	delete(files, "404.html")
	w = serve(t, open(t, files, sampleInfo()), "", inMemory())
	if got := w.get(t, "GET", "/missing"); got.status != 404 || got.header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("without a page: status %d, %v", got.status, got.header)
	}
}

// unfold returns the file that an answer has in its encoding.
func unfold(t testing.TB, got answer) string {
	t.Helper()
	var plain io.Reader = strings.NewReader(got.body)
	var err error
	switch got.header.Get("Content-Encoding") {
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

// testForms: a reader gets the form that it takes, and each unfolds into the file.
func testForms(t *testing.T, open Open) {
	files := largeSample()
	s := open(t, files, sampleInfo())
	for cached, cache := range map[string]*site.Cache{"": site.NewCache(0, 0), "cached": inMemory()} {
		w := serve(t, s, "", cache)
		for name := range files {
			if strings.HasPrefix(name, "section/index") || name == "old.html" || name == bundle.IndexPath {
				continue // leads elsewhere, or nowhere
			}
			facts := w.facts(t, "/"+name)
			for _, accept := range []string{"", "gzip", "GZIP", "zstd", "gzip, deflate, br, zstd", "zstd;q=0.1, gzip", "gzip;q=0", "br", "*", "*;q=0", "identity, gzip;q=0.5", "gzip;q=x"} {
				want := ""
				switch accept {
				case "gzip", "GZIP", "zstd;q=0.1, gzip":
					if facts.Lengths[site.Gzip] != 0 {
						want = "gzip"
					} else if facts.Lengths[site.Zstd] != 0 && strings.HasPrefix(accept, "zstd") {
						want = "zstd"
					}
				case "zstd":
					if facts.Lengths[site.Zstd] != 0 {
						want = "zstd"
					}
				case "gzip, deflate, br, zstd", "*":
					if facts.Lengths[site.Zstd] != 0 {
						want = "zstd"
					} else if facts.Lengths[site.Gzip] != 0 {
						want = "gzip"
					}
				}
				if len(files[name]) > 1<<20 && !strings.Contains(accept, "gzip, deflate") && accept != "gzip" && accept != "" {
					continue // all the same, for much work
				}
				if accept == "gzip" && want == "" && strings.HasSuffix(name, ".html") {
					t.Errorf("%s has no compressed form", name)
				}
				for range 2 { // the second is from memory
					got := w.get(t, "GET", "/"+name, "Accept-Encoding", accept)
					if got.status != 200 || got.err != nil || got.header.Get("Content-Encoding") != want || unfold(t, got) != files[name] || got.length != int64(len(got.body)) {
						t.Fatalf("%s %s, %q: status %d, coding %q, want %q; %d of %d bytes, %v", cached, name, accept, got.status, got.header.Get("Content-Encoding"), want, len(got.body), got.length, got.err)
					}
					e := map[string]site.Encoding{"": site.Identity, "gzip": site.Gzip, "zstd": site.Zstd}[want]
					policy := samplePolicy
					if name == themeName {
						policy = ""
					}
					if got := got.header.Get("Etag"); got != Tag(files[name], policy, e) {
						t.Errorf("%s, %q: tag %s", name, accept, got)
					}
					if len(files[name]) > 1<<20 {
						break
					}
				}
			}
		}
	}
}

// testTags: a copy under another policy is not still good, but for files that any page
// may load.
func testTags(t *testing.T, open Open) {
	files := largeSample()
	cache := inMemory() // for both
	before := serve(t, open(t, files, sampleInfo()), "", cache)
	info := sampleInfo()
	info.Sources = map[string][]string{"img-src": {"https://pictures.example"}}
	after := serve(t, open(t, files, info), "", cache)
	for _, c := range []struct {
		path   string
		status int
	}{
		{"/guides/start", 200},
		{"/logo.png", 200},
		{"/large.bin", 200},
		{"/" + themeName, 304},
	} {
		for _, accept := range []string{"", "gzip"} {
			first := before.get(t, "GET", c.path, "Accept-Encoding", accept)
			tag := first.header.Get("Etag")
			if same := before.get(t, "GET", c.path, "Accept-Encoding", accept, "If-None-Match", tag); same.status != 304 || same.header.Get("Content-Security-Policy") != samplePolicy {
				t.Errorf("%s, %q: status %d under the same policy", c.path, accept, same.status)
			}
			got := after.get(t, "GET", c.path, "Accept-Encoding", accept, "If-None-Match", tag)
			if got.status != c.status || (got.header.Get("Etag") == tag) != (c.status == 304) || got.status == 200 && got.body != first.body {
				t.Errorf("%s, %q: status %d under another policy, tag %s and before %s", c.path, accept, got.status, got.header.Get("Etag"), tag)
			}
			if policy := got.header.Get("Content-Security-Policy"); !strings.Contains(policy, "https://pictures.example") {
				t.Errorf("%s, %q: policy %q", c.path, accept, policy)
			}
		}
	}
}

// retryAfter is the seconds that an answer asks to wait; 0 for none.
func retryAfter(a answer) time.Duration {
	d, err := time.ParseDuration(a.header.Get("Retry-After") + "s")
	if err != nil {
		return 0
	}
	return d
}
