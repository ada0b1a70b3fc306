package forge

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// gitlab is the dialect of gitlab.com and of GitLab on servers of one's own. It
// calls pull requests merge requests, and has drafts by their title.
type gitlab struct{ *api }

const gitlabDraft = "Draft: "

// gitlabDrafts returns the prefixes by which GitLab knows a draft.
func gitlabDrafts() []string { return []string{"Draft:", "[Draft]", "(Draft)"} }

// mergeRequest is a merge request as GitLab sends it.
type mergeRequest struct {
	IID           int     `json:"iid"`
	WebURL        string  `json:"web_url"`
	State         string  `json:"state"`
	Draft         bool    `json:"draft"`
	Title         string  `json:"title"`
	Description   string  `json:"description"`
	SourceBranch  string  `json:"source_branch"`
	TargetBranch  string  `json:"target_branch"`
	SourceProject int64   `json:"source_project_id"`
	TargetProject int64   `json:"target_project_id"`
	SHA           string  `json:"sha"`
	MergedAt      *string `json:"merged_at"`
	ClosedAt      *string `json:"closed_at"`
}

func (m mergeRequest) pull() PullRequest {
	title, marked := unmarked(m.Title, gitlabDrafts()...)
	p := PullRequest{
		Number: m.IID, URL: m.WebURL, State: Closed, Draft: m.Draft || marked, Head: m.SourceBranch, Base: m.TargetBranch,
		Title: title, Body: m.Description, HeadCommit: m.SHA,
	}
	switch m.State {
	case "opened", "locked": // locked: while it is being merged
		p.State = Open
	case "merged":
		p.State = Merged
	}
	if p.State != Open {
		p.ClosedAt = closedAt(m.MergedAt, m.ClosedAt)
	}
	return p
}

// path is the project's, of which GitLab wants the whole path as one name.
func (g gitlab) path() string {
	return "/projects/" + url.PathEscape(g.r.project()) + "/merge_requests"
}

func (g gitlab) find(ctx context.Context, head, base string) ([]PullRequest, *Error) {
	q := url.Values{"source_branch": {head}, "state": {"all"}, "order_by": {"created_at"}, "sort": {"desc"}, "per_page": {"50"}}
	if base != "" {
		q.Set("target_branch", base)
	}
	var list []mergeRequest
	e := g.call(ctx, http.MethodGet, g.path()+"?"+q.Encode(), nil, &list)
	var pulls []PullRequest
	for _, m := range list {
		if m.SourceProject == m.TargetProject {
			pulls = append(pulls, m.pull())
		}
	}
	return pulls, e
}

func (g gitlab) get(ctx context.Context, number int) (PullRequest, *Error) {
	var m mergeRequest
	e := g.call(ctx, http.MethodGet, fmt.Sprintf("%s/%d", g.path(), number), nil, &m)
	return m.pull(), e
}

func (g gitlab) create(ctx context.Context, p Pull) (PullRequest, *Error) {
	var m mergeRequest
	in := map[string]any{"title": prefixed(p, gitlabDraft), "source_branch": p.Head, "target_branch": p.Base, "description": p.Body}
	e := g.call(ctx, http.MethodPost, g.path(), in, &m)
	return m.pull(), e
}

func (g gitlab) update(ctx context.Context, number int, p Pull) (PullRequest, *Error) {
	var m mergeRequest
	e := g.call(ctx, http.MethodPut, fmt.Sprintf("%s/%d", g.path(), number), fields("title", prefixed(p, gitlabDraft), "description", p.Body), &m)
	return m.pull(), e
}
