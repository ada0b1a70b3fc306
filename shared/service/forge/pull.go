package forge

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Pull is a pull request to open, or changes of one.
type Pull struct {
	// Head is the branch with the changes, Base the one they are for. Both are
	// of the same repository.
	Head, Base string
	// Title and Body are sent as they are: the caller must escape mentions and words
	// that close issues.
	Title, Body string
	// Draft asks for a draft. If the forge has no drafts for this repository, the
	// title begins with "Draft: ".
	Draft bool
}

// State is the state of a pull request.
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
	// Title is without the mark by which a forge knows a draft.
	Title string `json:"title"`
	Body  string `json:"body"`
	// HeadCommit is the newest commit that the forge shows.
	HeadCommit string `json:"headCommit"`
	// ClosedAt is when it was merged or closed, zero if it is open or the forge doesn't
	// say.
	ClosedAt time.Time `json:"closedAt,omitzero"`
}

// closedAt returns the first valid one of the times that a forge sends.
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

// Limits of the texts of a pull request, in characters: the lowest of all forges.
// Longer texts are cut.
const (
	MaxTitle = 250
	MaxBody  = 65_000
)

// unmarked returns a title without the marks of drafts, and whether it had one.
// Forges read them in any case.
func unmarked(title string, marks ...string) (string, bool) {
	for _, m := range marks {
		if len(title) >= len(m) && strings.EqualFold(title[:len(m)], m) {
			return strings.TrimSpace(title[len(m):]), true
		}
	}
	return title, false
}

// api speaks to the REST interface of one repository, with one credential.
type api struct {
	f *Forge
	r Repository
	c Credential
}

// call makes a request to a path below the repository's address.
func (a *api) call(ctx context.Context, method, path string, in, out any) *Error {
	return a.f.call(ctx, method, a.r.api()+path, a.authorization(), a.c, in, out)
}

// authorization is the header of that name, "" without a credential.
func (a *api) authorization() string {
	switch {
	case a.c.Token == "":
		return ""
	case a.r.Kind == Gitea || a.r.Kind == Forgejo:
		return "token " + a.c.Token
	}
	return "Bearer " + a.c.Token
}

// dialect is the REST interface of a kind of forge for pull requests.
type dialect interface {
	// find returns the pull requests of a branch, newest first.
	find(ctx context.Context, head, base string) ([]PullRequest, *Error)
	get(ctx context.Context, number int) (PullRequest, *Error)
	create(ctx context.Context, p Pull) (PullRequest, *Error)
	update(ctx context.Context, number int, p Pull) (PullRequest, *Error)
	// label adds a label to a pull request, reviewer asks for a review.
	label(ctx context.Context, number int, label string) *Error
	reviewer(ctx context.Context, number int, name string) *Error
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
		if e := call(onHost{d, r}); e != nil {
			return e
		}
		return nil
	})
}

// onHost is a dialect with links that stay on the repository's host. The answer of a
// forge can name any host: a proxy in front of it may have changed its address, or it
// has been taken over.
type onHost struct {
	dialect
	r Repository
}

func (d onHost) find(ctx context.Context, head, base string) ([]PullRequest, *Error) {
	list, e := d.dialect.find(ctx, head, base)
	for i := range list {
		list[i].URL = d.r.pullURL(list[i])
	}
	return list, e
}

func (d onHost) get(ctx context.Context, number int) (PullRequest, *Error) {
	return d.kept(d.dialect.get(ctx, number))
}

func (d onHost) create(ctx context.Context, p Pull) (PullRequest, *Error) {
	return d.kept(d.dialect.create(ctx, p))
}

func (d onHost) update(ctx context.Context, number int, p Pull) (PullRequest, *Error) {
	return d.kept(d.dialect.update(ctx, number, p))
}

func (d onHost) kept(p PullRequest, e *Error) (PullRequest, *Error) {
	if e == nil {
		p.URL = d.r.pullURL(p)
	}
	return p, e
}

// pullPaths are the paths of the pages of pull requests, below a repository's address.
var pullPaths = map[Kind]string{GitHub: "/pull/", GitLab: "/-/merge_requests/", Gitea: "/pulls/", Forgejo: "/pulls/"}

// pullURL returns the address of a pull request's page: the one that the forge sent if
// it has the scheme and host of the repository, otherwise the usual one.
func (r Repository) pullURL(p PullRequest) string {
	at := r.parsed()
	u, err := parseBase("pull request", p.URL)
	if err == nil && u.Scheme == at.Scheme && u.Host == at.Host {
		return u.String()
	}
	return r.URL + pullPaths[r.Kind] + strconv.Itoa(p.Number)
}

// FindPull returns the pull request from a branch to base, or to any branch if base is
// "": the open one, else the newest; false if there is none. Errors: ErrNoPulls,
// ErrHost, ErrNotFound, ErrCredential, ErrRateLimited, ErrUnreachable.
func (f *Forge) FindPull(ctx context.Context, r Repository, head, base string) (p PullRequest, found bool, err error) {
	err = f.pulls(ctx, "find pull request", r, func(d dialect) *Error {
		list, e := d.find(ctx, head, base)
		p, found = pick(list, head, base)
		return e
	})
	return p, found, err
}

// pick selects the pull request with this head and base from a list, as not every
// forge honours the filters of a request.
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

// OpenPull opens a pull request. If one is open for the branch and its base, it is
// returned unchanged, so that calls can be repeated. Errors: those of FindPull, and
// ErrPullRefused with the forge's reason.
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
		// Another call may have won, perhaps a repetition of this one.
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
// With a title, Draft determines whether it is a draft. If GitHub refuses to make it
// one, the title says so; if it refuses the opposite, the pull request stays a draft,
// as the result says. Errors: those of FindPull, ErrPullNotFound and
// ErrPullRefused.
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

// ofPull converts an error about one pull request.
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

// cut shortens a text to at most n characters.
func cut(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

// prefixed returns a draft's title on forges that recognize drafts by it.
func prefixed(p Pull, prefix string) string {
	if p.Draft && p.Title != "" {
		return prefix + p.Title
	}
	return p.Title
}

// fields removes the empty fields of a request.
func fields(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			m[pairs[i].(string)] = pairs[i+1]
		}
	}
	return m
}
