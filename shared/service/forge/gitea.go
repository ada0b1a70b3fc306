package forge

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// gitea is the dialect of Gitea and of Forgejo. It has GitHub's words for most
// things, but no search by branch, and drafts by their title.
type gitea struct{ *api }

// giteaDraft begins the title of a draft; it is the first of the prefixes that
// both programs know by default.
const giteaDraft = "WIP: "

// giteaDrafts returns the prefixes by which both programs know a draft by default.
func giteaDrafts() []string { return []string{"WIP:", "[WIP]"} }

// maxPages is how many pages of a list are looked through for a branch.
const maxPages = 4

func (g gitea) path() string { return "/repos/" + g.r.project() + "/pulls" }

// find asks for the one that is open, then looks through those that were changed
// last: what is looked for is rarely older than a round of a job.
func (g gitea) find(ctx context.Context, head, base string) ([]PullRequest, *Error) {
	if base != "" && !strings.Contains(base, "/") {
		var p gitPull
		e := g.call(ctx, http.MethodGet, g.path()+"/"+url.PathEscape(base)+"/"+head, nil, &p)
		if e == nil && p.Head.Ref == head && p.State == "open" {
			return []PullRequest{p.pull(giteaDrafts()...)}, nil
		}
		if e != nil && e.status != http.StatusNotFound {
			return nil, e
		}
	}
	var found []PullRequest
	for page := 1; page <= maxPages; page++ {
		var list []gitPull
		e := g.call(ctx, http.MethodGet, fmt.Sprintf("%s?state=all&sort=recentupdate&limit=50&page=%d", g.path(), page), nil, &list)
		if e != nil {
			return nil, e
		}
		for _, p := range pullsOf(list, giteaDrafts()...) {
			if p.Head == head {
				found = append(found, p)
			}
		}
		if len(list) == 0 || len(found) > 0 {
			break
		}
	}
	return found, nil
}

func (g gitea) get(ctx context.Context, number int) (PullRequest, *Error) {
	var p gitPull
	e := g.call(ctx, http.MethodGet, fmt.Sprintf("%s/%d", g.path(), number), nil, &p)
	return p.pull(giteaDrafts()...), e
}

func (g gitea) create(ctx context.Context, p Pull) (PullRequest, *Error) {
	var made gitPull
	e := g.call(ctx, http.MethodPost, g.path(), map[string]any{"title": prefixed(p, giteaDraft), "head": p.Head, "base": p.Base, "body": p.Body}, &made)
	return made.pull(giteaDrafts()...), e
}

func (g gitea) update(ctx context.Context, number int, p Pull) (PullRequest, *Error) {
	var made gitPull
	e := g.call(ctx, http.MethodPatch, fmt.Sprintf("%s/%d", g.path(), number), fields("title", prefixed(p, giteaDraft), "body", p.Body), &made)
	return made.pull(giteaDrafts()...), e
}
