package component

import (
	"bytes"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// Markdown writes Markdown blocks one after another, with a blank line
// between them and the prefixes of the containers (quotes, list items) that
// they stand in at the head of every line.
type Markdown struct {
	Blocks
	b      []byte
	levels []level
	// fresh: nothing was written since the innermost container began.
	fresh bool
	// inLine: the current line has its prefix already.
	inLine bool
	// tight: blocks follow each other without a blank line.
	tight bool
}

type level struct {
	first, rest string
	used        bool
	tight       bool
}

// NewMarkdown makes an empty writer.
func NewMarkdown(w Blocks) *Markdown { return &Markdown{Blocks: w, fresh: true} }

// Bytes ends the last line and returns what was written.
func (m *Markdown) Bytes() []byte {
	m.endLine()
	return m.b
}

// Len returns the number of bytes written so far.
func (m *Markdown) Len() int { return len(m.b) }

// Block begins a new block.
func (m *Markdown) Block() {
	m.endLine()
	if !m.fresh && !m.tight {
		m.barePrefix()
		m.b = append(m.b, '\n')
	}
	m.fresh = false
}

// Write adds text to the current block; every line gets its prefix.
func (m *Markdown) Write(s string) {
	for s != "" {
		line, rest, more := strings.Cut(s, "\n")
		if !m.inLine {
			if line == "" {
				m.barePrefix()
			} else {
				m.prefix()
			}
			m.inLine = true
		}
		m.b = append(m.b, line...)
		if !more {
			return
		}
		m.b = append(m.b, '\n')
		m.inLine = false
		s = rest
	}
}

// Paragraph writes one block.
func (m *Markdown) Paragraph(s string) {
	if strings.TrimSpace(s) == "" {
		return
	}
	m.Block()
	m.Write(s)
}

// maxLevels bounds the containers whose prefixes stand before a line: a few
// bytes of source nest as deep as they like, and each line repeats it all.
const maxLevels = 40

// Push begins a container: first stands before its first line, rest before
// the others. What is nested deeper than maxLevels has the prefixes of that
// depth alone.
func (m *Markdown) Push(first, rest string) {
	m.Block()
	if len(m.levels) >= maxLevels {
		first, rest = "", ""
	}
	m.levels = append(m.levels, level{first: first, rest: rest, tight: m.tight})
	m.fresh, m.tight = true, false
}

// Pop ends the innermost container.
func (m *Markdown) Pop() {
	last := &m.levels[len(m.levels)-1]
	if !last.used {
		m.fresh = false
		m.endLine()
		m.prefix()
		m.inLine = true
	}
	m.endLine()
	m.tight = last.tight
	m.levels = m.levels[:len(m.levels)-1]
	m.fresh = false
}

// SetTight turns blank lines between the blocks of the current container off
// or on and returns what was set before.
func (m *Markdown) SetTight(tight bool) (before bool) {
	before, m.tight = m.tight, tight
	return before
}

// Nodes writes nodes as blocks.
func (m *Markdown) Nodes(nodes []*mdx.Node) { m.WriteNodes(m, nodes) }

// Children writes an element's content as blocks.
func (m *Markdown) Children(e *Element) { m.Nodes(e.Node.Children) }

// say returns a phrase in the page's language.
func (m *Markdown) say(p words.Phrase) string { return words.In(m.Lang()).Say(p) }

// Title returns what an attribute holds as inline Markdown.
func (m *Markdown) Title(e *Element, name string) string {
	if nodes := e.slot(name); nodes != nil {
		return strings.TrimSpace(m.Phrase(nodes))
	}
	text := e.Display(name)
	if text == "" {
		return ""
	}
	nodes := mdx.ParseInline(text)
	for _, n := range nodes {
		mdx.Walk(n, func(n *mdx.Node) bool { // a sign that begins a line means nothing here
			n.Value = strings.ReplaceAll(n.Value, "\n", " ")
			return true
		})
	}
	return strings.Join(strings.Fields(m.Phrase(nodes)), " ")
}

func (m *Markdown) endLine() {
	if m.inLine {
		m.b = append(m.b, '\n')
		m.inLine = false
	}
}

func (m *Markdown) prefix() {
	for i := range m.levels {
		l := &m.levels[i]
		if l.used {
			m.b = append(m.b, l.rest...)
		} else {
			m.b = append(m.b, l.first...)
			l.used = true
		}
	}
}

// barePrefix writes the prefix of a line that has nothing else.
func (m *Markdown) barePrefix() {
	start := len(m.b)
	m.prefix()
	m.b = m.b[:start+len(bytes.TrimRight(m.b[start:], " "))]
}

// bold sets inline Markdown in bold, unless a part of it is already.
func bold(s string) string {
	if strings.Contains(s, "**") {
		return s
	}
	return "**" + s + "**"
}

// AppendMarkdown appends text so that Markdown reads it as that text.
// Characters that can't mean anything where they stand are left alone, so that
// the copy stays readable.
func AppendMarkdown(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		escape := false
		switch c {
		case '$': // two of them begin a formula
			escape = i+1 < len(s) && s[i+1] == '$' || i > 0 && s[i-1] == '$'
		case '\\':
			escape = i+1 == len(s) || isPunct(s[i+1])
		case '`', '[', ']':
			escape = true
		case '*', '~':
			escape = !isSpaceAt(s, i-1) || !isSpaceAt(s, i+1)
		case '_':
			escape = !isWordAt(s, i-1) || !isWordAt(s, i+1)
		case '<':
			escape = i+1 < len(s) && (isLetter(s[i+1]) || s[i+1] == '/' || s[i+1] == '!' || s[i+1] == '?')
		case '&':
			escape = looksLikeReference(s[i:])
		case '#', '+', '-', '>', '=':
			escape = len(b) == 0 || b[len(b)-1] == '\n'
		case '.', ')':
			escape = endsListNumber(b) && isSpaceAt(s, i+1)
		}
		if escape {
			b = append(b, '\\')
		}
		b = append(b, c)
	}
	return b
}

// escapeText returns plain text as inline Markdown.
func escapeText(s string) string {
	return string(AppendMarkdown(nil, strings.Join(strings.Fields(s), " ")))
}

func isSpaceAt(s string, i int) bool {
	return i < 0 || i >= len(s) || s[i] == ' ' || s[i] == '\n' || s[i] == '\t'
}

func isWordAt(s string, i int) bool {
	return i >= 0 && i < len(s) && (isLetter(s[i]) || '0' <= s[i] && s[i] <= '9' || s[i] >= 0x80)
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isPunct(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}

// looksLikeReference reports whether s, which begins with &, would be read as a
// character reference.
func looksLikeReference(s string) bool {
	for i := 1; i < len(s) && i < 34; i++ {
		if s[i] == ';' {
			return i > 1
		}
		if s[i] != '#' && !isWordAt(s, i) {
			return false
		}
	}
	return false
}

// endsListNumber reports whether the current line is digits only so far.
func endsListNumber(b []byte) bool {
	i := len(b)
	for i > 0 && '0' <= b[i-1] && b[i-1] <= '9' {
		i--
	}
	return i < len(b) && len(b)-i <= 9 && (i == 0 || b[i-1] == '\n')
}

// CodeSpan returns s as inline code.
func CodeSpan(s string) string { return string(AppendCodeSpan(nil, s)) }

// AppendCodeSpan appends s as inline code, between more backticks than there
// are in it.
func AppendCodeSpan(b []byte, s string) []byte {
	longest := longestRun(s)
	space := longest > 0 || strings.HasPrefix(s, " ") && strings.HasSuffix(s, " ") && strings.TrimSpace(s) != ""
	for range longest + 1 {
		b = append(b, '`')
	}
	if space {
		b = append(b, ' ')
	}
	b = append(b, s...)
	if space {
		b = append(b, ' ')
	}
	for range longest + 1 {
		b = append(b, '`')
	}
	return b
}

// Fence writes a block of code between fences that are longer than any in it.
// info says its language and more, on one line.
func (m *Markdown) Fence(info, code string) {
	fence := strings.Repeat("`", max(longestRun(code), 2)+1)
	m.Block()
	m.Write(fence + strings.Join(strings.Fields(strings.ReplaceAll(info, "`", "'")), " ") + "\n")
	m.Write(code)
	m.Write("\n" + fence)
}

// longestRun returns the length of the longest run of backticks in s.
func longestRun(s string) int {
	longest, run := 0, 0
	for i := 0; i < len(s); i++ {
		if s[i] == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}
