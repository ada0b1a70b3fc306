// Package icons finds icons by name in Font Awesome Free, Lucide and Tabler and
// writes them as inline SVG.
//
//	icons.go    Set: names, styles, the order of libraries
//	aliases.go  names that no free library has, and what stands in for them
//	pro.go      names of Font Awesome Pro, by its table pro.txt and by their words
//	archive.go  the files under data/, made by ../internal/icongen
//
// The licences of the libraries are in licences/ and go into bundles.
package icons

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

var (
	//go:embed data/fontawesome.bin
	fontawesomeFile []byte
	//go:embed data/lucide.bin
	lucideFile []byte
	//go:embed data/tabler.bin
	tablerFile []byte
	//go:embed licences
	licences embed.FS
)

// Libraries, as docs.json names them in icons.library.
const (
	FontAwesome = "fontawesome"
	Lucide      = "lucide"
	Tabler      = "tabler"
)

// Set is the three libraries. It is safe for concurrent use, and cheap: drawings
// are decompressed as they are asked for.
type Set struct {
	fontawesome, lucide, tabler library

	wordsOnce sync.Once
	words     map[string]bool // of Font Awesome's names, see wordsKnown
	namesOnce sync.Once
	names     []string // all, see Names

	mu   sync.RWMutex
	seen map[[3]string]string // what SVG was asked → its answer, "" for none
}

// New returns the set.
func New() *Set {
	s := &Set{seen: map[[3]string]string{}}
	s.fontawesome.file, s.lucide.file, s.tabler.file = fontawesomeFile, lucideFile, tablerFile
	return s
}

// Names returns the names of all icons, sorted. It reads all libraries the first time,
// and the caller must not change it.
func (s *Set) Names() []string {
	s.namesOnce.Do(func() {
		set := map[string]struct{}{}
		for _, l := range [...]*library{&s.fontawesome, &s.lucide, &s.tabler} {
			l.add(set)
		}
		s.names = slices.Sorted(maps.Keys(set))
	})
	return s.names
}

// Licences returns the texts of the libraries' licences, with their copyrights.
func Licences() ([]byte, error) {
	var out []byte
	for _, library := range []string{FontAwesome, Lucide, Tabler} {
		b, err := licences.ReadFile("licences/" + library + ".txt")
		if err != nil {
			return nil, fmt.Errorf("icons: %w", err)
		}
		out = append(append(out, b...), '\n')
	}
	return out, nil
}

// maxSeen bounds the answers that are kept: names come from pages.
const maxSeen = 4096

// SVG returns an icon as an inline <svg>, as large as the text around it and
// in its colour, hidden from screen readers. Library is tried first, then the
// others; empty or unknown means FontAwesome. Style is one of Font Awesome
// ("solid", "regular", "brands") or "filled"; a style that the icon has not is
// ignored, as are the styles of Font Awesome Pro. Names are found whatever
// their case and with the prefixes that libraries use in class names.
func (s *Set) SVG(name, library, style string) (svg string, ok bool) {
	key := [3]string{name, library, style}
	s.mu.RLock()
	svg, ok = s.seen[key]
	s.mu.RUnlock()
	if ok {
		return svg, svg != ""
	}
	svg = s.find(name, library, style)
	s.mu.Lock()
	if len(s.seen) < maxSeen {
		s.seen[key] = svg
	}
	s.mu.Unlock()
	return svg, svg != ""
}

// maxName is longer than any name there is.
const maxName = 80

func (s *Set) find(name, library, style string) string {
	if len(name) > maxName {
		return ""
	}
	library, style = strings.ToLower(library), strings.ToLower(style)
	if lib, rest, ok := strings.Cut(name, ":"); ok {
		switch lib = strings.ToLower(strings.TrimSpace(lib)); lib {
		case FontAwesome, Lucide, Tabler:
			library, name = lib, rest
		}
	}
	var candidates []string
	plain, prefixStyle := normalise(name)
	if prefixStyle != "" && style == "" {
		style = prefixStyle
	}
	candidates = append(candidates, plain)
	if k := kebab(name); k != plain {
		candidates = append(candidates, k)
	}
	for _, n := range candidates {
		if n == "" {
			continue
		}
		if svg := s.inLibraries(n, library, style); svg != "" {
			return svg
		}
	}
	for _, n := range candidates {
		if to, ok := alias(n); ok {
			lib, target, _ := strings.Cut(to, ":")
			if svg := s.inLibraries(target, lib, style); svg != "" {
				return svg
			}
		}
	}
	if library == Lucide || library == Tabler {
		return "" // the names of Pro are no names of theirs
	}
	for _, n := range candidates {
		if to, ok := s.standIn(n); ok {
			lib, target, _ := strings.Cut(to, ":")
			if svg := s.inLibraries(target, lib, style); svg != "" {
				return svg
			}
		}
	}
	return ""
}

// inLibraries looks in the wanted library, then in the others.
func (s *Set) inLibraries(name, library, style string) string {
	order := [...]string{FontAwesome, Lucide, Tabler}
	switch library {
	case Lucide:
		order = [...]string{Lucide, Tabler, FontAwesome}
	case Tabler:
		order = [...]string{Tabler, Lucide, FontAwesome}
	}
	for _, lib := range order {
		if svg := s.in(lib, name, style); svg != "" {
			return svg
		}
	}
	return ""
}

func (s *Set) in(lib, name, style string) string {
	switch lib {
	case FontAwesome:
		for _, st := range [...]string{style, "solid", "brands", "regular"} {
			if st == "" {
				continue
			}
			if e := s.fontawesome.entry(name + ":" + st); e != "" {
				return draw(e)
			}
		}
	case Lucide:
		return draw(s.lucide.entry(name))
	case Tabler:
		if style == "filled" || style == "solid" {
			if e := s.tabler.entry(name + ":filled"); e != "" {
				return draw(e)
			}
		}
		// "heart-filled" is how Tabler names the file.
		if base, ok := strings.CutSuffix(name, "-filled"); ok {
			if e := s.tabler.entry(base + ":filled"); e != "" {
				return draw(e)
			}
		}
		return draw(s.tabler.entry(name))
	}
	return ""
}

// entry follows a name that moved; names move once.
func (l *library) entry(name string) string {
	e, _ := l.get(name)
	if strings.HasPrefix(e, "=") {
		e, _ = l.get(e[1:])
	}
	return e
}

// draw makes the element. The first byte of an entry is its kind: s stroked and
// f filled on a grid of 24, v filled with a view box of its own.
func draw(e string) string {
	if e == "" {
		return ""
	}
	switch e[0] {
	case 's':
		return `<svg class="icon bdy-icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">` + e[1:] + `</svg>`
	case 'f':
		return `<svg class="icon bdy-icon" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true">` + e[1:] + `</svg>`
	case 'v':
		if box, body, ok := strings.Cut(e[1:], "|"); ok {
			return `<svg class="icon bdy-icon" viewBox="` + box + `" fill="currentColor" aria-hidden="true">` + body + `</svg>`
		}
	}
	return ""
}

// normalise reads a name as people write it: "GitHub", "fa-solid fa-book",
// "fas fa-book", "lucide:book", "icon-tabler-book". It also returns the style
// that a class name of Font Awesome says.
func normalise(name string) (plain, style string) {
	for _, word := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == ' ' || r == ':' || r == '\t' || r == '\n' }) {
		switch word {
		case "fas", "fa-solid":
			style = "solid"
		case "far", "fa-regular":
			style = "regular"
		case "fab", "fa-brands":
			style = "brands"
		case "fa":
			if plain == "" {
				plain = word // it may be the name itself
			}
		default:
			word = strings.TrimPrefix(word, "icon-tabler-")
			word = strings.TrimPrefix(word, "lucide-")
			word = strings.TrimPrefix(word, "fa-")
			word = strings.ReplaceAll(word, "_", "-")
			if plain == "" || plain == "fa" {
				plain = word
			} else {
				plain += "-" + word
			}
		}
	}
	return plain, style
}

// kebab reads the names of React components: MessageCircle is message-circle.
func kebab(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		upper := c >= 'A' && c <= 'Z'
		digit := c >= '0' && c <= '9'
		if i > 0 && (upper || digit) {
			p := name[i-1]
			if p >= 'a' && p <= 'z' || upper && p >= '0' && p <= '9' {
				b.WriteByte('-')
			}
		}
		if upper {
			c += 'a' - 'A'
		}
		if c == '_' || c == ' ' {
			c = '-'
		}
		b.WriteByte(c)
	}
	return b.String()
}
