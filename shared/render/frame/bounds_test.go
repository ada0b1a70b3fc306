package frame

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/site"
)

// manyVersions is a site of versions of one page each, with pages that belong to
// all of them beside.
func manyVersions(t *testing.T, versions, shared int) *site.Site {
	t.Helper()
	files := fstest.MapFS{}
	paths := []string{"docs.json"}
	page := func(name string) string {
		files[name+".mdx"] = &fstest.MapFile{Data: []byte("# " + name)}
		paths = append(paths, name+".mdx")
		return name
	}
	type m map[string]any
	var of, beside []any
	for i := range versions {
		of = append(of, m{"version": fmt.Sprintf("v%d", i), "pages": []string{page(fmt.Sprintf("v%d/a", i))}})
	}
	for i := range shared {
		beside = append(beside, page(fmt.Sprintf("shared/%d", i)))
	}
	config, err := json.Marshal(m{"name": "x", "navigation": m{"products": []any{
		m{"product": "A", "versions": of}, m{"product": "B", "pages": beside},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	files["docs.json"] = &fstest.MapFile{Data: config}
	s, diagnostics, err := site.Load(t.Context(), files, paths, site.Options{})
	if err != nil || len(s.Pages) != versions+shared {
		t.Fatalf("%v, %v", err, diagnostics)
	}
	return s
}

// Where the indexes of all choices would hold a site many times over, one index
// holds it once.
func TestSearchIndexesAreInProportion(t *testing.T) {
	for _, tt := range []struct {
		versions, shared int
		together         bool
	}{
		{10, 1000, false}, {100, 10, false}, {400, 600, true}, {600, 1, true},
	} {
		t.Run(fmt.Sprintf("%d versions, %d pages of all", tt.versions, tt.shared), func(t *testing.T) {
			s := manyVersions(t, tt.versions, tt.shared)
			f, err := newFinder(s)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0
			for i := range s.Pages {
				in := f.divisionsOf(i)
				sum += len(in)
				if len(in) == 0 || !f.used[in[0]] {
					t.Errorf("page %d is in %v", i, in)
				}
				if n, ok := f.numbers[f.standing(s.Near(i))]; !ok || n >= len(f.divisions) {
					t.Errorf("readers of page %d have no index", i)
				}
			}
			if together := len(f.divisions) == 1; together != tt.together || together && sum != len(s.Pages) {
				t.Errorf("%d indexes with %d entries", len(f.divisions), sum)
			}
		})
	}
}

// A page's own weight wins, then that of the nearest part of the navigation.
func TestWeightsInSearch(t *testing.T) {
	v := viewsOf(t, `{"name": "Site", "navigation": {"tabs": [
		{"tab": "A", "boost": 4, "pages": ["a", {"group": "B", "boost": 0.5, "pages": ["b", "c", {"group": "D", "pages": ["d"]}]}]},
		{"tab": "E", "pages": ["e"]}]}}`, "a|", "b|", "c|boost: 3", "d|", "e|")
	f, err := newFinder(v.site)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for i := range v.site.Pages {
		if p, ok := f.Page(i, &page.Result{}); ok {
			got[p.Path] = p.Boost
		}
	}
	if diff := cmp.Diff(map[string]float64{"a": 4, "b": 0.5, "c": 3, "d": 0.5, "e": 0}, got); diff != "" {
		t.Error(diff)
	}
}

// Each section has a file of its own, whatever their titles are.
func TestNamesOfSectionsAreApart(t *testing.T) {
	o := newOwnFiles(&Views{site: &site.Site{}}, nil)
	o.take("llms/c.txt")
	used := map[string]int{}
	var got []string
	for _, title := range []string{"A", "A!", "A 2", "a", "A 2", "C", "../..", "Č/d"} {
		name := o.llmsName(slug(title), used)
		o.take(name)
		got = append(got, name)
	}
	if slices.Sort(got); len(slices.Compact(slices.Clone(got))) != len(got) || strings.Contains(strings.Join(got, " "), "..") {
		t.Errorf("the names are %q", got)
	}
}
