package search

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"math"
	"strconv"
	"strings"
	"unicode"
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

// stored is what the index must know of a page beside its texts.
type stored struct {
	Number             int
	Divisions          []int
	Path, Title, Trail string
	Boost              float64
	Sections           int // the page's own among them
	group              string
	runs               []textRun // of its group, which end with the page or within it
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

// appendLine adds what the index shows of a page: a line with its number, its
// divisions, its boost, its path, its title and its trail, and for each section, its
// own first, the heading, the id and the text. Tabs separate them: none of them has
// one. In the line that shards hand on, EndTexts has put the number of its sections
// and the runs in their place, each as how many sections it has, a colon and its
// digest.
func (p *Page) appendLine(b []byte, sections []Section) []byte {
	b = strconv.AppendInt(b, int64(p.Number), 10)
	for i, d := range p.Divisions {
		if i == 0 {
			b = append(b, '\t')
		} else {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(d), 10)
	}
	if len(p.Divisions) == 0 {
		b = append(b, '\t')
	}
	b = strconv.AppendFloat(append(b, '\t'), p.Boost, 'g', -1, 64)
	b = appendOneLine(append(b, '\t'), p.Path, math.MaxInt)
	b = appendOneLine(append(b, '\t'), p.Title, maxName)
	b = appendOneLine(append(b, '\t'), strings.Join(p.Trail, " › "), maxName)
	for i, s := range sections {
		text := s.Text
		if i == 0 {
			text = join(p.Description, text)
		}
		b = appendOneLine(append(b, '\t'), s.Heading, maxName)
		b = appendOneLine(append(b, '\t'), s.ID, math.MaxInt)
		b = appendOneLine(append(b, '\t'), text, maxStored)
	}
	return append(b, '\n')
}

// read reads a line that EndTexts wrote.
func (s *stored) read(line string) error {
	fields := strings.Split(line, "\t")
	if len(fields) < 7 {
		return fmt.Errorf("search: a page's line has %d fields", len(fields))
	}
	var err error
	if s.Number, err = strconv.Atoi(fields[0]); err != nil {
		return fmt.Errorf("search: the number of a page: %w", err)
	}
	s.group = fields[1]
	for d := range strings.SplitSeq(s.group, ",") {
		if d == "" {
			continue
		}
		n, err := strconv.Atoi(d)
		if err != nil {
			return fmt.Errorf("search: the divisions of page %d: %w", s.Number, err)
		}
		s.Divisions = append(s.Divisions, n)
	}
	if s.Boost, err = strconv.ParseFloat(fields[2], 64); err != nil {
		return fmt.Errorf("search: the boost of page %d: %w", s.Number, err)
	}
	s.Path, s.Title, s.Trail = fields[3], fields[4], fields[5]
	if s.Sections, err = strconv.Atoi(fields[6]); err != nil || s.Sections < 1 || s.Sections > maxSections {
		return fmt.Errorf("search: page %d has %q sections", s.Number, fields[6])
	}
	for _, f := range fields[7:] {
		count, digest, _ := strings.Cut(f, ":")
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 || len(digest) != digestLength {
			return fmt.Errorf("search: page %d ends the run %q", s.Number, f)
		}
		s.runs = append(s.runs, textRun{n, digest})
	}
	return nil
}

// appendOneLine adds a text with each run of white space as one space. A text of
// more than limit bytes ends before them, after a whole character, with an ellipsis.
func appendOneLine(b []byte, s string, limit int) []byte {
	begin := len(b)
	for i := 0; i < len(s) && len(b)-begin <= limit; {
		if size := spaceAt(s, i); size > 0 {
			i += size
			continue
		}
		start := i
		for i++; i < len(s) && (s[i] > ' ' && s[i] < utf8.RuneSelf || spaceAt(s, i) == 0); {
			i++
		}
		if len(b) > begin {
			b = append(b, ' ')
		}
		b = append(b, s[start:i]...)
	}
	if len(b)-begin <= limit {
		return b
	}
	end := limit
	for end > 0 && !utf8.RuneStart(b[begin+end]) {
		end--
	}
	return append(b[:begin+end], "…"...)
}

// spaceAt returns how many bytes the white space at i has; 0 where there is none.
func spaceAt(s string, i int) int {
	if c := s[i]; c < utf8.RuneSelf {
		if c == ' ' || c >= '\t' && c <= '\r' {
			return 1
		}
		return 0
	}
	if r, size := utf8.DecodeRuneInString(s[i:]); unicode.IsSpace(r) {
		return size
	}
	return 0
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
	// most, in thousandths, is what a term's weight in the field comes near to,
	// however often it occurs; 0 means no limit.
	most int
}

var (
	titleField       = field{weight: 14, usual: 3, slope: 60, name: true}
	keywordField     = field{weight: 10, usual: 5, slope: 0, name: true}
	headingField     = field{weight: 7, usual: 4, slope: 50, name: true}
	descriptionField = field{weight: 3, usual: 15, slope: 30}
	trailField       = field{weight: 1, usual: 4, slope: 0}
	// A word in a title is above one that a text repeats.
	bodyField = field{weight: 1, usual: 80, slope: 60, most: 6000}
)

// saturation is the weight at which a section is half about a term, in
// thousandths.
const saturation = 5000

const maxImpact = 63

// impact turns a weight, in thousandths, into a number from 1 to maxImpact. Only
// whole numbers are used, which have no other bytes on another processor.
func impact(weight int) uint8 {
	return uint8(1 + (maxImpact-1)*weight/(weight+saturation))
}

// scorer weighs the terms of one section after another.
type scorer struct {
	scores []score  // by a term's number; all 0 between two sections
	terms  []uint32 // of the section
	fields []uint32 // terms of the field
}

// score is what a section has of a term.
type score struct {
	weight int
	count  int32 // in the field, in halves: parts of a word count half
	name   bool
	used   bool // it is among terms
}

// section calls fn with the terms of a section and their weights, in thousandths,
// in no order.
func (w *scorer) section(x *lexicon, p *Page, sections []Section, i int, fn func(term uint32, weight int, name bool)) {
	s := &sections[i]
	if i == 0 {
		w.add(x, titleField, p.Title)
		w.add(x, keywordField, strings.Join(p.Keywords, "\n"))
		w.add(x, descriptionField, p.Description)
		w.add(x, trailField, strings.Join(p.Trail, "\n"))
		if name := p.Path[strings.LastIndexByte(p.Path, '/')+1:]; name != "index" {
			w.add(x, trailField, name)
		}
	} else {
		w.add(x, headingField, s.Heading)
	}
	w.add(x, bodyField, s.Text)
	for _, t := range w.terms {
		fn(t, w.scores[t].weight, w.scores[t].name)
		w.scores[t] = score{}
	}
	w.terms = w.terms[:0]
}

func (w *scorer) add(x *lexicon, f field, text string) {
	if text == "" {
		return
	}
	length := 0
	x.each(text, f.name, func(term uint32, part bool) {
		for int(term) >= len(w.scores) {
			w.scores = append(w.scores, score{})
		}
		s := &w.scores[term]
		if s.count == 0 {
			w.fields = append(w.fields, term)
		}
		if part {
			s.count++
			return
		}
		length++
		s.count += 2
	})
	norm := f.usual*(100-f.slope) + f.slope*length // hundredths of usual
	for _, t := range w.fields {
		s := &w.scores[t]
		if !s.used {
			s.used, w.terms = true, append(w.terms, t)
		}
		weight := f.weight * int(s.count) * 500 * 100 * f.usual / norm
		if f.most > 0 {
			weight = f.most * weight / (weight + f.most - 1000)
		}
		s.weight += weight
		s.name = s.name || f.name
		s.count = 0
	}
	w.fields = w.fields[:0]
}
