package site

import (
	"fmt"
	"strings"
	"testing"
)

// The same page in another version, language or product: what a switch leads to.
func TestCounterpart(t *testing.T) {
	for _, c := range []struct {
		name, nav string
		pages     string
		want      string // "page>label=page" each; "-" for none
	}{
		{"a version's element at the front",
			`{"versions": [{"version": "2.0", "pages": ["v2/a", "v2/x/b", "v2/only"]}, {"version": "1.0", "pages": ["v1/a", "v1/x/b"]}]}`, "v2/a v2/x/b v2/only v1/a v1/x/b",
			"v2/a>1.0=v1/a v2/x/b>1.0=v1/x/b v2/only>1.0=- v1/a>2.0=v2/a"},
		{"in the middle",
			`{"versions": [{"version": "Version 2026", "pages": ["docs/2026/a", "docs/2026/b"]}, {"version": "Version 2025", "pages": ["docs/2025/a"]}]}`, "docs/2026/a docs/2026/b docs/2025/a",
			"docs/2026/a>Version-2025=docs/2025/a docs/2025/a>Version-2026=docs/2026/a docs/2026/b>Version-2025=-"},
		{"the newest without one",
			`{"versions": [{"version": "latest", "pages": ["a", "x/b"]}, {"version": "1", "pages": ["1/a", "1/x/b"]}]}`, "a x/b 1/a 1/x/b",
			"a>1=1/a x/b>1=1/x/b 1/x/b>latest=x/b"},
		{"languages, one without",
			`{"languages": [{"language": "en", "pages": ["index", "g/a"]}, {"language": "fr", "tabs": [{"tab": "T", "pages": ["fr/index", "fr/g/a"]}]}]}`, "index g/a fr/index fr/g/a",
			"index>fr=fr/index g/a>fr=fr/g/a fr/g/a>en=g/a"},
		{"files of the same name in other folders",
			`{"languages": [{"language": "en", "pages": ["en/guides/setup", "en/a/x", "en/b/x"]}, {"language": "de", "pages": ["de/anleitung/setup", "de/c/x"]}]}`, "en/guides/setup en/a/x en/b/x de/anleitung/setup de/c/x",
			"en/guides/setup>de=de/anleitung/setup en/a/x>de=- de/c/x>en=-"},
		{"products by their addresses alone",
			`{"products": [{"product": "One", "pages": ["one/start", "one/x/more"]}, {"product": "Two", "pages": ["two/start", "two/y/more"]}]}`, "one/start one/x/more two/start two/y/more",
			"one/start>Two=two/start one/x/more>Two=-"},
		{"a page in both stays in the first",
			`{"versions": [{"version": "2", "pages": ["v2/a", "shared"]}, {"version": "1", "pages": ["v1/a", "shared"]}]}`, "v2/a v1/a shared",
			"shared>1=- v2/a>1=v1/a"},
		{"a page outside the navigation",
			`{"languages": [{"language": "en", "pages": ["en/a"]}, {"language": "fr", "pages": ["fr/a"]}]}`, "en/a fr/a en/lost fr/lost",
			"fr/lost>en=en/lost"},
		{"pages that lead elsewhere are none",
			`{"versions": [{"version": "2", "pages": ["v2/a"]}, {"version": "1", "pages": ["v1/a"]}]}`, "v2/a v1/a!",
			"v2/a>1=-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := files("docs.json", `{"name": "x", "navigation": `+c.nav+`}`)
			for _, p := range strings.Fields(c.pages) {
				name, away := strings.CutSuffix(p, "!")
				text := "x"
				if away {
					text = "---\nurl: https://o.example\n---\n"
				}
				fsys[name+".mdx"] = files("x", text)["x"]
			}
			s := mustLoad(t, fsys, Options{})
			for _, w := range strings.Fields(c.want) {
				from, rest, _ := strings.Cut(w, ">")
				label, want, _ := strings.Cut(rest, "=")
				i, ok := s.Lookup(from)
				if !ok {
					t.Fatalf("no page %s", from)
				}
				var own, other *Node
				for n := s.Near(i); n != nil; n = s.Parent(n) {
					if s.Parent(n) == s.Nav {
						own = n
					}
				}
				for _, n := range s.Nav.Children {
					if strings.ReplaceAll(n.Label, " ", "-") == label {
						other = n
					}
				}
				got := "-"
				if j := s.Counterpart(i, own, other); j >= 0 {
					got = s.Pages[j].Address
				}
				if got != want {
					t.Errorf("%s in %s: %s, want %s", from, label, got, want)
				}
			}
		})
	}
}

// What a page costs does not grow with the number of pages.
func BenchmarkCounterpart(b *testing.B) {
	for _, n := range []int{500, 10_000} {
		b.Run(fmt.Sprint(2*n), func(b *testing.B) {
			s := &Site{Nav: &Node{Kind: KindRoot, Page: -1, Root: -1}}
			for _, v := range []string{"v1", "v2"} {
				version := &Node{Kind: KindVersion, Label: v, Page: -1, Root: -1}
				for i := range n {
					a := fmt.Sprintf("%s/part-%d/page-%d", v, i/50, i)
					version.Children = append(version.Children, &Node{Kind: KindPage, Page: len(s.Pages), Root: -1})
					s.Pages = append(s.Pages, Page{Source: a + ".mdx", Address: a, Output: a + ".html"})
				}
				s.Nav.Children = append(s.Nav.Children, version)
			}
			s.Counterpart(0, s.Nav.Children[0], s.Nav.Children[1])
			for i := 0; b.Loop(); i++ {
				if s.Counterpart(i%n, s.Nav.Children[0], s.Nav.Children[1]) != n+i%n {
					b.Fatal("another page")
				}
			}
		})
	}
}
