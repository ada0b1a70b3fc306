package dashboard

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/shared/service/store"
)

type snapshotsView struct {
	Project   admin.Project
	Snapshots []snapshotRow
	Newest    string
	Next      string
}

type snapshotRow struct {
	admin.Snapshot
	By string
	// MoreFiles and MoreBytes are how many more it has than the one before it; Before
	// reports whether there is one.
	MoreFiles, MoreBytes string
	Before               bool
}

// signed writes a difference.
func signed(n int64, text func(int64) string) string {
	switch {
	case n < 0:
		return "−" + text(-n)
	case n == 0:
		return "±0"
	}
	return "+" + text(n)
}

func snapshotsPage(q *request) error {
	p, err := q.project()
	if err != nil {
		return err
	}
	// One more than is shown: the last has one before it, too.
	list, err := q.admin().ListSnapshots(q.ctx(), q.caller, p.Domain, q.value("cursor"), pageLimit+1)
	if err != nil {
		return err
	}
	v := snapshotsView{Project: p, Newest: list.Newest, Next: list.Next}
	publishers := q.publishers()
	for i, s := range list.Snapshots {
		if i == pageLimit {
			v.Next = list.Snapshots[i-1].ID
			break
		}
		row := snapshotRow{Snapshot: s}
		if row.By, err = publishers(s.PublishedBy); err != nil {
			return err
		}
		if i+1 < len(list.Snapshots) {
			before := list.Snapshots[i+1]
			row.Before = true
			row.MoreFiles = signed(int64(s.Files-before.Files), func(n int64) string { return count(n, "file", "files") })
			row.MoreBytes = signed(s.Bytes-before.Bytes, size)
		}
		v.Snapshots = append(v.Snapshots, row)
	}
	return q.page("snapshots", "Snapshots of "+p.Domain, v)
}

// publishers returns who published a snapshot or started an export, by id: people by
// name, keys by theirs for those who may see keys. Each is read once.
func (q *request) publishers() func(id string) (string, error) {
	names, keys := q.names(), map[string]string{}
	return func(id string) (string, error) {
		switch {
		case id == "":
			return "", nil
		case !admin.IsKey(id):
			return names(id)
		case !q.may(admin.ActionKeys):
			return "a key", nil
		}
		if _, ok := keys[id]; !ok {
			k, err := q.as().Key(q.ctx(), id)
			if err != nil && admin.CodeOf(err) != admin.CodeNotFound {
				return "", err
			}
			if keys[id] = "key " + k.Name; k.Name == "" {
				keys[id] = "key " + id
			}
		}
		return keys[id], nil
	}
}

const (
	// maxChanges is how many files a page of changes names.
	maxChanges = 500
	// changesPatience is how long reading two lists of files may take.
	changesPatience = 5 * time.Second
)

type snapshotView struct {
	Project admin.Project
	admin.Snapshot
	By      string
	Newest  string
	Changes []fileChange
	// Added, Changed and Removed count all of them, More those that are not named.
	Added, Changed, Removed, More int
	// Why is the reason that no changes are shown; empty where they are.
	Why string
}

// fileChange is a file that differs from the snapshot before.
type fileChange struct {
	Kind, Path string
	More       string // size
}

func snapshotPage(q *request) error {
	p, err := q.project()
	if err != nil {
		return err
	}
	v := snapshotView{Project: p}
	if v.Snapshot, err = q.admin().Snapshot(q.ctx(), q.caller, p.ID, q.r.PathValue("snapshot")); err != nil {
		return err
	}
	if v.By, err = q.publishers()(v.PublishedBy); err != nil {
		return err
	}
	newest, err := q.admin().LatestSnapshot(q.ctx(), q.caller, p.Domain)
	if err != nil {
		return err
	}
	v.Newest = newest.ID
	if err := q.addChanges(&v); err != nil {
		return err
	}
	return q.page("snapshot", "Snapshot of "+p.Domain, v)
}

// addChanges compares a snapshot with the one that it was based on.
func (q *request) addChanges(v *snapshotView) error {
	if v.Base == "" {
		v.Why = "It is the first of the domain."
		return nil
	}
	before, err := q.admin().Snapshot(q.ctx(), q.caller, v.Project.ID, v.Base)
	switch {
	case admin.CodeOf(err) == admin.CodeNotFound:
		v.Why = "The one that it is based on is no longer kept."
		return nil
	case err != nil:
		return err
	case q.d.opt.Objects == nil || v.Manifest.Size > maxLineManifest || before.Manifest.Size > maxLineManifest:
		v.Why = "The site has too many files to compare them here."
		return nil
	}
	ctx, cancel := context.WithTimeout(q.ctx(), cmp.Or(q.d.opt.ReadTime, changesPatience))
	defer cancel()
	old, err := q.manifest(ctx, before)
	var now *snapshot.Manifest
	if err == nil {
		now, err = q.manifest(ctx, v.Snapshot)
	}
	if err != nil {
		if !errors.Is(err, store.ErrNotFound) {
			q.d.opt.Log.WarnContext(q.ctx(), "two snapshots were not compared", "snapshot", v.ID, "error", err)
		}
		v.Why = "The lists of files can't be read at the moment."
		return nil
	}
	v.compare(old, now)
	return nil
}

// compare adds what differs between two lists of files, which are sorted.
func (v *snapshotView) compare(old, now *snapshot.Manifest) {
	add := func(kind, path string, n *int, more int64) {
		if *n++; len(v.Changes) == maxChanges {
			v.More++
			return
		}
		v.Changes = append(v.Changes, fileChange{kind, path, signed(more, size)})
	}
	for i, j := 0, 0; i < len(old.Entries) || j < len(now.Entries); {
		switch {
		case j == len(now.Entries) || i < len(old.Entries) && old.Entries[i].Path < now.Entries[j].Path:
			add("removed", old.Entries[i].Path, &v.Removed, -old.Entries[i].Size)
			i++
		case i == len(old.Entries) || now.Entries[j].Path < old.Entries[i].Path:
			add("added", now.Entries[j].Path, &v.Added, now.Entries[j].Size)
			j++
		default:
			if old.Entries[i].SHA256 != now.Entries[j].SHA256 {
				add("changed", now.Entries[j].Path, &v.Changed, now.Entries[j].Size-old.Entries[i].Size)
			}
			i, j = i+1, j+1
		}
	}
}

// manifest reads the list of a snapshot's files.
func (q *request) manifest(ctx context.Context, p admin.Snapshot) (*snapshot.Manifest, error) {
	body, err := q.d.opt.Objects.Get(ctx, p.ManifestKey(), 0, p.Manifest.Size)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return snapshot.Decode(body)
}

func restorePage(q *request) error {
	p, err := q.project()
	if err != nil {
		return err
	}
	base := q.value("base")
	return q.page("ask", "Make this snapshot the newest again?", question{
		Text: "The next export of " + p.Domain + " is made from " + q.r.PathValue("snapshot") +
			", and the next publish is based on it. Nothing is removed: you can come back.",
		Action: q.path("projects", p.ID, "snapshots", q.r.PathValue("snapshot"), "restore"), Yes: "Make it the newest",
		No: q.path("projects", p.ID, "snapshots"), Fields: map[string]string{"base": base},
	})
}

func restoreSnapshot(q *request) error {
	p, err := q.project()
	if err != nil {
		return err
	}
	_, err = q.admin().RestoreSnapshot(q.ctx(), q.caller, admin.RestoreSnapshot{
		Domain: p.Domain, SnapshotID: q.r.PathValue("snapshot"), Base: q.value("base"),
	})
	if admin.CodeOf(err) == admin.CodeOvertaken {
		err = admin.Errorf(admin.CodeOvertaken, "another snapshot has become the newest since you looked; look again")
	}
	if err != nil {
		return err
	}
	return q.leave(q.path("projects", p.ID, "snapshots"), "restored")
}
