package invoke_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/bindery-docs/bindery/shared/service/cloud/invoke"
)

func TestFunction(t *testing.T) {
	for _, c := range []struct {
		name           string
		status         int
		fault, answers string
		want, problem  string // in the error
	}{
		{"it answers", 200, "", `{"said":"hello"}`, "hello", ""},
		{"it fails", 200, "Unhandled", `{"errorType":"repository_unreachable","errorMessage":"the forge is off"}`, "", "repository_unreachable: the forge is off"},
		{"it dies", 200, "Unhandled", ``, "", "Unhandled"},
		{"it may not be invoked", 403, "", `{"Message":"no"}`, "", "403 Forbidden AccessDeniedException"},
		{"it says nothing", 200, "", `soon`, "", "invalid character"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil || r.Method != http.MethodPost || r.URL.Path != "/2015-03-31/functions/asks/invocations" || string(body) != `{"ask":1}` ||
					!strings.Contains(r.Header.Get("Authorization"), "/eu-central-1/lambda/aws4_request") {
					t.Errorf("asked with %s %s, %v: %s (%v)", r.Method, r.URL, r.Header, body, err)
				}
				if c.fault != "" {
					w.Header().Set("X-Amz-Function-Error", c.fault)
				}
				if c.status >= 300 {
					w.Header().Set("X-Amzn-ErrorType", "AccessDeniedException")
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.answers)
			}))
			defer server.Close()
			var out struct{ Said string }
			err := invoke.Function(t.Context(), aws.Config{
				Region: "eu-central-1", BaseEndpoint: &server.URL,
				Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
					return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
				}),
			}, "asks", map[string]int{"ask": 1}, &out)
			if out.Said != c.want {
				t.Errorf("it said %q, want %q", out.Said, c.want)
			}
			if (err != nil) != (c.problem != "") || err != nil && !strings.Contains(err.Error(), c.problem) {
				t.Errorf("the error is %v, want %q", err, c.problem)
			}
		})
	}
}
