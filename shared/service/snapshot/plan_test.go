package snapshot_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
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
