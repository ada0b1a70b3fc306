package snapshot_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// memory keeps objects in memory and counts the calls that read.
type memory struct {
	store.Objects // what the tests do not use
	mu            sync.Mutex
	data          map[string][]byte
	gets          int
}

func (m *memory) put(key string, data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.data == nil {
		m.data = map[string][]byte{}
	}
	m.data[key] = data
}

func (m *memory) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.gets
	m.gets = 0
	return n
}

func (m *memory) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.gets++
	data, ok := m.data[key]
	if !ok {
		return nil, store.ErrNotFound
	}
	if offset > int64(len(data)) {
		return nil, store.ErrRange
	}
	data = data[offset:]
	if length >= 0 && length < int64(len(data)) {
		data = data[:length]
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

func (m *memory) Stat(_ context.Context, key string) (store.ObjectInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.data[key]
	if !ok {
		return store.ObjectInfo{}, store.ErrNotFound
	}
	return store.ObjectInfo{Key: key, Size: int64(len(data))}, nil
}

func packKey(sha256 string) string { return "packs/" + sha256 }

func digest(data string) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:])
}

var day = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// site is what a folder holds: path → content.
type site map[string]string

func (s site) files() []snapshot.File {
	var files []snapshot.File
	for path, data := range s {
		files = append(files, snapshot.File{Path: path, SHA256: digest(data), Size: int64(len(data))})
	}
	return files
}

func (s site) open(path string) (io.ReadCloser, error) {
	data, ok := s[path]
	if !ok {
		return nil, fmt.Errorf("no file %s", path)
	}
	return io.NopCloser(strings.NewReader(data)), nil
}

// publish stores the new packs of a site and returns plan and manifest.
func publish(t *testing.T, objects *memory, s site, base *snapshot.Manifest) (*snapshot.Plan, *snapshot.Manifest) {
	t.Helper()
	plan, err := snapshot.NewPlan(s.files(), base)
	if err != nil {
		t.Fatal(err)
	}
	m, err := plan.Seal(t.Context(), s.open)
	if err != nil {
		t.Fatal(err)
	}
	for _, pack := range plan.New {
		data, err := io.ReadAll(pack.Reader(t.Context(), s.open))
		if err != nil {
			t.Fatal(err)
		}
		if digest(string(data)) != pack.SHA256 || int64(len(data)) != pack.Size {
			t.Fatalf("pack %s of %d bytes streams %d other bytes", pack.SHA256, pack.Size, len(data))
		}
		objects.put(packKey(pack.SHA256), data)
	}
	return plan, m
}

func manySmall(n int) site {
	s := site{"docs.json": `{"name":"Many"}`}
	for i := range n {
		s[fmt.Sprintf("guides/%03d/page-%05d.mdx", i/100, i)] = strings.Repeat(fmt.Sprintf("# Page %d\n", i), 1+i%200)
	}
	return s
}
