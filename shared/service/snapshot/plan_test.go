package snapshot_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/snapshot"
)

func TestManySmallFilesAreFewPacks(t *testing.T) {
	objects := &memory{}
	s := manySmall(20_000)
	plan, m := publish(t, objects, s, nil)
	if want := int(m.Bytes()/snapshot.MaxPackBytes) + 2; len(plan.New) > want {
		t.Errorf("%d packs for %d bytes", len(plan.New), m.Bytes())
	}
	for _, pack := range plan.New {
		if pack.Size > snapshot.MaxPackBytes {
			t.Errorf("a pack of %d bytes", pack.Size)
		}
	}

	s["guides/000/page-00007.mdx"] = "# Changed\n"
	plan, next := publish(t, objects, s, m)
	if len(plan.New) != 1 || plan.New[0].Size != 10 || plan.Changed != 1 || plan.Unchanged != 20_000 || plan.Added+plan.Removed != 0 {
		t.Errorf("one change uploads %d packs: %+v", len(plan.New), plan)
	}
	if err := snapshot.Verify(t.Context(), objects, packKey, next); err != nil {
		t.Error(err)
	}
}

func TestPlanIsTheSameEachTime(t *testing.T) {
	s := manySmall(300)
	_, first := publish(t, &memory{}, s, nil)
	for range 3 {
		if _, again := publish(t, &memory{}, s, nil); !cmp.Equal(first, again) {
			t.Fatal("the same files give another manifest")
		}
	}
}

// A large file is a pack, with the digest that it has already: Seal does not read it,
// and reads every file once if its bytes are copied.
func TestSealReadsLargeFilesOnlyToCopyThem(t *testing.T) {
	s := manySmall(10)
	large := []string{"a.png", "guides/000/b.png", "z.png"}
	for _, path := range large {
		s[path] = strings.Repeat(path, 1<<20/len(path)+1)
	}
	for _, copied := range []bool{false, true} {
		plan, err := snapshot.NewPlan(s.files(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		copies := map[*snapshot.Pack]*strings.Builder{}
		if copied {
			plan.Copy = func(p *snapshot.Pack) io.Writer {
				mu.Lock()
				defer mu.Unlock()
				copies[p] = &strings.Builder{}
				return copies[p]
			}
		}
		reads := map[string]int{}
		m, err := plan.Seal(t.Context(), func(path string) (io.ReadCloser, error) {
			mu.Lock()
			defer mu.Unlock()
			reads[path]++
			return s.open(path)
		})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]int{}
		for path := range s {
			if copied || !slices.Contains(large, path) {
				want[path] = 1
			}
		}
		if diff := cmp.Diff(want, reads); diff != "" {
			t.Errorf("copied: %v: reads of each file (-want +got):\n%s", copied, diff)
		}
		for _, path := range large {
			if e, _ := m.Entry(path); e.Pack != e.SHA256 || e.Offset != 0 {
				t.Errorf("%s is in another pack: %+v", path, e)
			}
		}
		if len(plan.New) != len(large)+1 {
			t.Errorf("%d packs", len(plan.New))
		}
		for _, pack := range plan.New {
			if copied && digest(copies[pack].String()) != pack.SHA256 {
				t.Errorf("the copy of pack %s has other bytes", pack.SHA256)
			}
		}
	}
}

// Many packs of one large file each are no reason to send the files again.
func TestLargeFilesAreNotPackedAgain(t *testing.T) {
	s := site{}
	for i := range 70 {
		s[fmt.Sprintf("%02d.png", i)] = strings.Repeat(fmt.Sprintf("%04d", i), 1<<18)
	}
	objects := &memory{}
	_, m := publish(t, objects, s, nil)
	s["index.mdx"] = "# New"
	if plan, _ := publish(t, objects, s, m); len(plan.New) != 1 || plan.Repacked != 0 {
		t.Errorf("%d new packs, %d files packed again", len(plan.New), plan.Repacked)
	}
}

// However many large files a site has, and however many come later, their packs stay
// far below the limit of a snapshot.
func TestPacksOfManyLargeFiles(t *testing.T) {
	var files []snapshot.File
	add := func(n int) {
		for range n {
			files = append(files, snapshot.File{Path: fmt.Sprintf("%05d.png", len(files)), SHA256: digest(fmt.Sprint(len(files))), Size: 1 << 20})
		}
	}
	// seal is Plan.Seal for files without bytes.
	var base *snapshot.Manifest
	seal := func() (packs, sent int) {
		plan, err := snapshot.NewPlan(files, base)
		if err != nil {
			t.Fatal(err)
		}
		m := &snapshot.Manifest{Format: snapshot.Format}
		live := map[string]bool{}
		places := map[string]snapshot.Entry{}
		for i, pack := range plan.New {
			name := digest(fmt.Sprint("pack", len(files), i))
			var offset int64
			for _, f := range pack.Files {
				places[f.Path] = snapshot.Entry{Pack: name, Offset: offset}
				offset += f.Size
			}
			sent += len(pack.Files)
		}
		for _, f := range files {
			e := snapshot.Entry{Path: f.Path, SHA256: f.SHA256, Size: f.Size}
			if at, ok := places[f.Path]; ok {
				e.Pack, e.Offset = at.Pack, at.Offset
			} else {
				was, _ := base.Entry(f.Path)
				e.Pack, e.Offset = was.Pack, was.Offset
			}
			live[e.Pack] = true
			m.Entries = append(m.Entries, e)
		}
		for pack := range live {
			m.Packs = append(m.Packs, snapshot.PackRef{SHA256: pack})
		}
		base = m
		return len(m.Packs), sent
	}
	add(900)
	if packs, _ := seal(); packs != 900 {
		t.Errorf("900 files lie in %d packs", packs)
	}
	sent := 0
	for range 300 {
		add(10)
		packs, n := seal()
		sent += n
		if packs > snapshot.MaxPacks*3/5 {
			t.Fatalf("%d files lie in %d packs", len(files), packs)
		}
	}
	if sent > 3*3000 {
		t.Errorf("%d files sent for 3,000 new ones", sent)
	}
	base = nil
	if packs, _ := seal(); packs > len(files)/30 {
		t.Errorf("%d files at once lie in %d packs", len(files), packs)
	}
}

// Packs that are packed again are joined: a site with too many packs does not send its
// large files again only to have as many.
func TestTooManyPacksOfLargeFilesAreJoined(t *testing.T) {
	base := &snapshot.Manifest{Format: snapshot.Format}
	var files []snapshot.File
	for i := range snapshot.MaxPacks/2 + 100 {
		f := snapshot.File{Path: fmt.Sprintf("%05d.png", i), SHA256: digest(fmt.Sprint(i)), Size: 1 << 20}
		base.Packs = append(base.Packs, snapshot.PackRef{SHA256: f.SHA256, Size: f.Size})
		base.Entries = append(base.Entries, snapshot.Entry{Path: f.Path, SHA256: f.SHA256, Size: f.Size, Pack: f.SHA256})
		files = append(files, f)
	}
	plan, err := snapshot.NewPlan(files[200:], base) // 900 are left
	if err != nil {
		t.Fatal(err)
	}
	if plan.Repacked < 800 || len(plan.New) > 50 {
		t.Errorf("%d files are packed again, into %d packs", plan.Repacked, len(plan.New))
	}
}

func TestPlanTakesEqualBytesOnce(t *testing.T) {
	objects := &memory{}
	plan, m := publish(t, objects, site{"a": "same", "b": "same", "c": ""}, nil)
	if len(plan.New) != 1 || plan.New[0].Size != 4 {
		t.Errorf("packs: %+v", plan.New)
	}
	// A file that moved is not uploaded again.
	plan, _ = publish(t, objects, site{"moved/a": "same"}, m)
	if len(plan.New) != 0 || plan.Added != 1 || plan.Removed != 3 {
		t.Errorf("plan: %+v", plan)
	}
	plan, _ = publish(t, objects, site{"c": ""}, m)
	if len(plan.New) != 0 {
		t.Errorf("an empty file needs a pack: %+v", plan.New)
	}
}

func TestLargeFileIsItsOwnPack(t *testing.T) {
	large := strings.Repeat("x", snapshot.MaxPackBytes+1)
	plan, m := publish(t, &memory{}, site{"a": "small", "m.mp4": large, "z": "small too"}, nil)
	if len(plan.New) != 2 {
		t.Fatalf("%d packs", len(plan.New))
	}
	e, _ := m.Entry("m.mp4")
	if e.Pack != e.SHA256 || e.Offset != 0 {
		t.Errorf("entry: %+v", e)
	}
}

func TestModifiedTimes(t *testing.T) {
	commit := time.Date(2020, 5, 6, 7, 8, 9, 0, time.FixedZone("CEST", 7200))
	_, base := publish(t, &memory{}, site{"same": "1", "changed": "2", "old/name": "3"}, nil)
	files := site{"same": "1", "changed": "2!", "new/name": "3", "committed": "4", "ancient": "5"}.files()
	for i, f := range files {
		switch f.Path {
		case "committed":
			files[i].Modified = commit
		case "ancient":
			files[i].Modified = time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC)
		}
	}
	plan, err := snapshot.NewPlan(files, base)
	if err != nil {
		t.Fatal(err)
	}
	m, err := plan.Seal(t.Context(), site{"changed": "2!", "committed": "4", "ancient": "5"}.open)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]time.Time{}
	for _, e := range m.Entries {
		got[e.Path] = e.Modified
	}
	want := map[string]time.Time{
		"same":      {},
		"changed":   {},
		"new/name":  {},
		"committed": commit.UTC(),
		"ancient":   time.Unix(0, 0).UTC(),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A site that is published after each small change keeps few packs, and what
// is uploaded again for that stays in proportion.
func TestManyPublishesKeepFewPacks(t *testing.T) {
	objects := &memory{}
	s := manySmall(50)
	_, base := publish(t, objects, s, nil)
	var changed, uploaded int64
	for i := range 400 {
		text := fmt.Sprintf("# News %d\n%s", i, strings.Repeat("text ", i%50))
		s[fmt.Sprintf("news/%d.mdx", i)] = text
		changed += int64(len(text))
		plan, m := publish(t, objects, s, base)
		for _, pack := range plan.New {
			uploaded += pack.Size
		}
		if err := snapshot.Verify(t.Context(), objects, packKey, m); err != nil {
			t.Fatal(err)
		}
		if len(m.Packs) > 70 {
			t.Fatalf("%d packs after %d publishes", len(m.Packs), i)
		}
		base = m
	}
	if uploaded > 6*changed {
		t.Errorf("%d bytes uploaded for %d bytes of changes", uploaded, changed)
	}
	f := snapshot.OpenFS(t.Context(), objects, packKey, base, snapshot.FSOptions{})
	for path, text := range s {
		if got, err := f.ReadFile(path); err != nil || string(got) != text {
			t.Fatalf("%s: %v", path, err)
		}
	}
}

func TestFileThatChangesMeanwhile(t *testing.T) {
	tests := []struct{ name, now string }{
		{"same length", "bbb"}, {"shorter", "a"}, {"longer", "aaaa"}, {"empty", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := site{"a": "aaa", "b": "2"}
			plan, err := snapshot.NewPlan(before.files(), nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = plan.Seal(t.Context(), site{"a": test.now, "b": "2"}.open)
			var changed *snapshot.ChangedError
			if !errors.As(err, &changed) || changed.Path != "a" {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("gone", func(t *testing.T) {
		plan, err := snapshot.NewPlan(site{"a": "aaa", "b": "2"}.files(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Seal(t.Context(), site{"a": "aaa"}.open); err == nil {
			t.Error("no error")
		}
	})
	t.Run("a reader that was closed", func(t *testing.T) {
		s := site{"a": "aaa"}
		plan, err := snapshot.NewPlan(s.files(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r := plan.New[0].Reader(t.Context(), s.open)
		r.Close()
		if _, err := r.Read(make([]byte, 1)); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("got %v", err)
		}
	})
}

func TestPlanRefusesNames(t *testing.T) {
	_, err := snapshot.NewPlan(site{"../a": "1", "b": "1", "b/c": "2"}.files(), nil)
	var faults snapshot.PathErrors
	if !errors.As(err, &faults) || len(faults) != 2 {
		t.Errorf("got %v", err)
	}
}
