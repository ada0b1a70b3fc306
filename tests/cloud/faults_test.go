package cloud

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/s3store"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/tests/harness"
)

// What happens at a call that a step makes.
const (
	killedBefore = "killed before"
	killedAfter  = "killed after"
	throttled    = "throttled"
	exhausted    = "throttled beyond all tries"
	answerLost   = "answer lost"
	doubled      = "doubled, the first waits for the second"
	late         = "left without an answer until another has one"
)

// step is the process of a function, such as one that runs a step of the workflow.
type step struct {
	pid      int
	function string
}

// faultyExports exports one snapshot again and again, and each time something
// happens to steps of it: a process is killed, calls are throttled or lose
// their answer, an invocation is doubled. Each job is completed, with the same
// bundle. BINDERY_FAULTS is how many exports, BINDERY_FAULTS_SEED which.
func (d *deployment) faultyExports(t *testing.T) {
	seed, exports := faultsWanted(t, 8, 100) // all that there are, nobody could wait for
	m := &meddler{d: d, of: isStep, steps: make(map[string]*step)}
	// An organisation of its own, whose usage nothing else moves.
	m.org = d.organisation(t, admin.PlanEnterprise, "steps.example.com").ID
	defer func(key string) { d.Key = key }(d.Key)
	d.Key = d.newKey(t, m.org)
	d.publish(t, harness.MadeSite(t, 40), "steps.example.com")
	d.proxy.setMeddle(m.meddle)
	defer d.proxy.setMeddle(nil)

	id := m.export(t, nil)
	want, calls := m.bundle(t, id), m.calls
	if calls < 50 {
		t.Fatalf("the steps of an export make only %d calls", calls)
	}
	t.Logf("%d calls of steps; %d exports, BINDERY_FAULTS_SEED=%d", calls, exports, seed)
	before := m.usage(t)
	hits := make(map[string]int)
	for i := range exports {
		random := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
		// One death, which the workflow heals for any task, and one of the others each.
		plan := map[int]string{1 + random.IntN(calls): []string{killedBefore, killedAfter}[i%2]}
		for _, fault := range []string{throttled, []string{exhausted, answerLost}[i/2%2], doubled} {
			plan[1+random.IntN(calls)] = fault
		}
		id := m.export(t, plan)
		if got := m.bundle(t, id); got != want {
			t.Errorf("export %d, after %q: the bundle is %s, want %s", i, m.hit, got, want)
		}
		for _, hit := range m.hit {
			hits[hit]++
		}
	}
	after := m.usage(t)
	if n := after.Exports - before.Exports; n != int64(exports) || after.Pages-before.Pages != 40*n {
		t.Errorf("%d exports are counted as %d, with %d pages", exports, n, after.Pages-before.Pages)
	}
	for _, hit := range slices.Sorted(maps.Keys(hits)) {
		t.Logf("%3d %s", hits[hit], hit)
	}
	if len(hits) == 0 {
		t.Error("no fault was met")
	}
}

// faultsWanted reads which cases are run: BINDERY_FAULTS_SEED, and BINDERY_FAULTS,
// how many. It skips the test where the process of a call can't be found.
func faultsWanted(t *testing.T, usual, all int) (seed, cases int) {
	t.Helper()
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("not run: which process makes a call is read from /proc")
	}
	number := func(name string, usual int) int {
		switch text := os.Getenv(name); text {
		case "":
			return usual
		case "all":
			return all
		default:
			n, err := strconv.Atoi(text)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return n
		}
	}
	return number("BINDERY_FAULTS_SEED", 1), number("BINDERY_FAULTS", usual)
}

// meddler stands between functions and the cloud.
type meddler struct {
	d   *deployment
	org string
	of  *regexp.Regexp // the functions that it meddles with
	// again invokes a function once more; nil does so for a step of job.
	again func(function string)
	// held is called where an invocation is late, which waits for release.
	held    func()
	release chan struct{}

	mu    sync.Mutex
	steps map[string]*step // by the address that a connection comes from
	job   string           // the one that is exported
	plan  map[int]string
	calls int
	hit   []string
	// exhaust is the call that is throttled until its step gives up.
	exhaust string
	doubles sync.WaitGroup
}

// export exports the newest snapshot, and waits for its job and for all that was
// doubled.
func (m *meddler) export(t *testing.T, plan map[int]string) string {
	t.Helper()
	m.mu.Lock()
	m.plan, m.calls, m.hit, m.job, m.exhaust = plan, 0, nil, "", ""
	m.mu.Unlock()
	j, err := m.d.admin.StartExport(t.Context(), admin.Caller{OrganisationID: m.org}, admin.StartExport{Domain: "steps.example.com", Fresh: true})
	if err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	m.job = j.ID
	m.mu.Unlock()
	for deadline := time.Now().Add(3 * time.Minute); !j.Status.Final(); time.Sleep(200 * time.Millisecond) {
		if j, err = m.d.admin.FindExport(t.Context(), j.ID); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatalf("the job is still %+v", j)
		}
	}
	m.doubles.Wait()
	return j.ID
}

// bundle is the digest of a job's bundle, beside which nothing may be left.
func (m *meddler) bundle(t *testing.T, id string) string {
	t.Helper()
	j, err := m.d.admin.FindExport(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if j.Status != admin.ExportCompleted || j.Bundle.Pages != 40 {
		t.Errorf("after %q the job is %+v, %+v", m.hit, j, j.Failure)
		return ""
	}
	objects := s3store.New(m.d.aws, s3store.Options{Sources: m.d.stack.SourcesBucket, Exports: m.d.stack.ExportsBucket})
	info, err := objects.Stat(t.Context(), job.BundleKey(id))
	if err != nil || info.Size != j.Bundle.Size {
		t.Errorf("after %q the bundle is %+v, %v", m.hit, info, err)
	}
	return j.Bundle.SHA256
}

func (m *meddler) usage(t *testing.T) admin.Usage {
	t.Helper()
	months, err := m.d.admin.Usage(t.Context(), m.org)
	if err != nil {
		t.Fatal(err)
	}
	var sum admin.Usage
	for _, u := range months {
		sum.Exports += u.Exports
		sum.Pages += u.Pages
	}
	return sum
}

// meddle answers a call, or has it forwarded.
func (m *meddler) meddle(call awsCall, w http.ResponseWriter, r *http.Request, forward http.HandlerFunc) {
	s := m.stepOf(r.RemoteAddr)
	if s == nil {
		forward(w, r)
		return
	}
	name := fmt.Sprintf("%s %s:%s %s", s.function, call.service, call.operation, call.object)
	m.mu.Lock()
	m.calls++
	fault, id := m.plan[m.calls], m.job
	delete(m.plan, m.calls)
	switch {
	case fault == "" && m.exhaust == name:
		fault = exhausted
	case fault == exhausted:
		m.exhaust = name
		time.AfterFunc(8*time.Second, m.relent) // longer than one invocation tries
		fallthrough
	case fault != "":
		m.hit = append(m.hit, fmt.Sprintf("%s: %s:%s of %s", fault, call.service, call.operation, m.of.FindString(s.function)))
	}
	again, held, release := m.again, m.held, m.release
	m.mu.Unlock()
	switch fault {
	case killedBefore:
		s.kill()
		panic(http.ErrAbortHandler)
	case killedAfter, answerLost:
		forward(httptest.NewRecorder(), r)
		if fault == killedAfter {
			s.kill()
		}
		panic(http.ErrAbortHandler)
	case throttled, exhausted:
		throttle(w, r, call)
		return
	case doubled:
		done := make(chan struct{})
		m.doubles.Go(func() {
			defer close(done)
			if again == nil {
				m.d.again(s.function, id, call.object)
				return
			}
			again(s.function)
		})
		select {
		case <-done:
		case <-time.After(15 * time.Second): // the second waits for the first, or retries
		}
	case late:
		held()
		<-release
	}
	forward(w, r)
}

// relent ends what is throttled beyond all tries.
func (m *meddler) relent() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.exhaust = ""
}

// throttle answers as a service that has no time.
func throttle(w http.ResponseWriter, r *http.Request, call awsCall) {
	_, _ = io.Copy(io.Discard, r.Body)
	if call.service == "s3" {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>")
		return
	}
	code := "ThrottlingException"
	if call.service == "dynamodb" {
		code = "ProvisionedThroughputExceededException"
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = fmt.Fprintf(w, `{"__type": %q, "message": "Rate exceeded"}`, code)
}

// again invokes a step's function for a job once more, for the shard that an
// object's key names.
func (d *deployment) again(function, id, object string) {
	j, err := d.admin.FindExport(context.Background(), id)
	if err != nil {
		return // not even made: there is nothing to do twice
	}
	shard := 1
	if found := numberInKey.FindStringSubmatch(object); found != nil {
		shard, _ = strconv.Atoi(found[1])
	}
	// Functions ignore what they do not ask for.
	d.invokeAgain(function, fmt.Appendf(nil, `{"jobId": %q, "renderer": %q, "shard": %d}`, id, j.Plan.Renderer, shard))
}

// invokeAgain invokes a function beside an invocation of it, whatever it answers.
func (d *deployment) invokeAgain(function string, event []byte) {
	request, err := http.NewRequest(http.MethodPost, d.endpoint+"/2015-03-31/functions/"+function+"/invocations", bytes.NewReader(event))
	if err != nil || d.sign(request, "lambda", event) != nil {
		return
	}
	if res, err := d.client.Do(request); err == nil {
		_ = res.Body.Close()
	}
}

var numberInKey = regexp.MustCompile(`/(\d+)\.`)

// kill ends a process; the local cloud sees that, as Lambda does.
func (s *step) kill() {
	if p, err := os.FindProcess(s.pid); err == nil {
		_ = p.Kill() // it may have ended
	}
}

// stepOf finds the process of a function by the address that a connection of it
// comes from; nil for functions that it does not meddle with.
func (m *meddler) stepOf(address string) *step {
	m.mu.Lock()
	s, known := m.steps[address]
	m.mu.Unlock()
	if known {
		return s
	}
	if s = m.d.processOf(address); s != nil && !m.of.MatchString(s.function) {
		s = nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps[address] = s
	return s
}

var isStep = regexp.MustCompile("planexport|rendershard|assemblebundle")

// socketOf finds the connection to the proxy from an address, as Linux calls it in the
// files of processes; "" for none. Other connections may have the same port on this end.
func (d *deployment) socketOf(address string) string {
	proxy, err := url.Parse(d.proxy.url)
	if err != nil {
		return ""
	}
	_, from, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	here, err := strconv.Atoi(from)
	if err != nil {
		return ""
	}
	there, err := strconv.Atoi(proxy.Port())
	if err != nil {
		return ""
	}
	// The list leaves out connections while others come and go.
	for range 20 {
		table, err := os.ReadFile("/proc/net/tcp")
		if err != nil {
			return ""
		}
		for line := range strings.Lines(string(table)) {
			f := strings.Fields(line)
			if len(f) > 9 && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", here)) && strings.HasSuffix(f[2], fmt.Sprintf(":%04X", there)) && f[9] != "0" {
				return "socket:[" + f[9] + "]"
			}
		}
	}
	return ""
}

// processOf finds the function's process that has a connection.
func (d *deployment) processOf(address string) *step {
	socket := d.socketOf(address)
	processes, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil || socket == "" {
		return nil
	}
	for _, exe := range processes {
		if program, err := os.Readlink(exe); err != nil || !strings.HasPrefix(program, d.dir) {
			continue
		}
		open, err := filepath.Glob(filepath.Dir(exe) + "/fd/*")
		if err != nil {
			continue
		}
		for _, fd := range open {
			if to, err := os.Readlink(fd); err != nil || to != socket {
				continue
			}
			s := &step{}
			if s.pid, err = strconv.Atoi(filepath.Base(filepath.Dir(exe))); err != nil {
				return nil
			}
			environ, _ := os.ReadFile(filepath.Dir(exe) + "/environ")
			for variable := range strings.SplitSeq(string(environ), "\x00") {
				if name, ok := strings.CutPrefix(variable, "AWS_LAMBDA_FUNCTION_NAME="); ok {
					s.function = name
				}
			}
			return s
		}
	}
	return nil
}
