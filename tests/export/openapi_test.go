package export

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// TestTheOpenAPIDocumentIsClean has a linter read the document that a running
// server gives.
func TestTheOpenAPIDocumentIsClean(t *testing.T) {
	linter := outside.Tool(t, "the OpenAPI linter", "npm", "node_modules", ".bin", "redocly")
	u := harness.Start(t, t.TempDir())
	dir := t.TempDir()
	document := harness.Run(t, outside.Program(t, "curl"), "-sSf", u.URL+"/openapi.json")
	if err := os.WriteFile(filepath.Join(dir, "openapi.json"), document, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(linter, "lint", "--extends=recommended-strict", "openapi.json")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestTheAPIHoldsWhatItsDocumentSays lets schemathesis make up requests from
// the document, good ones and bad ones, and compare every answer with it.
// Methods that nothing answers are 404 here by design, hence the one check that
// is left out; 422 is the answer to an idempotency key used twice. The key of a
// pipeline may not manage, so a second one does.
func TestTheAPIHoldsWhatItsDocumentSays(t *testing.T) {
	outside.Long(t, "makes thousands of requests")
	tool := outside.Tool(t, "schemathesis", "venv", "bin", "schemathesis")
	u := harness.Start(t, t.TempDir())
	domain := harness.SeededDomain(t, u)
	if _, err := u.Command(t, "publish", harness.MadeSite(t, 5), "--domain", domain); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := "[checks.negative_data_rejection]\nexpected-statuses = [\"400\", \"401\", \"403\", \"404\", \"406\", \"409\", \"413\", \"415\", \"422\", \"429\"]\n" +
		"[checks.positive_data_acceptance]\nexpected-statuses = [\"2xx\", \"401\", \"403\", \"404\", \"409\", \"410\", \"413\", \"422\", \"429\"]\n" +
		// Which addresses are called, no pattern says: operators allow others.
		"[[operations]]\ninclude-operation-id = \"createWebhook\"\nchecks.positive_data_acceptance.expected-statuses = [\"2xx\", \"400\", \"401\", \"403\", \"409\", \"413\", \"422\"]\n" +
		// Nor which cursors a list has returned.
		"[[operations]]\ninclude-operation-id = \"listFindings\"\nchecks.positive_data_acceptance.expected-statuses = [\"2xx\", \"400\", \"401\", \"403\", \"404\", \"409\"]\n" +
		// Nor which fields an action has.
		"[[operations]]\ninclude-operation-id = \"setLive\"\nchecks.positive_data_acceptance.expected-statuses = [\"2xx\", \"400\", \"401\", \"403\", \"404\", \"409\", \"410\", \"422\"]\n"
	file := filepath.Join(dir, "schemathesis.toml")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	examples := "2"
	if outside.Full() {
		examples = "60"
	}
	for _, who := range []struct{ name, key, paths string }{
		{"pipeline", keyOf(t, u, "read", "write"), "."}, {"manager", keyOf(t, u, "manage"), "^/v1/webhooks"}, {"deployer", keyOf(t, u, "read", "deploy"), "^/v1/sites/[^/]+/live"},
	} {
		t.Run(who.name, func(t *testing.T) {
			cmd := exec.Command(tool, "--config-file", file, "run", u.URL+"/openapi.json", "--include-path-regex", who.paths,
				"--header", "Authorization: Bearer "+who.key, "--checks", "all", "--exclude-checks", "unsupported_method",
				"--max-examples", examples, "--suppress-health-check", "too_slow", "--seed", "1", "--no-color", "--continue-on-failure")
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			text := strings.ReplaceAll(string(out), who.key, "KEY")
			if err != nil {
				t.Errorf("%v\n%s", err, text)
			}
			t.Log(text[max(0, len(text)-1500):])
		})
	}
	u.Stop(t)
}

// keyOf makes a key of the seeded organisation with some scopes.
func keyOf(t *testing.T, u *harness.Up, scopes ...string) string {
	t.Helper()
	var orgs []struct{ ID string }
	var made struct{ Key string }
	out, err := u.Command(t, "org", "list", "--data", u.Data, "--json")
	if err == nil {
		err = json.Unmarshal(out, &orgs)
	}
	if err != nil || len(orgs) != 1 {
		t.Fatalf("org list --json: %v in %s", err, out)
	}
	args := []string{"key", "create", "--data", u.Data, "--org", orgs[0].ID, "--name", "test", "--json"}
	for _, scope := range scopes {
		args = append(args, "--scope", scope)
	}
	out, err = u.Command(t, args...)
	if err == nil {
		err = json.Unmarshal(out, &made)
	}
	if err != nil || made.Key == "" {
		t.Fatalf("key create --json: %v", err)
	}
	return made.Key
}
