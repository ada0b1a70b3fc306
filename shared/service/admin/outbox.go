package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// The outbox: what endpoints have to hear is written in the transaction of the
// change itself, so that neither is without the other. For each endpoint and
// resource there is a queue: what it holds is delivered one after another, in the
// order of the changes. A queue that holds something is in one of the partitions
// due#<n> under the time at which its head is tried next; whoever makes that
// attempt takes the queue by moving this time on, so that a process that dies
// loses its lease by itself.
const (
	// dueShards spreads queues: DynamoDB takes a thousand writes a second in one
	// partition, and each is one read a minute when nothing happens.
	dueShards = 4
	// deliveryLease is how long a taken queue is left alone: an attempt takes 10 s
	// at most.
	deliveryLease = time.Minute
	// deliveryLife is for how long after its first attempt an event is tried.
	deliveryLife = 24 * time.Hour
	// deliveryKept is how long a delivery is shown after its end, queueKept how
	// long a queue that is empty remembers its sequence.
	deliveryKept = 30 * 24 * time.Hour
	queueKept    = 30 * 24 * time.Hour
	// An endpoint is switched off after so many failures in a row, if the first of
	// them is as long ago.
	offAfter = 10
	offSince = 3 * 24 * time.Hour
)

// deliveryWaits are the pauses after the attempts of a delivery; the last one is
// repeated.
func deliveryWaits() []time.Duration {
	return []time.Duration{
		5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour,
	}
}

// DeliveryStatus is where a delivery stands.
type DeliveryStatus string

// The states of a delivery.
const (
	DeliveryPending   DeliveryStatus = "pending"
	DeliveryDelivered DeliveryStatus = "delivered"
	DeliveryDead      DeliveryStatus = "dead"
)

// DeliveryStatuses lists them.
func DeliveryStatuses() []DeliveryStatus {
	return []DeliveryStatus{DeliveryPending, DeliveryDelivered, DeliveryDead}
}

// Delivery is an event on its way to one endpoint.
type Delivery struct {
	// ID is the event's, which all endpoints and all attempts have in common. It
	// sorts by time.
	ID string `json:"id"`
	// Event is one of WebhookEvents. Resource is what it is about, N its place in
	// the order of the events of this resource at this endpoint, from 1.
	Event    string `json:"event"`
	Resource string `json:"resource"`
	N        int    `json:"n"`
	// Data is the record of what changed, as it was then: an ExportJob, AgentJob,
	// Snapshot, LiveMove or Key, by the event.
	Data   json.RawMessage `json:"data"`
	Status DeliveryStatus  `json:"status"`
	// Tries is how many attempts were made since FirstAt, Attempts how many there
	// were at all.
	Tries    int `json:"tries,omitempty"`
	Attempts int `json:"attempts,omitempty"`
	// Again says that it was asked for once more.
	Again     bool      `json:"again,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	FirstAt   time.Time `json:"firstAt,omitzero"`
	// NextAt is when it is tried next at the earliest, while it is pending, EndedAt
	// when it was delivered or given up.
	NextAt  time.Time `json:"nextAt,omitzero"`
	EndedAt time.Time `json:"endedAt,omitzero"`
	// Last is the attempt that was made last.
	Last *DeliveryAttempt `json:"last,omitempty"`
}

// DeliveryAttempt is how one attempt at a delivery ended.
type DeliveryAttempt struct {
	At   time.Time     `json:"at"`
	Took time.Duration `json:"took"`
	// Status is that of the answer; 0 where none came.
	Status int `json:"status,omitempty"`
	// Error says, in words that are safe to show, why the attempt failed; empty
	// for a success.
	Error string `json:"error,omitempty"`
}

// queue is the order of what is delivered to one endpoint about one resource.
type queue struct {
	// Head is the number of the next to be delivered, Next what the next event
	// gets: where they are equal, nothing waits.
	Head int `json:"head"`
	Next int `json:"next"`
	// Due is the time under which the queue is in its partition of due queues.
	Due time.Time `json:"due,omitzero"`
	// Lease names who has taken it.
	Lease string `json:"lease,omitempty"`
}

// pending names the event that has a number in a queue.
type pending struct {
	ID string `json:"id"`
}

// health is how an endpoint does: failures in a row, and since when.
type health struct {
	Failures int       `json:"failures"`
	Since    time.Time `json:"since,omitzero"`
}

// DueQueue is a queue that something is to be done about.
type DueQueue struct {
	Organisation string `json:"organisation"`
	Webhook      string `json:"webhook"`
	Queue        string `json:"queue"`
	// At is when its head is tried.
	At time.Time `json:"at"`
}

func (d DueQueue) key() store.Key {
	h := fnv.New32a()
	_, _ = h.Write([]byte(d.Webhook + "#" + d.Queue))
	return dueKey(int(h.Sum32()%dueShards), timePart(d.At)+"#"+d.Webhook+"#"+d.Queue)
}

// notify adds to a transaction what the endpoints of an organisation have to hear
// of a change: an outbox row for each that subscribes to the event. Resource says
// whose order it belongs to. Where nobody subscribes, it is one Get. The
// transaction is made anew after a conflict: queues are taken meanwhile.
func (s *Service) notify(ctx context.Context, b *batch, org, event, resource string, data any) error {
	all, _, err := readOr[webhookList](ctx, s, webhooksKey(org))
	if err != nil {
		return err
	}
	var d *Delivery
	for _, w := range all.Webhooks {
		if !w.OffAt.IsZero() || !slices.Contains(w.Events, event) {
			continue
		}
		if d == nil {
			raw, err := json.Marshal(data)
			if err != nil {
				return err
			}
			now := s.now()
			d = &Delivery{
				ID:    idEvent + "_" + timePart(now) + s.opt.NewID(idEvent)[len(idEvent)+1:],
				Event: event, Resource: resource, Data: raw, Status: DeliveryPending, CreatedAt: now, NextAt: now,
			}
		}
		if d.N, err = s.enqueue(ctx, b, org, w.ID, resource, d.ID); err != nil {
			return err
		}
		b.put(deliveryKey(w.ID, d.ID), 0, *d)
	}
	return nil
}

// enqueue adds an event to the end of a queue and returns its number there.
func (s *Service) enqueue(ctx context.Context, b *batch, org, webhook, name, event string) (int, error) {
	q, revision, err := readOr[queue](ctx, s, queueKey(webhook, name))
	if err != nil {
		return 0, err
	}
	if q.Next == 0 {
		q.Head, q.Next = 1, 1
	}
	n := q.Next
	if q.Next++; q.Head == n { // it was empty
		q.Due = s.now()
		due := DueQueue{org, webhook, name, q.Due}
		b.put(due.key(), 0, due)
	}
	b.put(queueKey(webhook, name), revision, q)
	b.put(pendingKey(webhook, name, n), 0, pending{event})
	return n, nil
}

// DueShards is how many partitions of due queues there are.
func DueShards() int { return dueShards }

// DueQueues returns a page of the queues of a partition that are due, those that
// wait longest first, and whether more may follow it: the cursor of the next page,
// which is empty at the end. It returns the store's errors.
func (s *Service) DueQueues(ctx context.Context, shard int, cursor string) ([]DueQueue, string, error) {
	page, err := s.opt.Store.Query(ctx, store.Query{PK: dueKey(shard, "").PK, Cursor: cursor, Limit: 100})
	if err != nil {
		return nil, "", err
	}
	all, err := decoded[DueQueue](page.Records)
	if err != nil {
		return nil, "", err
	}
	now := s.now()
	for i, d := range all {
		if d.At.After(now) {
			return all[:i], "", nil
		}
	}
	return all, page.Cursor, nil
}

// LeasedDelivery is a delivery that its holder alone attempts, for a minute.
type LeasedDelivery struct {
	Delivery
	// Webhook is where it goes. Without Secrets the endpoint was removed or is
	// switched off: then it is settled without an attempt.
	Webhook Webhook
	// Secrets sign it, the newest first.
	Secrets []string

	due   DueQueue // as it was before it was taken
	lease string
}

// LeaseDelivery takes a queue that is due and returns its head. It reports false
// where another has taken the queue. It returns the store's errors.
func (s *Service) LeaseDelivery(ctx context.Context, due DueQueue) (LeasedDelivery, bool, error) {
	l := LeasedDelivery{due: due, lease: s.opt.NewID("lease")}
	var head int
	taken := false
	err := s.transact(ctx, func() error {
		taken = false
		q, revision, err := readOr[queue](ctx, s, queueKey(due.Webhook, due.Queue))
		if err != nil || !q.Due.Equal(due.At) || q.Head == q.Next {
			return err
		}
		q.Lease, head = l.lease, q.Head
		var b batch
		s.moveQueue(&b, due, &q, s.now().Add(deliveryLease))
		b.put(queueKey(due.Webhook, due.Queue), revision, q)
		if err := s.write(ctx, &b); err != nil {
			return err
		}
		taken = true
		return nil
	})
	if err != nil || !taken {
		return LeasedDelivery{}, false, err
	}
	next, _, err := read[pending](ctx, s, pendingKey(due.Webhook, due.Queue, head))
	if err != nil {
		return LeasedDelivery{}, false, err
	}
	if l.Delivery, _, err = read[Delivery](ctx, s, deliveryKey(due.Webhook, next.ID)); err != nil {
		return LeasedDelivery{}, false, err
	}
	all, _, err := readOr[webhookList](ctx, s, webhooksKey(due.Organisation))
	if err != nil {
		return LeasedDelivery{}, false, err
	}
	if w := all.find(due.Webhook); w != nil {
		l.Webhook = *w
		if w.OffAt.IsZero() || l.Again {
			l.Secrets, err = s.webhookSecrets(ctx, w.ID)
		}
	}
	return l, err == nil, err
}

// moveQueue moves a queue that is due at some time to another, or, where that is
// zero, out of the due ones.
func (s *Service) moveQueue(b *batch, due DueQueue, q *queue, to time.Time) {
	moved := DueQueue{due.Organisation, due.Webhook, due.Queue, to}
	due.At, q.Due = q.Due, to
	if due.key() == moved.key() {
		return
	}
	b.remove(due.key(), 0)
	if !to.IsZero() {
		b.put(moved.key(), 0, moved)
	}
}

// SettleDelivery writes down how an attempt at a leased delivery ended: a success
// and one that is given up release the next of their queue, any other is tried
// again later. It reports whether this was the failure that switched the endpoint
// off. Where the lease is over and another has taken the queue, it does nothing:
// the event is delivered again then. It returns the store's errors.
func (s *Service) SettleDelivery(ctx context.Context, l LeasedDelivery, a DeliveryAttempt) (off bool, err error) {
	due := l.due
	err = s.transact(ctx, func() error {
		off = false
		q, revision, err := readOr[queue](ctx, s, queueKey(due.Webhook, due.Queue))
		if err != nil || q.Lease != l.lease {
			return err
		}
		d, deliveryRevision, err := read[Delivery](ctx, s, deliveryKey(due.Webhook, l.ID))
		if err != nil {
			return err
		}
		now := s.now()
		var b batch
		if l.Secrets == nil {
			d.end(DeliveryDead, now)
		} else {
			if off, err = s.noteHealth(ctx, &b, l.Webhook, d.Again, a); err != nil {
				return err
			}
			d.attempted(a, now)
		}
		rec := b.put(deliveryKey(due.Webhook, l.ID), deliveryRevision, d)
		next := d.NextAt
		if d.Status != DeliveryPending {
			rec.ExpiresAt = now.Add(deliveryKept)
			b.remove(pendingKey(due.Webhook, due.Queue, q.Head), 0)
			q.Head++
			if next = now; q.Head == q.Next {
				next = time.Time{}
			}
		}
		q.Lease = ""
		s.moveQueue(&b, due, &q, next)
		rec = b.put(queueKey(due.Webhook, due.Queue), revision, q)
		if next.IsZero() {
			rec.ExpiresAt = now.Add(queueKept)
		}
		return s.write(ctx, &b)
	})
	return off, err
}

// attempted notes an attempt and what follows from it.
func (d *Delivery) attempted(a DeliveryAttempt, now time.Time) {
	d.Last = &a
	d.Tries++
	d.Attempts++
	if d.FirstAt.IsZero() {
		d.FirstAt = a.At
	}
	end := d.FirstAt.Add(deliveryLife)
	switch waits := deliveryWaits(); {
	case a.Error == "":
		d.end(DeliveryDelivered, now)
	case !now.Before(end):
		d.end(DeliveryDead, now)
	default:
		d.NextAt = now.Add(waits[min(d.Tries, len(waits))-1])
		if d.NextAt.After(end) {
			d.NextAt = end
		}
	}
}

func (d *Delivery) end(status DeliveryStatus, now time.Time) {
	d.Status, d.EndedAt, d.NextAt = status, now, time.Time{}
}

// noteHealth records in a transaction how an attempt at an endpoint ended, and
// reports whether that switches it off.
func (s *Service) noteHealth(ctx context.Context, b *batch, w Webhook, again bool, a DeliveryAttempt) (off bool, err error) {
	h, revision, err := readOr[health](ctx, s, healthKey(w.ID))
	if err != nil {
		return false, err
	}
	if a.Error == "" {
		if h.Failures > 0 {
			b.put(healthKey(w.ID), revision, health{}).ExpiresAt = s.now().Add(queueKept)
		}
		if again {
			_, err = s.switchWebhook(ctx, b, w, time.Time{})
		}
		return false, err
	}
	if h.Failures++; h.Failures == 1 {
		h.Since = a.At
	}
	b.put(healthKey(w.ID), revision, h).ExpiresAt = s.now().Add(queueKept)
	if h.Failures < offAfter || a.At.Before(h.Since.Add(offSince)) || again {
		return false, nil
	}
	return s.switchWebhook(ctx, b, w, a.At)
}

// switchWebhook adds to a transaction that an endpoint is off since a time, or,
// where that is zero, on. It reports whether that is a change.
func (s *Service) switchWebhook(ctx context.Context, b *batch, w Webhook, offAt time.Time) (bool, error) {
	all, revision, err := readOr[webhookList](ctx, s, webhooksKey(w.Organisation))
	if err != nil {
		return false, err
	}
	stored := all.find(w.ID)
	if stored == nil || stored.OffAt.IsZero() == offAt.IsZero() {
		return false, nil
	}
	stored.OffAt = offAt
	b.put(webhooksKey(w.Organisation), revision, all)
	action := "webhook.switched-on"
	if !offAt.IsZero() {
		action = "webhook.switched-off"
	}
	s.audit(b, Caller{Operator: "bindery"}, w.Organisation, action, w.ID, changed("host", "", stored.Host())...)
	return true, nil
}

// decoded reads the values of records.
func decoded[T any](records []store.Record) ([]T, error) {
	values := make([]T, len(records))
	var errs error
	for i, rec := range records {
		if err := json.Unmarshal(rec.Value, &values[i]); err != nil {
			errs = errors.Join(errs, fmt.Errorf("record %s/%s: %w", rec.Key.PK, rec.Key.SK, err))
		}
	}
	return values, errs
}
