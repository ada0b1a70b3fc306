package mdx

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bindery-docs/bindery/tests/outside"
)

// sample is a page such as documentation sites have, of about 6 KB.
var sample = []byte("---\ntitle: Sample\n---\n\nimport Note from \"/snippets/note.mdx\"\n\n" + strings.Repeat(`## A heading with `+"`code`"+`

A paragraph of *some* words, a [link](/guides/start "Start") and **strong text**,
which goes on over two lines; see https://example.com for more.

<CardGroup cols={2}>
  <Card title="One" icon="rocket" href="/one">
    Text in a card, with a {value}.
  </Card>
</CardGroup>

- an item
- another with `+"`code`"+`

  and a paragraph

| Name | Meaning |
| ---- | ------- |
| one  | first   |
| two  | second  |

`+"```ts title=\"a.ts\"\nconst a = { b: 1 }\nconsole.log(a)\n```\n\n", 10))

func BenchmarkParse(b *testing.B) {
	b.SetBytes(int64(len(sample)))
	b.ReportAllocs()
	for b.Loop() {
		if _, diags := Parse(sample, Options{}); len(diags) > 0 {
			b.Fatal(diags)
		}
	}
}

// BenchmarkParseInline reads titles such as cards have.
func BenchmarkParseInline(b *testing.B) {
	for _, bb := range []struct{ name, title string }{{"words", "Getting started with the API"}, {"marks", "Run `bindery up` **now**"}} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ParseInline(bb.title)
			}
		})
	}
}

func BenchmarkSplitFrontMatter(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		SplitFrontMatter(sample)
	}
}

// BenchmarkParseCorpora parses all pages of the corpora in one go.
func BenchmarkParseCorpora(b *testing.B) {
	dir := outside.Folder(b, "corpora")
	var pages [][]byte
	size := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".mdx" {
			return err
		}
		src, err := os.ReadFile(path)
		pages = append(pages, src)
		size += len(src)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, src := range pages {
			if _, diags := Parse(src, Options{}); len(diags) > 0 {
				b.Fatal(diags)
			}
		}
	}
	b.ReportMetric(float64(len(pages)*b.N)/b.Elapsed().Seconds(), "pages/s")
	b.ReportMetric(float64(size)/float64(len(pages)), "B/page")
}
