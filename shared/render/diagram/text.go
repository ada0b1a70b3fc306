package diagram

import (
	"html"
	"regexp"
	"strings"
	"unicode"
)

// Sizes of texts in drawings, in pixels.
const (
	textSize   = 13.0
	lineHeight = 17.0
)

// narrow, wide and widest are letters by their width in the fonts that pages
// have; all others count as average.
const (
	narrowest = "ijl|'.,:;!`I"
	narrow    = "ftr()[]{}/\\- \"*1"
	wide      = "mw@%&ABCDGHKNOQRUVXY+=<>~→"
	widest    = "MW…—"
)

// textWidth is how wide a line of text is, a little more rather than less.
func textWidth(s string, bold bool) float64 {
	w := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune(narrowest, r):
			w += 0.30
		case strings.ContainsRune(narrow, r):
			w += 0.41
		case strings.ContainsRune(widest, r):
			w += 0.95
		case strings.ContainsRune(wide, r):
			w += 0.76
		case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Cf, r):
		case r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xd7af || r >= 0xf900 && r <= 0xfaff || r >= 0xff00 && r <= 0xff60 || r >= 0x1f000):
			w += 1.05
		case unicode.IsUpper(r):
			w += 0.68
		default:
			w += 0.585
		}
	}
	if bold {
		w *= 1.06
	}
	return w * textSize
}

var (
	lineBreak = regexp.MustCompile(`(?i)<br\s*/?>|\\n`)
	mark      = regexp.MustCompile(`(?i)</?(?:b|strong|i|em|u|s|del|sub|sup|small|mark|code|span|p|div)(?:\s[^<>]*)?>`)
	charCode  = regexp.MustCompile(`#(?:(\d{1,7})|([A-Za-z][A-Za-z0-9]{1,30}));`)
	awesome   = regexp.MustCompile(`\bfa[bklrs]?:fa-[\w-]+\s*`)
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
		s = lineBreak.ReplaceAllString(s, "\n")
		s = mark.ReplaceAllString(s, "")
	}
	if strings.Contains(s, "fa") {
		s = awesome.ReplaceAllString(s, "")
	}
	return strings.TrimSpace(decode(s))
}

// decode turns Mermaid's codes of characters, and HTML's, into characters.
func decode(s string) string {
	if strings.Contains(s, "#") {
		s = charCode.ReplaceAllStringFunc(s, func(m string) string {
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
func wrap(s string, limit float64, bold bool) []string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimSpace(line)
		if textWidth(line, bold) <= limit {
			out = append(out, line)
			continue
		}
		at, width := "", 0.0
		for word := range strings.FieldsSeq(line) {
			w := textWidth(word, bold)
			if at != "" && width+textWidth(" ", bold)+w > limit {
				out = append(out, at)
				at, width = "", 0
			}
			if at != "" {
				at += " "
				width += textWidth(" ", bold)
			}
			at += word
			width += w
		}
		out = append(out, at)
	}
	return out
}

func widestOf(lines []string, bold bool) float64 {
	w := 0.0
	for _, l := range lines {
		w = max(w, textWidth(l, bold))
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
