package api

import (
	"context"
	"net/http"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

// Live holds the live version of a site.
type Live struct {
	Domain string `json:"domain"`
	// Deploy decides whether completed exports with goLive go live automatically.
	Deploy admin.DeployMode `json:"deploy"`
	// URL is the address of the site; absent if the service serves no sites.
	URL string `json:"url,omitempty"`
	// Live is the move that made the current version live; null where nothing is live.
	Live *LiveMove `json:"live"`
	// Held is true while no version goes live by itself. HeldAt and HeldBy say since
	// when, and by whom; null where it is false.
	Held   bool       `json:"held"`
	HeldAt *time.Time `json:"heldAt"`
	HeldBy *Actor     `json:"heldBy"`
}

// LiveMove is one change of the live version of a site.
type LiveMove struct {
	Number     int    `json:"number"` // counts the moves of a project, from 1
	Domain     string `json:"domain"`
	JobID      string `json:"jobId"`
	SnapshotID string `json:"snapshotId"`
	Version    string `json:"version"`
	// FromJobID is the job that was live before; null for the first.
	FromJobID *string         `json:"fromJobId"`
	Cause     admin.LiveCause `json:"cause"`
	At        time.Time       `json:"at"`
	// By moved it; for an automatic move, By started the export.
	By Actor `json:"by"`
	// Skipped are the versions before FromJobID that a roll back stepped over, the latest
	// first; absent if there is none.
	Skipped []SkippedVersion `json:"skipped,omitempty"`
}

// SkippedVersion is a version that a roll back stepped over, since it can't be live any
// more.
type SkippedVersion struct {
	JobID  string           `json:"jobId"`
	Reason admin.SkipReason `json:"reason"`
}

// Actor names the person, key or operator that did something.
type Actor struct {
	Kind string `json:"kind"` // person, key or operator
	ID   string `json:"id"`   // of the person or key, or the operator's name
}

// LiveMoves is a page of the history of a site, newest first. NextCursor is null on
// the last.
type LiveMoves struct {
	Moves      []LiveMove `json:"moves"`
	NextCursor *string    `json:"nextCursor"`
}

// SetLiveRequest is the body of a change of what is live.
type SetLiveRequest struct {
	Action admin.LiveAction `json:"action"`
	// JobID is the job that promote makes live; absent for other actions.
	JobID string `json:"jobId,omitempty"`
	// From is the job that the caller knows as the live one: rollback requires it, promote
	// may have it.
	From string `json:"from,omitempty"`
}

func decodeSetLive(body []byte) (SetLiveRequest, error) {
	f, err := parse(body)
	if err != nil {
		return SetLiveRequest{}, err
	}
	req := SetLiveRequest{Action: admin.LiveAction(f.text("action", true)), JobID: f.text("jobId", false), From: f.text("from", false)}
	return req, f.done()
}

func (s *server) getLive(ctx context.Context, c call) (answer, error) {
	if _, err := c.asked(); err != nil {
		return answer{}, err
	}
	l, err := s.Admin.Live(ctx, c.caller, c.params["domain"])
	return answer{status: http.StatusOK, body: live(l)}, err
}

func (s *server) setLive(ctx context.Context, c call) (answer, error) {
	req, err := decodeSetLive(c.body)
	if err != nil {
		return answer{}, err
	}
	l, err := s.Admin.SetLive(ctx, c.caller, admin.SetLive{
		Domain: c.params["domain"], Action: req.Action, Job: req.JobID, From: req.From, IdempotencyKey: c.key,
	})
	return answer{status: http.StatusOK, body: live(l), job: req.JobID}, err
}

func (s *server) listLive(ctx context.Context, c call) (answer, error) {
	q, limit, err := c.page()
	if err != nil {
		return answer{}, err
	}
	moves, next, err := s.Admin.LiveHistory(ctx, c.caller, c.params["domain"], q["cursor"], limit)
	return answer{status: http.StatusOK, body: LiveMoves{Moves: mapped(moves, liveMove), NextCursor: orNull(next)}}, err
}

func live(l admin.Live) Live {
	w := Live{Domain: l.Domain, Deploy: l.Deploy, URL: l.URL}
	if l.Move.Job != "" {
		m := liveMove(l.Move)
		w.Live = &m
	}
	if !l.Hold.At.IsZero() {
		by := Actor(l.Hold.By)
		w.Held, w.HeldAt, w.HeldBy = true, timeOrNull(l.Hold.At), &by
	}
	return w
}

func liveMove(m admin.LiveMove) LiveMove {
	w := LiveMove{
		Number: m.N, Domain: m.Domain, JobID: m.Job, SnapshotID: m.Snapshot, Version: m.Version, FromJobID: orNull(m.From),
		Cause: m.Cause, At: m.At.UTC(), By: Actor(m.By),
	}
	for _, over := range m.Skipped {
		w.Skipped = append(w.Skipped, SkippedVersion{over.Job, over.Reason})
	}
	return w
}
