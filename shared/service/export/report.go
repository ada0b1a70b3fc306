package export

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/render/frame"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/search"
	"github.com/bindery-docs/bindery/shared/service/job"
)

// report is what all shards' facts say together.
type report struct {
	total    sums
	findings *check.List
	counts   bundle.Counts
	lines    bytes.Buffer
	// listed are those of lines that the bundle may have, and listedCounts counts them.
	unnamed      func(*mdx.Diagnostic) bool
	listed       bytes.Buffer
	listedCounts bundle.Counts
	look         look
	// divisions are the search indexes, as far as their pages were read.
	divisions []*search.Division
	full      frame.FullSums
	// stored is sums.Stored of each shard.
	stored []int64
	// searchPages is sums.Search of each shard.
	searchPages []int64
	// cut is that of admin.Bundle.
	cut bool
}

// collect reads what Plan and all shards left, in order.
func (s *Steps) collect(ctx context.Context, src *source, shards int) (*report, error) {
	id := src.input.Job.ID
	rules, _, err := check.ReadRules(src.fs) // Plan has said what is wrong with them
	if err != nil {
		return nil, gone(err)
	}
	r := &report{findings: check.NewList(src.site, rules), look: newLook(), unnamed: src.site.Unnamed()}
	if src.finder != nil {
		r.divisions = src.finder.Divisions()
	}
	if d := searchNotice(src.site, src.input); d != nil {
		r.findings.Add(*d)
	}
	for _, d := range src.views.Notices() {
		r.findings.Add(d)
	}
	if err := eachOf(ctx, s, job.DiagnosticsKey(id), func(d *mdx.Diagnostic) { r.findings.Add(*d) }); err != nil {
		return nil, err
	}
	for n := 1; n <= shards; n++ {
		ended := false
		err := eachOf(ctx, s, job.FactsKey(id, n), func(f *fact) {
			if f.Sums == nil && f.Page < 0 { // of files
				r.findings.AddPage(&f.Facts)
				return
			}
			if f.Sums == nil {
				r.page(f)
				return
			}
			ended = true
			r.total.Files += f.Sums.Files
			r.total.Bytes += f.Sums.Bytes
			r.total.Pages += f.Sums.Pages
			r.stored = append(r.stored, f.Sums.Stored)
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
	for v, err := range json.Values[T](body) {
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		fn(v)
	}
	return nil
}

func (r *report) page(f *fact) {
	r.findings.AddPage(&f.Facts)
	r.cut = r.cut || slices.ContainsFunc(f.Diagnostics, func(d mdx.Diagnostic) bool { return d.Code == check.CodePageFailed || d.Code == page.CodeScriptEnded })
	r.look.page(f)
	r.full.Add(f.Full)
	if f.Search != nil {
		for _, d := range f.Search.Divisions {
			if d >= 0 && d < len(r.divisions) {
				r.divisions[d].Add(*f.Search)
			}
		}
	}
}

// finish looks for the places that links lead to and writes the lists.
func (r *report) finish() error {
	var unnamed []check.Finding
	counts, err := r.findings.Finish(func(f check.Finding) error {
		d := mdx.Diagnostic{Severity: f.Level, Code: f.Code, File: f.File, Line: f.Line, Column: f.Column, Message: f.Message}
		before := r.lines.Len()
		if err := writeLines(&r.lines, []mdx.Diagnostic{d}); err != nil {
			return err
		}
		if r.unnamed(&d) {
			unnamed = append(unnamed, f)
			return nil
		}
		r.listed.Write(r.lines.Bytes()[before:])
		return nil
	})
	not := check.Count(unnamed)
	r.counts = bundle.Counts(counts)
	r.listedCounts = bundle.Counts{Errors: counts.Errors - not.Errors, Warnings: counts.Warnings - not.Warnings, Notices: counts.Notices - not.Notices, Infos: counts.Infos - not.Infos}
	return err
}
