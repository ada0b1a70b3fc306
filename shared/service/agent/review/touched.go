package review

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/site"
)

// touched lists the pages and files to review of a site in one state.
type touched struct {
	pages []int    // by their index, in the order of the site
	files []string // files that are no pages
	left  int      // how many pages that use what changed are not in pages
	// sources are those of pages.
	sources map[string]bool
}

// touched returns the pages that changed or that use a file that changed, and the other
// changed files. All changed pages come first, then the others: those with the sources in
// only, or the first most if only is nil. Again names files that count as changed although
// they did not.
func (st *state) touched(changed, again, only map[string]bool, most int) touched {
	all := maps.Clone(changed)
	maps.Copy(all, again)
	t := touched{sources: map[string]bool{}}
	if st.live == nil {
		t.files = slices.Sorted(maps.Keys(all))
		return t
	}
	known := st.live.Site()
	isPage, isSpec := map[string]bool{}, map[string]bool{}
	for _, p := range known.Pages {
		isPage[p.Source], isSpec[p.From] = true, true
		if p.Reference != nil {
			isSpec[p.Reference.File] = true
		}
	}
	parts := map[string]bool{} // files that pages may use
	whole := false             // the configuration changed
	for name := range all {
		if isPage[name] {
			continue
		}
		t.files = append(t.files, name)
		parts[name] = true
		if path.Ext(name) == ".json" && changed[name] && !isSpec[name] {
			whole = whole || name == known.ConfigFile || strings.HasPrefix(path.Base(name), "docs.") || strings.HasPrefix(path.Base(name), "mint.") || st.configured(name)
		}
	}
	slices.Sort(t.files)
	uses := st.users(parts)
	var others []int
	for i := range known.Pages {
		p := &known.Pages[i]
		if p.Excluded {
			continue
		}
		switch {
		case all[p.Source]:
			t.pages = append(t.pages, i)
		case only != nil:
			if only[p.Source] {
				t.pages = append(t.pages, i)
			}
		case whole, uses[p.Source], p.From != "" && all[p.From], p.Reference != nil && all[p.Reference.File]:
			others = append(others, i)
		}
	}
	if n := len(others); only == nil && n > most {
		t.left, others = n-most, others[:most]
	}
	t.pages = append(t.pages, others...)
	for _, i := range t.pages {
		t.sources[known.Pages[i].Source] = true
	}
	return t
}

// frame adds the first page of the site.
func (t *touched) frame(st *state) {
	if st.live == nil {
		return
	}
	first := slices.IndexFunc(st.live.Site().Pages, func(p site.Page) bool { return !p.Excluded })
	if first >= 0 && !slices.Contains(t.pages, first) {
		t.pages = append(t.pages, first)
	}
}

// configured reports whether the configuration refers to a file by its name.
func (st *state) configured(name string) bool {
	b, err := fs.ReadFile(st.files, st.live.Site().ConfigFile)
	return err == nil && bytes.Contains(b, []byte(path.Base(name)))
}

// users returns the files that use one of parts, or a file that does. A file counts as
// one that uses another if its text has the other's name, with or without its extension.
func (st *state) users(parts map[string]bool) map[string]bool {
	found := map[string]bool{}
	if len(parts) == 0 {
		return found
	}
	texts := map[string][]byte{}
	for _, name := range st.paths {
		switch path.Ext(name) {
		case ".mdx", ".md", ".jsx", ".tsx", ".js", ".ts":
			if b, err := fs.ReadFile(st.files, name); err == nil {
				texts[name] = b
			}
		}
	}
	for next := slices.Sorted(maps.Keys(parts)); len(next) > 0; {
		var names [][]byte
		for _, p := range next {
			base := path.Base(p)
			stem := strings.TrimSuffix(base, path.Ext(base))
			for _, n := range []string{base, "/" + stem + `"`, "/" + stem + "'", `"` + stem + `"`, "'" + stem + "'"} {
				names = append(names, []byte(n))
			}
		}
		next = nil
		for name, text := range texts {
			if found[name] || !slices.ContainsFunc(names, func(n []byte) bool { return bytes.Contains(text, n) }) {
				continue
			}
			found[name] = true
			if !parts[name] {
				next = append(next, name)
			}
		}
	}
	return found
}
