package forge

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// Pull is a pull request to open, or what of one is to be changed.
type Pull struct {
	// Head is the branch with the changes, Base the one they are for. Both are
	// of the same repository.
	Head, Base string
	// Title and Body are sent as they are: escaping of mentions and of words
	// that close issues is the caller's.
	Title, Body string
	// Draft asks for a pull request that nobody merges by mistake. Where the
	// forge has none for this repository, the title begins with "Draft: ".
	Draft bool
}

// State is where a pull request stands.
type State string

// States of a pull request.
const (
	Open   State = "open"
	Merged State = "merged"
	Closed State = "closed" // without being merged
)

// PullRequest is a pull request as its forge has it.
type PullRequest struct {
	Number int    `json:"number"`
	URL    string `json:"url"` // its page
	State  State  `json:"state"`
	Draft  bool   `json:"draft"`
	Head   string `json:"head"`
	Base   string `json:"base"`
	Title  string `json:"title"`
	// HeadCommit is the commit that the forge shows as its newest.
	HeadCommit string `json:"headCommit"`
	// ClosedAt is when it was merged or closed, zero where it is open or the forge
	// doesn't say.
	ClosedAt time.Time `json:"closedAt,omitzero"`
}

// closedAt is the first of the times that a forge sends that is one.
func closedAt(times ...*string) time.Time {
	for _, t := range times {
		if t == nil {
			continue
		}
		if at, err := time.Parse(time.RFC3339, *t); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}

// Limits of the texts of a pull request, in characters: the least of what the
// forges take. What is longer is cut.
const (
	MaxTitle = 250
	MaxBody  = 65_000
)

// api speaks to the REST interface of one repository, with one credential.
type api struct {
	f *Forge
	r Repository
	c Credential
}

// call makes a request below the address of the repository.
func (a *api) call(ctx context.Context, method, path string, in, out any) *Error {
	authorization := ""
	switch {
	case a.c.Token == "":
	case a.r.Kind == Gitea || a.r.Kind == Forgejo:
		authorization = "token " + a.c.Token
	default:
		authorization = "Bearer " + a.c.Token
	}
	return a.f.call(ctx, method, a.r.api()+path, authorization, a.c, in, out)
}

// dialect is how a kind of forge speaks of pull requests.
type dialect interface {
	// find returns the pull requests of a branch, newest first.
	find(ctx context.Context, head, base string) ([]PullRequest, *Error)
	get(ctx context.Context, number int) (PullRequest, *Error)
	create(ctx context.Context, p Pull) (PullRequest, *Error)
	update(ctx context.Context, number int, p Pull) (PullRequest, *Error)
}

// pulls runs a call on the pull requests of a repository.
func (f *Forge) pulls(ctx context.Context, what string, r Repository, call func(d dialect) *Error) error {
	if r.Kind == Git {
		return ErrNoPulls
	}
	return f.do(ctx, what, r, func(c Credential) error {
		a := &api{f, r, c}
		var d dialect
		switch r.Kind {
		case GitHub:
			d = github{a}
		case GitLab:
			d = gitlab{a}
		default:
			d = gitea{a}
		}
		if e := call(d); e != nil {
			return e
		}
		return nil
	})
}

// FindPull returns the pull request of a branch onto base ("": onto any): the one
// that is open, else the newest; false if there is none. Errors: ErrNoPulls,
// ErrHost, ErrNotFound, ErrCredential, ErrRateLimited, ErrUnreachable.
func (f *Forge) FindPull(ctx context.Context, r Repository, head, base string) (p PullRequest, found bool, err error) {
	err = f.pulls(ctx, "find pull request", r, func(d dialect) *Error {
		list, e := d.find(ctx, head, base)
		p, found = pick(list, head, base)
		return e
	})
	return p, found, err
}

// pick returns the pull request of a list that is meant by head and base. Not
// every forge honours the filters that it is asked with.
func pick(list []PullRequest, head, base string) (p PullRequest, found bool) {
	for _, q := range list {
		if q.Head != head || base != "" && q.Base != base {
			continue
		}
		if q.State == Open {
			return q, true
		}
		if !found {
			p, found = q, true
		}
	}
	return p, found
}

// OpenPull opens a pull request. If one is open for the branch and its base, that
// is returned, its text as it is: calls can be repeated. Errors: those of
// FindPull, and ErrPullRefused with what the forge says.
func (f *Forge) OpenPull(ctx context.Context, r Repository, p Pull) (PullRequest, error) {
	p.Title, p.Body = cut(strings.Join(strings.Fields(p.Title), " "), MaxTitle), cut(p.Body, MaxBody)
	var opened PullRequest
	err := f.pulls(ctx, "open pull request", r, func(d dialect) *Error {
		find := func() (bool, *Error) {
			list, e := d.find(ctx, p.Head, p.Base)
			q, found := pick(list, p.Head, p.Base)
			if found = found && q.State == Open; found {
				opened = q
			}
			return found, e
		}
		if found, e := find(); found || e != nil {
			return e
		}
		var refused *Error
		if opened, refused = d.create(ctx, p); refused == nil || refused.temporary {
			return refused
		}
		switch refused.status {
		case http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity:
		default:
			return refused
		}
		// Somebody else may have been quicker, this call's other run too.
		if found, e := find(); found || e != nil {
			return e
		}
		e := ErrPullRefused.with(refused.detail)
		if refused.detail != "" {
			e = e.saying(ErrPullRefused.message + ": " + cut(refused.detail, 200))
		}
		return e
	})
	return opened, err
}

// UpdatePull changes title and body of a pull request; "" leaves each as it is.
// With a title, Draft says whether it is a draft; GitHub has no way to make one
// that is ready a draft, or the other way round: there the title says it. Errors:
// those of FindPull, ErrPullNotFound and ErrPullRefused.
func (f *Forge) UpdatePull(ctx context.Context, r Repository, number int, p Pull) (PullRequest, error) {
	p.Title, p.Body = cut(strings.Join(strings.Fields(p.Title), " "), MaxTitle), cut(p.Body, MaxBody)
	var updated PullRequest
	err := f.pulls(ctx, "update pull request", r, func(d dialect) (e *Error) {
		updated, e = d.update(ctx, number, p)
		return ofPull(e)
	})
	return updated, err
}

// Pull returns a pull request by its number. Errors: those of FindPull, and
// ErrPullNotFound.
func (f *Forge) Pull(ctx context.Context, r Repository, number int) (PullRequest, error) {
	var p PullRequest
	err := f.pulls(ctx, "pull request", r, func(d dialect) (e *Error) {
		p, e = d.get(ctx, number)
		return ofPull(e)
	})
	return p, err
}

// ofPull is an error about one pull request.
func ofPull(e *Error) *Error {
	switch {
	case e == nil:
	case e.status == http.StatusNotFound || e.status == http.StatusGone:
		return ErrPullNotFound.with(e.detail)
	case e.status == http.StatusUnprocessableEntity || e.status == http.StatusBadRequest || e.status == http.StatusConflict:
		return ErrPullRefused.with(e.detail)
	}
	return e
}

// cut is a text of at most n characters.
func cut(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

// prefixed is a draft's title at forges that know drafts by it.
func prefixed(p Pull, prefix string) string {
	if p.Draft && p.Title != "" {
		return prefix + p.Title
	}
	return p.Title
}

// fields are a request's fields without those that are empty.
func fields(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			m[pairs[i].(string)] = pairs[i+1]
		}
	}
	return m
}
