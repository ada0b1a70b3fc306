package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// content is the files of a bundle by name.
type content map[string]string

// sample is a small site with one of each kind of address.
func sample() content {
	return content{
		"index.html":                     page("home"),
		"404.html":                       "<p>nothing here</p>",
		"guides/start.html":              page("start"),
		"guides/start.md":                "# start",
		"api/index.html":                 page("api"),
		"old.html":                       `<html><head><meta http-equiv="refresh" content="0; url=guides/start.html"></head></html>`,
		"bindery/theme.0123456789ab.css": strings.Repeat("body{color:red}\n", 100),
		"logo.png":                       "\x89PNG\r\n",
		"größe.txt":                      "size",
	}
}

// page is a page that is worth compressing.
func page(text string) string {
	return "<html><head><title>" + text + "</title></head><body>" + strings.Repeat("<p>"+text+"</p>", 300) + "</body></html>"
}

// bundleOf makes a bundle of a version; change may alter its description.
func bundleOf(t testing.TB, version string, files content, change func(*bundle.Info)) []byte {
	t.Helper()
	var out bytes.Buffer
	var units bundle.Writers
	u, err := units.Unit(&out, bundle.Text)
	if err != nil {
		t.Fatal(err)
	}
	info := bundle.Info{Format: bundle.Format, Domain: "docs.example", Version: version, Pages: len(files)}
	var list []byte
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		f, err := u.Add(name, time.Time{}, []byte(files[name]))
		if err != nil {
			t.Fatal(err)
		}
		list = f.AppendLine(list)
		info.Files++
		info.Bytes += f.Size
	}
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&info)
	}
	info.FileList, info.DiagnosticList = listInfo(list), listInfo(nil)
	text, err := json.Marshal(info)
	if err != nil {
		t.Fatal(err)
	}
	if u, err = units.Unit(&out, bundle.Text); err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		name string
		data []byte
	}{{bundle.FilesPath, list}, {bundle.DiagnosticsPath, nil}, {bundle.InfoPath, text}} {
		if _, err := u.Add(f.name, time.Time{}, f.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := u.Finish(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func listInfo(b []byte) bundle.ListInfo {
	return bundle.ListInfo{Size: int64(len(b)), SHA256: sum(b)}
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// write puts a bundle into a file and gives its address.
func write(t testing.TB, data []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "bundle.tar.gz")
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return "file://" + filepath.ToSlash(name)
}

// running is a server under test.
type running struct {
	site, admin string
	log, access *lines
	reload      chan struct{}
	stop        context.CancelFunc
	ended       chan struct{}
	err         error
}

// lines is a log in memory.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// begin starts a server on free ports; it ends with the test.
func begin(t testing.TB, o Options) *running {
	t.Helper()
	r := &running{log: new(lines), access: new(lines), reload: make(chan struct{}), ended: make(chan struct{})}
	o.Addr, o.AdminAddr = "127.0.0.1:0", "127.0.0.1:0"
	o.Log = slog.New(slog.NewJSONHandler(r.log, nil))
	o.Access = slog.New(slog.NewJSONHandler(r.access, nil))
	if o.Data == "" {
		o.Data = t.TempDir()
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = 1 << 20
	}
	if o.DrainTimeout == 0 {
		o.DrainTimeout = 5 * time.Minute
	}
	o.lastRequest = 5 * time.Minute
	if o.Sleep == nil {
		o.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	}
	listening := make(chan struct{})
	o.Listening = func(site, admin net.Addr) {
		r.site, r.admin = "http://"+site.String(), "http://"+admin.String()
		close(listening)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	go func() {
		defer close(r.ended)
		r.err = Run(ctx, o, r.reload)
	}()
	t.Cleanup(func() {
		cancel()
		<-r.ended
	})
	select {
	case <-listening:
	case <-r.ended:
	}
	return r
}

// started is begin, and waits until a site is shown.
func started(t testing.TB, o Options) *running {
	t.Helper()
	r := begin(t, o)
	r.until(t, func(s Status) bool { return s.Ready })
	return r
}

// until waits for a status.
func (r *running) until(t testing.TB, ok func(Status) bool) Status {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		select {
		case <-r.ended:
			t.Fatalf("the server has ended: %v\n%s", r.err, r.log)
		default:
		}
		if s := r.status(t); ok(s) {
			return s
		}
	}
	t.Fatalf("that never came:\n%s", r.log)
	return Status{}
}

func (r *running) status(t testing.TB) Status {
	t.Helper()
	response, err := http.Get(r.admin + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var s Status
	if err := json.NewDecoder(response.Body).Decode(&s); err != nil {
		t.Fatal(err)
	}
	if s.Ready != (response.StatusCode == http.StatusOK) {
		t.Errorf("/readyz: status %d with %+v", response.StatusCode, s)
	}
	return s
}

// fails waits for the end of a server that must not start, and gives its error. One that
// shows a site, or is silent for a minute, has failed to fail.
func fails(t testing.TB, o Options) (*Error, *running) {
	t.Helper()
	r := begin(t, o)
	r.untilEnded(t)
	e, ok := r.err.(*Error)
	if !ok {
		t.Fatalf("the server ended with %v", r.err)
	}
	if e.Advice == "" && e.Err == nil {
		t.Errorf("an operator is not told what to do: %v", e)
	}
	return e, r
}

// untilEnded waits for the end of a server that must not show a site.
func (r *running) untilEnded(t testing.TB) {
	t.Helper()
	for said, since := "", time.Now(); ; {
		select {
		case <-r.ended:
			return
		case <-time.After(2 * time.Millisecond):
		}
		if now := r.log.String(); now != said {
			said, since = now, time.Now()
		}
		if r.readable() {
			t.Fatalf("the server shows a site:\n%s", said)
		}
		if time.Since(since) > time.Minute {
			t.Fatalf("the server does not end, and says no more:\n%s", said)
		}
	}
}

// complaint is a test that is expected to fail.
type complaint struct {
	testing.TB
	said string
}

func (*complaint) Helper() {}

func (c *complaint) Fatalf(format string, args ...any) {
	c.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// A server that wrongly shows a site is noticed as soon as it does.
func TestServersThatMustFail(t *testing.T) {
	r := started(t, Options{Link: write(t, edition(t, "1"))})
	c := &complaint{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.untilEnded(c)
	}()
	<-done
	if !strings.Contains(c.said, "shows a site") {
		t.Errorf("the helper says %q", c.said)
	}
	r.stop()
	r.untilEnded(t)
}

// readable reports whether the server has a site for readers.
func (r *running) readable() bool {
	response, err := http.Get(r.admin + "/readyz")
	if err != nil { // it has ended
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// get asks for a path of the site without following redirects; headers are
// pairs.
func (r *running) get(t testing.TB, path string, headers ...string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequest("GET", r.site+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return send(t, request)
}

func send(t testing.TB, request *http.Request) (*http.Response, string) {
	t.Helper()
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

// tree lists what is in a folder, the logs of processes aside.
func tree(t testing.TB, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && name != dir {
			rel, _ := filepath.Rel(dir, name)
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// nolog is a logger for parts that are looked at alone.
func (r *running) nolog() *slog.Logger { return slog.New(slog.NewJSONHandler(r.log, nil)) }

// caOf puts a server's certificate into a file.
func caOf(t testing.TB, server *httptest.Server) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "ca.pem")
	data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}
