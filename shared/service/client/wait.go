package client

import (
	"context"
	"fmt"
	"time"

	"github.com/bindery-docs/bindery/shared/service/api"
)

// WaitOptions say how an export is followed.
type WaitOptions struct {
	// Interval is the pace where the service does not say; default 10 s.
	Interval time.Duration
	// MaxPolls bounds the wait to so many intervals, however often the job
	// was really read; default 60, which with 10 s is ten minutes.
	MaxPolls int
	// Progress, if not nil, is called with the result of each read.
	Progress func(api.ExportJob)
}

// TimeoutError says that a job was not final in time. The job continues.
type TimeoutError struct {
	JobID string
	After time.Duration
	// Last is the error of the last read, nil if it succeeded.
	Last error
}

func (e *TimeoutError) Error() string {
	text := fmt.Sprintf("job %s is not final after %s", e.JobID, e.After)
	if e.Last != nil {
		text += ": " + e.Last.Error()
	}
	return text
}

// Unwrap returns why the job could not be read in the end, or nil.
func (e *TimeoutError) Unwrap() error { return e.Last }

// JobFailedError says that a job ended in failure.
type JobFailedError struct{ Job api.ExportJob }

func (e *JobFailedError) Error() string {
	if e.Job.Failure == nil {
		return fmt.Sprintf("job %s failed", e.Job.JobID)
	}
	return fmt.Sprintf("job %s failed: %s (%s)", e.Job.JobID, e.Job.Failure.Message, e.Job.Failure.Code)
}

// The pace where the service says "at once" (Retry-After: 0), as one on the
// caller's own machine does: the first waits are short, so that a small export
// does not idle, and each is a quarter longer than the one before, up to maxPause: an
// export that is over waits at most a quarter of its time to be seen.
const (
	firstPause = 50 * time.Millisecond
	maxPause   = time.Second
)

// Wait reads a job until it is completed, at the pace that the service asks
// for: never sooner. It returns a *JobFailedError when
// the job failed and a *TimeoutError when the time is over. A service that
// does not answer for a while is asked again until then.
func (c *Client) Wait(ctx context.Context, jobID string, o WaitOptions) (api.ExportJob, error) {
	if o.Interval <= 0 {
		o.Interval = 10 * time.Second
	}
	if o.MaxPolls <= 0 {
		o.MaxPolls = 60
	}
	limit := time.Duration(o.MaxPolls) * o.Interval
	deadline := c.clock.Now().Add(limit)
	pause := firstPause
	for {
		job, pace, err := c.GetExport(ctx, jobID)
		if err != nil {
			if _, again := temporary(err); !again || ctx.Err() != nil {
				return job, err
			}
			c.log.Warn("the job can't be read at the moment", "job", jobID, "error", err)
		} else {
			if o.Progress != nil {
				o.Progress(job)
			}
			switch job.Status {
			case "completed":
				return job, nil
			case "failed":
				return job, &JobFailedError{job}
			}
		}
		switch {
		case pace < 0:
			pace = o.Interval
		case pace == 0:
			pace = min(pause, o.Interval)
			pause = min(pause*5/4, maxPause)
		}
		left := deadline.Sub(c.clock.Now())
		if left <= 0 {
			return job, &TimeoutError{JobID: jobID, After: limit, Last: err}
		}
		if err := c.clock.Sleep(ctx, min(pace, left)); err != nil {
			return job, err
		}
	}
}
