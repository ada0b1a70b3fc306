package cloud_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/cloud"
)

// seen is a request as a handler sees it.
type seen struct {
	Method, Path, Escaped, RequestURI, Query, Host, RemoteAddr, Body string
	Header                                                           http.Header
}

func look(r *http.Request) seen {
	b, _ := io.ReadAll(r.Body)
	return seen{
		Method: r.Method, Path: r.URL.Path, Escaped: r.URL.EscapedPath(), RequestURI: r.RequestURI, Query: r.URL.RawQuery,
		Host: r.Host, RemoteAddr: r.RemoteAddr, Body: string(b), Header: r.Header,
	}
}

func TestHTTPRequests(t *testing.T) {
	for _, c := range []struct {
		name, event string
		want        seen
	}{
		{
			"a path is made of its pattern and parameters, without stage and base path",
			`{"resource":"/v2/agent/{projectId}/job/{id}","path":"/base/v2/agent/prj_1/job/agj_1","httpMethod":"GET",
			  "pathParameters":{"projectId":"prj_1","id":"agj_1"},
			  "requestContext":{"stage":"prod","path":"/prod/v2/agent/prj_1/job/agj_1","identity":{"sourceIp":"192.0.2.7"}}}`,
			seen{Method: "GET", Path: "/v2/agent/prj_1/job/agj_1", RemoteAddr: "192.0.2.7:0"},
		},
		{
			"a slash in a parameter stays inside its element",
			`{"resource":"/v1/jobs/{jobId}","path":"/v1/jobs/a%2Fb","httpMethod":"GET","pathParameters":{"jobId":"a/b c?#"}}`,
			seen{Method: "GET", Path: "/v1/jobs/a/b c?#", Escaped: "/v1/jobs/a%2Fb%20c%3F%23"},
		},
		{
			"without parameters the path of the event counts",
			`{"resource":"/{proxy+}","path":"/v1/a%20b","httpMethod":"GET","pathParameters":{"proxy":"v1/a b"}}`,
			seen{Method: "GET", Path: "/v1/a b", Escaped: "/v1/a%20b"},
		},
		{
			"a parameter that is missing leaves the path of the event",
			`{"resource":"/v1/{x}","path":"/v1/y","httpMethod":"GET","pathParameters":null}`,
			seen{Method: "GET", Path: "/v1/y"},
		},
		{
			"an escape that is none stands for itself",
			`{"resource":"","path":"/v1/%zz","httpMethod":"GET"}`,
			seen{Method: "GET", Path: "/v1/%zz", Escaped: "/v1/%25zz"},
		},
		{
			"all values of headers and parameters",
			`{"resource":"/","path":"/","httpMethod":"GET","headers":{"x-one":"b","Host":"h.example"},
			  "multiValueHeaders":{"x-one":["a","b"],"Host":["h.example"]},
			  "queryStringParameters":{"q":"2"},"multiValueQueryStringParameters":{"q":["1","2"],"r":["a&b"]}}`,
			seen{Method: "GET", Path: "/", Host: "h.example", Query: "q=1&q=2&r=a%26b", Header: http.Header{"X-One": {"a", "b"}}},
		},
		{
			"single values where the event has no others",
			`{"resource":"/","path":"/","httpMethod":"GET","headers":{"x-one":"b"},"multiValueHeaders":null,"queryStringParameters":{"q":"2"}}`,
			seen{Method: "GET", Path: "/", Query: "q=2", Header: http.Header{"X-One": {"b"}}},
		},
		{
			"a body as text",
			`{"resource":"/","path":"/","httpMethod":"POST","body":"{\"domain\":\"ü\"}"}`,
			seen{Method: "POST", Path: "/", Body: `{"domain":"ü"}`},
		},
		{
			"a body in base64",
			`{"resource":"/","path":"/","httpMethod":"POST","body":"AP8=","isBase64Encoded":true}`,
			seen{Method: "POST", Path: "/", Body: "\x00\xff"},
		},
		{
			"no header stands for the address that the gateway saw",
			`{"resource":"/","path":"/","httpMethod":"GET","headers":{"X-Forwarded-For":"203.0.113.1"},
			  "requestContext":{"identity":{"sourceIp":"2001:db8::1"}}}`,
			seen{Method: "GET", Path: "/", RemoteAddr: "[2001:db8::1]:0", Header: http.Header{"X-Forwarded-For": {"203.0.113.1"}}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got seen
			h := cloud.HTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got = look(r) }), cloud.HTTPOptions{})
			if _, err := h.Invoke(t.Context(), []byte(c.event)); err != nil {
				t.Fatal(err)
			}
			if c.want.Escaped == "" {
				c.want.Escaped = c.want.Path
			}
			c.want.RequestURI = c.want.Escaped
			if c.want.Query != "" {
				c.want.RequestURI += "?" + c.want.Query
			}
			if c.want.Header == nil {
				c.want.Header = http.Header{}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

type proxyAnswer struct {
	StatusCode        int                 `json:"statusCode"`
	MultiValueHeaders map[string][]string `json:"multiValueHeaders"`
	Body              string              `json:"body"`
	IsBase64Encoded   bool                `json:"isBase64Encoded"`
}

func ask(t *testing.T, h cloud.Handler, event string) proxyAnswer {
	t.Helper()
	b, err := h.Invoke(t.Context(), []byte(event))
	if err != nil {
		t.Fatal(err)
	}
	var a proxyAnswer
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return a
}

const get = `{"resource":"/","path":"/","httpMethod":"GET"}`

func TestHTTPAnswers(t *testing.T) {
	for _, c := range []struct {
		name, event string
		handler     http.HandlerFunc
		want        proxyAnswer
	}{
		{"JSON", get, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "13")
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprint(w, `{"a":"<b>&ü"}`)
		}, proxyAnswer{202, http.Header{"Content-Type": {"application/json"}}, `{"a":"<b>&ü"}`, false}},
		{"bytes that are no text", get, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/gzip")
			_, _ = w.Write([]byte{0, 0xff})
		}, proxyAnswer{200, http.Header{"Content-Type": {"application/gzip"}}, "AP8=", true}},
		{"every value of a header", get, func(w http.ResponseWriter, r *http.Request) {
			w.Header()["X-Many"] = []string{"a", "b"}
			w.WriteHeader(http.StatusNoContent)
			_, _ = w.Write([]byte("not sent"))
		}, proxyAnswer{204, http.Header{"X-Many": {"a", "b"}}, "", false}},
		{"headers after the status are late", get, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			w.Header().Set("X-Late", "yes")
			w.WriteHeader(http.StatusOK)
		}, proxyAnswer{418, http.Header{}, "", false}},
		{"nothing", get, func(http.ResponseWriter, *http.Request) {}, proxyAnswer{200, http.Header{}, "", false}},
		{"HEAD has no body", `{"resource":"/","path":"/","httpMethod":"HEAD"}`, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, "text")
		}, proxyAnswer{200, http.Header{"Content-Type": {"text/plain"}}, "", false}},
		{"a type is found for what has none", get, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "text")
		}, proxyAnswer{200, http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, "text", false}},
		{"a panic", get, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "half")
			panic("secret")
		}, proxyAnswer{500, http.Header{"Content-Type": {"application/json"}}, `{"error":"something went wrong on our side"}` + "\n", false}},
		{"more than a function may answer", get, func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write(bytes.Repeat([]byte("x"), 6<<20))
		}, proxyAnswer{500, http.Header{"Content-Type": {"application/json"}}, `{"error":"something went wrong on our side"}` + "\n", false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, ask(t, cloud.HTTP(c.handler, cloud.HTTPOptions{}), c.event)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What a request leaves in the log can be found by each of its ids, and a panic
// with where it happened.
func TestHTTPLog(t *testing.T) {
	var out bytes.Buffer
	log := cloud.NewLog(&out, slog.LevelInfo)
	h := cloud.HTTP(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cloud.Annotate(r.Context(), slog.String("organisation", "org_1"), slog.String("job", "exp_1"))
		brokenHandler()
	}), cloud.HTTPOptions{Log: log, Metrics: cloud.NewMetrics(&out, "prod", "getexport", nil)})
	event := `{"resource":"/","path":"/","httpMethod":"GET","requestContext":{"requestId":"gw-1"}}`
	if _, err := h.Invoke(invoked(t.Context()), []byte(event)); err != nil {
		t.Fatal(err)
	}
	all := lines(t, &out)
	if len(all) != 2 {
		t.Fatalf("%d lines:\n%s", len(all), &out)
	}
	for _, line := range all {
		for name, want := range map[string]any{
			"invocation": "inv-1", "trace": "1-abc-def", "gateway": "gw-1", "organisation": "org_1", "job": "exp_1",
		} {
			if line[name] != want {
				t.Errorf("%q: %s is %v, want %v", line["msg"], name, line[name], want)
			}
		}
	}
	if stack, _ := all[0]["stack"].(string); all[0]["panic"] != "a secret" || !strings.Contains(stack, "brokenHandler") {
		t.Errorf("the log does not tell of the panic: %v", all[0])
	}
}

func brokenHandler() { panic("a secret") }

func TestHTTPRefusesWhatNoGatewaySends(t *testing.T) {
	for _, event := range []string{
		``, `[]`, `{}`, `{"jobId":"exp_1"}`, `{"httpMethod":"GET","path":"x"}`, `{"httpMethod":"G T","path":"/"}`,
		`{"httpMethod":"GET","path":"/","body":"%","isBase64Encoded":true}`,
	} {
		h := cloud.HTTP(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Errorf("%s reached the handler", event) }), cloud.HTTPOptions{})
		if b, err := h.Invoke(t.Context(), []byte(event)); err == nil {
			t.Errorf("%s was answered with %s", event, b)
		}
	}
}

func TestHTTPEndsBeforeTheFunctionDoes(t *testing.T) {
	end := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(t.Context(), end)
	defer cancel()
	h := cloud.HTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d, ok := r.Context().Deadline(); !ok || !d.Before(end) {
			t.Errorf("the handler has until %v, the function until %v", d, end)
		}
	}), cloud.HTTPOptions{})
	if _, err := h.Invoke(ctx, []byte(get)); err != nil {
		t.Fatal(err)
	}
}

func FuzzHTTP(f *testing.F) {
	f.Add([]byte(get))
	f.Add([]byte(`{"resource":"/a/{b}","path":"/a/%2F","httpMethod":"POST","pathParameters":{"b":"/"},"multiValueHeaders":{"a":["b\r\nc"],"Host":["x"]},"body":"eA==","isBase64Encoded":true,"multiValueQueryStringParameters":{"a":["b"]},"requestContext":{"identity":{"sourceIp":"::1"}}}`))
	f.Add([]byte(`{"resource":"/{a}{b}","path":"//x/../y","httpMethod":"GET","pathParameters":{"a}{b":".."}}`))
	h := cloud.HTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.EscapedPath(), "/") {
			panic("a path without its slash")
		}
		b, _ := io.ReadAll(r.Body)
		if int64(len(b)) != r.ContentLength {
			panic("a body of another length")
		}
		_, _ = w.Write(b)
	}), cloud.HTTPOptions{})
	f.Fuzz(func(t *testing.T, event []byte) {
		b, err := h.Invoke(t.Context(), event)
		if err != nil {
			return
		}
		var a proxyAnswer
		if err := json.Unmarshal(b, &a); err != nil {
			t.Fatal(err)
		}
		if a.IsBase64Encoded {
			if _, err := base64.StdEncoding.DecodeString(a.Body); err != nil {
				t.Fatal(err)
			}
		}
		if a.StatusCode == 500 && len(event) < 1<<20 {
			t.Fatalf("%s panicked", event)
		}
	})
}
