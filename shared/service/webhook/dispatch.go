package webhook

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
)

const (
	// maxAttempts is how many attempts are under way at once, maxOfEndpoint how
	// many of them at one endpoint: one that is slow holds up no other.
	maxAttempts, maxOfEndpoint = 16, 4
	// maxPages bounds what of a partition is read in one round.
	maxPages = 10
	// margin is what must be left of a process's time for an attempt to begin: for
	// that, and for what is written before and after it.
	margin = timeout + 5*time.Second
)

// Options are what a Dispatcher works with. Admin and Sender are required.
type Options struct {
	Admin  *admin.Service
	Sender *Sender
	// Now returns the time; nil for the clock.
	Now func() time.Time
	// Log gets what goes wrong; nil discards it.
	Log *slog.Logger
}

// Dispatcher delivers what is due. Many may work on the same records.
type Dispatcher struct{ opt Options }

// New makes a Dispatcher.
func New(o Options) *Dispatcher {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Dispatcher{o}
}

// Run makes a pass each time that every has gone by, until ctx ends.
func (d *Dispatcher) Run(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if _, err := d.Pass(ctx); err != nil && ctx.Err() == nil {
			d.opt.Log.ErrorContext(ctx, "webhooks were not delivered", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// Pass makes attempts until nothing is due, or until ctx has no time for another.
// It returns how many it made, and the first error of the store: that of one queue
// holds up no other, and the queue is due again within a minute.
func (d *Dispatcher) Pass(ctx context.Context) (attempts int, err error) {
	for !late(ctx) {
		n, failed := d.round(ctx)
		attempts, err = attempts+n, cmp.Or(err, failed)
		if n == 0 {
			break
		}
	}
	return attempts, err
}

// late reports whether a context has ended, or has no time for another attempt.
func late(ctx context.Context) bool {
	end, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && time.Until(end) < margin
}

// round is one look at all that is due.
type round struct {
	*Dispatcher
	work  sync.WaitGroup
	slots chan struct{}

	mu    sync.Mutex
	busy  map[string]int // attempts under way, by endpoint
	taken int
	err   error
}

func (d *Dispatcher) round(ctx context.Context) (int, error) {
	r := &round{Dispatcher: d, slots: make(chan struct{}, maxAttempts), busy: map[string]int{}}
	for shard := range admin.DueShards() {
		cursor := ""
		for range maxPages {
			queues, next, err := d.opt.Admin.DueQueues(ctx, shard, cursor)
			if err != nil {
				r.work.Wait()
				return r.taken, err
			}
			for _, due := range queues {
				r.begin(ctx, due)
			}
			if cursor = next; cursor == "" {
				break
			}
		}
	}
	r.work.Wait()
	return r.taken, r.err
}

// begin delivers a queue's head beside others, unless its endpoint has as many
// under way as it may have: it stays due then.
func (r *round) begin(ctx context.Context, due admin.DueQueue) {
	if late(ctx) || !r.claim(due.Webhook) {
		return
	}
	r.slots <- struct{}{}
	r.work.Go(func() {
		taken, err := r.deliver(ctx, due)
		<-r.slots
		r.mu.Lock()
		defer r.mu.Unlock()
		r.busy[due.Webhook]--
		if r.err = cmp.Or(r.err, err); taken {
			r.taken++
		}
	})
}

// claim reports whether another attempt may be made at an endpoint, and counts it.
func (r *round) claim(endpoint string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy[endpoint] >= maxOfEndpoint {
		return false
	}
	r.busy[endpoint]++
	return true
}

// deliver takes a queue, attempts its head, and settles that. It reports whether
// the queue was there to be taken. An attempt that has begun is settled also where
// ctx ends meanwhile: what an endpoint has got it would get once more.
func (d *Dispatcher) deliver(ctx context.Context, due admin.DueQueue) (bool, error) {
	l, ok, err := d.opt.Admin.LeaseDelivery(ctx, due)
	if err != nil || !ok {
		return false, err
	}
	if ctx.Err() != nil {
		return true, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), margin)
	defer cancel()
	var a admin.DeliveryAttempt
	if l.Secrets != nil {
		if a, err = d.opt.Sender.attempt(ctx, l, d.opt.Now); err != nil {
			return true, err
		}
	}
	off, err := d.opt.Admin.SettleDelivery(ctx, l, a)
	if err != nil {
		return true, err
	}
	if a.Error != "" {
		d.opt.Log.InfoContext(ctx, "an event was not delivered", "organisation", l.Webhook.Organisation, "webhook", due.Webhook, "event", l.ID, "reason", a.Error)
	}
	if off {
		d.opt.Log.WarnContext(ctx, "a webhook was switched off: it has failed for days", "organisation", l.Webhook.Organisation, "webhook", due.Webhook)
	}
	return true, nil
}
