package forge

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Assignment has the labels and reviewers of a pull request.
type Assignment struct {
	// Labels are names of labels. GitHub and GitLab create those that do not exist.
	Labels []string
	// Reviewers are names of users who are asked for a review, or of teams of the
	// repository's owner, as "acme/writers". GitLab has no teams as reviewers.
	Reviewers []string
}

// Empty reports whether there is nothing to assign.
func (a Assignment) Empty() bool { return len(a.Labels)+len(a.Reviewers) == 0 }

// AssignPull adds labels and reviewers to a pull request. What it has stays. It returns
// the refused names, each with the reason. Repeating it is success. Errors: those of
// FindPull.
func (f *Forge) AssignPull(ctx context.Context, r Repository, number int, a Assignment) (refused []string, err error) {
	err = f.pulls(ctx, "assign pull request", r, func(d dialect) *Error {
		refused = nil
		e := each("label", a.Labels, &refused, func(label string) *Error { return d.label(ctx, number, label) })
		if e != nil {
			return e
		}
		return each("reviewer", a.Reviewers, &refused, func(name string) *Error { return d.reviewer(ctx, number, name) })
	})
	return refused, err
}

// each runs a call for each of some names, and notes those that the forge refused.
func each(kind string, names []string, refused *[]string, call func(string) *Error) *Error {
	for _, name := range names {
		e := call(name)
		if e == nil {
			continue
		}
		switch e.status {
		case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity:
			*refused = append(*refused, fmt.Sprintf("%s %q: %s", kind, name, cut(cmp.Or(e.detail, e.message), 200)))
		default:
			return e
		}
	}
	return nil
}

// unknown is the error for a name that the forge doesn't know.
func unknown(what string) *Error {
	e := ErrPullRefused.with(what)
	e.status = http.StatusUnprocessableEntity
	return e
}

// issue is the path of a pull request's labels, which GitHub and Gitea give to issues.
func (a *api) issue(number int) string {
	return fmt.Sprintf("/repos/%s/issues/%d/labels", a.r.project(), number)
}

// ask asks for a review by a user, or by a team of the repository's owner, as
// "acme/writers".
func (a *api) ask(ctx context.Context, address, reviewer string) *Error {
	in := map[string][]string{"reviewers": {reviewer}}
	if owner, team, ok := strings.Cut(reviewer, "/"); ok {
		if !strings.EqualFold(owner, a.r.owner()) {
			return unknown("only teams of " + a.r.owner() + " can review")
		}
		in = map[string][]string{"team_reviewers": {team}}
	}
	var made any
	return a.call(ctx, http.MethodPost, address, in, &made)
}

func (g github) label(ctx context.Context, number int, label string) *Error {
	var all any
	return g.call(ctx, http.MethodPost, g.issue(number), map[string][]string{"labels": {label}}, &all)
}

func (g github) reviewer(ctx context.Context, number int, name string) *Error {
	return g.ask(ctx, fmt.Sprintf("%s/%d/requested_reviewers", g.path(), number), name)
}

// label adds a label. Gitea ignores names that it doesn't know.
func (g gitea) label(ctx context.Context, number int, label string) *Error {
	var all []struct {
		Name string `json:"name"`
	}
	if e := g.call(ctx, http.MethodPost, g.issue(number), map[string][]string{"labels": {label}}, &all); e != nil {
		return e
	}
	for _, has := range all {
		if strings.EqualFold(has.Name, label) {
			return nil
		}
	}
	return unknown("the repository has no such label")
}

func (g gitea) reviewer(ctx context.Context, number int, name string) *Error {
	return g.ask(ctx, fmt.Sprintf("%s/%d/requested_reviewers", g.path(), number), name)
}

func (g gitlab) label(ctx context.Context, number int, label string) *Error {
	var made mergeRequest
	return g.call(ctx, http.MethodPut, fmt.Sprintf("%s/%d", g.path(), number), map[string]string{"add_labels": label}, &made)
}

// reviewer adds a reviewer to those of a merge request, which GitLab takes as one list.
func (g gitlab) reviewer(ctx context.Context, number int, name string) *Error {
	type user struct {
		ID       int64  `json:"id"`
		Username string `json:"username"`
	}
	var users []user
	if e := g.call(ctx, http.MethodGet, "/users?"+url.Values{"username": {name}}.Encode(), nil, &users); e != nil {
		return e
	}
	i := slices.IndexFunc(users, func(u user) bool { return strings.EqualFold(u.Username, name) })
	if i < 0 {
		return unknown("there is no such user")
	}
	at := fmt.Sprintf("%s/%d", g.path(), number)
	type reviewed struct {
		Reviewers []user `json:"reviewers"`
	}
	var had, has reviewed
	if e := g.call(ctx, http.MethodGet, at, nil, &had); e != nil {
		return e
	}
	var ids []int64
	for _, u := range append(had.Reviewers, users[i]) {
		if !slices.Contains(ids, u.ID) {
			ids = append(ids, u.ID)
		}
	}
	if e := g.call(ctx, http.MethodPut, at, map[string]any{"reviewer_ids": ids}, &has); e != nil {
		return e
	}
	for _, id := range ids {
		if !slices.ContainsFunc(has.Reviewers, func(u user) bool { return u.ID == id }) {
			return unknown("GitLab did not take this user beside the other reviewers")
		}
	}
	return nil
}
