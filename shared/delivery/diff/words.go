package diff

import (
	"strings"
	"unicode"

	"znkr.io/diff"
)

// words splits a text at its spaces. Scripts that write without spaces have a
// word a character.
func words(text string) []string {
	var list []string
	start := -1
	end := func(i int) {
		if start >= 0 {
			list = append(list, text[start:i])
			start = -1
		}
	}
	for i, r := range text {
		switch {
		case unicode.IsSpace(r):
			end(i)
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			end(i)
			list = append(list, string(r))
		case start < 0:
			start = i
		}
	}
	end(len(text))
	return list
}

// Change is a passage in which two texts differ, with a few words around it.
type Change struct {
	Before  string `json:"before,omitempty"`
	Removed string `json:"removed,omitempty"`
	Added   string `json:"added,omitempty"`
	After   string `json:"after,omitempty"`
}

const (
	// contextWords is how many words are shown around a passage.
	contextWords = 4
	// passageWords is how many words of a passage are shown.
	passageWords = 40
)

// changes returns the first passages, at most most, in which two texts differ,
// and how many words were removed and added in all.
func changes(was, is []string, most int) (list []Change, removed, added int) {
	edits := diff.Edits(was, is)
	for i := 0; i < len(edits); {
		if edits[i].Op == diff.Match {
			i++
			continue
		}
		start := i
		var out, in []string
		for ; i < len(edits) && edits[i].Op != diff.Match; i++ {
			if edits[i].Op == diff.Delete {
				out = append(out, edits[i].X)
			} else {
				in = append(in, edits[i].Y)
			}
		}
		removed, added = removed+len(out), added+len(in)
		if len(list) == most {
			continue
		}
		list = append(list, Change{
			Before: before(edits, start), Removed: passage(out), Added: passage(in), After: after(edits, i),
		})
	}
	return list, removed, added
}

// before joins the words that both texts have right before an edit, and after
// those from one on.
func before(edits []diff.Edit[string], at int) string {
	from := at
	for from > 0 && at-from < contextWords && edits[from-1].Op == diff.Match {
		from--
	}
	return after(edits[:at], from)
}

func after(edits []diff.Edit[string], at int) string {
	var list []string
	for ; at < len(edits) && len(list) < contextWords && edits[at].Op == diff.Match; at++ {
		list = append(list, edits[at].X)
	}
	return strings.Join(list, " ")
}

func passage(list []string) string {
	if len(list) > passageWords {
		list = append(list[:passageWords:passageWords], "…")
	}
	return strings.Join(list, " ")
}

// terms adds the words of a text to a set as a reader searches for them: letters
// and digits, in lower case.
func terms(set map[string]struct{}, text string) {
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }) {
		set[strings.ToLower(w)] = struct{}{}
	}
}
