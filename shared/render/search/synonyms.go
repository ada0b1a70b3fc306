package search

import (
	_ "embed" // for the list below
	"strings"
	"sync"
)

//go:embed assets/synonyms.txt
var synonymLines string

// synonyms returns the groups of words for the same in a language (BCP 47), as
// the list has them; none where it does not know the language.
func synonyms(language string) string {
	language, _, _ = strings.Cut(strings.ToLower(language), "-")
	return synonymGroups()[language]
}

// synonymGroups reads the list: groups by language.
var synonymGroups = sync.OnceValue(func() map[string]string {
	out := make(map[string]string)
	language := ""
	for line := range strings.Lines(synonymLines) {
		line = strings.TrimSuffix(line, "\n")
		switch l, groups, ok := strings.Cut(line, ": "); {
		case strings.HasPrefix(line, "#"):
		case ok:
			language, out[l] = l, groups
		default:
			out[language] += ";" + strings.TrimSpace(line)
		}
	}
	return out
})
