package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/bindery-docs/bindery/shared/delivery/bundle"
	"github.com/bindery-docs/bindery/shared/render/frame"
	"github.com/bindery-docs/bindery/shared/render/script"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/job"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// Assemble joins the shards' units into the bundle, with the lists after
// them, and completes the job. A job that is completed already is left as it is.
func (s *Steps) Assemble(ctx context.Context, in job.AssembleInput) error {
	return s.run(ctx, in.JobID, "assemble", 0, func() error {
		err := s.assemble(ctx, in)
		// Another run of this step may have completed the job meanwhile, and
		// taken the parts away.
		if err != nil && ctx.Err() == nil && s.completed(ctx, in.JobID) {
			err = nil
		}
		if err != nil {
			return err
		}
		s.sources.forget(in.JobID)
		job.Clean(ctx, s.opt.Objects, s.opt.Log, in.JobID, job.BundleKey(in.JobID))
		return nil
	})
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
	shards := input.Job.Plan.Shards
	facts, err := s.collect(ctx, src, shards)
	if err != nil {
		return err
	}
	if facts.total.Bytes > MaxBundleBytes {
		return admin.Errorf(admin.CodeSiteTooLarge, "the bundle has more than %d GiB of files", MaxBundleBytes>>30)
	}
	files, err := s.lookFiles(ctx, src, facts)
	if err != nil {
		return err
	}
	sum := sha256.New()
	var counts bundle.Counts
	var written written
	info, err := s.stream(ctx, job.BundleKey(in.JobID), store.PutOptions{ContentType: "application/gzip"}, func(w io.Writer) error {
		var err error
		written.w = io.MultiWriter(w, sum)
		counts, err = s.writeBundle(ctx, src, shards, facts, files, &written)
		return err
	})
	if err != nil {
		return err
	}
	// Before the job is final: whoever sees that it is reads them at once.
	if err := s.put(ctx, admin.FindingsKey(in.JobID), facts.lines.Bytes()); err != nil {
		return err
	}
	err = s.opt.Admin.CompleteExport(ctx, in.JobID, admin.Bundle{
		Key: job.BundleKey(in.JobID), Size: info.Size, SHA256: hex.EncodeToString(sum.Sum(nil)), Pages: facts.total.Pages, End: written.end,
		Diagnostics: admin.Diagnostics{Errors: counts.Errors, Warnings: counts.Warnings, Infos: counts.Notices},
	})
	if err != nil {
		return err
	}
	s.opt.Annotate(ctx, slog.Int64("bytes", info.Size))
	return nil
}

// written counts what is written, and keeps where the last unit began.
type written struct {
	w      io.Writer
	n, end int64
}

func (w *written) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	w.n += int64(n)
	return n, err
}

// writeBundle writes the archive: the units of all shards; units of files that
// every bundle has, those that its pages' look needs, and those of its search;
// and the last one with the lists.
func (s *Steps) writeBundle(ctx context.Context, src *source, shards int, facts *report, files []script.File, w *written) (bundle.Counts, error) {
	id := src.input.Job.ID
	var listSize int64
	lists := make([]string, 0, shards)
	units := make([]string, 0, shards)
	for n := 1; n <= shards; n++ {
		info, err := s.opt.Objects.Stat(ctx, job.FilesKey(id, n))
		if err != nil {
			return bundle.Counts{}, err
		}
		listSize += info.Size
		lists, units = append(lists, job.FilesKey(id, n)), append(units, job.UnitsKey(id, n))
	}
	archive := &objectsReader{ctx: ctx, objects: s.opt.Objects, keys: units}
	defer archive.Close()
	if _, err := io.Copy(w, archive); err != nil {
		return bundle.Counts{}, err
	}

	total := facts.total
	var own []byte // lines of the list
	fetched, err := s.remoteFiles(ctx, src.input.Job)
	if err != nil {
		return bundle.Counts{}, err
	}
	put := &ownUnits{ctx: ctx, steps: s, w: w, note: func(f bundle.File) {
		own = f.AppendLine(own)
		total.Files++
		total.Bytes += f.Size
	}}
	err = writeOwn(src, put.add)
	if err == nil && src.full != nil {
		err = s.writeFull(ctx, src, shards, facts.full, put)
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
		err = s.writeSearch(ctx, src, facts, put.add)
	}
	if closed := put.close(); err == nil {
		err = closed
	}
	if err != nil {
		return bundle.Counts{}, err
	}
	if err := facts.finish(); err != nil {
		return bundle.Counts{}, err
	}

	w.end = w.n
	out, err := s.units.Unit(w, bundle.Text)
	if err != nil {
		return bundle.Counts{}, internal("a unit could not be written", err)
	}
	err = s.writeLists(ctx, src, out, lists, listSize, own, facts, total)
	if ended := out.Finish(); err == nil {
		err = ended
	}
	return facts.counts, err
}

// ownUnits writes files into units, a new one after unitBytes.
type ownUnits struct {
	ctx   context.Context
	steps *Steps
	w     io.Writer
	note  func(bundle.File)
	out   *bundle.Unit
	bytes int
}

// add writes a file.
func (o *ownUnits) add(name string, data []byte) error {
	if err := o.ctx.Err(); err != nil {
		return err
	}
	if o.out != nil && o.bytes+len(data) > unitBytes {
		if err := o.close(); err != nil {
			return err
		}
	}
	if o.out == nil {
		if err := o.open(); err != nil {
			return err
		}
	}
	f, err := o.out.Add(name, bundle.Epoch(), data)
	if err != nil {
		return err
	}
	o.bytes += len(data)
	o.note(f)
	return nil
}

// addFrom writes a file of a known size that need not fit into memory, in a unit
// of its own.
func (o *ownUnits) addFrom(name string, size int64, r io.Reader) error {
	if err := o.close(); err != nil {
		return err
	}
	if err := o.open(); err != nil {
		return err
	}
	f, err := o.out.AddFrom(name, bundle.Epoch(), size, r)
	if err != nil {
		return err
	}
	o.note(f)
	return o.close()
}

func (o *ownUnits) open() (err error) {
	if o.out, err = o.steps.units.Unit(o.w, bundle.Text); err != nil {
		return internal("a unit could not be written", err)
	}
	return nil
}

// close ends the unit that is being written.
func (o *ownUnits) close() error {
	if o.out == nil {
		return nil
	}
	err := o.out.Close()
	o.out, o.bytes = nil, 0
	return err
}

// writeLists writes the last unit.
func (s *Steps) writeLists(ctx context.Context, src *source, out *bundle.Unit, lists []string, listSize int64, own []byte, facts *report, total sums) error {
	shardLists := &objectsReader{ctx: ctx, objects: s.opt.Objects, keys: lists}
	defer shardLists.Close()
	files, err := out.AddFrom(bundle.FilesPath, bundle.Epoch(), listSize+int64(len(own)), io.MultiReader(shardLists, bytes.NewReader(own)))
	if err != nil {
		return err
	}
	diagnostics, err := out.Add(bundle.DiagnosticsPath, bundle.Epoch(), facts.lines.Bytes())
	if err != nil {
		return err
	}
	job := src.input.Job
	info := bundle.Info{
		Domain: job.Domain, Name: src.site.Config.Name, Version: job.Version, Snapshot: job.Snapshot,
		Renderer: s.opt.Renderer, Paths: job.Paths, Groups: job.Groups, Pages: total.Pages, Files: total.Files, Bytes: total.Bytes,
		Diagnostics: facts.counts, CleanAddresses: !job.Settings.CanonicalHTML,
		FileList:       bundle.ListInfo{Size: files.Size, SHA256: files.SHA256},
		DiagnosticList: bundle.ListInfo{Size: diagnostics.Size, SHA256: diagnostics.SHA256},
		Sources:        facts.look.addSources(src.views.Sources()),
	}
	info.Format = bundle.FormatOf(&info)
	if err := describeFeatures(&info, src.input); err != nil {
		return err
	}
	if job.Settings.AllowHosts != "" {
		info.Remote = &bundle.RemoteInfo{Hosts: job.Settings.Hosts(), SHA256: job.Plan.Remote}
	}
	for _, r := range src.site.Redirects {
		info.Redirects = append(info.Redirects, bundle.Redirect{From: r.Source, To: r.Destination, Permanent: r.Permanent})
	}
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

// objectsReader reads objects one after another.
type objectsReader struct {
	ctx     context.Context
	objects store.Objects
	keys    []string
	body    io.ReadCloser
}

func (r *objectsReader) Read(p []byte) (int, error) {
	for {
		if err := r.ctx.Err(); err != nil {
			return 0, err
		}
		if r.body == nil {
			if len(r.keys) == 0 {
				return 0, io.EOF
			}
			body, err := r.objects.Get(r.ctx, r.keys[0], 0, -1)
			if err != nil {
				return 0, fmt.Errorf("read %s: %w", r.keys[0], err)
			}
			r.keys, r.body = r.keys[1:], body
		}
		n, err := r.body.Read(p)
		if err == io.EOF {
			err = r.body.Close()
			r.body = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
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

// writeOwn writes the files that a bundle has besides the site's.
func writeOwn(src *source, add func(name string, data []byte) error) error {
	var failed error
	err := src.views.Files(func(name string, data []byte) error {
		failed = add(name, data)
		return failed
	})
	if err != nil && failed == nil {
		return internal("the bundle's own files could not be written", err)
	}
	return err
}

// writeFull writes llms-full.txt as a stream of what the shards left.
func (s *Steps) writeFull(ctx context.Context, src *source, shards int, sums frame.FullSums, put *ownUnits) error {
	head := src.full.Head(sums)
	texts := &objectsReader{ctx: ctx, objects: s.opt.Objects}
	defer texts.Close()
	for n := 1; n <= shards; n++ {
		texts.keys = append(texts.keys, job.FullKey(src.input.Job.ID, n))
	}
	r := io.MultiReader(strings.NewReader(head), io.LimitReader(texts, sums.Bytes))
	return put.addFrom(frame.FullPath, int64(len(head))+sums.Bytes, r)
}
