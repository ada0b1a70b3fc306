package cloud_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

type step = func(context.Context, json.RawMessage) (json.RawMessage, error)

// echo is a step that returns its input.
func echo(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil }

func TestStepGivesWhatItReturns(t *testing.T) {
	h := cloud.Step(echo, cloud.StepOptions{})
	const input = `{"jobId":"exp_1","shards":[1,2]}`
	if got, err := h.Invoke(t.Context(), []byte(input)); err != nil || string(got) != input {
		t.Errorf("got %s, %v", got, err)
	}
	h = cloud.Step(func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }, cloud.StepOptions{})
	if got, err := h.Invoke(t.Context(), []byte(`{}`)); err != nil || string(got) != `null` {
		t.Errorf("of a step that returns nothing: %s, %v", got, err)
	}
}

// TestStepErrors pins what a workflow learns of an error: what its Retry and
// Catch go by, and nothing that callers must not see.
func TestStepErrors(t *testing.T) {
	var typed *admin.Error
	for _, c := range []struct {
		name          string
		err           error
		code, message string
	}{
		{"a code of ours", admin.Errorf(admin.CodeInvalidSite, "docs.json: no"), admin.CodeInvalidSite, "docs.json: no"},
		{"its cause stays inside", admin.Errorf(admin.CodeTemporary, "busy").Wrap(errors.New("arn:secret")), admin.CodeTemporary, "busy"},
		{"wrapped", fmt.Errorf("a: %w", admin.Errorf(admin.CodeJobNotActive, "late")), admin.CodeJobNotActive, "late"},
		{"no code", errors.New("arn:secret"), admin.CodeInternal, "the step failed with an internal error"},
		{"no time", fmt.Errorf("get: %w", context.DeadlineExceeded), admin.CodeTemporary, "the step's time ended before it was done"},
		{"ended", context.Canceled, admin.CodeTemporary, "the step's time ended before it was done"},
		{"a type that is known but empty", fmt.Errorf("%w", errors.Join(errors.New("x"), fmt.Errorf("%T", typed))), admin.CodeInternal, "the step failed with an internal error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := cloud.Step(func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, c.err }, cloud.StepOptions{})
			_, err := h.Invoke(t.Context(), []byte(`{}`))
			// The runtime takes the name of this very type's field, and of no wrapped one.
			got, ok := err.(messages.InvokeResponse_Error) //nolint:errorlint
			if !ok {
				t.Fatalf("got %T: %v", err, err)
			}
			if diff := cmp.Diff(messages.InvokeResponse_Error{Type: c.code, Message: c.message}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStepPanic(t *testing.T) {
	var log bytes.Buffer
	h := cloud.Step(brokenStep, cloud.StepOptions{Log: cloud.NewLog(&log, slog.LevelInfo)})
	_, err := h.Invoke(t.Context(), []byte(`{"jobId":"exp_1"}`))
	got, ok := err.(messages.InvokeResponse_Error) //nolint:errorlint
	if !ok || got.Type != admin.CodeInternal || !got.ShouldExit {
		t.Fatalf("got %T %+v", err, err)
	}
	if strings.Contains(got.Message, "secret") {
		t.Errorf("the message tells of the inside: %s", got.Message)
	}
	named := false
	for _, f := range got.StackTrace {
		named = named || strings.Contains(f.Label, "brokenStep") && f.Line > 0
	}
	if !named {
		t.Errorf("the stack does not name what panicked: %+v", got.StackTrace)
	}
	for _, want := range []string{`"panic":"a secret"`, `brokenStep`, `"job":"exp_1"`, `"level":"ERROR"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, &log)
		}
	}
}

func brokenStep(context.Context, json.RawMessage) (json.RawMessage, error) { panic("a secret") }

func TestExecutionEnded(t *testing.T) {
	event := func(detail string) string {
		return `{"version":"0","source":"aws.states","detail-type":"Step Functions Execution Status Change","detail":` + detail + `}`
	}
	for _, c := range []struct{ name, payload, want string }{
		{"failed", event(`{"name":"exp_1","status":"FAILED","error":"invalid_site","cause":"{}"}`), `{"jobId":"exp_1","error":{"Error":"invalid_site","Cause":"{}"}}`},
		{"timed out", event(`{"name":"exp_1","status":"TIMED_OUT"}`), `{"jobId":"exp_1","error":{"Error":"States.Timeout","Cause":""}}`},
		{"aborted", event(`{"name":"exp_1","status":"ABORTED","error":null,"cause":null}`), `{"jobId":"exp_1","error":{"Error":"ABORTED","Cause":""}}`},
		{"succeeded", event(`{"name":"exp_1","status":"SUCCEEDED"}`), ``},
		{"nameless", event(`{"status":"FAILED"}`), ``},
		{"of an agent", event(`{"name":"agj_1-2","status":"FAILED","error":"loop","cause":"c","input":"{\"projectId\":\"prj_1\",\"jobId\":\"agj_1\",\"round\":2}"}`), `{"projectId":"prj_1","jobId":"agj_1","round":2,"error":{"Error":"loop","Cause":"c"}}`},
		{"of an export, with its input", event(`{"name":"exp_1","status":"FAILED","error":"e","cause":"c","input":"{\"jobId\":\"exp_1\"}"}`), `{"jobId":"exp_1","error":{"Error":"e","Cause":"c"}}`},
		{"the workflow's own call", `{"jobId":"exp_1","error":{"Error":"internal"}}`, `{"jobId":"exp_1","error":{"Error":"internal"}}`},
		{"another event", `{"detail-type":"Scheduled Event","detail":{"name":"exp_1"}}`, `{"detail-type":"Scheduled Event","detail":{"name":"exp_1"}}`},
		{"no JSON", `x`, `x`},
	} {
		got, err := cloud.ExecutionEnded(echo)(t.Context(), json.RawMessage(c.payload))
		if (err != nil) != (c.want == "") || string(got) != c.want {
			t.Errorf("%s: got %s, %v", c.name, got, err)
		}
	}
}

// invoked is a context as the Lambda runtime makes it.
func invoked(ctx context.Context) context.Context {
	ctx = lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{AwsRequestID: "inv-1"})
	//lint:ignore SA1029 the runtime's key is a string
	return context.WithValue(ctx, "x-amzn-trace-id", "Root=1-abc-def;Parent=53995c3f42cd8ad8;Sampled=1")
}

func lines(t *testing.T, b *bytes.Buffer) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(b.String()) {
		m := map[string]any{}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		all = append(all, m)
	}
	return all
}

// TestLogAndMetrics reads what an invocation leaves in its log.
func TestLogAndMetrics(t *testing.T) {
	var out bytes.Buffer
	log := cloud.NewLog(&out, slog.LevelInfo).With("function", "rendershard")
	now := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	metrics := cloud.NewMetrics(&out, "prod", "rendershard", func() time.Time { return now })
	h := cloud.Step(func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		cloud.Annotate(ctx, slog.String("organisation", "org_1"), slog.Int("pages", 12), slog.Int64("bytes", 3456))
		log.InfoContext(ctx, "rendered", "job", "exp_9", "took", 1500*time.Microsecond)
		log.DebugContext(ctx, "not at this level")
		return nil, nil
	}, cloud.StepOptions{Log: log, Metrics: metrics})
	if _, err := h.Invoke(invoked(t.Context()), []byte(`{"jobId":"exp_1","shard":3}`)); err != nil {
		t.Fatal(err)
	}
	got := lines(t, &out)
	if len(got) != 2 {
		t.Fatalf("%d lines:\n%s", len(got), &out)
	}
	delete(got[0], "time")
	want := map[string]any{
		"level": "INFO", "msg": "rendered", "function": "rendershard", "invocation": "inv-1", "trace": "1-abc-def",
		"job": "exp_9", "organisation": "org_1", "shard": 3.0, "pages": 12.0, "bytes": 3456.0, "tookMs": 1.5,
	}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Error(diff)
	}
	if d, ok := got[1]["durationMs"].(float64); !ok || d < 0 {
		t.Errorf("the duration is %v", got[1]["durationMs"])
	}
	delete(got[1], "durationMs")
	want = map[string]any{
		"time": "2026-03-14T09:00:00Z", "level": "INFO", "msg": "invocation", "Stage": "prod", "Function": "rendershard",
		"invocation": "inv-1", "trace": "1-abc-def", "job": "exp_1", "organisation": "org_1", "shard": 3.0,
		"pages": 12.0, "bytes": 3456.0,
	}
	if diff := cmp.Diff(want, got[1]); diff != "" {
		t.Error(diff)
	}
}

// What an alarm reads is a metric of the stage; nothing else is.
func TestMetricsOfSweeps(t *testing.T) {
	var out bytes.Buffer
	now := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	h := cloud.Step(func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
		cloud.Annotate(ctx, slog.Int("pages", 12), slog.Int("sweepFailures", 2), slog.Int64("sweepAge", 3600))
		return nil, nil
	}, cloud.StepOptions{Metrics: cloud.NewMetrics(&out, "prod", "reconcile", func() time.Time { return now })})
	if _, err := h.Invoke(invoked(t.Context()), []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	got := lines(t, &out)[0]
	name := func(name, unit string) map[string]any { return map[string]any{"Name": name, "Unit": unit} }
	want := map[string]any{
		"Timestamp": float64(now.UnixMilli()),
		"CloudWatchMetrics": []any{map[string]any{
			"Namespace": "Bindery", "Dimensions": []any{[]any{"Stage"}},
			"Metrics": []any{name("SweepFailures", "Count"), name("SweepAge", "Seconds")},
		}},
	}
	if diff := cmp.Diff(want, got["_aws"]); diff != "" {
		t.Error(diff)
	}
	if got["SweepFailures"] != 2.0 || got["SweepAge"] != 3600.0 || got["pages"] != 12.0 {
		t.Errorf("the line is %v", got)
	}
}

func TestCodesOfInvocations(t *testing.T) {
	lineOf := func(h func(*cloud.Metrics) cloud.Handler, event string) map[string]any {
		var out bytes.Buffer
		_, _ = h(cloud.NewMetrics(&out, "dev", "f", nil)).Invoke(invoked(t.Context()), []byte(event))
		all := lines(t, &out)
		if len(all) != 1 {
			t.Fatalf("%d lines:\n%s", len(all), &out)
		}
		return all[0]
	}
	stepped := func(run step) func(*cloud.Metrics) cloud.Handler {
		return func(m *cloud.Metrics) cloud.Handler { return cloud.Step(run, cloud.StepOptions{Metrics: m}) }
	}
	served := func(h http.HandlerFunc) func(*cloud.Metrics) cloud.Handler {
		return func(m *cloud.Metrics) cloud.Handler {
			return cloud.HTTP(h, cloud.HTTPOptions{Metrics: m, CodeHeader: "X-Code"})
		}
	}
	for _, c := range []struct {
		name  string
		h     func(*cloud.Metrics) cloud.Handler
		event string
		code  any
	}{
		{"a step's error", stepped(func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return nil, admin.Errorf(admin.CodeTemporary, "busy")
		}), `{}`, "temporary"},
		{"a step's panic", stepped(brokenStep), `{}`, "internal"},
		{"a refusal", served(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Code", "not_found")
			w.WriteHeader(http.StatusNotFound)
		}), get, "not_found"},
		{"a fault without a code", served(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }), get, "internal"},
		{"an event of somebody else", served(func(http.ResponseWriter, *http.Request) {}), `{}`, "internal"},
		{"success", served(func(http.ResponseWriter, *http.Request) {}), get, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := lineOf(c.h, c.event)
			if got["code"] != c.code {
				t.Errorf("the code is %v, want %v", got["code"], c.code)
			}
			if got["_aws"] != nil {
				t.Errorf("it is counted as a metric: %v", got)
			}
		})
	}
}

func TestAnnotateOutsideOfInvocations(t *testing.T) {
	var out bytes.Buffer
	cloud.Annotate(t.Context(), slog.String("job", "exp_1"))
	cloud.NewLog(&out, slog.LevelInfo).InfoContext(t.Context(), "x")
	if strings.Contains(out.String(), "exp_1") {
		t.Error(out.String())
	}
}
