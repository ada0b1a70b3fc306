package forgetest

import (
	"archive/tar"
	"bytes"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/tests/outside"
)

// Fake is a forge in the test's process with one repository, acme/docs. Git is
// spoken by git http-backend, pull requests are kept in memory. It is safe for
// concurrent use.
type Fake struct {
	// Kind is the dialect that it speaks.
	Kind forge.Kind
	// URL is the address of the server, without a slash at its end.
	URL string
	// User and Token are what it accepts.
	User, Token string
	// ClosedAt is when pull requests are merged or closed from now on; zero for a
	// forge that doesn't say.
	ClosedAt time.Time
	// Now is the clock by which an App's proofs and tokens end; New sets time.Now.
	Now func() time.Time

	tb  testing.TB
	app *rsa.PrivateKey // of a GitHub App, nil without one
	git string          // the program
	dir string          // of the bare repository

	mu       sync.Mutex
	pulls    []*Pull
	failures map[Call][]Failure
	always   map[Call]Failure
	calls    map[Call]int
	readOnly bool
	onlyTips bool
	noDrafts bool
}

// Pull is a pull request of a Fake.
type Pull struct {
	forge.PullRequest
	Body      string
	Labels    []string
	Reviewers []string
}

// Commit is a commit of a Fake.
type Commit struct {
	ID, Message  string
	Parents      []string
	Author       string // name <email>
	AuthoredUnix int64
}

// Option changes what New makes.
type Option func(*Fake)

// Dialect makes a fake of a kind of forge; without it, it is forge.Gitea.
func Dialect(k forge.Kind) Option { return func(f *Fake) { f.Kind = k } }

// NoDrafts makes a fake of GitHub that refuses drafts, as it does for private
// repositories of free plans.
func NoDrafts() Option { return func(f *Fake) { f.noDrafts = true } }

// New starts a Fake for the duration of a test, its repository empty. Without
// the program git the test ends by the rule of package outside.
func New(tb testing.TB, opts ...Option) *Fake {
	tb.Helper()
	f := &Fake{
		Now:  time.Now,
		Kind: forge.Gitea, User: "bindery", Token: "test-token-" + strconv.Itoa(os.Getpid()) + "-s3cr3t/+=", tb: tb, git: outside.Program(tb, "git"),
		ClosedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), failures: map[Call][]Failure{}, always: map[Call]Failure{}, calls: map[Call]int{},
	}
	for _, o := range opts {
		o(f)
	}
	f.dir = filepath.Join(tb.TempDir(), "acme", "docs.git")
	f.run(nil, "init", "-q", "--bare", "-b", "main", f.dir)
	config, err := os.OpenFile(filepath.Join(f.dir, "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = config.WriteString("[http]\n\treceivepack = true\n[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n[gc]\n\tauto = 0\n[receive]\n\tautogc = false\n")
		err = errors.Join(err, config.Close())
	}
	if err != nil {
		tb.Fatal(err)
	}
	hook := "#!/bin/sh\nif grep -qxF \"$1\" \"$GIT_DIR/protected\" 2>/dev/null; then echo \"$1 is protected\" >&2; exit 1; fi\n"
	if err := os.WriteFile(filepath.Join(f.dir, "hooks", "update"), []byte(hook), 0o755); err != nil {
		tb.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(f.serve))
	tb.Cleanup(server.Close)
	f.URL = server.URL
	return f
}

// Repository is the fake's one repository.
func (f *Fake) Repository() forge.Repository {
	f.tb.Helper()
	r, err := forge.ParseRepository(f.URL+"/acme/docs", f.Kind, "")
	if f.Kind == forge.Git {
		r, err = forge.ParseRepository(f.URL+"/acme/docs.git", f.Kind, "")
	}
	if err != nil {
		f.tb.Fatal(err)
	}
	return r
}

// Options are those of a forge.Forge that works on the fake: its host, its
// token, and retries without a wait.
func (f *Fake) Options() forge.Options {
	u, err := url.Parse(f.URL)
	if err != nil {
		f.tb.Fatal(err)
	}
	return forge.Options{
		Credentials: forge.Static(forge.Credential{Username: f.User, Token: f.Token}), AllowPrivate: []string{u.Host}, AllowHTTP: true,
		TempDir: f.tb.TempDir(), Retry: forge.Retry{Pause: time.Millisecond, MaxPause: 2 * time.Second},
	}
}

// Forge is a forge.Forge with these options.
func (f *Fake) Forge() *forge.Forge {
	f.tb.Helper()
	g, err := forge.New(f.Options())
	if err != nil {
		f.tb.Fatal(err)
	}
	return g
}

// run runs git in the repository and returns what it prints.
func (f *Fake) run(in io.Reader, args ...string) []byte {
	f.tb.Helper()
	out, err := f.try(in, args...)
	if err != nil {
		f.tb.Fatal(err)
	}
	return out
}

func (f *Fake) try(in io.Reader, args ...string) ([]byte, error) {
	cmd := exec.Command(f.git, args...)
	cmd.Env = environment()
	if args[0] != "init" {
		cmd.Dir = f.dir
	}
	cmd.Stdin = in
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, exit.Stderr)
	}
	return out, err
}

// environment is git's without the settings of the user and the machine.
func environment() []string {
	env := []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "HOME=" + os.TempDir()}
	for _, name := range []string{"PATH", "SYSTEMROOT"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// Write makes a commit on a branch, as people do who push to it: files by path,
// with "" for one that goes. A path that ends in "+x" is executable and one that
// ends in "@" a symbolic link, each without that ending. The branch is made, with
// no parent, if it is not there. It returns the commit.
func (f *Fake) Write(branch string, files map[string]string) string {
	f.tb.Helper()
	var in bytes.Buffer
	fmt.Fprintf(&in, "commit refs/heads/%s\nauthor Ann <ann@example.test> 1700000000 +0000\ncommitter Ann <ann@example.test> 1700000000 +0000\ndata 4\nedit\n", branch)
	if id := f.Branch(branch); id != "" {
		fmt.Fprintf(&in, "from %s\n", id)
	}
	paths := make([]string, 0, len(files))
	for path := range files {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	for _, path := range paths {
		mode, name := "100644", path
		if n, ok := strings.CutSuffix(path, "+x"); ok {
			mode, name = "100755", n
		} else if n, ok := strings.CutSuffix(path, "@"); ok {
			mode, name = "120000", n
		}
		if files[path] == "" {
			fmt.Fprintf(&in, "D %s\n", name)
			continue
		}
		fmt.Fprintf(&in, "M %s inline %s\ndata %d\n%s\n", mode, name, len(files[path]), files[path])
	}
	f.run(&in, "fast-import", "--quiet", "--force")
	return f.Branch(branch)
}

// PushTo pushes a branch to another repository.
func (f *Fake) PushTo(address, branch string) {
	f.tb.Helper()
	f.run(nil, "push", "-q", address, "refs/heads/"+branch)
}

// PushTag pushes a tag to another repository, where it moves one of that name.
func (f *Fake) PushTag(address, name string) {
	f.tb.Helper()
	f.run(nil, "push", "-q", address, "+refs/tags/"+name)
}

// FetchFrom fetches a branch from another repository, if it is there, without its tags.
func (f *Fake) FetchFrom(address, branch string) {
	f.tb.Helper()
	ref := "refs/heads/" + branch
	if len(f.run(nil, "ls-remote", address, ref)) > 0 {
		f.run(nil, "fetch", "-q", "--no-tags", address, "+"+ref+":"+ref)
	}
}

// Branch is the commit of a branch, "" if there is none.
func (f *Fake) Branch(name string) string {
	out, err := f.try(nil, "rev-parse", "--verify", "--quiet", "refs/heads/"+name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// Branches are the names of all branches.
func (f *Fake) Branches() []string {
	f.tb.Helper()
	return strings.Fields(string(f.run(nil, "for-each-ref", "--format=%(refname:short)", "refs/heads")))
}

// MergeBranch makes a commit on branch that follows other first and branch second,
// with the files of branch.
func (f *Fake) MergeBranch(branch, other string) {
	f.tb.Helper()
	id := f.run(nil, "-c", "user.name=Ann", "-c", "user.email=ann@example.test", "commit-tree", "-p", other, "-p", branch, "-m", "merge", branch+"^{tree}")
	f.run(nil, "update-ref", "refs/heads/"+branch, strings.TrimSpace(string(id)))
}

// Copy makes a branch at the commit of another one.
func (f *Fake) Copy(name, of string) {
	f.tb.Helper()
	f.run(nil, "update-ref", "refs/heads/"+name, "refs/heads/"+of)
}

// DeleteBranch removes a branch.
func (f *Fake) DeleteBranch(name string) {
	f.tb.Helper()
	f.run(nil, "update-ref", "-d", "refs/heads/"+name)
}

// Tag makes a tag of a branch; with a message an annotated one.
func (f *Fake) Tag(name, branch, message string) {
	f.tb.Helper()
	if message == "" {
		f.run(nil, "tag", name, branch)
		return
	}
	f.run(nil, "-c", "user.name=Ann", "-c", "user.email=ann@example.test", "tag", "-a", "-m", message, name, branch)
}

// Protect makes pushes to a branch fail.
func (f *Fake) Protect(branch string) {
	f.tb.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, "protected"), []byte("refs/heads/"+branch+"\n"), 0o644); err != nil {
		f.tb.Fatal(err)
	}
}

// ReadOnly makes the token one that may only read.
func (f *Fake) ReadOnly() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readOnly = true
}

// OnlyTips makes the fake a server that returns only commits which a branch or tag
// is at. Git's own returns all that these have below them when it is asked by HTTP,
// whatever its settings.
func (f *Fake) OnlyTips() {
	f.tb.Helper()
	f.Configure("uploadpack.allowAnySHA1InWant", "false")
	f.mu.Lock()
	defer f.mu.Unlock()
	f.onlyTips = true
}

// unadvertised is the first object that a request wants and no branch or tag is at.
func (f *Fake) unadvertised(r *http.Request) (string, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return "", err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	refs, err := f.try(nil, "show-ref", "--head")
	for _, want := range regexp.MustCompile("want ([0-9a-f]{40})").FindAllSubmatch(body, -1) {
		if err == nil && !bytes.Contains(refs, want[1]) {
			return string(want[1]), nil
		}
	}
	return "", err
}

// Configure sets a setting of the repository, as git config does.
func (f *Fake) Configure(name, value string) {
	f.tb.Helper()
	f.run(nil, "config", name, value)
}

// Files are the files of a branch by path. Of a symbolic link it is where it
// points to.
func (f *Fake) Files(branch string) map[string]string {
	f.tb.Helper()
	files := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(f.run(nil, "archive", "--format=tar", branch))); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			f.tb.Fatal(err)
		}
		switch h.Typeflag {
		case tar.TypeReg:
			data, err := io.ReadAll(r)
			if err != nil {
				f.tb.Fatal(err)
			}
			files[h.Name] = string(data)
		case tar.TypeSymlink:
			files[h.Name] = h.Linkname
		}
	}
}

// Commits are those of a branch, newest first.
func (f *Fake) Commits(branch string) []Commit {
	f.tb.Helper()
	var commits []Commit
	for line := range strings.SplitSeq(strings.TrimSuffix(string(f.run(nil, "log", "-z", "--format=%H%n%P%n%an <%ae>%n%at%n%B", branch)), "\x00"), "\x00") {
		p := strings.SplitN(line, "\n", 5)
		at, err := strconv.ParseInt(p[3], 10, 64)
		if err != nil {
			f.tb.Fatal(err)
		}
		commits = append(commits, Commit{ID: p[0], Parents: strings.Fields(p[1]), Author: p[2], AuthoredUnix: at, Message: strings.TrimSpace(p[4])})
	}
	return commits
}

// Pulls are all pull requests, in the order in which they were opened.
func (f *Fake) Pulls() []Pull {
	f.mu.Lock()
	defer f.mu.Unlock()
	pulls := make([]Pull, len(f.pulls))
	for i, p := range f.pulls {
		pulls[i] = *p
	}
	return pulls
}

// Merge marks a pull request merged and moves its base, if that can be done
// without a merge commit.
func (f *Fake) Merge(number int) {
	f.tb.Helper()
	p := f.setState(number, forge.Merged)
	f.run(nil, "update-ref", "refs/heads/"+p.Base, "refs/heads/"+p.Head)
}

// Close closes a pull request without merging it.
func (f *Fake) Close(number int) { f.tb.Helper(); f.setState(number, forge.Closed) }

func (f *Fake) setState(number int, s forge.State) Pull {
	f.tb.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.pulls {
		if p.Number == number {
			p.State, p.ClosedAt = s, f.ClosedAt
			return *p
		}
	}
	f.tb.Fatalf("there is no pull request %d", number)
	return Pull{}
}

// serve answers a request: counts it, fails it if it should fail, and checks who
// asks.
func (f *Fake) serve(w http.ResponseWriter, r *http.Request) {
	call := f.callOf(r)
	if call == "" {
		http.NotFound(w, r)
		return
	}
	failure, fails := f.next(call)
	if fails && !failure.after {
		failure.happen(w, r)
		return
	}
	if fails {
		// Do it, but don't answer.
		f.answer(httptest.NewRecorder(), r, call)
		failure.happen(w, r)
		return
	}
	f.answer(w, r, call)
}

func (f *Fake) answer(w http.ResponseWriter, r *http.Request, call Call) {
	if call == FindInstallation || call == AppToken {
		f.answerApp(w, r, call)
		return
	}
	f.mu.Lock()
	readOnly, onlyTips := f.readOnly, f.onlyTips
	f.mu.Unlock()
	writes := slices.Contains([]Call{Push, OpenPull, UpdatePull, DraftPull, Assign}, call) || r.URL.Query().Get("service") == "git-receive-pack"
	switch git := slices.Contains([]Call{Refs, Fetch, Push}, call); {
	case !f.knows(r, git):
		if git {
			w.Header().Set("WWW-Authenticate", `Basic realm="fake"`)
		}
		refuse(w, http.StatusUnauthorized, "Bad credentials")
	case writes && readOnly:
		refuse(w, http.StatusForbidden, "Resource not accessible by this token")
	case git:
		backend := &cgi.Handler{
			Path: f.git, Args: []string{"http-backend"}, Root: "/", Dir: f.dir, Stderr: io.Discard,
			Env: append(environment(), "GIT_PROJECT_ROOT="+filepath.Dir(filepath.Dir(f.dir)), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER="+f.User),
		}
		r.Header.Del("Authorization")
		if onlyTips && call == Fetch {
			id, err := f.unadvertised(r)
			if err != nil {
				refuse(w, http.StatusInternalServerError, err.Error())
				return
			}
			if id != "" {
				w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
				line := "ERR upload-pack: not our ref " + id
				fmt.Fprintf(w, "%04x%s", len(line)+4, line)
				return
			}
		}
		if !strings.HasPrefix(r.URL.Path, "/acme/docs.git/") {
			http.NotFound(w, r)
			return
		}
		backend.ServeHTTP(w, r)
	case call == DraftPull:
		f.graphql(w, r)
	default:
		f.rest(w, r)
	}
}

// knows reports whether a request has the fake's token.
func (f *Fake) knows(r *http.Request, git bool) bool {
	if git {
		_, password, ok := r.BasicAuth()
		return ok && password == f.Token
	}
	switch f.Kind {
	case forge.Gitea, forge.Forgejo:
		return r.Header.Get("Authorization") == "token "+f.Token
	default:
		return r.Header.Get("Authorization") == "Bearer "+f.Token
	}
}
