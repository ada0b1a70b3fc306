package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"slices"

	"github.com/bindery-docs/bindery/shared/base/html"
	"github.com/bindery-docs/bindery/shared/render/check"
	"github.com/bindery-docs/bindery/shared/render/mdx"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/reference"
	"github.com/bindery-docs/bindery/shared/render/search"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// fact is one line of a shard's facts: what Assemble must know of a page. The
// last line has Sums instead.
type fact struct {
	check.Facts
	// Classes, Maybe (MaybeClasses), Styles, Mermaid, Zoom and Math are those of page.Result.
	Classes []string          `json:"classes,omitempty"`
	Maybe   []string          `json:"maybeClasses,omitempty"`
	Styles  map[string]string `json:"styles,omitempty"`
	Mermaid bool              `json:"mermaid,omitempty"`
	Zoom    bool              `json:"zoom,omitempty"`
	Math    bool              `json:"math,omitempty"`
	// Islands reports that the page has a Script.
	Islands bool `json:"islands,omitempty"`
	// Reference and Playground are those of page.Result.
	Reference  bool `json:"reference,omitempty"`
	Playground bool `json:"playground,omitempty"`
	// Sources are those of page.Result.
	Sources map[string][]string `json:"sources,omitempty"`
	// Full is how many bytes the page has of llms-full.txt, as frame.Full's Append
	// returns it.
	Full int `json:"full,omitempty"`
	// Search is what the index must know of the page beforehand.
	Search *search.Fact `json:"search,omitempty"`
	Sums   *sums        `json:"sums,omitempty"`
}

// sums counts what a shard wrote.
type sums struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
	// Stored is how many bytes of the archive they are.
	Stored int64 `json:"stored"`
	Pages  int   `json:"pages"`
	// Search is how many bytes of the shard's part of the search index are pages.
	Search int64 `json:"search,omitempty"`
}

// Render renders one shard and marks it. A shard that is marked and whose
// objects are there is left as it is.
func (s *Steps) Render(ctx context.Context, in job.RenderInput) error {
	return s.run(ctx, in.JobID, "render", in.Shard, func() error { return s.render(ctx, in) })
}

func (s *Steps) render(ctx context.Context, in job.RenderInput) error {
	if in.Shard < 1 || in.Shard > MaxShards {
		return internal("there is no shard of this number", fmt.Errorf("shard %d", in.Shard))
	}
	input, err := s.input(ctx, in.JobID, in.Renderer)
	if err != nil {
		return err
	}
	if done, err := s.rendered(ctx, in, bundledSearch(input)); done || err != nil {
		return err
	}
	src, err := s.open(ctx, input)
	if err != nil {
		return err
	}
	plan, size, err := s.renderPlanned(ctx, in, src)
	if err != nil {
		return err
	}
	src.kept.Flush()
	if err := s.opt.Admin.MarkShard(ctx, in.JobID, in.Shard, plan.Pages, size); err != nil {
		return err
	}
	if err := s.checkRendered(ctx, in.JobID, size, input.Job.Plan.Shards); err != nil {
		return err
	}
	s.opt.Annotate(ctx, slog.Int("pages", plan.Pages), slog.Int64("bytes", size))
	return nil
}

// renderPlanned renders a shard as it was planned.
func (s *Steps) renderPlanned(ctx context.Context, in job.RenderInput, src *source) (plan shardPlan, size int64, err error) {
	data, err := s.read(ctx, job.ShardKey(in.JobID, in.Shard), 64<<20)
	if err != nil {
		return plan, 0, err
	}
	if err := json.Unmarshal(data, &plan); err != nil {
		return plan, 0, internal("a shard's plan can't be read", err)
	}
	for {
		size, err = s.renderShard(ctx, in, src, &plan)
		stale, ok := errors.AsType[*staleError](err)
		if !ok {
			return plan, size, err
		}
		s.drop(ctx, in, src, stale) // once more, without it
	}
}

// drop forgets a unit that was kept in vain.
func (s *Steps) drop(ctx context.Context, in job.RenderInput, src *source, stale *staleError) {
	s.opt.Log.WarnContext(ctx, "a unit that was kept can't be read", "job", in.JobID, "shard", in.Shard)
	src.kept.Drop(stale.key)
}

// renderShard writes what a shard comes to, and returns how many bytes of the
// archive that is. It fails with a staleError where a unit was kept in vain.
func (s *Steps) renderShard(ctx context.Context, in job.RenderInput, src *source, plan *shardPlan) (int64, error) {
	var out shardOutput
	var stored int64
	_, err := s.stream(ctx, job.UnitsKey(in.JobID, in.Shard), store.PutOptions{}, func(w io.Writer) error {
		units, err := newUnitsOut(w, s.refers())
		if err == nil {
			err = s.renderUnits(ctx, src, plan.Units, units, &out)
			stored = units.n
		}
		return err
	})
	if err != nil {
		return 0, gone(err)
	}
	out.sums.Stored, out.sums.Pages, out.sums.Search = stored, plan.Pages, int64(len(out.index.pages()))
	end, err := json.Marshal(fact{Facts: check.Facts{Page: -1}, Sums: &out.sums})
	if err != nil {
		return 0, internal("a shard's facts could not be written", err)
	}
	out.facts = append(out.facts, append(end, '\n'))
	for _, part := range []struct {
		key  string
		data [][]byte
	}{
		{job.RowsKey(in.JobID, in.Shard), out.rows},
		{job.FactsKey(in.JobID, in.Shard), out.facts},
		{job.FullKey(in.JobID, in.Shard), out.full},
	} {
		if err := s.put(ctx, part.key, slices.Concat(part.data...)); err != nil {
			return 0, err
		}
	}
	if src.finder != nil {
		if err := s.putSearch(ctx, in, src.kept, &out.index); err != nil {
			return 0, err
		}
	}
	return stored, nil
}

// checkRendered ends an export early whose bundle will be too large: Assemble
// would find that after everything was rendered. It reads what all shards have
// come to only where one is larger than its part of the limit.
func (s *Steps) checkRendered(ctx context.Context, id string, size int64, shards int) error {
	if size*int64(shards) <= s.opt.MaxBundleBytes {
		return nil
	}
	all, err := s.opt.Admin.RenderedBytes(ctx, id)
	if err == nil && all > s.opt.MaxBundleBytes {
		err = s.tooLarge()
	}
	return err
}

func (s *Steps) tooLarge() error {
	return admin.Errorf(admin.CodeSiteTooLarge, "the bundle has more than %d GiB", s.opt.MaxBundleBytes>>30)
}

// input reads a job for a step after Plan, and refuses another renderer.
func (s *Steps) input(ctx context.Context, id, renderer string) (admin.ExportInput, error) {
	input, err := s.opt.Admin.ExportInput(ctx, id)
	if err != nil {
		return input, err
	}
	s.opt.Annotate(ctx, slog.String("organisation", input.Job.Organisation))
	if renderer != s.opt.Renderer {
		return input, admin.Errorf(admin.CodeRendererChanged, "%s", job.Message(admin.CodeRendererChanged))
	}
	return input, admin.CheckRenderer(input.Job, renderer)
}

// rendered reports whether a shard is done.
func (s *Steps) rendered(ctx context.Context, in job.RenderInput, searched bool) (bool, error) {
	marked, err := s.opt.Admin.ShardMarked(ctx, in.JobID, in.Shard)
	if err != nil || !marked {
		return false, err
	}
	keys := []string{
		job.UnitsKey(in.JobID, in.Shard), job.RowsKey(in.JobID, in.Shard), job.FactsKey(in.JobID, in.Shard), job.FullKey(in.JobID, in.Shard),
	}
	if searched {
		keys = append(keys, job.SearchKey(in.JobID, in.Shard))
	}
	for _, key := range keys {
		if _, err := s.opt.Objects.Stat(ctx, key); errors.Is(err, store.ErrNotFound) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	return true, nil
}

// renderPage renders a body. A page that can't be rendered becomes one that
// says so: a notice for readers, a diagnostic for authors.
func (s *Steps) renderPage(ctx context.Context, src *source, i int, slice *reference.Slice) (res *page.Result, err error) {
	p := &src.site.Pages[i]
	defer func() {
		if v := recover(); v != nil {
			s.opt.Log.ErrorContext(ctx, "a page panicked", "job", src.input.Job.ID, "page", p.Source, "panic", v, "stack", string(debug.Stack()))
			res, err = failedPage(p, "the renderer met a fault on this page"), nil
		}
	}()
	if p.Size > MaxPageBytes {
		return failedPage(p, fmt.Sprintf("the page has more than %d MiB", MaxPageBytes>>20)), nil
	}
	return src.pages.RenderReference(ctx, i, slice)
}

// document puts what the theme shows around a body. A fault there costs the page
// its surroundings, not the export its end.
func (s *Steps) document(ctx context.Context, src *source, dst []byte, i int, res *page.Result) (doc []byte) {
	defer func() {
		if v := recover(); v != nil {
			p := &src.site.Pages[i]
			s.opt.Log.ErrorContext(ctx, "a page's document panicked", "job", src.input.Job.ID, "page", p.Source, "panic", v, "stack", string(debug.Stack()))
			res.Diagnostics = append(res.Diagnostics, check.PageFailed(p, "the renderer met a fault around this page: it has no navigation"))
			doc = fmt.Appendf(dst[:0], "<!doctype html><html><head><meta charset=\"utf-8\"><title>%[1]s</title></head><body><main><h1>%[1]s</h1>%[2]s</main></body></html>\n",
				html.AppendText(nil, p.Title), res.HTML)
		}
	}()
	return src.views.Document(dst, i, res)
}

// failedPage takes the place of a page that can't be rendered.
func failedPage(p *site.Page, reason string) *page.Result {
	const notice = "This page could not be rendered."
	return &page.Result{
		HTML:        []byte(`<div class="callout bdy-callout bdy-callout-danger" role="note"><p>` + notice + `</p></div>`),
		Markdown:    []byte("# " + p.Title + "\n\n" + notice + "\n"),
		Diagnostics: []mdx.Diagnostic{check.PageFailed(p, reason)},
	}
}

// factOf returns what Assemble must know of a page.
func factOf(s *site.Site, i int, res *page.Result, found *search.Fact, full int) *fact {
	return &fact{
		Facts:   check.FactsOf(s, i, res),
		Classes: res.Classes, Maybe: res.MaybeClasses, Styles: res.Styles, Mermaid: res.Mermaid, Zoom: res.Zoom, Math: res.Math, Islands: res.Script != nil, Reference: res.Reference, Playground: res.Playground, Sources: res.Sources, Search: found, Full: full,
	}
}

// appendFact adds a page's line of facts.
func appendFact(dst []byte, s *site.Site, i int, res *page.Result, found *search.Fact, full int) ([]byte, error) {
	line, err := json.Marshal(factOf(s, i, res, found, full))
	if err != nil {
		return dst, internal("a page's facts could not be written", err)
	}
	return append(append(dst, line...), '\n'), nil
}
