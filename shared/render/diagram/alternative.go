package diagram

import "strings"

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
