package layout

import "slices"

// refiner moves items along their rows to where their lines are shortest, after
// the four placements were averaged: single items and straight lines, whole scopes,
// and borders towards what they hold.
type refiner struct {
	*comp
	mark  []int32
	stamp int32
	pulls []pull
}

// pull is how far a line would have a group of items move.
type pull struct{ by, weight, side int }

// refinePasses is how often each item is looked at.
const refinePasses = 6

func (c *comp) refine() {
	w := &refiner{comp: c, mark: make([]int32, len(c.items))}
	groups := w.chains()
	bodies := make([][]int32, len(c.lv.scopes))
	for i := range c.items {
		for s := c.items[i].scope; s >= 0; s = c.lv.scopes[s].parent {
			bodies[s] = append(bodies[s], int32(i))
		}
	}
	for pass := range refinePasses {
		w.borders(true)
		for k := range groups {
			if pass%2 == 1 {
				k = len(groups) - 1 - k
			}
			w.settle(groups[k])
		}
		if pass >= refinePasses/2 {
			w.settleStraight()
		}
		w.borders(false)
		for _, i := range c.scopes {
			w.settle(bodies[i])
		}
	}
	w.center()
}

// center moves both borders of scopes that are wider than what they hold, for their
// titles, so that it stands in the middle: its lines stay as straight as they are.
func (w *refiner) center() {
	for k := range w.scopes { // from the inside
		s := &w.lv.scopes[w.scopes[len(w.scopes)-1-k]]
		outer, left := w.room(s.left)
		right, last := w.room(s.right)
		by := (left + right) / 2 &^ 1
		by = min(max(by, outer), last)
		for _, list := range [][]int32{s.left, s.right} {
			for _, i := range list {
				w.items[i].x += by
			}
		}
	}
}

// chains returns the items that move together: those of a straight line in a long
// edge, all others by themselves.
func (w *refiner) chains() [][]int32 {
	var list [][]int32
	seen := make([]bool, len(w.items))
	for r := range w.rows {
		for _, i := range w.rows[r].order {
			if seen[i] || w.items[i].kind >= itemLeft {
				continue
			}
			chain := []int32{i}
			for it := &w.items[i]; it.straight() && len(it.down) == 1; {
				j := it.down[0]
				next := &w.items[j]
				if !next.straight() || next.x != it.x {
					break
				}
				chain = append(chain, j)
				seen[j] = true
				it = next
			}
			list = append(list, chain)
		}
	}
	return list
}

// settleStraight moves items together that straight lines join: each alone would
// stay where it is for the sake of its line to the next.
func (w *refiner) settleStraight() {
	seen := make([]bool, len(w.items))
	var group []int32
	for r := range w.rows {
		for _, i := range w.rows[r].order {
			if seen[i] || w.items[i].kind >= itemLeft {
				continue
			}
			seen[i] = true
			group = append(group[:0], i)
			for k := 0; k < len(group); k++ {
				it := &w.items[group[k]]
				for _, j := range it.down {
					if o := &w.items[j]; !seen[j] && it.x+o.offUp == o.x+it.offDown {
						seen[j] = true
						group = append(group, j)
					}
				}
				for _, j := range it.up {
					if o := &w.items[j]; !seen[j] && it.x+o.offDown == o.x+it.offUp {
						seen[j] = true
						group = append(group, j)
					}
				}
			}
			if len(group) > 1 {
				w.settle(group)
			}
		}
	}
	w.lv.b.spend(2 * len(w.items))
}

// room returns how far a group may move to the left and to the right.
func (w *refiner) room(group []int32) (low, high int) {
	w.stamp++
	for _, i := range group {
		w.mark[i] = w.stamp
	}
	low, high = -1<<40, 1<<40
	for _, i := range group {
		it := &w.items[i]
		order, p := w.rows[it.row].order, w.pos[i]
		if p > 0 && w.mark[order[p-1]] != w.stamp {
			o := &w.items[order[p-1]]
			low = max(low, o.x+o.wr+w.gap(o, it)+it.wl-it.x)
		}
		if int(p)+1 < len(order) && w.mark[order[p+1]] != w.stamp {
			o := &w.items[order[p+1]]
			high = min(high, o.x-o.wl-w.gap(it, o)-it.wr-it.x)
		}
	}
	w.lv.b.spend(2 * len(group))
	return low, high
}

// settle moves a group to the median of what its lines lead to.
func (w *refiner) settle(group []int32) {
	low, high := w.room(group)
	w.pulls = w.pulls[:0]
	total := 0
	for _, i := range group {
		it := &w.items[i]
		if it.kind >= itemLeft {
			continue
		}
		for side, list := range [2][]int32{it.up, it.down} {
			for _, j := range list {
				if w.mark[j] == w.stamp {
					continue
				}
				o := &w.items[j]
				weight := 1
				if it.straight() {
					weight *= 2
				}
				if o.straight() {
					weight *= 2
				}
				off := it.offUp - o.offDown
				if side == 1 {
					off = it.offDown - o.offUp
				}
				w.pulls = append(w.pulls, pull{o.x + off - it.x, weight, side})
				total += weight
			}
		}
	}
	if total == 0 {
		return
	}
	slices.SortFunc(w.pulls, func(a, b pull) int { return a.by - b.by })
	w.lv.b.spend(2 * len(w.pulls))
	sum, by := 0, 0
	for k, p := range w.pulls {
		sum += p.weight
		if 2*sum == total {
			// In the middle of two on one side; between above and below the nearer,
			// so that one of the lines is straight.
			switch q := w.pulls[k+1]; {
			case p.side == q.side:
				by = (p.by + q.by) >> 1
			case abs(p.by) <= abs(q.by):
				by = p.by
			default:
				by = q.by
			}
			break
		}
		if 2*sum > total {
			by = p.by
			break
		}
	}
	by = min(max(by, low), high)
	for _, i := range group {
		w.items[i].x += by
	}
}

// borders moves the borders of scopes outwards, so that what they hold can move,
// or inwards as far as that allows.
func (w *refiner) borders(out bool) {
	limit := 2 * w.lv.b.nodeGap
	for k := range w.scopes {
		if !out { // from the inside
			k = len(w.scopes) - 1 - k
		}
		s := &w.lv.scopes[w.scopes[k]]
		l, r := w.items[s.left[0]].x, w.items[s.right[0]].x
		low, high := w.room(s.left)
		by := max(low, -limit)
		if !out {
			by = max(0, min(high, r-l-w.least(s)))
		}
		for _, i := range s.left {
			w.items[i].x += by
		}
		l += by
		low, high = w.room(s.right)
		by = min(high, limit)
		if !out {
			by = min(0, max(low, l+w.least(s)-r))
		}
		for _, i := range s.right {
			w.items[i].x += by
		}
	}
}
