package reference

import (
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Descriptions are plain Markdown, not MDX: braces and "import" are words there,
// and HTML is what its authors could be sure of elsewhere.

// maxMarkdown bounds one description, in bytes.
const maxMarkdown = 256 << 10

// simpleTags are the HTML elements that a description may hold.
var simpleTags = func() map[string]bool {
	tags := map[string]bool{}
	for _, name := range strings.Fields(`br hr img p b strong i em a ul ol li code pre table thead tbody tr td th
		h1 h2 h3 h4 h5 h6 blockquote sub sup kbd s del details summary div span`) {
		tags[name] = true
	}
	return tags
}()

// markdown parses a description. All nodes get the place pos. cut is set where
// not all of it is shown.
func markdown(text string, pos mdx.Pos) (list []*mdx.Node, cut bool) {
	if text = strings.TrimSpace(text); text == "" {
		return nil, false
	}
	if len(text) > maxMarkdown {
		text, cut = strings.ToValidUTF8(text[:maxMarkdown], ""), true
	}
	if !strings.ContainsAny(text, "\n\\`*_[]<>#|~:&!$-+0123456789=") { // plain words
		return []*mdx.Node{{Kind: mdx.Paragraph, Pos: pos, Children: []*mdx.Node{{Kind: mdx.Text, Value: text, Pos: pos}}}}, cut
	}
	file, diags := mdx.Parse([]byte(text), mdx.Options{Plain: true, Tags: func(name string) bool { return simpleTags[name] }})
	has := func(code string) bool {
		return slices.ContainsFunc(diags, func(d mdx.Diagnostic) bool { return d.Code == code })
	}
	if has(mdx.CodeSyntax) { // tags that don't match: all of them are text
		file, diags = mdx.Parse([]byte(text), mdx.Options{Plain: true, Tags: func(string) bool { return false }})
	}
	cut = cut || has(mdx.CodeReferences)
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
	return kept(file.Root.Children), cut
}

// kept leaves out definitions, which links have used by now, and footnotes, for
// which a description has no place.
func kept(list []*mdx.Node) []*mdx.Node {
	out := list[:0]
	for _, n := range list {
		switch n.Kind {
		case mdx.Definition, mdx.FootnoteDef:
			continue
		case mdx.FootnoteRef:
			n = &mdx.Node{Kind: mdx.Text, Value: "[^" + n.Name + "]", Pos: n.Pos}
		}
		n.Children = kept(n.Children)
		out = append(out, n)
	}
	return out
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
