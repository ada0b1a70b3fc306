package webhook_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/storetest"

	"github.com/bindery-docs/bindery/tests/outside"
)

// heard holds what endpoints got against what happened: each event came, under one
// id, and the first successes of a resource are in the order of its changes.
type heard struct {
	ids   map[string]string   // of a subject
	order map[string][]string // subjects of a resource, as they were first answered with 200
}

func newHeard() *heard { return &heard{map[string]string{}, map[string][]string{}} }

func (h *heard) add(t *testing.T, secret string, requests []request) {
	t.Helper()
	for _, r := range requests {
		subject := r.subject()
		if id := h.ids[subject]; id != "" && id != r.ID {
			t.Fatalf("%s came as %s and as %s", subject, id, r.ID)
		}
		if err := r.verifies(secret); err != nil {
			t.Fatal(err)
		}
		h.ids[subject] = r.ID
		if r.ok && !slices.Contains(h.order[r.resource()], subject) {
			h.order[r.resource()] = append(h.order[r.resource()], subject)
		}
	}
}

// check compares what was heard with what happened: the subjects of each resource,
// in their order.
func (h *heard) check(t *testing.T, happened map[string][]string) {
	t.Helper()
	for resource, want := range happened {
		if got := h.order[resource]; !slices.Equal(got, want) {
			t.Errorf("%s: heard\n%v, happened\n%v", resource, got, want)
		}
	}
	if len(h.order) != len(happened) {
		t.Errorf("heard of %d resources, there are %d", len(h.order), len(happened))
	}
}

// story is two changes of one key and one of another, and a snapshot: what callers
// do, each step again until it succeeds, with an endpoint that fails at first.
func story(ctx context.Context, w *world, s *admin.Service, x tenant) error {
	if _, err := s.RevokeKey(ctx, x.ID, w.keys(x)[0].ID); err != nil {
		return err
	}
	if _, err := s.LatestSnapshot(ctx, x.Caller, x.project.Domain); err != nil {
		if _, err := publish(ctx, s, x.Caller, x.project.Domain); err != nil {
			return err
		}
	}
	_, err := w.dispatcher(s).Pass(ctx)
	return err
}

func (w *world) keys(x tenant) []admin.Key {
	w.t.Helper()
	return must[[]admin.Key](w.t)(w.ListKeys(w.ctx, x.ID))
}

// happened is what the story has made so far, by the records of the things
// themselves.
func (w *world) happened(x tenant) map[string][]string {
	w.t.Helper()
	all := map[string][]string{}
	for _, k := range w.keys(x) {
		r := request{Type: admin.EventKeyCreated}
		r.Data.ID = k.ID
		all[k.ID] = append(all[k.ID], r.subject())
		if !k.RevokedAt.IsZero() {
			r.Type = admin.EventKeyRevoked
			all[k.ID] = append(all[k.ID], r.subject())
		}
	}
	// Two processes at the same work may each publish one, in the same moment of
	// this test's clock: the newest was the last.
	list := must[admin.SnapshotList](w.t)(w.ListSnapshots(w.ctx, x.Caller, x.project.Domain, "", 0))
	last := map[string]int{list.Newest: 1}
	slices.SortStableFunc(list.Snapshots, func(a, b admin.Snapshot) int {
		return cmp.Or(a.PublishedAt.Compare(b.PublishedAt), cmp.Compare(last[a.ID], last[b.ID]))
	})
	for _, p := range list.Snapshots {
		r := request{Type: admin.EventSnapshotPublished}
		r.Data.SnapshotID, r.Data.Domain = p.ID, p.Domain
		all[p.Domain] = append(all[p.Domain], r.subject())
	}
	return all
}

// finish lets everything that waits be delivered by a process that lives.
func (w *world) finish(h *heard, secret string) {
	w.t.Helper()
	for range 200 {
		w.pass()
		h.add(w.t, secret, w.ends.got())
		if len(w.left()) == 0 {
			return
		}
		w.Advance(61 * time.Second)
	}
	w.t.Fatalf("never done: %v", w.left())
}

// A process dies at each call of the store that changes and deliveries make: what
// changed is heard of, what did not is not, under one id, and in order. make test-all
// has every call, other runs a sample.
func TestCrashAtEveryCall(t *testing.T) {
	run := func(t *testing.T, at int, moment storetest.Moment) (calls int) {
		w := newWorld(t)
		x := w.tenant("docs.example.com")
		hook := w.subscribe(x, "a")
		w.newKey(x)
		w.newKey(x)
		w.ends.answers(func(n int, _ request) int { return map[bool]int{true: 500, false: 200}[n%3 == 1] })
		c := storetest.CrashAfter(at, moment)
		ctx, cancel := c.Context(w.ctx)
		defer cancel()
		err := story(ctx, w, w.service(c.Store(w.store)), x)
		if !c.Crashed() && err != nil { // attempts are made beside others: the number of calls differs by a few
			t.Fatal(err)
		}
		h := newHeard()
		for range 2 { // what died first, then all of it by a process that lives
			h.add(t, hook.Secret, w.ends.got())
			w.finish(h, hook.Secret)
			h.check(t, w.happened(x))
			if err := story(w.ctx, w, w.Service, x); err != nil {
				t.Fatal(err)
			}
		}
		return c.Calls()
	}
	calls := run(t, 0, storetest.Before)
	if calls < 20 {
		t.Fatalf("only %d calls", calls)
	}
	step := 3
	switch {
	case outside.Full():
		step = 1
	case outside.Short(t):
		step = 13
	}
	for at := 1; at <= calls; at += step {
		for _, moment := range []storetest.Moment{storetest.Before, storetest.After} {
			run(t, at, moment)
		}
	}
	t.Logf("%d calls", calls)
}

// At each call a fault that a process survives: a refusal, a lost answer, a second
// process at the same work, one that is held until another has done it. make test-all
// has every call, other runs a sample.
func TestFaultsAtEveryCall(t *testing.T) {
	run := func(t *testing.T, f *storetest.Faults) {
		w := newWorld(t)
		x := w.tenant("docs.example.com")
		hook := w.subscribe(x, "a")
		w.newKey(x)
		w.newKey(x)
		w.ends.answers(func(n int, _ request) int { return map[bool]int{true: 500, false: 200}[n%3 == 1] })
		ids := map[string]string{}
		f.Rename = func(name string) string { return strings.NewReplacer(pairs(ids, name)...).Replace(name) }
		s := w.service(f.Store(w.store))
		for range 3 {
			_ = f.Invoke(w.ctx, func(ctx context.Context) error { return story(ctx, w, s, x) })
			w.Advance(61 * time.Second)
		}
		f.Release()
		h := newHeard()
		h.add(t, hook.Secret, w.ends.got())
		w.finish(h, hook.Secret)
		if err := story(w.ctx, w, w.Service, x); err != nil {
			t.Fatal(err)
		}
		w.finish(h, hook.Secret)
		h.check(t, w.happened(x))
	}
	sound := storetest.NewFaults(nil)
	run(t, sound)
	calls := slices.DeleteFunc(sound.Log(), func(name string) bool { return !strings.HasSuffix(name, " 1") })
	step := 3
	switch {
	case outside.Full():
		step = 1
	case outside.Short(t):
		step = 13
	}
	for i, call := range calls {
		if i%step > 0 {
			continue
		}
		for _, fault := range storetest.AllFaults() {
			run(t, storetest.NewFaults(map[string]storetest.Fault{call: fault}))
		}
	}
	t.Logf("%d calls", len(calls))
}

// pairs are replacements for what differs from run to run in the name of a call:
// ids and times.
func pairs(ids map[string]string, name string) (out []string) {
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(" #{}[]", r) }) {
		if strings.Contains(word, "_") || len(word) == 10 || len(word) == 64 {
			kind, _, _ := strings.Cut(word, "_")
			if ids[word] == "" {
				ids[word] = fmt.Sprint(kind[:min(3, len(kind))])
			}
			out = append(out, word, ids[word])
		}
	}
	return out
}

// Hundreds of events, with make test-all ten thousand, through an endpoint that fails one in three times, delivered
// by processes that die at random: each arrives, none under another id, in order.
func TestManyEventsAndKills(t *testing.T) {
	domains, publishes, keys, life := 6, 30, 100, 600
	switch {
	case outside.Full():
		domains, publishes, keys, life = 40, 200, 1000, 2000
	case outside.Short(t):
		domains, publishes, keys, life = 3, 8, 15, 100
	}
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	hook := w.subscribe(x, "a")
	w.ends.answers(func(n int, _ request) int { return map[bool]int{true: 500, false: 200}[n%3 == 0] })
	happened := map[string][]string{}
	happens := func(r request) {
		happened[r.resource()] = append(happened[r.resource()], r.subject())
	}
	var all []string
	for i := range domains {
		all = append(all, w.project(x, fmt.Sprintf("site%d.example.com", i)).Domain)
	}
	var mu sync.Mutex
	var change sync.WaitGroup
	change.Go(func() { // while others deliver
		for i := range max(publishes, keys) {
			if i < keys {
				k, _, err := w.CreateKey(w.ctx, admin.KeyRequest{Organisation: x.ID, Name: "k"})
				if err == nil {
					_, err = w.RevokeKey(w.ctx, x.ID, k.ID)
				}
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				for _, e := range []string{admin.EventKeyCreated, admin.EventKeyRevoked} {
					r := request{Type: e}
					r.Data.ID = k.ID
					happens(r)
				}
				mu.Unlock()
			}
			for _, domain := range all {
				if i >= publishes {
					break
				}
				p, err := publish(w.ctx, w.Service, x.Caller, domain)
				if err != nil {
					t.Error(err)
				}
				r := request{Type: admin.EventSnapshotPublished}
				r.Data.SnapshotID, r.Data.Domain = p.ID, p.Domain
				mu.Lock()
				happens(r)
				mu.Unlock()
			}
		}
	})
	changed := make(chan struct{})
	go func() { change.Wait(); close(changed) }()

	random := rand.New(rand.NewPCG(14, 14))
	h, kills := newHeard(), 0
	for {
		c := storetest.CrashAfter(1+random.IntN(life), storetest.Moments()[random.IntN(3)])
		ctx, cancel := c.Context(w.ctx)
		_, err := w.dispatcher(w.service(c.Store(w.store))).Pass(ctx)
		cancel()
		if c.Crashed() {
			kills++
		} else if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		h.add(t, hook.Secret, w.ends.got())
		select {
		case <-changed:
			if len(w.left()) == 0 {
				h.check(t, happened)
				if len(h.ids) != domains*publishes+2*keys || kills == 0 {
					t.Errorf("%d events, %d kills", len(h.ids), kills)
				}
				t.Logf("%d events, %d kills", len(h.ids), kills)
				return
			}
		default:
		}
		w.Advance(20 * time.Second)
	}
}
