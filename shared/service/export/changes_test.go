package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/delivery/diff"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/tests/outside"
)

// changedSite is a site of which the test changes some files; with an empty text it
// has none of that name. Its navigation follows.
func changedSite(pages int, change map[string]string) fstest.MapFS {
	files := sampleSite(pages)
	for name, text := range change {
		if delete(files, name); text != "" {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if page, ok := strings.CutSuffix(name, ".mdx"); ok && page != "hidden" {
			names = append(names, page)
		}
	}
	nav, _ := json.Marshal(names)
	files["docs.json"] = &fstest.MapFile{Data: []byte(`{"name":"Sample","colors":{"primary":"#0055aa"},` +
		`"navigation":{"groups":[{"group":"All","pages":` + string(nav) + `}]},` +
		`"redirects":[{"source":"/guides/part-02/page-002","destination":"/guides/part-01/page-001"}]}`)}
	return files
}

// listOf reads the list of a job's changes.
func (w *world) listOf(t *testing.T, id string) *diff.Result {
	t.Helper()
	body, err := w.objects.Get(t.Context(), admin.ChangesKey(id), 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	r := new(diff.Result)
	if err := json.NewDecoder(body).Decode(r); err != nil {
		t.Fatal(err)
	}
	return r
}

// later is completed for a job that is begun after the others.
func (w *world) later(t *testing.T, in admin.StartExport) (admin.ExportJob, []byte) {
	t.Helper()
	w.now = w.now.Add(time.Minute)
	return w.completed(t, in, nil)
}

// someChanges are those of TestChanges.
func someChanges() map[string]string {
	return map[string]string{
		"guides/part-02/page-002.mdx": "", // has a redirect
		"guides/part-03/page-003.mdx": "", // has none
		"guides/part-04/page-004.mdx": "---\ntitle: \"Page 4\"\n---\n\n## Another heading\n\nNew words.\n",
		"new.mdx":                     "---\ntitle: New\n---\n\nA page that was not there.\n",
		"images/a.png":                "\x89PNG\r\nother",
		"images/b.png":                "\x89PNG\r\n",
	}
}

// TestChanges: an export says what it changed against the one before, and the
// list of it is what comparing the bundles finds.
func TestChanges(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	w := newWorld(t)
	w.publish(t, changedSite(9, nil))
	first, old := w.later(t, admin.StartExport{})
	if first.Bundle.Changes != (admin.Changes{}) || slices.Contains(w.objectsOf(t, first.ID), "changes.json") {
		t.Errorf("the first changed %+v", first.Bundle.Changes)
	}
	w.publish(t, changedSite(9, someChanges()))
	second, now := w.later(t, admin.StartExport{})
	want := admin.Changes{
		Job: first.ID, Version: first.Version, Listed: true,
		PagesAdded: 1, PagesRemoved: 2, PagesChanged: 1, AddressesLost: 1, AnchorsLost: 1, FilesAdded: 1, FilesChanged: 1,
	}
	if d := cmp.Diff(want, second.Bundle.Changes); d != "" {
		t.Error(d)
	}
	got := w.listOf(t, second.ID)
	// What reads both bundles as a whole finds the same, and words to search for.
	whole, err := diff.Compare(t.Context(), onDisk(t, old), onDisk(t, now))
	if err != nil {
		t.Fatal(err)
	}
	whole.Terms = nil
	whole.Before.Pages, whole.After.Pages, whole.Pages.Unchanged = 10, 9, 7 // without the copy at the root
	whole.Files.Bytes["frame"] = got.Files.Bytes["frame"]                   // without the lists
	whole.Before.Name, whole.After.Name = first.ID, second.ID
	if d := cmp.Diff(whole, got); d != "" {
		t.Error(d)
	}
	if names := w.objectsOf(t, second.ID); !slices.Equal(names, []string{"bundle.tar.gz", "changes.json", "findings.jsonl"}) {
		t.Errorf("the second has %v", names)
	}

	// The same again is read from nowhere, and has no list.
	third, _ := w.later(t, admin.StartExport{})
	if third.Reused != second.ID || third.Bundle.Changes != (admin.Changes{Job: second.ID, Version: second.Version}) {
		t.Errorf("the third is %+v", third)
	}
	// Neither does one of other pages, which none is before.
	part, _ := w.later(t, admin.StartExport{Paths: []string{"guides"}})
	if part.Bundle.Changes != (admin.Changes{}) {
		t.Errorf("a part changed %+v", part.Bundle.Changes)
	}
}

// onDisk opens a bundle as bindery diff does.
func onDisk(t *testing.T, data []byte) diff.Source {
	t.Helper()
	name := filepath.Join(t.TempDir(), "bundle.tar.gz")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := diff.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// TestChangesWithoutTheOneBefore: a bundle that is gone is passed over, one that is
// damaged fails no export.
func TestChangesWithoutTheOneBefore(t *testing.T) {
	outside.Long(t, "exports one site many times")
	ctx := t.Context()
	w := newWorld(t)
	w.publish(t, changedSite(9, nil))
	first, _ := w.later(t, admin.StartExport{})
	w.publish(t, changedSite(9, map[string]string{"new.mdx": "# New\n"}))
	second, _ := w.later(t, admin.StartExport{})
	if err := w.objects.Delete(ctx, job.BundleKey(second.ID)); err != nil {
		t.Fatal(err)
	}
	w.publish(t, changedSite(9, map[string]string{"other.mdx": "# Other\n"}))
	third, data := w.later(t, admin.StartExport{})
	if c := third.Bundle.Changes; c.Job != first.ID || c.PagesAdded != 1 || c.PagesRemoved != 0 {
		t.Errorf("the third changed %+v, not what the first has", c)
	}

	for name, damage := range map[string]func([]byte) []byte{
		"cut":   func(data []byte) []byte { return data[:len(data)-100] },
		"other": func(data []byte) []byte { data[third.Bundle.End+20] ^= 0xff; return data },
		"empty": func([]byte) []byte { return nil },
	} {
		if _, err := w.objects.Put(ctx, job.BundleKey(third.ID), bytes.NewReader(damage(slices.Clone(data))), store.PutOptions{}); err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		w.now = w.now.Add(time.Minute)
		next := w.startOf(t, admin.StartExport{Fresh: true, Version: name})
		steps := w.steps(func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		if err := workflow(ctx, steps, next.ID); err != nil {
			t.Fatal(err)
		}
		next, err := w.admin.FindExport(ctx, next.ID)
		if err != nil || next.Status != admin.ExportCompleted || next.Bundle.Changes != (admin.Changes{}) || !strings.Contains(log.String(), "not compared") {
			t.Errorf("%s: %+v, %v; the log has %q", name, next, err, log.String())
		}
		// The next one must find the damaged one before it again.
		if err := w.objects.Delete(ctx, job.BundleKey(next.ID)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestChangesBounds: what is over a bound is not compared.
func TestChangesBounds(t *testing.T) {
	fits := admin.Bundle{End: 1, Size: MaxComparedBytes, Pages: MaxComparedPages}
	if !withinBounds(fits) {
		t.Errorf("%+v is not compared", fits)
	}
	for _, b := range []admin.Bundle{
		{End: 0, Size: 1, Pages: 1}, {End: 1, Size: MaxComparedBytes + 1, Pages: 1}, {End: 1, Size: 1, Pages: MaxComparedPages + 1},
	} {
		if withinBounds(b) {
			t.Errorf("%+v is compared", b)
		}
	}
}

// TestChangesOfLargeBundles: they are not even opened.
func TestChangesOfLargeBundles(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	w := newWorld(t)
	w.publish(t, changedSite(9, nil))
	first, _ := w.later(t, admin.StartExport{})
	w.publish(t, changedSite(9, someChanges()))
	second, _ := w.later(t, admin.StartExport{})
	large := *second.Bundle
	large.Size = MaxComparedBytes + 1
	opened := false
	s := w.steps(func(o *Options) { o.Objects = onGet{o.Objects, func(string) { opened = true }} })
	if c := s.compare(t.Context(), second, large); c != (admin.Changes{}) || opened {
		t.Errorf("a large bundle changed %+v; opened %v", c, opened)
	}
	if c := s.compare(t.Context(), second, *second.Bundle); c.Job != first.ID || !opened {
		t.Errorf("the bundle changed %+v", c)
	}
}

// onGet calls look for every object that is opened.
type onGet struct {
	store.Objects
	look func(key string)
}

func (o onGet) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	o.look(key)
	return o.Objects.Get(ctx, key, offset, length)
}

// TestChangesGoWithTheBundle: retention removes both.
func TestChangesGoWithTheBundle(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	ctx := t.Context()
	w := newWorld(t)
	w.publish(t, changedSite(9, nil))
	w.later(t, admin.StartExport{})
	w.publish(t, changedSite(9, someChanges()))
	second, _ := w.later(t, admin.StartExport{})
	w.later(t, admin.StartExport{Fresh: true}) // the newest never goes by age
	w.configure(t, func(c *admin.Configuration) { c.Retention.BundleDays = 10 })
	w.now = w.now.AddDate(0, 0, 9)
	if err := w.keeper().Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if l, err := w.admin.BundleLink(ctx, w.caller, second.ID, ""); err != nil || l.Changes.URL == "" {
		t.Errorf("the link is %+v, %v", l, err)
	}
	w.now = w.now.AddDate(0, 0, 2)
	if err := w.keeper().Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if names := w.objectsOf(t, second.ID); len(names) != 0 {
		t.Errorf("after its retention it has %v", names)
	}
}

// TestChangesHoldNoMoreThanTheirBound: new pages count, too.
func TestChangesHoldNoMoreThanTheirBound(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	w := newWorld(t)
	w.publish(t, changedSite(1, nil))
	first, _ := w.later(t, admin.StartExport{})
	w.publish(t, changedSite(1, map[string]string{"large.mdx": "# Large\n\n" + strings.Repeat("Some words more. ", 1<<14)}))
	second, _ := w.later(t, admin.StartExport{})
	s := w.steps(nil)
	was, is := s.storedBundle(first.ID, *first.Bundle), s.storedBundle(second.ID, *second.Bundle)
	if _, err := diff.CompareStored(t.Context(), was, is, 128<<10); !errors.Is(err, diff.ErrTooLarge) {
		t.Errorf("a large page came: %v", err)
	}
	if _, err := diff.CompareStored(t.Context(), is, was, 128<<10); !errors.Is(err, diff.ErrTooLarge) {
		t.Errorf("a large page went: %v", err)
	}
	if _, err := diff.CompareStored(t.Context(), was, is, 1<<20); err != nil {
		t.Error(err)
	}
}

// TestChangesEndWithTheirTime: what is read by then is not compared.
func TestChangesEndWithTheirTime(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	w := newWorld(t)
	w.publish(t, changedSite(9, nil))
	first, _ := w.later(t, admin.StartExport{})
	w.publish(t, changedSite(9, someChanges()))
	second, _ := w.later(t, admin.StartExport{})
	s := w.steps(nil)
	ctx, cancel := context.WithCancel(t.Context())
	is, opened := s.storedBundle(second.ID, *second.Bundle), 0
	open := is.Open
	is.Open = func(ctx context.Context, offset int64) (io.ReadCloser, error) {
		body, err := open(ctx, offset)
		if opened++; opened == 2 { // its lists were read before
			body = onClose{body, cancel}
		}
		return body, err
	}
	if _, err := diff.CompareStored(ctx, s.storedBundle(first.ID, *first.Bundle), is, MaxComparedMain); !errors.Is(err, context.Canceled) || opened != 2 {
		t.Errorf("after %d reads: %v", opened, err)
	}
}

// onClose calls then when it is closed.
type onClose struct {
	io.ReadCloser
	then func()
}

func (c onClose) Close() error {
	c.then()
	return c.ReadCloser.Close()
}
