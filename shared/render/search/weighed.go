package search

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
)

// What terms a page has, and how much its sections are about each, takes most of
// the time that a page takes here. It follows from what can be found of the page
// alone, so that it can be kept for the next index that has the same page.

// Content returns a digest of what the page's terms and their weights follow from.
func (p *Page) Content() [sha256.Size]byte {
	sum := sha256.New()
	var size []byte
	list := func(texts ...string) {
		size = binary.AppendUvarint(size[:0], uint64(len(texts)))
		for _, t := range texts {
			size = binary.AppendUvarint(size, uint64(len(t)))
		}
		sum.Write(size)
		for _, t := range texts {
			sum.Write([]byte(t))
		}
	}
	list(p.Path, p.Title, p.Description)
	list(p.Keywords...)
	list(p.Trail...)
	for i := range p.Sections {
		s := &p.Sections[i]
		list(s.Heading, s.ID, s.Text)
	}
	return [sha256.Size]byte(sum.Sum(nil))
}

// named is the bit of an impact that says that the term is in a name.
const named = 1 << 7

// Weighed returns the terms of the page that was added last, for AddWeighed.
func (p *Part) Weighed() []byte { return p.weighed(nil, len(p.added)-1) }

// weighed appends the terms of all pages from one on: the texts of the terms, and
// then for each page how many there are in its sections, and for each of those its
// number among the texts, how many sections further on it is, and its impact.
func (p *Part) weighed(out []byte, first int) []byte {
	from := len(p.found)
	for from > 0 && int(p.found[from-1].page) >= first {
		from--
	}
	x := p.lexicon
	if n := len(x.terms.ends) - len(x.places); n > 0 {
		x.places = append(x.places, make([]uint32, n)...)
	}
	count := uint32(0)
	var texts, entries []byte
	all := p.found[from:]
	for at := first; at < len(p.added); at++ {
		n := 0
		for n < len(all) && int(all[n].page) == at {
			n++
		}
		entries = binary.AppendUvarint(entries, uint64(n))
		section := uint16(0)
		for _, f := range all[:n] {
			place := &x.places[f.term]
			if *place == 0 {
				count++
				*place = count
				term := x.terms.at(f.term)
				texts = append(binary.AppendUvarint(texts, uint64(len(term))), term...)
			}
			entries = binary.AppendUvarint(entries, uint64(*place-1))
			entries = binary.AppendUvarint(entries, uint64(f.section-section))
			impact := f.impact
			if f.name {
				impact |= named
			}
			entries = append(entries, impact)
			section = f.section
		}
		all = all[n:]
	}
	for _, f := range p.found[from:] {
		x.places[f.term] = 0
	}
	out = binary.AppendUvarint(out, uint64(count))
	out = append(out, texts...)
	return append(out, entries...)
}

// AddWeighed is Add for a page of the same Content as the one whose terms Weighed
// returned. ok is false, and nothing is added, where weighed is something else.
func (p *Part) AddWeighed(page Page, weighed []byte) (fact Fact, ok bool, err error) {
	p.begin()
	before := len(p.found)
	if !p.unpack(weighed, 1, len(page.Sections)+1) {
		p.found = p.found[:before]
		return Fact{}, false, nil
	}
	if fact, err = p.addLine(&page, page.sections()); err != nil {
		p.found = p.found[:before]
	}
	return fact, err == nil, err
}

// Encode returns what DecodePart needs beside the part's Pages. In an index with
// the same pages under the same numbers and divisions it is the same.
func (p *Part) Encode() []byte {
	out := binary.AppendUvarint(nil, uint64(len(p.added)))
	if len(p.added) == 0 {
		return out
	}
	for _, m := range p.added {
		out = binary.AppendUvarint(out, uint64(m.number))
		out = binary.AppendUvarint(out, uint64(len(m.divisions)))
		for _, d := range m.divisions {
			out = binary.AppendUvarint(out, uint64(d))
		}
	}
	return p.weighed(out, 0)
}

// DecodePart returns the part of these Pages for which Encode returned data; false
// where that is something else.
func DecodePart(pages, data []byte) (Part, bool) {
	var p Part
	in := numbers{data: data}
	count := in.next(len(data) + 1)
	if count == 0 {
		return p, len(in.data) == 0
	}
	p.begin()
	added := make([]member, max(count, 0))
	for i := range added {
		m := &added[i]
		m.number = int32(in.next(math.MaxInt32))
		for range in.next(len(in.data)) {
			m.divisions = append(m.divisions, in.next(math.MaxInt32))
		}
	}
	if count < 0 || in.bad || !p.unpack(in.data, count, maxSections+1) {
		p.lexicon.found = p.found
		p.lexicon.free()
		return Part{}, false
	}
	p.added, p.lines = added, append(p.lines, pages...)
	p.ended = len(p.lines)
	return p, true
}

// numbers reads numbers and texts one after another. After the first that is not
// there all are.
type numbers struct {
	data []byte
	bad  bool
}

// next returns a number below a limit, or -1.
func (r *numbers) next(below int) int {
	n, size := binary.Uvarint(r.data)
	if size <= 0 || n >= uint64(max(below, 0)) {
		r.data, r.bad = nil, true
		return -1
	}
	r.data = r.data[size:]
	return int(n)
}

// take returns the next bytes.
func (r *numbers) take(size int) []byte {
	if size < 0 || size > len(r.data) {
		r.data, r.bad = nil, true
		return nil
	}
	out := r.data[:size]
	r.data = r.data[size:]
	return out
}

// unpack adds what weighed wrote of so many pages, which come after those that
// were added, with at most so many sections each.
func (p *Part) unpack(data []byte, pages, sections int) bool {
	in := numbers{data: data}
	terms := make([]uint32, max(in.next(len(data)), 0))
	for i := range terms {
		terms[i], _ = p.lexicon.terms.number(string(in.take(in.next(len(in.data)))))
	}
	for at := len(p.added); at < len(p.added)+pages; at++ {
		section := 0
		for range in.next(len(in.data)) {
			term, further := in.next(len(terms)), in.next(sections)
			if in.bad || section+further >= sections || len(in.data) == 0 {
				return false
			}
			section += further
			impact := in.data[0]
			if weight := impact &^ named; weight < 1 || weight > maxImpact {
				return false
			}
			in.data = in.data[1:]
			p.found = append(p.found, found{term: terms[term], page: uint32(at), section: uint16(section), impact: impact &^ named, name: impact&named != 0})
		}
	}
	return !in.bad && len(in.data) == 0
}
