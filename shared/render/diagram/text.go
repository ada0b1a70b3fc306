package diagram

import (
	"html"
	"strings"
	"sync"
	"unicode"

	"github.com/bindery-docs/bindery/shared/base/lazy"
	"github.com/bindery-docs/bindery/shared/render/theme/fonts"
)

// Sizes of texts in drawings, in pixels.
const (
	textSize   = 13.0
	lineHeight = 17.0
)

// Weights of texts, those of diagram.css.
const (
	plainWeight  = 400 // on links, in rows of classes and entities
	wordWeight   = 500 // in nodes
	strongWeight = 600 // titles
	boldWeight   = 700 // what an author makes bold
)

// monoWidth is how wide a character of the font for code is, by its size.
const monoWidth = 0.6

// face is the font that a site's text is set in. The zero value is one whose
// widths are not known.
type face struct{ widths *fonts.Widths }

var families = sync.OnceValues(fonts.Open)

// faceOf finds the font of a site; "" is the theme's own.
func faceOf(family string) face {
	set, err := families()
	if err != nil {
		return face{}
	}
	f := &set.Families()[0]
	if family != "" {
		var ok bool
		if f, ok = set.Find(family); !ok {
			return face{}
		}
	}
	return face{set.Widths(f)}
}

// width is how wide a line of text is, in pixels.
func (f face) width(s string, weight int) float64 {
	known := 0
	guessed := 0.0
	for _, r := range s {
		if f.widths != nil {
			if w, ok := f.widths.Of(r, weight); ok {
				known += w
				continue
			}
		}
		w := likely(r)
		if weight >= strongWeight {
			w *= 1.06
		}
		guessed += w
	}
	return (float64(known)/1000 + guessed) * textSize
}

// narrow, wide and widest are letters by their width in most fonts; all others
// count as average.
const (
	narrowest = "ijl|'.,:;!`I"
	narrow    = "ftr()[]{}/\\- \"*1"
	wide      = "mw@%&ABCDGHKNOQRUVXY+=<>~→"
	widest    = "MW…—"
)

// likely is how wide a character of an unknown font is, in em, a little more
// rather than less.
func likely(r rune) float64 {
	switch {
	case strings.ContainsRune(narrowest, r):
		return 0.30
	case strings.ContainsRune(narrow, r):
		return 0.41
	case strings.ContainsRune(widest, r):
		return 0.95
	case strings.ContainsRune(wide, r):
		return 0.76
	case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Cf, r):
		return 0
	case r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xd7af || r >= 0xf900 && r <= 0xfaff || r >= 0xff00 && r <= 0xff60 || r >= 0x1f000):
		return 1.05
	case unicode.IsUpper(r):
		return 0.68
	}
	return 0.585
}

var (
	lineBreak = lazy.Regexp(`(?i)<br\s*/?>|\\n`)
	mark      = lazy.Regexp(`(?i)</?(?:a|b|strong|i|em|u|s|del|sub|sup|small|mark|code|span|p|div)(?:\s[^<>]*)?>`)
	charCode  = lazy.Regexp(`#(?:(\d{1,7})|([A-Za-z][A-Za-z0-9]{1,30}));`)
	awesome   = lazy.Regexp(`\bfa[bklrs]?:fa-[\w-]+\s*`)
)

// plain makes a label what its reader sees: quotes around it and marks in it
// go, codes of characters (#35;) become them. Lines are kept apart by \n.
func plain(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 1 && s[0] == '"' && s[len(s)-1] == '"' {
		s = s[1 : len(s)-1]
	}
	if len(s) > 1 && s[0] == '`' && s[len(s)-1] == '`' {
		s = s[1 : len(s)-1]
	}
	return spoken(s)
}

// spoken is plain for texts of sequence diagrams, in which quotes are
// characters like others.
func spoken(s string) string {
	s = strings.TrimSpace(s)
	if strings.ContainsAny(s, "<\\") {
		s = lineBreak().ReplaceAllString(s, "\n")
		s = mark().ReplaceAllString(s, "")
	}
	if strings.Contains(s, "fa") {
		s = awesome().ReplaceAllString(s, "")
	}
	return strings.TrimSpace(decode(s))
}

// decode turns Mermaid's codes of characters, and HTML's, into characters.
func decode(s string) string {
	if strings.Contains(s, "#") {
		s = charCode().ReplaceAllStringFunc(s, func(m string) string {
			name := m[1:]
			if name[0] >= '0' && name[0] <= '9' {
				name = "#" + name
			}
			if c := html.UnescapeString("&" + name); c != "&"+name {
				return c
			}
			return m
		})
	}
	return html.UnescapeString(s)
}

// wrap breaks lines that are wider than limit at spaces; a word that is wider
// alone stays whole.
func (f face) wrap(s string, limit float64, weight int) []string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimSpace(line)
		if f.width(line, weight) <= limit {
			out = append(out, line)
			continue
		}
		at, width := "", 0.0
		for word := range strings.FieldsSeq(line) {
			w := f.width(word, weight)
			if at != "" && width+f.width(" ", weight)+w > limit {
				out = append(out, at)
				at, width = "", 0
			}
			if at != "" {
				at += " "
				width += f.width(" ", weight)
			}
			at += word
			width += w
		}
		out = append(out, at)
	}
	return out
}

func (f face) widestOf(lines []string, weight int) float64 {
	w := 0.0
	for _, l := range lines {
		w = max(w, f.width(l, weight))
	}
	return w
}

// inXML returns s without the characters that XML can't hold.
func inXML(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0xfffe || r == 0xffff || r == 0x7f {
			return -1
		}
		return r
	}, s)
}
