package sites

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/bindery-docs/bindery/shared/delivery/archive"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// maxVersions is the most archives that are open at a time. Each has in memory the root of its
// index, below 100 kB for 100,000 pages, and up to 4,096 addresses, below 2.5 MB.
const maxVersions = 32

// openTime limits opening an archive.
const openTime = 30 * time.Second

// versions are open archives, by their jobs. A job's archive never changes.
type versions struct {
	objects store.Objects
	cache   *site.Cache

	mu     sync.Mutex
	opened map[string]*opening
	used   []string // jobs, the one that was opened longest ago first
}

// opening is an archive that is open, or is being opened.
type opening struct {
	done chan struct{}
	v    *archive.Version
	err  error
}

func newVersions(objects store.Objects, cache *site.Cache) *versions {
	return &versions{objects: objects, cache: cache, opened: map[string]*opening{}}
}

// open returns the version of a job. It asks served for the job's bundle unless the archive
// is open.
func (s *versions) open(ctx context.Context, job string, served func(context.Context) (admin.Served, error)) (site.Version, error) {
	s.mu.Lock()
	o := s.opened[job]
	if o == nil {
		o = &opening{done: make(chan struct{})}
		s.opened[job] = o
		s.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), openTime)
		defer cancel()
		s.fill(ctx, job, o, served)
	} else {
		s.mu.Unlock()
	}
	select {
	case <-o.done:
		if o.err != nil {
			return nil, o.err
		}
		return o.v, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fill opens an archive. One that can't be opened is asked for again by the next reader.
func (s *versions) fill(ctx context.Context, job string, o *opening, served func(context.Context) (admin.Served, error)) {
	o.err = errors.New("opening the archive ended in a panic")
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if o.err != nil {
			delete(s.opened, job)
		} else {
			s.used = append(s.used, job)
			for ; len(s.used) > maxVersions; s.used = s.used[1:] {
				delete(s.opened, s.used[0])
			}
		}
		close(o.done)
	}()
	b, err := served(ctx)
	if err != nil {
		o.err = err
		return
	}
	var at bundle.Place
	if err := at.UnmarshalText([]byte(b.Bundle.Index)); err != nil {
		o.err = fmt.Errorf("the index of %s: %w", job, errors.Join(site.ErrDamaged, err))
		return
	}
	o.v, o.err = archive.Open(ctx, object{s.objects, b.Bundle.Key}, at, s.cache)
}

// object is an archive in an object store.
type object struct {
	objects store.Objects
	key     string
}

// ReadRange implements archive.Source.
func (o object) ReadRange(ctx context.Context, offset, length int64) ([]byte, error) {
	body, err := o.objects.Get(ctx, o.key, offset, length)
	if err == nil {
		defer body.Close()
		b := make([]byte, length)
		if _, err = io.ReadFull(body, b); err == nil {
			return b, nil
		}
	}
	err = fmt.Errorf("read %d bytes of %s from %d: %w", length, o.key, offset, err)
	if coded, ok := errors.AsType[store.Coded](err); ok && coded.Code() == admin.CodeTemporary {
		return nil, &site.Temporary{Err: err}
	}
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrRange) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return nil, errors.Join(site.ErrDamaged, err)
	}
	return nil, &site.Temporary{Err: err}
}
