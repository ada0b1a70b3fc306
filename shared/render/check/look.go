package check

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/render/css"
	"github.com/bindery-docs/bindery/shared/render/frame"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme"
)

const (
	// namedClasses is how many unknown names a finding lists.
	namedClasses = 40
	// maxSiteStyle is how much of a site's style sheet is searched for class names,
	// in bytes.
	maxSiteStyle = 4 << 20
)

// ClassesUnknown returns the finding about class names that are neither utilities nor
// in another style sheet. ok is false if there are no such names.
func ClassesUnknown(s *site.Site, fsys fs.FS, assets []theme.Asset, names []string) (d mdx.Diagnostic, ok bool) {
	unknown := strangers(s, fsys, assets, names)
	if len(unknown) == 0 {
		return d, false
	}
	slices.Sort(unknown)
	listed := strings.Join(unknown[:min(len(unknown), namedClasses)], ", ")
	if len(unknown) > namedClasses {
		listed += ", …"
	}
	return mdx.Diagnostic{
		Severity: mdx.Notice, Code: "class-unknown", File: s.ConfigFile,
		Message: fmt.Sprintf("no style sheet has a rule for %d of the class names on pages: %s", len(unknown), listed),
	}, true
}

// ClassesFailed returns the finding about a site whose class names could not be made
// into styles.
func ClassesFailed(s *site.Site) mdx.Diagnostic {
	return mdx.Diagnostic{
		Severity: mdx.Warning, Code: "classes-failed", File: s.ConfigFile,
		Message: "the pages' class names could not be made into styles",
	}
}

// strangers removes the names that the theme or the site's own style sheets have
// rules for, and those that only mark an element for other rules.
func strangers(s *site.Site, fsys fs.FS, assets []theme.Asset, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	known := map[string]bool{}
	read := func(sheet []byte) {
		for name := range css.Classes(sheet) {
			known[name] = true
		}
	}
	for _, a := range assets {
		if strings.HasSuffix(a.Path, ".css") {
			read(a.Data)
		}
	}
	for _, name := range s.Styles {
		name := s.SourceOf(name)
		if info, err := fs.Stat(fsys, name); err != nil || info.Size() > maxSiteStyle {
			continue
		}
		if data, err := fs.ReadFile(fsys, name); err == nil {
			read(data)
		}
	}
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		base := n[strings.LastIndexByte(n, ':')+1:]
		hook, _, _ := strings.Cut(base, "/")
		return known[n] || hook == "group" || hook == "peer" || base == "dark" || base == "prose" || strings.HasPrefix(base, "prose-")
	})
}

// Contrast returns the findings about colours of the site that nobody could read, for
// which readers get others. The error is about reading the configuration.
func Contrast(s *site.Site, fsys fs.FS) ([]mdx.Diagnostic, error) {
	all := theme.Corrections(frame.Colors(s))
	if len(all) == 0 {
		return nil, nil
	}
	src, err := fs.ReadFile(fsys, s.ConfigFile)
	if err != nil {
		return nil, err
	}
	root, _ := json.Parse(src, json.Options{Depth: maxNesting, Lenient: true}) // or no place is known
	var found []mdx.Diagnostic
	for _, c := range all {
		names := []string{"colors", c.Name}
		if c.Page {
			names = []string{"background", "color", c.Name}
		}
		at := root
		for _, name := range names {
			if at != nil {
				at = at.Fields().Take(name)
			}
		}
		d := mdx.Diagnostic{Severity: mdx.Info, Code: "color-contrast", File: s.ConfigFile, Message: c.String()}
		if at != nil {
			d.Line, d.Column = at.Line, at.Column
		}
		found = append(found, d)
	}
	return found, nil
}
