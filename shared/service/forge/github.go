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

// pull is p as we say it.
func (p gitPull) pull() PullRequest {
	q := PullRequest{
		Number: p.Number, URL: p.HTMLURL, State: Open, Draft: p.Draft, Head: p.Head.Ref, Base: p.Base.Ref,
		Title: p.Title, HeadCommit: p.Head.SHA,
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
func pullsOf(list []gitPull) []PullRequest {
	var pulls []PullRequest
	for _, p := range list {
		if p.Head.Repo.FullName == p.Base.Repo.FullName {
			pulls = append(pulls, p.pull())
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
	return pullsOf(list), e
}

func (g github) get(ctx context.Context, number int) (PullRequest, *Error) {
	var p gitPull
	e := g.call(ctx, http.MethodGet, fmt.Sprintf("%s/%d", g.path(), number), nil, &p)
	return p.pull(), e
}

// titleDraft begins the title of a draft where GitHub has none: in private
// repositories of some plans.
const titleDraft = "Draft: "

func (g github) create(ctx context.Context, p Pull) (PullRequest, *Error) {
	send := func(title string, draft bool) (PullRequest, *Error) {
		var made gitPull
		e := g.call(ctx, http.MethodPost, g.path(), map[string]any{"title": title, "head": p.Head, "base": p.Base, "body": p.Body, "draft": draft}, &made)
		return made.pull(), e
	}
	made, e := send(p.Title, p.Draft)
	if e != nil && p.Draft && e.status == http.StatusUnprocessableEntity && strings.Contains(strings.ToLower(e.detail), "draft") {
		return send(titleDraft+p.Title, false)
	}
	return made, e
}

func (g github) update(ctx context.Context, number int, p Pull) (PullRequest, *Error) {
	if p.Draft && p.Title != "" {
		is, e := g.get(ctx, number)
		if e != nil {
			return is, e
		}
		if !is.Draft {
			p.Title = titleDraft + p.Title
		}
	}
	var made gitPull
	e := g.call(ctx, http.MethodPatch, fmt.Sprintf("%s/%d", g.path(), number), fields("title", p.Title, "body", p.Body), &made)
	return made.pull(), e
}
