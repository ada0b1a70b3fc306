package site

import (
	"context"
	"fmt"
	"html"
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
// is for other readers by their own word, those of which pages are left out, and
// those that nothing but what is left out names. paths are all files of the site.
func (r *configReader) restrictFiles(s *Site, config *value, specs *reference.Reader, paths []string, prefetch func(context.Context, []string) error) error {
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
	shown := make(map[string]bool)
	for i := range s.Pages {
		if ref := s.Pages[i].Reference; ref != nil {
			shown[ref.File] = true
		}
	}
	for _, f := range slices.Sorted(maps.Keys(r.specsGone)) {
		if shown[f] {
			r.withhold(s, f, "pages that show parts of it are left out")
			delete(r.specsGone, f)
			continue
		}
		r.withhold(s, f, "only pages that are left out show it")
	}
	only, err := r.onlyNamedBy(s, config, paths, prefetch)
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

// onlyNamedBy returns the static files that are named by what is left out, by its
// snippets or by files that these name, and by nothing that the bundle is made of.
// Style sheets and scripts are every page's.
func (r *configReader) onlyNamedBy(s *Site, config *value, paths []string, prefetch func(context.Context, []string) error) ([]string, error) {
	if len(s.Withheld)+len(r.concealed) == 0 {
		return nil, nil
	}
	n := newNaming(s, paths)
	pages, gone := make(map[string]bool, len(s.Pages)), make(map[string]bool, len(s.Withheld))
	for i := range s.Pages {
		pages[s.Pages[i].Source] = true
	}
	for _, w := range s.Withheld {
		gone[w.Source] = true
	}
	left := func(f string) bool { return gone[f] && (isPage(f) || r.specsGone[f]) } // nothing of it is in the bundle
	configs := map[string]bool{"docs.json": true, "mint.json": true, RulesFile: true}
	configFiles(config, configs)

	// What is left out names these.
	private := make(map[string]bool)
	var first []string
	r.texts(config, false, func(file, text string) { first = append(first, n.named(file, text)...) })
	for _, p := range paths {
		if left(p) {
			first = append(first, p)
		}
	}
	follow := func(found map[string]bool, next []string, enter func(string) bool) error {
		for len(next) > 0 {
			var read []string
			for _, f := range next {
				if enter(f) && !found[f] {
					found[f] = true
					if mayName(f) {
						read = append(read, f)
					}
				}
			}
			next = nil
			err := r.eachFile(read, prefetch, func(file string) error {
				names, err := r.namedIn(n, file)
				next = append(next, names...)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := follow(private, first, func(f string) bool { return !pages[f] && !configs[f] }); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(s.sources(), func(f string) bool { return private[f] }) {
		return nil, nil
	}

	// The bundle is made of these.
	public := make(map[string]bool)
	first = nil
	r.texts(config, true, func(file, text string) { first = append(first, n.named(file, text)...) })
	addresses := make(map[string]bool, len(pages)+len(gone))
	for source := range pages {
		addresses[strings.ToLower(strings.TrimSuffix(source, path.Ext(source)))] = true
	}
	for source := range gone {
		addresses[strings.ToLower(strings.TrimSuffix(source, path.Ext(source)))] = true
	}
	for _, p := range paths {
		ext := path.Ext(p)
		switch {
		case pages[p] || ext == ".css" || ext == ".js":
			first = append(first, p)
		case left(p), private[p], configs[p]:
		case isPage(p) && addresses[strings.ToLower(strings.TrimSuffix(p, ext))]: // another page has its address
		case mayName(p):
			first = append(first, p)
		}
	}
	for i := range s.Pages {
		if ref := s.Pages[i].Reference; ref != nil {
			first = append(first, ref.File)
		}
	}
	err := follow(public, first, func(f string) bool { return !left(f) && !configs[f] })
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(s.sources(), func(f string) bool { return !private[f] || public[f] }), nil
}

func isPage(file string) bool { return path.Ext(file) == ".mdx" || path.Ext(file) == ".md" }

// texts calls found with each text of the configuration: with open set, of what
// stays, else of the parts of the navigation that are left out.
func (r *configReader) texts(v *value, open bool, found func(file, text string)) {
	var walk func(v *value, in bool)
	walk = func(v *value, in bool) {
		if v == nil {
			return
		}
		if in = in && !r.concealed[v]; !in && open {
			return
		}
		if text, ok := v.text(); ok && in == open {
			found(v.file, r.expand(text))
		}
		for _, i := range v.list() {
			walk(i, in)
		}
		for _, m := range v.members() {
			walk(m.val, in)
		}
	}
	walk(v, true)
}

// naming finds the names of a site's files in texts.
type naming struct {
	site *Site
	// files are those that something may name, by their names without folders; of
	// sources also without the extension, as imports may have them.
	files map[string][]string
	// odd are names that have characters at which words end.
	odd []string
}

func newNaming(s *Site, paths []string) *naming {
	n := &naming{site: s, files: make(map[string][]string, len(s.Files))}
	add := func(name, file string) {
		if name == "" {
			return
		}
		if len(n.files[name]) == 0 && strings.ContainsFunc(name, endsWord) {
			n.odd = append(n.odd, name)
		}
		n.files[name] = append(n.files[name], file)
	}
	static := s.sources()
	for _, f := range static {
		add(path.Base(f), f)
	}
	for _, p := range paths {
		switch path.Ext(p) {
		case ".mdx", ".md", ".jsx", ".tsx", ".js", ".ts":
			if !slices.Contains(n.files[path.Base(p)], p) {
				add(path.Base(p), p)
			}
			add(strings.TrimSuffix(path.Base(p), path.Ext(p)), p)
		}
	}
	return n
}

// mayName reports whether a file is of a kind that names others.
func mayName(file string) bool {
	switch path.Ext(file) {
	case ".mdx", ".md", ".jsx", ".tsx", ".js", ".ts", ".css", ".html", ".svg", ".txt", ".json", ".yaml", ".yml":
		return true
	}
	return false
}

// endsWord reports whether a character ends an address in a text.
func endsWord(c rune) bool { return c <= ' ' || strings.ContainsRune("\\\"'`()[]{}<>#?,;|=", c) }

// plainly undoes what Markdown and JSON do to the characters of a name.
var plainly = strings.NewReplacer(`\/`, "/", `\_`, "_", `\-`, "-", `\.`, ".", `\(`, "(", `\)`, ")")

// named returns the files that a text in a file names, some of them more than once.
// Where the address alone does not say which file it is, these are all of that name.
func (n *naming) named(file, text string) (out []string) {
	text = plainly.Replace(html.UnescapeString(text))
	for w := range strings.FieldsFuncSeq(text, endsWord) {
		w = unescape(w)
		files := n.files[w[strings.LastIndexAny(w, "/:")+1:]]
		if files == nil {
			w = strings.TrimRight(w, ".!*_:")
			files = n.files[w[strings.LastIndexAny(w, "/:")+1:]]
		}
		if len(files) > 1 {
			if one := n.exactly(file, w, files); one != "" {
				files = []string{one}
			}
		}
		out = append(out, files...)
	}
	if len(n.odd) > 0 {
		for _, name := range n.odd {
			if strings.Contains(text, name) {
				out = append(out, n.files[name]...)
			}
		}
	}
	return out
}

// exactly returns the file that an address means, or "" if that is not certain.
// An address in a snippet is relative to pages that are not known here.
func (n *naming) exactly(file, address string, files []string) string {
	if rest, _, ok := n.site.onDomain(address, "index.html"); ok {
		address = rest
	}
	if !strings.HasPrefix(address, "/") {
		if snippetFolder(file) {
			return ""
		}
		address = "/" + path.Join(path.Dir(file), address)
	}
	if address = strings.TrimPrefix(path.Clean(address), "/"); slices.Contains(files, address) {
		return address
	}
	return ""
}

// namedIn returns what a file names.
func (r *configReader) namedIn(n *naming, file string) ([]string, error) {
	info, err := fs.Stat(r.fsys, file)
	if err != nil || info.Size() > maxMentioning {
		return nil, err
	}
	src, err := fs.ReadFile(r.fsys, file)
	if err != nil {
		return nil, err
	}
	return n.named(file, string(src)), nil
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
