package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/render/frame"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/reference"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
)

// maxLiveBytes is how many bytes of HTML and Markdown copies a Live keeps of pages
// that were rendered; of further pages it keeps what others need of them.
const maxLiveBytes = 256 << 20

// LiveInput is what a Live is made of. Files and Paths are required.
type LiveInput struct {
	// Files are the site's files, and Paths all of their names, sorted.
	Files fs.FS
	Paths []string
	// Modified returns when a file was committed last, the zero time if that is not
	// known; nil knows it of none.
	Modified func(name string) time.Time
	// Refused are files that can't be published.
	Refused []check.Refused
	// Domain and Groups are those of an export.
	Domain string
	Groups []string
	// Kind and Settings are those of the project. Files of other hosts are not
	// fetched, whichever the settings allow.
	Kind     admin.Kind
	Settings admin.Settings
	// Before, if not nil, is how the site was before: what of its pages is still the
	// same is not rendered again.
	Before *Live
}

// Live is a site as it is at one moment, of which the files of its bundle are made
// one by one, when they are asked for. They are those that the steps write, with
// two exceptions: bindery.json and the lists beside it, and files of other
// hosts. It is safe for concurrent use.
type Live struct {
	steps *Steps
	in    LiveInput
	src   *source
	specs *reference.Reader
	// cutting is held by who asks specs for more than it was asked by site.Load.
	cutting *sync.Mutex
	cut     *[]mdx.Diagnostic // that specs had to say since
	rules   check.Rules
	found   []mdx.Diagnostic // of the site as a whole
	kept    *liveKept

	heads *sync.Map      // of pages, as they were read first: digests by source
	pages map[string]int // by the name of the HTML and of the Markdown copy
	site  map[string]bool
	own   func() (map[string][]byte, error)     // what a bundle has of its own
	first func() (liveRoot, error)              // see rootSource
	root  func() ([]byte, *page.Result, error)  // the document of the root, see rootDocument
	look  func() (map[string][]byte, error)     // what pages' look needs whatever the pages
	slice func(i int) (*reference.Slice, error) // the part of a specification that a page shows
}

// liveRoot makes the document of the root of this page; at is nil where it leads
// elsewhere.
type liveRoot struct {
	at   *source
	home int
}

// liveKept is what outlives a Live.
type liveKept struct {
	mu      sync.Mutex
	bodies  map[string]*liveBody // by the name of the HTML
	bytes   int                  // of bodies
	made    map[string]string    // the name of the HTML of the page that a script or feed belongs to
	digests map[string]liveDigest
	sheet   liveSheet
	search  liveSearch
}

// liveBody is a rendered page.
type liveBody struct {
	of   *source // that it is known to be of
	key  [sha256.Size]byte
	page keptPage
	size int // of what of it is counted in liveKept.bytes; 0 if it has none of its copies
}

// liveDigest is the digest of a file of this size and time.
type liveDigest struct {
	size int64
	at   time.Time
	sum  string
}

// Live reads a site. What is wrong with it is found by Survey; the error is a
// *site.ConfigError where no bundle can be made of the site, or about reading
// files. Steps for this need neither Admin nor Objects.
func (s *Steps) Live(ctx context.Context, in LiveInput) (*Live, error) {
	l := &Live{steps: s, in: in, heads: new(sync.Map), cutting: new(sync.Mutex), cut: new([]mdx.Diagnostic)}
	if in.Before != nil {
		l.kept = in.Before.kept
	} else {
		l.kept = &liveKept{bodies: map[string]*liveBody{}, made: map[string]string{}, digests: map[string]liveDigest{}}
	}
	l.in.Before = nil
	if in.Modified == nil {
		l.in.Modified = func(string) time.Time { return time.Time{} }
	}
	allowed := remote.NewHosts(in.Settings.Hosts())
	in.Settings.AllowHosts = ""
	input := admin.ExportInput{
		Job:     admin.ExportJob{Domain: in.Domain, Groups: in.Groups, Settings: in.Settings},
		Project: admin.Project{Domain: in.Domain, Kind: in.Kind, Settings: in.Settings}, Features: admin.Features(in.Kind, in.Settings),
	}
	files := liveFiles{in.Files, l}
	l.specs = reference.NewReader(files)
	l.specs.LetIn(in.Groups)
	publish, err := check.ReadPublish(files)
	if err != nil {
		return nil, err
	}
	loaded, diags, err := site.Load(ctx, files, in.Paths, site.Options{
		Domain: in.Domain, Base: in.Settings.BasePath, Groups: in.Groups, Reference: l.specs, Publish: publish,
	})
	if err != nil {
		return nil, err
	}
	var others *remotes
	diags = append(diags, loaded.Settle(others.reason)...)
	own, err := ownLoads(loaded, files, allowed, in.Kind)
	if err != nil {
		return nil, err
	}
	diags = append(diags, own...)
	rules, faults, err := check.ReadRules(files)
	if err != nil {
		return nil, err
	}
	l.rules = rules
	pale, err := check.Contrast(loaded, files)
	if err != nil {
		return nil, err
	}
	for _, f := range in.Refused {
		l.found = append(l.found, mdx.Diagnostic{Severity: mdx.Warning, Code: "file-refused", File: f.Path, Message: "the file is left out: " + f.Reason})
	}
	l.found = slices.Concat(l.found, diags, check.Navigation(loaded), pale, faults)
	if len(loaded.Pages) == 0 {
		return nil, &site.ConfigError{File: loaded.ConfigFile, Message: "the site has no pages"}
	}
	l.src = &source{input: input, fs: files, site: loaded}
	if err := s.prepare(l.src, true); err != nil {
		return nil, err
	}
	l.index()
	l.own = sync.OnceValues(l.ownFiles)
	l.look = sync.OnceValues(l.lookFiles)
	l.slice = l.slicer()
	l.first = sync.OnceValues(func() (liveRoot, error) {
		at, home, err := s.rootSource(l.src)
		return liveRoot{at, home}, err
	})
	l.root = l.rootMaker()
	return l, nil
}

// Again returns the same site, whose sources changed in a way that neither its
// navigation nor its list of files shows: sources are read again, all else stays.
func (l *Live) Again() *Live {
	again := *l
	src := *l.src
	again.src = &src
	src.fs = liveFiles{l.in.Files, &again}
	src.pages = l.steps.renderer(&src, true)
	again.root = again.rootMaker()
	return &again
}

// Warm makes what the first reader would have to wait for.
func (l *Live) Warm() {
	for _, fn := range []func(){func() { _, _ = l.own() }, func() { _, _, _ = l.root() }, func() { _, _ = l.look() }} {
		fn() // whose errors come again where they are asked for
	}
}

// index notes the names of files that are known beforehand.
func (l *Live) index() {
	s := l.src.site
	l.pages, l.site = make(map[string]int, 2*len(s.Pages)), make(map[string]bool, len(s.Files))
	for i := range s.Pages {
		if p := &s.Pages[i]; !p.Excluded {
			l.pages[p.Output], l.pages[p.MarkdownPath()] = i, i
		}
	}
	for _, f := range s.Files {
		l.site[f] = true
	}
}

// rootMaker returns what makes the document of the root when it is asked for.
func (l *Live) rootMaker() func() ([]byte, *page.Result, error) {
	type made struct {
		doc    []byte
		script *page.Result
	}
	once := sync.OnceValues(func() (made, error) {
		first, err := l.first()
		if first.at == nil || err != nil {
			return made{}, err
		}
		at := *first.at
		at.fs, at.pages = l.src.fs, l.steps.renderer(&at, false) // sources may have changed since
		doc, script, err := l.steps.rootPage(context.Background(), l.src, &at, first.home)
		return made{doc, script}, err
	})
	return func() ([]byte, *page.Result, error) {
		m, err := once()
		return m.doc, m.script, err
	}
}

// slicer returns what cuts specifications: one page's part after another's, since
// they share a budget, and each once.
func (l *Live) slicer() func(i int) (*reference.Slice, error) {
	cut := map[int]*reference.Slice{}
	return func(i int) (*reference.Slice, error) {
		ref := l.src.site.Pages[i].Reference
		if ref == nil {
			return nil, nil
		}
		l.cutting.Lock()
		defer l.cutting.Unlock()
		if slice, ok := cut[i]; ok {
			return slice, nil
		}
		var slice *reference.Slice
		if spec := l.specs.Spec(ref.File); spec != nil {
			if o := spec.Find(ref.Key); o != nil {
				// As units read it: what is not written is not on the page.
				data, err := l.specs.Slice(spec, o).Encode()
				if err != nil {
					return nil, internal("a part of a specification could not be written", err)
				}
				slice = new(reference.Slice)
				if err := json.Unmarshal(data, slice); err != nil {
					return nil, internal("a part of a specification can't be read", err)
				}
			}
		}
		cut[i] = slice
		return slice, nil
	}
}

// Site returns what is known of the site. It must not be changed.
func (l *Live) Site() *site.Site { return l.src.site }

// Redirects returns the site's redirects as a bundle's description has them.
func (l *Live) Redirects() []bundle.Redirect { return redirectsOf(l.src.site) }

// Page returns the index of the page whose HTML or Markdown copy the file of this
// name is; ok is false for all others.
func (l *Live) Page(name string) (i int, ok bool) {
	i, ok = l.pages[name]
	return i, ok
}

// Has reports whether the bundle has a file of this name, as far as that is known:
// what only pages that were not rendered yet ask for is not.
func (l *Live) Has(name string) bool {
	if _, ok := l.pages[name]; ok || l.site[name] {
		return true
	}
	if i, ok := l.maker(name); ok {
		// A feed is asked for by its page's name, rendered or not.
		_, err := l.beside(context.Background(), i, name)
		return err == nil
	}
	if path.Ext(name) == "" && !strings.HasPrefix(name, ".") {
		return false // as all those below have one
	}
	if own, err := l.own(); err == nil && own[name] != nil {
		return true
	}
	if look, err := l.look(); err == nil && look[name] != nil {
		return true
	}
	return name == frame.UtilitiesPath || name == frame.FullPath && l.src.full != nil || l.kept.search.file(name) != nil
}

// File makes the file of this name. It returns an error that is fs.ErrNotExist if
// the bundle has none.
func (l *Live) File(ctx context.Context, name string) ([]byte, error) {
	if i, ok := l.pages[name]; ok {
		body, err := l.body(ctx, i)
		if err != nil {
			return nil, err
		}
		if name == l.src.site.Pages[i].MarkdownPath() {
			return body.Markdown, nil
		}
		res := *body
		return l.steps.document(ctx, l.src, nil, i, &res), nil
	}
	if l.site[name] {
		data, err := fs.ReadFile(l.src.fs, l.src.site.SourceOf(name))
		if err == nil && strings.HasSuffix(name, ".css") {
			data = siteSheet(l.src.site, name, data)
		}
		return data, err
	}
	if name == "index.html" {
		if doc, _, err := l.root(); doc != nil || err != nil {
			return doc, err
		}
	}
	if i, ok := l.maker(name); ok {
		return l.beside(ctx, i, name)
	}
	if name == frame.UtilitiesPath {
		return l.utilities(ctx)
	}
	if name == frame.FullPath && l.src.full != nil {
		return l.fullText(ctx)
	}
	own, err := l.own()
	if err != nil {
		return nil, err
	}
	if data := own[name]; data != nil {
		return data, nil
	}
	look, err := l.look()
	if err != nil {
		return nil, err
	}
	if data := look[name]; data != nil {
		return data, nil
	}
	if data := l.kept.search.file(name); data != nil {
		return data, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// maker returns the page that a script or a feed belongs to.
func (l *Live) maker(name string) (int, bool) {
	if dir, ok := strings.CutSuffix(name, "/rss.xml"); ok {
		for _, page := range []string{dir + ".html", dir + "/index.html"} {
			if i, ok := l.pages[page]; ok {
				return i, true
			}
		}
	}
	l.kept.mu.Lock()
	html := l.kept.made[name]
	l.kept.mu.Unlock()
	i, ok := l.pages[html]
	return i, ok
}

// beside makes what a page has beside its copies.
func (l *Live) beside(ctx context.Context, i int, name string) ([]byte, error) {
	res, err := l.body(ctx, i)
	if err != nil {
		return nil, err
	}
	if res.Script != nil && res.ScriptPath == name {
		return res.Script, nil
	}
	if _, script, err := l.root(); err == nil && script != nil && script.ScriptPath == name {
		return script.Script, nil
	}
	feed, data, err := l.src.views.Feed(i, res)
	if err == nil && feed != name {
		err = &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return data, err
}

// body returns the body of a page, with its copies.
func (l *Live) body(ctx context.Context, i int) (*page.Result, error) {
	b, err := l.keep(ctx, i, true)
	if err != nil {
		return nil, err
	}
	return &b.page.Result, nil
}

// Result returns the body of a page as the bundle has it, rendered or from the cache. The
// result must not be changed.
func (l *Live) Result(ctx context.Context, i int) (*page.Result, error) { return l.body(ctx, i) }

// keep returns what is kept of a page. It is rendered where nothing is, where
// something changed since, or where its copies are asked for and not kept.
func (l *Live) keep(ctx context.Context, i int, copies bool) (*liveBody, error) {
	p := &l.src.site.Pages[i]
	slice, err := l.slice(i)
	if err != nil {
		return nil, err
	}
	key, keyed, err := l.src.pages.Key(i, slice)
	if err != nil {
		return nil, internal("a page's key could not be made", err)
	}
	l.kept.mu.Lock()
	had := l.kept.bodies[p.Output]
	l.kept.mu.Unlock()
	if had != nil && keyed && had.key == key && (had.size > 0 || !copies) {
		if had.of == l.src {
			return had, nil
		}
		b := *had // Still numbers the pages in its links
		b.page.Result.Links = slices.Clone(had.page.Result.Links)
		// JavaScript that ended at a limit says so, and ends there again.
		b.page.Result.Inputs.Unsure = false
		if l.src.pages.Still(i, &b.page.Result) {
			b.of = l.src
			l.kept.mu.Lock()
			if l.kept.bodies[p.Output] == had {
				l.kept.bodies[p.Output] = &b
			}
			l.kept.mu.Unlock()
			return &b, nil
		}
	}
	res, err := l.steps.renderPage(ctx, l.src, i, slice)
	if err != nil {
		return nil, err
	}
	b := &liveBody{of: l.src, key: key, page: keptPage{Result: *res}, size: len(res.HTML) + len(res.Markdown) + 1}
	feed, _, err := l.src.views.Feed(i, res)
	if err != nil {
		return nil, internal("a feed could not be written", err)
	}
	l.kept.put(p.Output, b, feed)
	return b, nil
}

// put keeps a page, without its copies where there is no room for them.
func (k *liveKept) put(html string, b *liveBody, feed string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if had := k.bodies[html]; had != nil {
		k.bytes -= had.size
		// For search, the same text has the same terms.
		b.page.Content, b.page.Weighed = had.page.Content, had.page.Weighed
	}
	stored := *b
	if k.bytes+stored.size > maxLiveBytes {
		stored.size, stored.page.Result.HTML, stored.page.Result.Markdown = 0, nil, nil
	}
	k.bytes += stored.size
	k.bodies[html] = &stored
	if b.page.Result.Script != nil {
		k.made[b.page.Result.ScriptPath] = html
	}
	if feed != "" {
		k.made[feed] = html
	}
}

// liveFiles are the files of a Live.
type liveFiles struct {
	fs.FS
	live *Live
}

// ReadFile is that of fs.ReadFileFS.
func (f liveFiles) ReadFile(name string) ([]byte, error) {
	data, err := fs.ReadFile(f.FS, name)
	if ext := path.Ext(name); err == nil && (ext == ".mdx" || ext == ".md") {
		f.live.heads.LoadOrStore(name, headOf(data))
	}
	return data, err
}

func headOf(source []byte) [sha256.Size]byte {
	return sha256.Sum256(site.Head(source))
}

// SameHead reports whether the front matter of a page is what it was when the site
// was read; of a snippet it always is.
func (l *Live) SameHead(name string) bool {
	was, ok := l.heads.Load(name)
	if !ok {
		return true
	}
	data, err := fs.ReadFile(l.in.Files, name)
	return err == nil && was == headOf(data)
}

// Entry is that of files. Digests are those of the files' bytes, which are read
// again only if their size or time changed.
func (f liveFiles) Entry(name string) (snapshot.Entry, bool) {
	info, err := fs.Stat(f.FS, name)
	if err != nil {
		return snapshot.Entry{}, false
	}
	k := f.live.kept
	k.mu.Lock()
	had, ok := k.digests[name]
	k.mu.Unlock()
	if !ok || had.size != info.Size() || !had.at.Equal(info.ModTime()) {
		data, err := fs.ReadFile(f.FS, name)
		if err != nil {
			return snapshot.Entry{}, false
		}
		sum := sha256.Sum256(data)
		had = liveDigest{info.Size(), info.ModTime(), hex.EncodeToString(sum[:])}
		k.mu.Lock()
		k.digests[name] = had
		k.mu.Unlock()
	}
	return snapshot.Entry{Path: name, SHA256: had.sum, Size: had.size, Modified: f.live.in.Modified(name)}, true
}

// Changed forgets what is known of files that changed: two writes may have the
// same time.
func (l *Live) Changed(names []string) {
	l.kept.mu.Lock()
	defer l.kept.mu.Unlock()
	for _, name := range names {
		delete(l.kept.digests, name)
	}
}

// ownFiles makes the files that a bundle has besides the site's.
func (l *Live) ownFiles() (map[string][]byte, error) {
	out := map[string][]byte{}
	add := func(name string, data []byte) error {
		out[name] = bytes.Clone(data)
		return nil
	}
	if err := l.src.views.Files(nil, add); err != nil {
		return nil, internal("the bundle's own files could not be written", err)
	}
	if l.src.finder != nil {
		if err := add(l.src.finder.Script()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// lookFiles makes all files that the look of some pages may need: nobody knows yet
// what is on them.
func (l *Live) lookFiles() (map[string][]byte, error) {
	files, err := fixedFiles(&look{mermaid: true, zoom: true, math: true, islands: true, reference: true, playground: true})
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, f := range files {
		out[f.Path] = f.Data
	}
	return out, nil
}

// fullText makes llms-full.txt, of all pages.
func (l *Live) fullText(ctx context.Context) ([]byte, error) {
	var text []byte
	var sums frame.FullSums
	for i := range l.src.site.Pages {
		if l.src.site.Pages[i].Excluded {
			continue
		}
		body, err := l.body(ctx, i)
		if err != nil {
			return nil, err
		}
		size := 0
		text, size = l.src.full.Append(text, i, body.Markdown)
		sums.Add(size)
	}
	return append([]byte(l.src.full.Head(sums)), text[:sums.Bytes]...), nil
}

// Policy returns what a content security policy must allow for a page besides
// 'self', by directive, as bundle.Info has it; for -1, for files that are not pages.
func (l *Live) Policy(ctx context.Context, i int) (map[string][]string, error) {
	if i < 0 {
		return l.src.views.Sources(), nil
	}
	b, err := l.keep(ctx, i, false)
	if err != nil {
		return nil, err
	}
	look := newLook()
	look.page(factOf(l.src.site, i, &b.page.Result, nil, 0))
	return look.addSources(l.src.views.Sources()), nil
}
