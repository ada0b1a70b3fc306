package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/base/config"
)

func environment(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestFromEnv(t *testing.T) {
	for _, c := range []struct {
		name string
		vars map[string]string
		want config.Config
	}{
		{"nothing is set", nil, config.Config{}},
		{"all is set", map[string]string{
			"BINDERY_URL": "http://127.0.0.1:8787", "BINDERY_ADMIN_KEY": "mint_abc", "BINDERY_PROFILE": "staging", "BINDERY_PROJECT": "prj_1",
			"BINDERY_DATA": "/srv/bindery", "NO_COLOR": "1", "BINDERY_ALLOW_HTTP": "true",
			"BINDERY_MODELS": "models.json", "BINDERY_MODEL_KEY": "k\n", "BINDERY_OIDC_CLIENT_SECRET": "s\n", "BINDERY_MODEL_KEYS": "keys", "BINDERY_FORGE_HOSTS": "a.example, *.b.example",
			"BINDERY_FORGE_PRIVATE_HOSTS": "git.internal:8443", "BINDERY_WEBHOOK_HOSTS": "hooks.internal,http://ci.internal:8080", "BINDERY_FORGE_ALLOW_HTTP": "true",
			"BINDERY_GITHUB_APP": "17", "BINDERY_GITHUB_APP_KEY": "app.pem", "BINDERY_GITHUB_APP_HOST": "github.example.com",
		}, config.Config{GitHubApp: "17", GitHubAppKey: "app.pem", GitHubAppHost: "github.example.com", Models: "models.json", ModelKey: "k", OIDCClientSecret: "s", ModelKeys: "keys", ForgeHosts: []string{"a.example", "*.b.example"},
			ForgePrivateHosts: []string{"git.internal:8443"}, WebhookHosts: []string{"hooks.internal", "http://ci.internal:8080"}, ForgeAllowHTTP: true, URL: "http://127.0.0.1:8787", AdminKey: "mint_abc", Profile: "staging", Project: "prj_1", Data: "/srv/bindery", NoColor: true, AllowHTTP: true}},
		{"slashes at the end go", map[string]string{"BINDERY_URL": "https://a.example/base//"}, config.Config{URL: "https://a.example/base"}},
		{"a line end behind a key goes", map[string]string{"BINDERY_ADMIN_KEY": "k\r\n"}, config.Config{AdminKey: "k"}},
		{"any value of NO_COLOR counts", map[string]string{"NO_COLOR": "0"}, config.Config{NoColor: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := config.FromEnv(environment(c.vars))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFromEnvRefuses(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"BINDERY_URL", "127.0.0.1:8787", "BINDERY_URL: not an address"},
		{"BINDERY_URL", "localhost:8787", "BINDERY_URL: must begin with http:// or https://"},
		{"BINDERY_URL", "ftp://a.example", "BINDERY_URL: must begin with http:// or https://"},
		{"BINDERY_URL", "http://", "BINDERY_URL: has no host"},
		{"BINDERY_URL", "http://:80", "BINDERY_URL: has no host"},
		{"BINDERY_URL", "http://user:pw@a.example", "BINDERY_URL: must not hold a user or password"},
		{"BINDERY_URL", "http://a.example?x=1", "BINDERY_URL: must not have a query or fragment"},
		{"BINDERY_URL", "http://a.example?", "BINDERY_URL: must not have a query or fragment"},
		{"BINDERY_URL", "http://a.example#", "BINDERY_URL: must not have a query or fragment"},
		{"BINDERY_ALLOW_HTTP", "perhaps", `BINDERY_ALLOW_HTTP: "perhaps" is neither true nor false`},
		{"BINDERY_FORGE_ALLOW_HTTP", "perhaps", `BINDERY_FORGE_ALLOW_HTTP: "perhaps" is neither true nor false`},
		{"BINDERY_MODEL_KEY", "two words", "BINDERY_MODEL_KEY: has characters that no key has"},
		{"BINDERY_ADMIN_KEY", "two words", "BINDERY_ADMIN_KEY: has characters that no key has"},
		{"BINDERY_ADMIN_KEY", "schlüssel", "BINDERY_ADMIN_KEY: has characters that no key has"},
	} {
		t.Run(c.name+" "+c.value, func(t *testing.T) {
			got, err := config.FromEnv(environment(map[string]string{c.name: c.value}))
			if err == nil || err.Error() != c.want {
				t.Errorf("got %+v, %v; want %s", got, err, c.want)
			}
		})
	}
}

func TestKeyDoesNotShowItself(t *testing.T) {
	const key = "mint_sesame"
	c := config.Config{AdminKey: key, ModelKey: key, OIDCClientSecret: key}
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "config", c)
	encoded, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for how, shown := range map[string]string{
		"%v": fmt.Sprintf("%v", c), "%+v": fmt.Sprintf("%+v", &c), "%#v": fmt.Sprintf("%#v", c), "%q": fmt.Sprintf("%q", c),
		"JSON": string(encoded), "log": logged.String(),
	} {
		if strings.Contains(shown, "sesame") {
			t.Errorf("%s shows %s", how, shown)
		}
		if !strings.Contains(shown, "[hidden]") {
			t.Errorf("%s does not even say that there is a key: %s", how, shown)
		}
	}
	if shown := (config.Config{}).String(); strings.Contains(shown, "[hidden]") {
		t.Errorf("no key shows as %s", shown)
	}
}
