package admin_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// TestCallsCountOnce notes calls of several organisations and two months, some
// of them twice, and has four settle them at the same time while others are
// noted.
func TestCallsCountOnce(t *testing.T) {
	w := newWorld(t)
	x, y := w.tenant("x.example.com"), w.tenant("y.example.com")
	first := w.Time()
	note := func(n int, org, operation string) {
		t.Helper()
		for range 1 + n%2 { // a request that is noted again
			if err := w.MeterCall(w.ctx, fmt.Sprint("req_", n), org, "", operation); err != nil {
				t.Fatal(err)
			}
		}
	}
	n := 0
	for range 230 { // more than two transactions take
		note(n, x.caller.OrganisationID, "getExport")
		note(n+1, y.caller.OrganisationID, []string{"getExport", "startExport"}[n%4/2])
		n += 2
	}
	w.Advance(32 * 24 * time.Hour)
	note(n, x.caller.OrganisationID, "startExport")

	var settling sync.WaitGroup
	settled := make([]int, 4)
	for i := range settled {
		settling.Go(func() {
			var err error
			if settled[i], err = w.SettleCalls(w.ctx); err != nil {
				t.Error(err)
			}
		})
	}
	for i := range 50 {
		note(10_000+2*i, y.caller.OrganisationID, "startExport")
	}
	settling.Wait()
	rest, err := w.SettleCalls(w.ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range settled {
		rest += s
	}
	if rest != 460+1+50 {
		t.Errorf("%d calls were settled, want 511", rest)
	}
	for _, c := range []struct {
		org  string
		at   time.Time
		want admin.Calls
	}{
		{x.caller.OrganisationID, first, admin.Calls{Total: 230, ByOperation: map[string]int64{"getExport": 230}}},
		{x.caller.OrganisationID, w.Time(), admin.Calls{Total: 1, ByOperation: map[string]int64{"startExport": 1}}},
		{y.caller.OrganisationID, first, admin.Calls{Total: 230, ByOperation: map[string]int64{"getExport": 115, "startExport": 115}}},
		{y.caller.OrganisationID, w.Time(), admin.Calls{Total: 50, ByOperation: map[string]int64{"startExport": 50}}},
		{"org_other", w.Time(), admin.Calls{}},
	} {
		got, err := w.Calls(w.ctx, c.org, c.at)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s in %s:\n%s", c.org, c.at.Format("2006-01"), d)
		}
	}
	if left, err := w.store.Query(w.ctx, store.Query{PK: "calls#00"}); err != nil || len(left.Records) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// TestKeysKnowTheHourOfTheirLastUse: a busy key's row is written once an hour, and
// a call that is settled late changes nothing.
func TestKeysKnowTheHourOfTheirLastUse(t *testing.T) {
	w := newWorld(t)
	x := w.tenant("x.example.com")
	org := x.caller.OrganisationID
	k, _, err := w.CreateKey(w.ctx, admin.KeyRequest{Organisation: org, Name: "pipeline"})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	call := func(key string) {
		t.Helper()
		n++
		if err := w.MeterCall(w.ctx, fmt.Sprint("req_", n), org, key, "getExport"); err != nil {
			t.Fatal(err)
		}
	}
	settled := func() (time.Time, int64) {
		t.Helper()
		if _, err := w.SettleCalls(w.ctx); err != nil {
			t.Fatal(err)
		}
		keys, err := w.ListKeys(w.ctx, org)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := w.store.Get(w.ctx, store.Key{PK: "org#" + org, SK: "key#" + k.ID})
		if err != nil {
			t.Fatal(err)
		}
		for _, listed := range keys {
			if listed.ID == k.ID {
				return listed.UsedAt, rec.Revision
			}
		}
		t.Fatal("the key is not listed")
		return time.Time{}, 0
	}
	if at, _ := settled(); !at.IsZero() {
		t.Errorf("a key that nobody used was used at %s", at)
	}
	hour := w.Time().Truncate(time.Hour)
	for range 150 {
		call(k.ID)
	}
	call("key_gone") // of an operator who removed its row
	if at, revision := settled(); !at.Equal(hour) || revision != 2 {
		t.Errorf("used at %s, revision %d; want %s, 2", at, revision, hour)
	}
	w.Advance(time.Minute)
	call(k.ID)
	if at, revision := settled(); !at.Equal(hour) || revision != 2 {
		t.Errorf("in the same hour: used at %s, revision %d", at, revision)
	}
	w.Advance(time.Hour)
	call(k.ID)
	w.Advance(-time.Hour)
	call(k.ID)
	if at, revision := settled(); !at.Equal(hour.Add(time.Hour)) || revision != 3 {
		t.Errorf("in the next hour: used at %s, revision %d", at, revision)
	}
	if shown, err := w.As(w.Operator(org)).Key(w.ctx, k.ID); err != nil || shown.UsedAt.IsZero() {
		t.Errorf("one key: %+v, %v", shown, err)
	}
}
