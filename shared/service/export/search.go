package export

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/search"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// bundledSearch tells whether a job's bundle has search of its own: the feature
// table allows search, and the project names no service. An index needs none, so
// that it serves wherever search is on.
func bundledSearch(in admin.ExportInput) bool {
	t := in.Job.Settings
	return admin.Features(in.Project.Kind, t).Search && (t.Search == "" || t.Search == admin.SearchBundled)
}

// searchNotice tells authors of a service that a bundle does not ask.
func searchNotice(s *site.Site, in admin.ExportInput) *mdx.Diagnostic {
	if t := in.Job.Settings; !admin.Features(in.Project.Kind, t).Search || bundledSearch(in) {
		return nil
	}
	return &mdx.Diagnostic{
		Severity: mdx.Notice, Code: "search-service", File: s.ConfigFile,
		Message: `pages have no search field: the project names a service, and only "bundled" search is built into a bundle`,
	}
}

// finder says what of a site can be found, from where, and where its search
// lies. A site has an index for each choice of version and language that a
// reader can stand at.
type finder struct {
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

// standing is the version and the language that a reader has chosen, as the
// navigation names them; empty where the way to the page asks for none.
type standing struct{ version, language string }

// newFinder looks through a site's navigation.
func newFinder(s *site.Site) (*finder, error) {
	f := &finder{site: s, numbers: make(map[standing]int), members: make(map[string][]int)}
	var err error
	if f.scriptPath, f.script, err = search.Script(languages(s)); err != nil {
		return nil, internal("the search dialog could not be prepared", err)
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
func (f *finder) mark() bool {
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
func (f *finder) standing(section *site.Node) standing {
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

// newDivisions makes the indexes, without their pages.
func (f *finder) newDivisions() []*search.Division {
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

// field is what the pages of a section show; nil where nothing can be found.
func (f *finder) field(section *site.Node, l *linker) *theme.Search {
	n, ok := f.numbers[f.standing(section)]
	if !ok || !f.used[n] {
		return nil
	}
	return &theme.Search{Index: l.path(search.RootPath(f.divisions[n].name())), Script: l.path(f.scriptPath)}
}

// findable tells whether a page can be found at all. The page itself decides,
// then the parts of the navigation that hold it, the innermost first; where none
// does, what is hidden can't be found.
func (f *finder) findable(i int) bool {
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
func (f *finder) divisionsOf(i int) []int {
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

// chosen tells whether a reader who wants a version or a language gets this one
// from the choice that it belongs to.
func (f *finder) chosen(n *site.Node, want string) bool {
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

// page is what can be found of a page.
func (f *finder) page(i int, res *page.Result) search.Page {
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
		if n.Boost > 0 {
			if out.Boost <= 0 {
				out.Boost = 1
			}
			out.Boost *= n.Boost
		}
		if n.Label != "" && n.Kind != site.KindVersion && n.Kind != site.KindLanguage {
			out.Trail = append(out.Trail, n.Label)
		}
	}
	return out
}

// putSearch writes what a shard knows for the index: its pages, then its terms.
// How many bytes its pages take stands in its facts.
func (s *Steps) putSearch(ctx context.Context, in job.RenderInput, part *search.Part) error {
	_, err := s.stream(ctx, job.SearchKey(in.JobID, in.Shard), store.PutOptions{}, func(w io.Writer) error {
		if _, err := w.Write(part.Pages()); err != nil {
			return err
		}
		return part.WriteTerms(w)
	})
	return err
}

const (
	// searchFanIn is how many shards' terms are read at the same time.
	searchFanIn = 32
	// searchChunk is how much of an object is asked for at once. A reader that
	// waits for others must not hold a connection meanwhile.
	searchChunk = 256 << 10
)

// writeSearch writes the dialog's script and all indexes, as the shards' facts,
// pages and terms say.
func (s *Steps) writeSearch(ctx context.Context, src *source, facts *report, add func(name string, data []byte) error) error {
	if err := add(src.finder.scriptPath, src.finder.script); err != nil {
		return err
	}
	id := src.input.Job.ID
	builder := search.NewBuilder(facts.divisions, add)
	var terms []*chunkReader
	for i, size := range facts.searchPages {
		key := job.SearchKey(id, i+1)
		if err := eachLine(&chunkReader{ctx: ctx, objects: s.objects, key: key, end: size}, builder.Page); err != nil {
			return err
		}
		terms = append(terms, &chunkReader{ctx: ctx, objects: s.objects, key: key, at: size, end: -1})
	}
	for level := 1; len(terms) > searchFanIn; level++ {
		var err error
		if terms, err = s.mergeTerms(ctx, id, level, terms); err != nil {
			return err
		}
	}
	if err := builder.Terms(ctx, readersOf(terms)); err != nil {
		return err
	}
	return builder.Close()
}

// mergeTerms joins groups of streams into one each.
func (s *Steps) mergeTerms(ctx context.Context, id string, level int, terms []*chunkReader) ([]*chunkReader, error) {
	var out []*chunkReader
	for len(terms) > 0 {
		n := min(searchFanIn, len(terms))
		key := job.MergedKey(id, level, len(out))
		_, err := s.stream(ctx, key, store.PutOptions{}, func(w io.Writer) error {
			return search.Merge(ctx, w, readersOf(terms[:n]))
		})
		if err != nil {
			return nil, err
		}
		out, terms = append(out, &chunkReader{ctx: ctx, objects: s.objects, key: key, end: -1}), terms[n:]
	}
	return out, nil
}

func readersOf(list []*chunkReader) []io.Reader {
	out := make([]io.Reader, len(list))
	for i, r := range list {
		out[i] = r
	}
	return out
}

// eachLine calls fn with the lines of r, without their ends.
func eachLine(r io.Reader, fn func(line []byte) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) == 0:
			return nil
		case errors.Is(err, io.EOF):
			return internal("a shard's list of pages has no end", nil)
		case err != nil:
			return err
		}
		if err := fn(line[:len(line)-1]); err != nil {
			return err
		}
		line = line[:0]
	}
}

// chunkReader reads a part of an object in pieces, each with a request of its
// own.
type chunkReader struct {
	ctx     context.Context
	objects store.Objects
	key     string
	at, end int64  // end below 0 is the object's
	chunk   []byte // what was read and not given yet
	buf     []byte
	last    bool // chunk is the last one
}

func (r *chunkReader) Read(p []byte) (int, error) {
	if len(r.chunk) == 0 {
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.chunk)
	r.chunk = r.chunk[n:]
	return n, nil
}

func (r *chunkReader) next() error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	want := int64(searchChunk)
	if r.end >= 0 {
		want = min(want, r.end-r.at)
	}
	if r.last || want <= 0 {
		r.buf = nil
		return io.EOF
	}
	body, err := r.objects.Get(r.ctx, r.key, r.at, want)
	if errors.Is(err, store.ErrRange) && r.end < 0 {
		r.last, r.buf = true, nil
		return io.EOF
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", r.key, err)
	}
	defer body.Close()
	if r.buf == nil {
		r.buf = make([]byte, want)
	}
	n, err := io.ReadFull(body, r.buf[:want])
	if short := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); short && r.end < 0 {
		r.last = true
	} else if err != nil {
		return fmt.Errorf("read %s: %w", r.key, err)
	}
	if n == 0 {
		return io.EOF
	}
	r.chunk, r.at = r.buf[:n], r.at+int64(n)
	return nil
}
