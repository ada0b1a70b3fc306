package search

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"strings"
	"unicode/utf8"
)

// Page is what can be found of a page.
type Page struct {
	// Number is the page's place in the order of the site's pages.
	Number int `json:"number"`
	// Divisions are the indexes that the page belongs to, from 0 and in order.
	Divisions []int `json:"divisions"`
	// Path is the page's file from the bundle's root, without ".html".
	Path        string   `json:"path"`
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Keywords    []string `json:"keywords,omitempty"`
	// Trail names the groups that the page stands in, outermost first.
	Trail    []string  `json:"trail,omitempty"`
	Sections []Section `json:"sections,omitempty"`
	// Boost weighs the page; 0 means 1.
	Boost float64 `json:"boost,omitempty"`
}

// Section is the text under one heading; Heading and ID are empty for what
// stands before the first.
type Section struct {
	Heading string `json:"heading,omitempty"`
	ID      string `json:"id,omitempty"`
	Text    string `json:"text,omitempty"`
}

// Limits of what a page brings to an index.
const (
	// maxStored is how many bytes of a section's text are kept to be shown.
	// All of it is found.
	maxStored = 2000
	// maxSections is how many sections of a page are distinguished; those after
	// belong to the last of them.
	maxSections = 4000
	// maxName is how many bytes of a title, a heading or a trail are shown.
	maxName = 240
)

// stored is what an index keeps of a page, as shards hand it on: one line.
type stored struct {
	Number    int       `json:"number"`
	Divisions []int     `json:"divisions"`
	Path      string    `json:"path"`
	Title     string    `json:"title"`
	Trail     string    `json:"trail,omitempty"`
	Boost     float64   `json:"boost,omitempty"`
	Sections  []Section `json:"sections"` // the page's own first
}

// Fact is what the steps behind Render must know of a page before the index is
// written: a digest of all that can be found on it.
type Fact struct {
	Divisions []int  `json:"divisions"`
	Digest    string `json:"digest"`
}

// Division is one index: what its pages have in common, and a digest of them.
type Division struct {
	// Name distinguishes it from the site's other ones: letters, digits and hyphens.
	Name string
	// Language is the language of its pages (BCP 47).
	Language string
	sum      hash.Hash
}

// NewDivision makes an index without pages.
func NewDivision(name, language string) *Division {
	d := &Division{Name: name, Language: language, sum: sha256.New()}
	fmt.Fprintf(d.sum, "%d %q\n", formatVersion, language)
	return d
}

// Add notes a page of the division. Pages come in order, all of them before
// NewBuilder.
func (d *Division) Add(f Fact) { fmt.Fprintln(d.sum, f.Digest) }

// suffix stands in the names of the files of the division's terms and words:
// other pages make other names, so that no reader's browser mixes two states of
// a site, and whoever serves them may have them kept for ever. Divisions of the
// same pages and language have the same.
func (d *Division) suffix() string { return "." + hex.EncodeToString(d.sum.Sum(nil)[:6]) }

// sections returns the page's sections with its own at the front.
func (p *Page) sections() []Section {
	out := make([]Section, 1, len(p.Sections)+1)
	for _, s := range p.Sections {
		switch {
		case s.Heading == "" && len(out) == 1:
			out[0].Text = join(out[0].Text, s.Text)
		case len(out) >= maxSections:
			last := &out[len(out)-1]
			last.Text = join(last.Text, join(s.Heading, s.Text))
		default:
			out = append(out, s)
		}
	}
	return out
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// fact describes a page.
func (p *Page) fact() (Fact, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return Fact{}, fmt.Errorf("search: page %d: %w", p.Number, err)
	}
	sum := sha256.Sum256(data)
	return Fact{Divisions: p.Divisions, Digest: hex.EncodeToString(sum[:16])}, nil
}

// store returns a page as the index shows it.
func (p *Page) store(sections []Section) stored {
	out := stored{
		Number: p.Number, Divisions: p.Divisions, Path: oneLine(p.Path), Title: name(p.Title),
		Trail: name(strings.Join(p.Trail, " › ")), Boost: p.Boost, Sections: make([]Section, len(sections)),
	}
	for i, s := range sections {
		text := s.Text
		if i == 0 {
			text = join(p.Description, text)
		}
		out.Sections[i] = Section{Heading: name(s.Heading), ID: oneLine(s.ID), Text: cut(oneLine(text), maxStored)}
	}
	return out
}

// oneLine collapses white space, which separates fields and lines.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// name is a text that calls something by its name, as it is shown.
func name(s string) string { return cut(oneLine(s), maxName) }

// cut keeps at most limit bytes of a text, up to the end of a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// field is a part of a section with its weight. In the manner of BM25F, how
// often a term occurs counts less in a field that is longer than usual.
type field struct {
	weight int
	// usual is the number of terms after which a field is long, and slope how
	// much that counts, in hundredths.
	usual, slope int
	// name marks fields that call the section by its name.
	name bool
}

var (
	titleField       = field{weight: 14, usual: 3, slope: 60, name: true}
	keywordField     = field{weight: 10, usual: 5, slope: 0, name: true}
	headingField     = field{weight: 7, usual: 4, slope: 50, name: true}
	descriptionField = field{weight: 3, usual: 15, slope: 30}
	trailField       = field{weight: 1, usual: 4, slope: 0}
	bodyField        = field{weight: 1, usual: 80, slope: 60}
)

// saturation is the weight at which a section is half about a term, in
// thousandths.
const saturation = 5000

const maxImpact = 63

// score is what a section has of a term: a weight in thousandths.
type score struct {
	weight int
	name   bool
}

// impact turns a weight into a number from 1 to maxImpact. Only whole numbers
// are used, which have no other bytes on another processor.
func (s score) impact() uint8 {
	return uint8(1 + (maxImpact-1)*s.weight/(s.weight+saturation))
}

// scorer weighs the terms of one section after another.
type scorer struct {
	scores map[string]score
	counts map[string]int // in halves: parts of a word count half
}

// section calls fn with the terms of a section, in no order.
func (w *scorer) section(p *Page, sections []Section, i int, fn func(term string, s score)) {
	if w.scores == nil {
		w.scores, w.counts = make(map[string]score), make(map[string]int)
	}
	s := &sections[i]
	if i == 0 {
		w.add(titleField, p.Title)
		w.add(keywordField, strings.Join(p.Keywords, "\n"))
		w.add(descriptionField, p.Description)
		w.add(trailField, strings.Join(p.Trail, "\n"))
		if name := p.Path[strings.LastIndexByte(p.Path, '/')+1:]; name != "index" {
			w.add(trailField, name)
		}
	} else {
		w.add(headingField, s.Heading)
	}
	w.add(bodyField, s.Text)
	for t, sc := range w.scores {
		fn(t, sc)
	}
	clear(w.scores)
}

func (w *scorer) add(f field, text string) {
	if text == "" {
		return
	}
	length := 0
	terms(text, f.name, func(term string, part bool) {
		if part {
			w.counts[term]++
			return
		}
		length++
		w.counts[term] += 2
	})
	norm := f.usual*(100-f.slope) + f.slope*length // hundredths of usual
	for t, n := range w.counts {
		s := w.scores[t]
		s.weight += f.weight * n * 500 * 100 * f.usual / norm
		s.name = s.name || f.name
		w.scores[t] = s
	}
	clear(w.counts)
}
