package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

func (s *server) getWebhooks(ctx context.Context, c call) (answer, error) {
	all, err := s.Admin.Webhooks(ctx, c.caller)
	return answer{status: http.StatusOK, body: Webhooks{Webhooks: mapped(all, webhook)}}, err
}

func (s *server) createWebhook(ctx context.Context, c call) (answer, error) {
	req, err := decodeCreateWebhook(c.body)
	if err != nil {
		return answer{}, err
	}
	n, err := s.Admin.CreateWebhook(ctx, c.caller, admin.CreateWebhook{URL: req.URL, Events: req.Events, IdempotencyKey: c.key})
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusCreated, body: NewWebhook{webhook(n.Webhook), n.Secret}}, nil
}

func (s *server) deleteWebhook(ctx context.Context, c call) (answer, error) {
	return answer{status: http.StatusNoContent}, s.Admin.DeleteWebhook(ctx, c.caller, c.params["id"])
}

func (s *server) rotateWebhookSecret(ctx context.Context, c call) (answer, error) {
	n, err := s.Admin.RotateWebhookSecret(ctx, c.caller, c.params["id"], c.key)
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: NewWebhook{webhook(n.Webhook), n.Secret}}, nil
}

func (s *server) listDeliveries(ctx context.Context, c call) (answer, error) {
	q, err := c.asked("cursor", "limit")
	if err != nil {
		return answer{}, err
	}
	limit, err := pageLimit(q)
	if err != nil {
		return answer{}, err
	}
	all, next, err := s.Admin.Deliveries(ctx, c.caller, admin.DeliveryList{Webhook: c.params["id"], Cursor: q["cursor"], Limit: limit})
	return answer{status: http.StatusOK, body: Deliveries{Deliveries: mapped(all, delivery), NextCursor: orNull(next)}}, err
}

func (s *server) redeliver(ctx context.Context, c call) (answer, error) {
	d, err := s.Admin.Redeliver(ctx, c.caller, c.params["id"], c.params["deliveryId"], c.key)
	if err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: delivery(d)}, nil
}

func webhook(w admin.Webhook) Webhook {
	return Webhook{
		ID: w.ID, URL: w.URL, Events: w.Events, Active: w.OffAt.IsZero(), CreatedAt: w.CreatedAt.UTC(),
		SecretChangedAt: timeOrNull(w.ChangedAt), SwitchedOffAt: timeOrNull(w.OffAt),
	}
}

func delivery(d admin.Delivery) Delivery {
	w := Delivery{
		ID: d.ID, Event: d.Event, Resource: d.Resource, Status: d.Status, AttemptCount: d.Attempts, CreatedAt: d.CreatedAt.UTC(),
		NextAttemptAt: timeOrNull(d.NextAt), EndedAt: timeOrNull(d.EndedAt),
	}
	if a := d.Last; a != nil {
		w.LastAttempt = &DeliveryAttempt{At: a.At.UTC(), DurationMs: a.Took.Milliseconds(), Error: orNull(a.Error)}
		if a.Status != 0 {
			w.LastAttempt.Status = &a.Status
		}
	}
	return w
}

// EventData returns what a delivery's event is about, as a GET of it shows it;
// what GETs show as links that are secrets it has not. It returns an error for a
// delivery that is damaged.
func EventData(d admin.Delivery) (any, error) {
	switch d.Event {
	case admin.EventExportCompleted, admin.EventExportFailed:
		return eventData(d, exportJob)
	case admin.EventAgentCompleted, admin.EventAgentFailed:
		return eventData(d, agentJob)
	case admin.EventSnapshotPublished:
		return eventData(d, eventSnapshot)
	case admin.EventSiteLive:
		return eventData(d, liveMove)
	case admin.EventKeyCreated, admin.EventKeyRevoked:
		return eventData(d, eventKey)
	}
	return nil, fmt.Errorf("delivery %s: unknown event %q", d.ID, d.Event)
}

func eventData[T, W any](d admin.Delivery, show func(T) W) (any, error) {
	var v T
	if err := json.Unmarshal(d.Data, &v); err != nil {
		return nil, fmt.Errorf("delivery %s: %w", d.ID, err)
	}
	return show(v), nil
}

// publishedSnapshot is a snapshot whose manifest has no link.
type publishedSnapshot struct {
	Snapshot
	Manifest Blob `json:"manifest"` // in place of the other
}

func eventSnapshot(p admin.Snapshot) publishedSnapshot {
	return publishedSnapshot{snapshotBody(p), Blob{SHA256: p.Manifest.SHA256, SizeBytes: p.Manifest.Size}}
}

// keyInfo is what of an admin key is not secret.
type keyInfo struct {
	ID               string        `json:"id"`
	Name             string        `json:"name"`
	Scopes           []admin.Scope `json:"scopes"`
	AllowedAddresses []string      `json:"allowedAddresses"`
	CreatedAt        time.Time     `json:"createdAt"`
	ExpiresAt        *time.Time    `json:"expiresAt"`
	RevokedAt        *time.Time    `json:"revokedAt"`
}

func eventKey(k admin.Key) keyInfo {
	w := keyInfo{
		ID: k.ID, Name: k.Name, Scopes: k.Scopes, AllowedAddresses: []string{}, CreatedAt: k.CreatedAt.UTC(),
		ExpiresAt: timeOrNull(k.ExpiresAt), RevokedAt: timeOrNull(k.RevokedAt),
	}
	for _, p := range k.AllowedAddresses {
		w.AllowedAddresses = append(w.AllowedAddresses, p.String())
	}
	return w
}
