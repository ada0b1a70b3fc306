package export

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/reference"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Pages about an API show parts of specifications. Plan cuts what each of them
// shows and writes the slices into one object, in the order of the pages; a unit
// has the places of its own, which lie together. So no shard reads a
// specification, and a unit reads what it needs by one request.

// sliceSpan is where the slice of a page lies in the object of all slices.
type sliceSpan struct {
	Page   int   `json:"page"`
	Offset int64 `json:"offset"`
	Size   int64 `json:"size"`
}

// maxUnitSlices bounds what a unit reads of slices at once: 64 pages of the
// largest size that a slice has.
const maxUnitSlices = 64 * (8 << 20)

// maxSlices bounds the slices of a job. A specification of 32 MB with 4,500
// operations has 22 MB of them; aliases could make far more of a small file.
const maxSlices = 2 << 30

// writeSlices writes the slices of the units' pages and notes their places in
// the units. The result is what was found in the specifications meanwhile.
func (s *Steps) writeSlices(ctx context.Context, id string, l *layout, loaded *site.Site, specs *reference.Reader, units []unit) ([]mdx.Diagnostic, error) {
	any := false
	for _, i := range l.pages {
		any = any || loaded.Pages[i].Reference != nil
	}
	if !any {
		return nil, nil
	}
	var cut []mdx.Diagnostic
	_, err := s.stream(ctx, job.SlicesKey(id), store.PutOptions{}, func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 64<<10)
		var at int64
		for k := range units {
			u := &units[k]
			if u.Kind != pageUnit {
				continue
			}
			for _, i := range l.pages[u.From:u.To] {
				ref := loaded.Pages[i].Reference
				if ref == nil {
					continue
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				spec := specs.Spec(ref.File)
				if spec == nil {
					continue
				}
				o := spec.Find(ref.Key)
				if o == nil {
					continue
				}
				ended := s.opt.Begin(ref.File + ": " + o.Key.String())
				data, err := specs.Slice(spec, o).Encode()
				ended()
				if err != nil {
					return internal("a part of a specification could not be written", err)
				}
				if at+int64(len(data)) > maxSlices {
					cut = append(cut, mdx.Diagnostic{
						Severity: mdx.Error, Code: "api-cut", File: ref.File, Line: max(o.Line, 1), Column: 1,
						Message: fmt.Sprintf("the site's pages show more than %d GiB of specifications: this one and those behind it show nothing of theirs", maxSlices>>30),
					})
					return out.Flush()
				}
				if _, err := out.Write(data); err != nil {
					return err
				}
				u.Slices = append(u.Slices, sliceSpan{Page: i, Offset: at, Size: int64(len(data))})
				u.weight += int64(len(data))
				at += int64(len(data))
			}
		}
		return out.Flush()
	})
	return append(specs.Diagnostics(), cut...), err
}

// slices reads the slices of a unit's pages.
func (s *Steps) slices(ctx context.Context, id string, spans []sliceSpan) (map[int]*reference.Slice, error) {
	if len(spans) == 0 {
		return nil, nil
	}
	first, last := spans[0], spans[len(spans)-1]
	size := last.Offset + last.Size - first.Offset
	if size < 0 || size > maxUnitSlices {
		return nil, internal("the plan of a unit is damaged", fmt.Errorf("%d bytes of slices", size))
	}
	body, err := s.opt.Objects.Get(ctx, job.SlicesKey(id), first.Offset, size)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	out := make(map[int]*reference.Slice, len(spans))
	dec := json.NewDecoder(bufio.NewReaderSize(body, 64<<10))
	for _, span := range spans {
		slice := new(reference.Slice)
		if err := dec.Decode(slice); err != nil {
			return nil, internal("a part of a specification can't be read", err)
		}
		out[span.Page] = slice
	}
	return out, nil
}
