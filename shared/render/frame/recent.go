package frame

import (
	"container/list"
	"sync"
)

// recent keeps values that are made on demand, those that were used last, up
// to a sum of costs. It is safe for concurrent use.
type recent[K comparable, V any] struct {
	limit int

	mu      sync.Mutex
	entries map[K]*list.Element
	order   *list.List // of *recentEntry[K, V], newest first
	cost    int
}

type recentEntry[K comparable, V any] struct {
	key   K
	once  sync.Once
	value V
	cost  int
}

func newRecent[K comparable, V any](limit int) *recent[K, V] {
	return &recent[K, V]{limit: limit, entries: make(map[K]*list.Element), order: list.New()}
}

// get returns the value of a key. create makes it, and returns its cost, if it
// is not there: once, however many ask at the same time. One that panics leaves
// nothing; who waited for it gets the zero value.
func (r *recent[K, V]) get(key K, create func() (V, int)) V {
	r.mu.Lock()
	at, ok := r.entries[key]
	if ok {
		r.order.MoveToFront(at)
	} else {
		at = r.order.PushFront(&recentEntry[K, V]{key: key})
		r.entries[key] = at
	}
	e := at.Value.(*recentEntry[K, V])
	r.mu.Unlock()
	e.once.Do(func() {
		made := false
		defer func() {
			if !made {
				r.drop(at)
			}
		}()
		var cost int
		e.value, cost = create()
		made = true
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.entries[key] != at {
			return // it went meanwhile
		}
		e.cost = cost
		r.cost += cost
		for last := r.order.Back(); r.cost > r.limit && last != at && last != nil; last = r.order.Back() {
			r.remove(last)
		}
	})
	return e.value
}

// drop removes an entry that may have gone already.
func (r *recent[K, V]) drop(at *list.Element) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entries[at.Value.(*recentEntry[K, V]).key] == at {
		r.remove(at)
	}
}

func (r *recent[K, V]) remove(at *list.Element) {
	e := r.order.Remove(at).(*recentEntry[K, V])
	delete(r.entries, e.key)
	r.cost -= e.cost
}
