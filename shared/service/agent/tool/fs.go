package tool

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// FS returns the site's folder as it is now, for a check. It does not follow
// later changes. A file that is not text has its size and no content.
func (t *Tree) FS() fs.FS { return treeFS{t.clone()} }

func isText(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

// IsSource reports whether a path is that of a file that a site is made of and that
// a check reads as text.
func IsSource(p string) bool { return allowedExtensions[strings.ToLower(path.Ext(p))] }

type treeFS struct{ t *Tree }

// LeftOut lists the files that a site may be made of and that have no text here,
// because they are too large or because they are not text.
func (f treeFS) LeftOut() (all []string) {
	for _, p := range f.t.files() {
		if IsSource(p) && !f.t.text(p) && f.t.size(p) != 0 {
			all = append(all, p)
		}
	}
	return all
}

// Open implements fs.FS.
func (f treeFS) Open(name string) (fs.File, error) {
	info, err := f.Stat(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if info.IsDir() {
		entries, err := f.ReadDir(name)
		return &folder{info, entries}, err
	}
	b, err := f.ReadFile(name)
	return &file{bytes.NewReader(b), info}, err
}

// ReadFile implements fs.ReadFileFS.
func (f treeFS) ReadFile(name string) ([]byte, error) {
	b, err := f.t.read(name)
	if errors.Is(err, ErrNotText) {
		return []byte{}, nil
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return bytes.Clone(b), nil
}

// Stat implements fs.StatFS.
func (f treeFS) Stat(name string) (fs.FileInfo, error) {
	switch {
	case !fs.ValidPath(name):
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	case name == ".", len(f.t.below(name)) > 0:
		return info{name: path.Base(name), folder: true}, nil
	case f.t.exists(name):
		return info{name: path.Base(name), size: max(f.t.size(name), 0)}, nil
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

// ReadDir implements fs.ReadDirFS.
func (f treeFS) ReadDir(name string) ([]fs.DirEntry, error) {
	prefix := ""
	if name != "." {
		prefix = name + "/"
	}
	files := f.t.below(strings.TrimSuffix(prefix, "/"))
	if !fs.ValidPath(name) || prefix != "" && len(files) == 0 {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	var out []fs.DirEntry
	last := ""
	for _, p := range files {
		first, _, folder := strings.Cut(p[len(prefix):], "/")
		if folder && first == last {
			continue
		}
		entry := info{name: first, folder: folder}
		if folder {
			last = first
		} else {
			entry.size = max(f.t.size(p), 0)
		}
		out = append(out, fs.FileInfoToDirEntry(entry))
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out, nil
}

type info struct {
	name   string
	size   int64
	folder bool
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.folder }
func (i info) Sys() any           { return nil }
func (i info) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

type file struct {
	*bytes.Reader
	info fs.FileInfo
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *file) Close() error               { return nil }

type folder struct {
	info fs.FileInfo
	left []fs.DirEntry
}

func (f *folder) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *folder) Close() error               { return nil }
func (f *folder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.info.Name(), Err: fs.ErrInvalid}
}

// ReadDir implements fs.ReadDirFile.
func (f *folder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(f.left)
	} else if len(f.left) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(f.left))
	out := f.left[:n]
	f.left = f.left[n:]
	return out, nil
}
