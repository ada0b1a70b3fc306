package search_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strconv"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/search"
	"github.com/bindery-docs/bindery/shared/render/search/searchtest"
)

// cutting says how a site is cut before its index is built.
type cutting struct {
	shards, units int
	// merged joins the shards' terms in pairs before the builder reads them.
	merged bool
}

// build makes the indexes of pages, cut in one way or another.
func build(t testing.TB, languages []string, pages []search.Page, how cutting) map[string]string {
	t.Helper()
	divisions := make([]*search.Division, len(languages))
	for i, l := range languages {
		divisions[i] = search.NewDivision(strconv.Itoa(i), l)
	}
	files := make(map[string]string)
	add := func(name string, data []byte) error {
		if _, ok := files[name]; ok {
			t.Errorf("%s is written twice", name)
		}
		files[name] = string(data)
		return nil
	}
	// Where texts end follows from the units, which are the same however a site is cut
	// into shards; how.units cuts its terms alone.
	var lines []byte
	for unit := range slices.Chunk(pages, 12) {
		var part search.Part
		for _, p := range unit {
			if _, err := part.Add(p); err != nil {
				t.Fatal(err)
			}
		}
		if err := part.EndTexts(add); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, part.Pages()...)
	}
	var streams [][]byte
	for _, shard := range split(pages, how.shards) {
		var joined search.Part
		for _, unit := range split(shard, how.units) {
			var part search.Part
			for _, p := range unit {
				fact, err := part.Add(p)
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range fact.Divisions {
					divisions[d].Add(fact)
				}
			}
			joined.Join(&part)
		}
		var b bytes.Buffer
		if err := joined.WriteTerms(&b); err != nil {
			t.Fatal(err)
		}
		streams = append(streams, b.Bytes())
	}
	for how.merged && len(streams) > 1 {
		var out [][]byte
		for len(streams) > 0 {
			n := min(2, len(streams))
			var b bytes.Buffer
			if err := search.Merge(context.Background(), &b, readers(streams[:n])); err != nil {
				t.Fatal(err)
			}
			out, streams = append(out, b.Bytes()), streams[n:]
		}
		streams = out
	}
	b := search.NewBuilder(divisions, add)
	for line := range bytes.Lines(lines) {
		if err := b.Page(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Terms(context.Background(), readers(streams)); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return files
}

// split cuts a list in n runs of about equal length; 0 means 1.
func split[T any](list []T, n int) [][]T {
	n = max(n, 1)
	var out [][]T
	for i := range n {
		out = append(out, list[i*len(list)/n:(i+1)*len(list)/n])
	}
	return out
}

func readers(streams [][]byte) []io.Reader {
	var out []io.Reader
	for _, s := range streams {
		out = append(out, bytes.NewReader(s))
	}
	return out
}

// ask opens an index.
func ask(t testing.TB, division int, files map[string]string) *searchtest.Engine {
	t.Helper()
	e, err := searchtest.New(search.RootPath(strconv.Itoa(division)), func(name string) (string, bool) { data, ok := files[name]; return data, ok })
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// number gives pages their numbers, and the first division where they have none.
func number(pages []search.Page) []search.Page {
	for i := range pages {
		pages[i].Number = i
		if pages[i].Divisions == nil {
			pages[i].Divisions = []int{0}
		}
	}
	return pages
}
