package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/client"
)

// liveReport is the result of --go-live: the version is live, or the reason.
type liveReport struct {
	Live bool `json:"live"`
	// URL is the address of the site; empty if nothing serves it.
	URL string `json:"url,omitempty"`
	// Reason says why the version is not live.
	Reason string `json:"reason,omitempty"`

	job, domain string
}

// wentLive reports whether a completed job is live, or returns nil if it was not to be.
// That this can't be read is a warning: the bundle is there.
func (a *app) wentLive(ctx context.Context, c *client.Client, job api.ExportJob) *liveReport {
	if !job.GoLive {
		return nil
	}
	for again := false; ; again = true {
		l, err := c.Live(ctx, job.Domain)
		if err != nil {
			a.warn("whether the version is live can't be read: " + err.Error())
			return nil
		}
		r := &liveReport{Live: l.Live != nil && l.Live.JobID == job.JobID, URL: l.URL, job: job.JobID, domain: job.Domain}
		if !r.Live {
			r.Reason = whyNotLive(ctx, c, job, l)
		}
		if r.Live || r.Reason != "" {
			return r
		}
		if again {
			r.Reason = "the bundle was cut, a later version was live before, or the project has another kind of deployment now"
			return r
		}
		select {
		case <-ctx.Done():
		case <-time.After(moveLater):
		}
	}
}

// moveLater is a little more than the time for which a service tries again to move live
// after it completed an export without that.
const moveLater = 1200 * time.Millisecond

// whyNotLive says why a completed job is not the live one. A service does not note the
// reason: it follows from what is live now, unless it is empty.
func whyNotLive(ctx context.Context, c *client.Client, job api.ExportJob, l api.Live) string {
	if l.Live != nil && l.Live.FromJobID != nil && *l.Live.FromJobID == job.JobID {
		return fmt.Sprintf("%s has taken its place", l.Live.JobID)
	}
	if l.Held {
		return fmt.Sprintf("%s %s holds the site since %s", l.HeldBy.Kind, l.HeldBy.ID, day(*l.HeldAt))
	}
	if l.Deploy == admin.DeployManual {
		return "the project deploys manually"
	}
	if l.Live != nil {
		if other, _, err := c.GetExport(ctx, l.Live.JobID); err == nil && other.CreatedAt.After(job.CreatedAt) {
			return fmt.Sprintf("%s, which was started later, is live", other.JobID)
		}
	}
	return ""
}

// showWentLive prints the result of --go-live, if it was given.
func (a *app) showWentLive(w io.Writer, r *liveReport) {
	switch {
	case r == nil:
	case r.Live && r.URL != "":
		fmt.Fprintf(w, "%s it is live at %s\n", a.paint(w, green, "✓"), r.URL)
	case r.Live:
		fmt.Fprintf(w, "%s it is live\n", a.paint(w, green, "✓"))
	default:
		fmt.Fprintf(w, "%s it is not live: %s\n  to make it live: %s site promote %s --domain %s\n",
			a.paint(w, yellow, "!"), r.Reason, called(), r.job, r.domain)
	}
}
