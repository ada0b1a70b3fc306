package script

import (
	"encoding/xml"
	"strings"
)

// lines says a sequence in words: who says what to whom, by frames. Signs stand
// for words, so that it is in the author's language alone.
func (s *sequence) lines() []Line {
	var out []Line
	add := func(depth int, text string) {
		out = append(out, Line{depth, strings.Join(strings.Fields(text), " ")})
	}
	var walk func(items []item, depth int)
	walk = func(items []item, depth int) {
		for k := range items {
			it := &items[k]
			from, to := s.actors[it.from].label, s.actors[it.to].label
			switch it.kind {
			case message:
				sign := " → "
				if it.both {
					sign = " ↔ "
				}
				text := from + sign + to
				if it.text != "" {
					text += ": " + it.text
				}
				add(depth, text)
			case note:
				who := from
				if it.to != it.from {
					who += ", " + to
				}
				add(depth, "("+who+") "+it.text)
			case frame:
				for i := range it.parts {
					inner := depth
					if it.word != "rect" {
						add(depth, strings.TrimSpace(it.parts[i].word+" "+bracketed(it.parts[i].label)))
						inner++
					}
					walk(it.parts[i].items, inner)
				}
			}
		}
	}
	walk(s.items, 0)
	return out
}

func bracketed(s string) string {
	if s == "" {
		return ""
	}
	return "[" + s + "]"
}

// graphLines says a graph in words: its links and notes, or if it has none, its
// labels.
func graphLines(g *drawnGraph, svg []byte) []Line {
	var out []Line
	for _, e := range g.Edges {
		if len(e) != 4 {
			continue
		}
		sign := " → "
		if e[3] == "both" {
			sign = " ↔ "
		}
		text := plain(e[0]) + sign + plain(e[2])
		if e[1] != "" {
			text += ": " + plain(e[1])
		}
		out = append(out, Line{Text: strings.Join(strings.Fields(text), " ")})
	}
	for _, n := range g.Notes {
		if len(n) == 2 {
			out = append(out, Line{Text: strings.Join(strings.Fields("("+plain(n[0])+") "+plain(n[1])), " ")})
		}
	}
	if len(out) > 0 {
		return out
	}
	dec := xml.NewDecoder(strings.NewReader("<svg>" + strings.ReplaceAll(string(svg), "\x00", "") + "</svg>"))
	text, within := "", false
	for {
		tok, err := dec.RawToken()
		if err != nil {
			return out
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if t.Name.Local == "text" {
				text, within = "", true
			} else if t.Name.Local == "tspan" && attr(t, "x") != "" {
				text += " "
			}
		case xml.CharData:
			if within {
				text += string(t)
			}
		case xml.EndElement:
			if t.Name.Local == "text" {
				within = false
				if text = strings.Join(strings.Fields(text), " "); text != "" {
					out = append(out, Line{Text: text})
				}
			}
		}
	}
}
