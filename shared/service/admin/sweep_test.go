package admin_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Of all who ask at once, in whatever process, one sweeps; the next round begins
// when the interval is over, not before.
func TestSweepsAreFarApart(t *testing.T) {
	w := newWorld(t)
	var wg sync.WaitGroup
	var told atomic.Int32
	var mine admin.SweepRound
	for range 10 {
		wg.Go(func() {
			round, ok, err := w.BeginSweep(w.ctx, time.Hour)
			want(t, err, "")
			if ok {
				told.Add(1)
				mine = round
			}
		})
	}
	wg.Wait()
	if n := told.Load(); n != 1 {
		t.Fatalf("%d were told to sweep", n)
	}
	mine.FinishedAt = w.Time()
	want(t, w.NoteSweep(w.ctx, &mine), "")
	for _, after := range []struct {
		time.Duration
		due bool
	}{{59 * time.Minute, false}, {time.Minute, true}, {time.Second, false}} {
		w.Advance(after.Duration)
		if _, due, err := w.BeginSweep(w.ctx, time.Hour); due != after.due || err != nil {
			t.Errorf("after %v: %v, %v", after.Duration, due, err)
		}
	}
}

// A round that was left, or whose process died, is resumed where it stopped.
func TestSweepIsResumed(t *testing.T) {
	w := newWorld(t)
	begin := func(mine bool) admin.SweepRound {
		t.Helper()
		round, ok, err := w.BeginSweep(w.ctx, time.Hour)
		want(t, err, "")
		if ok != mine {
			t.Fatalf("to sweep: %v, want %v", ok, mine)
		}
		return round
	}
	began := w.Time()
	first := begin(true)
	first.BundlesDone, first.Swept = true, 7
	want(t, w.NoteSweep(w.ctx, &first), "")
	begin(false) // it is alive as far as anybody knows
	w.Advance(17 * time.Minute)
	second := begin(true)
	if !second.BundlesDone || second.Swept != 7 || second.Tries != 2 || !second.StartedAt.Equal(began) {
		t.Errorf("resumed as %+v", second)
	}
	// The one that was thought dead notes nothing over the other's work.
	if err := w.NoteSweep(w.ctx, &first); err == nil {
		t.Error("two processes note one round")
	}
	second.Tries = 0
	want(t, w.LeaveSweep(w.ctx, &second), "")
	third := begin(true)
	w.Advance(time.Minute)
	third.FinishedAt = w.Time()
	want(t, w.NoteSweep(w.ctx, &third), "")
	if got := third.Oldest(); !got.Equal(began) {
		t.Errorf("after the round, all were swept since %v, not %v", got, began)
	}
	w.Advance(time.Hour)
	next := begin(true)
	if got := next.Oldest(); !got.Equal(began) || next.Swept != 0 || next.BundlesDone {
		t.Errorf("the next round is %+v, of which the oldest waits since %v, not %v", next, got, began)
	}
}

// Records of a release that kept one mark for all sweeps are rounds to resume.
func TestSweepOfAnEarlierRelease(t *testing.T) {
	w := newWorld(t)
	value := fmt.Appendf(nil, `{"startedAt":%q}`, w.Time().Format(time.RFC3339Nano))
	want(t, w.store.Write(w.ctx, []store.Record{{Key: store.Key{PK: "sweeps", SK: "sweep"}, Value: value}}, nil), "")
	round, mine, err := w.BeginSweep(w.ctx, time.Hour)
	if err != nil || !mine || !round.StartedAt.Equal(w.Time()) || round.BundlesDone {
		t.Errorf("%+v, %v, %v", round, mine, err)
	}
}
