package layout

import "container/heap"

// arc is an edge of the graph that ranks are found for: the rank of v is at least
// length more than the rank of u, and each rank in between costs weight.
type arc struct{ u, v, length, weight int }

// simplex finds ranks of least cost by the network simplex method. The tree's
// cut values are not kept for edges but as sums over subtrees: what the arcs of
// a subtree's nodes weigh, outgoing less incoming, is what leaves the subtree less
// what enters it, as arcs inside cancel out. A pivot then touches a path alone.
type simplex struct {
	b    *budget
	arcs []arc
	at   [][]int32 // arcs at a node
	rank []int

	parent      []int32
	link        []int32 // the arc to the parent, -1 at the root
	first, next []int32 // children
	prev        []int32
	sum, size   []int // over the subtree
	mark        []int
	stamp       int
	stack       []int32
}

// rankArcs returns a rank for each of n nodes, the least 0. The arcs have no cycle
// and join all nodes.
func rankArcs(b *budget, n int, arcs []arc) []int {
	s := &simplex{
		b: b, arcs: arcs, at: make([][]int32, n), rank: make([]int, n),
		parent: make([]int32, n), link: make([]int32, n), first: make([]int32, n), next: make([]int32, n),
		prev: make([]int32, n), sum: make([]int, n), size: make([]int, n), mark: make([]int, n),
	}
	for i, a := range arcs {
		s.at[a.u] = append(s.at[a.u], int32(i))
		s.at[a.v] = append(s.at[a.v], int32(i))
	}
	b.spend(4 * (n + len(arcs)))
	s.longest()
	s.tree()
	s.pivots()
	low := 0
	for i, r := range s.rank {
		if i == 0 || r < low {
			low = r
		}
	}
	for i := range s.rank {
		s.rank[i] -= low
	}
	return s.rank
}

// longest ranks each node as early as its arcs allow.
func (s *simplex) longest() {
	in := make([]int, len(s.at))
	for _, a := range s.arcs {
		in[a.v]++
	}
	var queue []int
	for v, n := range in {
		if n == 0 {
			queue = append(queue, v)
		}
	}
	for len(queue) > 0 {
		u := queue[0]
		queue = queue[1:]
		for _, i := range s.at[u] {
			a := s.arcs[i]
			if a.u != u {
				continue
			}
			s.rank[a.v] = max(s.rank[a.v], s.rank[u]+a.length)
			if in[a.v]--; in[a.v] == 0 {
				queue = append(queue, a.v)
			}
		}
	}
}

func (s *simplex) slack(i int32) int {
	a := &s.arcs[i]
	return s.rank[a.v] - s.rank[a.u] - a.length
}

// reach is an arc between the tree and the rest with its slack before the tree
// is shifted.
type reach struct {
	key int
	arc int32
}

type reaches []reach

func (r reaches) Len() int { return len(r) }
func (r reaches) Less(i, j int) bool {
	return r[i].key < r[j].key || r[i].key == r[j].key && r[i].arc < r[j].arc
}
func (r reaches) Swap(i, j int) { r[i], r[j] = r[j], r[i] }
func (r *reaches) Push(x any)   { *r = append(*r, x.(reach)) }
func (r *reaches) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}

// tree grows a spanning tree of arcs without slack from node 0, shifting the tree
// towards the nearest arc each time that none is left. The shift is kept in a
// number instead of being added to each node: ranks in the tree are rank+shift.
func (s *simplex) tree() {
	n := len(s.at)
	in := make([]bool, n)
	for v := range n {
		s.parent[v], s.link[v], s.first[v], s.next[v], s.prev[v] = -1, -1, -1, -1, -1
	}
	var out, back reaches // arcs that leave the tree, that enter it
	shift := 0
	order := make([]int32, 0, n)
	add := func(v, parent, link int32) {
		s.rank[v] -= shift
		in[v] = true
		order = append(order, v)
		if parent >= 0 {
			s.attach(v, parent, link)
		}
		for _, i := range s.at[v] {
			a := &s.arcs[i]
			switch {
			case a.u == int(v) && !in[a.v]:
				heap.Push(&out, reach{s.rank[a.v] - a.length - s.rank[v], i})
			case a.v == int(v) && !in[a.u]:
				heap.Push(&back, reach{s.rank[v] - s.rank[a.u] - a.length, i})
			}
			s.b.spend(4)
		}
	}
	if n > 0 {
		add(0, -1, -1)
	}
	for len(order) < n {
		for len(out) > 0 && in[s.arcs[out[0].arc].v] {
			heap.Pop(&out)
		}
		for len(back) > 0 && in[s.arcs[back[0].arc].u] {
			heap.Pop(&back)
		}
		switch {
		case len(out) > 0 && (len(back) == 0 || out[0].key-shift <= back[0].key+shift):
			shift = out[0].key
			i := out[0].arc
			add(int32(s.arcs[i].v), int32(s.arcs[i].u), i)
		case len(back) > 0:
			shift = -back[0].key
			i := back[0].arc
			add(int32(s.arcs[i].u), int32(s.arcs[i].v), i)
		default: // not joined: cannot be, but must not loop
			return
		}
	}
	for _, v := range order {
		s.rank[v] += shift
		for _, i := range s.at[v] {
			if s.arcs[i].u == int(v) {
				s.sum[v] += s.arcs[i].weight
			} else {
				s.sum[v] -= s.arcs[i].weight
			}
		}
		s.size[v] = 1
	}
	for k := n - 1; k > 0; k-- {
		v := order[k]
		s.sum[s.parent[v]] += s.sum[v]
		s.size[s.parent[v]] += s.size[v]
	}
}

func (s *simplex) attach(v, parent, link int32) {
	s.parent[v], s.link[v] = parent, link
	s.prev[v], s.next[v] = -1, s.first[parent]
	if s.first[parent] >= 0 {
		s.prev[s.first[parent]] = v
	}
	s.first[parent] = v
}

func (s *simplex) detach(v int32) {
	if s.prev[v] >= 0 {
		s.next[s.prev[v]] = s.next[v]
	} else {
		s.first[s.parent[v]] = s.next[v]
	}
	if s.next[v] >= 0 {
		s.prev[s.next[v]] = s.prev[v]
	}
}

// cut returns the cut value of the tree arc above v: below 0, a longer arc makes
// the ranking cheaper.
func (s *simplex) cut(v int32) int {
	if s.link[v] < 0 {
		return 0
	}
	if s.arcs[s.link[v]].u == int(v) {
		return s.sum[v]
	}
	return -s.sum[v]
}

// pivots exchanges tree arcs while that makes the ranking cheaper. Its bound is
// never met by graphs that people write; the ranks are valid at any time.
func (s *simplex) pivots() {
	n := len(s.at)
	from := 0
	for range 2*n + 20 {
		// The worst of a few cut values below 0, searched round about.
		best, worst, seen := int32(-1), 0, 0
		for k := range n {
			v := int32((from + k) % n)
			if c := s.cut(v); c < 0 {
				if c < worst {
					best, worst = v, c
				}
				if seen++; seen == 20 {
					from = int(v) + 1
					break
				}
			}
			s.b.spend(1)
		}
		if best < 0 || !s.pivot(best) {
			return
		}
	}
}

// pivot replaces the tree arc above c.
func (s *simplex) pivot(c int32) bool {
	n := len(s.at)
	below := 2*s.size[c] <= n // which side is walked: the smaller one
	side := s.side(c, below)
	// The tree arc grows: the tail's side goes up, or the head's side down.
	tail := s.arcs[s.link[c]].u == int(c)
	walkedTail := tail == below
	enter, least := int32(-1), 0
	for _, v := range side {
		for _, i := range s.at[v] {
			a := &s.arcs[i]
			in, out := a.u, a.v // enters the tail's side
			if walkedTail {
				in, out = a.v, a.u
			}
			if in != int(v) || s.mark[out] == s.stamp {
				continue
			}
			if d := s.slack(i); enter < 0 || d < least || d == least && i < enter {
				enter, least = i, d
			}
		}
		s.b.spend(1 + len(s.at[v]))
	}
	if enter < 0 {
		return false
	}
	d := least
	if walkedTail {
		d = -least
	}
	for _, v := range side {
		s.rank[v] += d
	}
	a := s.arcs[enter]
	in, out := int32(a.u), int32(a.v) // in: the end in c's subtree
	if (s.mark[a.u] == s.stamp) != below {
		in, out = out, in
	}
	s.move(c, in, out, enter)
	return true
}

// side returns and marks the nodes below c or all others.
func (s *simplex) side(c int32, below bool) []int32 {
	s.stamp++
	root := c
	if !below {
		root = 0
		for s.parent[root] >= 0 {
			root = s.parent[root]
		}
	}
	list := append(s.stack[:0], root)
	for k := 0; k < len(list); k++ {
		v := list[k]
		s.mark[v] = s.stamp
		for w := s.first[v]; w >= 0; w = s.next[w] {
			if below || w != c {
				list = append(list, w)
			}
		}
	}
	s.stack = list
	return list
}

// move hangs the subtree of c, with in as its root, below out.
func (s *simplex) move(c, in, out, link int32) {
	sum, size := s.sum[c], s.size[c]
	for p := s.parent[c]; p >= 0; p = s.parent[p] {
		s.sum[p] -= sum
		s.size[p] -= size
		s.b.spend(1)
	}
	for p := out; p >= 0; p = s.parent[p] {
		s.sum[p] += sum
		s.size[p] += size
		s.b.spend(1)
	}
	s.detach(c)
	// Turn the path from in up to c round.
	v, parent := in, out
	var below, belowSize int // of the child on the path, before
	for {
		up, upLink := s.parent[v], s.link[v]
		vSum, vSize := s.sum[v], s.size[v]
		last := v == c
		if !last {
			s.detach(v)
		}
		s.sum[v], s.size[v] = sum-below, size-belowSize
		s.attach(v, parent, link)
		if last {
			return
		}
		below, belowSize = vSum, vSize
		v, parent, link = up, v, upLink
	}
}
