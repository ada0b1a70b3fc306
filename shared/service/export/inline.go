package export

import (
	"html"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// inline is a node of a short text in Markdown, such as the banner's.
type inline = *mdx.Node

// parseInline reads a text of inline Markdown.
func parseInline(src string) []inline {
	if src == "" {
		return nil
	}
	file, _ := mdx.Parse([]byte(src), mdx.Options{})
	return file.Root.Children
}

// appendInline writes such a text as HTML: emphasis, code and links; of all
// else only the words.
func appendInline(dst []byte, nodes []inline, l *linker) []byte {
	wrap := func(tag string, n inline) {
		dst = append(dst, '<')
		dst = append(dst, tag...)
		dst = append(dst, '>')
		dst = appendInline(dst, n.Children, l)
		dst = append(dst, "</"...)
		dst = append(dst, tag...)
		dst = append(dst, '>')
	}
	for i, n := range nodes {
		switch n.Kind {
		case mdx.Text:
			dst = append(dst, html.EscapeString(n.Value)...)
		case mdx.InlineCode:
			dst = append(dst, "<code>"...)
			dst = append(dst, html.EscapeString(n.Value)...)
			dst = append(dst, "</code>"...)
		case mdx.Strong:
			wrap("strong", n)
		case mdx.Emphasis:
			wrap("em", n)
		case mdx.Link:
			href := l.href(n.URL)
			if href == "" {
				dst = appendInline(dst, n.Children, l)
				continue
			}
			dst = append(dst, `<a href="`...)
			dst = append(dst, html.EscapeString(href)...)
			dst = append(dst, `">`...)
			dst = appendInline(dst, n.Children, l)
			dst = append(dst, "</a>"...)
		case mdx.Break:
			dst = append(dst, ' ')
		default:
			if i > 0 && n.Kind == mdx.Paragraph {
				dst = append(dst, ' ')
			}
			dst = appendInline(dst, n.Children, l)
		}
	}
	return dst
}

// plainInline is such a text without its marks.
func plainInline(nodes []inline) string {
	var b strings.Builder
	var walk func(nodes []inline)
	walk = func(nodes []inline) {
		for i, n := range nodes {
			switch n.Kind {
			case mdx.Text, mdx.InlineCode:
				b.WriteString(n.Value)
			case mdx.Break:
				b.WriteByte(' ')
			default:
				if i > 0 && n.Kind == mdx.Paragraph {
					b.WriteByte(' ')
				}
				walk(n.Children)
			}
		}
	}
	walk(nodes)
	return b.String()
}
