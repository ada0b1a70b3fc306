package page

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/expr"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/reference"
	"github.com/bindery-docs/bindery/shared/render/script/island"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/words"
)

// state is one page while it is rendered.
type state struct {
	r     *Renderer
	kinds *kinds
	ctx   context.Context
	page  int
	// source is the page's file.
	source string
	root   []*mdx.Node

	// While the tree is resolved.
	size     int
	tooLarge bool
	stack    []string
	js       *expr.Machine
	// modules are the files that names were imported from.
	modules map[string]*scope
	// origin tells the file of nodes that come from a snippet.
	origin map[*mdx.Node]string
	// slots holds the attributes that were given as JSX.
	slots map[*mdx.Node]map[string][]*mdx.Node

	// Ids. ownIDs are those that headings give themselves.
	ownIDs  map[*mdx.Node]string
	ids     map[*mdx.Node]string
	aliases map[*mdx.Node]string
	// taken holds the ids that are given out; true once they are written.
	taken map[string]bool
	// next is the number that the next id of a name begins its search at.
	next map[string]int
	// footnotes are the definitions by label, order the labels by first
	// reference.
	footnotes map[string]*footnote
	order     []*footnote

	// islands counts the pieces of JavaScript that were tried, islandSteps the
	// work that those took which were shown; live are those that live on in readers' browsers; addresses are how addresses in them are
	// written on this page.
	islands     int
	islandSteps int
	live        []island.Source
	addresses   map[string]string

	// lang is the page's language, nil before somebody asks for it.
	lang *string

	// While HTML is written.
	svg      int                 // depth of svg elements
	diagrams int                 // that were drawn
	images   int                 // pictures written so far
	anchors  int                 // depth of links: HTML knows none within another
	once     map[string]struct{} // what reportOnce said
	classes  map[string]struct{}
	said     report // what the author should know of the page
	trial    *trial // the innermost one that runs; what is said belongs to it
	lines    [][]byte
	// href makes addresses where nodes are shown that stand on no page.
	href func(address string) string
	// scratch is where phrases of Markdown are put together.
	scratch []byte
	// inTable: Markdown of a table cell is being written.
	inTable bool

	result Result
	err    error
}

// Render renders the page with this index in Site.Pages. The error is about
// reading files or the context's end; everything that is wrong with the page
// itself is in the result's Diagnostics.
func (r *Renderer) Render(ctx context.Context, page int) (*Result, error) {
	return r.RenderReference(ctx, page, nil)
}

// RenderReference is Render for a page that shows a part of a specification:
// slice is what site.Page.Reference names. With nil the page has what its author
// wrote alone.
func (r *Renderer) RenderReference(ctx context.Context, page int, slice *reference.Slice) (*Result, error) {
	if page < 0 || page >= len(r.site.Pages) {
		return nil, fmt.Errorf("page %d of %d does not exist", page, len(r.site.Pages))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &r.site.Pages[page]
	src, name, err := r.source(p, slice)
	if err != nil {
		return nil, err
	}
	s := &state{
		r: r, kinds: r.kinds, ctx: ctx, page: page, source: name,
		slots: map[*mdx.Node]map[string][]*mdx.Node{},
		ids:   map[*mdx.Node]string{},
		taken: make(map[string]bool, 32),
	}
	s.result.Title, s.result.Description = p.Title, p.Description
	s.input(name)
	file, diagnostics := r.parse(name, src)
	for _, d := range diagnostics {
		s.add(d)
	}
	mdx.Unravel(file.Root)
	s.root = s.expandFile(file.Root, newScope(name, nil))
	if s.err != nil {
		return nil, s.err
	}
	s.addReference(p, slice)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.assignIDs()

	b := make([]byte, 0, len(src)*2+512)
	for _, d := range diagnostics {
		if d.Severity == mdx.Error {
			b = s.notice(b, d)
			break
		}
	}
	b = s.topLevel(b)
	b = s.footnoteSection(b)
	s.result.HTML, s.result.Lead = b, s.lead(p.Description)
	s.result.Markdown = s.markdown(p)
	s.islandScript()
	t := component.NewText(s)
	s.Text(t, s.root)
	s.footnoteText(t)
	s.result.Text = t.Sections()
	if s.err != nil {
		return nil, s.err
	}

	s.result.Diagnostics = s.said.list
	slices.SortStableFunc(s.result.Diagnostics, func(a, b mdx.Diagnostic) int {
		first := func(d mdx.Diagnostic) int {
			if d.File == s.source {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	for class := range s.classes {
		s.result.Classes = append(s.result.Classes, class)
	}
	slices.Sort(s.result.Classes)
	return &s.result, nil
}

// source reads a page's source, and gives the file's name. A page that is made
// from a specification has only what the specification says of its page.
func (r *Renderer) source(p *site.Page, slice *reference.Slice) ([]byte, string, error) {
	if p.From != "" {
		if slice == nil {
			return nil, p.From, nil
		}
		return []byte(slice.Preface), p.From, nil
	}
	src, err := fs.ReadFile(r.fs, p.Source)
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", p.Source, err)
	}
	return src, p.Source, nil
}

// notice shows a reader that something of the page could not be read.
func (s *state) notice(b []byte, d mdx.Diagnostic) []byte {
	b = append(b, `<div class="callout callout-danger page-notice" role="note"`...)
	b = html.AppendAttr(b, "aria-label", s.say(words.Error))
	b = append(b, `><div class="callout-body"><p>`...)
	b = html.AppendText(b, s.say(words.Unread)+": "+d.Message)
	if d.Line > 0 {
		b = html.AppendText(b, fmt.Sprintf(" (%s %d)", s.say(words.Line), d.Line))
	}
	return append(b, `</p></div></div>`...)
}

// report records a diagnostic at a place in a file.
func (s *state) report(file string, pos mdx.Pos, severity mdx.Severity, code, message string) {
	s.add(mdx.Diagnostic{Severity: severity, Code: code, File: file, Line: pos.Line, Column: pos.Column, Message: message})
}

// maxDiagnostics bounds what one page reports: past it, more says nothing new.
const maxDiagnostics = 1000

// maxMessage bounds, in bytes, what one diagnostic says: addresses, names and ids
// that it repeats may have any length.
const maxMessage = 1000

func (s *state) add(d mdx.Diagnostic) {
	if s.trial != nil {
		s.trial.said.add(d)
	} else {
		s.said.add(d)
	}
}

// report is a list of diagnostics in which none stands twice.
type report struct {
	list []mdx.Diagnostic
	has  map[mdx.Diagnostic]struct{}
}

func (r *report) add(d mdx.Diagnostic) {
	d.Message = cutText(d.Message, maxMessage)
	if _, again := r.has[d]; again || len(r.list) >= maxDiagnostics {
		return
	}
	if r.has == nil {
		r.has = map[mdx.Diagnostic]struct{}{}
	}
	r.has[d] = struct{}{}
	r.list = append(r.list, d)
}

// fail keeps the first error that ends the rendering.
func (s *state) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *state) input(name string) {
	if !slices.Contains(s.result.Inputs, name) {
		s.result.Inputs = append(s.result.Inputs, name)
	}
}

// fileOf is the file that a node was written in.
func (s *state) fileOf(n *mdx.Node) string {
	if f, ok := s.origin[n]; ok {
		return f
	}
	return s.source
}
