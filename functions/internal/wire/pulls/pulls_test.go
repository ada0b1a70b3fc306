package pulls

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/bindery-docs/bindery/functions/internal/wire"
	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/cloud"
	"github.com/bindery-docs/bindery/shared/service/forge"
)

// TestSteps: the App's id is checked where a process starts, and its secret is not
// read there.
func TestSteps(t *testing.T) {
	env := map[string]string{
		"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
		config.Table: "records", config.SourcesBucket: "sources", config.ExportsBucket: "exports", config.CredentialKey: "arn:key",
	}
	t.Setenv("TMPDIR", t.TempDir())
	for _, c := range []struct{ name, value, want string }{
		{config.GitHubApp, "17", config.GitHubAppSecret + ": must be set"},
		{config.GitHubAppSecret, "arn:secret", ""},
		{config.GitHubApp, "17/8", config.GitHubApp + ": the id of the GitHub App is missing or has invalid characters"},
		{config.GitHubApp, "", ""},
	} {
		env[c.name] = c.value
		_, _, err := Steps(&cloud.Function{Getenv: func(name string) string { return env[name] }})
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("with %s=%s: %v, want %q", c.name, c.value, err, c.want)
		}
	}
}

// TestAppKey: what is missing is not set up, what may pass is temporary, and no error
// has anything of the secret.
func TestAppKey(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		answer string
		want   string // the key
		code   string
	}{
		{"a key", 200, `{"SecretString":"sesame\n"}`, "sesame\n", ""},
		{"nothing yet", 200, `{"SecretString":"{}\n"}`, "", forge.CodeCredential},
		{"no right", 400, `{"__type":"AccessDeniedException","Message":"sesame"}`, "", forge.CodeCredential},
		{"out of order", 503, ``, "", admin.CodeTemporary},
	} {
		t.Run(c.name, func(t *testing.T) {
			secrets := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.answer))
			}))
			defer secrets.Close()
			w := &wire.Wiring{Env: config.Function{GitHubAppSecret: "arn:secret"}, AWS: aws.Config{
				Region: "eu-central-1", BaseEndpoint: &secrets.URL,
				Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
					return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
				}),
			}}
			got, err := appKey(t.Context(), w)
			if string(got) != c.want || admin.CodeOf(err) != c.code || errors.Is(err, forge.ErrNoKey) != (c.code == forge.CodeCredential) {
				t.Errorf("got %q, %v", got, err)
			}
			if err != nil && strings.Contains(err.Error(), "sesame") {
				t.Errorf("the error shows the key: %v", err)
			}
		})
	}
}

// TestFetched: what a process left that died goes, also one of the same number;
// what one has that lives stays.
func TestFetched(t *testing.T) {
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("not run: which processes live is read from /proc")
	}
	below := t.TempDir()
	file := func(pid string) string { return filepath.Join(below, "fetched-"+pid, "pack") }
	own, dead, alive := strconv.Itoa(os.Getpid()), "999999999", strconv.Itoa(os.Getppid())
	for _, pid := range []string{own, dead, alive} {
		if err := os.MkdirAll(filepath.Dir(file(pid)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file(pid), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := fetched(below)
	if err != nil || dir != filepath.Dir(file(own)) {
		t.Fatalf("the folder is %s, %v", dir, err)
	}
	for pid, want := range map[string]bool{own: false, dead: false, alive: true} {
		if _, err := os.Stat(file(pid)); (err == nil) != want {
			t.Errorf("the file of %s: %v", pid, err)
		}
	}
}
