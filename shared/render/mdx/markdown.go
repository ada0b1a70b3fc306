package mdx

import (
	"slices"
	"strings"
)

// A source that may be Markdown (Options.Markdown) is read as CommonMark where it
// holds nothing of MDX. It then has indented code, braces and the words import and
// export are text, and tags follow HTML's grammar: values without quotes, elements
// without content or without a closing tag. As in MDX, tags make elements and the
// Markdown between them is read.

// mode says what a parser reads beside the options.
type mode struct {
	// indented reads indented code.
	indented bool
	// commonMark is set while a source of Options.Markdown is read as CommonMark;
	// Plain is then set too.
	commonMark bool
	// looseTags leaves tags without a partner in a paragraph for its siblings.
	looseTags bool
}

// parseMarkdown reads a source as MDX if it holds any, else as CommonMark.
func parseMarkdown(s string, o Options) (*File, []Diagnostic) {
	if mayHoldMDX(s) {
		// What stands in indented code says nothing about the source.
		p := newParser(s, o)
		p.indented = true
		p, f := p.parseAll()
		if holdsMDX(f.Root) {
			if p.sawIndented {
				p, f = newParser(s, o).parseAll()
			}
			return f, p.diags
		}
	}
	return parseCommonMark(s, o)
}

func parseCommonMark(s string, o Options) (*File, []Diagnostic) {
	p, f := newCommonMark(s, o).parseAll()
	return f, p.diags
}

func newCommonMark(s string, o Options) *parser {
	p := newParser(s, o)
	p.indented, p.commonMark = true, true
	p.Plain, p.Tags = true, mayBeTag
	return p
}

// mayHoldMDX is a quick look for what holdsMDX could find.
func mayHoldMDX(s string) bool {
	if strings.IndexByte(s, '{') >= 0 || strings.Contains(s, "import ") || strings.Contains(s, "export ") {
		return true
	}
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 || i+1 == len(s) {
			return false
		}
		if c := s[i+1]; c >= 'A' && c <= 'Z' || c == '>' {
			return true
		}
		s = s[i+1:]
		// A member of an object, such as <icons.Star/>.
		if word := strings.TrimLeft(s[:min(len(s), 64)], "abcdefghijklmnopqrstuvwxyz"); word != "" && word[0] == '.' {
			return true
		}
	}
}

// holdsMDX reports whether a tree that was read as MDX has an import, an export, a
// component, an expression or a comment in braces. Empty braces are none, and braces in
// code of scripts and styles.
func holdsMDX(root *Node) bool {
	found := false
	Walk(root, func(n *Node) bool {
		switch n.Kind {
		case ESM:
			found = true
		case Expression:
			// A name with # in front is no value: ## Title {#anchor}
			value := strings.TrimSpace(n.Value)
			found = found || value != "" && value[0] != '#'
		case Element:
			found = found || isMDX(n)
			if n.Name == "script" || n.Name == "style" { // {`text`} is MDX, other braces are code
				return !found && !slices.ContainsFunc(n.Children, func(c *Node) bool { return c.Kind != Expression })
			}
		}
		return !found
	})
	return found
}

// isMDX reports whether an element makes a source MDX: it is a component or a fragment,
// or has an attribute in braces. A tag without its closing tag, such as <YOUR_KEY> or
// <Your Name>, does only where it looks like a component's and stands on its own line.
func isMDX(n *Node) bool {
	unclosed := n.Value != ""
	switch {
	case slices.ContainsFunc(n.Attrs, func(a Attr) bool { return a.Kind == AttrExpr || a.Kind == AttrSpread }):
		return true
	case unclosed && (n.Inline || n.Name == "" || isLower(n.Name[0]) || n.Name == strings.ToUpper(n.Name)):
		return false
	case unclosed && slices.ContainsFunc(n.Attrs, func(a Attr) bool { return a.Kind == AttrBool }):
		return false
	}
	return isComponent(n.Name)
}

// isComponent reports whether a tag's name is that of a component or a fragment, and
// not that of an element of HTML in capitals.
func isComponent(name string) bool {
	return name == "" || strings.IndexByte(name, '.') >= 0 || !isLower(name[0]) && !isHTMLCapitals(name)
}

// isHTMLCapitals reports whether a name is that of an element of HTML in capitals.
func isHTMLCapitals(name string) bool {
	return name == strings.ToUpper(name) && isHTML(strings.ToLower(name))
}

// hasRawText reports whether Markdown is not read in an element: a line that begins with
// its tag begins HTML up to the closing tag, over blank lines too (CommonMark, 4.6).
func hasRawText(name string) bool {
	return name == "script" || name == "style" || name == "pre" || name == "textarea"
}

// rawContent gives n, the tag of which ends at r.i, the text up to its closing tag, and
// leaves r.i after that. Without a closing tag it does nothing.
func (p *parser) rawContent(r *reader, n *Node) {
	from := r.i
	end, after := p.closingTag(r, n.Name)
	if end < 0 {
		return
	}
	n.Level, n.End = tagNone, p.pos(r.src(after-1)+1)
	text := func(a, b int, s string) {
		if a < b {
			t := p.node(Text, r.src(a))
			t.Value, t.End = s, p.pos(r.src(b-1)+1)
			n.Children = append(n.Children, t)
		}
	}
	switch n.Name {
	case "script", "style":
		text(from, end, r.s[from:end])
	case "textarea":
		text(from, end, decodeReferences(r.s[from:end]))
	default:
		inner := *r
		inner.end, inner.grow = end, false
		comments := 0
		for i := from; i < end; i++ {
			p.steps++
			if r.s[i] != '<' || !p.affordable() {
				continue
			}
			if k := p.commentEnd(r.s[:end], i, &comments); k > 0 {
				text(from, i, decodeReferences(r.s[from:i]))
				from, i = k, k-1
				continue
			}
			inner.i = i
			if tag, got := p.scanTag(&inner, true); got == matched {
				text(from, i, decodeReferences(r.s[from:i]))
				n.Children = append(n.Children, tag)
				from, i = inner.i, inner.i-1
			}
		}
		text(from, end, decodeReferences(r.s[from:end]))
		n.Children = p.matchTags(n.Children)
	}
	r.i = after
}

// closingTag returns where the closing tag of a name begins and ends that comes first
// at r.i or after it, -1 if there is none.
func (p *parser) closingTag(r *reader, name string) (begin, after int) {
	if p.noClosing[name] {
		return -1, 0
	}
	limit := r.end
	if r.base >= 0 {
		limit = len(r.s)
	}
	r.blank = true
	for i := r.i; ; {
		k := strings.Index(r.s[i:limit], "</")
		if k < 0 {
			p.steps += limit - i
			if i = max(i, limit-1); r.base < 0 && p.affordable() && r.more() {
				limit = r.end
				continue
			}
			break
		}
		p.steps += k + 2
		i += k + 2
		if end := i + len(name); end <= limit && strings.EqualFold(r.s[i:end], name) {
			for end < limit && isSpaceOrEOL(r.s[end]) {
				end++
			}
			if end < limit && r.s[end] == '>' {
				r.end = limit
				if r.base >= 0 {
					r.end = p.paragraphEnd(p.lineEnd(end))
				}
				return i - 2, end + 1
			}
		}
	}
	if r.base < 0 {
		p.spent(limit - r.i)
		return -1, 0
	}
	if p.noClosing == nil {
		p.noClosing = map[string]bool{}
	}
	p.noClosing[name] = true
	return -1, 0
}

// mayBeTag reports whether a CommonMark source may hold tags of a name. Names such as
// your-name may: their tags are text where they have no partner.
func mayBeTag(name string) bool { return isLower(name[0]) || isHTMLCapitals(name) }

// isCode reports whether a line that is indented by so many columns is code, or text
// of a paragraph, and begins nothing else.
func (p *parser) isCode(indent int) bool {
	if indent < 4 || !p.indented || p.inHTML {
		return false
	}
	p.sawIndented = true
	return true
}

// openIndented begins indented code with the line at c; text is where its first sign
// stands.
func (p *parser) openIndented(c, text cursor, n int) {
	p.commit(n)
	p.fence = p.node(CodeBlock, text.off)
	p.add(p.fence)
	p.leaf = leafIndented
	p.fenceLines = p.fenceLines[:0]
	p.indentedLine(c)
}

// indentedLine adds a line to indented code.
func (p *parser) indentedLine(c cursor) {
	if !c.isBlank(p) {
		p.fence.End = p.pos(c.le)
	}
	c.take(p, 4)
	p.codeLine(c)
}

// codeLine adds what is left of a line to code.
func (p *parser) codeLine(c cursor) {
	text := p.s[c.off:c.le]
	if c.pend > 0 {
		text = strings.Repeat(" ", c.pend) + text
	}
	p.steps += len(text)
	p.fenceLines = append(p.fenceLines, text)
}

// closeIndented ends indented code, to which blank lines at its end don't belong.
func (p *parser) closeIndented() {
	lines := p.fenceLines
	for len(lines) > 0 && blankLine(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	p.fence.Value = strings.Join(lines, "\n")
	p.steps += len(p.fence.Value)
	p.fence = nil
}

// isBlockTag reports whether a line that begins with a tag of this name begins a block
// of HTML, whatever follows on the line (CommonMark 0.31.2, 4.6).
func isBlockTag(name string) bool {
	switch name {
	case "address", "article", "aside", "base", "basefont", "blockquote", "body", "caption", "center", "col", "colgroup", "dd",
		"details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frame", "frameset",
		"h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "iframe", "legend", "li", "link", "main", "menu",
		"menuitem", "nav", "noframes", "ol", "optgroup", "option", "p", "param", "pre", "script", "search", "section", "style",
		"summary", "table", "tbody", "td", "textarea", "tfoot", "th", "thead", "title", "tr", "track", "ul":
		return true
	}
	return false
}

// isLooseTag reports whether a node is a tag of a block, without its partner beside it.
func isLooseTag(n *Node) bool { return n.Kind == Element && n.Level != tagNone }

// dissolve makes HTML of paragraphs with tags that begin or end in other blocks.
// One that begins with a tag is no paragraph: what it holds stands among its siblings,
// as <details><summary>Title</summary> does before the text of the details. From others
// only closing tags at the end are taken.
func (p *parser) dissolve(list []*Node) []*Node {
	out := make([]*Node, 0, len(list)+8)
	for _, n := range list {
		p.steps++
		if n.Kind != Paragraph || !slices.ContainsFunc(n.Children, isLooseTag) {
			out = append(out, n)
			continue
		}
		kids := n.Children
		p.steps += len(kids)
		if first := kids[0]; first.Kind == Element && isBlockTag(first.Name) {
			for _, k := range kids {
				if k.Kind == Element {
					k.Inline = false
				}
				if k.Kind != Text || strings.TrimSpace(k.Value) != "" {
					out = append(out, k)
				}
			}
			continue
		}
		end := len(kids)
		for end > 0 && isLooseTag(kids[end-1]) && kids[end-1].Level == tagClose {
			end--
		}
		if n.Children = p.matchTags(kids[:end:end]); len(n.Children) > 0 {
			out = append(out, n)
		}
		for _, k := range kids[end:] {
			k.Inline = false
			out = append(out, k)
		}
	}
	return out
}

// mayOmitEnd reports whether an element that is open ends where another begins, as HTML
// has it for elements without closing tags.
func mayOmitEnd(open, next string) bool {
	switch open {
	case "li":
		return next == "li"
	case "dt", "dd":
		return next == "dt" || next == "dd"
	case "td", "th":
		return next == "td" || next == "th" || next == "tr" || next == "tbody" || next == "tfoot"
	case "tr":
		return next == "tr" || next == "tbody" || next == "tfoot"
	case "thead", "tbody":
		return next == "tbody" || next == "tfoot"
	case "option":
		return next == "option" || next == "optgroup"
	case "p":
		return isBlockTag(next) && !IsVoid(next)
	}
	return false
}

// endIsOptional reports whether HTML has elements of a name without a closing tag.
func endIsOptional(name string) bool {
	switch name {
	case "li", "dt", "dd", "td", "th", "tr", "thead", "tbody", "tfoot", "option", "p":
		return true
	}
	return false
}
