package archive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/bindery-docs/bindery/shared/delivery/address"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/delivery/site"
)

// blockEncoding is that of blocks of the index in the cache.
const blockEncoding = site.OwnEncoding

// maxPlaces is the most addresses that have their rows in memory.
const maxPlaces = 4096

// place has the files and redirects of an address.
type place = address.Place[site.File]

// Version is an archive as a version of a site. It implements site.Version.
type Version struct {
	src      Source
	root     *bundle.Root
	cache    *site.Cache
	site     address.Site[site.File]
	policy   *site.Policy
	notFound site.File // nil for none

	zippers sync.Pool // of *gzip.Writer

	mu     sync.RWMutex
	places map[string]place
}

// Open reads the root of an archive's index, which is at a place that a job's record
// or the archive's footer names. The version has its blocks of the index in the cache,
// where the handler has its files.
func Open(ctx context.Context, src Source, at bundle.Place, cache *site.Cache) (*Version, error) {
	sent, err := src.ReadRange(ctx, at.Offset, at.Length)
	if err != nil {
		return nil, fmt.Errorf("read the root of the index: %w", err)
	}
	root, err := bundle.ParseRoot(at, sent)
	if err != nil {
		return nil, damaged(err)
	}
	v := &Version{src: src, root: root, cache: cache, policy: site.NewPolicy(&root.Info), places: map[string]place{}}
	redirects, err := address.NewRedirects(root.Info.Redirects)
	if err != nil {
		return nil, err
	}
	v.site = address.Site[site.File]{Look: v.look, Redirects: redirects, Stub: func(_ context.Context, f site.File) (bool, error) {
		return f.(*file).row.Stub, nil
	}}
	if root.NotFound != nil {
		v.notFound = v.file(root.NotFound)
	}
	return v, nil
}

// damaged marks errors of an archive that differs from what was exported.
func damaged(err error) error {
	if _, ok := errors.AsType[*bundle.Error](err); ok {
		return errors.Join(site.ErrDamaged, err)
	}
	return err
}

// Info describes the site; it has neither the version nor the lists.
func (v *Version) Info() *bundle.Info { return &v.root.Info }

// Find implements site.Version.
func (v *Version) Find(ctx context.Context, path, rawQuery string) (address.Found[site.File], error) {
	return v.site.Find(ctx, path, rawQuery)
}

// NotFound implements site.Version.
func (v *Version) NotFound(context.Context) (site.File, error) { return v.notFound, nil }

// Policy implements site.Version.
func (v *Version) Policy() *site.Policy { return v.policy }

// Release implements site.Version. It does not close the source.
func (v *Version) Release() {}

// look returns what there is at an address. It is in memory if something is there, and
// was asked for lately: an address that leads nowhere takes no memory.
func (v *Version) look(ctx context.Context, name string) (place, error) {
	v.mu.RLock()
	at, ok := v.places[name]
	v.mu.RUnlock()
	if ok {
		return at, nil
	}
	at, err := v.read(ctx, name)
	if err != nil || at.Plain == nil && at.Page == nil && at.Index == nil && at.Redirects == nil {
		return at, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.places) >= maxPlaces {
		clear(v.places)
	}
	v.places[name] = at
	return at, nil
}

// read reads the rows of an address.
func (v *Version) read(ctx context.Context, name string) (at place, err error) {
	// The file x and the page x.html have the same key, but for two kinds of names: x.html
	// itself is under x, and x/index.html, the page of x/index, too.
	keys := []string{bundle.Key(name), bundle.Key(name + ".html")}
	for _, key := range slices.Compact(keys) {
		rows, err := v.rows(ctx, key)
		if err != nil {
			return place{}, err
		}
		v.add(&at, name, rows)
		if at.Plain != nil && key != name { // the name is x.html: nobody asks for x.html.html
			break
		}
	}
	return at, nil
}

// add adds what rows say of an address.
func (v *Version) add(at *place, name string, rows bundle.Rows) {
	index := name + "/index.html"
	if name == "" {
		index = "index.html"
	}
	for i := range rows.Files {
		row := &rows.Files[i]
		switch {
		case row.Path == name && name != "":
			at.Plain = v.file(row)
		case row.Path == index:
			at.Index = v.file(row)
		case row.Path == name+".html" && name != "":
			at.Page = v.file(row)
		}
	}
	at.Redirects = append(at.Redirects, rows.Redirects...)
}

// rows returns the rows of a key.
func (v *Version) rows(ctx context.Context, key string) (bundle.Rows, error) {
	at, ok := v.root.Block(key)
	if !ok {
		return bundle.Rows{}, nil
	}
	block, err := v.cache.Bytes(ctx, site.Key{Sum: site.Fingerprint(at.SHA256[:16]), Encoding: blockEncoding}, func(ctx context.Context) ([]byte, error) {
		sent, err := v.src.ReadRange(ctx, at.Offset, at.Length)
		if err != nil {
			return nil, err
		}
		block, err := bundle.ParseBlock(at, sent)
		return block, damaged(err)
	})
	if err != nil {
		return bundle.Rows{}, fmt.Errorf("read the index: %w", err)
	}
	rows, err := bundle.Block(block).Find(key)
	return rows, damaged(err)
}
