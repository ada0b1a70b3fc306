package search

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestWeighedPagesMakeTheSamePart: a part of kept pages has the bytes of one whose
// pages are weighed.
func TestWeighedPagesMakeTheSamePart(t *testing.T) {
	var pages []Page
	for i := range 40 {
		pages = append(pages, Page{
			Number: i * 3, Divisions: []int{i % 2, 2}, Path: fmt.Sprint("p/page-", i), Title: fmt.Sprint("Title number ", i), Description: "About getUserName.",
			Keywords: []string{"key", "word"}, Trail: []string{"Group", "Inner"},
			Sections: []Section{{Text: "Before 日本語の文."}, {Heading: fmt.Sprint("Heading ", i), ID: "h", Text: "Words of some text, HTTP2 and snake_case."}, {Heading: "Empty"}},
		})
	}
	pages = append(pages, Page{Number: 200, Path: "index"})
	var plain, kept Part
	var weighed [][]byte
	for _, p := range pages {
		if _, err := plain.Add(p); err != nil {
			t.Fatal(err)
		}
		weighed = append(weighed, plain.Weighed())
	}
	for i, p := range pages {
		for n := range weighed[i] {
			if _, ok, err := kept.AddWeighed(p, weighed[i][:n]); ok || err != nil {
				t.Fatalf("%d of %d bytes are taken, %v", n, len(weighed[i]), err)
			}
		}
		if _, ok, err := kept.AddWeighed(p, weighed[i]); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	data := plain.Encode()
	for n := range data {
		if _, ok := DecodePart(plain.Pages(), data[:n]); ok {
			t.Fatalf("%d of %d bytes of a part are taken", n, len(data))
		}
	}
	whole, ok := DecodePart(plain.Pages(), data)
	if !ok {
		t.Fatal("a part is not read again")
	}
	if empty, ok := DecodePart(nil, new(Part).Encode()); !ok || len(empty.added) > 0 {
		t.Error("an empty part is not read again")
	}
	var want bytes.Buffer
	lines := bytes.Clone(plain.Pages())
	if err := plain.WriteTerms(&want); err != nil {
		t.Fatal(err)
	}
	for name, part := range map[string]*Part{"of kept pages": &kept, "that was read": &whole} {
		if !bytes.Equal(lines, part.Pages()) {
			t.Errorf("a part %s: the pages differ", name)
		}
		var got bytes.Buffer
		if err := part.WriteTerms(&got); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(want.Bytes(), got.Bytes()) {
			t.Errorf("a part %s: the terms differ", name)
		}
	}
}

// TestContentCoversThePage: all that a page's terms follow from changes Content.
func TestContentCoversThePage(t *testing.T) {
	page := func() Page {
		return Page{Path: "a", Title: "b", Description: "c", Keywords: []string{"d", "e"}, Trail: []string{"f"}, Sections: []Section{{"g", "h", "i"}, {"j", "k", "l"}}}
	}
	base := page()
	seen := [][32]byte{base.Content()}
	for _, change := range []func(*Page){
		func(p *Page) { p.Path = "x" }, func(p *Page) { p.Title = "x" }, func(p *Page) { p.Description = "x" },
		func(p *Page) { p.Keywords = []string{"de"} }, func(p *Page) { p.Keywords, p.Trail = []string{"d"}, []string{"e", "f"} },
		func(p *Page) { p.Trail[0] = "x" }, func(p *Page) { p.Sections[0].Heading = "x" }, func(p *Page) { p.Sections[1].Text = "x" },
		func(p *Page) { p.Sections = p.Sections[:1] }, func(p *Page) { p.Title, p.Description = "bc", "" },
	} {
		p := page()
		change(&p)
		if sum := p.Content(); slices.Contains(seen, sum) {
			t.Errorf("%+v has the digest of another page", p)
		} else {
			seen = append(seen, sum)
		}
	}
	numbered := page()
	if numbered.Number, numbered.Divisions = 7, []int{1}; numbered.Content() != seen[0] {
		t.Error("a page's number is in its content")
	}
}

// TestTrimKeepsTheBest compares trim with sorting all.
func TestTrimKeepsTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, kinds := range []int{1, 2, 63} {
		l := list{}
		for i := range maxPostings + 500 {
			l.postings = append(l.postings, posting{page: int32(i / 3), section: uint16(i % 3), impact: uint8(1 + r.IntN(kinds))})
		}
		want := slices.Clone(l.postings)
		slices.SortStableFunc(want, func(a, b posting) int { return int(b.impact) - int(a.impact) })
		want = want[:maxPostings]
		slices.SortFunc(want, byPlace)
		r.Shuffle(len(l.postings)*(kinds%2), func(i, j int) { l.postings[i], l.postings[j] = l.postings[j], l.postings[i] })
		l.trim()
		if !slices.Equal(l.postings, want) {
			t.Errorf("of %d impacts, others are kept", kinds)
		}
	}
}

// TestPartsAtTheLimitsComeBack: what Encode writes DecodePart reads, of pages that
// have as much, and as little, as a page may have.
func TestPartsAtTheLimitsComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, pages := range map[string][]Page{
		"no words":     {{Number: 0}, {Number: 1, Divisions: []int{}}, {Number: 7}},
		"one word":     {{Number: 3, Title: "a"}},
		"all sections": {{Number: 5, Title: "Long", Sections: manySections(maxSections + 50)}, {Number: 9, Divisions: []int{0, 1, 2, 3}, Path: "z"}},
		"odd texts":    {{Path: "\xff\xfe", Title: "\x00", Sections: []Section{{Text: string(make([]byte, 1000))}, {Text: "é\u0301 ﷺ 🏳️‍🌈 日本"}}}},
		"at random":    randomPages(r, 60),
	} {
		var p Part
		for _, page := range pages {
			if _, err := p.Add(page); err != nil {
				t.Fatal(name, err)
			}
		}
		data := p.Encode()
		got, ok := DecodePart(p.Pages(), data)
		if !ok {
			t.Errorf("%s: a part is not read again", name)
			continue
		}
		if !bytes.Equal(got.Encode(), data) {
			t.Errorf("%s: a part that was read is another one", name)
		}
	}
}

func manySections(n int) (out []Section) {
	for i := range n {
		out = append(out, Section{Heading: fmt.Sprint("Heading ", i), ID: fmt.Sprint("h", i), Text: fmt.Sprint("word", i, " common")})
	}
	return out
}

func randomPages(r *rand.Rand, n int) (out []Page) {
	text := func() string {
		b := make([]byte, r.IntN(200))
		for i := range b {
			b[i] = " \n-_./aBcdeé日zZ09\x80"[r.IntN(19)]
		}
		return string(b)
	}
	for i := range n {
		p := Page{Number: i * 5, Path: text(), Title: text(), Description: text(), Divisions: slices.Repeat([]int{0}, r.IntN(2))}
		for range r.IntN(6) {
			p.Sections = append(p.Sections, Section{text(), text(), text()})
		}
		out = append(out, p)
	}
	return out
}
