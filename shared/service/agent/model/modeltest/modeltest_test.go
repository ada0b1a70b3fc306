package modeltest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
)

// quiet is a test that only keeps what was reported.
type quiet struct {
	*testing.T
	said []string
}

func (q *quiet) Errorf(format string, args ...any) {
	q.said = append(q.said, fmt.Sprintf(format, args...))
}

const head = `"model":"m","max_tokens":10,"stream":true,`

// post makes a request by hand, and returns status and body.
func post(t *testing.T, s *modeltest.Server, body string, header http.Header) (int, string) {
	t.Helper()
	resp := begin(t, s, body, header)
	return resp.StatusCode, rest(resp)
}

// begin posts a request and returns as soon as its answer begins, rest reads what
// follows.
func begin(t *testing.T, s *modeltest.Server, body string, header http.Header) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Anthropic-Version": {"2023-06-01"}}
	for name := range header {
		r.Header.Del(name)
		if header.Get(name) != "" {
			r.Header.Set(name, header.Get(name))
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func rest(resp *http.Response) string {
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		text = append(text, " (broken)"...)
	}
	return string(text)
}

// TestFaults: what the API would refuse is refused, and fails the test.
func TestFaults(t *testing.T) {
	user := `{"role":"user","content":[{"type":"text","text":"Go"}]}`
	call := `{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"read","input":{}}]}`
	cached := `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`
	messages := func(all ...string) string { return `{` + head + `"messages":[` + strings.Join(all, ",") + `]}` }
	result := func(id string) string {
		return `{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"x"}]}`
	}
	for name, tt := range map[string]struct {
		body   string
		header http.Header
		want   string
	}{
		"no version":         {messages(user), http.Header{"Anthropic-Version": {""}}, "anthropic-version: header is required"},
		"another type":       {messages(user), http.Header{"Content-Type": {"text/plain"}}, "text/plain"},
		"no JSON":            {`{`, nil, "can't be read"},
		"another member":     {`{` + head + `"top_x":1,"messages":[` + user + `]}`, nil, "top_x"},
		"no stream":          {`{"model":"m","max_tokens":1,"messages":[` + user + `]}`, nil, "stream"},
		"no model":           {`{"stream":true,"messages":[` + user + `]}`, nil, "model is missing; max_tokens is missing"},
		"no message":         {messages(), nil, "messages is empty"},
		"an answer at first": {messages(call), nil, "roles must alternate"},
		"two of the user":    {messages(user, user), nil, "roles must alternate"},
		"an answer at last":  {messages(user, `{"role":"assistant","content":[{"type":"text","text":"x"}]}`), nil, "the last message must be the user's"},
		"an empty message":   {messages(`{"role":"user","content":[]}`), nil, "content is empty"},
		"an empty text":      {messages(`{"role":"user","content":[{"type":"text","text":" "}]}`), nil, "non-whitespace"},
		"no type":            {messages(`{"role":"user","content":[{}]}`), nil, "has no type"},
		"a member too many":  {messages(`{"role":"user","content":[{"type":"text","text":"x","id":"y"}]}`), nil, "messages.0.content.0.text.id: Extra inputs"},
		"a result of no call": {
			messages(user, `{"role":"assistant","content":[{"type":"text","text":"x"}]}`, result("t1")), nil, "unexpected tool_use_id",
		},
		"another result":       {messages(user, call, result("t2")), nil, `the call "t1" has no result`},
		"a call without one":   {messages(user, call, user), nil, `the call "t1" has no result`},
		"two results":          {messages(user, call, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"},{"type":"tool_result","tool_use_id":"t1"}]}`), nil, "two results"},
		"a text before":        {messages(user, call, `{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"t1"}]}`), nil, "must come first"},
		"an id twice":          {messages(user, call, result("t1"), call, result("t1")), nil, "is there twice"},
		"a user's call":        {messages(`{"role":"user","content":[{"type":"tool_use","id":"t1","name":"read","input":{}}]}`), nil, "a user calls"},
		"arguments of no kind": {messages(user, strings.Replace(call, `{}`, `"x"`, 1), result("t1")), nil, "valid dictionary"},
		"an unsigned thought":  {messages(user, `{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":""}]}`, user), nil, "without its signature"},
		"five breakpoints":     {messages(`{"role":"user","content":[` + strings.Repeat(cached+",", 4) + cached + `]}`), nil, "a maximum of 4 blocks"},
		"a tool's name":        {`{` + head + `"tools":[{"name":"a b","input_schema":{"type":"object"}}],"messages":[` + user + `]}`, nil, "tools.0.name"},
		"a tool twice":         {`{` + head + `"tools":[{"name":"a","input_schema":{"type":"object"}},{"name":"a","input_schema":{"type":"object"}}],"messages":[` + user + `]}`, nil, "twice"},
		"a tool's schema":      {`{` + head + `"tools":[{"name":"a","input_schema":{"type":"string"}}],"messages":[` + user + `]}`, nil, "input_schema"},
		"a system's call":      {`{` + head + `"system":[{"type":"tool_use","id":"i","name":"n","input":{}}],"messages":[` + user + `]}`, nil, "system.0 is not a text"},
	} {
		q := &quiet{T: t}
		s := modeltest.New(q, modeltest.Text("Hi").Forever())
		status, body := post(t, s, tt.body, tt.header)
		if status != 400 || !strings.Contains(body, "invalid_request_error") || len(q.said) == 0 || !strings.Contains(strings.Join(s.Faults(), "; "), tt.want) {
			t.Errorf("%s: %d %s\n%q", name, status, body, q.said)
		}
		if status, _ := post(t, s, messages(user), nil); status != 200 {
			t.Errorf("%s: a good request after it: %d", name, status)
		}
	}
}

// TestPrefix: a conversation that does not go on as it was is a fault, since no
// cache knows it.
func TestPrefix(t *testing.T) {
	turn := func(role, text string) string {
		return `{"role":"` + role + `","content":[{"type":"text","text":"` + text + `"}]}`
	}
	body := func(system string, all ...string) string {
		return `{` + head + `"system":[{"type":"text","text":"` + system + `"}],"messages":[` + strings.Join(all, ",") + `]}`
	}
	a, b, c := turn("user", "a"), turn("assistant", "b"), turn("user", "c")
	marked := strings.Replace(c, `"c"`, `"c","cache_control":{"type":"ephemeral"}`, 1)
	d, e := turn("assistant", "d"), turn("user", "e")
	other := turn("assistant", "other")
	q := &quiet{T: t}
	s := modeltest.New(q, modeltest.Text("Hi").Forever())
	for i, tt := range []struct {
		body string
		want int
	}{
		{body("s", a), 200},
		{body("s", a), 200}, // asked again
		{body("s", a, b, c), 200},
		{body("s", a, b, marked, d, e), 200}, // breakpoints move
		{body("s", a, b, c), 200},            // a turn that was lost
		{body("s", a, other, c), 200},        // and another answer to it
		{body("s", a, other, c, d, e), 200},
		{body("s", turn("user", "new")), 200},
		{body("t", turn("user", "new")), 200}, // another conversation that begins the same
		{body("u", turn("user", "new"), b, c), 400},
		{body("s", a, b, turn("user", "changed"), d, e), 400},
		{body("s", a, other, c, d, turn("user", "x"), d, e, d, e), 400},
	} {
		if status, text := post(t, s, tt.body, nil); status != tt.want {
			t.Errorf("%d: %d %s", i, status, text)
		}
	}
	if len(q.said) != 3 || !strings.Contains(q.said[0], "tools or the system text changed") || !strings.Contains(q.said[1], "its prefix changed") {
		t.Errorf("%q", q.said)
	}
}

// TestTooLong: after it, a conversation may leave out some of what was said.
func TestTooLong(t *testing.T) {
	s := modeltest.New(t, modeltest.Text("Hi").Times(2), modeltest.TooLong(), modeltest.Text("Hi").Forever())
	ask := func(results ...string) int {
		messages := []string{`{"role":"user","content":[{"type":"text","text":"Go"}]}`}
		for i, r := range results {
			messages = append(messages, fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"read","input":{}}]}`, i),
				fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%q}]}`, i, r))
		}
		status, _ := post(t, s, `{`+head+`"messages":[`+strings.Join(messages, ",")+`]}`, nil)
		return status
	}
	for i, tt := range []struct {
		results string
		want    int
	}{{"", 200}, {"long", 200}, {"long,long", 400}, {"gone,long", 200}, {"gone,long,long", 200}} {
		if got := ask(strings.FieldsFunc(tt.results, func(r rune) bool { return r == ',' })...); got != tt.want {
			t.Errorf("%d: %d, want %d", i, got, tt.want)
		}
	}
	if len(s.Faults()) > 0 {
		t.Error(s.Faults())
	}
}

// TestScript: steps that repeat, that look at the request, and that are missing.
func TestScript(t *testing.T) {
	q := &quiet{T: t}
	n := 0
	var s *modeltest.Server
	s = modeltest.New(q,
		modeltest.Text("one").Times(2),
		modeltest.Func(func(r model.Request) modeltest.Step {
			n++
			return modeltest.Text(fmt.Sprint(n, r.Messages[0].Content[0].Text, len(s.Requests())))
		}).Times(2),
		modeltest.Text("four").When(func(r model.Request) error { return errors.New("it is another request") }),
	)
	ask := func() string {
		_, body := post(t, s, `{`+head+`"messages":[{"role":"user","content":[{"type":"text","text":"Go"}]}]}`, nil)
		return body
	}
	for i, want := range []string{"one", "one", "1Go3", "2Go4", "it is another request", "has no step"} {
		if got := ask(); !strings.Contains(got, want) {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
	if len(q.said) != 2 || s.Left() != 0 || len(s.Requests()) != 6 {
		t.Errorf("%q, %d left, %d requests", q.said, s.Left(), len(s.Requests()))
	}
	s.Add(modeltest.Text("more").Forever(), modeltest.Text("never"))
	if s.Left() != 2 || !strings.Contains(ask(), "more") || !strings.Contains(ask(), "more") || s.Left() != 1 {
		t.Errorf("%d left", s.Left())
	}
}

func TestKey(t *testing.T) {
	s := modeltest.New(t, modeltest.Text("Hi").Forever())
	s.Key = "secret"
	good := `{` + head + `"messages":[{"role":"user","content":[{"type":"text","text":"Go"}]}]}`
	for header, want := range map[string]int{"": 401, "X-Api-Key: secret": 200, "X-Api-Key: other": 401, "Authorization: Bearer secret": 200} {
		h := http.Header{}
		if name, value, ok := strings.Cut(header, ": "); ok {
			h.Set(name, value)
		}
		if status, _ := post(t, s, good, h); status != want {
			t.Errorf("%q: %d, want %d", header, status, want)
		}
	}
}

// TestStreamsEnd: one that stalls ends with its caller or the server, and one
// that is cut ends without its end.
func TestStreamsEnd(t *testing.T) {
	s, err := modeltest.Start(modeltest.NewHandler(modeltest.Text("Hello").Cut(100), modeltest.Text("Hello").Dripping(200, time.Millisecond), modeltest.Text("Hello").Stalling(100)))
	if err != nil {
		t.Fatal(err)
	}
	good := `{` + head + `"messages":[{"role":"user","content":[{"type":"text","text":"Go"}]}]}`
	if status, body := post(t, s, good, nil); status != 200 || len(body) != 100+len(" (broken)") {
		t.Errorf("%d, %d bytes", status, len(body))
	}
	if status, body := post(t, s, good, nil); status != 200 || !strings.HasSuffix(body, "{\"type\":\"message_stop\"}\n\n") {
		t.Errorf("%d, %s", status, body)
	}
	resp := begin(t, s, good, nil)
	go s.Close()
	if body := rest(resp); resp.StatusCode != 200 || !strings.HasSuffix(body, " (broken)") {
		t.Errorf("%d, %d bytes", resp.StatusCode, len(body))
	}
}

// TestCache: what a prompt costs follows its breakpoints.
func TestCache(t *testing.T) {
	s := modeltest.New(t, modeltest.Calls(modeltest.Call{Name: "read", Input: map[string]any{}}).Times(3))
	c, err := model.New(model.Options{Base: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("All of this stays the same. ", 50)
	r := model.Request{
		Model: "m", MaxTokens: 10, System: []model.Block{{Text: long}},
		Tools:    []model.Tool{{Name: "read", InputSchema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []model.Message{{Role: model.User, Content: []model.Block{{Text: long, Cache: true}}}},
	}
	var before model.Usage
	for i := range 3 {
		a, err := c.Ask(t.Context(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if u := a.Usage; i > 0 && (u.CacheRead != before.CacheRead+before.CacheWrite || u.CacheWrite == 0 || u.Input != 0) || i == 0 && (u.CacheRead != 0 || u.CacheWrite < 700) {
			t.Errorf("turn %d: %+v after %+v", i, u, before)
		}
		before = a.Usage
		r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Content: a.Content},
			model.Message{Role: model.User, Content: []model.Block{{Type: model.TypeToolResult, ToolUseID: a.Content[0].ID, Content: long, Cache: true}}})
	}
}
