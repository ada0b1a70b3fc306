package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	basejson "github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
)

// Names in a version's folder of compressed forms.
const (
	packedDir   = "packed"
	packedIndex = "index.jsonl"
	packedData  = "data"
)

// Which files are compressed.
const (
	// packedLeast: below it, headers are most of an answer.
	packedLeast = 512
	// packedMost bounds what a compressor holds in memory.
	packedMost = 32 << 20
)

// span is where a compressed form lies in the folder's one file of data: tens
// of thousands of files of their own would cost more than they save.
type span struct {
	Offset int64 `json:"offset"`
	Length int64 `json:"length"`
}

// packedFile is one line of the index.
type packedFile struct {
	Path string `json:"path"`
	// Gzip and Zstd are empty when the form is not much smaller.
	Gzip span `json:"gzip,omitzero"`
	Zstd span `json:"zstd,omitzero"`
}

// pack makes the compressed forms of a version's files in dir.
func pack(ctx context.Context, dir string, list bundle.ListInfo) error {
	files, err := readFileList(filepath.Join(dir, siteDir), list)
	if err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, packedDir), 0o755); err != nil {
		return volumeError("the compressed forms can't be written", err)
	}
	p := &packer{site: filepath.Join(dir, siteDir)}
	data, err := os.Create(filepath.Join(dir, packedDir, packedData))
	if err != nil {
		return volumeError("the compressed forms can't be written", err)
	}
	defer data.Close()
	index, err := os.Create(filepath.Join(dir, packedDir, packedIndex))
	if err != nil {
		return volumeError("the compressed forms can't be written", err)
	}
	defer index.Close()
	p.data, p.index = bufio.NewWriterSize(data, 1<<20), bufio.NewWriterSize(index, 64<<10)

	if err := share(ctx, slices.Values(files), p.work); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return volumeError("the compressed forms can't be made", err)
	}
	if err := errors.Join(p.data.Flush(), p.index.Flush(), data.Close(), index.Close()); err != nil {
		return volumeError("the compressed forms can't be written", err)
	}
	return nil
}

// share has one worker a processor, each with items that no other has. It returns
// the first error of a worker, or ctx's.
func share[T any](ctx context.Context, items iter.Seq[T], work func(<-chan T) error) error {
	group, working := errgroup.WithContext(ctx)
	next := make(chan T)
	group.Go(func() error {
		defer close(next)
		for item := range items {
			select {
			case next <- item:
			case <-working.Done():
				return working.Err()
			}
		}
		return nil
	})
	for range max(1, runtime.GOMAXPROCS(0)) {
		group.Go(func() error { return work(next) })
	}
	return group.Wait()
}

type packer struct {
	site string

	mu     sync.Mutex
	data   *bufio.Writer
	index  *bufio.Writer
	offset int64
}

// work compresses files until there are no more.
func (p *packer) work(files <-chan bundle.File) error {
	gz, err := gzip.NewWriterLevel(io.Discard, 6)
	if err != nil {
		return err
	}
	// A frame must say its size: readers may refuse a window that is larger
	// than the 8 MiB of RFC 9659.
	zs, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression),
		zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(false))
	if err != nil {
		return err
	}
	defer zs.Close()
	var zipped bytes.Buffer
	var framed []byte
	for f := range files {
		if !site.IsText(f.Path) || f.Size > packedMost || f.Size < packedLeast {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(p.site, filepath.FromSlash(f.Path)))
		if err != nil {
			return err
		}
		zipped.Reset()
		gz.Reset(&zipped)
		if _, err := gz.Write(raw); err != nil {
			return err
		}
		if err := gz.Close(); err != nil {
			return err
		}
		framed = zs.EncodeAll(raw, framed[:0])
		if err := p.add(packedFile{Path: f.Path}, len(raw), zipped.Bytes(), framed); err != nil {
			return err
		}
	}
	return nil
}

// add appends the forms that are worth it.
func (p *packer) add(f packedFile, size int, zipped, framed []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, form := range [...]struct {
		to   *span
		data []byte
	}{{&f.Gzip, zipped}, {&f.Zstd, framed}} {
		if len(form.data) > size-size/10 {
			continue
		}
		*form.to = span{p.offset, int64(len(form.data))}
		p.offset += int64(len(form.data))
		if _, err := p.data.Write(form.data); err != nil {
			return err
		}
	}
	if f.Gzip.Length == 0 && f.Zstd.Length == 0 {
		return nil
	}
	line, err := json.Marshal(f)
	if err != nil {
		return err
	}
	_, err = p.index.Write(append(line, '\n'))
	return err
}

func isPage(name string) bool { return strings.HasSuffix(name, ".html") }

// readPacked reads the index of compressed forms and checks it against the
// size of the data.
func readPacked(dir string, size int64, fn func(packedFile)) error {
	return readLines(filepath.Join(dir, packedIndex), "the index of compressed forms", func(p packedFile) error {
		for _, s := range [...]span{p.Gzip, p.Zstd} {
			if s.Offset < 0 || s.Length < 0 || s.Length > packedMost || s.Offset > size-s.Length {
				return fmt.Errorf("the index of compressed forms names more than there is for %q", p.Path)
			}
		}
		fn(p)
		return nil
	})
}

// readLines calls fn with each JSON value of a file; what names the file in
// errors.
func readLines[T any](file, what string, fn func(T) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	for v, err := range basejson.Values[T](f) {
		if err != nil {
			return fmt.Errorf("%s can't be read: %w", what, err)
		}
		if err := fn(*v); err != nil {
			return err
		}
	}
	return nil
}
