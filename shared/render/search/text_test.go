package search

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// runsOf returns the names of the runs of texts of pages that have so many sections
// each, and how many bytes they have together.
func runsOf(t *testing.T, pages []int, section string) (names []string, size int) {
	t.Helper()
	b := NewBuilder([]*Division{NewDivision("site", "en")}, func(name string, data []byte) error {
		names, size = append(names, name), size+len(data)
		return nil
	})
	for i, sections := range pages {
		page := Page{Number: i, Divisions: []int{0}, Path: fmt.Sprintf("guide/page-%d", i), Title: "A page"}
		for n := range sections {
			page.Sections = append(page.Sections, Section{Heading: "A part", ID: fmt.Sprint("part-", n), Text: section})
		}
		var p Part
		if _, err := p.Add(page); err != nil {
			t.Fatal(err)
		}
		if err := b.Page(p.Pages()); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.settle(); err != nil {
		t.Fatal(err)
	}
	return names, size
}

// TestRunsStayWhereTheyAre: a page that has more text than it had changes the runs
// around it and none that come after, whatever the pages' sizes are. Pages of one size
// are the hardest: their runs never meet by chance.
func TestRunsStayWhereTheyAre(t *testing.T) {
	for _, of := range []struct {
		sections, size int
	}{{1, 20}, {1, 300}, {4, 300}, {12, 300}, {30, 400}, {100, 400}} {
		section := strings.Repeat("word ", of.size/5)
		pages := make([]int, max(2_000_000/of.sections/(of.size+30), 20))
		for i := range pages {
			pages[i] = of.sections
		}
		names, size := runsOf(t, pages, section)
		before := map[string]bool{}
		for _, name := range names {
			before[name] = true
		}
		if average := size / len(names); average < textBytes*3/5 {
			t.Errorf("%+v: runs have %d bytes", of, average)
		}
		pages[3]++
		fresh := 0
		after, _ := runsOf(t, pages, section)
		for _, name := range after {
			if !before[name] {
				fresh++
			}
		}
		if fresh == 0 || fresh > len(after)/4 {
			t.Errorf("%+v: one page changed %d of %d runs", of, fresh, len(after))
		}
	}
}

// TestRunOfTheSameText: a run that says what another one says is that file.
func TestRunOfTheSameText(t *testing.T) {
	files := map[string]int{}
	d := NewDivision("site", "en")
	var root string
	b := NewBuilder([]*Division{d}, func(name string, data []byte) error {
		files[name]++
		if name == RootPath("site") {
			root = string(data)
		}
		return nil
	})
	page := Page{Divisions: []int{0}, Path: "a", Title: "A"}
	for range 200 {
		page.Sections = append(page.Sections, Section{Heading: "Again", ID: "again", Text: strings.Repeat("word ", 400)})
	}
	var p Part
	fact, err := p.Add(page)
	if err != nil {
		t.Fatal(err)
	}
	d.Add(fact)
	if err := b.Page(p.Pages()); err != nil {
		t.Fatal(err)
	}
	if err := b.Terms(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for name, n := range files {
		if n != 1 {
			t.Errorf("%s was written %d times", name, n)
		}
	}
	var r struct{ X, R string }
	if err := json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimPrefix(root, `binderySearch("site",`), ");\n")), &r); err != nil {
		t.Fatal(err)
	}
	if runs := len(r.R) / digestLength; runs < 10 || len(files) > 10 {
		t.Errorf("%d runs of the same text are %d files", runs, len(files))
	}
}

// TestRunsHaveNamesOfTheirOwn, also where their digests begin alike.
func TestRunsHaveNamesOfTheirOwn(t *testing.T) {
	b := NewBuilder(nil, nil)
	one := sha256.Sum256([]byte("one"))
	other := one
	other[31]++
	first, written := b.name(one)
	if written {
		t.Error("the first one was written before")
	}
	second, written := b.name(other)
	if written || first == second {
		t.Errorf("two runs are both %s", first)
	}
	for sum, want := range map[[32]byte]string{one: first, other: second} {
		if again, written := b.name(sum); again != want || !written {
			t.Errorf("a run that is %s became %s", want, again)
		}
	}
}
