package mdx

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxDepth bounds how deep containers, elements and spans may nest, so that
// neither the parser nor a walk over its tree can exhaust the stack.
const maxDepth = 1000

// CodeSyntax is the Code of diagnostics for source that is not MDX.
const CodeSyntax = "mdx-syntax"

// CodeReferences is the Code of the diagnostic for references that repeat more
// addresses and titles than a source may have.
const CodeReferences = "references-cut"

// maxExpanded is how many bytes of addresses and titles references may repeat in
// a source that is shorter than this; in a longer one it is the source's length.
const maxExpanded = 100_000

// File is one parsed MDX source.
type File struct {
	// Root is the Document node; blocks are its children.
	Root *Node
}

// Options say how a source is read. The zero value is MDX.
type Options struct {
	// File names the source in diagnostics.
	File string
	// Dollars says between which dollar signs math stands.
	Dollars Dollars
	// Markdown reads a source as CommonMark unless it holds MDX (holdsMDX says when).
	// Comments of HTML are left out in both; without Markdown they are faults of MDX.
	Markdown bool
	// Plain reads Markdown without MDX: braces and the words import and export
	// are text, and there is no front matter. Of <addresses> those with http:,
	// https: or mailto: are links, and mail addresses.
	Plain bool
	// Tags reports whether a Plain source may hold HTML elements of a name. They
	// become Elements whose attributes are literals; comments are left out. All
	// other tags are text, and without Tags comments are too.
	Tags func(name string) bool
}

// Dollars says between which dollar signs math stands.
type Dollars uint8

// Where math is read.
const (
	DoubleDollars Dollars = iota // between double signs only, as the reference parser has it
	ClearDollars                 // also between single signs, where it can't be prices or names of variables
	SingleDollars                // also between single signs, with no space inside them and no digit after
	NoDollars                    // nowhere: dollar signs are text
)

// Parse reads a source. It never fails: a tag or an expression that cannot be
// read stays in the page as text, an element that is not closed ends with what
// holds it, and each is reported with the code CodeSyntax. References that repeat
// too much of their definitions stay text: CodeReferences.
func Parse(src []byte, o Options) (*File, []Diagnostic) {
	if o.Markdown {
		return parseMarkdown(string(src), o)
	}
	p, f := newParser(string(src), o).parseAll()
	return f, p.diags
}

// parseAll parses and returns the parser that holds the findings.
func (p *parser) parseAll() (*parser, *File) {
	f := p.parse()
	// Comments that the blocks of their text don't hold are known only now.
	const most = 3
	for range most {
		next := p.withoutComments()
		if next == nil {
			break
		}
		p, f = next, next.parse()
	}
	return p, f
}

// ParseInline reads a short text of plain Markdown, such as a title, into
// inlines: text, code, emphasis and links. It knows no blocks, HTML or math; a
// hard line break is one like any other, and an image is its alternative text.
func ParseInline(src string) []*Node {
	if plainWords(src) {
		if src == "" {
			return nil
		}
		text := &Node{Kind: Text, Value: src, Pos: Pos{0, 1, 1}}
		line := strings.LastIndexByte(src, '\n') + 1
		text.End = Pos{len(src), 1 + strings.Count(src, "\n"), len(src) - line + 1}
		return []*Node{text}
	}
	p := shortParsers.Get().(*parser)
	p.start(src)
	list := p.parseInline()
	if cap(p.inline.items) <= maxKept {
		clear(p.inline.items)
		p.s, p.inline.v, p.inline.s, p.inline.read = "", view{}, "", reader{}
		shortParsers.Put(p)
	}
	return list
}

// maxKept bounds how many items a parser has place for that is used again.
const maxKept = 256

// shortParsers are used again with what is left of their slabs: a page has many
// titles, and one takes a few nodes.
var shortParsers = sync.Pool{New: func() any { return newShort() }}

func newShort() *parser {
	return &parser{Options: Options{Plain: true, Dollars: NoDollars}, short: true}
}

func (p *parser) parseInline() []*Node {
	root := p.node(Document, 0)
	p.segs = append(p.segs[:0], seg{0, len(p.s)})
	p.inlines(root, inlineJob{to: 1})
	if p.origins != nil || p.dirty {
		root.Pos, root.End = p.pos(0), p.pos(0)
		p.restore(root)
	}
	return root.Children
}

// plainWords reports whether a short text is text and nothing else.
func plainWords(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\', '*', '_', '~', '`', '[', '<', '&', '@', '\r', 0:
			return false
		}
	}
	return !mayLink(s) && utf8.ValidString(s)
}

// InlineText returns the words of a short text that ParseInline reads, without
// marks.
func InlineText(src string) string {
	if plainWords(src) {
		return src
	}
	return PlainText(&Node{Kind: Document, Children: ParseInline(src)})
}

type parser struct {
	Options
	mode
	// s is the source with every line ending as \n and without byte order
	// mark; lines holds where each of its lines begins.
	s     string
	lines []int
	// open holds the offsets of comments that do not end in their paragraphs.
	open []int
	// origins holds where the lines begin in the real source, when that
	// differs.
	origins []int
	dirty   bool // the source holds bytes that no text may hold

	short  bool // a text of ParseInline
	diags  []Diagnostic
	seen   map[int]bool // places already reported
	budget int          // bytes that may still be read in vain

	// steps counts examined bytes and items: what grows with the work.
	steps int

	blockState
	inline inliner

	defs map[string]*Node
	// expanded counts the bytes that references have repeated of definitions;
	// expandedCut is set once one did not fit.
	expanded    int
	expandedCut bool
	notes       map[string]bool

	nodes []Node // slab
	kids  []*Node
}

func newParser(s string, o Options) *parser {
	p := &parser{Options: o}
	p.start(s)
	return p
}

// start sets the parser's source.
func (p *parser) start(s string) {
	p.origins, p.steps = nil, 0
	base := 0
	if strings.HasPrefix(s, "\ufeff") {
		base = len("\ufeff")
		s = s[base:]
	}
	if base > 0 || strings.IndexByte(s, '\r') >= 0 {
		s, p.origins = normalEndings(s, base)
	}
	p.s = s
	p.dirty = strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s)
	p.lines = append(slices.Grow(p.lines[:0], strings.Count(s, "\n")+2), 0)
	for i := 0; ; {
		n := strings.IndexByte(s[i:], '\n')
		if n < 0 {
			break
		}
		i += n + 1
		p.lines = append(p.lines, i)
	}
	p.steps += len(s)
	p.budget = 8*len(s) + 4096
}

// normalEndings turns every line ending into \n and returns where each line
// began. That changes offsets but not columns.
func normalEndings(s string, base int) (string, []int) {
	var b strings.Builder
	b.Grow(len(s))
	origins := []int{base}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\r' {
			c = '\n'
			if i+1 < len(s) && s[i+1] == '\n' {
				i++
			}
		}
		b.WriteByte(c)
		if c == '\n' {
			origins = append(origins, base+i+1)
		}
	}
	return b.String(), origins
}

func (p *parser) parse() *File {
	body := Pos{Line: 1}
	if !p.Plain || p.commonMark {
		_, body = SplitFrontMatter(p.s)
	}
	root := p.node(Document, 0)
	p.blocks(root, body.Offset, body.Line)
	p.finish(root)
	root.Pos = p.pos(0)
	root.End = p.pos(len(p.s))
	if p.origins != nil || p.dirty {
		p.restore(root)
	}
	return &File{Root: root}
}

// restore maps places back to the source before its line endings were made
// one, and replaces bytes that no text may hold.
func (p *parser) restore(root *Node) {
	clean := func(s *string) {
		if p.dirty {
			*s = strings.ToValidUTF8(strings.ReplaceAll(*s, "\x00", "\ufffd"), "\ufffd")
		}
	}
	Walk(root, func(n *Node) bool {
		n.Pos, n.End = p.realPos(n.Pos), p.realPos(n.End)
		for _, s := range []*string{&n.Name, &n.Value, &n.Meta, &n.URL, &n.Title} {
			clean(s)
		}
		for i := range n.Attrs {
			n.Attrs[i].Pos = p.realPos(n.Attrs[i].Pos)
			clean(&n.Attrs[i].Name)
			clean(&n.Attrs[i].Value)
		}
		return true
	})
}

func (p *parser) realPos(at Pos) Pos {
	if p.origins != nil && at.Line >= 1 && at.Line <= len(p.origins) {
		at.Offset = p.origins[at.Line-1] + at.Column - 1
	}
	return at
}

func (p *parser) pos(off int) Pos {
	line := sort.SearchInts(p.lines, off+1)
	return Pos{Offset: off, Line: line, Column: off - p.lines[line-1] + 1}
}

func (p *parser) node(kind Kind, off int) *Node {
	if len(p.nodes) == 0 {
		p.nodes = make([]Node, 64)
	}
	n := &p.nodes[0]
	p.nodes = p.nodes[1:]
	n.Kind = kind
	n.Pos = p.pos(off)
	return n
}

// problem reports a syntax error at an offset; its caller keeps the source as
// text.
func (p *parser) problem(off int, format string, args ...any) {
	if p.seen == nil {
		p.seen = make(map[int]bool)
	}
	if !p.seen[off] {
		p.seen[off] = true
		p.note(Error, CodeSyntax, off, format, args...)
	}
}

// mended reports a syntax error in a source that is still shown as its author meant it.
func (p *parser) mended(off int, format string, args ...any) {
	n := len(p.diags)
	if p.problem(off, format, args...); len(p.diags) > n {
		p.diags[n].Mended = true
	}
}

// note reports something at an offset.
func (p *parser) note(severity Severity, code string, off int, format string, args ...any) {
	at := p.realPos(p.pos(min(off, len(p.s))))
	message := fmt.Sprintf(format, args...)
	if p.dirty {
		message = strings.ToValidUTF8(strings.ReplaceAll(message, "\x00", "\ufffd"), "\ufffd")
	}
	p.diags = append(p.diags, Diagnostic{Severity: severity, Code: code, File: p.File,
		Line: at.Line, Column: at.Column, Message: message})
}

// spent takes the bytes of a vain attempt from the budget: else a page of a
// thousand open braces would be read a thousand times.
func (p *parser) spent(n int) { p.budget -= n }

// affordable reports whether tags and expressions are still looked for.
func (p *parser) affordable() bool { return p.budget > 0 }

// finish parses the inline content below n and nests what stands between
// opening and closing tags.
func (p *parser) finish(n *Node) {
	tags, loose := false, false
	for _, c := range n.Children {
		if c.Kind == Element {
			tags = tags || c.Level != tagNone
			continue
		}
		if c.Start < 0 {
			job := p.jobs[-c.Start-1]
			c.Start = 0
			p.inlines(c, job)
			loose = loose || p.commonMark && slices.ContainsFunc(c.Children, isLooseTag)
			continue
		}
		if len(c.Children) > 0 {
			p.finish(c)
		}
	}
	if loose {
		n.Children, tags = p.dissolve(n.Children), true
	}
	if tags {
		n.Children = p.matchTags(n.Children)
	}
}
