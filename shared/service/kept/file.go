package kept

import (
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// alone is the extension of a value in a file of its own.
const alone = ".file"

// KeepFile keeps a value that is too large for a pack, in a file of its own, beside
// what the folder's limit counts. A folder has one such value: the one before goes.
// Where it can't be written, and in object storage, nothing is kept. Of an open file
// whose bytes will not change, only another name is made, where the disk has such
// names.
func (s *Store) KeepFile(k Key, from io.Reader) {
	if s == nil || s.objects != nil {
		return
	}
	name := s.file(k)
	if file, ok := from.(*os.File); !ok || !link(file.Name(), name) {
		if s.writeFile(name, from) != nil {
			return
		}
	}
	list, _ := filepath.Glob(filepath.Join(s.dir, "*"+alone)) // the pattern is right
	for _, old := range list {
		if old != name {
			_ = os.Remove(old)
		}
	}
}

// link gives a file another name, in place of one that has it.
func link(from, name string) bool {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return os.Link(from, name) == nil
}

func (s *Store) writeFile(name string, from io.Reader) error {
	f, err := os.CreateTemp(s.dir, "*"+unfinished)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// OpenFile opens a value of KeepFile. The error is one of os.Open. Its bytes are not
// checked: who keeps such a value knows its digest.
func (s *Store) OpenFile(k Key) (*os.File, error) {
	if s == nil || s.objects != nil {
		return nil, os.ErrNotExist
	}
	return os.Open(s.file(k))
}

func (s *Store) file(k Key) string { return filepath.Join(s.dir, hex.EncodeToString(k[:])+alone) }
