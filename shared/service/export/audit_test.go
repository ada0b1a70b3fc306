package export

import (
	"context"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// TestAudit: what a record needs and is not there, or is another, is named; what
// went by age is not a fault.
func TestAudit(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	snapshot := w.publish(t, sampleSite(3))
	started := w.start(t)
	if err := workflowOf(ctx, w.steps(nil), started.ID, 1); err != nil {
		t.Fatal(err)
	}
	done, err := w.admin.FindExport(ctx, started.ID)
	if err != nil || done.Bundle == nil {
		t.Fatalf("%+v %v", done, err)
	}
	// A newer one, which is not looked at: the newest bundle never goes by age.
	w.now = w.now.Add(time.Second)
	if newer := w.start(t); workflowOf(ctx, w.steps(nil), newer.ID, 1) != nil {
		t.Fatal("the newer export is not completed")
	}
	// The records of a table that concern it, and one that is not an export.
	scan := func(ctx context.Context, fn func(store.Record) error) error {
		for _, key := range []store.Key{{PK: "export#" + started.ID, SK: "job"}, {PK: "orgs", SK: w.caller.OrganisationID}} {
			rec, err := w.store.Get(ctx, key)
			if err == nil {
				err = fn(rec)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	audit := func(bundleDays int) job.Audit {
		t.Helper()
		a, err := w.keeper().Audit(ctx, scan, bundleDays)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	whole := job.Audit{Organisations: 1, Snapshots: 1, Exports: 1, Faults: []job.Fault{}}
	if diff := cmp.Diff(whole, audit(0)); diff != "" {
		t.Errorf("whole:\n%s", diff)
	}

	// This record does not say which packs it needs, so the manifest was read.
	// One of today does.
	packs, err := w.objects.List(ctx, admin.PackPrefix(w.caller.OrganisationID), "", 1)
	if err != nil || len(packs) != 1 {
		t.Fatalf("%v %v", packs, err)
	}
	pack := packs[0].Key
	if err := w.admin.NotePacks(ctx, snapshot, []admin.Blob{{SHA256: path.Base(pack), Size: packs[0].Size}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, audit(0)); diff != "" {
		t.Errorf("whole, with its packs in the record:\n%s", diff)
	}

	if err := w.objects.Delete(ctx, done.Bundle.Key); err != nil {
		t.Fatal(err)
	}
	if _, err := w.objects.Put(ctx, pack, strings.NewReader("cut"), store.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := w.objects.Delete(ctx, snapshot.ManifestKey()); err != nil {
		t.Fatal(err)
	}
	got := audit(0)
	reasons := map[string]string{}
	for _, f := range got.Faults {
		reasons[f.Object+" "+f.NeededBy], _, _ = strings.Cut(f.Reason, ",")
	}
	want := map[string]string{
		done.Bundle.Key + " " + done.ID:            "it is not there",
		snapshot.ManifestKey() + " " + snapshot.ID: "it is not there",
		pack + " " + snapshot.ID:                   "it has 3 bytes",
	}
	if diff := cmp.Diff(want, reasons); diff != "" || got.FaultCount != 3 {
		t.Errorf("%d faults:\n%s", got.FaultCount, diff)
	}

	// The sweep removes bundles after ten days, as it should.
	w.now = w.now.Add(11 * 24 * time.Hour)
	if got := audit(10); got.Expired != 1 || got.FaultCount != 2 {
		t.Errorf("after eleven days: %+v", got)
	}
	if got := audit(30); got.Expired != 0 || got.FaultCount != 3 {
		t.Errorf("a bundle of thirty days: %+v", got)
	}
}
