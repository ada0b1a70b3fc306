package export

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/service/job"
)

const (
	llmsFullPath = "llms-full.txt"
	// llmsFullBytes is how much text llms-full.txt has: several times what the
	// largest models read at once, and what a program still fetches in one go.
	// A larger site's has the first pages and says so.
	llmsFullBytes = 16 << 20
)

// maxSourceShare is how many times the text of a page its source may be. Pages
// behind so many times llmsFullBytes of sources have no room in the file: shards
// of a large site keep nothing of them.
const maxSourceShare = 4

// fullEnd is the first page that has no room in llms-full.txt by the sizes of the
// sources before it. It follows from the site alone.
func fullEnd(s *site.Site) int {
	sum := int64(0)
	for i := range s.Pages {
		if sum > maxSourceShare*llmsFullBytes {
			return i
		}
		if listed(&s.Pages[i]) {
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

// fullSums says how much of all pages' text llms-full.txt has: those that come
// first by path, as far as they have room. So it does not depend on how the site
// was cut into shards.
type fullSums struct {
	bytes       int64
	pages, left int
}

// add counts a page with so many bytes.
func (f *fullSums) add(n int) {
	switch {
	case n == 0:
	case n < 0 || f.left > 0 || f.bytes+int64(n) > llmsFullBytes:
		f.left++
	default:
		f.bytes += int64(n)
		f.pages++
	}
}

// writeFull writes llms-full.txt as a stream of what the shards left.
func (s *Steps) writeFull(ctx context.Context, src *source, shards int, f *fullSums, put *ownUnits) error {
	var head strings.Builder
	c := &src.site.Config
	fmt.Fprintf(&head, "# %s\n\n", oneLine(c.Name))
	if d := oneLine(c.Description); d != "" {
		fmt.Fprintf(&head, "> %s\n\n", d)
	}
	if f.left > 0 {
		fmt.Fprintf(&head, "This file has the first %d pages of %d, in the order of their addresses. %s lists all of them.\n\n",
			f.pages, f.pages+f.left, src.site.AbsoluteURL("llms.txt"))
	}
	texts := &objectsReader{ctx: ctx, objects: s.objects}
	defer texts.Close()
	for n := 1; n <= shards; n++ {
		texts.keys = append(texts.keys, job.FullKey(src.input.Job.ID, n))
	}
	r := io.MultiReader(strings.NewReader(head.String()), io.LimitReader(texts, f.bytes))
	return put.addFrom(llmsFullPath, int64(head.Len())+f.bytes, r)
}
