package forge_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bindery-docs/bindery/shared/base/remote/remotetest"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
)

const secret = "ghp_s3cr3t/Tok+en=="

// answer is what a recorded forge says to one request.
type answer struct {
	call   string // method and path that must be asked, with the query if it has one
	status int
	header string // "Name: value"
	body   string
}

// recorded is a forge that sends its answers one after another, and what it was
// asked.
type recorded struct {
	t       *testing.T
	mu      sync.Mutex
	answers []answer
	heard   []string // bodies
	auth    []string
}

func (s *recorded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	s.heard, s.auth = append(s.heard, string(body)), append(s.auth, r.Header.Get("Authorization"))
	asked := r.Method + " " + r.URL.EscapedPath()
	if len(s.answers) == 0 {
		s.t.Errorf("%s is one request too many", asked)
		http.Error(w, "", http.StatusTeapot)
		return
	}
	a := s.answers[0]
	s.answers = s.answers[1:]
	if strings.Contains(a.call, "?") {
		asked = r.Method + " " + r.URL.RequestURI()
	}
	if asked != a.call {
		s.t.Errorf("asked was %s, want %s", asked, a.call)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if name, value, ok := strings.Cut(a.header, ": "); ok {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

// record makes a forge of recorded answers and a Forge that asks it.
func record(t *testing.T, kind forge.Kind, logs io.Writer, answers ...answer) (*recorded, *forge.Forge, forge.Repository) {
	t.Helper()
	s := &recorded{t: t, answers: answers}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	f, r := s.forge(kind, logs, server.URL, nil)
	return s, f, r
}

// recordInMemory is record for tests that wait: within synctest they need not.
func recordInMemory(t *testing.T, kind forge.Kind, logs io.Writer, answers ...answer) (*recorded, *forge.Forge, forge.Repository) {
	t.Helper()
	s := &recorded{t: t, answers: answers}
	server, network := remotetest.NewServer(t, s)
	server.Start()
	f, r := s.forge(kind, logs, server.URL, &http.Client{Transport: network.Transport(t)})
	return s, f, r
}

// forge makes a Forge that asks s at an address.
func (s *recorded) forge(kind forge.Kind, logs io.Writer, address string, client *http.Client) (*forge.Forge, forge.Repository) {
	t := s.t
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	r, err := forge.ParseRepository(address+"/acme/docs", kind, "")
	if err != nil {
		t.Fatal(err)
	}
	f, err := forge.New(forge.Options{
		Client: client, Credentials: forge.Static(forge.Credential{Token: secret}), AllowPrivate: []string{u.Host}, AllowHTTP: true,
		Retry: forge.Retry{Pause: time.Millisecond, MaxPause: 1500 * time.Millisecond}, Logger: slog.New(slog.NewTextHandler(logs, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.answers) > 0 {
			t.Errorf("%d answers were not asked for, the next to %s", len(s.answers), s.answers[0].call)
		}
	})
	return f, r
}

// What the forges send, cut down to what matters and something beside.
const (
	githubPull = `{"url":"https://api.github.com/x","id":1,"number":1347,"html_url":"https://github.com/acme/docs/pull/1347","state":"open","locked":false,
		"title":"Add a page","draft":true,"merged_at":null,"head":{"label":"acme:bindery/1","ref":"bindery/1","sha":"6dcb09b5b57875f334f61aebed695e2e4193db5e","repo":{"full_name":"acme/docs"}},
		"base":{"label":"acme:main","ref":"main","sha":"6dcb09b5b57875f334f61aebed695e2e4193db5f","repo":{"full_name":"acme/docs"}},"user":{"login":"bindery[bot]"}}`
	githubDuplicate = `{"message":"Validation Failed","errors":[{"resource":"PullRequest","code":"custom","message":"A pull request already exists for acme:bindery/1."}],"documentation_url":"https://docs.github.com/rest","status":"422"}`
	githubSame      = `{"message":"Validation Failed","errors":[{"resource":"PullRequest","code":"custom","message":"No commits between main and bindery/1"}],"status":"422"}`
	githubNoDraft   = `{"message":"Draft pull requests are not supported in this repository.","documentation_url":"https://docs.github.com/rest","status":"422"}`
	gitlabPull      = `{"id":1,"iid":7,"project_id":3,"title":"Draft: Add a page","description":"So","state":"opened","draft":true,"work_in_progress":true,"source_branch":"bindery/1",
		"target_branch":"main","source_project_id":3,"target_project_id":3,"sha":"8888888888888888888888888888888888888888","web_url":"https://gitlab.example.com/acme/docs/-/merge_requests/7","merged_at":null}`
	gitlabDuplicate = `{"message":["Another open merge request already exists for this source branch: !7"]}`
	giteaPull       = `{"id":5,"number":3,"html_url":"https://gitea.example.com/acme/docs/pulls/3","state":"open","is_locked":false,"title":"WIP: Add a page","draft":true,"merged":false,"merged_at":null,
		"head":{"label":"bindery/1","ref":"bindery/1","sha":"7777777777777777777777777777777777777777","repo_id":1,"repo":{"full_name":"acme/docs"}},"base":{"label":"main","ref":"main","repo_id":1,"repo":{"full_name":"acme/docs"}}}`
	giteaDuplicate = `{"message":"pull request already exists for these targets [id: 5, issue_id: 3, head_repo_id: 1, base_repo_id: 1, head_branch: bindery/1, base_branch: main]","url":"https://gitea.example.com/api/swagger"}`

	hubPulls, hubOne   = "/api/v3/repos/acme/docs/pulls", "/api/v3/repos/acme/docs/pulls/1347"
	labPulls, labOne   = "/api/v4/projects/acme%2Fdocs/merge_requests", "/api/v4/projects/acme%2Fdocs/merge_requests/7"
	teaPulls, teaFound = "/api/v1/repos/acme/docs/pulls", "/api/v1/repos/acme/docs/pulls/main/bindery/1"
)

func TestOpenPull(t *testing.T) {
	draft := forge.Pull{Head: "bindery/1", Base: "main", Title: " Add\n a page ", Body: "So", Draft: true}
	hubFind := answer{"GET " + hubPulls + "?base=main&direction=desc&head=acme%3Abindery%2F1&per_page=50&sort=created&state=all", 200, "", "[]"}
	labFind := answer{"GET " + labPulls + "?order_by=created_at&per_page=50&sort=desc&source_branch=bindery%2F1&state=all&target_branch=main", 200, "", "[]"}
	teaFind := answer{"GET " + teaFound, 404, "", `{"message":"pull request does not exist"}`}
	teaList := answer{"GET " + teaPulls + "?state=all&sort=recentupdate&limit=50&page=1", 200, "", "[]"}
	fork := strings.Replace(githubPull, `"repo":{"full_name":"acme/docs"}`, `"repo":{"full_name":"eve/docs"}`, 1)
	closed := strings.Replace(githubPull, `"open"`, `"closed"`, 1)
	merged := strings.Replace(closed, `"merged_at":null`, `"merged_at":"2026-01-01T00:00:00Z"`, 1)
	for _, c := range []struct {
		name    string
		kind    forge.Kind
		answers []answer
		number  int
		code    string
		says    string // in the message
		sent    string // in the last request
	}{
		{"GitHub", forge.GitHub, []answer{hubFind, {"POST " + hubPulls, 201, "", githubPull}}, 1347, "", "", `{"base":"main","body":"So","draft":true,"head":"bindery/1","title":"Add a page"}`},
		{"GitHub has it", forge.GitHub, []answer{{hubFind.call, 200, "", "[" + githubPull + "]"}}, 1347, "", "", ""},
		{"GitHub has a fork's", forge.GitHub, []answer{{hubFind.call, 200, "", "[" + fork + "]"}, {"POST " + hubPulls, 201, "", githubPull}}, 1347, "", "", ""},
		{"GitHub has old ones", forge.GitHub, []answer{{hubFind.call, 200, "", "[" + closed + "," + merged + "]"}, {"POST " + hubPulls, 201, "", githubPull}}, 1347, "", "", ""},
		{"GitHub, somebody was quicker", forge.GitHub, []answer{hubFind, {"POST " + hubPulls, 422, "", githubDuplicate}, {hubFind.call, 200, "", "[" + githubPull + "]"}}, 1347, "", "", ""},
		{"GitHub, nothing changed", forge.GitHub, []answer{hubFind, {"POST " + hubPulls, 422, "", githubSame}, hubFind}, 0, "pull_refused", "No commits between main and bindery/1", ""},
		{"GitHub has no drafts", forge.GitHub, []answer{hubFind, {"POST " + hubPulls, 422, "", githubNoDraft}, {"POST " + hubPulls, 201, "", githubPull}}, 1347, "", "", `"draft":false,"head":"bindery/1","title":"Draft: Add a page"`},
		{"GitHub, a token that may not", forge.GitHub, []answer{hubFind, {"POST " + hubPulls, 403, "", `{"message":"Resource not accessible by integration"}`}}, 0, "forge_credential", "", ""},
		{"GitHub, too many at once", forge.GitHub, []answer{hubFind, {"POST " + hubPulls, 403, "Retry-After: 1", `{"message":"You have exceeded a secondary rate limit"}`}, hubFind, {"POST " + hubPulls, 201, "", githubPull}}, 1347, "", "", ""},
		{"GitLab", forge.GitLab, []answer{labFind, {"POST " + labPulls, 201, "", gitlabPull}}, 7, "", "", `{"description":"So","source_branch":"bindery/1","target_branch":"main","title":"Draft: Add a page"}`},
		{"GitLab has it", forge.GitLab, []answer{{labFind.call, 200, "", "[" + gitlabPull + "]"}}, 7, "", "", ""},
		{"GitLab, somebody was quicker", forge.GitLab, []answer{labFind, {"POST " + labPulls, 409, "", gitlabDuplicate}, {labFind.call, 200, "", "[" + gitlabPull + "]"}}, 7, "", "", ""},
		{"GitLab refuses", forge.GitLab, []answer{labFind, {"POST " + labPulls, 400, "", `{"message":{"source_branch":["is invalid"]}}`}, labFind}, 0, "pull_refused", "is invalid", ""},
		{"GitLab, insufficient scope", forge.GitLab, []answer{{labFind.call, 403, "", `{"error":"insufficient_scope","error_description":"The request requires higher privileges than provided by the access token."}`}}, 0, "forge_credential", "", ""},
		{"Gitea", forge.Gitea, []answer{teaFind, teaList, {"POST " + teaPulls, 201, "", giteaPull}}, 3, "", "", `{"base":"main","body":"So","head":"bindery/1","title":"WIP: Add a page"}`},
		{"Gitea has it", forge.Gitea, []answer{{teaFind.call, 200, "", giteaPull}}, 3, "", "", ""},
		{"Forgejo has it", forge.Forgejo, []answer{{teaFind.call, 200, "", giteaPull}}, 3, "", "", ""},
		{"Gitea, somebody was quicker", forge.Gitea, []answer{teaFind, teaList, {"POST " + teaPulls, 409, "", giteaDuplicate}, {teaFind.call, 200, "", giteaPull}}, 3, "", "", ""},
		{"Gitea has no such branch", forge.Gitea, []answer{teaFind, teaList, {"POST " + teaPulls, 404, "", `{"message":"The target couldn't be found."}`}, teaFind, teaList}, 0, "pull_refused", "target couldn't be found", ""},
		{"a server error, then done", forge.GitLab, []answer{labFind, {"POST " + labPulls, 502, "Content-Type: text/html", "<html>"}, {labFind.call, 200, "", "[" + gitlabPull + "]"}}, 7, "", "", ""},
		{"server errors for ever", forge.GitLab, []answer{{labFind.call, 500, "", ""}, {labFind.call, 503, "", ""}, {labFind.call, 500, "", ""}}, 0, "repository_unreachable", "status 500", ""},
		{"no such repository", forge.GitLab, []answer{{labFind.call, 404, "", `{"message":"404 Project Not Found"}`}}, 0, "repository_not_found", "", ""},
		{"a wrong token", forge.GitHub, []answer{{hubFind.call, 401, "", `{"message":"Bad credentials"}`}}, 0, "forge_credential", "", ""},
		{"a page instead of JSON", forge.GitHub, []answer{{hubFind.call, 200, "Content-Type: text/html", "<html>sign in</html>"}}, 0, "repository_unreachable", "did not answer with JSON", ""},
		{"an answer that is cut", forge.GitHub, []answer{{hubFind.call, 200, "", "[" + githubPull[:99]}, hubFind, {"POST " + hubPulls, 201, "", githubPull}}, 1347, "", "", ""},
		{"wait a little", forge.GitHub, []answer{{hubFind.call, 429, "Retry-After: 1", ""}, {hubFind.call, 200, "", "[" + githubPull + "]"}}, 1347, "", "", ""},
		{"wait an hour", forge.GitHub, []answer{{hubFind.call, 429, "Retry-After: 3600", ""}}, 0, "forge_rate_limited", "", ""},
		{"wait for ever", forge.GitHub, []answer{{hubFind.call, 429, "Retry-After: 99999999999999999", ""}}, 0, "forge_rate_limited", "", ""},
		{"a redirect to another host", forge.GitHub, []answer{{hubFind.call, 302, "Location: https://evil.example/x", ""}}, 0, "repository_unreachable", "another host", ""},
		{"a new address", forge.GitHub, []answer{hubFind, {"POST " + hubPulls, 301, "Location: /api/v3/repositories/1/pulls", ""}}, 0, "repository_unreachable", "use its new address", ""},
		{"a new address that keeps the method", forge.GitHub, []answer{hubFind, {"POST " + hubPulls, 307, "Location: /api/v3/repositories/1/pulls", ""}, {"POST /api/v3/repositories/1/pulls", 201, "", githubPull}}, 1347, "", "", `"title":"Add a page"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, f, r := recordInMemory(t, c.kind, io.Discard, c.answers...)
				p, err := f.OpenPull(t.Context(), r, draft)
				if c.code != "" {
					e, ok := errors.AsType[*forge.Error](err)
					if !ok || e.Code() != c.code || !strings.Contains(e.SafeMessage(), c.says) {
						t.Fatalf("%+v, %v", p, err)
					}
					if c.code == "forge_rate_limited" && e.RetryAfter < time.Hour {
						t.Errorf("wait %s", e.RetryAfter)
					}
					return
				}
				if err != nil || p.Number != c.number || p.State != forge.Open || p.Head != "bindery/1" || p.Base != "main" || !p.Draft || len(p.HeadCommit) != 40 || !strings.Contains(p.URL, "/acme/docs/") {
					t.Fatalf("%+v, %v", p, err)
				}
				if last := s.heard[len(s.heard)-1]; !strings.Contains(last, c.sent) {
					t.Errorf("sent was %s, want %s", last, c.sent)
				}
				for _, auth := range s.auth {
					if want := map[forge.Kind]string{forge.Gitea: "token ", forge.Forgejo: "token "}[c.kind]; auth != want+secret && auth != "Bearer "+secret {
						t.Errorf("the credential went as %q", auth)
					}
				}
			})
		})
	}
}

// Labels and reviewers are asked for one by one, in each forge's words.
func TestAssignPull(t *testing.T) {
	most := forge.Assignment{Labels: []string{"docs", "none"}, Reviewers: []string{"ada", "acme/writers"}}
	hub, tea := "/api/v3/repos/acme/docs", "/api/v1/repos/acme/docs"
	for name, c := range map[string]struct {
		kind    forge.Kind
		want    forge.Assignment // most if it is empty
		answers []answer
		heard   []string
		refused []string
		err     error
	}{
		"GitHub": {kind: forge.GitHub, answers: []answer{
			{"POST " + hub + "/issues/7/labels", 200, "", `[{"id":1,"name":"docs"}]`},
			{"POST " + hub + "/issues/7/labels", 200, "", `[{"id":1,"name":"docs"},{"id":2,"name":"none"}]`},
			{"POST " + hub + "/pulls/7/requested_reviewers", 422, "", `{"message":"Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the acme/docs repository.","status":"422"}`},
			{"POST " + hub + "/pulls/7/requested_reviewers", 201, "", githubPull},
		}, heard: []string{`{"labels":["docs"]}`, `{"labels":["none"]}`, `{"reviewers":["ada"]}`, `{"team_reviewers":["writers"]}`},
			refused: []string{`reviewer "ada": Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the acme/docs repository.`}},
		"Gitea": {kind: forge.Gitea, answers: []answer{
			{"POST " + tea + "/issues/7/labels", 200, "", `[{"id":1,"name":"docs"}]`},
			{"POST " + tea + "/issues/7/labels", 200, "", `[{"id":1,"name":"docs"}]`},
			{"POST " + tea + "/pulls/7/requested_reviewers", 201, "", `[]`},
			{"POST " + tea + "/pulls/7/requested_reviewers", 404, "", `{"message":"team does not exist"}`},
		}, heard: []string{`{"labels":["docs"]}`, `{"labels":["none"]}`, `{"reviewers":["ada"]}`, `{"team_reviewers":["writers"]}`},
			refused: []string{`label "none": the repository has no such label`, `reviewer "acme/writers": team does not exist`}},
		"GitLab": {kind: forge.GitLab, answers: []answer{
			{"PUT " + labOne, 200, "", gitlabPull},
			{"PUT " + labOne, 200, "", gitlabPull},
			{"GET /api/v4/users?username=ada", 200, "", `[{"id":5,"username":"ada"}]`},
			{"GET " + labOne, 200, "", `{"iid":7,"reviewers":[{"id":3,"username":"grace"}]}`},
			{"PUT " + labOne, 200, "", `{"iid":7,"reviewers":[{"id":3,"username":"grace"},{"id":5,"username":"ada"}]}`},
			{"GET /api/v4/users?username=acme%2Fwriters", 200, "", `[]`},
		}, heard: []string{`{"add_labels":"docs"}`, `{"add_labels":"none"}`, "", "", `{"reviewer_ids":[3,5]}`, ""},
			refused: []string{`reviewer "acme/writers": there is no such user`}},
		"GitLab with one reviewer": {kind: forge.GitLab, answers: []answer{
			{"PUT " + labOne, 200, "", gitlabPull},
			{"PUT " + labOne, 200, "", gitlabPull},
			{"GET /api/v4/users?username=ada", 200, "", `[{"id":5,"username":"ada"}]`},
			{"GET " + labOne, 200, "", `{"iid":7,"reviewers":[{"id":3,"username":"grace"}]}`},
			{"PUT " + labOne, 200, "", `{"iid":7,"reviewers":[{"id":3,"username":"grace"}]}`},
			{"GET /api/v4/users?username=acme%2Fwriters", 200, "", `[{"id":9,"username":"acme"}]`},
		}, heard: []string{`{"add_labels":"docs"}`, `{"add_labels":"none"}`, "", "", `{"reviewer_ids":[3,5]}`, ""},
			refused: []string{`reviewer "ada": GitLab did not take this user beside the other reviewers`, `reviewer "acme/writers": there is no such user`}},
		"a team of another owner": {kind: forge.GitHub, want: forge.Assignment{Reviewers: []string{"Acme/writers", "other/writers"}}, answers: []answer{
			{"POST " + hub + "/pulls/7/requested_reviewers", 201, "", githubPull},
		}, heard: []string{`{"team_reviewers":["writers"]}`}, refused: []string{`reviewer "other/writers": only teams of acme can review`}},
		"a credential without the right": {kind: forge.Gitea, answers: []answer{
			{"POST " + tea + "/issues/7/labels", 403, "", `{"message":"token does not have at least one of required scope(s)"}`},
			{"POST " + tea + "/issues/7/labels", 401, "", `{"message":"token is expired"}`},
		}, heard: []string{`{"labels":["docs"]}`, `{"labels":["none"]}`}, err: forge.ErrCredential,
			refused: []string{`label "docs": token does not have at least one of required scope(s)`}},
	} {
		t.Run(name, func(t *testing.T) {
			s, f, r := record(t, c.kind, io.Discard, c.answers...)
			if c.want.Empty() {
				c.want = most
			}
			refused, err := f.AssignPull(t.Context(), r, 7, c.want)
			if !errors.Is(err, c.err) || !slices.Equal(refused, c.refused) {
				t.Errorf("refused %q, %v", refused, err)
			}
			if !slices.Equal(s.heard, c.heard) {
				t.Errorf("asked %q", s.heard)
			}
		})
	}
}

// The link of a pull request stays on the repository's scheme and host, whatever a forge
// answers.
func TestPullLinkStaysOnItsHost(t *testing.T) {
	sent := regexp.MustCompile(`"(html_url|web_url)":"[^"]*"`)
	for _, c := range []struct {
		kind       forge.Kind
		call, body string
		number     int
		page       string // below the repository's address
	}{
		{forge.GitHub, hubOne, githubPull, 1347, "/pull/1347"},
		{forge.GitLab, labOne, gitlabPull, 7, "/-/merge_requests/7"},
		{forge.Gitea, teaPulls + "/3", giteaPull, 3, "/pulls/3"},
		{forge.Forgejo, teaPulls + "/3", giteaPull, 3, "/pulls/3"},
	} {
		for _, link := range []string{
			"", "https://evil.example/acme/docs/pull/1", "//evil.example/1", "javascript:alert(1)", `http://evil.example/\"><script>`,
			"http://user@HOST/acme/docs/pull/1", "https://HOST/acme/docs/pull/1", "http://HOST.evil.example/1", "http://HOST\\\\@evil.example/1", "http://HOST/?to=//evil.example",
		} {
			s, f, r := record(t, c.kind, io.Discard)
			s.answers = []answer{{"GET " + c.call, 200, "", sent.ReplaceAllLiteralString(c.body, `"html_url":"`+strings.ReplaceAll(link, "HOST", r.Host())+`","web_url":"`+strings.ReplaceAll(link, "HOST", r.Host())+`"`)}}
			p, err := f.Pull(t.Context(), r, c.number)
			if err != nil || p.URL != r.URL+c.page {
				t.Errorf("%s, the forge sent %q: the link is %q, %v; want %q", c.kind, link, p.URL, err, r.URL+c.page)
			}
		}
		s, f, r := record(t, c.kind, io.Discard)
		s.answers = []answer{{"GET " + c.call, 200, "", sent.ReplaceAllLiteralString(c.body, `"html_url":"`+r.URL+`/changes/9","web_url":"`+r.URL+`/changes/9"`)}}
		if p, err := f.Pull(t.Context(), r, c.number); err != nil || p.URL != r.URL+"/changes/9" {
			t.Errorf("%s: the link is %q, %v", c.kind, p.URL, err)
		}
	}
}

// Where a pull request stands, in the words of each forge.
func TestPullStates(t *testing.T) {
	for _, c := range []struct {
		kind          forge.Kind
		call, old, to string
		body          string
		want          forge.State
	}{
		{forge.GitHub, hubOne, "", "", githubPull, forge.Open},
		{forge.GitHub, hubOne, `"open"`, `"closed"`, githubPull, forge.Closed},
		{forge.GitHub, hubOne, `"state":"open"`, `"state":"closed","merged":true`, githubPull, forge.Merged},
		{forge.GitLab, labOne, "", "", gitlabPull, forge.Open},
		{forge.GitLab, labOne, `"opened"`, `"locked"`, gitlabPull, forge.Open},
		{forge.GitLab, labOne, `"opened"`, `"closed"`, gitlabPull, forge.Closed},
		{forge.GitLab, labOne, `"opened"`, `"merged"`, gitlabPull, forge.Merged},
		{forge.Gitea, teaPulls + "/3", `"open"`, `"closed"`, giteaPull, forge.Closed},
		{forge.Gitea, teaPulls + "/3", `"merged":false`, `"merged":true`, giteaPull, forge.Merged},
	} {
		_, f, r := record(t, c.kind, io.Discard, answer{"GET " + c.call, 200, "", strings.Replace(c.body, c.old, c.to, 1)}, answer{"GET " + c.call, 404, "", "{}"})
		number := map[forge.Kind]int{forge.GitHub: 1347, forge.GitLab: 7, forge.Gitea: 3}[c.kind]
		if p, err := f.Pull(t.Context(), r, number); err != nil || p.State != c.want || p.Number != number {
			t.Errorf("%s %s: %+v, %v", c.kind, c.to, p, err)
		}
		if _, err := f.Pull(t.Context(), r, number); !errors.Is(err, forge.ErrPullNotFound) {
			t.Errorf("%s: %v", c.kind, err)
		}
	}
}

// Nothing that leaves the package carries the credential, whatever a forge does
// with it: no error, no log, no credential that is printed.
func TestNoSecretLeaves(t *testing.T) {
	var logs bytes.Buffer
	basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + secret))
	echo := `{"message":"no: ` + secret + ` ` + url.QueryEscape(secret) + ` Basic ` + basic + ` https://x:` + url.PathEscape(secret) + `@h/p?token=` + url.QueryEscape(secret) + `"}`
	leaks := func(what, text string) {
		t.Helper()
		for _, s := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), basic, "s3cr3t", basic[8:40]} {
			if strings.Contains(text, s) {
				t.Errorf("%s has the token: %s", what, text)
			}
		}
	}
	statuses := []int{400, 401, 403, 404, 409, 422, 429, 500, 302, 200}
	for _, kind := range forge.Kinds() {
		for _, status := range statuses {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", "http://"+url.PathEscape(secret)+".example/"+url.PathEscape(secret))
				w.Header().Set("Content-Type", secret)
				w.WriteHeader(status)
				_, _ = io.WriteString(w, echo+r.Header.Get("Authorization"))
			}))
			u, _ := url.Parse(server.URL)
			r, err := forge.ParseRepository(server.URL+"/acme/docs", kind, "")
			if err != nil {
				t.Fatal(err)
			}
			f, err := forge.New(forge.Options{
				Credentials: forge.Static(forge.Credential{Token: secret, Username: "x-access-token"}), AllowPrivate: []string{u.Host}, AllowHTTP: true,
				Retry: forge.Retry{Attempts: 1}, Logger: slog.New(slog.NewJSONHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug})), TempDir: t.TempDir(),
			})
			if err != nil {
				t.Fatal(err)
			}
			ctx := t.Context()
			_, e1 := f.Fetch(ctx, r, "")
			_, e2 := f.OpenPull(ctx, r, forge.Pull{Head: "a", Base: "main", Title: "t"})
			_, e3 := f.UpdatePull(ctx, r, 1, forge.Pull{Title: "t"})
			_, e4 := f.Branch(ctx, r, "main")
			e5 := f.Push(ctx, r, "a", &forge.Commit{}, "")
			for i, err := range []error{e1, e2, e3, e4, e5} {
				if err == nil {
					t.Errorf("%s %d: call %d is a success", kind, status, i)
					continue
				}
				leaks(fmt.Sprintf("%s %d: error %d", kind, status, i), fmt.Sprintf("%v %+v %#v %s", err, err, err, err.(*forge.Error).SafeMessage()))
			}
			server.Close()
			_, gone := f.Fetch(ctx, r, "")
			leaks("a server that is gone", gone.Error())
		}
	}
	leaks("the log", logs.String())
	if logs.Len() == 0 {
		t.Error("nothing is logged")
	}
	c := forge.Credential{Username: "u", Token: secret}
	data, err := json.Marshal(map[string]any{"a": c, "b": &c})
	if err != nil {
		t.Fatal(err)
	}
	logs.Reset()
	slog.New(slog.NewJSONHandler(&logs, nil)).Info("x", "c", c, "o", forge.Options{Credentials: forge.Static(c)})
	leaks("a credential", fmt.Sprintf("%v %+v %#v %s %q %x %d", c, c, c, c, c, c, &c)+string(data)+logs.String()+fmt.Sprintf("%+v %#v", forge.Static(c), forge.Options{Credentials: forge.Static(c)}))
}

// Private addresses are asked where the operator names the host, and nowhere else;
// a redirect leads to none.
func TestPrivateAddresses(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	t.Cleanup(server.Close)
	port := server.URL[strings.LastIndexByte(server.URL, ':'):]
	for _, o := range []forge.Options{
		{AllowHosts: []string{"localtest.example" + port}},
		{AllowHosts: []string{"*.example" + port}, AllowPrivate: []string{"other.example" + port}, AllowHTTP: true},
	} {
		o.Retry.Attempts = 1
		f, err := forge.New(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, address := range []string{server.URL, "http://localhost" + port, "https://127.0.0.1" + port} {
			r := forge.Repository{Kind: forge.Gitea, URL: address + "/acme/docs"}
			if _, err := f.Fetch(t.Context(), r, ""); !errors.Is(err, forge.ErrHost) {
				t.Errorf("%s: %v", address, err)
			}
			r = forge.Repository{Kind: forge.Gitea, URL: "https://localtest.example" + port + "/a/b", API: address + "/api/v1"}
			if _, _, err := f.FindPull(t.Context(), r, "a", ""); !errors.Is(err, forge.ErrHost) {
				t.Errorf("%s: %v", address, err)
			}
		}
	}
	if asked > 0 {
		t.Errorf("asked %d times", asked)
	}
}

// A context that ends while a forge is waited for ends the wait.
func TestWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, f, r := recordInMemory(t, forge.GitHub, io.Discard, answer{"GET " + hubOne, 429, "Retry-After: 1", ""})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := f.Pull(ctx, r, 1347); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, forge.ErrRateLimited) {
			t.Error(err)
		}
	})
}

// When a pull request was merged or closed is known, if the forge says it.
func TestClosedAt(t *testing.T) {
	for _, kind := range []forge.Kind{forge.GitHub, forge.GitLab, forge.Gitea} {
		t.Run(string(kind), func(t *testing.T) {
			fake := forgetest.New(t, forgetest.Dialect(kind))
			fake.Write("main", map[string]string{"a.mdx": "# A\n"})
			f, r := fake.Forge(), fake.Repository()
			for _, end := range []func(int){fake.Close, fake.Merge} {
				fake.Write("bindery/1", map[string]string{"a.mdx": "# B\n"})
				p, err := f.OpenPull(t.Context(), r, forge.Pull{Head: "bindery/1", Base: "main", Title: "x"})
				if err != nil || !p.ClosedAt.IsZero() {
					t.Fatalf("%+v, %v", p, err)
				}
				end(p.Number)
				if p, err = f.Pull(t.Context(), r, p.Number); err != nil || !p.ClosedAt.Equal(fake.ClosedAt) {
					t.Errorf("%+v, %v", p, err)
				}
			}
		})
	}
}
