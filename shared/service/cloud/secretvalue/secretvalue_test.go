package secretvalue_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud/secretvalue"
)

func TestFetch(t *testing.T) {
	const arn = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:models"
	for _, c := range []struct {
		name    string
		answers []string // "status body"; the last one stays
		want    string   // the secret
		tries   int
		problem string // in the error
		code    string
	}{
		{"there", []string{`200 {"SecretString":"sesame"}`}, "sesame", 1, "", ""},
		{"after a fault", []string{`500 {}`, `400 {"__type":"ThrottlingException"}`, `200 {"SecretString":"sesame"}`}, "sesame", 3, "", ""},
		{"never", []string{`503 nothing`}, "", 4, "503", admin.CodeTemporary},
		{"not there", []string{`400 {"__type":"com.amazonaws.secretsmanager#ResourceNotFoundException","Message":"x"}`}, "", 1, "ResourceNotFoundException", admin.CodeInternal},
		{"binary", []string{`200 {"SecretBinary":"c2VzYW1l"}`}, "", 1, "no text", admin.CodeInternal},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var in struct{ SecretId string }
				if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.SecretId != arn || r.Header.Get("X-Amz-Target") != "secretsmanager.GetSecretValue" ||
					!strings.Contains(r.Header.Get("Authorization"), "/eu-central-1/secretsmanager/aws4_request") {
					t.Errorf("asked for %+v with %v (%v)", in, r.Header, err)
				}
				status, body, _ := strings.Cut(c.answers[min(asked, len(c.answers)-1)], " ")
				asked++
				w.WriteHeader(map[string]int{"200": 200, "400": 400, "500": 500, "503": 503}[status])
				_, _ = w.Write([]byte(body))
			}))
			defer server.Close()
			got, err := secretvalue.Fetch(t.Context(), aws.Config{
				Region: "eu-central-1", BaseEndpoint: &server.URL,
				Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
					return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
				}),
			}, arn)
			if got != c.want || asked != c.tries {
				t.Errorf("got %q in %d tries, want %q in %d", got, asked, c.want, c.tries)
			}
			if c.problem == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.problem) || admin.CodeOf(err) != c.code || strings.Contains(err.Error(), "sesame") {
				t.Errorf("the error is %v (%s)", err, admin.CodeOf(err))
			}
		})
	}
}
