package export

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"

	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/frame"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/search"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/service/job"
)

// report is what all shards' facts say together.
type report struct {
	site  *site.Site
	total sums
	// ids are the hashes of each page's ids. A hash is enough: where two ids
	// had the same, a missing one would go unreported, and nothing else.
	ids    [][]uint32
	events []event // in order
	kept   int     // diagnostics among the events
	// seen holds the hashes of all diagnostics: what is wrong in a snippet is
	// found on each page that shows it, and reported once.
	seen   map[uint64]struct{}
	counts bundle.Counts
	lines  bytes.Buffer
	listed int
	look   look
	// divisions are the search indexes, as far as their pages were read.
	divisions []*search.Division
	full      frame.FullSums
	// searchPages is sums.Search of each shard.
	searchPages []int64
}

// event is a diagnostic, or a link to a place that is still to be looked for.
type event struct {
	diagnostic *mdx.Diagnostic
	link       *fragmentLink
}

// collect reads what Plan and all shards left, in order.
func (s *Steps) collect(ctx context.Context, src *source, shards int) (*report, error) {
	id := src.input.Job.ID
	r := &report{site: src.site, ids: make([][]uint32, len(src.site.Pages)), seen: make(map[uint64]struct{}), look: newLook()}
	if src.finder != nil {
		r.divisions = src.finder.Divisions()
	}
	if d := searchNotice(src.site, src.input); d != nil {
		r.add(d)
	}
	for _, d := range src.views.Notices() {
		r.add(&d)
	}
	if err := eachOf(ctx, s, job.DiagnosticsKey(id), r.add); err != nil {
		return nil, err
	}
	for n := 1; n <= shards; n++ {
		ended := false
		err := eachOf(ctx, s, job.FactsKey(id, n), func(f *fact) {
			if f.Sums == nil {
				r.page(f)
				return
			}
			ended = true
			r.total.Files += f.Sums.Files
			r.total.Bytes += f.Sums.Bytes
			r.total.Pages += f.Sums.Pages
			r.searchPages = append(r.searchPages, f.Sums.Search)
		})
		if err == nil && !ended {
			err = internal("a shard's facts have no end", nil)
		}
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// eachOf calls fn with the JSON value of each line of an object.
func eachOf[T any](ctx context.Context, s *Steps, key string, fn func(*T)) error {
	body, err := s.opt.Objects.Get(ctx, key, 0, -1)
	if err != nil {
		return err
	}
	defer body.Close()
	dec := json.NewDecoder(bufio.NewReaderSize(body, 64<<10))
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		v := new(T)
		if err := dec.Decode(v); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		fn(v)
	}
}

func (r *report) page(f *fact) {
	if f.Page >= 0 && f.Page < len(r.ids) {
		ids := make([]uint32, len(f.IDs))
		for i, id := range f.IDs {
			ids[i] = hashOf(id)
		}
		r.ids[f.Page] = ids
	}
	for i := range f.Diagnostics {
		r.add(&f.Diagnostics[i])
	}
	r.look.page(f)
	r.full.Add(f.Full)
	if f.Search != nil {
		for _, d := range f.Search.Divisions {
			if d >= 0 && d < len(r.divisions) {
				r.divisions[d].Add(*f.Search)
			}
		}
	}
	for i := range f.Links {
		// A link back to a page that was read already is settled at once.
		if l := &f.Links[i]; l.Page < 0 || l.Page >= len(r.ids) || !r.has(l.Page, l.Fragment) {
			r.events = append(r.events, event{link: l})
		}
	}
}

// again reports whether a diagnostic was there before.
func (r *report) again(d *mdx.Diagnostic) bool {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%d\x00%d\x00%s\x00%s", d.File, d.Line, d.Column, d.Code, d.Message)
	key := h.Sum64()
	if _, ok := r.seen[key]; ok {
		return true
	}
	r.seen[key] = struct{}{}
	return false
}

// add counts a diagnostic and keeps it, as long as the list has room.
func (r *report) add(d *mdx.Diagnostic) {
	if r.again(d) {
		return
	}
	switch d.Severity {
	case mdx.Error:
		r.counts.Errors++
	case mdx.Warning:
		r.counts.Warnings++
	default:
		r.counts.Notices++
	}
	if r.kept < MaxDiagnostics {
		r.kept++
		r.events = append(r.events, event{diagnostic: d})
	}
}

// finish looks for the places that links lead to and writes the list.
func (r *report) finish() error {
	for _, e := range r.events {
		d := e.diagnostic
		if l := e.link; l != nil {
			if l.Page < 0 || l.Page >= len(r.ids) || r.has(l.Page, l.Fragment) {
				continue
			}
			missing := fragmentMissing(r.site, *l)
			if r.again(&missing) {
				continue
			}
			r.counts.Warnings++
			d = &missing
		}
		if r.listed >= MaxDiagnostics {
			continue
		}
		r.listed++
		// Readers can see the list, and addresses may hold secrets.
		shown := *d
		shown.File, shown.Message = remote.Shown(d.File), remote.Shown(d.Message)
		if err := writeLines(&r.lines, []mdx.Diagnostic{shown}); err != nil {
			return err
		}
	}
	if all := r.counts.Errors + r.counts.Warnings + r.counts.Notices; all > r.listed {
		r.counts.Notices++
		return writeLines(&r.lines, []mdx.Diagnostic{{
			Severity: mdx.Notice, Code: "list-cut", File: r.site.ConfigFile,
			Message: "there are more diagnostics than this list holds",
		}})
	}
	return nil
}

func (r *report) has(page int, id string) bool {
	h := hashOf(id)
	return slices.Contains(r.ids[page], h)
}
