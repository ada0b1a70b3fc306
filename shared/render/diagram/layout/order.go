package layout

import (
	"cmp"
	"slices"
)

// orderer finds the order of the items in each row that has the fewest crossings.
//
// A row is a list in which the borders of scopes stand as brackets around what
// they hold. Scopes that are in two rows one upon the other have the same order in
// both, so that their boxes never overlap.
type orderer struct {
	*comp
	value []int // what an item is sorted by
	// fracUp and fracDown are where in a wide vert above or below a line ends, from
	// -scale/2 to scale/2.
	fracUp, fracDown []int
	slot             []int // where an item is by its neighbours in the row beside it
	placed           []bool
	tree             []int
	buf              []int32
	ents             []entity
	dirty            []bool // rows that transpose looks at, from the one before the first
}

// entity is an item or a scope with all that it holds, among its siblings.
type entity struct {
	start, end  int // in the row
	value, slot int
	count       int // of the items that the value is from
	fixed       bool
}

// largeOrder is how many items are ordered with all rounds and starts.
const largeOrder = 1500

// borderWeight is how many crossings with edges a crossing with the border of a
// scope counts for.
const borderWeight = 2

// scale is how far neighbours in a row are apart for medians.
const scale = 16

// order orders the rows.
func (c *comp) order() {
	n := len(c.items)
	o := &orderer{comp: c, value: make([]int, n), slot: make([]int, n), placed: make([]bool, n)}
	c.pos = make([]int32, n)
	o.fractions()
	widest := 0
	for _, it := range c.items {
		c.rows[it.row].order = append(c.rows[it.row].order, 0)
	}
	for r := range c.rows {
		widest = max(widest, len(c.rows[r].order))
	}
	o.tree = make([]int, widest+1)
	o.dirty = make([]bool, len(c.rows)+2)
	o.buf = make([]int32, widest)
	// Rounds and starts are fewer in a large graph, so that it costs little more for
	// its size.
	rounds, starts := 24, min(max(4, 3000/n), 20)
	if n > largeOrder {
		rounds, starts = max(6, rounds*largeOrder/n), 1
	}
	best, least := o.save(nil), -1
	for start := range starts {
		o.initial(start)
		if o.improve(&best, &least, start/2%2, rounds) == 0 {
			break
		}
	}
	for r := range c.rows {
		copy(c.rows[r].order, best[r])
		o.number(r)
	}
}

func (o *orderer) fractions() {
	o.fracUp, o.fracDown = make([]int, len(o.items)), make([]int, len(o.items))
	for i := range o.items {
		it := &o.items[i]
		part := func(off int, near []int32) int {
			if off == 0 {
				return 0
			}
			v := &o.items[near[0]]
			return off * (scale - 2) / max(1, v.wl+v.wr)
		}
		o.fracUp[i], o.fracDown[i] = part(it.offUp, it.up), part(it.offDown, it.down)
	}
}

// save copies the order.
func (o *orderer) save(to [][]int32) [][]int32 {
	if to == nil {
		to = make([][]int32, len(o.rows))
	}
	for r := range o.rows {
		to[r] = append(to[r][:0], o.rows[r].order...)
	}
	o.lv.b.spend(len(o.items) / 8)
	return to
}

// improve sweeps up and down until that has not helped for some rounds, keeping
// the best order, and returns the least crossings.
func (o *orderer) improve(best *[][]int32, least *int, turn, rounds int) int {
	for round, idle := 0, 0; idle < 4 && round < rounds; round++ {
		if round > 0 {
			o.sweep((round+turn)%2 == 1, (round+2*turn)%4 >= 2)
		}
		o.transpose()
		idle++
		if n := o.crossings(); *least < 0 || n < *least {
			*least, idle = n, 0
			*best = o.save(*best)
		}
		if *least == 0 {
			break
		}
	}
	return *least
}

// initial orders the rows for a start: as a walk through the graph in source order
// meets the items, or backwards; in source order, or backwards; or anyhow.
func (o *orderer) initial(start int) {
	switch start {
	case 0, 1:
		o.walk(start == 1)
	case 2, 3:
		for i := range o.items {
			o.value[i] = i * (5 - 2*start)
		}
	default: // anyhow, but the same each time
		seed := uint32(start)
		for i := range o.items {
			seed = seed*1664525 + 1013904223
			o.value[i] = int(seed >> 8)
		}
	}
	// Lists by scope and row, then the rows as brackets.
	kids := make(map[[2]int][]int32)
	for i := range o.items {
		it := &o.items[i]
		s := it.scope
		if it.kind == itemLeft || it.kind == itemRight {
			if it.kind == itemRight {
				continue
			}
			s = o.lv.scopes[it.ref].parent
		}
		key := [2]int{it.row, s}
		kids[key] = append(kids[key], int32(i))
	}
	var fill func(r, s int, to []int32) []int32
	fill = func(r, s int, to []int32) []int32 {
		for _, i := range kids[[2]int{r, s}] {
			to = append(to, i)
			if it := &o.items[i]; it.kind == itemLeft {
				to = fill(r, it.ref, to)
				sc := &o.lv.scopes[it.ref]
				to = append(to, sc.right[r-sc.top])
			}
		}
		return to
	}
	for r := range o.rows {
		o.rows[r].order = fill(r, -1, o.rows[r].order[:0])
		o.number(r)
		if r > 0 {
			o.medians(r, true)
		}
		o.sort(r, r-1, true)
	}
	o.lv.b.spend(4 * len(o.items))
}

// walk numbers the items depth first.
func (o *orderer) walk(reverse bool) {
	seen := make([]bool, len(o.items))
	var stack []int32
	n := 0
	visit := func(root int32) {
		stack = append(stack[:0], root)
		for len(stack) > 0 {
			i := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if seen[i] {
				continue
			}
			seen[i] = true
			o.value[i] = n
			n++
			down := o.items[i].down
			for k := range down {
				if !reverse {
					k = len(down) - 1 - k
				}
				stack = append(stack, down[k])
			}
		}
	}
	for k := range o.verts {
		if reverse {
			k = len(o.verts) - 1 - k
		}
		visit(o.of[o.verts[k]])
	}
	for i := range o.items {
		visit(int32(i))
	}
	o.lv.b.spend(4 * len(o.items))
}

func (o *orderer) number(r int) {
	for p, i := range o.rows[r].order {
		o.pos[i] = int32(p)
	}
}

// sweep orders each row by the one before it.
func (o *orderer) sweep(down, mean bool) {
	for k := 1; k < len(o.rows); k++ {
		r, ref := k, k-1
		if !down {
			r, ref = len(o.rows)-1-k, len(o.rows)-k
		}
		o.weigh(r, down, mean)
		o.sort(r, ref, false)
	}
}

// weigh sets what the items of a row are sorted by.
func (o *orderer) weigh(r int, up, mean bool) {
	if !mean {
		o.medians(r, up)
	} else {
		for _, i := range o.rows[r].order {
			near := o.near(i, up)
			o.placed[i] = len(near) > 0
			if len(near) == 0 {
				continue
			}
			sum := 0
			for _, j := range near {
				sum += int(o.pos[j]) * scale
			}
			o.slot[i] = sum/len(near) + o.frac(i, up)
		}
	}
	for _, i := range o.rows[r].order {
		o.value[i] = o.slot[i]
	}
}

func (o *orderer) near(i int32, up bool) []int32 {
	if up {
		return o.items[i].up
	}
	return o.items[i].down
}

func (o *orderer) frac(i int32, up bool) int {
	if up {
		return o.fracUp[i]
	}
	return o.fracDown[i]
}

// medians sets slot to the middle of the neighbours in the row above or below.
func (o *orderer) medians(r int, up bool) {
	var at []int
	for _, i := range o.rows[r].order {
		near := o.near(i, up)
		o.placed[i] = len(near) > 0
		o.lv.b.spend(1 + len(near))
		switch len(near) {
		case 0:
			continue
		case 1:
			o.slot[i] = int(o.pos[near[0]])*scale + o.frac(i, up)
			continue
		}
		at = at[:0]
		for _, j := range near {
			at = append(at, int(o.pos[j]))
		}
		slices.Sort(at)
		m := len(at) / 2
		switch {
		case len(at)%2 == 1:
			o.slot[i] = at[m] * scale
		case len(at) == 2:
			o.slot[i] = (at[0] + at[1]) * scale / 2
		default: // nearer to the side where they are closer together
			left, right := at[m-1]-at[0], at[len(at)-1]-at[m]
			if left+right == 0 {
				o.slot[i] = (at[m-1] + at[m]) * scale / 2
			} else {
				o.slot[i] = (at[m-1]*right + at[m]*left) * scale / (left + right)
			}
		}
	}
}

// sort orders row r by the values of its items. ref is the row beside it, whose
// scopes keep their order; -1: none. With all, items without neighbours have a
// value too.
func (o *orderer) sort(r, ref int, all bool) {
	o.sortRange(r, 0, len(o.rows[r].order), ref, all)
	o.number(r)
	o.lv.b.spend(4 * len(o.rows[r].order))
}

// sortRange orders a part of a row and returns the sums of values and slots, and
// of how many items.
func (o *orderer) sortRange(r, start, end, ref int, all bool) (value, slot, count int) {
	order := o.rows[r].order
	base := len(o.ents)
	for p := start; p < end; p++ {
		i := order[p]
		it := &o.items[i]
		ent := entity{start: p, end: p + 1}
		if it.kind == itemLeft {
			sc := &o.lv.scopes[it.ref]
			right := sc.right[r-sc.top]
			ent.end = int(o.pos[right]) + 1
			v, s, n := o.sortRange(r, p+1, ent.end-1, ref, all)
			ent.value, ent.slot, ent.count = v, s, n
			if n > 0 {
				ent.value, ent.slot = v/n, s/n
			} else if all {
				ent.value = o.value[i]
			}
			if ref >= sc.top && ref <= sc.bottom && ref >= 0 {
				ent.fixed = true
				ent.slot = int(o.pos[sc.left[ref-sc.top]]+o.pos[sc.right[ref-sc.top]]) * scale / 2
				ent.count = 1
				ent.value = ent.slot
			}
			value, slot, count = value+v, slot+s, count+n
		} else if all || o.placed[i] {
			ent.value, ent.slot, ent.count = o.value[i], o.slot[i], 1
			value, slot, count = value+ent.value, slot+ent.slot, count+1
		}
		o.ents = append(o.ents, ent)
		p = ent.end - 1
	}
	o.arrange(o.ents[base:], order, start)
	o.ents = o.ents[:base]
	return value, slot, count
}

// arrange sorts siblings: those that keep their order by it, all others between
// them by slot and then by value.
func (o *orderer) arrange(ents []entity, order []int32, start int) {
	var fixed []int
	for k := range ents {
		if ents[k].fixed {
			fixed = append(fixed, ents[k].slot)
		}
	}
	slices.Sort(fixed)
	value, slot := -1, -1
	for k := range ents {
		e := &ents[k]
		if e.count == 0 { // stays beside the one on its left
			e.value, e.slot = value, slot
		}
		value, slot = e.value, e.slot
	}
	if len(fixed) > 0 {
		for k := range ents {
			e := &ents[k]
			n, _ := slices.BinarySearch(fixed, e.slot)
			if e.fixed {
				e.slot = 2*n + 1
			} else {
				e.slot = 2 * n
			}
		}
	} else {
		for k := range ents {
			ents[k].slot = 0
		}
	}
	slices.SortStableFunc(ents, func(a, b entity) int {
		return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.value, b.value))
	})
	to := o.buf[:0]
	for _, e := range ents {
		to = append(to, order[e.start:e.end]...)
	}
	copy(order[start:], to)
}

// crossings counts pairs of lines between rows that cross, those with borders of
// scopes among them.
func (o *orderer) crossings() int {
	total := 0
	for r := 1; r < len(o.rows); r++ {
		total += o.between(r)
	}
	return total
}

// between counts the crossings between row r and the one above: for each line, in
// the order of its upper end, those before it that end further to the right.
func (o *orderer) between(r int) int {
	n := len(o.rows[r].order)
	tree := o.tree[:n+1]
	clear(tree)
	total, lines := 0, 0
	var at [32]int32
	for _, i := range o.rows[r-1].order {
		down := o.items[i].down
		ends := at[:0]
		for _, j := range down {
			ends = append(ends, int32(o.fracUp[j]+scale)<<24|o.pos[j])
		}
		slices.Sort(ends)
		weight := 1
		if o.items[i].kind >= itemLeft {
			weight = borderWeight
		}
		for _, p := range ends {
			p &= 1<<24 - 1
			// Those that end at p or before.
			before := 0
			for q := int(p) + 1; q > 0; q &= q - 1 {
				before += tree[q]
			}
			total += weight * (lines - before)
			for q := int(p) + 1; q <= n; q += q & -q {
				tree[q] += weight
			}
			lines += weight
		}
	}
	o.lv.b.spend(n + 4*lines)
	return total
}

// transpose exchanges neighbours in a row while that saves crossings. A row is
// looked at again only after it or one beside it has changed.
func (o *orderer) transpose() {
	for r := range o.rows {
		o.dirty[r+1] = true
	}
	for range 8 {
		better := false
		for r := range o.rows {
			if !o.dirty[r+1] {
				continue
			}
			o.dirty[r+1] = false
			if o.transposeRow(r) {
				o.dirty[r], o.dirty[r+1], o.dirty[r+2] = true, true, true
				better = true
			}
		}
		if !better {
			return
		}
	}
}

func (o *orderer) transposeRow(r int) (better bool) {
	order := o.rows[r].order
	for p := 1; p < len(order); p++ {
		u, v := order[p-1], order[p]
		a, b := &o.items[u], &o.items[v]
		if a.kind >= itemLeft || b.kind >= itemLeft {
			continue
		}
		if o.pair(a.up, b.up, o.fracUp[u], o.fracUp[v])+o.pair(a.down, b.down, o.fracDown[u], o.fracDown[v]) > 0 {
			order[p-1], order[p] = v, u
			o.pos[u], o.pos[v] = int32(p), int32(p-1)
			better = true
		}
	}
	return better
}

// pair returns how many crossings less there are with the lines of v before those
// of u than with them after.
func (o *orderer) pair(u, v []int32, fracU, fracV int) int {
	n := 0
	for _, a := range u {
		for _, b := range v {
			switch pa, pb := int(o.pos[a])*scale+fracU, int(o.pos[b])*scale+fracV; {
			case pa > pb:
				n++
			case pa < pb:
				n--
			}
		}
	}
	o.lv.b.spend(1 + len(u)*len(v))
	return n
}
