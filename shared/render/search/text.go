package search

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"
)

// digestLength is how many characters of a run's digest its name has, as many as
// core.js expects. A root has those of all runs, so they are few; two runs of a site
// of 200,000 pages have the same name once in twenty million sites.
const digestLength = 14

// endsRun reports whether a run of this size ends with the page of this path. It is
// mostly the same pages that do, whatever stands before them: a page that has more
// text than it had makes a few runs other ones, and not all that come after it.
func endsRun(size int, path string) bool {
	h := fnv.New32a()
	h.Write([]byte(path))
	sum := h.Sum32()
	return size >= textBytes*4/5 && sum%2 == 0 || size >= textBytes*3/5 && sum%8 == 0
}

// textRun is a file of texts.
type textRun struct {
	sections int
	digest   string
}

// texts are the sections of pages that are in the same divisions and in no run yet.
type texts struct {
	text []byte
	held int // sections in text
	page int // the last one, among those of the cutter
}

// cutter cuts the texts of pages into runs.
type cutter struct {
	add     func(name string, data []byte) error
	groups  map[string]*texts
	order   []*texts
	pages   [][]byte // their lines
	written map[string]bool
	buf     []byte // of a file, used again
}

// EndTexts writes the texts of the pages that were added since the last call as runs,
// and leaves in Pages what the index must know of them. Pages that are in the same
// divisions, with their texts, are a group: what several divisions show is in the
// bundle once. add gets each file once; it must not keep data.
func (p *Part) EndTexts(add func(name string, data []byte) error) error {
	c := cutter{add: add, groups: map[string]*texts{}, written: map[string]bool{}}
	for line := range bytes.Lines(p.lines[p.ended:]) {
		if err := c.page(string(line[:len(line)-1])); err != nil {
			return err
		}
	}
	for _, t := range c.order {
		if err := c.end(t); err != nil {
			return err
		}
	}
	p.lines = p.lines[:p.ended]
	for _, line := range c.pages {
		p.lines = append(append(p.lines, line...), '\n')
	}
	p.ended = len(p.lines)
	return nil
}

// page adds a page: a line of appendLine.
func (c *cutter) page(line string) error {
	fields := strings.Split(line, "\t")
	if len(fields) < 9 || len(fields)%3 != 0 {
		return fmt.Errorf("search: a page's line has %d fields", len(fields))
	}
	sections := fields[6:]
	own := []byte(strings.Join(fields[:6], "\t") + "\t" + strconv.Itoa(len(sections)/3))
	c.pages = append(c.pages, own)
	if fields[1] == "" { // it is in no division
		return nil
	}
	t := c.groups[fields[1]]
	if t == nil {
		t = new(texts)
		c.groups[fields[1]], c.order = t, append(c.order, t)
	}
	t.page = len(c.pages) - 1
	path, title, trail := fields[3], fields[4], fields[5]
	for i := 0; i < len(sections); i += 3 {
		heading, id, text := sections[i], sections[i+1], sections[i+2]
		if i == 0 || t.held == 0 {
			t.text = appendFields(t.text, title, path, trail)
			if i == 0 {
				t.text = append(append(t.text, '\t'), text...)
			} else { // the run begins within the page
				t.text = append(t.text, "\t\t"...)
			}
			t.text = append(t.text, '\n')
		}
		if i > 0 {
			t.text = append(appendFields(t.text, heading, id, text), '\n')
		}
		t.held++
		if len(t.text) >= textBytes {
			if err := c.end(t); err != nil {
				return err
			}
		}
	}
	if endsRun(len(t.text), path) {
		return c.end(t)
	}
	return nil
}

func appendFields(b []byte, fields ...string) []byte {
	for i, f := range fields {
		if i > 0 {
			b = append(b, '\t')
		}
		b = append(b, f...)
	}
	return b
}

// end writes the sections that are held as a run, and notes it at the line of their
// last page. Its name has its digest and nothing else: where other runs come or go,
// it stays.
func (c *cutter) end(t *texts) error {
	if t.held == 0 {
		return nil
	}
	sum := sha256.Sum256(t.text)
	digest := hex.EncodeToString(sum[:])[:digestLength]
	own := &c.pages[t.page]
	*own = append(strconv.AppendInt(append(*own, '\t'), int64(t.held), 10), ':')
	*own = append(*own, digest...)
	text := string(t.text)
	t.text, t.held = t.text[:0], 0
	if c.written[digest] { // a page says the same again and again
		return nil
	}
	c.written[digest] = true
	var err error
	if c.buf, err = appendFile(c.buf[:0], "x."+digest, text); err != nil {
		return err
	}
	return c.add(filePath("x."+digest), c.buf)
}

// group is what the index must know of pages that are in the same divisions.
type group struct {
	divisions []int
	pages     []int32  // Page.Number
	counts    []int32  // sections of each page
	boosts    []boost  // by the place in pages
	table     []stored // of the first pages
	runs      []textRun
	left      int // sections that are in no run yet
}

// boost weighs a run of pages: from, and before to.
type boost struct {
	from, to int
	by       float64
}

// Page adds a page: a line of Part.Pages.
func (b *Builder) Page(line []byte) error {
	var p stored
	if err := p.read(strings.TrimSuffix(string(line), "\n")); err != nil {
		return err
	}
	if p.Number <= b.last || p.Number > math.MaxInt32 {
		return fmt.Errorf("search: page %d comes after page %d", p.Number, b.last)
	}
	b.last = p.Number
	for i, n := range p.Divisions {
		if n < 0 || n >= len(b.divisions) || i > 0 && n <= p.Divisions[i-1] {
			return fmt.Errorf("search: page %d is in divisions %v of %d", p.Number, p.Divisions, len(b.divisions))
		}
	}
	if len(p.Divisions) == 0 {
		return nil
	}
	g := b.groups[p.group]
	if g == nil {
		g = &group{divisions: p.Divisions}
		b.groups[p.group], b.order = g, append(b.order, g)
	}
	return g.add(&p)
}

func (g *group) add(p *stored) error {
	g.boost(len(g.pages), p.Boost)
	g.pages, g.counts = append(g.pages, int32(p.Number)), append(g.counts, int32(p.Sections))
	if len(g.table) < rootPages {
		g.table = append(g.table, *p)
	}
	g.left += p.Sections
	for _, r := range p.runs {
		if g.left -= r.sections; g.left < 0 {
			return fmt.Errorf("search: page %d ends a run of %d sections, which are not there", p.Number, r.sections)
		}
		g.runs = append(g.runs, r)
	}
	return nil
}

// boost notes the weight of a page. Pages near each other mostly have the same.
func (g *group) boost(at int, by float64) {
	if by <= 0 || by == 1 {
		return
	}
	by = min(max(by, 0.001), 1000)
	if n := len(g.boosts); n > 0 && g.boosts[n-1].to == at && g.boosts[n-1].by == by {
		g.boosts[n-1].to++
		return
	}
	g.boosts = append(g.boosts, boost{at, at + 1, by})
}

// settle numbers the divisions' sections: group by group, so that those of a run
// follow each other in each division.
func (b *Builder) settle() error {
	for _, g := range b.order {
		if g.left != 0 {
			return fmt.Errorf("search: %d sections are in no run of texts", g.left)
		}
		for _, n := range g.divisions {
			d := b.divisions[n]
			if d.same != nil {
				continue
			}
			d.groups = append(d.groups, g)
			for i, page := range g.pages {
				for int(page) >= len(d.first) {
					d.first = append(d.first, -1)
				}
				d.first[page] = int32(d.total)
				d.pages, d.total = d.pages+1, d.total+int(g.counts[i])
			}
		}
	}
	return nil
}
