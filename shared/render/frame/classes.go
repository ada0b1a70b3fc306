package frame

import (
	"strings"
	"sync"

	"github.com/bindery-docs/bindery/shared/render/component"
	"github.com/bindery-docs/bindery/shared/render/css"
	"github.com/bindery-docs/bindery/shared/render/diagram"
	"github.com/bindery-docs/bindery/shared/render/highlight"
	"github.com/bindery-docs/bindery/shared/render/search"
	"github.com/bindery-docs/bindery/shared/render/theme"
)

// ownClasses are the classes that the style sheets of all sites have rules for.
var ownClasses = sync.OnceValue(func() map[string]bool {
	own := map[string]bool{}
	for _, sheet := range []string{theme.CSS(), component.CSS(), highlight.CSS(), diagram.CSS(), search.CSS()} {
		for name := range css.Classes([]byte(sheet)) {
			if !forAuthors(name) {
				own[name] = true
			}
		}
	}
	return own
})

// forAuthors reports whether a class is there for authors to use, or marks a page's
// state.
func forAuthors(name string) bool {
	switch name {
	case "prose", "not-prose", "mdx-content", "only-light", "only-dark", "sr-only", "hidden", "dark", "js":
		return true
	}
	// Signatures that TypeDoc wrote have the styles that it means.
	return strings.Contains(name, ":") || strings.HasPrefix(name, "mode-") || strings.HasPrefix(name, "tsd-")
}

// OwnClass reports whether a class is one of the theme's own, or of a component's,
// which an author's element of the same class must not look like.
func OwnClass(name string) bool { return ownClasses()[name] }
