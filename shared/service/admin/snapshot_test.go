package admin_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/shared/service/storetest"
	"github.com/bindery-docs/bindery/tests/outside"
)

func TestOnlyWhatIsMissingIsUploaded(t *testing.T) {
	w := newWorld(t)
	x, other := w.tenant("docs.example.com"), w.tenant("other.example.com")
	data := []byte("a pack")
	sum := sha256.Sum256(data)
	there := admin.Blob{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))}
	if _, err := w.objects.Put(w.ctx, admin.PackKey(x.ID, there.SHA256), bytes.NewReader(data), store.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	in := admin.CreateSnapshot{
		Domain: x.project.Domain, Manifest: admin.Blob{SHA256: digest("a"), Size: 10},
		Packs: []admin.Blob{{SHA256: digest("b"), Size: 20}, there, {SHA256: digest("b"), Size: 20}},
	}
	kinds := func(c tenant) []admin.UploadKind {
		in.Domain = c.project.Domain
		p, err := w.CreateSnapshot(w.ctx, c.caller, in)
		want(t, err, "")
		var kinds []admin.UploadKind
		for _, u := range p.Uploads {
			if u.Link.URL == "" || u.Link.ExpiresAt.IsZero() {
				t.Errorf("%s has no link", u.Kind)
			}
			kinds = append(kinds, u.Kind)
		}
		return kinds
	}
	if got := kinds(x); !slices.Equal(got, []admin.UploadKind{admin.UploadPack, admin.UploadManifest}) {
		t.Errorf("uploads are %v", got)
	}
	// Another organisation's packs are nobody's business.
	if got := kinds(other); len(got) != 3 {
		t.Errorf("uploads of another organisation are %v", got)
	}
	in.Domain = x.project.Domain
	in.Packs = []admin.Blob{{SHA256: there.SHA256, Size: 99}}
	_, err := w.CreateSnapshot(w.ctx, x.caller, in)
	want(t, err, admin.CodeInconsistent)
}

func TestSnapshotRequestsAreChecked(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	const most = 5 << 30
	big := func(c string) admin.Blob { return admin.Blob{SHA256: digest(c), Size: most} }
	many := make([]admin.Blob, admin.MaxPacks+1)
	for _, c := range []struct {
		name, code, field string
		change            func(*admin.CreateSnapshot)
	}{
		{"domain", admin.CodeInvalid, "domain", func(in *admin.CreateSnapshot) { in.Domain = "x:1" }},
		{"unknown domain", admin.CodeDomainNotFound, "", func(in *admin.CreateSnapshot) { in.Domain = "x.example.com" }},
		{"base", admin.CodeInvalid, "base", func(in *admin.CreateSnapshot) { in.Base = "exp_1" }},
		{"digest", admin.CodeInvalid, "manifest.sha256", func(in *admin.CreateSnapshot) { in.Manifest.SHA256 = digest("A") }},
		{"size", admin.CodeInvalid, "packs[0].sizeBytes", func(in *admin.CreateSnapshot) { in.Packs = []admin.Blob{{SHA256: digest("b")}} }},
		{"manifest too large", admin.CodeTooLarge, "", func(in *admin.CreateSnapshot) { in.Manifest.Size = admin.MaxManifestBytes + 1 }},
		{"pack too large", admin.CodeTooLarge, "", func(in *admin.CreateSnapshot) { in.Packs = []admin.Blob{{SHA256: digest("b"), Size: most + 1}} }},
		{"too large together", admin.CodeTooLarge, "", func(in *admin.CreateSnapshot) {
			in.Packs = []admin.Blob{big("1"), big("2"), big("3"), big("4"), big("5")}
		}},
		{"large together, but within", "", "", func(in *admin.CreateSnapshot) {
			in.Packs = []admin.Blob{big("1"), big("2"), big("3"), big("4"), big("4")}
		}},
		{"too many", admin.CodeTooLarge, "", func(in *admin.CreateSnapshot) { in.Packs = many }},
		{"two sizes", admin.CodeInconsistent, "", func(in *admin.CreateSnapshot) {
			in.Packs = []admin.Blob{{SHA256: digest("b"), Size: 1}, {SHA256: digest("b"), Size: 2}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := admin.CreateSnapshot{Domain: x.project.Domain, Manifest: admin.Blob{SHA256: digest("a"), Size: 10}}
			c.change(&in)
			_, err := w.CreateSnapshot(w.ctx, x.caller, in)
			if c.field != "" {
				wantField(t, err, c.field)
				return
			}
			want(t, err, c.code)
		})
	}
}

// TestTheLargestSnapshotFitsIntoARecord: as many packs as are allowed.
func TestTheLargestSnapshotFitsIntoARecord(t *testing.T) {
	outside.NoRace(t, "it makes one call after another")
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	in := admin.CreateSnapshot{Domain: x.project.Domain, Manifest: admin.Blob{SHA256: digest("a"), Size: admin.MaxManifestBytes}}
	for i := range admin.MaxPacks {
		sum := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
		in.Packs = append(in.Packs, admin.Blob{SHA256: hex.EncodeToString(sum[:]), Size: admin.MaxSnapshotBytes / admin.MaxPacks})
	}
	p, err := w.CreateSnapshot(w.ctx, x.caller, in)
	want(t, err, "")
	if len(p.Uploads) != admin.MaxPacks+1 {
		t.Errorf("%d uploads", len(p.Uploads))
	}
}

func TestPublishing(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	publish := func(id string) (admin.Snapshot, error) {
		return w.Publish(w.ctx, x.caller, admin.Publish{Domain: x.project.Domain, SnapshotID: id, Check: approve})
	}
	_, err := w.LatestSnapshot(w.ctx, x.caller, x.project.Domain)
	want(t, err, admin.CodeNotFound)
	a, rival := w.create(x, ""), w.create(x, "")
	for range 2 { // again is success
		p, err := publish(a.ID)
		if err != nil || p.Status != admin.SnapshotPublished || p.Files != 2 || p.Bytes != 20 {
			t.Fatalf("published %+v, %v", p, err)
		}
	}
	_, err = publish(rival.ID)
	want(t, err, admin.CodeOvertaken)
	w.Advance(time.Second)
	b := w.create(x, a.ID)
	if b.ID <= a.ID {
		t.Errorf("a later snapshot's id %s does not sort after %s", b.ID, a.ID)
	}
	if _, err := publish(b.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := publish(a.ID); err != nil { // and does not turn back
		t.Fatal(err)
	}
	newest, err := w.LatestSnapshot(w.ctx, x.caller, x.project.Domain)
	if err != nil || newest.ID != b.ID {
		t.Errorf("newest is %s, %v", newest.ID, err)
	}
	_, err = publish("snp_none")
	want(t, err, admin.CodeNotFound)

	late := w.create(x, b.ID)
	w.Advance(48 * time.Hour)
	_, err = publish(late.ID)
	want(t, err, admin.CodeNotFound)
}

// The same files do not make a new snapshot, however often they are published, by whom,
// and on top of what: the answer is the newest.
func TestTheSameFilesAreNoNewSnapshot(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	publish := func(id, key string) admin.Snapshot {
		t.Helper()
		p, err := w.Publish(w.ctx, x.caller, admin.Publish{Domain: x.project.Domain, SnapshotID: id, IdempotencyKey: key, Check: approve})
		want(t, err, "")
		return p
	}
	first, rival := w.createOf(x, "", digest("a")), w.createOf(x, "", digest("a"))
	newest := publish(first.ID, "")
	w.Advance(time.Second)
	again := w.createOf(x, newest.ID, digest("a"))
	for range 2 {
		if got := publish(rival.ID, "rival"); got.ID != newest.ID || got.Status != admin.SnapshotPublished {
			t.Errorf("a rival with the same files is %+v", got)
		}
		if got := publish(again.ID, ""); got.ID != newest.ID {
			t.Errorf("the same files again are %+v", got)
		}
	}
	// Other files, and the first ones again: a change, and what was answered stays.
	other := publish(w.createOf(x, newest.ID, digest("b")).ID, "")
	back := publish(w.createOf(x, other.ID, digest("a")).ID, "")
	if back.ID == newest.ID || publish(again.ID, "").ID != newest.ID || publish(rival.ID, "rival").ID != newest.ID {
		t.Error("what was published before is not what it was")
	}
	list, err := w.ListSnapshots(w.ctx, x.caller, x.project.Domain, "", 0)
	if err != nil || len(list.Snapshots) != 3 || list.Newest != back.ID {
		t.Errorf("%d snapshots, the newest is %s, %v", len(list.Snapshots), list.Newest, err)
	}
	// The uploads that came to nothing go as others do.
	w.Advance(49 * time.Hour)
	kept := 0
	err = w.KeptSnapshots(w.ctx, x.ID, func(admin.Snapshot) error { kept++; return nil })
	if kept != 3 || err != nil {
		t.Errorf("%d snapshots are kept, %v", kept, err)
	}
}

// TestOfConcurrentPublishesOneWins and the others are told.
func TestOfConcurrentPublishesOneWins(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	var wg sync.WaitGroup
	var mu sync.Mutex
	var winners []string
	ready := make(chan struct{})
	for range 10 {
		p := w.create(x, "")
		wg.Go(func() {
			_, err := w.Publish(w.ctx, x.caller, admin.Publish{Domain: x.project.Domain, SnapshotID: p.ID,
				Check: func(ctx context.Context, p admin.Snapshot) (admin.Contents, error) {
					<-ready
					return approve(ctx, p)
				}})
			if err != nil {
				want(t, err, admin.CodeOvertaken)
				return
			}
			mu.Lock()
			winners = append(winners, p.ID)
			mu.Unlock()
		})
	}
	close(ready)
	wg.Wait()
	newest, err := w.LatestSnapshot(w.ctx, x.caller, x.project.Domain)
	if err != nil || len(winners) != 1 || winners[0] != newest.ID {
		t.Errorf("winners are %v, newest is %s, %v", winners, newest.ID, err)
	}
}

// A publish that comes twice, such as one that its caller has given up and made
// again, succeeds twice, however the two meet.
func TestTheSamePublishTwiceAtOnce(t *testing.T) {
	for n, met := 1, true; met; n++ {
		w := newWorld(t)
		x := w.tenant("docs.example.com")
		in := admin.Publish{Domain: x.project.Domain, SnapshotID: w.create(x, w.publish(x).ID).ID, Check: approve}
		calls := 0
		met = false
		late := admin.New(admin.Options{Objects: w.objects, Now: w.Time, Store: storetest.AroundStore(w.store,
			func(ctx context.Context, _ *storetest.Call, do func(context.Context) error) error {
				if calls++; calls == n {
					met = true
					_, err := w.Publish(w.ctx, x.caller, in)
					want(t, err, "")
				}
				return do(ctx)
			})})
		if p, err := late.Publish(w.ctx, x.caller, in); err != nil || p.Status != admin.SnapshotPublished {
			t.Errorf("published before call %d, it is told %v", n, err)
		}
	}
}

func (w *world) kept(x tenant) []string {
	w.t.Helper()
	var ids []string
	err := w.KeptSnapshots(w.ctx, x.ID, func(p admin.Snapshot) error { ids = append(ids, p.ID); return nil })
	if err != nil {
		w.t.Fatal(err)
	}
	return ids
}

// TestRetention: uploads go after 48 hours, published snapshots only if the
// operator says so, the newest and any export's never.
func TestRetention(t *testing.T) {
	w := newWorld(t)
	x, other := w.tenant("docs.example.com"), w.tenant("other.example.com")
	exported := w.publish(x)
	w.start(x)
	old := w.publish(x)
	newest := w.publish(x)
	w.Advance(time.Second)
	upload := w.create(x, newest.ID)
	w.publish(other)
	sweep := func(gone int, kept ...string) {
		t.Helper()
		n, err := w.ExpireSnapshots(w.ctx, x.ID)
		if err != nil || n != gone {
			t.Errorf("%d published ones went, %v; want %d", n, err, gone)
		}
		if got := w.kept(x); !slices.Equal(got, kept) {
			t.Errorf("kept are %v, want %v", got, kept)
		}
	}
	sweep(0, exported.ID, old.ID, newest.ID, upload.ID)
	w.Advance(48 * time.Hour)
	if got := w.kept(x); slices.Contains(got, upload.ID) {
		t.Error("an old upload is kept")
	}
	sweep(0, exported.ID, old.ID, newest.ID) // the store lets uploads go itself
	w.Advance(1000 * 24 * time.Hour)
	sweep(0, exported.ID, old.ID, newest.ID)
	if _, err := w.ConfigureProject(w.ctx, x.project.ID, admin.Configuration{Kind: x.project.Kind, Retention: admin.Retention{SnapshotDays: 90}}); err != nil {
		t.Fatal(err)
	}
	sweep(1, exported.ID, newest.ID)
}

// TestASweepAndAPublishDoNotMeet: a snapshot that a sweep could not see is not
// published while the sweep may still delete its packs.
func TestASweepAndAPublishDoNotMeet(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	publish := func(id string) error {
		_, err := w.Publish(w.ctx, x.caller, admin.Publish{Domain: x.project.Domain, SnapshotID: id, Check: approve})
		return err
	}
	var p admin.PendingSnapshot
	err := w.Sweep(w.ctx, x.ID, func(context.Context) error {
		w.Advance(time.Second)
		p = w.create(x, "") // fn has listed already
		want(t, publish(p.ID), admin.CodeTemporary)
		return nil
	})
	want(t, err, "")
	want(t, publish(p.ID), "")

	// One that was there before the sweep is seen by it.
	q := w.create(x, p.ID)
	w.Advance(time.Second)
	err = w.Sweep(w.ctx, x.ID, func(context.Context) error {
		want(t, publish(q.ID), "")
		return nil
	})
	want(t, err, "")

	// One that failed is over a little later: what it asked for last may still
	// be at work.
	failed := w.Sweep(w.ctx, x.ID, func(context.Context) error {
		w.Advance(time.Second)
		p = w.create(x, q.ID)
		return context.Canceled
	})
	want(t, failed, admin.CodeTemporary)
	want(t, publish(p.ID), admin.CodeTemporary)
	w.Advance(time.Minute)
	want(t, publish(p.ID), "")

	// One that died is over when the next one has ended, or when it would have
	// been cut off.
	var r admin.PendingSnapshot
	_ = w.Sweep(w.ctx, x.ID, func(context.Context) error {
		w.Advance(time.Second)
		r = w.create(x, p.ID)
		want(t, publish(r.ID), admin.CodeTemporary)
		want(t, w.Sweep(w.ctx, x.ID, func(context.Context) error { return nil }), "")
		want(t, publish(r.ID), "")
		return nil
	})
	_ = w.Sweep(w.ctx, x.ID, func(context.Context) error {
		w.Advance(time.Second)
		q = w.create(x, r.ID)
		w.Advance(15 * time.Minute)
		want(t, publish(q.ID), admin.CodeTemporary)
		w.Advance(2 * time.Minute)
		want(t, publish(q.ID), "")
		return nil
	})
}

// Where one process does all, a sweep and its round die with it: the next process
// publishes, and sweeps, at once.
func TestASweepDiesWithItsProcess(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("docs.example.com")
	if _, mine, err := w.BeginSweep(w.ctx, time.Hour); !mine || err != nil {
		t.Fatalf("to sweep: %v, %v", mine, err)
	}
	_ = w.Sweep(w.ctx, x.ID, func(context.Context) error {
		w.Advance(time.Second)
		next := admin.New(admin.Options{Store: w.store, Objects: w.objects, Runner: w.runner, Now: w.Time, Since: w.Time()})
		p := w.create(x, "")
		_, err := next.Publish(w.ctx, x.caller, admin.Publish{Domain: x.project.Domain, SnapshotID: p.ID, Check: approve})
		want(t, err, "")
		if round, mine, err := next.BeginSweep(w.ctx, time.Hour); !mine || err != nil || round.Tries != 2 {
			t.Errorf("to sweep after a restart: %v, %v, %+v", mine, err, round)
		}
		if _, mine, err := next.BeginSweep(w.ctx, time.Hour); mine || err != nil {
			t.Errorf("to sweep while it is done: %v, %v", mine, err)
		}
		return nil
	})
}
