package kills

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const (
	killPages = 300 // of a site's first edition; each edition after it has one more
	killCalls = 4   // pages of its specification
	killGroup = 30  // pages of one group of the navigation
)

// killSite is a folder with a site whose editions follow from a seed: many short
// pages with links, some pictures, one specification, one component of its own. The first edition has a
// picture of many megabytes, so that its bundle can be met half downloaded; the
// others are quick to export.
type killSite struct {
	dir     string
	rnd     *rand.Rand
	edition int
}

// newKillSite writes the first edition.
func newKillSite(tb testing.TB, rnd *rand.Rand, large []byte) *killSite {
	tb.Helper()
	s := &killSite{dir: tb.TempDir(), rnd: rnd}
	s.write(tb, "images/large.png", large)
	for i := range 8 {
		s.write(tb, fmt.Sprintf("images/small-%d.png", i), noise(rnd, 40+i))
	}
	paths := map[string]any{}
	for i := range killCalls {
		paths[fmt.Sprintf("/things/%d", i)] = map[string]any{"get": map[string]any{
			"summary": fmt.Sprintf("Read thing %d", i), "responses": map[string]any{"200": map[string]any{"description": "The thing."}}}}
	}
	s.writeJSON(tb, "openapi.json", map[string]any{"openapi": "3.1.0", "info": map[string]any{"title": "Things", "version": "1"}, "paths": paths})
	s.write(tb, "snippets/twice.jsx", []byte("export const Twice = ({ of }) => <b>{'twice is ' + 2 * of}</b>;\n"))
	for i := range killPages {
		s.page(tb, i)
	}
	s.finish(tb)
	return s
}

// next writes the next edition over the folder.
func (s *killSite) next(tb testing.TB) {
	tb.Helper()
	if s.edition++; s.edition == 1 {
		if err := os.Remove(filepath.Join(s.dir, "images", "large.png")); err != nil {
			tb.Fatal(err)
		}
	}
	for range 10 {
		s.page(tb, s.rnd.IntN(killPages))
	}
	s.page(tb, killPages+s.edition-1)
	s.finish(tb)
}

// pages is how many pages the edition has.
func (s *killSite) pages() int { return killPages + s.edition + killCalls }

// page writes a page, with other words each time.
func (s *killSite) page(tb testing.TB, i int) {
	use := ""
	if i == 0 { // a process of the process of an export
		use = "import { Twice } from '/snippets/twice.jsx'\n\n<Twice of={21} />\n"
	}
	s.write(tb, killPage(i)+".mdx", fmt.Appendf(nil, `---
title: Page %d
description: Of edition %d
---

## First

The word is %x. See [the next](/%s) and [another one](/%s#second).

<Note>Number **%d**</Note>

![A picture](/images/small-%d.png)

## Second

%s
func f%d() int { return %d }
%s

%s`, i, s.edition, s.rnd.Uint64(), killPage((i+1)%killPages), killPage(s.rnd.IntN(killPages)), i, i%8, "```go", i, s.rnd.IntN(1000), "```", use))
}

// killPage is the path of a page.
func killPage(i int) string { return fmt.Sprintf("part-%02d/page-%04d", i/killGroup, i) }

// finish writes what makes an edition differ from the one before: a picture, and
// the navigation.
func (s *killSite) finish(tb testing.TB) {
	s.write(tb, "images/edition.png", noise(s.rnd, 500))
	groups := []any{map[string]any{"group": "API", "openapi": "openapi.json"}}
	for from := 0; from < killPages+s.edition; from += killGroup {
		var pages []string
		for i := from; i < min(from+killGroup, killPages+s.edition); i++ {
			pages = append(pages, killPage(i))
		}
		groups = append(groups, map[string]any{"group": fmt.Sprintf("Part %d", from/killGroup), "pages": pages})
	}
	s.writeJSON(tb, "docs.json", map[string]any{
		"name": "Made", "theme": "mint", "colors": map[string]any{"primary": "#0055aa"}, "navigation": map[string]any{"groups": groups},
	})
}

func (s *killSite) writeJSON(tb testing.TB, name string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	s.write(tb, name, data)
}

func (s *killSite) write(tb testing.TB, name string, data []byte) {
	tb.Helper()
	file := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		tb.Fatal(err)
	}
	when := time.Date(2026, 1, 2, 3, s.edition, 5, 0, time.UTC) // part of a bundle
	if err := os.Chtimes(file, when, when); err != nil {
		tb.Fatal(err)
	}
}

// noise is a picture that no compression makes smaller: four bytes a point.
func noise(rnd *rand.Rand, side int) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	for i := range img.Pix {
		img.Pix[i] = byte(rnd.Uint32())
	}
	var b bytes.Buffer
	_ = (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, img) // a buffer takes all
	return b.Bytes()
}
