package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/search"
)

// Survey is what only all pages of a site say together.
type Survey struct {
	// Findings are those of an export, in their order.
	Findings []check.Finding
	// Counts include findings that the list has no room for.
	Counts check.Counts
	// Pages is how many pages there are.
	Pages int
}

// Survey renders all pages that are not kept, one after another, and makes the search
// index. rest is called before each page: it may wait for more urgent work.
func (l *Live) Survey(ctx context.Context, rest func()) (*Survey, error) {
	r := &report{findings: check.NewList(l.src.site, l.rules), look: newLook()}
	if l.src.finder != nil {
		r.divisions = l.src.finder.Divisions()
	}
	if d := searchNotice(l.src.site, l.src.input); d != nil {
		r.findings.Add(*d)
	}
	specs, err := l.specFindings()
	if err != nil {
		return nil, err
	}
	broken, err := check.BrokenFiles(l.src.site, l.src.fs)
	if err != nil {
		return nil, err
	}
	for _, d := range slices.Concat(l.src.views.Notices(), l.found, specs, broken) {
		r.findings.Add(d)
	}
	w := &unitWriter{unitResult: new(unitResult), src: l.src}
	contents := sha256.New()
	files, ends := map[string][]byte{}, pageEnds(l.src.site) // of the search index; where its texts end
	addFile := func(name string, data []byte) error {
		files[name] = bytes.Clone(data)
		return nil
	}
	for i := range l.src.site.Pages {
		if l.src.site.Pages[i].Excluded {
			continue
		}
		rest()
		b, err := l.keep(ctx, i, false)
		if err != nil {
			return nil, err
		}
		value := b.page
		found, changed, err := w.addFound(i, &value, true)
		if err != nil {
			return nil, internal("a page could not be put into the search index", err)
		}
		if changed {
			l.kept.weighed(l.src.site.Pages[i].Output, &value)
		}
		contents.Write(value.Content)
		r.page(factOf(l.src.site, i, &value.Result, found, 0))
		r.total.Pages++
		if ends[i] {
			if err := w.index.EndTexts(addFile); err != nil {
				return nil, internal("the search index could not be made", err)
			}
		}
	}
	if r.look.linked {
		if _, err := l.steps.classSheet(ctx, l.src, r, l.compile); err != nil {
			return nil, err
		}
	}
	out := &Survey{Pages: r.total.Pages}
	out.Counts, err = r.findings.Finish(func(f check.Finding) error {
		out.Findings = append(out.Findings, f)
		return nil
	})
	if err == nil && l.src.finder != nil {
		b := search.NewBuilder(r.divisions, addFile)
		err = l.searchIndex(ctx, b, &w.index, files, [sha256.Size]byte(contents.Sum(nil)))
	}
	return out, err
}

// specFindings returns what is found in specifications once all that pages show of
// them was cut.
func (l *Live) specFindings() ([]mdx.Diagnostic, error) {
	for i := range l.src.site.Pages {
		if l.src.site.Pages[i].Excluded {
			continue
		}
		if _, err := l.slice(i); err != nil {
			return nil, err
		}
	}
	l.cutting.Lock()
	defer l.cutting.Unlock()
	*l.cut = append(*l.cut, l.specs.Diagnostics()...)
	return slices.Clone(*l.cut), nil
}

// Found returns the findings on one page alone: links to places on other pages are
// not followed.
func (l *Live) Found(ctx context.Context, i int) ([]check.Finding, error) {
	b, err := l.keep(ctx, i, false)
	if err != nil {
		return nil, err
	}
	facts := check.FactsOf(l.src.site, i, &b.page.Result)
	facts.Links = nil
	list := check.NewList(l.src.site, l.rules)
	for _, d := range l.found {
		if d.File == l.src.site.Pages[i].Source {
			list.Add(d)
		}
	}
	list.AddPage(&facts)
	var out []check.Finding
	_, err = list.Finish(func(f check.Finding) error {
		out = append(out, f)
		return nil
	})
	return out, err
}

// Sources returns the files that a page is made from: its own, and those that it
// includes.
func (l *Live) Sources(ctx context.Context, i int) ([]string, error) {
	b, err := l.keep(ctx, i, false)
	if err != nil {
		return nil, err
	}
	return append([]string{l.src.site.Pages[i].Source}, b.page.Result.Inputs.Files...), nil
}

// Broken reports whether a finding is about a source that can't be read: what it
// says is not on its page.
func Broken(f check.Finding) bool {
	return f.Code == mdx.CodeSyntax || f.Code == check.CodePageFailed || f.Code == "front-matter"
}

// weighed keeps what a page has in the search index.
func (k *liveKept) weighed(html string, value *keptPage) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if b := k.bodies[html]; b != nil {
		more := *b
		more.page.Content, more.page.Weighed = value.Content, value.Weighed
		k.bodies[html] = &more
	}
}

// liveSearch are the files of the search index.
type liveSearch struct {
	mu       sync.Mutex
	contents [sha256.Size]byte // that they were made from
	files    map[string][]byte
}

func (s *liveSearch) file(name string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[name]
}

// searchIndex makes the search index in files, which b adds to, unless the pages say
// what they said before.
func (l *Live) searchIndex(ctx context.Context, b *search.Builder, part *search.Part, files map[string][]byte, contents [sha256.Size]byte) error {
	s := &l.kept.search
	s.mu.Lock()
	same := s.files != nil && s.contents == contents
	s.mu.Unlock()
	if same {
		return nil
	}
	for line := range bytes.Lines(part.Pages()) {
		if err := b.Page(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return internal("the search index could not be made", err)
		}
	}
	var terms bytes.Buffer
	err := part.WriteTerms(&terms)
	if err == nil {
		err = b.Terms(ctx, []io.Reader{&terms})
	}
	if err == nil {
		err = b.Close()
	}
	if err != nil {
		return internal("the search index could not be made", err)
	}
	s.mu.Lock()
	s.files, s.contents = files, contents
	s.mu.Unlock()
	return nil
}

// liveSheet is the style sheet of class names that was made last.
type liveSheet struct {
	mu      sync.Mutex
	names   map[string]struct{}
	css     []byte
	unknown []string
}

// compile makes the styles of these class names, unless it made them last.
func (l *Live) compile(ctx context.Context, names []string) ([]byte, []string, error) {
	sheet := &l.kept.sheet
	sheet.mu.Lock()
	defer sheet.mu.Unlock()
	wanted := make(map[string]struct{}, len(names))
	for _, name := range names {
		wanted[name] = struct{}{}
	}
	if sheet.names == nil || !maps.Equal(wanted, sheet.names) {
		css, unknown, err := l.steps.scripts.Utilities(ctx, names)
		if err != nil {
			return nil, nil, err
		}
		sheet.names, sheet.css, sheet.unknown = wanted, css, unknown
	}
	return slices.Clip(sheet.css), slices.Clone(sheet.unknown), nil
}

// utilities makes the style sheet of the class names on all pages that were
// rendered so far.
func (l *Live) utilities(ctx context.Context) ([]byte, error) {
	all := newLook()
	l.kept.mu.Lock()
	for html, b := range l.kept.bodies {
		if _, ok := l.pages[html]; ok {
			res := &b.page.Result
			all.page(&fact{Classes: res.Classes, Maybe: res.MaybeClasses, Styles: res.Styles})
		}
	}
	l.kept.mu.Unlock()
	names := all.names()
	sheet := &l.kept.sheet
	sheet.mu.Lock()
	known := sheet.names != nil && !slices.ContainsFunc(names, func(name string) bool {
		_, ok := sheet.names[name]
		return !ok
	})
	css := slices.Clip(sheet.css)
	sheet.mu.Unlock()
	if !known { // one that has more is as good
		var err error
		if css, _, err = l.compile(ctx, names); err != nil {
			return nil, internal("the styles of classes could not be made", err)
		}
	}
	return all.appendStyles(css), nil
}
