package serve

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
	"github.com/bindery-docs/bindery/shared/delivery/site/sitetest"
)

// TestContract: the rules of answers, on a folder.
func TestContract(t *testing.T) {
	sitetest.Run(t, func(t testing.TB, files map[string]string, info *bundle.Info) sitetest.Storage {
		v := newVolume(t)
		v.limits = bundle.Limits{}
		rec, err := v.addBytes(t, bundleOf(t, "1", files, func(i *bundle.Info) { i.Redirects, i.Sources = info.Redirects, info.Sources }), want{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := v.openSite(t.Context(), rec.Digest)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Release)
		return sitetest.Storage{Version: s, Damage: func(t testing.TB, name string, offset int64) {
			f := s.files[name]
			err := flip(filepath.Join(s.dir, siteDir, filepath.FromSlash(name)), offset)
			for e := site.Gzip; int(e) < site.Encodings; e++ {
				if f.has(e) {
					at := f.offsets[e] + min(offset, f.length(e)-1)
					if offset < 0 {
						at = f.offsets[e] + f.length(e) + offset
					}
					err = firstError(err, flip(filepath.Join(s.dir, packedDir, packedData), at))
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}}
	})
}

// TestAnswersOfOlder: a file with its digest in the name, of a version that was shown
// before, is there for ever, also in parts.
func TestAnswersOfOlder(t *testing.T) {
	o := newOrigin(t, edition(t, "1"))
	r := started(t, Options{Link: o.link(), Keep: 1})
	o.set(func() { o.data = edition(t, "2") })
	r.reload <- struct{}{}
	r.until(t, func(s Status) bool { return s.Version == "2" })
	path := "/bindery/theme." + sum([]byte("1"))[:12] + ".css"
	for _, c := range []struct {
		part   string
		status int
		body   string
	}{{"", 200, "/* 1 */"}, {"bytes=3-3", 206, "1"}, {"bytes=99-", 416, ""}} {
		response, body := r.get(t, path, "Range", c.part)
		if response.StatusCode != c.status || c.body != "" && body != c.body || c.body != "" && (response.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" || response.Header.Get("Content-Type") != "text/css; charset=utf-8") {
			t.Errorf("%q: status %d with %q, %v", c.part, response.StatusCode, body, response.Header)
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
		r := started(t, Options{Link: write(t, bundleOf(t, "1", files, nil))})
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

// TestBasePath: the server mounts the site under BINDERY_BASE_PATH. The rules below it are
// those of sitetest.
func TestBasePath(t *testing.T) {
	r := started(t, Options{BasePath: NormalBasePath("docs/"), Link: write(t, bundleOf(t, "1", sample(), nil))})
	for _, c := range []struct {
		path     string
		status   int
		location string
	}{
		{"/docs/", 200, ""},
		{"/docs/api", 308, "/docs/api/"},
		{"/guides/start", 404, ""},
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
	r := started(t, Options{Link: write(t, bundleOf(t, "1", sample(), nil))})
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
