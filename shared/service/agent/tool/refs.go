package tool

import (
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/edit"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// importPath returns the file of the sources that an address in the file p names;
// "" for a module of elsewhere.
func importPath(p, value string) string {
	switch {
	case strings.Contains(value, "://"):
		return ""
	case strings.HasPrefix(value, "/"):
		return strings.TrimPrefix(path.Clean(value), "/")
	case strings.HasPrefix(value, "."):
		return path.Join(path.Dir(p), value)
	}
	return ""
}

// sources returns the files of the site whose addresses are known.
func (t *Tree) sources() []string {
	var all []string
	for _, p := range t.files() {
		if isSource(p) && t.text(p) && !dotted(p) {
			all = append(all, p)
		}
	}
	return all
}

// sourceOf returns the file that a target is or is made from, "" for none of the
// site's.
func sourceOf(s *site.Site, target site.Target) string {
	switch target.Kind {
	case site.ToPage, site.ToAnchor:
		if target.Page >= 0 {
			return s.Pages[target.Page].Source
		}
	case site.ToFile:
		return target.Path
	}
	return ""
}

// pageOf returns the index of the page that is made from a source, or -1.
func pageOf(s *site.Site, source string) int {
	i, ok := slices.BinarySearchFunc(s.Pages, source, func(p site.Page, want string) int { return strings.Compare(p.Source, want) })
	if !ok {
		i = slices.IndexFunc(s.Pages, func(p site.Page) bool { return p.Source == source })
	}
	return i
}

// pathPart returns the part of an address before its query and fragment.
func pathPart(address string) string {
	if i := strings.IndexAny(address, "?#"); i >= 0 {
		return address[:i]
	}
	return address
}

// isElsewhere reports whether an address leads out of the site or only to a place on
// its own page.
func isElsewhere(address string) bool {
	address = strings.TrimSpace(address)
	part := pathPart(address)
	return part == "" || strings.HasPrefix(part, "//") || strings.Contains(strings.SplitN(part, "/", 2)[0], ":") || strings.Contains(part, "{{")
}

// isSource reports whether a file's addresses can be found: it is a page, a snippet or
// a script with imports.
func isSource(p string) bool { return isPage(p) || edit.IsScript(p) }
