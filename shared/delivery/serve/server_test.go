package serve

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
	"github.com/bindery-docs/bindery/shared/delivery/site/sitetest"

	"github.com/bindery-docs/bindery/tests/outside"
)

// secret is in every link of these tests. It must be nowhere else.
const secret = "X-Signature-5ec7e7"

// origin is a host of bundles, with links that are signed.
type origin struct {
	*httptest.Server
	mu       sync.Mutex
	data     []byte
	status   int           // instead of the bundle; 0 for none
	needs    string        // part of a link's query that gets the bundle instead of status
	cut      int           // bytes after which each answer breaks off; 0 for never
	cuts     int           // the next answers that break off; cut counts for all if it is 0
	modified string        // Last-Modified, which is sent in place of a tag
	expireAt int           // requests after which the link has expired; 0 for never
	noTags   bool          // no validators
	noRanges bool          // whole answers alone
	deaf     bool          // parts of whatever there is, on any condition
	asked    []http.Header // the requests
	began    chan struct{} // told of each request, if not nil
	hold     chan struct{} // each answer waits for it, if not nil
}

func newOrigin(t testing.TB, data []byte) *origin {
	o := &origin{data: data}
	o.Server = httptest.NewServer(o)
	t.Cleanup(o.Server.Close)
	return o
}

// link is an address of the bundle.
func (o *origin) link() string { return o.URL + "/exports/bundle.tar.gz?" + secret + "=1" }

func (o *origin) set(change func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change()
}

func (o *origin) requests() []http.Header {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]http.Header(nil), o.asked...)
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	o.asked = append(o.asked, r.Header.Clone())
	data, status, cut := o.data, o.status, o.cut
	if o.cuts > 0 {
		if o.cuts--; o.cuts == 0 {
			o.cut = 0
		}
	}
	modified := o.modified
	if o.expireAt > 0 && len(o.asked) > o.expireAt {
		status = http.StatusForbidden
	}
	if o.needs != "" && strings.Contains(r.URL.RawQuery, o.needs) {
		status = 0
	}
	noTags, noRanges, deaf, began, hold := o.noTags, o.noRanges, o.deaf, o.began, o.hold
	o.mu.Unlock()
	if began != nil {
		began <- struct{}{}
	}
	if hold != nil {
		<-hold
	}
	if status != 0 {
		http.Error(w, "<Error>"+r.URL.String()+"</Error>", status)
		return
	}
	switch {
	case modified != "":
		w.Header().Set("Last-Modified", modified)
	case !noTags:
		w.Header().Set("ETag", `"`+sum(data)[:16]+`"`)
	}
	if noRanges {
		r.Header.Del("Range")
	}
	if deaf {
		r.Header.Del("If-Range")
	}
	if cut > 0 {
		w = &cutter{ResponseWriter: w, left: cut}
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// cutter ends a connection in the middle of its answer.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(p []byte) (int, error) {
	if len(p) > c.left {
		_, _ = c.ResponseWriter.Write(p[:c.left])
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

// quiet checks that a link is nowhere to be seen.
func (r *running) quiet(t *testing.T) {
	t.Helper()
	shown := r.log.String() + r.access.String()
	if r.err != nil {
		shown += r.err.Error()
	}
	select {
	case <-r.ended:
	default:
		for _, path := range []string{"/readyz", "/metrics"} {
			response, err := http.Get(r.admin + path)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(response.Body)
			response.Body.Close()
			shown += string(body)
		}
	}
	if strings.Contains(shown, secret) || strings.Contains(shown, "exports/bundle") {
		t.Errorf("the link is shown:\n%s", shown)
	}
}

func (r *running) metric(t testing.TB, name string) string {
	t.Helper()
	response, err := http.Get(r.admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return value
		}
	}
	return ""
}

// shows checks which home page there is.
func (r *running) shows(t testing.TB, text string) {
	t.Helper()
	response, body := r.get(t, "/")
	if response.StatusCode != 200 || !strings.Contains(body, "<title>"+text+"</title>") {
		t.Errorf("/ is status %d, %.40q, want %q", response.StatusCode, body, text)
	}
}

// edition is a bundle whose home page says its version.
func edition(t testing.TB, version string) []byte {
	files := sample()
	files["index.html"] = page("edition " + version)
	delete(files, "bindery/theme.0123456789ab.css")
	files["bindery/theme."+sum([]byte(version))[:12]+".css"] = "/* " + version + " */"
	return bundleOf(t, version, files, nil)
}

// TestStart: a bundle from a link is fetched, checked and shown; before that
// the server is alive and not ready.
func TestStart(t *testing.T) {
	o := newOrigin(t, edition(t, "1"))
	o.began, o.hold = make(chan struct{}, 9), make(chan struct{})
	r := begin(t, Options{Link: o.link()})
	<-o.began
	if s := r.status(t); s.Ready || s.State != "starting" {
		t.Errorf("before there is a site: %+v", s)
	}
	if response, _ := r.get(t, "/"); response.StatusCode != 503 || response.Header.Get("Retry-After") == "" {
		t.Errorf("before there is a site: status %d", response.StatusCode)
	}
	if response, err := http.Get(r.admin + "/healthz"); err != nil || response.StatusCode != 200 {
		t.Errorf("before there is a site: not healthy: %v %v", response, err)
	}
	close(o.hold)
	s := r.until(t, func(s Status) bool { return s.Ready })
	if s.Version != "1" || s.SHA256 != sum(o.data) || s.Domain != "docs.example" || s.State != "serving" || s.Problem != nil || s.Source != o.URL {
		t.Errorf("%+v", s)
	}
	r.shows(t, "edition 1")
	if got := r.metric(t, "bindery_serve_ready"); got != "1" {
		t.Errorf("ready is %q in the metrics", got)
	}
	if got := r.metric(t, "bindery_serve_fetched_bytes_total"); got != fmt.Sprint(len(o.data)) {
		t.Errorf("%s bytes were fetched, of %d", got, len(o.data))
	}
	r.quiet(t)
}

// TestNoBundle: without a bundle and without a version on the volume the
// server ends, and says what to do.
func TestNoBundle(t *testing.T) {
	gone := "http://127.0.0.1:" + outside.Port(t)
	good := edition(t, "1")
	for _, c := range []struct {
		name   string
		origin *origin
		change func(*Options)
		code   Code
		says   string
	}{
		{"the link has expired", &origin{status: 403}, nil, CodeLinkExpired, "Generate a new link"},
		{"the bundle was removed", &origin{status: 410}, nil, CodeLinkExpired, "Generate a new link"},
		{"nothing is there", &origin{status: 404}, nil, CodeNotFound, "Check the address"},
		{"the host is broken", &origin{status: 500}, nil, CodeUnreachable, "status 500"},
		{"the host is busy", &origin{status: 429}, nil, CodeUnreachable, "status 429"},
		{"no network", &origin{}, func(o *Options) { o.Link = gone + "/exports/bundle.tar.gz?" + secret }, CodeUnreachable, "Check the network"},
		{"it breaks off again and again", &origin{data: good, cut: 5, noRanges: true}, nil, CodeUnreachable, "stopped after"},
		{"no bundle", &origin{data: []byte("<html>Sign in</html>")}, nil, CodeRefused, "generate a new link"},
		{"a bundle that was cut", &origin{data: good[:len(good)-9]}, nil, CodeRefused, "truncated"},
		{"another digest", &origin{data: good}, func(o *Options) { o.SHA256 = sum(nil) }, CodeDigest, "expected e3b0c442"},
		{"another version", &origin{data: good}, func(o *Options) { o.Version = "2" }, CodeVersion, `"1", but "2" was requested`},
		{"no file", &origin{}, func(o *Options) { o.Link = "file:///nowhere/" + "bundle.tar.gz" }, CodeNotFound, "Check the address and the volume"},
		{"no link file", &origin{}, func(o *Options) { o.LinkFile = "/nowhere/link" }, CodeUsage, "BINDERY_BUNDLE_URL_FILE"},
		{"no address", &origin{}, func(o *Options) { o.Link = "" }, CodeUsage, "BINDERY_BUNDLE_URL"},
		{"an address of another kind", &origin{}, func(o *Options) { o.Link = "ftp://a.example/" + secret }, CodeUsage, "s3://"},
		{"an address in the clear", &origin{}, func(o *Options) { o.Link = "http://a.example/" + secret }, CodeUsage, "BINDERY_BUNDLE_SHA256"},
		{"a digest that is none", &origin{}, func(o *Options) { o.SHA256 = "abc" }, CodeUsage, "64 hexadecimal digits"},
		{"a base path that is none", &origin{}, func(o *Options) { o.BasePath = "/a?b" }, CodeUsage, "BINDERY_BASE_PATH"},
		{"a certificate without a key", &origin{}, func(o *Options) { o.TLSCert = "x" }, CodeUsage, "BINDERY_TLS_KEY"},
		{"a certificate that is not there", &origin{}, func(o *Options) { o.TLSCert, o.TLSKey = "/nowhere/a", "/nowhere/b" }, CodeUsage, "BINDERY_TLS_CERT"},
		{"a CA that is not there", &origin{}, func(o *Options) { o.CAFile = "/nowhere/ca" }, CodeUsage, "BINDERY_CA_FILE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			host := newOrigin(t, c.origin.data)
			host.status, host.cut, host.noRanges = c.origin.status, c.origin.cut, c.origin.noRanges
			options := Options{Link: host.link(), Data: t.TempDir()}
			if c.change != nil {
				c.change(&options)
			}
			e, r := fails(t, options)
			if e.Code != c.code || !strings.Contains(e.Error(), c.says) {
				t.Errorf("%s: %v, want %s with %q", e.Code, e, c.code, c.says)
			}
			r.quiet(t)
			for _, name := range tree(t, options.Data) {
				if strings.HasPrefix(name, "versions/") || name == currentName || c.code == CodeRefused && name == "download/"+partName {
					t.Errorf("%s was left behind", name)
				}
			}
		})
	}
}

// TestVolumeServes: with a version on the volume the server shows that when
// the source gives none, and says so.
func TestVolumeServes(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		data   []byte
		code   Code
	}{
		{"the link has expired", 403, nil, CodeLinkExpired},
		{"the host is broken", 503, nil, CodeUnreachable},
		{"another bundle that was cut", 0, edition(t, "2")[:100], CodeRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := newOrigin(t, edition(t, "1"))
			data := t.TempDir()
			r := started(t, Options{Link: o.link(), Data: data})
			r.stop()
			<-r.ended
			o.set(func() { o.status, o.data = c.status, c.data })
			r = started(t, Options{Link: o.link(), Data: data})
			s := r.status(t)
			if s.State != "degraded" || s.Version != "1" || s.Problem == nil || s.Problem.Code != c.code || s.Problem.Message == "" {
				t.Errorf("%+v, problem %+v", s, s.Problem)
			}
			if got := r.metric(t, "bindery_serve_degraded"); got != "1" {
				t.Errorf("degraded is %q in the metrics", got)
			}
			if got := r.metric(t, `bindery_serve_source_checks_total{result="`+string(c.code)+`"}`); got != "1" {
				t.Errorf("%q checks with %s in the metrics", got, c.code)
			}
			r.shows(t, "edition 1")
			// Once the source gives a bundle again, all is well.
			o.set(func() { o.status, o.data = 0, edition(t, "2") })
			r.reload <- struct{}{}
			s = r.until(t, func(s Status) bool { return s.Version == "2" && s.State == "serving" })
			if s.Problem != nil {
				t.Errorf("%+v", s)
			}
			r.shows(t, "edition 2")
			r.quiet(t)
		})
	}
}

// TestUnchanged: what is on the volume is not fetched again.
func TestUnchanged(t *testing.T) {
	t.Run("by the source's tag", func(t *testing.T) {
		o := newOrigin(t, edition(t, "1"))
		data := t.TempDir()
		for range 2 {
			r := started(t, Options{Link: o.link(), Data: data})
			r.shows(t, "edition 1") // a server that stops sooner may not have it yet
			r.stop()
			<-r.ended
		}
		asked := o.requests()
		if len(asked) != 2 || asked[1].Get("If-None-Match") == "" {
			t.Errorf("the second start asks %v", asked)
		}
	})
	t.Run("by the pinned version or digest", func(t *testing.T) {
		o := newOrigin(t, edition(t, "1"))
		data := t.TempDir()
		for _, pin := range []Options{{Version: "1"}, {Version: "1"}, {SHA256: strings.ToUpper(sum(o.data))}} {
			pin.Link, pin.Data = o.link(), data
			r := started(t, pin)
			r.shows(t, "edition 1")
			r.stop()
			<-r.ended
		}
		if n := len(o.requests()); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})
	t.Run("the same archive under another address", func(t *testing.T) {
		first, second := newOrigin(t, edition(t, "1")), newOrigin(t, edition(t, "1"))
		data := t.TempDir()
		for _, o := range []*origin{first, second} {
			r := started(t, Options{Link: o.link(), Data: data})
			r.shows(t, "edition 1") // a server that stops sooner may not have it yet
			r.stop()
			<-r.ended
		}
		versions, err := os.ReadDir(filepath.Join(data, versionsDir))
		if err != nil || len(versions) != 1 {
			t.Errorf("%d versions on the volume, error %v", len(versions), err)
		}
	})
}

// TestPinnedNotThere: a version that is pinned is shown or nothing, also when
// the volume has another.
func TestPinnedNotThere(t *testing.T) {
	o := newOrigin(t, edition(t, "1"))
	data := t.TempDir()
	r := started(t, Options{Link: o.link(), Data: data})
	r.stop()
	<-r.ended
	if e, _ := fails(t, Options{Link: o.link(), Data: data, Version: "2"}); e.Code != CodeVersion {
		t.Errorf("%v", e)
	}
	o.set(func() { o.status = 403 })
	if e, _ := fails(t, Options{Link: o.link(), Data: data, Version: "2"}); e.Code != CodeLinkExpired {
		t.Errorf("%v", e)
	}
}

// TestVersionAsNumber: YAML makes 1.1 of an unquoted 1.10, so a pinned number takes every
// version that YAML reads as it, from the source and from the volume, and no other.
func TestVersionAsNumber(t *testing.T) {
	o := newOrigin(t, edition(t, "1.10"))
	data := t.TempDir()
	r := started(t, Options{Link: o.link(), Data: data, Version: "1.1", VersionNumber: true})
	r.stop()
	<-r.ended
	asked := len(o.requests())
	r = started(t, Options{Link: o.link(), Data: data, Version: "1.1", VersionNumber: true})
	if status := r.status(t); status.Version != "1.10" || len(o.requests()) != asked {
		t.Errorf("version %q, %d requests more", status.Version, len(o.requests())-asked)
	}
	r.stop()
	<-r.ended
	for name, options := range map[string]Options{
		"a text":         {Version: "1.1"},
		"another number": {Version: "1.2", VersionNumber: true},
		"another digest": {Version: "1.1", VersionNumber: true, SHA256: sum(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			options.Link = o.link()
			e, _ := fails(t, options)
			if want := map[bool]Code{true: CodeDigest, false: CodeVersion}[options.SHA256 != ""]; e.Code != want {
				t.Errorf("%v, want %s", e, want)
			}
			if options.VersionNumber && options.SHA256 == "" && !strings.Contains(e.Advice, "in quotes") {
				t.Errorf("the advice is %q", e.Advice)
			}
		})
	}
}

func TestTakesVersion(t *testing.T) {
	for _, c := range []struct {
		pinned string // what a chart passes on of a number
		takes  []string
		not    []string
	}{
		{"1.1", []string{"1.1", "1.10", "1.100", "01.1", "11e-1"}, []string{"1.11", "1.01", "v1.1", "1.1.0", "1,1", "1.1-rc", "0x1.1", ""}},
		{"1", []string{"1", "1.0", "1.", "01", "0x1", "1e0"}, []string{"1.0.0", "2", "10", "one"}},
		{"2026.1", []string{"2026.10", "2026.1"}, []string{"2026.01", "2026-10"}},
		{"10", []string{"10", "012", "0xa", "1e1", "1_0"}, []string{"12"}},
		{"8", []string{"08", "8", "010"}, []string{"8a", "0o9"}},
		{"20260101123045", []string{"20260101123045", "2026_0101_123045"}, []string{"20260101123046"}},
		{"0", []string{"0", "00", "0.0", "0e5"}, []string{"", "zero"}},
		// Floating point has no room for all digits of these: only the same text will do.
		{"9007199254740993", []string{"9007199254740993"}, []string{"9007199254740992", "9007199254740993.0"}},
		{"0.1234567890123456", []string{"0.1234567890123456"}, []string{"0.12345678901234560", "0.12345678901234561"}},
	} {
		w := want{version: c.pinned, number: true}
		for _, version := range c.takes {
			if !w.takesVersion(version) {
				t.Errorf("the number %s does not take %q", c.pinned, version)
			}
		}
		for _, version := range c.not {
			if w.takesVersion(version) {
				t.Errorf("the number %s takes %q", c.pinned, version)
			}
		}
		w.number = false
		for _, version := range append(c.takes, c.not...) {
			if w.takesVersion(version) != (version == c.pinned) {
				t.Errorf("the text %s and %q", c.pinned, version)
			}
		}
	}
	if !(want{number: true}).takesVersion("1") {
		t.Error("no version pins one")
	}
}

// TestRollback: an older version comes back from the volume, without a source.
func TestRollback(t *testing.T) {
	o := newOrigin(t, edition(t, "1"))
	data := t.TempDir()
	r := started(t, Options{Link: o.link(), Data: data, Keep: 1})
	o.set(func() { o.data = edition(t, "2") })
	r.reload <- struct{}{}
	r.until(t, func(s Status) bool { return s.Version == "2" })
	r.stop()
	<-r.ended
	o.Close()
	for _, version := range []string{"1", "2", "1"} {
		r := started(t, Options{Link: o.link(), Data: data, Keep: 1, Version: version})
		r.shows(t, "edition "+version)
		if s := r.status(t); s.State != "serving" {
			t.Errorf("%+v", s)
		}
		r.stop()
		<-r.ended
		target, err := os.Readlink(filepath.Join(data, currentName))
		if err != nil || !strings.HasSuffix(target, sum(edition(t, version))) {
			t.Errorf("current leads to %q, error %v", target, err)
		}
	}
}

// TestKeep: so many old versions stay, the ones that were shown last.
func TestKeep(t *testing.T) {
	o := newOrigin(t, edition(t, "1"))
	data := t.TempDir()
	r := started(t, Options{Link: o.link(), Data: data, Keep: 1})
	for _, version := range []string{"2", "3", "4"} {
		o.set(func() { o.data = edition(t, version) })
		r.reload <- struct{}{}
		r.until(t, func(s Status) bool { return s.Version == version })
		r.reload <- struct{}{} // once more, now that nobody uses the one before
	}
	r.reload <- struct{}{}
	r.stop()
	<-r.ended
	var got []string
	v := &volume{dir: data, log: r.nolog()}
	for _, record := range v.list() {
		got = append(got, record.Version)
	}
	if diff := cmp.Diff([]string{"4", "3"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestSwap: readers who ask all the time get the one version or the other while
// versions change, never an error and never a mixture.
func TestSwap(t *testing.T) {
	o := newOrigin(t, edition(t, "0"))
	r := started(t, Options{Link: o.link(), Keep: 1, CacheBytes: 4 << 10})
	const swaps = 6
	var stop atomic.Bool
	var asked atomic.Int64
	var readers sync.WaitGroup
	for i := range 4 {
		readers.Go(func() {
			client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
			defer client.CloseIdleConnections()
			for !stop.Load() {
				request, _ := http.NewRequest("GET", r.site+"/", nil)
				if i%2 == 1 {
					request.Header.Set("Range", "bytes=0-200")
				}
				response, err := client.Do(request)
				if err != nil {
					t.Error(err)
					return
				}
				body, err := io.ReadAll(response.Body)
				response.Body.Close()
				_, rest, _ := bytes.Cut(body, []byte("<title>edition "))
				version, _, ok := bytes.Cut(rest, []byte("</title>"))
				if err != nil || response.StatusCode/100 != 2 || !ok {
					t.Errorf("status %d, %.60q, error %v", response.StatusCode, body, err)
					return
				}
				if whole := page("edition " + string(version)); i%2 == 0 && string(body) != whole || response.Header.Get("Etag") != sitetest.Tag(whole, site.ContentSecurityPolicy(&bundle.Info{}), site.Identity) {
					t.Errorf("of edition %s: %d bytes with tag %s", version, len(body), response.Header.Get("Etag"))
					return
				}
				// The page's styles must be there, also after the next swap.
				response, err = client.Get(r.site + "/bindery/theme." + sum(version)[:12] + ".css")
				if err != nil {
					t.Error(err)
					return
				}
				body, _ = io.ReadAll(response.Body)
				response.Body.Close()
				if response.StatusCode != 200 || string(body) != "/* "+string(version)+" */" {
					t.Errorf("styles of edition %s: status %d, %q", version, response.StatusCode, body)
					return
				}
				asked.Add(2)
			}
		})
	}
	for i := 1; i <= swaps && !t.Failed(); i++ {
		before := asked.Load()
		for asked.Load() < before+40 && !t.Failed() {
			time.Sleep(time.Millisecond)
		}
		version := fmt.Sprint(i)
		o.set(func() { o.data = edition(t, version) })
		r.reload <- struct{}{}
		r.until(t, func(s Status) bool { return s.Version == version })
	}
	stop.Store(true)
	readers.Wait()
}

// TestDrain: after the server was asked to end it is not ready, still answers,
// and lets a request under way end.
func TestDrain(t *testing.T) {
	files := sample()
	files["large.bin"] = strings.Repeat("0123456789abcdef", 1<<20)
	delay := make(chan struct{})
	r := started(t, Options{
		Link: write(t, bundleOf(t, "1", files, nil)), DrainDelay: time.Hour,
		Sleep: func(context.Context, time.Duration) error { <-delay; return nil },
	})
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.site, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n")
	slow := bufio.NewReader(conn)
	if _, err := slow.Peek(1); err != nil {
		t.Fatal(err)
	}
	r.stop()
	s := r.until(t, func(s Status) bool { return s.State == "draining" })
	if s.Ready {
		t.Errorf("%+v", s)
	}
	if response, _ := r.get(t, "/"); response.StatusCode != 200 || !response.Close {
		t.Errorf("while it drains: status %d, to be closed %t", response.StatusCode, response.Close)
	}
	close(delay)
	response, err := http.ReadResponse(slow, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, response.Body); err != nil || n != 16<<20 {
		t.Errorf("%d bytes, error %v", n, err)
	}
	<-r.ended
	if r.err != nil {
		t.Error(r.err)
	}
}

// TestDrainWaitsForNoIdleConnection: connections without a request under way, new ones
// and used ones, keep no server from ending: net/http gives new ones five seconds.
func TestDrainWaitsForNoIdleConnection(t *testing.T) {
	r := started(t, Options{Link: write(t, bundleOf(t, "1", sample(), nil)), DrainTimeout: time.Second})
	for range 3 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.site, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	if response, _ := r.get(t, "/"); response.StatusCode != 200 { // the server takes connections in their order
		t.Errorf("status %d", response.StatusCode)
	}
	r.stop()
	<-r.ended
	if r.err != nil || strings.Contains(r.log.String(), "cut off") || !strings.Contains(r.log.String(), `"msg":"ended"`) {
		t.Errorf("%v\n%s", r.err, r.log)
	}
}

// TestEndWhileFetching: a server that is asked to end in the middle of a
// download ends at once, well, and goes on with it next time.
func TestEndWhileFetching(t *testing.T) {
	o := newOrigin(t, edition(t, "1"))
	o.began, o.hold = make(chan struct{}, 9), make(chan struct{})
	r := begin(t, Options{Link: o.link()})
	<-o.began
	r.stop()
	select {
	case <-r.ended:
	case <-time.After(5 * time.Minute):
		t.Fatal("it does not end")
	}
	close(o.hold)
	if r.err != nil {
		t.Error(r.err)
	}
}

// TestLinkFile: a link that is replaced in its file is used next time.
func TestLinkFile(t *testing.T) {
	first, second := newOrigin(t, edition(t, "1")), newOrigin(t, edition(t, "2"))
	name := filepath.Join(t.TempDir(), "link")
	if err := os.WriteFile(name, []byte(first.link()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := started(t, Options{LinkFile: name})
	r.shows(t, "edition 1")
	if err := os.WriteFile(name, []byte(second.link()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.reload <- struct{}{}
	r.until(t, func(s Status) bool { return s.Version == "2" })
	r.quiet(t)
}

// TestRefresh: another version is looked for by the interval, too.
func TestRefresh(t *testing.T) {
	o := newOrigin(t, edition(t, "1"))
	r := started(t, Options{Link: o.link(), Refresh: 10 * time.Millisecond})
	o.set(func() { o.data = edition(t, "2") })
	r.until(t, func(s Status) bool { return s.Version == "2" })
}

// TestRefusedOnce: a bundle that is refused is not fetched again and again, but
// when an operator asks, or when the source has another.
func TestRefusedOnce(t *testing.T) {
	o := newOrigin(t, edition(t, "1"))
	r := started(t, Options{Link: o.link(), Refresh: 5 * time.Millisecond})
	cut := edition(t, "2")[:200]
	bad := `"` + sum(cut)[:16] + `"`
	o.set(func() { o.data, o.asked = cut, nil })
	fetched := func() (n int) {
		for _, h := range o.requests() {
			if h.Get("If-None-Match") != bad {
				n++
			}
		}
		return n
	}
	more := func(n int) {
		t.Helper()
		for before := len(o.requests()); len(o.requests()) < before+n; time.Sleep(time.Millisecond) {
			if t.Context().Err() != nil {
				t.Fatal("the source is not asked any more")
			}
		}
	}
	s := r.until(t, func(s Status) bool { return s.State == "degraded" })
	more(5)
	if n := fetched(); n != 1 {
		t.Errorf("it was fetched %d times", n)
	}
	if s = r.status(t); s.Problem == nil || s.Problem.Code != CodeRefused || s.Version != "1" {
		t.Errorf("%+v", s)
	}
	r.reload <- struct{}{}
	more(3)
	if n := fetched(); n != 2 {
		t.Errorf("it was fetched %d times, once because it was asked for", n)
	}
	o.set(func() { o.data = edition(t, "2") })
	r.until(t, func(s Status) bool { return s.Version == "2" && s.State == "serving" })
}

// TestShared: servers that share a volume fetch once.
func TestShared(t *testing.T) {
	o := newOrigin(t, edition(t, "1"))
	data := t.TempDir()
	var all []*running
	for range 3 {
		all = append(all, begin(t, Options{Link: o.link(), Data: data}))
	}
	whole := 0
	for _, r := range all {
		r.until(t, func(s Status) bool { return s.Ready })
		r.shows(t, "edition 1")
	}
	for _, h := range o.requests() {
		if h.Get("If-None-Match") == "" {
			whole++
		}
	}
	if whole != 1 {
		t.Errorf("the bundle was fetched %d times", whole)
	}
}

// TestPinnedDoesNotWait: a server of a pinned version that is on the volume does
// not wait for another that changes the folder, and tidies up when nobody does.
func TestPinnedDoesNotWait(t *testing.T) {
	o := newOrigin(t, edition(t, "1"))
	data := t.TempDir()
	r := started(t, Options{Link: o.link(), Data: data})
	v := &volume{dir: data, log: r.nolog()}
	r.stop()
	<-r.ended
	half := filepath.Join(data, versionsDir, newPrefix+"123")
	if err := os.Mkdir(half, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, held := range []bool{true, false} {
		release := func() {}
		if held {
			var err error
			if release, err = v.lock(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		r = started(t, Options{Link: o.link(), Data: data, Version: "1"})
		r.shows(t, "edition 1")
		r.stop()
		<-r.ended
		release()
		if _, err := os.Stat(half); (err == nil) != held {
			t.Errorf("the folder is another's %t: what a killed process left: %v", held, err)
		}
	}
}

// TestShownElsewhere: what another server still shows is not removed.
func TestShownElsewhere(t *testing.T) {
	o := newOrigin(t, edition(t, "1"))
	data := t.TempDir()
	old := started(t, Options{Link: o.link(), Data: data})
	o.set(func() { o.data = edition(t, "2") })
	other := started(t, Options{Link: o.link(), Data: data, Keep: 0})
	other.shows(t, "edition 2")
	old.shows(t, "edition 1")
	old.stop()
	<-old.ended
	other.reload <- struct{}{}
	other.reload <- struct{}{} // is taken when the first is done
	other.stop()
	<-other.ended
	v := &volume{dir: data, log: other.nolog()}
	if list := v.list(); len(list) != 1 || list[0].Version != "2" {
		t.Errorf("%+v", list)
	}
}

// TestDamaged: a version that something on the volume damaged is not shown; it
// is fetched again.
func TestDamaged(t *testing.T) {
	outside.NoRace(t, "it opens one bundle after another")
	for _, c := range []struct {
		name   string
		damage func(dir string) error
	}{
		{"a file is gone", func(dir string) error { return os.Remove(filepath.Join(dir, siteDir, "guides", "start.html")) }},
		{"a file is shorter", func(dir string) error { return os.Truncate(filepath.Join(dir, siteDir, "index.html"), 3) }},
		{"the compressed forms are shorter", func(dir string) error { return os.Truncate(filepath.Join(dir, packedDir, packedData), 3) }},
		{"a file has other bytes", func(dir string) error {
			return defaced(filepath.Join(dir, siteDir, "index.html"), theirs, evil[:len(theirs)])
		}},
		{"a file and the lists are others", func(dir string) error { return forge(dir, "index.html", theirs, evil[:len(theirs)]) }},
		{"the compressed forms have other bytes", func(dir string) error { return flip(filepath.Join(dir, packedDir, packedData), 40) }},
		{"the end of the archive is gone", func(dir string) error { return os.Remove(filepath.Join(dir, endFile)) }},
		{"their index is no JSON", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, packedDir, packedIndex), []byte("{"), 0o644)
		}},
		{"the record is empty", func(dir string) error { return os.Truncate(filepath.Join(dir, recordFile), 0) }},
		{"the list of files is gone", func(dir string) error { return os.Remove(filepath.Join(dir, siteDir, "bindery", "files.jsonl")) }},
		{"a file is a link", func(dir string) error {
			name := filepath.Join(dir, siteDir, "index.html")
			return firstError(os.Remove(name), os.Symlink("/etc/passwd", name))
		}},
	} {
		for _, how := range []string{"from a link", "pinned", "pinned by its digest", "from a file"} {
			t.Run(c.name+", "+how, func(t *testing.T) {
				data := edition(t, "1")
				options := Options{Link: newOrigin(t, data).link(), Data: t.TempDir()}
				switch how {
				case "pinned":
					options.Version = "1"
				case "pinned by its digest":
					options.SHA256 = sum(data)
				case "from a file":
					options.Link = write(t, data)
				}
				r := started(t, options)
				r.stop()
				<-r.ended
				if err := c.damage(filepath.Join(options.Data, versionsDir, sum(data))); err != nil {
					t.Fatal(err)
				}
				r = started(t, options)
				r.shows(t, "edition 1")
				if response, _ := r.get(t, "/guides/start"); response.StatusCode != 200 {
					t.Errorf("status %d", response.StatusCode)
				}
				if s := r.status(t); s.State != "serving" {
					t.Errorf("%+v", s)
				}
			})
		}
	}
}

// TestDamagedRecord: a version whose record can't be read is found by nobody. It
// goes.
func TestDamagedRecord(t *testing.T) {
	o := newOrigin(t, edition(t, "1"))
	data := t.TempDir()
	r := started(t, Options{Link: o.link(), Data: data})
	r.stop()
	<-r.ended
	old := filepath.Join(data, versionsDir, sum(edition(t, "1")))
	if err := os.WriteFile(filepath.Join(old, recordFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	o.set(func() { o.data = edition(t, "2") })
	r = started(t, Options{Link: o.link(), Data: data})
	r.shows(t, "edition 2")
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	if got := r.metric(t, "bindery_serve_versions"); got != "1" {
		t.Errorf("%s versions in the metrics", got)
	}
}

// TestNotActivated: where the volume takes no new name, the version on it is
// shown all the same, and not removed as if it were damaged.
func TestNotActivated(t *testing.T) {
	for _, pin := range []string{"", "1"} {
		o := newOrigin(t, edition(t, "1"))
		data := t.TempDir()
		r := started(t, Options{Link: o.link(), Data: data, Version: pin})
		r.stop()
		<-r.ended
		o.set(func() { o.status = 403 })
		current := filepath.Join(data, currentName)
		if err := firstError(os.Remove(current), os.MkdirAll(filepath.Join(current, "in the way"), 0o755)); err != nil {
			t.Fatal(err)
		}
		r = started(t, Options{Link: o.link(), Data: data, Version: pin})
		r.shows(t, "edition 1")
		if s := r.log.String(); !strings.Contains(s, "a server that starts later") {
			t.Errorf("pinned to %q: the log does not say so:\n%s", pin, s)
		}
	}
}

// TestWhatIsDamage: a version is removed when it is at fault, and not when the
// process or the machine is.
func TestWhatIsDamage(t *testing.T) {
	of := func(errno syscall.Errno) error {
		return fmt.Errorf("list: %w", &os.PathError{Op: "open", Path: "x", Err: errno})
	}
	for _, c := range []struct {
		err  error
		want bool
	}{
		{of(syscall.ENOENT), true},
		{of(syscall.ENOTDIR), true},
		{fmt.Errorf("3 bytes, the list says 4"), true},
		{io.ErrUnexpectedEOF, true},
		{of(syscall.EMFILE), false},
		{of(syscall.EACCES), false},
		{of(syscall.EIO), false},
		{syscall.ENOLCK, false},
		{volumeError("full", syscall.ENOSPC), false},
	} {
		if got := damaged(c.err); got != c.want {
			t.Errorf("%v: %t", c.err, got)
		}
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestHalfMade: what a killed process left does not get in the way, and goes.
func TestHalfMade(t *testing.T) {
	o := newOrigin(t, edition(t, "1"))
	data := t.TempDir()
	half := filepath.Join(data, versionsDir, newPrefix+"123", siteDir)
	if err := os.MkdirAll(half, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(half, "index.html"), []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := started(t, Options{Link: o.link(), Data: data})
	r.shows(t, "edition 1")
	if _, err := os.Stat(half); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}

// TestPortsTaken: a port that is in use is told before anything is fetched.
func TestPortsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, o := range []Options{
		{Addr: l.Addr().String(), AdminAddr: "127.0.0.1:0"},
		{Addr: "127.0.0.1:0", AdminAddr: l.Addr().String()},
	} {
		o.Link, o.Data = "file:///nowhere", t.TempDir()
		err := Run(context.Background(), o, nil)
		if codeOf(err) != CodeListen {
			t.Errorf("%v", err)
		}
	}
}

// TestErrorsHoldNoLink: whatever a link looks like, an error does not show it.
func TestErrorsHoldNoLink(t *testing.T) {
	for _, link := range []string{
		"https://a.example/%zz?" + secret, "s3://bucket/" + "?" + secret, "s3://" + secret, "ftp://" + secret, secret, "https:///" + secret,
		"file://host/" + secret, "https://user:" + secret + "@/x", "\x7f" + secret,
	} {
		_, err := parseSource(link, sourceOptions{})
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v", link, err)
		}
	}
	s, err := parseSource("https://user:"+secret+"@a.example/path/"+secret+"?"+secret, sourceOptions{})
	if err != nil || strings.Contains(s.Where, secret) || s.Where != "https://a.example" {
		t.Errorf("%+v, %v", s, err)
	}
	// The user's name may be in a link to a proxy of one's own; so is the
	// escaped form of what a browser shows.
	u, _ := url.Parse("https://a.example/a%20b?c=d%20e")
	r, err := newHTTPRemote(u.String(), u, sourceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{u.String(), u.Path, u.RawQuery, u.RequestURI()} {
		if got := r.quiet(fmt.Errorf("get %s: no", text)).Error(); strings.Contains(got, text) {
			t.Errorf("%q", got)
		}
	}
}

// TestReserve: while a server runs, the collector waits for a heap of the
// reserve's size at least.
func TestReserve(t *testing.T) {
	started(t, Options{Link: write(t, bundleOf(t, "1", sample(), nil))})
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.NextGC < 2*heapReserve {
		t.Errorf("the next collection is at %d bytes", m.NextGC)
	}
}
