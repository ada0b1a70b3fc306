package forge_test

import (
	"bytes"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bindery-docs/bindery/shared/service/forge/forgetest"
	"github.com/bindery-docs/bindery/tests/outside"
)

// A repository of three real sites in three versions each, most files of which
// come as differences from others: it needs little memory, and each file is what
// it was. A library that keeps what differs in memory needs 348 MiB for twice as
// much.
func TestLargeRepository(t *testing.T) {
	outside.Long(t, "makes a repository of 95 MiB")
	const bound = 48 << 20
	corpora := outside.Folder(t, "corpora")
	fake := forgetest.New(t)
	sums := map[string][32]byte{}
	for version := range 3 {
		for _, site := range []string{"novu", "trigger", "mcp"} {
			files := map[string]string{}
			root := filepath.Join(corpora, site)
			err := filepath.WalkDir(root, func(file string, d os.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() {
					return err
				}
				data, err := os.ReadFile(file)
				if err != nil || len(data) == 0 {
					return err
				}
				if utf8.Valid(data) {
					data = bytes.ReplaceAll(data, []byte("the"), []byte("the"+strconv.Itoa(version)))
				} else {
					for i := range data {
						data[i] ^= byte(version)
					}
				}
				rel, err := filepath.Rel(root, file)
				name := "v" + strconv.Itoa(version) + "/" + site + "/" + filepath.ToSlash(rel)
				files[name], sums[name] = string(data), sha256.Sum256(data)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			fake.Write("main", files)
		}
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, done := m.HeapAlloc, make(chan struct{})
	var peak atomic.Uint64
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak.Store(max(peak.Load(), m.HeapAlloc))
			}
		}
	}()
	tree := fetch(t, fake.Forge(), fake.Repository(), "")
	var size int64
	for f := range tree.Files() {
		r, err := tree.Open(t.Context(), f.Path)
		if err != nil {
			t.Fatalf("%s: %v", f.Path, err)
		}
		h := sha256.New()
		n, err := io.Copy(h, r)
		if err != nil || r.Close() != nil || f.Size >= 0 && n != f.Size || [32]byte(h.Sum(nil)) != sums[f.Path] {
			t.Fatalf("%s is not what it was: %d of %d bytes, %v", f.Path, n, f.Size, err)
		}
		size += n
	}
	close(done)
	t.Logf("%d files of %d MiB; at most %d MiB of memory", tree.Len(), size>>20, (peak.Load()-before)>>20)
	if tree.Len() != len(sums) {
		t.Errorf("%d files of %d", tree.Len(), len(sums))
	}
	if peak.Load() > before+bound {
		t.Errorf("%d MiB of memory, want %d at most", (peak.Load()-before)>>20, bound>>20)
	}
}
