package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/page"
	"github.com/bindery-docs/bindery/shared/render/script"
	"github.com/bindery-docs/bindery/shared/render/site"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/kept"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Assemble joins the shards' units into the bundle, with the lists after
// them, and completes the job. It asks for another call where its time does not
// suffice. A job that is completed already is left as it is.
func (s *Steps) Assemble(ctx context.Context, in job.AssembleInput) (out job.AssembleOutput, _ error) {
	err := s.run(ctx, in.JobID, "assemble", 0, func() error {
		err := s.assemble(ctx, in)
		// Another run of this step may have completed the job meanwhile, and
		// taken the parts away.
		if err != nil && ctx.Err() == nil && s.completed(ctx, in.JobID) {
			err = nil
		}
		if err != nil {
			_, out.More = errors.AsType[*moreError](err)
			return err
		}
		s.sources.forget(in.JobID)
		job.Clean(ctx, s.opt.Objects, s.opt.Log, in.JobID, job.BundleKey(in.JobID))
		return nil
	})
	return out, err
}

func (s *Steps) assemble(ctx context.Context, in job.AssembleInput) error {
	input, err := s.input(ctx, in.JobID, in.Renderer)
	if err != nil {
		return err
	}
	src, err := s.open(ctx, input)
	if err != nil {
		return err
	}
	facts, err := s.collect(ctx, src, input.Job.Plan.Shards)
	if err != nil {
		return err
	}
	parts, err := s.parts(ctx, in.JobID, facts.stored)
	if err != nil {
		return err
	}
	files, err := s.lookFiles(ctx, src, facts)
	if err != nil {
		return err
	}
	w := s.newArchive(ctx, in.JobID, parts.unitBytes)
	counts, root, err := s.writeBundle(ctx, src, parts, facts, files, w)
	src.kept.Flush() // another call may be the last one
	if err == nil && w.n > s.opt.MaxBundleBytes {
		err = s.tooLarge()
	}
	var info store.ObjectInfo
	if err == nil {
		info, err = w.close()
	}
	if err = w.ended(err); err != nil {
		return err
	}
	// Before the job is final: whoever sees that it is reads them at once.
	if err := s.put(ctx, admin.FindingsKey(in.JobID), facts.lines.Bytes()); err != nil {
		return err
	}
	made := admin.Bundle{
		Key: job.BundleKey(in.JobID), Size: info.Size, SHA256: w.digest(), Pages: facts.total.Pages, End: w.end, Cut: facts.cut, Index: root.String(),
		Diagnostics: admin.Diagnostics{Errors: counts.Errors, Warnings: counts.Warnings, Notices: counts.Notices, Infos: counts.Infos},
	}
	made.Changes = s.compare(ctx, input.Job, made)
	if err := s.opt.Admin.CompleteExport(ctx, in.JobID, made); err != nil {
		return err
	}
	s.opt.Annotate(ctx, slog.Int64("bytes", info.Size))
	s.keepBundle(ctx, src.kept, input.Job, made, facts.lines.Bytes())
	// Only now has all been asked for that the export needs.
	src.kept.Finish()
	return nil
}

// shardParts are what the shards of a job left for its bundle.
type shardParts struct {
	unitBytes int64
	units     objectsReader
	rows      placedRows
}

// parts looks the shards' parts up, whose units have the sizes in stored. A bundle
// that will be too large is known before any of them is read.
func (s *Steps) parts(ctx context.Context, id string, stored []int64) (*shardParts, error) {
	p := &shardParts{units: objectsReader{ctx: ctx, objects: s.opt.Objects, sizes: stored, values: s.opt.Kept}}
	for i, size := range stored {
		before := p.unitBytes
		if p.unitBytes += size; p.unitBytes > s.opt.MaxBundleBytes {
			return nil, s.tooLarge()
		}
		p.units.keys = append(p.units.keys, job.UnitsKey(id, i+1))
		rows, err := s.read(ctx, job.RowsKey(id, i+1), maxRows)
		if err != nil {
			return nil, err
		}
		if err := p.rows.addShard(rows, before); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// writeBundle writes the archive: the units of all shards; units of files that
// every bundle has, those that its pages' look needs, and those of its search;
// and the last one with the lists.
func (s *Steps) writeBundle(ctx context.Context, src *source, parts *shardParts, facts *report, files []script.File, w *archive) (_ bundle.Counts, root bundle.Place, err error) {
	id := src.input.Job.ID
	stored, err := w.skip()
	if err != nil {
		return bundle.Counts{}, root, err
	}
	parts.units.skip(stored)
	defer parts.units.Close()
	parts.units.again = func(shard int, stale *staleError) error {
		in := job.RenderInput{JobID: id, Renderer: s.opt.Renderer, Shard: shard}
		s.drop(ctx, in, src, stale)
		_, size, err := s.renderPlanned(ctx, in, src)
		if err == nil && size != facts.stored[shard-1] {
			err = internal("a shard that was rendered again has another size", stale)
		}
		return err
	}
	if _, err := w.ReadFrom(&parts.units); err != nil {
		return bundle.Counts{}, root, err
	}

	total := facts.total
	fetched, err := s.remoteFiles(ctx, src.input.Job)
	if err != nil {
		return bundle.Counts{}, root, err
	}
	note := func(f bundle.File) {
		total.Files++
		total.Bytes += f.Size
	}
	put := &ownUnits{ctx: ctx, steps: s, kept: src.kept, w: w, note: note, placed: parts.rows.add}
	err = s.writeOwn(ctx, src, put.add)
	if err == nil && src.full != nil {
		err = s.writeFull(ctx, src, len(facts.stored), facts.full, put)
	}
	for _, f := range files {
		if err == nil {
			err = put.add(f.Path, f.Data)
		}
	}
	if err == nil {
		err = s.writeRemote(ctx, id, fetched, put.add)
	}
	if err == nil && src.finder != nil {
		put.role = bundle.Copy // small files with much in common
		err = s.writeSearch(ctx, src, facts, put.add)
	}
	if closed := put.close(); err == nil {
		err = closed
	}
	if err != nil {
		return bundle.Counts{}, root, err
	}
	if err := facts.finish(); err != nil {
		return bundle.Counts{}, root, err
	}

	info, err := s.describe(src, facts, total)
	if err != nil {
		return bundle.Counts{}, root, err
	}
	var more []byte // the line of the index
	index, root, err := s.writeIndex(w, &parts.rows, info)
	if err != nil {
		return bundle.Counts{}, root, err
	}
	indexed := root.Length > 0
	if indexed {
		more = index.AppendLine(nil)
		note(index)
	}
	info.Files, info.Bytes = total.Files, total.Bytes

	w.end = w.n
	out, err := s.units.Unit(w, bundle.Text)
	if err != nil {
		return bundle.Counts{}, root, internal("a unit could not be written", err)
	}
	err = s.writeLists(src, out, io.MultiReader(parts.rows.lines(), bytes.NewReader(more)), parts.rows.listBytes()+int64(len(more)), facts, info)
	end := out.Finish
	if indexed {
		end = out.Close
	}
	if ended := end(); err == nil {
		err = ended
	}
	if err == nil && indexed {
		_, err = w.Write(bundle.AppendFooter(nil, bundle.Footer{Root: root, Lists: w.end}))
	}
	return facts.counts, root, err
}

// writeIndex writes the index. Its place is zero for a site that can't have one.
func (s *Steps) writeIndex(w *archive, rows *placedRows, info *bundle.Info) (bundle.File, bundle.Place, error) {
	var x bundle.IndexWriter
	for _, unit := range rows.units {
		if err := x.Add(unit.rows, unit.offset); err != nil {
			return bundle.File{}, bundle.Place{}, internal("the rows of a unit can't be read", err)
		}
	}
	x.AddRedirects(info.Redirects)
	f, at, err := x.Write(&s.units, w, w.n, *info)
	if fault, ok := errors.AsType[*bundle.Error](err); ok && fault.Fault == bundle.TooLarge {
		s.opt.Log.WarnContext(w.ctx, "the bundle has no index", "job", w.job, "error", err)
		return bundle.File{}, bundle.Place{}, nil
	}
	return f, at, err
}

// describe returns the bundle's description, without what depends on the lists.
func (s *Steps) describe(src *source, facts *report, total sums) (*bundle.Info, error) {
	job := src.input.Job
	info := &bundle.Info{
		Domain: job.Domain, Name: src.site.Config.Name, Version: job.Version, Snapshot: job.Snapshot,
		Renderer: s.opt.Renderer, Paths: job.Paths, Groups: job.Groups, Pages: total.Pages, Files: total.Files, Bytes: total.Bytes,
		Diagnostics: facts.listedCounts, Cut: facts.cut, CleanAddresses: !job.Settings.CanonicalHTML,
		Sources: facts.look.addSources(src.views.Sources()),
	}
	info.Format = bundle.FormatOf(info)
	if err := describeFeatures(info, src.input); err != nil {
		return nil, err
	}
	if job.Settings.AllowHosts != "" {
		info.Remote = &bundle.RemoteInfo{Hosts: job.Settings.Hosts(), SHA256: job.Plan.Remote}
	}
	info.Redirects = redirectsOf(src.site)
	return info, nil
}

// writeLists writes the lists, the first of which has listBytes, and the description.
func (s *Steps) writeLists(src *source, out *bundle.Unit, list io.Reader, listBytes int64, facts *report, info *bundle.Info) error {
	files, err := out.AddFrom(bundle.FilesPath, bundle.Epoch(), listBytes, list)
	if err != nil {
		return err
	}
	diagnostics, err := out.Add(bundle.DiagnosticsPath, bundle.Epoch(), facts.listed.Bytes())
	if err != nil {
		return err
	}
	info.FileList = bundle.ListInfo{Size: files.Size, SHA256: files.SHA256}
	info.DiagnosticList = bundle.ListInfo{Size: diagnostics.Size, SHA256: diagnostics.SHA256}
	data, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		return internal("the bundle's description could not be written", err)
	}
	if len(data) >= bundle.MaxInfoBytes {
		return admin.Errorf(admin.CodeSiteTooLarge, "%s has more redirects than a bundle can describe: the description would have more than %d MiB",
			src.site.ConfigFile, bundle.MaxInfoBytes>>20)
	}
	_, err = out.Add(bundle.InfoPath, bundle.Epoch(), append(data, '\n'))
	return err
}

// redirectsOf returns a site's redirects as a bundle's description has them.
func redirectsOf(s *site.Site) (out []bundle.Redirect) {
	for _, r := range s.Redirects {
		out = append(out, bundle.Redirect{From: r.Source, To: r.Destination, Permanent: r.Permanent})
	}
	return out
}

// objectsReader reads objects one after another.
type objectsReader struct {
	ctx     context.Context
	objects store.Objects
	keys    []string
	sizes   []int64 // of keys, as they are read; skip needs them
	n       int     // keys before
	at      int64   // in the first of keys
	// values, if not nil, are what parts of the objects may be in place of: openUnits
	// reads them then, and again writes the nth object, counted from 1, without one that
	// can't be read.
	values *kept.Store
	again  func(n int, stale *staleError) error
	body   io.ReadCloser
}

// skip leaves out the first n bytes of all objects together.
func (r *objectsReader) skip(n int64) {
	for len(r.keys) > 0 && n >= r.sizes[0] {
		n -= r.sizes[0]
		r.sizes = r.sizes[1:]
		r.ended()
	}
	r.at = n
}

// ended goes on to the next object.
func (r *objectsReader) ended() { r.keys, r.n, r.at = r.keys[1:], r.n+1, 0 }

func (r *objectsReader) Read(p []byte) (int, error) {
	for {
		if err := r.ctx.Err(); err != nil {
			return 0, err
		}
		if r.body == nil && len(r.keys) == 0 {
			return 0, io.EOF
		}
		n, err := r.read(p)
		r.at += int64(n)
		if stale, ok := errors.AsType[*staleError](err); ok && r.again != nil {
			if err = r.Close(); err == nil {
				err = r.again(r.n+1, stale)
			}
		} else if err == io.EOF {
			err = r.Close()
			r.ended()
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// read reads the first object from where it was left.
func (r *objectsReader) read(p []byte) (n int, err error) {
	if r.body == nil {
		if r.body, err = r.open(r.keys[0]); err != nil {
			return 0, fmt.Errorf("read %s: %w", r.keys[0], err)
		}
	}
	return r.body.Read(p)
}

func (r *objectsReader) open(key string) (io.ReadCloser, error) {
	if r.values == nil {
		return r.objects.Get(r.ctx, key, r.at, -1)
	}
	body, err := r.objects.Get(r.ctx, key, 0, -1)
	if err != nil {
		return nil, err
	}
	return openUnits(body, r.values, r.at)
}

// Close ends a reading that did not come to its end.
func (r *objectsReader) Close() error {
	if r.body == nil {
		return nil
	}
	err := r.body.Close()
	r.body = nil
	return err
}

// rootSource returns what makes the document at the root of a bundle that has no
// page there, from its first page with addresses that start from the root; nil where
// the root must lead elsewhere.
func (s *Steps) rootSource(src *source) (at *source, home int, err error) {
	root, home, ok := src.site.AtRoot()
	if !ok || root.Pages[home].Reference != nil {
		return nil, -1, nil
	}
	at = &source{input: src.input, fs: src.fs, site: root, layout: src.layout}
	return at, home, s.prepare(at, false)
}

// rootDocument returns the document at the root, and the script of its components
// where the page has it for another folder. It is nil where the root must lead
// elsewhere.
func (s *Steps) rootDocument(ctx context.Context, src *source) (doc []byte, script *page.Result, err error) {
	at, home, err := s.rootSource(src)
	if at == nil || err != nil {
		return nil, nil, err
	}
	return s.rootPage(ctx, src, at, home)
}

// rootPage is rootDocument, for what rootSource returned.
func (s *Steps) rootPage(ctx context.Context, src, at *source, home int) (doc []byte, script *page.Result, err error) {
	res, err := s.renderPage(ctx, at, home, nil)
	if err != nil {
		return nil, nil, err
	}
	doc = s.document(ctx, at, nil, home, res)
	if res.Script != nil && strings.Contains(src.site.Pages[home].Output, "/") {
		script = res
	}
	return doc, script, nil
}

// writeOwn writes the files that a bundle has besides the site's.
func (s *Steps) writeOwn(ctx context.Context, src *source, add func(name string, data []byte) error) error {
	root, script, err := s.rootDocument(ctx, src)
	if err == nil && script != nil {
		err = add(script.ScriptPath, script.Script)
	}
	if err != nil {
		return err
	}
	var failed error
	err = src.views.Files(root, func(name string, data []byte) error {
		failed = add(name, data)
		return failed
	})
	if err != nil && failed == nil {
		return internal("the bundle's own files could not be written", err)
	}
	return err
}
