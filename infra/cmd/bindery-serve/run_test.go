package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/base/config"
	"github.com/bindery-docs/bindery/shared/delivery/serve"
	"github.com/bindery-docs/bindery/tests/harness"
)

// call runs the program to its end.
func call(t *testing.T, ctx context.Context, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	if env == nil {
		env = map[string]string{}
	}
	for name, value := range map[string]string{config.Addr: "127.0.0.1:0", config.AdminAddr: "127.0.0.1:0", config.Data: t.TempDir(), config.DrainDelay: "0s"} {
		if env[name] == "" {
			env[name] = value
		}
	}
	code = run(ctx, args, &out, &log, func(name string) string { return env[name] }, nil)
	return code, out.String(), log.String()
}

func TestExitCodes(t *testing.T) {
	const secret = "X-Signature-5ec7e7"
	noBundle := filepath.Join(t.TempDir(), "bundle.tar.gz")
	if err := os.WriteFile(noBundle, []byte("no bundle "+secret), 0o644); err != nil {
		t.Fatal(err)
	}
	tooLarge := harness.TooLarge(t)
	for _, c := range []struct {
		name string
		env  map[string]string
		args []string
		code int
		says string
	}{
		{"help", nil, []string{"--help"}, exitDone, "BINDERY_BUNDLE_URL_FILE"},
		{"help shows no link", map[string]string{config.BundleURL: "https://a.example/" + secret}, []string{"-h"}, exitDone, "bundle-url"},
		{"an unknown flag", nil, []string{"--nope"}, exitUsage, "nope"},
		{"an argument", nil, []string{"bundle.tar.gz"}, exitUsage, `unexpected argument "bundle.tar.gz"`},
		{"a link as an argument", nil, []string{"https://a.example/b?" + secret}, exitUsage, "give it by BINDERY_BUNDLE_URL"},
		{"a link as the name of a file", map[string]string{config.BundleURLFile: "https://a.example/b?" + secret}, nil, exitUsage, "BINDERY_BUNDLE_URL_FILE"},
		{"a negative number", nil, []string{"--keep=-1"}, exitUsage, "negative"},
		{"a variable that can't be read", map[string]string{config.Keep: "x"}, nil, exitUsage, "BINDERY_KEEP"},
		{"no bundle named", nil, nil, exitUsage, "Set BINDERY_BUNDLE_URL"},
		{"no link in a file", map[string]string{config.BundleURLFile: "/nowhere/" + "link"}, nil, exitUsage, "BINDERY_BUNDLE_URL_FILE"},
		{"nothing there", nil, []string{"--bundle-url", "file:///nowhere/b"}, exitNoBundle, "there is no file"},
		{"the flag comes before the variable", map[string]string{config.BundleURL: "https://a.example/" + secret, config.BundleURLFile: "/x"}, []string{"--bundle-url", "file:///nowhere/b"}, exitNoBundle, "there is no file"},
		{"refused", map[string]string{config.BundleURL: "file://" + noBundle}, nil, exitRefused, "refused"},
		{"an archive that declares too large a file", map[string]string{config.BundleURL: "file://" + tooLarge}, nil, exitRefused, "107374182400 bytes"},
		{"a volume that can't be written to", map[string]string{config.BundleURL: "file://" + noBundle}, []string{"--data", "/proc/nowhere"}, exitError, "data folder"},
		{"a port that there is not", map[string]string{config.BundleURL: "file://" + noBundle}, []string{"--addr", "127.0.0.1:99999"}, exitError, "BINDERY_ADDR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr := call(t, t.Context(), c.env, c.args...)
			if code != c.code || !strings.Contains(stderr, c.says) || stdout != "" {
				t.Errorf("exit code %d, want %d with %q:\n%s%s", code, c.code, c.says, stdout, stderr)
			}
			if strings.Contains(stderr, secret) {
				t.Errorf("the link is shown:\n%s", stderr)
			}
		})
	}
}

// TestExitCodeOfEveryFailure: a script that looks at the code can tell what to
// do.
func TestExitCodeOfEveryFailure(t *testing.T) {
	for code, want := range map[serve.Code]int{
		serve.CodeUsage: 2, serve.CodeLinkExpired: 3, serve.CodeNotFound: 3, serve.CodeCredentials: 3, serve.CodeUnreachable: 4,
		serve.CodeDigest: 5, serve.CodeVersion: 5, serve.CodeRefused: 5, serve.CodeVolume: 1, serve.CodeListen: 1,
	} {
		if got := exitCode(&serve.Error{Code: code}); got != want {
			t.Errorf("%s: %d, want %d", code, got, want)
		}
	}
	if got := exitCode(context.Canceled); got != 1 {
		t.Errorf("any other: %d", got)
	}
}

// TestEndsWell: asked to end while it looks for a bundle, the program exits
// with 0; its log is JSON, line by line.
func TestEndsWell(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, _, stderr := call(t, ctx, map[string]string{config.BundleURL: "file:///nowhere/b"})
	if code != exitDone {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	for line := range strings.Lines(stderr) {
		var fields struct {
			Time  time.Time
			Level string
			Msg   string
		}
		if err := json.Unmarshal([]byte(line), &fields); err != nil || fields.Msg == "" || fields.Time.IsZero() {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// TestEveryVariableHasAFlag: and the usage names both.
func TestEveryVariableHasAFlag(t *testing.T) {
	_, _, usage := call(t, t.Context(), nil, "--help")
	flags := regexp.MustCompile(`(?m)^  -([a-z0-9-]+)`).FindAllStringSubmatch(usage, -1)
	seen := 0
	for _, f := range flags {
		if f[1] == "version" {
			continue
		}
		seen++
		if variable := "BINDERY_" + strings.ToUpper(strings.ReplaceAll(f[1], "-", "_")); !strings.Contains(usage, "("+variable+")") {
			t.Errorf("--%s has no %s", f[1], variable)
		}
	}
	if seen != 28 {
		t.Errorf("%d flags", seen)
	}
	code, stdout, _ := call(t, t.Context(), nil, "--version")
	if code != exitDone || !strings.HasPrefix(stdout, "bindery-serve ") {
		t.Errorf("--version: exit code %d, %q", code, stdout)
	}
}

// TestLineBuffer: lines come out whole and in order, at the latest when it is
// closed.
func TestLineBuffer(t *testing.T) {
	var out bytes.Buffer
	b := newLineBuffer(&out)
	var want strings.Builder
	for range 3000 {
		line := strings.Repeat("x", 60) + "\n"
		want.WriteString(line)
		if _, err := b.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	b.close()
	if out.String() != want.String() {
		t.Errorf("%d bytes, want %d", out.Len(), want.Len())
	}
}
