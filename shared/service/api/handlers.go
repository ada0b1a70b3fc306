package api

import (
	"context"
	"net/http"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/publish"
)

func (s *server) startExport(ctx context.Context, c call) (answer, error) {
	req, err := decodeStartExport(c.body)
	if err != nil {
		return answer{}, err
	}
	j, err := s.Admin.StartExport(ctx, c.caller, admin.StartExport{
		Domain: req.Domain, Version: req.Version, Paths: req.Paths, Groups: req.Groups, Fresh: req.Fresh, Have: req.Have, GoLive: req.GoLive, IdempotencyKey: c.key,
	})
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusAccepted, body: exportJob(j), job: j.ID, header: http.Header{
		"Location":    {"/v1/static-export/jobs/" + j.ID},
		"Retry-After": {seconds(s.Admin.PollAfter(j))},
	}}, nil
}

func (s *server) getExport(ctx context.Context, c call) (answer, error) {
	j, err := s.Admin.GetExport(ctx, c.caller, c.params["jobId"])
	if err != nil {
		return answer{}, err
	}
	a := answer{status: http.StatusOK, body: exportJob(j)}
	if !j.Status.Final() {
		a.header = http.Header{"Retry-After": {seconds(s.Admin.PollAfter(j))}}
	}
	return a, nil
}

func (s *server) generateBundle(ctx context.Context, c call) (answer, error) {
	l, err := s.Admin.BundleLink(ctx, c.caller, c.params["jobId"], c.key)
	if err != nil {
		return answer{}, err
	}
	ends := l.Link.ExpiresAt // of both
	if l.Changes.URL != "" && l.Changes.ExpiresAt.Before(ends) {
		ends = l.Changes.ExpiresAt
	}
	return answer{status: http.StatusOK, body: BundleLink{
		JobID: l.Job.ID, Version: l.Job.Version, BundleURL: l.Link.URL, ExpiresAt: linkEnd(ends),
		SizeBytes: l.Job.Bundle.Size, SHA256: l.Job.Bundle.SHA256, ChangesURL: l.Changes.URL,
	}}, nil
}

func (s *server) getLatestSnapshot(ctx context.Context, c call) (answer, error) {
	p, err := s.Admin.LatestSnapshot(ctx, c.caller, c.params["domain"])
	if err != nil {
		return answer{}, err
	}
	return s.snapshot(ctx, p)
}

func (s *server) createSnapshot(ctx context.Context, c call) (answer, error) {
	req, err := decodeCreateSnapshot(c.body)
	if err != nil {
		return answer{}, err
	}
	in := admin.CreateSnapshot{
		Domain: c.params["domain"], Base: req.Base, IdempotencyKey: c.key,
		Manifest: admin.Blob{SHA256: req.Manifest.SHA256, Size: req.Manifest.SizeBytes},
	}
	for _, p := range req.Packs {
		in.Packs = append(in.Packs, admin.Blob{SHA256: p.SHA256, Size: p.SizeBytes})
	}
	p, err := s.Admin.CreateSnapshot(ctx, c.caller, in)
	if err != nil {
		return answer{}, err
	}
	res := CreateSnapshotResponse{SnapshotID: p.ID, Uploads: make([]Upload, 0, len(p.Uploads))}
	for _, u := range p.Uploads {
		headers := make(map[string]string, len(u.Link.Header))
		for name := range u.Link.Header {
			headers[name] = u.Link.Header.Get(name)
		}
		res.Uploads = append(res.Uploads, Upload{
			Kind: u.Kind, SHA256: u.SHA256, SizeBytes: u.Size, URL: u.Link.URL, Method: http.MethodPut,
			Headers: headers, ExpiresAt: linkEnd(u.Link.ExpiresAt),
		})
	}
	return answer{status: http.StatusCreated, body: res}, nil
}

func (s *server) publishSnapshot(ctx context.Context, c call) (answer, error) {
	p, err := s.Admin.Publish(ctx, c.caller, admin.Publish{
		Domain: c.params["domain"], SnapshotID: c.params["snapshotId"], IdempotencyKey: c.key, Check: publish.Check(s.Objects),
	})
	if err != nil {
		return answer{}, err
	}
	return s.snapshot(ctx, p)
}

// snapshot answers with a published snapshot and a link to its manifest.
func (s *server) snapshot(ctx context.Context, p admin.Snapshot) (answer, error) {
	link, err := s.Admin.ManifestLink(ctx, p)
	if err != nil {
		return answer{}, err
	}
	w := snapshotBody(p)
	w.Manifest.URL, w.Manifest.ExpiresAt = link.URL, linkEnd(link.ExpiresAt)
	return answer{status: http.StatusOK, body: w}, nil
}

// snapshotBody is a published snapshot without the link to its manifest.
func snapshotBody(p admin.Snapshot) Snapshot {
	return Snapshot{
		SnapshotID: p.ID, Domain: p.Domain, Status: p.Status, Base: orNull(p.Base), FileCount: p.Files, SizeBytes: p.Bytes,
		CreatedAt: p.CreatedAt.UTC(), PublishedAt: p.PublishedAt.UTC(),
		Manifest: ManifestLink{Blob: Blob{SHA256: p.Manifest.SHA256, SizeBytes: p.Manifest.Size}},
	}
}

func exportJob(j admin.ExportJob) ExportJob {
	w := ExportJob{
		JobID: j.ID, Status: j.Status, Progress: j.Progress(), PageCount: j.PageCount(),
		Domain: j.Domain, Version: j.Version, CreatedAt: j.CreatedAt.UTC(), UpdatedAt: j.UpdatedAt.UTC(),
		Reused: j.Reused, Unchanged: j.Unchanged(), GoLive: j.GoLive != nil,
	}
	if j.Bundle != nil && j.Bundle.Changes.Job != "" {
		c := j.Bundle.Changes
		w.Changes = &Changes{
			Since: Since{JobID: c.Job, Version: c.Version}, PagesAdded: c.PagesAdded, PagesRemoved: c.PagesRemoved, PagesChanged: c.PagesChanged,
			AddressesLost: c.AddressesLost, AnchorsLost: c.AnchorsLost,
			FilesAdded: c.FilesAdded, FilesRemoved: c.FilesRemoved, FilesChanged: c.FilesChanged,
		}
	}
	if j.Failure != nil {
		w.Failure = &Failure{Code: j.Failure.Code, Message: j.Failure.Message}
		w.Error = j.Failure.Message
	}
	return w
}

// linkEnd is a link's end in whole seconds, never later than the real one.
func linkEnd(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// mapped returns the form of each item in answers, and [] where there is none.
func mapped[In, Out any](items []In, form func(In) Out) []Out {
	out := make([]Out, len(items))
	for i, item := range items {
		out[i] = form(item)
	}
	return out
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
