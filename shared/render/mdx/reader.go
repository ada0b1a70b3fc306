package mdx

import (
	"sort"
	"strings"
)

// view is text that a construct reads as one piece: lines of the source,
// joined by \n, without the prefixes of the containers around them.
type view struct {
	s string
	// base is where s begins in the source when the lines stand in it just
	// so, and -1 when s was put together.
	base int
	// starts holds where each line begins in s, srcs where in the source.
	starts, srcs []int
}

// src returns the offset in the source of the byte at i.
func (v *view) src(i int) int {
	if v.base >= 0 {
		return v.base + i
	}
	k := sort.SearchInts(v.starts, i+1) - 1
	return v.srcs[k] + i - v.starts[k]
}

// reader reads tags and expressions. At flow level these may go on over many
// lines; the reader takes one line after the other as long as they belong to
// the containers in which it began.
type reader struct {
	view
	p   *parser
	i   int // next byte
	end int // end of what was taken so far

	grow     bool // further lines may be taken
	next     int  // offset of the line to take next
	nextLine int
	joined   strings.Builder
	blank    bool // blank lines of a plain source are taken
	outside  bool // a line was met that is outside of the containers
}

// flowReader reads from a place in the line that ends at le.
func (p *parser) flowReader(off, le int) *reader {
	r := &p.flow
	*r = reader{p: p}
	if len(p.stack) == 0 {
		r.view = view{s: p.s, base: 0}
		r.i, r.end = off, len(p.s)
		if p.Plain { // a tag goes over no blank line
			r.end = p.paragraphEnd(le)
		}
		return r
	}
	r.view = view{base: -1, starts: []int{0}, srcs: []int{off}}
	r.joined.WriteString(p.s[off:le])
	r.s = r.joined.String()
	r.end = len(r.s)
	r.grow, r.next, r.nextLine = true, le+1, p.line+1
	return r
}

// at returns the byte at i, or 0 at the end; more lines are taken as needed.
func (r *reader) at(i int) byte {
	for i >= r.end {
		if !r.more() {
			return 0
		}
	}
	return r.s[i]
}

// more takes one more line.
func (r *reader) more() bool {
	if !r.grow || r.next > len(r.p.s) {
		return false
	}
	p := r.p
	le := p.lineEnd(r.next)
	if r.next == len(p.s) {
		r.grow = false
		return false
	}
	c := cursor{off: r.next, ls: r.next, le: le}
	p.steps += len(p.stack)
	if !p.continues(&c) {
		r.grow, r.outside = false, true
		return false
	}
	if p.Plain && !r.blank && c.isBlank(p) {
		r.grow = false
		return false
	}
	r.joined.WriteByte('\n')
	r.starts = append(r.starts, r.joined.Len())
	r.srcs = append(r.srcs, c.off)
	r.joined.WriteString(p.s[c.off:le])
	r.s = r.joined.String()
	r.end = len(r.s)
	r.next = le + 1
	r.nextLine++
	return true
}

// More takes one more line for a scanner of JavaScript.
func (r *reader) More() (text string, ok bool) {
	ok = r.more()
	return r.s[:r.end], ok
}

// atEnd reports that no byte is left at i.
func (r *reader) atEnd(i int) bool {
	return r.at(i) == 0 && i >= r.end
}

// eol names the end that a construct ran into, for messages.
func (r *reader) eol() string {
	if r.outside {
		return "the end of the block quote or list item"
	}
	return "the end of the text"
}
