package forge

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bindery-docs/bindery/shared/base/proptest"
)

// packOf is a pack of entries that are written as they are.
func packOf(entries ...[]byte) []byte {
	b := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("PACK"), 2), uint32(len(entries)))
	return append(b, bytes.Join(entries, nil)...)
}

// packEntry is an entry of a pack: a kind, what names its base, its data.
func packEntry(kind byte, base, data []byte) []byte {
	head := []byte{kind<<4 | byte(len(data)&0xf)}
	for n := len(data) >> 4; n > 0; n >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(n&0x7f))
	}
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, _ = w.Write(data)
	_ = w.Close()
	return append(append(head, base...), z.Bytes()...)
}

func addPack(t testing.TB, data []byte) (*pack, error) {
	t.Helper()
	p, err := newPack(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.close() })
	return p, p.add(bytes.NewReader(data), 1<<20)
}

// Objects that differ from others are what they were, however they name those.
func TestDeltas(t *testing.T) {
	base := object{"blob", []byte(strings.Repeat("0123456789", 10))}
	id, _ := hex.DecodeString(base.id())
	grow := []byte{100, 104, 0x90, 100, 4, 'm', 'o', 'r', 'e'} // all of it, then "more"
	second := object{"blob", append(slices.Clone(base.data), "more"...)}
	secondID, _ := hex.DecodeString(second.id())
	shrink := []byte{104, 7, 0x91, 97, 7} // its last bytes
	third := object{"blob", []byte("789more")}
	whole := packEntry(blobKind, nil, base.data)
	for name, data := range map[string][]byte{
		"by offset":              packOf(whole, packEntry(ofsDelta, []byte{byte(len(whole))}, grow), packEntry(refDelta, secondID, shrink)),
		"by id":                  packOf(whole, packEntry(refDelta, id, grow), packEntry(refDelta, secondID, shrink)),
		"before what they need":  packOf(packEntry(refDelta, secondID, shrink), packEntry(refDelta, id, grow), whole),
		"with a sum at the end ": append(packOf(whole, packEntry(refDelta, id, grow), packEntry(refDelta, secondID, shrink)), make([]byte, 20)...),
	} {
		p, err := addPack(t, data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, o := range []object{base, second, third} {
			r, err := p.blob(o.id())
			if err != nil || r == nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			got, err := io.ReadAll(r)
			if !bytes.Equal(got, o.data) || err != nil || p.size(o.id()) != int64(len(o.data)) || p.kind(o.id()) != "blob" {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
	}
}

// A pack that is broken, or is made to break its reader, is refused.
func TestBrokenPacks(t *testing.T) {
	base := packEntry(blobKind, nil, bytes.Repeat([]byte("x"), 100))
	bomb := packEntry(blobKind, nil, make([]byte, 2<<20))
	huge := append([]byte{200 & 0x7f, 1}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)
	for name, data := range map[string][]byte{
		"nothing":                      {},
		"no pack":                      []byte("<html><head></head></html>"),
		"another version":              append([]byte("PACK\x00\x00\x00\x03"), 0, 0, 0, 0),
		"objects that do not come":     packOf(base)[:12],
		"an object that is cut":        packOf(base)[:20],
		"a kind that there is not":     packOf(packEntry(5, nil, []byte("x"))),
		"more data than it says":       packOf(append([]byte{blobKind<<4 | 1}, packEntry(blobKind, nil, []byte("xxxx"))[1:]...)),
		"less data than it says":       packOf(append([]byte{blobKind<<4 | 9}, packEntry(blobKind, nil, []byte("xxxx"))[1:]...)),
		"more than the limit":          packOf(bomb),
		"an offset before the pack":    packOf(base, packEntry(ofsDelta, []byte{0xff, 0x7f}, []byte{100, 1, 0x90, 1})),
		"itself":                       packOf(packEntry(ofsDelta, []byte{0}, []byte{100, 1, 0x90, 1})),
		"what is not there":            packOf(packEntry(refDelta, make([]byte, 20), []byte{100, 1, 0x90, 1})),
		"a delta of another size":      packOf(base, packEntry(ofsDelta, []byte{byte(len(base))}, []byte{99, 1, 0x90, 1})),
		"a delta that reads too far":   packOf(base, packEntry(ofsDelta, []byte{byte(len(base))}, []byte{100, 9, 0x91, 99, 9})),
		"a delta that writes more":     packOf(base, packEntry(ofsDelta, []byte{byte(len(base))}, []byte{100, 1, 0x90, 9})),
		"a delta that writes less":     packOf(base, packEntry(ofsDelta, []byte{byte(len(base))}, []byte{100, 9, 0x90, 1})),
		"a delta that says it is huge": packOf(base, packEntry(ofsDelta, []byte{byte(len(base))}, huge)),
		"a delta with no operation":    packOf(base, packEntry(ofsDelta, []byte{byte(len(base))}, []byte{100, 9, 0})),
	} {
		if _, err := addPack(t, data); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func FuzzPack(f *testing.F) {
	base := packEntry(blobKind, nil, bytes.Repeat([]byte("x"), 100))
	f.Add(packOf(base, packEntry(ofsDelta, []byte{byte(len(base))}, []byte{100, 104, 0x90, 100, 4, 'm', 'o', 'r', 'e'})))
	data, err := packfile([]object{{"blob", []byte("x")}, encodeTree([]entry{{modeFile, "a", object{"blob", []byte("x")}.id()}}), encodeCommit(zeroID, zeroID, Meta{})})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := addPack(t, data)
		if err != nil {
			return
		}
		for id, o := range p.index {
			if got, err := p.content(o, maxLive); err == nil && (object{kinds[o.kind], got}).id() != hex.EncodeToString(id[:]) {
				t.Errorf("%x is something else", id)
			}
			_, _ = parseTree(data)
		}
	})
}

// No path leaves the repository, or reaches Git's own files.
func TestWritable(t *testing.T) {
	for _, path := range []string{"", "/a", "a/", "a//b", ".", "..", "a/../b", "../a", ".git/config", "a/.GIT/x", ".git", ".git.", ".git ", "GIT~1/x", `a\b`, `..\a`, "a\x00b", "a\nb", "C:/x", "a:b", ".git::$INDEX", strings.Repeat("a/", 3000) + "b"} {
		if writable(path) == nil {
			t.Errorf("%.50q can be written", path)
		}
	}
	for _, path := range []string{"a", "a/b.mdx", ".github/x", ".gitignore", "git", "ä/ö ü.mdx", "a.git/b"} {
		if err := writable(path); err != nil {
			t.Errorf("%q: %v", path, err)
		}
	}
}

// A tree that would lead elsewhere when it is unpacked is refused.
func TestEvilTrees(t *testing.T) {
	for _, name := range []string{".", "..", ".git", ".GIT", "a/b", ""} {
		data := append([]byte("100644 "+name+"\x00"), make([]byte, 20)...)
		if _, err := parseTree(data); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
	if _, err := parseTree([]byte("100644 a\x00short")); err == nil {
		t.Error("a tree that is cut is taken")
	}
}

// Commits of any changes are what a plain map of files would be, a refused one
// changes nothing, and what is made is what is needed and no more.
func TestCommitProperty(t *testing.T) {
	names := []string{"a", "b", "a.mdx", "a-b", "d", "d/e", "d/f", "d/e/g"}
	proptest.Check(t, func(r *rapid.T) {
		p, err := newPack(t.TempDir())
		if err != nil {
			r.Fatal(err)
		}
		defer func() { _ = p.close() }()
		f := &Forge{opt: Options{MaxFiles: 1000, MaxBytes: 1 << 20}}
		root := encodeTree(nil)
		first := encodeCommit(root.id(), zeroID, Meta{})
		tree := &Tree{forge: f, pack: p}
		want := map[string]string{}
		load := func(objects []object, id string) {
			data, err := packfile(objects)
			if err == nil {
				err = p.add(bytes.NewReader(data), 1<<20)
			}
			if err == nil {
				err = tree.read(id)
			}
			if err != nil {
				r.Fatal(err)
			}
		}
		load([]object{root, first}, first.id())
		for range rapid.IntRange(1, 6).Draw(r, "commits") {
			var changes []Change
			next := maps.Clone(want)
			for i, path := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 4, rapid.ID).Draw(r, "paths") {
				c := Change{Path: path, Content: []byte(rapid.SampledFrom([]string{"x", "y", ""}).Draw(r, fmt.Sprint("content", i))), Delete: rapid.Bool().Draw(r, fmt.Sprint("delete", i))}
				if changes = append(changes, c); c.Delete {
					delete(next, path)
				} else {
					next[path] = string(c.Content)
				}
			}
			c, err := f.Commit(t.Context(), Repository{}, tree, changes, Meta{Message: "x", When: time.Unix(1, 0)})
			if !possible(want, next, changes) {
				if err == nil {
					r.Fatalf("%v on %v is taken", changes, want)
				}
				continue
			}
			if err != nil {
				r.Fatalf("%v on %v: %v", changes, want, err)
			}
			load(c.objects, c.ID)
			want = next
			got := map[string]string{}
			for file := range tree.Files() {
				rd, err := tree.Open(t.Context(), file.Path)
				if err != nil {
					r.Fatal(err)
				}
				data, err := io.ReadAll(rd)
				if err != nil {
					r.Fatal(err)
				}
				got[file.Path] = string(data)
			}
			if !maps.Equal(got, want) || tree.Commit != c.ID {
				r.Fatalf("%v, want %v", got, want)
			}
		}
	})
}

// possible reports whether a commit of these changes can be made.
func possible(before, after map[string]string, changes []Change) bool {
	for _, c := range changes {
		if _, ok := before[c.Path]; c.Delete && !ok {
			return false
		}
	}
	for path := range after {
		for other := range after {
			if strings.HasPrefix(other, path+"/") {
				return false
			}
		}
	}
	return !maps.Equal(before, after)
}
