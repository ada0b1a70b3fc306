package page

import (
	"cmp"
	"slices"

	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// notes are what a phase has to say beside its result: what the page's author
// should know, and the error that ends the rendering.
type notes struct {
	said *report
	err  error
}

// report records a diagnostic at a place in a file.
func (n *notes) report(file string, pos mdx.Pos, severity mdx.Severity, code, message string) {
	n.said.add(mdx.Diagnostic{Severity: severity, Code: code, File: file, Line: pos.Line, Column: pos.Column, Message: message})
}

// fail keeps the first error.
func (n *notes) fail(err error) {
	if n.err == nil {
		n.err = err
	}
}

// maxDiagnostics bounds what one page reports: past it, more says nothing new.
const maxDiagnostics = 1000

// maxMessage bounds, in bytes, what one diagnostic says: addresses, names and ids
// that it repeats may have any length.
const maxMessage = 1000

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
	put(&r.has, d, struct{}{})
	r.list = append(r.list, d)
}

// sorted returns the diagnostics in document order, those of a file first.
func (r *report) sorted(source string) []mdx.Diagnostic {
	slices.SortStableFunc(r.list, func(a, b mdx.Diagnostic) int {
		first := func(d mdx.Diagnostic) int {
			if d.File == source {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return r.list
}
