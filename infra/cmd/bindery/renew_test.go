package main

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRenew asks for a link once half of the life of the one before is over, for
// another job, or if nothing is known of it. What it writes is a patch.
func TestRenew(t *testing.T) {
	const key = "bnd_5ec7e7"
	life, asked := time.Hour, 0
	sha := strings.Repeat("ab", 32)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.Method != "POST" || r.URL.Path != "/v1/static-export/jobs/exp_1/bundle" || r.Header.Get("Authorization") != "Bearer "+key {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jobId": "exp_1", "version": "1", "bundleUrl": "https://store.example/exp_1/b.tar.gz?signature=%d", "expiresAt": %q, "sizeBytes": 1, "sha256": %q}`,
			asked, time.Now().Add(life).UTC().Format(time.RFC3339), sha)
	}))
	defer service.Close()
	now := time.Now()
	link := func(job string, from, until time.Duration) string {
		return fmt.Sprintf(`{"jobId": %q, "bundleUrl": "https://old", "renewedAt": %q, "expiresAt": %q}`, job,
			now.Add(from).UTC().Format(time.RFC3339), now.Add(until).UTC().Format(time.RFC3339))
	}
	for name, c := range map[string]struct {
		before string
		args   []string
		asks   bool
		says   string
		fails  bool
	}{
		"no link before":        {"", nil, true, "a fresh link", false},
		"a young one":           {link("exp_1", -20*time.Minute, 40*time.Minute), nil, false, "half of its life is not over", false},
		"one that is half over": {link("exp_1", -31*time.Minute, 29*time.Minute), nil, true, "a fresh link", false},
		"one that ended":        {link("exp_1", -2*time.Hour, -time.Hour), nil, true, "a fresh link", false},
		"another job's":         {link("exp_0", -time.Minute, 59*time.Minute), nil, true, "a fresh link", false},
		"one of the future":     {link("exp_1", 24*time.Hour, 25*time.Hour), nil, true, "a fresh link", false},
		"a file without a link": {"x", nil, true, "a fresh link", false},
		"the right bundle":      {"", []string{"--sha256", sha}, true, "a fresh link", false},
		"another bundle":        {"", []string{"--sha256", strings.Repeat("0", 64)}, true, "nothing is changed", true},
		"time enough":           {"", []string{"--every", "30m"}, true, "a fresh link", false},
		"too little time":       {"", []string{"--every", "31m"}, true, "set loop.linkLife to 1h0m0s", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			in, out := filepath.Join(dir, "renewed"), filepath.Join(dir, "out", "patch.json")
			if c.before != "" {
				if err := os.WriteFile(in, []byte(c.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			before := asked
			var said bytes.Buffer
			code := run(t.Context(), append([]string{"renew", "--job", "exp_1", "--in", in, "--out", out}, c.args...), nil, &said, &said, func(name string) string {
				return map[string]string{"BINDERY_URL": service.URL, "BINDERY_ADMIN_KEY": key}[name]
			})
			if (code != 0) != c.fails || !strings.Contains(said.String(), c.says) || (asked > before) != c.asks {
				t.Fatalf("code %d, %d requests:\n%s", code, asked-before, &said)
			}
			if c.says == "a fresh link" && strings.Contains(said.String(), "warning") || strings.Contains(said.String(), "signature=") || strings.Contains(said.String(), key) {
				t.Errorf("it says %s", &said)
			}
			raw, err := os.ReadFile(out)
			if wrote := c.asks && !c.fails; wrote != (err == nil) {
				t.Fatalf("the patch: %v", err)
			} else if !wrote {
				return
			}
			var patch struct{ Data map[string][]byte }
			var fresh renewedLink
			if err := json.Unmarshal(raw, &patch); err != nil || len(patch.Data) != 1 || json.Unmarshal(patch.Data["renewed"], &fresh) != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			if fresh.BundleURL != fmt.Sprintf("https://store.example/exp_1/b.tar.gz?signature=%d", asked) || fresh.JobID != "exp_1" || fresh.due(time.Now()) || !fresh.due(time.Now().Add(life/2)) {
				t.Errorf("%+v", fresh)
			}
			if info, err := os.Stat(out); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("the file's mode: %v, %v", info.Mode(), err)
			}
		})
	}
}

// TestPatchSecret speaks to the API server of a cluster as its service account, and says
// what it refuses.
func TestPatchSecret(t *testing.T) {
	const token = "eyJ0b2tlbg"
	status := http.StatusOK
	var got string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = strings.Join([]string{r.Method, r.URL.Path, r.Header.Get("Content-Type"), r.Header.Get("Authorization"), string(body)}, " ")
		w.WriteHeader(status)
		fmt.Fprint(w, `{"kind": "Status", "message": "secrets \"docs-link\" is forbidden"}`)
	}))
	defer server.Close()
	host, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	account := t.TempDir()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	patch := filepath.Join(account, "patch.json")
	for file, text := range map[string]string{"token": token + "\n", "ca.crt": string(authority), "patch.json": `{"data":{}}`} {
		if err := os.WriteFile(filepath.Join(account, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call := func(args ...string) (int, string) {
		var said bytes.Buffer
		code := run(t.Context(), append([]string{"patch-secret", "docs-link", "--host", host, "--port", port, "--namespace", "web", "--account", account, "--patch", patch}, args...), nil, &said, &said, func(string) string { return "" })
		if strings.Contains(said.String(), token) {
			t.Errorf("the token is shown: %s", &said)
		}
		return code, said.String()
	}
	if code, said := call(); code != 0 || got != "PATCH /api/v1/namespaces/web/secrets/docs-link application/merge-patch+json Bearer "+token+` {"data":{}}` {
		t.Errorf("code %d, %s, request %s", code, said, got)
	}
	status = http.StatusForbidden
	if code, said := call(); code != 1 || !strings.Contains(said, "403") || !strings.Contains(said, `secrets "docs-link" is forbidden`) {
		t.Errorf("code %d, %s", code, said)
	}
	status, got = http.StatusOK, ""
	other := t.TempDir()
	for file, text := range map[string]string{"token": token, "ca.crt": "no certificate"} {
		if err := os.WriteFile(filepath.Join(other, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code, said := call("--account", other); code != 1 || got != "" || !strings.Contains(said, "no certificate") {
		t.Errorf("code %d, %s, request %s", code, said, got)
	}
}
