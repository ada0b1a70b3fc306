package forgetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/tests/outside"
)

// Gitea is a real one with one repository, docs. People's commits are made in a
// Fake and pushed from there.
type Gitea struct {
	// URL is the address of the server, API that of its REST API.
	URL, API string
	// User and Token are an administrator's, who owns the repository.
	User, Token string

	tb     testing.TB
	people *Fake
}

// NewGitea starts the forge that .ci/tools builds of the shared folder's test
// bed, with an empty repository, for the duration of a test. Without it the test
// ends by the rule of package outside.
func NewGitea(tb testing.TB) *Gitea {
	tb.Helper()
	script := outside.Folder(tb, "testbeds", "forge", "forge.sh")
	program := outside.Tool(tb, "Gitea", "forge", "gitea")
	run := func(dir, port, arg string) (string, error) {
		cmd := exec.Command("bash", script, arg)
		cmd.Env = append(os.Environ(), "FORGE_HOME="+filepath.Dir(program), "FORGE_BIN="+program, "FORGE_DIR="+dir, "FORGE_PORT="+port)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	g := &Gitea{tb: tb, people: New(tb)}
	for range 5 { // another program may take the port
		dir, port := filepath.Join(tb.TempDir(), "data"), outside.Port(tb)
		tb.Cleanup(func() {
			if out, err := run(dir, port, "down"); err != nil {
				tb.Errorf("forge.sh down: %v\n%s", err, out)
			}
		})
		out, err := run(dir, port, "up")
		if err != nil {
			tb.Logf("forge.sh up: %v\n%s", err, out)
			continue
		}
		for line := range strings.Lines(out) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			if into := map[string]*string{"FORGE_URL": &g.URL, "FORGE_API": &g.API, "FORGE_USER": &g.User, "FORGE_TOKEN": &g.Token}[name]; into != nil {
				*into = value
			}
		}
		res, err := http.Get(g.API + "/version")
		if err != nil {
			tb.Logf("the forge does not answer: %v", err)
			g.Token = ""
			continue
		}
		if _ = res.Body.Close(); res.StatusCode == http.StatusOK {
			break
		}
		g.Token = ""
	}
	if g.Token == "" {
		tb.Fatal("the forge did not start")
	}
	g.REST(http.MethodPost, "/user/repos", map[string]any{"name": "docs", "default_branch": "main"}, http.StatusCreated)
	repo := "/repos/" + g.User + "/docs"
	var token struct{ Sha1 string }
	if err := json.Unmarshal(g.REST(http.MethodPost, "/users/"+g.User+"/tokens", map[string]any{
		"name": "bindery", "scopes": []string{"write:repository", "write:user", "write:issue"}, // labels are of issues
	}, http.StatusCreated), &token); err != nil {
		tb.Fatal(err)
	}
	g.Token = token.Sha1
	g.REST(http.MethodPost, repo+"/labels", map[string]any{"name": Label, "color": "#0055aa"}, http.StatusCreated)
	g.REST(http.MethodPost, "/admin/users", map[string]any{"username": Reviewer, "email": Reviewer + "@example.com", "password": "test-only-2", "must_change_password": false}, http.StatusCreated)
	g.REST(http.MethodPut, repo+"/collaborators/"+Reviewer, map[string]any{"permission": "write"}, http.StatusNoContent)
	return g
}

// REST makes a request as the administrator, and returns what is answered with one
// of the statuses that are wanted. Another one fails the test.
func (g *Gitea) REST(method, path string, in any, want ...int) []byte {
	g.tb.Helper()
	data, err := json.Marshal(in)
	if err != nil {
		g.tb.Fatal(err)
	}
	req, err := http.NewRequestWithContext(g.tb.Context(), method, g.API+path, bytes.NewReader(data))
	if err != nil {
		g.tb.Fatal(err)
	}
	req.SetBasicAuth(g.User, "test-only-1")
	req.Header.Set("Content-Type", "application/json")
	// Gitea looks in the background whether a pull request can be merged.
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); {
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			g.tb.Fatal(err)
		}
		out, err := io.ReadAll(res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil {
			g.tb.Fatal(err)
		}
		for _, status := range want {
			if res.StatusCode == status {
				return out
			}
		}
		if res.StatusCode != http.StatusMethodNotAllowed {
			g.tb.Fatalf("%s %s: %d %s", method, path, res.StatusCode, out)
		}
		time.Sleep(100 * time.Millisecond)
		if req.Body, err = req.GetBody(); err != nil {
			g.tb.Fatal(err)
		}
	}
	g.tb.Fatalf("%s %s: not in five minutes", method, path)
	return nil
}

// Repository is the forge's one repository.
func (g *Gitea) Repository() forge.Repository {
	g.tb.Helper()
	r, err := forge.ParseRepository(g.URL+"/"+g.User+"/docs", forge.Gitea, "")
	if err != nil {
		g.tb.Fatal(err)
	}
	return r
}

// Options are those that reach it as the administrator.
func (g *Gitea) Options() forge.Options {
	u, err := url.Parse(g.URL)
	if err != nil {
		g.tb.Fatal(err)
	}
	return forge.Options{
		Credentials:  forge.Static(forge.Credential{Username: g.User, Token: g.Token}),
		AllowPrivate: []string{u.Host}, AllowHTTP: true, TempDir: g.tb.TempDir(),
	}
}

// Write makes a commit as people do; see [Fake.Write].
func (g *Gitea) Write(branch string, files map[string]string) string {
	g.tb.Helper()
	id := g.people.Write(branch, files)
	g.people.PushTo(strings.Replace(g.URL, "://", "://"+g.User+":"+g.Token+"@", 1)+"/"+g.User+"/docs.git", branch)
	// That a repository is no longer empty Gitea notes in the background; until then
	// its API for pull requests fails.
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); {
		var repository struct{ Empty bool }
		if err := json.Unmarshal(g.REST(http.MethodGet, "/repos/"+g.User+"/docs", nil, http.StatusOK), &repository); err != nil {
			g.tb.Fatal(err)
		}
		if !repository.Empty {
			return id
		}
		time.Sleep(100 * time.Millisecond)
	}
	g.tb.Fatal("the repository is still empty, five minutes after a push")
	return id
}

// Close closes a pull request without merging it.
func (g *Gitea) Close(number int) {
	g.tb.Helper()
	g.REST(http.MethodPatch, fmt.Sprintf("/repos/%s/docs/pulls/%d", g.User, number), map[string]any{"state": "closed"}, http.StatusCreated)
}

// Merge merges a pull request.
func (g *Gitea) Merge(number int) {
	g.tb.Helper()
	g.REST(http.MethodPost, fmt.Sprintf("/repos/%s/docs/pulls/%d/merge", g.User, number), map[string]any{"Do": "merge"}, http.StatusOK)
}

// Assigned returns the labels and reviewers of a pull request.
func (g *Gitea) Assigned(number int) (labels, reviewers []string) {
	g.tb.Helper()
	var p struct {
		Labels []struct {
			Name string `json:"name"`
		} `json:"labels"`
		Reviewers []struct {
			Login string `json:"login"`
		} `json:"requested_reviewers"`
	}
	if err := json.Unmarshal(g.REST(http.MethodGet, fmt.Sprintf("/repos/%s/docs/pulls/%d", g.User, number), nil, http.StatusOK), &p); err != nil {
		g.tb.Fatal(err)
	}
	for _, l := range p.Labels {
		labels = append(labels, l.Name)
	}
	for _, r := range p.Reviewers {
		reviewers = append(reviewers, r.Login)
	}
	return labels, reviewers
}
