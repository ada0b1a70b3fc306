package search_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/shared/render/search"
	"github.com/bindery-docs/bindery/tests/outside"
)

// What search may cost a reader. Files are counted as they lie there: folders
// and plain object stores compress nothing.
const (
	beforeTyping   = 15_000 // compressed: field, dialog and their styles
	queryRequests  = 12     // of a question on a site of a thousand pages
	queryBytes     = 150_000
	largeSiteTimes = 2 // as much on one of twenty thousand
)

func TestBeforeTheFirstLetter(t *testing.T) {
	_, script, err := search.Script([]string{"de", "fr", "es", "pt-BR", "zh-Hans", "ja", "ko"})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, part := range [][]byte{script, []byte(search.Opener()), []byte(search.CSS())} {
		w := gzip.NewWriter(&b)
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if t.Logf("%d bytes", b.Len()); b.Len() > beforeTyping {
		t.Errorf("%d bytes before the first letter, limit %d", b.Len(), beforeTyping)
	}
}

// A question fetches few files, on a large site too, whatever is asked.
func TestQuestionsFetchLittle(t *testing.T) {
	for _, site := range []struct{ pages, times int }{{1000, 1}, {20_000, largeSiteTimes}} {
		t.Run(fmt.Sprint(site.pages), func(t *testing.T) {
			outside.Long(t, "indexes so many pages")
			if site.pages > 1000 && !outside.Full() {
				t.Skip("make test-all indexes so many pages")
			}
			pages, words := written(site.pages)
			files := build(t, []string{"en"}, pages, cutting{shards: 3})
			all := 0
			for _, data := range files {
				all += len(data)
			}
			t.Logf("%d files, %.1f MB", len(files), float64(all)/1e6)
			random := rand.New(rand.NewPCG(3, 4))
			most, heaviest, fewest := 0, 0, 99
			for i := range 60 {
				var query []string
				for range 1 + i%5 {
					query = append(query, words[random.IntN(len(words)>>(i%8))])
				}
				asked := strings.Join(query, " ")
				switch i % 4 {
				case 1: // still being typed
					asked = asked[:len(asked)-1]
				case 2: // mistyped
					asked = asked[:1] + "q" + asked[1:]
				case 3: // as on a page
					asked = pages[random.IntN(len(pages))].Title
				}
				e := ask(t, 0, files)
				results, err := e.Find(asked)
				if err != nil {
					t.Fatal(err)
				}
				fetched, bytes := e.Fetched()
				most, heaviest = max(most, len(fetched)), max(heaviest, bytes)
				if len(fetched) > queryRequests*site.times || bytes > queryBytes*site.times {
					t.Errorf("%q fetches %d files of %d bytes", asked, len(fetched), bytes)
				}
				if i%4 == 3 {
					if fewest = min(fewest, len(results)); len(results) == 0 || len(results[0].Sections) == 0 {
						t.Errorf("%q, the title of a page, finds %d pages", asked, len(results))
					}
				}
			}
			t.Logf("at most %d files and %d bytes a question; %d pages at least for a title", most, heaviest, fewest)
		})
	}
}

// written makes a site with words as common as those of a language, and the
// words, the commonest first.
func written(n int) ([]search.Page, []string) {
	random := rand.New(rand.NewPCG(1, 2))
	syllables := strings.Fields("ba con de fi gra hu in ja ku lo mer no o pre qui re sta tri un ver wa xy zo th er ing al")
	known := map[string]bool{}
	var words []string
	for len(words) < 20_000+n {
		var b strings.Builder
		for range 1 + random.IntN(4) {
			b.WriteString(syllables[random.IntN(len(syllables))])
		}
		if w := b.String(); !known[w] && len(w) > 1 {
			known[w] = true
			words = append(words, w)
		}
	}
	zipf := rand.NewZipf(random, 1.05, 8, uint64(len(words)-1))
	text := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = words[zipf.Uint64()]
		}
		return strings.Join(list, " ")
	}
	pages := make([]search.Page, n)
	for i := range pages {
		p := &pages[i]
		p.Path = fmt.Sprintf("part-%02d/%s-%d", i*40/n, words[random.IntN(len(words))], i)
		p.Title, p.Description, p.Trail = text(3), text(12), []string{fmt.Sprintf("Part %d", i*40/n), fmt.Sprintf("Group %d", i*200/n)}
		p.Sections = append(p.Sections, search.Section{Text: text(40)})
		for j := range 6 {
			p.Sections = append(p.Sections, search.Section{Heading: text(4), ID: fmt.Sprintf("section-%d", j), Text: text(60)})
		}
	}
	return number(pages), words
}
