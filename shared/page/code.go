package page

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/component"
	"github.com/bindery-docs/bindery/shared/highlight"
)

// fence is what stands behind the ``` of a block of code.
type fence struct {
	lang, title string
	// numbers: lines are numbered. wrap: long lines are wrapped. expandable:
	// a long block is folded.
	numbers, wrap, expandable bool
	// marks tells what is special about single lines, by their number from 1.
	marks map[int]mark
}

type mark uint8

const (
	markHighlight mark = 1 << iota
	markFocus
	markAdded
	markRemoved
)

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
		case word == "lines" || word == "showLineNumbers":
			f.numbers = true
		case word == "wrap":
			f.wrap = true
		case word == "expandable":
			f.expandable = true
		case word == "twoslash" || word == "diff" || word == "icon" || word == "highlight" || word == "focus" || word == "copy":
		default:
			words = append(words, unquote(word))
		}
	}
	if f.title == "" {
		f.title = strings.Join(words, " ")
	}
	return f
}

// option takes one name=value of a fence.
func (f *fence) option(name, value string) {
	value = unquote(value)
	on := value != "false"
	switch name {
	case "title", "filename", "name", "label":
		f.title = value
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
		for line := a; line <= b; line++ {
			f.mark(line, m)
		}
	}
}

func (f *fence) mark(line int, m mark) {
	if f.marks == nil {
		f.marks = map[int]mark{}
	}
	f.marks[line] |= m
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

// annotations takes comments such as "// [!code ++]" out of code and marks
// their lines.
func (f *fence) annotations(code string) string {
	if !strings.Contains(code, "[!code ") {
		return code
	}
	var out []string
	for line := range strings.SplitSeq(code, "\n") {
		rest, kind, ok := annotation(line)
		if !ok {
			out = append(out, line)
			continue
		}
		name, count, _ := strings.Cut(kind, ":")
		lines, err := strconv.Atoi(count)
		if err != nil || lines < 1 || lines > maxMarkedLine {
			lines = 1
		}
		m := mark(0)
		switch name {
		case "++", "add":
			m = markAdded
		case "--", "remove":
			m = markRemoved
		case "highlight", "hl", "word", "warning", "error", "info":
			m = markHighlight
		case "focus":
			m = markFocus
		}
		first := len(out) + 1
		if strings.TrimSpace(rest) != "" {
			out = append(out, rest)
		}
		for i := range lines {
			if m != 0 {
				f.mark(first+i, m)
			}
		}
	}
	return strings.Join(out, "\n")
}

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
	trimmed := strings.TrimRight(before, " \t")
	for _, open := range []string{"{/*", "<!--", "//", "/*", "--", "#", ";", "%"} {
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

// codeBlock appends a block of code. Lines are marked up one by one only where
// something is special about one of them: it triples the size of the block.
func (s *state) codeBlock(b []byte, c component.Code) []byte {
	f := parseFence(c.Lang, c.Meta)
	if c.Title != "" {
		f.title = c.Title
	}
	code := f.annotations(strings.ReplaceAll(c.Value, "\r\n", "\n"))
	b = append(b, `<div class="code-block"`...)
	if f.lang != "" {
		b = component.AppendAttr(b, "data-lang", f.lang)
	}
	b = append(b, '>')
	if f.title != "" {
		b = append(b, `<div class="code-title">`...)
		b = component.AppendText(b, f.title)
		b = append(b, "</div>"...)
	}
	b = append(b, `<pre tabindex="0"`...)
	classes := f.classes()
	if len(classes) > 0 {
		b = component.AppendAttr(b, "class", strings.Join(classes, " "))
	}
	b = append(b, "><code>"...)
	switch {
	case f.numbers || len(f.marks) > 0:
		b = s.codeLines(b, &f, code)
	case s.r.code == nil:
		b = component.AppendText(b, code)
	default:
		b = highlight.AppendHTML(b, code, s.r.code.Runs(f.lang, code))
	}
	return append(b, "</code></pre></div>\n"...)
}

func (f *fence) classes() []string {
	var classes []string
	if f.numbers {
		classes = append(classes, "code-numbers")
	}
	if f.wrap {
		classes = append(classes, "code-wrap")
	}
	if f.expandable {
		classes = append(classes, "code-expandable")
	}
	for _, m := range f.marks {
		if m&markFocus != 0 {
			return append(classes, "code-focus")
		}
	}
	return classes
}

func (s *state) codeLines(b []byte, f *fence, code string) []byte {
	lines := s.lines[:0]
	if s.r.code != nil {
		lines = s.r.code.AppendLines(lines, f.lang, code)
	} else {
		for line := range strings.SplitSeq(code, "\n") {
			lines = append(lines, component.AppendText(nil, line))
		}
	}
	s.lines = lines
	for i, line := range lines {
		if i > 0 {
			b = append(b, '\n')
		}
		b = append(b, `<span class="line`...)
		m := f.marks[i+1]
		if m&markHighlight != 0 {
			b = append(b, " line-highlight"...)
		}
		if m&markFocus != 0 {
			b = append(b, " line-focus"...)
		}
		if m&markAdded != 0 {
			b = append(b, " line-added"...)
		}
		if m&markRemoved != 0 {
			b = append(b, " line-removed"...)
		}
		b = append(b, `">`...)
		b = append(b, bytes.TrimRight(line, "\n")...)
		b = append(b, "</span>"...)
	}
	return b
}
