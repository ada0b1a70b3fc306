package diff

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/delivery/address"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

const (
	// maxChanges is how many passages of a page are kept.
	maxChanges = 20
	// maxTerms is how many words of each bundle alone are kept.
	maxTerms = 20
)

// Compare compares two bundles. The error is that of a source: of an archive, a
// *bundle.Error where it is at fault.
func Compare(ctx context.Context, before, after Source) (*Result, error) {
	was, err := survey(ctx, before)
	if err != nil {
		return nil, err
	}
	is, err := survey(ctx, after)
	if err != nil {
		return nil, err
	}
	differing := map[string]bool{}
	for name, p := range was.pages {
		differing[name] = is.pages[name].text != p.text
	}
	for name := range is.pages {
		if _, ok := was.pages[name]; !ok {
			differing[name] = true
		}
	}
	old, err := texts(ctx, was, before, differing)
	if err != nil {
		return nil, err
	}
	now, err := texts(ctx, is, after, differing)
	if err != nil {
		return nil, err
	}
	r, err := result(ctx, was, is, old, now)
	if err != nil {
		return nil, err
	}
	r.Terms = missing(was.terms, is.terms)
	return r, nil
}

// result is what differs between two sites, of whose pages that differ the words
// are given.
func result(ctx context.Context, was, is *site, old, now map[string][]string) (_ *Result, err error) {
	r := &Result{Before: was.bundle(), After: is.bundle()}
	if r.Pages, err = pages(ctx, was, is, old, now); err != nil {
		return nil, err
	}
	if err := lost(ctx, r, was, is, old, now); err != nil {
		return nil, err
	}
	r.Files = files(was, is)
	return r, nil
}

// site is what is kept of a whole bundle.
type site struct {
	info  *bundle.Info
	pages map[string]facts    // by file, or by its name in names
	names map[string]string   // see indexNames
	files map[string]digest   // all others, by path
	terms map[string]struct{} // words of all pages
	stubs map[string]struct{} // files that only lead elsewhere
	bytes map[string]int64    // by kind of file
}

type digest struct {
	sum  [sha256.Size]byte
	size int64
}

// facts are what is kept of a page.
type facts struct {
	title   string
	text    [sha256.Size]byte
	anchors []anchor
}

func (s *site) bundle() Bundle {
	return Bundle{Domain: s.info.Domain, Version: s.info.Version, Pages: len(s.pages), Files: s.info.Files, Bytes: s.info.Bytes}
}

func newSite() *site {
	return &site{
		pages: map[string]facts{}, files: map[string]digest{}, terms: map[string]struct{}{},
		stubs: map[string]struct{}{}, bytes: map[string]int64{},
	}
}

// survey reads a bundle for the first time.
func survey(ctx context.Context, source Source) (*site, error) {
	s := newSite()
	info, err := source.each(ctx, func(name string, size int64, data io.Reader) error {
		kind := kindOf(name)
		s.bytes[kind] += size
		switch {
		case isPage(name):
			return s.page(name, data)
		case kind == "files":
			h := sha256.New()
			if _, err := io.Copy(h, data); err != nil {
				return err
			}
			s.files[name] = digest{[sha256.Size]byte(h.Sum(nil)), size}
		}
		return nil
	})
	s.info = info
	s.names = indexNames(s.pages)
	for file, name := range s.names {
		s.pages[name] = s.pages[file]
		delete(s.pages, file)
	}
	return s, err
}

// indexNames returns the names under which indexes of folders are compared, by file.
// The page guides/index.mdx was guides/index.html in older bundles, and still is where
// another page or file has the name guides.html. Else it is guides.html.
func indexNames[T any](pages map[string]T) map[string]string {
	names := map[string]string{}
	for file := range pages {
		if dir, ok := strings.CutSuffix(file, "/index.html"); ok {
			if _, taken := pages[dir+".html"]; !taken {
				names[file] = dir + ".html"
			}
		}
	}
	return names
}

func (s *site) page(name string, data io.Reader) error {
	text, err := readAll(data)
	if err != nil {
		return err
	}
	if address.IsStub(text) {
		s.stubs[name] = struct{}{}
		return nil
	}
	p := readPage(text)
	s.add(name, p)
	terms(s.terms, p.text)
	return nil
}

func (s *site) add(name string, p page) {
	s.pages[name] = facts{p.title, sha256.Sum256([]byte(p.text)), p.anchors}
}

// isPage reports whether a file is a page, or leads to one.
func isPage(name string) bool { return kindOf(name) == "pages" && strings.HasSuffix(name, ".html") }

// kindOf returns the kind of a file: "pages", "search", "frame" or "files".
func kindOf(name string) string {
	switch {
	case strings.HasPrefix(name, "bindery/search/"):
		return "search"
	case strings.HasPrefix(name, "bindery/"), name == bundle.InfoPath, name == "404.html", name == "LICENSE",
		slices.Contains([]string{"sitemap.xml", "robots.txt", "rss.xml", "llms.txt", "llms-full.txt", "skill.md"}, path.Base(name)):
		return "frame"
	case strings.HasSuffix(name, ".html"), strings.HasSuffix(name, ".md"):
		return "pages"
	}
	return "files"
}

// texts reads the words of some pages of s, which source has.
func texts(ctx context.Context, s *site, source Source, of map[string]bool) (map[string][]string, error) {
	list := map[string][]string{}
	_, err := source.each(ctx, func(name string, _ int64, data io.Reader) error {
		name = cmp.Or(s.names[name], name)
		if !of[name] {
			return nil
		}
		text, err := readAll(data)
		if err != nil || address.IsStub(text) {
			return err
		}
		list[name] = words(readPage(text).text)
		return nil
	})
	return list, err
}

func pages(ctx context.Context, was, is *site, old, now map[string][]string) (Pages, error) {
	p := Pages{Added: []Page{}, Removed: []Page{}, Changed: []Page{}}
	for _, name := range slices.Sorted(maps.Keys(was.pages)) {
		if err := ctx.Err(); err != nil {
			return p, err
		}
		before := was.pages[name]
		after, ok := is.pages[name]
		one := Page{Address: addressOf(name), Title: before.title}
		switch {
		case !ok:
			one.Words.Removed = len(old[name])
			p.Removed = append(p.Removed, one)
		case before.text == after.text:
			p.Unchanged++
		default:
			one.Title = after.title
			one.Changes, one.Words.Removed, one.Words.Added = changes(old[name], now[name], maxChanges)
			p.Changed = append(p.Changed, one)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(is.pages)) {
		if _, ok := was.pages[name]; !ok {
			one := Page{Address: addressOf(name), Title: is.pages[name].title}
			one.Words.Added = len(now[name])
			p.Added = append(p.Added, one)
		}
	}
	return p, nil
}

// addressOf is the address of a page's file.
func addressOf(name string) string {
	name = strings.TrimSuffix(name, ".html")
	if name == "index" {
		return "/"
	}
	return "/" + strings.TrimSuffix(name, "/index")
}

func files(was, is *site) Files {
	f := Files{Added: []File{}, Removed: []File{}, Changed: []File{}, Bytes: map[string][2]int64{}}
	for _, name := range slices.Sorted(maps.Keys(was.files)) {
		before := was.files[name]
		after, ok := is.files[name]
		switch {
		case !ok:
			f.Removed = append(f.Removed, File{name, before.size, 0})
		case before.sum != after.sum:
			f.Changed = append(f.Changed, File{name, before.size, after.size})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(is.files)) {
		if _, ok := was.files[name]; !ok {
			f.Added = append(f.Added, File{name, 0, is.files[name].size})
		}
	}
	for _, kind := range []string{"pages", "files", "search", "frame"} {
		f.Bytes[kind] = [2]int64{was.bytes[kind], is.bytes[kind]}
	}
	return f
}

// missing compares two sets of words. Long ones come first among those that are
// kept: they are names more often.
func missing(was, is map[string]struct{}) *Terms {
	t := new(Terms)
	t.Removed, t.Gone = only(was, is)
	t.Added, t.Gained = only(is, was)
	return t
}

func only(a, b map[string]struct{}) (n int, some []string) {
	for w := range a {
		if _, ok := b[w]; !ok {
			some = append(some, w)
		}
	}
	n = len(some)
	slices.SortFunc(some, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	some = slices.Clip(some[:min(n, maxTerms)])
	slices.Sort(some)
	return n, some
}

// Empty reports whether nothing differs that readers see.
func (r *Result) Empty() bool {
	return len(r.Pages.Added)+len(r.Pages.Removed)+len(r.Pages.Changed)+len(r.LostAddresses)+len(r.LostAnchors)+
		len(r.Files.Added)+len(r.Files.Removed)+len(r.Files.Changed) == 0
}

// Summary is a line of counts.
func (r *Result) Summary() string {
	return fmt.Sprintf("%s added, %d removed, %d changed, %d with the same text",
		count(len(r.Pages.Added), "page"), len(r.Pages.Removed), len(r.Pages.Changed), r.Pages.Unchanged)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
