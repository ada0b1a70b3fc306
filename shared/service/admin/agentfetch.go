package admin

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/lazy"
)

// AgentRepository is a further repository that the agents of a project may fetch.
type AgentRepository struct {
	Name string // by which agents ask for it
	URL  string
}

// AgentOwnRepository is the name by which agents ask for the project's own repository.
const AgentOwnRepository = "repo"

// MaxAgentRepositories is the most further repositories of a project.
const MaxAgentRepositories = 20

var repositoryName = lazy.Regexp(`^[a-z0-9][a-z0-9-]{0,31}$`)

// AgentRepositories reads AgentSettings.Repositories. The error is a FieldError.
func AgentRepositories(list string) ([]AgentRepository, error) {
	const field = "agent.repositories"
	var all []AgentRepository
	for _, item := range AssignedNames(list) {
		name, address, ok := strings.Cut(item, "=")
		name, address = strings.TrimSpace(name), strings.TrimSpace(address)
		switch {
		case !ok:
			return nil, FieldErrorf(field, "%.80q must have the form name=https://host/owner/name", item)
		case !repositoryName().MatchString(name) || name == AgentOwnRepository || name == "attachment":
			return nil, FieldErrorf(field, "%.80q can't be a name: use 1 to 32 lower-case letters, digits and hyphens, and not %s or attachment", name, AgentOwnRepository)
		case slices.ContainsFunc(all, func(r AgentRepository) bool { return r.Name == name }):
			return nil, FieldErrorf(field, "has two repositories %q", name)
		case len(all) == MaxAgentRepositories:
			return nil, FieldErrorf(field, "must have at most %d repositories", MaxAgentRepositories)
		}
		if u, err := url.Parse(address); err != nil || checkURL(field, address, "https", "http") != nil || strings.Trim(u.Path, "/") == "" || u.RawQuery != "" || u.Fragment != "" {
			return nil, FieldErrorf(field, "%s must have the address of a repository, such as https://host/owner/name, without user, password, query and fragment, of at most %d bytes", name, maxURL)
		}
		all = append(all, AgentRepository{name, address})
	}
	return all, nil
}

// AgentFetch is a commit that an agent asked for beside the one that its round began
// from.
type AgentFetch struct {
	// Name is AgentOwnRepository or the Name of an AgentRepository. Ref is a branch, tag or
	// commit, and Path the folder that is read, empty for all files.
	Name string `json:"name"`
	Ref  string `json:"ref"`
	Path string `json:"path,omitempty"`
	// Label begins the paths of its files for the agent: "repo@v1.4".
	Label string `json:"label"`
	// Turn is the number of the turn that asked.
	Turn int `json:"turn"`
	// URL is the address of the repository and Forge the kind of its server, Commit the id
	// of the commit and Manifest the key of the object with its files. They are empty before
	// it was fetched.
	URL      string `json:"url,omitempty"`
	Forge    string `json:"forge,omitempty"`
	Commit   string `json:"commit,omitempty"`
	Manifest string `json:"manifest,omitempty"`
	// Files counts its texts that the agent may read, and Bytes is their size. If the texts
	// are more than a job reads, none is fetched, and LeftOut counts them.
	Files   int   `json:"files,omitempty"`
	LeftOut int   `json:"leftOut,omitempty"`
	Bytes   int64 `json:"bytes,omitempty"`
	// Refused says why it could not be fetched, else it is empty.
	Refused string `json:"refused,omitempty"`
}

// MaxAgentFetches limits the calls of fetch in a round.
const MaxAgentFetches = 10

// maxRefused is the longest AgentFetch.Refused, in bytes.
const maxRefused = 300

// Done reports whether the commit was fetched or refused.
func (f AgentFetch) Done() bool { return f.Manifest != "" || f.Refused != "" }

// PendingFetch reports whether the job's round waits for a commit that it asked for.
func (j AgentJob) PendingFetch() bool {
	return slices.ContainsFunc(j.Fetches, func(f AgentFetch) bool { return !f.Done() })
}

// FetchedAgent records that the nth commit that a round asked for, from 0, was fetched or
// refused. Repeating it changes nothing. Errors are CodeCancelled and CodeJobNotActive.
func (s *Service) FetchedAgent(ctx context.Context, ref AgentRef, n int, done AgentFetch, events ...AgentEvent) error {
	_, err := s.agentStep(ctx, ref, func(tx *agentTx) error {
		if n >= len(tx.job.Fetches) || tx.job.Fetches[n].Done() {
			return errNothing
		}
		if !tx.job.CancelledAt.IsZero() {
			return tx.working()
		}
		tx.job.Fetches = slices.Clone(tx.job.Fetches)
		done.Turn, done.Refused = tx.job.Fetches[n].Turn, cutText(done.Refused, maxRefused)
		tx.job.Fetches[n] = done
		tx.event(events...)
		return nil
	})
	return err
}
