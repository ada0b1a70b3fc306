package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Segment is how long one call of Work begins new turns. A Lambda function has
// fifteen minutes; what is left is for the last answer and its checkpoint.
//
// It also keeps a round's history far from the 25,000 events after which Step
// Functions ends an execution. Work is called again after a whole segment, of
// which the workflow's six hours hold 32, after a message that came while the
// round was about to be reviewed, of which a job has at most 100, when Publish gives the
// round back, at most three times, after each of at most [MaxWaits] waits and after each
// commit that Prepare fetches. With Prepare, Review, Publish, and three merges with what
// others pushed, that is some 320 calls. A call that succeeds is 7 events with its Choice,
// and each try of it that failed is 3 more: less than 22,000 events even if every call
// uses up all its retries. TestHistory calculates with the real constants.
const Segment = job.AgentSegment

// Options are what Work works with. Admin, Objects and Model are required.
type Options struct {
	Admin   *admin.Service
	Objects store.Objects
	// Model returns the model of that name.
	Model func(name string) (model.Choice, error)
	// Segment is how long one call of Work begins new turns; default [Segment].
	Segment time.Duration
	// Now is the clock; nil means time.Now. Sleep waits for so long, or returns
	// the error of ctx once that is done; nil means a real wait.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
	// Log receives what callers must not see; nil discards it.
	Log *slog.Logger
}

// Steps is the step Work of agent jobs. It is safe for concurrent use: it may
// run twice, at the same time, or be stopped half-way.
type Steps struct {
	opt    Options
	rounds Rounds
}

// New returns the step.
func New(opt Options) (*Steps, error) {
	if opt.Admin == nil || opt.Objects == nil || opt.Model == nil {
		return nil, errors.New("agent: no records, no objects or no model")
	}
	opt.Segment = cmp.Or(opt.Segment, Segment)
	opt.Log = cmp.Or(opt.Log, slog.New(slog.DiscardHandler))
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Sleep == nil {
		opt.Sleep = sleep
	}
	return &Steps{opt, Rounds{Admin: opt.Admin, Objects: opt.Objects, Log: opt.Log}}, nil
}

// Tasks returns the step by its name in the workflow.
func (s *Steps) Tasks() map[string]func(context.Context, json.RawMessage) (json.RawMessage, error) {
	return map[string]func(context.Context, json.RawMessage) (json.RawMessage, error){job.TaskAgentWork: job.Task(s.Work)}
}
