package kept

import (
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
)

// alone is the extension of a value in a file of its own.
const alone = ".file"

// KeepFile keeps a value that is too large for a pack, in a file of its own, beside
// what the folder's limit counts. A folder has one such value: the one before goes.
// Where it can't be written, and in object storage, nothing is kept.
func (s *Store) KeepFile(k Key, from io.Reader) {
	if s == nil || s.objects != nil {
		return
	}
	f, err := os.CreateTemp(s.dir, "*"+unfinished)
	if err != nil {
		return
	}
	_, err = io.Copy(f, from)
	if closed := f.Close(); err == nil {
		err = closed
	}
	name := s.file(k)
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return
	}
	list, _ := filepath.Glob(filepath.Join(s.dir, "*"+alone)) // the pattern is right
	for _, old := range list {
		if old != name {
			_ = os.Remove(old)
		}
	}
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
