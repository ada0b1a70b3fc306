package search

import (
	"bufio"
	"encoding/binary"
	"io"
	"slices"
)

// maxPostings is how many sections a term leads to: those that are most about
// it. A term of more is in so many that it says little. It bounds what a
// reader loads, and the memory of a merge.
const maxPostings = 2000

// posting is one section that has a term.
type posting struct {
	page    int32 // Page.Number
	section uint16
	impact  uint8
}

// list is what is known of a term in a division.
type list struct {
	sections int // that have the term
	names    int // of those, how many have it in a name
	postings []posting
}

func (l *list) add(p posting, name bool) {
	l.sections++
	if name {
		l.names++
	}
	if l.postings = append(l.postings, p); len(l.postings) >= 2*maxPostings {
		l.trim()
	}
}

func (l *list) reset() { *l = list{postings: l.postings[:0]} }

// trim keeps the best sections, of the last impact those that come first in the
// site. Whatever is cut off in parts would have been
// cut off from the whole, so that the result does not depend on the parts.
func (l *list) trim() {
	if len(l.postings) <= maxPostings {
		return
	}
	l.order()
	var counts [maxImpact + 1]int
	for _, p := range l.postings {
		counts[p.impact]++
	}
	least, left := maxImpact, maxPostings // of the least impact that is kept, left are
	for ; left >= counts[least]; least-- {
		left -= counts[least]
	}
	kept := l.postings[:0]
	for _, p := range l.postings {
		if at := int(p.impact); at > least || at == least && left > 0 {
			kept = append(kept, p)
			if at == least {
				left--
			}
		}
	}
	l.postings = kept
}

// order sorts the sections by their place. They mostly come so.
func (l *list) order() {
	if !slices.IsSortedFunc(l.postings, byPlace) {
		slices.SortFunc(l.postings, byPlace)
	}
}

func (l *list) join(o *list) {
	l.sections += o.sections
	l.names += o.names
	if l.postings = append(l.postings, o.postings...); len(l.postings) >= 8*maxPostings {
		l.trim()
	}
}

func byPlace(a, b posting) int {
	if a.page != b.page {
		return int(a.page) - int(b.page)
	}
	return int(a.section) - int(b.section)
}

// key is a term of a division. Streams have terms before divisions in their order:
// what divisions say of the same terms is alike, and compresses where it is
// written next to each other.
type key struct {
	division int
	term     string
}

// Part gathers pages of a shard. The zero value is ready. It is not safe for
// concurrent use; parts of a shard may be made at the same time and joined in
// the order of their pages.
type Part struct {
	lexicon *lexicon
	found   []found  // in the order of the pages and their sections
	added   []member // the pages
	lines   []byte   // of the pages
	ended   int      // bytes of lines whose texts are in runs
}

// found is a term of a section.
type found struct {
	term    uint32
	page    uint32 // in Part.added
	section uint16
	impact  uint8
	name    bool
}

// member is a page with its divisions.
type member struct {
	number    int32
	divisions []int
}

// Add adds a page. Pages are added in order.
func (p *Part) Add(page Page) (Fact, error) {
	p.begin()
	sections := page.sections()
	at := uint32(len(p.added))
	fact, err := p.addLine(&page, sections)
	if err != nil {
		return fact, err
	}
	for i := range sections {
		p.lexicon.score.section(p.lexicon, &page, sections, i, func(term uint32, weight int, name bool) {
			p.found = append(p.found, found{term: term, page: at, section: uint16(i), impact: impact(weight), name: name})
		})
	}
	return fact, nil
}

// begin readies a part for its first page.
func (p *Part) begin() {
	if p.lexicon == nil {
		p.lexicon = lexicons.Get().(*lexicon)
		p.found, p.lines = p.lexicon.found[:0], p.lexicon.lines[:0]
	}
}

// addLine adds a page, of these sections, without its terms.
func (p *Part) addLine(page *Page, sections []Section) (Fact, error) {
	fact, err := page.fact()
	if err != nil {
		return fact, err
	}
	p.lines = page.appendLine(p.lines, sections)
	p.added = append(p.added, member{int32(page.Number), page.Divisions})
	return fact, nil
}

// Join adds another part, whose pages come after its own. The other one is used up.
func (p *Part) Join(o *Part) {
	if o.lexicon == nil {
		return
	}
	if p.lexicon == nil {
		*p = *o
		*o = Part{}
		return
	}
	numbers := make([]uint32, len(o.lexicon.terms.ends)) // of o's terms in p
	texts, from := string(o.lexicon.terms.text), uint32(0)
	for n, end := range o.lexicon.terms.ends {
		numbers[n], _ = p.lexicon.terms.hashed(texts[from:end], o.lexicon.terms.sums[n])
		from = end
	}
	first := uint32(len(p.added))
	p.found = slices.Grow(p.found, len(o.found))
	for _, f := range o.found {
		f.term, f.page = numbers[f.term], first+f.page
		p.found = append(p.found, f)
	}
	p.added = append(p.added, o.added...)
	if p.ended == len(p.lines) {
		p.ended += o.ended
	}
	p.lines = append(p.lines, o.lines...)
	o.lexicon.found, o.lexicon.lines = o.found, o.lines
	o.lexicon.free()
	*o = Part{}
}

// Pages are the part's pages, a line each, for Builder.Page, once EndTexts was called.
func (p *Part) Pages() []byte { return p.lines }

// WriteTerms writes the part's terms in order, as Merge and Builder.Terms read
// them, and ends the part: only Pages may be called after it.
func (p *Part) WriteTerms(w io.Writer) error {
	out := newTermWriter(w)
	if p.lexicon == nil {
		return out.close()
	}
	terms := &p.lexicon.terms
	// Where the sections of each term end, once they are sorted by their terms.
	ends := make([]uint32, len(terms.ends)+1)
	for _, f := range p.found {
		ends[f.term+1]++
	}
	for n := range terms.ends {
		ends[n+1] += ends[n]
	}
	sorted := make([]found, len(p.found))
	for _, f := range p.found {
		sorted[ends[f.term]] = f
		ends[f.term]++
	}
	var lists divisionLists
	from := func(term uint32) uint32 {
		if term == 0 {
			return 0
		}
		return ends[term-1]
	}
	for _, term := range terms.inOrder() {
		for _, f := range sorted[from(term):ends[term]] {
			page := &p.added[f.page]
			for _, d := range page.divisions {
				lists.of(d).add(posting{page: page.number, section: f.section, impact: f.impact}, f.name)
			}
		}
		err := lists.each(func(division int, l *list) error { return out.write(key{division, string(terms.at(term))}, l) })
		if err != nil {
			return err
		}
	}
	p.lexicon.found, p.lexicon.lines = p.found, nil
	p.lexicon.free()
	*p = Part{lines: p.lines, ended: p.ended}
	return out.close()
}

// divisionLists are the lists of a term, which are used again for the next one.
type divisionLists struct {
	lists []list
	used  []int // divisions with a list
}

func (s *divisionLists) of(division int) *list {
	if division >= len(s.lists) {
		s.lists = append(s.lists, make([]list, division+1-len(s.lists))...)
	}
	l := &s.lists[division]
	if l.sections == 0 {
		s.used = append(s.used, division)
	}
	return l
}

// each calls fn with the lists in the order of their divisions, and empties them.
func (s *divisionLists) each(fn func(division int, l *list) error) error {
	slices.Sort(s.used)
	for _, d := range s.used {
		l := &s.lists[d]
		if err := fn(d, l); err != nil {
			return err
		}
		l.reset()
	}
	s.used = s.used[:0]
	return nil
}

// termWriter writes terms in order. A term is its division + 1, how many bytes
// it has in common with the term before, how many follow and these, the numbers
// of its list, and its postings by their place: pages as differences. A 0 in the
// place of a division ends it, so that a stream that was cut short can be told.
type termWriter struct {
	w      *bufio.Writer
	b      []byte
	before key
}

func newTermWriter(w io.Writer) *termWriter {
	return &termWriter{w: bufio.NewWriterSize(w, 64<<10)}
}

func (t *termWriter) write(k key, l *list) error {
	l.trim()
	l.order()
	shared := 0
	for shared < len(k.term) && shared < len(t.before.term) && k.term[shared] == t.before.term[shared] {
		shared++
	}
	t.before = k
	b := t.b[:0]
	for _, n := range [...]int{k.division + 1, shared, len(k.term) - shared} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	b = append(b, k.term[shared:]...)
	for _, n := range [...]int{l.sections, l.names, len(l.postings)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	page := int32(0)
	for _, p := range l.postings {
		b = binary.AppendUvarint(b, uint64(p.page-page))
		b = binary.AppendUvarint(b, uint64(p.section))
		b = append(b, p.impact)
		page = p.page
	}
	t.b = b
	_, err := t.w.Write(b)
	return err
}

func (t *termWriter) close() error {
	if err := t.w.WriteByte(0); err != nil {
		return err
	}
	return t.w.Flush()
}
