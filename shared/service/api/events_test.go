package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
)

// waiting starts a job on an API that looks for events every millisecond. It returns the
// job, the path of its events and what ends streams and waits.
func (w *world) waiting() (x tenant, j admin.AgentJob, path string, closing chan struct{}) {
	w.t.Helper()
	closing = make(chan struct{})
	w.options.EventPause, w.options.Closing = time.Millisecond, closing
	w.handler = api.Handler(w.options)
	x = w.bare("docs.example.com")
	j = must3(w, x, x.project.ID)
	return x, j, "/v2/agent/" + j.Project + "/job/" + j.ID + "/events", closing
}

func (w *world) note(j admin.AgentJob, text string) {
	w.t.Helper()
	must(w, 0, w.AgentNote(w.ctx, j.Current(), admin.AgentEvent{Kind: admin.AgentEventNote, Text: text}))
}

// TestWaitForEvents: a call with wait returns with the next event, with nothing after its
// time, and at once when the job is final or the server ends.
func TestWaitForEvents(t *testing.T) {
	w := newWorld(t)
	x, j, path, closing := w.waiting()
	var page api.AgentEvents
	w.do(x.get(path+"?wait=20")).want(200, "").into(&page) // there are some
	if len(page.Events) == 0 {
		t.Fatal("no events")
	}
	since := func(wait int) string { return fmt.Sprintf("%s?cursor=%s&wait=%d", path, page.NextCursor, wait) }

	began := time.Now()
	w.do(x.get(since(1))).want(200, "").into(&page)
	if took := time.Since(began); len(page.Events) != 0 || took < time.Second {
		t.Errorf("%d events after %v", len(page.Events), took)
	}
	done := make(chan api.AgentEvents)
	go func() {
		var page api.AgentEvents
		w.do(x.get(since(20))).want(200, "").into(&page)
		done <- page
	}()
	w.note(j, "hello")
	if page = <-done; len(page.Events) != 1 || page.Events[0].Text != "hello" {
		t.Errorf("%+v", page)
	}
	must(w, 0, w.FailAgent(w.ctx, j.Current(), admin.CodeLoop, "in a loop"))
	began = time.Now()
	for range 2 { // the end, and then nothing
		w.do(x.get(since(20))).want(200, "").into(&page)
	}
	if took := time.Since(began); len(page.Events) != 0 || took >= api.MaxWait {
		t.Errorf("the job is final, and the call took %v", took)
	}
	other := must3(w, x, x.project.ID)
	path = "/v2/agent/" + other.Project + "/job/" + other.ID + "/events"
	close(closing)
	began = time.Now()
	w.do(x.get(path+"?cursor=2&wait=20")).want(200, "").into(&page)
	if took := time.Since(began); len(page.Events) != 0 || page.NextCursor != "2" || took >= api.MaxWait {
		t.Errorf("the server ends, and the call took %v: %+v", took, page)
	}
	for _, bad := range []string{"0", "21", "-1", "1.5", "x", ""} {
		w.do(x.get(path+"?wait="+bad)).want(400, admin.CodeInvalid)
	}
}

// TestStreamOfEvents: a caller that accepts server-sent events gets each event once,
// until the job is final, also after it was cut off.
func TestStreamOfEvents(t *testing.T) {
	w := newWorld(t)
	x, j, path, closing := w.waiting()
	server := httptest.NewServer(w.handler)
	t.Cleanup(server.Close)
	open := func(path, last string) *http.Response {
		t.Helper()
		r := x.get(path)
		r.RequestURI = ""
		u, err := r.URL.Parse(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		r.URL, r.Host = u, u.Host
		r.Header.Set("Accept", "text/event-stream")
		if last != "" {
			r.Header.Set("Last-Event-ID", last)
		}
		res, err := server.Client().Do(r.WithContext(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
	// next reads an event, and checks that its parts agree.
	next := func(in *bufio.Reader) string {
		t.Helper()
		var id, kind, data string
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "id":
				id = value
			case "event":
				kind = value
			case "data":
				data = value
			case "":
				var e api.AgentEvent
				if err := json.Unmarshal([]byte(data), &e); err != nil || fmt.Sprint(e.N) != id || e.Kind != kind {
					t.Errorf("id %q, event %q, data %s: %v", id, kind, data, err)
				}
				return id + " " + kind + " " + e.Text
			}
		}
	}
	res := open(path, "")
	if got := res.Header.Get("Content-Type"); got != "text/event-stream" || res.StatusCode != 200 || res.Header.Get("Request-Id") == "" {
		t.Fatalf("%s, %v", res.Status, res.Header)
	}
	in := bufio.NewReader(res.Body)
	got := []string{next(in), next(in)}
	w.note(j, "hello\nthere")
	got = append(got, next(in))
	_ = res.Body.Close()
	w.note(j, "again")
	in = bufio.NewReader(open(path, "3").Body)
	got = append(got, next(in))
	must(w, 0, w.FailAgent(w.ctx, j.Current(), admin.CodeLoop, "in a loop"))
	got = append(got, next(in))
	if d := cmp.Diff([]string{"1 message mend the links", "2 phase queued", "3 note hello\nthere", "4 note again", "5 end in a loop"}, got); d != "" {
		t.Error(d)
	}
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		t.Errorf("after the end there is %q, %v", rest, err)
	}
	in = bufio.NewReader(open(path+"?cursor=2", "4").Body) // a client that connects again repeats its address
	if got := next(in); got != "5 end in a loop" {
		t.Error(got)
	}

	for bad, status := range map[string]int{path + "?cursor=x": 400, path + "?wait=0": 400, strings.Replace(path, j.ID, "agj_none", 1): 404} {
		if res := open(bad, ""); res.StatusCode != status || res.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %s, %s", bad, res.Status, res.Header.Get("Content-Type"))
		}
	}
	j = must3(w, x, x.project.ID)
	in = bufio.NewReader(open("/v2/agent/"+j.Project+"/job/"+j.ID+"/events", "").Body)
	next(in)
	close(closing)
	if rest, err := io.ReadAll(in); err != nil || !strings.Contains(string(rest), "event: phase") {
		t.Errorf("the server ends: %q, %v", rest, err)
	}

	// A function on AWS answers with JSON: it has no Closing.
	w.options.Closing = nil
	w.handler = api.Handler(w.options)
	for accept, kind := range map[string]string{"text/event-stream": "application/json", "": "application/json"} {
		r := x.get(path)
		r.Header.Set("Accept", accept)
		if res := w.do(r).want(200, ""); res.Header.Get("Content-Type") != kind {
			t.Errorf("Accept %q: %v", accept, res.Header)
		}
	}
}

// TestAcceptedStreams: JSON is the answer unless events come first.
func TestAcceptedStreams(t *testing.T) {
	w := newWorld(t)
	x, j, path, _ := w.waiting()
	must(w, 0, w.FailAgent(w.ctx, j.Current(), admin.CodeLoop, ""))
	for accept, want := range map[string]string{
		"":                                    "application/json",
		"*/*":                                 "application/json",
		"application/json, text/event-stream": "application/json",
		"text/html":                           "application/json",
		"text/event-stream":                   "text/event-stream",
		"Text/Event-Stream; q=1, */*":         "text/event-stream",
	} {
		r := x.get(path)
		r.Header.Set("Accept", accept)
		res := httptest.NewRecorder()
		w.handler.ServeHTTP(res, r)
		if res.Header().Get("Content-Type") != want || res.Code != 200 {
			t.Errorf("Accept %q: %d, %s", accept, res.Code, res.Header().Get("Content-Type"))
		}
	}
}
