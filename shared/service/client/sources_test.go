//go:build linux || darwin || freebsd

package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/api"
	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
)

// resting is what was left in a folder, for files that have all rested.
func resting(dir string) *sources {
	s := recallSources(dir)
	s.began = s.began.Add(time.Hour)
	return s
}

// publishedAnew publishes a folder to a new service and returns what that has.
func publishedAnew(t *testing.T, dir, kept string) (Published, map[string]string) {
	t.Helper()
	b := newBindery(t)
	s := resting(kept)
	defer s.close()
	result, err := b.publish(t.Context(), PublishOptions{Dir: dir, Domain: domain, Kept: kept, Progress: func(PublishProgress) {}}, s)
	if err != nil {
		t.Fatal(err)
	}
	return result, b.files(t)
}

// publishedByLink is publishedAnew to a service of a short life on this disk, which
// takes packs without a copy.
func publishedByLink(t *testing.T, dir, kept string) (Published, map[string]string) {
	t.Helper()
	b := newBinderyOf(t, local.Options{Dir: t.TempDir(), Temporary: true})
	s := resting(kept)
	defer s.close()
	result, err := b.publish(t.Context(), PublishOptions{
		Dir: dir, Domain: domain, Kept: kept, Progress: func(PublishProgress) {},
		Take: func(ctx context.Context, u api.Upload, file string) (bool, error) {
			return b.local.Objects().Take(ctx, u.URL, file)
		},
	}, s)
	if err != nil {
		t.Fatal(err)
	}
	if sent := slices.DeleteFunc(b.requests, func(r string) bool { return !strings.HasPrefix(r, http.MethodPut) }); len(sent) != 1 {
		t.Errorf("sent %v, not the manifest alone", sent)
	}
	return result, b.files(t)
}

func lstat(t *testing.T, name string) fs.FileInfo {
	t.Helper()
	info, err := os.Lstat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return info
}

// restamp writes a file in its place until it has another stamp: clocks of disks are
// coarse.
func restamp(t *testing.T, name, text string) {
	t.Helper()
	before, _, _ := stampOf(lstat(t, name))
	for {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if now, _, ok := stampOf(lstat(t, name)); ok && now != before {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// TestKeptSourcesAreTheFolders edits a folder at random, and publishes it to a new
// service each time: it has what the folder has.
func TestKeptSourcesAreTheFolders(t *testing.T) {
	dir, kept := t.TempDir(), t.TempDir()
	site := map[string]string{"docs.json": "{}", "empty.css": ""}
	for i := range 30 {
		site[fmt.Sprintf("part-%d/page-%d.mdx", i%3, i)] = fmt.Sprint("# Page ", i, strings.Repeat(" words", i))
	}
	write(t, dir, site)
	r := rand.New(rand.NewPCG(1, 2))
	edits := []func(name string){
		func(name string) { site[name] += " More."; restamp(t, filepath.Join(dir, name), site[name]) },
		func(name string) { // of the same size, at the same time
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			site[name] = strings.Map(func(r rune) rune { return max('!', (r+1)%'~') }, site[name])
			restamp(t, filepath.Join(dir, name), site[name])
			if err := os.Chtimes(filepath.Join(dir, name), info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		},
		func(name string) {
			delete(site, name)
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		},
		func(name string) {
			site[name+"x"] = site[name]
			delete(site, name)
			if err := os.Rename(filepath.Join(dir, name), filepath.Join(dir, name+"x")); err != nil {
				t.Fatal(err)
			}
		},
		func(name string) { write(t, dir, map[string]string{name + ".css": name}); site[name+".css"] = name },
	}
	for round := range 20 {
		publish := publishedAnew
		if round%2 == 1 {
			publish = publishedByLink
		}
		result, got := publish(t, dir, kept)
		if diff := cmp.Diff(site, got); diff != "" {
			t.Fatalf("round %d: %s", round, diff)
		}
		if result.Added != len(site) || result.Uploads != result.Packs+1 || result.Packs < min(round/10+1, 2) {
			t.Errorf("round %d: %+v", round, result)
		}
		pages := slices.DeleteFunc(slices.Sorted(maps.Keys(site)), func(name string) bool { return name == "docs.json" })
		for _, i := range r.Perm(len(pages))[:r.IntN(4)] {
			edits[r.IntN(len(edits))](pages[i])
		}
	}
}

// TestFilesThatRestAreNotRead: those that were written just before they were read
// are read again, as a later write may have left no mark.
func TestFilesThatRestAreNotRead(t *testing.T) {
	dir, kept := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"docs.json": "{}", "a.mdx": "# A", "b.mdx": "# B"})
	read := func(s *sources) []string {
		t.Helper()
		f, err := openFolder(t.Context(), dir, nil, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return slices.Sorted(maps.Keys(f.held))
	}
	all := []string{"a.mdx", "b.mdx", "docs.json"}
	_, changed, ok := stampOf(lstat(t, filepath.Join(dir, "a.mdx")))
	if !ok {
		t.Fatal("a file has no stamp")
	}
	for after, want := range map[time.Duration]bool{0: false, settled: false, settled + 1: true} {
		s := &sources{began: changed.Add(after)}
		if got := s.stamp(lstat(t, filepath.Join(dir, "a.mdx"))) != ""; got != want {
			t.Errorf("a file that was read %s after it was written has a stamp: %v", after, got)
		}
	}
	publishedAnew(t, dir, kept)
	if got := read(resting(kept)); len(got) > 0 {
		t.Errorf("read %v", got)
	}
	restamp(t, filepath.Join(dir, "b.mdx"), "# C")
	if got := read(resting(kept)); !slices.Equal(got, []string{"b.mdx"}) {
		t.Errorf("read %v after one was changed", got)
	}
	if got := read(nil); !slices.Equal(got, all) {
		t.Errorf("read %v where nothing is kept", got)
	}
}

// TestLargeFilesAreReadOnce publishes large files, two of them with the same bytes: their
// packs are written while they are first read, and nothing else is left.
func TestLargeFilesAreReadOnce(t *testing.T) {
	dir, kept := t.TempDir(), t.TempDir()
	site := map[string]string{"docs.json": "{}", "a.mdx": "# A"}
	for _, name := range []string{"one.png", "two.png", "same.png"} {
		site[name] = strings.Repeat(name[:1], snapshot.LargeFile)
	}
	site["same.png"] = site["one.png"]
	write(t, dir, site)

	s := recallSources(kept)
	s.eager = true
	f, err := openFolder(t.Context(), dir, nil, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plan, err := snapshot.NewPlan(f.Files, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan.Copy = s.copyPack
	var mu sync.Mutex
	var again []string
	if _, err := plan.Seal(t.Context(), func(path string) (io.ReadCloser, error) {
		mu.Lock()
		defer mu.Unlock()
		again = append(again, path)
		return f.Open(path)
	}); err != nil {
		t.Fatal(err)
	}
	if slices.Sort(again); !slices.Equal(again, []string{"a.mdx", "docs.json"}) {
		t.Errorf("read a second time: %v", again)
	}
	s.close()
	if left, _ := filepath.Glob(filepath.Join(kept, "*")); len(left) > 0 {
		t.Errorf("left of a publish that ended early: %v", left)
	}

	result, got := publishedByLink(t, dir, kept)
	if diff := cmp.Diff(site, got); diff != "" {
		t.Fatal(diff)
	}
	if left, _ := filepath.Glob(filepath.Join(kept, "*"+sourcePack)); len(left) != 3 || result.Packs != 3 {
		t.Errorf("%d packs, left %v", result.Packs, left)
	}
}

// TestDamagedSourcesAreReadAgain damages each file that is left.
func TestDamagedSourcesAreReadAgain(t *testing.T) {
	dir, left := t.TempDir(), t.TempDir()
	site := map[string]string{"docs.json": "{}", "a.mdx": "# A", "b.mdx": strings.Repeat("# B", 100)}
	write(t, dir, site)
	publishedAnew(t, dir, left)
	site["c.mdx"] = "# C"
	write(t, dir, site)
	publishedAnew(t, dir, left)
	names, err := filepath.Glob(filepath.Join(left, "*"))
	if err != nil || len(names) != 3 {
		t.Fatal(names, err)
	}
	for how, damage := range map[string]func(data []byte) []byte{
		"a byte":  func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"its end": func(b []byte) []byte { return b[:len(b)-1] },
		"all":     func(b []byte) []byte { return nil },
		"more":    func(b []byte) []byte { return append(b, 0) },
	} {
		for _, damaged := range names {
			kept := t.TempDir()
			for _, name := range names {
				data, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				if data = bytes.Clone(data); name == damaged {
					data = damage(data)
				}
				if err := os.WriteFile(filepath.Join(kept, filepath.Base(name)), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			// All in one pack, as in a first publish.
			if result, got := publishedAnew(t, dir, kept); cmp.Diff(site, got) != "" || result.Packs != 1 {
				t.Errorf("%s of %s is damaged: %s %+v", how, filepath.Base(damaged), cmp.Diff(site, got), result)
			}
			if s := resting(kept); s.base() == nil {
				t.Errorf("%s of %s was damaged: what is kept is not mended", how, filepath.Base(damaged))
			}
		}
	}
}

// TestSourcesOfAServiceWithSnapshots: what a service has itself is not left here.
func TestSourcesOfAServiceWithSnapshots(t *testing.T) {
	dir, kept := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"docs.json": "{}", "a.mdx": "# A"})
	b := newBindery(t)
	for i := range 2 {
		result, err := b.Publish(t.Context(), PublishOptions{Dir: dir, Domain: domain, Kept: kept})
		if err != nil || result.UpToDate != (i == 1) {
			t.Fatal(result, err)
		}
	}
	s := recallSources(kept)
	if len(s.files) != 2 || len(s.packs) > 0 {
		t.Errorf("%d files, packs %v", len(s.files), s.packs)
	}
}
