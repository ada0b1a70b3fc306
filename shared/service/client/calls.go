package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/bindery-docs/bindery/shared/service/api"
)

const exports = "/v1/static-export/jobs"

// The calls of this file return an *Error for an answer other than success,
// ctx's error once it ends, and another error if the API can't be reached or does
// not answer as it promises. Temporary faults are retried first.

// StartExport starts an export. Under one idempotency key it is started once,
// however often this is called; an empty key is replaced by one for this call.
// It returns an *Error if the API refuses the export.
func (c *Client) StartExport(ctx context.Context, request api.StartExportRequest, idempotencyKey string) (api.ExportJob, error) {
	return call[api.ExportJob](ctx, c, http.MethodPost, exports, idempotencyKey, request)
}

// GetExport reads an export job. pace is when the service asks to be asked
// again, 0 for at once, negative if it does not say. It returns an *Error with
// the code not_found for an unknown job.
func (c *Client) GetExport(ctx context.Context, jobID string) (job api.ExportJob, pace time.Duration, err error) {
	header, err := c.call(ctx, http.MethodGet, exports+"/"+url.PathEscape(jobID), "", nil, &job)
	pace, said := retryAfter(header, c.clock.Now())
	if !said {
		pace = -1
	}
	return job, pace, err
}

// GenerateBundle makes a fresh link to the bundle of a completed job. It
// returns an *Error with the code job_running, job_failed or bundle_gone if
// there is none.
func (c *Client) GenerateBundle(ctx context.Context, jobID string) (api.BundleLink, error) {
	return call[api.BundleLink](ctx, c, http.MethodPost, exports+"/"+url.PathEscape(jobID)+"/bundle", "", nil)
}

// ErrNoChanges is what Changes returns for a job without a list of changes.
var ErrNoChanges = errors.New("the API has no list of what this export changed: it is the first, too large to be compared, or the same as the one before")

// Changes reads the list of what the bundle of a completed job changed against the
// export before it: JSON, as package diff writes it. It returns ErrNoChanges, and
// an *Error as GenerateBundle does.
func (c *Client) Changes(ctx context.Context, jobID string) (list []byte, err error) {
	link, err := c.GenerateBundle(ctx, jobID)
	if err != nil {
		return nil, err
	}
	if link.ChangesURL == "" {
		return nil, ErrNoChanges
	}
	err = c.readLink(ctx, link.ChangesURL, "the list of changes", func(r io.Reader) (err error) {
		if list, err = io.ReadAll(r); err != nil {
			err = &networkError{err}
		}
		return err
	})
	return list, err
}

// LatestSnapshot reads the newest snapshot of a domain, with a link to its
// manifest. It returns an *Error with the code not_found if there is none.
func (c *Client) LatestSnapshot(ctx context.Context, domain string) (api.Snapshot, error) {
	return call[api.Snapshot](ctx, c, http.MethodGet, snapshots(domain)+"/latest", "", nil)
}

// createSnapshot begins a snapshot and returns what of it has to be uploaded. It
// returns an *Error if the API refuses the snapshot.
func (c *Client) createSnapshot(ctx context.Context, domain string, request api.CreateSnapshotRequest) (api.CreateSnapshotResponse, error) {
	return call[api.CreateSnapshotResponse](ctx, c, http.MethodPost, snapshots(domain), "", request)
}

// publishSnapshot makes an uploaded snapshot the newest of its domain. It returns
// an *Error with the code snapshot_overtaken if another one was published since.
func (c *Client) publishSnapshot(ctx context.Context, domain, snapshotID string) (api.Snapshot, error) {
	return call[api.Snapshot](ctx, c, http.MethodPost, snapshots(domain)+"/"+url.PathEscape(snapshotID)+"/publish", "", nil)
}

func snapshots(domain string) string { return "/v1/sites/" + url.PathEscape(domain) + "/snapshots" }

// Exports returns a page of the organisation's exports, newest first. Empty domain
// and status mean all; the cursor is that of the page before, or empty; limit 0
// leaves the size to the service. A page may be empty where more follow.
// It returns an *Error if the API refuses it, as all below do.
func (c *Client) Exports(ctx context.Context, domain, status, cursor string, limit int) (api.ExportJobs, error) {
	return read[api.ExportJobs](ctx, c, exports+query("domain", domain, "status", status, "cursor", cursor, "limit", number(limit)))
}

// CancelExport ends an export that is queued or running, with the code
// job_not_active where it can't.
func (c *Client) CancelExport(ctx context.Context, jobID string) (api.ExportJob, error) {
	var job api.ExportJob
	_, err := c.call(ctx, http.MethodPost, exports+"/"+url.PathEscape(jobID)+"/cancel", "", nil, &job)
	return job, err
}

// FindingsOf says which findings of an export to return; empty fields mean all.
type FindingsOf struct{ JobID, Severity, Code, File string }

// Findings returns a page of what an export found in its site.
func (c *Client) Findings(ctx context.Context, of FindingsOf, cursor string, limit int) (api.Findings, error) {
	return read[api.Findings](ctx, c, exports+"/"+url.PathEscape(of.JobID)+"/findings"+
		query("severity", of.Severity, "code", of.Code, "file", of.File, "cursor", cursor, "limit", number(limit)))
}

// Snapshots returns a page of a domain's published snapshots, the latest uploads
// first.
func (c *Client) Snapshots(ctx context.Context, domain, cursor string, limit int) (api.Snapshots, error) {
	return read[api.Snapshots](ctx, c, snapshots(domain)+query("cursor", cursor, "limit", number(limit)))
}

// RestoreSnapshot makes an older snapshot the newest of its domain again, with the
// code snapshot_overtaken where base is no longer the newest.
func (c *Client) RestoreSnapshot(ctx context.Context, domain, snapshotID, base string) (api.Snapshot, error) {
	var snapshot api.Snapshot
	_, err := c.call(ctx, http.MethodPost, snapshots(domain)+"/"+url.PathEscape(snapshotID)+"/restore", "", api.RestoreSnapshotRequest{Base: base}, &snapshot)
	return snapshot, err
}

// Live returns which version of a domain's site is live.
func (c *Client) Live(ctx context.Context, domain string) (api.Live, error) {
	return read[api.Live](ctx, c, live(domain))
}

// SetLive promotes, rolls back, holds or releases what is live for a domain, with the
// code live_moved, not_live, job_running, job_failed or bundle_gone where it can't. The
// request has no further effect if it is repeated and nothing else has changed.
func (c *Client) SetLive(ctx context.Context, domain string, request api.SetLiveRequest) (api.Live, error) {
	return call[api.Live](ctx, c, http.MethodPut, live(domain), "", request)
}

// LiveHistory returns a page of what was live for a domain, the latest first.
func (c *Client) LiveHistory(ctx context.Context, domain, cursor string, limit int) (api.LiveMoves, error) {
	return read[api.LiveMoves](ctx, c, live(domain)+"/history"+query("cursor", cursor, "limit", number(limit)))
}

func live(domain string) string { return "/v1/sites/" + url.PathEscape(domain) + "/live" }

// Organisation returns the organisation of the key.
func (c *Client) Organisation(ctx context.Context) (api.Organisation, error) {
	return read[api.Organisation](ctx, c, "/v1/organisation")
}

// Projects returns a page of the organisation's projects.
func (c *Client) Projects(ctx context.Context, cursor string, limit int) (api.Projects, error) {
	return read[api.Projects](ctx, c, "/v1/projects"+query("cursor", cursor, "limit", number(limit)))
}

// Usage returns what the organisation used in a month such as "2026-03", empty for
// the current one.
func (c *Client) Usage(ctx context.Context, month string) (api.Usage, error) {
	return read[api.Usage](ctx, c, "/v1/usage"+query("month", month))
}

// read makes a GET request.
func read[T any](ctx context.Context, c *Client, path string) (T, error) {
	var v T
	_, err := c.call(ctx, http.MethodGet, path, "", nil, &v)
	return v, err
}
