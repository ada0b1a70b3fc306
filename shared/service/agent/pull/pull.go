package pull

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent"
	"github.com/bindery-docs/bindery/shared/service/forge"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Options configure the steps. Admin, Objects and Forge are required.
type Options struct {
	Admin   *admin.Service
	Objects store.Objects
	// Forge returns the forge of a project, with the credential that the
	// project has there.
	Forge func(ctx context.Context, p admin.Project) (*forge.Forge, forge.Repository, error)
	// Further returns a further repository of a project by its address, and its forge, with
	// the project's credential if that is for the same host. If nil, none can be fetched.
	Further func(ctx context.Context, p admin.Project, address string) (*forge.Forge, forge.Repository, error)
	// Dashboard is the address under which people reach the dashboard, for links to
	// jobs; empty means that there is none, or that it is not known.
	Dashboard string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Log receives what callers must not see; nil discards it.
	Log *slog.Logger
}

// Steps are the steps Prepare and Publish of agent jobs. They are safe for
// concurrent use: each may run twice, at the same time, or be stopped half-way.
type Steps struct {
	opt    Options
	rounds agent.Rounds
}

// New returns the steps.
func New(opt Options) (*Steps, error) {
	if opt.Admin == nil || opt.Objects == nil || opt.Forge == nil {
		return nil, errors.New("agent: no records, no objects or no forge")
	}
	opt.Log = cmp.Or(opt.Log, slog.New(slog.DiscardHandler))
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Steps{opt, agent.Rounds{Admin: opt.Admin, Objects: opt.Objects, Log: opt.Log}}, nil
}

// Tasks returns the steps by their names in the workflow. The one of Prepare also
// accepts a job.PullInput: if each task is a process of its own, it is one that has the
// credentials for that.
func (s *Steps) Tasks() map[string]func(context.Context, json.RawMessage) (json.RawMessage, error) {
	prepare, pull := job.Task(s.Prepare), job.Task(s.Pull)
	return map[string]func(context.Context, json.RawMessage) (json.RawMessage, error){
		job.TaskAgentPrepare: func(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
			var in job.PullInput
			if json.Unmarshal(input, &in) == nil && in.Pull {
				return pull(ctx, input)
			}
			return prepare(ctx, input)
		},
		job.TaskAgentPublish: job.Task(s.Publish),
	}
}
