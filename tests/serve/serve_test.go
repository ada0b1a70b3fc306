//go:build unix

package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/serve"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// binderyServe returns the path of the server for clusters.
func binderyServe(tb testing.TB) string {
	tb.Helper()
	if file := os.Getenv(insideProgram); file != "" {
		return file
	}
	return harness.BinderyServe(tb)
}

// served is a running bindery-serve.
type served struct {
	site, admin string
	cmd         *exec.Cmd
	log         *syncBuffer
	ended       chan struct{}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// serveBundle starts the program on free ports. The process ends with the test.
func serveBundle(tb testing.TB, data string, env ...string) *served {
	tb.Helper()
	s := &served{log: new(syncBuffer), ended: make(chan struct{})}
	s.cmd = exec.Command(binderyServe(tb))
	s.cmd.Env = append([]string{
		"BINDERY_DATA=" + data, "BINDERY_ADDR=127.0.0.1:0", "BINDERY_ADMIN_ADDR=127.0.0.1:0", "BINDERY_DRAIN_DELAY=0s", "AWS_EC2_METADATA_DISABLED=true",
	}, env...)
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	listening := make(chan struct{})
	go func() {
		defer close(s.ended)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			var line struct{ Msg, Site, Admin string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" && s.site == "" {
				s.site, s.admin = "http://"+line.Site, "http://"+line.Admin
				close(listening)
			}
			fmt.Fprintln(s.log, lines.Text())
		}
		_ = s.cmd.Wait()
	}()
	tb.Cleanup(s.kill)
	select {
	case <-listening:
	case <-s.ended:
	}
	return s
}

// ready waits until a site is shown.
func (s *served) ready(tb testing.TB) serve.Status {
	tb.Helper()
	return s.until(tb, func(status serve.Status) bool { return status.Ready })
}

func (s *served) until(tb testing.TB, ok func(serve.Status) bool) serve.Status {
	tb.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		select {
		case <-s.ended:
			tb.Fatalf("bindery-serve has ended:\n%s", s.log)
		default:
		}
		response, err := http.Get(s.admin + "/readyz")
		if err != nil {
			continue
		}
		var status serve.Status
		err = json.NewDecoder(response.Body).Decode(&status)
		response.Body.Close()
		if err == nil && ok(status) {
			return status
		}
	}
	tb.Fatalf("that never came:\n%s", s.log)
	return serve.Status{}
}

// kill ends the process as a power cut would.
func (s *served) kill() {
	_ = s.cmd.Process.Kill()
	<-s.ended
}

// stop ends it as a cluster does, and gives its exit code.
func (s *served) stop() int {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	<-s.ended
	return s.cmd.ProcessState.ExitCode()
}

// Names of the environment that tell a test binary which part of
// TestServeWithoutANetwork it is, in a network namespace of its own.
const (
	insideProgram = "BINDERY_TEST_SERVE"
	insideBundles = "BINDERY_TEST_BUNDLES"
	insideSmall   = "BINDERY_TEST_SMALL"
)

// TestServeWithoutANetwork serves real bundles where there is no way out: every
// file and every link is there, killed servers come back, versions are swapped
// under load without a failed request, and a full volume is told.
func TestServeWithoutANetwork(t *testing.T) {
	outside.Long(t, "asks for every file of two bundles, again and again")
	if os.Geteuid() != 0 {
		outside.OutOfReach(t, "root, for a network namespace")
	}
	unshare := outside.Program(t, "unshare")
	outside.Program(t, "ip")
	if out, err := exec.Command(unshare, "--net", "--mount", "true").CombinedOutput(); err != nil {
		outside.OutOfReach(t, fmt.Sprintf("network namespaces (%v %s)", err, out))
	}
	bundles := []string{harness.ExportSite(t, filepath.Join(outside.Checkout(t), "infra", "docs")).Bundle}
	bundles = append(bundles, exportCorpus(t)...)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	small := filepath.Join(t.TempDir(), "small")
	if err := os.Mkdir(small, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(unshare, "--net", "--mount", "sh", "-c", `ip link set lo up && mount -t tmpfs -o size=1m tmpfs "$`+insideSmall+`" && exec "$0" "$@"`,
		self, "-test.run=^TestServeInside$", "-test.v")
	cmd.Env = append(os.Environ(), insideProgram+"="+binderyServe(t), insideBundles+"="+strings.Join(bundles, ":"), insideSmall+"="+small)
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: TestServeInside")) {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// exportCorpus makes a bundle of a real site; none without the shared folder.
func exportCorpus(t *testing.T) []string {
	t.Helper()
	site, ok := outside.Maybe(t, "corpora", "trigger")
	if !ok {
		t.Log("without a real site: there is no shared folder (BINDERY_SHARED)")
		return nil
	}
	return []string{harness.ExportSite(t, site).Bundle}
}

// TestServeInside is the inner half of TestServeWithoutANetwork.
func TestServeInside(t *testing.T) {
	if os.Getenv(insideProgram) == "" {
		t.Skip("run by TestServeWithoutANetwork")
	}
	// 192.0.2.1 is for documentation (RFC 5737): nobody has it.
	if _, err := net.DialTimeout("tcp", "192.0.2.1:80", time.Second); err == nil || !strings.Contains(err.Error(), "unreachable") {
		t.Fatalf("there is a way out of here: %v", err)
	}
	bundles := strings.Split(os.Getenv(insideBundles), ":")
	for i, file := range bundles {
		t.Run("walk/"+fmt.Sprint(i), func(t *testing.T) { walkServed(t, file, i == 0) })
	}
	t.Run("kill and restart", func(t *testing.T) { killServed(t, bundles[len(bundles)-1]) })
	t.Run("swap under load", func(t *testing.T) { swapServed(t, bundles[0]) })
	t.Run("full volume", func(t *testing.T) { fullServed(t, bundles[len(bundles)-1], os.Getenv(insideSmall)) })
}

// walkServed asks for every file of a bundle and every link of its pages. With
// whole, every link must lead somewhere: the site has no broken one.
func walkServed(t *testing.T, file string, whole bool) {
	var files []bundle.File
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = bundle.Read(t.Context(), f, bundle.Limits{}, func(e bundle.Entry, data io.Reader) error {
		if e.Path != bundle.FilesPath {
			return nil
		}
		for lines := json.NewDecoder(data); ; {
			var line bundle.File
			if err := lines.Decode(&line); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			files = append(files, line)
		}
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	s := serveBundle(t, t.TempDir(), "BINDERY_BUNDLE_URL=file://"+file, "BINDERY_BASE_PATH=/docs")
	s.ready(t)
	there := map[string]bool{}
	for _, line := range files {
		there["/docs/"+line.Path] = true
	}
	links := map[string]string{} // and a page that has it
	redirects := 0
	for _, line := range files {
		address := &url.URL{Path: "/docs/" + line.Path}
		body, status := s.get(t, address.String())
		switch {
		case line.Path == bundle.IndexPath: // which is for servers
			if status != http.StatusNotFound {
				t.Errorf("%s: status %d", line.Path, status)
			}
		case status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect:
			redirects++ // a page that only leads elsewhere
		case status != 200 || int64(len(body)) != line.Size:
			t.Errorf("%s: status %d with %d bytes, the list says %d", line.Path, status, len(body), line.Size)
		}
		clean, isPage := strings.CutSuffix(address.Path, ".html")
		if !isPage {
			continue
		}
		for _, link := range linksOf(body) {
			if to, err := address.Parse(link); err == nil && to.Host == "" && strings.HasPrefix(to.Path, "/") {
				to.Fragment = ""
				links[to.String()] = line.Path
			}
		}
		at := (&url.URL{Path: strings.TrimSuffix(clean, "index")}).String()
		_, again := s.get(t, at)
		if again == http.StatusPermanentRedirect && strings.HasSuffix(clean, "/index") {
			// The page is beside its folder, and both of the folder's addresses lead to it.
			again, status = s.follow(t, at), s.follow(t, address.String())
		}
		if again != status && !(line.Path == "404.html" && again == 404) {
			t.Errorf("%s: status %d, and %d at its clean address", line.Path, status, again)
		}
	}
	broken := 0
	for _, link := range slices.Sorted(maps.Keys(links)) {
		status := s.follow(t, link)
		u, err := url.Parse(link)
		if err != nil {
			t.Fatal(err)
		}
		if status == 200 {
			continue
		}
		broken++
		if whole || there[u.Path] || there[u.Path+".html"] {
			t.Errorf("%s: status %d, on page %s", link, status, links[link])
		}
	}
	t.Logf("%d files, %d of them answered by redirects, %d links, %d of those to nothing", len(files), redirects, len(links), broken)
	if len(links) < 50 {
		t.Error("so few links: are they found?")
	}
	if code := s.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// follow asks for an address and goes where it leads to. What leads to another
// site counts as there.
func (s *served) follow(t testing.TB, path string) int {
	t.Helper()
	client := http.Client{CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if "http://"+r.URL.Host != s.site {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	response, err := client.Get(s.site + path)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode/100 == 3 {
		return 200
	}
	return response.StatusCode
}

// get asks for an address and does not go where it leads to.
func (s *served) get(t testing.TB, path string) ([]byte, int) {
	t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Get(s.site + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body, response.StatusCode
}

// linksOf are the addresses that a page speaks of.
func linksOf(page []byte) (out []string) {
	tokens := html.NewTokenizer(bytes.NewReader(page))
	for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		token := tokens.Token()
		for _, a := range token.Attr {
			if a.Key == "href" || a.Key == "src" {
				out = append(out, a.Val)
			}
		}
	}
	return out
}

// killServed ends a server the hard way at many moments of its start: a site is
// on the volume in whole or not at all, and the next start shows it.
func killServed(t *testing.T, file string) {
	data := t.TempDir()
	complete := false
	for i := range 12 {
		s := serveBundle(t, data, "BINDERY_BUNDLE_URL=file://"+file)
		time.Sleep(time.Duration(i*i) * 6 * time.Millisecond) // moments that differ, nothing is measured
		s.kill()
		target, err := os.Readlink(filepath.Join(data, "current"))
		if err != nil {
			if complete {
				t.Fatalf("the version is gone: %v", err)
			}
			continue
		}
		complete = true
		raw, err := os.ReadFile(filepath.Join(data, target, "site", bundle.InfoPath))
		var info bundle.Info
		if err == nil {
			err = json.Unmarshal(raw, &info)
		}
		if err != nil || info.Files == 0 {
			t.Fatalf("what is active is not whole: %v", err)
		}
	}
	s := serveBundle(t, data, "BINDERY_BUNDLE_URL=file://"+file)
	s.ready(t)
	if _, status := s.get(t, "/"); status != 200 {
		t.Errorf("status %d", status)
	}
	versions, err := os.ReadDir(filepath.Join(data, "versions"))
	if err != nil || len(versions) != 1 {
		t.Errorf("%d versions, error %v: what was half made stays", len(versions), err)
	}
	// Pinned, and without the bundle: the volume is enough.
	status := s.ready(t)
	s.kill()
	s = serveBundle(t, data, "BINDERY_BUNDLE_URL=https://192.0.2.1/bundle.tar.gz", "BINDERY_BUNDLE_VERSION="+status.Version)
	if status := s.ready(t); status.State != "serving" {
		t.Errorf("%+v", status)
	}
	s.kill()
	s = serveBundle(t, data, "BINDERY_BUNDLE_URL=https://192.0.2.1/bundle.tar.gz")
	if status := s.ready(t); status.State != "degraded" || status.Problem == nil || status.Problem.Code != serve.CodeUnreachable {
		t.Errorf("%+v", status)
	}
}

// swapServed replaces the bundle again and again while readers ask.
func swapServed(t *testing.T, file string) {
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other := relabel(t, good)
	shown := filepath.Join(t.TempDir(), "bundle.tar.gz")
	put := func(data []byte) {
		t.Helper()
		if err := os.WriteFile(shown+".new", data, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(shown+".new", shown); err != nil {
			t.Fatal(err)
		}
	}
	put(good)
	s := serveBundle(t, t.TempDir(), "BINDERY_BUNDLE_URL=file://"+shown, "BINDERY_KEEP=1")
	version := s.ready(t).SHA256
	var stop atomic.Bool
	var asked, failed atomic.Int64
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for !stop.Load() {
				for _, path := range []string{"/", "/start/quickstart", "/bindery/files.jsonl", "/api/errors.html"} {
					response, err := http.Get(s.site + path)
					if err != nil {
						failed.Add(1)
						t.Error(err)
						return
					}
					n, err := io.Copy(io.Discard, response.Body)
					response.Body.Close()
					want := 200
					if path == "/bindery/files.jsonl" {
						want = 404
					}
					if err != nil || response.StatusCode != want || n == 0 {
						failed.Add(1)
						t.Errorf("%s: status %d, %d bytes, error %v", path, response.StatusCode, n, err)
						return
					}
					asked.Add(1)
				}
			}
		})
	}
	for i := range 6 {
		before := asked.Load()
		for asked.Load() < before+50 && failed.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		put([][]byte{other, good}[i%2])
		if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		old := version
		version = s.until(t, func(status serve.Status) bool { return status.SHA256 != old }).SHA256
	}
	stop.Store(true)
	readers.Wait()
	t.Logf("6 swaps, %d requests, %d failed", asked.Load(), failed.Load())
}

// relabel gives a bundle another version.
func relabel(t *testing.T, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var units bundle.Writers
	u, err := units.Unit(&out, bundle.Text)
	if err != nil {
		t.Fatal(err)
	}
	_, err = bundle.Read(t.Context(), bytes.NewReader(data), bundle.Limits{}, func(e bundle.Entry, r io.Reader) error {
		text, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if e.Path == bundle.InfoPath {
			var info bundle.Info
			if err := json.Unmarshal(text, &info); err != nil {
				return err
			}
			info.Version = "another"
			if text, err = json.Marshal(info); err != nil {
				return err
			}
		}
		_, err = u.Add(e.Path, e.Modified, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Finish(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// fullServed gives the server a volume that is too small: it says so, ends, and
// leaves nothing behind.
func fullServed(t *testing.T, file, small string) {
	s := serveBundle(t, small, "BINDERY_BUNDLE_URL=file://"+file)
	<-s.ended
	if code := s.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(s.log.String(), "The volume is full") {
		t.Errorf("exit code %d\n%s", code, s.log)
	}
	for _, dir := range []string{"versions", "download"} {
		entries, err := os.ReadDir(filepath.Join(small, dir))
		if err != nil && !os.IsNotExist(err) || len(entries) > 0 {
			t.Errorf("%d entries left in %s, error %v", len(entries), dir, err)
		}
	}
}
