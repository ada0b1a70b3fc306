package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/api"
)

// liveService answers each read of what is live, of any domain.
func liveService(t *testing.T, l *api.Live) func(string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(l) }))
	t.Cleanup(server.Close)
	return func(name string) string {
		return map[string]string{"BINDERY_URL": server.URL, "BINDERY_ADMIN_KEY": "bnd_secret"}[name]
	}
}

func TestSiteOpen(t *testing.T) {
	const address = "http://docs-example-com-8w2k5t.localhost:8787/"
	browsers := t.TempDir()
	seen := filepath.Join(browsers, "seen")
	for _, name := range []string{"xdg-open", "open"} {
		script := "#!/bin/sh\necho \"$1\" > " + seen + ".new && /bin/mv " + seen + ".new " + seen + "\n"
		if err := os.WriteFile(filepath.Join(browsers, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name       string
		live       bool
		url, flags string
		path       string // where programs are
		code       int
		out, err   string
		opens      bool
	}{
		{"a browser opens it", true, address, "", browsers, exitDone, address + "\n", "", true},
		{"no browser is there", true, address, "", t.TempDir(), exitDone, address + "\n", "no browser could be opened", false},
		{"only printed", true, address, "--print", browsers, exitDone, address + "\n", "", false},
		{"for scripts", true, address, "--json", browsers, exitDone, "{\n  \"domain\": \"docs.example.com\",\n  \"url\": \"" + address + "\"\n}\n", "", false},
		{"nothing is live", false, address, "", browsers, exitError, "", "nothing is live for docs.example.com", false},
		{"no sites are served", true, "", "", browsers, exitError, "", "this service serves no sites", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("PATH", c.path)
			_ = os.Remove(seen)
			l := api.Live{Domain: "docs.example.com", URL: c.url}
			if c.live {
				l.Live = &api.LiveMove{JobID: "exp_1"}
			}
			var stdout, stderr bytes.Buffer
			args := append([]string{"site", "open", "--domain", "docs.example.com"}, strings.Fields(c.flags)...)
			code := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr, liveService(t, &l))
			if code != c.code || stdout.String() != c.out || !strings.Contains(stderr.String(), c.err) || c.err == "" && stderr.Len() > 0 {
				t.Errorf("exit code %d, output %q, errors %q", code, stdout.String(), stderr.String())
			}
			for deadline := time.Now().Add(time.Minute); c.opens; time.Sleep(time.Millisecond) {
				got, err := os.ReadFile(seen)
				if err == nil && strings.TrimSpace(string(got)) == address {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("the browser got %q, %v", got, err)
				}
			}
			if _, err := os.Stat(seen); err == nil && !c.opens {
				t.Error("a browser was opened")
			}
		})
	}
}
