package site

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/reference"
)

// maxMentioning is the size, in bytes, of files up to which they are looked
// through for names of other files.
const maxMentioning = 16 << 20

// restrictFiles leaves out static files, and reports them: those that hold what
// is for other readers by their own word, and those that nothing but what is left
// out names. paths are all files of the site.
func (r *configReader) restrictFiles(s *Site, specs *reference.Reader, paths []string, prefetch func(context.Context, []string) error) error {
	data := slices.DeleteFunc(s.sources(), func(f string) bool {
		ext := path.Ext(f)
		return ext != ".json" && ext != ".yaml" && ext != ".yml"
	})
	if err := r.eachFile(data, prefetch, specs.Look); err != nil {
		return err
	}
	for _, f := range specs.RestrictedFiles() {
		r.withhold(s, f, "parts of it are for groups of readers whom this export does not let in")
	}
	for i := range s.Pages {
		if ref := s.Pages[i].Reference; ref != nil {
			delete(r.specsGone, ref.File)
		}
	}
	for _, f := range slices.Sorted(maps.Keys(r.specsGone)) {
		r.withhold(s, f, "only pages that are left out show it")
	}
	var sources []string
	for _, w := range s.Withheld {
		if ext := path.Ext(w.Source); ext == ".mdx" || ext == ".md" {
			if _, found := slices.BinarySearch(paths, w.Source); found { // else it is made of a specification
				sources = append(sources, w.Source)
			}
		}
	}
	only, err := r.onlyNamedBy(s, sources, paths, prefetch)
	if err != nil {
		return err
	}
	for _, f := range only {
		r.withhold(s, f, "only pages that are left out name it")
	}
	return nil
}

// sources returns the paths in the site of its static files.
func (s *Site) sources() []string {
	list := make([]string, len(s.Files))
	for i, name := range s.Files {
		list[i] = s.SourceOf(name)
	}
	return list
}

// withhold takes a static file out of the site.
func (r *configReader) withhold(s *Site, file, why string) {
	i := slices.IndexFunc(s.Files, func(name string) bool { return s.SourceOf(name) == file })
	if i < 0 {
		return
	}
	delete(s.Renamed, s.Files[i])
	s.Files = slices.Delete(s.Files, i, i+1)
	s.Withheld = append(s.Withheld, Withheld{Address: file, Source: file})
	r.diags = append(r.diags, mdx.Diagnostic{
		Severity: mdx.Notice, Code: "file-restricted", File: file, Message: fmt.Sprintf("the file is left out: %s", why),
	})
}

// onlyNamedBy returns the static files that the sources name and no other file of
// the site does, by their names without folders: so that of two files of one name
// both stay. Style sheets and scripts are every page's.
func (r *configReader) onlyNamedBy(s *Site, sources, paths []string, prefetch func(context.Context, []string) error) ([]string, error) {
	if len(s.Withheld) == 0 {
		return nil, nil
	}
	static := make(map[string][]string, len(s.Files))
	for _, f := range s.sources() {
		if ext := path.Ext(f); ext != ".css" && ext != ".js" {
			static[path.Base(f)] = append(static[path.Base(f)], f)
		}
	}
	named := make(map[string]bool)
	err := r.eachFile(sources, prefetch, r.names(static, func(name string) { named[name] = true }))
	if err != nil || len(named) == 0 {
		return nil, err
	}
	gone := make(map[string]bool, len(s.Withheld))
	for _, w := range s.Withheld {
		gone[w.Source] = true
	}
	others := slices.DeleteFunc(slices.Clone(paths), func(f string) bool {
		switch path.Ext(f) {
		case ".mdx", ".md", ".jsx", ".tsx", ".js", ".ts", ".css", ".html", ".svg", ".txt", ".json", ".yaml", ".yml":
			return gone[f]
		}
		return true
	})
	err = r.eachFile(others, prefetch, r.names(static, func(name string) { delete(named, name) }))
	if err != nil {
		return nil, err
	}
	var out []string
	for name := range named {
		out = append(out, static[name]...)
	}
	slices.Sort(out)
	return out, nil
}

// names returns what calls found with each name of a static file that stands in
// a file.
func (r *configReader) names(static map[string][]string, found func(name string)) func(file string) error {
	return func(file string) error {
		info, err := fs.Stat(r.fsys, file)
		if err != nil || info.Size() > maxMentioning {
			return err
		}
		src, err := fs.ReadFile(r.fsys, file)
		if err != nil {
			return err
		}
		words := strings.FieldsFuncSeq(string(src), func(c rune) bool {
			return c <= ' ' || strings.ContainsRune("/\\\"'`()[]{}<>#?,;:|=", c)
		})
		for w := range words {
			w = unescape(w)
			if _, ok := static[w]; !ok {
				w = strings.TrimRight(w, ".!*_")
			}
			if _, ok := static[w]; ok {
				found(w)
			}
		}
		return nil
	}
}

// eachFile calls look with each file, after some were announced together.
func (r *configReader) eachFile(files []string, prefetch func(context.Context, []string) error, look func(file string) error) error {
	for some := range slices.Chunk(files, prefetchPages) {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if prefetch != nil {
			if err := prefetch(r.ctx, some); err != nil {
				return err
			}
		}
		for _, f := range some {
			if err := look(f); err != nil {
				return err
			}
		}
	}
	return nil
}
