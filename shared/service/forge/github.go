package forge

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// github is the dialect of github.com and of GitHub Enterprise Server.
type github struct{ *api }

// gitPull is a pull request as GitHub and Gitea send it.
type gitPull struct {
	Number   int     `json:"number"`
	HTMLURL  string  `json:"html_url"`
	State    string  `json:"state"`
	Draft    bool    `json:"draft"`
	Merged   bool    `json:"merged"`
	MergedAt *string `json:"merged_at"`
	ClosedAt *string `json:"closed_at"`
	Title    string  `json:"title"`
	Body     string  `json:"body"`
	NodeID   string  `json:"node_id"`
	Head     gitRef  `json:"head"`
	Base     gitRef  `json:"base"`
}

type gitRef struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo struct {
		FullName string `json:"full_name"`
	} `json:"repo"`
}

// pull is p as we say it. The marks are those of drafts in titles.
func (p gitPull) pull(marks ...string) PullRequest {
	title, marked := unmarked(p.Title, marks...)
	q := PullRequest{
		Number: p.Number, URL: p.HTMLURL, State: Open, Draft: p.Draft || marked, Head: p.Head.Ref, Base: p.Base.Ref,
		Title: title, Body: p.Body, HeadCommit: p.Head.SHA,
	}
	switch {
	case p.Merged || p.MergedAt != nil:
		q.State = Merged
	case p.State != "open":
		q.State = Closed
	}
	if q.State != Open {
		q.ClosedAt = closedAt(p.MergedAt, p.ClosedAt)
	}
	return q
}

// pulls are those of a list that are not of a fork's branch.
func pullsOf(list []gitPull, marks ...string) []PullRequest {
	var pulls []PullRequest
	for _, p := range list {
		if p.Head.Repo.FullName == p.Base.Repo.FullName {
			pulls = append(pulls, p.pull(marks...))
		}
	}
	return pulls
}

func (g github) path() string { return "/repos/" + g.r.project() + "/pulls" }

func (g github) find(ctx context.Context, head, base string) ([]PullRequest, *Error) {
	q := url.Values{"head": {g.r.owner() + ":" + head}, "state": {"all"}, "sort": {"created"}, "direction": {"desc"}, "per_page": {"50"}}
	if base != "" {
		q.Set("base", base)
	}
	var list []gitPull
	e := g.call(ctx, http.MethodGet, g.path()+"?"+q.Encode(), nil, &list)
	return pullsOf(list, titleDraft), e
}

func (g github) get(ctx context.Context, number int) (PullRequest, *Error) {
	p, e := g.read(ctx, number)
	return p.pull(titleDraft), e
}

// read returns a pull request as GitHub sends it.
func (g github) read(ctx context.Context, number int) (p gitPull, e *Error) {
	e = g.call(ctx, http.MethodGet, fmt.Sprintf("%s/%d", g.path(), number), nil, &p)
	return p, e
}

// titleDraft begins the title of a draft where GitHub has none: in private
// repositories of some plans.
const titleDraft = "Draft: "

func (g github) create(ctx context.Context, p Pull) (PullRequest, *Error) {
	send := func(title string, draft bool) (PullRequest, *Error) {
		var made gitPull
		e := g.call(ctx, http.MethodPost, g.path(), map[string]any{"title": title, "head": p.Head, "base": p.Base, "body": p.Body, "draft": draft}, &made)
		return made.pull(titleDraft), e
	}
	made, e := send(p.Title, p.Draft)
	if e != nil && p.Draft && e.status == http.StatusUnprocessableEntity && strings.Contains(strings.ToLower(e.detail), "draft") {
		return send(titleDraft+p.Title, false)
	}
	return made, e
}

func (g github) update(ctx context.Context, number int, p Pull) (PullRequest, *Error) {
	if p.Title != "" {
		is, e := g.read(ctx, number)
		if e != nil {
			return is.pull(titleDraft), e
		}
		if is.Draft != p.Draft {
			e = g.draft(ctx, is.NodeID, p.Draft)
		}
		switch {
		case e == nil:
		case e.temporary:
			return is.pull(titleDraft), e
		case p.Draft:
			p.Title = titleDraft + p.Title
		}
	}
	var made gitPull
	e := g.call(ctx, http.MethodPatch, fmt.Sprintf("%s/%d", g.path(), number), fields("title", p.Title, "body", p.Body), &made)
	return made.pull(titleDraft), e
}

// The mutations of GitHub's GraphQL interface that make a pull request a draft, and
// ready for review. Its REST interface has none.
const (
	makeDraft = `mutation($id: ID!) { convertPullRequestToDraft(input: {pullRequestId: $id}) { clientMutationId } }`
	makeReady = `mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { clientMutationId } }`
)

// draft makes a pull request a draft, or ready for review. GitHub refuses drafts in
// private repositories of some plans.
func (g github) draft(ctx context.Context, id string, draft bool) *Error {
	query := makeReady
	if draft {
		query = makeDraft
	}
	var out struct {
		Errors []struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"errors"`
	}
	in := map[string]any{"query": query, "variables": map[string]string{"id": id}}
	if e := g.f.call(ctx, http.MethodPost, g.graphql(), g.authorization(), g.c, in, &out); e != nil || len(out.Errors) == 0 {
		return e
	}
	first := out.Errors[0]
	if first.Type == "RATE_LIMITED" {
		limited := *ErrRateLimited
		limited.temporary = true
		return limited.with(g.c.clean(first.Message))
	}
	return ErrPullRefused.with(g.c.clean(first.Message))
}

// graphql is the address of the GraphQL interface, beside that of the REST interface.
func (g github) graphql() string {
	root := g.r.api()
	if server, ok := strings.CutSuffix(root, apiPaths[GitHub]); ok {
		root = server + "/api"
	}
	return root + "/graphql"
}
