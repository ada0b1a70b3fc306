package harness

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/asl"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/local"
)

// Up is a running `bindery up`.
type Up struct {
	Data, URL, Key, Project string
	allowHTTP               string // whether callers may send the key to URL
	cmd                     *exec.Cmd
	Log                     *bytes.Buffer
}

// Start runs `bindery up --seed` on data and waits until it answers. The
// process ends with the test.
func Start(tb testing.TB, data string) *Up {
	tb.Helper()
	return StartAt(tb, data, "127.0.0.1:0")
}

// StartAt does what Start does, at an address of this machine and with more flags.
func StartAt(tb testing.TB, data, addr string, flags ...string) *Up {
	tb.Helper()
	u := &Up{Data: data, Log: new(bytes.Buffer)}
	_ = os.Remove(filepath.Join(data, "env"))
	u.cmd = exec.Command(Bindery(tb), append([]string{"up", "--data", data, "--addr", addr, "--seed"}, flags...)...)
	u.cmd.Stdout, u.cmd.Stderr = u.Log, u.Log
	if err := u.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(u.end)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if u.ReadEnv() {
			if response, err := http.Get(u.URL + "/openapi.json"); err == nil {
				response.Body.Close()
				return u
			}
		}
		if time.Now().After(deadline) {
			u.Kill()
			tb.Fatalf("bindery up does not answer:\n%s", u.Log)
		}
	}
}

// ReadEnv reads the file of variables that `up` writes for callers.
func (u *Up) ReadEnv() bool {
	f, err := os.Open(filepath.Join(u.Data, "env"))
	if err != nil {
		return false
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, value, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "=")
		value = strings.Trim(value, `'"`)
		switch name {
		case "BINDERY_URL":
			u.URL = value
		case "BINDERY_ALLOW_HTTP":
			u.allowHTTP = value
		case "BINDERY_ADMIN_KEY":
			u.Key = value
		case "BINDERY_PROJECT":
			u.Project = value
		}
	}
	return u.URL != "" && u.Key != ""
}

// Kill ends the process with SIGKILL, as a power cut would.
func (u *Up) Kill() {
	if u.cmd.ProcessState == nil {
		_ = u.cmd.Process.Kill()
		_ = u.cmd.Wait()
	}
}

// end ends the process as Ctrl-C does: after a kill, the processes of its exports may still
// write into the data folder while the test removes it.
func (u *Up) end() {
	if u.cmd.ProcessState != nil {
		return
	}
	if err := u.cmd.Process.Signal(syscall.SIGINT); err != nil {
		_ = u.cmd.Process.Kill()
	}
	stuck := time.AfterFunc(time.Minute, func() { _ = u.cmd.Process.Kill() })
	defer stuck.Stop()
	_ = u.cmd.Wait()
}

// Stop sends what Ctrl-C sends and checks that the process exits with 0.
func (u *Up) Stop(tb testing.TB) {
	tb.Helper()
	_ = u.cmd.Process.Signal(syscall.SIGINT)
	if err := u.cmd.Wait(); err != nil {
		tb.Errorf("bindery up after Ctrl-C: %v\n%s", err, u.Log)
	}
}

// InProcess runs Bindery's tasks, API and download links in this process until the
// test ends. One more task fails jobs that are stuck. InProcess closes l.
func InProcess(t *testing.T, l *local.Local, service *admin.Service, tasks map[string]asl.Task, key string) *Up {
	t.Helper()
	tasks[job.TaskFail] = job.Task(job.Silent(job.NewKeeper(job.Options{Admin: service, Objects: l.Objects()}).Fail))
	if err := l.Runner().Resume(context.WithoutCancel(t.Context()), tasks, local.RunnerOptions{}); err != nil {
		t.Fatal(err)
	}
	calls, links := api.Handler(api.Options{Admin: service, Objects: l.Objects()}), l.Objects().Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, local.LinkPath) {
			links.ServeHTTP(w, r)
			return
		}
		calls.ServeHTTP(w, r)
	}))
	l.SetBaseURL(server.URL)
	t.Cleanup(func() {
		server.Close()
		ended, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if err := l.Runner().Close(ended); err != nil {
			t.Error(err)
		}
		if err := l.Close(ended); err != nil {
			t.Error(err)
		}
	})
	return &Up{URL: server.URL, Key: key}
}

// Command runs the program as a caller of u and returns its standard output.
func (u *Up) Command(tb testing.TB, args ...string) ([]byte, error) {
	tb.Helper()
	cmd := exec.Command(Bindery(tb), args...)
	cmd.Env = append(os.Environ(), "BINDERY_URL="+u.URL, "BINDERY_ADMIN_KEY="+u.Key, "BINDERY_ALLOW_HTTP="+u.allowHTTP)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Logf("bindery %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return out, err
}

// Call sends one request with the admin key and decodes the JSON response.
func (u *Up) Call(tb testing.TB, method, path, body string) (int, map[string]any, http.Header) {
	tb.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(tb.Context(), method, u.URL+path, content)
	if err != nil {
		tb.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+u.Key)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	defer response.Body.Close()
	var answer map[string]any
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		tb.Fatalf("%s %s: no JSON: %v", method, path, err)
	}
	return response.StatusCode, answer, response.Header
}
