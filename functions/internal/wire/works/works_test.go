package works

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/cloud"
)

// TestModels: keys are read when a job first asks for a model, once, and never
// where no server has one; what is missing has a code of ours.
func TestModels(t *testing.T) {
	const keyed, open = `{"base": "https://models.example.com", "auth": "x-api-key"}`, `{"base": "https://models.example.com", "auth": "none"}`
	for _, c := range []struct {
		name, server, secret, asked string
		want                        string // a code; empty for a model
		reads                       int
	}{
		{"a key by its server", keyed, `{"one":"sesame"}`, "best", "", 1},
		{"the key alone", keyed, "sesame\n", "", "", 1},
		{"no key yet", keyed, "{}", "", admin.CodeModelMissing, 2},
		{"a key of another server", keyed, `{"two":"sesame"}`, "", admin.CodeModelMissing, 2},
		{"a server without keys", open, "", "", "", 0},
		{"a model that is not there", keyed, "sesame", "other", admin.CodeModelMissing, 0},
		{"no secret", keyed, "-", "", admin.CodeModelMissing, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			reads := 0
			secrets := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				reads++
				if c.secret == "-" {
					w.WriteHeader(http.StatusBadRequest)
					return
				}
				_, _ = w.Write([]byte(`{"SecretString":"` + strings.NewReplacer(`"`, `\"`, "\n", `\n`).Replace(c.secret) + `"}`))
			}))
			defer secrets.Close()
			table, err := model.ParseTable([]byte(`{"default": "best", "servers": {"one": ` + c.server + `},
				"models": {"best": {"server": "one", "model": "m", "context": 1000, "output": 100}}}`))
			if err != nil {
				t.Fatal(err)
			}
			k := &known{table: table, w: &wire.Wiring{Function: &cloud.Function{}, Env: config.Function{ModelSecret: "arn:secret"}, AWS: aws.Config{
				Region: "eu-central-1", BaseEndpoint: &secrets.URL,
				Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
					return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
				}),
			}}}
			for range 2 {
				got, err := k.model(c.asked)
				if c.want == "" && (err != nil || got.ID != "m" || got.Client == nil) || c.want != "" && admin.CodeOf(err) != c.want {
					t.Errorf("%+v, %v", got, err)
				}
				if err != nil && strings.Contains(err.Error(), "sesame") {
					t.Errorf("the error shows a key: %v", err)
				}
			}
			if reads != c.reads {
				t.Errorf("the secret was read %d times, want %d", reads, c.reads)
			}
		})
	}
	if _, err := (&known{}).model(""); admin.CodeOf(err) != admin.CodeModelMissing {
		t.Errorf("without a table: %v", err)
	}
}
