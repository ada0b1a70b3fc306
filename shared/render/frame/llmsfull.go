package frame

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/site"
)

const (
	// FullPath is the file of all pages' text.
	FullPath = "llms-full.txt"
	// FullBytes is how much text llms-full.txt has: several times what the
	// largest models read at once, and what a program still fetches in one go.
	// A larger site's has the first pages and says so.
	FullBytes = 16 << 20
)

// maxSourceShare is how many times the text of a page its source may be. Pages
// after so many times FullBytes of sources have no room in the file: nobody needs
// to keep their text.
const maxSourceShare = 4

// Full makes a site's llms-full.txt: the Markdown copies of all pages that
// search engines may know, in the order of their addresses.
type Full struct {
	views *Views
	end   int // the first page that has no room
}

// Full returns the maker of llms-full.txt; nil if the site has a file of the name.
func (v *Views) Full() *Full {
	if _, own := v.fileNames()[FullPath]; own {
		return nil
	}
	return &Full{v, fullEnd(v.site)}
}

// Room reports whether there is room for the page with this index, by the sizes of the
// sources before it.
func (f *Full) Room(i int) bool { return i < f.end }

// Append appends a page, whose copy is given, to dst. The size is how many bytes
// that were: 0 if the file has nothing of the page, -1 if the page comes after
// what the file has room for.
func (f *Full) Append(dst []byte, i int, markdown []byte) (out []byte, size int) {
	p := &f.views.site.Pages[i]
	switch {
	case !p.Listed():
		return dst, 0
	case !f.Room(i):
		return dst, -1
	}
	out = appendFull(dst, f.views.address(p), markdown)
	return out, len(out) - len(dst)
}

// Head returns what stands before the pages.
func (f *Full) Head(sums FullSums) string {
	var head strings.Builder
	c := &f.views.site.Config
	fmt.Fprintf(&head, "# %s\n\n", oneLine(c.Name))
	if d := oneLine(c.Description); d != "" {
		fmt.Fprintf(&head, "> %s\n\n", d)
	}
	if sums.Left > 0 {
		fmt.Fprintf(&head, "This file has the first %d pages of %d, in the order of their addresses. %s lists all of them.\n\n",
			sums.Pages, sums.Pages+sums.Left, f.views.site.AbsoluteURL("llms.txt"))
	}
	return head.String()
}

// fullEnd is the first page that has no room in llms-full.txt by the sizes of the
// sources before it. It follows from the site alone.
func fullEnd(s *site.Site) int {
	sum := int64(0)
	for i := range s.Pages {
		if sum > maxSourceShare*FullBytes {
			return i
		}
		if s.Pages[i].Listed() {
			sum += s.Pages[i].Size
		}
	}
	return len(s.Pages)
}

// appendFull adds a page: its Markdown copy, with its address below the title.
func appendFull(dst []byte, address string, markdown []byte) []byte {
	title, rest := []byte(nil), bytes.TrimSpace(markdown)
	if bytes.HasPrefix(rest, []byte("# ")) {
		title, rest, _ = bytes.Cut(rest, []byte("\n"))
		rest = bytes.TrimLeft(rest, "\n")
		dst = append(append(dst, title...), "\n\n"...)
	}
	dst = append(dst, "Source: "...)
	dst = append(dst, address...)
	dst = append(dst, "\n\n"...)
	if len(rest) > 0 {
		dst = append(append(dst, rest...), "\n\n"...)
	}
	return dst
}

// FullSums is how much of all pages' text llms-full.txt has: those that come
// first by path, as far as they have room. So it does not depend on who made which
// page's text.
type FullSums struct {
	Bytes       int64
	Pages, Left int // that are in the file, and that have no room
}

// Add counts the next page, with the size that Append returned.
func (f *FullSums) Add(n int) {
	switch {
	case n == 0:
	case n < 0 || f.Left > 0 || f.Bytes+int64(n) > FullBytes:
		f.Left++
	default:
		f.Bytes += int64(n)
		f.Pages++
	}
}
