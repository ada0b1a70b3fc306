package frame

import "testing"

// What is kept is bounded by cost, the newest always stays, and what went is
// made again.
func TestRecent(t *testing.T) {
	r := newRecent[string, int](10)
	made := 0
	get := func(key string, cost int) int {
		return r.get(key, func() (int, int) {
			made++
			return made, cost
		})
	}
	for _, c := range []struct {
		key        string
		cost       int
		want, kept int
	}{
		{"a", 4, 1, 1},
		{"b", 4, 2, 2},
		{"a", 4, 1, 2},   // used again: now b is the oldest
		{"c", 4, 3, 2},   // b goes
		{"a", 4, 1, 2},   // a stayed
		{"b", 4, 4, 2},   // c goes
		{"d", 100, 5, 1}, // too large: it stays all the same, alone
		{"d", 100, 5, 1},
		{"a", 4, 6, 1},
	} {
		if got := get(c.key, c.cost); got != c.want || len(r.entries) != c.kept || r.order.Len() != c.kept {
			t.Errorf("%s: value %d with %d kept, want %d with %d", c.key, got, len(r.entries), c.want, c.kept)
		}
	}
	if r.cost != 4 {
		t.Errorf("the cost is %d", r.cost)
	}
}

// A value whose making fails is not kept as a value.
func TestRecentPanics(t *testing.T) {
	r := newRecent[string, int](10)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		r.get("a", func() (int, int) { panic("fault") })
	}()
	if got := r.get("a", func() (int, int) { return 7, 1 }); got != 7 || r.cost != 1 {
		t.Errorf("%d, cost %d", got, r.cost)
	}
}
