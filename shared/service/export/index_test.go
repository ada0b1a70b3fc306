package export

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bindery-docs/bindery/shared/delivery/address"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/service/kept"
)

// TestIndexOfAnExport: the job's record leads to an index by which every file of the
// bundle is read, with its bytes, and in which pages that only lead elsewhere are marked:
// those of the export, and a site's own.
func TestIndexOfAnExport(t *testing.T) {
	w := newWorld(t)
	noise := make([]byte, 2<<20)
	_, _ = rand.NewChaCha8([32]byte{3}).Read(noise) // never fails
	site := fstest.MapFS{
		"docs.json":        {Data: []byte(`{"name": "x", "navigation": {"pages": ["index", "guides/index", "guides/a"]}, "redirects": [{"source": "/old", "destination": "/guides/a"}, {"source": "/v1/:page", "destination": "/guides/:page"}]}`)},
		"index.mdx":        {Data: []byte("# Home\n")},
		"bindery.yaml":     {Data: []byte("publish:\n  - own*.html\n  - noise.bin\n")},
		"guides/index.mdx": {Data: []byte("# Guides\n")},
		"guides/a.mdx":     {Data: []byte("# A\n\n" + strings.Repeat("Many words. ", 3000))},
		"noise.bin":        {Data: noise},
		"large.json":       {Data: fmt.Appendf(nil, `"%x"`, noise[:700_000])},
		"own.html":         {Data: []byte("<!doctype html><title>own</title>")},
		"own-stub.html":    {Data: []byte(`<!doctype html><html><head><meta http-equiv="refresh" content="0; url=own.html"></head></html>`)},
		"images/dot.png":   {Data: picture(1, 1)},
	}
	w.publish(t, site)
	id := w.start(t).ID
	if err := workflow(context.Background(), w.steps(nil), id); err != nil {
		t.Fatal(err)
	}
	data := w.bundle(t, id)
	j, err := w.admin.FindExport(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	var at bundle.Place
	if err := at.UnmarshalText([]byte(j.Bundle.Index)); err != nil {
		t.Fatal(err)
	}
	footer, err := bundle.ReadFooter(data[len(data)-bundle.FooterBytes:], int64(len(data)))
	if err != nil || footer.Root != at || footer.Lists != j.Bundle.End {
		t.Errorf("the archive says %+v, %v; the job says %+v and %d", footer, err, at, j.Bundle.End)
	}
	part := func(offset, length int64) []byte { return data[offset : offset+length] }
	root, err := bundle.ParseRoot(at, part(at.Offset, at.Length))
	if err != nil {
		t.Fatal(err)
	}
	if len(root.Info.Redirects) != 1 || root.Info.Sources == nil || root.NotFound == nil || root.Info.Version != "" || root.Info.Snapshot != "" {
		t.Errorf("the root has %+v", root)
	}
	rows := func(key string) bundle.Rows {
		place, ok := root.Block(key)
		if !ok {
			return bundle.Rows{}
		}
		block, err := bundle.ParseBlock(place, part(place.Offset, place.Length))
		if err != nil {
			t.Fatal(err)
		}
		found, err := block.Find(key)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	files := unpacked(t, data)
	for _, name := range []string{"own.html", "own-stub.html", "large.json", "noise.bin", "old.html", "guides/index.html"} {
		if _, ok := files[name]; !ok {
			t.Errorf("the bundle has no %s", name)
		}
	}
	for name, want := range files {
		if name == bundle.IndexPath || name == bundle.InfoPath || strings.HasPrefix(name, "bindery/") && strings.HasSuffix(name, ".jsonl") {
			continue
		}
		var row *bundle.Row
		for _, r := range rows(bundle.Key(name)).Files {
			if r.Path == name {
				row = &r
			}
		}
		if name == "guides/index.html" {
			if row != nil {
				t.Error("the redirect page of a section has a row")
			}
			continue
		}
		if row == nil {
			t.Errorf("%s has no row", name)
			continue
		}
		var got []byte
		from := row.Offset
		for i, c := range row.Chunks {
			if got, err = row.Inflate(got, i, part(from, c.Length)); err != nil {
				t.Fatal(err)
			}
			from += c.Length
		}
		if row.Size > 0 && row.Chunks == nil {
			if got, err = row.InflateInside(nil, part(row.Offset, row.Length)); err != nil {
				t.Fatal(err)
			}
		}
		if string(got) != want {
			t.Errorf("%s: %d bytes by the index, %d in the archive", name, len(got), len(want))
		}
		if stub := strings.HasSuffix(name, ".html") && address.IsStub([]byte(want)); row.Stub != stub {
			t.Errorf("%s is marked as a page that leads elsewhere: %t, want %t", name, row.Stub, stub)
		}
	}
	if r := rows("old").Redirects; len(r) != 1 || r[0].To != "/guides/a" {
		t.Errorf("redirects of /old: %+v", r)
	}
	if !bytes.HasSuffix(data, bundle.AppendFooter(nil, footer)) {
		t.Error("the footer is not the end of the archive")
	}
}

// TestRowsStayWithTheirUnits: a unit that is taken whole keeps its rows in the cache, so
// that its bytes need not be made again when the pages around it change.
func TestRowsStayWithTheirUnits(t *testing.T) {
	w := rendering{world: newWorld(t), dir: t.TempDir()}
	s := newLivingSite()
	for range 3 {
		w.export(t, s.fs())
	}
	if w.whole == 0 {
		t.Fatal("no unit was taken whole")
	}
	values, units := packed(t, w.dir), 0
	steps := w.world.steps(nil)
	for key, data := range values {
		var u keptUnit
		if kept.Read(data, &u) != nil || len(u.Archive) != len(key) {
			continue
		}
		units++
		if _, ok := values[steps.rowsKey(kept.Key(u.Archive))]; !ok {
			t.Error("the rows of a unit are gone")
		}
	}
	if units == 0 {
		t.Error("no unit is in the cache")
	}
}
