package mdx

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds how deep containers, elements and spans may nest, so that
// neither the parser nor a walk over its tree can exhaust the stack.
const maxDepth = 1000

// CodeSyntax is the Code of diagnostics for source that is not MDX.
const CodeSyntax = "mdx-syntax"

// File is one parsed MDX source.
type File struct {
	// Root is the Document node; blocks are its children.
	Root *Node
	// FrontMatter is the YAML block at the head of the file.
	FrontMatter FrontMatter
}

// Parse reads one MDX source. file names it in errors. On a syntax error it
// returns a *SyntaxError.
func Parse(file string, src []byte) (*File, error) {
	p := newParser(file, src)
	f := p.parse()
	if p.err != nil {
		return nil, p.err
	}
	return f, nil
}

// ParseLenient reads a source as Parse does but never fails: a tag or an
// expression that cannot be read stays in the page as text, an element that
// is not closed ends with what holds it, and each is reported.
func ParseLenient(file string, src []byte) (*File, []Diagnostic) {
	p := newParser(file, src)
	p.lenient = true
	return p.parse(), p.diags
}

// Options are choices that a site makes for its pages.
type Options struct {
	// Dollars tells where math stands between single dollar signs.
	Dollars Dollars
}

// Dollars tells between which dollar signs math stands.
type Dollars uint8

// Where math is read. Between double signs it always is.
const (
	DoubleDollars Dollars = iota // nowhere else, as the reference parser has it
	ClearDollars                 // also between single signs, where it can't be prices or names of variables
	SingleDollars                // also between single signs, with no space inside them and no digit behind
)

// ParseLenientWith is ParseLenient with choices.
func ParseLenientWith(o Options, file string, src []byte) (*File, []Diagnostic) {
	p := newParser(file, src)
	p.lenient = true
	p.dollars = o.Dollars
	return p.parse(), p.diags
}

// parser holds the state of one parse.
type parser struct {
	file string
	// s is the source with every line ending as \n and without byte order
	// mark; lines holds where each of its lines begins.
	s     string
	lines []int
	// origins holds where the lines begin in the real source, when that
	// differs.
	origins []int
	dirty   bool // the source holds bytes that no text may hold

	lenient bool
	dollars Dollars
	err     *SyntaxError
	diags   []Diagnostic
	seen    map[int]bool // places already reported
	budget  int          // bytes that a lenient parse may still read in vain

	// steps counts examined bytes and items: what grows with the work.
	steps int

	blockState
	inline inliner

	defs  map[string]*Node
	notes map[string]bool

	nodes []Node // slab
	kids  []*Node
}

func newParser(file string, src []byte) *parser {
	p := &parser{file: file}
	s := string(src)
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
	p.lines = make([]int, 1, strings.Count(s, "\n")+2)
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
	return p
}

// normalEndings turns every line ending into \n and tells where each line
// began. Columns do not change by it, offsets do.
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
	fm, body := splitFrontMatter(p.s)
	root := p.node(Document, 0)
	if fm.Pos.Line > 0 {
		fm.Pos = p.pos(fm.Pos.Offset)
	}
	p.blocks(root, body.Offset, body.Line)
	if p.err != nil {
		return nil
	}
	p.finish(root, 0)
	if p.err != nil {
		return nil
	}
	root.Pos = p.pos(0)
	root.End = p.pos(len(p.s))
	if p.origins != nil || p.dirty {
		p.restore(root)
		if fm.Pos.Line > 0 {
			fm.Pos = p.realPos(fm.Pos)
			fm.Raw = strings.ToValidUTF8(strings.ReplaceAll(fm.Raw, "\x00", "\ufffd"), "\ufffd")
		}
	}
	return &File{Root: root, FrontMatter: fm}
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

// pos makes the place of an offset.
func (p *parser) pos(off int) Pos {
	line := sort.SearchInts(p.lines, off+1)
	return Pos{Offset: off, Line: line, Column: off - p.lines[line-1] + 1}
}

// node takes a node from the slab.
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

// problem reports a syntax error at an offset. It ends a strict parse; a
// lenient one goes on and its caller keeps the source as text.
func (p *parser) problem(off int, format string, args ...any) {
	if p.err != nil {
		return
	}
	at := p.realPos(p.pos(min(off, len(p.s))))
	message := fmt.Sprintf(format, args...)
	if p.dirty {
		message = strings.ToValidUTF8(strings.ReplaceAll(message, "\x00", "\ufffd"), "\ufffd")
	}
	if !p.lenient {
		p.err = &SyntaxError{File: p.file, Pos: at, Message: message}
		return
	}
	if p.seen == nil {
		p.seen = make(map[int]bool)
	}
	if !p.seen[off] {
		p.seen[off] = true
		p.diags = append(p.diags, Diagnostic{Severity: Error, Code: CodeSyntax, File: p.file,
			Line: at.Line, Column: at.Column, Message: message})
	}
}

// spent takes the bytes of a vain attempt from the budget of a lenient parse
// and says whether attempts are still affordable: else a page of a thousand
// open braces would be read a thousand times.
func (p *parser) spent(n int) {
	p.budget -= n
}

// finish parses the inline content below n and nests what stands between
// opening and closing tags.
func (p *parser) finish(n *Node, depth int) {
	tags := false
	for _, c := range n.Children {
		if p.err != nil {
			return
		}
		if c.Kind == Element {
			tags = tags || c.Level != tagNone
			continue
		}
		if c.Start < 0 {
			job := p.jobs[-c.Start-1]
			c.Start = 0
			p.inlines(c, job)
			continue
		}
		if len(c.Children) > 0 {
			p.finish(c, depth+1)
		}
	}
	if tags {
		n.Children = p.matchTags(n.Children)
	}
}
