package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/bindery-docs/bindery/shared/service/api"
)

// The calls of this file return an *Error for an answer other than success,
// ctx's error once it ends, and another error if the API can't be reached or does
// not answer as it promises. Temporary faults are retried first.

// StartExport starts an export. Under one idempotency key it is started once,
// however often this is called; an empty key is replaced by one for this call.
// It returns an *Error if the API refuses the export.
func (c *Client) StartExport(ctx context.Context, request api.StartExportRequest, idempotencyKey string) (api.ExportJob, error) {
	return call[api.ExportJob](ctx, c, http.MethodPost, "/v1/static-export/jobs", idempotencyKey, request)
}

// GetExport reads an export job. pace is when the service asks to be asked
// again, 0 for at once, negative if it does not say. It returns an *Error with
// the code not_found for an unknown job.
func (c *Client) GetExport(ctx context.Context, jobID string) (job api.ExportJob, pace time.Duration, err error) {
	header, err := c.call(ctx, http.MethodGet, "/v1/static-export/jobs/"+url.PathEscape(jobID), "", nil, &job)
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
	return call[api.BundleLink](ctx, c, http.MethodPost, "/v1/static-export/jobs/"+url.PathEscape(jobID)+"/bundle", "", nil)
}

// latestSnapshot reads the newest snapshot of a domain, with a link to its
// manifest. It returns an *Error with the code not_found if there is none.
func (c *Client) latestSnapshot(ctx context.Context, domain string) (api.Snapshot, error) {
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
