package diff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// Source is a bundle that can be read more than once.
type Source interface {
	// each hands every file of the bundle to fn, which need not read it to its
	// end, and returns the bundle's description.
	each(ctx context.Context, fn func(name string, size int64, data io.Reader) error) (*bundle.Info, error)
}

// ErrNoBundle is what Open returns for a folder that no bundle was unpacked into.
var ErrNoBundle = errors.New("it has no " + bundle.InfoPath + ", so no bundle was unpacked into it")

// Open opens an archive, or a folder that a bundle was unpacked into. An archive
// is verified as it is read; a folder is taken as it is, since people may add
// files to one. The error is ErrNoBundle or the file system's.
func Open(name string) (Source, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return archive(name), nil
	}
	if _, err := os.Stat(name + "/" + bundle.InfoPath); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", name, ErrNoBundle)
	} else if err != nil {
		return nil, err
	}
	return folder(name), nil
}

// archive is the path of a bundle.
type archive string

func (a archive) each(ctx context.Context, fn func(string, int64, io.Reader) error) (*bundle.Info, error) {
	f, err := os.Open(string(a))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readArchive(ctx, string(a), f, fn)
}

func readArchive(ctx context.Context, name string, r io.Reader, fn func(string, int64, io.Reader) error) (*bundle.Info, error) {
	info, err := bundle.Read(ctx, r, bundle.Limits{}, func(e bundle.Entry, data io.Reader) error {
		return fn(e.Path, e.Size, data)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return info, nil
}

// folder is the path of an unpacked bundle.
type folder string

func (d folder) each(ctx context.Context, fn func(string, int64, io.Reader) error) (*bundle.Info, error) {
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		return fn(name, info.Size(), f)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", string(d), err)
	}
	f, err := root.Open(bundle.InfoPath)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", string(d), err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, bundle.MaxInfoBytes+1))
	if err != nil {
		return nil, err
	}
	info, err := bundle.ParseInfo(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", string(d), err)
	}
	return info, nil
}
