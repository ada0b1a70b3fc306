package page

import (
	"bytes"
	"strconv"
	"strings"
)

// wordMark is a word that stands out in some lines of a block of code.
type wordMark struct {
	word string
	// from and to are the first and the last line, counted from 1.
	from, to int
}

// maxWords bounds the different words that stand out in one block.
const maxWords = 50

// annotations takes comments such as "// [!code ++]" out of code and marks
// what they say of their lines. A comment on a line of its own speaks of the
// lines below it. Languages without comments keep them: there they are what a
// reader is to see.
func (f *fence) annotations(code string) string {
	if !strings.Contains(code, "[!code ") {
		return code
	}
	switch strings.ToLower(f.lang) {
	case "", "text", "txt", "plaintext", "plain", "md", "markdown":
		return code
	}
	var out []string
	for line := range strings.SplitSeq(code, "\n") {
		rest := line
		// A line may have more than one.
		var kinds []string
		for range 8 {
			next, kind, ok := annotation(rest)
			if !ok {
				break
			}
			rest = next
			kinds = append(kinds, kind)
		}
		first := len(out) + 1
		for _, kind := range kinds {
			f.annotate(kind, first)
		}
		if len(kinds) == 0 || strings.TrimSpace(rest) != "" {
			out = append(out, rest)
		}
	}
	return strings.Join(out, "\n")
}

// annotate marks what one annotation says, which speaks of this line and those
// that follow.
func (f *fence) annotate(kind string, first int) {
	name, count, _ := strings.Cut(kind, ":")
	if name == "word" {
		word, count, counted := lastCut(count)
		to := maxMarkedLine
		if counted {
			to = first + count - 1
		}
		if word == "" {
			return
		}
		for i := range f.words { // twice in one line, a word would be marked twice
			if w := &f.words[i]; w.word == word && w.to >= first {
				w.to = max(w.to, to)
				return
			}
		}
		if len(f.words) < maxWords {
			f.words = append(f.words, wordMark{word, first, to})
		}
		return
	}
	lines, err := strconv.Atoi(strings.TrimSpace(count))
	if err != nil || lines < 1 || lines > maxMarkedLine {
		lines = 1
	}
	m := mark(0)
	switch name {
	case "++", "add":
		m = markAdded
	case "--", "remove":
		m = markRemoved
	case "highlight", "hl", "info":
		m = markHighlight
	case "warning":
		m = markWarning
	case "error":
		m = markError
	case "focus":
		m = markFocus
	default:
		return
	}
	f.mark(first, first+lines-1, m)
}

// lastCut splits "word:3" into word and number.
func lastCut(s string) (word string, count int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i >= 0 {
		if n, err := strconv.Atoi(s[i+1:]); err == nil && n >= 1 && n <= maxMarkedLine {
			return unescapeColons(s[:i]), n, true
		}
	}
	return unescapeColons(s), 0, false
}

func unescapeColons(s string) string { return strings.ReplaceAll(s, `\:`, ":") }

// annotation splits a line into its code and what its annotation says.
func annotation(line string) (rest, kind string, ok bool) {
	start := strings.Index(line, "[!code ")
	if start < 0 {
		return "", "", false
	}
	end := strings.IndexByte(line[start:], ']')
	if end < 0 {
		return "", "", false
	}
	kind = strings.TrimSpace(line[start+len("[!code ") : start+end])
	before, after := line[:start], strings.TrimLeft(line[start+end+1:], " \t")
	if strings.HasPrefix(after, "[!code ") {
		return before + after, kind, true // the next one takes the comment with it
	}
	trimmed := strings.TrimRight(before, " \t")
	for _, open := range []string{"{/*", "<!--", "//", "/*", "--", "##", "#", ";;", ";", "%%", "%", "'", "\""} {
		if cut, found := strings.CutSuffix(trimmed, open); found {
			before = strings.TrimRight(cut, " \t")
			for _, end := range []string{"*/}", "-->", "*/"} {
				if cut, found := strings.CutPrefix(after, end); found {
					after = cut
					break
				}
			}
			return before + after, kind, true
		}
	}
	return "", "", false
}

// markWord wraps each occurrence of a word in a line's HTML. Tags that stand
// in the middle of one split the mark, so that what comes out nests. room is how
// many bytes of the block's code may still stand in marks: at first all that it
// has. Words within words would else make something huge of a few letters.
func markWord(line []byte, word string, room *int) []byte {
	type char struct{ from, to int } // of one byte of text
	var text []byte
	var at []char
	for i := 0; i < len(line); {
		switch line[i] {
		case '<':
			end := bytes.IndexByte(line[i:], '>')
			if end < 0 {
				return line
			}
			i += end + 1
			continue
		case '&':
			if end := bytes.IndexByte(line[i:], ';'); end > 0 {
				c := byte(0)
				switch string(line[i+1 : i+end]) {
				case "lt":
					c = '<'
				case "gt":
					c = '>'
				case "amp":
					c = '&'
				case "quot", "#34":
					c = '"'
				case "#39", "apos":
					c = '\''
				}
				text = append(text, c)
				at = append(at, char{i, i + end + 1})
				i += end + 1
				continue
			}
		}
		text = append(text, line[i])
		at = append(at, char{i, i + 1})
		i++
	}
	if !bytes.Contains(text, []byte(word)) {
		return line
	}
	const open, end = `<mark class="bdy-code-word">`, `</mark>`
	out := make([]byte, 0, len(line)+len(open)+len(end))
	done := 0
	for i := 0; ; {
		k := bytes.Index(text[i:], []byte(word))
		if k < 0 || *room <= 0 {
			return append(out, line[done:]...)
		}
		*room -= len(word)
		i += k
		for j := i; j < i+len(word); {
			run := j + 1
			for run < i+len(word) && at[run].from == at[run-1].to {
				run++
			}
			out = append(append(out, line[done:at[j].from]...), open...)
			out = append(append(out, line[at[j].from:at[run-1].to]...), end...)
			done = at[run-1].to
			j = run
		}
		i += len(word)
	}
}
