package layout

// acyclic turns edges of the level round until none leads back. It walks depth
// first in source order, so that what an author wrote first comes first.
func (lv *level) acyclic() {
	out := make([][]int32, len(lv.verts))
	for i := range lv.edges {
		if e := &lv.edges[i]; e.inner() && e.from != e.to {
			out[e.from] = append(out[e.from], int32(i))
		}
	}
	const fresh, open, done = 0, 1, 2
	state := make([]uint8, len(lv.verts))
	next := make([]int, len(lv.verts))
	var stack []int
	for root := range lv.verts {
		if state[root] != fresh {
			continue
		}
		stack = append(stack[:0], root)
		state[root] = open
		for len(stack) > 0 {
			lv.b.spend(1)
			v := stack[len(stack)-1]
			if next[v] == len(out[v]) {
				state[v] = done
				stack = stack[:len(stack)-1]
				continue
			}
			e := &lv.edges[out[v][next[v]]]
			next[v]++
			switch state[e.to] {
			case fresh:
				state[e.to] = open
				stack = append(stack, e.to)
			case open:
				e.flip = true
			}
		}
	}
}
