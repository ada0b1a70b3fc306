package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/api"
)

const key = "bnd_thisIsTheSecretOfTheKey"

// fakeClock is time that passes only when somebody sleeps.
type fakeClock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

func newClock() *fakeClock { return &fakeClock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.slept = append(c.slept, d)
	return ctx.Err()
}

// answers serves one answer after another, the last again and again, and
// keeps what was asked.
type answers struct {
	mu   sync.Mutex
	list []http.HandlerFunc
	seen []*http.Request
}

// answerWith changes what is answered from now on. Requests that were given up
// may still be at work.
func (a *answers) answerWith(list ...http.HandlerFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = list
}

func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.seen = append(a.seen, r)
	h := a.list[0]
	if len(a.list) > 1 {
		a.list = a.list[1:]
	}
	a.mu.Unlock()
	h(w, r)
}

func say(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// hangUp breaks the connection without an answer.
func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func serve(t *testing.T, list ...http.HandlerFunc) (*Client, *answers, *fakeClock) {
	t.Helper()
	a := &answers{list: list}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	clock := newClock()
	c, err := New(Options{BaseURL: server.URL + "/", Key: key, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	return c, a, clock
}

const running = `{"jobId":"exp_1","status":"running","progress":5,"pageCount":7,"domain":"d.example","version":"v","createdAt":"2026-03-01T00:00:00Z","updatedAt":"2026-03-01T00:00:00Z"}`

func TestCallsAreRepeatedWhereThatIsSafe(t *testing.T) {
	tests := []struct {
		name    string
		answers []http.HandlerFunc
		calls   int
		ok      bool
	}{
		{"at once", []http.HandlerFunc{say(200, running)}, 1, true},
		{"unavailable for a while", []http.HandlerFunc{say(503, ""), say(502, "<html>"), say(504, ""), say(200, running)}, 4, true},
		{"over the limit for a while", []http.HandlerFunc{say(429, `{"error":"slow down"}`, "Retry-After", "7"), say(200, running)}, 2, true},
		{"a connection that breaks", []http.HandlerFunc{hangUp, say(200, running)}, 2, true},
		{"the first request still at work", []http.HandlerFunc{say(409, `{"error":"wait"}`, "Bindery-Error-Code", "idempotency_running"), say(200, running)}, 2, true},
		{"the first request still at work, for ever", []http.HandlerFunc{say(409, "", "Bindery-Error-Code", "idempotency_running")}, 5, false},
		{"for ever", []http.HandlerFunc{say(503, "")}, 5, false},
		{"asked to wait too long", []http.HandlerFunc{say(429, "", "Retry-After", "3600"), say(200, running)}, 1, false},
		{"refused", []http.HandlerFunc{say(400, `{"error":"domain: wrong"}`), say(200, running)}, 1, false},
		{"a fault inside", []http.HandlerFunc{say(500, `{"error":"oops"}`), say(200, running)}, 1, false},
		{"no JSON", []http.HandlerFunc{say(200, "<html>welcome to the hotel's network</html>")}, 1, false},
		{"a redirect", []http.HandlerFunc{say(302, "", "Location", "/elsewhere")}, 1, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, a, clock := serve(t, test.answers...)
			job, err := c.StartExport(t.Context(), api.StartExportRequest{Domain: "d.example"}, "")
			if (err == nil) != test.ok || len(a.seen) != test.calls {
				t.Errorf("%d calls, error %v; want %d calls", len(a.seen), err, test.calls)
			}
			if test.ok && job.JobID != "exp_1" {
				t.Errorf("job: %+v", job)
			}
			keys := map[string]bool{}
			for _, r := range a.seen {
				keys[r.Header.Get("Idempotency-Key")] = true
				if got := r.Header.Get("Authorization"); got != "Bearer "+key {
					t.Errorf("Authorization: %q", got)
				}
			}
			if len(keys) != 1 || keys[""] {
				t.Errorf("idempotency keys of one call: %v", keys)
			}
			if test.name == "over the limit for a while" && !cmp.Equal(clock.slept, []time.Duration{7 * time.Second}) {
				t.Errorf("slept %v", clock.slept)
			}
		})
	}
}

// A request that died holds its key for the rest of its lease; the next one
// waits it out, and comes in as soon as the key is free.
func TestALeaseIsWaitedOut(t *testing.T) {
	for _, free := range []time.Duration{3 * time.Second, 2 * time.Minute} {
		clock := newClock()
		began := clock.Now()
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if left := began.Add(2 * time.Minute).Sub(clock.Now()); clock.Now().Sub(began) < free {
				say(409, `{"error":"wait"}`, "Bindery-Error-Code", "idempotency_running", "Retry-After", fmt.Sprint(int(left.Seconds())))(w, r)
				return
			}
			say(200, running)(w, r)
		}))
		defer service.Close()
		c, err := New(Options{BaseURL: service.URL, Key: key, Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		job, err := c.StartExport(t.Context(), api.StartExportRequest{Domain: "d.example"}, "")
		if waited := clock.Now().Sub(began); err != nil || job.JobID != "exp_1" || waited > free+10*time.Second || len(clock.slept) > 40 {
			t.Errorf("a key that is free after %s: after %s and %d sleeps: %v", free, waited, len(clock.slept), err)
		}
	}
}

// An answer's fields count under their own names; those of later versions are
// passed over.
func TestAnswersAreExact(t *testing.T) {
	for answer, ok := range map[string]bool{
		strings.Replace(running, "{", `{"later":{"jobId":"x"},`, 1):      true,
		strings.Replace(running, `"jobId"`, `"JobID"`, 1):                false,
		strings.Replace(running, "}", `,"JOBID":"exp_2"}`, 1):            false,
		strings.Replace(running, "}", `,"jobId":"exp_2"}`, 1):            false,
		strings.Replace(running, "d.example", "d.\xff", 1):               false,
		strings.Replace(running, "}", `,"later":1}`, 1):                  true,
		strings.Replace(running, `"progress":5`, `"progress":"five"`, 1): false,
	} {
		c, _, _ := serve(t, say(200, answer))
		job, _, err := c.GetExport(t.Context(), "exp_1")
		if (err == nil) != ok || ok && job.JobID != "exp_1" {
			t.Errorf("%s: %+v, %v", answer, job, err)
		}
	}
}

func TestErrorSaysWhatTheServiceSays(t *testing.T) {
	c, _, _ := serve(t, say(404, `{"error":"export job not found"}`, "Bindery-Error-Code", "not_found", "Request-Id", "req-9"))
	_, _, err := c.GetExport(t.Context(), "exp_x/../y?z")
	var answer *Error
	if !errors.As(err, &answer) {
		t.Fatal(err)
	}
	want := &Error{Status: 404, Code: "not_found", Message: "export job not found", RequestID: "req-9"}
	if diff := cmp.Diff(want, answer); diff != "" {
		t.Error(diff)
	}
	if got := err.Error(); got != "export job not found (HTTP 404, not_found, request req-9)" {
		t.Error(got)
	}
}

func TestPathsAreEscaped(t *testing.T) {
	c, a, _ := serve(t, say(200, `{}`))
	_, _ = c.AgentJob(t.Context(), "p/1", "../j?x#y")
	if got := a.seen[0].URL.EscapedPath(); got != "/v2/agent/p%2F1/job/..%2Fj%3Fx%23y" {
		t.Error(got)
	}
}

// The key is in the header Authorization of requests to the API, and nowhere
// else: not in errors, not in the log, not at storage.
func TestKeyStaysSecret(t *testing.T) {
	var storage []http.Header
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		storage = append(storage, r.Header)
		_, _ = io.WriteString(w, "hello")
	}))
	defer elsewhere.Close()
	link := fmt.Sprintf(`{"jobId":"exp_1","bundleUrl":%q,"expiresAt":"2026-03-02T00:00:00Z","sizeBytes":5,"sha256":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"}`, elsewhere.URL+"/b?signature=linksecret")
	a := &answers{list: []http.HandlerFunc{hangUp, say(503, ""), say(200, link)}}
	server := httptest.NewServer(a)
	defer server.Close()
	var log bytes.Buffer
	c, err := New(Options{BaseURL: server.URL, Key: key, Clock: newClock(),
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Download(t.Context(), "exp_1", DownloadOptions{Path: t.TempDir() + "/b"}); err != nil {
		t.Fatal(err)
	}
	if len(storage) != 1 || storage[0].Get("Authorization") != "" {
		t.Errorf("storage got %v", storage)
	}
	a.answerWith(hangUp)
	_, _, err = c.GetExport(t.Context(), "exp_1")
	if err == nil || strings.Contains(err.Error(), key) || strings.Contains(log.String(), key) || strings.Contains(fmt.Sprintf("%+v", c), "linksecret") {
		t.Errorf("error %v, log:\n%s", err, &log)
	}
	if log.Len() == 0 {
		t.Error("nothing was logged")
	}
	elsewhere.Close()
	a.answerWith(say(200, link))
	if _, err := c.Download(t.Context(), "exp_1", DownloadOptions{Path: t.TempDir() + "/b"}); err == nil || strings.Contains(err.Error(), "linksecret") {
		t.Errorf("the error shows the link: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, o := range []Options{
		{BaseURL: "", Key: key}, {BaseURL: "ftp://x", Key: key}, {BaseURL: "http://", Key: key}, {BaseURL: "https://u:p@x", Key: key},
		{BaseURL: "https://x?y=1", Key: key}, {BaseURL: "https://x"}, {BaseURL: "https://x", Key: "a b"}, {BaseURL: "https://x", Key: "a\nb"},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v is taken", o)
		} else if strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "a b") {
			t.Errorf("the error shows the key: %v", err)
		}
	}
}

func job(status string, progress int, header ...string) http.HandlerFunc {
	failure := ""
	if status == "failed" {
		failure = `,"failure":{"code":"invalid_site","message":"docs.json:3:1: a comma is missing"}`
	}
	return say(200, fmt.Sprintf(`{"jobId":"exp_1","status":%q,"progress":%d,"pageCount":%d%s}`, status, progress, progress, failure), header...)
}

func TestWait(t *testing.T) {
	s := time.Second
	var growing []time.Duration // by a quarter each, up to a second, and eight seconds together
	for pause, left := s/20, 8*s; left > 0; pause = min(pause*5/4, s) {
		growing = append(growing, min(pause, left))
		left -= growing[len(growing)-1]
	}
	tests := []struct {
		name    string
		answers []http.HandlerFunc
		options WaitOptions
		slept   []time.Duration
		reads   int
		want    string // part of the error, empty for success
	}{
		{"done at once", []http.HandlerFunc{job("completed", 100)}, WaitOptions{}, nil, 1, ""},
		{"its own pace", []http.HandlerFunc{job("queued", 0), job("running", 5), job("completed", 100)}, WaitOptions{}, []time.Duration{10 * s, 10 * s}, 3, ""},
		{"the service's pace", []http.HandlerFunc{job("running", 5, "Retry-After", "1"), job("running", 6, "Retry-After", "2"), job("completed", 100)}, WaitOptions{}, []time.Duration{s, 2 * s}, 3, ""},
		{"at once, at first", []http.HandlerFunc{
			job("queued", 0, "Retry-After", "0"), job("running", 5, "Retry-After", "0"), job("running", 6, "Retry-After", "0"),
			job("running", 7, "Retry-After", "1"), job("completed", 100),
		}, WaitOptions{}, []time.Duration{s / 20, s / 16, s * 5 / 64, s}, 5, ""},
		{"at once, but not for ever faster than a second", []http.HandlerFunc{
			job("running", 5, "Retry-After", "0"),
		}, WaitOptions{Interval: s, MaxPolls: 8}, growing, len(growing) + 1, "not final after 8s"},
		{"at once, and an interval that is shorter", []http.HandlerFunc{
			job("running", 5, "Retry-After", "0"), job("completed", 100),
		}, WaitOptions{Interval: s / 100}, []time.Duration{s / 100}, 2, ""},
		{"a date", []http.HandlerFunc{
			job("running", 5, "Retry-After", "Sun, 01 Mar 2026 12:00:07 GMT"), job("completed", 100),
		}, WaitOptions{}, []time.Duration{7 * s}, 2, ""},
		{"failed", []http.HandlerFunc{job("running", 5), job("failed", 5)}, WaitOptions{Interval: s}, []time.Duration{s}, 2, "docs.json:3:1: a comma is missing (invalid_site)"},
		{"over after so many intervals", []http.HandlerFunc{job("running", 5)}, WaitOptions{Interval: s, MaxPolls: 3}, []time.Duration{s, s, s}, 4, "not final after 3s"},
		{"over after ten minutes, unless told otherwise", []http.HandlerFunc{job("running", 5)}, WaitOptions{}, slices.Repeat([]time.Duration{10 * s}, 60), 61, "not final after 10m0s"},
		{"however often it was read", []http.HandlerFunc{job("running", 5, "Retry-After", "4")}, WaitOptions{Interval: 5 * s, MaxPolls: 2}, []time.Duration{4 * s, 4 * s, 2 * s}, 4, "not final after 10s"},
		{"unknown job", []http.HandlerFunc{say(404, `{"error":"export job not found"}`)}, WaitOptions{}, nil, 1, "export job not found"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, a, clock := serve(t, test.answers...)
			var seen int
			test.options.Progress = func(api.ExportJob) { seen++ }
			_, err := c.Wait(t.Context(), "exp_1", test.options)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if diff := cmp.Diff(test.slept, clock.slept); diff != "" {
				t.Error(diff)
			}
			if len(a.seen) != test.reads {
				t.Errorf("%d reads, want %d", len(a.seen), test.reads)
			}
		})
	}
	t.Run("a service that is away for a while", func(t *testing.T) {
		away := say(503, "", "Retry-After", "1")
		c, _, clock := serve(t, away, away, away, away, away, away, away, away, job("completed", 100))
		if _, err := c.Wait(t.Context(), "exp_1", WaitOptions{Interval: 10 * s}); err != nil {
			t.Error(err)
		}
		if len(clock.slept) == 0 {
			t.Error("it did not wait")
		}
	})
	t.Run("kinds of errors", func(t *testing.T) {
		c, _, _ := serve(t, job("running", 5), job("failed", 5))
		var timeout *TimeoutError
		if _, err := c.Wait(t.Context(), "exp_1", WaitOptions{Interval: 10 * s, MaxPolls: 1}); errors.As(err, &timeout) {
			t.Error("failed counts as timed out")
		}
		c, _, _ = serve(t, say(503, ""))
		if _, err := c.Wait(t.Context(), "exp_1", WaitOptions{Interval: s, MaxPolls: 2}); !errors.As(err, &timeout) || timeout.Last == nil {
			t.Errorf("got %v", err)
		}
	})
}
