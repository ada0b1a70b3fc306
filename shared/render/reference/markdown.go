package reference

import (
	"regexp"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Descriptions are CommonMark, not MDX: braces and "import" are words there,
// and HTML is what its authors could be sure of elsewhere. What MDX would take
// for something else is written as a character reference before it is parsed.

// maxMarkdown bounds one description.
const maxMarkdown = 256 << 10

// markdown parses a description. All nodes get the place pos.
func markdown(text string, pos mdx.Pos) []*mdx.Node {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	if len(text) > maxMarkdown {
		text = strings.ToValidUTF8(text[:maxMarkdown], "")
	}
	if !strings.ContainsAny(text, "\n\\`*_{}[]<>#|~:&!$-+0123456789=\"'") { // plain words
		return []*mdx.Node{{Kind: mdx.Paragraph, Pos: pos, Children: []*mdx.Node{{Kind: mdx.Text, Value: text, Pos: pos}}}}
	}
	// The line before keeps a rule at the start from being front matter.
	file, diags := mdx.ParseLenient("", []byte("\n"+plainMarkdown(text, true)))
	if len(diags) > 0 {
		file, _ = mdx.ParseLenient("", []byte("\n"+plainMarkdown(text, false)))
	}
	mdx.Unravel(file.Root)
	for _, n := range file.Root.Children {
		mdx.Walk(n, func(n *mdx.Node) bool {
			n.Pos, n.End = pos, pos
			for i := range n.Attrs {
				n.Attrs[i].Pos = pos
			}
			return true
		})
	}
	return kept(file.Root.Children)
}

// kept leaves out what no description has once it is escaped: statements and
// expressions.
func kept(list []*mdx.Node) []*mdx.Node {
	out := list[:0]
	for _, n := range list {
		switch n.Kind {
		case mdx.ESM, mdx.Expression, mdx.Definition, mdx.FootnoteDef:
			continue
		case mdx.FootnoteRef:
			n = &mdx.Node{Kind: mdx.Text, Value: "[^" + n.Name + "]", Pos: n.Pos}
		}
		n.Children = kept(n.Children)
		out = append(out, n)
	}
	return out
}

var (
	fence    = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})")
	esmStart = regexp.MustCompile(`^(import|export)\b`)
	tag      = regexp.MustCompile(`^</?(?:br|hr|img|p|b|strong|i|em|a|ul|ol|li|code|pre|table|thead|tbody|tr|td|th|h[1-6]|blockquote|sub|sup|kbd|s|del|details|summary|div|span)(?:\s+[a-zA-Z-]+(?:\s*=\s*(?:"[^"<>]*"|'[^'<>]*'))?)*\s*/?>`)
	void     = regexp.MustCompile(`^<(?:br|hr|img)\b`)
	autolink = regexp.MustCompile(`^<((?:https?://|mailto:)[^\s<>]+)>`)
)

// plainMarkdown writes CommonMark as MDX that means the same. html keeps the
// tags of simple elements.
func plainMarkdown(text string, html bool) string {
	var b strings.Builder
	open := "" // the fence that is open
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		if i > 0 {
			b.WriteByte('\n')
		}
		line := lines[i]
		if m := fence.FindStringSubmatch(line); m != nil {
			switch {
			case open == "":
				open = m[1]
				b.WriteString(line)
				continue
			case m[1][0] == open[0] && len(m[1]) >= len(open):
				open = ""
				b.WriteString(line)
				continue
			}
		}
		if open != "" {
			b.WriteString(line)
			continue
		}
		// A span of code may go on over lines, up to an empty one.
		end := i + 1
		for end < len(lines) && strings.TrimSpace(lines[end]) != "" && !fence.MatchString(lines[end]) {
			end++
		}
		if strings.TrimSpace(line) == "" {
			end = i + 1
		}
		escapeInline(&b, strings.Join(lines[i:end], "\n"), html)
		i = end - 1
	}
	return b.String()
}

func escapeInline(b *strings.Builder, s string, html bool) {
	start := true
	for i := 0; i < len(s); {
		if start {
			if m := esmStart.FindString(s[i:]); m != "" {
				b.WriteString(map[byte]string{'i': "&#105;", 'e': "&#101;"}[m[0]])
				i++
				start = false
				continue
			}
		}
		c := s[i]
		start = c == '\n'
		switch c {
		case '\\':
			if i+1 < len(s) && s[i+1] != '{' && s[i+1] != '}' && s[i+1] != '<' && s[i+1] != '\n' {
				b.WriteString(s[i : i+2])
				i += 2
				continue
			}
			if i+1 < len(s) && s[i+1] != '\n' {
				i++ // what follows is escaped in another way
				switch s[i] {
				case '{':
					b.WriteString("&#123;")
				case '}':
					b.WriteString("&#125;")
				default:
					b.WriteString("&lt;")
				}
				i++
				continue
			}
		case '`':
			n := 1
			for i+n < len(s) && s[i+n] == '`' {
				n++
			}
			mark := s[i : i+n]
			for j := i + n; j < len(s); {
				k := strings.Index(s[j:], mark)
				if k < 0 {
					break
				}
				k += j
				m := n
				for k+m < len(s) && s[k+m] == '`' {
					m++
				}
				if m == n {
					b.WriteString(s[i : k+n])
					i = k + n
					mark = ""
					break
				}
				j = k + m
			}
			if mark != "" { // it closes nowhere
				b.WriteString(mark)
				i += n
			}
			continue
		case '{':
			b.WriteString("&#123;")
			i++
			continue
		case '}':
			b.WriteString("&#125;")
			i++
			continue
		case '<':
			if strings.HasPrefix(s[i:], "<!--") {
				if k := strings.Index(s[i:], "-->"); k > 0 {
					i += k + 3
					continue
				}
			}
			if m := autolink.FindStringSubmatch(s[i:]); m != nil {
				b.WriteString(m[1])
				i += len(m[0])
				continue
			}
			if m := tag.FindString(s[i:]); html && m != "" {
				if void.MatchString(m) && !strings.HasSuffix(m, "/>") {
					m = m[:len(m)-1] + "/>"
				}
				b.WriteString(m)
				i += len(tag.FindString(s[i:]))
				continue
			}
			b.WriteString("&lt;")
			i++
			continue
		}
		b.WriteByte(c)
		i++
	}
}

// demote makes bold paragraphs of headings, which the description of a field
// has no room for.
func demote(list []*mdx.Node) []*mdx.Node {
	for _, n := range list {
		if n.Kind == mdx.Heading {
			*n = mdx.Node{Kind: mdx.Paragraph, Pos: n.Pos, End: n.End, Children: []*mdx.Node{{Kind: mdx.Strong, Pos: n.Pos, Children: n.Children}}}
		}
		demote(n.Children)
	}
	return list
}

// lower puts the headings of a page's description below its title.
func lower(list []*mdx.Node) []*mdx.Node {
	for _, n := range list {
		if n.Kind == mdx.Heading {
			n.Level = min(max(n.Level, 2), 6)
		}
	}
	return list
}
