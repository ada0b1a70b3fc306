package page

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/highlight"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// fence is what stands behind the ``` of a block of code.
type fence struct {
	lang, title, icon string
	// numbers: lines are numbered. wrap: long lines are wrapped. expandable:
	// a long block is folded.
	numbers, wrap, expandable bool
	// marks tells what is special about some lines.
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
			b = append(append(b, " line-"...), class...)
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

// lineMarks gives the marks of each of so many lines. Its work grows with the
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

// codeBlock appends a block of code; n is the fence, or nil where a component
// asks. Lines are marked up one by one only where something is special about
// one of them: it triples the size of the block.
func (s *state) codeBlock(b []byte, n *mdx.Node, c component.Code) []byte {
	f := parseFence(c.Lang, c.Meta)
	if c.Title != "" {
		f.title = c.Title
	}
	live := false
	if isDiagram(f.lang) {
		var drawn bool
		if b, drawn, live = s.diagram(b, n, f.title, c.Value); drawn {
			return b
		}
	}
	s.codeLanguage(n, f.lang)
	code := f.annotations(strings.ReplaceAll(c.Value, "\r\n", "\n"))
	if s.r.site.Config.Styling.DarkCode {
		b = append(b, `<div class="code-block dark"`...) // its colours are those of dark pages
	} else {
		b = append(b, `<div class="code-block"`...)
	}
	if live {
		b = append(b, " data-mermaid"...)
	}
	if f.lang != "" {
		b = html.AppendAttr(b, "data-lang", f.lang)
	}
	b = append(b, '>')
	if icon := s.codeIcon(n, f.icon); f.title != "" || icon != "" {
		b = append(b, `<div class="code-title">`...)
		if icon != "" {
			b = append(append(append(b, `<span class="code-icon">`...), icon...), "</span>"...)
		}
		b = html.AppendText(b, f.title)
		b = append(b, "</div>"...)
	}
	// It takes the focus, so that the keyboard can scroll it; a group may have
	// a name.
	b = append(b, `<pre tabindex="0" role="group"`...)
	label := s.say(words.Code)
	if name := cmp.Or(f.title, f.lang); name != "" {
		label += ": " + name
	}
	b = html.AppendAttr(b, "aria-label", label)
	classes := f.classes()
	if len(classes) > 0 {
		b = html.AppendAttr(b, "class", strings.Join(classes, " "))
	}
	b = append(b, "><code>"...)
	switch {
	case f.numbers || len(f.marks) > 0 || len(f.words) > 0:
		b = s.codeLines(b, &f, code)
	case s.r.code == nil:
		b = html.AppendText(b, code)
	default:
		b = highlight.AppendHTML(b, code, s.r.code.Runs(f.lang, code))
	}
	return append(b, "</code></pre></div>\n"...)
}

// codeLanguage reports a language that the highlighter doesn't know, once a
// page. Its code is shown in one colour.
func (s *state) codeLanguage(n *mdx.Node, lang string) {
	if lang == "" || n == nil || s.r.code == nil {
		return
	}
	if _, known := s.r.code.Language(lang); !known {
		s.reportOnce(n, "code-language "+lang, n.Pos, "code-language", "code is shown in one colour: no language is called "+excerpt(lang))
	}
}

// codeIcon draws the icon before a block's title, "" for none.
func (s *state) codeIcon(n *mdx.Node, name string) string {
	if name == "" || s.r.icons == nil {
		return ""
	}
	svg, ok := s.r.icons.Icon(name, s.r.site.Config.Icons.Library, "")
	if !ok && n != nil {
		s.report(s.fileOf(n), n.Pos, mdx.Warning, "icon-unknown", "no icon is called "+name)
	}
	return svg
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
		if m.mark&markFocus != 0 {
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
			lines = append(lines, html.AppendText(nil, line))
		}
	}
	s.lines = lines
	marks := f.lineMarks(len(lines))
	room := len(code)
	for i, line := range lines {
		if i > 0 {
			b = append(b, '\n')
		}
		b = marks[i].appendClasses(append(b, `<span class="line`...))
		b = append(b, `">`...)
		line = bytes.TrimRight(line, "\n")
		for _, w := range f.words {
			if w.from <= i+1 && i+1 <= w.to {
				line = markWord(line, w.word, &room)
			}
		}
		b = append(b, line...)
		b = append(b, "</span>"...)
	}
	return b
}
