// Package fonts holds the fonts that a bundle may carry: families under the SIL
// Open Font Licence, cut to the scripts and weights of documentation, as one
// WOFF2 file a script.
//
//	fonts.go     families by name, their files and stand-ins
//	fonts.json   what each file covers, written by the generator
//	widths.go    how wide characters are; widths.bin, written by the generator
//	data/        the files; internal/fontgen in the folder above makes them
//	math/        the font of formulas, with its licence
//	licences/    the licence of each family, which goes into bundles with it
package fonts

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed fonts.json data math licences
var files embed.FS

// Kind is what a family is drawn for.
type Kind string

// Kinds of families.
const (
	Sans  Kind = "sans"
	Serif Kind = "serif"
	Mono  Kind = "mono"
)

// Weights is the range of weights that every file holds, as CSS writes it.
const Weights = "400 700"

// Family is one family of the set.
type Family struct {
	// Family is the name that people know. Name is the one under which pages
	// use it: another where the licence reserves the first for unchanged
	// fonts.
	Family, Name string
	Kind         Kind
	Files        []File
	// Fallback scales fonts that systems have until this one is loaded; nil
	// for Mono, whose widths are alike everywhere.
	Fallback *Fallback
}

// File is one file of a family.
type File struct {
	Name string
	// Style is "normal" or "italic".
	Style string
	// Range is the CSS unicode-range that the file covers.
	Range string
}

// Fallback stands in for a family: each weight by the system's own cut, since
// a bold one drawn from the regular has other widths and moves a title's lines
// when the font comes. The sizes make the prose of Bindery's own documentation
// as wide as in the family, at the weights 400 and 650, shaped with HarfBuzz
// beside Liberation Sans or Serif, whose widths are those of Arial and Times New
// Roman.
type Fallback struct {
	Regular, Bold Metrics
}

// Metrics are the overrides of a stand-in's metrics, in percent: of its size,
// and of the scaled em.
type Metrics struct {
	Size, Ascent, Descent, LineGap float64
}

// Set finds families. It is immutable.
type Set struct{ families []Family }

// Open reads the table of the embedded set.
func Open() (*Set, error) {
	b, err := files.ReadFile("fonts.json")
	if err != nil {
		return nil, fmt.Errorf("fonts: %w", err)
	}
	s := &Set{}
	if err := json.Unmarshal(b, &s.families); err != nil {
		return nil, fmt.Errorf("fonts: fonts.json: %w", err)
	}
	return s, nil
}

// Families are all families, the theme's own first.
func (s *Set) Families() []Family { return s.families }

// Find looks a family up by the name that people know, in any case, with or
// without spaces, hyphens and the word "variable"; names that a family had
// before are known too.
func (s *Set) Find(name string) (*Family, bool) {
	key := plain(name)
	switch key {
	case "sourcesanspro", "sourcesans":
		key = "sourcesans3"
	case "sourceserifpro", "sourceserif":
		key = "sourceserif4"
	case "intervar":
		key = "inter"
	case "geistsans":
		key = "geist"
	}
	for i := range s.families {
		if plain(s.families[i].Family) == key {
			return &s.families[i], true
		}
	}
	return nil, false
}

// plain leaves the letters and digits of a name, without "variable".
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
	return strings.TrimSuffix(name, "variable")
}

// Licence returns the text of a family's licence, with its copyright.
func (f *Family) Licence() ([]byte, error) {
	if len(f.Files) == 0 {
		return nil, fmt.Errorf("fonts: %s has no file", f.Family)
	}
	stem, _, _ := strings.Cut(f.Files[0].Name, "-latin")
	b, err := files.ReadFile("licences/" + stem + ".txt")
	if err != nil {
		return nil, fmt.Errorf("fonts: %w", err)
	}
	return b, nil
}

// Read returns the bytes of a file of the set.
func Read(name string) ([]byte, error) {
	b, err := files.ReadFile("data/" + name)
	if err != nil {
		return nil, fmt.Errorf("fonts: %w", err)
	}
	return b, nil
}

// ReadMath returns the bytes of a file of the font of formulas.
func ReadMath(name string) ([]byte, error) {
	b, err := files.ReadFile("math/" + name)
	if err != nil {
		return nil, fmt.Errorf("fonts: %w", err)
	}
	return b, nil
}
