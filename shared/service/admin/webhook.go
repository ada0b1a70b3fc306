package admin

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// The events that endpoints subscribe to.
const (
	EventExportCompleted   = "export.completed"
	EventExportFailed      = "export.failed"
	EventSnapshotPublished = "snapshot.published"
	EventSiteLive          = "site.live"
	EventAgentCompleted    = "agent.completed"
	EventAgentFailed       = "agent.failed"
	EventKeyCreated        = "key.created"
	EventKeyRevoked        = "key.revoked"
)

// WebhookEvents lists them.
func WebhookEvents() []string {
	return []string{
		EventExportCompleted, EventExportFailed, EventSnapshotPublished, EventSiteLive, EventAgentCompleted, EventAgentFailed,
		EventKeyCreated, EventKeyRevoked,
	}
}

const (
	// MaxWebhooks is how many endpoints an organisation may have: their outbox rows
	// are part of the transaction of each change. Ten leave a completion that
	// goes live 8 of store.MaxTransaction records.
	MaxWebhooks = 10
	// secretOverlap is how long a secret still signs after it was changed.
	secretOverlap = 24 * time.Hour
	// webhookSecretBytes is the size of a secret; Standard Webhooks asks for 24 to 64.
	webhookSecretBytes = 32
)

// DeliveryCursorPattern is the form of cursors in lists of deliveries.
const DeliveryCursorPattern = `^evt_[0-9a-z]{1,60}$`

var deliveryCursorForm = lazy.Regexp(DeliveryCursorPattern)

// Webhook is an endpoint of an organisation that hears of events.
type Webhook struct {
	ID           string   `json:"id"`
	Organisation string   `json:"organisation"`
	URL          string   `json:"url"`
	Events       []string `json:"events"`
	// ChangedAt is when the secret was last changed, if it was.
	CreatedAt time.Time `json:"createdAt"`
	ChangedAt time.Time `json:"changedAt,omitzero"`
	// OffAt is when the endpoint was switched off, because it failed for days.
	OffAt time.Time `json:"offAt,omitzero"`
}

// Host is what of the address the audit log has: the rest may be a secret.
func (w Webhook) Host() string {
	u, err := url.Parse(w.URL)
	if err != nil {
		return "" // it was checked
	}
	return u.Host
}

// webhookList is all endpoints of an organisation. They are one record, so that
// the transaction of a change learns by one Get who hears of it.
type webhookList struct {
	Webhooks []Webhook `json:"webhooks"`
}

func (l webhookList) find(id string) *Webhook {
	i := slices.IndexFunc(l.Webhooks, func(w Webhook) bool { return w.ID == id })
	if i < 0 {
		return nil
	}
	return &l.Webhooks[i]
}

// webhookSecret is what an endpoint's messages are signed with: a row of its own,
// which no step that sends events reads.
type webhookSecret struct {
	Current string `json:"current"`
	// Previous signs too, until Until.
	Previous string    `json:"previous,omitempty"`
	Until    time.Time `json:"until,omitzero"`
}

// newWebhookSecret makes a secret in the form of Standard Webhooks.
func newWebhookSecret() string {
	var b [webhookSecretBytes]byte
	rand.Read(b[:]) // never fails
	return "whsec_" + base64.StdEncoding.EncodeToString(b[:])
}

// CreateWebhook asks for a new endpoint.
type CreateWebhook struct {
	URL string
	// Events are some of WebhookEvents, at least one.
	Events         []string
	IdempotencyKey string
}

// NewWebhook is an endpoint with the secret that it is shown with once.
type NewWebhook struct {
	Webhook
	Secret string
}

// CreateWebhook makes an endpoint of a caller's organisation. It returns CodeRole,
// CodeInvalid, CodeTooManyWebhooks, CodeKeyReused or CodeKeyRunning.
func (s *Service) CreateWebhook(ctx context.Context, c Caller, in CreateWebhook) (NewWebhook, error) {
	if err := c.person(ActionWebhooks); err != nil {
		return NewWebhook{}, err
	}
	address, problem := s.opt.Callbacks.Parse(in.URL)
	if problem != "" {
		return NewWebhook{}, FieldErrorf("url", "%s", problem)
	}
	if len(in.Events) == 0 {
		return NewWebhook{}, FieldErrorf("events", "must name at least one event")
	}
	for i, e := range in.Events {
		if !slices.Contains(WebhookEvents(), e) {
			return NewWebhook{}, FieldErrorf(indexed("events", i), "is not the name of an event")
		}
	}
	in.Events = slices.Compact(slices.Sorted(slices.Values(in.Events)))
	key := in.IdempotencyKey
	in.IdempotencyKey = ""
	run := func(sl *slot) (NewWebhook, string, error) {
		n := NewWebhook{Webhook{
			ID: s.opt.NewID(idWebhook), Organisation: c.OrganisationID, URL: address.String(), Events: in.Events, CreatedAt: s.now(),
		}, newWebhookSecret()}
		err := s.transact(ctx, func() error {
			all, revision, err := readOr[webhookList](ctx, s, webhooksKey(c.OrganisationID))
			if err != nil {
				return err
			}
			if len(all.Webhooks) >= MaxWebhooks {
				return Errorf(CodeTooManyWebhooks, "your organisation has %d webhooks, the most that it may have; remove one", MaxWebhooks)
			}
			all.Webhooks = append(all.Webhooks, n.Webhook)
			var b batch
			b.put(webhooksKey(c.OrganisationID), revision, all)
			b.put(webhookSecretKey(n.ID), 0, webhookSecret{Current: n.Secret})
			s.audit(&b, c, c.OrganisationID, "webhook.created", n.ID, changed("host", "", n.Host(), "events", "", joined(n.Events))...)
			sl.settle(&b, n.ID)
			return sl.settled(s.write(ctx, &b))
		})
		return n, n.ID, err
	}
	replay := func(id string) (NewWebhook, error) { return s.newWebhook(ctx, c, id) }
	return once(ctx, s, c, "create-webhook", key, in, run, replay)
}

// newWebhook reads an endpoint with its secret, for a request that is repeated.
func (s *Service) newWebhook(ctx context.Context, c Caller, id string) (NewWebhook, error) {
	w, err := s.callersWebhook(ctx, c, id)
	if err != nil {
		return NewWebhook{}, err
	}
	secret, _, err := read[webhookSecret](ctx, s, webhookSecretKey(id))
	return NewWebhook{w, secret.Current}, err
}

// Webhooks returns the endpoints of a caller's organisation, oldest first. It
// returns CodeRole.
func (s *Service) Webhooks(ctx context.Context, c Caller) ([]Webhook, error) {
	if err := c.person(ActionWebhooks); err != nil {
		return nil, err
	}
	all, _, err := readOr[webhookList](ctx, s, webhooksKey(c.OrganisationID))
	return all.Webhooks, err
}

// callersWebhook reads an endpoint of a caller's organisation.
func (s *Service) callersWebhook(ctx context.Context, c Caller, id string) (Webhook, error) {
	all, _, err := readOr[webhookList](ctx, s, webhooksKey(c.OrganisationID))
	if err != nil {
		return Webhook{}, err
	}
	if w := all.find(id); w != nil {
		return *w, nil
	}
	return Webhook{}, notFound("webhook")
}

// DeleteWebhook removes an endpoint. What waits for it is no longer delivered.
// It returns CodeRole or CodeNotFound.
func (s *Service) DeleteWebhook(ctx context.Context, c Caller, id string) error {
	if err := c.person(ActionWebhooks); err != nil {
		return err
	}
	return s.transact(ctx, func() error {
		all, revision, err := readOr[webhookList](ctx, s, webhooksKey(c.OrganisationID))
		if err != nil {
			return err
		}
		w := all.find(id)
		if w == nil {
			return notFound("webhook")
		}
		host := w.Host()
		all.Webhooks = slices.DeleteFunc(all.Webhooks, func(w Webhook) bool { return w.ID == id })
		var b batch
		b.put(webhooksKey(c.OrganisationID), revision, all)
		b.remove(webhookSecretKey(id), 0)
		b.remove(healthKey(id), 0)
		s.audit(&b, c, c.OrganisationID, "webhook.removed", id, changed("host", host, "")...)
		return s.write(ctx, &b)
	})
}

// removeWebhooks removes all endpoints of an organisation that was ended.
func (s *Service) removeWebhooks(ctx context.Context, org string) error {
	c := s.Operator(org)
	all, err := s.Webhooks(ctx, c)
	for _, w := range all {
		if removed := s.DeleteWebhook(ctx, c, w.ID); CodeOf(removed) != CodeNotFound {
			err = errors.Join(err, removed)
		}
	}
	return err
}

// RotateWebhookSecret changes an endpoint's secret. The one before still signs
// beside it for 24 hours; a third is forgotten at once. It returns CodeRole,
// CodeNotFound, CodeKeyReused or CodeKeyRunning.
func (s *Service) RotateWebhookSecret(ctx context.Context, c Caller, id, idempotencyKey string) (NewWebhook, error) {
	if err := c.person(ActionWebhooks); err != nil {
		return NewWebhook{}, err
	}
	run := func(sl *slot) (NewWebhook, string, error) {
		n := NewWebhook{Secret: newWebhookSecret()}
		err := s.transact(ctx, func() error {
			all, revision, err := readOr[webhookList](ctx, s, webhooksKey(c.OrganisationID))
			if err != nil {
				return err
			}
			w := all.find(id)
			if w == nil {
				return notFound("webhook")
			}
			secret, secretRevision, err := read[webhookSecret](ctx, s, webhookSecretKey(id))
			if err != nil {
				return err
			}
			w.ChangedAt = s.now()
			n.Webhook = *w
			var b batch
			b.put(webhooksKey(c.OrganisationID), revision, all)
			b.put(webhookSecretKey(id), secretRevision, webhookSecret{Current: n.Secret, Previous: secret.Current, Until: w.ChangedAt.Add(secretOverlap)})
			s.audit(&b, c, c.OrganisationID, "webhook.rotated", id)
			sl.settle(&b, id)
			return sl.settled(s.write(ctx, &b))
		})
		return n, id, err
	}
	replay := func(id string) (NewWebhook, error) { return s.newWebhook(ctx, c, id) }
	return once(ctx, s, c, "rotate-webhook-secret", idempotencyKey, id, run, replay)
}

// webhookSecrets are those that sign an endpoint's messages now, the newest first.
func (s *Service) webhookSecrets(ctx context.Context, id string) ([]string, error) {
	secret, _, err := readOr[webhookSecret](ctx, s, webhookSecretKey(id))
	if err != nil || secret.Current == "" {
		return nil, err
	}
	secrets := []string{secret.Current}
	if secret.Previous != "" && s.now().Before(secret.Until) {
		secrets = append(secrets, secret.Previous)
	}
	return secrets, nil
}

// DeliveryList asks for a page of an endpoint's deliveries.
type DeliveryList struct {
	Webhook string
	// Cursor is where the page before ended, the id of its last delivery; empty
	// for the first.
	Cursor string
	Limit  int // 0: DefaultPage
}

// Deliveries returns the deliveries of a caller's endpoint, newest first, and the
// cursor of the next page, which is empty at the end. They are kept for 30 days
// after their end. It returns CodeRole, CodeInvalid or CodeNotFound.
func (s *Service) Deliveries(ctx context.Context, c Caller, in DeliveryList) ([]Delivery, string, error) {
	if err := c.person(ActionWebhooks); err != nil {
		return nil, "", err
	}
	limit, err := checkPage(in.Limit)
	if err != nil {
		return nil, "", err
	}
	q := store.Query{PK: deliveryKey(in.Webhook, "").PK, Prefix: prefixDelivery, Limit: limit, Descending: true}
	if in.Cursor != "" {
		if !deliveryCursorForm().MatchString(in.Cursor) {
			return nil, "", FieldErrorf("cursor", "is not one that a list of deliveries returned")
		}
		q.Cursor = store.EncodeCursor(q, store.Record{Key: deliveryKey(in.Webhook, in.Cursor)})
	}
	if _, err := s.callersWebhook(ctx, c, in.Webhook); err != nil {
		return nil, "", err
	}
	page, err := s.opt.Store.Query(ctx, q)
	if err != nil {
		return nil, "", err
	}
	deliveries, err := decoded[Delivery](page.Records)
	if err != nil || page.Cursor == "" {
		return deliveries, "", err
	}
	return deliveries, deliveries[len(deliveries)-1].ID, nil
}

// Redeliver delivers once more what was delivered or is dead, outside of the order
// of its resource, under its id. A first success of an endpoint that is switched
// off switches it on. It returns CodeRole, CodeNotFound, CodeDeliveryPending where
// the delivery has not ended yet, CodeKeyReused or CodeKeyRunning.
func (s *Service) Redeliver(ctx context.Context, c Caller, webhook, id, idempotencyKey string) (Delivery, error) {
	if err := c.person(ActionWebhooks); err != nil {
		return Delivery{}, err
	}
	var d Delivery
	run := func(sl *slot) (Delivery, string, error) {
		err := s.transact(ctx, func() (err error) {
			if _, err := s.callersWebhook(ctx, c, webhook); err != nil {
				return err
			}
			var revision int64
			if d, revision, err = find[Delivery](ctx, s, "delivery", deliveryKey(webhook, id), id); err != nil {
				return err
			}
			if d.Status == DeliveryPending {
				return Errorf(CodeDeliveryPending, "the delivery has not ended yet")
			}
			d.Status, d.Tries, d.Again = DeliveryPending, 0, true
			d.FirstAt, d.EndedAt, d.NextAt = time.Time{}, time.Time{}, s.now()
			var b batch
			b.put(deliveryKey(webhook, id), revision, d)
			if _, err := s.enqueue(ctx, &b, c.OrganisationID, webhook, "again-"+id, id); err != nil {
				return err
			}
			sl.settle(&b, id)
			return sl.settled(s.write(ctx, &b))
		})
		return d, id, err
	}
	replay := func(id string) (Delivery, error) {
		if _, err := s.callersWebhook(ctx, c, webhook); err != nil {
			return Delivery{}, err
		}
		d, _, err := find[Delivery](ctx, s, "delivery", deliveryKey(webhook, id), id)
		return d, err
	}
	return once(ctx, s, c, "redeliver", idempotencyKey, [2]string{webhook, id}, run, replay)
}
