package forgetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bindery-docs/bindery/shared/service/forge"
)

// pullPath is what follows the address of the repository's pull requests in that
// of a request: "" for all of them, "/7" for one.
func (f *Fake) pullPath(r *http.Request) (string, bool) {
	prefix := map[forge.Kind]string{
		forge.GitHub: "/api/v3/repos/acme/docs/pulls", forge.GitLab: "/api/v4/projects/acme%2Fdocs/merge_requests",
		forge.Gitea: "/api/v1/repos/acme/docs/pulls", forge.Forgejo: "/api/v1/repos/acme/docs/pulls",
	}[f.Kind]
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), prefix)
	return rest, ok && prefix != "" && (rest == "" || rest[0] == '/')
}

// rest answers requests for pull requests in the forge's dialect.
func (f *Fake) rest(w http.ResponseWriter, r *http.Request) {
	rest, _ := f.pullPath(r)
	switch call := f.callOf(r); call {
	case Assign:
		f.assign(w, r)
	case FindUser:
		f.findUsers(w, r)
	case FindPull:
		f.find(w, r, rest)
	case OpenPull:
		f.open(w, r)
	default:
		number, err := strconv.Atoi(strings.TrimPrefix(rest, "/"))
		f.mu.Lock()
		i := slices.IndexFunc(f.pulls, func(p *Pull) bool { return p.Number == number })
		f.mu.Unlock()
		if err != nil || i < 0 {
			refuse(w, http.StatusNotFound, "Not Found")
			return
		}
		f.mu.Lock()
		p := f.pulls[i]
		f.mu.Unlock()
		if call == UpdatePull {
			f.update(w, r, p)
			return
		}
		f.reply(w, http.StatusOK, f.wire(p))
	}
}

// fields are the names of a pull request's fields in requests.
type fields struct {
	Title        *string `json:"title"`
	Head         string  `json:"head"`
	Base         string  `json:"base"`
	Body         *string `json:"body"`
	Draft        bool    `json:"draft"`
	SourceBranch string  `json:"source_branch"`
	TargetBranch string  `json:"target_branch"`
	Description  *string `json:"description"`
	AddLabels    string  `json:"add_labels"`
	ReviewerIDs  []int   `json:"reviewer_ids"`
}

// read reads a request's fields into the names that GitHub and Gitea have.
func (f *Fake) read(w http.ResponseWriter, r *http.Request) (fields, bool) {
	var in fields
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		refuse(w, http.StatusBadRequest, "Problems parsing JSON")
		return in, false
	}
	if f.Kind == forge.GitLab {
		in.Head, in.Base, in.Body = in.SourceBranch, in.TargetBranch, in.Description
	}
	return in, true
}

func (f *Fake) open(w http.ResponseWriter, r *http.Request) {
	in, ok := f.read(w, r)
	if !ok {
		return
	}
	if in.Title == nil || *in.Title == "" || f.Branch(in.Head) == "" || f.Branch(in.Base) == "" {
		f.invalid(w, "Validation Failed")
		return
	}
	if f.Kind != forge.Gitea && f.Kind != forge.Forgejo && f.Branch(in.Head) == f.Branch(in.Base) {
		f.invalid(w, fmt.Sprintf("No commits between %s and %s", in.Base, in.Head))
		return
	}
	if in.Draft && f.noDrafts {
		f.invalid(w, "Draft pull requests are not supported in this repository.")
		return
	}
	f.mu.Lock()
	for _, p := range f.pulls {
		if p.Head == in.Head && p.Base == in.Base && p.State == forge.Open {
			f.mu.Unlock()
			f.duplicate(w, in, p)
			return
		}
	}
	p := &Pull{PullRequest: forge.PullRequest{Number: len(f.pulls) + 1, State: forge.Open, Head: in.Head, Base: in.Base, Draft: in.Draft}}
	p.URL = fmt.Sprintf("%s/acme/docs/%s/%d", f.URL, map[forge.Kind]string{forge.GitHub: "pull", forge.GitLab: "-/merge_requests"}[f.Kind], p.Number)
	if f.Kind == forge.Gitea || f.Kind == forge.Forgejo {
		p.URL = fmt.Sprintf("%s/acme/docs/pulls/%d", f.URL, p.Number)
	}
	f.set(p, in)
	f.pulls = append(f.pulls, p)
	f.mu.Unlock()
	f.reply(w, http.StatusCreated, f.wire(p))
}

// set takes over title and body; where the dialect has drafts by the title, that
// decides.
func (f *Fake) set(p *Pull, in fields) {
	if in.Title != nil {
		p.Title = *in.Title
		switch f.Kind {
		case forge.GitLab:
			p.Draft = strings.HasPrefix(p.Title, "Draft:")
		case forge.Gitea, forge.Forgejo:
			p.Draft = strings.HasPrefix(p.Title, "WIP:")
		}
	}
	if in.Body != nil {
		p.Body = *in.Body
	}
	if f.Kind == forge.GitLab {
		p.setAssigned(in)
	}
}

func (f *Fake) update(w http.ResponseWriter, r *http.Request, p *Pull) {
	in, ok := f.read(w, r)
	if !ok {
		return
	}
	f.mu.Lock()
	f.set(p, in)
	f.mu.Unlock()
	status := http.StatusOK
	if f.Kind == forge.Gitea || f.Kind == forge.Forgejo {
		status = http.StatusCreated
	}
	f.reply(w, status, f.wire(p))
}

func (f *Fake) find(w http.ResponseWriter, r *http.Request, rest string) {
	q := r.URL.Query()
	head, base, state := strings.TrimPrefix(q.Get("head"), "acme:"), q.Get("base"), q.Get("state")
	if f.Kind == forge.GitLab {
		head, base = q.Get("source_branch"), q.Get("target_branch")
	}
	one := rest != ""
	if one { // Gitea's /BASE/HEAD: the one that is open
		base, head, _ = strings.Cut(strings.TrimPrefix(r.URL.Path, "/api/v1/repos/acme/docs/pulls/"), "/")
		state = "open"
	}
	list := []any{}
	f.mu.Lock()
	pulls := slices.Clone(f.pulls)
	f.mu.Unlock()
	slices.Reverse(pulls) // newest first
	for _, p := range pulls {
		open := p.State == forge.Open
		if (head == "" || p.Head == head) && (base == "" || p.Base == base) && (state == "all" || state == "closed" && !open || open && state != "closed") {
			list = append(list, f.wire(p))
		}
	}
	switch {
	case !one:
		f.reply(w, http.StatusOK, list)
	case len(list) == 0:
		refuse(w, http.StatusNotFound, "pull request does not exist")
	default:
		f.reply(w, http.StatusOK, list[0])
	}
}

// wire is a pull request as the forge sends it.
func (f *Fake) wire(p *Pull) map[string]any {
	commit := f.Branch(p.Head)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Kind == forge.GitLab {
		mergedAt, closedAt := any(nil), any(nil)
		switch p.State {
		case forge.Merged:
			mergedAt = wireTime(p.ClosedAt)
		case forge.Closed:
			closedAt = wireTime(p.ClosedAt)
		}
		state := map[forge.State]string{forge.Open: "opened", forge.Merged: "merged", forge.Closed: "closed"}[p.State]
		return map[string]any{
			"id": 1000 + p.Number, "iid": p.Number, "web_url": p.URL, "state": state, "draft": p.Draft, "title": p.Title,
			"description": p.Body, "source_branch": p.Head, "target_branch": p.Base, "sha": commit,
			"merged_at": mergedAt, "closed_at": closedAt, "labels": p.Labels, "reviewers": p.wireReviewers(),
		}
	}
	state, mergedAt, closedAt := "open", any(nil), any(nil)
	if p.State != forge.Open {
		state, closedAt = "closed", wireTime(p.ClosedAt)
	}
	if p.State == forge.Merged {
		mergedAt = closedAt
	}
	m := map[string]any{
		"id": 1000 + p.Number, "number": p.Number, "html_url": p.URL, "state": state, "draft": p.Draft, "title": p.Title, "body": p.Body,
		"merged_at": mergedAt, "closed_at": closedAt, "head": map[string]any{"ref": p.Head, "sha": commit, "label": "acme:" + p.Head}, "base": map[string]any{"ref": p.Base},
	}
	if f.Kind != forge.GitHub {
		m["merged"] = p.State == forge.Merged
	} else {
		m["node_id"] = nodeID(p.Number)
	}
	return m
}

// nodeID is the name of a pull request in GitHub's GraphQL interface.
func nodeID(number int) string { return fmt.Sprintf("PR_node%d", number) }

// graphql answers GitHub's mutations that make a pull request a draft or ready.
func (f *Fake) graphql(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Query     string            `json:"query"`
		Variables map[string]string `json:"variables"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		refuse(w, http.StatusBadRequest, "Problems parsing JSON")
		return
	}
	fail := func(kind, message string) {
		f.reply(w, http.StatusOK, map[string]any{"data": nil, "errors": []any{map[string]any{"type": kind, "message": message}}})
	}
	draft := strings.Contains(in.Query, "convertPullRequestToDraft(")
	if !draft && !strings.Contains(in.Query, "markPullRequestReadyForReview(") {
		fail("undefinedField", "Field doesn't exist on type 'Mutation'")
		return
	}
	if f.noDrafts && draft {
		fail("UNPROCESSABLE", "Draft pull requests are not supported in this repository.")
		return
	}
	f.mu.Lock()
	i := slices.IndexFunc(f.pulls, func(p *Pull) bool { return nodeID(p.Number) == in.Variables["id"] })
	if i >= 0 {
		f.pulls[i].Draft = draft
	}
	f.mu.Unlock()
	if i < 0 {
		fail("NOT_FOUND", "Could not resolve to a node with the global id of '"+in.Variables["id"]+"'.")
		return
	}
	f.reply(w, http.StatusOK, map[string]any{"data": map[string]any{}})
}

// Edit changes a pull request as people do.
func (f *Fake) Edit(number int, change func(p *Pull)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.pulls {
		if p.Number == number {
			change(p)
		}
	}
}

// wireTime is a time as a forge sends it, null for none.
func wireTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// invalid refuses a pull request as the forge does.
func (f *Fake) invalid(w http.ResponseWriter, why string) {
	switch f.Kind {
	case forge.GitHub:
		f.reply(w, http.StatusUnprocessableEntity, map[string]any{
			"message": "Validation Failed", "errors": []any{map[string]any{"resource": "PullRequest", "code": "custom", "message": why}},
		})
	case forge.GitLab:
		f.reply(w, http.StatusBadRequest, map[string]any{"message": map[string]any{"source_branch": []string{why}}})
	default:
		refuse(w, http.StatusNotFound, "The target couldn't be found.")
	}
}

// duplicate refuses a second pull request for a branch as the forge does.
func (f *Fake) duplicate(w http.ResponseWriter, in fields, p *Pull) {
	switch f.Kind {
	case forge.GitHub:
		f.invalid(w, "A pull request already exists for acme:"+in.Head+".")
	case forge.GitLab:
		f.reply(w, http.StatusConflict, map[string]any{"message": []string{fmt.Sprintf("Another open merge request already exists for this source branch: !%d", p.Number)}})
	default:
		refuse(w, http.StatusConflict, fmt.Sprintf("pull request already exists for these targets [id: %d, issue_id: %d]", p.Number, p.Number))
	}
}

func (f *Fake) reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		f.tb.Log(err)
	}
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "{\"message\":%q}\n", message)
}
