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
	first := w.time()
	note := func(n int, org, operation string) {
		t.Helper()
		for range 1 + n%2 { // a request that is noted again
			if err := w.MeterCall(w.ctx, fmt.Sprint("req_", n), org, operation); err != nil {
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
	w.advance(32 * 24 * time.Hour)
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
		{x.caller.OrganisationID, w.time(), admin.Calls{Total: 1, ByOperation: map[string]int64{"startExport": 1}}},
		{y.caller.OrganisationID, first, admin.Calls{Total: 230, ByOperation: map[string]int64{"getExport": 115, "startExport": 115}}},
		{y.caller.OrganisationID, w.time(), admin.Calls{Total: 50, ByOperation: map[string]int64{"startExport": 50}}},
		{"org_other", w.time(), admin.Calls{}},
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
