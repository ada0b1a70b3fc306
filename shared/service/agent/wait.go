package agent

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/agent/model"
	"github.com/bindery-docs/bindery/shared/service/job"
)

const (
	firstWait = 30 * time.Second // after the first error; it doubles with each
	longWait  = 15 * time.Minute // the longest, unless the server asks for more
	// lastWork is the end of a round's time, which is left for its work and Publish.
	lastWork = 15 * time.Minute
	// MaxWaits is the most waits of a round, so that its history stays below the
	// limit of Step Functions.
	MaxWaits = 50
)

// wait ends a call of Work after an error of the model that may pass: the round waits
// until the time that it returns. Once the time of the round is used up, the next call
// of Work asks the model's fallback: the time is zero. All other errors are returned.
// tries counts the waits since the last answer, asked is the number of the last message
// that the model was asked.
func (s *Steps) wait(ctx context.Context, lease admin.AgentLease, j admin.AgentJob, m model.Choice, tries, asked int, err error) (until time.Time, _ error) {
	e, ok := errors.AsType[*model.Error](err)
	if !ok || !e.Passing() || ctx.Err() != nil {
		return time.Time{}, err
	}
	d := max(min(firstWait<<min(tries, 10), longWait), e.RetryAfter)
	until = s.opt.Now().Add(d + spread(j.ID, d)).Truncate(time.Second).Add(time.Second)
	began := j.RoundAt
	if began.IsZero() {
		began = j.CreatedAt
	}
	if j.Waits < MaxWaits && until.Before(began.Add(job.AgentRound-lastWork)) {
		why := fmt.Sprintf("%s; asking again at %s UTC", e.SafeMessage(), until.UTC().Format(time.TimeOnly))
		return until, s.opt.Admin.AgentWait(ctx, lease, asked, until, why)
	}
	if m.Fallback == "" || j.Fallback != "" {
		return time.Time{}, err
	}
	why := fmt.Sprintf("%s; going on with the model %s", e.SafeMessage(), m.Fallback)
	return time.Time{}, s.opt.Admin.AgentFallback(ctx, lease, m.Fallback, why)
}

// spread returns up to an eighth of a wait: jobs that wait for one server should not
// all ask at once.
func spread(id string, d time.Duration) time.Duration {
	h := fnv.New32a()
	h.Write([]byte(id))
	return d / 8 * time.Duration(h.Sum32()%1000) / 1000
}
