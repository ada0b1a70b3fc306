package diff

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/delivery/address"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
)

// Stored is an archive in a place where it can be read from any byte on.
type Stored struct {
	Name string // for errors
	// End is where the archive's last part begins (bundle.End).
	End int64
	// Open opens it from a byte on, as often as it is asked to.
	Open func(ctx context.Context, offset int64) (io.ReadCloser, error)
}

// ErrTooLarge is what CompareStored returns where more differs than its limit.
var ErrTooLarge = errors.New("more pages differ than are compared")

// CompareStored is Compare for archives that a service has made and keeps. Most of
// two such bundles is the same, so it reads their lists first, and each archive
// once, for the pages that are not the same byte for byte; it takes the digests in
// the lists for true, and does not count words that can be searched for. Pages are
// counted as descriptions count them, without a copy of the first one at the root,
// and sizes without the archive's own lists.
//
// ErrTooLarge: the main parts of what is held of both have more bytes than most,
// those of the old pages that are not the same byte for byte and those of the new
// pages that differ in theirs.
func CompareStored(ctx context.Context, before, after Stored, most int64) (*Result, error) {
	was, old, err := before.list(ctx)
	if err != nil {
		return nil, err
	}
	is, now, err := after.list(ctx)
	if err != nil {
		return nil, err
	}
	c := &stored{was: was, is: is, oldWords: map[string][]string{}, nowWords: map[string][]string{}, main: map[string][]byte{}, left: most}
	if err := before.read(ctx, was, without(old, now), c.old); err != nil {
		return nil, err
	}
	if err := after.read(ctx, is, without(now, old), c.now); err != nil {
		return nil, err
	}
	for name, data := range c.main { // of pages that went
		c.both(name, data, nil)
	}
	for name, sum := range old {
		if now[name] == sum { // a page, or one that leads elsewhere: it does both times
			was.pages[name], is.pages[name] = facts{}, facts{}
		}
	}
	r, err := result(ctx, was, is, c.oldWords, c.nowWords)
	if err != nil {
		return nil, err
	}
	// The description knows which files are pages.
	r.Before.Pages, r.After.Pages = was.info.Pages, is.info.Pages
	r.Pages.Unchanged = is.info.Pages - len(r.Pages.Added) - len(r.Pages.Changed)
	return r, nil
}

// list reads the archive's last part: what its files are, and the digests of those
// that may be pages.
func (s Stored) list(ctx context.Context) (*site, map[string]string, error) {
	body, err := s.Open(ctx, s.End)
	if err != nil {
		return nil, nil, err
	}
	defer body.Close()
	all, pages := newSite(), map[string]string{}
	all.info, err = bundle.ReadLists(ctx, body, bundle.Limits{}, func(name string, data io.Reader) error {
		if name != bundle.FilesPath {
			return nil
		}
		for f, err := range json.Values[bundle.File](data) {
			if err != nil {
				return err
			}
			kind := kindOf(f.Path)
			all.bytes[kind] += f.Size
			switch {
			case isPage(f.Path):
				pages[f.Path] = f.SHA256
			case kind == "files":
				sum, err := hex.DecodeString(f.SHA256)
				if err != nil || len(sum) != sha256.Size {
					return fmt.Errorf("%s has no digest", f.Path)
				}
				all.files[f.Path] = digest{[sha256.Size]byte(sum), f.Size}
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	all.names = indexNames(pages)
	for file, name := range all.names {
		pages[name] = pages[file]
		delete(pages, file)
	}
	return all, pages, nil
}

// without returns the names of pages that the other bundle has not, or not so.
func without(pages, other map[string]string) map[string]bool {
	names := map[string]bool{}
	for name, sum := range pages {
		if other[name] != sum {
			names[name] = true
		}
	}
	return names
}

// errRead ends the reading of an archive of which the rest is not needed.
var errRead = errors.New("all is read")

// read hands some pages of a site, which the archive has, to fn.
func (s Stored) read(ctx context.Context, all *site, names map[string]bool, fn func(name string, data []byte) error) error {
	if len(names) == 0 {
		return nil
	}
	body, err := s.Open(ctx, 0)
	if err != nil {
		return err
	}
	defer body.Close()
	left := len(names)
	var stop error // as fn said it
	_, err = bundle.ReadLists(ctx, body, bundle.Limits{}, func(name string, r io.Reader) error {
		name = cmp.Or(all.names[name], name)
		if !names[name] {
			return nil
		}
		data, err := readAll(r)
		if err != nil {
			return err
		}
		if stop = fn(name, data); stop == nil && left == 1 {
			stop = errRead
		}
		left--
		return stop
	})
	switch {
	case stop == errRead:
		return nil
	case stop != nil:
		return stop
	case err == nil:
		err = errors.New("it has not all pages that it lists")
	}
	return fmt.Errorf("%s: %w", s.Name, err)
}

// stored is a comparison under way.
type stored struct {
	was, is            *site
	oldWords, nowWords map[string][]string
	main               map[string][]byte // main parts of old pages that wait for the new ones
	left               int64             // bytes that it may have yet
}

// old takes a page of the bundle before.
func (c *stored) old(name string, data []byte) error {
	if address.IsStub(data) {
		c.was.stubs[name] = struct{}{}
		return nil
	}
	if c.left -= int64(len(mainPart(data))); c.left < 0 {
		return ErrTooLarge
	}
	c.main[name] = titled(data)
	return nil
}

// now takes a page of the bundle after.
func (c *stored) now(name string, data []byte) error {
	if address.IsStub(data) {
		c.is.stubs[name] = struct{}{}
		return nil
	}
	old, had := c.main[name]
	delete(c.main, name)
	if had && bytes.Equal(mainPart(old), mainPart(data)) {
		c.was.pages[name], c.is.pages[name] = facts{}, facts{}
		return nil
	}
	if c.left -= int64(len(mainPart(data))); c.left < 0 {
		return ErrTooLarge
	}
	c.both(name, old, data)
	return nil
}

// both reads an old page and a new one, as far as there is one.
func (c *stored) both(name string, old, now []byte) {
	var texts [2]string
	if old != nil {
		p := readPage(old)
		c.was.add(name, p)
		texts[0] = p.text
	}
	if now != nil {
		p := readPage(now)
		c.is.add(name, p)
		texts[1] = p.text
	}
	if texts[0] != texts[1] || old == nil || now == nil {
		c.oldWords[name], c.nowWords[name] = words(texts[0]), words(texts[1])
	}
}
