package bundle

import (
	"archive/tar"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	basejson "github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/base/redirect"
)

// The index of an archive is a file in it, before the lists: rows that say where each
// file is, sorted by Key, in blocks; and the root, which has the digest of each block
// and what a server must know of the site as a whole. The file is stored without
// compression, and each block and the root is a chunk of it, so that a server reads
// one block and then one file of an archive of any size. The last gzip member of the
// archive says where the root is (ReadFooter).

// IndexPath is the name of the index in an archive.
const IndexPath = "bindery/index"

// IndexFormat is the version of the index.
const IndexFormat = 1

const (
	// blockBytes is the size of a block. One with a single key may be larger.
	blockBytes = 16 << 10
	// maxKey is the most bytes of a key, which the root has many of. Redirects from longer
	// addresses are in the root itself.
	maxKey = 4 << 10
	// MaxRootBytes bounds the root, which servers hold in memory.
	MaxRootBytes = MaxInfoBytes + 16<<20
)

// Place is a range of an archive.
type Place struct {
	Offset int64
	Chunk
}

// String returns the place as MarshalText writes it; empty for no place.
func (p Place) String() string {
	text, _ := p.MarshalText() // never fails
	return string(text)
}

// MarshalText implements encoding.TextMarshaler: offset, length, size and digest, which
// a record of a job has room for.
func (p Place) MarshalText() ([]byte, error) {
	if p == (Place{}) {
		return nil, nil
	}
	return fmt.Appendf(nil, "%d:%d:%d:%s", p.Offset, p.Length, p.Size, base64.RawURLEncoding.EncodeToString(p.SHA256[:])), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Place) UnmarshalText(text []byte) error {
	*p = Place{}
	if len(text) == 0 {
		return nil
	}
	fields := strings.Split(string(text), ":")
	if len(fields) != 4 {
		return fmt.Errorf("bundle: %q is no place", text)
	}
	for i, to := range []*int64{&p.Offset, &p.Length, &p.Size} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("bundle: %q is no place", text)
		}
		*to = n
	}
	digest, err := base64.RawURLEncoding.DecodeString(fields[3])
	if err != nil || len(digest) != len(p.SHA256) {
		return fmt.Errorf("bundle: %q is no place", text)
	}
	copy(p.SHA256[:], digest)
	return nil
}

// Key returns the key of a file in the index: its address. x, x.html and
// x/index.html have the same key, so that one block answers for all of them.
func Key(name string) string {
	page, ok := strings.CutSuffix(name, ".html")
	if !ok {
		return name
	}
	if page == "index" {
		return ""
	}
	return strings.TrimSuffix(page, "/index")
}

// Forms of a row: how its path follows from the key.
const (
	formKey      = iota // the key itself
	formPage            // with ".html"
	formIndex           // with "/index.html"
	formRedirect        // no file: a redirect from the key's address
	formOther           // a redirect from a path that is none of these
)

// An indexEntry is a row before it is written.
type indexEntry struct {
	key  string
	form int
	row  []byte // as appendPlace writes it, or a redirect
	stub bool
}

// An IndexWriter collects the rows of an archive.
type IndexWriter struct {
	entries  []indexEntry
	patterns []Redirect
	notFound []byte // the row of 404.html
}

// notFoundPath is the page for addresses that don't exist.
const notFoundPath = "404.html"

// Add adds the rows of a unit that begins at offset in the archive.
func (x *IndexWriter) Add(rows []byte, offset int64) error {
	for row, err := range ReadRows(rows) {
		if err != nil {
			return err
		}
		if row.Size > 0 {
			row.Offset += offset
		}
		if row.Path == notFoundPath {
			x.notFound = row.Append(nil)
		}
		e := indexEntry{key: Key(row.Path), row: row.appendPlace(nil), stub: row.Stub}
		switch {
		case row.Path == e.key:
			e.form = formKey
		case row.Path == e.key+".html":
			e.form = formPage
		default:
			e.form = formIndex
		}
		x.entries = append(x.entries, e)
	}
	return nil
}

// AddRedirects adds the redirects of a site. Those from one address become rows, all
// others are in the root.
func (x *IndexWriter) AddRedirects(list []Redirect) {
	for _, r := range list {
		from := redirect.Parse(r.From)
		_, wild := redirect.Compile(from.Path)
		if wild || len(from.Path) > maxKey {
			x.patterns = append(x.patterns, r)
		} else {
			x.addRedirect(from.Path, r)
		}
		if !from.Optional {
			continue
		}
		path, to := from.Short(r.To)
		if _, wild := redirect.Compile(path); !wild && len(path) <= maxKey {
			x.addRedirect(path, Redirect{From: (&url.URL{Path: "/" + path}).EscapedPath(), To: to, Permanent: r.Permanent})
		}
	}
}

// addRedirect adds the row of a redirect from one path.
func (x *IndexWriter) addRedirect(path string, r Redirect) {
	e := indexEntry{key: Key(path), form: formRedirect}
	if path != e.key {
		e.form = formOther
	}
	e.row = appendText(appendText(nil, r.From), r.To)
	if r.Permanent {
		e.row = append(e.row, 1)
	} else {
		e.row = append(e.row, 0)
	}
	x.entries = append(x.entries, e)
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// blocks sorts the rows and returns them in blocks, with the first key of each.
func (x *IndexWriter) blocks() (blocks [][]byte, firsts []string) {
	slices.SortStableFunc(x.entries, func(a, b indexEntry) int { return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.form, b.form)) })
	var block, group []byte
	last := "" // key in block
	for i := 0; i < len(x.entries); {
		end := i + 1
		for end < len(x.entries) && x.entries[end].key == x.entries[i].key {
			end++
		}
		same := x.entries[i:end]
		i = end
		page := slices.ContainsFunc(same, func(e indexEntry) bool { return e.form == formPage })
		write := func(last string) {
			group = group[:0]
			for _, e := range same {
				if page && e.stub && e.form == formIndex {
					continue // a server leads from the folder's address to the page
				}
				shared := commonPrefix(last, e.key)
				group = binary.AppendUvarint(group, uint64(shared))
				group = appendText(group, e.key[shared:])
				group = append(append(group, byte(e.form)), e.row...)
				last = e.key
			}
		}
		if write(last); len(block) > 0 && len(block)+len(group) > blockBytes {
			blocks = append(blocks, block)
			block = nil
		}
		if len(block) == 0 {
			firsts = append(firsts, same[0].key)
			write("")
		}
		block = append(block, group...)
		last = same[0].key
	}
	if len(block) > 0 {
		blocks = append(blocks, block)
	}
	return blocks, firsts
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// rootHead is the part of the root that is JSON.
type rootHead struct {
	Format int `json:"format"`
	// Info has what servers need of the site, with Redirects that have no rows.
	Info     Info   `json:"info"`
	NotFound []byte `json:"notFound,omitempty"`
}

// errIndexTooLarge is of an index that no server would read.
var errIndexTooLarge = &Error{Fault: TooLarge, Path: IndexPath, Message: "one address has more redirects than a block of the index can hold"}

// Write writes the index on w, which is at offset of the archive. It returns its line
// of the list and where the root is. info describes the site. The error is an *Error
// with the fault TooLarge, and nothing is written, for a site that can't have an index.
func (x *IndexWriter) Write(p *Writers, w io.Writer, offset int64, info Info) (File, Place, error) {
	var data bytes.Buffer
	var m memberWriter
	if err := p.member(&m, &data, Stored); err != nil {
		return File{}, Place{}, err
	}
	defer p.stored.Put(m.flate)
	sum := sha256.New()
	chunk := func(b []byte) (Chunk, error) {
		sum.Write(b)
		m.beginChunk(false)
		if _, err := m.Write(b); err != nil {
			return Chunk{}, err
		}
		c, err := m.endChunk()
		c.Size = int64(len(b))
		return c, err
	}
	// What servers need, and nothing that differs between two exports of the same files.
	info = Info{Format: info.Format, Domain: info.Domain, Name: info.Name, CleanAddresses: info.CleanAddresses, Sources: info.Sources, Redirects: x.patterns}
	head, err := json.Marshal(rootHead{Format: IndexFormat, Info: info, NotFound: x.notFound})
	if err != nil {
		return File{}, Place{}, err
	}
	root := append(binary.AppendUvarint(nil, uint64(len(head))), head...)
	blocks, firsts := x.blocks()
	root = binary.AppendUvarint(root, uint64(len(blocks)))
	last := ""
	for i, b := range blocks {
		if len(b) > ChunkBytes {
			return File{}, Place{}, errIndexTooLarge
		}
		c, err := chunk(b)
		if err != nil {
			return File{}, Place{}, err
		}
		shared := commonPrefix(last, firsts[i])
		root = appendText(binary.AppendUvarint(root, uint64(shared)), firsts[i][shared:])
		root = binary.AppendUvarint(binary.AppendUvarint(root, uint64(c.Length)), uint64(c.Size))
		root = append(root, c.SHA256[:]...)
		last = firsts[i]
	}
	if len(root) > MaxRootBytes {
		return File{}, Place{}, &Error{Fault: TooLarge, Path: IndexPath, Message: fmt.Sprintf("the root of the index has more than %d MiB", MaxRootBytes>>20)}
	}
	at := Place{Offset: m.n}
	if at.Chunk, err = chunk(root); err != nil {
		return File{}, Place{}, err
	}
	file := File{Path: IndexPath, Size: m.plain, SHA256: hex.EncodeToString(sum.Sum(nil))}
	if _, err = m.Write(make([]byte, -file.Size&(blockSize-1))); err == nil {
		err = m.end()
	}
	if err != nil {
		return File{}, Place{}, err
	}
	before, err := p.headerMember(w, IndexPath, Epoch(), file.Size)
	if err != nil {
		return File{}, Place{}, err
	}
	at.Offset += offset + before
	_, err = w.Write(data.Bytes())
	return file, at, err
}

// headerMember writes the header of a file as a member and returns its length.
func (p *Writers) headerMember(w io.Writer, path string, modified time.Time, size int64) (int64, error) {
	h, err := headerOf(path, modified, size)
	if err != nil {
		return 0, err
	}
	var m memberWriter
	if err := p.member(&m, w, Text); err != nil {
		return 0, err
	}
	defer p.text.Put(m.flate)
	if err = tar.NewWriter(&m).WriteHeader(h); err == nil {
		err = m.end()
	}
	return m.n, err
}

// Footer holds the places that the last member of an archive names.
type Footer struct {
	// Root is the place of the root of the index.
	Root Place
	// Lists is End.Offset: where the member with the lists and the description begins.
	Lists int64
}

// The last member of an archive has the two blocks of zeros that end a tar, and in a
// field of its header the Footer.
const (
	footerHeader = "\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\xff" // gzip with FEXTRA (RFC 1952, 2.3.1)
	footerField  = "BI"                                       // id of the field
	footerData   = 4*8 + sha256.Size                          // numbers and the digest of the root
	zeroBlocks   = "\x63\x60\x18\x05\xa3\x60\x14\x8c\x54\x00\x00"
)

// FooterBytes is the length of AppendFooter.
const FooterBytes = len(footerHeader) + 2 + 4 + footerData + len(zeroBlocks) + 8

// AppendFooter adds the last member of an archive, which ends it, to dst.
func AppendFooter(dst []byte, f Footer) []byte {
	root := &f.Root
	le := binary.LittleEndian
	dst = le.AppendUint16(append(dst, footerHeader...), 4+footerData)
	dst = le.AppendUint16(append(dst, footerField...), footerData)
	dst = le.AppendUint64(dst, uint64(root.Offset))
	dst = le.AppendUint64(dst, uint64(root.Length))
	dst = le.AppendUint64(dst, uint64(root.Size))
	dst = le.AppendUint64(dst, uint64(f.Lists))
	dst = append(append(dst, root.SHA256[:]...), zeroBlocks...)
	const crcOfZeros = 0xefb5af2e // of 1,024 bytes
	return le.AppendUint32(le.AppendUint32(dst, crcOfZeros), 2*blockSize)
}

// ErrNoIndex is of archives without an index: those of older releases.
var ErrNoIndex = errors.New("the archive has no index; an export by this release makes one that has")

// ReadFooter reads the footer. end are the last FooterBytes of an archive of size bytes.
// The error is ErrNoIndex for an archive that has no index, and an *Error for one that
// names a place outside of it.
func ReadFooter(end []byte, size int64) (f Footer, _ error) {
	if len(end) != FooterBytes {
		return f, ErrNoIndex
	}
	le, p := binary.LittleEndian, &f.Root
	data := end[len(footerHeader)+6:]
	p.Offset, p.Length, p.Size, f.Lists = int64(le.Uint64(data)), int64(le.Uint64(data[8:])), int64(le.Uint64(data[16:])), int64(le.Uint64(data[24:]))
	copy(p.SHA256[:], data[32:])
	if !bytes.Equal(end, AppendFooter(nil, f)) {
		return Footer{}, ErrNoIndex
	}
	if p.Offset < 0 || p.Length < 1 || p.Size < 1 || p.Size > MaxRootBytes || p.Length > MaxRootBytes+MaxRootBytes/100 ||
		f.Lists < p.Length || f.Lists > size-int64(FooterBytes) || p.Offset > f.Lists-p.Length {
		return Footer{}, corruptIndex("the archive names a root that it can't have", nil)
	}
	return f, nil
}

// Root is the root of an index.
type Root struct {
	// Info has what servers need of the site: what its pages load, and the Redirects that
	// the index has no rows for.
	Info Info
	// NotFound is the row of the page for addresses that don't exist; nil if there is
	// none.
	NotFound *Row

	at     Place
	blocks []rootBlock
}

type rootBlock struct {
	first  string
	before int64 // bytes from where the block begins to the root
	chunk  Chunk
}

func corruptIndex(message string, err error) error {
	return &Error{Fault: Corrupt, Path: IndexPath, Message: message, Err: err}
}

// ParseRoot reads the root. sent are the bytes at its place; their digest is compared
// first. The error is an *Error.
func ParseRoot(at Place, sent []byte) (*Root, error) {
	text, err := at.inflate(sent)
	if err != nil {
		return nil, err
	}
	r := &rowReader{data: text}
	head := r.bytes(r.uint())
	if r.err != nil {
		return nil, corruptIndex("its root can't be read", r.err)
	}
	var h rootHead
	if err := basejson.UnmarshalKnown(head, &h); err != nil {
		return nil, corruptIndex("its root can't be read", err)
	}
	if h.Format != IndexFormat {
		return nil, &Error{Fault: Unknown, Path: IndexPath, Message: fmt.Sprintf("the index has format %d, this program knows %d", h.Format, IndexFormat)}
	}
	root := &Root{Info: h.Info, at: at}
	for row, err := range ReadRows(h.NotFound) {
		if err != nil {
			return nil, corruptIndex("its root can't be read", err)
		}
		root.NotFound = &row
	}
	n := r.uint()
	if n > uint64(len(r.data)/sha256.Size) { // a block has more bytes there
		return nil, corruptIndex("its root can't be read", errRow)
	}
	root.blocks = make([]rootBlock, n)
	last, length := "", int64(0)
	for i := range root.blocks {
		b := &root.blocks[i]
		b.first = r.key(last)
		b.chunk = Chunk{Length: r.int(), Size: r.int(), SHA256: r.digest()}
		if r.err != nil || i > 0 && b.first <= last || b.chunk.Size < 1 || b.chunk.Size > ChunkBytes || b.chunk.Length < 1 || b.chunk.Length > maxChunk {
			return nil, corruptIndex("its root can't be read", r.err)
		}
		last, length = b.first, length+b.chunk.Length
	}
	if len(r.data) > 0 || length > at.Offset {
		return nil, corruptIndex("its root can't be read", r.err)
	}
	for i := range root.blocks {
		root.blocks[i].before = length
		length -= root.blocks[i].chunk.Length
	}
	return root, nil
}

// key reads a key of which the beginning is that of the last one.
func (r *rowReader) key(last string) string {
	shared := r.uint()
	rest := r.bytes(r.uint())
	if shared > uint64(len(last)) || int(shared)+len(rest) > maxKey {
		r.err = errRow
		return ""
	}
	return last[:shared] + string(rest)
}

// inflate returns the bytes of a chunk that begins a gzip member or is inside one.
func (p Place) inflate(sent []byte) ([]byte, error) {
	r := Row{Path: IndexPath, Chunks: []Chunk{{}, p.Chunk}}
	if bytes.HasPrefix(sent, []byte(gzipHeader)) {
		r.Chunks[0] = p.Chunk
		return r.Inflate(nil, 0, sent)
	}
	return r.Inflate(nil, 1, sent)
}

// Block returns the place of the block that has the rows of a key. It is not ok if the
// index has no such block.
func (r *Root) Block(key string) (at Place, ok bool) {
	n, found := slices.BinarySearchFunc(r.blocks, key, func(b rootBlock, key string) int { return strings.Compare(b.first, key) })
	if !found {
		n--
	}
	if n < 0 {
		return Place{}, false
	}
	b := &r.blocks[n]
	return Place{r.at.Offset - b.before, b.chunk}, true
}

// Rows are the rows of one key.
type Rows struct {
	Files []Row
	// Redirects are those from one of the key's addresses.
	Redirects []Redirect
}

// Block is the bytes of a block of the index.
type Block []byte

// ParseBlock returns a block. sent are the bytes at its place; their digest is compared
// first. The error is an *Error.
func ParseBlock(at Place, sent []byte) (Block, error) { return at.inflate(sent) }

// Find returns the rows of a key. It passes over those before it without reading them.
// The error is an *Error, of a row that can't be read.
func (b Block) Find(key string) (rows Rows, _ error) {
	r := &rowReader{data: b}
	var at []byte // the key of the row
	want := []byte(key)
	for len(r.data) > 0 {
		shared := r.uint()
		if shared > uint64(len(at)) {
			r.err = errRow
		} else {
			at = append(at[:shared], r.bytes(r.uint())...)
		}
		after := bytes.Compare(at, want)
		switch {
		case r.err != nil:
		case after > 0:
			return rows, nil
		case after < 0:
			r.skip()
		default:
			r.add(key, &rows)
		}
		if r.err != nil {
			return Rows{}, corruptIndex("a block can't be read", r.err)
		}
	}
	return rows, nil
}

// form reads the form of a row; formOther + 1 if it can't.
func (r *rowReader) form() int {
	if b := r.bytes(1); len(b) > 0 {
		return int(b[0])
	}
	return formOther + 1
}

// skip passes over what follows the key of a row.
func (r *rowReader) skip() {
	switch form := r.form(); {
	case form <= formIndex:
		r.skipPlace()
	case form <= formOther:
		r.bytes(r.uint())
		r.bytes(r.uint())
		r.bytes(1)
	default:
		r.err = errRow
	}
}

// add reads what follows the key of a row.
func (r *rowReader) add(key string, rows *Rows) {
	form := r.form()
	switch form {
	case formKey, formPage, formIndex:
		row := Row{Path: key}
		switch {
		case form == formPage:
			row.Path += ".html"
		case form == formIndex && key == "":
			row.Path = "index.html"
		case form == formIndex:
			row.Path += "/index.html"
		}
		r.place(&row)
		rows.Files = append(rows.Files, row)
	case formRedirect, formOther:
		to := Redirect{From: r.text(), To: r.text()}
		if flag := r.bytes(1); len(flag) > 0 {
			to.Permanent = flag[0] == 1
		}
		rows.Redirects = append(rows.Redirects, to)
	default:
		r.err = errRow
	}
}
