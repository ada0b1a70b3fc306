package search

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// How an index is cut. A reader loads a run of terms for each word, and runs of
// texts for the pages that are shown; the sizes are those of the files as they
// lie there, since folders and plain object stores compress nothing.
const (
	termBytes = 15 << 10
	textBytes = 17 << 10
	// listBytes is the size of a run of the list of words, which a reader loads to
	// learn what was mistyped.
	listBytes = 12 << 10
	// rootPages is how many pages the root itself lists. Of a larger division
	// only those pages are shown whose texts are fetched.
	rootPages = 1024
	// commonWords is how many words from names the root has, to guess from
	// what was mistyped.
	commonWords = 1200
)

// formatVersion is what core.js expects.
const formatVersion = 1

// Folder is where all files of all indexes lie.
const Folder = "bindery/search/"

// RootPath is the file that the index of the division of this name begins with.
func RootPath(name string) string { return Folder + name + ".js" }

// Builder writes the indexes of a site: first all pages in order, then all
// terms, then Close.
type Builder struct {
	divisions []*division
	add       func(name string, data []byte) error
	buf       []byte // of a file, used again
}

// division is an index in the making.
type division struct {
	*Division
	suffix string // of its files' names, before the ending

	pages  []int32  // Page.Number
	first  []uint32 // number of each page's first section
	total  int      // sections
	counts []byte   // sections of each page
	boosts []boost
	table  []stored // of the first pages, without texts

	text  []byte // sections that are in no run yet
	texts []byte // how many sections each run has
	held  int    // sections in text
	runs  int

	terms  []byte // terms that are in no run yet
	last   string // the term before
	begins []string
	common []commonWord

	words     []byte // of the list, in no run yet
	lastWord  string
	wordsFrom []string // the first word of each run
}

// boost weighs a run of pages: from, and before to.
type boost struct {
	from, to int
	by       float64
}

type commonWord struct {
	term  string
	names int
}

// NewBuilder makes a builder. add gets each file once; it must not keep data.
func NewBuilder(divisions []*Division, add func(name string, data []byte) error) *Builder {
	b := &Builder{add: add}
	for _, d := range divisions {
		b.divisions = append(b.divisions, &division{Division: d, suffix: d.suffix()})
	}
	return b
}

// Page adds a page: a line of Part.Pages.
func (b *Builder) Page(line []byte) error {
	var p stored
	if err := json.Unmarshal(line, &p); err != nil {
		return fmt.Errorf("search: a page's line can't be read: %w", err)
	}
	if len(p.Sections) == 0 {
		return fmt.Errorf("search: page %d has no sections", p.Number)
	}
	for _, n := range p.Divisions {
		if n < 0 || n >= len(b.divisions) {
			return fmt.Errorf("search: page %d is in division %d of %d", p.Number, n, len(b.divisions))
		}
		if err := b.page(b.divisions[n], &p); err != nil {
			return err
		}
	}
	return nil
}

func (b *Builder) page(d *division, p *stored) error {
	at := len(d.pages)
	if at > 0 && int(d.pages[at-1]) >= p.Number {
		return fmt.Errorf("search: page %d comes behind page %d", p.Number, d.pages[at-1])
	}
	d.pages, d.first = append(d.pages, int32(p.Number)), append(d.first, uint32(d.total))
	d.counts = appendNumber(d.counts, len(p.Sections))
	d.total += len(p.Sections)
	d.boost(at, p.Boost)
	if at < rootPages {
		d.table = append(d.table, stored{Title: p.Title, Path: p.Path, Trail: p.Trail})
	}
	for i, s := range p.Sections {
		if i == 0 || d.held == 0 {
			d.text = appendFields(d.text, p.Title, p.Path, p.Trail)
			if i == 0 {
				d.text = append(append(d.text, '\t'), s.Text...)
			} else { // the run begins within the page
				d.text = append(d.text, "\t\t"...)
			}
			d.text = append(d.text, '\n')
		}
		if i > 0 {
			d.text = append(appendFields(d.text, s.Heading, s.ID, s.Text), '\n')
		}
		d.held++
		if len(d.text) >= textBytes {
			if err := b.texts(d); err != nil {
				return err
			}
		}
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
func (d *division) boost(at int, by float64) {
	if by <= 0 || by == 1 {
		return
	}
	by = min(max(by, 0.001), 1000)
	if n := len(d.boosts); n > 0 && d.boosts[n-1].to == at && d.boosts[n-1].by == by {
		d.boosts[n-1].to++
		return
	}
	d.boosts = append(d.boosts, boost{at, at + 1, by})
}

// texts writes the sections that are held as a run.
func (b *Builder) texts(d *division) error {
	if d.held == 0 {
		return nil
	}
	name := "x" + strconv.Itoa(d.runs)
	d.texts = appendNumber(d.texts, d.held)
	text := string(d.text)
	d.text, d.held = d.text[:0], 0
	d.runs++
	return b.file(name+d.suffix, text)
}

// Terms adds all terms from streams that Part.WriteTerms or Merge wrote.
func (b *Builder) Terms(ctx context.Context, parts []io.Reader) error {
	var postings []byte
	err := merge(ctx, parts, func(k key, l *list) error {
		if k.division >= len(b.divisions) {
			return errTerms
		}
		d := b.divisions[k.division]
		var err error
		if postings, err = d.appendPostings(appendNumber(postings[:0], l.sections), l.postings); err != nil {
			return err
		}
		if len(d.terms) > 0 && len(d.terms)+len(k.term)+len(postings) > termBytes {
			if err := b.terms(d); err != nil {
				return err
			}
		}
		if len(d.terms) == 0 {
			d.begins, d.last = append(d.begins, k.term), ""
		} else {
			d.terms = append(d.terms, ' ')
		}
		shared := sharedPrefix(d.last, k.term)
		d.terms = append(append(appendNumber(d.terms, shared), k.term[shared:]...), ' ')
		d.terms = append(d.terms, postings...)
		d.last = k.term
		d.note(k.term, l.names)
		return b.word(d, k.term)
	})
	if err != nil {
		return err
	}
	for _, d := range b.divisions {
		if err := b.terms(d); err != nil {
			return err
		}
		if err := b.words(d); err != nil {
			return err
		}
	}
	return nil
}

// word puts a term into the list of words, if it is one that can be mistyped.
func (b *Builder) word(d *division, term string) error {
	letters := 0
	for _, r := range term {
		if r >= '0' && r <= '9' || kindOf(r) != letter {
			return nil
		}
		letters++
	}
	if letters < 4 || letters > 20 {
		return nil
	}
	if len(d.words)+len(term) > listBytes {
		if err := b.words(d); err != nil {
			return err
		}
	}
	if len(d.words) == 0 {
		d.wordsFrom, d.lastWord = append(d.wordsFrom, term), ""
	}
	d.words = appendFronted(d.words, d.lastWord, term)
	d.lastWord = term
	return nil
}

// words writes the words that are held as a run of the list.
func (b *Builder) words(d *division) error {
	if len(d.words) == 0 {
		return nil
	}
	text := string(d.words)
	d.words = d.words[:0]
	return b.file("w"+strconv.Itoa(len(d.wordsFrom)-1)+d.suffix, text)
}

// appendFronted adds a word to a list of words in order: how much it has in
// common with the one before, and its rest.
func appendFronted(b []byte, before, word string) []byte {
	if len(b) > 0 {
		b = append(b, ' ')
	}
	n := sharedPrefix(before, word)
	return append(appendNumber(b, n), word[n:]...)
}

// sharedPrefix is how many characters two texts begin with alike, of those that
// count the same in UTF-8 and in a browser's UTF-16.
func sharedPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] && a[n] < utf8.RuneSelf {
		n++
	}
	return n
}

// terms writes the terms that are held as a run.
func (b *Builder) terms(d *division) error {
	if len(d.terms) == 0 {
		return nil
	}
	text := string(d.terms)
	d.terms = d.terms[:0]
	return b.file("t"+strconv.Itoa(len(d.begins)-1)+d.suffix, text)
}

// appendPostings writes sections by their impact, the best first: for each
// impact itself, how many sections have it, and these as differences.
func (d *division) appendPostings(b []byte, postings []posting) ([]byte, error) {
	slices.SortFunc(postings, byImpact)
	for len(postings) > 0 {
		n := 1
		for n < len(postings) && postings[n].impact == postings[0].impact {
			n++
		}
		b = appendNumber(append(b, alphabet[postings[0].impact]), n)
		before := 0
		for _, p := range postings[:n] {
			at, ok := slices.BinarySearch(d.pages, p.page)
			if !ok {
				return nil, fmt.Errorf("search: there is no page %d for a term", p.page)
			}
			section := int(d.first[at]) + int(p.section)
			b = appendNumber(b, section-before)
			before = section
		}
		postings = postings[n:]
	}
	return b, nil
}

// note keeps the commonest words of names.
func (d *division) note(term string, names int) {
	if names == 0 || utf8.RuneCountInString(term) < 4 {
		return
	}
	if d.common = append(d.common, commonWord{term, names}); len(d.common) >= 4*commonWords {
		d.keepCommon()
	}
}

func (d *division) keepCommon() {
	slices.SortFunc(d.common, func(a, b commonWord) int {
		return cmp.Or(cmp.Compare(b.names, a.names), cmp.Compare(a.term, b.term))
	})
	d.common = d.common[:min(len(d.common), commonWords)]
}

// root is a division's root as core.js reads it.
type root struct {
	Version  int      `json:"v"`
	Suffix   string   `json:"d"` // of the other files' names
	Language string   `json:"l,omitempty"`
	Sections int      `json:"n"`
	Counts   string   `json:"c"` // sections of each page
	Terms    string   `json:"t"` // the first term of each run
	Texts    string   `json:"x"` // how many sections each run has
	Words    string   `json:"y"` // the first word of each run of the list
	Pages    string   `json:"p,omitempty"`
	Trails   []string `json:"h,omitempty"`
	Boosts   [][3]any `json:"b,omitempty"`
	Common   string   `json:"w,omitempty"`
}

// Close writes what is left and the roots. A division without pages has none.
func (b *Builder) Close() error {
	for _, d := range b.divisions {
		if len(d.pages) == 0 {
			continue
		}
		if err := b.texts(d); err != nil {
			return err
		}
		r := root{
			Version: formatVersion, Suffix: d.suffix, Language: d.Language, Sections: d.total,
			Counts: string(d.counts), Terms: strings.Join(d.begins, " "), Texts: string(d.texts),
			Words: strings.Join(d.wordsFrom, " "),
		}
		if len(d.pages) <= rootPages {
			r.Pages, r.Trails = d.pageTable()
		}
		for _, x := range d.boosts {
			r.Boosts = append(r.Boosts, [3]any{x.from, x.to, x.by})
		}
		d.keepCommon()
		slices.SortFunc(d.common, func(a, b commonWord) int { return cmp.Compare(a.term, b.term) })
		var words []byte
		before := ""
		for _, c := range d.common {
			words = appendFronted(words, before, c.term)
			before = c.term
		}
		r.Common = string(words)
		if err := b.file(d.Name, r); err != nil {
			return err
		}
	}
	return nil
}

// pageTable writes the pages that the root lists: each the number of its trail,
// how much its path has in common with the one before, the rest of the path, and
// the title.
func (d *division) pageTable() (string, []string) {
	var b []byte
	var trails []string
	at := make(map[string]int)
	before := ""
	for _, p := range d.table {
		n, ok := at[p.Trail]
		if !ok {
			n = len(trails)
			at[p.Trail], trails = n, append(trails, p.Trail)
		}
		b = appendNumber(b, n)
		n = sharedPrefix(before, p.Path)
		b = append(append(append(append(appendNumber(b, n), p.Path[n:]...), '\n'), p.Title...), '\n')
		before = p.Path
	}
	return string(b), trails
}

// file writes one script; name is below Folder and without its ending.
func (b *Builder) file(name string, data any) error {
	buf := bytes.NewBuffer(b.buf[:0])
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	buf.WriteString("binderySearch(")
	if err := enc.Encode(name); err != nil {
		return fmt.Errorf("search: write %s: %w", name, err)
	}
	buf.Truncate(buf.Len() - 1) // the encoder's line end
	buf.WriteByte(',')
	if err := enc.Encode(data); err != nil {
		return fmt.Errorf("search: write %s: %w", name, err)
	}
	buf.Truncate(buf.Len() - 1)
	buf.WriteString(");\n")
	b.buf = buf.Bytes()
	return b.add(Folder+name+".js", b.buf)
}
