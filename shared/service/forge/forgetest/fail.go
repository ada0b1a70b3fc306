package forgetest

import (
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/forge"
)

// Call is a kind of request to a Fake.
type Call string

// Calls of a forge.
const (
	Refs       Call = "refs"        // the list of branches, before each fetch and each push
	Fetch      Call = "fetch"       // git-upload-pack
	Push       Call = "push"        // git-receive-pack
	FindPull   Call = "find-pull"   // lists of pull requests
	OpenPull   Call = "open-pull"   // a new pull request
	UpdatePull Call = "update-pull" // its text
	GetPull    Call = "get-pull"    // one pull request
	Assign     Call = "assign"      // a label or a reviewer, but for GitLab: UpdatePull
	FindUser   Call = "find-user"   // GitLab's search for a user
	DraftPull  Call = "draft-pull"  // GitHub's mutations that make one a draft or ready

	FindInstallation Call = "find-installation" // of a GitHub App, for the repository
	AppToken         Call = "app-token"         // a token of the installation
)

// Calls returns every kind of request but those of GitHub alone.
func Calls() []Call { return []Call{Refs, Fetch, Push, FindPull, OpenPull, UpdatePull, GetPull} }

// Failure is a way to fail.
type Failure struct {
	status int
	body   string
	header http.Header
	delay  time.Duration
	after  bool
	cut    bool
	stall  bool
}

// Status answers with a status and nothing done. Pairs are headers: name, value.
func Status(status int, body string, pairs ...string) Failure {
	f := Failure{status: status, body: body, header: http.Header{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		f.header.Set(pairs[i], pairs[i+1])
	}
	return f
}

// Kill cuts the connection with nothing done.
func Kill() Failure { return Failure{cut: true} }

// KillAfter does what was asked for and cuts the connection instead of answering.
func KillAfter() Failure { return Failure{cut: true, after: true} }

// Slow waits, then cuts the connection with nothing done.
func Slow(d time.Duration) Failure { return Failure{delay: d, cut: true} }

// Stall sends no response until the client disconnects.
func Stall() Failure { return Failure{stall: true, cut: true} }

// happen answers a request in this way.
func (f Failure) happen(w http.ResponseWriter, r *http.Request) {
	time.Sleep(f.delay)
	if f.stall {
		_, _ = io.Copy(io.Discard, r.Body) // without this the server does not notice the disconnect
		<-r.Context().Done()
	}
	if f.cut {
		panic(http.ErrAbortHandler)
	}
	for name, values := range f.header {
		w.Header()[name] = values
	}
	w.WriteHeader(f.status)
	_, _ = w.Write([]byte(f.body))
}

// FailNext makes the next calls of a kind fail, one for each failure, before any
// that earlier calls added.
func (f *Fake) FailNext(call Call, failures ...Failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures[call] = append(append([]Failure(nil), failures...), f.failures[call]...)
}

// FailAlways makes all calls of a kind fail until Heal.
func (f *Fake) FailAlways(call Call, failure Failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.always[call] = failure
}

// Heal ends all failures.
func (f *Fake) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.failures)
	clear(f.always)
}

// Count is how many calls of a kind there were, those that failed among them.
func (f *Fake) Count(call Call) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[call]
}

// next counts a call and returns the failure that it is to have.
func (f *Fake) next(call Call) (Failure, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[call]++
	if list := f.failures[call]; len(list) > 0 {
		f.failures[call] = list[1:]
		return list[0], true
	}
	failure, ok := f.always[call]
	return failure, ok
}

// callOf returns the kind of a request, "" if a forge has no such address.
func (f *Fake) callOf(r *http.Request) Call {
	path := r.URL.Path
	switch {
	case strings.HasSuffix(path, "/info/refs"):
		return Refs
	case strings.HasSuffix(path, "/git-upload-pack"):
		return Fetch
	case strings.HasSuffix(path, "/git-receive-pack"):
		return Push
	}
	if f.Kind == forge.GitHub && path == "/api/graphql" {
		return DraftPull
	}
	if call := f.appCall(r); call != "" {
		return call
	}
	if _, _, ok := f.assignPath(r); ok {
		return Assign
	}
	if f.Kind == forge.GitLab && path == "/api/v4/users" {
		return FindUser
	}
	rest, ok := f.pullPath(r)
	switch {
	case !ok:
		return ""
	case r.Method == http.MethodPost:
		return OpenPull
	case r.Method == http.MethodPatch || r.Method == http.MethodPut:
		return UpdatePull
	case rest == "" || strings.Count(rest, "/") > 1: // /BASE/HEAD at Gitea
		return FindPull
	}
	return GetPull
}
