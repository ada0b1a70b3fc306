package job

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path"

	basejson "github.com/bindery-docs/bindery/shared/base/json"
	"github.com/bindery-docs/bindery/shared/base/remote"
	"github.com/bindery-docs/bindery/shared/service/admin"
	"github.com/bindery-docs/bindery/shared/service/store"
)

// maxFound is how many findings of a failed job are kept.
const maxFound = 50_000

// clear keeps what a failed job had found, and removes all its other objects. What
// it misses goes to the log; where the findings can't be kept now, their parts stay
// for the next event of the job's end, or the sweep.
func (k *Keeper) clear(ctx context.Context, id string) {
	if err := k.keepFindings(ctx, id); err != nil {
		k.opt.Log.WarnContext(ctx, "the findings of a failed export were not kept", "job", id, "error", err)
		return
	}
	Clean(ctx, k.opt.Objects, k.opt.Log, id, "")
	if err := k.abortBundle(ctx, id); err != nil {
		k.opt.Log.WarnContext(ctx, "the bundle that a failed export had begun was not removed", "job", id, "error", err)
	}
}

// abortBundle removes the parts of a bundle that will not be completed. What it
// misses the backend sweeps.
func (k *Keeper) abortBundle(ctx context.Context, id string) error {
	a, revision, err := k.opt.Admin.Assembly(ctx, id)
	if err != nil || a.Upload == "" {
		return err
	}
	if err := k.opt.Objects.AbortUpload(ctx, BundleKey(id), a.Upload); err != nil {
		return err
	}
	_, err = k.opt.Admin.NoteAssembly(ctx, id, admin.Assembly{}, revision)
	return err
}

// keepFindings writes what Plan and the shards of a failed job had found, unless
// findings are there already. The rules of the site's authors are for a whole
// report: this one has all that was found.
func (k *Keeper) keepFindings(ctx context.Context, id string) error {
	switch _, err := k.opt.Objects.Stat(ctx, admin.FindingsKey(id)); {
	case err == nil:
		return nil
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	keys := []string{DiagnosticsKey(id)}
	facts, err := k.opt.Objects.List(ctx, Prefix(id)+path.Base(path.Dir(FactsKey(id, 1)))+"/", "", 0)
	if err != nil {
		return err
	}
	for _, o := range facts {
		keys = append(keys, o.Key)
	}
	var lines bytes.Buffer
	found := map[admin.Finding]bool{}
	for _, key := range keys {
		if err := k.findingsOf(ctx, key, found, &lines); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	_, err = k.opt.Objects.Put(ctx, admin.FindingsKey(id), &lines, store.PutOptions{IfAbsent: true})
	if errors.Is(err, store.ErrExists) {
		return nil
	}
	return err
}

// findingsOf adds the findings of an object: its lines are findings, or have them.
func (k *Keeper) findingsOf(ctx context.Context, key string, found map[admin.Finding]bool, lines *bytes.Buffer) error {
	body, err := k.opt.Objects.Get(ctx, key, 0, -1)
	if err != nil {
		return err
	}
	defer body.Close()
	enc := json.NewEncoder(lines)
	enc.SetEscapeHTML(false)
	type line struct {
		admin.Finding
		Diagnostics []admin.Finding `json:"diagnostics"`
	}
	for l, err := range basejson.Values[line](body) {
		if err != nil {
			return err
		}
		if len(found) == maxFound {
			return nil
		}
		for _, f := range append(l.Diagnostics, l.Finding) {
			f.File, f.Message = remote.Shown(f.File), remote.Shown(f.Message)
			if f.Code == "" || found[f] || len(found) == maxFound {
				continue
			}
			found[f] = true
			if err := enc.Encode(f); err != nil {
				return err
			}
		}
	}
	return nil
}
