package model_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/agent/model/modeltest"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/tests/outside"
)

const secret = "sk-ant-api03-verysecretverysecret"

// waits keeps how long a client would have slept.
type waits struct{ slept []time.Duration }

func (w *waits) sleep(ctx context.Context, d time.Duration) error {
	w.slept = append(w.slept, d)
	return ctx.Err()
}

// client returns one that doesn't wait; change may change its options.
func client(t *testing.T, base string, w *waits, change func(*model.Options)) *model.Client {
	t.Helper()
	o := model.Options{Base: base, Header: http.Header{"X-Api-Key": {secret}}, Sleep: w.sleep, Random: func() float64 { return 0.5 }}
	if change != nil {
		change(&o)
	}
	c, err := model.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func asking(text string) model.Request {
	return model.Request{
		Model: "m-1", MaxTokens: 1000, System: []model.Block{{Text: "You edit documentation."}},
		Tools: []model.Tool{{Name: "read", Description: "Reads.", InputSchema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []model.Message{
			{Role: model.User, Content: []model.Block{{Text: text, Cache: true}}},
		},
	}
}

// TestConversation: a turn with two tools at once, their results, and an end.
func TestConversation(t *testing.T) {
	s := modeltest.New(t,
		modeltest.Calls(
			modeltest.Call{Name: "read", Input: map[string]any{"path": "a.mdx"}},
			modeltest.Call{Name: "read", Input: map[string]any{"path": strings.Repeat("b/", 40) + "é<&>.mdx"}},
		).Saying("I look.").Thinking("Which file?", "sig=="),
		modeltest.Text("Done."),
	)
	s.Key = secret
	c := client(t, s.URL, &waits{}, nil)
	r := asking(strings.Repeat("Please do it. ", 100))
	var heard strings.Builder
	var tools []string
	a, err := c.Ask(t.Context(), r, func(p model.Progress) {
		heard.WriteString(p.Text)
		if p.Tool != "" {
			tools = append(tools, p.Tool)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if a.Stop != model.StopToolUse || len(a.Content) != 4 || heard.String() != "I look." || len(tools) != 2 {
		t.Fatalf("%+v\nheard %q and %q", a, heard.String(), tools)
	}
	if a.Usage.CacheWrite == 0 || a.Usage.CacheRead != 0 || a.Usage.Output == 0 {
		t.Errorf("usage %+v", a.Usage)
	}
	results := model.Message{Role: model.User}
	for _, b := range a.Content[2:] {
		results.Content = append(results.Content, model.Block{Type: model.TypeToolResult, ToolUseID: b.ID, Content: string(b.Input)})
	}
	results.Content[1].Cache = true
	r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Content: a.Content}, results)
	b, err := c.Ask(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b.Stop != model.StopEndTurn || b.Content[0].Text != "Done." || b.Usage.CacheRead != a.Usage.CacheWrite {
		t.Errorf("%+v after %+v", b, a.Usage)
	}
	if got := s.Requests(); len(got) != 2 || got[1].Request.Messages[1].Content[0].Signature != "sig==" || got[0].Header.Get("Anthropic-Version") == "" {
		t.Errorf("%d requests", len(got))
	}
}

// TestEveryBrokenStreamRecovers: cut after each of its bytes, a stream is asked
// for again, and the answer is the same.
func TestEveryBrokenStreamRecovers(t *testing.T) {
	step := modeltest.Calls(modeltest.Call{Name: "read", Input: map[string]any{"path": "a.mdx"}}).Saying("Hi.").Costing(model.Usage{Input: 7, Output: 9})
	whole := func(steps ...modeltest.Step) (model.Answer, int) {
		s := modeltest.New(t, steps...)
		defer s.Close()
		a, err := client(t, s.URL, &waits{}, nil).Ask(t.Context(), asking("Go"), nil)
		if err != nil {
			t.Fatal(err)
		}
		return a, len(s.Requests())
	}
	want, _ := whole(step)
	stride := 1
	if outside.Short(t) {
		stride = 13
	}
	tried := 0
	for n := 0; ; n += stride {
		got, requests := whole(step.Cut(n), step)
		wasted := got.Wasted
		got.Wasted = model.Usage{}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("after %d bytes: %+v, want %+v", n, got, want)
		}
		if wasted.Input != 0 && wasted.Input != 7 || requests == 1 && wasted != (model.Usage{}) {
			t.Fatalf("after %d bytes: wasted %+v", n, wasted)
		}
		if requests == 1 {
			break // it was cut after its end
		}
		tried++
	}
	if tried < 50 {
		t.Errorf("only %d cuts", tried)
	}
	for _, size := range []int{1, 7, 64} {
		if got, _ := whole(step.Dripping(size, 0)); !reflect.DeepEqual(got, want) {
			t.Errorf("in pieces of %d: %+v", size, got)
		}
	}
}

func TestErrors(t *testing.T) {
	status := modeltest.Status
	for name, tt := range map[string]struct {
		step     modeltest.Step
		code     string
		kind     model.Kind
		requests int
		says     string
	}{
		"overloaded for ever":  {modeltest.Overloaded(), model.CodeUnavailable, model.Overloaded, 5, "overloaded"},
		"unavailable":          {status(503, "api_error", "x"), model.CodeUnavailable, model.Overloaded, 5, "overloaded"},
		"failing":              {modeltest.Failing(), model.CodeUnavailable, model.Failed, 5, "failed"},
		"a gateway":            {status(502, "", ""), model.CodeUnavailable, model.Failed, 5, "failed"},
		"a time-out":           {status(408, "", ""), model.CodeUnavailable, model.Failed, 5, "failed"},
		"a conflict":           {status(409, "conflict_error", "x"), model.CodeUnavailable, model.Failed, 5, "failed"},
		"rate limited":         {modeltest.RateLimited(""), model.CodeUnavailable, model.RateLimited, 5, "limit"},
		"for an hour":          {modeltest.RateLimited("3600"), model.CodeUnavailable, model.RateLimited, 1, "wait for 1h0m0s"},
		"for ages":             {modeltest.RateLimited("99999999999999999999"), model.CodeUnavailable, model.RateLimited, 1, "wait for 720h0m0s"},
		"until a date":         {modeltest.RateLimited("Fri, 31 Dec 2100 23:59:59 GMT"), model.CodeUnavailable, model.RateLimited, 1, "wait for 720h0m0s"},
		"until the past":       {modeltest.RateLimited("Fri, 31 Dec 1999 23:59:59 GMT"), model.CodeUnavailable, model.RateLimited, 5, "limit"},
		"a wait that is none":  {modeltest.RateLimited("soon"), model.CodeUnavailable, model.RateLimited, 5, "limit"},
		"a wrong key":          {status(401, "authentication_error", "invalid x-api-key "+secret), model.CodeKey, model.Key, 1, "refuses the key"},
		"no money":             {status(402, "billing_error", "x"), model.CodeKey, model.Key, 1, "refuses the key"},
		"no permission":        {status(403, "permission_error", "x"), model.CodeKey, model.Key, 1, "refuses the key"},
		"no such model":        {status(404, "not_found_error", "model: m-1"), model.CodeInvalid, model.Missing, 1, "model: m-1"},
		"invalid":              {status(400, "invalid_request_error", "max_tokens: too many"), model.CodeInvalid, model.Invalid, 1, "max_tokens: too many"},
		"too long":             {modeltest.TooLong(), model.CodeContext, model.TooLong, 1, "210000 tokens"},
		"too long with output": {status(400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"), model.CodeContext, model.TooLong, 1, ""},
		"too long, llama.cpp":  {status(400, "exceed_context_size_error", "the request exceeds the available context size"), model.CodeContext, model.TooLong, 1, ""},
		"too long, vLLM":       {status(400, "BadRequestError", "This model's maximum context length is 4096 tokens."), model.CodeContext, model.TooLong, 1, ""},
		"too large":            {status(413, "request_too_large", "x"), model.CodeContext, model.TooLong, 1, ""},
		"not there yet":        {status(501, "", ""), model.CodeInvalid, model.Invalid, 1, ""},
		"a redirect":           {status(302, "", ""), model.CodeInvalid, model.Invalid, 1, "redirect"},
		"an overloaded stream": {modeltest.Broken("overloaded_error", "Overloaded"), model.CodeUnavailable, model.Overloaded, 5, ""},
		"an invalid stream":    {modeltest.Broken("invalid_request_error", "no"), model.CodeInvalid, model.Invalid, 1, "no"},
		"no events":            {modeltest.Stream("hello"), model.CodeUnavailable, model.Broken, 5, "breaking off"},
		"always cut":           {modeltest.Text("Hello").Cut(400), model.CodeUnavailable, model.Broken, 5, "breaking off"},
	} {
		t.Run(name, func(t *testing.T) {
			s := modeltest.New(t, tt.step.Forever())
			var log bytes.Buffer
			c := client(t, s.URL, &waits{}, func(o *model.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
			a, err := c.Ask(t.Context(), asking("Go"), nil)
			var e *model.Error
			var coded store.Coded
			if !errors.As(err, &e) || !errors.As(err, &coded) || e.Kind != tt.kind || coded.Code() != tt.code {
				t.Fatalf("%+v, %v", a, err)
			}
			if n := len(s.Requests()); n != tt.requests || e.Attempts != n {
				t.Errorf("%d requests, %d attempts; want %d", n, e.Attempts, tt.requests)
			}
			if said := e.SafeMessage(); !strings.Contains(said, tt.says) || strings.Contains(said, "127.0.0.1") {
				t.Errorf("says %q", said)
			}
			if all := e.SafeMessage() + e.Error() + log.String(); strings.Contains(all, secret) {
				t.Errorf("the key is in %q", all)
			}
			if a.Content != nil || e.Kind == model.Key && e.Reason != "" {
				t.Errorf("%+v, %q", a, e.Reason)
			}
		})
	}
}

// TestWaits: full jitter below a bound that doubles, and a server's own time.
func TestWaits(t *testing.T) {
	s := modeltest.New(t, modeltest.Overloaded().Times(3), modeltest.RateLimited("8"), modeltest.RateLimited("0"), modeltest.Text("Hi"))
	w := &waits{}
	var failed []string
	_, err := client(t, s.URL, w, func(o *model.Options) { o.Attempts, o.MaxWait = 10, 9*time.Second }).Ask(t.Context(), asking("Go"), func(p model.Progress) {
		if p.Err != nil {
			failed = append(failed, fmt.Sprint(p.Attempt, p.Wait))
		}
	})
	want := []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 8*time.Second + 500*time.Millisecond, 4500 * time.Millisecond}
	if err != nil || !reflect.DeepEqual(w.slept, want) || len(failed) != 5 || failed[4] != "5 4.5s" {
		t.Errorf("%v: slept %v, told %v", err, w.slept, failed)
	}
}

// TestNoWaitBeyondTheContext: what would end after the deadline ends now.
func TestNoWaitBeyondTheContext(t *testing.T) {
	s := modeltest.New(t, modeltest.RateLimited("40").Forever())
	w := &waits{}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, err := client(t, s.URL, w, nil).Ask(ctx, asking("Go"), nil)
	var e *model.Error
	if !errors.As(err, &e) || e.RetryAfter != 40*time.Second || len(w.slept) != 0 || len(s.Requests()) != 1 {
		t.Errorf("%v, slept %v", err, w.slept)
	}
}

// TestWasted: the tokens of attempts that broke off are told, also with an error.
func TestWasted(t *testing.T) {
	cost := model.Usage{Input: 10, CacheRead: 100, Output: 40}
	begun := model.Usage{Input: 10, CacheRead: 100, Output: 1}
	cut := modeltest.Text("Hello").Costing(cost).Cut(500)
	s := modeltest.New(t, cut.Times(2), modeltest.Overloaded(), modeltest.Text("Hello").Costing(cost), cut.Forever())
	c := client(t, s.URL, &waits{}, nil)
	a, err := c.Ask(t.Context(), asking("Go"), nil)
	if err != nil || a.Usage != cost || a.Wasted != begun.Plus(begun) {
		t.Errorf("%+v, %v", a, err)
	}
	a, err = c.Ask(t.Context(), asking("Go"), nil)
	if err == nil || a.Wasted.Input != 50 || a.Usage != (model.Usage{}) {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestEnds(t *testing.T) {
	s := modeltest.New(t,
		modeltest.CutCall("write", map[string]any{"path": "a.mdx", "text": "long"}, 12),
		modeltest.Calls(modeltest.Call{Name: "write", Raw: `{"path": a}`}),
		modeltest.Refusal("It could do harm."),
		modeltest.Text("And").Stopping(model.StopPauseTurn),
		modeltest.Text("Full").Stopping(model.StopContext),
	)
	c := client(t, s.URL, &waits{}, nil)
	ask := func() model.Answer {
		a, err := c.Ask(t.Context(), asking("Go"), nil)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	var fault *model.CallError
	if a := ask(); a.Stop != model.StopMaxTokens || !errors.As(a.Content[0].Fault(), &fault) || !fault.Cut {
		t.Errorf("%+v", a)
	}
	if a := ask(); a.Stop != model.StopToolUse || !errors.As(a.Content[0].Fault(), &fault) || fault.Cut || a.Err() != nil {
		t.Errorf("%+v", a)
	}
	var e *model.Error
	if a := ask(); !errors.As(a.Err(), &e) || e.Code() != model.CodeRefused || e.SafeMessage() != "the model refused to answer: It could do harm." {
		t.Errorf("%+v, %v", a, a.Err())
	}
	if a := ask(); a.Stop != model.StopPauseTurn {
		t.Errorf("%+v", a)
	}
	if a := ask(); a.Stop != model.StopContext {
		t.Errorf("%+v", a)
	}
}

// trip is a server without a network, for tests of time.
type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func streamed(body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}
}

// TestStalls: a server that sends nothing for too long is asked again, and one
// that sends a little now and then is not.
func TestStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3}}}\n\n"
		end := "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
		n := 0
		transport := trip(func(r *http.Request) (*http.Response, error) {
			n++
			if n == 1 { // no answer at all
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			in, out := io.Pipe()
			context.AfterFunc(r.Context(), func() { out.CloseWithError(r.Context().Err()) })
			pauses := n
			go func() {
				_, _ = io.WriteString(out, begin)
				if pauses == 2 {
					return // and no more
				}
				for range 50 {
					time.Sleep(29 * time.Second)
					_, _ = io.WriteString(out, ": wait\n")
				}
				_, _ = io.WriteString(out, end)
			}()
			return streamed(in), nil
		})
		c, err := model.New(model.Options{Base: "https://model.example.com", Client: &http.Client{Transport: transport}, Stall: 30 * time.Second, Random: func() float64 { return 0 }})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var told []error
		a, err := c.Ask(t.Context(), asking("Go"), func(p model.Progress) {
			if p.Err != nil {
				told = append(told, p.Err)
			}
		})
		if took, want := time.Since(start), 60*time.Second+50*29*time.Second; err != nil || a.Stop != model.StopEndTurn || took != want {
			t.Errorf("%+v, %v after %v, want %v", a, err, took, want)
		}
		if len(told) != 2 || a.Wasted.Input != 3 || !strings.Contains(told[0].Error()+told[1].Error(), "sent nothing for too long") {
			t.Errorf("told %v, wasted %+v", told, a.Wasted)
		}
	})
}

// TestCancel: a context that ends while a server stalls, or while a wait lasts,
// ends the request at once.
func TestCancel(t *testing.T) {
	s := modeltest.New(t, modeltest.Text("Hello").Costing(model.Usage{Input: 8}).Stalling(500), modeltest.Overloaded())
	c := client(t, s.URL, &waits{}, func(o *model.Options) { o.Attempts = 1 })
	ctx, cancel := context.WithCancel(t.Context())
	a, err := c.Ask(ctx, asking("Go"), func(p model.Progress) { cancel() })
	if err != context.Canceled || a.Wasted.Input != 8 || a.Content != nil {
		t.Errorf("%+v, %v", a, err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	c = client(t, s.URL, &waits{}, func(o *model.Options) {
		o.Sleep = func(ctx context.Context, d time.Duration) error { cancel(); <-ctx.Done(); return ctx.Err() }
	})
	if _, err := c.Ask(ctx, asking("Go"), nil); !errors.Is(err, context.Canceled) || len(s.Requests()) != 2 {
		t.Errorf("%v after %d requests", err, len(s.Requests()))
	}
	// One that has ended makes no request that is answered.
	if _, err := c.Ask(ctx, asking("Go"), nil); !errors.Is(err, context.Canceled) || len(s.Requests()) != 2 {
		t.Errorf("%v after %d requests", err, len(s.Requests()))
	}
}

// TestNoRedirectGetsTheKey: another host is never asked.
func TestNoRedirectGetsTheKey(t *testing.T) {
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := httptest.NewServer(http.RedirectHandler(other.URL+"/v1/messages", status))
		_, err := client(t, s.URL, &waits{}, func(o *model.Options) { o.Client = s.Client() }).Ask(t.Context(), asking("Go"), nil)
		var e *model.Error
		if !errors.As(err, &e) || e.Status != status || e.Code() != model.CodeInvalid || asked {
			t.Errorf("%d: %v, asked: %v", status, err, asked)
		}
		s.Close()
	}
}

// TestKeysAreHidden: also one that doesn't look like a key.
func TestKeysAreHidden(t *testing.T) {
	s := modeltest.New(t,
		modeltest.Status(400, "invalid_request_error", "what is hunter2?"),
		modeltest.Broken("invalid_request_error", "what is hunter2?"),
		modeltest.Refusal("I know hunter2."),
	)
	for _, h := range []http.Header{{"X-Api-Key": {"hunter2"}}, {"Authorization": {"Bearer hunter2"}}, {"X-Own": {"hunter2"}}} {
		c := client(t, s.URL, &waits{}, func(o *model.Options) { o.Header = h })
		a, err := c.Ask(t.Context(), asking("Go"), nil)
		if text := fmt.Sprint(a.Refusal, err); strings.Contains(text, "hunter2") || !strings.Contains(text, "…") {
			t.Errorf("%v: %s", h, text)
		}
	}
}

func TestNoConnection(t *testing.T) {
	address := "http://127.0.0.1:" + outside.Port(t)
	_, err := client(t, address, &waits{}, nil).Ask(t.Context(), asking("Go"), nil)
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.Unreachable || e.Attempts != 5 || strings.Contains(e.SafeMessage(), "127") {
		t.Errorf("%v", err)
	}
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.TLS = &tls.Config{}
	s.StartTLS()
	defer s.Close()
	_, err = client(t, s.URL, &waits{}, nil).Ask(t.Context(), asking("Go"), nil)
	if !errors.As(err, &e) || e.Kind != model.Unreachable || e.Attempts != 1 || !strings.Contains(e.SafeMessage(), "certificate") {
		t.Errorf("%v", err)
	}
}

// TestServersAnswersAreCleaned: what a server says is one short line without
// keys, and what is not for a model is not an answer.
func TestServersAnswersAreCleaned(t *testing.T) {
	said := "bad " + secret + " at https://user:pass@host.example/path?sig=1234 \x1b[31m\u202e" + strings.Repeat("word ", 200) + " token AKIAIOSFODNN7EXAMPLE0 end"
	quoted, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		kind, body string
		status     int
	}{
		"a long reason":      {"application/json", `{"error":{"type":"invalid_request_error","message":` + string(quoted) + `}}`, 400},
		"as AWS says it":     {"application/json", `{"message":"` + secret + ` is not good"}`, 400},
		"a page":             {"text/html", "<h1>" + secret + "</h1>" + strings.Repeat("x", 1<<20), 400},
		"a page that is 200": {"text/html", "<h1>Sign in</h1>" + secret, 200},
		"nothing":            {"", "", 400},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", tt.kind)
			w.Header().Set("Request-Id", "req_12")
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.body)
		}))
		_, err := client(t, s.URL, &waits{}, func(o *model.Options) { o.Attempts = 1 }).Ask(t.Context(), asking("Go"), nil)
		s.Close()
		var e *model.Error
		if !errors.As(err, &e) {
			t.Fatalf("%s: %v", name, err)
		}
		for _, bad := range []string{secret, "pass@", "sig=", "\x1b", "\u202e", "\n", "AKIA", "<h1>"} {
			if strings.Contains(e.Error()+e.SafeMessage(), bad) {
				t.Errorf("%s: %q is in %q", name, bad, e.Error())
			}
		}
		if len([]rune(e.SafeMessage())) > 400 {
			t.Errorf("%s: %d characters", name, len(e.SafeMessage()))
		}
		if name == "a long reason" && !strings.Contains(e.Reason, "bad … at https://host.example/path?… ") {
			t.Errorf("reason %q", e.Reason)
		}
		if tt.status == 200 && e.Reason != "the server's answer is not a stream of events" {
			t.Errorf("%s: reason %q", name, e.Reason)
		}
		if tt.status == 400 && e.RequestID != "req_12" {
			t.Errorf("%s: request %q", name, e.RequestID)
		}
	}
}

// TestSign: each attempt is signed at last, with all its headers and the digest
// of its body.
func TestSign(t *testing.T) {
	s := modeltest.New(t, modeltest.Overloaded(), modeltest.Text("Hi"))
	n := 0
	c := client(t, s.URL, &waits{}, func(o *model.Options) {
		o.Base += "/anthropic/"
		o.Body = map[string]json.RawMessage{"anthropic_version": json.RawMessage(`"bedrock-2023-05-31"`)}
		o.Sign = func(ctx context.Context, r *http.Request, digest string) error {
			n++
			r.Header.Set("Authorization", fmt.Sprint("AWS4 ", n, " ", digest, " ", r.Header.Get("Anthropic-Version")))
			return nil
		}
	})
	if _, err := c.Ask(t.Context(), asking("Go"), nil); err != nil {
		t.Fatal(err)
	}
	for i, r := range s.Requests() {
		digest := sha256.Sum256(r.Raw)
		want := fmt.Sprint("AWS4 ", i+1, " ", hex.EncodeToString(digest[:]), " 2023-06-01")
		if got := r.Header.Get("Authorization"); got != want || r.Path != "/anthropic/v1/messages" || !strings.HasSuffix(string(r.Raw), `,"anthropic_version":"bedrock-2023-05-31"}`) {
			t.Errorf("attempt %d: %s %q, want %q", i, r.Path, got, want)
		}
	}
	broken := errors.New("no credentials")
	c = client(t, s.URL, &waits{}, func(o *model.Options) {
		o.Sign = func(context.Context, *http.Request, string) error { return broken }
	})
	if _, err := c.Ask(t.Context(), asking("Go"), nil); !errors.Is(err, broken) || len(s.Requests()) != 2 {
		t.Errorf("%v", err)
	}
}

// TestManyAtOnce: one client serves many, each with its own answer.
func TestManyAtOnce(t *testing.T) {
	s := modeltest.New(t, modeltest.Func(func(r model.Request) modeltest.Step {
		return modeltest.Text("re: "+r.Messages[0].Content[0].Text).Dripping(50, 0)
	}))
	c := client(t, s.URL, &waits{}, nil)
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			a, err := c.Ask(t.Context(), asking(fmt.Sprint("question ", i)), nil)
			if err != nil || a.Content[0].Text != fmt.Sprint("re: question ", i) {
				t.Errorf("%d: %+v, %v", i, a, err)
			}
		})
	}
	group.Wait()
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]model.Options{
		"no address":           {},
		"no scheme":            {Base: "model.example.com"},
		"another scheme":       {Base: "ftp://model.example.com"},
		"a user":               {Base: "https://me:pass@model.example.com"},
		"a query":              {Base: "https://model.example.com?key=1"},
		"in the clear":         {Base: "http://model.example.com"},
		"a path without slash": {Base: "https://model.example.com", Path: "v1"},
		"a path with a query":  {Base: "https://model.example.com", Path: "/v1?key=1"},
		"a header's name":      {Base: "https://model.example.com", Header: http.Header{"x-api-key": {secret}}},
		"a header's value":     {Base: "https://model.example.com", Header: http.Header{"X-Api-Key": {secret + "\n"}}},
		"a member of ours":     {Base: "https://model.example.com", Body: map[string]json.RawMessage{"model": json.RawMessage(`1`)}},
		"a member's value":     {Base: "https://model.example.com", Body: map[string]json.RawMessage{"thinking": json.RawMessage(`{`)}},
	} {
		if _, err := model.New(o); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, base := range map[string]string{"this machine": "http://localhost:8080", "its address": "http://[::1]:8080", "a path": "https://x.example/anthropic/"} {
		if _, err := model.New(model.Options{Base: base}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := model.New(model.Options{Base: "http://10.0.0.7", AllowHTTP: true}); err != nil {
		t.Error(err)
	}
	c, err := model.New(model.Options{Base: "https://x.example"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []model.Request{{}, {Model: "m", MaxTokens: 1}, {Model: "m", Messages: asking("x").Messages}} {
		var e *model.Error
		if _, err := c.Ask(t.Context(), r, nil); !errors.As(err, &e) || e.Code() != model.CodeInvalid {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
