package forge

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// zeroID is the id that stands for no object.
const zeroID = "0000000000000000000000000000000000000000"

// object is a Git object to be pushed.
type object struct {
	kind string // "commit", "tree", "blob"
	data []byte
}

// id returns the object's id.
func (o object) id() string {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", o.kind, len(o.data))
	h.Write(o.data)
	return hex.EncodeToString(h.Sum(nil))
}

// isID reports whether a text is a full id.
func isID(text string) bool {
	return len(text) == len(zeroID) && strings.Trim(text, "0123456789abcdef") == ""
}

// entry is a line of a tree.
type entry struct {
	mode string // as it stands there: "100644"
	name string
	id   string
}

// Modes of entries. Git has had others for files, such as 100664.
const (
	modeFile       = "100644"
	modeExecutable = "100755"
	modeSymlink    = "120000"
	modeSubmodule  = "160000"
	modeFolder     = "40000"
)

// key returns the sort key: folders are sorted as if their names ended in a slash.
func (e entry) key() string {
	if e.mode == modeFolder {
		return e.name + "/"
	}
	return e.name
}

// parseTree parses a tree. It refuses names that lead out of a folder or into Git's
// own, which no program writes by mistake.
func parseTree(data []byte) ([]entry, error) {
	bad := invalid("a folder of the repository can't be read")
	var list []entry
	for len(data) > 0 {
		mode, rest, ok := bytes.Cut(data, []byte{' '})
		name, rest, ok2 := bytes.Cut(rest, []byte{0})
		if !ok || !ok2 || len(rest) < sha1.Size {
			return nil, bad
		}
		e := entry{mode: strings.TrimLeft(string(mode), "0"), name: string(name), id: hex.EncodeToString(rest[:sha1.Size])}
		if e.name == "" || e.name == "." || e.name == ".." || strings.EqualFold(e.name, ".git") || strings.Contains(e.name, "/") {
			return nil, bad.with(fmt.Sprintf("an entry is called %q", e.name))
		}
		list, data = append(list, e), rest[sha1.Size:]
	}
	return list, nil
}

// encodeTree returns the tree with these entries.
func encodeTree(list []entry) object {
	list = slices.SortedFunc(slices.Values(list), func(a, b entry) int { return strings.Compare(a.key(), b.key()) })
	var b bytes.Buffer
	for _, e := range list {
		id, err := hex.DecodeString(e.id)
		if err != nil { // ids come from parseTree and from object.id
			panic(err)
		}
		b.WriteString(e.mode + " " + e.name + "\x00")
		b.Write(id)
	}
	return object{"tree", b.Bytes()}
}

// field returns the first value of a name in the head of a commit or tag, as in
// "tree 01ab…".
func field(data []byte, name string) string {
	for line := range bytes.Lines(data) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if len(line) == 0 {
			break
		}
		if value, ok := bytes.CutPrefix(line, []byte(name+" ")); ok {
			return string(value)
		}
	}
	return ""
}

// Meta is what a commit has apart from its files and its parent. The same Meta, parent
// and files make the same commit, byte for byte, and so with the same id.
type Meta struct {
	Message, AuthorName, AuthorEmail string
	When                             time.Time // to the second, in UTC
}

// encodeCommit returns a commit of a tree.
func encodeCommit(tree, parent string, m Meta) object {
	plain := strings.NewReplacer("<", "", ">", "", "\n", " ", "\r", "", "\x00", "")
	who := plain.Replace(m.AuthorName) + " <" + plain.Replace(m.AuthorEmail) + "> " + strconv.FormatInt(m.When.Unix(), 10) + " +0000"
	message := strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(m.Message, "\r\n", "\n"), "\x00", "")) + "\n"
	return object{"commit", []byte("tree " + tree + "\nparent " + parent + "\nauthor " + who + "\ncommitter " + who + "\n\n" + message)}
}

// packfile returns a pack of objects, without deltas.
func packfile(objects []object) ([]byte, error) {
	types := map[string]byte{"commit": 1, "tree": 2, "blob": 3}
	var b bytes.Buffer
	b.WriteString("PACK")
	b.Write(binary.BigEndian.AppendUint32(nil, 2))
	b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(objects))))
	z := zlib.NewWriter(&b)
	for _, o := range objects {
		// Four bits of the size next to the type, then seven at a time.
		n := len(o.data)
		c := types[o.kind]<<4 | byte(n&0xf)
		for n >>= 4; n > 0; n >>= 7 {
			b.WriteByte(c | 0x80)
			c = byte(n & 0x7f)
		}
		b.WriteByte(c)
		z.Reset(&b)
		if _, err := z.Write(o.data); err != nil {
			return nil, err
		}
		if err := z.Close(); err != nil {
			return nil, err
		}
	}
	sum := sha1.Sum(b.Bytes())
	b.Write(sum[:])
	return b.Bytes(), nil
}
