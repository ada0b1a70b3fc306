package kills

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/local"
)

// killLitter is what a data folder may have: all else is left from a process that
// was killed.
var killLitter = regexp.MustCompile(`^(bindery\.db(-wal|-shm)?|env|seed\.json|link-secret|lock|objects|fetched)$`)

// peace looks, once all kills are over, at what a data folder holds: each export
// counted once, no process, no file without a name, and after a sweep three days
// later no object that nothing needs.
func (f *killFolder) peace() {
	f.settle()
	completed := map[string]bool{}
	for _, id := range f.clients {
		completed[id] = true
	}
	for _, o := range f.orders {
		if o.status == "completed" {
			completed[o.id] = true
		}
	}
	c := f.client("usage", "--data", f.data, "--json")
	var used []struct{ Exports int }
	if !c.wait(f.victim) || json.Unmarshal(c.out.Bytes(), &used) != nil || len(used) != 1 {
		f.t.Fatalf("usage: %s%s", c.out.Bytes(), c.err.Bytes())
	}
	if used[0].Exports != len(completed) {
		f.fault(killDifferent, "%d exports are counted, %d were completed", used[0].Exports, len(completed))
	}
	f.stop()
	f.buried()
	if alive := append(processesOf(f.program), processesOf(f.caller)...); len(alive) > 0 {
		f.t.Errorf("processes are left: %v", alive)
	}
	// What a killed process left is removed once it is an hour old, by the next
	// start.
	f.eachObjectFile(func(path string) {
		old := time.Now().Add(-2 * time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			f.t.Fatal(err)
		}
	})
	f.start()
	f.stop()
	entries, err := os.ReadDir(f.data)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range entries {
		if !killLitter.MatchString(e.Name()) {
			f.t.Errorf("%s is left in the data folder", e.Name())
		}
	}
	if fetched, err := os.ReadDir(filepath.Join(f.data, "fetched")); err != nil || len(fetched) > 0 {
		f.t.Errorf("what was fetched from forges is left: %v, %v", fetched, err)
	}
	f.checkObjects(completed)
}

// eachObjectFile calls fn with the path of every file of objects.
func (f *killFolder) eachObjectFile(fn func(path string)) {
	f.t.Helper()
	err := filepath.WalkDir(filepath.Join(f.data, "objects"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			fn(path)
		}
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// checkObjects holds the objects of a stopped server against their rows, and what
// a sweep leaves of them against the records.
func (f *killFolder) checkObjects(completed map[string]bool) {
	ctx := f.t.Context()
	later := func() time.Time { return time.Now().Add(72 * time.Hour) }
	l, err := local.Open(ctx, local.Options{Dir: f.data, Now: later})
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() {
		if err := l.Close(ctx); err != nil {
			f.t.Error(err)
		}
	}()
	files := 0
	f.eachObjectFile(func(string) { files++ })
	if rows := f.readObjects(l); files != len(rows) {
		f.t.Errorf("%d files of objects are left, %d have a row", files, len(rows))
	}
	service := admin.New(admin.Options{Store: l.Store(), Objects: l.Objects(), Runner: l.Runner(), Now: later})
	if err := job.NewKeeper(job.Options{Admin: service, Objects: l.Objects(), Runner: l.Runner(), Now: later}).Sweep(ctx); err != nil {
		f.t.Fatal(err)
	}
	needed := map[string]bool{}
	for id := range completed {
		needed[job.BundleKey(id)], needed[admin.FindingsKey(id)] = true, true
	}
	organisations, err := service.ListOrganisations(ctx)
	if err != nil || len(organisations) != 1 {
		f.t.Fatalf("organisations: %v %v", organisations, err)
	}
	snapshots := 0
	err = service.KeptSnapshots(ctx, organisations[0].ID, func(p admin.Snapshot) error {
		snapshots++
		needed[p.ManifestKey()] = true
		for _, b := range p.Packs {
			needed[p.PackKey(b.SHA256)] = true
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	if snapshots != f.round {
		f.t.Errorf("%d snapshots are published, %d were asked for", snapshots, f.round)
	}
	kept := f.readObjects(l)
	for key := range needed {
		if !kept[key] {
			f.fault(killLost, "the object %s is gone", key)
		}
	}
	for key := range kept {
		id := path.Base(path.Dir(key))
		if key == admin.FindingsKey(id) {
			if j, err := service.FindExport(ctx, id); err == nil && j.Status == admin.ExportFailed {
				continue // what it had found by then
			}
		}
		if j, err := service.FindExport(ctx, id); err == nil && key == admin.ChangesKey(id) && j.Status == admin.ExportCompleted {
			continue
		}
		if !needed[key] {
			f.t.Errorf("after a sweep there is the object %s, which nothing needs", key)
		}
	}
}

// readObjects reads every object, each of which must have the bytes that its row
// promises.
func (f *killFolder) readObjects(l *local.Local) map[string]bool {
	f.t.Helper()
	ctx := f.t.Context()
	all := map[string]bool{}
	for after := ""; ; {
		list, err := l.Objects().List(ctx, "", after, 0)
		if err != nil {
			f.t.Fatal(err)
		}
		if len(list) == 0 {
			return all
		}
		for _, o := range list {
			after, all[o.Key] = o.Key, true
			body, err := l.Objects().Get(ctx, o.Key, 0, -1)
			if err != nil {
				f.fault(killLost, "the object %s: %v", o.Key, err)
				continue
			}
			sum := sha256.New()
			n, err := io.Copy(sum, body)
			_ = body.Close()
			if err != nil || n != o.Size || hex.EncodeToString(sum.Sum(nil)) != o.SHA256 {
				f.fault(killDifferent, "the object %s has %d bytes (%v) that are not those of its row", o.Key, n, err)
			}
		}
	}
}
