package search

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math"
	"strings"
)

// digestLength is how many characters of a run's digest its name has, as many as
// core.js expects: few, since a root has those of all runs. Builder.name sees to it
// that no two runs of a site have the same.
const digestLength = 10

// group is the pages that are in the same divisions, with their texts. What
// several divisions show is in the bundle once.
type group struct {
	divisions []int
	pages     []int32  // Page.Number
	counts    []int32  // sections of each page
	boosts    []boost  // by the place in pages
	table     []stored // of the first pages, without texts

	text []byte // sections that are in no run yet
	held int    // sections in text
	runs []textRun
}

type textRun struct {
	sections int
	digest   string
}

// endsRun reports whether a run of this size ends with the page of this path. It is
// mostly the same pages that do, whatever stands before them: a page that has more
// text than it had makes a few runs other ones, and not all that come after it.
func endsRun(size int, path string) bool {
	h := fnv.New32a()
	h.Write([]byte(path))
	sum := h.Sum32()
	return size >= textBytes*4/5 && sum%2 == 0 || size >= textBytes*3/5 && sum%8 == 0
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
	key := fmt.Sprint(p.Divisions)
	g := b.groups[key]
	if g == nil {
		g = &group{divisions: p.Divisions}
		b.groups[key], b.order = g, append(b.order, g)
	}
	return b.page(g, &p)
}

func (b *Builder) page(g *group, p *stored) error {
	g.boost(len(g.pages), p.Boost)
	g.pages, g.counts = append(g.pages, int32(p.Number)), append(g.counts, int32(len(p.Sections)))
	if len(g.table) < rootPages {
		g.table = append(g.table, stored{Title: p.Title, Path: p.Path, Trail: p.Trail})
	}
	for i, s := range p.Sections {
		if i == 0 || g.held == 0 {
			g.text = appendFields(g.text, p.Title, p.Path, p.Trail)
			if i == 0 {
				g.text = append(append(g.text, '\t'), s.Text...)
			} else { // the run begins within the page
				g.text = append(g.text, "\t\t"...)
			}
			g.text = append(g.text, '\n')
		}
		if i > 0 {
			g.text = append(appendFields(g.text, s.Heading, s.ID, s.Text), '\n')
		}
		g.held++
		if len(g.text) >= textBytes {
			if err := b.texts(g); err != nil {
				return err
			}
		}
	}
	if endsRun(len(g.text), p.Path) {
		return b.texts(g)
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

// texts writes the sections that are held as a run. Its name has its digest and
// nothing else: where other runs come or go, it stays.
func (b *Builder) texts(g *group) error {
	if g.held == 0 {
		return nil
	}
	digest, written := b.name(sha256.Sum256(g.text))
	g.runs = append(g.runs, textRun{sections: g.held, digest: digest})
	text := string(g.text)
	g.text, g.held = g.text[:0], 0
	if written { // a page that says the same again and again
		return nil
	}
	return b.file("x."+digest, text)
}

// name returns what of a digest the name of a run has, and reports whether the run
// was written before.
func (b *Builder) name(sum [sha256.Size]byte) (digest string, written bool) {
	of := sum
	for {
		digest = hex.EncodeToString(sum[:])[:digestLength]
		before, taken := b.texted[digest]
		if !taken {
			b.texted[digest] = of
			return digest, false
		}
		if before == of {
			return digest, true
		}
		sum = sha256.Sum256(sum[:]) // another run's digest begins alike
	}
}

// settle ends the texts and numbers the divisions' sections: group by group, so
// that those of a run follow each other in each division.
func (b *Builder) settle() error {
	for _, g := range b.order {
		if err := b.texts(g); err != nil {
			return err
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
