package snapshot_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/shared/service/store"
)

func TestFS(t *testing.T) {
	objects := &memory{}
	s := site{"docs.json": "{}", "guides/start.mdx": "# Start", "guides/deep/er.mdx": "# Deeper", "empty.css": "", "film.mp4": strings.Repeat("film ", 300_000)}
	_, m := publish(t, objects, s, nil)
	f := snapshot.OpenFS(t.Context(), objects, packKey, m, snapshot.FSOptions{})
	for name, text := range s {
		file, err := f.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := iotest.TestReader(file, []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		info, err := file.Stat()
		if err := errors.Join(err, file.Close()); err != nil || info.Size() != int64(len(text)) || info.IsDir() || info.Name() != path.Base(name) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if _, err := file.Read(make([]byte, 1)); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s is read after its end: %v", name, err)
		}
	}
	if diff := cmp.Diff([]string{"docs.json", "empty.css", "film.mp4", "guides/deep/er.mdx", "guides/start.mdx"}, f.Paths()); diff != "" {
		t.Error(diff)
	}
	info, err := fs.Stat(f, "docs.json")
	if err != nil || !info.ModTime().IsZero() {
		t.Errorf("%v %v", info, err)
	}
	for name, want := range map[string]error{"missing": fs.ErrNotExist, "guides": fs.ErrNotExist, "../x": fs.ErrInvalid, "": fs.ErrInvalid} {
		_, read := f.ReadFile(name)
		_, stat := f.Stat(name)
		_, open := f.Open(name)
		if !errors.Is(read, want) || !errors.Is(stat, want) || !errors.Is(open, want) {
			t.Errorf("%q: ReadFile %v, Stat %v, Open %v; want %v", name, read, stat, open, want)
		}
	}
	if _, ok := f.Entry("guides"); ok {
		t.Error("a folder has an entry")
	}
	mine, _ := f.ReadFile("docs.json")
	mine[0] = 'x'
	if again, _ := f.ReadFile("docs.json"); string(again) != "{}" {
		t.Error("a reader's change is seen by the next")
	}
}

func TestPrefetchReadsNeighboursTogether(t *testing.T) {
	objects := &memory{}
	s := manySmall(1000)
	_, m := publish(t, objects, s, nil)
	f := snapshot.OpenFS(t.Context(), objects, packKey, m, snapshot.FSOptions{})
	shard := f.Paths()[300:364]
	if err := f.Prefetch(append(shard, "missing")); err != nil {
		t.Fatal(err)
	}
	if n := objects.count(); n != 1 {
		t.Errorf("%d requests for 64 neighbours", n)
	}
	for _, path := range shard {
		if data, err := f.ReadFile(path); err != nil || string(data) != s[path] {
			t.Fatalf("%s: %v", path, err)
		}
	}
	if n := objects.count(); n != 0 {
		t.Errorf("%d requests for files that are there", n)
	}
}

// TestPrefetchAlong: files are read along with those that are needed, by the same
// request, and never for their own sake.
func TestPrefetchAlong(t *testing.T) {
	objects := &memory{}
	s := manySmall(300)
	_, m := publish(t, objects, s, nil)
	f := snapshot.OpenFS(t.Context(), objects, packKey, m, snapshot.FSOptions{})
	paths := f.Paths()
	for _, step := range []struct {
		from, to, along int
		requests        int
	}{{10, 20, 100, 1}, {20, 40, 200, 0}, {90, 110, 120, 1}, {110, 120, 300, 0}} {
		if err := f.PrefetchAlong(paths[step.from:step.to], paths[step.to:step.along]); err != nil {
			t.Fatal(err)
		}
		if n := objects.count(); n != step.requests {
			t.Errorf("%+v: %d requests", step, n)
		}
		for _, path := range paths[step.from:step.to] {
			if data, err := f.ReadFile(path); err != nil || string(data) != s[path] {
				t.Fatalf("%s: %v", path, err)
			}
		}
		if n := objects.count(); n != 0 {
			t.Errorf("%+v: %d requests for files that are there", step, n)
		}
	}
}

func TestEachReadsAllInOrder(t *testing.T) {
	objects := &memory{}
	s := manySmall(2000)
	s["copy.mdx"] = s["guides/000/page-00001.mdx"]
	s["empty.mdx"] = ""
	_, m := publish(t, objects, s, nil)
	f := snapshot.OpenFS(t.Context(), objects, packKey, m, snapshot.FSOptions{ReadBytes: 256 << 10})
	var seen []string
	err := f.Each(f.Paths(), func(path string, data []byte) error {
		if string(data) != s[path] {
			return fmt.Errorf("%s has other bytes", path)
		}
		for i := range data {
			data[i] = 0
		}
		seen = append(seen, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(seen, f.Paths()) {
		t.Errorf("%d of %d files came", len(seen), len(f.Paths()))
	}
	if n, most := objects.count(), int(m.Bytes()/(256<<10))*2+3; n > most {
		t.Errorf("%d requests, more than %d", n, most)
	}
	err = f.Each([]string{"docs.json", "missing", "copy.mdx"}, func(path string, _ []byte) error {
		if path == "copy.mdx" {
			t.Error("it went on after an error")
		}
		return nil
	})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestCacheIsBounded(t *testing.T) {
	objects := &memory{}
	s := site{}
	for i := range 20 {
		s[fmt.Sprintf("f%02d", i)] = strings.Repeat(string(rune('a'+i)), 1000)
	}
	_, m := publish(t, objects, s, nil)
	f := snapshot.OpenFS(t.Context(), objects, packKey, m, snapshot.FSOptions{CacheBytes: 3000, ReadBytes: 2000})
	if err := f.Prefetch(f.Paths()); err != nil {
		t.Fatal(err)
	}
	objects.count()
	kept := 0
	for _, path := range f.Paths()[:3] {
		if _, err := f.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		if objects.count() == 0 {
			kept++
		}
	}
	if kept != 3 {
		t.Errorf("%d of the first 3 files were kept", kept)
	}
	for range 2 {
		for _, path := range f.Paths() {
			if data, err := f.ReadFile(path); err != nil || string(data) != s[path] {
				t.Fatalf("%s: %v", path, err)
			}
		}
	}
	if n := objects.count(); n < 30 {
		t.Errorf("only %d requests: more is kept than allowed", n)
	}
}

func TestFaultsOfPacks(t *testing.T) {
	big := strings.Repeat("0123456789", 200_000)
	s := site{"a": "aaa", "b": "bbb", "big": big}
	tests := []struct {
		name   string
		break_ func(m *memory, pack string)
		want   error
	}{
		{"gone", func(m *memory, pack string) { delete(m.data, pack) }, store.ErrNotFound},
		{"other bytes", func(m *memory, pack string) {
			m.data[pack] = bytes.Map(func(r rune) rune { return r + 1 }, m.data[pack])
		}, store.ErrDigest},
		{"cut short", func(m *memory, pack string) { m.data[pack] = m.data[pack][:4] }, store.ErrDigest},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			objects := &memory{}
			_, m := publish(t, objects, s, nil)
			for _, pack := range m.Packs {
				test.break_(objects, packKey(pack.SHA256))
			}
			f := snapshot.OpenFS(t.Context(), objects, packKey, m, snapshot.FSOptions{})
			check := func(what string, err error) {
				if !errors.Is(err, test.want) || errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: %v", what, err)
				}
			}
			_, err := f.ReadFile("b")
			check("ReadFile", err)
			check("Prefetch", f.Prefetch([]string{"a", "b"}))
			check("Each", f.Each([]string{"b"}, func(string, []byte) error { return nil }))
			file, err := f.Open("big")
			if err == nil {
				_, err = io.Copy(io.Discard, file)
			}
			check("Open", err)
			stream, err := f.Stream("big")
			if err == nil {
				var data []byte
				if data, err = io.ReadAll(stream); err == nil && digest(string(data)) != digest(big) {
					err = snapshot.DigestError(m.Entries[2])
				}
			}
			check("Stream", err)
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		objects := &memory{}
		_, m := publish(t, objects, s, nil)
		ctx, cancel := context.WithCancel(t.Context())
		f := snapshot.OpenFS(ctx, objects, packKey, m, snapshot.FSOptions{})
		cancel()
		if _, err := f.ReadFile("a"); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestManyReaders(t *testing.T) {
	objects := &memory{}
	s := manySmall(200)
	_, m := publish(t, objects, s, nil)
	f := snapshot.OpenFS(t.Context(), objects, packKey, m, snapshot.FSOptions{CacheBytes: 20_000})
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			paths := f.Paths()
			if err := f.Prefetch(paths[worker*10:]); err != nil {
				t.Error(err)
			}
			for i := range paths {
				path := paths[(i+worker*25)%len(paths)]
				if data, err := f.ReadFile(path); err != nil || string(data) != s[path] {
					t.Errorf("%s: %v", path, err)
				}
			}
		})
	}
	all.Wait()
}

func TestVerify(t *testing.T) {
	objects := &memory{}
	_, m := publish(t, objects, manySmall(10), nil)
	pack := m.Packs[0].SHA256
	whole := objects.data[packKey(pack)]
	objects.put(packKey(pack), whole[1:])
	var fault *snapshot.PackError
	if err := snapshot.Verify(t.Context(), objects, packKey, m); !errors.As(err, &fault) || fault.Missing {
		t.Errorf("a pack that is short: %v", err)
	}
	delete(objects.data, packKey(pack))
	if err := snapshot.Verify(t.Context(), objects, packKey, m); !errors.As(err, &fault) || !fault.Missing || fault.SHA256 != pack {
		t.Errorf("a pack that is gone: %v", err)
	}
}

func TestUnreferenced(t *testing.T) {
	_, kept := publish(t, &memory{}, site{"a": "1"}, nil)
	var refs snapshot.References
	for _, p := range kept.Packs {
		refs.AddPack(p.SHA256)
	}
	refs.AddPack(digest("pending"))
	old := day.Add(-time.Hour)
	now := day.Add(snapshot.MinPackAge)
	stored := []store.ObjectInfo{
		{Key: packKey(kept.Packs[0].SHA256), Modified: old.AddDate(-1, 0, 0)},
		{Key: packKey(digest("pending")), Modified: old},
		{Key: packKey(digest("old")), Modified: old},
		{Key: packKey(digest("young")), Modified: day},
		{Key: "packs/README", Modified: old},
	}
	got := snapshot.Unreferenced(stored, &refs, now)
	if diff := cmp.Diff([]store.ObjectInfo{stored[2]}, got); diff != "" {
		t.Error(diff)
	}
}
