package frame

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/search"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme"
)

// Finder knows what of a site can be found, from where, and where its search
// lies. A site has an index for each choice of version and language that a
// reader can stand at. It is safe for concurrent use.
type Finder struct {
	site       *site.Site
	divisions  []standing
	numbers    map[standing]int
	used       []bool // divisions that have pages
	together   bool   // all pages are in one division
	scriptPath string
	script     []byte

	mu      sync.Mutex
	members map[string][]int // divisions by what a page's trail chooses
}

// Finder returns the site's search; nil if the bundle has none.
func (v *Views) Finder() *Finder { return v.finder }

// standing is the version and the language that a reader has chosen, as the
// navigation names them; empty where the way to the page asks for none.
type standing struct{ version, language string }

// newFinder looks through a site's navigation.
func newFinder(s *site.Site) (*Finder, error) {
	f := &Finder{site: s, numbers: make(map[standing]int), members: make(map[string][]int)}
	var err error
	if f.scriptPath, f.script, err = search.Script(languages(s)); err != nil {
		return nil, fmt.Errorf("the search dialog could not be prepared: %w", err)
	}
	add := func(section *site.Node) {
		at := f.standing(section)
		if _, ok := f.numbers[at]; !ok {
			f.numbers[at] = len(f.divisions)
			f.divisions = append(f.divisions, at)
		}
	}
	var last *site.Node
	add(s.DefaultSection())
	for i := range s.Pages {
		if section := s.Near(i); section != nil && section != last && !s.Pages[i].Excluded {
			add(section)
			last = section
		}
	}
	if !f.mark() {
		// One index for all: each page stands in it once.
		for at := range f.numbers {
			f.numbers[at] = 0
		}
		f.divisions, f.together = []standing{{}}, true
		f.mark()
	}
	return f, nil
}

// Limits of a site's indexes. Sites of many versions in many languages have
// many, but a page is in few of them: that of all choices that lead to it.
const (
	maxDivisions = 500
	// maxMemberships bounds in how many indexes pages are, by their mean; small
	// sites have freeMemberships.
	maxMemberships  = 12
	freeMemberships = 5000
)

// mark notes the divisions that have pages. It is false where the indexes would
// be out of proportion to the site.
func (f *Finder) mark() bool {
	if len(f.divisions) > maxDivisions {
		return false
	}
	f.used, f.members = make([]bool, len(f.divisions)), make(map[string][]int)
	sum, pages := 0, 0
	for i := range f.site.Pages {
		if !f.findable(i) {
			continue
		}
		in := f.divisionsOf(i)
		for _, d := range in {
			f.used[d] = true
		}
		sum, pages = sum+len(in), pages+1
	}
	return sum <= freeMemberships+maxMemberships*pages
}

// standing is what a reader of a section has chosen.
func (f *Finder) standing(section *site.Node) standing {
	var at standing
	for n := section; n != nil; n = f.site.Parent(n) {
		switch {
		case n.Kind == site.KindVersion && at.version == "":
			at.version = n.Label
		case n.Kind == site.KindLanguage && at.language == "":
			at.language = n.Label
		}
	}
	return at
}

// Divisions returns the indexes, without their pages: new ones at each call.
func (f *Finder) Divisions() []*search.Division {
	out := make([]*search.Division, len(f.divisions))
	for i, at := range f.divisions {
		language := languageTag(at.language)
		if language == "" {
			if language = siteLanguage(f.site); language == "" {
				language = "en"
			}
		}
		out[i] = search.NewDivision(at.name(), language)
	}
	return out
}

// name is the name of a division's first file. It follows from what readers
// chose alone: a file that a browser kept is never that of another choice.
func (at standing) name() string {
	if at == (standing{}) {
		return "site"
	}
	sum := sha256.Sum256([]byte(at.version + "\x00" + at.language))
	return hex.EncodeToString(sum[:6])
}

// field is what the pages of a section show; nil if nothing can be found.
func (f *Finder) field(section *site.Node, l *linker) *theme.Search {
	n, ok := f.numbers[f.standing(section)]
	if !ok || !f.used[n] {
		return nil
	}
	return &theme.Search{Index: l.path(search.RootPath(f.divisions[n].name())), Script: l.path(f.scriptPath)}
}

// findable reports whether a page can be found at all. The page itself decides,
// then the parts of the navigation that hold it, the innermost first; where none
// does, what is hidden can't be found.
func (f *Finder) findable(i int) bool {
	p, trail := &f.site.Pages[i], f.site.Trail(i)
	if p.Excluded || p.URL != "" {
		return false
	}
	if p.Searchable != nil {
		return *p.Searchable
	}
	hidden := p.Hidden
	for n := len(trail) - 1; n >= 0; n-- {
		if s := trail[n].Searchable; s != nil {
			return *s
		}
		hidden = hidden || trail[n].Hidden
	}
	seo := &f.site.Config.SEO
	return !(hidden || !p.InNav) && (!p.NoIndex || seo.NoIndex) || seo.Indexing == "all" && !p.NoIndex
}

// divisionsOf are the indexes that a page is in: those of the readers whose
// choices lead to it. Where a choice of theirs is not among those on the way to
// the page, such as in another product, the default one counts.
func (f *Finder) divisionsOf(i int) []int {
	var on []*site.Node
	var key strings.Builder
	for _, n := range f.site.Trail(i) {
		if n.Kind == site.KindVersion || n.Kind == site.KindLanguage {
			on = append(on, n)
			fmt.Fprintf(&key, "%p ", n)
		}
	}
	if f.together {
		return []int{0}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if out, ok := f.members[key.String()]; ok {
		return out
	}
	var out []int
	for d, at := range f.divisions {
		leads := true
		for _, n := range on {
			want := at.version
			if n.Kind == site.KindLanguage {
				want = at.language
			}
			leads = leads && f.chosen(n, want)
		}
		if leads {
			out = append(out, d)
		}
	}
	f.members[key.String()] = out
	return out
}

// chosen reports whether a reader who wants a version or a language gets this one
// from the choice that it belongs to.
func (f *Finder) chosen(n *site.Node, want string) bool {
	if n.Label == want {
		return true
	}
	var first *site.Node
	parent := f.site.Parent(n)
	if parent == nil {
		return true
	}
	for _, c := range parent.Children {
		if c.Kind != n.Kind {
			continue
		}
		if c.Label == want && want != "" {
			return false
		}
		if first == nil || c.Default && !first.Default {
			first = c
		}
	}
	return first == n
}

// Script returns the path and the text of the search dialog's script.
func (f *Finder) Script() (path string, text []byte) { return f.scriptPath, f.script }

// Page returns what can be found of a page; ok is false if the page can't be
// found at all.
func (f *Finder) Page(i int, res *page.Result) (found search.Page, ok bool) {
	if !f.findable(i) {
		return search.Page{}, false
	}
	p := &f.site.Pages[i]
	out := search.Page{
		Number: i, Divisions: f.divisionsOf(i), Path: strings.TrimSuffix(p.Output, ".html"),
		Title: p.Title, Description: mdx.InlineText(p.Description), Keywords: p.Keywords, Boost: p.Boost,
		Sections: make([]search.Section, len(res.Text)),
	}
	for j, s := range res.Text {
		out.Sections[j] = search.Section{Heading: s.Heading, ID: s.ID, Text: s.Text}
	}
	for _, n := range f.site.Trail(i) {
		if p.Boost <= 0 && n.Boost > 0 {
			out.Boost = n.Boost // the nearest one's, since the outermost comes first
		}
		if n.Label != "" && n.Kind != site.KindVersion && n.Kind != site.KindLanguage {
			out.Trail = append(out.Trail, n.Label)
		}
	}
	return out, true
}
