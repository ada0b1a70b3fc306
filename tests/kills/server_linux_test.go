package kills

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/server"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// killPatience is after how long something is stuck. What it bounds takes
// seconds.
const killPatience = 5 * time.Minute

// victim is a `bindery up` that is killed and started again on one data folder,
// at one address.
type victim struct {
	t    *testing.T
	data string
	// program and caller are the same file: by its name, the
	// server's processes differ from its callers' in /proc.
	program, caller string
	addr            string
	key             string
	http            *http.Client
	cmd             *exec.Cmd
	gone            chan struct{} // closed once cmd has ended
	ended           error         // how, to be read after gone
	log             *killLog
	orphans         []runningProcess // what killed servers left
	childKills      int              // of processes of exports, since the server's last start
	stuck           func()           // counts what never comes
}

// newVictim chooses a data folder and an address; begin starts the server there.
func newVictim(t *testing.T, built string) *victim {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	v := &victim{
		t: t, data: filepath.Join(dir, "data"), program: filepath.Join(dir, "server"), caller: filepath.Join(dir, "caller"),
		http: &http.Client{Transport: &http.Transport{}, Timeout: killPatience}, log: &killLog{begun: map[string]bool{}},
		stuck: func() {},
	}
	for _, name := range []string{v.program, v.caller} {
		if err := os.Link(built, name); err != nil {
			t.Fatal(err)
		}
	}
	v.addr = "127.0.0.1:" + outside.Port(t) // it must stay while nobody listens
	t.Cleanup(func() {                      // what buried has complained of
		for _, p := range processesOf(v.program) {
			_ = syscall.Kill(p.id, syscall.SIGKILL)
		}
	})
	t.Cleanup(func() {
		if v.cmd != nil {
			v.kill()
		}
		if !t.Failed() {
			v.buried()
		}
		if t.Failed() {
			t.Logf("the server's last words:\n%s", v.log.tail())
		}
	})
	return v
}

// begin starts the process.
func (v *victim) begin() {
	v.t.Helper()
	cmd := exec.Command(v.program, "up", "--data", v.data, "--addr", v.addr, "--seed")
	cmd.Stdout, cmd.Stderr = v.log, v.log
	cmd.WaitDelay = time.Minute
	if err := cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	gone := make(chan struct{})
	v.cmd, v.gone, v.childKills = cmd, gone, 0
	v.log.forget()
	go func() {
		v.ended = cmd.Wait()
		close(gone)
	}()
}

// start begins and waits until the server answers.
func (v *victim) start() {
	v.t.Helper()
	v.begin()
	u := harness.Up{Data: v.data}
	v.until("the server answers", time.Millisecond, func() bool {
		select {
		case <-v.gone:
			v.t.Fatalf("the server ended at its start: %v", v.ended)
		default:
		}
		response, err := v.http.Get("http://" + v.addr + "/openapi.json")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, response.Body)
		return response.StatusCode == http.StatusOK && u.ReadEnv() && u.URL == "http://"+v.addr
	})
	if v.key != "" && v.key != u.Key {
		v.t.Errorf("the key of the data folder is another one after a restart")
	}
	v.key = u.Key
}

// kill ends the server as a power cut would, and notes what it leaves.
func (v *victim) kill() {
	_ = v.cmd.Process.Kill()
	<-v.gone
	v.orphans = append(v.orphans, processesOf(v.program)...)
	v.http.CloseIdleConnections()
}

// stop ends the server as an operator does.
func (v *victim) stop() {
	v.t.Helper()
	_ = v.cmd.Process.Signal(os.Interrupt)
	select {
	case <-v.gone:
	case <-time.After(killPatience):
		v.t.Error("the server does not end")
		v.kill()
	}
	if v.ended != nil {
		v.t.Errorf("the server's end: %v", v.ended)
	}
	v.orphans = append(v.orphans, processesOf(v.program)...)
	v.http.CloseIdleConnections()
}

// buried checks that the processes of killed servers end by themselves.
func (v *victim) buried() {
	v.t.Helper()
	v.until("the processes of a killed server end", 5*time.Millisecond, func() bool {
		if len(v.orphans) == 0 {
			return true
		}
		alive := processesOf(v.program)
		v.orphans = slices.DeleteFunc(v.orphans, func(p runningProcess) bool {
			return !slices.ContainsFunc(alive, func(q runningProcess) bool { return p.id == q.id && p.started == q.started })
		})
		return len(v.orphans) == 0
	})
}

// until waits for what must come; the test ends where it does not.
func (v *victim) until(what string, pause time.Duration, done func() bool) {
	v.t.Helper()
	for deadline := time.Now().Add(killPatience); !done(); time.Sleep(pause) {
		if time.Now().After(deadline) {
			v.stuck()
			v.t.Fatalf("stuck, waiting until %s", what)
		}
	}
}

// child is a process that does the steps of an export, 0 where there is none.
func (v *victim) child(pick int) int {
	all := slices.DeleteFunc(processesOf(v.program), func(p runningProcess) bool { return p.parent != v.cmd.Process.Pid })
	if len(all) == 0 {
		return 0
	}
	return all[pick%len(all)].id
}

// call makes one request. It returns an error if there was no whole answer.
func (v *victim) call(method, path, body, idempotencyKey string) (int, map[string]any, error) {
	request, err := http.NewRequest(method, "http://"+v.addr+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+v.key)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if idempotencyKey != "" {
		request.Header.Set("Idempotency-Key", idempotencyKey)
	}
	response, err := v.http.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, nil, err
	}
	var answer map[string]any
	if err := json.Unmarshal(raw, &answer); err != nil {
		return 0, nil, fmt.Errorf("%s: %w", raw, err)
	}
	return response.StatusCode, answer, nil
}

// latest is the newest snapshot of the seeded domain, nil where there is none.
func (v *victim) latest() map[string]any {
	v.t.Helper()
	status, answer, err := v.call("GET", "/v1/sites/"+server.SeedDomain+"/snapshots/latest", "", "")
	if err != nil || status != http.StatusOK && status != http.StatusNotFound {
		v.t.Fatalf("the newest snapshot: %d %v %v", status, answer, err)
	}
	if status == http.StatusNotFound {
		return nil
	}
	return answer
}

// client is a run of the program as a caller.
type killClient struct {
	cmd      *exec.Cmd
	out, err bytes.Buffer
	done     chan struct{}
	code     int
}

// client starts the program as a caller of the server.
func (v *victim) client(args ...string) *killClient {
	v.t.Helper()
	c := &killClient{cmd: exec.Command(v.caller, args...), done: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), "BINDERY_URL=http://"+v.addr, "BINDERY_ADMIN_KEY="+v.key)
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.err
	if err := c.cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	go func() {
		_ = c.cmd.Wait()
		c.code = c.cmd.ProcessState.ExitCode()
		close(c.done)
	}()
	return c
}

// wait waits for the end and reports whether it was a success.
func (c *killClient) wait(v *victim) bool {
	v.t.Helper()
	select {
	case <-c.done:
	case <-time.After(killPatience):
		_ = c.cmd.Process.Kill()
		<-c.done
		v.stuck()
		v.t.Fatalf("stuck: %s\n%s", strings.Join(c.cmd.Args[1:], " "), c.err.Bytes())
	}
	return c.code == 0
}

func (c *killClient) isDone() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// answer reads what the program printed.
func (c *killClient) answer(v *victim) map[string]any {
	v.t.Helper()
	var answer map[string]any
	if err := json.Unmarshal(c.out.Bytes(), &answer); err != nil {
		v.t.Fatalf("%s: %v in %s", strings.Join(c.cmd.Args[1:], " "), err, c.out.Bytes())
	}
	return answer
}

// runningProcess is one that runs a program.
type runningProcess struct {
	id, parent int
	started    string
}

// processesOf returns those that run a program, the dead ones that nobody has waited
// for aside.
func processesOf(program string) []runningProcess {
	var all []runningProcess
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if file, err := os.Readlink(filepath.Join("/proc", e.Name(), "exe")); err != nil || file != program {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue
		}
		// After the name, in parentheses: state, parent, …, and the time of its
		// start as the 20th.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		parent, _ := strconv.Atoi(fields[1])
		all = append(all, runningProcess{id: id, parent: parent, started: fields[19]})
	}
	return all
}

// killLog takes the log of a server's lives.
type killLog struct {
	mu    sync.Mutex
	text  []byte
	line  []byte
	begun map[string]bool // executions, since the last start
}

func (l *killLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text = append(l.text, p...); len(l.text) > 1<<20 {
		l.text = slices.Clone(l.text[len(l.text)/2:])
	}
	l.line = append(l.line, p...)
	for {
		line, rest, whole := bytes.Cut(l.line, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		var record struct{ Msg, Execution string }
		if bytes.Contains(line, []byte("execution begins")) && json.Unmarshal(line, &record) == nil {
			l.begun[record.Execution] = true
		}
		l.line = slices.Clone(rest)
	}
}

// forget begins another life.
func (l *killLog) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line = nil
	clear(l.begun)
}

func (l *killLog) hasBegun(execution string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begun[execution]
}

// tail is the end of the log, without the lines of requests.
func (l *killLog) tail() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines [][]byte
	for line := range bytes.Lines(l.text) {
		if !bytes.Contains(line, []byte(`"msg":"request"`)) {
			lines = append(lines, line)
		}
	}
	return bytes.Join(lines[max(0, len(lines)-60):], nil)
}
