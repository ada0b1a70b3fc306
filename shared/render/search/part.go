package search

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"io"
	"slices"
	"strings"
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

// trim keeps the best sections. Whatever is cut off in parts would have been
// cut off from the whole, so that the result does not depend on the parts.
func (l *list) trim() {
	if len(l.postings) <= maxPostings {
		return
	}
	slices.SortFunc(l.postings, byImpact)
	l.postings = l.postings[:maxPostings]
}

func (l *list) join(o *list) {
	l.sections += o.sections
	l.names += o.names
	l.postings = append(l.postings, o.postings...)
	l.trim()
}

// byImpact orders the best sections first, and those before others in the site.
func byImpact(a, b posting) int {
	if a.impact != b.impact {
		return int(b.impact) - int(a.impact)
	}
	return byPlace(a, b)
}

func byPlace(a, b posting) int {
	if a.page != b.page {
		return int(a.page) - int(b.page)
	}
	return int(a.section) - int(b.section)
}

// key is a term of a division.
type key struct {
	division int
	term     string
}

// compare orders terms before divisions: what divisions say of the same terms is
// alike, and compresses where it is written next to each other.
func (k key) compare(o key) int {
	return cmp.Or(strings.Compare(k.term, o.term), cmp.Compare(k.division, o.division))
}

// Part gathers pages of a shard. The zero value is ready. It is not safe for
// concurrent use; parts of a shard may be made at the same time and joined in
// the order of their pages.
type Part struct {
	lists map[key]*list
	pages []byte // lines
	score scorer
}

// Add adds a page. Pages are added in order.
func (p *Part) Add(page Page) (Fact, error) {
	if p.lists == nil {
		p.lists = make(map[key]*list)
	}
	sections := page.sections()
	fact, err := page.fact()
	if err != nil {
		return fact, err
	}
	line, err := json.Marshal(page.store(sections))
	if err != nil {
		return fact, err
	}
	p.pages = append(append(p.pages, line...), '\n')
	for i := range sections {
		p.score.section(&page, sections, i, func(term string, s score) {
			for _, d := range page.Divisions {
				k := key{d, term}
				l := p.lists[k]
				if l == nil {
					l = new(list)
					p.lists[key{d, strings.Clone(term)}] = l // not the whole text with it
				}
				l.add(posting{page: int32(page.Number), section: uint16(i), impact: s.impact()}, s.name)
			}
		})
	}
	return fact, nil
}

// Join adds another part, whose pages come after its own. The other one is used up.
func (p *Part) Join(o *Part) {
	if p.lists == nil {
		p.lists, p.pages = o.lists, o.pages
		return
	}
	p.pages = append(p.pages, o.pages...)
	for k, l := range o.lists {
		if have := p.lists[k]; have != nil {
			have.join(l)
		} else {
			p.lists[k] = l
		}
	}
}

// Pages are the part's pages, a line each, for Builder.Page.
func (p *Part) Pages() []byte { return p.pages }

// WriteTerms writes the part's terms in order, as Merge and Builder.Terms read
// them.
func (p *Part) WriteTerms(w io.Writer) error {
	keys := make([]key, 0, len(p.lists))
	for k := range p.lists {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, key.compare)
	out := newTermWriter(w)
	for _, k := range keys {
		if err := out.write(k, p.lists[k]); err != nil {
			return err
		}
	}
	return out.close()
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
	slices.SortFunc(l.postings, byPlace)
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
