package snapshot

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	basejson "github.com/bindery-docs/bindery/shared/base/json"
)

// Limits of a snapshot.
const (
	// MaxPackBytes bounds a pack of several files: large enough that a big
	// site is hundreds of objects, small enough that one is quickly uploaded
	// again when a connection breaks, and fits into memory.
	MaxPackBytes = 32 << 20
	// MaxFileBytes bounds a single file: S3's limit for one PUT.
	MaxFileBytes = 5 << 30
	// MaxBytes bounds the files of a snapshot together: a bundle's limit.
	MaxBytes = 20 << 30
	// MaxEntries bounds the number of files: 200,000 pages and as many other files.
	MaxEntries = 400_000
	// MaxPacks bounds the number of packs that one snapshot lies in.
	MaxPacks = 2_000
	// MaxManifestBytes bounds an encoded manifest: MaxEntries with paths of
	// usual length.
	MaxManifestBytes = 128 << 20
)

// Format is the version of the manifest's form that Encode writes and Decode
// reads.
const Format = 1

// Entry is one file of a snapshot.
type Entry struct {
	// Path is relative to the site's root, with slashes; pathFault says
	// which are possible.
	Path string
	// SHA256 is the digest of the file's bytes, in lower-case hex.
	SHA256 string
	// Size is in bytes.
	Size int64
	// Pack is the digest of the pack that holds the file; empty for an empty
	// file, which lies nowhere.
	Pack string
	// Offset is where in the pack the file begins.
	Offset int64
	// Modified is when the last Git commit changed the file, UTC, in whole
	// seconds; zero outside Git.
	Modified time.Time
}

// PackRef names a pack that a manifest's entries lie in.
type PackRef struct {
	// SHA256 is the digest of the whole pack, in lower-case hex.
	SHA256 string `json:"sha256"`
	// Size is in bytes.
	Size int64 `json:"size"`
}

// Manifest lists the files of a snapshot.
type Manifest struct {
	Format int // version of the format, always Format
	// Entries are sorted by Path, in byte order.
	Entries []Entry
	// Packs are all packs that entries lie in, sorted by digest.
	Packs []PackRef
}

// Bytes is the size of all files together.
func (m *Manifest) Bytes() int64 {
	var sum int64
	for i := range m.Entries {
		sum += m.Entries[i].Size
	}
	return sum
}

// Contents returns the digest of what the files are, in lower-case hex: their
// paths, bytes and times, wherever they lie.
func (m *Manifest) Contents() string {
	sum := sha256.New()
	for i := range m.Entries {
		e := &m.Entries[i]
		fmt.Fprintf(sum, "%q %s %d\n", e.Path, e.SHA256, e.Modified.Unix())
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Entry finds the entry of a path.
func (m *Manifest) Entry(path string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(m.Entries, path, func(e Entry, p string) int { return cmp.Compare(e.Path, p) })
	if !ok {
		return Entry{}, false
	}
	return m.Entries[i], true
}

// FormatError reports bytes that are not a manifest. Its text is safe to show.
type FormatError struct {
	// Offset is where in the bytes the fault was noticed, -1 if unknown.
	Offset int64
	// Reason says what is wrong.
	Reason string
}

func (e *FormatError) Error() string {
	if e.Offset < 0 {
		return "manifest: " + e.Reason
	}
	return fmt.Sprintf("manifest: byte %d: %s", e.Offset, e.Reason)
}

// wireEntry is an entry as it is written in a manifest: the pack by its number in
// the list, which saves a third of the bytes.
type wireEntry struct {
	Path     string    `json:"path"`
	SHA256   string    `json:"sha256"`
	Size     int64     `json:"size"`
	Pack     *int      `json:"pack,omitempty"`
	Offset   int64     `json:"offset,omitempty"`
	Modified time.Time `json:"modified,omitzero"`
}

// Encode writes a manifest as JSON, one entry a line. Equal manifests have
// equal bytes. It refuses what CheckEntries refuses.
func Encode(m *Manifest) ([]byte, error) {
	if err := CheckEntries(m); err != nil {
		return nil, err
	}
	number := make(map[string]int, len(m.Packs))
	for i, p := range m.Packs {
		number[p.SHA256] = i
	}
	var buf bytes.Buffer
	fmt.Fprintf(&buf, `{"format":%d,"packs":`, m.Format)
	packs := m.Packs
	if packs == nil {
		packs = []PackRef{}
	}
	raw, err := json.Marshal(packs)
	if err != nil {
		return nil, err
	}
	buf.Write(raw)
	buf.WriteString(`,"entries":[`)
	for i := range m.Entries {
		e := &m.Entries[i]
		w := wireEntry{Path: e.Path, SHA256: e.SHA256, Size: e.Size, Offset: e.Offset, Modified: e.Modified.UTC()}
		if e.Pack != "" {
			n := number[e.Pack]
			w.Pack = &n
		}
		if raw, err = json.Marshal(w); err != nil {
			return nil, err
		}
		if i > 0 {
			buf.WriteByte(',')
		}
		buf.WriteByte('\n')
		buf.Write(raw)
	}
	buf.WriteString("\n]}\n")
	if buf.Len() > MaxManifestBytes {
		return nil, &FormatError{-1, fmt.Sprintf("longer than %d bytes", MaxManifestBytes)}
	}
	return buf.Bytes(), nil
}

// Decode reads a manifest. It returns a *FormatError for bytes that are not one
// (broken JSON, unknown fields, another format, over a limit), and the
// reader's own error if it fails. It does not look at what the entries say:
// CheckEntries does.
func Decode(r io.Reader) (*Manifest, error) {
	limited := &io.LimitedReader{R: r, N: MaxManifestBytes + 1}
	source := &sticky{r: limited}
	d := json.NewDecoder(bufio.NewReaderSize(source, 64<<10))
	m, err := decode(d)
	if source.err != nil {
		return nil, source.err
	}
	if limited.N <= 0 {
		return nil, &FormatError{-1, fmt.Sprintf("longer than %d bytes", MaxManifestBytes)}
	}
	if err != nil {
		if _, ok := errors.AsType[*FormatError](err); ok {
			return nil, err
		}
		return nil, &FormatError{d.InputOffset(), err.Error()}
	}
	return m, nil
}

// sticky remembers an error of the source, which a JSON decoder would hide
// among its own.
type sticky struct {
	r   io.Reader
	err error
}

func (s *sticky) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

func decode(d *json.Decoder) (*Manifest, error) {
	if err := expect(d, json.Delim('{')); err != nil {
		return nil, err
	}
	m := &Manifest{}
	var numbers []int
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		if seen[name] {
			return nil, &FormatError{d.InputOffset(), fmt.Sprintf("the field %q appears twice", name)}
		}
		seen[name] = true
		switch name {
		case "format":
			if err := d.Decode(&m.Format); err != nil {
				return nil, err
			}
			if m.Format != Format {
				return nil, &FormatError{d.InputOffset(), fmt.Sprintf("format %d is unknown", m.Format)}
			}
		case "packs":
			err = readList(d, MaxPacks, func() error {
				var p PackRef
				if err := member(d, &p); err != nil {
					return err
				}
				m.Packs = append(m.Packs, p)
				return nil
			})
		case "entries":
			err = readList(d, MaxEntries, func() error {
				var raw json.RawMessage
				if err := d.Decode(&raw); err != nil {
					return err
				}
				w, ok := plainEntry(raw)
				if !ok {
					if err := basejson.Unmarshal(raw, &w); err != nil {
						return err
					}
				}
				m.Entries = append(m.Entries, Entry{Path: w.Path, SHA256: w.SHA256, Size: w.Size, Offset: w.Offset, Modified: w.Modified})
				n := -1
				if w.Pack != nil {
					n = *w.Pack
					if n < 0 {
						return &FormatError{d.InputOffset(), "the number of a pack is negative"}
					}
				}
				numbers = append(numbers, n)
				return nil
			})
		default:
			return nil, &FormatError{d.InputOffset(), fmt.Sprintf("the field %q is unknown", name)}
		}
		if err != nil {
			return nil, err
		}
	}
	if err := expect(d, json.Delim('}')); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, &FormatError{d.InputOffset(), "something follows the manifest"}
	}
	for _, name := range []string{"format", "packs", "entries"} {
		if !seen[name] {
			return nil, &FormatError{-1, fmt.Sprintf("the field %q is missing", name)}
		}
	}
	for i, n := range numbers {
		switch {
		case n < 0:
		case n < len(m.Packs):
			m.Entries[i].Pack = m.Packs[n].SHA256
		default:
			return nil, &FormatError{-1, fmt.Sprintf("entry %d lies in pack %d of %d", i, n, len(m.Packs))}
		}
	}
	return m, nil
}

// plainEntry reads an entry, which is JSON, that is written as Encode writes most
// of them: the fields in their order, no spaces, nothing escaped, ASCII
// alone. A manifest is read several times for each export, and has an entry for each
// file.
func plainEntry(raw []byte) (w wireEntry, ok bool) {
	text := func(name string) (value []byte) {
		rest, found := bytes.CutPrefix(raw, []byte(name))
		end := bytes.IndexByte(rest, '"')
		ok = found && end >= 0
		if !ok {
			return nil
		}
		for _, c := range rest[:end] {
			ok = ok && c >= ' ' && c < utf8.RuneSelf && c != '\\'
		}
		if ok {
			raw = rest[end+1:]
		}
		return rest[:end]
	}
	number := func(name string) (n int64, found bool) {
		rest, found := bytes.CutPrefix(raw, []byte(name))
		if !found {
			return 0, false
		}
		digits := 0
		for digits < len(rest) && digits < 18 && rest[digits] >= '0' && rest[digits] <= '9' {
			n = 10*n + int64(rest[digits]-'0')
			digits++
		}
		raw = rest[digits:]
		return n, digits > 0
	}
	path := text(`{"path":"`)
	if !ok {
		return wireEntry{}, false
	}
	sum := text(`,"sha256":"`)
	if !ok {
		return wireEntry{}, false
	}
	if w.Size, ok = number(`,"size":`); !ok {
		return wireEntry{}, false
	}
	if pack, found := number(`,"pack":`); found {
		n := int(pack)
		if int64(n) != pack {
			return wireEntry{}, false
		}
		w.Pack = &n
	}
	w.Offset, _ = number(`,"offset":`)
	if when := text(`,"modified":"`); ok && w.Modified.UnmarshalText(when) != nil {
		return wireEntry{}, false
	}
	if string(raw) != "}" {
		return wireEntry{}, false
	}
	w.Path, w.SHA256 = string(path), string(sum)
	return w, true
}

// member reads one member of a list.
func member(d *json.Decoder, into any) error {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return err
	}
	return basejson.Unmarshal(raw, into)
}

func expect(d *json.Decoder, want json.Delim) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	if token != want {
		return &FormatError{d.InputOffset(), fmt.Sprintf("%q expected", want)}
	}
	return nil
}

func readList(d *json.Decoder, most int, one func() error) error {
	if err := expect(d, json.Delim('[')); err != nil {
		return err
	}
	for n := 0; d.More(); n++ {
		if n == most {
			return &FormatError{d.InputOffset(), fmt.Sprintf("a list has more than %d members", most)}
		}
		if err := one(); err != nil {
			return err
		}
	}
	return expect(d, json.Delim(']'))
}

// CheckEntries checks what a manifest says: every path by itself and all by
// CheckNames, the order, every digest and time, and that every entry lies
// inside a pack that the manifest lists. Faults of files come as PathErrors,
// all of them; faults of packs and limits as a *FormatError.
func CheckEntries(m *Manifest) error {
	if m.Format != Format {
		return formatErrorf("format %d is unknown", m.Format)
	}
	if len(m.Entries) > MaxEntries {
		return formatErrorf("%d files are more than %d", len(m.Entries), MaxEntries)
	}
	packs, err := checkPacks(m.Packs)
	if err != nil {
		return err
	}
	var faults PathErrors
	paths := make([]string, len(m.Entries))
	var sum int64
	for i := range m.Entries {
		e := &m.Entries[i]
		paths[i] = e.Path
		if i > 0 && e.Path < m.Entries[i-1].Path {
			faults.add(e.Path, "the entry is out of order")
		}
		if packs.checkEntry(e, &faults) {
			if sum += e.Size; sum > MaxBytes {
				return formatErrorf("the files have more than %d bytes together", int64(MaxBytes))
			}
		}
	}
	if err := CheckNames(paths); err != nil {
		var named PathErrors
		errors.As(err, &named)
		faults = append(faults, named...)
	}
	if len(faults) > 0 {
		sortFaults(faults)
		return faults
	}
	return packs.checkUse(m.Packs)
}

// packUses is what CheckEntries learns about packs, by digest.
type packUses map[string]*packUse

type packUse struct {
	size int64
	used bool // an entry lies in it
	part bool // an entry is only a part of it
}

// checkPacks checks a manifest's list of packs.
func checkPacks(list []PackRef) (packUses, error) {
	if len(list) > MaxPacks {
		return nil, formatErrorf("%d packs are more than %d", len(list), MaxPacks)
	}
	packs := make(packUses, len(list))
	last := ""
	for _, p := range list {
		if !isDigest(p.SHA256) {
			return nil, formatErrorf("%q is not a SHA-256 in lower-case hex", p.SHA256)
		}
		if p.SHA256 <= last {
			return nil, formatErrorf("packs are not in order, or one is listed twice")
		}
		if p.Size <= 0 || p.Size > MaxFileBytes {
			return nil, formatErrorf("pack %s can't have %d bytes", p.SHA256, p.Size)
		}
		last = p.SHA256
		packs[p.SHA256] = &packUse{size: p.Size}
	}
	return packs, nil
}

// checkEntry adds the faults of one entry, and notes its use of a pack. It
// reports whether the entry's size is one that counts.
func (packs packUses) checkEntry(e *Entry, faults *PathErrors) bool {
	if !isDigest(e.SHA256) {
		faults.add(e.Path, "the digest is not a SHA-256 in lower-case hex")
	}
	if year := e.Modified.UTC().Year(); !e.Modified.IsZero() && (year < 1970 || year > 9999 || e.Modified.Nanosecond() != 0) {
		faults.add(e.Path, "the time is not whole seconds between 1970 and 9999")
	}
	if e.Size < 0 || e.Size > MaxFileBytes {
		faults.add(e.Path, "the size is not between 0 and %d", int64(MaxFileBytes))
		return false
	}
	pack := packs[e.Pack]
	switch {
	case e.Size == 0:
		if e.Pack != "" || e.Offset != 0 || e.SHA256 != emptyDigest {
			faults.add(e.Path, "an empty file must have no place in a pack and the digest of zero bytes")
		}
	case pack == nil:
		faults.add(e.Path, "it lies in a pack that the manifest does not list")
	case e.Offset < 0 || e.Offset > pack.size-e.Size:
		faults.add(e.Path, "it does not lie inside its pack")
	default:
		pack.used = true
		pack.part = pack.part || e.Size != pack.size
	}
	return true
}

// checkUse checks that every pack is needed, and that one with several files is
// not too large.
func (packs packUses) checkUse(list []PackRef) error {
	for _, p := range list {
		use := packs[p.SHA256]
		if !use.used {
			return formatErrorf("pack %s holds no file of the manifest", p.SHA256)
		}
		if use.part && p.Size > MaxPackBytes {
			return formatErrorf("pack %s has more than %d bytes and is not one file", p.SHA256, MaxPackBytes)
		}
	}
	return nil
}

// formatErrorf returns a fault of a manifest as a whole.
func formatErrorf(format string, args ...any) error {
	return &FormatError{-1, fmt.Sprintf(format, args...)}
}

// add adds a fault of one file.
func (e *PathErrors) add(path, format string, args ...any) {
	*e = append(*e, &PathError{path, fmt.Sprintf(format, args...)})
}

func sortFaults(faults PathErrors) {
	slices.SortStableFunc(faults, func(a, b *PathError) int { return cmp.Compare(a.Path, b.Path) })
}

// emptyDigest is the SHA-256 of no bytes.
const emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// isDigest reports whether s is a SHA-256 in lower-case hex.
func isDigest(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}
