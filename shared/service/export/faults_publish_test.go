package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/snapshot"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"
)

// One fault at each call that publishing makes of a port: one more snapshot is
// there, the newest, and a sweep leaves all of it. TestOneFaultAtEachCall says
// which cases are run.
func TestOneFaultWhilePublishing(t *testing.T) {
	before := t.TempDir()
	w := openWorld(t, before)
	first := w.publish(t, sampleSite(4))
	w.close(t)
	sound := publishWithFaults(t, before, first, nil)
	slices.Sort(sound) // some are made at the same time
	eachCall(t, sound, func(t *testing.T, plan map[string]storetest.Fault) { publishWithFaults(t, before, first, plan) })
}

// publishWithFaults publishes a site on the first snapshot, checks what is left,
// and returns the calls that were made.
func publishWithFaults(t *testing.T, before string, first admin.Snapshot, plan map[string]storetest.Fault) []string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(before)); err != nil {
		t.Fatal(err)
	}
	f := withFaults(openWorld(t, dir), plan)
	w, ctx, site := f.w, context.Background(), sampleSite(7)
	open := func(p string) (io.ReadCloser, error) { return site.Open(p) }
	var files []snapshot.File
	for p, file := range site {
		sum := sha256.Sum256(file.Data)
		files = append(files, snapshot.File{Path: p, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(file.Data))})
	}
	packs, err := snapshot.NewPlan(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := packs.Seal(ctx, open)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := snapshot.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(manifest)
	in := admin.CreateSnapshot{
		Domain: domain, Manifest: admin.Blob{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(manifest))}, IdempotencyKey: "create",
	}
	for _, p := range m.Packs {
		in.Packs = append(in.Packs, admin.Blob(p))
	}

	latest := func(ctx context.Context) (admin.Snapshot, error) {
		return f.admin.LatestSnapshot(ctx, w.caller, domain)
	}
	in.Base = call(t, f, latest).ID
	if in.Base != first.ID {
		t.Fatalf("the newest is %s, want %s", in.Base, first.ID)
	}
	pending := call(t, f, func(ctx context.Context) (admin.PendingSnapshot, error) {
		return f.admin.CreateSnapshot(ctx, w.caller, in)
	})
	// Callers upload by links, without a function.
	for _, p := range packs.New {
		r := p.Reader(ctx, open)
		_, err := w.objects.Put(ctx, pending.PackKey(p.SHA256), r, store.PutOptions{SHA256: p.SHA256})
		if r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.objects.Put(ctx, pending.ManifestKey(), bytes.NewReader(manifest), store.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	published := call(t, f, func(ctx context.Context) (admin.Snapshot, error) {
		return f.admin.Publish(ctx, w.caller, admin.Publish{
			Domain: domain, SnapshotID: pending.ID, IdempotencyKey: "publish",
			Check: func(ctx context.Context, p admin.Snapshot) (admin.Contents, error) {
				body, err := f.objects.Get(ctx, p.ManifestKey(), 0, -1)
				if err != nil {
					return admin.Contents{}, err
				}
				defer body.Close()
				m, err := snapshot.Decode(body)
				if err != nil {
					return admin.Contents{}, err
				}
				return admin.Contents{Files: len(m.Entries), Bytes: m.Bytes(), Packs: in.Packs}, snapshot.Verify(ctx, f.objects, p.PackKey, m)
			},
		})
	})
	newest := call(t, f, latest)
	f.faults.Release()

	hit := f.faults.Hit()
	if len(plan) > 0 && len(hit) == 0 {
		t.Errorf("no call of %v was made", plan)
	}
	if newest.ID != pending.ID || published.ID != pending.ID || newest.Status != admin.SnapshotPublished || newest.Base != first.ID || newest.Files != len(site) {
		t.Errorf("the newest is %+v, and %s was published, after %q", newest, pending.ID, hit)
	}
	var kept []string
	if err := w.admin.KeptSnapshots(ctx, w.caller.OrganisationID, func(s admin.Snapshot) error {
		kept = append(kept, s.ID)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(kept)
	if want := []string{first.ID, pending.ID}; !slices.Equal(kept, slices.Sorted(slices.Values(want))) {
		t.Errorf("the snapshots are %v, after %q", kept, hit)
	}
	w.now = w.now.Add(72 * time.Hour) // longer than what was not published is kept
	if err := w.keeper().Sweep(ctx); err != nil {
		t.Errorf("sweep: %v, after %q", err, hit)
	}
	if err := snapshot.Verify(ctx, w.objects, newest.PackKey, m); err != nil {
		t.Errorf("%v, after %q", err, hit)
	}
	if after, err := w.admin.LatestSnapshot(ctx, w.caller, domain); err != nil || after.ID != newest.ID {
		t.Errorf("the newest is %s, %v, after a sweep and %q", after.ID, err, hit)
	}
	return f.faults.Log()
}
