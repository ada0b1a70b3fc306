package export

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/render/diagram"
	"github.com/bindery-docs/bindery/shared/render/frame"
	"github.com/bindery-docs/bindery/shared/render/reference"
	"github.com/bindery-docs/bindery/shared/render/script"
	"github.com/bindery-docs/bindery/shared/render/theme"
	"github.com/bindery-docs/bindery/shared/service/kept"
)

// Limits of what a site's pages may bring to its look. The first ones count,
// in the order of pages.
const (
	// maxLookClasses is how many class names are gathered; only
	// script.MaxClasses of them are given to the compiler.
	maxLookClasses = 20_000
	// maxLookStyles is how many rules of style attributes there may be; each
	// has some hundred bytes.
	maxLookStyles = 20_000
	// maxPolicySources is how many hosts of one directive a policy names: browsers
	// read it with every page. Past them it allows all of https.
	maxPolicySources = 100
)

// look gathers what the look of all pages needs.
type look struct {
	classes    map[string]struct{}
	maybe      map[string]struct{} // words that may become class names
	styles     map[string]string
	linked     bool // a page links the style sheet
	mermaid    bool
	zoom       bool // a page has large drawings
	math       bool // a page has formulas
	islands    bool // a page has living components
	reference  bool // a page shows a part of a specification
	playground bool // a page sends calls
	// needs are the sources of the pages' content, by directive.
	needs map[string]map[string]struct{}
}

func newLook() look {
	return look{
		classes: map[string]struct{}{}, maybe: map[string]struct{}{}, styles: map[string]string{}, needs: map[string]map[string]struct{}{},
	}
}

func (l *look) page(f *fact) {
	l.linked = l.linked || len(f.Classes) > 0 || len(f.Maybe) > 0 || len(f.Styles) > 0
	l.mermaid = l.mermaid || f.Mermaid
	l.zoom = l.zoom || f.Zoom
	l.math = l.math || f.Math
	l.islands = l.islands || f.Islands
	l.reference = l.reference || f.Reference
	l.playground = l.playground || f.Playground
	for directive, sources := range f.Sources {
		for _, source := range sources {
			if l.needs[directive] == nil {
				l.needs[directive] = map[string]struct{}{}
			}
			if len(l.needs[directive]) <= maxPolicySources {
				l.needs[directive][source] = struct{}{}
			}
		}
	}
	for _, c := range f.Classes {
		if len(l.classes) < maxLookClasses {
			l.classes[c] = struct{}{}
		}
	}
	for _, c := range f.Maybe {
		if len(l.maybe) < maxLookClasses {
			l.maybe[c] = struct{}{}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Styles)) {
		if len(l.styles) < maxLookStyles {
			l.styles[name] = f.Styles[name]
		}
	}
}

// addSources adds what a content security policy must allow for what pages hold
// to sources, which are what it must for all that stands around them.
func (l *look) addSources(sources map[string][]string) map[string][]string {
	for directive, needed := range l.needs {
		if len(needed) > maxPolicySources {
			needed = map[string]struct{}{"https:": {}}
			if directive == "style-src" { // hashes have no common form
				needed = map[string]struct{}{"'unsafe-inline'": {}}
				sources[directive] = nil
			}
		}
		for source := range needed {
			if !slices.Contains(sources[directive], source) {
				sources[directive] = append(sources[directive], source)
			}
		}
		slices.Sort(sources[directive])
	}
	if l.mermaid {
		// Mermaid's drawings carry their styles. Beside a hash browsers would
		// not honour the word, and it allows what the hash does.
		sources["style-src"] = []string{"'unsafe-inline'"}
	}
	return sources
}

// fixedFiles returns those files that pages' look needs that are the same for all
// sites.
func fixedFiles(l *look) ([]script.File, error) {
	var files []script.File
	if l.mermaid {
		runtime, err := script.Runtime()
		if err != nil {
			return nil, internal("Mermaid's runtime could not be read", err)
		}
		files = append(files, runtime...)
	}
	if l.zoom {
		path, data := diagram.Script()
		files = append(files, script.File{Path: path, Data: data})
	}
	if l.math {
		math, err := theme.Math()
		if err != nil {
			return nil, internal("the font of formulas could not be read", err)
		}
		for _, a := range math {
			files = append(files, script.File(a))
		}
	}
	if l.islands {
		file, err := script.Islands()
		if err != nil {
			return nil, internal("the runtime of components could not be read", err)
		}
		files = append(files, file)
	}
	if l.reference {
		files = append(files, script.File(reference.Styles()))
	}
	if l.playground {
		files = append(files, script.File(reference.Script()))
	}
	return files, nil
}

// lookFiles makes the files that pages' look needs, and reports the class names
// that no style sheet knows.
func (s *Steps) lookFiles(ctx context.Context, src *source, r *report) ([]script.File, error) {
	files, err := fixedFiles(&r.look)
	if err != nil || !r.look.linked {
		return files, err
	}
	sheet, err := s.classSheet(ctx, src, r, s.scripts.Utilities)
	if err != nil {
		return nil, err
	}
	return append(files, script.File{Path: frame.UtilitiesPath, Data: r.look.appendStyles(sheet)}), nil
}

// classSheet makes the styles of class names, by compile, and reports those that no
// style sheet knows.
func (s *Steps) classSheet(ctx context.Context, src *source, r *report, compile func(context.Context, []string) ([]byte, []string, error)) ([]byte, error) {
	sheet, unknown, err := s.sheetOf(ctx, src.kept, r.look.names(), compile)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// Pages without these styles are readable.
		s.opt.Log.LogAttrs(ctx, slog.LevelError, "utility classes got no styles", slog.String("job", src.input.Job.ID), slog.Any("error", err))
		r.findings.Add(check.ClassesFailed(src.site))
		r.cut = true
	}
	unknown = slices.DeleteFunc(unknown, func(name string) bool {
		_, written := r.look.classes[name]
		return !written
	})
	if d, ok := check.ClassesUnknown(src.site, src.fs, src.views.Theme().Assets(), unknown); ok {
		r.findings.Add(d)
	}
	return sheet, nil
}

// keptSheet is what is kept of the styles of a set of class names.
type keptSheet struct {
	Sheet   []byte
	Unknown []string
}

// sheetOf is compile, unless the styles of these names are kept: to make them takes
// a tenth of a second before the first name.
func (s *Steps) sheetOf(ctx context.Context, values *kept.Store, names []string, compile func(context.Context, []string) ([]byte, []string, error)) ([]byte, []string, error) {
	if values == nil {
		return compile(ctx, names)
	}
	names = slices.Clone(names)
	slices.Sort(names)
	names = slices.Compact(names)
	sum := sha256.New()
	for _, name := range names {
		fmt.Fprintf(sum, "%q\n", name)
	}
	key := s.keyOf("classes", sum.Sum(nil))
	var was keptSheet
	if data, ok := values.Get(key); ok && kept.Read(data, &was) == nil {
		return was.Sheet, was.Unknown, nil
	}
	sheet, unknown, err := compile(ctx, names)
	if err == nil {
		values.Put(key, kept.Append(nil, keptSheet{sheet, unknown}))
	}
	return sheet, unknown, err
}

// names are the class names that may need rules: those on pages first, and as
// many of those that may come to be as there is room for.
func (l *look) names() []string {
	names := slices.Collect(maps.Keys(l.classes))
	var more []string
	for name := range l.maybe {
		if _, known := l.classes[name]; !known {
			more = append(more, name)
		}
	}
	slices.Sort(more)
	room := max(0, script.MaxClasses-len(names))
	return append(names, more[:min(len(more), room)]...)
}

// appendStyles adds the rules of style attributes. They stand in no layer: as
// attributes they would win over all classes.
func (l *look) appendStyles(sheet []byte) []byte {
	for _, name := range slices.Sorted(maps.Keys(l.styles)) {
		sheet = fmt.Appendf(sheet, ".%s{%s}", name, l.styles[name])
	}
	return append(sheet, '\n')
}
