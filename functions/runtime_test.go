package functions_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/tests/outside"
)

// process is a function's program that runs, with Lambda's side of its runtime
// API (AWS Lambda runtimes, custom runtimes).
type process struct {
	events  chan []byte
	answers chan outcome
	ended   chan struct{}
	log     lockedBuffer
	kill    func() error
}

// end ends the program and gives its whole log.
func (p *process) end() string {
	_ = p.kill()
	<-p.ended
	return p.log.String()
}

type outcome struct {
	body   []byte
	failed bool
}

// run starts a program. It ends with the test.
func run(t testing.TB, env []string, command ...string) *process {
	t.Helper()
	p := &process{events: make(chan []byte), answers: make(chan outcome), ended: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(p.serve))
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append([]string{
		"AWS_LAMBDA_RUNTIME_API=" + strings.TrimPrefix(server.URL, "http://"),
		"AWS_LAMBDA_FUNCTION_NAME=function", "AWS_LAMBDA_FUNCTION_VERSION=1", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512",
		"TMPDIR=" + t.TempDir(),
	}, env...)
	cmd.Stdout, cmd.Stderr = &p.log, &p.log
	if err := cmd.Start(); err != nil {
		server.Close()
		t.Fatal(err)
	}
	p.kill = cmd.Process.Kill
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.end()
		server.CloseClientConnections()
		server.Close()
		if t.Failed() {
			t.Logf("log of %s:\n%s", filepath.Base(command[len(command)-1]), p.log.String())
		}
	})
	return p
}

// serve is the runtime API.
func (p *process) serve(w http.ResponseWriter, r *http.Request) {
	const prefix = "/2018-06-01/runtime/"
	path, ok := strings.CutPrefix(r.URL.Path, prefix)
	switch {
	case !ok:
		http.NotFound(w, r)
	case path == "invocation/next":
		select {
		case event := <-p.events:
			h := w.Header()
			h.Set("Lambda-Runtime-Aws-Request-Id", "8476a536-e9f4-11e8-9739-2dfe598c3fcd")
			h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(15*time.Minute).UnixMilli(), 10))
			h.Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:us-east-1:000000000000:function:function")
			h.Set("Lambda-Runtime-Trace-Id", "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Parent=9a9197af755a6419;Sampled=1")
			_, _ = w.Write(event)
		case <-r.Context().Done():
		}
	default:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		w.WriteHeader(http.StatusAccepted)
		select {
		case p.answers <- outcome{body, strings.HasSuffix(path, "/error")}:
		case <-p.ended:
		case <-r.Context().Done():
		}
	}
}

// invoke gives the program an event and waits for what it answers.
func (p *process) invoke(t testing.TB, event []byte) ([]byte, *fault) {
	t.Helper()
	timeout := time.NewTimer(5 * time.Minute)
	defer timeout.Stop()
	select {
	case p.events <- event:
	case <-p.ended:
		t.Fatalf("the program has ended:\n%s", p.log.String())
	case <-timeout.C:
		t.Fatalf("the program asks for no event:\n%s", p.log.String())
	}
	select {
	case a := <-p.answers:
		if !a.failed {
			return a.body, nil
		}
		var f fault
		if err := json.Unmarshal(a.body, &f); err != nil {
			t.Fatalf("%v in %s", err, a.body)
		}
		return nil, &f
	case <-p.ended:
		t.Fatalf("the program has ended:\n%s", p.log.String())
	case <-timeout.C:
		t.Fatalf("the program gives no answer:\n%s", p.log.String())
	}
	return nil, nil
}

// lockedBuffer keeps what a program writes.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// build returns a function that says where each function's program is, as it is
// deployed: one that was linked for all tests, or else made by the Makefile.
func build(t testing.TB, arch string) func(name string) string {
	t.Helper()
	if dir := outside.Programs(t, "functions-"+arch); dir != "" {
		return func(name string) string { return filepath.Join(dir, name, "bootstrap") }
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "make", "--no-print-directory", "-C", "..", "functions", "ARCH="+arch, "FUNCTIONS="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return func(name string) string { return filepath.Join(dir, name, "bootstrap") }
}
