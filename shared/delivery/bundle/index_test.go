package bundle

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"compress/gzip"

	"github.com/google/go-cmp/cmp"
)

// An indexed archive, as an export writes it.
type indexed struct {
	data []byte
	root Place
	// lists is the offset of the lists.
	lists int64
	rows  map[string]Row
}

// indexedFile is a file of a test archive.
type indexedFile struct {
	path   string
	data   []byte
	follow bool // shares the member of the file before
	pieces bool // written by a FileWriter, in pieces of 300 kB
	stub   bool
}

// buildIndexed writes units, the index, the lists and the footer.
func buildIndexed(t testing.TB, units [][]indexedFile, redirects []Redirect) indexed {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var w Writers
	var out bytes.Buffer
	var x IndexWriter
	var list []byte
	a := indexed{rows: map[string]Row{}}
	info := Info{Format: 1, Domain: "docs.example", Version: "1", Redirects: redirects}
	note := func(f File) {
		list = f.AppendLine(list)
		info.Files++
		info.Bytes += f.Size
	}
	add := func(rows []byte, offset int64) {
		for r, err := range ReadRows(rows) {
			check(err)
			if r.Size > 0 {
				r.Offset += offset
			}
			a.rows[r.Path] = r
		}
		check(x.Add(rows, offset))
	}
	for i, files := range units {
		offset := int64(out.Len())
		u, err := w.Unit(&out, []Compression{Text, Stored}[i%2])
		check(err)
		for _, f := range files {
			if f.pieces {
				check(u.Close())
				add(u.Rows(), offset)
				offset = int64(out.Len())
				p, err := w.File(&out, f.path, Epoch(), int64(len(f.data)))
				check(err)
				for rest := f.data; len(rest) > 0; {
					n := min(len(rest), 300_000)
					var packed bytes.Buffer
					check(w.Piece(&packed, rest[:n]))
					check(p.Add(rest[:n], packed.Bytes()))
					rest = rest[n:]
				}
				line, rows, err := p.Close()
				check(err)
				note(line)
				add(rows, offset)
				offset = int64(out.Len())
				u, err = w.Unit(&out, Text)
				check(err)
				continue
			}
			line := FileOf(f.path, f.data)
			note(line)
			switch {
			case f.follow:
				check(u.Put(line, time.Time{}, f.data, Copy))
			case f.stub:
				check(u.Put(line, time.Time{}, f.data, Stub))
			case len(f.data)%2 == 1:
				_, err := u.AddFrom(f.path, time.Time{}, int64(len(f.data)), bytes.NewReader(f.data))
				check(err)
			default:
				check(u.Put(line, time.Time{}, f.data, Plain))
			}
		}
		check(u.Close())
		add(u.Rows(), offset)
	}
	x.AddRedirects(redirects)
	line, root, err := x.Write(&w, &out, int64(out.Len()), info)
	check(err)
	note(line)
	a.root = root
	a.lists = int64(out.Len())
	u, err := w.Unit(&out, Text)
	check(err)
	info.FileList, info.DiagnosticList = listInfo(list), listInfo(nil)
	text, err := json.Marshal(info)
	check(err)
	for _, f := range []content{{FilesPath, string(list)}, {DiagnosticsPath, ""}, {InfoPath, string(text)}} {
		_, err := u.Add(f.path, time.Time{}, []byte(f.data))
		check(err)
	}
	check(u.Close())
	a.data = AppendFooter(out.Bytes(), Footer{root, a.lists})
	return a
}

// read returns the bytes of a range.
func (a indexed) read(offset, length int64) []byte { return a.data[offset : offset+length] }

// open reads the root.
func (a indexed) open(t testing.TB) *Root {
	t.Helper()
	at, err := ReadFooter(a.data[len(a.data)-FooterBytes:], int64(len(a.data)))
	if want := (Footer{a.root, a.lists}); err != nil || at != want {
		t.Fatalf("footer: %+v, %v, want %+v", at, err, want)
	}
	root, err := ParseRoot(a.root, a.read(a.root.Offset, a.root.Length))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// find looks a key up.
func (a indexed) find(t testing.TB, root *Root, key string) Rows {
	t.Helper()
	at, ok := root.Block(key)
	if !ok {
		return Rows{}
	}
	b, err := ParseBlock(at, a.read(at.Offset, at.Length))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := b.Find(key)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// contents returns a file by range reads, and its gzip form if it has one.
func (a indexed) contents(r Row) (data, zipped []byte, err error) {
	if r.Size == 0 {
		return nil, nil, nil
	}
	if r.Chunks == nil {
		data, err = r.InflateInside(nil, a.read(r.Offset, r.Length))
		return data, nil, err
	}
	at := r.Offset
	for i, c := range r.Chunks {
		if data, err = r.Inflate(data, i, a.read(at, c.Length)); err != nil {
			return nil, nil, err
		}
		at += c.Length
	}
	return data, append(bytes.Clone(a.read(r.Offset, r.Sent())), r.Tail()...), nil
}

// text is text of n bytes that compresses to about a third.
func text(r *rand.Rand, n int) []byte {
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "<p class=a>%d %x</p>\n", r.IntN(1000), r.Uint32())
	}
	return b.Bytes()[:n]
}

// Every file is found by its key and read by its range, whatever its size and its
// neighbours; a file that begins its member is a gzip member with the tail; and the
// archive is one that every reader of tar unpacks to the same files.
func TestIndexedArchive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 3*ChunkBytes+12_345)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	units := [][]indexedFile{
		{
			{path: "404.html", data: text(r, 900)},
			{path: "index.html", data: text(r, 40_000)}, {path: "index.md", data: text(r, 9_000), follow: true},
			{path: "guides.html", data: text(r, 20_000)}, {path: "guides.md", data: text(r, 7_001), follow: true},
			{path: "guides/index.html", data: text(r, 600), stub: true},
			{path: "api/index.html", data: text(r, 300)}, {path: "api.md", data: nil, follow: true},
			{path: "LICENSE", data: text(r, 100)}, {path: "LICENSE.html", data: text(r, 200_000)},
			{path: "LICENSE.md", data: text(r, 130_000), follow: true}, {path: "after.md", data: text(r, 130_500), follow: true}, {path: "tiny.md", data: []byte("#"), follow: true},
			{path: strings.Repeat("long-name/", 30) + "größe.html", data: text(r, 17_000)},
			{path: "old.html", data: text(r, 601), stub: true},
		},
		{{path: "images/noise.png", data: noise}, {path: "images/small.png", data: noise[:700]}, {path: "images/exact.bin", data: noise[:ChunkBytes]}},
		{{path: "big.json", data: text(r, 2*ChunkBytes+4_000)}, {path: "llms-full.txt", data: text(r, 1_000_000), pieces: true}, {path: "z.css", data: text(r, 512)}},
		{{path: "empty.bin", data: nil}},
	}
	// Sizes around those that decide where a member and a chunk end.
	for i, size := range []int{leadBytes - 2, leadBytes, leadBytes + 2, followBytes - 2, followBytes, followBytes + 2, ChunkBytes - 1, ChunkBytes, ChunkBytes + 1, 2 * ChunkBytes} {
		for _, follow := range []bool{false, true} {
			name := fmt.Sprintf("sizes/%d-%t.txt", i, follow)
			units = append(units, []indexedFile{{path: name + ".first", data: text(r, 40)}, {path: name, data: text(r, size), follow: follow}, {path: name + ".next", data: text(r, 50), follow: true}})
		}
	}
	redirects := []Redirect{{From: "/old", To: "/guides", Permanent: true}, {From: "/v1/:page", To: "/:page"}, {From: "/maybe/:x?", To: "/m/:x"}, {From: "/asked?tab=1", To: "/a"}, {From: "/asked", To: "/b"}, {From: "/old.html", To: "/c"}}
	a := buildIndexed(t, units, redirects)

	info, err := Read(t.Context(), bytes.NewReader(a.data), Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	root := a.open(t)
	leaders := 0
	want := map[string][]byte{}
	for _, unit := range units {
		for n, f := range unit {
			want[f.path] = f.data
			if n == 0 && len(f.data) > 0 && a.rows[f.path].Chunks == nil {
				t.Errorf("%s, the first of its unit, does not begin its member", f.path)
			}
			rows := a.find(t, root, Key(f.path))
			i := -1
			for j := range rows.Files {
				if rows.Files[j].Path == f.path {
					i = j
				}
			}
			if f.path == "guides/index.html" { // guides.html is there
				if i >= 0 {
					t.Error("the redirect page of a section has a row")
				}
				continue
			}
			if i < 0 {
				t.Errorf("%s is not found by its key", f.path)
				continue
			}
			row := rows.Files[i]
			if d := cmp.Diff(a.rows[f.path], row); d != "" {
				t.Errorf("%s: %s", f.path, d)
			}
			data, zipped, err := a.contents(row)
			if err != nil || !bytes.Equal(data, f.data) || row.Stub != f.stub {
				t.Errorf("%s: %d bytes, %v; want %d", f.path, len(data), err, len(f.data))
			}
			if least := map[bool]int{false: leadBytes, true: followBytes}[f.follow]; len(f.data) >= least && row.Chunks == nil {
				t.Errorf("%s does not begin its member", f.path)
			}
			if strings.HasPrefix(f.path, "sizes/") && strings.HasSuffix(f.path, ".txt") && len(f.data) < leadBytes && row.Chunks != nil {
				t.Errorf("%s begins a member", f.path)
			}
			if zipped == nil {
				continue
			}
			leaders++
			zr, err := gzip.NewReader(bytes.NewReader(zipped))
			if err != nil {
				t.Fatal(err)
			}
			zr.Multistream(false)
			plain, err := io.ReadAll(zr)
			if err != nil || !bytes.Equal(plain, f.data) {
				t.Errorf("the gzip form of %s: %d bytes, %v; want %d", f.path, len(plain), err, len(f.data))
			}
		}
	}
	if leaders < 10 {
		t.Errorf("%d files begin their member", leaders)
	}
	if root.NotFound == nil || root.NotFound.Path != "404.html" {
		t.Errorf("the page for addresses that don't exist: %+v", root.NotFound)
	}
	if d := cmp.Diff([]Redirect{redirects[1], redirects[2]}, root.Info.Redirects); d != "" {
		t.Errorf("redirects of the root: %s", d)
	}
	for key, want := range map[string][]Redirect{"old": {redirects[0], redirects[5]}, "asked": redirects[3:5], "maybe": {{From: "/maybe", To: "/m"}}, "v1": nil, "zzz": nil} {
		if d := cmp.Diff(want, a.find(t, root, key).Redirects); d != "" {
			t.Errorf("redirects of %s: %s", key, d)
		}
	}
	if info.Files != len(want)+1 {
		t.Errorf("%d files in the description, want %d and the index", info.Files, len(want))
	}

	// Other readers.
	got := map[string][]byte{}
	zr, err := gzip.NewReader(bytes.NewReader(a.data))
	if err != nil {
		t.Fatal(err)
	}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if got[h.Name], err = io.ReadAll(tr); err != nil {
			t.Fatal(err)
		}
	}
	for path, data := range want {
		if !bytes.Equal(got[path], data) {
			t.Errorf("%s has %d bytes in the archive, want %d", path, len(got[path]), len(data))
		}
	}
}

// The same files make the same bytes.
func TestIndexIsDeterministic(t *testing.T) {
	build := func() []byte {
		r := rand.New(rand.NewPCG(3, 4))
		return buildIndexed(t, [][]indexedFile{{{path: "a.html", data: text(r, 50_000)}, {path: "a.md", data: text(r, 500), follow: true}}}, nil).data
	}
	if !bytes.Equal(build(), build()) {
		t.Error("two archives of the same files differ")
	}
}

// A hundred thousand pages, with their copies and texts, have a root below 100 kB and
// an index below 300 bytes a page.
func TestIndexOfManyPages(t *testing.T) {
	var x IndexWriter
	var rows []byte
	r := rand.New(rand.NewPCG(5, 6))
	at := int64(0)
	const pages = 100_000
	for i := range pages {
		name := fmt.Sprintf("reference/%s/section-%03d/operation-number-%06d", [...]string{"platform", "billing", "identity"}[i%3], i/300, i)
		lead := Row{Path: name + ".html", Size: 40_000, Offset: at, CRC32: r.Uint32(), Chunks: []Chunk{{Length: 9_000, Size: 40_000}}}
		lead.SHA256[0], lead.Chunks[0].SHA256[1] = byte(r.Uint32()), byte(r.Uint32())
		rows = lead.Append(rows)
		for _, other := range []string{name + ".md", fmt.Sprintf("bindery/search/x.%014x.js", r.Uint64()>>8)} {
			row := Row{Path: other, Size: 3_000, Offset: at, Length: 11_000, Skip: 41_000}
			rows = row.Append(rows)
		}
		at += 11_000
	}
	if err := x.Add(rows, 0); err != nil {
		t.Fatal(err)
	}
	var w Writers
	var out bytes.Buffer
	file, root, err := x.Write(&w, &out, 0, Info{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the root has %d bytes, the index %d, %d for each page", root.Size, file.Size, file.Size/pages)
	if root.Size > 100_000 || file.Size > 300*pages {
		t.Errorf("the root has %d bytes, the index %d", root.Size, file.Size)
	}
	a := indexed{data: out.Bytes()}
	parsed, err := ParseRoot(root, a.read(root.Offset, root.Length))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, pages / 2, pages - 1} {
		name := fmt.Sprintf("reference/%s/section-%03d/operation-number-%06d", [...]string{"platform", "billing", "identity"}[n%3], n/300, n)
		if rows := a.find(t, parsed, name); len(rows.Files) != 1 || rows.Files[0].Path != name+".html" || rows.Files[0].Offset != int64(n)*11_000 {
			t.Errorf("page %d: %+v", n, rows)
		}
	}
}

// Whatever byte of an archive changes, no byte of a file is given out that the export
// did not write.
func TestDamagedRanges(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	files := []indexedFile{{path: "a.html", data: text(r, 20_000)}, {path: "a.md", data: text(r, 3_000), follow: true}, {path: "b.bin", data: text(r, ChunkBytes+5)}}
	good := buildIndexed(t, [][]indexedFile{files}, []Redirect{{From: "/x", To: "/a"}})
	want := map[string][]byte{}
	for _, f := range files {
		want[f.path] = f.data
	}
	for range 400 {
		bad := good
		bad.data = bytes.Clone(good.data)
		bad.data[r.IntN(len(bad.data))] ^= byte(1 + r.IntN(255))
		at, err := ReadFooter(bad.data[len(bad.data)-FooterBytes:], int64(len(bad.data)))
		if err != nil || at.Root != good.root {
			continue // the job's record has the right place
		}
		root, err := ParseRoot(good.root, bad.read(good.root.Offset, good.root.Length))
		if err != nil {
			continue
		}
		for path, data := range want {
			at, ok := root.Block(Key(path))
			if !ok {
				t.Fatalf("no block for %s", path)
			}
			b, err := ParseBlock(at, bad.read(at.Offset, at.Length))
			if err != nil {
				continue
			}
			rows, err := b.Find(Key(path))
			if err != nil {
				t.Errorf("a block with its digest can't be read: %v", err)
			}
			for _, row := range rows.Files {
				got, _, err := bad.contents(row)
				if _, ok := errors.AsType[*Error](err); err != nil && !ok {
					t.Errorf("%s: %v is no fault of the bundle", path, err)
				}
				if err == nil && row.Path == path && !bytes.Equal(got, data) {
					t.Errorf("%s has other bytes than were exported", path)
				}
			}
		}
	}
}

// Archives of older releases have no index.
func TestNoIndex(t *testing.T) {
	old := build(t, sample, nil)
	for _, end := range [][]byte{old[len(old)-FooterBytes:], nil, make([]byte, FooterBytes)} {
		if _, err := ReadFooter(end, int64(len(old))); !errors.Is(err, ErrNoIndex) {
			t.Errorf("footer: %v", err)
		}
	}
}

// A footer that names what the archive can't have is refused.
func TestHostileFooters(t *testing.T) {
	const size = 1 << 20
	good := Footer{Root: Place{Offset: 1000, Chunk: Chunk{Length: 100, Size: 90}}, Lists: 2000}
	if _, err := ReadFooter(AppendFooter(nil, good), size); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Footer){
		"a negative offset":   func(f *Footer) { f.Root.Offset = -1 },
		"no length":           func(f *Footer) { f.Root.Length = 0 },
		"no size":             func(f *Footer) { f.Root.Size = 0 },
		"a large size":        func(f *Footer) { f.Root.Size = MaxRootBytes + 1 },
		"a large length":      func(f *Footer) { f.Root.Length, f.Lists = 1<<40, size-200 },
		"a root in the lists": func(f *Footer) { f.Root.Offset = 1901 },
		"lists after the end": func(f *Footer) { f.Lists = size },
		"negative lists":      func(f *Footer) { f.Lists = math.MinInt64 },
		"the largest offset":  func(f *Footer) { f.Root.Offset = math.MaxInt64 },
	} {
		f := good
		change(&f)
		if _, err := ReadFooter(AppendFooter(nil, f), size); err == nil || errors.Is(err, ErrNoIndex) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A root of another format, and rows that would have a reader load much, are refused.
func TestHostileRows(t *testing.T) {
	for name, change := range map[string]func(*Row){
		"a long chunk":           func(r *Row) { r.Chunks[0].Length = 1 << 30 },
		"a long chunk of little": func(r *Row) { r.Size, r.Chunks[0].Size, r.Chunks[0].Length = 1, 1, 1<<20 },
		"a large chunk":          func(r *Row) { r.Size, r.Chunks[0].Size = 2<<20, 2<<20 },
		"another size":           func(r *Row) { r.Size++ },
		"a long member":          func(r *Row) { *r = Row{Path: "a", Size: 5, Length: 1 << 30} },
		"a long way":             func(r *Row) { *r = Row{Path: "a", Size: 5, Length: 9, Skip: 1 << 30} },
		"a large inside":         func(r *Row) { *r = Row{Path: "a", Size: followBytes + 1, Length: 9} },
	} {
		row := Row{Path: "a", Size: 100, Chunks: []Chunk{{Length: 50, Size: 100}}}
		for _, err := range ReadRows(row.Append(nil)) {
			if err != nil {
				t.Fatal(err)
			}
		}
		change(&row)
		for _, err := range ReadRows(row.Append(nil)) {
			if err == nil {
				t.Errorf("%s is read", name)
			}
		}
	}
	root := func(format int, keys ...string) error {
		text := fmt.Appendf(nil, `{"format": %d, "info": {}}`, format)
		text = append(binary.AppendUvarint(nil, uint64(len(text))), text...)
		text = binary.AppendUvarint(text, uint64(len(keys)))
		for _, key := range keys {
			text = appendText(binary.AppendUvarint(text, 0), key)
			text = append(binary.AppendUvarint(binary.AppendUvarint(text, 1), 1), make([]byte, 32)...)
		}
		var out bytes.Buffer
		var w Writers
		var m memberWriter
		if err := w.member(&m, &out, Stored); err != nil {
			t.Fatal(err)
		}
		m.beginChunk(false)
		_, _ = m.Write(text)
		c, err := m.endChunk()
		if err != nil {
			t.Fatal(err)
		}
		c.Size = int64(len(text))
		_, err = ParseRoot(Place{1 << 40, c}, out.Bytes())
		return err
	}
	for name, err := range map[string]error{
		"another format": root(2), "keys in the wrong order": root(1, "b", "a"), "a key twice": root(1, "a", "a"), "a long key": root(1, strings.Repeat("a", maxKey+1)),
	} {
		if _, ok := errors.AsType[*Error](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := root(1, "a", "b"); err != nil {
		t.Error(err)
	}
}

// Sizes that the caller named are held.
func TestUnitSizes(t *testing.T) {
	var w Writers
	for _, c := range []struct {
		size int64
		data string
	}{{3, "ab"}, {3, "abcd"}, {0, "a"}, {ChunkBytes + 1, strings.Repeat("a", ChunkBytes)}} {
		u, err := w.Unit(io.Discard, Text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := u.AddFrom("a", time.Time{}, c.size, strings.NewReader(c.data)); err == nil {
			t.Errorf("%d bytes were taken for %d", len(c.data), c.size)
		}
		if u.Close() == nil {
			t.Error("the unit closes without its error")
		}
	}
	f, err := w.File(io.Discard, "a", Epoch(), 5)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Close(); err == nil {
		t.Error("a file without its pieces closes")
	}
}

// FuzzIndex: no bytes make a reader of the index panic, or load more than a row may
// have it load.
func FuzzIndex(f *testing.F) {
	r := rand.New(rand.NewPCG(9, 10))
	a := buildIndexed(f, [][]indexedFile{{{path: "a.html", data: text(r, 20_000)}, {path: "a.md", data: text(r, 300), follow: true}}}, []Redirect{{From: "/x", To: "/a"}, {From: "/x/:y", To: "/a"}})
	root := a.open(f)
	at, _ := root.Block("a")
	rootText, err := a.root.inflate(a.read(a.root.Offset, a.root.Length))
	if err != nil {
		f.Fatal(err)
	}
	blockText, err := at.inflate(a.read(at.Offset, at.Length))
	if err != nil {
		f.Fatal(err)
	}
	row := a.rows["a.html"]
	f.Add(rootText, blockText, row.Append(nil), a.data[len(a.data)-FooterBytes:])
	var w Writers
	f.Fuzz(func(t *testing.T, rootText, block, rows, footer []byte) {
		_, _ = ReadFooter(footer, 1<<20)
		for row, err := range ReadRows(rows) {
			if err == nil && row.Sent() > int64(len(rows))*maxChunk {
				t.Fatal("a row names more than its chunks may have")
			}
		}
		// Digests are right, so that the parsers see the bytes.
		sent := func(b []byte) (Place, []byte) {
			var out bytes.Buffer
			var m memberWriter
			if err := w.member(&m, &out, Stored); err != nil {
				t.Fatal(err)
			}
			defer w.stored.Put(m.flate)
			m.beginChunk(false)
			_, _ = m.Write(b)
			c, err := m.endChunk()
			if err != nil {
				t.Fatal(err)
			}
			c.Size = int64(len(b))
			return Place{1 << 40, c}, out.Bytes()
		}
		if len(rootText) > 0 {
			if root, err := ParseRoot(sent(rootText)); err == nil {
				root.Block("a")
			} else if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatal(err)
			}
		}
		if len(block) > 0 {
			if b, err := ParseBlock(sent(block)); err == nil {
				_, err := b.Find("a")
				if _, ok := errors.AsType[*Error](err); err != nil && !ok {
					t.Fatal(err)
				}
			}
		}
	})
}

// An older server reads an archive with an index: the index is a file like others.
func TestIndexInTheList(t *testing.T) {
	a := buildIndexed(t, [][]indexedFile{{{path: "a.html", data: []byte("a")}}}, nil)
	var names []string
	_, err := Read(context.Background(), bytes.NewReader(a.data), Limits{}, func(e Entry, _ io.Reader) error {
		names = append(names, e.Path)
		return nil
	})
	if d := cmp.Diff([]string{"a.html", IndexPath, FilesPath, DiagnosticsPath, InfoPath}, names); d != "" || err != nil {
		t.Error(err, d)
	}
}

// A place reads back from its text, which records of jobs have.
func TestPlaceText(t *testing.T) {
	for _, p := range []Place{{}, {Offset: 1, Chunk: Chunk{Length: 2, Size: 3, SHA256: Digest{4, 255}}}, {Offset: 1 << 40, Chunk: Chunk{Length: 1 << 30, Size: 1 << 31}}} {
		var back Place
		if err := back.UnmarshalText([]byte(p.String())); err != nil || back != p {
			t.Errorf("%q: %+v, %v, want %+v", p, back, err, p)
		}
	}
	good := Place{Offset: 1, Chunk: Chunk{Length: 2, Size: 3}}.String()
	for _, text := range []string{"x", good + ":", good[1:], "-" + good, good[:len(good)-1], strings.Replace(good, ":", ",", 1)} {
		if err := new(Place).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is a place", text)
		}
	}
}
