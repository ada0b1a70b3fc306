package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/service/admin"
)

// What a folder may set for its exports is what the flags of run set of a project.
func TestRunKeysAreFlags(t *testing.T) {
	keys := check.RunKeys()
	if !slices.IsSorted(keys) {
		t.Errorf("%q are not sorted", keys)
	}
	flags := new(app).runCommand().Flags()
	for _, key := range keys {
		if flags.Lookup(key) == nil {
			t.Errorf("run has no flag %s", key)
		}
	}
	project := pflag.NewFlagSet("", pflag.ContinueOnError)
	bundleFlags(project, new(admin.Settings))
	project.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(keys, f.Name) {
			t.Errorf("the flag %s is not a key", f.Name)
		}
	})
}

// A value that nothing can be set to is refused before anything is done, with its line
// in the folder's own file or its flag, and with what is allowed.
func TestSettingsSayWhere(t *testing.T) {
	tests := map[string]struct{ value, allowed string }{
		"allow-host":     {"https://a.example/x", "such as files.example.com"},
		"analytics-id":   {"G-1 2", "letters, digits, hyphens and underscores"},
		"assistant":      {"http://ai.example", "must begin with https://"},
		"base-path":      {"a b", `such as "handbook" or "docs/v2"`},
		"canonical-html": {"maybe", "must be true or false"},
		"domain":         {"not a host", "must be a host name"},
		"feedback":       {"rate.example", "must be an absolute URL"},
		"kind":           {"airgapped", "must be cloud, client-hosted or air-gapped"},
		"path":           {"/../x", `must not have ".." as an element`},
		"playground":     {"on", "must be true or false"},
		"search":         {"bundle", `must be "bundled" or`},
		"site-analytics": {"x", "must be true or false"},
	}
	for _, key := range check.RunKeys() {
		test, ok := tests[key]
		if !ok {
			t.Errorf("no test of %s", key)
		}
		dir := t.TempDir()
		file := filepath.Join(dir, "bindery.yaml")
		if err := os.WriteFile(file, []byte("run:\n  # a comment\n  "+key+": \""+test.value+"\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"run", "dev"} {
			if command == "dev" && key == "path" {
				continue
			}
			args := []string{command, dir}
			if command == "run" {
				args = append(args, "--out", filepath.Join(dir, "out.tar.gz"))
			}
			exit, stderr := refused(t, args...)
			if exit != exitUsage || !strings.Contains(stderr, file+":3:3: "+key+": ") || !strings.Contains(stderr, test.allowed) {
				t.Errorf("%s of %s in the file: exit code %d, %s", command, key, exit, stderr)
			}
			exit, stderr = refused(t, append(args, "--"+key+"="+test.value)...)
			if exit != exitUsage || !strings.Contains(stderr, "--"+key) || strings.Contains(stderr, "bindery.yaml") || strings.Contains(stderr, "settings.") {
				t.Errorf("%s with the flag %s: exit code %d, %s", command, key, exit, stderr)
			}
		}
	}
}

// refused runs the program, and returns its exit code and what it says.
func refused(t *testing.T, args ...string) (exit int, stderr string) {
	t.Helper()
	var out bytes.Buffer
	exit = run(t.Context(), args, strings.NewReader(""), io.Discard, &out, func(string) string { return "" })
	return exit, out.String()
}
