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
	termBytes = 8 << 10
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
const formatVersion = 4

// Folder is where all files of all indexes lie.
const Folder = "bindery/search/"

// RootPath is the file that the index of the division of this name begins with.
func RootPath(name string) string { return filePath(name) }

// Builder writes the indexes of a site: first all pages in order, then all
// terms, then Close.
type Builder struct {
	divisions []*division
	groups    map[string]*group
	order     []*group // as their first pages come
	last      int      // Page.Number of the page before
	add       func(name string, data []byte) error
	buf       []byte // of a file, used again
}

// division is an index in the making.
type division struct {
	*Division
	suffix string // of the names of its terms' and words' files, before the ending
	// same is a division before with the same pages and language, which has the
	// same files.
	same   *division
	groups []*group

	pages int     // that it has
	first []int32 // by Page.Number, the number of a page's first section; -1 for other pages
	total int     // sections

	sorted []int32 // sections of a term by their impact; used again
	terms  []byte  // terms that are in no run yet
	last   string  // the term before
	begins []string
	common []commonWord

	words     []string // that can be mistyped, each from its end to its beginning
	wordsFrom []string // the first word of each run of them
}

type commonWord struct {
	term  string
	names int
}

// NewBuilder makes a builder. add gets each file once; it must not keep data.
func NewBuilder(divisions []*Division, add func(name string, data []byte) error) *Builder {
	b := &Builder{add: add, groups: make(map[string]*group), last: -1}
	bySuffix := make(map[string]*division)
	for _, d := range divisions {
		made := &division{Division: d, suffix: d.suffix()}
		if made.same = bySuffix[made.suffix]; made.same == nil {
			bySuffix[made.suffix] = made
		}
		b.divisions = append(b.divisions, made)
	}
	return b
}

// Terms adds all terms from streams that Part.WriteTerms or Merge wrote.
func (b *Builder) Terms(ctx context.Context, parts []io.Reader) error {
	if err := b.settle(); err != nil {
		return err
	}
	var postings []byte
	err := merge(ctx, parts, func(k key, l *list) error {
		if k.division >= len(b.divisions) {
			return errTerms
		}
		d := b.divisions[k.division]
		if d.same != nil {
			return nil
		}
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
		d.word(k.term)
		return nil
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

// word keeps a term for the list of words, if it is one that can be mistyped.
func (d *division) word(term string) {
	letters := 0
	for _, r := range term {
		if r >= '0' && r <= '9' || kindOf(r) != letter {
			return
		}
		letters++
	}
	if letters < 4 || letters > 20 {
		return
	}
	backward := []rune(term)
	slices.Reverse(backward)
	d.words = append(d.words, string(backward))
}

// words writes the list of words: from their ends, since the run of terms that a
// reader has anyway begins as the mistyped word does.
func (b *Builder) words(d *division) error {
	slices.Sort(d.words)
	var text []byte
	before := ""
	for i, w := range d.words {
		if len(text) == 0 {
			d.wordsFrom, before = append(d.wordsFrom, w), ""
		}
		text = appendFronted(text, before, w)
		before = w
		if i+1 == len(d.words) || len(text)+len(d.words[i+1]) > listBytes {
			if err := b.file("w"+strconv.Itoa(len(d.wordsFrom)-1)+d.suffix, string(text)); err != nil {
				return err
			}
			text = text[:0]
		}
	}
	d.words = nil
	return nil
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
// It writes over postings.
func (d *division) appendPostings(b []byte, postings []posting) ([]byte, error) {
	for i, p := range postings {
		if int(p.page) >= len(d.first) || d.first[p.page] < 0 {
			return nil, fmt.Errorf("search: there is no page %d for a term", p.page)
		}
		postings[i].page = d.first[p.page] + int32(p.section) // now a section's number
	}
	var counts [maxImpact + 1]int
	for _, p := range postings {
		counts[p.impact]++
	}
	var places [maxImpact + 1]int
	for i, n := maxImpact, 0; i > 0; i-- {
		places[i] = n
		n += counts[i]
	}
	d.sorted = slices.Grow(d.sorted[:0], len(postings))[:len(postings)]
	for _, p := range postings {
		d.sorted[places[p.impact]] = p.page
		places[p.impact]++
	}
	sorted := d.sorted
	for i := maxImpact; i > 0; i-- {
		if counts[i] == 0 {
			continue
		}
		list := sorted[:counts[i]]
		sorted = sorted[counts[i]:]
		slices.Sort(list) // mostly in order: a look at each
		b = appendNumber(append(b, alphabet[i]), len(list))
		before := int32(0)
		for _, n := range list {
			b = appendNumber(b, int(n-before))
			before = n
		}
	}
	return b, nil
}

// note keeps the commonest words of names.
func (d *division) note(term string, names int) {
	if names == 0 || utf8.RuneCountInString(term) < 4 || strings.ContainsRune(term, '_') {
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
	Suffix   string   `json:"d"` // of the names of the files of terms and words
	Language string   `json:"l,omitempty"`
	Sections int      `json:"n"`
	Counts   string   `json:"c"` // sections of each page
	Terms    string   `json:"t"` // the first term of each run
	Texts    string   `json:"x"` // how many sections each run of texts has
	Digests  string   `json:"r"` // of each of these runs, digestLength characters
	Words    string   `json:"y"` // the first word of each run of the list, backward
	Pages    string   `json:"p,omitempty"`
	Trails   []string `json:"h,omitempty"`
	Boosts   [][3]any `json:"b,omitempty"`
	Common   string   `json:"w,omitempty"`
	Synonyms string   `json:"s,omitempty"` // words for the same: groups between semicolons
}

// Close writes the roots. A division without pages has none.
func (b *Builder) Close() error {
	roots := make(map[*division]*root)
	for _, d := range b.divisions {
		if d.same == nil && d.pages > 0 {
			roots[d] = d.root()
		}
	}
	for _, d := range b.divisions {
		r := roots[d]
		if d.same != nil {
			r = roots[d.same]
		}
		if r == nil {
			continue
		}
		if err := b.file(d.Name, r); err != nil {
			return err
		}
	}
	return nil
}

func (d *division) root() *root {
	r := &root{
		Version: formatVersion, Suffix: d.suffix, Language: d.Language, Sections: d.total,
		Synonyms: synonyms(d.Language), Terms: strings.Join(d.begins, " "), Words: strings.Join(d.wordsFrom, " "),
	}
	if d.pages <= rootPages {
		r.Pages, r.Trails = d.pageTable()
	}
	var counts, texts, digests []byte
	at := 0
	for _, g := range d.groups {
		for _, n := range g.counts {
			counts = appendNumber(counts, int(n))
		}
		for _, x := range g.runs {
			texts = appendNumber(texts, x.sections)
			digests = append(digests, x.digest...)
		}
		for _, x := range g.boosts {
			r.Boosts = append(r.Boosts, [3]any{at + x.from, at + x.to, x.by})
		}
		at += len(g.pages)
	}
	r.Counts, r.Texts, r.Digests = string(counts), string(texts), string(digests)
	d.keepCommon()
	slices.SortFunc(d.common, func(a, b commonWord) int { return cmp.Compare(a.term, b.term) })
	var words []byte
	last := ""
	for _, c := range d.common {
		words = appendFronted(words, last, c.term)
		last = c.term
	}
	r.Common = string(words)
	return r
}

// pageTable writes the pages that the root lists: each the number of its trail,
// how much its path has in common with the one before, the rest of the path, and
// the title.
func (d *division) pageTable() (string, []string) {
	var b []byte
	var trails []string
	at := make(map[string]int)
	before := ""
	for _, g := range d.groups {
		for _, p := range g.table {
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
	}
	return string(b), trails
}

// file writes one script; name is below Folder and without its ending.
func (b *Builder) file(name string, data any) (err error) {
	if b.buf, err = appendFile(b.buf[:0], name, data); err != nil {
		return err
	}
	return b.add(filePath(name), b.buf)
}

// filePath is where a script of this name lies.
func filePath(name string) string { return Folder + name + ".js" }

// appendFile appends the script of this name.
func appendFile(dst []byte, name string, data any) ([]byte, error) {
	buf := bytes.NewBuffer(dst)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	buf.WriteString("binderySearch(")
	if err := enc.Encode(name); err != nil {
		return nil, fmt.Errorf("search: write %s: %w", name, err)
	}
	buf.Truncate(buf.Len() - 1) // the encoder's line end
	buf.WriteByte(',')
	if err := enc.Encode(data); err != nil {
		return nil, fmt.Errorf("search: write %s: %w", name, err)
	}
	buf.Truncate(buf.Len() - 1)
	buf.WriteString(");\n")
	return buf.Bytes(), nil
}
