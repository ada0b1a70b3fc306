package export

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/tests/outside"
)

// keptKeys are the objects that are kept from one export to the next.
func (w *world) keptKeys(t *testing.T) (keys []string) {
	t.Helper()
	list, err := w.objects.List(t.Context(), admin.AllKept, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		keys = append(keys, o.Key)
	}
	return keys
}

// inProcesses exports a site with a process for each step, as on Lambda, and returns
// the bundle and which pages were rendered.
func (w *world) inProcesses(t *testing.T, fsys fstest.MapFS, in admin.StartExport, shards int) (data []byte, end int64, rendered []string) {
	t.Helper()
	ctx := t.Context()
	w.publish(t, fsys)
	exp := w.startOf(t, in)
	process := func() *Steps {
		return w.steps(func(o *Options) {
			o.KeepInObjects, o.Shards, o.Concurrency = true, shards, 1
			o.Begin = func(place string) func() {
				if strings.HasSuffix(place, ".mdx") {
					rendered = append(rendered, strings.TrimSuffix(place, ".mdx"))
				}
				return func() {}
			}
		})
	}
	plan, err := process().Plan(ctx, admin.WorkflowInput{JobID: exp.ID})
	if err != nil {
		t.Fatal(err)
	}
	rendered = nil // what Plan begins
	for _, n := range plan.Shards {
		if err := process().Render(ctx, job.RenderInput{JobID: exp.ID, Renderer: "test", Shard: n}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := process().Assemble(ctx, job.AssembleInput{JobID: exp.ID, Renderer: "test"}); err != nil {
		t.Fatal(err)
	}
	done, err := w.admin.FindExport(ctx, exp.ID)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(rendered)
	return w.bundle(t, exp.ID), done.Bundle.End, rendered
}

// TestEachProcessFindsWhatIsKept: processes that share nothing but objects render the
// pages that changed, and no other. Packs lie below their project's prefix, and the
// list of them goes with the job's parts.
func TestEachProcessFindsWhatIsKept(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	w, s := newWorld(t), newLivingSite()
	_, _, first := w.inProcesses(t, s.fs(), admin.StartExport{}, 3)
	if !slices.Equal(first, slices.Sorted(slices.Values(s.pages))) {
		t.Fatalf("the first export rendered %v", first)
	}
	s.sources["p/0"] += "\nMore words.\n"
	got, gotEnd, second := w.inProcesses(t, s.fs(), admin.StartExport{}, 3)
	if !slices.Equal(second, []string{"p/0"}) {
		t.Errorf("the second export rendered %v", second)
	}
	cold := newWorld(t)
	want, wantEnd, _ := cold.inProcesses(t, s.fs(), admin.StartExport{}, 3)
	if !bytes.Equal(got[:gotEnd], want[:wantEnd]) {
		t.Error(firstDifference(unpacked(t, got), unpacked(t, want)))
	}
	projects, err := w.admin.ListProjects(t.Context(), w.caller.OrganisationID)
	if err != nil {
		t.Fatal(err)
	}
	keys := w.keptKeys(t)
	for _, key := range keys {
		if !strings.HasPrefix(key, admin.KeptPrefix(w.caller.OrganisationID, projects[0].ID)) {
			t.Errorf("%s is not the project's", key)
		}
	}
	if len(keys) == 0 {
		t.Error("nothing is kept")
	}
	list, err := w.objects.List(t.Context(), job.AllObjects, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		if strings.HasSuffix(o.Key, job.KeptKey("")[len(job.Prefix("")):]) {
			t.Errorf("%s is left of a completed job", o.Key)
		}
	}
}

// TestAFreshExportUsesNothingKept: it renders all pages, and what it makes is there
// for the next export.
func TestAFreshExportUsesNothingKept(t *testing.T) {
	outside.Long(t, "exports one site many times")
	w, s := newWorld(t), newLivingSite()
	all := slices.Sorted(slices.Values(s.pages))
	for _, step := range []struct {
		in   admin.StartExport
		want []string
	}{
		{admin.StartExport{Fresh: true}, all},
		{admin.StartExport{}, []string{"p/1"}},
		{admin.StartExport{Fresh: true}, all},
	} {
		if _, _, got := w.inProcesses(t, s.fs(), step.in, 2); !slices.Equal(got, step.want) {
			t.Errorf("%+v: rendered %v", step.in, got)
		}
		s.sources["p/1"] += "\nMore words.\n"
	}
}

// TestKeptObjectsAreSwept: what is kept goes when it is old, whatever becomes of the
// organisation's snapshots, and the next export renders all pages.
func TestKeptObjectsAreSwept(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	w, s := newWorld(t), newLivingSite()
	w.inProcesses(t, s.fs(), admin.StartExport{}, 2)
	keys := w.keptKeys(t)
	w.now = w.now.Add(admin.KeptFor)
	if err := w.keeper().Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.keptKeys(t); !slices.Equal(got, keys) {
		t.Errorf("%d packs are left of %d that are not old", len(got), len(keys))
	}
	w.now = w.now.Add(time.Minute)
	if err := w.keeper().Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.keptKeys(t); len(got) > 0 {
		t.Errorf("left are %v", got)
	}
	s.sources["p/0"] += "\nMore words.\n"
	if _, _, got := w.inProcesses(t, s.fs(), admin.StartExport{}, 2); len(got) != len(s.pages) {
		t.Errorf("rendered %v", got)
	}
}

// keptAway is storage that fails for all that is kept.
type keptAway struct{ store.Objects }

var errAway = errors.New("away")

func (o keptAway) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if strings.HasPrefix(key, admin.AllKept) {
		return nil, errAway
	}
	return o.Objects.Get(ctx, key, offset, length)
}

func (o keptAway) Put(ctx context.Context, key string, r io.Reader, opt store.PutOptions) (store.ObjectInfo, error) {
	if strings.HasPrefix(key, admin.AllKept) {
		return store.ObjectInfo{}, errAway
	}
	return o.Objects.Put(ctx, key, r, opt)
}

func (o keptAway) Delete(ctx context.Context, keys ...string) error {
	if slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(key, admin.AllKept) }) {
		return errAway
	}
	return o.Objects.Delete(ctx, keys...)
}

// TestNoExportFailsByWhatIsKept: storage that fails for what is kept costs time and a
// few lines of the log.
func TestNoExportFailsByWhatIsKept(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	w, s := newWorld(t), newLivingSite()
	w.inProcesses(t, s.fs(), admin.StartExport{}, 4)
	s.sources["p/0"] += "\nMore words.\n"
	whole := w.objects
	w.objects = keptAway{whole}
	var log bytes.Buffer
	w.publish(t, s.fs())
	exp := w.startOf(t, admin.StartExport{})
	steps := w.steps(func(o *Options) {
		o.KeepInObjects, o.Shards, o.Log = true, 1, slog.New(slog.NewTextHandler(&log, nil))
	})
	if err := workflow(t.Context(), steps, exp.ID); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), errAway.Error()); n == 0 || n > 3*3 {
		t.Errorf("the log has %d lines about three steps:\n%s", n, &log)
	}
	if got := unpacked(t, w.bundle(t, exp.ID)); !strings.Contains(got["p/0.html"], "More words.") {
		t.Error("the page is not there")
	}
}
