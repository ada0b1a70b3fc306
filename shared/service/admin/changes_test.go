package admin_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// TestEarlierExports: what a job is compared with is of the same site and part, and
// of nobody else.
func TestEarlierExports(t *testing.T) {
	w := newWorld(t)
	x, other := w.tenant("docs.example.com"), w.tenant("other.example.com")
	w.publish(x)
	w.publish(other)
	begin := func(x tenant, complete bool, paths ...string) admin.ExportJob {
		t.Helper()
		w.Advance(time.Minute)
		j, err := w.StartExport(w.ctx, x.caller, admin.StartExport{Domain: x.project.Domain, Paths: paths})
		want(t, err, "")
		want(t, w.BeginExport(w.ctx, j.ID, plan), "")
		if complete {
			want(t, w.CompleteExport(w.ctx, j.ID, bundleOf(j)), "")
		}
		return j
	}
	first := begin(x, true)
	begin(x, true, "guides")
	second := begin(x, true)
	running := begin(x, false)
	foreign := begin(other, true)
	begin(x, true)
	earlier := func(j admin.ExportJob) (ids []string) {
		t.Helper()
		want(t, w.EarlierExports(w.ctx, j, func(j admin.ExportJob) (bool, error) {
			ids = append(ids, j.ID)
			return true, nil
		}), "")
		return ids
	}
	if got := earlier(running); !slices.Equal(got, []string{second.ID, first.ID}) {
		t.Errorf("before %s there are %v", running.ID, got)
	}
	if got := append(earlier(first), earlier(foreign)...); len(got) != 0 {
		t.Errorf("before the first ones there are %v", got)
	}
}

// TestChangesLink: the link to the list comes with the bundle's, to its owner alone,
// where there is a list.
func TestChangesLink(t *testing.T) {
	w := newWorld(t)
	x, other := w.tenant("docs.example.com"), w.tenant("other.example.com")
	w.publish(x)
	j := begun(t, w, x)
	made := bundleOf(j)
	made.Changes = admin.Changes{Job: "exp_before", Version: "v0", PagesAdded: 1, Listed: true}
	for _, key := range []string{made.Key, admin.ChangesKey(j.ID)} {
		_, err := w.objects.Put(w.ctx, key, strings.NewReader("{}"+strings.Repeat(" ", int(made.Size)-2)), store.PutOptions{})
		want(t, err, "")
	}
	want(t, w.CompleteExport(w.ctx, j.ID, made), "")
	// A step that runs again may have compared it with another one.
	again := made
	again.Changes = admin.Changes{}
	want(t, w.CompleteExport(w.ctx, j.ID, again), "")
	l, err := w.BundleLink(w.ctx, x.caller, j.ID, "")
	want(t, err, "")
	if l.Job.Bundle.Changes != made.Changes || !strings.Contains(l.Changes.URL, "changes.json") {
		t.Errorf("the link is %+v, of %+v", l.Changes, l.Job.Bundle.Changes)
	}
	_, err = w.BundleLink(w.ctx, other.caller, j.ID, "")
	want(t, err, admin.CodeNotFound)
	k := begun(t, w, x)
	want(t, w.CompleteExport(w.ctx, k.ID, bundleOf(k)), "")
	_, err = w.objects.Put(w.ctx, bundleOf(k).Key, strings.NewReader(strings.Repeat("x", 1000)), store.PutOptions{})
	want(t, err, "")
	l, err = w.BundleLink(w.ctx, x.caller, k.ID, "")
	want(t, err, "")
	if l.Changes.URL != "" {
		t.Errorf("a job without a list has the link %q", l.Changes.URL)
	}
}

// begun is a job that runs.
func begun(t *testing.T, w *world, x tenant) admin.ExportJob {
	t.Helper()
	j := w.start(x)
	want(t, w.BeginExport(w.ctx, j.ID, plan), "")
	return j
}
