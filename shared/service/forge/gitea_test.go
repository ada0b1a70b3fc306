package forge_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
	"github.com/bindery-docs/bindery/tests/outside"
)

// gitea is a repository of a real Gitea. People's commits are made in a Fake and
// pushed from there.
type gitea struct {
	t                     *testing.T
	url, api, user, token string
	people                *forgetest.Fake
}

// newGitea starts the forge that .ci/tools builds of the shared folder's test
// bed, with one empty repository, for the duration of a test.
func newGitea(t *testing.T) *gitea {
	t.Helper()
	script := outside.Folder(t, "testbeds", "forge", "forge.sh")
	program := outside.Tool(t, "Gitea", "forge", "gitea")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	run := func(arg string) string {
		cmd := exec.Command("bash", script, arg)
		cmd.Env = append(os.Environ(), "FORGE_HOME="+filepath.Dir(program), "FORGE_BIN="+program, "FORGE_DIR="+dir, "FORGE_PORT="+port)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("forge.sh %s: %v\n%s", arg, err, out)
		}
		return string(out)
	}
	t.Cleanup(func() { run("down") })
	g := &gitea{t: t, people: forgetest.New(t)}
	for line := range strings.Lines(run("up")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if into := map[string]*string{"FORGE_URL": &g.url, "FORGE_API": &g.api, "FORGE_USER": &g.user, "FORGE_TOKEN": &g.token}[name]; into != nil {
			*into = value
		}
	}
	if g.token == "" {
		t.Fatal("the forge did not start")
	}
	g.rest(http.MethodPost, "/user/repos", map[string]any{"name": "docs", "default_branch": "main"}, http.StatusCreated)
	return g
}

// rest makes a request as an administrator.
func (g *gitea) rest(method, path string, in any, want ...int) []byte {
	g.t.Helper()
	data, err := json.Marshal(in)
	if err != nil {
		g.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(g.t.Context(), method, g.api+path, bytes.NewReader(data))
	if err != nil {
		g.t.Fatal(err)
	}
	req.SetBasicAuth(g.user, "test-only-1")
	req.Header.Set("Content-Type", "application/json")
	// Gitea looks in the background whether a pull request can be merged.
	for range 50 {
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			g.t.Fatal(err)
		}
		out, err := io.ReadAll(res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil {
			g.t.Fatal(err)
		}
		for _, status := range want {
			if res.StatusCode == status {
				return out
			}
		}
		if res.StatusCode != http.StatusMethodNotAllowed {
			g.t.Fatalf("%s %s: %d %s", method, path, res.StatusCode, out)
		}
		time.Sleep(100 * time.Millisecond)
		if req.Body, err = req.GetBody(); err != nil {
			g.t.Fatal(err)
		}
	}
	g.t.Fatalf("%s %s: not in five seconds", method, path)
	return nil
}

func (g *gitea) Repository() forge.Repository {
	g.t.Helper()
	r, err := forge.ParseRepository(g.url+"/"+g.user+"/docs", forge.Gitea, "")
	if err != nil {
		g.t.Fatal(err)
	}
	return r
}

func (g *gitea) Options() forge.Options {
	u, err := url.Parse(g.url)
	if err != nil {
		g.t.Fatal(err)
	}
	return forge.Options{
		Credentials:  forge.Static(forge.Credential{Username: g.user, Token: g.token}),
		AllowPrivate: []string{u.Host}, AllowHTTP: true, TempDir: g.t.TempDir(),
	}
}

func (g *gitea) Write(branch string, files map[string]string) string {
	g.t.Helper()
	id := g.people.Write(branch, files)
	g.people.PushTo(strings.Replace(g.url, "://", "://"+g.user+":"+g.token+"@", 1)+"/"+g.user+"/docs.git", branch)
	return id
}

func (g *gitea) Close(number int) {
	g.t.Helper()
	g.rest(http.MethodPatch, fmt.Sprintf("/repos/%s/docs/pulls/%d", g.user, number), map[string]any{"state": "closed"}, http.StatusCreated)
}

func (g *gitea) Merge(number int) {
	g.t.Helper()
	g.rest(http.MethodPost, fmt.Sprintf("/repos/%s/docs/pulls/%d/merge", g.user, number), map[string]any{"Do": "merge"}, http.StatusOK)
}

// A real forge keeps the contract, and refuses as the fake does.
func TestGitea(t *testing.T) {
	outside.Long(t, "starts a forge")
	g := newGitea(t)
	forgetest.Contract(t, g)
	f, err := forge.New(g.Options())
	if err != nil {
		t.Fatal(err)
	}
	r := g.Repository()
	base := fetch(t, f, r, "main")
	c := commit(t, f, base, forge.Change{Path: "late.mdx", Content: []byte("# Late\n")})

	g.rest(http.MethodPost, "/repos/"+g.user+"/docs/branch_protections", map[string]any{"rule_name": "main", "enable_push": false}, http.StatusCreated)
	if err := f.Push(t.Context(), r, "main", c, base.Commit); !errors.Is(err, forge.ErrDenied) {
		t.Errorf("a protected branch: %v", err)
	}
	var token struct{ Sha1 string }
	if err := json.Unmarshal(g.rest(http.MethodPost, "/users/"+g.user+"/tokens", map[string]any{"name": "reader", "scopes": []string{"read:repository"}}, http.StatusCreated), &token); err != nil {
		t.Fatal(err)
	}
	o := g.Options()
	o.Credentials = forge.Static(forge.Credential{Token: token.Sha1})
	reader, err := forge.New(o)
	if err != nil {
		t.Fatal(err)
	}
	fetch(t, reader, r, "main")
	if err := reader.Push(t.Context(), r, "bindery/r", c, ""); !errors.Is(err, forge.ErrDenied) {
		t.Errorf("a token that may only read pushes: %v", err)
	}
	if err := f.Push(t.Context(), r, "bindery/r", c, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.OpenPull(t.Context(), r, forge.Pull{Head: "bindery/r", Base: "main", Title: "x"}); !errors.Is(err, forge.ErrCredential) {
		t.Errorf("a token that may only read opens a pull request: %v", err)
	}
}
