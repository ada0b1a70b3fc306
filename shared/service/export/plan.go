package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/reference"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// putParallel is how many small objects are written at the same time.
const putParallel = 8

// Plan reads a job's site, cuts it into shards and turns the job to running, or
// completes it with a bundle that is stored already. A site that can't be used
// fails with CodeInvalidSite and a message that says where, paths that select no
// page of it with CodeInvalidPaths. The plan of a completed job is empty.
func (s *Steps) Plan(ctx context.Context, in admin.WorkflowInput) (out job.PlanOutput, err error) {
	err = s.run(ctx, in.JobID, "plan", 0, func() error {
		out, err = s.plan(ctx, in)
		return err
	})
	return out, err
}

func (s *Steps) plan(ctx context.Context, in admin.WorkflowInput) (job.PlanOutput, error) {
	out := job.PlanOutput{JobID: in.JobID, Renderer: s.opt.Renderer, Shards: []int{}}
	s.planned.Store(nil) // two sites at a time may be too large
	input, err := s.opt.Admin.ExportInput(ctx, in.JobID)
	if admin.CodeOf(err) == admin.CodeJobNotActive && s.completed(ctx, in.JobID) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	s.opt.Annotate(ctx, slog.String("organisation", input.Job.Organisation))
	if err := admin.CheckRenderer(input.Job, s.opt.Renderer); err != nil {
		return out, err
	}
	fsys, err := s.openSnapshot(ctx, input)
	if err != nil {
		return out, err
	}
	specs := reference.NewReader(fsys)
	specs.LetIn(input.Job.Groups)
	others := s.remotesOf(ctx, input.Job)
	if others != nil {
		specs.UseRemotes(others)
	}
	defer s.opt.Begin("the site's configuration")()
	values, listed := s.siteValues(ctx, input.Job), false
	defer func() {
		if !listed && s.keepsInObjects() {
			values.Close()
		}
	}()
	heads := s.recallHeads(values, fsys)
	// What every page loads is looked through too, and read along with the pages.
	own := slices.DeleteFunc(slices.Clone(fsys.Paths()), func(name string) bool { return path.Ext(name) != ".css" && path.Ext(name) != ".js" })
	publish, err := check.ReadPublish(fsys)
	if err != nil {
		return out, gone(err)
	}
	loaded, diags, err := site.Load(ctx, fsys, fsys.Paths(), site.Options{
		Domain: input.Job.Domain, Base: input.Job.Settings.BasePath, Prefixes: input.Job.Paths, Groups: input.Job.Groups,
		Prefetch:  func(_ context.Context, paths []string) error { return fsys.Prefetch(slices.Concat(paths, own)) },
		Reference: specs, Heads: heads.loader(), Publish: publish,
	})
	if err != nil {
		return out, gone(err)
	}
	heads.finish()
	missing, err := elsewhere(loaded, fsys, others, input)
	if err != nil {
		return out, err
	}
	diags = append(diags, missing...)
	_, faults, err := check.ReadRules(fsys)
	if err != nil {
		return out, gone(err)
	}
	pale, err := check.Contrast(loaded, fsys)
	if err != nil {
		return out, gone(err)
	}
	diags = slices.Concat(diags, check.Navigation(loaded), pale, faults)
	layout := newLayout(loaded, fsys)
	if len(layout.pages) == 0 {
		// Why is often among the findings, which are kept with the failed job.
		if err := s.writeDiagnostics(ctx, in.JobID, diags); err != nil {
			return out, err
		}
		return out, empty(loaded)
	}
	if len(layout.pages) > MaxPages {
		return out, admin.Errorf(admin.CodeSiteTooLarge, "the site has more than %d pages", MaxPages)
	}
	if layout.least() > s.opt.MaxBundleBytes {
		return out, s.tooLarge()
	}
	units := layout.cut(loaded)
	found, err := s.writeSlices(ctx, in.JobID, &layout, loaded, specs, units)
	if err != nil {
		return out, gone(err)
	}
	diags = append(diags, found...)
	fetched := ""
	if others != nil {
		if fetched, err = others.writeIndex(); err != nil {
			return out, err
		}
	}
	plans := shards(units, s.opt.Shards, s.opt.MostShards, s.opt.ShardWeight)
	begun := admin.ExportPlan{
		Renderer: s.opt.Renderer, Shards: len(plans), Pages: len(layout.pages), Remote: fetched,
		Key: input.BundleKey(fsys.Contents(), s.opt.Renderer, fetched),
	}
	if reused, err := s.reuse(ctx, input.Job, begun); reused || err != nil {
		return out, err
	}
	if reused, err := s.recallBundle(ctx, values, input.Job, begun); reused || err != nil {
		return out, err
	}

	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(putParallel)
	group.Go(func() error {
		_, err := s.stream(gctx, job.SiteKey(in.JobID), store.PutOptions{}, func(w io.Writer) error {
			return json.NewEncoder(w).Encode(loaded)
		})
		return err
	})
	group.Go(func() error { return s.writeDiagnostics(gctx, in.JobID, diags) })
	if s.keepsInObjects() {
		group.Go(func() error { return s.listValues(gctx, input.Job, values, len(plans)) })
	}
	for i, p := range plans {
		group.Go(func() error {
			data, err := json.Marshal(p)
			if err != nil {
				return internal("the export could not be planned", err)
			}
			return s.put(gctx, job.ShardKey(in.JobID, i+1), data)
		})
		out.Shards = append(out.Shards, i+1)
	}
	if err := group.Wait(); err != nil {
		return out, err
	}
	if err := s.opt.Admin.BeginExport(ctx, in.JobID, begun); err != nil {
		return out, err
	}
	listed = true
	s.planned.Store(&planned{in.JobID, fsys, loaded, values})
	return out, nil
}

// writeDiagnostics writes what reading the site found.
func (s *Steps) writeDiagnostics(ctx context.Context, id string, diags []mdx.Diagnostic) error {
	var lines bytes.Buffer
	if err := writeLines(&lines, diags); err != nil {
		return err
	}
	return s.put(ctx, job.DiagnosticsKey(id), lines.Bytes())
}

// empty is the error of an export that would have no page.
func empty(s *site.Site) error {
	if len(s.Pages) == 0 || len(s.Prefixes) == 0 {
		return admin.Errorf(admin.CodeInvalidSite, "%s: the site has no pages", s.ConfigFile)
	}
	paths := make([]string, len(s.Prefixes))
	for i, p := range s.Prefixes {
		paths[i] = strconv.Quote("/" + p)
	}
	return admin.Errorf(admin.CodeInvalidPaths, "paths: no page lies below %s", strings.Join(paths, ", "))
}

// completed reports whether a job has its bundle.
func (s *Steps) completed(ctx context.Context, id string) bool {
	j, err := s.opt.Admin.FindExport(ctx, id)
	return err == nil && j.Status == admin.ExportCompleted
}

// gone gives errors about packs that were removed their code.
func gone(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return admin.Errorf(admin.CodeInconsistent, "files of the snapshot are gone").Wrap(err)
	}
	return err
}

// writeLines writes values as lines of JSON.
func writeLines(w io.Writer, diags []mdx.Diagnostic) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, d := range diags {
		if err := enc.Encode(d); err != nil {
			return internal("a diagnostic could not be written", err)
		}
	}
	return nil
}
