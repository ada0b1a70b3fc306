package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bindery-docs/bindery/shared/base/hosts"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
	"github.com/bindery-docs/bindery/shared/service/preview"
	"github.com/bindery-docs/bindery/shared/service/server"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

func TestMain(m *testing.M) {
	if island.IsWorker(os.Getenv) || server.IsChild(os.Getenv) {
		main()
	}
	testscript.Main(m, map[string]func(){"bindery": func() { process(5 * time.Minute) }})
}

// TestScripts runs testdata/script: each file is a session of a user, against
// a real `bindery up` or an API that behaves badly.
func TestScripts(t *testing.T) {
	p := scripts(t)
	if outside.Short(t) { // the race detector is slow: only scripts with much concurrency
		p.Dir = ""
		for _, name := range []string{"run", "jobs", "webhook", "pullrequest"} {
			p.Files = append(p.Files, filepath.Join("testdata", "script", name+".txtar"))
		}
	}
	testscript.Run(t, p)
}

// A whole job on a real forge, from flags to the page of its pull request: the
// script of the fake one.
func TestPullRequestOnGitea(t *testing.T) {
	outside.Long(t, "starts a forge")
	g := forgetest.NewGitea(t)
	t.Run("", func(t *testing.T) {
		p := scripts(t)
		p.Dir, p.Files = "", []string{"testdata/script/pullrequest.txtar"}
		p.Cmds["forge"] = func(ts *testscript.TestScript, neg bool, args []string) {
			onForge(ts, neg, args, g, g.URL, g.User, g.Token, g.Token)
		}
		testscript.Run(t, p)
	})
	for path, want := range map[string]string{"": "Spell widgets right", ".diff": "+Acme makes widgets."} {
		res, err := http.Get(g.URL + "/" + g.User + "/docs/pulls/1" + path)
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(page), want) {
			t.Errorf("the page of the pull request%s: status %d, %v, and not %q in %d bytes", path, res.StatusCode, err, want, len(page))
		}
	}
}

// scripts are what runs the sessions of testdata/script.
func scripts(t *testing.T) testscript.Params {
	proxy := new(tlsProxy)
	return testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"await":    await,
			"source":   source,
			"setenv":   setenv,
			"truncate": truncate,
			"answer":   answer,
			"agents":   agents,
			"nokey":    noKey,
			"rsakey":   rsaKey,
			"forge":    startForge,
			"model":    startModel,

			"tlsproxy":   proxy.start,
			"passed":     proxy.passed,
			"calledfrom": proxy.calledFrom,
		},
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Values[testingKey{}] = t
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, "user-cache"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "user-config"))
			return nil
		},
	}
}

// await waits until a file is there: await FILE
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s did not appear", args[0])
		}
	}
}

// source sets the environment from a file of assignments: source FILE
func source(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: source FILE")
	}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			ts.Setenv(name, value)
		}
	}
}

// setenv sets a variable from the standard output of the last command, or
// from a field of the JSON there, or of the first in its list: setenv NAME [FIELD]
func setenv(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: setenv NAME [FIELD]")
	}
	value := strings.TrimSpace(ts.ReadFile("stdout"))
	if len(args) == 2 {
		var all []map[string]any
		if !strings.HasPrefix(value, "[") {
			value = "[" + value + "]"
		}
		ts.Check(json.Unmarshal([]byte(value), &all))
		if len(all) == 0 {
			ts.Fatalf("the list is empty")
		}
		fields := all[0]
		value = fmt.Sprint(fields[args[1]])
	}
	ts.Setenv(args[0], value)
}

// rsaKey makes a private key in PEM: rsakey FILE
func rsaKey(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: rsakey FILE")
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	ts.Check(err)
	block := pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), pem.EncodeToMemory(&block), 0o600))
}

// truncate cuts a file: truncate FILE BYTES
func truncate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: truncate FILE BYTES")
	}
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}

// noKey fails if the admin key of the environment is in the last command's
// output, or in a file: nokey [FILE...]
func noKey(ts *testscript.TestScript, neg bool, args []string) {
	key := ts.Getenv("BINDERY_ADMIN_KEY")
	if neg || key == "" {
		ts.Fatalf("nokey needs BINDERY_ADMIN_KEY and can't be negated")
	}
	for _, name := range append([]string{"stdout", "stderr"}, args...) {
		if strings.Contains(ts.ReadFile(name), key) {
			ts.Fatalf("the key is in %s", name)
		}
	}
}

// answer starts an API whose jobs are what the argument says, and points the
// environment to it. The file asked is there once a job was read:
// answer running|failed|corrupt
func answer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: answer running|failed|corrupt")
	}
	job := api.ExportJob{JobID: "exp_1", Status: "running", Progress: 5, PageCount: 7, Domain: "docs.example.com", Version: "v"}
	switch args[0] {
	case "failed":
		job.Status, job.Failure = "failed", &api.Failure{Code: "invalid_site", Message: "docs.json:1:2: a name is missing"}
	case "corrupt":
		job.Status, job.Progress = "completed", 100
	}
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/bundle"):
			_ = json.NewEncoder(w).Encode(api.BundleLink{JobID: "exp_1", BundleURL: server.URL + "/file", SizeBytes: 5, SHA256: strings.Repeat("0", 64)})
		case r.URL.Path == "/file":
			_, _ = w.Write([]byte("hello"))
		default:
			_ = json.NewEncoder(w).Encode(job)
			if r.Method == http.MethodGet {
				_ = os.WriteFile(ts.MkAbs("asked"), nil, 0o644)
			}
		}
	}))
	ts.Defer(server.Close)
	ts.Setenv("BINDERY_URL", server.URL)
	ts.Setenv("BINDERY_ADMIN_KEY", "bnd_aKeyThatNobodyMaySee")
}

// Every command explains itself, with an example, and none of them shows a
// key that the environment holds.
func TestHelpEverywhere(t *testing.T) {
	getenv := func(name string) string {
		return map[string]string{"BINDERY_URL": "http://127.0.0.1:1", "BINDERY_ADMIN_KEY": "bnd_secret"}[name]
	}
	a := &app{}
	seen := 0
	var walk func(path []string)
	walk = func(path []string) {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append(path, "--help"), strings.NewReader(""), &stdout, &stderr, getenv)
		if code != exitDone || stdout.Len() == 0 || stderr.Len() != 0 {
			t.Errorf("bindery %s --help: exit code %d, %q", strings.Join(path, " "), code, &stderr)
		}
		if strings.Contains(stdout.String(), "bnd_secret") {
			t.Errorf("the help of %v shows the key", path)
		}
		cmd, _, err := a.root().Find(path)
		if err != nil {
			t.Fatal(err)
		}
		if cmd.Short == "" || !cmd.Hidden && !cmd.HasSubCommands() && cmd.Example == "" {
			t.Errorf("%s has no description, or no example", cmd.CommandPath())
		}
		seen++
		for _, below := range cmd.Commands() {
			walk(append(path[:len(path):len(path)], below.Name()))
		}
	}
	walk(nil)
	if seen < 25 {
		t.Errorf("only %d commands", seen)
	}
}

func TestServeAddresses(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{
		"index.html": "home", "guides/start.html": "start", "api/index.html": "api", "both.html": "both", "both/index.html": "both index",
		"404.html": "nothing here", "style.css": "body{}", "guides/start.md": "# start", "bindery/theme.0123456789ab.css": "body{}",
		"bindery.json": `{"redirects": [
			{"from": "/guides/start", "to": "/never", "permanent": true},
			{"from": "/legacy/:slug*", "to": "/guides/:slug*", "permanent": true},
			{"from": "/v1/:page", "to": "https://old.example/:page"},
			{"from": "/v0", "to": "/v1?page=0"},
			{"from": "/blog*", "to": "/*"},
			{"from": "/a.b/:x/c", "to": "/:x"}
		]}`,
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	handler, err := bundleHandler(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path     string
		status   int
		body     string
		location string
	}{
		{"/", 200, "home", ""},
		{"/index.html", 200, "home", ""},
		{"/guides/start", 200, "start", ""},
		{"/guides/start.html", 200, "start", ""},
		{"/guides/start/", 308, "", "/guides/start"},
		{"/guides/start.md", 200, "# start", ""},
		{"/api/", 200, "api", ""},
		{"/api", 308, "", "/api/"},
		{"/api?q=1", 308, "", "/api/?q=1"},
		{"/both", 200, "both", ""},
		{"/both/", 200, "both index", ""},
		{"/style.css", 200, "body{}", ""},
		{"/bindery/theme.0123456789ab.css", 200, "body{}", ""},
		{"/missing", 404, "nothing here", ""},
		{"/guides", 404, "nothing here", ""},
		{"/guides/", 404, "nothing here", ""},
		{"/../../etc/passwd", 404, "nothing here", ""},
		{"//evil.example/", 404, "nothing here", ""},
		{"/legacy/a/b", 308, "", "/guides/a/b"},
		{"/legacy", 308, "", "/guides"},
		{"/legacy/?q=1", 308, "", "/guides?q=1"},
		{"/legacyx", 404, "nothing here", ""},
		{"/v1/x%20y?q=1", 307, "", "https://old.example/x%20y?q=1"},
		{"/v0?q=1", 307, "", "/v1?page=0"},
		{"/v1/x/y", 404, "nothing here", ""},
		{"/blog/evil.example", 307, "", "/evil.example"},
		{"/blog-2026/x", 307, "", "/-2026/x"},
		{"/a.b/x/c", 307, "", "/x"},
		{"/aXb/x/c", 404, "nothing here", ""},
	}
	for _, test := range tests {
		r := httptest.NewRequest("GET", "http://127.0.0.1"+test.path, nil)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != test.status || test.body != "" && w.Body.String() != test.body || w.Header().Get("Location") != test.location {
			t.Errorf("%s: %d %q to %q", test.path, w.Code, w.Body, w.Header().Get("Location"))
		}
		if got := w.Header().Get("Cache-Control"); strings.Contains(got, "immutable") != strings.HasPrefix(test.path, "/bindery/") || got == "" {
			t.Errorf("%s: Cache-Control %q", test.path, got)
		}
	}
	many := httptest.NewRequest("GET", "/style.css", nil)
	many.Header.Set("Range", "bytes=0-0"+strings.Repeat(",2-2", 1000))
	w := httptest.NewRecorder()
	if handler.ServeHTTP(w, many); w.Code != 200 || w.Body.String() != "body{}" {
		t.Errorf("a thousand parts: status %d with %d bytes", w.Code, w.Body.Len())
	}
	w = httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("POST", "/", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

// A page of another site can have its name lead to this machine. It can't read a bundle
// then, which can have pages for groups only.
func TestServeAnswersForNamesOfTheMachine(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("home"), 0o644); err != nil {
		t.Fatal(err)
	}
	handler, err := bundleHandler(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	handler = preview.Named(handler, hosts.OfMachine("docs-box.lan"))
	for host, want := range map[string]int{
		"127.0.0.1:8788": 200, "localhost:8788": 200, "[::1]:8788": 200, "192.168.1.7:8788": 200, "docs-box.lan:8788": 200, "LOCALHOST.": 200,
		"evil.example": 403, "evil.example:8788": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example": 403, "": 403,
	} {
		for _, path := range []string{"/", "/missing", "/index.html"} {
			r := httptest.NewRequest("GET", path, nil)
			r.Host = host
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if refused := w.Code == http.StatusForbidden; refused != (want == 403) {
				t.Errorf("%s of %q: %d, want %d", path, host, w.Code, want)
			}
		}
	}
}

// TestServeArchive: an archive is shown by its index, without being unpacked. What
// differs from what was exported is not sent, and said.
func TestServeArchive(t *testing.T) {
	var w bundle.Writers
	var out bytes.Buffer
	var x bundle.IndexWriter
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	text := strings.Repeat("All work and no play. ", 5000)
	places := map[string]int64{}
	for _, name := range []string{"guides/start.html", "broken.html", "404.html"} {
		places[name] = int64(out.Len())
		u, err := w.Unit(&out, bundle.Text)
		must(err)
		_, err = u.Add(name, time.Time{}, []byte(name+text))
		must(err)
		must(u.Close())
		must(x.Add(u.Rows(), places[name]))
	}
	x.AddRedirects([]bundle.Redirect{{From: "/old", To: "/guides/start"}})
	_, root, err := x.Write(&w, &out, int64(out.Len()), bundle.Info{})
	must(err)
	data := bundle.AppendFooter(out.Bytes(), bundle.Footer{Root: root, Lists: int64(out.Len())})
	data[(places["broken.html"]+places["404.html"])/2] ^= 1
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	must(os.WriteFile(file, data, 0o644))
	var said bytes.Buffer
	a := &app{stderr: &said}
	handler, done, err := a.archiveHandler(t.Context(), file)
	must(err)
	defer done()
	for _, c := range []struct {
		path, location string
		status         int
		body           string
	}{
		{"/guides/start", "", 200, "guides/start.html" + text},
		{"/guides/start/", "/guides/start", 308, ""},
		{"/old?q=1", "/guides/start?q=1", 307, ""},
		{"/nowhere", "", 404, "404.html" + text},
		{"/broken", "", 500, "This page can't be read just now.\n"},
	} {
		got := httptest.NewRecorder()
		handler.ServeHTTP(got, httptest.NewRequest("GET", c.path, nil))
		if got.Code != c.status || got.Body.String() != c.body || got.Header().Get("Location") != c.location {
			t.Errorf("%s: %d, %.40q to %q", c.path, got.Code, got.Body, got.Header().Get("Location"))
		}
		if cached := got.Header().Get("Cache-Control"); cached != "no-cache" && cached != "no-store" {
			t.Errorf("%s: Cache-Control %q", c.path, cached)
		}
	}
	if !strings.Contains(said.String(), "broken.html can't be read") {
		t.Errorf("said: %s", said.String())
	}
	must(os.WriteFile(file, data[:len(data)-1], 0o644))
	if _, _, err := a.archiveHandler(t.Context(), file); !errors.Is(err, bundle.ErrNoIndex) {
		t.Errorf("an archive without a footer: %v", err)
	}
}

// TestServeCompresses: text is compressed for those who take it so, and what is
// compressed already is sent as it is; a part of a file is that of the file.
func TestServeCompresses(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat("All work and no play. ", 500)
	for _, name := range []string{"index.html", "404.html", "style.css", "app.js", "data.json", "a.svg", "list.txt", "a.png", "font.woff2"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	handler, err := bundleHandler(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, accept, byteRange, want string
		status                        int
	}{
		{"/", "gzip, br", "", "gzip", 200},
		{"/nowhere", "gzip", "", "gzip", 404},
		{"/style.css", "gzip", "", "gzip", 200},
		{"/app.js", "gzip", "", "gzip", 200},
		{"/data.json", "gzip", "", "gzip", 200},
		{"/a.svg", "gzip", "", "gzip", 200},
		{"/list.txt", "gzip", "", "gzip", 200},
		{"/a.png", "gzip", "", "", 200},
		{"/font.woff2", "gzip", "", "", 200},
		{"/", "", "", "", 200},
		{"/", "gzip;q=0", "", "", 200},
		{"/list.txt", "gzip", "bytes=0-99", "", 206},
	} {
		r := httptest.NewRequest("GET", c.path, nil)
		if c.accept != "" {
			r.Header.Set("Accept-Encoding", c.accept)
		}
		if c.byteRange != "" {
			r.Header.Set("Range", c.byteRange)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if got := w.Header().Get("Content-Encoding"); got != c.want || w.Code != c.status {
			t.Errorf("%s for %q: %d, encoded as %q, want %d and %q", c.path, c.accept, w.Code, got, c.status, c.want)
			continue
		}
		body, want := io.Reader(w.Body), text
		if c.want == "gzip" {
			if body, err = gzip.NewReader(w.Body); err != nil {
				t.Fatal(err)
			}
		}
		if c.byteRange != "" {
			want = text[:100]
		}
		if got, err := io.ReadAll(body); err != nil || string(got) != want {
			t.Errorf("%s: %d bytes, %v", c.path, len(got), err)
		}
	}
}

// TestDeclaredSizes: serve and diff refuse an archive that declares too large a file before
// they unpack or compare any of it.
func TestDeclaredSizes(t *testing.T) {
	archive := harness.TooLarge(t)
	for _, args := range [][]string{{"diff", archive, archive}, {"serve", archive, "--addr", "127.0.0.1:0"}} {
		var said bytes.Buffer
		code := run(t.Context(), args, strings.NewReader(""), &said, &said, func(string) string { return "" })
		if code != exitError || !strings.Contains(said.String(), "107374182400 bytes") {
			t.Errorf("%s: code %d\n%s", args[0], code, &said)
		}
	}
}

// TestServe has the program show a folder until it is told to end.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("home"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, stdout := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve", dir, "--addr", "127.0.0.1:0"}, strings.NewReader(""), stdout, io.Discard, func(string) string { return "" })
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(line, " is at ")
	address, _, _ := strings.Cut(rest, " ")
	if !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Fatalf("it says %q", line)
	}
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err != nil || string(body) != "home" {
		t.Errorf("%q, %v", body, err)
	}
	cancel()
	if code := <-ended; code != exitDone {
		t.Errorf("exit code %d", code)
	}
}

func TestEndOfAKey(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"":                     {},
		"90d":                  now.AddDate(0, 0, 90),
		"12h":                  now.Add(12 * time.Hour),
		"2027-01-31T00:00:00Z": time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC),
	} {
		if got, err := end(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
	for _, text := range []string{"soon", "-1d", "0d", "-5h", "2027-01-31", "1.5d"} {
		if got, err := end(text, now); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestSizes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 999: "999 bytes", 1000: "1.0 kB", 1_234_567: "1.2 MB", 999_960: "1.0 MB", 20 << 30: "21.5 GB"} {
		if got := size(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

// scriptT has what a forge for tests needs of a *testing.T: its clean-ups are the
// script's.
type scriptT struct {
	testing.TB
	ts *testscript.TestScript
}

func (s scriptT) Cleanup(fn func()) { s.ts.Defer(fn) }

// startForge starts a fake forge: forge FOLDER
func startForge(ts *testscript.TestScript, neg bool, args []string) {
	f := forgetest.New(scriptT{ts.Value(testingKey{}).(testing.TB), ts})
	onForge(ts, neg, args, f, f.URL, f.User, f.Token, "s3cr3t")
}

// onForge writes a folder to a forge's repository, whose address, host, user and
// token are in REPOSITORY, FORGE_HOST, FORGE_USER and the file token. FORGE_SECRET
// is what of the token must never be shown.
func onForge(ts *testscript.TestScript, neg bool, args []string, f forgetest.Target, address, user, token, secret string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: forge FOLDER")
	}
	files := map[string]string{}
	root := ts.MkAbs(args[0])
	ts.Check(filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, name)
		files[filepath.ToSlash(rel)] = ts.ReadFile(name)
		return err
	}))
	f.Write("main", files)
	ts.Setenv("REPOSITORY", f.Repository().URL)
	ts.Setenv("FORGE_HOST", strings.TrimPrefix(address, "http://"))
	ts.Setenv("FORGE_USER", user)
	ts.Setenv("FORGE_SECRET", secret)
	ts.Check(os.WriteFile(ts.MkAbs("token"), []byte(token+"\n"), 0o600))
}

// startModel starts a model that edits a page and finishes, and writes a table of
// models that names it: model FILE
func startModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: model FILE")
	}
	m := modeltest.New(scriptT{ts.Value(testingKey{}).(testing.TB), ts},
		modeltest.Calls(modeltest.Call{Name: "edit", Input: map[string]any{"path": "index.mdx", "old": "widgits", "new": "widgets"}}),
		modeltest.Calls(modeltest.Call{Name: "finish", Input: map[string]any{"title": "Spell widgets right", "summary": "The start page said widgits."}}),
	)
	m.Key = "model-sesame"
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), fmt.Appendf(nil, `{"default": "best", "servers": {"scripted": {"base": %q, "allowHTTP": true, "auth": "x-api-key"}},
"models": {"best": {"server": "scripted", "model": "scripted-1", "context": 200000, "output": 8000}}}`, m.URL), 0o600))
	ts.Setenv("BINDERY_MODEL_KEY", m.Key)
}

// testingKey is the key of the test in the values of a script's environment.
type testingKey struct{}
