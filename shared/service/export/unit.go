package export

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/address"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/render/frame"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/search"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/kept"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// shardOutput is what the units of a shard come to, beside their part of the
// archive.
type shardOutput struct {
	rows, facts [][]byte // of each unit
	full        [][]byte // the pages' parts of llms-full.txt
	fullBytes   int
	index       shardIndex
	sums        sums
}

// add appends what a unit wrote at offset of the shard's part of the archive. Units are
// added in their order.
func (o *shardOutput) add(r *unitResult, offset int64) error {
	o.rows, o.facts = append(o.rows, appendPlaced(nil, r.rows, offset)), append(o.facts, r.facts)
	if o.fullBytes < frame.FullBytes { // nobody asks for what comes after
		o.full = append(o.full, r.full)
		o.fullBytes += len(r.full)
	}
	o.sums.Files += r.sums.Files
	o.sums.Bytes += r.sums.Bytes
	return o.index.add(r)
}

// unitResult is one rendered unit.
type unitResult struct {
	archive *bytes.Buffer // nil for units that are streamed or named instead
	// rows are those of the index, with offsets from the unit's beginning.
	rows, facts []byte
	full        []byte // the pages' parts of llms-full.txt
	index       search.Part
	sums        sums
	err         error

	// key is under what the unit is kept, nil where it can't be; kept is what was
	// kept of its index, which then is not in index.
	key  *kept.Key
	kept *keptIndex
	// held is under what the archive is kept, of heldBytes, if it is named instead of
	// written.
	held      *kept.Key
	heldBytes int
}

// unitWriter adds files to a unit's part of the archive, and notes each.
type unitWriter struct {
	*unitResult
	archive *bundle.Unit // nil where files are held
	src     *source

	held *heldUnit // nil where files are added to archive
	// asked are the files that pages asked for, and sure is set while all that the
	// pages were made from is known.
	asked map[string]struct{}
	sure  bool
}

// add adds a file that has the modification time of the site's file beside.
func (w *unitWriter) add(name, beside string, data []byte, role bundle.Role) error {
	entry, _ := w.src.fs.Entry(beside)
	return w.addAt(name, entry.Modified, data, role)
}

// copy adds a file of the site, with bytes that are compared with its digest already.
func (w *unitWriter) copy(name, source string, data []byte) error {
	entry, _ := w.src.fs.Entry(source)
	f := bundle.File{Path: name, Size: entry.Size, SHA256: entry.SHA256}
	w.note(f)
	return w.archive.Put(f, entry.Modified, data, roleOf(name, data, bundle.Plain))
}

// addAt adds a file that has this modification time.
func (w *unitWriter) addAt(name string, modified time.Time, data []byte, role bundle.Role) error {
	f := bundle.FileOf(name, data)
	w.note(f)
	if w.held != nil {
		w.held.add(f, modified, data, role)
		return nil
	}
	return w.archive.Put(f, modified, data, role)
}

// roleOf returns the role of a file: bundle.Stub for a page that only leads elsewhere.
func roleOf(name string, data []byte, other bundle.Role) bundle.Role {
	if strings.HasSuffix(name, ".html") && address.IsStub(data) {
		return bundle.Stub
	}
	return other
}

// broken notes a file that readers can't see.
func (r *unitResult) broken(source string, data []byte) {
	d, ok := check.BrokenData(source, data)
	if !ok {
		return
	}
	line, err := json.Marshal(fact{Facts: check.Facts{Page: -1, Diagnostics: []mdx.Diagnostic{d}}})
	if err == nil {
		r.facts = append(append(r.facts, line...), '\n')
	}
}

func (r *unitResult) note(f bundle.File) {
	r.sums.Files++
	r.sums.Bytes += f.Size
}

// renderUnits renders units at the same time, as far as there are slots, and
// writes them in order. A slot is held until its unit is written, which bounds
// the memory: the unit that is waited for always has one.
func (s *Steps) renderUnits(ctx context.Context, src *source, units []unit, w *unitsOut, out *shardOutput) error {
	ctx, cancel := context.WithCancel(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()
	var failed error
	for i, result := range s.startUnits(ctx, src, units, &workers) {
		r := <-result
		offset := w.n
		if r.err == nil && failed == nil {
			switch {
			case r.held != nil:
				r.err = w.refer(*r.held, r.heldBytes)
			case r.archive != nil:
				_, r.err = w.Write(r.archive.Bytes())
			default:
				r = s.streamUnit(ctx, src, units[i], w)
			}
		}
		if r.archive != nil {
			r.archive.Reset()
			s.buffers.Put(r.archive)
			<-s.slots
		}
		if r.err != nil && failed == nil {
			failed = r.err
			cancel() // the others stop; their slots are released here
		}
		if failed == nil {
			failed = out.add(&r, offset)
		}
	}
	return failed
}

// startUnits begins to render units and returns the channel on which each one's
// result comes. Units that are streamed have an empty result.
func (s *Steps) startUnits(ctx context.Context, src *source, units []unit, workers *sync.WaitGroup) []chan unitResult {
	results := make([]chan unitResult, len(units))
	for i := range results {
		results[i] = make(chan unitResult, 1)
	}
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
	return results
}

// streamed reports whether a unit is too large for memory: a single file.
func (src *source) streamed(u unit) bool {
	if u.Kind == pageUnit || u.To-u.From != 1 {
		return false
	}
	return src.layout.sizes(src.layout.list(u.Kind)[u.From]) > unitBytes
}

// list returns the static files that a kind of unit is cut from.
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
	entry, _ := src.fs.Entry(src.site.SourceOf(name))
	f, err := src.packs.Stream(src.site.SourceOf(name))
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
	if err == nil && line.SHA256 != entry.SHA256 {
		err = snapshot.DigestError(entry)
	}
	if err != nil {
		return unitResult{err: err}
	}
	r.note(line)
	r.rows = out.Rows()
	return r
}

// catch turns a unit's panic into its error. It is deferred.
func (s *Steps) catch(ctx context.Context, src *source, r *unitResult) {
	if p := recover(); p != nil {
		s.opt.Log.ErrorContext(ctx, "a unit panicked", "job", src.input.Job.ID, "panic", p, "stack", string(debug.Stack()))
		*r = unitResult{err: internal(job.Message(admin.CodeInternal), fmt.Errorf("panic: %v", p))}
	}
}

// renderUnit renders a unit into memory.
func (s *Steps) renderUnit(ctx context.Context, src *source, u unit) (r unitResult) {
	defer s.catch(ctx, src, &r)
	if u.Kind == pageUnit && src.kept != nil {
		if err := s.renderHeld(ctx, src, u, &r); err != nil {
			return unitResult{err: err}
		}
		return r
	}
	buf := s.buffer()
	archive, err := s.units.Unit(buf, compressionOf(u.Kind))
	if err != nil {
		return unitResult{err: internal("a unit could not be written", err)}
	}
	w := &unitWriter{unitResult: &r, archive: archive, src: src}
	if u.Kind == pageUnit {
		var work []pageWork
		if work, _, _, err = s.work(ctx, src, u); err == nil {
			err = s.renderPages(ctx, src, u, work, w)
		}
	} else {
		names := src.layout.list(u.Kind)[u.From:u.To]
		sources := make([]string, len(names))
		for i, name := range names {
			sources[i] = src.site.SourceOf(name)
		}
		err = src.packs.Each(sources, func(source string, data []byte) error {
			name := names[0]
			names = names[1:]
			w.broken(source, data)
			if err := ctx.Err(); err != nil {
				return err
			}
			if strings.HasSuffix(name, ".css") {
				return w.add(name, source, siteSheet(src.site, name, data), bundle.Plain)
			}
			return w.copy(name, source, data)
		})
	}
	if closed := archive.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return unitResult{err: err}
	}
	r.archive, r.rows = buf, archive.Rows()
	return r
}

// buffer returns an empty buffer.
func (s *Steps) buffer() *bytes.Buffer {
	if buf, _ := s.buffers.Get().(*bytes.Buffer); buf != nil {
		return buf
	}
	return new(bytes.Buffer)
}

// aheadBytes is how many bytes of sources are read along with those of a unit: a
// request for each unit would take longer than its bytes do.
const aheadBytes = 4 << 20

// prefetch reads the sources of a unit's pages that must be rendered. Where all must,
// those after them most likely must, too, and are read along.
func (src *source) prefetch(u unit, work []pageWork) error {
	var paths, along []string
	for i := range work {
		if work[i].kept == nil {
			paths = append(paths, src.site.Pages[work[i].index].Source) // one that is made from a specification has no file of its own
		}
	}
	if len(paths) == len(work) {
		ahead := int64(aheadBytes)
		for _, i := range src.layout.pages[u.To:] {
			p := &src.site.Pages[i]
			if ahead -= min(p.Size, MaxPageBytes); ahead < 0 {
				break
			}
			along = append(along, p.Source)
		}
	}
	src.reading.Lock() // whoever comes second finds what was read along
	defer src.reading.Unlock()
	return src.packs.PrefetchAlong(paths, along)
}

// renderPages adds pages, each with its Markdown copy, to a unit.
func (s *Steps) renderPages(ctx context.Context, src *source, u unit, work []pageWork, w *unitWriter) error {
	if err := src.prefetch(u, work); err != nil {
		return err
	}
	doc, _ := s.documents.Get().(*[]byte)
	if doc == nil {
		doc = new([]byte)
	}
	defer func() { s.documents.Put(doc) }()
	if src.full != nil {
		var size int64 // of the sources, about
		for i := range work {
			size += min(src.site.Pages[work[i].index].Size, MaxPageBytes) + pageWeight/4
		}
		w.full = make([]byte, 0, min(size, unitBytes))
	}
	for i := range work {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.addPage(ctx, src, &work[i], w, doc); err != nil {
			return err
		}
	}
	// Texts that can be found lie beside the pages that say them: they are kept and
	// compressed together.
	var failed error
	err := w.index.EndTexts(func(name string, data []byte) error {
		failed = w.addAt(name, bundle.Epoch(), data, bundle.Copy)
		return failed
	})
	if err != nil && failed == nil {
		return internal("what can be found of pages could not be written", err)
	}
	return err
}

// addPage renders a page, unless its body is kept, and adds its files to a unit,
// and what is known of it to the unit's facts and its part of the search index.
// doc is a buffer.
func (s *Steps) addPage(ctx context.Context, src *source, work *pageWork, w *unitWriter, doc *[]byte) error {
	i, value := work.index, work.kept
	p := &src.site.Pages[i]
	if value == nil {
		defer s.opt.Begin(p.Source)()
		res, err := s.renderPage(ctx, src, i, work.slice)
		if err != nil {
			return err
		}
		value = &keptPage{Result: *res}
	}
	found, changed, err := w.addFound(i, value, work.keyed)
	if err != nil {
		return internal("a page could not be put into the search index", err)
	}
	if changed || work.kept == nil {
		src.keep(work, value)
	}
	res := &value.Result
	w.ask(&res.Inputs)
	faults := len(res.Diagnostics)
	*doc = s.document(ctx, src, (*doc)[:0], i, res)
	w.sure = w.sure && len(res.Diagnostics) == faults // else it has no navigation
	if err := w.add(p.Output, p.File(), *doc, bundle.Plain); err != nil {
		return err
	}
	if err := w.add(p.MarkdownPath(), p.File(), res.Markdown, bundle.Copy); err != nil {
		return err
	}
	if res.Script != nil {
		if err := w.add(res.ScriptPath, p.File(), res.Script, bundle.Plain); err != nil {
			return err
		}
	}
	feed, data, err := src.views.Feed(i, res)
	if err != nil {
		return internal("a feed could not be written", err)
	}
	if feed != "" {
		if err := w.add(feed, p.File(), data, bundle.Plain); err != nil {
			return err
		}
	}
	full := 0
	if src.full != nil {
		w.full, full = src.full.Append(w.full, i, res.Markdown)
	}
	w.facts, err = appendFact(w.facts, src.site, i, res, found, full)
	return err
}
