package local_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/local"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// crashDir tells the test's own program to be the process that is killed.
const crashDir = "BINDERY_TEST_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		if err := writeUntilKilled(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func put(sk string, revision int64, value string) store.Record {
	return store.Record{Key: store.Key{PK: "p", SK: sk}, Revision: revision, Value: []byte(value)}
}

// writeUntilKilled writes records and objects for ever, and says on standard
// output which are done. It also starts an execution that does not end.
func writeUntilKilled(dir string) error {
	ctx := context.Background()
	l, err := local.Open(ctx, local.Options{Dir: dir})
	if err != nil {
		return err
	}
	if err := l.Runner().Resume(ctx, hangingTasks(nil), local.RunnerOptions{}); err != nil {
		return err
	}
	if err := l.Runner().Start(ctx, store.WorkflowExport, "exp_1", []byte(`{"jobId":"exp_1"}`)); err != nil {
		return err
	}
	for n := 0; ; n++ {
		pair := []store.Record{put("left", int64(n), fmt.Sprint(n)), put("right", int64(n), fmt.Sprint(n))}
		if err := l.Store().Write(ctx, pair, nil); err != nil {
			return err
		}
		text := strings.Repeat(fmt.Sprintf("%d ", n), 50_000)
		if _, err := l.Objects().Put(ctx, "object", strings.NewReader(text), store.PutOptions{}); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// What was done before a kill -9 is there after it, and nothing is there half.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), crashDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said int64
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, err := fmt.Sscan(lines.Text(), &said); err != nil {
			t.Fatal(err)
		}
		if said == 30 {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || said < 30 {
		t.Fatalf("the process has ended by itself: %v, after %d", err, said)
	}

	l := open(t, dir)
	ctx := t.Context()
	left, err1 := l.Store().Get(ctx, store.Key{PK: "p", SK: "left"})
	right, err2 := l.Store().Get(ctx, store.Key{PK: "p", SK: "right"})
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if left.Revision != right.Revision || string(left.Value) != string(right.Value) || left.Revision < said+1 {
		t.Errorf("records at %s (revision %d) and %s (%d), done were %d", left.Value, left.Revision, right.Value, right.Revision, said)
	}
	body := readAll(t, l, "object")
	var n int64
	if _, err := fmt.Sscan(body, &n); err != nil || n < said || body != strings.Repeat(fmt.Sprintf("%d ", n), 50_000) {
		t.Errorf("the object is of %d bytes and begins with %.20q, done were %d", len(body), body, said)
	}
	// The killed process no longer holds the lock, and its execution begins again.
	begun := make(chan string, 10)
	if err := l.Runner().Resume(ctx, hangingTasks(begun), local.RunnerOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, begun); got != "exp_1" {
		t.Errorf("%q begins again", got)
	}
}

func TestFolderWithAnyName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?c=d#e%41&", "ü")
	l := open(t, dir)
	if err := l.Store().Write(t.Context(), []store.Record{put("a", 0, `1`)}, nil); err != nil {
		t.Fatal(err)
	}
	shut(t, l)
	if _, err := os.Stat(filepath.Join(dir, "bindery.db")); err != nil {
		t.Error(err)
	}
	if _, err := open(t, dir).Store().Get(t.Context(), store.Key{PK: "p", SK: "a"}); err != nil {
		t.Error(err)
	}
}

func TestFilesAreForTheOwnerAlone(t *testing.T) {
	for name, made := range map[string]bool{"a new folder": false, "a folder that others may enter": true} {
		t.Run(name, func(t *testing.T) { ownersFiles(t, made) })
	}
}

func ownersFiles(t *testing.T, made bool) {
	dir := filepath.Join(t.TempDir(), "data")
	if made {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l := open(t, dir)
	if _, err := l.Objects().Put(t.Context(), "a/b", strings.NewReader("x"), store.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 && !(made && path == dir) {
			t.Errorf("%s: %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestOpenNeedsAFolder(t *testing.T) {
	if _, err := local.Open(t.Context(), local.Options{}); err == nil {
		t.Error("no folder: no error")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := local.Open(t.Context(), local.Options{Dir: file}); err == nil {
		t.Error("a file: no error")
	}
}

func TestFolderOfANewerVersionIsRefused(t *testing.T) {
	dir := t.TempDir()
	shut(t, open(t, dir))
	db, err := sql.Open("sqlite", filepath.Join(dir, "bindery.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec("PRAGMA user_version = 1000")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := local.Open(t.Context(), local.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("got %v", err)
	}
}

// TestFolderOfTheFirstFormat: executions that an older program left are those of
// the export, and run on.
func TestFolderOfTheFirstFormat(t *testing.T) {
	dir := t.TempDir()
	shut(t, open(t, dir))
	db, err := sql.Open("sqlite", filepath.Join(dir, "bindery.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`DROP TABLE executions;
CREATE TABLE executions (name TEXT PRIMARY KEY, input BLOB NOT NULL, state TEXT NOT NULL, started INTEGER NOT NULL,
	stopped INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '', cause TEXT NOT NULL DEFAULT '', told INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE INDEX executions_open ON executions (state) WHERE told = 0;
INSERT INTO executions (name, input, state, started) VALUES ('exp_1', '{"jobId":"exp_1"}', 'RUNNING', 1);
PRAGMA user_version = 1`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir)
	resume(t, l, workingTasks(), fast)
	until(t, l.Runner(), "exp_1", store.Succeeded)
	shut(t, l)
	if err := open(t, dir).Runner().Start(t.Context(), store.WorkflowAgent, "exp_1", []byte(`{}`)); err != nil {
		t.Error(err)
	}
}

// Two processes, as a server and an operator command are: here two opens of
// one folder, which share nothing but its files.
func TestWritersOfSeveralProcesses(t *testing.T) {
	dir := t.TempDir()
	const processes, workers, each = 3, 5, 10
	var wg sync.WaitGroup
	first := open(t, dir)
	if err := first.Store().Write(t.Context(), []store.Record{put("count", 0, `0`)}, nil); err != nil {
		t.Fatal(err)
	}
	for range processes {
		l := open(t, dir)
		for range workers {
			wg.Go(func() {
				for done := 0; done < each; {
					r, err := l.Store().Get(t.Context(), store.Key{PK: "p", SK: "count"})
					if err != nil {
						t.Error(err)
						return
					}
					var n int
					if _, err := fmt.Sscan(string(r.Value), &n); err != nil {
						t.Error(err)
						return
					}
					err = l.Store().Write(t.Context(), []store.Record{put("count", r.Revision, fmt.Sprint(n+1))}, nil)
					var conflict *store.ConflictError
					switch {
					case err == nil:
						done++
					case !errors.As(err, &conflict):
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	r, err := first.Store().Get(t.Context(), store.Key{PK: "p", SK: "count"})
	if want := fmt.Sprint(processes * workers * each); err != nil || string(r.Value) != want {
		t.Errorf("got %s, %v; want %s", r.Value, err, want)
	}
}

// Of many opens of a new folder all see the same database and sign alike.
func TestOpenedAtOnce(t *testing.T) {
	dir := t.TempDir()
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		links = map[string]bool{}
	)
	now := time.Now()
	for range 8 {
		wg.Go(func() {
			l, err := local.Open(t.Context(), local.Options{Dir: dir, BaseURL: "http://x", Now: func() time.Time { return now }, LockWait: 5 * time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			link, err := l.Objects().PresignGet(t.Context(), "k", "", time.Minute)
			if err := errors.Join(err, l.Close(context.Background())); err != nil {
				t.Error(err)
			}
			mu.Lock()
			links[link.URL] = true
			mu.Unlock()
		})
	}
	wg.Wait()
	if len(links) != 1 {
		t.Errorf("%d different links", len(links))
	}
}

// clock is a time that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }

func (c *clock) Add(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }

func TestExpiry(t *testing.T) {
	ctx := t.Context()
	c := &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	dir := t.TempDir()
	l, err := local.Open(ctx, local.Options{Dir: dir, Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, l)
	end := c.Now().Add(time.Minute)
	rec := put("e", 0, `1`)
	rec.ExpiresAt, rec.Active = end, "active"
	if err := l.Store().Write(ctx, []store.Record{rec, put("stays", 0, `1`)}, nil); err != nil {
		t.Fatal(err)
	}
	seen := func() (n int) {
		if _, err := l.Store().Get(ctx, rec.Key); err == nil {
			n++
		}
		for _, q := range []store.Query{{PK: "p", Prefix: "e"}, {Index: store.ByActive}} {
			page, err := l.Store().Query(ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			n += len(page.Records)
		}
		return n
	}
	c.Add(59 * time.Second)
	if n := seen(); n != 3 {
		t.Errorf("before its end: seen %d times", n)
	}
	c.Add(time.Second)
	if n := seen(); n != 0 {
		t.Errorf("at its end: seen %d times", n)
	}
	var conflict *store.ConflictError
	if err := l.Store().Write(ctx, nil, []store.Delete{{Key: rec.Key, Revision: 1}}); !errors.As(err, &conflict) {
		t.Errorf("a delete of what has expired: %v", err)
	}
	if err := l.Store().Write(ctx, []store.Record{rec}, nil); err != nil {
		t.Errorf("a new record in place of one that has expired: %v", err)
	}
	// This record has expired as it was written: the next write removes its row.
	if err := l.Store().Write(ctx, []store.Record{put("other", 0, `1`)}, nil); err != nil {
		t.Fatal(err)
	}
	shut(t, l)
	db, err := sql.Open("sqlite", filepath.Join(dir, "bindery.db"))
	if err != nil {
		t.Fatal(err)
	}
	var rows int
	err = db.QueryRow("SELECT count(*) FROM records").Scan(&rows)
	if err := errors.Join(err, db.Close()); err != nil || rows != 2 {
		t.Errorf("%d rows, %v; want 2", rows, err)
	}
}

// FuzzCursor holds that a cursor from outside gives a page or an error.
func FuzzCursor(f *testing.F) {
	l, err := local.Open(f.Context(), local.Options{Dir: f.TempDir()})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = l.Close(context.Background()) })
	for i := range 5 {
		r := put(fmt.Sprint(i), 0, `1`)
		r.Active = "a"
		if err := l.Store().Write(f.Context(), []store.Record{r}, nil); err != nil {
			f.Fatal(err)
		}
	}
	for _, q := range []store.Query{{PK: "p", Limit: 2}, {Index: store.ByActive, Limit: 2}} {
		page, err := l.Store().Query(f.Context(), q)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(page.Cursor)
	}
	f.Add("e30")
	f.Add("eyJxIjpbIiIsInAiLCIiLCJhc2MiXSwiYXQiOltudWxsXX0")
	f.Fuzz(func(t *testing.T, cursor string) {
		for _, q := range []store.Query{{PK: "p"}, {Index: store.ByActive}, {PK: "p", Descending: true}} {
			q.Cursor = cursor
			page, err := l.Store().Query(t.Context(), q)
			if err == nil && len(page.Records) > 5 {
				t.Errorf("%d records", len(page.Records))
			}
		}
	})
}

// BenchmarkWrite is one record a transaction, synced.
func BenchmarkWrite(b *testing.B) {
	l, err := local.Open(b.Context(), local.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close(context.Background()) }()
	n := 0
	for b.Loop() {
		if err := l.Store().Write(b.Context(), []store.Record{put(fmt.Sprint(n), 0, `{"a":1}`)}, nil); err != nil {
			b.Fatal(err)
		}
		n++
	}
}

// BenchmarkGet is one consistent read.
func BenchmarkGet(b *testing.B) {
	l, err := local.Open(b.Context(), local.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close(context.Background()) }()
	if err := l.Store().Write(b.Context(), []store.Record{put("a", 0, `{"a":1}`)}, nil); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := l.Store().Get(b.Context(), store.Key{PK: "p", SK: "a"}); err != nil {
			b.Fatal(err)
		}
	}
}
