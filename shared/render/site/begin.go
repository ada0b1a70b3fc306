package site

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
)

// Begin returns a docs.json for a folder of pages that has none, and how many pages
// its navigation names. paths are the folder's files. The pages of each folder are a
// group, the index first and the others by name, with a group for each folder inside.
func Begin(name string, paths []string) (config []byte, pages int, err error) {
	var root beginning
	seen := make(map[string]bool)
	for _, p := range paths {
		address := strings.TrimSuffix(p, path.Ext(p))
		if classify(p, func(string) bool { return false }) != pageFile || Reserved(p) || seen[address] {
			continue
		}
		seen[address] = true
		root.add(address, path.Dir(address))
		pages++
	}
	type entries struct {
		Group string `json:"group,omitempty"`
		Pages []any  `json:"pages,omitempty"`
		// Groups are those of the navigation itself, which has groups or pages.
		Groups []any `json:"groups,omitempty"`
	}
	var below func(b *beginning) (pages, groups []any)
	below = func(b *beginning) (pages, groups []any) {
		slices.SortFunc(b.pages, func(x, y string) int {
			return cmp.Or(-cmp.Compare(indexed(x), indexed(y)), cmp.Compare(x, y))
		})
		for _, address := range b.pages {
			pages = append(pages, address)
		}
		for _, folder := range slices.Sorted(maps.Keys(b.folders)) {
			inner, more := below(b.folders[folder])
			groups = append(groups, entries{Group: titleOf(folder), Pages: append(inner, more...)})
		}
		return pages, groups
	}
	top, groups := below(&root)
	navigation := entries{Pages: top}
	if len(groups) > 0 {
		if len(top) > 0 {
			groups = append([]any{entries{Group: name, Pages: top}}, groups...)
		}
		navigation = entries{Groups: groups}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	err = e.Encode(struct {
		Schema     string  `json:"$schema"`
		Name       string  `json:"name"`
		Colors     any     `json:"colors"`
		Navigation entries `json:"navigation"`
	}{"https://mintlify.com/docs.json", name, map[string]string{"primary": "#0f766e"}, navigation})
	return out.Bytes(), pages, err
}

// beginning is the pages of a folder, by address, and the folders inside.
type beginning struct {
	pages   []string
	folders map[string]*beginning
}

// add puts a page into the folder of the path dir, which is "." for b itself.
func (b *beginning) add(address, dir string) {
	for dir != "." {
		first, rest, more := strings.Cut(dir, "/")
		if b.folders == nil {
			b.folders = make(map[string]*beginning)
		}
		if b.folders[first] == nil {
			b.folders[first] = &beginning{}
		}
		b, dir = b.folders[first], rest
		if !more {
			break
		}
	}
	b.pages = append(b.pages, address)
}

// indexed returns 1 for the page of a folder itself and 0 for others.
func indexed(address string) int {
	if path.Base(address) == "index" {
		return 1
	}
	return 0
}
