package forgetest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/service/forge"
)

// The labels, users and teams of a Fake's repository. On GitHub and GitLab a label need
// not exist.
const (
	Label    = "docs"
	Reviewer = "ada"
	Team     = "acme/writers"
)

// users are those that GitLab knows, with their ids.
var users = map[string]int{Reviewer: 7, "grace": 8}

// assignPath returns the number of a pull request and what a request assigns to it.
func (f *Fake) assignPath(r *http.Request) (number int, what string, ok bool) {
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), map[forge.Kind]string{
		forge.GitHub: "/api/v3/repos/acme/docs/", forge.Gitea: "/api/v1/repos/acme/docs/", forge.Forgejo: "/api/v1/repos/acme/docs/",
	}[f.Kind])
	parts := strings.Split(rest, "/")
	if !ok || f.Kind == forge.GitLab || r.Method != http.MethodPost || len(parts) != 3 {
		return 0, "", false
	}
	number, err := strconv.Atoi(parts[1])
	what = parts[0] + "/" + parts[2]
	return number, what, err == nil && (what == "issues/labels" || what == "pulls/requested_reviewers")
}

// assign answers a request of GitHub's and Gitea's dialect for a label or a review.
func (f *Fake) assign(w http.ResponseWriter, r *http.Request) {
	number, what, _ := f.assignPath(r)
	var in struct {
		Labels        []string `json:"labels"`
		Reviewers     []string `json:"reviewers"`
		TeamReviewers []string `json:"team_reviewers"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		refuse(w, http.StatusBadRequest, "Problems parsing JSON")
		return
	}
	f.mu.Lock()
	i := slices.IndexFunc(f.pulls, func(p *Pull) bool { return p.Number == number })
	if i < 0 {
		f.mu.Unlock()
		refuse(w, http.StatusNotFound, "Not Found")
		return
	}
	p := f.pulls[i]
	status, out := http.StatusOK, any([]any{})
	if what == "issues/labels" {
		for _, l := range in.Labels {
			if f.Kind == forge.GitHub || l == Label {
				p.addLabel(l)
			}
		}
		names := []any{}
		for _, l := range p.Labels {
			names = append(names, map[string]any{"id": 1, "name": l})
		}
		out = names
	} else {
		status = http.StatusCreated
		for _, team := range in.TeamReviewers {
			in.Reviewers = append(in.Reviewers, "acme/"+team)
		}
		for _, name := range in.Reviewers {
			if name != Reviewer && name != Team {
				status = http.StatusUnprocessableEntity
				continue
			}
			p.addReviewer(name)
		}
	}
	f.mu.Unlock()
	if status == http.StatusUnprocessableEntity {
		f.invalid(w, "Reviews may only be requested from collaborators.")
		return
	}
	f.reply(w, status, out)
}

func (p *Pull) addLabel(name string) {
	if !slices.Contains(p.Labels, name) {
		p.Labels = append(p.Labels, name)
	}
}

func (p *Pull) addReviewer(name string) {
	if !slices.Contains(p.Reviewers, name) {
		p.Reviewers = append(p.Reviewers, name)
	}
}

// findUsers answers GitLab's search for a user by name.
func (f *Fake) findUsers(w http.ResponseWriter, r *http.Request) {
	found := []any{}
	if id, ok := users[r.URL.Query().Get("username")]; ok {
		found = append(found, wireUser(id))
	}
	f.reply(w, http.StatusOK, found)
}

func wireUser(id int) map[string]any {
	for name, n := range users {
		if n == id {
			return map[string]any{"id": id, "username": name}
		}
	}
	return nil
}

// wireReviewers are the reviewers of a merge request as GitLab sends them.
func (p *Pull) wireReviewers() []any {
	all := []any{}
	for _, name := range p.Reviewers {
		all = append(all, wireUser(users[name]))
	}
	return all
}

// setAssigned takes over GitLab's fields for labels and reviewers. Of the users, grace may
// not review.
func (p *Pull) setAssigned(in fields) {
	if in.AddLabels != "" {
		p.addLabel(in.AddLabels)
	}
	if in.ReviewerIDs != nil {
		p.Reviewers = nil
		for name, id := range users {
			if name == Reviewer && slices.Contains(in.ReviewerIDs, id) {
				p.addReviewer(name)
			}
		}
	}
}

// Assigned returns the labels and reviewers of a pull request.
func (f *Fake) Assigned(number int) (labels, reviewers []string) {
	p := f.Pulls()[number-1]
	return p.Labels, p.Reviewers
}
