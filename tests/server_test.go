package tests

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

// up is a running `bindery up`.
type up struct {
	data, url, key, project string
	allowHTTP               string // whether callers may send the key to url
	cmd                     *exec.Cmd
	log                     *bytes.Buffer
}

// start runs `bindery up --seed` on data and waits until it answers. The
// process ends with the test.
func start(tb testing.TB, data string) *up {
	tb.Helper()
	return startAt(tb, data, "127.0.0.1:0")
}

// startAt is start at an address of this machine, with more flags.
func startAt(tb testing.TB, data, addr string, flags ...string) *up {
	tb.Helper()
	u := &up{data: data, log: new(bytes.Buffer)}
	_ = os.Remove(filepath.Join(data, "env"))
	u.cmd = exec.Command(bindery(tb), append([]string{"up", "--data", data, "--addr", addr, "--seed"}, flags...)...)
	u.cmd.Stdout, u.cmd.Stderr = u.log, u.log
	if err := u.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(u.kill)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if u.readEnv() {
			if response, err := http.Get(u.url + "/openapi.json"); err == nil {
				response.Body.Close()
				return u
			}
		}
		if time.Now().After(deadline) {
			u.kill()
			tb.Fatalf("bindery up does not answer:\n%s", u.log)
		}
	}
}

// readEnv reads the file that `up` writes for callers.
func (u *up) readEnv() bool {
	f, err := os.Open(filepath.Join(u.data, "env"))
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
			u.url = value
		case "BINDERY_ALLOW_HTTP":
			u.allowHTTP = value
		case "BINDERY_ADMIN_KEY":
			u.key = value
		case "BINDERY_PROJECT":
			u.project = value
		}
	}
	return u.url != "" && u.key != ""
}

// kill ends the process the hard way, as a power cut would.
func (u *up) kill() {
	if u.cmd.ProcessState == nil {
		_ = u.cmd.Process.Kill()
		_ = u.cmd.Wait()
	}
}

// stop ends the process as Ctrl-C does and checks that it ends well.
func (u *up) stop(tb testing.TB) {
	tb.Helper()
	_ = u.cmd.Process.Signal(syscall.SIGINT)
	if err := u.cmd.Wait(); err != nil {
		tb.Errorf("bindery up after Ctrl-C: %v\n%s", err, u.log)
	}
}

// inProcess runs a Bindery in this process: its tasks, to which that which fails
// jobs is added, its calls and its links, until the test ends. It closes l.
func inProcess(t *testing.T, l *local.Local, service *admin.Service, tasks map[string]asl.Task, key string) *up {
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
	return &up{url: server.URL, key: key}
}

// command runs the program as a caller of u and gives its standard output.
func (u *up) command(tb testing.TB, args ...string) ([]byte, error) {
	tb.Helper()
	cmd := exec.Command(bindery(tb), args...)
	cmd.Env = append(os.Environ(), "BINDERY_URL="+u.url, "BINDERY_ADMIN_KEY="+u.key, "BINDERY_ALLOW_HTTP="+u.allowHTTP)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Logf("bindery %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return out, err
}

// call makes one request with the admin key and reads its JSON answer.
func (u *up) call(tb testing.TB, method, path, body string) (int, map[string]any, http.Header) {
	tb.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(tb.Context(), method, u.url+path, content)
	if err != nil {
		tb.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+u.key)
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
