package search

import (
	"fmt"
	"hash/fnv"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/bindery-docs/bindery/shared/render/search/searchtest"
	"github.com/bindery-docs/bindery/tests/harness"
	"github.com/bindery-docs/bindery/tests/outside"
)

// foundPage is a page as a reader sees it, whatever the index says.
type foundPage struct {
	path     string // without .html
	index    string // root of the index that its search field asks
	title    string
	headings []string
	words    map[string]bool
}

// question is one query, and which pages are right answers.
type question struct {
	query, index string
	right        func(p *foundPage) bool
}

// TestSearchFindsTheRightPage asks the search of real sites' bundles, by the
// script that readers' browsers run. The questions are drawn by a rule from what
// the pages show, of each site the first of its pages by the hash of their
// paths: titles; headings of two words or more; words that stand on one page of
// the site alone; such words with a letter left out. The right page must be among
// the first three for 95 of 100 questions, mistyped ones aside. make test-all asks up
// to 40 questions of each kind and site, other runs 15.
func TestSearchFindsTheRightPage(t *testing.T) {
	outside.Long(t, "exports real sites")
	kinds := []string{"titles", "headings", "rare words", "rare words, mistyped"}
	asked, hit := map[string]int{}, map[string]int{}
	most := 15
	if outside.Full() {
		most = 40
	}
	for _, name := range []string{"mcp", "trigger", "novu"} {
		dir := harness.Unpack(t, outside.Folder(t, "corpora", name))
		pages := readPages(t, dir)
		engines := map[string]*searchtest.Engine{}
		for i, questions := range questionsOf(pages, most) {
			for _, q := range questions {
				e := engines[q.index]
				if e == nil {
					var err error
					if e, err = searchtest.New(q.index, func(name string) (string, bool) {
						data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
						return string(data), err == nil
					}); err != nil {
						t.Fatal(err)
					}
					engines[q.index] = e
				}
				results, err := e.Find(q.query)
				if err != nil {
					t.Fatal(err)
				}
				asked[kinds[i]]++
				var got []string
				right := false
				for _, r := range results[:min(3, len(results))] {
					p := pages[r.Path]
					right = right || p != nil && q.right(p)
					got = append(got, r.Path)
				}
				if right {
					hit[kinds[i]]++
				} else {
					t.Logf("%s, %s: %q finds %v", name, kinds[i], q.query, got)
				}
			}
		}
	}
	all, right := 0, 0
	for i, kind := range kinds {
		t.Logf("%s: %d of %d", kind, hit[kind], asked[kind])
		if i < 3 {
			all, right = all+asked[kind], right+hit[kind]
		}
	}
	if all < 5*most || right*100 < all*95 {
		t.Errorf("the right page is among the first three for %d of %d questions", right, all)
	}
	if n := asked[kinds[3]]; hit[kinds[3]]*100 < n*80 {
		t.Errorf("of %d mistyped words %d find their page", n, hit[kinds[3]])
	}
}

// readPages reads the pages of a bundle that search can find: those that are in
// lists for search engines too.
func readPages(t testing.TB, dir string) map[string]*foundPage {
	t.Helper()
	pages := map[string]*foundPage{}
	err := filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".html") {
			return err
		}
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		doc, err := html.Parse(f)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		p := &foundPage{path: strings.TrimSuffix(filepath.ToSlash(name), ".html"), words: map[string]bool{}}
		if !p.read(doc) || p.index == "" || p.title == "" {
			return nil
		}
		p.index = path.Join(path.Dir(p.path), p.index)
		pages[p.path] = p
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// read takes what a document shows; false if search engines must not know it.
func (p *foundPage) read(doc *html.Node) bool {
	known := true
	var text func(n *html.Node, b *strings.Builder)
	text = func(n *html.Node, b *strings.Builder) {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.DataAtom == atom.Script || n.DataAtom == atom.Style || n.DataAtom == atom.Svg:
			return
		}
		block := n.Type == html.ElementNode && !strings.Contains(" a abbr b code em i kbd mark s small span strong sub sup u wbr ", " "+n.Data+" ")
		if block {
			b.WriteByte(' ')
		}
		for c := range n.ChildNodes() {
			text(c, b)
		}
		if block {
			b.WriteByte(' ')
		}
	}
	textOf := func(n *html.Node) string {
		var b strings.Builder
		text(n, &b)
		return strings.Join(strings.Fields(b.String()), " ")
	}
	attr := func(n *html.Node, key string) string {
		for _, a := range n.Attr {
			if a.Key == key {
				return a.Val
			}
		}
		return ""
	}
	var walk func(n *html.Node, article bool)
	walk = func(n *html.Node, article bool) {
		switch {
		case n.DataAtom == atom.Meta && attr(n, "name") == "robots" && strings.Contains(attr(n, "content"), "noindex"):
			known = false
		case attr(n, "id") == "bindery-search":
			p.index = attr(n, "data-bindery-index")
		case article && n.DataAtom == atom.H1 && p.title == "":
			p.title = textOf(n)
		case article && len(n.Data) == 2 && n.Data >= "h2" && n.Data <= "h6":
			p.headings = append(p.headings, textOf(n))
		case strings.Contains(attr(n, "class"), "prose"):
			for _, w := range rareWord.FindAllString(textOf(n), -1) {
				p.words[w] = true
			}
		}
		for c := range n.ChildNodes() {
			walk(c, article || n.DataAtom == atom.Article)
		}
	}
	walk(doc, false)
	return known
}

// rareWord is what is drawn as a rare word: letters alone, one small letter first,
// so that names and acronyms of code are in it and sentences' beginnings are not.
var rareWord = regexp.MustCompile(`\b[a-z][a-zA-Z]{5,19}\b`)

// questionsOf draws up to n questions of each kind.
func questionsOf(pages map[string]*foundPage, n int) [4][]question {
	order := make([]*foundPage, 0, len(pages))
	on := map[string]int{} // how many pages have a word
	for _, p := range pages {
		order = append(order, p)
		for w := range p.words {
			on[strings.ToLower(w)]++
		}
	}
	hash := func(s string) uint64 {
		h := fnv.New64a()
		fmt.Fprint(h, s)
		return h.Sum64()
	}
	byHash := func(a, b string) int {
		if x, y := hash(a), hash(b); x != y {
			if x < y {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	}
	slices.SortFunc(order, func(a, b *foundPage) int { return byHash(a.path, b.path) })
	var out [4][]question
	for _, p := range order {
		if len(out[0]) < n {
			out[0] = append(out[0], question{p.title, p.index, func(q *foundPage) bool { return q.title == p.title }})
		}
		if headings := slices.DeleteFunc(slices.Clone(p.headings), func(h string) bool { return !strings.Contains(h, " ") }); len(out[1]) < n && len(headings) > 0 {
			h := slices.MinFunc(headings, byHash)
			out[1] = append(out[1], question{h, p.index, func(q *foundPage) bool { return slices.Contains(q.headings, h) || q.title == h }})
		}
		var rare []string
		for w := range p.words {
			if on[strings.ToLower(w)] == 1 {
				rare = append(rare, w)
			}
		}
		if len(out[2]) < n && len(rare) > 0 {
			w := slices.MinFunc(rare, byHash)
			right := func(q *foundPage) bool { return q.words[w] }
			out[2] = append(out[2], question{w, p.index, right})
			at := 2 + int(hash(w)%uint64(len(w)-3))
			out[3] = append(out[3], question{w[:at] + w[at+1:], p.index, right})
		}
	}
	return out
}
