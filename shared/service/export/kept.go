package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/reference"
	"github.com/bindery-docs/bindery/shared/render/search"
	"github.com/bindery-docs/bindery/shared/service/kept"
)

// From one export of a site to the next, three kinds of values are kept where
// Options have a store for them: what a page's body is made into, under all that
// it was made from, which package page lists; a unit's part of the archive, under
// the digests of its files, as pieces of llms-full.txt are under theirs; and all else that a unit comes to, under the keys of
// its pages and a digest of the whole site but for its sources, which package frame
// has. So a change of text leaves all other units as they are. Where the site's
// configuration, its navigation, its list of pages or a front matter changed,
// what stands around pages is made again.

// keptPage is a page's body and what it has in the search index.
type keptPage struct {
	Result page.Result
	// Content is search.Page's, Weighed search.Part's; both are empty for a page
	// that can't be found.
	Content, Weighed []byte
}

// pageWork is a page that is put into a unit.
type pageWork struct {
	index int
	slice *reference.Slice
	// key is under what the page is kept, if keyed is set.
	key   kept.Key
	keyed bool
	// kept is what was kept of it, nil where it must be rendered.
	kept *keptPage
}

// work returns the work on a unit's pages, and under what the unit is kept if keyed
// is set.
func (s *Steps) work(ctx context.Context, src *source, u unit) (work []pageWork, key kept.Key, keyed bool, err error) {
	pages := src.layout.pages[u.From:u.To]
	slices, err := s.slices(ctx, src.input.Job.ID, u.Slices)
	if err != nil {
		return nil, key, false, err
	}
	work = make([]pageWork, len(pages))
	for n, i := range pages {
		work[n].index, work[n].slice = i, slices[i]
	}
	if src.kept == nil {
		return work, key, false, nil
	}
	around, err := src.around()
	if err != nil {
		return nil, key, false, internal("what stands around pages has no digest", err)
	}
	digest, keyed := around[:], true
	for n := range work {
		w := &work[n]
		p := &src.site.Pages[w.index]
		if p.Size <= MaxPageBytes {
			sum, ok, err := src.pages.Key(w.index, w.slice)
			if err != nil {
				return nil, key, false, internal("a page's key could not be made", err)
			}
			if w.keyed = ok; ok {
				w.key = s.keyOf("page", sum[:])
			}
		}
		keyed = keyed && w.keyed
		entry, _ := src.fs.Entry(p.File())
		digest = binary.AppendVarint(append(digest, w.key[:]...), entry.Modified.Unix())
		if src.full != nil && !src.full.Room(w.index) { // pages before it may have grown
			digest = append(digest, 0)
		}
	}
	return work, s.keyOf("whole unit", digest), keyed, nil
}

// recall gets what is kept of a page.
func (s *Steps) recall(src *source, w *pageWork) {
	if !w.keyed {
		return
	}
	data, ok := src.kept.Get(w.key)
	if !ok {
		return
	}
	var value keptPage
	if kept.Read(data, &value) == nil && src.pages.Still(w.index, &value.Result) {
		w.kept = &value
	}
}

// keptUnit is a whole unit.
type keptUnit struct {
	// Files are those that its pages asked for, sorted, and Sum is the digest of
	// what they were.
	Files []string
	Sum   []byte
	// Archive is the key of its part of the archive; the others are those of
	// unitResult.
	Archive           []byte
	Rows, Facts, Full []byte
	Index             keptIndex
	Count             int
	Bytes             int64
}

// keptIndex is a unit's part of the search index.
type keptIndex struct{ Pages, Terms []byte }

// sumOf is the digest of files that pages asked for.
func (src *source) sumOf(files []string) []byte {
	sum := sha256.New()
	var line []byte
	for _, f := range files {
		line = append(append(append(line[:0], f...), 0), src.digest(f)...)
		sum.Write(append(line, 0))
	}
	return sum.Sum(nil)
}

// recallUnit takes a whole unit that is kept; false where it must be made.
func (s *Steps) recallUnit(src *source, key kept.Key, work []pageWork, r *unitResult) bool {
	data, ok := src.kept.Get(key)
	if !ok {
		return false
	}
	var u keptUnit
	if kept.Read(data, &u) != nil || len(u.Archive) != len(key) || !bytes.Equal(u.Sum, src.sumOf(u.Files)) {
		return false
	}
	if !s.takeUnit(src, kept.Key(u.Archive), r) {
		return false
	}
	for i := range work {
		src.kept.Use(work[i].key)
	}
	src.kept.Use(s.rowsKey(kept.Key(u.Archive)))
	s.whole.Add(1)
	r.rows, r.facts, r.full, r.key, r.kept, r.sums = u.Rows, u.Facts, u.Full, &key, &u.Index, sums{Files: u.Count, Bytes: u.Bytes}
	return true
}

// takeUnit takes a unit's part of the archive as it is kept; false where it is not.
// One that is named is read no sooner than the bundle is written.
func (s *Steps) takeUnit(src *source, key kept.Key, r *unitResult) bool {
	if s.refers() {
		size, ok := src.kept.Size(key)
		if ok {
			r.held, r.heldBytes = &key, size
		}
		return ok
	}
	archive := s.buffer()
	if !load(src.kept, key, archive) {
		s.release(archive)
		return false
	}
	r.archive = archive
	return true
}

// refers reports whether shards name units that are kept.
func (s *Steps) refers() bool { return s.opt.ByReference && s.opt.Kept != nil }

// keepUnit keeps a whole unit.
func (s *Steps) keepUnit(src *source, key, archive kept.Key, w *unitWriter) {
	files := slices.Sorted(maps.Keys(w.asked))
	src.kept.Put(key, kept.Append(nil, keptUnit{
		Files: files, Sum: src.sumOf(files), Archive: archive[:],
		Rows: w.rows, Facts: w.facts, Full: w.full, Index: keptIndex{w.index.Pages(), w.index.Encode()}, Count: w.sums.Files, Bytes: w.sums.Bytes,
	}))
}

// keyOf is under what a value of this program is kept.
func (s *Steps) keyOf(kind string, digest []byte) kept.Key {
	sum := sha256.New()
	sum.Write([]byte(s.opt.Renderer + "\x00" + kind + "\x00"))
	sum.Write(digest)
	return kept.Key(sum.Sum(nil))
}

// keep keeps a page, unless what it was made from can't be told.
func (src *source) keep(w *pageWork, value *keptPage) {
	in := &value.Result.Inputs
	if w.keyed && in.Sum != "" && !in.Unsure {
		src.kept.Put(w.key, kept.Append(nil, *value))
	}
}

// addFound puts what can be found of a page into the unit's part of the search
// index, with the terms that are kept of it where it says the same as then.
// Otherwise it notes them in the value, and changed is true. The fact is nil if
// nothing can be found.
func (w *unitWriter) addFound(i int, value *keptPage, keyed bool) (fact *search.Fact, changed bool, err error) {
	if w.src.finder == nil {
		return nil, false, nil
	}
	p, ok := w.src.finder.Page(i, &value.Result)
	if !ok {
		return nil, false, nil
	}
	if !keyed {
		f, err := w.index.Add(p)
		return &f, false, err
	}
	content := p.Content()
	if bytes.Equal(content[:], value.Content) {
		if f, ok, err := w.index.AddWeighed(p, value.Weighed); ok || err != nil {
			return &f, false, err
		}
	}
	f, err := w.index.Add(p)
	if err != nil {
		return nil, false, err
	}
	value.Content, value.Weighed = content[:], w.index.Weighed()
	return &f, true, nil
}

// ask notes what a page was made from.
func (w *unitWriter) ask(in *page.Inputs) {
	if w.sure = w.sure && in.Sum != "" && !in.Unsure; !w.sure {
		return
	}
	for _, f := range in.Files {
		w.asked[f] = struct{}{}
	}
}

// member is a file of a unit that is not written yet.
type member struct {
	bundle.File
	modified time.Time
	role     bundle.Role
}

// heldUnit is the files of a unit before they are compressed.
type heldUnit struct {
	members []member
	data    *bytes.Buffer // of the members, one after another
	digest  []byte        // what the unit's bytes follow from
}

// add adds a file.
func (h *heldUnit) add(f bundle.File, modified time.Time, data []byte, role bundle.Role) {
	h.members = append(h.members, member{f, modified, role})
	h.data.Write(data)
	h.digest = f.AppendLine(append(binary.AppendVarint(h.digest, modified.Unix()), byte(role)))
}

// holding returns a unit to which files are added; release ends its use.
func (s *Steps) holding() *heldUnit { return &heldUnit{data: s.buffer()} }

func (s *Steps) release(buf *bytes.Buffer) {
	buf.Reset()
	s.buffers.Put(buf)
}

// load reads a value that is kept into an empty buffer, whose room it uses.
func load(values *kept.Store, key kept.Key, into *bytes.Buffer) bool {
	data, ok := values.Append(into.AvailableBuffer(), key)
	if ok {
		*into = *bytes.NewBuffer(data)
	}
	return ok
}

// heldKey returns the key of a unit's part of the archive.
func (s *Steps) heldKey(h *heldUnit) kept.Key {
	sum := sha256.Sum256(h.digest)
	return s.keyOf("unit", sum[:])
}

// rowsKey is under what the rows of a unit are cached.
func (s *Steps) rowsKey(key kept.Key) kept.Key { return s.keyOf("rows", key[:]) }

// compress appends a unit to out, its part of the archive, and returns its rows. Where
// the same files were compressed before, they are not compressed again.
func (s *Steps) compress(values *kept.Store, h *heldUnit, key kept.Key, out *bytes.Buffer) (rows []byte, err error) {
	if rows, ok := values.Get(s.rowsKey(key)); ok && load(values, key, out) {
		return rows, nil
	}
	archive, err := s.units.Unit(out, bundle.Text)
	if err != nil {
		return nil, internal("a unit could not be written", err)
	}
	for _, m := range h.members {
		if err = archive.Put(m.File, m.modified, h.data.Next(int(m.Size)), m.role); err != nil {
			break
		}
	}
	if closed := archive.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	values.Put(key, out.Bytes())
	values.Put(s.rowsKey(key), archive.Rows())
	return archive.Rows(), nil
}

// renderHeld renders a unit of pages as renderUnit does, unless it is kept.
func (s *Steps) renderHeld(ctx context.Context, src *source, u unit, r *unitResult) error {
	work, whole, keyed, err := s.work(ctx, src, u)
	if err != nil {
		return err
	}
	if keyed && s.recallUnit(src, whole, work, r) {
		return nil
	}
	held := s.holding()
	defer s.release(held.data)
	w := &unitWriter{unitResult: r, src: src, held: held, asked: map[string]struct{}{}, sure: keyed}
	for i := range work {
		s.recall(src, &work[i])
	}
	if err := s.renderPages(ctx, src, u, work, w); err != nil {
		return err
	}
	key := s.heldKey(held)
	rows, ok := []byte(nil), false
	if s.refers() {
		rows, ok = src.kept.Get(s.rowsKey(key))
	}
	if ok && s.takeUnit(src, key, r) { // the same files were compressed before
		r.rows = rows
	} else {
		r.archive = s.buffer()
		if r.rows, err = s.compress(src.kept, held, key, r.archive); err != nil {
			return err
		}
	}
	if w.sure {
		r.key = &whole
		s.keepUnit(src, whole, key, w)
	}
	return nil
}
