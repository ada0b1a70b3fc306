package site

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/redirect"
	"github.com/bindery-docs/bindery/shared/render/mdx"
)

// Concealed lists what a bundle must not name, besides Site.Withheld.
type Concealed struct {
	// Names are titles, labels and groups, in lower case.
	Names []string `json:",omitempty"`
	// Spans are the parts of the configuration that are left out.
	Spans []Span `json:",omitempty"`
}

// Span is a part of a file, from one place to another. Lines and columns begin at 1.
type Span struct {
	File                             string
	Line, Column, EndLine, EndColumn int
}

func (s *Span) has(d *mdx.Diagnostic) bool {
	after := cmp.Or(cmp.Compare(d.Line, s.Line), cmp.Compare(d.Column, s.Column))
	before := cmp.Or(cmp.Compare(d.Line, s.EndLine), cmp.Compare(d.Column, s.EndColumn))
	return s.File == d.File && after >= 0 && before <= 0
}

func (c *Concealed) add(names ...string) {
	for _, n := range names {
		if n != "" {
			c.Names = append(c.Names, strings.ToLower(n))
		}
	}
}

// conceal notes a part of the navigation that is left out, and what is below it.
func (w *restrictor) conceal(n *Node) {
	w.site.Concealed.add(n.Label)
	if n.at != nil {
		if w.concealed == nil {
			w.concealed = make(map[*value]bool)
		}
		w.concealed[n.at] = true
		spans := map[string]*Span{}
		n.at.span(spans)
		for _, file := range slices.Sorted(maps.Keys(spans)) {
			w.site.Concealed.Spans = append(w.site.Concealed.Spans, *spans[file])
		}
	}
	for _, c := range n.Children {
		w.conceal(c)
	}
}

// span widens the spans of the files that hold the value and all values below it.
func (v *value) span(spans map[string]*Span) {
	if v == nil {
		return
	}
	s := spans[v.file]
	if s == nil {
		s = &Span{v.file, v.line, v.column, v.line, v.column}
		spans[v.file] = s
	}
	if cmp.Or(cmp.Compare(v.line, s.Line), cmp.Compare(v.column, s.Column)) < 0 {
		s.Line, s.Column = v.line, v.column
	}
	if cmp.Or(cmp.Compare(v.line, s.EndLine), cmp.Compare(v.column, s.EndColumn)) > 0 {
		s.EndLine, s.EndColumn = v.line, v.column
	}
	for _, i := range v.list() {
		i.span(spans)
	}
	for _, m := range v.members() {
		m.val.span(spans)
	}
}

// Unnamed returns a function that reports whether a finding names restricted content, or
// may name it. A bundle must not list such a finding.
func (s *Site) Unnamed() func(d *mdx.Diagnostic) bool {
	withheld, names := make(addresses), make(map[string]bool)
	for i := range s.Withheld {
		w := &s.Withheld[i]
		for _, name := range [...]string{w.Address, w.Source} {
			if name = strings.ToLower(name); name != "" {
				withheld[name] = i
				withheld.addShort(name, i)
			}
		}
	}
	for _, n := range s.Concealed.Names {
		names[n] = true
	}
	tells := func(word string) bool {
		word, _, _ = strings.Cut(word, "#")
		word, _, _ = strings.Cut(word, "?")
		word = strings.TrimPrefix(path.Clean("/"+unescape(strings.TrimRight(word, ".:,;"))), "/")
		_, is := withheld.lookup(word)
		return is && word != ""
	}
	return func(d *mdx.Diagnostic) bool {
		switch {
		case strings.HasSuffix(d.Code, "-restricted"):
			return true
		case len(withheld)+len(names)+len(s.Concealed.Spans) == 0:
			return false
		case strings.HasPrefix(d.Code, "front-matter-un"): // of the heads of all pages
			return true
		case tells(strings.ToLower(d.File)), slices.ContainsFunc(s.Concealed.Spans, func(s Span) bool { return s.has(d) }):
			return true
		}
		text := strings.ToLower(d.Message)
		for i, part := range strings.Split(text, `"`) {
			if i%2 == 1 && (names[part] || tells(part)) {
				return true
			}
		}
		return slices.ContainsFunc(strings.FieldsFunc(text, func(c rune) bool { return c <= ' ' || strings.ContainsRune("\"'`()[]<>", c) }), tells)
	}
}

// namesWithheld returns what reports whether a redirect with wildcards names a folder,
// or the beginning of a name, that nothing but what is withheld has.
func (s *Site) namesWithheld() func(Redirect) bool {
	if len(s.Withheld) == 0 {
		return func(Redirect) bool { return false }
	}
	var gone, there []string
	for i := range s.Withheld {
		gone = append(gone, strings.ToLower(s.Withheld[i].Address))
	}
	for i := range s.Pages {
		there = append(there, strings.ToLower(s.Pages[i].Address))
	}
	for _, f := range s.Files {
		there = append(there, strings.ToLower(f))
	}
	slices.Sort(gone)
	slices.Sort(there)
	begins := func(sorted []string, prefix string) bool {
		i, _ := slices.BinarySearch(sorted, prefix)
		return i < len(sorted) && strings.HasPrefix(sorted[i], prefix)
	}
	names := func(path string) bool {
		i := strings.IndexAny(path, ":*")
		if i < 0 {
			return false
		}
		prefix := strings.ToLower(strings.TrimLeft(path[:i], "/"))
		return prefix != "" && begins(gone, prefix) && !begins(there, prefix)
	}
	return func(d Redirect) bool {
		to, inside := s.inside(d.Destination)
		return names(redirect.Parse(d.Source).Path) || inside && names(to)
	}
}
