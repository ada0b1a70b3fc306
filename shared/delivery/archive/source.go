package archive

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// Source reads parts of one archive, which never changes. It may be used by many
// goroutines.
type Source interface {
	// ReadRange returns the length bytes from an offset on; fewer are an error. It is a
	// site.Temporary where another try may help.
	ReadRange(ctx context.Context, offset, length int64) ([]byte, error)
}

// File is an archive in a file.
type File struct {
	file *os.File
	size int64
}

// OpenFile opens an archive in a file.
func OpenFile(name string) (*File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &File{f, info.Size()}, nil
}

// Size is in bytes.
func (f *File) Size() int64 { return f.size }

// ReadRange implements Source.
func (f *File) ReadRange(_ context.Context, offset, length int64) ([]byte, error) {
	b := make([]byte, length)
	if n, err := f.file.ReadAt(b, offset); int64(n) < length {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("read %d bytes of the archive from %d: %w", length, offset, err)
	}
	return b, nil
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// Footer reads the footer of an archive of size bytes: where its index is. The error is
// bundle.ErrNoIndex for an archive of an older release.
func Footer(ctx context.Context, src Source, size int64) (bundle.Footer, error) {
	if size < int64(bundle.FooterBytes) {
		return bundle.Footer{}, bundle.ErrNoIndex
	}
	end, err := src.ReadRange(ctx, size-int64(bundle.FooterBytes), int64(bundle.FooterBytes))
	if err != nil {
		return bundle.Footer{}, err
	}
	return bundle.ReadFooter(end, size)
}
