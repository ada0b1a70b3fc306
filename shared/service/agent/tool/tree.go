package tool

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/site"
)

// ErrNotText is returned for a file of which only path and size are known.
var ErrNotText = errors.New("the file is not text, or too large to read")

// Base is a repository as it was before an agent's work.
type Base interface {
	// Paths lists all its files by path.
	Paths() []Entry
	// Read returns a file's text, or ErrNotText if Entry.Text is not set.
	Read(path string) ([]byte, error)
}

// Pictures is an optional interface of a Base. Picture returns the bytes of a picture, and
// false if it doesn't have them.
type Pictures interface {
	Picture(path string) ([]byte, bool)
}

// Entry is a file of a repository.
type Entry struct {
	Path string
	// Size is in bytes, negative if unknown.
	Size int64
	// Text is set if Read returns the file.
	Text bool
	// ID is the name that Git has for the content of a file without Text, "" if it is not
	// known.
	ID string
	// LeftOut is set if the file has text that Read doesn't return, because the
	// repository has too much of it.
	LeftOut bool
	// Plain is set if the file is not a link, a submodule or executable: only plain
	// files are written.
	Plain bool
}

// Change is a change of one file of the repository.
type Change struct {
	Path string
	// Content is the new text, nil if the file is deleted.
	Content []byte
	Delete  bool
}

// Tree is the part of a repository that belongs to a site, with an agent's
// changes. Paths of its methods are those of the repository; paths that tools
// take and show are those of the site's folder. It is not for concurrent use.
type Tree struct {
	base Base
	root string
	// entries are the base's files by path below root, names those paths sorted.
	entries map[string]Entry
	names   []string
	// beside are the base's files outside root.
	beside []Entry

	// changed has the new text of files, nil for deleted ones. Files that are again
	// as in the base are not in it.
	changed map[string][]byte
	// paths are all files there are now, sorted; nil if not known.
	paths []string
	// config is what the configuration says, nil if not known.
	config *site.Site
}

// NewTree returns the tree of the folder root of a repository, "" for all of it.
func NewTree(b Base, root string) (*Tree, error) {
	if root != "" && (!fs.ValidPath(root) || root == ".") {
		return nil, fmt.Errorf("%q: is not a folder of the repository", root)
	}
	t := &Tree{base: b, root: root, entries: map[string]Entry{}, changed: map[string][]byte{}}
	for _, e := range b.Paths() {
		if !fs.ValidPath(e.Path) {
			return nil, fmt.Errorf("%q: is not a path of a file", e.Path)
		}
		if rel, err := below(e.Path, root); err == nil {
			t.entries[rel] = e
			t.names = append(t.names, rel)
		} else {
			t.beside = append(t.beside, e)
		}
	}
	slices.Sort(t.names)
	return t, nil
}

// Changes returns the differences from the base, sorted by path.
func (t *Tree) Changes() []Change {
	all := make([]Change, 0, len(t.changed))
	for _, p := range slices.Sorted(maps.Keys(t.changed)) {
		b := t.changed[p]
		all = append(all, Change{Path: t.full(p), Content: bytes.Clone(b), Delete: b == nil})
	}
	return all
}

// Apply makes all changes that an earlier Changes returned, or none and returns an
// error, which names the path that an agent may not write.
func (t *Tree) Apply(changes []Change) error {
	next := t.clone()
	for _, c := range changes {
		p, err := below(c.Path, t.root)
		if err != nil {
			return err
		}
		content := c.Content
		if c.Delete {
			content = nil
		} else if content == nil {
			content = []byte{}
		}
		if err := next.put(p, bytes.Clone(content)); err != nil {
			return err
		}
	}
	if err := next.collision(changes); err != nil {
		return err
	}
	*t = *next
	return nil
}

// same reports whether two states of a tree have the same changes.
func (t *Tree) same(u *Tree) bool {
	return maps.EqualFunc(t.changed, u.changed, func(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) })
}

// full converts a path of the site's folder to one of the repository.
func (t *Tree) full(p string) string { return path.Join(t.root, p) }

// clone returns a tree that can be changed without t.
func (t *Tree) clone() *Tree {
	next := *t
	next.changed = maps.Clone(t.changed)
	return &next
}

// files returns the paths of all files, sorted.
func (t *Tree) files() []string {
	if t.paths == nil {
		t.paths = make([]string, 0, len(t.names)+len(t.changed))
		for _, p := range t.names {
			if b, changed := t.changed[p]; !changed || b != nil {
				t.paths = append(t.paths, p)
			}
		}
		for p, b := range t.changed {
			if _, old := t.entries[p]; !old && b != nil {
				t.paths = append(t.paths, p)
			}
		}
		slices.Sort(t.paths)
	}
	return t.paths
}

// exists reports whether there is a file.
func (t *Tree) exists(p string) bool {
	if b, ok := t.changed[p]; ok {
		return b != nil
	}
	_, ok := t.entries[p]
	return ok
}

// below returns the files in a folder, "" for all.
func (t *Tree) below(folder string) []string {
	all := t.files()
	if folder == "" {
		return all
	}
	from, _ := slices.BinarySearch(all, folder+"/")
	to, _ := slices.BinarySearch(all, folder+"0") // the character after the slash
	return all[from:to]
}

// text reports whether a file that exists can be read.
func (t *Tree) text(p string) bool {
	if b, ok := t.changed[p]; ok {
		return b != nil
	}
	return t.entries[p].Text
}

// size returns a file's size in bytes, negative if unknown.
func (t *Tree) size(p string) int64 {
	if b, ok := t.changed[p]; ok {
		return int64(len(b))
	}
	return t.entries[p].Size
}

// read returns a file's text, which is not to be changed. The error is
// fs.ErrNotExist, ErrNotText or the base's.
func (t *Tree) read(p string) ([]byte, error) {
	if b, ok := t.changed[p]; ok {
		if b == nil {
			return nil, fs.ErrNotExist
		}
		return b, nil
	}
	e, ok := t.entries[p]
	switch {
	case !ok:
		return nil, fs.ErrNotExist
	case !e.Text:
		return nil, ErrNotText
	}
	return t.base.Read(e.Path)
}

// put writes a file, or deletes it if content is nil. It returns an error if an agent
// may not do that.
func (t *Tree) put(p string, content []byte) error {
	if err := Allowed(t.full(p), t.root); err != nil {
		return err
	}
	e, old := t.entries[p]
	switch {
	case old && !e.Plain:
		return fmt.Errorf("%s: agents may not write links, submodules and executable files", p)
	case old && !e.Text && content != nil:
		return fmt.Errorf("%s: %w, and can't be written", p, ErrNotText)
	case content == nil && !t.exists(p):
		return fmt.Errorf("%s: there is no such file", p)
	case content != nil && (bytes.IndexByte(content, 0) >= 0 || !isText(content)):
		return fmt.Errorf("%s: the new content is not text", p)
	}
	same := !old && content == nil
	if old && content != nil {
		was, err := t.base.Read(e.Path)
		if err != nil {
			return err
		}
		same = bytes.Equal(was, content)
	}
	if same {
		delete(t.changed, p)
	} else {
		t.changed[p] = content
	}
	t.paths = nil
	if path.Ext(p) == ".json" {
		t.config = nil
	}
	return nil
}

// since returns the texts of the files that differ from those of another tree of
// the same base, nil for those that are gone.
func (t *Tree) since(from *Tree) map[string][]byte {
	out := map[string][]byte{}
	for p, b := range t.changed {
		if old, ok := from.changed[p]; !ok || (b == nil) != (old == nil) || !bytes.Equal(b, old) {
			out[p] = b
		}
	}
	for p := range from.changed {
		if _, still := t.changed[p]; still {
			continue
		}
		out[p] = nil
		if b, err := t.read(p); err == nil { // as it was in the base again
			out[p] = b
		}
	}
	return out
}

// collision returns an error for the first new path that conflicts with another one:
// one that differs only in case, or a folder.
func (t *Tree) collision(changes []Change) error {
	var fresh []string
	for _, c := range changes {
		p, _ := below(c.Path, t.root)
		if _, old := t.entries[p]; !old && !c.Delete {
			fresh = append(fresh, p)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	// Both files and folders by their names in lower case; folders end in a slash.
	folded := make(map[string]string)
	add := func(p string) (clash string) {
		name := strings.ToLower(p)
		for _, key := range []string{name, name + "/"} {
			if other, taken := folded[key]; taken && other != p {
				return other
			}
		}
		folded[name] = p
		for at := path.Dir(p); at != "."; at = path.Dir(at) {
			name := strings.ToLower(at)
			if other, taken := folded[name]; taken {
				return other
			}
			if other, taken := folded[name+"/"]; taken && other != at+"/" {
				return other
			}
			folded[name+"/"] = at + "/"
		}
		return ""
	}
	isFresh := make(map[string]bool, len(fresh))
	for _, p := range fresh {
		isFresh[p] = true
	}
	for _, p := range t.files() {
		if !isFresh[p] {
			add(p)
		}
	}
	for _, p := range fresh {
		if clash := add(p); clash != "" {
			return fmt.Errorf("%s: the name conflicts with %s: many file systems can't have both", p, clash)
		}
	}
	return nil
}
