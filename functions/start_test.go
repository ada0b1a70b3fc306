package functions_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/base/config"
)

// empty builds a Lambda function that does nothing, as anybody would build one
// for AWS, and gives its program.
func empty(t testing.TB) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "bootstrap")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-tags", "lambda.norpc",
		"-o", program, "../shared/service/cloud/testdata/empty")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// withoutStorage is the environment of functions that reach no AWS.
func withoutStorage() []string {
	return []string{
		"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_ENDPOINT_URL=http://127.0.0.1:1",
		config.Stage + "=local", config.Table + "=records", config.SourcesBucket + "=sources", config.ExportsBucket + "=exports",
		config.StateMachine + "=arn:aws:states:us-east-1:000000000000:stateMachine:export",
		config.SignerRole + "=arn:aws:iam::000000000000:role/signer",
		config.CredentialKey + "=arn:aws:kms:us-east-1:000000000000:key/credentials",
		config.ModelSecret + "=arn:aws:secretsmanager:us-east-1:000000000000:secret:models",
		config.GitHubAppSecret + "=arn:aws:secretsmanager:us-east-1:000000000000:secret:app",
		config.DashboardURL + "=https://api.example.com/prod", config.OIDCIssuer + "=https://id.example.com", config.OIDCClientID + "=bindery",
		config.OIDCSecret + "=arn:aws:secretsmanager:us-east-1:000000000000:secret:oidc",
	}
}

// eventsWithoutStorage maps functions to events that they answer without storage:
// an operation refuses a key that is nobody's, a step a job without a name.
func eventsWithoutStorage(tb testing.TB) map[string][]byte {
	tb.Helper()
	events := map[string][]byte{}
	for _, name := range names {
		if _, isAPI := operations[name]; isAPI || name == "openapi" || name == "dashboard" {
			events[name] = sample(tb, name)
		} else {
			events[name] = []byte(`{"jobId":"","renderer":"","shard":1}`)
		}
	}
	return events
}

// BenchmarkStart measures what a cold start has of ours: a program's size, and
// the median time from the start of its process to its first answer through the
// runtime API, beside a Lambda function that does nothing, all in turn, so that
// a busy machine is busy for all of them. The samples are answered without
// storage: a key that is nobody's is refused, and so is a step without a job.
func BenchmarkStart(b *testing.B) {
	ours, nothing := build(b, runtime.GOARCH), empty(b)
	program := func(name string) string {
		if name == "empty" {
			return nothing
		}
		return ours(name)
	}
	events := eventsWithoutStorage(b)
	env := withoutStorage()
	measured := []string{"empty"}
	for _, name := range names {
		if events[name] != nil && name != "reconcile" && name != "deliverwebhooks" { // these ask storage before all else
			measured = append(measured, name)
		}
	}
	events["empty"] = []byte(`{}`)
	took := map[string][]time.Duration{}
	for b.Loop() {
		for _, name := range measured {
			began := time.Now()
			p := run(b, env, program(name))
			p.invoke(b, events[name])
			took[name] = append(took[name], time.Since(began))
			p.end()
		}
	}
	median := func(name string) float64 {
		slices.Sort(took[name])
		return took[name][len(took[name])/2].Seconds() * 1000
	}
	base, err := os.Stat(program("empty"))
	check(b, err)
	// To standard output: a log would be cut.
	for _, name := range measured {
		info, err := os.Stat(program(name))
		check(b, err)
		fmt.Printf("%-16s %6.2f MB (%.2f×)  %7.2f ms (%.2f×)\n", name, float64(info.Size())/1e6, float64(info.Size())/float64(base.Size()),
			median(name), median(name)/median("empty"))
	}
}
