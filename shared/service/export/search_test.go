package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/bindery-docs/bindery/shared/render/search"
	"github.com/bindery-docs/bindery/shared/render/search/searchtest"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
	"github.com/bindery-docs/bindery/tests/outside"
)

// The feature table and a project's settings decide whether a bundle has search.
// Where it has none, no file and no page has a trace of it.
func TestSearchByTheFeatureTable(t *testing.T) {
	outside.Long(t, "exports one site for each setting")
	const service = "https://search.example/v1"
	for _, tt := range []struct {
		kind     admin.Kind
		search   string
		has      bool
		reported bool
	}{
		{admin.KindCloud, "", true, false},
		{admin.KindCloud, admin.SearchBundled, true, false},
		{admin.KindCloud, service, false, true},
		{admin.KindClientHosted, "", false, false},
		{admin.KindClientHosted, admin.SearchBundled, true, false},
		{admin.KindClientHosted, service, false, true},
		{admin.KindAirGapped, "", false, false},
		{admin.KindAirGapped, admin.SearchBundled, true, false},
		{admin.KindAirGapped, service, false, false},
	} {
		t.Run(fmt.Sprintf("%s %q", tt.kind, tt.search), func(t *testing.T) {
			w := openWorldOf(t, t.TempDir(), tt.kind, admin.Settings{Search: tt.search})
			w.publish(t, sampleSite(3))
			traces := 0
			files := unpacked(t, w.exported(t, nil))
			for name, text := range files {
				// What stands in every bundle's own lists and in words that readers
				// never see is no trace.
				if strings.Contains(name, "search") || strings.Contains(text, "bindery-search") || strings.Contains(text, "search-") && !strings.HasSuffix(name, ".jsonl") {
					if traces++; !tt.has {
						t.Errorf("%s tells of search", name)
					}
				}
			}
			if tt.has && traces == 0 {
				t.Error("there is no search")
			}
			if strings.Contains(files["bindery/diagnostics.jsonl"], "search-service") != tt.reported {
				t.Errorf("reported: %s", files["bindery/diagnostics.jsonl"])
			}
		})
	}
}

// A reader finds the pages of the version and language that the reader stands
// at, hidden ones and those that say so aside.
func TestSearchOfVersionsAndLanguages(t *testing.T) {
	outside.NoRace(t, "it exports a site several times")
	w := newWorld(t)
	w.publish(t, os.DirFS(filepath.Join("..", "..", "..", "tests", "search", "testdata", "search")))
	files := unpacked(t, w.exported(t, nil))
	for _, tt := range []struct{ from, query, want string }{
		{"v2", "webhooks", "v2/webhooks v2"},
		{"v1", "webhooks", "v1/webhooks"},
		{"fr", "webhook", "fr/webhooks"},
		{"fr", "cle acces", "fr"},
		{"fr", "déploiement", "fr"}, // French has its own endings
		{"ar", "المستخدم", "ar"},
		{"v2", "onboarding", "v2"},
		{"v2", "getUserById", "v2/users"},
		{"v2", "hmac", "v2/webhooks"},
		{"v2", "backoff", "v2/webhooks"},
		{"v2", "wombat", ""},
		{"v2", "platypus", "v2/notes"},
		{"v2", "echidna", "v2/unlisted"},
		// A page in no menu shows the menu of the site's beginning.
		{"v2/unlisted", "webhooks", "v2/webhooks v2"},
	} {
		results, err := engineOf(t, files, tt.from).Find(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range results {
			got = append(got, r.Path)
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s, %q: %s", tt.from, tt.query, diff)
		}
	}
}

// engineOf asks the index that a page's field leads to.
func engineOf(t *testing.T, files map[string]string, page string) *searchtest.Engine {
	t.Helper()
	m := regexp.MustCompile(`data-bindery-index="((?:\.\./)*)([^"]*)"`).FindStringSubmatch(files[page+".html"])
	if m == nil || strings.Count(m[1], "../") != strings.Count(page, "/") {
		t.Fatalf("the field of %s leads to %q", page, m)
	}
	e, err := searchtest.New(m[2], func(name string) (string, bool) { data, ok := files[name]; return data, ok })
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A site in products: whoever stands at a version of one product finds the
// other products as they are by default.
func TestSearchOfProducts(t *testing.T) {
	w := newWorld(t)
	files := fstest.MapFS{"docs.json": {Data: []byte(`{"name":"P","colors":{"primary":"#0055aa"},"navigation":{"products":[
		{"product":"A","versions":[{"version":"1","pages":["a1"]},{"version":"2","pages":["a2"],"default":true}]},
		{"product":"B","versions":[{"version":"7","pages":["b7"]},{"version":"8","pages":["b8"]}]},
		{"product":"C","pages":["about"]}]}}`)}}
	for _, p := range []string{"a1", "a2", "b7", "b8", "about"} {
		files[p+".mdx"] = &fstest.MapFile{Data: []byte("---\ntitle: Page " + p + "\n---\n\nKiwi.\n")}
	}
	w.publish(t, files)
	bundle := unpacked(t, w.exported(t, nil))
	for from, want := range map[string]string{
		"a1": "a1 about b7", "a2": "a2 about b7", "b8": "a2 about b8", "about": "a2 about b7",
	} {
		results, err := engineOf(t, bundle, from).Find("kiwi")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range results {
			got = append(got, r.Path)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("from %s: %q, want %q", from, got, want)
		}
	}
}

// Many shards' terms are joined in groups, and give what they give at once.
func TestSearchOfManyShards(t *testing.T) {
	outside.Long(t, "renders thousands of pages")
	w := newWorld(t)
	s, ctx := w.steps(nil), context.Background()
	var whole search.Part
	var terms []*chunkReader
	for i := range searchFanIn*searchFanIn + 3 {
		p := search.Page{Number: i, Divisions: []int{0}, Path: fmt.Sprint(i), Title: fmt.Sprintf("Page %d of many", i)}
		var part search.Part
		for _, to := range []*search.Part{&part, &whole} {
			if _, err := to.Add(p); err != nil {
				t.Fatal(err)
			}
		}
		key := fmt.Sprintf("exports/x/search/%d", i)
		var b bytes.Buffer
		if err := part.WriteTerms(&b); err != nil {
			t.Fatal(err)
		}
		if err := s.put(ctx, key, b.Bytes()); err != nil {
			t.Fatal(err)
		}
		terms = append(terms, &chunkReader{ctx: ctx, objects: w.objects, key: key, end: -1})
	}
	for level := 1; len(terms) > searchFanIn; level++ {
		var err error
		if terms, err = s.mergeTerms(ctx, "x", level, terms); err != nil {
			t.Fatal(err)
		}
	}
	var got, want bytes.Buffer
	if err := search.Merge(ctx, &got, readersOf(terms)); err != nil {
		t.Fatal(err)
	}
	if err := whole.WriteTerms(&want); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("%d bytes of terms, at once %d", got.Len(), want.Len())
	}
}

// An object that is read in pieces is read whole, whatever its size.
func TestChunks(t *testing.T) {
	w := newWorld(t)
	ctx := context.Background()
	for _, size := range []int{0, 1, searchChunk - 1, searchChunk, searchChunk + 1, 2 * searchChunk} {
		want := bytes.Repeat([]byte("abcdefg"), size/7+1)[:size]
		if _, err := w.objects.Put(ctx, "exports/x/chunks", bytes.NewReader(want), store.PutOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, part := range [][2]int64{{0, -1}, {0, int64(size)}, {int64(size / 3), int64(size / 2)}, {int64(size / 2), -1}} {
			got, err := io.ReadAll(&chunkReader{ctx: ctx, objects: w.objects, key: "exports/x/chunks", at: part[0], end: part[1]})
			end := part[1]
			if end < 0 {
				end = int64(size)
			}
			if err != nil || !bytes.Equal(got, want[part[0]:end]) {
				t.Errorf("%d bytes, %v: %d bytes, %v", size, part, len(got), err)
			}
		}
	}
	if _, err := io.ReadAll(&chunkReader{ctx: ctx, objects: w.objects, key: "exports/x/none", end: -1}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an object that is not there: %v", err)
	}
	if _, err := io.ReadAll(&chunkReader{ctx: ctx, objects: w.objects, key: "exports/x/chunks", end: 3 * searchChunk}); err == nil {
		t.Error("an object that is shorter than it must be passes")
	}
	for text, want := range map[string]int{"": 0, "a\n": 1, "a\n\nb\n": 3} {
		n := 0
		if err := eachLine(strings.NewReader(text), func([]byte) error { n++; return nil }); err != nil || n != want {
			t.Errorf("%q: %d lines, %v", text, n, err)
		}
	}
	if eachLine(strings.NewReader("a\nb"), func([]byte) error { return nil }) == nil {
		t.Error("a line without an end passes")
	}
}
