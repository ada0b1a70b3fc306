package forge

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"sort"
	"strings"
)

// Mode is what a file is.
type Mode string

// Modes of files.
const (
	Regular    Mode = "file"
	Executable Mode = "executable"
	Symlink    Mode = "symlink"   // its content is where it leads to
	Submodule  Mode = "submodule" // a commit of another repository; it can't be opened
)

// File is a file of a Tree.
type File struct {
	Path string // relative, with slashes
	Mode Mode
	// Size is in bytes, -1 if it is not known: the file is large, and was left on
	// the forge.
	Size int64
	// ID is the name that Git has for its content.
	ID string

	mode string // as Git writes it
}

// Tree is a commit's files. It keeps what was fetched in a folder of its own
// until Close. It is safe for concurrent use.
type Tree struct {
	Repository Repository
	// Commit is the id of the commit, Ref what was asked for: the name of a
	// branch or tag, or of the default branch for "", or the id.
	Commit, Ref string
	// DefaultBranch is the repository's default branch, "" if it has none.
	DefaultBranch string
	// Tags are the repository's tags, by name.
	Tags []Tag

	forge *Forge
	pack  *pack
	root  string // the id of the commit's tree
	files []File // by path
}

// Fetch brings a commit's files: of a branch, a tag, the default branch ("") or a
// commit by its full id. It brings no history, and files from LargeBlob on stay on
// the forge until they are opened. The caller must close the Tree.
//
// A server may refuse to be asked for a commit that no branch is at. There, the
// commit is looked for in the history of the branches and tags of from, those that
// exist, which brings that history's files along.
//
// Errors: ErrHost, ErrNotFound, ErrCredential, ErrRefNotFound, ErrTooLarge,
// ErrRateLimited, ErrUnreachable.
func (f *Forge) Fetch(ctx context.Context, r Repository, ref string, from ...string) (*Tree, error) {
	var t *Tree
	err := f.do(ctx, "fetch", r, func(c Credential) error {
		s, err := f.connect(ctx, r, c, uploadPack)
		if err != nil {
			return err
		}
		t = &Tree{Repository: r, forge: f, DefaultBranch: strings.TrimPrefix(s.head, "refs/heads/"), Tags: s.tagList()}
		id, err := t.resolve(s, ref)
		if err != nil {
			return err
		}
		if t.pack, err = newPack(f.opt.TempDir); err != nil {
			return err
		}
		if err = s.fetch(ctx, t.pack, id, true, f.opt.LargeBlob); err != nil && len(from) > 0 && !s.advertises(id) && !s.servesAnyCommit() {
			err = s.fetchBelow(ctx, t.pack, id, from)
		}
		if err == nil {
			err = t.read(id)
		}
		if err != nil {
			return errors.Join(err, t.Close())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// resolve returns the id of the object that a ref names, and sets t.Ref.
func (t *Tree) resolve(s *server, ref string) (id string, err error) {
	t.Ref = ref
	if ref == "" {
		t.Ref = t.DefaultBranch
		if id = s.refs[s.head]; id == "" {
			return "", ErrRefNotFound.saying("the repository is empty, or has no default branch")
		}
		return id, nil
	}
	if id = s.named(ref); id != "" {
		return id, nil
	}
	if !isID(ref) {
		return "", ErrRefNotFound
	}
	return ref, nil
}

// maxTags is the longest chain of tags.
const maxTags = 5

// read resolves an object to a commit and lists its files.
func (t *Tree) read(id string) error {
	for n := 0; t.pack.kind(id) == "tag" && n < maxTags; n++ {
		data, err := t.pack.object("tag", id)
		if err != nil {
			return err
		}
		id = field(data, "object")
	}
	if t.pack.kind(id) != "commit" {
		return ErrRefNotFound.saying("the name does not refer to a commit")
	}
	data, err := t.pack.object("commit", id)
	if err != nil {
		return err
	}
	t.Commit, t.root = id, field(data, "tree")
	w := walk{pack: t.pack, entries: t.forge.opt.MaxFiles, bytes: t.forge.opt.MaxBytes}
	if err := w.folder(t.root, ""); err != nil {
		return err
	}
	t.files = w.files
	sort.Slice(t.files, func(i, j int) bool { return t.files[i].Path < t.files[j].Path })
	return nil
}

// walk lists the files of a tree.
type walk struct {
	pack           *pack
	entries, bytes int64 // how many more there may be
	files          []File
}

// maxPath is the most bytes of a file's path.
const maxPath = 4096

func (w *walk) folder(id, prefix string) error {
	data, err := w.pack.object("tree", id)
	if err != nil {
		return err
	}
	list, err := parseTree(data)
	if err != nil {
		return err
	}
	for _, e := range list {
		path := prefix + e.name
		if w.entries--; w.entries < 0 || len(path) > maxPath {
			return ErrTooLarge.saying("the repository has too many files")
		}
		if e.mode == modeFolder {
			if err := w.folder(e.id, path+"/"); err != nil {
				return err
			}
			continue
		}
		file := File{Path: path, Mode: modeOf(e.mode), ID: e.id, mode: e.mode}
		if file.Mode != Submodule {
			file.Size = w.pack.size(e.id)
			if w.bytes -= max(0, file.Size); w.bytes < 0 {
				return ErrTooLarge.saying("the files of the repository are too large")
			}
		}
		w.files = append(w.files, file)
	}
	return nil
}

func modeOf(mode string) Mode {
	switch {
	case mode == modeSymlink:
		return Symlink
	case mode == modeSubmodule:
		return Submodule
	case mode == modeExecutable:
		return Executable
	}
	return Regular
}

// Files returns the files of the commit, sorted by the bytes of their paths.
func (t *Tree) Files() iter.Seq[File] { return slices.Values(t.files) }

// Len returns how many files there are.
func (t *Tree) Len() int { return len(t.files) }

// File returns the file at a path.
func (t *Tree) File(path string) (File, bool) {
	i, ok := sort.Find(len(t.files), func(i int) int { return strings.Compare(path, t.files[i].Path) })
	if !ok {
		return File{}, false
	}
	return t.files[i], true
}

// Open opens a file. It returns ErrPath if there is none at the path. A file that was
// left on the forge is fetched, with the errors of Fetch.
func (t *Tree) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	file, ok := t.File(path)
	if !ok || file.Mode == Submodule {
		return nil, ErrPath
	}
	r, err := t.pack.blob(file.ID)
	if err == nil && r == nil {
		err = t.forge.do(ctx, "fetch file", t.Repository, func(c Credential) error {
			s, err := t.forge.connect(ctx, t.Repository, c, uploadPack)
			if err != nil {
				return err
			}
			return s.fetch(ctx, t.pack, file.ID, false, 0)
		})
		if err != nil {
			return nil, err
		}
		r, err = t.pack.blob(file.ID)
	}
	if err != nil || r == nil {
		return nil, ErrUnreachable.saying("the file could not be fetched").with(path)
	}
	return r, nil
}

// Close removes what was fetched. No file may be opened afterwards.
func (t *Tree) Close() error {
	if t.pack == nil {
		return nil
	}
	return t.pack.close()
}
