package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// A backup that is made while others write is a data folder by itself: each record is
// there with the object that it names.
func TestBackupBesideWriters(t *testing.T) {
	dir, to := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "copy")
	l := openFolder(t, dir)
	if err := l.Lock(); err != nil {
		t.Fatal(err)
	}
	if err := l.Secrets().Put(t.Context(), store.SecretOwner{Organisation: "org_1", Project: "prj_1"}, []byte("token")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"seed.json": "{}", "fetched/tree": "x"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	started := make(chan struct{}, 8)
	for w := range 4 {
		writers.Go(func() {
			var err error
			for i := 0; err == nil; i++ {
				if i == 5 {
					started <- struct{}{}
				}
				// The object comes before the record that names it, and the one before goes after.
				key := fmt.Sprintf("w%d/%d", w, i)
				_, err = l.Objects().Put(ctx, key, strings.NewReader(strings.Repeat(key, 500)), store.PutOptions{})
				if err == nil {
					at := store.Key{PK: fmt.Sprint("w", w), SK: "latest"}
					err = l.Store().Write(ctx, []store.Record{{Key: at, Value: []byte(`"` + key + `"`), Revision: int64(i)}}, nil)
				}
				if err == nil && i > 0 {
					err = l.Objects().Delete(ctx, fmt.Sprintf("w%d/%d", w, i-1))
				}
			}
			if ctx.Err() == nil {
				t.Errorf("writer %d: %v", w, err)
				started <- struct{}{}
			}
		})
	}
	for range 4 {
		<-started
	}
	beside := openFolder(t, dir) // as another process has it
	report, err := beside.Backup(t.Context(), to, "fetched")
	stop()
	writers.Wait()
	if err != nil || len(report.Faults) > 0 || report.Objects < 4 {
		t.Fatalf("%+v, %v", report, err)
	}

	copied := openFolder(t, to)
	if err := copied.Lock(); err != nil {
		t.Fatal(err)
	}
	for w := range 4 {
		rec, err := copied.Store().Get(t.Context(), store.Key{PK: fmt.Sprint("w", w), SK: "latest"})
		if err != nil {
			t.Fatal(err)
		}
		key := strings.Trim(string(rec.Value), `"`)
		body, err := copied.Objects().Get(t.Context(), key, 0, -1)
		if err != nil {
			t.Fatalf("record %d names %s: %v", w, key, err)
		}
		text, err := io.ReadAll(body)
		if err = errors.Join(err, body.Close()); err != nil || string(text) != strings.Repeat(key, 500) {
			t.Errorf("%s has %d bytes: %v", key, len(text), err)
		}
	}
	if again, err := copied.Check(t.Context()); err != nil || len(again.Faults) > 0 || again.Objects != report.Objects || again.Bytes != report.Bytes {
		t.Errorf("the check of the copy: %+v, %v, want %+v", again, err, report)
	}
	if secret, err := copied.Secrets().Get(t.Context(), store.SecretOwner{Organisation: "org_1", Project: "prj_1"}); err != nil || string(secret) != "token" {
		t.Errorf("the secret is %q, %v", secret, err)
	}
	if _, err := os.Stat(filepath.Join(to, "seed.json")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(to, "fetched")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("fetched is in the copy: %v", err)
	}
	files := 0
	err = filepath.WalkDir(filepath.Join(to, "objects"), func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files++
		}
		return err
	})
	if err != nil || files != report.Objects {
		t.Errorf("the copy has %d files of %d objects: %v", files, report.Objects, err)
	}
	for _, bad := range []string{to, dir, filepath.Join(dir, "copy")} {
		if _, err := beside.Backup(t.Context(), bad); err == nil {
			t.Errorf("a backup into %s is made", bad)
		}
	}
}

// What is damaged is named, by a check and by a backup, which has all that is whole.
func TestCheckNamesDamage(t *testing.T) {
	for _, test := range []struct {
		name, want string
		damage     func(file string) error
	}{
		{"cut", "it has 3 bytes, not 6", func(file string) error { return os.Truncate(file, 3) }},
		{"changed", "its bytes are not those that were stored", func(file string) error { return os.WriteFile(file, []byte("hallo!"), 0o600) }},
		{"gone", "its file is gone", os.Remove},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			l := openFolder(t, dir)
			for _, key := range []string{"a", "b"} {
				if _, err := l.Objects().Put(t.Context(), key, bytes.NewReader([]byte("hello"+key)), store.PutOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if r, err := l.Check(t.Context()); err != nil || len(r.Faults) > 0 || r.Objects != 2 || r.Bytes != 12 {
				t.Fatalf("whole: %+v, %v", r, err)
			}
			files, err := filepath.Glob(filepath.Join(dir, "objects", "??", "*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				if text, err := os.ReadFile(f); err == nil && string(text) == "hellob" {
					if err := test.damage(f); err != nil {
						t.Fatal(err)
					}
				}
			}
			want := []local.Fault{{Key: "b", Reason: test.want}}
			if r, err := l.Check(t.Context()); err != nil || fmt.Sprint(r.Faults) != fmt.Sprint(want) {
				t.Errorf("the check says %+v, %v", r.Faults, err)
			}
			to := t.TempDir()
			if r, err := l.Backup(t.Context(), to); err != nil || fmt.Sprint(r.Faults) != fmt.Sprint(want) {
				t.Errorf("the backup says %+v, %v", r.Faults, err)
			}
			if _, err := openFolder(t, to).Objects().Stat(t.Context(), "a"); err != nil {
				t.Error(err)
			}
		})
	}
}

// A database that is none is refused with the way out, by all that open it.
func TestNoDatabaseIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bindery.db"), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := local.Open(t.Context(), local.Options{Dir: dir})
	if !errors.Is(err, local.ErrDamaged) || !strings.Contains(err.Error(), "bindery backup") {
		t.Errorf("%v", err)
	}
}

func openFolder(t *testing.T, dir string) *local.Local {
	t.Helper()
	l, err := local.Open(t.Context(), local.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(context.Background()) })
	return l
}
