package site

import "io/fs"

// readableFS is a site's files without those that are for other readers: a page
// that imports one shows nothing of it.
type readableFS struct {
	fs.FS
	withheld map[string]bool
}

// Readable returns the site's files without those that are withheld: whoever
// reads pages must not find them.
func (s *Site) Readable(fsys fs.FS) fs.FS {
	if len(s.Withheld) == 0 {
		return fsys
	}
	r := readableFS{FS: fsys, withheld: make(map[string]bool, len(s.Withheld))}
	for _, w := range s.Withheld {
		r.withheld[w.Source] = true
	}
	return r
}

// Open is that of fs.FS.
func (r readableFS) Open(name string) (fs.File, error) {
	if r.withheld[name] {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return r.FS.Open(name)
}

// ReadFile is that of fs.ReadFileFS.
func (r readableFS) ReadFile(name string) ([]byte, error) {
	if r.withheld[name] {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return fs.ReadFile(r.FS, name)
}
