package search

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// runsOf returns the names of the runs of texts of pages that have so many sections
// each, and how many bytes they have together.
func runsOf(t *testing.T, pages []int, section string) (names []string, size int) {
	t.Helper()
	var p Part
	for i, sections := range pages {
		page := Page{Number: i, Divisions: []int{0}, Path: fmt.Sprintf("guide/page-%d", i), Title: "A page"}
		for n := range sections {
			page.Sections = append(page.Sections, Section{Heading: "A part", ID: fmt.Sprint("part-", n), Text: section})
		}
		if _, err := p.Add(page); err != nil {
			t.Fatal(err)
		}
	}
	err := p.EndTexts(func(name string, data []byte) error {
		names, size = append(names, name), size+len(data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names, size
}

// TestRunsStayWhereTheyAre: a page that has more text than it had changes the runs
// around it and none that come after, whatever the pages' sizes are. Pages of one size
// are the hardest: their runs never meet by chance.
func TestRunsStayWhereTheyAre(t *testing.T) {
	outside.Long(t, "builds many indexes")
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
	add := func(name string, _ []byte) error {
		files[name]++
		return nil
	}
	page := Page{Divisions: []int{0}, Path: "a", Title: "A"}
	for range 200 {
		page.Sections = append(page.Sections, Section{Heading: "Again", ID: "again", Text: strings.Repeat("word ", 400)})
	}
	var p Part
	if _, err := p.Add(page); err != nil {
		t.Fatal(err)
	}
	if err := p.EndTexts(add); err != nil {
		t.Fatal(err)
	}
	for name, n := range files {
		if n != 1 {
			t.Errorf("%s was written %d times", name, n)
		}
	}
	if runs := strings.Count(string(p.Pages()), ":"); runs < 10 || len(files) > 3 {
		t.Errorf("%d runs of the same text are %d files", runs, len(files))
	}
}

// TestEndTexts: what was ended stays as it is, parts that are joined have the lines of
// both, and a builder refuses pages whose texts are in no run, or in one that is not
// theirs.
func TestEndTexts(t *testing.T) {
	add := func(string, []byte) error { return nil }
	page := func(n int) Page {
		return Page{Number: n, Divisions: []int{0}, Path: fmt.Sprint("p", n), Title: "P", Sections: []Section{{Heading: "H", ID: "h", Text: "text"}}}
	}
	var one, other Part
	for n, p := range []*Part{&one, &other} {
		if _, err := p.Add(page(n)); err != nil {
			t.Fatal(err)
		}
		if err := p.EndTexts(add); err != nil {
			t.Fatal(err)
		}
	}
	want := string(one.Pages()) + string(other.Pages())
	one.Join(&other)
	if err := one.EndTexts(add); err != nil || string(one.Pages()) != want {
		t.Errorf("joined, the lines are %q, want %q (%v)", one.Pages(), want, err)
	}
	if _, err := one.Add(page(2)); err != nil {
		t.Fatal(err)
	}
	if err := one.EndTexts(add); err != nil || !strings.HasPrefix(string(one.Pages()), want) || strings.Count(string(one.Pages()), "\n") != 3 {
		t.Errorf("with another page, the lines are %q (%v)", one.Pages(), err)
	}
	failed := errors.New("no room")
	if _, err := one.Add(page(3)); err != nil {
		t.Fatal(err)
	}
	if err := one.EndTexts(func(string, []byte) error { return failed }); err != failed {
		t.Errorf("got %v", err)
	}
	for _, lines := range []string{
		"0\t0\t0\tp\tP\t\t2",
		"0\t0\t0\tp\tP\t\t2\t1:0123456789abcd",
		"0\t0\t0\tp\tP\t\t2\t3:0123456789abcd",
		"0\t0\t0\tp\tP\t\t2\t2:0123456789abc",
		"0\t0\t0\tp\tP\t\t0",
		"0\t0\t0\tp\tP\t\t2\t-1:0123456789abcd\t3:0123456789abcd",
	} {
		b := NewBuilder([]*Division{NewDivision("site", "en")}, add)
		err := b.Page([]byte(lines))
		if err == nil {
			err = b.Terms(t.Context(), nil)
		}
		if err == nil {
			t.Errorf("%q was taken", lines)
		}
	}
}
