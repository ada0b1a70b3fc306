package theme

import (
	"bytes"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/capability"
)

// hookIDs are the ids that the source language documents for authors' styles and
// scripts, where elements of ours have them: see package capability.
var hookIDs = func() map[string]bool {
	ids := map[string]bool{}
	for row := range capability.All(capability.Hook) {
		if id, ok := strings.CutPrefix(row.Name, "#"); ok {
			ids[id] = true
		}
	}
	return ids
}()

// themes are the looks of the source language, which are classes of html.
var themes = map[string]bool{
	"mint": true, "maple": true, "palm": true, "willow": true, "linden": true, "almond": true, "aspen": true, "sequoia": true, "luma": true,
}

// takenIDs returns those of hookIDs that what authors wrote has too: a heading
// called "Footer" is what the fragment "#footer" leads to. It is nil for none.
func takenIDs(v *View) map[string]bool {
	var taken map[string]bool
	parts := [][]byte{v.Body, v.Lead}
	if v.Banner != nil {
		parts = append(parts, v.Banner.HTML)
	}
	for _, rest := range parts {
		for {
			_, after, found := bytes.Cut(rest, []byte(` id="`))
			if !found {
				break
			}
			id, _, _ := bytes.Cut(after, []byte{'"'})
			if hookIDs[string(id)] {
				if taken == nil {
					taken = map[string]bool{}
				}
				taken[string(id)] = true
			}
			rest = after
		}
	}
	return taken
}

// id appends a hook's id with a space before it, unless the page has it itself.
func (v *View) id(dst []byte, name string) []byte {
	if v.taken[name] {
		return dst
	}
	return append(append(append(dst, ` id="`...), name...), '"')
}
