package storetest

import (
	"context"
	"io"
	"sync"

	"github.com/bindery-docs/bindery/shared/service/store"
)

// Meter counts what AWS charges for of the calls of its ports. It is safe for
// concurrent use; its fields are read when the calls are over.
type Meter struct {
	WriteUnits, ReadUnits     int // of DynamoDB
	ObjectWrites, ObjectReads int // of S3; a list or a copy costs what a write does

	mu sync.Mutex
}

// Store returns s, counted.
func (m *Meter) Store(s store.Store) store.Store { return meteredStore{s, m} }

// Objects returns o, counted.
func (m *Meter) Objects(o store.Objects) store.Objects { return meteredObjects{o, m} }

func (m *Meter) add(what *int, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*what += n
}

// units are those of a record: a started KiB each to write, twice as many in a
// transaction; four KiB each to read.
func units(bytes, each int) int { return max(1, (bytes+each-1)/each) }

type meteredStore struct {
	store.Store
	m *Meter
}

func (s meteredStore) Get(ctx context.Context, k store.Key) (store.Record, error) {
	r, err := s.Store.Get(ctx, k)
	s.m.add(&s.m.ReadUnits, units(len(r.Value), 4096))
	return r, err
}

func (s meteredStore) Query(ctx context.Context, q store.Query) (store.Page, error) {
	p, err := s.Store.Query(ctx, q)
	sum := 0
	for _, r := range p.Records {
		sum += len(r.Value)
	}
	s.m.add(&s.m.ReadUnits, units(sum, 4096))
	return p, err
}

func (s meteredStore) Write(ctx context.Context, puts []store.Record, deletes []store.Delete) error {
	n := len(deletes)
	for _, r := range puts {
		n += units(len(r.Value), 1024)
	}
	if len(puts)+len(deletes) > 1 {
		n *= 2
	}
	s.m.add(&s.m.WriteUnits, n)
	return s.Store.Write(ctx, puts, deletes)
}

type meteredObjects struct {
	store.Objects
	m *Meter
}

func (o meteredObjects) Put(ctx context.Context, key string, r io.Reader, opt store.PutOptions) (store.ObjectInfo, error) {
	o.m.add(&o.m.ObjectWrites, 1)
	return o.Objects.Put(ctx, key, r, opt)
}

func (o meteredObjects) BeginUpload(ctx context.Context, key string, partBytes int64, opt store.PutOptions) (string, error) {
	o.m.add(&o.m.ObjectWrites, 1)
	return o.Objects.BeginUpload(ctx, key, partBytes, opt)
}

func (o meteredObjects) UploadPart(ctx context.Context, key, upload string, n int, data []byte) (store.Part, error) {
	o.m.add(&o.m.ObjectWrites, 1)
	return o.Objects.UploadPart(ctx, key, upload, n, data)
}

func (o meteredObjects) CompleteUpload(ctx context.Context, key, upload string, parts []store.Part, sha256 string) (store.ObjectInfo, error) {
	o.m.add(&o.m.ObjectWrites, 1)
	return o.Objects.CompleteUpload(ctx, key, upload, parts, sha256)
}

func (o meteredObjects) List(ctx context.Context, prefix, after string, limit int) ([]store.ObjectInfo, error) {
	o.m.add(&o.m.ObjectWrites, 1)
	return o.Objects.List(ctx, prefix, after, limit)
}

func (o meteredObjects) Copy(ctx context.Context, from, to string) error {
	o.m.add(&o.m.ObjectWrites, 1)
	o.m.add(&o.m.ObjectReads, 1) // of its size
	return o.Objects.Copy(ctx, from, to)
}

func (o meteredObjects) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	o.m.add(&o.m.ObjectReads, 1)
	return o.Objects.Get(ctx, key, offset, length)
}

func (o meteredObjects) Stat(ctx context.Context, key string) (store.ObjectInfo, error) {
	o.m.add(&o.m.ObjectReads, 1)
	return o.Objects.Stat(ctx, key)
}
