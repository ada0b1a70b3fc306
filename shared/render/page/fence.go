package page

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// fence is what stands after the ``` of a block of code.
type fence struct {
	lang, title, icon string
	// numbers: lines are numbered. wrap: long lines are wrapped. expandable:
	// a long block is folded. noCopy: there is no button to copy it. types: the
	// author wants types to be shown, which are not known. still: a drawing has no
	// buttons to zoom. placement: the author says where these stand.
	numbers, wrap, expandable, noCopy, types, still, placement bool
	// marks are what is special about some lines.
	marks []lineMark
	// words stand out wherever they occur in some lines.
	words []wordMark
}

// lineMark is what is special about the lines from one number to another, both
// counted from 1.
type lineMark struct {
	from, to int
	mark     mark
}

type mark uint8

const (
	markHighlight mark = 1 << iota
	markFocus
	markAdded
	markRemoved
	markWarning
	markError
)

// appendClasses appends the class of each mark.
func (m mark) appendClasses(b []byte) []byte {
	for i, class := range [...]string{"highlight", "focus", "added", "removed", "warning", "error"} {
		if m&(1<<i) != 0 {
			b = append(append(b, " bdy-line-"...), class...)
		}
	}
	return b
}

// parseFence reads language and meta of a fence in all the forms that authors
// write: a title as bare words or as title="…", marked lines as {1,3-5} or
// highlight={…}, and flags.
func parseFence(lang, meta string) fence {
	f := fence{lang: lang}
	if i := strings.IndexAny(lang, "{="); i >= 0 {
		// ```js{1,3} and ```title="…": the parser ends the language at white
		// space only.
		if lang[i] == '{' {
			f.lang, meta = lang[:i], lang[i:]+" "+meta
		} else {
			f.lang, meta = "", lang+" "+meta
		}
	}
	if f.lang == "nocopy" {
		f.lang, f.noCopy = "", true
	}
	var words []string
	for word := range fenceWords(meta) {
		key, value, pair := strings.Cut(word, "=")
		switch {
		case word[0] == '{':
			inner := strings.TrimSuffix(word[1:], "}")
			if name, list, ok := strings.Cut(inner, "="); ok {
				f.option(name, list)
			} else {
				f.markLines(inner, markHighlight)
			}
		case pair && isPath(key):
			f.option(key, value)
		case word == "lines" || word == "showLineNumbers" || word == "wrap" || word == "expandable" || word == "nocopy" || word == "noCopy" || word == "twoslash":
			f.option(word, "")
		case word == "diff" || word == "icon" || word == "highlight" || word == "focus" || word == "copy":
		default:
			words = append(words, unquote(word))
		}
	}
	f.title = cmp.Or(f.title, strings.Join(words, " "))
	return f
}

// option takes one name=value of a fence.
func (f *fence) option(name, value string) {
	value = unquote(value)
	on := value != "false"
	switch name {
	case "title", "filename", "name", "label":
		f.title = value
	case "icon":
		f.icon = value
	case "highlight", "mark":
		f.markLines(value, markHighlight)
	case "focus":
		f.markLines(value, markFocus)
	case "lines", "showLineNumbers":
		f.numbers = on
	case "wrap":
		f.wrap = on
	case "expandable":
		f.expandable = on
	case "nocopy", "noCopy":
		f.noCopy = on
	case "twoslash":
		f.types = on
	case "actions":
		f.still = !on
	case "placement":
		f.placement = true
	}
}

// maxMarkedLine bounds the numbers in {1-1000000000}.
const maxMarkedLine = 100_000

// markLines reads a list such as 1,3-5.
func (f *fence) markLines(list string, m mark) {
	for part := range strings.SplitSeq(strings.Trim(list, "{}[] "), ",") {
		from, to, ranged := strings.Cut(strings.TrimSpace(part), "-")
		a, err := strconv.Atoi(strings.TrimSpace(from))
		if err != nil || a < 1 || a > maxMarkedLine {
			continue
		}
		b := a
		if ranged {
			if b, err = strconv.Atoi(strings.TrimSpace(to)); err != nil || b > maxMarkedLine {
				continue
			}
		}
		f.mark(a, b, m)
	}
}

func (f *fence) mark(from, to int, m mark) {
	if from <= to {
		f.marks = append(f.marks, lineMark{from, to, m})
	}
}

// lineMarks returns the marks of each line. Its work grows with the
// marks and with the lines, not with how many lines each mark names.
func (f *fence) lineMarks(lines int) []mark {
	const kinds = 6
	begin := make([][kinds]int32, lines+2) // marks that begin at a line, less those that end before it
	for _, m := range f.marks {
		for k := range kinds {
			if m.mark&(1<<k) != 0 && m.from <= lines {
				begin[m.from][k]++
				begin[min(m.to, lines)+1][k]--
			}
		}
	}
	out := make([]mark, lines)
	var open [kinds]int32
	for i := range out {
		for k := range kinds {
			if open[k] += begin[i+1][k]; open[k] > 0 {
				out[i] |= 1 << k
			}
		}
	}
	return out
}

// kept returns code without the lines that are marked as removed, for those who
// copy it. Where there is no other line, it is all of it.
func (f *fence) kept(code string) string {
	if !slices.ContainsFunc(f.marks, func(m lineMark) bool { return m.mark&markRemoved != 0 }) {
		return code
	}
	lines := strings.Split(code, "\n")
	marks, left := f.lineMarks(len(lines)), lines[:0]
	for i, line := range lines {
		if marks[i]&markRemoved == 0 {
			left = append(left, line)
		}
	}
	if text := strings.Join(left, "\n"); strings.TrimSpace(text) != "" {
		return text
	}
	return code
}

// fenceWords yields the words of a meta string; white space within quotes and
// braces does not end a word.
func fenceWords(meta string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start, depth := -1, 0
		var quote byte
		for i := 0; i < len(meta); i++ {
			c := meta[i]
			space := c == ' ' || c == '\t' || c == '\n'
			switch {
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case (c == '"' || c == '\'') && (depth > 0 || i > 0 && meta[i-1] == '=' || start < 0) && strings.IndexByte(meta[i+1:], c) >= 0:
				quote = c
			case c == '{':
				depth++
			case c == '}' && depth > 0:
				depth--
			case space && depth == 0:
				if start >= 0 {
					if !yield(meta[start:i]) {
						return
					}
					start = -1
				}
				continue
			}
			if start < 0 && !space {
				start = i
			}
		}
		if start >= 0 {
			yield(meta[start:])
		}
	}
}

func unquote(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && s[0] == '{' && s[len(s)-1] == '}' {
		s = strings.TrimSpace(s[1 : len(s)-1])
	}
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		s = s[1 : len(s)-1]
	}
	return s
}
