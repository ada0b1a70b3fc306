package component

import "strings"

// A phrase is the text of an attribute, such as a title or a caption. Authors
// write **bold**, *italic*, ~~struck~~, `code` and [links](/page) in it; all
// else is text. A backslash takes a sign's meaning away.

// maxPhrase bounds the text that is read so, in bytes; longer text is plain.
const maxPhrase = 8 << 10

// maxPhraseDepth bounds the marks within marks: each level is read once more.
const maxPhraseDepth = 4

type spanKind uint8

const (
	spanText spanKind = iota
	spanCode
	spanStrong
	spanEmphasis
	spanDelete
	spanLink
)

// span is a part of a phrase: text, or marks around other parts.
type span struct {
	kind spanKind
	// text is what spanText and spanCode show.
	text string
	// href is where spanLink leads.
	href  string
	inner []span
}

// marks are the signs around a span, the longer ones first.
var marks = [...]struct {
	sign string
	kind spanKind
}{{"**", spanStrong}, {"__", spanStrong}, {"~~", spanDelete}, {"*", spanEmphasis}, {"_", spanEmphasis}}

// parsePhrase reads a phrase.
func parsePhrase(s string) []span {
	if len(s) > maxPhrase || !strings.ContainsAny(s, "*_~`[\\") {
		return []span{{text: s}}
	}
	return parseSpans(s, 0)
}

func parseSpans(s string, depth int) []span {
	var out []span
	var text []byte
	flush := func() {
		if len(text) > 0 {
			out = append(out, span{text: string(text)})
			text = nil
		}
	}
	// A sign that closes nowhere after one place closes nowhere after a later
	// one either: it is looked for once.
	var dead [len(marks) + 2]bool
	const deadCode, deadLink = len(marks), len(marks) + 1
next:
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case '\\':
			if i+1 < len(s) && strings.IndexByte("*_~`[]\\", s[i+1]) >= 0 {
				text = append(text, s[i+1])
				i += 2
				continue
			}
		case '`':
			if dead[deadCode] {
				break
			}
			if n := strings.IndexByte(s[i+1:], '`'); n > 0 {
				flush()
				out = append(out, span{kind: spanCode, text: s[i+1 : i+1+n]})
				i += n + 2
				continue
			} else if n == 0 {
				text = append(text, "``"...)
				i += 2
				continue
			}
			dead[deadCode] = true
		case '[':
			if dead[deadLink] || depth >= maxPhraseDepth {
				break
			}
			middle := strings.Index(s[i:], "](")
			if middle < 0 {
				dead[deadLink] = true
				break
			}
			end := strings.IndexByte(s[i+middle:], ')')
			if end < 0 {
				dead[deadLink] = true
				break
			}
			label, href := s[i+1:i+middle], strings.TrimSpace(s[i+middle+2:i+middle+end])
			if label == "" || href == "" || strings.ContainsAny(label, "[]") || strings.ContainsAny(href, " \t\n<>") {
				break
			}
			flush()
			out = append(out, span{kind: spanLink, href: href, inner: parseSpans(label, depth+1)})
			i += middle + end + 1
			continue
		case '*', '_', '~':
			for k, m := range marks {
				if !strings.HasPrefix(s[i:], m.sign) {
					continue
				}
				from := i + len(m.sign)
				if depth < maxPhraseDepth && !dead[k] && from < len(s) && !isSpaceAt(s, from) && (c != '_' || !isWordAt(s, i-1)) {
					if end := closing(s, from, m.sign); end > 0 {
						flush()
						out = append(out, span{kind: m.kind, inner: parseSpans(s[from:end], depth+1)})
						i = end + len(m.sign)
						continue next
					}
					dead[k] = true
				}
				text = append(text, m.sign...)
				i = from
				continue next
			}
		}
		text = append(text, s[i])
		i++
	}
	flush()
	return out
}

// closing finds the sign that ends what begins at from, -1 for none.
func closing(s string, from int, sign string) int {
	for j := from + 1; j+len(sign) <= len(s); j++ {
		if !strings.HasPrefix(s[j:], sign) || isSpaceAt(s, j-1) {
			continue
		}
		after := j + len(sign)
		if len(sign) == 1 && (s[j-1] == sign[0] || after < len(s) && s[after] == sign[0]) {
			continue
		}
		if sign[0] == '_' && isWordAt(s, after) {
			continue
		}
		return j
	}
	return -1
}

// Phrase appends a phrase. Of its links only the words are shown: phrases
// stand in links, tabs and summaries, which hold no links.
func (w *Writer) Phrase(s string) *Writer {
	w.spans(nil, parsePhrase(s))
	return w
}

// Rich appends a phrase with its links.
func (w *Writer) Rich(e *Element, s string) *Writer {
	w.spans(e, parsePhrase(s))
	return w
}

// spans appends the parts of a phrase; e is nil where no links may stand.
func (w *Writer) spans(e *Element, list []span) {
	for _, s := range list {
		tag := ""
		switch s.kind {
		case spanText:
			w.Text(s.text)
			continue
		case spanCode:
			w.Raw("<code>").Text(s.text).Raw("</code>")
			continue
		case spanStrong:
			tag = "strong"
		case spanEmphasis:
			tag = "em"
		case spanDelete:
			tag = "del"
		case spanLink:
			href := ""
			if e != nil && !w.InLink() {
				href = w.Link(e, s.href)
			}
			if href == "" {
				w.spans(e, s.inner)
				continue
			}
			w.Raw("<a").Attr("href", href).Raw(">")
			w.spans(nil, s.inner)
			w.Raw("</a>")
			continue
		}
		w.Raw("<").Raw(tag).Raw(">")
		w.spans(e, s.inner)
		w.Raw("</").Raw(tag).Raw(">")
	}
}

// Phrase returns a phrase as inline Markdown.
func (m *Markdown) Phrase(e *Element, s string) string {
	return string(m.appendSpans(nil, e, parsePhrase(strings.Join(strings.Fields(s), " "))))
}

func (m *Markdown) appendSpans(b []byte, e *Element, list []span) []byte {
	for _, s := range list {
		sign := ""
		switch s.kind {
		case spanText:
			b = AppendMarkdown(b, s.text)
			continue
		case spanCode:
			b = AppendCodeSpan(b, s.text)
			continue
		case spanStrong:
			sign = "**"
		case spanEmphasis:
			sign = "*"
		case spanDelete:
			sign = "~~"
		case spanLink:
			b = append(b, '[')
			b = m.appendSpans(b, e, s.inner)
			b = append(b, "]("...)
			b = append(b, m.MarkdownLink(e, s.href)...)
			b = append(b, ')')
			continue
		}
		b = append(b, sign...)
		b = m.appendSpans(b, e, s.inner)
		b = append(b, sign...)
	}
	return b
}

// PhraseText returns the words of a phrase without its marks.
func PhraseText(s string) string {
	if !strings.ContainsAny(s, "*_~`[\\") {
		return s
	}
	return string(appendSpanText(nil, parsePhrase(s)))
}

func appendSpanText(b []byte, list []span) []byte {
	for _, s := range list {
		b = append(b, s.text...)
		b = appendSpanText(b, s.inner)
	}
	return b
}

// escapeText returns plain text as inline Markdown.
func escapeText(s string) string {
	return string(AppendMarkdown(nil, strings.Join(strings.Fields(s), " ")))
}
