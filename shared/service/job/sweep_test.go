package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/tests/outside"
)

// grid is a store and objects of many organisations, made when they are asked
// for: what is kept is what a sweep writes, and how often it asked.
type grid struct {
	mu            sync.Mutex
	organisations int
	snapshots     int // of each organisation
	noPacks       bool
	now           time.Time
	pause         time.Duration // of the clock, for each organisation
	written       map[store.Key]store.Record
	calls         map[string]int
	swept         map[string]int
	deadly        string // the organisation whose sweep ends the process
	end           context.CancelFunc
}

func newGrid(organisations, snapshots int) *grid {
	return &grid{
		organisations: organisations, snapshots: snapshots, now: time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC),
		written: map[store.Key]store.Record{}, calls: map[string]int{}, swept: map[string]int{},
	}
}

func (g *grid) time() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.now
}

func (g *grid) advance(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now = g.now.Add(d)
}

func (g *grid) keeper(log *slog.Logger) *Keeper {
	service := admin.New(admin.Options{Store: g, Objects: shelf{g: g}, Now: g.time})
	return NewKeeper(Options{Admin: service, Objects: shelf{g: g}, Now: g.time, Log: log})
}

func made(key store.Key, v any) store.Record {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return store.Record{Key: key, Revision: 1, Value: b}
}

func (g *grid) Get(ctx context.Context, key store.Key) (store.Record, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls["get"]++
	if rec, ok := g.written[key]; ok {
		return rec, nil
	}
	kind, id, _ := strings.Cut(key.PK, "#")
	switch {
	case kind == "org" && key.SK == "organisation":
		return made(key, admin.Organisation{ID: id}), nil
	case kind == "project" && key.SK == "project":
		return made(key, admin.Project{ID: id, Organisation: strings.Replace(id, "prj", "org", 1)}), nil
	}
	return store.Record{}, store.ErrNotFound
}

func (g *grid) Query(ctx context.Context, q store.Query) (store.Page, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls["query"]++
	if err := ctx.Err(); err != nil {
		return store.Page{}, err
	}
	kind, id, _ := strings.Cut(q.PK, "#")
	switch kind {
	case "orgs":
		from := 0
		if _, err := fmt.Sscanf(q.Cursor, "%d", &from); err != nil && q.Cursor != "" {
			return store.Page{}, err
		}
		var page store.Page
		to := min(g.organisations, from+q.Limit)
		for i := from; i < to; i++ {
			page.Records = append(page.Records, made(store.Key{PK: q.PK, SK: fmt.Sprintf("org_%05d", i)}, struct{}{}))
		}
		if to < g.organisations {
			page.Cursor = fmt.Sprint(to)
		}
		return page, nil
	case "org":
		if id == g.deadly {
			g.end()
			return store.Page{}, context.Canceled
		}
		project := strings.Replace(id, "org", "prj", 1)
		return store.Page{Records: []store.Record{made(store.Key{PK: q.PK, SK: "project#" + project}, struct{}{})}}, nil
	case "project":
		var page store.Page
		for i := range g.snapshots {
			p := admin.Snapshot{
				ID: fmt.Sprintf("snp_%05d", i), Project: id, Organisation: strings.Replace(id, "prj", "org", 1),
				Status: admin.SnapshotPublished, Manifest: admin.Blob{SHA256: strings.Repeat("0", 64)}, PublishedAt: g.now,
			}
			if !g.noPacks {
				p.Packs = []admin.Blob{{SHA256: fmt.Sprintf("%064d", i)}}
			}
			page.Records = append(page.Records, made(store.Key{PK: q.PK, SK: "snapshot#" + p.ID}, p))
		}
		return page, nil
	}
	return store.Page{}, fmt.Errorf("nothing is known of %+v", q)
}

func (g *grid) Write(_ context.Context, puts []store.Record, _ []store.Delete) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls["write"]++
	for _, p := range puts {
		if p.Revision != g.written[p.Key].Revision {
			return &store.ConflictError{Keys: []store.Key{p.Key}}
		}
	}
	for _, p := range puts {
		if id, ok := strings.CutPrefix(p.Key.PK, "org#"); ok && strings.Contains(string(p.Value), "finishedAt") {
			g.swept[id]++
			g.now = g.now.Add(g.pause)
		}
		p.Revision++
		g.written[p.Key] = p
	}
	return nil
}

// shelf has the grid's objects: none that can be read.
type shelf struct {
	store.Objects
	g *grid
}

func (s shelf) List(context.Context, string, string, int) ([]store.ObjectInfo, error) {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	s.g.calls["list"]++
	return nil, nil
}

func (s shelf) Get(context.Context, string, int64, int64) (io.ReadCloser, error) {
	s.g.mu.Lock()
	defer s.g.mu.Unlock()
	s.g.calls["manifest"]++
	return nil, errors.New("it can't be read")
}

func (g *grid) round(t *testing.T) admin.SweepRound {
	t.Helper()
	var round admin.SweepRound
	rec, err := g.Get(t.Context(), store.Key{PK: "sweeps", SK: "sweep"})
	if err == nil {
		err = json.Unmarshal(rec.Value, &round)
	}
	if err != nil {
		t.Fatal(err)
	}
	return round
}

// Ten thousand organisations with thirty snapshots each are swept in one round:
// no manifest is read, and each costs the same few calls.
func TestSweepOfManyOrganisations(t *testing.T) {
	perOrganisation := func(organisations int) map[string]int {
		g := newGrid(organisations, 30)
		if err := g.keeper(nil).Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if round := g.round(t); round.Swept != organisations || round.Failed != 0 || round.FinishedAt.IsZero() || len(g.swept) != organisations {
			t.Fatalf("of %d organisations %d were swept: %+v", organisations, len(g.swept), round)
		}
		if n := g.calls["manifest"]; n != 0 {
			t.Errorf("%d manifests were read", n)
		}
		// What a round costs once does not count: notes of how far it is.
		per := maps.Clone(g.calls)
		for name := range per {
			per[name] /= organisations
		}
		return per
	}
	few := perOrganisation(500)
	if want := map[string]int{"get": 5, "query": 4, "write": 2, "list": 3}; !maps.Equal(few, want) {
		t.Errorf("an organisation costs %v, want %v", few, want)
	}
	if outside.Short(t) {
		return
	}
	if many := perOrganisation(10_000); !maps.Equal(few, many) {
		t.Errorf("one of 500 organisations costs %v, one of 10,000 %v", few, many)
	}
}

// A call sweeps for some minutes and leaves the rest to the next: every
// organisation has its turn once in a round.
func TestSweepInSlices(t *testing.T) {
	g := newGrid(300, 1)
	g.pause = 30 * time.Second
	calls := 0
	for ; calls == 0 || g.round(t).FinishedAt.IsZero(); calls++ {
		if calls > 300 {
			t.Fatalf("no end after %d calls: %+v", calls, g.round(t))
		}
		before := len(g.swept)
		if err := g.keeper(nil).sweepSome(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(g.swept) - before; n == 0 || n > sweepPage {
			t.Errorf("call %d swept %d organisations", calls, n)
		}
	}
	for id, n := range g.swept {
		if n != 1 {
			t.Errorf("%s was swept %d times", id, n)
		}
	}
	if len(g.swept) != 300 || calls < 4 {
		t.Errorf("%d organisations in %d calls", len(g.swept), calls)
	}
}

// An organisation whose sweep ends the process is left out after some tries, and
// is counted; the others are swept.
func TestSweepPastADeadlyOrganisation(t *testing.T) {
	g := newGrid(200, 1)
	g.deadly = "org_00100"
	deaths := 0
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		g.end = cancel
		if err := g.keeper(nil).sweepSome(ctx); err != nil {
			deaths++
		}
		cancel()
		if round := g.round(t); !round.FinishedAt.IsZero() {
			break
		}
		g.advance(20 * time.Minute)
	}
	round := g.round(t)
	if round.FinishedAt.IsZero() || round.Failed != 1 || round.Swept != 199 || deaths > 2*hopeless {
		t.Errorf("after %d deaths the round is %+v", deaths, round)
	}
	for i := range g.organisations {
		if id := fmt.Sprintf("org_%05d", i); g.swept[id] == 0 && id != g.deadly {
			t.Errorf("%s was never swept", id)
		}
	}
}

// Organisations that can't be swept are counted and named in the log, and hold up
// nobody.
func TestSweepCountsFailures(t *testing.T) {
	g := newGrid(3, 1)
	g.noPacks = true
	var log strings.Builder
	k := g.keeper(slog.New(slog.NewTextHandler(&log, nil)))
	var notes []string
	k.opt.Annotate = func(_ context.Context, attrs ...slog.Attr) {
		for _, a := range attrs {
			notes = append(notes, a.String())
		}
	}
	if err := k.sweepSome(t.Context()); err != nil {
		t.Fatal(err)
	}
	if round := g.round(t); round.Failed != 3 || round.FinishedAt.IsZero() {
		t.Errorf("the round is %+v", round)
	}
	for i := range 3 {
		if id := fmt.Sprintf("organisation=org_%05d", i); !strings.Contains(log.String(), id) {
			t.Errorf("the log lacks %s:\n%s", id, log.String())
		}
	}
	if want := []string{"sweepFailures=3", "sweepAge=0"}; !slices.Equal(notes, want) {
		t.Errorf("annotated %v, want %v", notes, want)
	}
}
