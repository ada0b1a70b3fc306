package mdx

// mark appends the run of * or _ from a to b. Whether it may open or close
// emphasis depends on the characters beside it.
func (in *inliner) mark(a, b int) {
	s, c := in.s, in.s[a]
	before, after := classBefore(s, a), classAfter(s, b)
	// A tilde beside the run counts as nothing: ~~*a*~~ is a span in a span.
	tildeBefore := a > 0 && s[a-1] == '~'
	tildeAfter := b < len(s) && s[b] == '~'
	open := after == classOther || after == classPunct && before != classOther || tildeAfter
	close := before == classOther || before == classPunct && after != classOther || tildeBefore
	it := item{kind: itemMark, mark: c, open: open, close: close, start: int32(a), end: int32(b)}
	if c == '_' {
		it.open = open && (before != classOther || !close)
		it.close = close && (after != classOther || !open)
	}
	if in.first == itemText {
		in.first = itemMark
	}
	in.push(it)
}

// tildeRun appends a run of one or two tildes.
func (in *inliner) tildeRun(a, b int) {
	before, after := classBefore(in.s, a), classAfter(in.s, b)
	if in.first == itemText {
		in.first = itemTilde
	}
	in.tilde = true
	in.push(item{kind: itemTilde, mark: '~', start: int32(a), end: int32(b),
		open:  after == classOther || after == classPunct && before != classOther,
		close: before == classOther || before == classPunct && after != classOther})
}

// wrap puts the items between two others into a new node.
func (p *parser) wrap(in *inliner, kind Kind, opener, closer int32, start, end int32, inLink bool) bool {
	depth := int32(0)
	for k := in.items[opener].next; k != closer; k = in.items[k].next {
		p.steps++
		depth = max(depth, in.items[k].depth)
	}
	if depth >= maxDepth {
		in.flat = true
		return false
	}
	n := p.node(kind, in.v.src(int(start)))
	n.End = p.pos(in.v.src(int(end)-1) + 1)
	n.Children = p.collect(in, opener, closer, inLink)
	k := int32(len(in.items))
	in.items = append(in.items, item{prev: opener, next: closer, kind: itemNode, node: n, depth: depth + 1, start: start, end: end})
	in.items[opener].next = k
	in.items[closer].prev = k
	return true
}

// bottomKey identifies the closers for which the same openers are out of the
// question.
func bottomKey(it *item) int {
	k := int(it.end-it.start) % 3 * 4
	if it.mark == '_' {
		k += 2
	}
	if it.open {
		k++
	}
	return k
}

// resolveMarks turns runs of * and _ between two items into emphasis. Runs
// without a partner stay text.
func (p *parser) resolveMarks(in *inliner, before, after int32, inLink bool) {
	if in.flat {
		return
	}
	stack := in.openers[:0]
	in.openers = nil // a span within has its own
	// For each kind of closer, below which opener there is none for it.
	var bottom [12]int
	for k := in.items[before].next; k != after; {
		p.steps++
		it := &in.items[k]
		if it.kind != itemMark {
			k = it.next
			continue
		}
		if it.close {
			key := bottomKey(it)
			found := -1
			size := it.end - it.start
			for o := len(stack) - 1; o >= bottom[key]; o-- {
				p.steps++
				op := &in.items[stack[o]]
				if op.mark != it.mark {
					continue
				}
				// The rule of three: **a*b** must not close at the single star.
				opSize := op.end - op.start
				if (op.close || it.open) && size%3 != 0 && (opSize+size)%3 == 0 {
					continue
				}
				found = o
				break
			}
			if found >= 0 {
				opener := stack[found]
				op := &in.items[opener]
				use, kind := int32(1), Emphasis
				if op.end-op.start > 1 && size > 1 {
					use, kind = 2, Strong
				}
				if in.tilde {
					p.resolveTildes(in, opener, k, inLink)
				}
				op, it = &in.items[opener], &in.items[k]
				op.end -= use
				it.start += use
				ok := p.wrap(in, kind, opener, k, op.end, it.start, inLink)
				op, it = &in.items[opener], &in.items[k]
				if !ok {
					// Nested too deep: the markers stay text.
					op.end += use
					it.start -= use
					in.openers = stack[:0]
					return
				}
				stack = stack[:found+1]
				if op.start == op.end {
					in.remove(opener)
					stack = stack[:found]
				}
				// What is left of the opener has another size: look at it again.
				for b := range bottom {
					bottom[b] = min(bottom[b], found)
				}
				if it.start == it.end {
					next := it.next
					in.remove(k)
					k = next
				}
				continue
			}
			bottom[key] = len(stack)
		}
		if it.open {
			stack = append(stack, k)
		}
		k = it.next
	}
	in.openers = stack[:0]
}

// resolveTildes turns runs of ~ between two items into deleted text: a run is
// closed by the next of its size.
func (p *parser) resolveTildes(in *inliner, before, after int32, inLink bool) {
	var stacks [2][]int32
	for k := in.items[before].next; k != after && !in.flat; {
		p.steps++
		it := &in.items[k]
		if it.kind != itemTilde {
			k = it.next
			continue
		}
		size := int(it.end-it.start) - 1
		if own := stacks[size]; it.close && len(own) > 0 {
			opener := own[len(own)-1]
			p.resolveMarks(in, opener, k, inLink)
			if p.wrap(in, Delete, opener, k, in.items[opener].start, in.items[k].end, inLink) {
				for s := range stacks {
					for n := len(stacks[s]); n > 0 && stacks[s][n-1] >= opener; n-- {
						stacks[s] = stacks[s][:n-1]
					}
				}
				next := in.items[k].next
				in.remove(opener)
				in.remove(k)
				k = next
				continue
			}
			it = &in.items[k]
		}
		if it.open {
			stacks[size] = append(stacks[size], k)
		}
		k = it.next
	}
}
