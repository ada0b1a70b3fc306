package check

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/css"
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
