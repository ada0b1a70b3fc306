package search

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sync"
)

// interner numbers texts: each different one once, from 0, in the order in which
// they come. All its texts together may have 4 GiB.
type interner struct {
	slots []uint32 // numbers + 1, by hash; as many as a power of two
	sums  []uint64 // hash of each text
	ends  []uint32 // where each ends in text
	text  []byte
}

// hashSeed is that of all interners, so that they can share sums. No order and
// no number depends on it.
var hashSeed = maphash.MakeSeed()

// number returns the number of a text, and reports whether it is a new one.
func (t *interner) number(s string) (n uint32, fresh bool) {
	return t.hashed(s, maphash.String(hashSeed, s))
}

func (t *interner) hashed(s string, sum uint64) (n uint32, fresh bool) {
	if 4*len(t.ends) >= 3*len(t.slots) {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	at := sum & mask
	for ; t.slots[at] != 0; at = (at + 1) & mask {
		if n := t.slots[at] - 1; t.sums[n] == sum && string(t.at(n)) == s {
			return n, false
		}
	}
	n = uint32(len(t.ends))
	t.slots[at] = n + 1
	t.text = append(t.text, s...)
	t.sums, t.ends = append(t.sums, sum), append(t.ends, uint32(len(t.text)))
	return n, true
}

func (t *interner) grow() {
	t.slots = make([]uint32, max(1<<10, 2*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for n, sum := range t.sums {
		at := sum & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = uint32(n) + 1
	}
}

// at returns the text of a number, until the next text is numbered.
func (t *interner) at(n uint32) []byte {
	from := uint32(0)
	if n > 0 {
		from = t.ends[n-1]
	}
	return t.text[from:t.ends[n]]
}

func (t *interner) reset() {
	clear(t.slots)
	t.sums, t.ends, t.text = t.sums[:0], t.ends[:0], t.text[:0]
}

// inOrder returns all numbers in the order of their texts' bytes.
func (t *interner) inOrder() []uint32 {
	type item struct {
		head uint64 // the first bytes, which decide mostly
		n    uint32
	}
	items := make([]item, len(t.ends))
	for n := range items {
		var head [8]byte
		copy(head[:], t.at(uint32(n)))
		items[n] = item{binary.BigEndian.Uint64(head[:]), uint32(n)}
	}
	slices.SortFunc(items, func(a, b item) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return bytes.Compare(t.at(a.n), t.at(b.n))
	})
	out := make([]uint32, len(items))
	for i, x := range items {
		out[i] = x.n
	}
	return out
}

// lexicon numbers the terms of texts. A word is taken apart when it is met for
// the first time.
type lexicon struct {
	terms interner
	words interner // as texts write them
	// begins are where the terms of each word begin in meanings.
	begins   []uint32
	meanings []meaning
	score    scorer
	joined   []byte // a term of two words; used again
	// places are the places + 1 of terms among those that Part.weighed writes; all
	// 0 between two calls.
	places []uint32
	// found and lines are those of a part that was used up, for the next one.
	found []found
	lines []byte
}

// meaning is a term of a word.
type meaning struct {
	term uint32
	part bool // as terms says it
	name bool // a term of names alone
}

// each calls fn with the terms of a text, as terms does.
func (x *lexicon) each(text string, name bool, fn func(term uint32, part bool)) {
	before := ""
	runs(text, func(run, gap, after string, kind charKind) {
		if kind == dense {
			before = ""
			pairs(fold(run), func(term string, part bool) {
				n, _ := x.terms.number(term)
				fn(n, part)
			})
			return
		}
		for _, m := range x.word(run) {
			if name || !m.name {
				fn(m.term, m.part)
			}
		}
		if x.joined = marked(x.joined[:0], run, after); len(x.joined) > 0 {
			n, _ := x.terms.number(string(x.joined))
			fn(n, true)
		}
		if x.joined = joined(x.joined[:0], before, gap, run); len(x.joined) > 0 {
			n, _ := x.terms.number(string(x.joined))
			fn(n, true)
		}
		before = run
	})
}

// word returns the terms of a word.
func (x *lexicon) word(w string) []meaning {
	n, fresh := x.words.number(w)
	if fresh {
		x.begins = append(x.begins, uint32(len(x.meanings)))
		word(w, true, func(term string, part bool) {
			t, _ := x.terms.number(term)
			x.meanings = append(x.meanings, meaning{t, part, len(term) == 1})
		})
	}
	if int(n)+1 < len(x.begins) {
		return x.meanings[x.begins[n]:x.begins[n+1]]
	}
	return x.meanings[x.begins[n]:]
}

// lexicons are those that no part needs any more.
var lexicons = sync.Pool{New: func() any { return new(lexicon) }}

func (x *lexicon) free() {
	x.terms.reset()
	x.words.reset()
	x.begins, x.meanings = x.begins[:0], x.meanings[:0]
	lexicons.Put(x)
}
