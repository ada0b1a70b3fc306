package search

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"golang.org/x/tools/txtar"

	"github.com/bindery-docs/bindery/shared/render/search/searchtest"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/harness/browse"
	"github.com/bindery-docs/bindery/tests/outside"
)

// asked is a question of tests/search/testdata/questions, as someone has it who read
// the bodies of pages.
type asked struct {
	kind, query string
	right       []string // pages, from the bundle's root and without .html
	held        bool     // not looked at while the search was tuned
}

// translations are the languages of the translated fixture.
var translations = []string{"fr", "de", "zh", "ja"}

// questionSite is an exported site and its questions.
type questionSite struct {
	name, dir string
	index     string // root of the index that is asked
	page      string // that a reader stands on
	questions []asked
}

// readAsked reads the questions of a site; folder is that of their pages.
func readAsked(tb testing.TB, name, folder string) []asked {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(outside.Checkout(tb), "tests", "search", "testdata", "questions", name+".txt"))
	if err != nil {
		tb.Fatal(err)
	}
	var out []asked
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			tb.Fatalf("%s: %q is not a question", name, line)
		}
		q := asked{query: fields[1]}
		q.kind, q.held = strings.CutSuffix(fields[0], "*")
		for _, page := range strings.Fields(fields[2]) {
			q.right = append(q.right, path.Join(folder, page))
		}
		out = append(out, q)
	}
	return out
}

// translatedSites exports the fixture: fifteen pages in each of four languages.
func translatedSites(t testing.TB) []questionSite {
	t.Helper()
	source := t.TempDir()
	var languages []map[string]any
	for _, l := range translations {
		archive, err := txtar.ParseFile(filepath.Join(outside.Checkout(t), "tests", "search", "testdata", "questions", l+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		var pages []string
		for _, f := range archive.Files {
			writeFile(t, filepath.Join(source, l, f.Name), string(f.Data))
			pages = append(pages, l+"/"+strings.TrimSuffix(f.Name, ".mdx"))
		}
		languages = append(languages, map[string]any{"language": l, "pages": pages})
	}
	config, err := json.Marshal(map[string]any{
		"name": "Coffre", "theme": "mint", "colors": map[string]string{"primary": "#0b6e4f"}, "navigation": map[string]any{"languages": languages},
	})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(source, "docs.json"), string(config))
	dir := harness.Unpack(t, source)
	pages := readPages(t, dir)
	var out []questionSite
	for _, l := range translations {
		page := l + "/installation"
		if pages[page] == nil {
			t.Fatalf("there is no %s", page)
		}
		out = append(out, questionSite{l, dir, pages[page].index, page, readAsked(t, l, l)})
	}
	return out
}

// corpusSites exports the real sites.
func corpusSites(t testing.TB) []questionSite {
	t.Helper()
	outside.Long(t, "exports real sites")
	var out []questionSite
	for _, name := range []string{"mcp", "trigger", "novu"} {
		s := questionSite{name: name, dir: harness.Unpack(t, outside.Folder(t, "corpora", name)), questions: readAsked(t, name, "")}
		pages := readPages(t, s.dir)
		s.page = s.questions[0].right[0]
		for _, q := range s.questions {
			for _, p := range q.right {
				if pages[p] == nil {
					t.Errorf("%s: %q is answered by %s, which is not there", name, q.query, p)
				}
			}
		}
		if pages[s.page] == nil {
			t.Fatalf("there is no %s", s.page)
		}
		s.index = pages[s.page].index
		out = append(out, s)
	}
	return out
}

// writeFile writes a file of a site, and the folders that it needs.
func writeFile(t testing.TB, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// rank returns the place of the first right page, from 1; 0 if none was found.
func (q asked) rank(found []string) int {
	return 1 + slices.IndexFunc(found, func(p string) bool { return slices.Contains(q.right, p) })
}

// answers counts what was asked: all, right ones that come first, and among the first three.
type answers struct{ all, first, three int }

func (c *answers) add(rank int) {
	c.all++
	if rank == 1 {
		c.first++
	}
	if rank >= 1 && rank <= 3 {
		c.three++
	}
}

func (c answers) String() string {
	return fmt.Sprintf("%d questions, %.1f%% first, %.1f%% among the first three", c.all, 100*float64(c.first)/float64(c.all), 100*float64(c.three)/float64(c.all))
}

// askAll asks all questions of sites by find, and fails the test where fewer
// than 95 of 100 have a right page among the first three.
func askAll(t *testing.T, sites []questionSite, find func(*questionSite, string) []string) {
	t.Helper()
	var all, held answers
	kinds := map[string]*answers{}
	for i := range sites {
		s := &sites[i]
		for _, q := range s.questions {
			found := find(s, q.query)
			rank := q.rank(found)
			if all.add(rank); q.held {
				held.add(rank)
			}
			if kinds[q.kind] == nil {
				kinds[q.kind] = new(answers)
			}
			kinds[q.kind].add(rank)
			if rank < 1 || rank > 3 {
				t.Logf("%s, %s: %q finds %s as number %d, after %v", s.name, q.kind, q.query, q.right[0], rank, found[:min(3, len(found))])
			}
		}
	}
	for kind, c := range kinds {
		t.Logf("%s: %v", kind, c)
	}
	t.Logf("kept out of sight: %v", held)
	if t.Logf("all: %v", all); all.three*100 < all.all*95 {
		t.Errorf("%v", all)
	}
}

// engineFind asks by the script of bundles, in an engine without a page.
func engineFind(t testing.TB) func(*questionSite, string) []string {
	engines := map[string]*searchtest.Engine{}
	return func(s *questionSite, query string) []string {
		t.Helper()
		e := engines[s.dir+s.index]
		if e == nil {
			var err error
			if e, err = searchtest.New(s.index, func(name string) (string, bool) {
				data, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(name)))
				return string(data), err == nil
			}); err != nil {
				t.Fatal(err)
			}
			engines[s.dir+s.index] = e
		}
		results, err := e.Find(query)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, r := range results {
			out = append(out, r.Path)
		}
		return out
	}
}

// TestSearchAnswersReaders asks what people ask who read the bodies of pages:
// words for the same, code, phrases in quotes, mistakes. Translations must do as well
// by themselves.
func TestSearchAnswersReaders(t *testing.T) {
	t.Run("translations", func(t *testing.T) { askAll(t, translatedSites(t), engineFind(t)) })
	t.Run("real sites", func(t *testing.T) { askAll(t, corpusSites(t), engineFind(t)) })
}

// boxAsk asks the open dialog, and returns the pages that it shows.
const boxAsk = `(async query => {
	const d = document.querySelector(".bdy-search-dialog"), i = d.querySelector("input"), said = d.querySelector("[role=status]");
	const ask = async (q, done) => {
		i.value = q;
		i.dispatchEvent(new Event("input"));
		for (let n = 0; !done() && n < 1000; n++) await new Promise(go => setTimeout(go, 10));
	};
	await ask("", () => said.textContent === "" && !d.querySelector("[role=option]"));
	await ask(query, () => said.textContent !== "");
	const root = new URL(document.getElementById("bindery-search").dataset.binderyIndex.replace(/bindery\/search\/.*/, ""), location.href).href;
	return [...d.querySelectorAll("[role=group]")].map(g => decodeURIComponent(g.querySelector("a").href.slice(root.length).replace(/\.html(#.*)?$/, "")));
})(%s)`

// TestSearchAnswersReadersFromAFolder asks the same in a browser, from file://. Without
// make test-all it asks the translations alone.
func TestSearchAnswersReadersFromAFolder(t *testing.T) {
	chromium := browse.Chromium(t)
	ctx, stop := browse.OpenFocused(t, chromium)
	defer stop()
	at, sites := "", translatedSites(t)
	if outside.Full() {
		sites = slices.Concat(sites, corpusSites(t))
	}
	askAll(t, sites, func(s *questionSite, query string) []string {
		t.Helper()
		b := searchBox{ctx, "file://" + s.dir + "/"}
		if page := b.base + s.page + ".html"; at != page {
			at = page
			b.visit(t, s.page+".html", 1200, 900, "light")
			b.open(t)
		}
		quoted, err := json.Marshal(query)
		if err != nil {
			t.Fatal(err)
		}
		found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](fmt.Sprintf(boxAsk, quoted), chromedp.EvalAwaitPromise))
		if err != nil {
			t.Fatalf("%q: %v", query, err)
		}
		return found
	})
}
