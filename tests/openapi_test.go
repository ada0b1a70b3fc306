package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// TestTheOpenAPIDocumentIsClean has a linter read the document that a running
// server gives.
func TestTheOpenAPIDocumentIsClean(t *testing.T) {
	linter := outside.Tool(t, "the OpenAPI linter", "npm", "node_modules", ".bin", "redocly")
	u := start(t, t.TempDir())
	dir := t.TempDir()
	document := run(t, outside.Program(t, "curl"), "-sSf", u.url+"/openapi.json")
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
// is left out; 422 is the answer to an idempotency key used twice.
func TestTheAPIHoldsWhatItsDocumentSays(t *testing.T) {
	outside.Long(t, "makes thousands of requests")
	tool := outside.Tool(t, "schemathesis", "venv", "bin", "schemathesis")
	u := start(t, t.TempDir())
	domain := seededDomain(t, u)
	if _, err := u.command(t, "publish", madeSite(t, 5), "--domain", domain); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := "[checks.negative_data_rejection]\nexpected-statuses = [\"400\", \"401\", \"403\", \"404\", \"406\", \"409\", \"413\", \"415\", \"422\", \"429\"]\n" +
		"[checks.positive_data_acceptance]\nexpected-statuses = [\"2xx\", \"401\", \"403\", \"404\", \"409\", \"410\", \"413\", \"422\", \"429\"]\n"
	file := filepath.Join(dir, "schemathesis.toml")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tool, "--config-file", file, "run", u.url+"/openapi.json",
		"--header", "Authorization: Bearer "+u.key, "--checks", "all", "--exclude-checks", "unsupported_method",
		"--max-examples", "60", "--seed", "1", "--no-color", "--continue-on-failure")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	text := strings.ReplaceAll(string(out), u.key, "KEY")
	if err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	t.Log(text[max(0, len(text)-1500):])
	u.stop(t)
}
