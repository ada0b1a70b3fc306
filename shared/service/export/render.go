package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/reference"
	"github.com/bindery-docs/bindery/shared/render/search"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/render/theme"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// fact is one line of a shard's facts: what Assemble must know of a page. The
// last line has Sums instead.
type fact struct {
	Page        int              `json:"page"`
	IDs         []string         `json:"ids,omitempty"`
	Links       []fragmentLink   `json:"links,omitempty"`
	Diagnostics []mdx.Diagnostic `json:"diagnostics,omitempty"`
	// Classes, Maybe (MaybeClasses), Styles and Mermaid are those of page.Result.
	Classes []string          `json:"classes,omitempty"`
	Maybe   []string          `json:"maybeClasses,omitempty"`
	Styles  map[string]string `json:"styles,omitempty"`
	Mermaid bool              `json:"mermaid,omitempty"`
	// Islands tells that the page has a Script.
	Islands bool `json:"islands,omitempty"`
	// Reference and Playground are those of page.Result.
	Reference  bool `json:"reference,omitempty"`
	Playground bool `json:"playground,omitempty"`
	// Sources are those of page.Result.
	Sources map[string][]string `json:"sources,omitempty"`
	// Full is how many bytes the page has of llms-full.txt; below 0 it would have
	// some, but lies too far behind.
	Full int `json:"full,omitempty"`
	// Search is what the index must know of the page beforehand.
	Search *search.Fact `json:"search,omitempty"`
	Sums   *sums        `json:"sums,omitempty"`
}

// fragmentLink is a link to a place on another page.
type fragmentLink struct {
	Page     int    `json:"page"`
	Fragment string `json:"fragment"`
	Raw      string `json:"raw"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
}

// sums counts what a shard wrote.
type sums struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
	Pages int   `json:"pages"`
	// Search is how many bytes of the shard's part of the search index are pages.
	Search int64 `json:"search,omitempty"`
}

// Render renders one shard and marks it. A shard that is marked and whose
// objects are there is left as it is.
func (s *Steps) Render(ctx context.Context, in RenderInput) error {
	return s.run(ctx, in.JobID, "render", func() error { return s.render(ctx, in) })
}

func (s *Steps) render(ctx context.Context, in RenderInput) error {
	if in.Shard < 1 || in.Shard > MaxShards {
		return internal("a shard has a number that there is not", fmt.Errorf("shard %d", in.Shard))
	}
	input, err := s.input(ctx, in.JobID, in.Renderer)
	if err != nil {
		return err
	}
	if done, err := s.rendered(ctx, in, bundledSearch(input)); done || err != nil {
		return err
	}
	src, err := s.open(ctx, input)
	if err != nil {
		return err
	}
	data, err := s.read(ctx, shardKey(in.JobID, in.Shard), 64<<20)
	if err != nil {
		return err
	}
	var plan shardPlan
	if err := json.Unmarshal(data, &plan); err != nil {
		return internal("a shard's plan can't be read", err)
	}
	var files, facts, full bytes.Buffer
	var index search.Part
	units, err := s.stream(ctx, unitsKey(in.JobID, in.Shard), store.PutOptions{}, func(w io.Writer) error {
		total := sums{Pages: plan.Pages}
		if err := s.renderUnits(ctx, src, plan.Units, w, &files, &facts, &full, &index, &total); err != nil {
			return err
		}
		total.Search = int64(len(index.Pages()))
		return json.NewEncoder(&facts).Encode(fact{Page: -1, Sums: &total})
	})
	if err != nil {
		return gone(err)
	}
	if err := s.put(ctx, filesKey(in.JobID, in.Shard), files.Bytes()); err != nil {
		return err
	}
	if err := s.put(ctx, factsKey(in.JobID, in.Shard), facts.Bytes()); err != nil {
		return err
	}
	if err := s.put(ctx, fullKey(in.JobID, in.Shard), full.Bytes()); err != nil {
		return err
	}
	if src.finder != nil {
		if err := s.putSearch(ctx, in, &index); err != nil {
			return err
		}
	}
	if err := s.admin.MarkShard(ctx, in.JobID, in.Shard, plan.Pages); err != nil {
		return err
	}
	s.annotate(ctx, slog.Int("pages", plan.Pages), slog.Int64("bytes", units.Size))
	return nil
}

// input reads a job for a step behind Plan, and refuses another renderer.
func (s *Steps) input(ctx context.Context, job, renderer string) (admin.ExportInput, error) {
	input, err := s.admin.ExportInput(ctx, job)
	if err != nil {
		return input, err
	}
	s.annotate(ctx, slog.String("organisation", input.Job.Organisation))
	if renderer != s.renderer {
		return input, admin.Errorf(admin.CodeRendererChanged, "%s", messages[admin.CodeRendererChanged])
	}
	return input, admin.CheckRenderer(input.Job, renderer)
}

// rendered tells whether a shard is done.
func (s *Steps) rendered(ctx context.Context, in RenderInput, searched bool) (bool, error) {
	marked, err := s.admin.ShardMarked(ctx, in.JobID, in.Shard)
	if err != nil || !marked {
		return false, err
	}
	keys := []string{unitsKey(in.JobID, in.Shard), filesKey(in.JobID, in.Shard), factsKey(in.JobID, in.Shard), fullKey(in.JobID, in.Shard)}
	if searched {
		keys = append(keys, searchKey(in.JobID, in.Shard))
	}
	for _, key := range keys {
		if _, err := s.objects.Stat(ctx, key); errors.Is(err, store.ErrNotFound) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	return true, nil
}

// unitResult is one rendered unit.
type unitResult struct {
	archive      *bytes.Buffer // nil for units that are streamed instead
	files, facts []byte
	full         []byte // the pages' parts of llms-full.txt
	index        search.Part
	sums         sums
	err          error
}

// renderUnits renders units at the same time, as far as there are slots, and
// writes them in order. A slot is held until its unit is written, which bounds
// the memory: the unit that is waited for always has one.
func (s *Steps) renderUnits(ctx context.Context, src *source, units []unit, w io.Writer, files, facts, full *bytes.Buffer, index *search.Part, total *sums) error {
	ctx, cancel := context.WithCancel(ctx)
	results := make([]chan unitResult, len(units))
	for i := range results {
		results[i] = make(chan unitResult, 1)
	}
	var workers sync.WaitGroup
	workers.Go(func() {
		for i, u := range units {
			if src.streamed(u) {
				results[i] <- unitResult{}
				continue
			}
			select {
			case s.slots <- struct{}{}:
			case <-ctx.Done():
				for _, r := range results[i:] {
					r <- unitResult{err: ctx.Err()}
				}
				return
			}
			workers.Go(func() {
				r := s.renderUnit(ctx, src, u)
				if r.archive == nil {
					<-s.slots
				}
				results[i] <- r
			})
		}
	})
	var failed error
	for i, u := range units {
		r := <-results[i]
		if r.err == nil && failed == nil {
			if r.archive == nil {
				r = s.streamUnit(ctx, src, u, w)
			} else {
				_, r.err = w.Write(r.archive.Bytes())
			}
		}
		if r.archive != nil {
			r.archive.Reset()
			s.buffers.Put(r.archive)
			<-s.slots
		}
		if r.err != nil && failed == nil {
			failed = r.err
			cancel()
		}
		if failed != nil {
			continue // the others are told to stop; their slots are given back here
		}
		files.Write(r.files)
		facts.Write(r.facts)
		if full.Len() < llmsFullBytes { // what lies behind is never asked for
			full.Write(r.full)
		}
		index.Join(&r.index)
		total.Files += r.sums.Files
		total.Bytes += r.sums.Bytes
	}
	cancel()
	workers.Wait()
	return failed
}

// streamed tells units that are too large for memory: a single file.
func (src *source) streamed(u unit) bool {
	if u.Kind == pageUnit || u.To-u.From != 1 {
		return false
	}
	return src.layout.sizes(src.layout.list(u.Kind)[u.From]) > unitBytes
}

// list gives the list of static files that a kind of unit is cut from.
func (l *layout) list(kind unitKind) []string {
	if kind == storedUnit {
		return l.stored
	}
	return l.text
}

func compressionOf(kind unitKind) bundle.Compression {
	if kind == storedUnit {
		return bundle.Stored
	}
	return bundle.Text
}

// streamUnit writes a unit of one large file.
func (s *Steps) streamUnit(ctx context.Context, src *source, u unit, w io.Writer) (r unitResult) {
	defer s.catch(ctx, src, &r)
	name := src.layout.list(u.Kind)[u.From]
	entry, _ := src.fs.Entry(name)
	f, err := src.fs.Open(name)
	if err != nil {
		return unitResult{err: err}
	}
	defer f.Close()
	out, err := s.units.Unit(w, compressionOf(u.Kind))
	if err != nil {
		return unitResult{err: internal("a unit could not be written", err)}
	}
	line, err := out.AddFrom(name, entry.Modified, entry.Size, store.Until(ctx, f))
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return unitResult{err: err}
	}
	r.note(line)
	return r
}

func (r *unitResult) note(f bundle.File) {
	r.files = f.AppendLine(r.files)
	r.sums.Files++
	r.sums.Bytes += f.Size
}

// catch turns a unit's panic into its error. It is deferred.
func (s *Steps) catch(ctx context.Context, src *source, r *unitResult) {
	if p := recover(); p != nil {
		s.log.ErrorContext(ctx, "a unit panicked", "job", src.input.Job.ID, "panic", p, "stack", string(debug.Stack()))
		*r = unitResult{err: internal(messages[admin.CodeInternal], fmt.Errorf("panic: %v", p))}
	}
}

// renderUnit renders a unit into memory.
func (s *Steps) renderUnit(ctx context.Context, src *source, u unit) (r unitResult) {
	defer s.catch(ctx, src, &r)
	buf, _ := s.buffers.Get().(*bytes.Buffer)
	if buf == nil {
		buf = new(bytes.Buffer)
	}
	out, err := s.units.Unit(buf, compressionOf(u.Kind))
	if err != nil {
		return unitResult{err: internal("a unit could not be written", err)}
	}
	if u.Kind == pageUnit {
		err = s.renderPages(ctx, src, u, out, &r)
	} else {
		err = src.fs.Each(src.layout.list(u.Kind)[u.From:u.To], func(name string, data []byte) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if strings.HasSuffix(name, ".css") {
				data = localURLs(src.site, name, relativeURLs(src.site, name, data))
			}
			entry, _ := src.fs.Entry(name)
			line, err := out.Add(name, entry.Modified, data)
			if err == nil {
				r.note(line)
			}
			return err
		})
	}
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return unitResult{err: err}
	}
	r.archive = buf
	return r
}

// renderPages adds pages, each with its Markdown copy, to a unit.
func (s *Steps) renderPages(ctx context.Context, src *source, u unit, out *bundle.Unit, r *unitResult) error {
	pages := src.layout.pages[u.From:u.To]
	slices, err := s.slices(ctx, src.input.Job.ID, u.Slices)
	if err != nil {
		return err
	}
	paths := make([]string, len(pages))
	for i, p := range pages {
		paths[i] = src.site.Pages[p].Source // one that is made from a specification has no file of its own
	}
	if err := src.fs.Prefetch(paths); err != nil {
		return err
	}
	doc, _ := s.documents.Get().(*[]byte)
	if doc == nil {
		doc = new([]byte)
	}
	defer func() { s.documents.Put(doc) }()
	for _, i := range pages {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := &src.site.Pages[i]
		res, err := s.renderPage(ctx, src, i, slices[i])
		if err != nil {
			return err
		}
		*doc = s.document(ctx, src, (*doc)[:0], i, res)
		entry, _ := src.fs.Entry(p.File())
		line, err := out.Add(p.Output, entry.Modified, *doc)
		if err != nil {
			return err
		}
		r.note(line)
		if line, err = out.Add(markdownPath(p), entry.Modified, res.Markdown); err != nil {
			return err
		}
		r.note(line)
		if res.Script != nil {
			if line, err = out.Add(res.ScriptPath, entry.Modified, res.Script); err != nil {
				return err
			}
			r.note(line)
		}
		if src.views.feedOf(i, res) {
			if err := addFeed(src, out, i, res, entry.Modified, r); err != nil {
				return err
			}
		}
		full := 0
		switch {
		case !src.fullText || !listed(p):
		case i >= src.fullEnd:
			full = -1
		default:
			before := len(r.full)
			r.full = appendFull(r.full, src.views.address(p), res.Markdown)
			full = len(r.full) - before
		}
		var found *search.Fact
		if src.finder != nil && src.finder.findable(i) {
			f, err := r.index.Add(src.finder.page(i, res))
			if err != nil {
				return internal("a page could not be put into the search index", err)
			}
			found = &f
		}
		if r.facts, err = appendFact(r.facts, src.site, i, res, found, full); err != nil {
			return err
		}
	}
	return nil
}

// markdownPath is the file of a page's Markdown copy.
func markdownPath(p *site.Page) string { return p.Address + ".md" }

// renderPage renders a body. A page that can't be rendered becomes one that
// says so: a notice for readers, a diagnostic for authors.
func (s *Steps) renderPage(ctx context.Context, src *source, i int, slice *reference.Slice) (res *page.Result, err error) {
	p := &src.site.Pages[i]
	defer func() {
		if v := recover(); v != nil {
			s.log.ErrorContext(ctx, "a page panicked", "job", src.input.Job.ID, "page", p.Source, "panic", v, "stack", string(debug.Stack()))
			res, err = failedPage(p, "the renderer met a fault on this page"), nil
		}
	}()
	if p.Size > MaxPageBytes {
		return failedPage(p, fmt.Sprintf("the page has more than %d MiB", MaxPageBytes>>20)), nil
	}
	if res, err = src.pages.RenderReference(ctx, i, slice); err == nil {
		src.views.addDirectory(i, res)
	}
	return res, err
}

// document puts what the theme shows around a body. A fault there costs the page
// its surroundings, not the export its end.
func (s *Steps) document(ctx context.Context, src *source, dst []byte, i int, res *page.Result) (doc []byte) {
	defer func() {
		if v := recover(); v != nil {
			p := &src.site.Pages[i]
			s.log.ErrorContext(ctx, "a page's document panicked", "job", src.input.Job.ID, "page", p.Source, "panic", v, "stack", string(debug.Stack()))
			res.Diagnostics = append(res.Diagnostics, mdx.Diagnostic{
				Severity: mdx.Error, Code: "page-failed", File: p.File(), Line: 1, Column: 1,
				Message: "the renderer met a fault around this page: it has no navigation",
			})
			doc = fmt.Appendf(dst[:0], "<!doctype html><html><head><meta charset=\"utf-8\"><title>%[1]s</title></head><body><main><h1>%[1]s</h1>%[2]s</main></body></html>\n",
				html.AppendText(nil, p.Title), res.HTML)
		}
	}()
	return src.views.document(dst, i, res)
}

// failedPage stands for a page that can't be rendered.
func failedPage(p *site.Page, reason string) *page.Result {
	const notice = "This page could not be rendered."
	return &page.Result{
		Title: p.Title, Description: p.Description,
		HTML:     []byte(`<div class="callout callout-danger" role="note"><p>` + notice + `</p></div>`),
		Markdown: []byte("# " + p.Title + "\n\n" + notice + "\n"),
		Diagnostics: []mdx.Diagnostic{{
			Severity: mdx.Error, Code: "page-failed", File: p.File(), Line: 1, Column: 1, Message: reason,
		}},
	}
}

// appendFact adds a page's line of facts. Links to places on the page itself
// are settled here.
func appendFact(dst []byte, s *site.Site, i int, res *page.Result, found *search.Fact, full int) ([]byte, error) {
	f := fact{
		Page: i, IDs: res.IDs, Diagnostics: res.Diagnostics,
		Classes: res.Classes, Maybe: res.MaybeClasses, Styles: res.Styles, Mermaid: res.Mermaid, Islands: res.Script != nil, Reference: res.Reference, Playground: res.Playground, Sources: res.Sources, Search: found, Full: full,
	}
	var own map[string]bool
	for _, l := range res.Links {
		if l.Page < 0 || l.Missing || l.Asset || !needsID(l.Fragment) || s.Pages[l.Page].Excluded {
			continue
		}
		link := fragmentLink{Page: l.Page, Fragment: l.Fragment, Raw: l.Raw, File: l.File, Line: l.Line, Column: l.Column}
		if l.Page != i {
			f.Links = append(f.Links, link)
			continue
		}
		if own == nil {
			own = make(map[string]bool, len(res.IDs))
			for _, id := range res.IDs {
				own[id] = true
			}
		}
		if !own[l.Fragment] {
			f.Diagnostics = append(f.Diagnostics, fragmentMissing(s, link))
		}
	}
	line, err := json.Marshal(f)
	if err != nil {
		return dst, internal("a page's facts could not be written", err)
	}
	return append(append(dst, line...), '\n'), nil
}

// needsID tells fragments that name an element from those that browsers
// understand by themselves.
func needsID(fragment string) bool {
	return fragment != "" && !strings.EqualFold(fragment, "top") && !strings.HasPrefix(fragment, ":~:") && fragment != themeContent
}

// themeContent is the id that the document around a body gives to its content.
const themeContent = "bindery-content"

func fragmentMissing(s *site.Site, l fragmentLink) mdx.Diagnostic {
	return mdx.Diagnostic{
		Severity: mdx.Warning, Code: "fragment-missing", File: l.File, Line: l.Line, Column: l.Column,
		Message: fmt.Sprintf("the link %q leads to %s, which has no place %q", l.Raw, s.Pages[l.Page].Source, l.Fragment),
	}
}

// cssURL matches url(/…) in a style sheet; what begins with two slashes is
// another host.
var cssURL = regexp.MustCompile(`url\(\s*(["']?)(/[^/"')\s][^"')\s]*)`)

// relativeURLs makes addresses from the site's root relative to the style
// sheet, so that they hold in a folder and under a path.
func relativeURLs(s *site.Site, name string, data []byte) []byte {
	if !bytes.Contains(data, []byte("url(")) {
		return data
	}
	return cssURL.ReplaceAllFunc(data, func(m []byte) []byte {
		sub := cssURL.FindSubmatch(m)
		t := s.Resolve(-1, string(sub[2]))
		ref := t.Href
		if t.Kind != site.External {
			ref = site.Rel(name, t.Path) + afterPath(t.Href)
		}
		// Parentheses would end url(…).
		ref = strings.ReplaceAll(strings.ReplaceAll(ref, "(", "%28"), ")", "%29")
		return []byte("url(" + string(sub[1]) + ref)
	})
}

// iconsOf lets components draw the theme's icons.
type iconsOf struct{ theme *theme.Theme }

func (i iconsOf) Icon(name, library, style string) (string, bool) {
	return i.theme.Icon(name, library, style)
}
